//! Tests of housekeeping in a process that lives long: each part runs when it is due, and no more often.

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{Gate, MemoryType, Scope, Status, Visibility};
use bower_core::request::{CurateRequest, MaintenanceRequest, PruneEvery};
use jiff::{SignedDuration, Timestamp};

use crate::model::models_folder;
use crate::place::{Place, now};

fn hour(n: i64) -> Timestamp {
    now() + SignedDuration::from_hours(n)
}

/// Tells something to a scope of an owner; its id.
fn tell(engine: &Engine, scope: Scope, owner: Option<&str>, text: &str, at: Timestamp) -> String {
    let request = CurateRequest {
        scope,
        owner: owner.map(Into::into),
        memory_type: Some(MemoryType::Episode),
        gate: Some(Gate::Off),
        ..CurateRequest::new(text)
    };
    engine.curate(&Visibility::everything(), &request, at).unwrap().id.unwrap()
}

fn failed(text: &str) -> String {
    format!("The nightly export of the ledger ran out of disk space on {text}")
}

#[test]
fn whoever_holds_most_of_a_limit_is_consolidated_once_until_more_is_told() {
    let settings = Settings {
        models_folder: Some(models_folder()),
        limit_mission: 5,
        sweep_hours: 0,
        ..Settings::default()
    };
    let place = Place::with(settings);
    let engine = place.open();
    let keep = |at| engine.run_maintenance(&MaintenanceRequest::default(), at);
    let told = |owner, on: &str| tell(&engine, Scope::Mission, owner, &failed(on), hour(0));
    let ids: Vec<String> = ["4 May", "11 May", "18 May"].map(|on| told(Some("ann"), on)).to_vec();
    let theirs: Vec<String> = ["4 May", "11 May", "18 May"].map(|on| told(None, on)).to_vec();
    let kept = keep(hour(1));
    assert_eq!((kept.crowded.len(), kept.consolidated, kept.failed.len()), (0, None, 0), "3 of 5");

    told(Some("ann"), "25 May");
    let kept = keep(hour(2));
    let owners: Vec<Option<&str>> = kept.crowded.iter().map(|held| held.owner.as_deref()).collect();
    assert_eq!(owners, [Some("ann")], "4 of 5");
    let done = kept.consolidated.unwrap();
    assert_eq!((done.patterns_created, done.merged, done.compared), (1, 4, 4));
    assert!(
        ids.iter().all(|id| engine.get(&Visibility::everything(), id).unwrap().status == Status::Archived)
    );
    assert!(
        theirs.iter().all(|id| engine.get(&Visibility::everything(), id).unwrap().status == Status::Active),
        "not theirs"
    );

    // Taken back it stays taken back, until something is told.
    engine.undo(&Visibility::everything(), done.clusters[0].event.unwrap(), hour(3)).unwrap();
    assert_eq!(keep(hour(4)).crowded, []);
    tell(&engine, Scope::Mission, None, "The tea is in the second drawer", hour(5));
    let kept = keep(hour(5));
    assert_eq!(kept.crowded.iter().map(|held| held.owner.as_deref()).collect::<Vec<_>>(), [None]);
    assert_eq!(kept.consolidated.unwrap().patterns_created, 1);
    told(Some("ann"), "1 June");
    assert_eq!(keep(hour(6)).consolidated.unwrap().merged, 5, "the five say more than those four");
    assert_eq!(keep(hour(7)).crowded, []);
}

#[test]
fn a_house_is_swept_and_pruned_when_that_is_due_and_a_part_that_fails_is_named() {
    let place = Place::with(Settings { model: "none".into(), limit_mission: 2, ..Settings::default() });
    let engine = place.open();
    let old = tell(&engine, Scope::Project, None, "The garden gate squeaks", hour(0));
    let quiet = engine.run_maintenance(&MaintenanceRequest::default(), hour(1));
    assert_eq!((quiet.swept.len(), quiet.pruned.len(), quiet.compacted), (1, 0, false));
    assert_eq!(engine.run_maintenance(&MaintenanceRequest::default(), hour(24)).swept, [], "23 hours later");
    assert_eq!(engine.run_maintenance(&MaintenanceRequest::default(), hour(25)).swept.len(), 1);

    let request = MaintenanceRequest {
        prune: Some(PruneEvery { threshold: 0.05, hours: 48 }),
        ..MaintenanceRequest::default()
    };
    let years = 24 * 3_000;
    // After years without use the first run only marks that the clock jumped.
    assert_eq!(engine.run_maintenance(&request, hour(years - 24)).pruned[0].pruned, 0);
    assert_eq!(engine.run_maintenance(&request, hour(years - 1)).pruned, []);
    let kept = engine.run_maintenance(&request, hour(years));
    assert_eq!((kept.swept.len(), kept.pruned[0].pruned, kept.failed.len()), (1, 1, 0));
    assert_eq!(engine.get(&Visibility::everything(), &old).unwrap().status, Status::Archived);
    assert_eq!(engine.run_maintenance(&request, hour(years + 47)).pruned, []);
    assert_eq!(engine.run_maintenance(&request, hour(years + 48)).pruned.len(), 1);

    for text in ["The tea is in the second drawer", "The lamp is by the door"] {
        tell(&engine, Scope::Mission, None, text, hour(years + 49));
    }
    let request = MaintenanceRequest {
        prune: Some(PruneEvery { threshold: 1.5, hours: 1 }),
        ..MaintenanceRequest::default()
    };
    let kept = engine.run_maintenance(&request, hour(years + 100));
    let parts: Vec<&str> = kept.failed.iter().map(|failed| failed.part).collect();
    assert_eq!((parts, kept.swept.len()), (vec!["prune", "consolidate"], 1));
    assert!(kept.failed[0].why.contains("use 0 to 1") && kept.failed[1].why.contains("no model"), "{kept:?}");
    // What no model can do is said once, until something is told.
    let kept = engine.run_maintenance(&MaintenanceRequest::default(), hour(years + 101));
    assert_eq!(kept.failed, []);
}
