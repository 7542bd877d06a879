//! What a process that lives long does beside its answers: sweeps, prunes, consolidates what is nearly full, folds. Each part is
//! bounded in time and fails alone.

use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::answer::milliseconds;
use super::{Engine, consolidate, keep, pipeline};
use crate::error::{Error, Result};
use crate::item::{Change, Scope, Visibility};
use crate::memory::sweep::is_crowded;
use crate::request::{ConsolidateRequest, Consolidated, Held, House, Housekeeping, Neglected};

/// Up to which change the memories of a scope and owner were consolidated by this process.
pub(super) type Upto = BTreeMap<(Scope, Option<String>), Change>;

pub(super) fn keep(engine: &Engine, house: &House, now: Timestamp) -> Housekeeping {
    let start = Instant::now();
    let mut kept = Housekeeping::default();
    // Both before either is done: after a jump of the clock the sweep believes it, and the prune waited as long.
    let is_due = |run, hours| keep::is_due(engine, run, hours, now);
    let prunes = house.prune.map_or(Ok(false), |every| is_due("prune", every.hours.max(1)));
    let sweep = || keep::sweep(engine, false, now);
    let swept = is_due("sweep", engine.settings.sweep_hours)
        .and_then(|due| runs(due, house.most_ms, &mut kept.swept, sweep, |done| done.waiting));
    note(&mut kept.failed, "sweep", swept);
    if let Some(every) = house.prune {
        let prune = || keep::prune(engine, every.threshold, false, now);
        let pruned =
            prunes.and_then(|due| runs(due, house.most_ms, &mut kept.pruned, prune, |done| done.waiting));
        note(&mut kept.failed, "prune", pruned);
    }
    let consolidated = crowded(engine).and_then(|(crowded, seen)| {
        kept.crowded = crowded;
        make_room(engine, &kept.crowded, seen, house.most_ms, now)
    });
    kept.consolidated = note(&mut kept.failed, "consolidate", consolidated).flatten();
    note(&mut kept.failed, "codes", make_codes(engine, house.most_ms, now));
    kept.folded = note(&mut kept.failed, "fold", engine.maintain(now)).unwrap_or(false);
    kept.took_ms = milliseconds(start);
    kept
}

/// Makes vectors and token codes that some answer missed: those of a lost or damaged index of tokens, which nothing but the model
/// can give. What is not done in time is done the next time.
fn make_codes(engine: &Engine, most_ms: u64, now: Timestamp) -> Result<()> {
    if !engine.lacks_codes.swap(false, Ordering::Relaxed) {
        return Ok(());
    }
    let start = Instant::now();
    let go_on = || start.elapsed().as_millis() < u128::from(most_ms);
    match pipeline::embed_pending(engine, now, &|_| (), &go_on) {
        Ok(_) => Ok(()),
        Err(error) => {
            engine.lacks_codes.store(true, Ordering::Relaxed);
            if matches!(error, Error::Cancelled { .. }) { Ok(()) } else { Err(error) }
        }
    }
}

fn note<T>(failed: &mut Vec<Neglected>, part: &'static str, done: Result<T>) -> Option<T> {
    done.map_err(|error| failed.push(Neglected { part, why: error.to_string() })).ok()
}

/// Does what is due until nothing waits, or time is up.
fn runs<T>(
    due: bool,
    most_ms: u64,
    done: &mut Vec<T>,
    once: impl Fn() -> Result<T>,
    waiting: impl Fn(&T) -> usize,
) -> Result<()> {
    let start = Instant::now();
    let mut more = due;
    while more {
        let one = once()?;
        more = waiting(&one) > 0 && start.elapsed().as_millis() < u128::from(most_ms);
        done.push(one);
    }
    Ok(())
}

/// Who holds so much that it is to be consolidated, and up to which change that was seen.
fn crowded(engine: &Engine) -> Result<(Vec<Held>, Change)> {
    // Before the rest: what is told meanwhile is new the next time.
    let seen = engine.store.coverage()?.change;
    let upto = engine.consolidated.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut crowded = Vec::new();
    for held in keep::held(engine)? {
        if !is_crowded(held.memories, held.limit, None) {
            continue;
        }
        let told_since = upto
            .get(&(held.scope, held.owner.clone()))
            .map(|upto| engine.store.is_told_since(held.scope, held.owner.as_deref(), *upto))
            .transpose()?;
        if is_crowded(held.memories, held.limit, told_since) {
            crowded.push(held);
        }
    }
    Ok((crowded, seen))
}

/// Consolidates the memories of some holders, and remembers that, where nothing is left to do. Without a model nothing is ever
/// to do: that is said once, until something is told.
fn make_room(
    engine: &Engine,
    crowded: &[Held],
    seen: Change,
    most_ms: u64,
    now: Timestamp,
) -> Result<Option<Consolidated>> {
    if crowded.is_empty() {
        return Ok(None);
    }
    let within = |scope, owner: Option<&str>| {
        crowded.iter().any(|held| (held.scope, held.owner.as_deref()) == (scope, owner))
    };
    let request = ConsolidateRequest { most_ms, ..ConsolidateRequest::default() };
    let done = consolidate::consolidate(engine, &Visibility::everything(), &request, &within, now, &|| true);
    let is_done = match &done {
        Ok(done) => done.waiting == 0,
        Err(_) => engine.model.get().is_err(),
    };
    if is_done {
        let mut upto = engine.consolidated.lock().unwrap_or_else(PoisonError::into_inner);
        upto.extend(crowded.iter().map(|held| ((held.scope, held.owner.clone()), seen)));
    }
    done.map(Some)
}
