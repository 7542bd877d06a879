//! Tests of memory maintenance end to end: fading, archives, patterns, feedback and undo.
//! They cover what time, use and people's words do to memories.

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{Author, Gate, MemoryType, Scope, Status, Tier, Turn, Verdict, Visibility};
use bower_core::request::{
    ConsolidateRequest, CurateRequest, Curated, ForgetRequest, Forgetting, Pinning, PruneRequest, Pruned,
    QueryRequest, ReviewsRequest, Selection, Settlement, SweepRequest, Swept,
};
use jiff::{SignedDuration, Timestamp};

use crate::place::{Place, Random, contents, now};

fn day(n: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * n)
}

fn tell(engine: &Engine, text: &str, memory_type: MemoryType, at: Timestamp) -> Curated {
    let request =
        CurateRequest { memory_type: Some(memory_type), gate: Some(Gate::Off), ..CurateRequest::new(text) };
    engine.curate(&Visibility::everything(), &request, at).unwrap()
}

/// Sweeps a day after a first sweep, which only marks where nobody used the store for a month.
fn sweep_at(engine: &Engine, at: Timestamp) -> Swept {
    let before = at - SignedDuration::from_hours(24);
    if engine
        .sweep(&Visibility::everything(), &SweepRequest { dry_run: true }, before)
        .unwrap()
        .clock_jump
        .is_some()
    {
        assert_eq!(
            engine.sweep(&Visibility::everything(), &SweepRequest::default(), before).unwrap().turned,
            []
        );
    }
    engine.sweep(&Visibility::everything(), &SweepRequest::default(), at).unwrap()
}

fn prune_at(engine: &Engine, at: Timestamp) -> Pruned {
    let before = at - SignedDuration::from_hours(24);
    if engine
        .prune(&Visibility::everything(), &PruneRequest { threshold: 0.05, dry_run: true }, before)
        .unwrap()
        .clock_jump
        .is_some()
    {
        assert_eq!(
            engine
                .prune(&Visibility::everything(), &PruneRequest { threshold: 0.05, dry_run: false }, before)
                .unwrap()
                .turned,
            []
        );
    }
    engine.prune(&Visibility::everything(), &PruneRequest { threshold: 0.05, dry_run: false }, at).unwrap()
}

fn ask(engine: &Engine, text: &str, at: Timestamp) -> Vec<String> {
    let answer = engine
        .query(&Visibility::everything(), &QueryRequest { text: text.into(), ..QueryRequest::default() }, at)
        .unwrap();
    contents(&answer).into_iter().map(Into::into).collect()
}

#[test]
fn what_nobody_uses_fades_leaves_answers_and_comes_back() {
    let place = Place::without_model();
    let engine = place.open();
    let fact = tell(&engine, "The garden gate squeaks in the rain", MemoryType::Fact, day(0)).id.unwrap();
    let rule = tell(&engine, "Always water the garden at dawn", MemoryType::Convention, day(0)).id.unwrap();
    assert!(sweep_at(&engine, day(89)).turned.is_empty());

    let would = engine.sweep(&Visibility::everything(), &SweepRequest { dry_run: true }, day(91)).unwrap();
    assert_eq!((would.demoted, would.event, would.turned[0].id.clone()), (1, None, fact.clone()));
    assert_eq!(engine.get(&Visibility::everything(), &fact).unwrap().tier, Tier::Active, "only looked at");
    assert_eq!(sweep_at(&engine, day(91)).demoted, 1);
    assert_eq!(sweep_at(&engine, day(91)).turned, [], "it is done");
    assert_eq!(engine.get(&Visibility::everything(), &fact).unwrap().tier, Tier::Fading);

    // Opened, it is in use again.
    engine.note_used(
        &Visibility::everything(),
        &engine.get(&Visibility::everything(), &fact).unwrap(),
        day(92),
    );
    engine.keep_given(day(92)).unwrap();
    assert_eq!(sweep_at(&engine, day(93)).raised, 1);
    assert_eq!(sweep_at(&engine, day(184)).demoted, 1);
    let swept = sweep_at(&engine, day(273));
    assert_eq!((swept.archived, swept.turned[0].turn), (1, Turn::Archive));
    assert_eq!(ask(&engine, "garden gate", day(273)), ["Always water the garden at dawn"]);
    assert_eq!(
        engine.get(&Visibility::everything(), &rule).unwrap().tier,
        Tier::Active,
        "conventions never fade"
    );

    let undone = engine.undo(&Visibility::everything(), swept.event.unwrap(), day(274)).unwrap();
    assert_eq!(undone.items, std::slice::from_ref(&fact));
    assert_eq!(ask(&engine, "garden gate", day(274)).len(), 2);
    let again =
        engine.undo(&Visibility::everything(), swept.event.unwrap(), day(274)).unwrap_err().to_string();
    assert!(again.contains("it changed since"), "{again}");

    sweep_at(&engine, day(275));
    assert_eq!(engine.get(&Visibility::everything(), &fact).unwrap().status, Status::Archived);
    tell(&engine, "The garden gate squeaks in the rain", MemoryType::Fact, day(276));
    assert_eq!(engine.get(&Visibility::everything(), &fact).unwrap().status, Status::Active, "told again");
    let actions: Vec<String> = engine
        .history(&Visibility::everything(), &fact)
        .unwrap()
        .history
        .into_iter()
        .map(|event| event.action)
        .collect();
    assert_eq!(actions, ["curate", "demote", "raise", "demote", "archive", "undo", "archive", "confirm"]);
}

#[test]
fn the_weak_are_pruned_and_the_pinned_and_the_decided_are_not() {
    let place = Place::without_model();
    let engine = place.open();
    let ids: Vec<String> = [MemoryType::Fact, MemoryType::Decision, MemoryType::Fact]
        .into_iter()
        .zip(["The old printer jams", "We chose the blue paint", "The spare key is under the pot"])
        .map(|(memory_type, text)| tell(&engine, text, memory_type, day(0)).id.unwrap())
        .collect();
    assert_eq!(
        engine.pin(&Visibility::everything(), &ids[2], Pinning::Pin, day(1)).unwrap().tier,
        Tier::Pinned
    );
    let would = engine
        .prune(&Visibility::everything(), &PruneRequest { threshold: 0.05, dry_run: true }, day(3_000))
        .unwrap();
    assert_eq!((would.pruned, would.remaining, would.event), (1, 2, None));
    assert_eq!((would.turned[0].id.as_str(), would.turned[0].strength < 0.05), (ids[0].as_str(), true));
    let pruned = prune_at(&engine, day(3_000));
    assert_eq!((pruned.pruned, pruned.remaining), (1, 2));
    assert_eq!(prune_at(&engine, day(3_000)).pruned, 0);
    assert_eq!(engine.get(&Visibility::everything(), &ids[0]).unwrap().status, Status::Archived);
    engine.undo(&Visibility::everything(), pruned.event.unwrap(), day(3_001)).unwrap();
    assert_eq!(engine.get(&Visibility::everything(), &ids[0]).unwrap().status, Status::Active);
    assert!(
        engine
            .prune(&Visibility::everything(), &PruneRequest { threshold: 1.5, dry_run: true }, day(1))
            .unwrap_err()
            .to_string()
            .contains("use 0 to 1")
    );
    assert_eq!(
        engine.pin(&Visibility::everything(), &ids[2], Pinning::Unpin, day(1)).unwrap().tier,
        Tier::Active
    );
}

#[test]
fn a_scope_keeps_its_limit_as_far_as_its_memories_fade() {
    let place = Place::with(Settings { model: "none".into(), limit_mission: 2, ..Settings::default() });
    let engine = place.open();
    let told = |text: &str, at: Timestamp| {
        let request =
            CurateRequest { scope: Scope::Mission, gate: Some(Gate::Off), ..CurateRequest::new(text) };
        engine.curate(&Visibility::everything(), &request, at).unwrap().id.unwrap()
    };
    let old: Vec<String> = ["Crate one is red", "Crate two is green", "Crate three is blue"]
        .map(|text| told(text, day(0)))
        .to_vec();
    sweep_at(&engine, day(95));
    told("Crate four is yellow", day(96));
    let held = engine.status(&Visibility::everything()).unwrap().scopes;
    assert_eq!((held[0].scope, held[0].memories, held[0].limit), (Scope::Mission, 4, 2));
    let swept = sweep_at(&engine, day(96));
    assert_eq!(
        (swept.archived, swept.turned[0].why.as_str()),
        (2, "the weakest of a scope that is over its limit")
    );
    assert_eq!(
        old.iter()
            .filter(|id| engine.get(&Visibility::everything(), id).unwrap().status == Status::Active)
            .count(),
        1
    );
    assert!(engine.status(&Visibility::everything()).unwrap().last_runs.contains_key("sweep"));
}

#[test]
fn feedback_moves_confidence_and_what_is_stale_leaves_answers() {
    let place = Place::without_model();
    let engine = place.open();
    let id = tell(&engine, "The harbour office opens at nine", MemoryType::Fact, day(0)).id.unwrap();
    let useful = engine.feedback(&Visibility::everything(), &id, Verdict::Useful, day(1)).unwrap();
    assert!((useful.memory.confidence - 0.55).abs() < 1e-6 && useful.memory.access_count == 1, "{useful:?}");
    let wrong = engine.feedback(&Visibility::everything(), &id, Verdict::Wrong, day(2)).unwrap();
    assert!((wrong.memory.confidence - 0.3).abs() < 1e-6, "{wrong:?}");
    let wrong = engine.feedback(&Visibility::everything(), &id, Verdict::Wrong, day(2)).unwrap();
    assert_eq!(wrong.memory.status, Status::Candidate);
    engine.undo(&Visibility::everything(), wrong.event, day(3)).unwrap();
    let stale = engine.feedback(&Visibility::everything(), &id, Verdict::Stale, day(4)).unwrap();
    assert_eq!((stale.memory.status, stale.memory.valid_to), (Status::Archived, Some(day(4))));
    assert!(ask(&engine, "harbour office", day(5)).is_empty());
    // It was so, and is so again.
    tell(&engine, "The harbour office opens at nine", MemoryType::Fact, day(6));
    let back = engine.get(&Visibility::everything(), &id).unwrap();
    assert_eq!((back.status, back.valid_to), (Status::Active, None));
}

/// What an answer was sure of, asked by somebody, is a use; what was pushed is not.
#[test]
fn a_found_answer_is_used_and_a_pushed_one_is_only_given() {
    let place = Place::new();
    let engine = place.open();
    let id = tell(
        &engine,
        "The backup key of the harbour office hangs behind the blue door",
        MemoryType::Fact,
        day(0),
    )
    .id
    .unwrap();
    for n in 0..20 {
        tell(&engine, &format!("Boat {n} was painted in harbour {}", n * 7), MemoryType::Episode, day(0));
    }
    let question = "Where does the backup key of the harbour office hang?";
    let uses = || engine.get(&Visibility::everything(), &id).unwrap().access_count;
    let pushed = QueryRequest { text: question.into(), prefetch: true, ..QueryRequest::default() };
    engine.query(&Visibility::everything(), &pushed, day(1)).unwrap();
    engine.keep_given(day(1)).unwrap();
    assert_eq!(uses(), 0);
    let answer = engine
        .query(
            &Visibility::everything(),
            &QueryRequest { text: question.into(), ..QueryRequest::default() },
            day(1),
        )
        .unwrap();
    engine.keep_given(day(1)).unwrap();
    let sure =
        answer.hits.iter().any(|hit| hit.memory.id == id && hit.band == Some(bower_core::item::Band::High));
    assert_eq!(uses(), u64::from(sure), "{:?}", answer.hits[0].band);
}

#[test]
fn what_happened_again_and_again_becomes_a_pattern_and_other_facts_do_not() {
    let place = Place::new();
    let engine = place.open();
    let days = ["4 May", "11 May", "18 May", "25 May"];
    let ids: Vec<String> = days
        .iter()
        .zip(0..)
        .map(|(on, n)| {
            let text = format!("The nightly export of the ledger ran out of disk space on {on}");
            tell(&engine, &text, MemoryType::Episode, day(n)).id.unwrap()
        })
        .collect();
    for (name, port) in [("staging", 8_080), ("production", 9_090), ("development", 7_070)] {
        let text = format!("The port of the {name} server is {port}");
        tell(&engine, &text, MemoryType::Fact, day(9));
    }
    let look = ConsolidateRequest { dry_run: true, ..ConsolidateRequest::default() };
    let would = engine.consolidate(&Visibility::everything(), &look, day(10), &|| true).unwrap();
    assert_eq!((would.patterns_created, would.merged, would.compared), (1, 4, 7), "{would:?}");
    let stopped = engine
        .consolidate(&Visibility::everything(), &ConsolidateRequest::default(), day(10), &|| false)
        .unwrap();
    assert_eq!((stopped.merged, stopped.waiting), (0, 1), "nobody waits for it");
    let done = engine
        .consolidate(&Visibility::everything(), &ConsolidateRequest::default(), day(10), &|| true)
        .unwrap();
    let cluster = &done.clusters[0];
    assert_eq!(cluster.members, ids);
    assert!(days.iter().all(|on| cluster.content.contains(on)), "{}", cluster.content);
    let pattern = engine.get(&Visibility::everything(), cluster.pattern.as_ref().unwrap()).unwrap();
    assert_eq!(
        (pattern.memory_type, pattern.metadata["examples"].as_u64()),
        (Some(MemoryType::Pattern), Some(4))
    );
    assert_eq!(
        ask(&engine, "when did the ledger export run out of disk space?", day(11))[0],
        pattern.content
    );
    assert!(
        ids.iter().all(|id| engine.get(&Visibility::everything(), id).unwrap().status == Status::Archived)
    );
    assert_eq!(
        engine
            .consolidate(&Visibility::everything(), &ConsolidateRequest::default(), day(11), &|| true)
            .unwrap()
            .patterns_created,
        0
    );

    engine.undo(&Visibility::everything(), cluster.event.unwrap(), day(12)).unwrap();
    assert!(ids.iter().all(|id| engine.get(&Visibility::everything(), id).unwrap().status == Status::Active));
    assert_eq!(engine.get(&Visibility::everything(), &pattern.id).unwrap().status, Status::Archived);
    assert_eq!(
        engine
            .consolidate(&Visibility::everything(), &ConsolidateRequest::default(), day(13), &|| true)
            .unwrap()
            .merged,
        0,
        "it was taken back"
    );
}

/// Curates a fact of one of three things, which repeats, replaces or contradicts another as often as not.
fn curate_any(engine: &Engine, random: &mut Random, at: Timestamp) {
    let thing = ["billing API", "search worker", "mail gateway"][random.below(3)];
    let text = match random.below(4) {
        0 => format!("The {thing} listens on port {}", 8_000 + random.below(3)),
        1 => format!("The timeout of the {thing} is {} s", 10 + random.below(3)),
        2 => format!("The {thing} is{} allowed to write logs", ["", " not"][random.below(2)]),
        _ => format!("The {thing} failed on {} May", 1 + random.below(28)),
    };
    let request = CurateRequest { gate: Some(Gate::Off), ..CurateRequest::new(text) };
    engine.curate(&Visibility::everything(), &request, at).unwrap();
}

/// Settles the first review in one of three ways.
fn settle_any(engine: &Engine, random: &mut Random, at: Timestamp) {
    if let Some(review) =
        engine.reviews(&Visibility::everything(), &ReviewsRequest::default()).unwrap().first()
    {
        let how = match random.below(3) {
            0 => Settlement::Accept,
            1 => Settlement::Both,
            _ => Settlement::Merge {
                text: "The search worker may write some logs".into(),
                said_by: Author::User,
            },
        };
        engine.settle(&Visibility::everything(), review.review, &how, at).unwrap();
    }
}

/// One thing that people and programs do; the events that it may be undone by are added.
fn act(engine: &Engine, random: &mut Random, events: &mut Vec<u64>, at: Timestamp) {
    let reach = Visibility::everything();
    let all = engine.list(&reach, &Selection::default(), 100, 0).unwrap().memories;
    let some = |n: usize| all.get(n % all.len().max(1)).map(|item| item.id.clone());
    match random.below(14) {
        0..=4 => curate_any(engine, random, at),
        5 => events.extend(engine.sweep(&reach, &SweepRequest::default(), at).unwrap().event),
        6 => events.extend(
            engine.prune(&reach, &PruneRequest { threshold: 0.2, dry_run: false }, at).unwrap().event,
        ),
        7 => {
            let done = engine.consolidate(&reach, &ConsolidateRequest::default(), at, &|| true).unwrap();
            events.extend(done.clusters.iter().filter_map(|cluster| cluster.event));
        }
        8 => {
            if let Some(id) = some(random.below(50)) {
                let verdict = Verdict::ALL[random.below(3)];
                events.push(engine.feedback(&reach, &id, verdict, at).unwrap().event);
            }
        }
        9 => {
            if let Some(id) = some(random.below(50)) {
                engine.forget(&reach, &Forgetting::of(ForgetRequest::Ids(vec![id])), at).unwrap();
            }
        }
        10 => settle_any(engine, random, at),
        11 | 12 => {
            if !events.is_empty() {
                // What cannot be undone any more says so.
                let _ = engine.undo(&reach, events[random.below(events.len())], at);
            }
        }
        _ => {
            if let Some(id) = some(random.below(50)) {
                let history = engine.history(&reach, &id).unwrap().history;
                let _ = engine.undo(&reach, history[random.below(history.len())].event, at);
            }
        }
    }
}

/// Everything that people and programs do, in a random order: whatever it is, the store is sound and says the same when it is
/// opened again.
#[test]
fn any_order_of_what_people_do_leaves_a_sound_store() {
    let place = Place::new();
    let mut engine = place.open();
    let mut random = Random(11);
    let mut events: Vec<u64> = Vec::new();
    for step in 0..160 {
        let at = day(step);
        act(&engine, &mut random, &mut events, at);
        if step % 20 == 0 {
            engine.maintain(at).unwrap();
            let before = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap();
            drop(engine);
            engine = place.open();
            assert_eq!(
                engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap(),
                before
            );
        }
        let bad: Vec<_> = engine
            .doctor(&Visibility::everything())
            .unwrap()
            .into_iter()
            .filter(|check| check.outcome == bower_core::request::Outcome::Bad)
            .collect();
        assert!(bad.is_empty(), "step {step}: {bad:?}");
    }
}
