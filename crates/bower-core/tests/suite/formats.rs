//! Tests that older files stay readable: stores of every schema, and text indexes of every current format.
//! Formats of vectors and tokens are tested in their modules. What was written once is read for ever. The golden files are never
//! written again. A new format gets files of its own; where it ends the reading of an older one, that one's test then says that
//! it is refused, and built anew.

use bower_core::filter::Filter;
use bower_core::item::{Allowed, CacheRole, Change, Kind, Provenance, RowId, RowSet, Visibility};
use bower_core::parts::store::{
    IndexFeed, Items, Journal, LlmCacheBounds, LlmDesk, NewLlmAnswer, NewTokens, NewVector, SqliteStore,
    Stamp, Store, TrustedTime, Upkeep, VectorCache,
};
use bower_core::parts::text::{Delta, TextIndex, query_terms};
use bower_core::request::{AliasRequest, BriefRequest, CurateRequest, QueryRequest, Selection};
use rusqlite::Connection;
use std::path::Path;

use crate::place::{Place, contents, keep, now};

/// A folder of golden files, copied to where an index may be opened.
fn golden(name: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    for file in std::fs::read_dir(golden).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

/// Every table and index of a store, as it was made.
fn made(memory_db: &Path) -> Vec<(String, String)> {
    let connection = Connection::open(memory_db).unwrap();
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
        .unwrap();
    let made = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    made.map(Result::unwrap).collect()
}

/// Opens a store of an older schema, and checks that it has become one of today's: sound, found by words, written to and
/// remembering what a session was given.
fn becomes_todays(write: impl FnOnce(&Path), question: &str, expected: &[&str]) -> Place {
    let (mut place, fresh) = (Place::without_model(), Place::without_model());
    place.settings.compact_after = 0;
    std::fs::create_dir_all(place.home()).unwrap();
    write(&place.home().join("memory.db"));
    let (engine, newest) = (place.open(), fresh.open());
    assert_eq!(
        engine.status(&Visibility::everything()).unwrap().schema,
        newest.status(&Visibility::everything()).unwrap().schema
    );
    assert_eq!(made(&place.home().join("memory.db")), made(&fresh.home().join("memory.db")));
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    let store = checks.iter().find(|check| check.name == "store").unwrap();
    assert_eq!(store.hint, None, "{store:?}");

    let ask = |text: &str, session: &str| {
        let session = Some(session.to_owned());
        let request = QueryRequest { text: text.into(), fast: true, session, ..QueryRequest::default() };
        let answer = engine.query(&Visibility::everything(), &request, now()).unwrap();
        engine.keep_given(now()).unwrap();
        answer
    };
    assert_eq!(contents(&ask(question, "new")), expected);
    assert_eq!(ask(question, "new").already_given, Some(expected.len()));
    keep(&engine, "Quaggas are extinct.");
    assert_eq!(contents(&ask("quagga", "new")), ["Quaggas are extinct."]);
    // Folded into an index of its own, it answers the same.
    engine.maintain(now()).unwrap();
    assert_eq!(engine.status(&Visibility::everything()).unwrap().text_delta, 0);
    assert_eq!(contents(&ask(question, "another")), expected);
    place
}

fn sql(text: &'static str) -> impl FnOnce(&Path) {
    move |path| Connection::open(path).unwrap().execute_batch(text).unwrap()
}

const GATEWAY: &str = "# Gateway\n\nThe gateway listens on port 8080.";
const GARDEN: &str = "# Garden\n\nTomatoes want water at dawn. The gateway to the garden is green.";

#[test]
fn a_store_of_schema_1_becomes_todays() {
    let bytes = include_bytes!("../golden/schema-1.db");
    becomes_todays(|path| std::fs::write(path, bytes).unwrap(), "two", &["two"]);
}

#[test]
fn a_store_of_schema_2_becomes_todays() {
    let place =
        becomes_todays(sql(include_str!("../golden/schema-2.sql")), "gateway port", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 6);
}

#[test]
fn a_store_of_schema_3_becomes_todays() {
    let place =
        becomes_todays(sql(include_str!("../golden/schema-3.sql")), "gateway port", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 6);
    keeps_what_a_session_was_given(&place);
}

#[test]
fn a_store_of_schema_4_becomes_todays() {
    let place =
        becomes_todays(sql(include_str!("../golden/schema-4.sql")), "gateway port", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 6);
    keeps_what_a_session_was_given(&place);
}

#[test]
fn a_store_of_schema_5_becomes_todays() {
    let place =
        becomes_todays(sql(include_str!("../golden/schema-5.sql")), "gateway port", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 8);
    keeps_what_a_session_was_given(&place);
    finds_by_fields(&place);
}

#[test]
fn a_store_of_schema_7_becomes_todays() {
    let place = becomes_todays(sql(include_str!("../golden/schema-7.sql")), "gateway", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 10);
    finds_by_fields(&place);
    let engine = place.open();
    let port = engine.get(&Visibility::everything(), "7988bd8f0fa0f019").unwrap();
    assert_eq!(port.content, "staging API port is 9090");
    let history = engine.history(&Visibility::everything(), &port.id).unwrap();
    let forms: Vec<_> = history.chain.iter().map(|form| form.memory.content.as_str()).collect();
    assert_eq!(forms, ["The staging API listens on port 8080", "staging API port is 9090"]);
    // Its events do not say what was before.
    let supersede = history.history.last().unwrap();
    let refused = engine.undo(&Visibility::everything(), supersede.event, now()).unwrap_err().to_string();
    assert!(refused.contains("before events could be undone"), "{refused}");
    assert_eq!(
        engine.get(&Visibility::everything(), &port.id).unwrap().status,
        bower_core::item::Status::Active
    );
    let held = engine.status(&Visibility::everything()).unwrap().scopes;
    assert_eq!(held.iter().map(|held| held.memories).sum::<u64>(), 5);
}

#[test]
fn a_store_of_schema_8_becomes_todays() {
    let place = becomes_todays(sql(include_str!("../golden/schema-8.sql")), "tomatoes", &[GARDEN]);
    let brief = place.open().brief(&Visibility::everything(), &BriefRequest::default(), now()).unwrap();
    let texts: Vec<_> = brief.entries.iter().map(|entry| entry.text.as_str()).collect();
    let decided = ["We deploy the gateway on Fridays", "The release train leaves on Tuesday."];
    assert_eq!(texts[0], "Never restart the gateway at noon");
    assert_eq!(texts[1..], decided);
}

/// What was written before provenance was kept is trusted as little as fits: who told it to `bower` may have been an agent, what
/// was picked from a session is reviewed where somebody kept it, and another program's memories stay in briefings, marked.
#[test]
fn memories_of_schema_9_get_a_provenance() {
    let place = becomes_todays(sql(include_str!("../golden/schema-9-said.sql")), "tomatoes", &[GARDEN]);
    let engine = place.open();
    let select = Selection { kinds: vec![Kind::Memory], ..Selection::default() };
    let memories = engine.list(&Visibility::everything(), &select, 100, 0).unwrap().memories;
    let of = |words: &str| {
        let found = memories.iter().find(|item| item.content.contains(words)).unwrap();
        let Provenance { said_by, least_trusted, reviewed } = found.provenance;
        // The store knows as much by itself as whoever reads an export without provenance.
        let speaker = found.metadata.get("speaker").and_then(|name| name.as_str());
        let told = Provenance::of_source(&found.source, speaker, found.status);
        assert_eq!((told.said_by, told.least_trusted), (said_by, least_trusted), "{words}");
        (said_by.word(), least_trusted.word(), reviewed)
    };
    assert_eq!(of("gateway on Fridays"), ("agent", "agent", true));
    assert_eq!(of("keep invoices in PostgreSQL"), ("user", "user", false));
    assert_eq!(of("The root cause was"), ("agent", "agent", false));
    assert_eq!(of("database listens on port 5433"), ("user", "user", true), "somebody kept it");
    assert_eq!(of("Backups run at three"), ("import", "import", true));
}

#[test]
fn a_store_of_schema_9_becomes_todays() {
    let new = "The port of the demo server is 9090";
    let place = becomes_todays(
        sql(include_str!("../golden/schema-9.sql")),
        "port demo server",
        &[new, "staging API port is 9090", GATEWAY],
    );
    // It trusts the time of its last event.
    let store = SqliteStore::open(&place.home().join("memory.db"), &place.settings, now()).unwrap();
    let trust = store.trust().unwrap();
    assert!(trust.trusts(now()) && trust.jump.is_none(), "{trust:?}");
    assert!(!trust.trusts("2036-09-20T00:00:00Z".parse().unwrap()), "{trust:?}");
}

#[test]
fn rows_of_schema_9_get_checksums() {
    let place = becomes_todays(
        sql(include_str!("../golden/schema-9-mill.sql")),
        "mill",
        &["The old mill grinds on Wednesdays"],
    );
    let valve = place.open().get(&Visibility::everything(), "66006f4d4be0194b").unwrap();
    assert_eq!(valve.content, "Restart the pump before the valve");
    // Old rows have got their checksums.
    let connection = Connection::open(place.home().join("memory.db")).unwrap();
    connection
        .execute("UPDATE texts SET content = 'Restart the pump after the valve' WHERE row = 13", [])
        .unwrap();
    let refused = place.open().get(&Visibility::everything(), "66006f4d4be0194b").unwrap_err().to_string();
    assert!(refused.contains("not as it was written"), "{refused}");
}

/// A store without wordings gets none, and takes the caller's word from now on.
#[test]
fn a_store_of_schema_12_becomes_todays() {
    let place = becomes_todays(
        sql(include_str!("../golden/schema-12.sql")),
        "mill",
        &["Visitors say that the mill grinds on Wednesdays."],
    );
    let engine = place.open();
    let port = engine.get(&Visibility::everything(), "17e68bea182f46a7").unwrap();
    let history = engine.history(&Visibility::everything(), &port.id).unwrap();
    assert_eq!((history.chain.len(), history.wordings.len()), (2, 0));
    let request = CurateRequest {
        confirms: Some(port.id.clone()),
        ..CurateRequest::new("9090 is where the API answers.")
    };
    engine.curate(&Visibility::everything(), &request, now()).unwrap();
    assert_eq!(engine.history(&Visibility::everything(), &port.id).unwrap().wordings.len(), 1);
}

/// A store without aliases gets none, and takes those that somebody states from now on.
#[test]
fn a_store_of_schema_16_becomes_todays() {
    let place = becomes_todays(
        sql(include_str!("../golden/schema-16.sql")),
        "mill",
        &["The old mill at Orsland grinds on Wednesdays"],
    );
    let (engine, all) = (place.open(), Visibility::everything());
    assert!(engine.aliases(&all, None).unwrap().entities.is_empty());
    let request = AliasRequest { name: "A. Marsh".into(), other: "Ada Marsh".into(), undo: false };
    engine.alias(&all, &request, now()).unwrap();
    assert_eq!(engine.aliases(&all, Some("ada marsh")).unwrap().entities.len(), 1);
    assert_eq!(engine.tags(&all, &Selection::default(), None, 9, 0).unwrap().renamed.len(), 1);
}

/// A store with one vector an item keeps it, with its checksum, and takes those of other models from now on.
#[test]
fn a_store_of_schema_18_becomes_todays() {
    let ferry = "The ferry leaves at seven in the morning.";
    let place = becomes_todays(sql(include_str!("../golden/schema-18.sql")), "ferry", &[ferry]);
    let store = SqliteStore::open(&place.home().join("memory.db"), &place.settings, now()).unwrap();
    let model = "all-MiniLM-L6-v2.i8-2";
    assert_eq!(store.vector_models().unwrap(), [(model.to_owned(), 3)]);
    let rows = [RowId(1), RowId(2), RowId(3)];
    assert!(store.vectors(model, &rows).unwrap().iter().all(|half| half.as_ref().unwrap().len() == 768));
    let sums: Vec<i64> = Connection::open(place.home().join("memory.db"))
        .unwrap()
        .prepare("SELECT checksum FROM vectors ORDER BY row")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    // As the file has them.
    assert_eq!(sums, [3_118_299_797, 447_436_516, 4_038_265_924]);
    let other = NewVector { model: "other".into(), half: vec![0; 8], tokens: None };
    let newest = store.coverage().unwrap().change;
    let stamp = Stamp { now: now(), actor: "test" };
    assert_eq!(store.put_vectors(&[(RowId(2), other)], newest, stamp).unwrap(), 1);
    assert!(store.vectors(model, &[RowId(2)]).unwrap()[0].is_some());
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
}

/// A store whose cached questions have neither a size nor uses keeps them, and counts from now on. It gets a cache of language models'
/// answers, and a record of what requests cost.
#[test]
fn a_store_of_schema_19_becomes_todays() {
    let ferry = "The ferry leaves at seven in the morning.";
    let place = becomes_todays(sql(include_str!("../golden/schema-19.sql")), "ferry", &[ferry]);
    let store = SqliteStore::open(&place.home().join("memory.db"), &place.settings, now()).unwrap();
    let (model, question) = ("all-MiniLM-L6-v2.i8-2", CacheRole::Question);
    let cached = store.cached_vector(model, question, "when does the ferry leave").unwrap().unwrap();
    assert_eq!(cached.half.len(), 768);
    let totals = store.cache_totals().unwrap().pop().unwrap();
    // The file has a key of 32 bytes, a vector of 768 and tokens of 360.
    assert_eq!(
        (totals.model.as_str(), totals.role, totals.entries, totals.bytes),
        (model, question, 1, 1_160)
    );
    assert_eq!((totals.hits, totals.misses), (0, 0));
    let stamp = Stamp { now: now(), actor: "test" };
    let bounds = LlmCacheBounds { most: 9, keep_after: now() };
    let answer = NewLlmAnswer { key: &[7; 32], text: "yes", forgotten: 0 };
    store.keep_llm_answer(&answer, bounds, stamp).unwrap();
    assert_eq!(store.llm_answer(&[7; 32], now()).unwrap().answer.unwrap().text, "yes");
    assert_eq!(store.llm_report(now()).unwrap().cached_answers, 1);
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn a_store_of_schema_6_becomes_todays() {
    let place =
        becomes_todays(sql(include_str!("../golden/schema-6.sql")), "gateway port", &[GATEWAY, GARDEN]);
    keeps_what_models_made(&place, 8);
    keeps_what_a_session_was_given(&place);
    finds_by_fields(&place);
    // The numbers of `tools/golden_packed.py`.
    let mut numbers: Vec<u32> =
        (0..384).map(|at| (at * at * 31 + at * 7) & 0x83ff | (6 + at * at % 7) << 10).collect();
    for (at, number) in [(7, 0), (70, 0x8001), (170, 0x3c00), (270, 0xfc00), (383, 0x7e01)] {
        numbers[at] = number;
    }
    let half: Vec<u8> = numbers.iter().flat_map(|number| (*number as u16).to_le_bytes()).collect();
    let store = SqliteStore::open(&place.home().join("memory.db"), &place.settings, now()).unwrap();
    assert_eq!(store.vectors("test-model", &[RowId(7)]).unwrap(), [Some(half.clone())]);
    let mut delta = Vec::new();
    let mut each = |row: RowId, half: &[u8]| delta.push((row.0, half.to_vec()));
    store.delta_vectors("test-model", Change(1), &mut each).unwrap();
    assert_eq!(delta, [(3, vec![1; 16]), (7, half.clone())]);
    // What this program writes is what was written then, and no vector of an odd length is taken.
    let bytes = || {
        let connection = Connection::open(place.home().join("memory.db")).unwrap();
        let read = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
        connection.query_row("SELECT vector FROM vectors WHERE row = 7", [], read).unwrap()
    };
    let (golden, newest) = (bytes(), store.coverage().unwrap().change);
    let stamp = Stamp { now: now(), actor: "test" };
    let put = |half: Vec<u8>| {
        let vector = NewVector { model: "test-model".into(), half, tokens: None };
        store.put_vectors(&[(RowId(7), vector)], newest, stamp)
    };
    assert_eq!(put(vec![2; 768]).unwrap(), 1);
    assert_ne!(bytes(), golden);
    assert_eq!(put(half).unwrap(), 1);
    assert_eq!((bytes(), golden.len()), (golden.clone(), 693));
    assert!(put(vec![1; 767]).is_err());
    // A shortened one is none and not another vector.
    let connection = Connection::open(place.home().join("memory.db")).unwrap();
    connection
        .execute("UPDATE vectors SET vector = ?1 WHERE row = 7", [&golden[..golden.len() - 2]])
        .unwrap();
    assert_eq!(store.vectors("test-model", &[RowId(7)]).unwrap(), [None]);
}

fn finds_by_fields(place: &Place) {
    let engine = place.open();
    for (filter, expected) in [
        (r#"{"team":"core","n":{"$lt":8},"open":true}"#, "The lighthouse keeps a log."),
        (r#"{"lang":"en","level":{"$in":[1,2]}}"#, "# Harbour\n\nThe harbour wall was rebuilt in stone."),
    ] {
        let select = Selection { filter: Some(Filter::parse(filter).unwrap()), ..Selection::default() };
        let text = "harbour lighthouse".to_owned();
        let request = QueryRequest { text, fast: true, select, ..QueryRequest::default() };
        assert_eq!(
            contents(&engine.query(&Visibility::everything(), &request, now()).unwrap()),
            [expected],
            "{filter}"
        );
    }
}

/// Session s1 was given both documents by the version that wrote the store.
fn keeps_what_a_session_was_given(place: &Place) {
    let request = QueryRequest {
        text: "gateway port".into(),
        fast: true,
        session: Some("s1".into()),
        ..QueryRequest::default()
    };
    let answer = place.open().query(&Visibility::everything(), &request, now()).unwrap();
    assert_eq!((answer.hits.len(), answer.already_given), (0, Some(2)));
}

/// Vectors, token codes and the cached question, whose bytes the golden stores tell.
fn keeps_what_models_made(place: &Place, newest: u32) {
    let store = SqliteStore::open(&place.home().join("memory.db"), &place.settings, now()).unwrap();
    let rows = [RowId(1), RowId(3), RowId(5)];
    assert_eq!(store.vectors("test-model", &rows).unwrap(), [None, Some(vec![1; 16]), None]);
    assert_eq!(store.codes("test-model.t1", &rows).unwrap(), [None, None, Some(vec![5; 16])]);
    let tokens = Some(NewTokens { model: "test-model.t1".into(), bytes: vec![9; 16] });
    let vector = NewVector { model: "test-model".into(), half: vec![9; 16], tokens };
    assert_eq!(
        store.cached_vector("test-model", CacheRole::Question, "an old question").unwrap(),
        Some(vector)
    );
    // The row of a memory that was forgotten is not used again, and what happened to it is known.
    assert_eq!(store.rows_by_id("64fe56caf3d1208f", &Visibility::everything(), 9).unwrap(), []);
    let actions: Vec<_> =
        store.events("64fe56caf3d1208f").unwrap().into_iter().map(|event| event.action).collect();
    assert_eq!(actions, ["curate", "forget"]);
    assert_eq!(store.items_at_most().unwrap(), u64::from(newest), "after the golden rows came one more");
}

/// `tests/golden/text-2` was written by `bower index` when another rule said who speaks in a text: its terms are not those of today.
#[test]
fn a_text_index_of_another_analysis_is_refused() {
    let refused = TextIndex::open(golden("text-2").path()).unwrap_err().to_string();
    assert!(refused.contains("its format is 2.1, this program writes 2.3"), "{refused}");
}

/// `tests/golden/text-2.3` is that index with the number of today's analysis: nobody speaks in its texts and all are English, so its terms are the same.
/// It was written over the store of `schema-3.sql` as it was at its change 4.
#[test]
fn a_text_index_of_format_2_is_read() {
    let folder = golden("text-2.3");
    let index = TextIndex::open(folder.path()).unwrap().unwrap();
    index.verify().unwrap();
    assert_eq!((index.languages(None).unwrap().len(), index.len()), (0, 3));
    assert_eq!((index.coverage().store.as_str(), index.coverage().change), ("aef3c5950b1dea38", Change(4)));
    let nothing = RowSet::new();
    let check = |question: &str, drop: &[u32], expected: &[u32]| {
        let drop: RowSet = drop.iter().map(|&row| RowId(row)).collect();
        let allowed = Allowed { keep: None, drop: if drop.is_empty() { &nothing } else { &drop } };
        let terms = query_terms(question, &[]);
        let prepared = index.prepare(&terms, &Delta::empty(), None).unwrap();
        let found = index.search(&prepared, 10, allowed, &Delta::empty()).unwrap();
        let rows: Vec<u32> = found.iter().map(|hit| hit.row.0).collect();
        assert_eq!(rows, expected, "{question}");
        assert!(found.iter().all(|hit| hit.score > 0.0));
    };
    // Row 1 is the garden, row 2 the gateway, row 3 the train; row 2 has both words of the first question, and `gateway`
    // twice among fewer words.
    check("gateway port", &[], &[2, 1]);
    check("gateway port", &[2], &[1]);
    check("which trains leave on Tuesdays?", &[], &[3]);
    check("watering a tomato", &[], &[1]);
    check("tomorrow", &[], &[]);
}

/// A home whose index was written by an older version is asked at once, whether that can be read or not.
#[test]
fn a_home_with_an_older_index_is_asked() {
    home_with("text-2", false);
    home_with("text-2.3", true);
}

fn home_with(written: &str, is_read: bool) {
    let place = Place::without_model();
    let index = place.home().join("index/aef3c5950b1dea38/text");
    std::fs::create_dir_all(&index).unwrap();
    sql(include_str!("../golden/schema-3.sql"))(&place.home().join("memory.db"));
    for file in std::fs::read_dir(golden(written).path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), index.join(file.file_name())).unwrap();
    }
    let engine = place.open();
    if is_read {
        let status = engine.status(&Visibility::everything()).unwrap();
        assert_eq!(
            (status.text_delta, status.index_healthy),
            (1, true),
            "what is newer than the index waits"
        );
    }
    let ask = |text: &str| {
        let request = QueryRequest { text: text.into(), fast: true, ..QueryRequest::default() };
        engine.query(&Visibility::everything(), &request, now()).unwrap()
    };
    assert_eq!(contents(&ask("gateway port")), [GATEWAY, GARDEN]);
    assert_eq!(contents(&ask("harbour")), ["The old harbour is closed."]);
}
