//! Contract tests that every store must pass, with a fault injected at every step of a write.

mod aliases;
mod anchors;
mod bookmarks;
mod cache;
mod changes;
mod clock;
mod copies;
pub(super) mod filters;
pub(super) mod fixture;
mod interleavings;
mod life;
mod lifecycle;
mod llm;
mod moves;
mod origins;
mod pairs;
mod sessions;
mod tags;
mod triples;

use jiff::Timestamp;
use serde_json::{Map, json};
use std::sync::Arc;

use super::{
    CacheUses, CachedText, Covered, Decided, DeltaData, DeltaText, DocumentNames, DocumentRow, Kept,
    KeptChunk, Namespace, NewChunk, NewDocument, NewMemory, NewTokens, NewVector, Passage, Stamp, Store,
    WriteAction, Written,
};
use crate::error::Error;
use crate::filter::Filter;
use crate::item::{
    Author, CacheRole, Change, Kind, MemoryType, Provenance, RowId, RowSet, Scope, Status, Tier, Visibility,
    derive_id,
};
use crate::request::{Clocks, Selection};
use fixture::{Fixture, StoreAndDesk, with_fixture};

pub(super) const MODEL: &str = "test-model";
pub(super) const SCHEME: &str = "test-model.t1";

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub(super) fn stamp(second: i64) -> Stamp<'static> {
    Stamp { now: at(second), actor: "test" }
}

pub(super) fn vector(value: u8) -> NewVector {
    NewVector { model: MODEL.into(), half: vec![value; 16], tokens: Some(codes(value)) }
}

/// Two tokens.
pub(super) fn codes(value: u8) -> NewTokens {
    NewTokens { model: SCHEME.into(), bytes: vec![value; 16] }
}

pub(super) fn memory(content: &str) -> NewMemory {
    NewMemory {
        create_time: None,
        id: derive_id(&["memories", content]),
        collection: "memories".into(),
        memory_type: MemoryType::Decision,
        content: content.into(),
        summary: content.into(),
        importance: 0.5,
        confidence: 0.6,
        decay_rate: 0.01,
        tags: vec!["alpha".into()],
        keywords: vec!["key".into()],
        metadata: Map::from_iter([("team".to_owned(), json!("core")), ("n".to_owned(), json!(7))]),
        scope: Scope::Project,
        owner: Some("ann".into()),
        status: Status::Active,
        tier: Tier::Active,
        source: "test".into(),
        source_conv_id: None,
        provenance: Provenance::told(Author::User),
        host: None,
        valid_from: None,
        valid_to: None,
        anchors: Vec::new(),
        delta: DeltaData { terms: vec![1, 2, 3], mentions: Some(vec![7; 8]) },
        vector: Some(vector(1)),
    }
}

/// Makes a decision that nothing makes void.
pub(super) fn decided(standing: WriteAction) -> Decided {
    Decided {
        standing,
        possible: Vec::new(),
        different: Vec::new(),
        is_told: false,
        why: Map::new(),
        is_observed: true,
        seen: Change(i64::MAX.unsigned_abs()),
    }
}

/// Keeps a memory that is unrelated to any other.
pub(super) fn put(store: &dyn Store, memory: &NewMemory, stamp: Stamp<'_>) -> crate::Result<Kept> {
    Ok(store.put_memory(memory, &decided(WriteAction::Alone), stamp)?.expect("it is not superseded"))
}

fn chunk(document: &str, content: &str, position: u32) -> NewChunk {
    NewChunk {
        id: derive_id(&[document, content]),
        key: content.into(),
        content: content.into(),
        section: Some("Guide > Install".into()),
        position,
        lines: (position * 10 + 1, position * 10 + 9),
        tags: vec!["beta".into()],
        delta: DeltaData { terms: vec![9], mentions: None },
        vector: Some(vector(2)),
    }
}

pub(super) fn document(path: &str, added: &[&str]) -> NewDocument {
    NewDocument {
        id: derive_id(&["documents", path]),
        collection: "documents".into(),
        path: path.into(),
        file_name: path.rsplit('/').next().unwrap().into(),
        title: Some("Guide".into()),
        version: "v2.1".into(),
        hash: "h1".into(),
        recipe: "r1".into(),
        bytes: 10,
        metadata: Map::from_iter([("author".to_owned(), json!("Ann"))]),
        scope: Scope::Project,
        owner: None,
        session: None,
        provenance: Provenance::FILE,
        host: None,
        kept: Vec::new(),
        added: added.iter().enumerate().map(|(at, text)| chunk(path, text, at as u32)).collect(),
        removed: Vec::new(),
    }
}

fn rows(set: Option<Arc<RowSet>>) -> Vec<u32> {
    set.expect("the selection holds something back").iter().map(|row| row.0).collect()
}

/// Returns the rows of a document's chunks, in order.
pub(super) fn chunk_rows(store: &dyn Store, path: &str) -> Vec<RowId> {
    let chunks = store.chunks(&derive_id(&["documents", path])).unwrap();
    chunks.into_iter().map(|(_, row)| row).collect()
}

/// Runs a check on each store, opened and empty, and verifies it afterwards.
fn with_store(check: impl Fn(&dyn StoreAndDesk, &dyn Fixture) + Sync) {
    with_fixture(|fixture| {
        let store = fixture.open(at(0)).unwrap();
        check(&*store, fixture);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn what_dates_an_item_is_read_with_the_start_of_its_text() {
    with_store(|store, _| {
        let kept = put(store, &memory("pörts are 8080"), stamp(1)).unwrap();
        store.put_documents(&[document("/notes/2023-05-08.md", &["run it"])], stamp(2)).unwrap();
        let chunk = RowId(kept.row.0 + 1);
        let told = store.dated_texts(&[chunk, RowId(99), kept.row], 4).unwrap();
        assert!(told[1].is_none());
        let (chunk, memory) = (told[0].clone().unwrap(), told[2].clone().unwrap());
        assert_eq!((memory.kind, memory.create_time, memory.content.as_str()), (Kind::Memory, at(1), "pört"));
        assert_eq!((memory.title, memory.metadata["team"].clone()), (None, json!("core")));
        assert_eq!(
            (chunk.kind, chunk.title.as_deref(), chunk.content.as_str()),
            (Kind::Chunk, Some("Guide"), "run ")
        );
        assert_eq!(
            (chunk.section.as_deref(), chunk.file_name.as_deref()),
            (Some("Guide > Install"), Some("2023-05-08.md"))
        );
        assert_eq!(
            (chunk.document_metadata["author"].clone(), chunk.valid_from, chunk.valid_to),
            (json!("Ann"), None, None)
        );
    });
}

#[test]
fn a_memory_is_read_back_whole_by_another_handle() {
    with_store(|store, fixture| {
        let kept = put(store, &memory("ports are 8080"), stamp(1)).unwrap();
        assert!(!kept.is_update);
        let other = fixture.open(at(9)).unwrap();
        assert_eq!(other.identity(), store.identity());
        let item = other.items(&[kept.row, RowId(99)]).unwrap();
        assert!(item[1].is_none());
        let item = item[0].clone().unwrap();
        assert_eq!(
            (item.content.as_str(), item.tags.join(","), item.tier),
            ("ports are 8080", "alpha".into(), Tier::Active)
        );
        assert_eq!(
            (item.memory_type, item.create_time, item.owner.as_deref()),
            (Some(MemoryType::Decision), at(1), Some("ann"))
        );
        assert_eq!((item.metadata["n"].clone(), item.keywords), (json!(7), vec!["key".to_owned()]));
        assert_eq!(other.vectors(MODEL, &[kept.row]).unwrap(), [Some(vec![1; 16])]);
        assert_eq!(other.vectors("another-model", &[kept.row]).unwrap(), [None]);
    });
}

#[test]
fn the_same_memory_again_is_confirmed_and_merged() {
    with_store(|store, _| {
        let first = put(store, &memory("same"), stamp(1)).unwrap();
        let mut again = memory("same");
        again.tags = vec!["gamma".into()];
        again.metadata = Map::from_iter([("n".to_owned(), json!(8))]);
        again.tier = Tier::Pinned;
        let second = put(store, &again, stamp(2)).unwrap();
        assert_eq!((second.row, second.is_update), (first.row, true));
        let item = store.items(&[first.row]).unwrap()[0].clone().unwrap();
        assert_eq!(item.tags, ["alpha", "gamma"]);
        assert_eq!((item.metadata["n"].clone(), item.metadata["team"].clone()), (json!(8), json!("core")));
        assert_eq!((item.tier, item.create_time), (Tier::Pinned, at(1)));
        let actions: Vec<_> =
            store.events(&again.id).unwrap().into_iter().map(|event| event.action).collect();
        assert_eq!(actions, ["curate", "confirm"]);
    });
}

#[test]
fn a_document_keeps_adds_and_removes_chunks() {
    with_store(|store, _| {
        store.put_documents(&[document("/a/v2.1/guide.md", &["one", "two", "three"])], stamp(1)).unwrap();
        let id = derive_id(&["documents", "/a/v2.1/guide.md"]);
        let before = store.chunks(&id).unwrap();
        let mut next = document("/a/v2.1/guide.md", &[]);
        next.hash = "h2".into();
        next.kept =
            vec![KeptChunk { row: before[2].1, position: 0, lines: (1, 2), tags: vec!["beta".into()] }];
        next.added = vec![chunk("/a/v2.1/guide.md", "four", 1)];
        next.removed = vec![before[0].1, before[1].1];
        let mark = store.coverage().unwrap();
        assert_eq!(store.put_documents(&[next], stamp(2)).unwrap(), [Written { added: 1, removed: 2 }]);
        let after = store.chunks(&id).unwrap();
        assert_eq!(after.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["three", "four"]);
        assert_eq!(after[0].1, before[2].1);
        assert!(after[1].1 > before[2].1, "a row number is never used again");
        let now = store.coverage().unwrap();
        let gone: Vec<_> = store.gone(mark.change, now.change).unwrap().iter().collect();
        assert_eq!(gone, [before[0].1, before[1].1, after[1].1]);
        let known = store.documents("documents").unwrap();
        assert_eq!(known[0].hash, "h2");
        let place = |collection: &str, owner: Option<&str>| Namespace {
            collection: collection.into(),
            scope: Scope::Project,
            owner: owner.map(str::to_owned),
        };
        let find = |place: &Namespace| store.documents_at(place, &["/a", "/a/v2.1/guide.md"]).unwrap();
        assert_eq!(find(&place("documents", None)), [None, Some(known[0].clone())]);
        assert_eq!(find(&place("others", None)), [None, None]);
        assert_eq!(find(&place("documents", Some("ann"))), [None, None]);
        let outside = |place: &Namespace| store.documents_outside(place).unwrap();
        assert_eq!(outside(&place("documents", None)), Vec::<String>::new());
        assert_eq!(outside(&place("documents", Some("ann"))), std::slice::from_ref(&id));
        assert_eq!(outside(&place("others", Some("ann"))), Vec::<String>::new());
        let item = store.items(&[after[0].1]).unwrap()[0].clone().unwrap();
        assert_eq!(
            (item.metadata["path"].clone(), item.metadata["lines"].clone()),
            (json!("/a/v2.1/guide.md"), json!([1, 2]))
        );
        assert_eq!(
            (item.metadata["author"].clone(), item.metadata["version"].clone()),
            (json!("Ann"), json!("v2.1"))
        );
        assert_eq!(store.remove_documents(std::slice::from_ref(&id), stamp(3)).unwrap(), 2);
        assert_eq!(store.chunks(&id).unwrap(), []);
        assert_eq!(store.events(&id).unwrap().len(), 3, "history outlives the document");
    });
}

#[test]
fn ranking_learns_the_facts_of_rows_that_are_there() {
    with_store(|store, _| {
        let mut pinned = memory("pinned");
        pinned.tier = Tier::Pinned;
        let kept = put(store, &pinned, stamp(1)).unwrap();
        store.put_documents(&[document("/a/guide.md", &["one"])], stamp(2)).unwrap();
        let chunk = chunk_rows(store, "/a/guide.md")[0];
        let facts = store.facts(&[chunk, RowId(99), kept.row]).unwrap();
        assert_eq!(facts[1], None);
        let memory = facts[2].unwrap();
        assert_eq!((memory.kind, memory.memory_type), (Kind::Memory, Some(MemoryType::Decision)));
        assert_eq!((memory.importance, memory.confidence, memory.decay_rate), (0.5, 0.6, 0.01));
        assert_eq!((memory.created, memory.accessed, memory.access_count), (at(1), at(1), 0));
        assert_eq!((memory.tier, memory.asked_time), (Tier::Pinned, None));
        let chunk = facts[0].unwrap();
        assert_eq!((chunk.kind, chunk.memory_type, chunk.created), (Kind::Chunk, None, at(2)));
    });
}

#[test]
fn tags_are_found_by_their_beginnings_and_give_their_rows() {
    with_store(|store, _| {
        assert_eq!(store.items_at_most().unwrap(), 0);
        let mut rows = Vec::new();
        for (content, tags) in [
            ("one", &["api", "api/v2", "zeta"][..]),
            ("two", &["api", "ärger", "東京"]),
            ("three", &["a%", "a_c", "apx"]),
        ] {
            let mut memory = memory(content);
            memory.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            rows.push(put(store, &memory, stamp(1)).unwrap().row);
        }
        let tags = |beginnings: &[&str]| {
            let beginnings: Vec<_> = beginnings.iter().map(|&beginning| beginning.to_owned()).collect();
            store.tags(&beginnings).unwrap()
        };
        assert_eq!(tags(&["api"]), ["api", "api/v2"]);
        assert_eq!(tags(&["z", "api/", "api"]), ["api", "api/v2", "zeta"]);
        assert_eq!(tags(&["a%"]), ["a%"], "a sign is itself");
        assert_eq!(tags(&["är", "東"]), ["ärger", "東京"]);
        assert_eq!(tags(&["q", "zetas", "'"]), Vec::<String>::new());
        assert_eq!(tags(&[]), Vec::<String>::new());
        assert_eq!(tags(&[""]).len(), 8);
        let counts = store.tag_counts(&["zeta".into(), "none".into(), "api".into()]).unwrap();
        assert_eq!(counts, [1, 0, 2]);
        let tagged = |most| store.tagged(&["api".into(), "none".into(), "zeta".into()], most).unwrap();
        assert_eq!(tagged(9), [vec![rows[1], rows[0]], vec![], vec![rows[0]]]);
        assert_eq!(tagged(1), [vec![rows[1]], vec![], vec![rows[0]]]);
        assert!(store.items_at_most().unwrap() >= 3);
    });
}

#[test]
fn documents_give_their_paths_chunks_and_lines() {
    with_store(|store, _| {
        let mut other = document("/a/b/notes.md", &["n"]);
        other.collection = "another".into();
        let mut guide = document("/a/guide.md", &["one", "two", "three"]);
        guide.metadata = Map::from_iter([("aliases".to_owned(), json!(["Handbook", 7, " "]))]);
        let documents = [document("/b/z.md", &["z"]), other, guide];
        store.put_documents(&documents, stamp(1)).unwrap();
        let mut paths = Vec::new();
        let count = store.paths(&mut |document, path| paths.push((document, path.to_owned()))).unwrap();
        let names: Vec<_> = paths.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!((count, names), (3, vec!["/a/b/notes.md", "/a/guide.md", "/b/z.md"]));
        let chunks = chunk_rows(store, "/a/guide.md");
        let rows = store.document_rows(&[paths[1].0, DocumentRow(99), paths[2].0], 2).unwrap();
        assert_eq!((rows[0].as_slice(), rows[1].len(), rows[2].len()), (&chunks[..2], 0, 1));
        let passages = store.passages(paths[1].0).unwrap();
        assert_eq!(passages.len(), 3);
        assert_eq!(passages[1], Passage { row: chunks[1], lines: (11, 19), content: "two".into() });
        assert_eq!(store.passages(DocumentRow(99)).unwrap(), []);
        let names = store.document_names(&[chunks[1], RowId(99)]).unwrap();
        let guide = DocumentNames {
            document: paths[1].0,
            id: derive_id(&["documents", "/a/guide.md"]),
            path: "/a/guide.md".into(),
            title: documents[2].title.clone(),
            aliases: vec!["Handbook".into()],
        };
        assert_eq!(names, [Some(guide.clone()), None]);
        assert_eq!(store.names_of_documents(&[paths[1].0, DocumentRow(99)]).unwrap(), [Some(guide), None]);
        store.remove_documents(&[derive_id(&["documents", "/b/z.md"])], stamp(2)).unwrap();
        assert_eq!(store.paths(&mut |_, _| ()).unwrap(), 2);
    });
}

#[test]
fn the_delta_gives_what_is_newer_and_nothing_else() {
    with_store(|store, _| {
        let first = put(store, &memory("one"), stamp(1)).unwrap();
        let covered = store.coverage().unwrap();
        let second = put(store, &memory("two"), stamp(2)).unwrap();
        let delta = |after| {
            let mut seen = Vec::new();
            store
                .delta_texts(after, &mut |row, text| {
                    seen.push((
                        row,
                        match text {
                            DeltaText::Terms(terms) => format!("{terms:?}"),
                            DeltaText::Text(text) => text,
                        },
                    ));
                })
                .unwrap();
            seen
        };
        assert_eq!(delta(covered.change), [(second.row, "[1, 2, 3]".to_owned())]);
        let covered =
            Covered { text: covered.change, graph: covered.change, vector: Change(0), tokens: None };
        store.release(&covered).unwrap();
        assert_eq!(
            store.mentions(&[first.row, RowId(99), second.row]).unwrap(),
            [None, None, Some(vec![7; 8])],
            "mentions are kept until the graph index holds them"
        );
        let kept = store.delta_terms(&[first.row, RowId(99), second.row]).unwrap();
        let kept: Vec<_> = kept.into_iter().map(|kept| (kept.row, kept.terms)).collect();
        assert_eq!(kept, [(first.row, None), (second.row, Some(vec![1, 2, 3]))]);
        assert_eq!(
            delta(Change(0)),
            [(first.row, "one".to_owned()), (second.row, "[1, 2, 3]".to_owned())],
            "without kept terms the text itself is given"
        );
        let mut seen = Vec::new();
        store.delta_vectors(MODEL, covered.text, &mut |row, half| seen.push((row, half.len()))).unwrap();
        assert_eq!(seen, [(second.row, 16)]);
        assert_eq!(store.delta_vectors("another-model", Change(0), &mut |_, _| {}).unwrap(), 0);
    });
}

#[test]
fn an_index_of_another_store_or_another_history_is_not_confirmed() {
    with_store(|store, fixture| {
        put(store, &memory("one"), stamp(1)).unwrap();
        let restored = fixture.open_copy();
        put(store, &memory("two"), stamp(2)).unwrap();
        let covered = store.coverage().unwrap();
        assert!(store.confirms(&covered).unwrap());

        assert!(!restored.confirms(&covered).unwrap(), "ahead of the restored store");
        put(&*restored, &memory("another two"), stamp(4)).unwrap();
        assert_eq!(restored.coverage().unwrap().change, covered.change);
        assert!(!restored.confirms(&covered).unwrap(), "the same number in another history");

        with_store(|other, _| {
            assert_ne!(other.identity(), store.identity());
            assert!(!other.confirms(&covered).unwrap());
        });
    });
}

#[test]
fn forgetting_removes_the_text_from_the_files_and_leaves_a_receipt() {
    with_store(|store, fixture| {
        let kept = put(store, &memory("the zanzibar secret"), stamp(1)).unwrap();
        store.put_documents(&[document("/a/x.md", &["one"])], stamp(1)).unwrap();
        let chunk = chunk_rows(store, "/a/x.md")[0];
        let dry = store.forget(&[kept.row], true, stamp(2)).unwrap();
        assert_eq!((dry.items, dry.vectors, dry.dry_run), (1, 1, true));
        assert!(store.items(&[kept.row]).unwrap()[0].is_some() && fixture.holds("zanzibar"));
        let receipt = store.forget(&[kept.row, chunk, RowId(77)], false, stamp(3)).unwrap();
        assert_eq!((receipt.items, receipt.vectors, receipt.documents, receipt.dry_run), (2, 2, 1, false));
        assert!(store.items(&[kept.row]).unwrap()[0].is_none());
        assert!(!fixture.holds("zanzibar"));
        assert_eq!(store.events(&memory("the zanzibar secret").id).unwrap().len(), 2);
    });
}

#[test]
fn a_selection_holds_back_what_it_says() {
    with_store(|store, _| {
        let one = put(store, &memory("first one"), stamp(1)).unwrap().row.0;
        let mut other = memory("second Two");
        other.memory_type = MemoryType::Fact;
        other.tags = vec!["beta".into()];
        other.metadata = Map::from_iter([("n".to_owned(), json!("7"))]);
        other.owner = None;
        let two = put(store, &other, stamp(5)).unwrap().row.0;
        store.put_documents(&[document("/a/v2.1/x.md", &["third"])], stamp(9)).unwrap();
        let three = chunk_rows(store, "/a/v2.1/x.md")[0].0;
        let mut archived = memory("archived");
        archived.status = Status::Archived;
        let four = put(store, &archived, stamp(9)).unwrap().row.0;

        assert_eq!(store.select(&Selection::default()).unwrap(), None);
        assert_eq!(
            store.hidden(Clocks::default()).unwrap().iter().map(|row| row.0).collect::<Vec<_>>(),
            [four]
        );
        let check = |select: Selection, expected: &[u32]| {
            assert_eq!(rows(store.select(&select).unwrap()), expected, "{select:?}");
            assert_eq!(store.page(&select, 10, 0).unwrap().1, expected.len(), "{select:?}");
        };
        let base = Selection::default;
        check(Selection { types: vec![MemoryType::Fact], ..base() }, &[two]);
        check(Selection { tags: vec!["beta".into()], ..base() }, &[two, three]);
        check(Selection { tags: vec!["beta".into(), "alpha".into()], ..base() }, &[]);
        check(Selection { since: Some(at(5)), until: Some(at(9)), ..base() }, &[two]);
        check(Selection { version: Some("v2.1".into()), ..base() }, &[three]);
        check(Selection { owner: Some("ann".into()), ..base() }, &[one]);
        check(Selection { statuses: vec![Status::Archived], ..base() }, &[four]);
        let filter = |json: &str, expected: &[u32]| {
            check(Selection { filter: Some(Filter::parse(json).unwrap()), ..base() }, expected);
        };
        filter(r#"{"n":7}"#, &[one]);
        filter(r#"{"n":"7"}"#, &[two]);
        filter(r#"{"n":{"$gt":6.5}}"#, &[one]);
        filter(r#"{"n":{"$ne":7}}"#, &[two, three]);
        filter(r#"{"n":{"$in":[7,"7"]}}"#, &[one, two]);
        filter(r#"{"n":{"$nin":[]}}"#, &[one, two, three]);
        filter(r#"{"author":"Ann"}"#, &[three]);
        filter(r#"{"path":{"$gte":"/a"}}"#, &[three]);
        filter(r#"{"chunk_size":{"$lt":6}}"#, &[three]);
        filter(r#"{"$contains":"two"}"#, &[two]);
        filter(r#"{"$not_contains":"two"}"#, &[one, three]);
        filter(r#"{"$or":[{"n":7},{"section_title":"Guide > Install"}]}"#, &[one, three]);
        filter(r#"{"x' OR 1=1 --":"'; DROP TABLE items"}"#, &[]);
    });
}

#[test]
fn late_vectors_reach_only_rows_whose_text_still_stands() {
    with_store(|store, _| {
        let mut bare = memory("no vector yet");
        bare.vector = None;
        let row = put(store, &bare, stamp(1)).unwrap().row;
        assert_eq!(store.unembedded(MODEL, RowId(0), 10).unwrap(), [row]);
        let upto = store.coverage().unwrap().change;
        assert_eq!(
            store.put_vectors(&[(row, vector(3)), (RowId(50), vector(3))], upto, stamp(2)).unwrap(),
            1
        );
        assert_eq!(store.unembedded(MODEL, RowId(0), 10).unwrap(), []);
        assert_eq!(
            store.unembedded("next-model", RowId(0), 10).unwrap(),
            [row],
            "a vector of another model does not count"
        );
        assert_eq!(store.unembedded("next-model", row, 10).unwrap(), [], "it is not after itself");
        assert_eq!(store.embedded(MODEL).unwrap(), 1);
    });
}

#[test]
fn an_item_has_a_vector_of_each_model_until_they_are_dropped_or_it_is_forgotten() {
    with_store(|store, _| {
        let rows = ["one", "two"].map(|text| put(store, &memory(text), stamp(1)).unwrap().row);
        let other = |byte: u8| NewVector { model: "next-model".into(), ..vector(byte) };
        let upto = store.coverage().unwrap().change;
        assert_eq!(store.vector_models().unwrap(), [(MODEL.to_owned(), 2)]);
        assert_eq!(store.put_vectors(&[(rows[0], other(7))], upto, stamp(2)).unwrap(), 1);
        let both = [("next-model".to_owned(), 1), (MODEL.to_owned(), 2)];
        assert_eq!(store.vector_models().unwrap(), both);
        assert_eq!(store.unembedded("next-model", RowId(0), 9).unwrap(), [rows[1]]);
        assert_eq!(store.unembedded(MODEL, RowId(0), 9).unwrap(), []);
        let of = |model: &str| store.vectors(model, &rows).unwrap();
        assert_eq!(of("next-model"), [Some(other(7).half), None]);
        assert!(of(MODEL).iter().all(Option::is_some));
        let newest = store.coverage().unwrap().change;
        assert_eq!(store.vector_rows("next-model", Change(0), newest).unwrap(), [rows[0]]);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());

        assert_eq!(store.drop_vectors(MODEL, stamp(3)).unwrap(), 2);
        assert_eq!(store.drop_vectors(MODEL, stamp(3)).unwrap(), 0);
        assert_eq!((of(MODEL), of("next-model")[0].is_some()), (vec![None, None], true));
        assert_eq!(store.coverage().unwrap().change, Change(newest.0 + 1));
    });
}

#[test]
fn codes_wait_in_the_delta_until_their_index_holds_them() {
    with_store(|store, _| {
        let one = put(store, &memory("one"), stamp(1)).unwrap().row;
        let covered = store.coverage().unwrap().change;
        store.put_documents(&[document("/a/x.md", &["two", "three"])], stamp(2)).unwrap();
        let newest = store.coverage().unwrap().change;
        let chunks = chunk_rows(store, "/a/x.md");
        let kept = |rows: &[RowId]| store.codes(SCHEME, rows).unwrap();
        assert_eq!(kept(&[chunks[1], RowId(99), one]), [Some(vec![2; 16]), None, Some(vec![1; 16])]);
        assert_eq!(
            store.codes("test-model.t2", &[one]).unwrap(),
            [None],
            "codes of another scheme do not count"
        );
        assert_eq!(store.code_rows(SCHEME, covered, newest).unwrap(), chunks);
        assert_eq!(store.code_rows("test-model.t2", Change(0), newest).unwrap(), []);

        for tokens in [("test-model.t2", newest), (SCHEME, covered)] {
            let none = Change(0);
            store.release(&Covered { text: none, graph: none, vector: none, tokens: Some(tokens) }).unwrap();
        }
        assert_eq!(kept(&[one, chunks[0]]), [None, Some(vec![2; 16])]);

        // Computed again, for rows that still exist with the text that was read.
        let upto = store.coverage().unwrap().change;
        let late = put(store, &memory("later"), stamp(3)).unwrap().row;
        let given = [(one, codes(7)), (late, codes(8)), (RowId(99), codes(9))];
        assert_eq!(store.put_codes(&given, upto, stamp(4)).unwrap(), 1);
        assert_eq!(kept(&[one, late]), [Some(vec![7; 16]), Some(vec![1; 16])]);
        let newest = store.coverage().unwrap().change;
        assert_eq!(store.code_rows(SCHEME, upto, newest).unwrap(), [one, late]);
        assert_eq!(store.vector_rows(MODEL, upto, newest).unwrap(), [late], "vectors are left alone");

        store.remove_documents(&[derive_id(&["documents", "/a/x.md"])], stamp(5)).unwrap();
        store.forget(&[one], false, stamp(6)).unwrap();
        assert_eq!(kept(&[one, chunks[0], chunks[1]]), [None, None, None]);
    });
}

#[test]
fn a_vector_without_tokens_is_kept_and_cached_without_them() {
    with_store(|store, _| {
        let bare = NewVector { tokens: None, ..vector(3) };
        let row = put(store, &NewMemory { vector: Some(bare.clone()), ..memory("m") }, stamp(1)).unwrap().row;
        assert_eq!(store.codes(SCHEME, &[row]).unwrap(), [None]);
        store.cache_vectors(&asked(&[("q", bare.clone())]), 9, stamp(2)).unwrap();
        assert_eq!(store.cached_vector(MODEL, CacheRole::Question, "q").unwrap(), Some(bare));
        store.cache_vectors(&asked(&[("q", vector(3))]), 9, stamp(3)).unwrap();
        assert_eq!(
            store.cached_vector(MODEL, CacheRole::Question, "q").unwrap(),
            Some(vector(3)),
            "the later replaces the earlier"
        );
    });
}

#[test]
fn the_numbers_that_are_kept_are_those_that_are_there() {
    with_store(|store, _| {
        let archived = NewMemory { status: Status::Archived, importance: 0.1, ..memory("old") };
        let gotcha = NewMemory {
            collection: "shop".into(),
            memory_type: MemoryType::Gotcha,
            status: Status::Candidate,
            importance: 0.9,
            ..memory("c")
        };
        let gone = put(store, &memory("a"), stamp(1)).unwrap();
        for one in [&memory("b"), &memory("b"), &archived, &gotcha] {
            put(store, one, stamp(2)).unwrap();
        }
        let paths = ["/a/guide.md", "/a/other.md", "/a/third.md"];
        let documents = paths.map(|path| document(path, &["one", "two", "three"]));
        store.put_documents(&documents, stamp(3)).unwrap();
        let shorter = NewDocument {
            removed: chunk_rows(store, "/a/guide.md")[..2].to_vec(),
            ..document("/a/guide.md", &["four"])
        };
        store.put_documents(&[shorter], stamp(4)).unwrap();
        store.remove_documents(&[derive_id(&["documents", "/a/other.md"])], stamp(5)).unwrap();
        let mut forgotten = chunk_rows(store, "/a/third.md");
        forgotten.push(gone.row);
        store.forget(&forgotten, true, stamp(6)).unwrap();
        store.forget(&forgotten, false, stamp(7)).unwrap();
        let counts = store.counts().unwrap();
        assert_eq!((counts.memories, counts.chunks, counts.documents), (2, 2, 1));
        assert_eq!(counts.by_type, [("decision".to_owned(), 1), ("gotcha".to_owned(), 1)].into());
        let collections = [("documents", 2), ("memories", 2), ("shop", 1)];
        assert_eq!(counts.by_collection, collections.map(|(name, count)| (name.to_owned(), count)).into());
        // In double precision, of values that were written in single precision.
        let mean = (f64::from(0.5f32) + f64::from(0.1f32) + f64::from(0.9f32)) / 3.0;
        assert_eq!(counts.avg_importance.to_bits(), mean.to_bits());
        // It comes back when it is kept again.
        put(store, &NewMemory { status: Status::Active, ..archived }, stamp(8)).unwrap();
        assert_eq!(store.counts().unwrap().memories, 3);
    });
}

#[test]
fn many_handles_write_at_once_and_nobody_sees_a_lock() {
    with_store(|store, fixture| {
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    let store = fixture.open(at(0)).unwrap();
                    for n in 0..25 {
                        put(&*store, &memory(&format!("writer {writer} says {n}")), stamp(n)).unwrap();
                    }
                });
            }
        });
        assert_eq!(store.counts().unwrap().memories, 100);
        assert_eq!(store.coverage().unwrap().change, Change(100));
    });
}

#[test]
fn a_new_store_may_be_opened_by_many_at_once() {
    with_fixture(|fixture| {
        let identities: Vec<String> = std::thread::scope(|scope| {
            let open = || fixture.open(at(0)).unwrap().identity().to_owned();
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(identities.iter().all(|identity| *identity == identities[0]), "{identities:?}");
    });
}

#[test]
fn a_store_of_a_newer_schema_is_refused() {
    with_fixture(|fixture| {
        fixture.open(at(0)).unwrap();
        fixture.set_schema(999);
        let error = fixture.open(at(1)).err().unwrap();
        assert!(matches!(error, Error::NewerSchema { found: 999, .. }), "{error:?}");
    });
}

/// Interrupts a write after every number of steps: the store has all of it or none.
#[test]
fn a_write_that_is_cut_short_anywhere_leaves_nothing_behind() {
    with_store(|store, fixture| {
        store.put_documents(&[document("/a/guide.md", &["one", "two"])], stamp(1)).unwrap();
        let id = derive_id(&["documents", "/a/guide.md"]);
        let state = |store: &dyn Store| {
            let chunks = store.chunks(&id).unwrap();
            (
                store.coverage().unwrap(),
                chunks,
                (store.counts().unwrap(), store.embedded(MODEL).unwrap()),
                store.events(&id).unwrap().len(),
            )
        };
        let before = state(store);
        let mut next = document("/a/guide.md", &[]);
        next.added = vec![chunk("/a/guide.md", "three", 1)];
        next.removed = vec![before.1[0].1];
        let mut interrupted = 0;
        for steps in (1..).map(|n| n * 7) {
            let failing = fixture.open_failing(steps);
            match failing.put_documents(std::slice::from_ref(&next), stamp(2)) {
                Err(error) => {
                    assert!(matches!(error, Error::Store { .. }), "{error:?}");
                    assert_eq!(state(&*failing), before, "after {steps} steps");
                    interrupted += 1;
                }
                Ok(written) => {
                    assert_eq!(written, [Written { added: 1, removed: 1 }]);
                    break;
                }
            }
        }
        assert!(interrupted > 10, "only {interrupted} writes were cut short");
        let again = fixture.open(at(3)).unwrap();
        assert_eq!(again.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_full_disk_is_named_and_the_write_is_taken_back() {
    with_store(|store, fixture| {
        put(store, &memory("fits"), stamp(1)).unwrap();
        let full = fixture.open_full();
        let error = put(&*full, &memory(&"does not fit ".repeat(100_000)), stamp(2)).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
        assert_eq!(full.counts().unwrap().memories, 1);
    });
}

/// Returns new entries for questions.
pub(super) fn asked(vectors: &[(&str, NewVector)]) -> CacheUses {
    let entry = |(text, vector): &(&str, NewVector)| CachedText {
        role: CacheRole::Question,
        text: (*text).to_owned(),
        vector: vector.clone(),
    };
    CacheUses { added: vectors.iter().map(entry).collect(), ..CacheUses::default() }
}
