//! Runs due maintenance in a long-lived process: sweep, prune, consolidation and compaction.
//! Each part is bounded in time and fails alone.

use jiff::Timestamp;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::index;
use crate::engine::maintain::settle::settle_open;
use crate::engine::maintain::{consolidate, lifecycle};
use crate::engine::pending::best_effort;
use crate::engine::timing::milliseconds;
use crate::engine::vector_cache::keep_cached;
use crate::error::{Error, Result};
use crate::item::{Change, Visibility};
use crate::memory::sweep::is_crowded;
use crate::request::CompactWhen;
use crate::request::{
    ConsolidateRequest, Consolidated, Held, MaintenanceReport, MaintenanceRequest, Neglected, PruneRequest,
    SweepRequest,
};

/// Computes vectors and token codes that an answer lacked, such as those of a lost or damaged token index: only the model can
/// compute them. Work that is not done in time is done the next time.
fn make_codes(engine: &Engine, most_ms: u64, now: Timestamp) -> Result<()> {
    if !engine.pending.lacks_codes.swap(false, Ordering::Relaxed) {
        return Ok(());
    }
    let start = Instant::now();
    let go_on = || start.elapsed().as_millis() < u128::from(most_ms);
    match index::embed_pending(engine, now, &|_| (), &go_on) {
        Ok(_) => Ok(()),
        Err(error) => {
            engine.pending.lacks_codes.store(true, Ordering::Relaxed);
            if matches!(error, Error::Cancelled { .. }) { Ok(()) } else { Err(error) }
        }
    }
}

fn note<T>(failed: &mut Vec<Neglected>, part: &'static str, done: Result<T>) -> Option<T> {
    done.map_err(|error| failed.push(Neglected { part, why: error.to_string() })).ok()
}

/// Runs a part of maintenance that is due, until nothing waits or time is up.
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

/// Returns the scopes and owners whose memories are due for consolidation, and the change at which they were read.
fn crowded(engine: &Engine) -> Result<(Vec<Held>, Change)> {
    // Read before the rest: memories that are written meanwhile are new the next time.
    let seen = engine.store.coverage()?.change;
    let upto = engine.pending.consolidated.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut crowded = Vec::new();
    for held in lifecycle::held(engine)? {
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

/// Consolidates the memories of some scopes and owners, and remembers that if nothing is left to do. Without a model nothing
/// can be done: that is reported once, until a memory is written.
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
        let mut upto = engine.pending.consolidated.lock().unwrap_or_else(PoisonError::into_inner);
        upto.extend(crowded.iter().map(|held| ((held.scope, held.owner.clone()), seen)));
    }
    done.map(Some)
}

impl Engine {
    /// Does work that an answer must not wait for. It writes exposures, uses and the vectors of recent questions, and
    /// compacts long deltas. It sweeps once a day if a memory was kept, and records the time that the store trusts.
    ///
    /// Returns true if something was compacted; false if nothing was due or another process is compacting.
    pub fn maintain(&self, now: Timestamp) -> Result<bool> {
        self.keep_given(now)?;
        keep_cached(self, now)?;
        lifecycle::note_time(self, now)?;
        if self.pending.has_kept.swap(false, Ordering::Relaxed) {
            lifecycle::sweep_when_due(self, now)?;
        }
        // Forgetting that a killed process began comes first.
        let purged = best_effort(self.purge(CompactWhen::Due, None, now).map(drop));
        let compacted = self.compact(CompactWhen::Due)?;
        self.store.tidy(CompactWhen::Due)?;
        self.model.add_sums();
        purged.map(|()| compacted)
    }

    /// Runs the regular maintenance of a long-lived process, beside its answers. It sweeps once a day, and prunes if
    /// requested. It consolidates the memories of scopes and owners at 80 % of a limit (once, until a memory is written). It
    /// lets the language model settle open pairs, if a setting says how many, and does what [`Engine::maintain`] does. A part
    /// that fails is reported, and the others are done.
    pub fn run_maintenance(&self, request: &MaintenanceRequest, now: Timestamp) -> MaintenanceReport {
        let start = Instant::now();
        let mut kept = MaintenanceReport::default();
        // Both are checked before either runs: after a jump of the clock the sweep makes it trusted, and the prune waited as
        // long.
        let is_due = |run, hours| lifecycle::is_due(self, run, hours, now);
        let prunes = request.prune.map_or(Ok(false), |every| is_due("prune", every.hours.max(1)));
        let sweep = || lifecycle::sweep(self, &SweepRequest::default(), now);
        let swept = is_due("sweep", self.settings.sweep_hours)
            .and_then(|due| runs(due, request.most_ms, &mut kept.swept, sweep, |done| done.waiting));
        note(&mut kept.failed, "sweep", swept);
        if let Some(every) = request.prune {
            let weak = PruneRequest { threshold: every.threshold, dry_run: false };
            let prune = || lifecycle::prune(self, &weak, now);
            let pruned = prunes
                .and_then(|due| runs(due, request.most_ms, &mut kept.pruned, prune, |done| done.waiting));
            note(&mut kept.failed, "prune", pruned);
        }
        let consolidated = crowded(self).and_then(|(crowded, seen)| {
            kept.crowded = crowded;
            make_room(self, &kept.crowded, seen, request.most_ms, now)
        });
        kept.consolidated = note(&mut kept.failed, "consolidate", consolidated).flatten();
        let settled = settle_open(self, request.most_ms, now);
        kept.settled = note(&mut kept.failed, "settle", settled).flatten();
        note(&mut kept.failed, "codes", make_codes(self, request.most_ms, now));
        kept.compacted = note(&mut kept.failed, "fold", self.maintain(now)).unwrap_or(false);
        kept.took_ms = milliseconds(start);
        kept
    }
}
