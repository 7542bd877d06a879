//! Tests what each operation refuses to a caller with access bounds.

use super::bodies::holds_everything;
use super::*;
use bower_core::config::Settings;
use bower_core::filter::Filter;
use bower_core::item::{Author, Gate, MemoryType, Provenance, Verdict};
use bower_core::request::Selection;
use serde_json::json;

#[test]
fn a_filter_that_keeps_everything_is_no_selection() {
    let check = |json: &str, expected: bool| {
        let select = Selection { filter: Some(Filter::parse(json).unwrap()), ..Selection::default() };
        assert_eq!(holds_everything(&select), expected, "{json}");
    };
    assert!(holds_everything(&Selection::default()));
    assert!(!holds_everything(&Selection { tags: vec!["x".into()], ..Selection::default() }));
    check("{}", true);
    check(r#"{"$and":[{},{"$and":[]}]}"#, true);
    check(r#"{"$or":[{"a":1},{}]}"#, true);
    check(r#"{"$or":[]}"#, false);
    check(r#"{"$and":[{},{"a":1}]}"#, false);
    check(r#"{"$contains":"x"}"#, false);
}

fn now() -> Timestamp {
    "2026-05-01T12:00:00Z".parse().unwrap()
}

/// Creates a store without a model with the memories in `told`: owner, collection, text.
fn service(home: &std::path::Path, told: &[(&str, &str, &str)]) -> (Service, Vec<String>) {
    let settings = Settings { model: "none".into(), ..Settings::default() };
    let service = Service::new(Engine::open(home, settings, now()).unwrap());
    let ids = told
        .iter()
        .map(|(owner, collection, content)| {
            let body = CurateBody {
                content: (*content).into(),
                owner: Some((*owner).into()),
                collection: Some((*collection).into()),
                memory_type: Some(MemoryType::Decision),
                ..CurateBody::default()
            };
            service.curate(&body, &Bounds::default(), now()).unwrap().id.unwrap()
        })
        .collect();
    (service, ids)
}

fn owner(name: &str) -> Bounds {
    Bounds { owner: Some(name.into()), ..Bounds::default() }
}

#[track_caller]
fn outside<T: std::fmt::Debug>(served: Served<T>) {
    let served = served.map(drop);
    assert!(matches!(served, Err(Refused::Outside(_))), "{served:?}");
}

#[track_caller]
fn missing<T: std::fmt::Debug>(served: Served<T>) {
    match served {
        Err(Refused::Failed(failure)) => assert_eq!(failure.exit, crate::failure::Exit::Nothing),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn part(served: Served<StoreState>) -> StorePart {
    match served.unwrap() {
        StoreState::Part(part) => *part,
        StoreState::Whole(report) => panic!("{report:?}"),
    }
}

#[test]
fn nothing_of_another_owner_is_reached_by_any_operation() {
    let home = tempfile::tempdir().unwrap();
    let (service, ids) = service(
        home.path(),
        &[("ann", "memories", "The API port is 8080"), ("bob", "memories", "The cellar door code is green")],
    );
    let (ann, bobs) = (owner("ann"), &ids[1]);
    missing(service.get(bobs, &ann, now()));
    missing(service.history(bobs, &ann));
    missing(service.feedback(&FeedbackBody { id: bobs.clone(), verdict: Verdict::Wrong }, &ann, now()));
    missing(service.pin(&PinBody { id: bobs.clone(), pinned: true }, &ann, now()));
    missing(service.forget(&ForgetBody { ids: ids.clone(), ..ForgetBody::default() }, &ann, now()));
    assert_eq!(service.list(&ListBody::default(), &ann, now()).unwrap().total, 1);
    let asked = QueryBody { query: "the cellar door code".into(), ..QueryBody::default() };
    let answer = service.query(&asked, &ann, now()).unwrap();
    assert!(answer.hits.iter().all(|hit| hit.memory.owner.as_deref() == Some("ann")));
    let wants = SelectBody { owner: Some("bob".into()), ..SelectBody::default() };
    outside(service.query(&QueryBody { select: wants.clone(), ..asked }, &ann, now()));
    outside(service.list(&ListBody { select: wants, ..ListBody::default() }, &ann, now()));
    let forged =
        CurateBody { content: "The lamp is blue".into(), owner: Some("bob".into()), ..CurateBody::default() };
    outside(service.curate(&forged, &ann, now()));
    outside(service.prune(&PruneBody::default(), &ann, now()));
    outside(service.sweep(&SweepBody::default(), &ann, now()));
    outside(service.undo(&UndoBody { event: Some(1), ..UndoBody::default() }, &ann, now()));
    let state = part(service.status(&ann));
    assert!(state.scopes.iter().all(|held| held.owner.as_deref() == Some("ann")));
    assert_eq!((state.total_memories, state.total_chunks, state.by_type.values().sum::<u64>()), (1, 0, 1));
    assert_eq!(state.by_collection.into_iter().collect::<Vec<_>>(), [("memories".to_owned(), 1)]);
    // The bounds set the owner.
    let hers = CurateBody { content: "The roof was mended in May 2025".into(), ..CurateBody::default() };
    let id = service.curate(&hers, &ann, now()).unwrap().id.unwrap();
    assert_eq!(service.get(&id, &Bounds::default(), now()).unwrap().memory.owner.as_deref(), Some("ann"));
    // Bob's memory is unchanged.
    assert_eq!(service.get(bobs, &owner("bob"), now()).unwrap().memory.owner.as_deref(), Some("bob"));
}

#[test]
fn nothing_of_another_collection_is_reached() {
    let home = tempfile::tempdir().unwrap();
    let (service, ids) = service(
        home.path(),
        &[("ann", "open", "The API port is 8080"), ("ann", "closed", "The vault opens at nine on Mondays")],
    );
    let bound = Bounds { collections: vec!["open".into()], ..Bounds::default() };
    missing(service.get(&ids[1], &bound, now()));
    missing(service.history(&ids[1], &bound));
    missing(service.forget(
        &ForgetBody { ids: vec![ids[1].clone()], ..ForgetBody::default() },
        &bound,
        now(),
    ));
    let closed = SelectBody { collections: vec!["closed".into()], ..SelectBody::default() };
    outside(service.list(&ListBody { select: closed, ..ListBody::default() }, &bound, now()));
    assert_eq!(service.list(&ListBody::default(), &bound, now()).unwrap().total, 1);
    let state = part(service.status(&bound));
    assert_eq!(state.by_collection.keys().collect::<Vec<_>>(), ["open"]);
    assert_eq!((state.total_memories, state.scopes.len()), (1, 0), "a scope holds other collections too");
    let told = serde_json::to_string(&service.status(&bound).unwrap()).unwrap();
    assert!(!told.contains(home.path().to_str().unwrap()) && !told.contains("total_size_bytes"), "{told}");
    assert!(matches!(service.status(&Bounds::default()).unwrap(), StoreState::Whole(_)));
    let brief = service.brief(&BriefBody { fast: true, ..BriefBody::default() }, &bound, now()).unwrap();
    assert!(brief.entries.iter().all(|entry| entry.id == ids[0]), "{brief:?}");
    let new = CurateBody { content: "The lamp in the hall is blue".into(), ..CurateBody::default() };
    let id = service.curate(&new, &bound, now()).unwrap().id.unwrap();
    assert_eq!(service.get(&id, &bound, now()).unwrap().memory.collection, "open");
}

/// A guess that is kept and then forgotten must not reveal which other items contain its words.
#[test]
fn what_is_forgotten_names_no_holder_in_another_collection() {
    let home = tempfile::tempdir().unwrap();
    let secret = "The vault opens at nine on Mondays with the green key";
    let (service, _) =
        service(home.path(), &[("ann", "closed", secret), ("ann", "open", "The API port is 8080")]);
    let bound = Bounds { collections: vec!["open".into()], ..Bounds::default() };
    let guess = CurateBody {
        content: "the vault opens at nine".into(),
        gate: Some(Gate::Off),
        ..CurateBody::default()
    };
    let id = service.curate(&guess, &bound, now()).unwrap().id.unwrap();
    let look = ForgetBody { ids: vec![id.clone()], dry_run: true, ..ForgetBody::default() };
    assert_eq!(service.forget(&look, &bound, now()).unwrap().held_by, Vec::<String>::new());
    assert_eq!(
        service.forget(&look, &Bounds::default(), now()).unwrap().held_by.len(),
        1,
        "whoever sees all is told"
    );
    let select = SelectBody { collections: vec!["open".into()], ..SelectBody::default() };
    let all = ForgetBody { select, confirm: true, ..ForgetBody::default() };
    assert_eq!(service.forget(&all, &bound, now()).unwrap().held_by, Vec::<String>::new());
}

/// A text that an answer returned in one collection is no echo in another, for a caller who sees only the other.
#[test]
fn an_echo_of_another_collection_is_no_echo() {
    let home = tempfile::tempdir().unwrap();
    let text = "The nightly export of the warehouse starts at 02:30 and takes forty minutes.";
    let (service, _) = service(home.path(), &[("ann", "closed", text)]);
    let asked = QueryBody { query: "nightly export of the warehouse".into(), ..QueryBody::default() };
    assert_eq!(service.query(&asked, &Bounds::default(), now()).unwrap().hits.len(), 1);
    let told = |bounds: &Bounds| {
        let echo = "According to memory: the nightly export of the warehouse starts at 02:30 and takes forty minutes.";
        let body = CurateBody {
            content: echo.into(),
            owner: Some("ann".into()),
            collection: Some("open".into()),
            ..CurateBody::default()
        };
        service.curate(&body, bounds, now()).unwrap().accepted
    };
    assert!(!told(&Bounds::default()), "whoever sees both is told");
    assert!(told(&Bounds { collections: vec!["open".into()], ..Bounds::default() }));
}

/// Anyone can compute the id of a memory, because it follows from its namespace and text.
#[test]
fn an_id_that_is_guessed_is_answered_as_one_that_does_not_exist() {
    let home = tempfile::tempdir().unwrap();
    let told =
        [("ann", "closed", "The vault opens at nine on Mondays"), ("ann", "open", "The API port is 8080")];
    let (service, ids) = service(home.path(), &told);
    let bound = Bounds { collections: vec!["open".into()], ..Bounds::default() };
    let answers = |id: &str| {
        let told =
            |failure: &Failure| (failure.message.replace(id, "ID"), failure.hint.clone(), failure.exit as u8);
        let ask = |id: &str| {
            let id = id.to_owned();
            let verdict = Verdict::Wrong;
            [
                told(service.get(&id, &bound, now()).unwrap_err().failure()),
                told(service.history(&id, &bound).unwrap_err().failure()),
                told(
                    service
                        .pin(&PinBody { id: id.clone(), pinned: true }, &bound, now())
                        .unwrap_err()
                        .failure(),
                ),
                told(
                    service
                        .feedback(&FeedbackBody { id: id.clone(), verdict }, &bound, now())
                        .unwrap_err()
                        .failure(),
                ),
                told(
                    service
                        .forget(&ForgetBody { ids: vec![id], ..ForgetBody::default() }, &bound, now())
                        .unwrap_err()
                        .failure(),
                ),
            ]
        };
        ask(id)
    };
    assert_eq!(answers(&ids[0]), answers("0123456789abcdef"));
    assert_eq!(answers(&ids[0][..7]), answers("0123456"));
}

#[test]
fn whoever_may_only_read_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (service, ids) = service(home.path(), &[("ann", "memories", "The API port is 8080")]);
    let reader = Bounds { access: Access::Read, ..Bounds::default() };
    outside(service.curate(&CurateBody { content: "x y z".into(), ..CurateBody::default() }, &reader, now()));
    outside(service.forget(&ForgetBody { ids: ids.clone(), ..ForgetBody::default() }, &reader, now()));
    outside(service.feedback(&FeedbackBody { id: ids[0].clone(), verdict: Verdict::Stale }, &reader, now()));
    outside(service.prune(&PruneBody::default(), &reader, now()));
    let writer = Bounds { access: Access::Write, ..Bounds::default() };
    let paths = vec![home.path().to_path_buf()];
    outside(service.index(&IndexBody { paths, ..IndexBody::default() }, &writer, now(), &|_| {}, &|| true));
    assert_eq!(service.get(&ids[0], &reader, now()).unwrap().memory.content, "The API port is 8080");
}

/// Only `commands::index` fetches pages. To the operations that MCP and HTTP share, an address is a path that does not exist.
#[test]
fn no_caller_of_an_operation_can_make_it_fetch_an_address() {
    let home = tempfile::tempdir().unwrap();
    let (service, _) = service(home.path(), &[]);
    let server = crate::loopback::Server::start(|_, _| None);
    for via in [Via::Wire, Via::CommandLine] {
        for path in [format!("http://{}/a/", server.address()), format!("/http://{}/a/", server.address())] {
            let body = IndexBody { paths: vec![path.into()], ..IndexBody::default() };
            let bounds = Bounds { via, ..Bounds::default() };
            assert!(service.index(&body, &bounds, now(), &|_| {}, &|| true).is_err());
        }
    }
    assert!(server.seen().is_empty());
}

#[test]
fn a_selection_is_forgotten_only_when_confirmed() {
    let home = tempfile::tempdir().unwrap();
    let (service, _) = service(home.path(), &[("ann", "memories", "The API port is 8080")]);
    let all = Bounds::default();
    let select = SelectBody { owner: Some("ann".into()), ..SelectBody::default() };
    let body = ForgetBody { select, ..ForgetBody::default() };
    assert!(service.forget(&ForgetBody::default(), &all, now()).is_err());
    assert!(service.forget(&body, &all, now()).is_err());
    let would = service.forget(&ForgetBody { dry_run: true, ..body.clone() }, &all, now()).unwrap();
    assert_eq!(would.receipt.items, 1);
    assert_eq!(service.list(&ListBody::default(), &all, now()).unwrap().total, 1);
    service.forget(&ForgetBody { confirm: true, ..body }, &all, now()).unwrap();
    assert_eq!(service.list(&ListBody::default(), &all, now()).unwrap().total, 0);
}

#[test]
fn a_field_that_nobody_knows_is_an_error_also_beside_a_selection() {
    let asked: QueryBody =
        serde_json::from_value(json!({"query": "x", "limit": 3, "tags": ["a"], "as_of": "7d"})).unwrap();
    assert_eq!(
        (asked.limit, asked.select.tags.len(), asked.select.as_of.as_deref()),
        (Some(3), 1, Some("7d"))
    );
    let error = serde_json::from_value::<QueryBody>(json!({"query": "x", "limits": 3})).unwrap_err();
    assert!(error.to_string().contains("limits"), "{error}");
    assert!(serde_json::from_value::<ForgetBody>(json!({"id": "abc"})).is_err());
    assert!(serde_json::from_value::<CurateBody>(json!({"content": "x", "text": "y"})).is_err());
    // A wire may not set fields that only this process may.
    let turns = |more: &str| json!({"conversation": "x", "turns": [], more: "y"});
    assert!(serde_json::from_value::<TurnsBody>(turns("collection")).is_ok());
    for own in ["origin", "documents", "folder"] {
        assert!(serde_json::from_value::<TurnsBody>(turns(own)).is_err(), "{own}");
    }
    assert!(serde_json::from_value::<ExportBody>(json!({"all": true, "tags": ["a"]})).is_ok());
    assert!(serde_json::from_value::<ExportBody>(json!({"force": true})).is_err());
}

#[test]
fn what_guards_a_server_binds_no_command_line() {
    let home = tempfile::tempdir().unwrap();
    let (service, _) = service(home.path(), &[]);
    let (wire, local) = (Bounds::default(), Bounds::local());
    let message = |failure: &Refused| failure.failure().message.clone();
    let page = ListBody { limit: Some(501), ..ListBody::default() };
    assert_eq!(message(&service.list(&page, &wire, now()).unwrap_err()), "limit 501");
    assert_eq!(service.list(&page, &local, now()).unwrap().total, 0);
    let brief = BriefBody { folder: Some("here".into()), fast: true, ..BriefBody::default() };
    assert_eq!(message(&service.brief(&brief, &wire, now()).unwrap_err()), "path here is relative");
    assert_eq!(service.brief(&brief, &local, now()).unwrap().folder.as_deref(), Some("here"));
    let long = ConsolidateBody { seconds: Some(3_601), ..ConsolidateBody::default() };
    let tried = |bounds: &Bounds| message(&service.consolidate(&long, bounds, now(), &|| true).unwrap_err());
    assert_eq!(tried(&wire), "seconds 3601");
    assert!(tried(&local).starts_with("consolidate"), "there is no model: {}", tried(&local));
    // Error messages use the terms of the request's source. Only at a command line is the author the user.
    let since = SelectBody { since: Some("soon".into()), ..SelectBody::default() };
    let asked = QueryBody { query: "x".into(), select: since, ..QueryBody::default() };
    assert!(message(&service.query(&asked, &wire, now()).unwrap_err()).starts_with("since \"soon\""));
    assert!(message(&service.query(&asked, &local, now()).unwrap_err()).starts_with("--since \"soon\""));
    let agent = Bounds { is_agent: true, ..Bounds::local() };
    let authors = [&wire, &local, &agent].map(|bounds| bounds.author(None).unwrap());
    assert_eq!(authors, [Author::Agent, Author::User, Author::Agent]);
}

#[test]
fn a_briefing_stays_within_the_bounds() {
    let home = tempfile::tempdir().unwrap();
    let told = [
        ("ann", "memories", "We decided to serve the API on port 8080"),
        ("bob", "memories", "We decided to paint the cellar green"),
    ];
    let (service, ids) = service(home.path(), &told);
    let body = BriefBody { session: Some("s".into()), fast: true, ..BriefBody::default() };
    let brief = service.brief(&body, &owner("ann"), now()).unwrap();
    assert_eq!(brief.entries.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&ids[0]]);
    // A session gets an entry again only if it asks for that.
    assert_eq!(service.brief(&body, &owner("ann"), now()).unwrap().already_given, 1);
    let again = BriefBody { repeat: true, ..body.clone() };
    assert_eq!(service.brief(&again, &owner("ann"), now()).unwrap().entries.len(), 1);
    outside(service.brief(&BriefBody { owner: Some("bob".into()), ..body.clone() }, &owner("ann"), now()));
    for wrong in [
        BriefBody { budget: Some(Briefing::Off), ..body.clone() },
        BriefBody { folder: Some("here".into()), ..body },
    ] {
        assert!(matches!(service.brief(&wrong, &owner("ann"), now()), Err(Refused::Failed(_))));
    }
}

#[test]
fn an_agent_speaks_for_itself_and_an_origin_is_taken_back_within_the_bounds() {
    let home = tempfile::tempdir().unwrap();
    let (service, _) = service(home.path(), &[]);
    let body = |text: &str, said_by| CurateBody { content: text.into(), said_by, ..CurateBody::default() };
    let agent = Bounds { is_agent: true, host: Some("codex".into()), ..Bounds::default() };
    let told = service.curate(&body("The API port is 8080", None), &agent, now()).unwrap();
    let got = service.get(&told.id.unwrap(), &agent, now()).unwrap().memory;
    assert_eq!((got.provenance, got.host.as_deref()), (Provenance::told(Author::Agent), Some("codex")));
    outside(service.curate(&body("The door is green", Some(Author::User)), &agent, now()));
    let writer = Bounds { access: Access::Write, ..Bounds::default() };
    outside(service.curate(&body("The door is green", Some(Author::User)), &writer, now()));
    let user =
        service.curate(&body("The door is green", Some(Author::User)), &Bounds::default(), now()).unwrap();
    assert!(user.accepted && !user.is_candidate);
    let web =
        service.curate(&body("The roof leaks in March 2026", Some(Author::Web)), &agent, now()).unwrap();
    assert!(web.accepted && web.is_candidate);

    let hers = Bounds { host: Some("codex".into()), ..owner("ann") };
    service.curate(&body("The cellar is dry in May 2026", None), &hers, now()).unwrap();
    let what = |dry_run| UndoBody { host: Some("codex".into()), dry_run, ..UndoBody::default() };
    let reader = Bounds { access: Access::Read, ..owner("ann") };
    outside(service.undo(&what(false), &reader, now()));
    assert_eq!(service.undo(&what(true), &owner("ann"), now()).unwrap().items.len(), 1);
    assert_eq!(service.undo(&what(false), &owner("ann"), now()).unwrap().items.len(), 1, "hers alone");
    assert_eq!(service.undo(&what(false), &Bounds::default(), now()).unwrap().items.len(), 2);
    missing(service.undo(&what(false), &owner("bob"), now()));
    for odd in [UndoBody::default(), UndoBody { event: Some(1), ..what(false) }] {
        assert!(matches!(service.undo(&odd, &Bounds::default(), now()), Err(Refused::Failed(_))), "{odd:?}");
    }
}

/// Only the service builds engine requests that have several sources, so that defaults, limits and refusals are decided
/// in one place.
#[test]
fn requests_of_the_engine_are_made_by_the_service_alone() {
    const REQUESTS: [&str; 8] = [
        "QueryRequest",
        "CurateRequest",
        "ForgetRequest",
        "IndexRequest",
        "BriefRequest",
        "SessionRequest",
        "TurnsRequest",
        "ConsolidateRequest",
    ];
    // Evaluations and the non-interference tests build requests of their own.
    const ELSEWHERE: [&str; 3] = ["service", "eval", "interference"];
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut makers) = (vec![source], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if ELSEWHERE.contains(&name) || name == "tests" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let mut words = code.split(|c: char| !c.is_alphanumeric());
            makers.extend(
                words.find(|word| REQUESTS.contains(word)).map(|word| format!("{}: {word}", path.display())),
            );
        }
    }
    assert_eq!(makers, [""; 0]);
}
