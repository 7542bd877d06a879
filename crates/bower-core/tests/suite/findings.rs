//! Tests what `doctor` finds in documents: links without an end, and memories that contradict canonical facts.

use bower_core::config::{CanonicalFiles, Settings};
use bower_core::engine::Engine;
use bower_core::item::{Channel, Gate, Scope, Visibility};
use bower_core::request::{
    Check, CheckProblem, ConflictKind, CurateRequest, Outcome, QueryRequest, Selection,
};

use crate::place::{Place, now};

fn check(engine: &Engine, name: &str) -> Check {
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    checks.into_iter().find(|check| check.name == name).unwrap()
}

fn keep(engine: &Engine, content: &str, owner: &str) -> String {
    let request = CurateRequest {
        scope: Scope::Agent,
        owner: Some(owner.to_owned()),
        gate: Some(Gate::Off),
        ..CurateRequest::new(content)
    };
    engine.curate(&Visibility::everything(), &request, now()).unwrap().id.unwrap()
}

/// The findings as `file:line text > candidates`, without folders.
fn told(check: &Check) -> Vec<String> {
    let name = |path: &str| path.rsplit("/notes/").next().unwrap_or(path).to_owned();
    let one = |finding: &bower_core::request::CheckFinding| {
        let ends: Vec<String> = finding.candidates.iter().map(|path| name(path)).collect();
        let ends = ends.join(", ");
        let sign = match finding.problem {
            CheckProblem::Nowhere => "nowhere",
            CheckProblem::Ambiguous => "ambiguous",
            CheckProblem::Conflict => "conflict",
        };
        format!("{}:{} {} {sign} {ends}", name(&finding.path), finding.line, finding.text).trim().to_owned()
    };
    check.findings.iter().map(one).collect()
}

#[test]
fn links_without_an_end_are_told_with_their_place() {
    let place = Place::without_model();
    let engine = place.open();
    place.write("a/one.md", "# One\n\nSee [[Two]], [[Gone]] and [[It]].\n\nA circle: [[one]].\n");
    place.write("a/two.md", "# Two\n\nBack to [[One]], [up](../b/three.md), [down](../c/none.md#x).\n");
    place.write(
        "b/three.md",
        "---\naliases: [\"'; DROP TABLE items\"]\n---\n# It\n\n[code](tool.rs) ![p](p.png) [s](../a/) [r](gone.rs)\n",
    );
    place.write(
        "c/four.md",
        "# It\n\n[['; DROP TABLE items]] [[b/three|there]] [[#here]] [w](https://a.org/x.md)\n",
    );
    place.write(
        "c/five.md",
        "# Code\n\n`[[x]]`\n\n```sh\n[[ -f $x ]] && [[ $y ]]\n```\n\n[[!!!]] [[Three's]]\n",
    );
    place.write("b/tool.rs", "// [[not a link]] and [x](y.md)\nfn main() {}\n");
    place.index(&engine);
    let links = check(&engine, "links");
    assert_eq!(links.outcome, Outcome::Weak);
    assert_eq!(
        told(&links),
        [
            "a/one.md:3 [[Gone]] nowhere",
            "a/one.md:3 [[It]] ambiguous b/three.md, c/four.md",
            "a/two.md:3 ../c/none.md#x nowhere",
            "b/three.md:6 gone.rs nowhere",
            "c/five.md:9 [[!!!]] nowhere",
        ]
    );
    assert_eq!(links.detail, "14 links in 5 documents: 4 lead nowhere, 1 may mean several documents");

    place.write("b/gone.rs", "fn gone() {}\n");
    place.write("a/gone.md", "# Gone\n\nHere.\n");
    place.write("a/it.md", "# It\n\nHere.\n");
    place.index(&engine);
    assert_eq!(
        told(&check(&engine, "links")),
        ["a/two.md:3 ../c/none.md#x nowhere", "c/five.md:9 [[!!!]] nowhere"]
    );
}

#[test]
fn documents_without_links_are_in_order() {
    let place = Place::without_model();
    let engine = place.open();
    assert_eq!(check(&engine, "links").detail, "no document links to another");
    place.write("a.md", "# A\n\n[[b]]\n");
    place.write("b.md", "# B\n\n[a](a.md)\n");
    place.index(&engine);
    let links = check(&engine, "links");
    assert_eq!((links.outcome, links.hint.as_deref()), (Outcome::Good, None));
    assert_eq!(links.detail, "2 links in 2 documents: each leads to one document or file");
    assert!(engine.doctor(&Visibility::everything()).unwrap().iter().all(|check| check.name != "canonical"));
}

#[test]
fn the_settings_name_the_canonical_files() {
    let files = |patterns: &[&str]| {
        CanonicalFiles::new(patterns.iter().map(|&pattern| pattern.to_owned()).collect()).unwrap()
    };
    let settings =
        |patterns| Settings { canonical_files: files(patterns), ..Place::without_model().settings };
    let place = Place::with(settings(&["rules/*.md"]));
    place.write("rules/ports.md", "# Ports\n\nThe gateway listens on 8080.\n");
    place.write("CANONICAL.md", "# Names\n\nThe gateway is called Ada.\n");
    let engine = place.open();
    place.index(&engine);
    let names = |engine: &Engine, question: &str| -> Vec<String> {
        let select = Selection::default();
        let found =
            engine.ask_channel(&Visibility::everything(), Channel::Canonical, question, 9, &select).unwrap();
        let name = |row| {
            let all = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap().memories;
            let item = all.into_iter().find(|item| item.row == row).unwrap();
            item.metadata["file_name"].as_str().unwrap().to_owned()
        };
        found.into_iter().map(|(hit, _)| name(hit.row)).collect()
    };
    assert_eq!(names(&engine, "gateway"), ["ports.md"]);
    // A file that comes later is canonical too, and one that goes is not.
    place.write("rules/names.md", "# Names\n\nThe gateway has two names.\n");
    place.index(&engine);
    assert_eq!(names(&engine, "gateway").len(), 2);
    std::fs::remove_file(place.notes().join("rules/ports.md")).unwrap();
    place.index(&engine);
    assert_eq!(names(&engine, "gateway"), ["names.md"]);
    let chunks = engine.canonical(&Visibility::everything(), 10).unwrap();
    assert_eq!(chunks.len(), 1);
    drop(engine);

    let place = place.reopened(settings(&[]));
    let engine = place.open();
    assert!(
        names(&engine, "gateway").is_empty()
            && engine.canonical(&Visibility::everything(), 9).unwrap().is_empty()
    );
    drop(engine);
    let engine = place.reopened(settings(&["no-such.md"])).open();
    let canonical = check(&engine, "canonical");
    assert_eq!(canonical.detail, "no indexed document is one of canonical_files (no-such.md)");
}

#[test]
fn a_citation_stays_when_other_lines_change() {
    let place = Place::without_model();
    let engine = place.open();
    place.write("CANONICAL.md", "# Facts\n\n- The gateway listens on 8080.\n- The queue is in the cellar.\n");
    place.index(&engine);
    let cited = || {
        let request = QueryRequest {
            profile: Some(bower_core::item::Profile::Athena),
            text: "where is the queue".to_owned(),
            ..QueryRequest::default()
        };
        let answer = engine.query(&Visibility::everything(), &request, now()).unwrap();
        (answer.hits[0].citation.clone().unwrap(), answer.hits[0].cited_line.unwrap())
    };
    let (before, line) = cited();
    assert_eq!(line, 4);
    place.write("CANONICAL.md", "# Facts\n\nNew.\n\n- The port is 80.\n- The queue is in the cellar.\n");
    place.index(&engine);
    assert_eq!(cited(), (before.clone(), 6));
    let item = engine.get(&Visibility::everything(), &before).unwrap();
    assert!(item.content.contains("cellar"));
    let error = engine.get(&Visibility::everything(), "canonical:0000000000000000").unwrap_err().to_string();
    assert!(error.contains("canonical fact"), "{error}");
}

#[test]
fn a_memory_that_says_something_else_than_a_fact_is_told() {
    let place = Place::new();
    let engine = place.open();
    place.write(
        "CANONICAL.md",
        "# Facts\n\n- The API gateway listens on port 8080.\n- Deploys happen every Friday.\n\n\
         | service | port |\n|---|---|\n| web | 3000 |\n| broken | 1 | 2\n||\n\n| no | rule |\n|--\n```\nopen\n",
    );
    place.index(&engine);
    let (right, wrong) = (
        keep(&engine, "The API gateway listens on port 8080.", "ann"),
        keep(&engine, "The API gateway listens on port 9090.", "ben"),
    );
    keep(&engine, "Water the tomatoes in the evening.", "ann");
    let canonical = check(&engine, "canonical");
    assert_eq!(canonical.outcome, Outcome::Weak);
    let [found] = canonical.findings.as_slice() else { panic!("{canonical:?}") };
    let memory = found.memory.as_ref().unwrap();
    assert_eq!((found.problem, found.line), (CheckProblem::Conflict, 3));
    assert_eq!((memory.id.as_str(), memory.why), (wrong.as_str(), ConflictKind::Value));
    assert_eq!(memory.difference.as_deref(), Some("9090 -> 8080"));
    assert!(canonical.detail.ends_with(": 1 memory says something else"), "{}", canonical.detail);
    assert_ne!(right, wrong);

    // Once the file says what the memory does, the other one is told.
    place.write("CANONICAL.md", "# Facts\n\n- The API gateway listens on port 9090.\n");
    place.index(&engine);
    let canonical = check(&engine, "canonical");
    assert_eq!(canonical.findings[0].memory.as_ref().unwrap().id, right);
}

#[test]
fn without_a_model_numbers_are_compared_and_the_check_says_so() {
    let place = Place::without_model();
    let engine = place.open();
    place.write("CANONICAL.md", "# Facts\n\nThe API gateway listens on port 8080.\n");
    place.index(&engine);
    keep(&engine, "The API gateway listens on port 9090.", "ben");
    let canonical = check(&engine, "canonical");
    assert!(canonical.detail.contains("only numbers were compared"), "{}", canonical.detail);
    assert_eq!((canonical.outcome, canonical.findings.len()), (Outcome::Weak, 1));
}
