//! Tests that indexing is repeatable: the same documents give the same store, indexes and answers.
//! This holds whatever the threads do.

use std::collections::BTreeMap;
use std::path::Path;

use bower_core::config::Settings;
use bower_core::engine::{DocumentInput, Engine};
use bower_core::item::{Scope, Visibility};
use bower_core::request::{IndexReport, QueryRequest};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::model::models_folder;
use crate::place::{Place, now};

const WORDS: [&str; 16] = [
    "beds", "dawn", "frost", "hollow", "gate", "school", "beans", "compost", "straw", "kettle", "ferry",
    "harbour", "ledger", "backup", "release", "owls",
];

/// Text of so many sentences, each of twelve words.
fn text(seed: usize, sentences: usize) -> String {
    let word = |at: usize| WORDS[(seed * 7 + at * at + at * (seed % 5 + 1)) % WORDS.len()];
    let sentence = |nth: usize| {
        let words: Vec<&str> = (0..12).map(|at| word(nth * 12 + at)).collect();
        format!("The {}.", words.join(" "))
    };
    (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
}

/// A long document first and many short ones after it, which are ready long before it.
fn documents() -> Vec<DocumentInput> {
    let document = |at: usize| {
        let sections = |count: usize| {
            let section = |nth| format!("## Part {nth}\n\n{}\n", text(at * 31 + nth, 12));
            (0..count).map(section).collect::<String>()
        };
        let text = if at.is_multiple_of(20) { sections(18) } else { text(at, 1) };
        DocumentInput { id: format!("{at:03}.md"), text, ..DocumentInput::default() }
    };
    (0..60).map(document).collect()
}

fn settings(threads: usize) -> Settings {
    Settings { models_folder: Some(models_folder()), threads, compact_after: 1, ..Settings::default() }
}

/// Every row of every table but the store's own identity and its fingerprints of changes.
fn tables(home: &Path) -> BTreeMap<String, Vec<Vec<Value>>> {
    let connection = Connection::open(home.join("memory.db")).unwrap();
    let mut names = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'store'")
        .unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        let mut all = connection.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = all.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        all.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

/// The bytes of every file of the indexes but those that name the store; those of the text index by what they hold, as their
/// names are random.
fn files(home: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let store = std::fs::read_dir(home.join("index")).unwrap().next().unwrap().unwrap().path();
    let mut found: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for room in
        std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let name = room.file_name().unwrap().to_string_lossy().into_owned();
        for path in std::fs::read_dir(&room).unwrap().map(|entry| entry.unwrap().path()) {
            let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            // What names the store, or files whose names are random, differs.
            let is_named = ["json", "sums"].contains(&kind.as_str()) || path.ends_with("manifest");
            if !is_named && kind != "lock" {
                let file = if name == "text" {
                    kind
                } else {
                    path.file_name().unwrap().to_string_lossy().into_owned()
                };
                found.entry(format!("{name}/{file}")).or_default().push(std::fs::read(path).unwrap());
            }
        }
    }
    for files in found.values_mut() {
        files.sort();
    }
    found
}

fn add(engine: &Engine, documents: Vec<DocumentInput>) -> IndexReport {
    engine.add_documents(&Visibility::everything(), documents, (Scope::Project, None), now()).unwrap()
}

fn asked(text: &str) -> QueryRequest {
    QueryRequest { text: text.into(), ..QueryRequest::default() }
}

/// Ids and scores of what some questions find.
fn answers(engine: &Engine) -> Vec<(String, f32)> {
    let questions = ["frost in the hollow", "who has the ledger", "owls at dawn", "the harbour"];
    let hits = questions
        .map(|question| engine.query(&Visibility::everything(), &asked(question), now()).unwrap().hits);
    hits.into_iter().flatten().map(|hit| (hit.memory.id, hit.score)).collect()
}

#[test]
fn the_same_documents_give_the_same_store_indexes_and_answers_on_any_number_of_threads() {
    let mut first = None;
    for threads in [1, 2, 8, 3] {
        let place = Place::with(settings(threads));
        let engine = place.open();
        let report = add(&engine, documents());
        assert_eq!((report.indexed, report.embedded), (60, 111), "57 short ones and 3 of 18 parts");
        let answers = answers(&engine);
        assert!(answers.len() > 20, "{answers:?}");
        drop(engine);
        let found = (tables(&place.home()), files(&place.home()), answers);
        let Some(first) = &first else {
            assert!(found.0["texts"].len() == 111 && found.1.len() > 6, "{:?}", found.1.keys());
            first = Some(found);
            continue;
        };
        for (name, rows) in &found.0 {
            assert!(rows == &first.0[name], "table {name} differs with {threads} threads");
        }
        for (name, bytes) in &found.1 {
            assert!(bytes == &first.1[name], "{name} differs with {threads} threads");
        }
        assert_eq!(found.2, first.2, "{threads} threads");
    }
}

/// Where the order of arrival is another one, rows are others; what is found, and how well, is not.
#[test]
fn documents_in_another_order_or_in_steps_are_found_with_the_same_scores() {
    let documents = documents();
    let backwards = || documents.iter().rev().cloned().collect::<Vec<_>>();
    let at_once: Vec<Vec<DocumentInput>> = vec![documents.clone()];
    let halves = documents.chunks(30).map(<[_]>::to_vec).collect();
    let mut first = None;
    for steps in [at_once, vec![backwards()], halves] {
        let place = Place::with(settings(2));
        let engine = place.open();
        for step in steps {
            add(&engine, step);
        }
        let found = answers(&engine);
        assert!(found.len() > 20, "{found:?}");
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(found.len(), first.len());
        for ((id, score), (first_id, first_score)) in found.iter().zip(first.iter()) {
            assert_eq!(id, first_id);
            assert!((score - first_score).abs() < 1e-5, "{id}: {score} {first_score}");
        }
    }
}

#[test]
fn of_documents_with_one_id_in_one_call_the_last_one_counts() {
    let place = Place::without_model();
    let engine = place.open();
    let input =
        |text: &str| DocumentInput { id: "one".into(), text: text.into(), ..DocumentInput::default() };
    let report = add(&engine, vec![input("They hunt cod."), input("They hunt eels.")]);
    assert_eq!((report.files, report.indexed, report.skipped.len()), (2, 1, 1));
    assert!(report.skipped[0].reason.contains("the last one counts"), "{:?}", report.skipped);
    let found = |word| engine.query(&Visibility::everything(), &asked(word), now()).unwrap().hits.len();
    assert_eq!((found("cod"), found("eels")), (0, 1));
}

/// Two names that are no text looked the same: one file hid the other, and each run read both again.
#[cfg(unix)]
#[test]
fn files_whose_names_are_no_text_are_two_documents_and_stay() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::without_model();
    let engine = place.open();
    place.write("plain.md", "The otter dives.");
    let path = |name: &[u8]| place.notes().join(OsStr::from_bytes(name));
    std::fs::write(path(b"a\xff.md"), "The zebra sleeps.").unwrap();
    std::fs::write(path(b"a\xfe.md"), "The giraffe runs.").unwrap();
    assert_eq!(place.index(&engine).indexed, 3);
    let found = |word: &str| {
        let hits = engine.query(&Visibility::everything(), &asked(word), now()).unwrap().hits;
        hits.into_iter().map(|hit| hit.memory.content).collect::<Vec<_>>()
    };
    let again = place.index(&engine);
    assert_eq!((again.unchanged, again.indexed, again.removed), (3, 0, 0), "{again:?}");
    assert_eq!(found("zebra"), ["The zebra sleeps."]);
    assert_eq!(found("giraffe"), ["The giraffe runs."]);
    // Of two that are called the same here the first one counts, and the other is told.
    std::fs::write(path(b"a\\xff.md"), "The heron stands.").unwrap();
    let again = place.index(&engine);
    assert_eq!((again.indexed, again.skipped.len()), (1, 1), "{again:?}");
    assert!(again.skipped[0].reason.starts_with("another file is called "), "{again:?}");
    std::fs::remove_file(path(b"a\\xff.md")).unwrap();
    std::fs::remove_file(path(b"a\xfe.md")).unwrap();
    place.index(&engine);
    assert!(found("giraffe").is_empty() && found("heron").is_empty());
    assert_eq!(found("zebra").len(), 1);
}
