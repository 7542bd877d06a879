//! Tests of the caller's word about two memories, of what stays open between them, and of other wordings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::error::Error;
use bower_core::item::{Author, CurateOutcome, Gate, PairRuling, Scope, Status, Visibility};
use bower_core::llm::{Ask, Completion, Llm, NoAnswer};
use bower_core::request::moving::{ExportRequest, ImportRequest};
use bower_core::request::{
    CurateRequest, Curated, ForgetRequest, Forgetting, MaintenanceRequest, PairRequest, QueryRequest,
    Selection, SettledPair,
};
use jiff::SignedDuration;

use crate::place::{Place, contents, keep, now};

fn request(content: &str) -> CurateRequest {
    CurateRequest { gate: Some(Gate::Off), ..CurateRequest::new(content) }
}

fn tell(engine: &Engine, request: &CurateRequest) -> Curated {
    engine.curate(&Visibility::everything(), request, now()).unwrap()
}

fn replacing(content: &str, id: &str) -> CurateRequest {
    CurateRequest { replaces: Some(id.into()), ..request(content) }
}

fn confirming(content: &str, id: &str) -> CurateRequest {
    CurateRequest { confirms: Some(id.into()), ..request(content) }
}

fn settle(engine: &Engine, id: &str, other: &str, ruling: PairRuling) -> Result<SettledPair, Error> {
    let request = PairRequest { id: id.into(), other: other.into(), ruling };
    engine.settle_pair(&Visibility::everything(), &request, now())
}

fn ask(engine: &Engine, text: &str) -> Vec<String> {
    let request = QueryRequest { text: text.into(), ..QueryRequest::default() };
    let answer = engine.query(&Visibility::everything(), &request, now()).unwrap();
    contents(&answer).into_iter().map(str::to_owned).collect()
}

/// A language model that gives one answer, and counts how often it is asked.
struct Answers(&'static str, Arc<AtomicUsize>);

impl Llm for Answers {
    fn model(&self) -> &'static str {
        "answers"
    }

    fn complete(&self, ask: &Ask, _: Duration) -> Result<Completion, NoAnswer> {
        assert!(ask.user.as_str().starts_with("Notes:\n[1] Kim's tea on weekdays"), "{}", ask.user.as_str());
        self.1.fetch_add(1, Ordering::Relaxed);
        match self.0 {
            "" => Err(NoAnswer { reason: "model answers: no answer".into(), may_be_billed: false }),
            answer => Ok(Completion { text: answer.to_owned(), ..Completion::default() }),
        }
    }
}

#[test]
fn a_language_model_settles_what_nobody_did_and_undo_takes_it_back() {
    let check = |answer: &'static str, expected: [usize; 5], statuses: [Status; 2]| {
        let settings = Settings { llm_settle: 5, ..Place::new().settings.clone() };
        let place = Place::with(settings);
        let asked = Arc::new(AtomicUsize::new(0));
        let engine = place.open().with_llm(Box::new(Answers(answer, Arc::clone(&asked))));
        let old = keep(&engine, "Kim's tea on weekdays is oolong from the shop at the corner.");
        let new = tell(&engine, &request("Kim's tea on weekends is sencha from the shop at the corner."));
        let new = new.id.unwrap();
        let maintain = |hours| {
            let at = now() + SignedDuration::from_hours(hours);
            engine.run_maintenance(&MaintenanceRequest::default(), at).settled.unwrap()
        };
        assert_eq!(
            (maintain(1).events.len(), asked.load(Ordering::Relaxed)),
            (0, 0),
            "the caller has an hour"
        );
        let done = maintain(2);
        let counts = [done.replaced, done.confirmed, done.different, done.unread, done.failed];
        assert_eq!((counts, done.model.as_str()), (expected, "answers"), "{answer}");
        let statuses_now = || [status(&engine, &old), status(&engine, &new)];
        assert_eq!(statuses_now(), statuses, "{answer}");
        assert_eq!(maintain(3).events.len(), 0, "it is settled once");
        // What cannot be read is asked once more, and then never again.
        let times = if done.failed + done.unread > 0 { 2 } else { 1 };
        assert_eq!(asked.load(Ordering::Relaxed), times, "{answer}: only a failure is asked again");
        assert_eq!(done.failure.is_some(), done.failed > 0);
        for event in done.events {
            engine.undo(&Visibility::everything(), event, now()).unwrap();
            assert_eq!(statuses_now(), [Status::Active; 2], "{answer}");
        }
    };
    check("replaces", [1, 0, 0, 0, 0], [Status::Superseded, Status::Active]);
    check("Repeats.", [0, 1, 0, 0, 0], [Status::Active, Status::Variant]);
    check("both", [0, 0, 1, 0, 0], [Status::Active; 2]);
    check(r#"{"ruling": "replaces"}"#, [1, 0, 0, 0, 0], [Status::Superseded, Status::Active]);
    check(r#"{"ruling": "perhaps"}"#, [0, 0, 0, 1, 0], [Status::Active; 2]);
    check("It may replace it.", [0, 0, 0, 1, 0], [Status::Active; 2]);
    check("", [0, 0, 0, 0, 1], [Status::Active; 2]);
}

#[test]
fn a_language_model_ends_nothing_with_words_from_outside() {
    let settings = Settings { llm_settle: 5, ..Place::new().settings.clone() };
    let place = Place::with(settings);
    let asked = Arc::new(AtomicUsize::new(0));
    let engine = place.open().with_llm(Box::new(Answers("replaces", Arc::clone(&asked))));
    let old = keep(&engine, "Kim's tea on weekdays is oolong from the shop at the corner.");
    let from_web = CurateRequest {
        said_by: Author::Web,
        ..request("Kim's tea on weekends is sencha from the shop at the corner.")
    };
    assert_eq!(tell(&engine, &from_web).possible.len(), 1);
    let at = now() + SignedDuration::from_hours(2);
    let done = engine.run_maintenance(&MaintenanceRequest::default(), at).settled.unwrap();
    assert_eq!(
        (done.events.len(), asked.load(Ordering::Relaxed), status(&engine, &old)),
        (0, 0, Status::Active)
    );
}

fn status(engine: &Engine, id: &str) -> Status {
    engine.get(&Visibility::everything(), id).unwrap().status
}

#[test]
fn what_a_text_may_replace_is_named_kept_and_settled() {
    let place = Place::new();
    let engine = place.open();
    let old = keep(&engine, "Kim's tea on weekdays is oolong from the shop at the corner.");
    let new = tell(&engine, &request("Kim's tea on weekends is sencha from the shop at the corner."));
    assert_eq!(new.outcome, CurateOutcome::Link);
    let named: Vec<_> = new.possible.iter().map(|one| (one.id.as_str(), one.why.as_str())).collect();
    assert_eq!(named, [(old.as_str(), "perhaps an earlier value of the same thing")]);
    assert!(new.possible[0].likelihood > 0.2 && new.possible[0].likelihood < 1.0);
    let id = new.id.unwrap();
    let list = |engine: &Engine| {
        engine.list(&Visibility::everything(), &Selection::default(), 9, 0).unwrap().possible
    };
    assert_eq!(list(&engine)[&id][0].id, old);

    let settled = settle(&engine, &id, &old, PairRuling::DifferentFrom).unwrap();
    assert!(settled.event.is_some() && list(&engine).is_empty());
    assert_eq!(settle(&engine, &id, &old, PairRuling::DifferentFrom).unwrap().event, None, "said again");
    engine.undo(&Visibility::everything(), settled.event.unwrap(), now()).unwrap();
    assert_eq!(list(&engine)[&id][0].id, old);

    // Said at once, the two are not compared: the same text in another store is no longer linked.
    let place = Place::new();
    let engine = place.open();
    let old = keep(&engine, "Kim's tea on weekdays is oolong from the shop at the corner.");
    let new = tell(
        &engine,
        &CurateRequest {
            different_from: vec![old],
            ..request("Kim's tea on weekends is sencha from the shop at the corner.")
        },
    );
    assert_eq!((new.outcome, new.possible.len(), new.other), (CurateOutcome::Create, 0, None));
}

#[test]
fn the_callers_word_beats_every_rule() {
    let place = Place::new();
    let engine = place.open();
    let old = tell(&engine, &CurateRequest { pinned: true, ..request("The harbour gate is painted green.") });
    let old = old.id.unwrap();
    let new = tell(&engine, &replacing("Visitors find a red door at the quay.", &old[..8]));
    assert_eq!((new.outcome, new.is_update), (CurateOutcome::Supersede, true));
    assert_eq!(new.other.as_ref().map(|other| other.id.as_str()), Some(old.as_str()));
    let id = new.id.unwrap();
    assert_eq!((status(&engine, &old), status(&engine, &id)), (Status::Superseded, Status::Active));

    // A superseded one is named with its successor, and nothing is kept.
    let before = engine.last_change().unwrap();
    let refused = engine
        .curate(&Visibility::everything(), &replacing("It is blue by now.", &old), now())
        .unwrap_err()
        .to_string();
    assert!(refused.contains(&id), "{refused}");
    let both = CurateRequest { confirms: Some(id.clone()), ..replacing("It is blue by now.", &id) };
    assert!(matches!(engine.curate(&Visibility::everything(), &both, now()), Err(Error::Invalid { .. })));
    // Nor one that is unknown, or of another namespace.
    let elsewhere =
        CurateRequest { scope: Scope::Agent, owner: Some("ann".into()), ..request("Ann likes tea.") };
    let elsewhere = tell(&engine, &elsewhere).id.unwrap();
    let before = engine.last_change().unwrap().max(before);
    for id in ["0123456789abcdef", &elsewhere] {
        for request in [replacing("It is blue by now.", id), confirming("It is blue by now.", id)] {
            let refused = engine.curate(&Visibility::everything(), &request, now());
            assert!(matches!(refused, Err(Error::NotFound { .. })), "{refused:?}");
        }
        assert!(settle(&engine, id, id, PairRuling::Confirms).is_err());
    }
    let ann = Visibility { owner: Some("ann".into()), scope: Some(Scope::Agent), ..Visibility::everything() };
    let hers =
        CurateRequest { scope: Scope::Agent, owner: Some("ann".into()), ..replacing("Ann likes rum.", &id) };
    assert!(matches!(engine.curate(&ann, &hers, now()), Err(Error::NotFound { .. })), "she does not see it");
    assert_eq!(engine.last_change().unwrap(), before);
}

#[test]
fn another_wording_is_kept_and_finds_its_memory_alone() {
    let place = Place::new();
    let engine = place.open();
    let memory = keep(&engine, "The deploy window is on Friday night.");
    keep(&engine, "The canteen closes at three.");
    let counts = |engine: &Engine| engine.status(&Visibility::everything()).unwrap().total_memories;
    assert_eq!(counts(&engine), 2);
    let told = tell(&engine, &confirming("Releases leave right after the zephyr handover.", &memory));
    assert_eq!((told.outcome, told.id.as_deref()), (CurateOutcome::Confirm, Some(memory.as_str())));
    assert_eq!(counts(&engine), 2);
    let check = |engine: &Engine| {
        assert_eq!(ask(engine, "zephyr handover")[0], "The deploy window is on Friday night.");
        let request = QueryRequest { text: "zephyr".into(), fast: true, ..QueryRequest::default() };
        let answer = engine.query(&Visibility::everything(), &request, now()).unwrap();
        assert_eq!(contents(&answer), ["The deploy window is on Friday night."]);
        let factors: Vec<_> = answer.hits[0].factors.iter().map(|one| one.name).collect();
        assert!(factors.contains(&"found by another wording"), "{factors:?}");
        // Its own words find it once, by themselves.
        assert_eq!(ask(engine, "when is the deploy window, and the zephyr handover").len(), 2);
    };
    check(&engine);
    // In an index of its own, and read by another process.
    engine.maintain(now()).unwrap();
    engine.compact(bower_core::request::CompactWhen::Always).unwrap();
    check(&engine);
    check(&place.open());
    // A filter that the memory passes finds it, another one does not.
    let find = |select: Selection| {
        let request = QueryRequest { text: "zephyr".into(), fast: true, select, ..QueryRequest::default() };
        engine.query(&Visibility::everything(), &request, now()).unwrap().hits.len()
    };
    assert_eq!(find(Selection { scope: Some(Scope::Project), ..Selection::default() }), 1);
    assert_eq!(find(Selection { tags: vec!["other".into()], ..Selection::default() }), 0);

    let history = engine.history(&Visibility::everything(), &memory).unwrap();
    let wordings: Vec<_> = history.wordings.iter().map(|one| (one.text.as_str(), one.of.as_str())).collect();
    assert_eq!(wordings, [("Releases leave right after the zephyr handover.", memory.as_str())]);

    // Said again, with another form, it is the same wording; a rule needs no help for it.
    let again = tell(&engine, &request("releases leave right after the  zephyr handover"));
    assert_eq!((again.outcome, again.id.as_deref()), (CurateOutcome::Confirm, Some(memory.as_str())));
    assert_eq!(engine.history(&Visibility::everything(), &memory).unwrap().wordings.len(), 1);

    // It goes with its memory.
    let new = tell(&engine, &replacing("The deploy window is on Monday.", &memory)).id.unwrap();
    assert_eq!(ask(&engine, "zephyr").iter().filter(|text| text.contains("Friday")).count(), 0);
    engine
        .undo(
            &Visibility::everything(),
            engine.history(&Visibility::everything(), &new).unwrap().history.last().unwrap().event,
            now(),
        )
        .unwrap();
    let forget = Forgetting { what: ForgetRequest::Ids(vec![memory]), keep_derived: false, dry_run: false };
    let forgotten = engine.forget(&Visibility::everything(), &forget, now()).unwrap();
    assert_eq!((forgotten.receipt.memories, forgotten.receipt.wordings), (1, 1));
    assert!(forgotten.erased.unwrap().complete);
    for file in walk(&place.home()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(6).any(|part| part.eq_ignore_ascii_case(b"zephyr")), "{}", file.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn a_rule_that_confirms_keeps_the_words_too() {
    let place = Place::new();
    let engine = place.open();
    let memory = keep(&engine, "Billing's database is PostgreSQL.");
    let told = tell(&engine, &request("The database of billing is PostgreSQL."));
    assert_eq!((told.outcome, told.id.as_deref()), (CurateOutcome::Confirm, Some(memory.as_str())));
    let wordings = |engine: &Engine| engine.history(&Visibility::everything(), &memory).unwrap().wordings;
    assert_eq!(wordings(&engine).len(), 1);
    assert_eq!(wordings(&engine)[0].text, "The database of billing is PostgreSQL.");
    // Only another form of the same text is no wording.
    tell(&engine, &request("billing's  database is postgresql"));
    assert_eq!(wordings(&engine).len(), 1);
    // Undo of the confirmation removes it.
    let history = engine.history(&Visibility::everything(), &memory).unwrap().history;
    let first = history.iter().find(|event| event.action == "confirm").unwrap().event;
    let undone = engine.undo(&Visibility::everything(), first, now()).unwrap();
    assert_eq!(undone.unmoved, []);
    assert_eq!(wordings(&engine), []);
}

#[test]
fn exports_carry_wordings_and_imports_bring_them_back() {
    let place = Place::new();
    let engine = place.open();
    let memory = keep(&engine, "The deploy window is on Friday night.");
    tell(&engine, &confirming("Releases leave right after the zephyr handover.", &memory));
    let mut lines = Vec::new();
    let request = ExportRequest::default();
    let exported = engine
        .export_lines(&Visibility::everything(), &request, &mut lines, std::path::Path::new("x"), now())
        .unwrap();
    assert_eq!((exported.memories, exported.relations), (1, 1));
    let folder = place.notes().join("out");
    let as_files = engine.export_folder(&Visibility::everything(), &request, &folder).unwrap();
    assert_eq!((as_files.memories, as_files.wordings), (1, 1));

    let other = Place::new();
    let engine = other.open();
    let request = ImportRequest::default();
    let mut import = engine.import(&Visibility::everything(), request, now(), &|_| {}).unwrap();
    import.file("x.jsonl", std::io::Cursor::new(lines)).unwrap();
    import.finish().unwrap();
    assert_eq!(ask(&engine, "zephyr handover"), ["The deploy window is on Friday night."]);
    assert_eq!(engine.history(&Visibility::everything(), &memory).unwrap().wordings.len(), 1);
}
