//! Tests of the engine end to end, on real files, the real model and the real indexes.

use bower_core::engine::evaluation::{Depth, RankRequest};
use bower_core::engine::{DocumentInput, Engine};
use bower_core::filter::Filter;
use bower_core::item::{Channel, Kind, MemoryType, Profile, RowId, Scope, Visibility};
use bower_core::request::{
    Answer, CurateRequest, FileProblem, ForgetRequest, Forgetting, IndexRequest, QueryRequest, Selection,
};
use bower_core::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Place, contents, keep, now};

fn ask_with(engine: &Engine, text: &str, fast: bool, select: Selection) -> Result<Answer> {
    engine.query(
        &Visibility::everything(),
        &QueryRequest { text: text.into(), fast, select, ..QueryRequest::default() },
        now(),
    )
}

fn ask(engine: &Engine, text: &str) -> Answer {
    ask_with(engine, text, false, Selection::default()).unwrap()
}

fn file_names(answer: &Answer) -> Vec<String> {
    let name =
        |hit: &bower_core::request::Hit| Some(hit.memory.metadata.get("file_name")?.as_str()?.to_owned());
    answer.hits.iter().filter_map(name).collect()
}

#[test]
fn files_and_memories_are_found_by_words_and_by_meaning() {
    let place = Place::new();
    place.write(
        "garden.md",
        "# Garden\n\n## Watering\nTomatoes want a deep soak twice a week, in the morning.\n",
    );
    place.write(
        "engine.rs",
        "/// Opens the store.\npub fn open_store(path: &str) -> Store {\n    Store::new(path)\n}\n",
    );
    let engine = place.open();
    let report = place.index(&engine);
    assert_eq!(
        (report.files, report.indexed, report.chunks_added, report.embedded),
        (2, 2, 2, 2),
        "{report:?}"
    );
    assert_eq!(report.degraded, []);
    keep(&engine, "The release train leaves every second Tuesday.");

    let by_meaning = ask(&engine, "how often should I irrigate vegetables?");
    assert_eq!(file_names(&by_meaning)[0], "garden.md");
    assert!(by_meaning.hits[0].semantic.unwrap() > 0.3, "{:?}", by_meaning.hits[0].semantic);
    assert_eq!(by_meaning.degraded, []);
    let by_word = ask_with(&engine, "openStore", true, Selection::default()).unwrap();
    assert_eq!(file_names(&by_word)[0], "engine.rs");
    assert_eq!(by_word.hits[0].signals[0].channel, Channel::Text);
    assert_eq!(by_word.model_used, None);
    let both = ask(&engine, "when is the next release?");
    assert_eq!(both.hits[0].memory.kind, Kind::Memory);
    let channels: Vec<Channel> = both.hits[0].signals.iter().map(|signal| signal.channel).collect();
    assert_eq!(channels, [Channel::Text, Channel::Vector], "both channels found it");
    assert!(both.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
}

#[test]
fn only_what_changed_is_read_again_and_what_vanished_goes() {
    let place = Place::new();
    place.write(
        "a.md",
        format!(
            "# A\n\n## One\n{}\n\n## Two\n{}\n",
            "Apples grow on trees. ".repeat(12),
            "Boats float. ".repeat(20)
        ),
    );
    let b = place.write("b.txt", "Copper conducts electricity.");
    let engine = place.open();
    let first = place.index(&engine);
    let again = place.index(&engine);
    assert_eq!((again.unchanged, again.indexed, again.chunks_added, again.embedded), (2, 0, 0, 0));

    place.write(
        "a.md",
        format!(
            "# A\n\n## One\n{}\n\n## Two\n{}\n",
            "Apples grow on trees. ".repeat(12),
            "Trains run on rails. ".repeat(12)
        ),
    );
    fs::remove_file(b).unwrap();
    let third = place.index(&engine);
    assert_eq!((third.indexed, third.removed), (1, 1), "{third:?}");
    assert!(third.chunks_kept >= 1 && third.chunks_added < first.chunks_added, "{third:?}");
    assert!(contents(&ask(&engine, "copper electricity")).iter().all(|text| !text.contains("Copper")));
    assert!(contents(&ask(&engine, "boats")).iter().all(|text| !text.contains("Boats")));
    assert!(contents(&ask(&engine, "trains rails"))[0].contains("Trains"));
}

#[test]
fn files_that_cannot_be_read_are_listed_and_stop_nothing() {
    let place = Place::new();
    place.write("good.md", "Perfectly fine text.");
    place.write("image.png", [0x89, b'P', b'N', b'G', 0, 0, 0, 1]);
    let latin = place.write("latin.txt", b"caf\xE9 au lait, s'il vous pla\xEEt");
    place.write("huge.txt", "x ".repeat(6 << 20));
    let engine = place.open();
    let report = place.index(&engine);
    assert_eq!(report.indexed, 2);
    assert_eq!(report.skipped.len(), 2, "{:?}", report.skipped);
    let problem = "not UTF-8; read as windows-1252".to_owned();
    assert_eq!(report.problems, [FileProblem { path: latin, problem }]);
    assert!(contents(&ask(&engine, "lait"))[0].contains("café au lait"));
    let missing = engine.index(
        &Visibility::everything(),
        &IndexRequest::new(vec![place.notes(), place.notes().join("nowhere")]),
        now(),
        &|_| {},
        &|| true,
    );
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

#[test]
fn what_could_not_be_read_of_a_file_is_reported_with_the_file() {
    let place = Place::new();
    let path = place.write("broken.md", "---\ntitle: [\n---\nPerfectly fine text.");
    let engine = place.open();
    let report = place.index(&engine);
    let [problem] = &*report.problems else { panic!("{report:?}") };
    assert_eq!(problem.path, path);
    assert!(problem.problem.starts_with("front matter kept as text: "), "{problem:?}");
    assert_eq!((report.indexed, report.skipped.len()), (1, 0));
    assert_eq!(place.index(&engine).problems, [], "an unchanged file is not read again");
}

#[test]
fn a_write_is_found_by_the_next_query_of_another_engine_before_and_after_compaction() {
    let place = Place::new();
    let writer = place.open();
    let reader = place.open();
    let check = |text: &str, expected: &str| assert_eq!(contents(&ask(&reader, text))[0], expected);
    for n in 0..30 {
        keep(&writer, &format!("filler number {n} about nothing in particular"));
    }
    keep(&writer, "zebra crossings are striped");
    check("zebra", "zebra crossings are striped");
    // What is compacted and what is newer are one list; a generation written by another engine is picked up.
    place.write("x.md", "unrelated");
    place.index(&writer);
    assert_eq!(reader.status(&Visibility::everything()).unwrap().text_delta, 0);
    check("zebra", "zebra crossings are striped");
    keep(&writer, "okapi are striped too");
    check("okapi", "okapi are striped too");
    assert_eq!(reader.status(&Visibility::everything()).unwrap().text_delta, 1);
}

#[test]
fn the_order_does_not_depend_on_what_is_compacted() {
    let place = Place::new();
    let engine = place.open();
    let texts: Vec<_> = (0..60)
        .map(|n| {
            format!("note {n} about {} and {}", ["rivers", "hills", "lakes"][n % 3], ["birds", "fish"][n % 2])
        })
        .collect();
    for text in &texts {
        keep(&engine, text);
    }
    let before = ask(&engine, "birds at rivers");
    assert_eq!(before.effort.delta, 60);
    place.write("x.md", "unrelated words");
    place.index(&engine);
    let after = ask(&engine, "birds at rivers");
    assert_eq!(after.effort.delta, 0);
    let firsts =
        |answer: &Answer| contents(answer)[..5].iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(firsts(&before), firsts(&after));
}

#[test]
fn deleting_the_index_folder_loses_nothing() {
    let place = Place::new();
    place.write("a.md", "Lighthouses warn ships at night.");
    let engine = place.open();
    place.index(&engine);
    let before = ask(&engine, "lighthouses");
    fs::remove_dir_all(place.home().join("index")).unwrap();
    let fresh = place.open();
    let after = ask(&fresh, "lighthouses");
    assert_eq!(contents(&before), contents(&after));
    // Codes are kept in their index alone.
    let lost: Vec<String> = after.degraded.iter().map(|one| one.channel.to_string()).collect();
    assert_eq!(lost, ["tokens"]);
    place.index(&fresh);
    assert_eq!(fresh.status(&Visibility::everything()).unwrap().text_delta, 0);
    assert_eq!(contents(&ask(&fresh, "lighthouses")), contents(&before));
}

/// Few documents wait in the delta, many are compacted, and both are found.
#[test]
fn documents_that_are_handed_in_are_compacted_when_enough_wait() {
    let place = Place::without_model();
    let engine = place.open();
    let add = |numbers: std::ops::Range<usize>| {
        let document =
            |nth| DocumentInput { id: format!("{nth}"), text: format!("otter{nth}"), ..Default::default() };
        engine
            .add_documents(
                &Visibility::everything(),
                numbers.map(document).collect(),
                (Scope::Project, None),
                now(),
            )
            .unwrap();
        engine.status(&Visibility::everything()).unwrap().text_delta
    };
    assert_eq!(add(0..200), 200);
    assert_eq!(add(200..300), 0);
    assert_eq!(add(300..310), 10);
    // A load lets the log grow, and leaves none behind that the next process would have to read.
    assert_eq!(add(310..2_500), 0);
    let log = fs::metadata(place.home().join("memory.db-wal")).map_or(0, |log| log.len());
    assert!(log < 1_700_000, "{log}");
    for nth in [0, 299, 309, 2_499] {
        assert_eq!(contents(&ask(&engine, &format!("otter{nth}")))[0], format!("otter{nth}"));
    }
}

#[test]
fn an_index_that_does_not_match_is_never_searched_and_is_built_anew() {
    let place = Place::new();
    place.write("a.md", "Glaciers carve valleys.");
    let engine = place.open();
    place.index(&engine);
    drop(engine);
    // A backup from before: same identity, fewer changes, then others under the same numbers.
    let backup = fs::read(place.home().join("memory.db")).unwrap();
    let engine = place.open();
    keep(&engine, "volcanoes build islands");
    place.write("b.md", "Deserts shift.");
    place.index(&engine);
    drop(engine);
    for name in ["memory.db-wal", "memory.db-shm"] {
        fs::remove_file(place.home().join(name)).unwrap_or_default();
    }
    fs::write(place.home().join("memory.db"), backup).unwrap();
    let restored = place.open();
    assert!(!restored.status(&Visibility::everything()).unwrap().index_healthy);
    assert!(contents(&ask(&restored, "volcanoes")).iter().all(|text| !text.contains("volcanoes")));
    assert!(contents(&ask(&restored, "glaciers"))[0].contains("Glaciers"));
    assert!(restored.maintain(now()).unwrap(), "an index that does not match is due at once");
    assert!(restored.status(&Visibility::everything()).unwrap().index_healthy);
    assert!(contents(&ask(&restored, "glaciers"))[0].contains("Glaciers"));
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_damaged_index_costs_time_and_nothing_else() {
    let place = Place::new();
    place.write("a.md", "Windmills grind grain.");
    let engine = place.open();
    place.index(&engine);
    drop(engine);
    for path in files(&place.home().join("index")) {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let engine = place.open();
    assert!(contents(&ask(&engine, "windmills"))[0].contains("Windmills"));
    engine.maintain(now()).unwrap();
    assert!(engine.status(&Visibility::everything()).unwrap().index_healthy);
    assert!(contents(&ask(&engine, "windmills"))[0].contains("Windmills"));
}

#[test]
fn without_a_model_words_work_and_the_answer_says_so() {
    let place = Place::without_model();
    place.write("a.md", "Lanterns glow.");
    let engine = place.open();
    let report = place.index(&engine);
    assert_eq!(report.degraded[0].channel, Channel::Vector.into());
    let answer = ask(&engine, "lanterns");
    assert_eq!(contents(&answer), ["Lanterns glow."]);
    assert_eq!((answer.model_used.as_deref(), answer.degraded[0].channel), (None, Channel::Vector.into()));
    // The model arrives: what was written without it is embedded by the next run.
    drop(engine);
    let with = place.reopened(Place::new().settings);
    let engine = with.open();
    let half = ask(&engine, "lanterns");
    assert_eq!(half.degraded.len(), 1, "{:?}", half.degraded);
    assert_eq!(with.index(&engine).embedded, 1);
    assert_eq!(ask(&engine, "things that shine in the dark").degraded, []);
}

#[test]
fn any_text_is_a_question() {
    let place = Place::new();
    place.write("a.txt", "Use C++ with a/b paths, don't panic; 日本語のテキスト, and 🦜 too.");
    let engine = place.open();
    place.index(&engine);
    for text in ["C++", "a/b", "don't", "日本", "🦜", "pve-01 field:value", "AND OR NOT", "(", "a\0b"] {
        ask(&engine, text);
    }
    for text in ["\"", "*", "!?", "…"] {
        ask(&engine, text);
        ask_with(&engine, text, true, Selection::default()).unwrap();
    }
    for text in ["C++", "a/b", "don't", "日本", "🦜"] {
        let answer = ask_with(&engine, text, true, Selection::default()).unwrap();
        assert_eq!(answer.hits.len(), 1, "{text}");
    }
    let long = "words and more words, ".repeat(50_000);
    assert!(!ask_with(&engine, &long, true, Selection::default()).unwrap().query.is_empty());
    for (text, limit) in [("", 10), (" \n", 10), ("x", 0), ("x", 51)] {
        let request = QueryRequest { text: text.into(), limit, fast: true, ..QueryRequest::default() };
        assert!(
            matches!(engine.query(&Visibility::everything(), &request, now()), Err(Error::Invalid { .. })),
            "{text:?} {limit}"
        );
    }
}

#[test]
fn selections_hold_in_both_channels() {
    let place = Place::new();
    place.write("v1/guide.md", "---\ntags: [setup]\nteam: core\n---\nInstall the agent with the old script.");
    place.write("v2/guide.md", "Install the agent with the new installer.");
    let engine = place.open();
    place.index(&engine);
    let mut decision = CurateRequest::new("We install the agent by hand on Fridays.");
    decision.memory_type = Some(MemoryType::Decision);
    decision.tags = vec!["#Ops".into()];
    engine.curate(&Visibility::everything(), &decision, now()).unwrap();
    let check = |select: Selection, expected: &[&str]| {
        let answer = ask_with(&engine, "how do we install the agent", false, select).unwrap();
        let mut found: Vec<_> = contents(&answer)
            .iter()
            .map(|text| text.split_whitespace().nth_back(0).unwrap().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, expected);
    };
    let base = Selection::default;
    check(base(), &["Fridays.", "installer.", "script."]);
    check(Selection { version: Some("v2".into()), ..base() }, &["installer."]);
    check(Selection { tags: vec!["setup".into()], ..base() }, &["script."]);
    check(Selection { tags: vec!["ops".into()], ..base() }, &["Fridays."]);
    check(Selection { types: vec![MemoryType::Decision], ..base() }, &["Fridays."]);
    check(Selection { kinds: vec![Kind::Chunk], ..base() }, &["installer.", "script."]);
    check(Selection { collections: vec!["memories".into()], ..base() }, &["Fridays."]);
    check(Selection { filter: Some(Filter::parse(r#"{"team":"core"}"#).unwrap()), ..base() }, &["script."]);
    check(Selection { since: Some(now() + jiff::Span::new().hours(1)), ..base() }, &[]);
}

#[test]
fn forgetting_takes_the_words_out_of_every_channel() {
    let place = Place::new();
    let engine = place.open();
    let id = keep(&engine, "quagga are extinct");
    place.write("a.md", "unrelated");
    place.index(&engine);
    let dry = engine
        .forget(
            &Visibility::everything(),
            &Forgetting { dry_run: true, ..Forgetting::of(ForgetRequest::Ids(vec![id.clone()])) },
            now(),
        )
        .unwrap();
    assert_eq!((dry.forgotten.len(), dry.receipt.dry_run), (1, true));
    assert_eq!(engine.get(&Visibility::everything(), &id[..8]).unwrap().content, "quagga are extinct");
    let gone = engine
        .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id.clone()])), now())
        .unwrap();
    assert_eq!((gone.receipt.items, gone.receipt.vectors), (1, 1));
    assert!(matches!(engine.get(&Visibility::everything(), &id), Err(Error::NotFound { .. })));
    assert!(contents(&ask(&engine, "quagga extinct")).iter().all(|text| !text.contains("quagga")));
    assert_eq!(engine.history(&Visibility::everything(), &id).unwrap().history.len(), 2);
    let everything = engine.forget(
        &Visibility::everything(),
        &Forgetting { dry_run: true, ..Forgetting::of(ForgetRequest::Selected(Box::default())) },
        now(),
    );
    assert!(matches!(everything, Err(Error::Invalid { .. })));
}

#[test]
fn the_same_words_again_are_one_memory_and_owners_are_kept_apart() {
    let place = Place::new();
    let engine = place.open();
    let first = engine.curate(&Visibility::everything(), &CurateRequest::new("use tabs"), now()).unwrap();
    let again = engine.curate(&Visibility::everything(), &CurateRequest::new(" use tabs\n"), now()).unwrap();
    assert_eq!((&again.id, again.is_update), (&first.id, true));
    let mut other = CurateRequest::new("use tabs");
    other.owner = Some("ann".into());
    assert_ne!(engine.curate(&Visibility::everything(), &other, now()).unwrap().id, first.id);
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total, 2);
    for content in ["", "  \n"] {
        assert!(matches!(
            engine.curate(&Visibility::everything(), &CurateRequest::new(content), now()),
            Err(Error::Invalid { .. })
        ));
    }
}

#[test]
fn a_query_vector_is_cached_for_the_next_process() {
    let place = Place::new();
    let engine = place.open();
    keep(&engine, "harbours shelter boats");
    let first = ask(&engine, "where do boats rest?");
    assert!(!first.effort.vector_cached && first.effort.embed_ms > 0.0);
    engine.maintain(now()).unwrap();
    let second = ask(&place.open(), "where do boats rest?");
    assert!(second.effort.vector_cached);
    assert_eq!(contents(&first), contents(&second));
    // Others asked it before, or nobody did: the scores do not tell.
    let scores = |answer: &bower_core::request::Answer| {
        answer.hits.iter().map(|hit| hit.score.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(scores(&first), scores(&second));
}

#[test]
fn documents_that_are_not_files_are_indexed_the_same_way() {
    let place = Place::new();
    let engine = place.open();
    let input = |text: &str| DocumentInput {
        id: "doc/1".into(),
        title: Some("Owls".into()),
        text: text.into(),
        ..DocumentInput::default()
    };
    assert_eq!(
        engine
            .add_documents(
                &Visibility::everything(),
                vec![input("They hunt at night.")],
                (Scope::Project, None),
                now()
            )
            .unwrap()
            .chunks_added,
        1
    );
    assert_eq!(
        engine
            .add_documents(
                &Visibility::everything(),
                vec![input("They hunt at night.")],
                (Scope::Project, None),
                now()
            )
            .unwrap()
            .unchanged,
        1
    );
    let answer = ask(&engine, "owls");
    assert_eq!(
        (contents(&answer), answer.hits[0].memory.summary.as_str()),
        (vec!["They hunt at night."], "Owls")
    );
}

#[test]
fn two_runs_of_index_at_once_leave_one_copy() {
    let place = Place::new();
    for n in 0..20 {
        place.write(&format!("{n}.md"), format!("Document number {n} speaks of topic {n}."));
    }
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| place.index(&place.open()));
        }
    });
    let engine = place.open();
    assert_eq!(engine.status(&Visibility::everything()).unwrap().total_chunks, 20);
    assert!(
        engine.doctor(&Visibility::everything()).unwrap().iter().all(|check| check.hint.is_none()),
        "{:?}",
        engine.doctor(&Visibility::everything())
    );
}

/// Scores of every hit's row by late interaction, through the engine's own path.
#[test]
fn tokens_follow_items_through_compactions_lost_indexes_and_forgetting() {
    let place = Place::new();
    place.write(
        "garden.md",
        "# Garden\n\n## Watering\nTomatoes want a deep soak twice a week, in the morning.\n",
    );
    place.write("ports.md", "# Ports\n\nThe gateway listens on 8080, the metrics on 9090.\n");
    let engine = place.open();
    place.index(&engine);
    keep(&engine, "The release train leaves every second Tuesday.");
    let state = |engine: &Engine| {
        let status = engine.status(&Visibility::everything()).unwrap();
        (status.token_delta, status.uncoded, status.index_healthy)
    };
    assert_eq!(state(&engine), (1, 0, true), "the documents are folded, the memory waits");
    let question = "when do I water vegetables?";
    let select = Selection::default();
    let request = RankRequest::new(question, &select, now());
    let mut rows: Vec<RowId> =
        engine.rank(&Visibility::everything(), &request).unwrap().fused.iter().map(|hit| hit.row).collect();
    rows.sort_unstable();
    assert_eq!(rows.len(), 3);
    let asked = [rows[2], RowId(4_000), rows[0], rows[1], rows[0]];
    let scores = engine.late(&Visibility::everything(), question, &asked).unwrap();
    let score = |at: usize| scores[at].unwrap();
    assert_eq!(scores[1], None, "no such row");
    let best = score(2).max(score(3));
    assert!(best > score(0) + 0.02, "the garden against the train: {scores:?}");
    assert!(scores.iter().flatten().all(|score| (-1.0..=1.0).contains(score)), "{scores:?}");
    assert_eq!(scores[2], scores[4]);
    // From the cache of questions the same, and from the index the same as from the delta.
    engine.maintain(now()).unwrap();
    assert_eq!(place.open().late(&Visibility::everything(), question, &asked).unwrap(), scores);

    // Without index/ the documents' codes are gone; the memory's are in the delta. The next run makes them again.
    drop(engine);
    fs::remove_dir_all(place.home().join("index")).unwrap();
    let engine = place.open();
    assert_eq!(state(&engine), (1, 2, true));
    let lost = engine.late(&Visibility::everything(), question, &asked).unwrap();
    assert_eq!(lost.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false, false]);
    let named = |engine: &Engine, name: &str| {
        engine
            .doctor(&Visibility::everything())
            .unwrap()
            .into_iter()
            .find(|check| check.name == name)
            .map(|check| check.detail)
    };
    assert!(named(&engine, "token codes").unwrap().starts_with("2 items"));
    let lost = ask(&engine, "when do I water vegetables?").degraded;
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!(lost[0].reason, "2 of 3 candidates have no token codes: run bower index");
    assert_eq!(place.index(&engine).embedded, 0, "vectors are still there");
    assert_eq!(state(&engine), (0, 0, true));
    assert_eq!(
        engine.late(&Visibility::everything(), question, &asked).unwrap(),
        scores,
        "made again, and all of it compacted"
    );
    assert_eq!(named(&engine, "token codes"), None);
    assert!(named(&engine, "token index").unwrap().starts_with("holds change"));

    // What is forgotten leaves the index with the same compact.
    let id = ask(&engine, "release train").hits[0].memory.id.clone();
    engine.forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now()).unwrap();
    assert_eq!(state(&engine), (0, 0, true));
    let scores = engine.late(&Visibility::everything(), question, &asked).unwrap();
    assert_eq!((scores[0], scores[2].is_some()), (None, true));
    assert_eq!(
        engine.doctor(&Visibility::everything()).unwrap().iter().filter(|check| check.hint.is_some()).count(),
        0
    );
}

#[test]
fn a_damaged_token_index_is_named_and_built_anew() {
    let place = Place::new();
    place.write("a.md", "# A\n\nApples grow on trees.\n");
    let engine = place.open();
    place.index(&engine);
    drop(engine);
    let index = fs::read_dir(place.home().join("index")).unwrap().next().unwrap().unwrap().path();
    let tokens = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path());
    let tokens = tokens
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("tokens-"))
        .collect::<Vec<_>>();
    assert_eq!(tokens.len(), 1);
    fs::write(tokens[0].join("manifest"), "noise").unwrap();
    let engine = place.open();
    assert!(!engine.status(&Visibility::everything()).unwrap().index_healthy);
    place.index(&engine);
    let status = engine.status(&Visibility::everything()).unwrap();
    assert_eq!((status.index_healthy, status.uncoded, status.token_delta), (true, 0, 0));
}

#[test]
fn a_profile_says_how_deep_its_channels_are_asked() {
    let mut place = Place::new();
    place.settings.candidates = 6;
    place.settings.ade.pool_least = 3;
    place.settings.ade.pool_per_hit = 2;
    place.settings.seed.text_pool = 4;
    place.settings.seed.vector_pool = 5;
    let engine = place.open();
    for berth in 0..9 {
        keep(&engine, &format!("From berth {berth} the ferry leaves the harbour."));
    }
    let select = Selection::default();
    let gathered = |profile, depth| {
        let request = RankRequest {
            profile: Some(profile),
            depth,
            ..RankRequest::new("Where does the ferry leave the harbour?", &select, now())
        };
        let ranking = engine.rank(&Visibility::everything(), &request).unwrap();
        assert_eq!(ranking.degraded, []);
        [Channel::Text, Channel::Vector].map(|channel| ranking.of(channel).len())
    };
    // ADE: max(3, 2 x limit) by meaning. Seed: its own two pools. The others: what the settings say for all channels.
    assert_eq!([1, 2, 4].map(|hits| gathered(Profile::Ade, Depth::Hits(hits))), [[6, 3], [6, 4], [6, 8]]);
    assert_eq!(gathered(Profile::Seed, Depth::Hits(2)), [4, 5]);
    for profile in [Profile::Bower, Profile::Athena, Profile::Atlas] {
        assert_eq!(gathered(profile, Depth::Hits(2)), [6, 6], "{profile}");
    }
    // Never fewer than hits wanted; and as many as are told, where a caller tells.
    for &profile in Profile::ALL {
        assert_eq!(gathered(profile, Depth::Hits(7))[0], 7, "{profile}");
        assert_eq!(gathered(profile, Depth::Rows(2)), [2, 2], "{profile}");
    }
}
