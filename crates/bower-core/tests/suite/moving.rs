//! Tests of moving from one store into another: nothing is lost, doubled or overwritten.

use bower_core::engine::Engine;
use bower_core::item::{Kind, MemoryType, Scope, Status, Visibility};
use bower_core::request::moving::{ExportRequest, ImportRequest, Imported, MigrateRequest};
use bower_core::request::{
    CurateRequest, IndexRequest, QueryRequest, ReviewsRequest, Selection, Settlement, SweepRequest,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use std::path::Path;

use crate::place::{Place, contents, now};

fn later(hours: i64) -> Timestamp {
    now() + SignedDuration::from_hours(hours)
}

fn everything() -> ExportRequest {
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    ExportRequest { select, documents: true, ..ExportRequest::default() }
}

fn export(engine: &Engine, request: &ExportRequest) -> String {
    let mut out = Vec::new();
    engine
        .export_lines(&Visibility::everything(), request, &mut out, Path::new("memory"), later(500))
        .unwrap();
    String::from_utf8(out).unwrap()
}

/// All lines but the header.
fn body(export: &str) -> &str {
    export.split_once('\n').unwrap().1
}

fn import(engine: &Engine, text: &str, request: ImportRequest) -> Imported {
    let mut import = engine.import(&Visibility::everything(), request, later(600), &|_| {}).unwrap();
    import.file("all.jsonl", text.as_bytes()).unwrap();
    import.finish().unwrap()
}

fn tell(engine: &Engine, text: &str, hours: i64) -> String {
    engine.curate(&Visibility::everything(), &CurateRequest::new(text), later(hours)).unwrap().id.unwrap()
}

/// A store with chains, documents, a review that was ended and one that is open.
fn lived(place: &Place) -> Engine {
    let engine = place.open();
    tell(&engine, "The API listens on port 8080.", 0);
    tell(&engine, "The API listens on port 9090.", 5);
    tell(&engine, "The API listens on port 9090.", 6);
    tell(&engine, "The staging server is in Rome.", 7);
    tell(&engine, "Feature flags are cached.", 8);
    tell(&engine, "Feature flags are not cached.", 9);
    if let Some(review) =
        engine.reviews(&Visibility::everything(), &ReviewsRequest::default()).unwrap().first()
    {
        engine.settle(&Visibility::everything(), review.review, &Settlement::Both, later(10)).unwrap();
    }
    let request = CurateRequest {
        tags: vec!["ops".into()],
        metadata: serde_json::from_str(r#"{"port": 1.1, "deep": {"a": [null, true]}}"#).unwrap(),
        owner: Some("ada".into()),
        scope: Scope::User,
        pinned: true,
        ..CurateRequest::new("Ada prefers tabs over spaces.")
    };
    engine.curate(&Visibility::everything(), &request, later(11)).unwrap();
    place.write(
        "guide.md",
        "---\ntags: [guide]\nauthor: Ann\n---\n# Guide\n\nRun it.\n\n## Install\n\nTake the archive.\n",
    );
    engine
        .index(
            &Visibility::everything(),
            &IndexRequest::new(vec![place.notes()]),
            later(12),
            &|_| {},
            &|| true,
        )
        .unwrap();
    engine
}

#[test]
fn a_store_that_took_in_an_export_exports_the_same() {
    let (here, there) = (Place::without_model(), Place::without_model());
    let engine = lived(&here);
    let all = export(&engine, &everything());
    let header: serde_json::Value = serde_json::from_str(all.lines().next().unwrap()).unwrap();
    assert_eq!((header["line"].as_str(), header["bower"].as_u64()), (Some("header"), Some(1)));
    assert_eq!(header["counts"]["documents"], 1);
    let other = there.open();
    let dry = import(&other, &all, ImportRequest { dry_run: true, ..ImportRequest::default() });
    assert!(dry.added >= 8 && dry.conflicting == 0, "{dry:?}");
    assert_eq!(other.status(&Visibility::everything()).unwrap().total_memories, 0);
    let came = import(&other, &all, ImportRequest::default());
    assert_eq!((came.added, came.conflicting, came.failed), (dry.added, 0, 0), "{came:?}");
    assert_eq!(body(&export(&other, &everything())), body(&all));
    // Again: nothing. And it can be asked, with its whole past.
    let again = import(&other, &all, ImportRequest::default());
    assert_eq!((again.added, again.updated, again.unchanged), (0, 0, came.added));
    let question = QueryRequest { text: "which port has the API?".into(), ..QueryRequest::default() };
    let answer = other.query(&Visibility::everything(), &question, later(700)).unwrap();
    assert_eq!(contents(&answer)[0], "The API listens on port 9090.");
    let chain = other.history(&Visibility::everything(), &answer.hits[0].memory.id).unwrap().chain;
    assert_eq!(chain.len(), 2);
    assert!(
        other
            .doctor(&Visibility::everything())
            .unwrap()
            .iter()
            .all(|check| check.outcome != bower_core::request::Outcome::Bad)
    );
}

#[test]
fn vectors_go_along_where_they_are_asked_for() {
    let (here, there) = (Place::new(), Place::without_model());
    let engine = here.open();
    tell(&engine, "The API listens on port 8080.", 0);
    let request = ExportRequest { vectors: true, ..everything() };
    let all = export(&engine, &request);
    assert!(all.contains("half_floats"));
    let other = there.open();
    import(&other, &all, ImportRequest::default());
    assert_eq!(body(&export(&other, &request)), body(&all));
}

#[test]
fn what_goes_to_somebody_else_becomes_theirs_and_meets_nobody() {
    let place = Place::without_model();
    let engine = place.open();
    tell(&engine, "The API listens on port 8080.", 0);
    tell(&engine, "The API listens on port 9090.", 5);
    let all = export(&engine, &everything());
    let to_ada =
        ImportRequest { owner: Some("ada".into()), scope: Some(Scope::User), ..ImportRequest::default() };
    let came = import(&engine, &all, to_ada.clone());
    assert_eq!((came.added, came.conflicting), (2, 0), "{came:?}");
    assert_eq!(import(&engine, &all, to_ada).unchanged, 2);
    let hers = Selection { owner: Some("ada".into()), ..Selection::default() };
    let found = engine.list(&Visibility::everything(), &hers, 10, 0).unwrap();
    assert_eq!((found.total, found.memories[0].content.as_str()), (1, "The API listens on port 9090."));
    assert_eq!(
        engine.history(&Visibility::everything(), &found.memories[0].id).unwrap().chain.len(),
        2,
        "her own chain"
    );
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total, 2);
}

#[test]
fn a_line_that_cannot_be_read_is_named_and_the_rest_comes_in() {
    let (here, there) = (Place::without_model(), Place::without_model());
    let engine = here.open();
    tell(&engine, "The API listens on port 8080.", 0);
    tell(&engine, "The staging server is in Rome.", 1);
    let all = export(&engine, &everything());
    let mut lines: Vec<String> = all.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replace("\"importance\":", "\"importance\":9");
    lines.insert(2, "{\"line\":\"item\", oops".into());
    let other = there.open();
    let came = import(&other, &lines.join("\n"), ImportRequest::default());
    assert_eq!((came.added, came.failed), (1, 2), "{came:?}");
    assert_eq!(came.errors[0].place, "all.jsonl:2");
    assert!(came.errors[0].reason.contains("from 0 to 1"), "{came:?}");
    assert_eq!(came.errors[1].place, "all.jsonl:3");
    let newer = "{\"line\":\"header\",\"bower\":99,\"store\":\"s\",\"change\":1,\"time\":\"2026-01-01T00:00:00Z\",\"counts\":{\"memories\":0,\"documents\":0,\"chunks\":0,\"relations\":0,\"reviews\":0,\"events\":0}}\n";
    assert!(import(&other, newer, ImportRequest::default()).errors[0].reason.contains("upgrade bower"));
}

/// A count at the end of the integers was taken in, and then no sweep and no feedback could write.
#[test]
fn a_count_that_cannot_be_counted_on_is_refused() {
    let (here, there) = (Place::without_model(), Place::without_model());
    let engine = here.open();
    tell(&engine, "The API listens on port 8080.", 0);
    let all = export(&engine, &everything());
    let other = there.open();
    let huge = i64::MAX;
    for (field, flaw) in [
        ("\"access_count\":0", format!("\"access_count\":{huge}")),
        ("\"observations\":1", format!("\"observations\":{huge}")),
        ("\"content\":\"The API listens on port 8080.\"", "\"content\":\" \"".to_owned()),
    ] {
        assert!(all.contains(field), "{field} in {all}");
        let came = import(&other, &all.replace(field, &flaw), ImportRequest::default());
        assert_eq!((came.added, came.failed), (0, 1), "{field}: {came:?}");
    }
    let most = all.replace("\"access_count\":0", &format!("\"access_count\":{}", u32::MAX));
    assert_eq!(import(&other, &most, ImportRequest::default()).added, 1);
    other.sweep(&Visibility::everything(), &SweepRequest::default(), later(700)).unwrap();
}

fn edit(folder: &Path, holds: &str, with: impl Fn(&str) -> String) -> String {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && std::fs::read_to_string(&path).unwrap().contains(holds)
            {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "{holds}: {found:?}");
    let text = std::fs::read_to_string(&found[0]).unwrap();
    std::fs::write(&found[0], with(&text)).unwrap();
    found[0].strip_prefix(folder).unwrap().to_string_lossy().into_owned()
}

fn take_folder(engine: &Engine, folder: &Path, request: ImportRequest, hours: i64) -> Imported {
    let mut import = engine.import(&Visibility::everything(), request, later(hours), &|_| {}).unwrap();
    import.folder(folder).unwrap();
    import.finish().unwrap()
}

fn what(came: &Imported) -> Vec<(&str, &str)> {
    came.changes.iter().map(|change| (change.what.as_str(), change.detail.as_str())).collect()
}

#[test]
fn a_folder_is_edited_and_taken_back() {
    let place = Place::without_model();
    let engine = place.open();
    tell(&engine, "The API listens on port 8080.", 0);
    tell(&engine, "The staging server is in Rome.", 1);
    tell(&engine, "Backups run at night.", 2);
    let folder = place.notes().join("pages");
    let left = engine.export_folder(&Visibility::everything(), &ExportRequest::default(), &folder).unwrap();
    assert_eq!((left.memories, left.files, left.written), (3, 3, 3));
    // The same again writes nothing, and what was not edited costs nothing.
    assert_eq!(
        engine.export_folder(&Visibility::everything(), &ExportRequest::default(), &folder).unwrap().written,
        0
    );
    let same = take_folder(&engine, &folder, ImportRequest::default(), 10);
    assert_eq!((same.unchanged, same.added + same.updated, same.changes.len()), (3, 0, 0), "{same:?}");

    let name = edit(&folder, "port 8080", |text| text.replace("8080", "9090"));
    assert!(name.starts_with("fact") && name.contains("the-api-listens-on-port-8080-"), "{name}");
    edit(&folder, "Rome", |text| {
        text.replace("tags: []", "tags:\n  - infra # where\n  - 'it'\nvalid_from: 2025-03-01")
    });
    edit(&folder, "Backups", str::to_owned);
    std::fs::write(folder.join("new.md"), "---\ntags: [office]\n---\nThe office plant is a ficus.\n")
        .unwrap();
    let dry = take_folder(&engine, &folder, ImportRequest { dry_run: true, ..ImportRequest::default() }, 11);
    assert_eq!((dry.added, dry.updated, dry.unchanged), (1, 2, 1), "{dry:?}");
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total, 3);
    let came = take_folder(&engine, &folder, ImportRequest::default(), 12);
    assert_eq!(
        what(&came),
        [("superseded", "8080 -> 9090"), ("changed", "tags, valid_from"), ("added", "")],
        "{came:?}"
    );
    let listed = engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap();
    assert_eq!(listed.total, 4);
    let port = listed.memories.iter().find(|item| item.content.contains("9090")).unwrap();
    let chain = engine.history(&Visibility::everything(), &port.id).unwrap().chain;
    assert_eq!(chain[0].memory.content, "The API listens on port 8080.");
    let rome = listed.memories.iter().find(|item| item.content.contains("Rome")).unwrap();
    assert_eq!(
        (rome.tags.clone(), rome.valid_from.unwrap().to_string()),
        (vec!["infra".to_owned(), "it".to_owned()], "2025-03-01T00:00:00Z".to_owned())
    );
    let plant = listed.memories.iter().find(|item| item.content.contains("ficus")).unwrap();
    assert_eq!(plant.tags, ["office"]);

    // Again, without an export between: nothing. And the same file once more edited goes on from there.
    let again = take_folder(&engine, &folder, ImportRequest::default(), 13);
    assert_eq!((again.unchanged, again.changes.len(), again.conflicting), (4, 0, 0), "{again:?}");
    edit(&folder, "9090", |text| text.replace("9090", "7070"));
    edit(&folder, "ficus", |text| text.replace("ficus", "cactus"));
    let once_more = take_folder(&engine, &folder, ImportRequest::default(), 14);
    assert_eq!((once_more.updated, once_more.conflicting), (2, 0), "{once_more:?}");

    // What the store changed since is told and stays.
    tell(&engine, "The staging server is in Rome.", 15);
    edit(&folder, "Rome", |text| text.replace("Rome", "Oslo"));
    let stale = take_folder(&engine, &folder, ImportRequest::default(), 16);
    assert_eq!((stale.updated, stale.conflicting), (0, 1), "{stale:?}");
    assert!(stale.conflicts[0].reason.contains("was changed here since the export"), "{stale:?}");
    // An export over edits that were not taken in is refused.
    let refused = engine
        .export_folder(&Visibility::everything(), &ExportRequest::default(), &folder)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("changed since the last export"), "{refused}");
    engine
        .export_folder(
            &Visibility::everything(),
            &ExportRequest { force: true, ..ExportRequest::default() },
            &folder,
        )
        .unwrap();
}

/// A file that is gone is told; with --delete its memory is archived, not destroyed.
#[test]
fn a_file_that_is_gone_archives_its_memory_where_that_is_asked() {
    let place = Place::without_model();
    let engine = place.open();
    tell(&engine, "Backups run at night.", 0);
    let folder = place.notes().join("pages");
    engine.export_folder(&Visibility::everything(), &ExportRequest::default(), &folder).unwrap();
    let name = edit(&folder, "Backups", str::to_owned);
    std::fs::remove_file(folder.join(name)).unwrap();
    let gone = take_folder(&engine, &folder, ImportRequest::default(), 1);
    assert_eq!(what(&gone), [("deleted", "its memory stays; --delete archives it")]);
    let delete = || ImportRequest { delete: true, ..ImportRequest::default() };
    assert_eq!(what(&take_folder(&engine, &folder, delete(), 2)), [("archived", "its file is gone")]);
    let archived = Selection { statuses: vec![Status::Archived], ..Selection::default() };
    let archived = engine.list(&Visibility::everything(), &archived, 10, 0).unwrap().memories;
    assert_eq!(archived[0].content, "Backups run at night.");
    assert_eq!(what(&take_folder(&engine, &folder, delete(), 3)), []);
}

#[test]
fn heads_that_say_nothing_sensible_are_named() {
    let place = Place::without_model();
    let engine = place.open();
    tell(&engine, "The API listens on port 8080.", 0);
    let folder = place.notes().join("pages");
    engine.export_folder(&Visibility::everything(), &ExportRequest::default(), &folder).unwrap();
    let file = edit(&folder, "The API", str::to_owned);
    let whole = std::fs::read_to_string(folder.join(file)).unwrap();
    let check = |from: &str, to: &str, reason: &str| {
        edit(&folder, "The API", |text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
        let came = take_folder(&engine, &folder, ImportRequest::default(), 20);
        let told = came
            .errors
            .iter()
            .chain(&came.conflicts)
            .map(|problem| problem.reason.as_str())
            .collect::<Vec<_>>();
        assert!(told.len() == 1 && told[0].contains(reason), "{to}: {came:?}");
        // Back to what it was, whatever that edit took away.
        edit(&folder, "", |_| whole.clone());
    };
    check("type: fact", "type: idea", "use one of fact");
    check("tags: []", "tags: [two words]", "use one word");
    check("tags: []", "tgas: [x]", "tgas: no field of a memory");
    check("tags: []", "tags: [x", "the head is no YAML");
    check("scope: project", "scope: user", "stay as they are");
    check("importance: ", "importance: 9", "from 0 to 1");
    check("The API listens on port 8080.", "", "its text is gone");
    let same = take_folder(&engine, &folder, ImportRequest::default(), 21);
    assert_eq!((same.unchanged, same.failed), (1, 0), "{same:?}");
}

#[test]
fn agents_are_given_what_fits() {
    let place = Place::without_model();
    let engine = place.open();
    for n in 0..40 {
        tell(&engine, &format!("Service number {n} listens on port {}.", 8_000 + n), n);
    }
    let pinned = CurateRequest {
        pinned: true,
        memory_type: Some(MemoryType::Convention),
        ..CurateRequest::new("We write tests first.")
    };
    engine.curate(&Visibility::everything(), &pinned, later(50)).unwrap();
    let folder = place.notes().join("agent");
    let left =
        engine.export_digest(&Visibility::everything(), &ExportRequest::default(), &folder, 600).unwrap();
    assert!(
        left.memories > 5 && left.left_out > 5 && left.memories as usize + left.left_out == 41,
        "{left:?}"
    );
    assert!(left.bytes.div_ceil(4) <= 600, "{left:?}");
    let index = std::fs::read_to_string(folder.join("MEMORY.md")).unwrap();
    assert!(index.contains("made by bower") && index.contains("do not edit"));
    let first = index.lines().find(|line| line.starts_with("- ")).unwrap();
    assert!(
        first.starts_with("- [convention](convention.md#")
            && first.ends_with("(pinned) We write tests first."),
        "{first}"
    );
    let again =
        engine.export_digest(&Visibility::everything(), &ExportRequest::default(), &folder, 600).unwrap();
    assert_eq!(again.written, 0, "the same store, the same bytes");
    std::fs::write(folder.join("MEMORY.md"), "mine").unwrap();
    assert!(
        engine.export_digest(&Visibility::everything(), &ExportRequest::default(), &folder, 600).is_err()
    );
}

#[test]
fn a_context_tree_is_taken_over() {
    let place = Place::without_model();
    let engine = place.open();
    let tree = ".brv-real/context-tree";
    place.write("project/.brv", "../.brv-real\n");
    let keys = "---\ntitle: Token keys\nsummary: Keys rotate.\ntags: [auth, 'two words']\nrelated: ['@ops/deploy/steps.md']\nimportance: 80\naccessCount: 3\n\
                createdAt: '2026-01-02T03:04:05.678Z'\nupdatedAt: '2026-02-02T00:00:00.000Z'\n---\n## Narrative\nKeys are rotated weekly.\n\n## Facts\n\
                - **token_ttl**: Tokens live for 15 minutes [project]\n- **tabs**: Ada prefers tabs [preference]\n";
    place.write(&format!("{tree}/auth/jwt/keys.md"), keys);
    place.write(
        &format!("{tree}/ops/deploy/steps.md"),
        "## Raw Concept\nBuild, then ship. See @auth/jwt/keys.md.\n",
    );
    place.write(&format!("{tree}/ops/context.md"), "made");
    place.write(&format!("{tree}/_manifest.json"), "{}");
    place.write(&format!("{tree}/_archived/ops/old.stub.md"), "see full");
    place.write(&format!("{tree}/_archived/ops/old.full.md"), "## Narrative\nWe shipped by hand.\n");
    place.write(&format!("{tree}/ops/broken.md"), "---\ntags: [x\n---\ntext\n");
    let project = place.notes().join("project");
    let came = engine
        .migrate_from_brv(&Visibility::everything(), &project, &MigrateRequest::default(), later(1))
        .unwrap();
    assert_eq!((came.migrated, came.skipped, came.errors.len(), came.relations), (5, 3, 1, 4), "{came:?}");
    assert_eq!(came.errors[0].place, "ops/broken.md");
    let again = engine
        .migrate_from_brv(&Visibility::everything(), &project, &MigrateRequest::default(), later(2))
        .unwrap();
    assert_eq!((again.migrated, again.unchanged, again.relations), (0, 5, 0), "{again:?}");
    let listed = engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().memories;
    let of = |text: &str| {
        listed.iter().find(|item| item.content.contains(text)).unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(of("15 minutes").content, "token_ttl: Tokens live for 15 minutes");
    assert_eq!(of("prefers tabs").memory_type, Some(MemoryType::Preference));
    let keys = of("rotated weekly");
    assert_eq!(
        (keys.tags.clone(), keys.access_count, keys.create_time.to_string()),
        (vec!["auth".to_owned(), "two-words".to_owned()], 3, "2026-01-02T03:04:05.678Z".to_owned())
    );
    assert_eq!(keys.metadata["brv"], "auth/jwt/keys.md");
    let archived = Selection { statuses: vec![Status::Archived], ..Selection::default() };
    assert_eq!(engine.list(&Visibility::everything(), &archived, 10, 0).unwrap().total, 1);
    assert!(
        engine
            .migrate_from_brv(&Visibility::everything(), &place.home(), &MigrateRequest::default(), later(3))
            .is_err()
    );
}

#[test]
fn a_conversation_is_found_by_who_and_when() {
    let place = Place::new();
    let engine = place.open();
    let lines = [
        r#"{"speaker":"Ada","text":"I painted the lighthouse at dawn.","timestamp":"2023-05-08T13:56:00Z"}"#,
        r#"{"speaker":"Grace","text":"How lovely! I baked bread.","timestamp":"2023-05-08T13:57:00Z"}"#,
        r#"{"speaker":"Ada","text":"I painted the harbour this time.","timestamp":"2023-09-02T10:00:00Z"}"#,
    ];
    let came = import(&engine, &lines.join("\n"), ImportRequest::default());
    assert_eq!((came.added, came.turns, came.conversations), (3, 3, 1), "{came:?}");
    assert_eq!(import(&engine, &lines.join("\n"), ImportRequest::default()).unchanged, 3);
    let longer = lines.join("\n")
        + "\n"
        + r#"{"speaker":"Grace","text":"Show me.","timestamp":"2023-09-02T10:01:00Z"}"#;
    let more = import(&engine, &longer, ImportRequest::default());
    assert_eq!((more.added, more.unchanged), (1, 3), "{more:?}");
    let ask = |text: &str| {
        let answer = engine
            .query(
                &Visibility::everything(),
                &QueryRequest { text: text.into(), ..QueryRequest::default() },
                later(700),
            )
            .unwrap();
        answer.hits[0].memory.clone()
    };
    let may = ask("What did Ada paint in May 2023?");
    assert_eq!(may.content, "Ada: I painted the lighthouse at dawn.");
    assert_eq!(
        (may.collection.as_str(), may.metadata["speaker"].as_str(), may.metadata["conversation"].as_str()),
        ("sessions", Some("Ada"), Some("all"))
    );
    assert_eq!(ask("What did Ada paint in September 2023?").content, "Ada: I painted the harbour this time.");
    assert!(ask("Who baked?").content.starts_with("Grace:"));

    let as_memories = ImportRequest { as_memories: true, ..ImportRequest::default() };
    let kept = import(
        &engine,
        &(lines.join("\n") + "\n{\"role\":\"user\",\"content\":\"ok, thanks!\"}"),
        as_memories.clone(),
    );
    assert_eq!((kept.added, kept.refused), (4, 0), "{kept:?}");
    assert_eq!(import(&engine, &lines.join("\n"), as_memories).unchanged, 3);
    let candidates =
        Selection { statuses: vec![Status::Candidate], kinds: vec![Kind::Memory], ..Selection::default() };
    let listed = engine.list(&Visibility::everything(), &candidates, 10, 0).unwrap();
    assert_eq!(
        (listed.total, listed.memories[1].create_time.to_string()),
        (4, "2023-09-02T10:00:00Z".to_owned())
    );
}

fn wild() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~\\n\\t\\r\u{0}-\u{1f}\u{80}-\u{9f}\u{2028}\u{feff}]{1,40}",
        "(---|id: x|\\.\\.\\.|# a|\\{\"line\":\"header\"\\})\\n?.{0,20}",
        Just("long ".repeat(4_000)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_text_goes_out_and_comes_in(
        texts in prop::collection::vec((wild(), any::<f64>(), wild(), any::<bool>()), 1..5),
    ) {
        let (here, there) = (Place::without_model(), Place::without_model());
        let engine = here.open();
        for (nth, (text, number, owner, pinned)) in texts.iter().enumerate() {
            let request = CurateRequest {
                gate: Some(bower_core::item::Gate::Off),
                metadata: serde_json::Map::from_iter([
                    ("n".to_owned(), serde_json::json!(number)),
                    (text.chars().take(9).collect(), serde_json::json!({"in": [owner, null]})),
                ]),
                owner: (!owner.is_empty()).then(|| owner.clone()),
                pinned: *pinned,
                ..CurateRequest::new(text.clone())
            };
            // What is blank is refused, and what is not is kept.
            let _ = engine.curate(&Visibility::everything(), &request, later(nth.try_into().unwrap()));
        }
        let all = export(&engine, &everything());
        let other = there.open();
        let came = import(&other, &all, ImportRequest::default());
        // Without the gate anybody's name was kept here. An import refuses one that looks like a password (`PW![0`).
        prop_assume!(!came.errors.iter().any(|one| one.reason.contains("the owner holds a secret")));
        prop_assert_eq!((came.conflicting, came.failed), (0, 0), "{:?}", came);
        let second = export(&other, &everything());
        prop_assert_eq!(body(&second), body(&all));

        // The same as files: into their own store nothing changes, and into an empty one every memory comes as it was.
        let folder = here.notes().join("pages");
        let left = engine.export_folder(&Visibility::everything(), &everything(), &folder).unwrap();
        std::fs::remove_file(folder.join(".bower-export.json")).unwrap();
        let same = take_folder(&engine, &folder, ImportRequest::default(), 800);
        prop_assert_eq!((same.unchanged, same.changes.len(), same.conflicting, same.failed), (left.memories, 0, 0, 0), "{:?}", same);
        let third = Place::without_model();
        let empty = third.open();
        let came = take_folder(&empty, &folder, ImportRequest::default(), 800);
        prop_assert_eq!((came.added, came.conflicting, came.failed), (left.memories, 0, 0), "{:?}", came);
        let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
        let sorted = |engine: &Engine| {
            let mut items = engine.list(&Visibility::everything(), &select, 100, 0).unwrap().memories;
            items.sort_by(|a, b| a.id.cmp(&b.id));
            items.into_iter().map(|item| bower_core::request::Item { row: bower_core::item::RowId(0), superseded_by_id: None, ..item }).collect::<Vec<_>>()
        };
        prop_assert_eq!(sorted(&empty), sorted(&engine));
    }
}
