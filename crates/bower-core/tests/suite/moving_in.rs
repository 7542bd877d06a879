//! Tests of importing other programs' memories: what is kept, and that a dry run reports what the import does.

use bower_core::engine::Engine;
use bower_core::item::{Author, MemoryType, Origin, Status, Visibility};
use bower_core::request::moving::{FindingKind, ImportRequest, Imported, ImportedSource};
use bower_core::request::{CurateRequest, Item, Selection, UndoRequest};
use rusqlite::Connection;
use std::path::Path;

use crate::place::{Place, now};

/// Imports a file, a folder or a database, by what it is.
fn import(engine: &Engine, path: &Path, dry_run: bool) -> Imported {
    let request = ImportRequest { dry_run, ..ImportRequest::default() };
    let mut import = engine.import(&Visibility::everything(), request, now(), &|_| {}).unwrap();
    if path.is_dir() {
        assert!(!import.foreign_folders(path).unwrap().is_empty(), "{}", path.display());
    } else if path.extension().is_some_and(|ending| ending == "db") {
        assert!(import.database("their.db", path).unwrap());
    } else {
        import.file("their.json", std::fs::File::open(path).unwrap()).unwrap();
    }
    import.finish().unwrap()
}

/// Imports a source with one program's memories: first dry, then in earnest, then again. The dry run reports what the import
/// does, and the second import changes nothing.
fn move_in(engine: &Engine, path: &Path) -> ImportedSource {
    let planned = import(engine, path, true);
    assert_eq!((&planned.errors[..], planned.sources.len()), (&[][..], 1), "{:?}", planned.errors);
    assert!(memories(engine, planned.sources[0].source.as_str()).is_empty(), "a dry run writes nothing");
    let done = import(engine, path, false);
    assert_eq!(report(&planned.sources[0]), report(&done.sources[0]));
    let before = memories(engine, &done.sources[0].source);
    let again = import(engine, path, false);
    assert_eq!((again.added, again.updated, again.sources[0].kept), (0, 0, 0));
    assert_eq!(memories(engine, &done.sources[0].source), before);
    done.sources[0].clone()
}

/// Returns a source's report without our ids of its memories, which a dry run cannot know.
fn report(source: &ImportedSource) -> ImportedSource {
    let mut source = source.clone();
    source.findings.iter_mut().for_each(|finding| finding.other = None);
    source
}

/// Returns all memories of a source, by their texts.
fn memories(engine: &Engine, source: &str) -> Vec<Item> {
    let select = Selection {
        sources: vec![source.to_owned()],
        statuses: Status::ALL.to_vec(),
        ..Selection::default()
    };
    let mut found = engine.list(&Visibility::everything(), &select, 100, 0).unwrap().memories;
    found.sort_by(|one, two| one.content.cmp(&two.content));
    found
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn texts(items: &[Item]) -> Vec<(&str, Status)> {
    items.iter().map(|item| (item.content.as_str(), item.status)).collect()
}

/// A memory of mem0.
fn mem0(id: &str, text: &str, time: &str) -> serde_json::Value {
    serde_json::json!({"id": id, "memory": text, "hash": "x", "user_id": "ada", "metadata": {"category": "infrastructure"},
        "created_at": time, "updated_at": time})
}

#[test]
fn memories_of_mem0_keep_their_fields_and_a_grown_export_adds_only_what_is_new() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let path = folder.path().join("all.json");
    let mut all = vec![
        mem0("m2", "The API of the shop listens on port 9090.", "2026-03-01T10:00:00Z"),
        mem0("m1", "The API of the shop listens on port 8080.", "2026-02-01T10:00:00Z"),
        mem0("m3", "Ada prefers tabs over spaces.", "2026-02-02T10:00:00Z"),
        mem0("m4", "Ada prefers tabs over spaces.", "2026-02-03T10:00:00Z"),
        mem0(
            "m5",
            &"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODkrLw==\n"
                .repeat(30),
            "2026-02-04T10:00:00Z",
        ),
    ];
    let put = |all: &[serde_json::Value]| {
        let twice = [all, &all[..1]].concat();
        std::fs::write(&path, serde_json::json!({ "results": twice }).to_string()).unwrap();
    };
    put(&all);
    let source = move_in(&engine, &path);
    assert_eq!((source.memories, source.kept, source.junk, source.doubles, source.stale), (5, 3, 1, 1, 1));
    let stale = source.findings.iter().find(|one| one.what == FindingKind::Stale).unwrap();
    assert_eq!((stale.id.as_str(), stale.reason.as_str()), ("m1", "replaced by a later one: 8080 -> 9090"));
    let kept = memories(&engine, "mem0");
    let expected = [
        ("Ada prefers tabs over spaces.", Status::Active),
        ("The API of the shop listens on port 8080.", Status::Superseded),
        ("The API of the shop listens on port 9090.", Status::Active),
    ];
    assert_eq!(texts(&kept), expected);
    assert_eq!(
        (kept[0].create_time.to_string(), kept[0].tags.clone()),
        ("2026-02-02T10:00:00Z".into(), vec!["infrastructure".into()])
    );
    assert_eq!((&kept[0].metadata["source_id"], &kept[0].metadata["user_id"]), (&"m3".into(), &"ada".into()));
    assert_eq!((kept[0].provenance.least_trusted, kept[0].provenance.reviewed), (Author::Import, false));

    // The program changed one memory and learned another.
    all[2]["memory"] = "Ada prefers tabs, and two blank lines between functions.".into();
    all.push(mem0("m6", "Backups of the shop run at night.", "2026-04-01T10:00:00Z"));
    put(&all);
    let grown = import(&engine, &path, false);
    let source = &grown.sources[0];
    assert_eq!((source.kept, source.unchanged, source.stale), (3, 2, 1), "{source:?}");
    assert_eq!((grown.added, grown.updated), (2, 1));

    // What was archived here stays so, and the report says it; undo of the undo brings it back.
    let origin = Origin { source: Some("mem0".into()), ..Origin::default() };
    let everything = Visibility::everything();
    let request = UndoRequest { origin, dry_run: false };
    let undone = engine.undo_origin(&everything, &request, now()).unwrap();
    let gone = import(&engine, &path, false);
    let source = &gone.sources[0];
    assert_eq!((source.kept, source.unchanged, source.archived), (0, 5, 5), "{source:?}");
    engine.undo(&everything, undone.event, now()).unwrap();
    let back = import(&engine, &path, false);
    assert_eq!((back.sources[0].kept, back.sources[0].archived), (0, 0), "{:?}", back.sources[0]);
}

#[test]
fn what_came_from_outside_replaces_nothing_that_somebody_kept() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let everything = Visibility::everything();
    let ours =
        engine.curate(&everything, &CurateRequest::new("The API listens on port 8080."), now()).unwrap();
    let path = folder.path().join("all.json");
    std::fs::write(&path, mem0("m1", "The API listens on port 9090.", "2030-01-01T10:00:00Z").to_string())
        .unwrap();
    let source = move_in(&engine, &path);
    assert_eq!((source.kept, source.contradictions), (1, 1), "{source:?}");
    assert_eq!(engine.get(&everything, &ours.id.unwrap()).unwrap().status, Status::Active);
}

#[test]
fn folders_of_claude_code_codex_and_bundles_are_read() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let claude = folder.path().join("projects");
    let tabs = "---\nname: tabs\ndescription: Tabs\nmetadata:\n  type: feedback\n---\nIndent with tabs. See [[freeze]].\n";
    let freeze =
        "---\nname: freeze\ndescription: Freeze\nmetadata:\n  type: project\n---\nNo release before March.\n";
    write(
        &claude,
        &[
            ("-srv-shop/memory/MEMORY.md", "- [Tabs](tabs.md) — indent\n- Lunch is at noon.\n"),
            ("-srv-shop/memory/tabs.md", tabs),
            ("-srv-shop/memory/freeze.md", freeze),
        ],
    );
    let source = move_in(&engine, &claude);
    assert_eq!((source.kept, source.relations), (3, 1), "{source:?}");
    let kept = memories(&engine, "claude-code-memory");
    assert_eq!(kept[0].memory_type, Some(MemoryType::Convention));

    let codex = folder.path().join("memories");
    let handbook = "# Task Group: shop\n\nscope: x\napplies_to: cwd=/srv\n\n## Task 1: tag\n\n### rollout_summary_files\n\n\
                    - a.md (updated_at=2026-03-02T10:00:00Z)\n\n## User preferences\n\n- the user wants signed tags [Task 1]\n";
    write(&codex, &[("MEMORY.md", handbook), ("memory_summary.md", "v1\n"), ("raw_memories.md", "# Raw\n")]);
    assert_eq!(move_in(&engine, &codex).kept, 1);
    let kept = memories(&engine, "codex-memory");
    assert_eq!(texts(&kept), [("the user wants signed tags", Status::Active)]);
    assert_eq!(kept[0].create_time.to_string(), "2026-03-02T10:00:00Z");

    let bundle = folder.path().join("bundle");
    let old = "---\ntype: Metric\ntitle: Old margin\nstatus: deprecated\n---\nSee [revenue](/revenue.md).\n";
    let new = "---\ntype: Metric\ntitle: Revenue\ntags: [finance]\n---\nThe sum of all invoices.\n";
    write(&bundle, &[("index.md", "# All\n"), ("old.md", old), ("revenue.md", new)]);
    let source = move_in(&engine, &bundle);
    assert_eq!((source.kept, source.stale, source.relations), (1, 1, 1), "{source:?}");
    let expected = [
        ("Old margin\n\nSee [revenue](/revenue.md).", Status::Archived),
        ("Revenue\n\nThe sum of all invoices.", Status::Active),
    ];
    assert_eq!(texts(&memories(&engine, "okf")), expected);
}

#[test]
fn notes_of_basic_memory_are_read() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let coffee = "---\ntitle: Coffee\ntype: note\npermalink: drinks/coffee\ntags: [office]\n---\n# Coffee\n\nHow we brew.\n\n\
                  - [preference] Ada drinks it black #ada (asked twice)\n- relates_to [[Tea]]\n";
    let tea = "---\ntitle: Tea\ntype: note\npermalink: drinks/tea\n---\n- [fact] Tea is green\n";
    write(folder.path(), &[("coffee.md", coffee), ("tea.md", tea)]);
    let source = move_in(&engine, folder.path());
    assert_eq!((source.memories, source.kept, source.relations), (3, 3, 2), "{source:?}");
    let kept = memories(&engine, "basic-memory");
    let expected = ["Coffee\n\nHow we brew.", "Coffee: Ada drinks it black", "Tea is green"];
    let texts: Vec<&str> = kept.iter().map(|item| item.content.as_str()).collect();
    assert_eq!(texts, expected);
}

#[test]
fn databases_are_read_and_left_alone() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let check = |name: &str, sql: &str| {
        let path = folder.path().join(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = std::fs::read(&path).unwrap();
        let source = move_in(&engine, &path);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::remove_file(&path).unwrap();
        source
    };
    let source = check(
        "history.db",
        "CREATE TABLE history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at TEXT, \
         updated_at TEXT, is_deleted INTEGER);
         INSERT INTO history VALUES
         ('c1', 'm1', NULL, 'The door code is on the wall.', 'ADD', '2026-01-01', '2026-01-01', 0),
         ('c2', 'm2', NULL, 'Lunch is at noon.', 'ADD', '2026-01-02', '2026-01-02', 0),
         ('c3', 'm1', 'The door code is on the wall.', 'The door opens by badge.', 'UPDATE', '2026-01-01', '2026-01-03', 0),
         ('c4', 'm2', 'Lunch is at noon.', NULL, 'DELETE', '2026-01-02', '2026-01-04', 1);",
    );
    assert_eq!((source.source.as_str(), source.kept, source.stale), ("mem0", 1, 2), "{source:?}");
    let source = check(
        "claude-mem.db",
        "CREATE TABLE observations (id INTEGER, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, facts TEXT, \
         narrative TEXT, concepts TEXT, created_at_epoch INTEGER);
         INSERT INTO observations VALUES (1, 's1', 'shop', 'decision', 'Port moved', '[\"It is in api.go\"]', 'The API moved.', \
         '[\"how-it-works\"]', 1767322800000);
         CREATE TABLE session_summaries (id INTEGER, memory_session_id TEXT, project TEXT, request TEXT, learned TEXT, \
         completed TEXT, next_steps TEXT, created_at_epoch INTEGER);
         INSERT INTO session_summaries VALUES (1, 's1', 'shop', 'Move the port', 'It was taken', NULL, NULL, 1767322900000);",
    );
    assert_eq!((source.source.as_str(), source.kept), ("claude-mem", 2), "{source:?}");
    let source = check(
        "palace.db",
        "CREATE TABLE collections (id TEXT, name TEXT); CREATE TABLE segments (id TEXT, collection TEXT);
         CREATE TABLE embeddings (id INTEGER, segment_id TEXT, embedding_id TEXT);
         CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER, float_value REAL);
         INSERT INTO collections VALUES ('c', 'mempalace_drawers'); INSERT INTO segments VALUES ('s', 'c');
         INSERT INTO embeddings VALUES (1, 's', 'drawer_1');
         INSERT INTO embedding_metadata VALUES (1, 'chroma:document', 'Billing is hosted in Frankfurt.', NULL, NULL),
         (1, 'wing', 'wing_shop', NULL, NULL), (1, 'room', 'hosting', NULL, NULL), (1, 'filed_at', '2026-01-02T03:04:05', NULL, NULL);",
    );
    assert_eq!((source.source.as_str(), source.kept), ("mempalace", 1), "{source:?}");
    assert_eq!(memories(&engine, "mempalace")[0].tags, ["hosting", "wing_shop"]);

    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a);").unwrap();
    let request = ImportRequest::default();
    let mut import = engine.import(&Visibility::everything(), request, now(), &|_| {}).unwrap();
    assert!(!import.database("other.db", &path).unwrap());
    assert_eq!(import.finish().unwrap().files, 0);
}

#[test]
fn units_of_hindsight_are_read_from_a_list() {
    let (place, folder) = (Place::without_model(), tempfile::tempdir().unwrap());
    let engine = place.open();
    let path = folder.path().join("list.json");
    let list = serde_json::json!({"items": [
        {"id": "u1", "text": "Ada maintains the billing service.", "fact_type": "world", "entities": "Ada", "tags": ["team"],
         "mentioned_at": "2026-01-02T03:04:05Z", "state": "valid"},
        {"id": "u2", "text": "Ben maintains the billing service.", "fact_type": "world", "entities": "Ben",
         "mentioned_at": "2025-01-02T03:04:05Z", "state": "invalidated"}], "total": 2});
    std::fs::write(&path, list.to_string()).unwrap();
    let source = move_in(&engine, &path);
    assert_eq!((source.source.as_str(), source.kept, source.stale), ("hindsight", 1, 1), "{source:?}");
    let kept = memories(&engine, "hindsight");
    assert_eq!(kept[0].metadata["entities"], serde_json::json!(["Ada"]));
    assert_eq!(kept[1].status, Status::Archived);
}
