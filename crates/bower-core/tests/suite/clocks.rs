//! Tests of wrong clocks, as stories with the times told.
//! A jump archives nothing that nobody uses, and what was told last holds.

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{Gate, MemoryType, Status, Visibility};
use bower_core::request::{
    Clocks, CurateRequest, Curated, MaintenanceRequest, PruneEvery, PruneRequest, QueryRequest, Selection,
    SweepRequest,
};
use jiff::{SignedDuration, Timestamp};

use crate::place::{Place, contents, now};

/// Ten years, in days.
const YEARS: i64 = 3_652;

fn day(n: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * n)
}

/// Tells something and does what a command does after its answer.
fn tell(engine: &Engine, text: &str, at: Timestamp) -> Curated {
    tell_as(engine, text, MemoryType::Fact, at)
}

fn tell_as(engine: &Engine, text: &str, memory_type: MemoryType, at: Timestamp) -> Curated {
    let request =
        CurateRequest { gate: Some(Gate::Off), memory_type: Some(memory_type), ..CurateRequest::new(text) };
    let curated = engine.curate(&Visibility::everything(), &request, at).unwrap();
    engine.maintain(at).unwrap();
    curated
}

/// Seven facts and three memories that nothing archives.
fn ten(engine: &Engine, at: Timestamp) {
    for n in 1..=7 {
        tell(engine, &format!("Bed {n} of the garden holds plant{n} since spring"), at);
    }
    tell_as(engine, "We chose the blue paint for the shed", MemoryType::Decision, at);
    tell_as(engine, "Tea is better than coffee at work", MemoryType::Preference, at);
    tell_as(engine, "Always lock the gate at night", MemoryType::Convention, at);
}

fn number(engine: &Engine, status: Status) -> usize {
    let select = Selection { statuses: vec![status], ..Selection::default() };
    engine.list(&Visibility::everything(), &select, 100, 0).unwrap().total
}

fn ask(engine: &Engine, text: &str, clocks: Clocks, at: Timestamp) -> Vec<String> {
    let select = Selection { clocks, ..Selection::default() };
    let request = QueryRequest { text: text.into(), select, ..QueryRequest::default() };
    let found = engine.query(&Visibility::everything(), &request, at).unwrap();
    contents(&found).into_iter().map(Into::into).collect()
}

#[test]
fn a_clock_ten_years_ahead_archives_nothing_for_two_days() {
    let place = Place::without_model();
    let engine = place.open();
    ten(&engine, day(0));
    let fresh = |engine: &Engine| assert_eq!(number(engine, Status::Archived), 0);
    tell(&engine, "The port of the demo server is 8080", day(YEARS));
    fresh(&engine);
    tell(&engine, "The fence is green", day(YEARS + 2));
    fresh(&engine);
    // Right again, as another process.
    let engine = place.open();
    for n in 1..9 {
        tell(&engine, &format!("Note {n} is about compost{n}"), day(n));
        fresh(&engine);
    }
    let tiers = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap().memories;
    assert!(tiers.iter().all(|memory| memory.tier == bower_core::item::Tier::Active), "none fades");
    // Sweeps went on meanwhile.
    assert_eq!(engine.status(&Visibility::everything()).unwrap().last_runs["sweep"], day(8));
}

#[test]
fn a_clock_two_days_ahead_and_back_costs_nothing() {
    let place = Place::without_model();
    let engine = place.open();
    ten(&engine, day(0));
    tell(&engine, "The port of the demo server is 8080", day(2));
    assert_eq!(engine.status(&Visibility::everything()).unwrap().last_runs["sweep"], day(2));
    tell(&engine, "The port of the demo server is 9090", day(0));
    assert_eq!(
        engine.status(&Visibility::everything()).unwrap().last_runs["sweep"],
        day(0),
        "the sweep of two days ahead is no reason to wait"
    );
    assert_eq!(number(&engine, Status::Archived), 0);
    assert_eq!(
        ask(&engine, "port of the demo server", Clocks::default(), day(0)),
        ["The port of the demo server is 9090"]
    );
}

#[test]
fn sixty_days_without_use_cost_one_day() {
    let place = Place::without_model();
    let engine = place.open();
    ten(&engine, day(0));
    // Five months in which somebody asks for something else, and two in which nobody asks.
    for n in 1..=125 {
        tell(&engine, "Tea is better than coffee at work", day(n));
    }
    assert_eq!(engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap().total, 10);
    let back = engine.sweep(&Visibility::everything(), &SweepRequest::default(), day(185)).unwrap();
    let jump = back.clock_jump.unwrap();
    assert_eq!((jump.trusted_time, jump.now, jump.acts_from), (day(125), day(185), day(186)));
    assert_eq!((back.turned.len(), number(&engine, Status::Archived)), (0, 0));
    assert_eq!(
        engine
            .prune(&Visibility::everything(), &PruneRequest { threshold: 0.9, dry_run: false }, day(185))
            .unwrap()
            .pruned,
        0,
        "nor is anything pruned"
    );
    assert!(
        engine
            .prune(&Visibility::everything(), &PruneRequest { threshold: 0.9, dry_run: true }, day(185))
            .unwrap()
            .pruned
            > 0,
        "what would go is told"
    );
    // Whoever looks for what is needed in the meantime keeps it.
    let used = engine
        .get(
            &Visibility::everything(),
            &engine.list(&Visibility::everything(), &Selection::default(), 1, 9).unwrap().memories[0].id,
        )
        .unwrap();
    engine.note_used(&Visibility::everything(), &used, day(185));
    engine.keep_given(day(185)).unwrap();
    let next = engine.sweep(&Visibility::everything(), &SweepRequest::default(), day(186)).unwrap();
    assert_eq!((next.clock_jump, next.archived, next.raised), (None, 6, 1));
}

#[test]
fn a_server_waits_a_day_too_and_goes_on_when_the_clock_is_set_right() {
    let place = Place::with(Settings { model: "none".into(), sweep_hours: 24 * 7, ..Settings::default() });
    let engine = place.open();
    ten(&engine, day(0));
    let request = MaintenanceRequest {
        prune: Some(PruneEvery { threshold: 0.05, hours: 24 }),
        ..MaintenanceRequest::default()
    };
    let first = engine.run_maintenance(&request, day(YEARS));
    assert!(first.swept[0].clock_jump.is_some() && first.pruned[0].clock_jump.is_some());
    assert_eq!(engine.run_maintenance(&request, day(YEARS)).swept, [], "it was marked");
    let right = engine.run_maintenance(&request, day(1));
    assert_eq!((right.swept[0].clock_jump, right.pruned[0].clock_jump), (None, None));
    assert_eq!(number(&engine, Status::Archived), 0);
    // However seldom it sweeps, a real pause costs a day.
    assert!(engine.run_maintenance(&request, day(100)).swept[0].clock_jump.is_some());
    assert_eq!(engine.run_maintenance(&request, day(101)).swept[0].demoted, 8);
}

#[test]
fn what_was_told_last_holds_whatever_the_clock_said() {
    let place = Place::without_model();
    let engine = place.open();
    let port = |n: u32| format!("The port of the demo server is {n}");
    let first = tell(&engine, &port(7070), day(0)).id.unwrap();
    let wrong = tell(&engine, &port(8080), day(YEARS)).id.unwrap();
    // A correction of today, and one by a clock that is behind.
    let right = tell(&engine, &port(9090), day(1));
    assert!(!right.other.as_ref().unwrap().stands, "{right:?}");
    let behind = tell(&engine, &port(6060), day(-YEARS)).id.unwrap();
    let last = tell(&engine, &port(5050), day(2)).id.unwrap();
    let chain: Vec<String> = engine
        .history(&Visibility::everything(), &first)
        .unwrap()
        .chain
        .into_iter()
        .map(|link| link.memory.id)
        .collect();
    assert_eq!(chain, [first, wrong, right.id.unwrap(), behind, last.clone()]);
    assert_eq!(ask(&engine, "port of the demo server", Clocks::default(), day(2)), [port(5050)]);
    // The past is in the order of telling, and nothing lies in the future or ten years back.
    let at = |n| Clocks { as_of: Some(day(n)), valid_at: None };
    assert_eq!(ask(&engine, "port of the demo server", at(0), day(2)), [port(7070)]);
    assert_eq!(ask(&engine, "port of the demo server", at(1), day(2)), [port(9090)]);
    assert_eq!(ask(&engine, "port of the demo server", at(2), day(2)), [port(5050)]);
    let valid = Clocks { as_of: None, valid_at: Some(day(2)) };
    assert_eq!(ask(&engine, "port of the demo server", valid, day(2)), [port(5050)]);
    let newest = engine.list(&Visibility::everything(), &Selection::default(), 1, 0).unwrap().memories;
    assert_eq!(newest[0].id, last);
}

#[test]
fn what_a_wrong_clock_did_can_be_taken_back_after_it_was_set_right() {
    let place = Place::without_model();
    let engine = place.open();
    let old = tell(&engine, "The port of the demo server is 7070", day(0)).id.unwrap();
    let new = tell(&engine, "The port of the demo server is 8080", day(YEARS)).id.unwrap();
    tell(&engine, "The fence is green", day(1));
    let item = engine.get(&Visibility::everything(), &new).unwrap();
    assert!(item.create_time > day(0) && item.create_time < day(1), "{}", item.create_time);
    let before = engine.get(&Visibility::everything(), &old).unwrap();
    assert_eq!(before.valid_to, Some(item.create_time));
    let told = engine.history(&Visibility::everything(), &new).unwrap().chain.pop().unwrap().memory.id;
    assert_eq!(told, new);
    let events = engine.history(&Visibility::everything(), &new).unwrap().history;
    let event = events.iter().find(|event| event.subject.as_deref() == Some(new.as_str())).unwrap().event;
    engine.undo(&Visibility::everything(), event, day(1)).unwrap();
    let after = engine.get(&Visibility::everything(), &old).unwrap();
    assert_eq!((after.status, after.valid_to), (Status::Active, None));
}

#[test]
fn a_memory_told_by_a_clock_that_is_behind_is_not_old_when_it_is_set_right() {
    let place = Place::without_model();
    let engine = place.open();
    ten(&engine, day(0));
    let told = tell(&engine, "The boiler is serviced by Ann", day(-YEARS)).id.unwrap();
    for n in 1..5 {
        tell(&engine, &format!("Note {n} is about compost{n}"), day(n));
    }
    let item = engine.get(&Visibility::everything(), &told).unwrap();
    assert_eq!((item.status, item.tier), (Status::Active, bower_core::item::Tier::Active));
    assert!(item.create_time > day(0), "{}", item.create_time);
}

#[test]
fn a_memory_that_is_taken_over_with_its_own_time_is_told_late() {
    let place = Place::without_model();
    let engine = place.open();
    tell(&engine, "The port of the demo server is 9090", day(5));
    let request = CurateRequest {
        gate: Some(Gate::Off),
        told_time: Some(day(2)),
        ..CurateRequest::new("The port of the demo server is 8080")
    };
    let late = engine.curate(&Visibility::everything(), &request, day(6)).unwrap();
    assert!(late.other.as_ref().is_some_and(|other| other.stands), "{late:?}");
    assert_eq!(engine.get(&Visibility::everything(), &late.id.unwrap()).unwrap().create_time, day(2));
    assert_eq!(
        ask(&engine, "port of the demo server", Clocks::default(), day(6)),
        ["The port of the demo server is 9090"]
    );
}

#[test]
fn what_sessions_and_answers_gave_outlasts_a_wrong_clock() {
    let place = Place::without_model();
    let engine = place.open();
    ten(&engine, day(0));
    let given = |at| {
        let request = QueryRequest {
            text: "garden bed plant3".into(),
            session: Some("one".into()),
            limit: 3,
            ..QueryRequest::default()
        };
        let answer = engine.query(&Visibility::everything(), &request, at).unwrap();
        engine.maintain(at).unwrap();
        answer.already_given.unwrap()
    };
    assert_eq!(given(day(0)), 0);
    // Somebody else asks by a wrong clock: what the session has stays known.
    let other = QueryRequest { text: "shed".into(), session: Some("two".into()), ..QueryRequest::default() };
    engine.query(&Visibility::everything(), &other, day(YEARS)).unwrap();
    engine.maintain(day(YEARS)).unwrap();
    assert!(given(day(0)) > 0);
    let item = engine.list(&Visibility::everything(), &Selection::default(), 100, 0).unwrap().memories;
    let latest = item.iter().map(|memory| memory.access_time).max().unwrap();
    assert!(latest <= day(0), "{latest}");
    assert_eq!(
        engine
            .feedback(&Visibility::everything(), &item[0].id, bower_core::item::Verdict::Useful, day(1))
            .unwrap()
            .memory
            .access_time,
        day(1)
    );
}
