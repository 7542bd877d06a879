//! Tests of tags, file names and canonical memory as channels, on a real store without a model.

use bower_core::engine::Engine;
use bower_core::item::{Channel, Visibility};
use bower_core::request::{CurateRequest, ForgetRequest, Forgetting, Hit, QueryRequest, Selection};
use std::fmt::Write;

use crate::place::{Place, now};

struct Store {
    place: Place,
    engine: Engine,
}

impl Store {
    fn new() -> Self {
        let place = Place::without_model();
        let engine = place.open();
        Self { place, engine }
    }

    fn files(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.place.write(name, text);
        }
        self.place.index(&self.engine);
    }

    fn keep(&self, content: &str, tags: &[&str]) -> String {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let request = CurateRequest { tags, ..CurateRequest::new(content) };
        self.engine.curate(&Visibility::everything(), &request, now()).unwrap().id.unwrap()
    }

    /// What a channel finds: each content's first line (or file name) with its score, and the line that is cited.
    fn ask(&self, channel: Channel, question: &str, select: &Selection) -> Vec<(String, f32, Option<u32>)> {
        let found =
            self.engine.ask_channel(&Visibility::everything(), channel, question, 50, select).unwrap();
        let all =
            self.engine.list(&Visibility::everything(), &Selection::default(), 1_000, 0).unwrap().memories;
        found
            .into_iter()
            .map(|(hit, citation)| {
                let item = all.iter().find(|item| item.row == hit.row).unwrap();
                let name = item.metadata.get("file_name").and_then(|name| name.as_str());
                let name = name.unwrap_or_else(|| item.content.lines().next().unwrap());
                (name.to_owned(), hit.score, citation.map(|fact| fact.line))
            })
            .collect()
    }

    fn names(&self, channel: Channel, question: &str) -> Vec<String> {
        self.ask(channel, question, &Selection::default()).into_iter().map(|(name, _, _)| name).collect()
    }
}

#[test]
fn tags_are_found_by_words_and_by_name_the_rare_ones_first() {
    let store = Store::new();
    store.keep("one", &["database", "machine-learning"]);
    store.keep("two", &["database"]);
    store.keep("three", &["database", "ops"]);
    let four = store.keep("four", &["ops"]);
    // n = 4 rows. database: f = 3, ln(1 + 4/3)/ln 5 = .526465; machine-learning: 1; ops: f = 2, ln 3/ln 5 = .682606.
    let found = store.ask(Channel::Tags, "Which databases for learning machines?", &Selection::default());
    let expected = [("one", 1.0), ("two", 0.526_465), ("three", 0.526_465)];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, score, _), expected) in found.iter().zip(expected) {
        assert!(name == expected.0 && (score - expected.1).abs() < 1e-5, "{found:?}");
    }
    // Both tags: 1 - (1 - .526465)(1 - .682606) = .849704
    let both = store.ask(Channel::Tags, "database ops", &Selection::default());
    assert!(both[0].0 == "three" && (both[0].1 - 0.849_704).abs() < 1e-5, "{both:?}");
    // Written as such, a common tag counts in full.
    let written = store.ask(Channel::Tags, "what is #ops?", &Selection::default());
    assert_eq!(written, [("three".into(), 1.0, None), ("four".into(), 1.0, None)]);
    assert!(store.names(Channel::Tags, "machine room").is_empty(), "half of a tag is no tag");
    assert!(store.names(Channel::Tags, "#nothing at all, it's '; DROP").is_empty());
    let select = Selection { tags: vec!["machine-learning".into()], ..Selection::default() };
    assert_eq!(store.ask(Channel::Tags, "database", &select).len(), 1, "a filter holds here too");
    store
        .engine
        .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![four])), now())
        .unwrap();
    assert_eq!(store.names(Channel::Tags, "#ops"), ["three"]);
}

#[test]
fn files_are_found_by_their_names_and_folders() {
    let store = Store::new();
    store.files(&[
        ("payments/retry-policy.md", "# Text\nabout something else"),
        ("payments/RefundPolicy.md", "# Text\nof its own"),
        ("meetings/2026-05-08.md", "# Text\nspoken"),
        ("src/http_server.rs", "fn main() {}\n"),
    ]);
    assert_eq!(
        store.names(Channel::Filename, "What is our retry policy?"),
        ["retry-policy.md", "RefundPolicy.md"]
    );
    assert_eq!(store.names(Channel::Filename, "refnud policies"), ["RefundPolicy.md", "retry-policy.md"]);
    assert_eq!(store.names(Channel::Filename, "HTTP server"), ["http_server.rs"]);
    assert_eq!(store.names(Channel::Filename, "meeting of 2026-05-08"), ["2026-05-08.md"]);
    assert_eq!(
        store.names(Channel::Filename, "payment"),
        ["RefundPolicy.md", "retry-policy.md"],
        "the folder's, the older first"
    );
    assert!(store.names(Channel::Filename, "what is it?").is_empty());
    let select = Selection { collections: vec!["elsewhere".into()], ..Selection::default() };
    assert!(store.ask(Channel::Filename, "retry policy", &select).is_empty());
    store.files(&[("new/refund-rules.md", "# Text\nnewer")]);
    assert!(
        store.names(Channel::Filename, "refund rules").starts_with(&["refund-rules.md".into()]),
        "a new file is seen"
    );
}

#[test]
fn canonical_memory_is_cited_by_its_line() {
    let store = Store::new();
    let mut rows = String::new();
    for n in 0..120 {
        writeln!(rows, "| service{n} | {} | team{} |", 8_000 + n, n % 7).unwrap();
    }
    let text = format!(
        "# Canonical\n\nIntro line.\n\n## Ports\n\n| name | port | owner |\n|---|---|---|\n{rows}\n\
         ## People\n\n- Ann leads payments\n"
    );
    store.files(&[("memory/CANONICAL.md", &text), ("memory/other.md", "service77 is on another port\n")]);
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).unwrap() + 1;
    for (question, part) in [
        ("Which port has service77?", "| service77 |"),
        ("service3", "| service3 |"),
        ("who leads payments", "Ann leads"),
        ("canonical", "# Canonical"),
    ] {
        let found = store.ask(Channel::Canonical, question, &Selection::default());
        let expected = u32::try_from(line_of(part)).ok();
        assert_eq!(
            found.first().map(|hit| (hit.0.as_str(), hit.2.clone())),
            Some(("CANONICAL.md", expected)),
            "{question}"
        );
    }
    assert!(store.names(Channel::Canonical, "xylophone").is_empty());
    assert!(store.names(Channel::Canonical, " ").is_empty());
}

#[test]
fn the_channel_that_is_not_asked_this_way_is_refused() {
    let store = Store::new();
    let error = store
        .engine
        .ask_channel(&Visibility::everything(), Channel::Graph, "x", 5, &Selection::default())
        .unwrap_err();
    assert!(error.to_string().contains("channel graph"), "{error}");
}

#[test]
fn what_a_question_refers_to_by_a_tag_or_a_path_stands_first() {
    let store = Store::new();
    store.files(&[
        ("projects/gamma.md", "# Gamma\n\nIt replaces the billing service. #infra/db\n"),
        ("projects/alpha.md", "# Alpha\n\nIt moves the search cluster. #infra/search\n"),
        ("daily/monday.md", "# Monday\n\nGamma, projects and gamma.md: the infra db search tag came up.\n"),
        ("daily/gamma.txt", "The search for an owner of gamma goes on.\n"),
    ]);
    let first = |question: &str| {
        let request = QueryRequest { text: question.to_owned(), ..QueryRequest::default() };
        let answer = store.engine.query(&Visibility::everything(), &request, now()).unwrap();
        let name = |hit: &Hit| hit.memory.metadata["file_name"].as_str().unwrap().to_owned();
        answer.hits.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(first("gamma.md")[0], "gamma.md");
    assert_eq!(first("what does `projects/gamma.md` say about the search for an owner?")[0], "gamma.md");
    assert_eq!(first("projects/GAMMA.md")[0], "gamma.md", "case counts only where it tells files apart");
    assert_eq!(first("#infra/db search")[0], "gamma.md");
    assert_eq!(first("#infra search")[..2], ["alpha.md", "gamma.md"], "a tag means those below it");
    assert_eq!(first("projects gamma monday search")[0], "monday.md", "words alone refer to nothing");
    assert_eq!(first("projects/beta.md gamma monday")[0], "monday.md", "there is no such file");
    assert_eq!(first("#other monday")[0], "monday.md", "there is no such tag");
}
