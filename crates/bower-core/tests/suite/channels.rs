//! Tests of tags, file names and canonical memory as channels, on a real store without a model.

use bower_core::engine::Engine;
use bower_core::item::{Channel, Kind, Visibility};
use bower_core::request::{
    CurateRequest, ForgetRequest, Forgetting, Hit, IndexRequest, QueryRequest, Selection,
};
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
    let paths = |question: &str| store.names(Channel::Filename, question);
    assert_eq!(paths("payments/"), ["RefundPolicy.md", "retry-policy.md"], "what lies below");
    assert_eq!(paths("payments/ret"), ["retry-policy.md"], "its beginning");
    assert_eq!(paths("htpt_servr"), ["http_server.rs"], "a name with two errors");
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
            found.first().map(|hit| (hit.0.as_str(), hit.2)),
            Some(("CANONICAL.md", expected)),
            "{question}"
        );
    }
    assert!(store.names(Channel::Canonical, "xylophone").is_empty());
    assert!(store.names(Channel::Canonical, " ").is_empty());
}

#[test]
fn a_canonical_fact_with_most_of_the_question_stands_first() {
    let store = Store::new();
    let notes = "The gateway port was changed: gateway port 9090, then gateway port 7070.\n";
    store.files(&[
        ("CANONICAL.md", "# Facts\n\n- The gateway listens on port 8080.\n- Ann leads payments.\n"),
        ("monday.md", notes),
        ("tuesday.md", &notes.repeat(3)),
        ("zyxel.md", "The zyxel box is behind the gateway port.\n"),
        ("payments.md", "The payments of monday: who was late with which payments, and who approved them.\n"),
    ]);
    let first = |question: &str| {
        let request = QueryRequest { text: question.to_owned(), explain: true, ..QueryRequest::default() };
        let answer = store.engine.query(&Visibility::everything(), &request, now()).unwrap();
        let hit = &answer.hits[0];
        let asked = answer.effort.channels.iter().any(|one| one.channel == Channel::Canonical);
        (hit.memory.metadata["file_name"].as_str().unwrap().to_owned(), hit.cited_line, asked)
    };
    assert_eq!(first("which gateway port?"), ("CANONICAL.md".to_owned(), Some(3), true));
    // It has only what all notes have of this question.
    assert_eq!(first("which zyxel gateway port?").0, "zyxel.md");
    // "payments" alone is less than half of this question.
    assert_eq!(first("payments late approved monday"), ("payments.md".to_owned(), None, false));
    // A canonical document that may not be found does not answer.
    store.keep("The wiki names the gateway port", &[]);
    let select = Selection { kinds: vec![Kind::Memory], ..Selection::default() };
    let request = QueryRequest { text: "gateway port".to_owned(), select, ..QueryRequest::default() };
    let answer = store.engine.query(&Visibility::everything(), &request, now()).unwrap();
    assert!(answer.hits.len() == 1 && answer.hits[0].citation.is_none());
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

/// A path means at most 64 files; those of another collection take no room among them, and are no nearer.
#[test]
fn files_that_may_not_be_found_do_not_count_for_a_written_path() {
    let store = Store::new();
    for n in 0..70 {
        store.place.write(&format!("theirs/{n}/docs/guide.md"), "harbour\n");
    }
    store.place.write("ours/docs/Guide.md", "Nothing about boats.\n");
    store.place.write("ours/boats.md", "The marina is full.\n");
    for collection in ["theirs", "ours"] {
        let request = IndexRequest {
            collection: Some(collection.to_owned()),
            ..IndexRequest::new(vec![store.place.notes().join(collection)])
        };
        store.engine.index(&Visibility::everything(), &request, now(), &|_| {}, &|| true).unwrap();
    }
    let ours = Selection { collections: vec!["ours".to_owned()], ..Selection::default() };
    let question = "what about the marina in docs/guide.md?";
    assert_eq!(hits(&store, question, ours)[0].0, "ours/docs/Guide.md");
    // All of them are too many.
    let all = hits(&store, question, Selection::default());
    assert_eq!(all[0].0, "ours/boats.md", "{all:?}");
}

/// The file and the first line of the text of each hit of an answer under the default profile.
fn hits(store: &Store, question: &str, select: Selection) -> Vec<(String, String)> {
    let request = QueryRequest { text: question.to_owned(), select, ..QueryRequest::default() };
    let answer = store.engine.query(&Visibility::everything(), &request, now()).unwrap();
    let notes = store.place.notes().display().to_string();
    let shown = |hit: &Hit| {
        let path = hit.memory.metadata["path"].as_str().unwrap().trim_start_matches(&notes);
        (path.trim_start_matches('/').to_owned(), hit.memory.content.lines().next().unwrap().to_owned())
    };
    answer.hits.iter().map(shown).collect()
}

/// A vault whose documents mention each other's names, with the best match for most of them far from the beginning.
fn vault() -> Store {
    let store = Store::new();
    let long =
        "The pump at the weir moves water uphill, day and night, whatever the weather does. ".repeat(30);
    let section = |head: &str, text: &str| format!("## {head}\n\n{text}\n{long}\n");
    let gamma = format!(
        "# Otterbach pump\n\nIt begins here.\n\n{}{}",
        section("Cost", "The cost is high."),
        section("Gamma", "Gamma, gamma.md, projects gamma and the Otterbach pump, gamma again.")
    );
    store.files(&[
        ("projects/gamma.md", &gamma),
        ("projects/gamma-two.md", "# Second\n\nAnother one.\n"),
        ("projects/old/gamma.md", "# Oldest\n\nAn earlier plan.\n"),
        (
            "projects/old/retry_policy.md",
            "---\naliases: [Backoff, \"Second try\"]\n---\n# Trying once more\n\nIt waits.\n",
        ),
        (
            "daily/monday.md",
            "# Monday\n\nGamma, projects/gamma.md, gamma-two.md: the Otterbach pump and the retry policy.\n",
        ),
        ("daily/2026-05-08.md", "# Friday\n\nNothing of note.\n"),
        ("daily/2026-05-07.md", "# Thursday\n\nSome rain.\n"),
        ("daily/gate.md", "# Fence\n\nIt is closed.\n"),
        ("daily/tuesday.md", "# Tuesday\n\nThe date of the gale, and the gates.\n"),
    ]);
    store
}

#[test]
fn a_question_that_is_the_name_of_a_document_shows_its_beginning_first() {
    let store = vault();
    let first = |question: &str| hits(&store, question, Selection::default())[0].clone();
    let gamma = ("projects/gamma.md".to_owned(), "# Otterbach pump".to_owned());
    for question in
        ["projects/gamma.md", "`Projects\\GAMMA.md`", "Otterbach pump", "otterbach PUMP?", "projcts/gamma.md"]
    {
        assert_eq!(first(question), gamma, "{question}");
    }
    let of_name = |question: &str, expected: &[&str]| {
        let found = hits(&store, question, Selection::default());
        let found: Vec<&str> = found.iter().take(expected.len()).map(|(path, _)| path.as_str()).collect();
        assert_eq!(found, expected, "{question}");
    };
    // Several documents of one name: those with fewer folders above them first.
    of_name("gamma.md", &["projects/gamma.md", "projects/old/gamma.md"]);
    of_name("gamma", &["projects/gamma.md", "projects/old/gamma.md"]);
    of_name("gmama.md", &["projects/gamma.md", "projects/old/gamma.md"]);
    of_name("projects/old/", &["projects/old/gamma.md", "projects/old/retry_policy.md"]);
    of_name("projects/gamma", &["projects/gamma.md", "projects/gamma-two.md"]);
    of_name("projects/", &["projects/gamma-two.md", "projects/gamma.md", "projects/old/gamma.md"]);
    // A file name in other separators, and the names that the front matter gives.
    of_name("retry policy", &["projects/old/retry_policy.md"]);
    of_name("second try", &["projects/old/retry_policy.md"]);
    of_name("Backoff", &["projects/old/retry_policy.md"]);
    let request = QueryRequest { text: "gamma".to_owned(), strict: true, ..QueryRequest::default() };
    let answer = store.engine.query(&Visibility::everything(), &request, now()).unwrap();
    assert!(
        !answer.abstained && answer.hits.len() >= 2,
        "a name is an answer, and each document of that name is one"
    );
    assert_eq!(answer.hits[0].score.to_bits(), answer.hits[1].score.to_bits());
    let select = Selection { tags: vec!["old".to_owned()], ..Selection::default() };
    assert_eq!(
        hits(&store, "gamma.md", select)[0].0,
        "projects/old/gamma.md",
        "only what may be found has a name"
    );
}

#[test]
fn a_question_that_only_mentions_a_name_names_nothing() {
    let store = vault();
    let first = |question: &str| hits(&store, question, Selection::default())[0].0.clone();
    assert_eq!(first("the retry policy on Monday"), "daily/monday.md");
    assert_eq!(first("what is closed?"), "daily/gate.md");
    // Items have the word, so it is no typing error of a file's name.
    assert_eq!(first("gale"), "daily/tuesday.md");
    // No number is a typing error of another.
    let found = hits(&store, "2026-05-09.md", Selection::default());
    assert!(found.iter().all(|(path, _)| !path.starts_with("daily/2026")), "{found:?}");
    assert_eq!(first("2026-05-07"), "daily/2026-05-07.md");
}

#[test]
fn names_of_files_follow_their_changes() {
    let store = vault();
    let first =
        |question: &str| hits(&store, question, Selection::default()).first().map(|(path, _)| path.clone());
    assert_ne!(first("weir.md").as_deref(), Some("notes/weir.md"));
    store.files(&[("notes/weir.md", "# Dam\n\nIt is old.\n")]);
    assert_eq!(first("weir.md").as_deref(), Some("notes/weir.md"));
    assert_eq!(first("wier.md").as_deref(), Some("notes/weir.md"));
    std::fs::remove_file(store.place.notes().join("notes/weir.md")).unwrap();
    store.place.index(&store.engine);
    assert_ne!(first("notes/weir.md").as_deref(), Some("notes/weir.md"));
    // The same text with another name in its front matter.
    let renamed = "---\naliases: Patience\n---\n# Trying once more\n\nIt waits.\n";
    store.files(&[("projects/old/retry_policy.md", renamed)]);
    assert_eq!(first("patience").as_deref(), Some("projects/old/retry_policy.md"));
    assert_ne!(first("Backoff").as_deref(), Some("projects/old/retry_policy.md"));
}
