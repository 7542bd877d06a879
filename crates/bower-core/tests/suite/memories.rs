//! Tests of the life of a memory end to end, with the real model: what becomes of a text, and the past.

use bower_core::engine::Engine;
use bower_core::item::{Author, CurateOutcome, Gate, MemoryType, Status, Visibility};
use bower_core::request::{
    Clocks, CurateRequest, Curated, ForgetRequest, Forgetting, QueryRequest, ReviewsRequest, Selection,
    Settlement, ToldTurn, TurnsRequest,
};
use jiff::{SignedDuration, Timestamp};

use crate::place::{Place, contents, now};

fn day(n: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * n)
}

fn tell(engine: &Engine, text: &str, at: Timestamp) -> Curated {
    engine.curate(&Visibility::everything(), &CurateRequest::new(text), at).unwrap()
}

fn ask(engine: &Engine, text: &str, clocks: Clocks) -> Vec<String> {
    let select = Selection { clocks, ..Selection::default() };
    let request = QueryRequest { text: text.into(), select, ..QueryRequest::default() };
    let answer = engine.query(&Visibility::everything(), &request, day(100)).unwrap();
    contents(&answer).into_iter().map(Into::into).collect()
}

#[test]
fn another_value_takes_the_place_of_the_one_before_and_both_stay_in_the_history() {
    let place = Place::new();
    let engine = place.open();
    let first = tell(&engine, "The API port is 8080.", day(0));
    assert_eq!((first.outcome, first.accepted, first.is_update), (CurateOutcome::Create, true, false));
    let second = tell(&engine, "The API port is 9090", day(5));
    let other = second.other.clone().unwrap();
    assert_eq!((second.outcome, Some(&other.id)), (CurateOutcome::Supersede, first.id.as_ref()));
    assert_eq!(other.why, "8080 -> 9090");
    // It goes back: the same words as at first are a memory of their own.
    let third = tell(&engine, "The API port is 8080.", day(9));
    assert_eq!(
        (third.outcome, third.other.clone().unwrap().id),
        (CurateOutcome::Supersede, second.id.clone().unwrap())
    );
    assert_ne!(third.id, first.id);

    assert_eq!(ask(&engine, "which port has the API?", Clocks::default()), ["The API port is 8080."]);
    for id in [&first.id, &second.id, &third.id] {
        let history = engine.history(&Visibility::everything(), id.as_deref().unwrap()).unwrap();
        let forms: Vec<_> = history.chain.iter().map(|form| form.memory.content.as_str()).collect();
        assert_eq!(forms, ["The API port is 8080.", "The API port is 9090", "The API port is 8080."]);
        let changed: Vec<_> = history.chain.iter().map(|form| form.changed.as_deref()).collect();
        assert_eq!(changed, [None, Some("8080 -> 9090"), Some("9090 -> 8080")]);
        let actions: Vec<_> = history.history.iter().map(|event| event.action.as_str()).collect();
        assert_eq!(
            actions,
            ["curate", "curate", "superseded", "supersede", "curate", "superseded", "supersede"]
        );
        assert!(history.history.iter().all(|event| !event.detail.to_string().contains("8080")));
    }

    // Where all are asked for, each stands below what replaced it, and says so.
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    let all = QueryRequest { text: "which port has the API?".into(), select, ..QueryRequest::default() };
    let hits = engine.query(&Visibility::everything(), &all, day(100)).unwrap().hits;
    let by: Vec<_> = hits.iter().map(|hit| (&hit.memory.id, hit.memory.superseded_by_id.as_ref())).collect();
    let [first, second, third] = [&first, &second, &third].map(|told| told.id.as_ref().unwrap());
    assert_eq!(by, [(third, None), (second, Some(third)), (first, Some(second))]);

    let past = |as_of: Option<i64>, valid_at: Option<i64>| {
        let clocks = Clocks { as_of: as_of.map(day), valid_at: valid_at.map(day) };
        ask(&engine, "which port has the API?", clocks)
    };
    assert_eq!(past(Some(6), None), ["The API port is 9090"]);
    assert_eq!(past(None, Some(7)), ["The API port is 9090"]);
    assert_eq!(past(Some(6), Some(3)), ["The API port is 8080."]);
    assert_eq!(past(Some(-1), None), Vec::<String>::new());
}

#[test]
fn what_is_said_again_is_confirmed_and_what_differs_stays_beside() {
    let place = Place::new();
    let engine = place.open();
    let first = tell(&engine, "Server web-041 has 16 GB of memory.", day(0));
    let again = tell(&engine, "server web-041 has 16 GB of memory", day(1));
    assert_eq!((again.outcome, &again.id, again.is_update), (CurateOutcome::Confirm, &first.id, true));
    let twin = tell(&engine, "Server web-042 has 16 GB of memory.", day(2));
    assert!(matches!(twin.outcome, CurateOutcome::Create | CurateOutcome::Link), "{twin:?}");
    let item = engine.get(&Visibility::everything(), first.id.as_deref().unwrap()).unwrap();
    assert_eq!(item.status, Status::Active);
    assert!((item.confidence - 0.55).abs() < 1e-6, "one observation more: {}", item.confidence);
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total, 2);

    // Whose it is, and where, keeps things apart.
    let theirs = CurateRequest {
        owner: Some("ann".into()),
        ..CurateRequest::new("Server web-041 has 32 GB of memory.")
    };
    assert_eq!(
        engine.curate(&Visibility::everything(), &theirs, day(3)).unwrap().outcome,
        CurateOutcome::Create
    );
    let elsewhere = CurateRequest {
        collection: Some("lab".into()),
        ..CurateRequest::new("Server web-041 has 64 GB of memory.")
    };
    assert_eq!(
        engine.curate(&Visibility::everything(), &elsewhere, day(3)).unwrap().outcome,
        CurateOutcome::Create
    );
}

#[test]
fn what_is_no_memory_is_refused_with_a_reason_and_secrets_are_cut_out() {
    let place = Place::new();
    let engine = place.open();
    let refused = tell(&engine, "ok, thanks!", day(0));
    assert_eq!((refused.outcome, refused.accepted, refused.id), (CurateOutcome::Refuse, false, None));
    assert!(refused.reason.unwrap().contains("what is to be remembered"));
    let open = CurateRequest { gate: Some(Gate::Off), ..CurateRequest::new("ok, thanks!") };
    assert!(engine.curate(&Visibility::everything(), &open, day(0)).unwrap().accepted);

    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let told =
        tell(&engine, &format!("The release bot pushes with the token {key} from the vault of ops."), day(0));
    assert!(told.accepted && !told.redacted.is_empty(), "{told:?}");
    let kept = engine.get(&Visibility::everything(), told.id.as_deref().unwrap()).unwrap();
    assert!(!kept.content.contains(&key) && kept.content.contains("[redacted"), "{}", kept.content);
    let mut files = vec![place.home()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn what_the_store_said_is_no_news_in_any_process() {
    let place = Place::new();
    let engine = place.open();
    tell(&engine, "The nightly export of the warehouse starts at 02:30 and takes forty minutes.", day(0));
    let question = QueryRequest { text: "when does the export start?".into(), ..QueryRequest::default() };
    engine.query(&Visibility::everything(), &question, day(1)).unwrap();
    let echo =
        "According to memory: the nightly export of the warehouse starts at 02:30 and takes forty minutes.";
    let told = tell(&engine, echo, day(1));
    assert_eq!((told.outcome, told.accepted), (CurateOutcome::Refuse, false), "{told:?}");
    engine.maintain(day(1)).unwrap();
    let other = place.open();
    assert_eq!(tell(&other, echo, day(1)).outcome, CurateOutcome::Refuse);
    // Word for word it is the memory itself; it may get a tag, and is no surer for it.
    let text = "The nightly export of the warehouse starts at 02:30 and takes forty minutes.";
    let tagged = CurateRequest { tags: vec!["etl".into()], ..CurateRequest::new(text) };
    let told = other.curate(&Visibility::everything(), &tagged, day(1)).unwrap();
    let item = other.get(&Visibility::everything(), told.id.as_deref().unwrap()).unwrap();
    assert_eq!(
        (told.outcome, item.tags, item.confidence),
        (CurateOutcome::Confirm, vec!["etl".to_owned()], 0.5)
    );
    // One digit more than what was said is news.
    let news = echo.replace("02:30", "03:30").replace("According to memory: t", "T");
    assert_ne!(tell(&other, &news, day(1)).outcome, CurateOutcome::Refuse);
}

#[test]
fn a_contradiction_that_nothing_settles_is_reviewed() {
    let place = Place::new();
    let engine = place.open();
    let first = tell(&engine, "Invoices are deleted when a customer leaves.", day(0));
    let second = tell(&engine, "Invoices are not deleted when a customer leaves.", day(1));
    assert_eq!((second.outcome, second.review), (CurateOutcome::Contradict, Some(1)), "{second:?}");
    assert_eq!(
        engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total,
        2,
        "both stay"
    );
    let open = engine.reviews(&Visibility::everything(), &ReviewsRequest::default()).unwrap();
    assert_eq!(
        (open.len(), &open[0].newer.id, &open[0].older.id),
        (1, second.id.as_ref().unwrap(), first.id.as_ref().unwrap())
    );

    let text = "Invoices are kept for ten years, whether or not a customer leaves.";
    let how = Settlement::Merge { text: text.into(), said_by: Author::User };
    let settled = engine.settle(&Visibility::everything(), 1, &how, day(2)).unwrap();
    assert_eq!(settled.merged.unwrap().content, text);
    let seen = engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap();
    assert_eq!(seen.memories.iter().map(|item| item.content.as_str()).collect::<Vec<_>>(), [text]);
    assert_eq!(
        engine.history(&Visibility::everything(), first.id.as_deref().unwrap()).unwrap().chain.len(),
        3
    );
    assert!(
        engine.settle(&Visibility::everything(), 1, &Settlement::Accept, day(3)).is_err()
            && engine.reviews(&Visibility::everything(), &ReviewsRequest::default()).unwrap().is_empty()
    );
    assert_eq!(engine.reviews(&Visibility::everything(), &ReviewsRequest { all: true }).unwrap().len(), 1);

    // A week later somebody decides all the same: only another value replaces by itself.
    let late = tell(&engine, "Backups are encrypted before they leave the building.", day(10));
    let newer = tell(&engine, "Backups are not encrypted before they leave the building.", day(17));
    assert_eq!((newer.outcome, newer.other.unwrap().id), (CurateOutcome::Contradict, late.id.unwrap()));
}

#[test]
fn a_forgotten_form_leaves_the_others_and_no_words_in_the_history() {
    let place = Place::new();
    let engine = place.open();
    let first = tell(&engine, "The API port is 8080.", day(0)).id.unwrap();
    let second = tell(&engine, "The API port is 9090", day(1)).id.unwrap();
    engine
        .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![second.clone()])), day(2))
        .unwrap();
    let history = engine.history(&Visibility::everything(), &second).unwrap();
    assert!(history.chain.is_empty() && !serde_json::to_string(&history).unwrap().contains("9090"));
    let rest = engine.history(&Visibility::everything(), &first).unwrap();
    assert_eq!(rest.chain.len(), 1);
    assert_eq!(rest.chain[0].changed, None);
    // What it had replaced does not come back by itself.
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 10, 0).unwrap().total, 0);
}

#[test]
fn a_memory_is_judged_by_its_text_unless_somebody_says() {
    let place = Place::without_model();
    let engine = place.open();
    let decision = CurateRequest {
        memory_type: Some(MemoryType::Decision),
        ..CurateRequest::new("We decided to keep invoices in PostgreSQL because of its row locks.")
    };
    let decision = engine.curate(&Visibility::everything(), &decision, day(0)).unwrap();
    assert_eq!(decision.memory_type, MemoryType::Decision);
    assert_eq!(tell(&engine, "We decided to eat at noon.", day(0)).memory_type, MemoryType::Fact);
    let item = engine.get(&Visibility::everything(), decision.id.as_deref().unwrap()).unwrap();
    assert!(item.keywords.contains(&"postgresql".to_owned()), "{:?}", item.keywords);
    assert!(item.importance > 0.3, "{}", item.importance);
    let told = CurateRequest {
        memory_type: Some(MemoryType::Episode),
        ..CurateRequest::new("We decided to eat at one.")
    };
    assert_eq!(
        engine.curate(&Visibility::everything(), &told, day(0)).unwrap().memory_type,
        MemoryType::Episode
    );
    assert_eq!(decision.degraded.len(), 1, "without a model only words are compared");
    let again = tell(&engine, "we decided to keep invoices in postgresql because of its row locks", day(1));
    assert_eq!(again.outcome, CurateOutcome::Confirm);
}

/// A turn that is kept is not looked through again, so what is worth keeping in it is kept before.
#[test]
fn a_turn_is_kept_after_what_is_worth_keeping_in_it() {
    let place = Place::new();
    let engine = place.open();
    let turn = ToldTurn {
        speaker: "user".into(),
        text: "From now on we use pnpm, not npm.".into(),
        ..ToldTurn::default()
    };
    let request = TurnsRequest {
        conversation: "c1".into(),
        turns: vec![turn],
        origin: "agent",
        ..TurnsRequest::default()
    };
    let read = engine.keep_turns(&Visibility::everything(), &request, day(0)).unwrap();
    assert_eq!((read.turns, read.kept.len(), read.degraded.len()), (1, 1, 0), "{read:?}");
    let changes = engine.changes_after(&Visibility::everything(), 0, 10).unwrap().0;
    let actions: Vec<&str> =
        changes.iter().flat_map(|change| change.actions.keys()).map(String::as_str).collect();
    assert_eq!(actions, ["curate", "index"]);
    let again = engine.keep_turns(&Visibility::everything(), &request, day(1)).unwrap();
    assert_eq!((again.turns, again.known, again.kept.len()), (0, 1, 0), "{again:?}");
}

/// Many processes write to one place at once: each chain has one head, and nothing that was acknowledged is missing.
#[test]
fn writers_at_once_make_no_fork() {
    let place = Place::without_model();
    drop(place.open());
    std::thread::scope(|threads| {
        for writer in 0..4 {
            let place = &place;
            threads.spawn(move || {
                let engine = place.open();
                for n in 0..12 {
                    let port = 1_000 + 100 * n + writer;
                    let told = tell(&engine, &format!("The API listens on port {port}."), day(n));
                    assert!(
                        told.accepted
                            && engine.get(&Visibility::everything(), told.id.as_deref().unwrap()).is_ok(),
                        "{told:?}"
                    );
                }
            });
        }
    });
    let engine = place.open();
    let seen = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap();
    assert_eq!(seen.total, 1, "{:?}", seen.memories.iter().map(|item| &item.content).collect::<Vec<_>>());
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    assert!(checks[0].detail.contains("every page is sound"), "{checks:?}");
}
