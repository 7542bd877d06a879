//! Applies feedback, pins, the daily sweep, pruning and undo to memories.
//! `memory/` decides about each memory; the store applies the decisions in one transaction.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::Instant;

use crate::engine::pending::best_effort;
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::item::{Kind, RowId, Scope, Status, Tier, Turn, Verdict, Visibility};
use crate::memory::feedback::effect;
use crate::memory::sweep::{self, Constants, Rule};
use crate::request::{
    CandidateRuling, ClockJump, Feedback, Held, Item, Pinning, PruneRequest, Pruned, SweepRequest, Swept,
    Turned, UndoRequest, Undone,
};
use crate::store::clock::PROBATION;
use crate::store::{ExpectedState, Stamp, Transition};
use crate::strength::strength;

/// Most transitions of one run: it holds the store's write lock meanwhile, a third of a second for 10,000. The next run goes
/// on from there.
const MOST_AT_ONCE: usize = 10_000;

/// Most memories at which the process that keeps a memory also sweeps, when a sweep is due: 20 ms or so. Beyond that a sweep
/// takes longer than keeping the memory did, and `bower sweep` or a daemon does it.
const SWEEPS_BY_ITSELF: u64 = 20_000;

/// Most times that a transition is decided anew because the memory changed meanwhile.
const ATTEMPTS: usize = 16;

/// A memory with the data that its transition needs.
struct Looked {
    row: RowId,
    holder: (Scope, Option<String>),
    life: sweep::Life,
}

fn look(engine: &Engine) -> Result<Vec<Looked>> {
    let mut all = Vec::new();
    engine.store.lives(&mut |life| {
        let sweep_life = sweep::Life {
            status: life.status,
            observations: life.observations,
            is_own: life.is_own,
            is_outside: life.provenance.is_outside() && !life.provenance.reviewed,
            facts: life.facts,
        };
        let holder = (life.scope, life.owner.map(str::to_owned));
        all.push(Looked { row: life.row, holder, life: sweep_life });
    })?;
    // The order in which they were written, whatever order the store returned.
    all.sort_unstable_by_key(|looked| looked.row);
    Ok(all)
}

/// Returns one transition for the store.
fn turning(looked: &Looked, turn: Turn, rule: Rule, strength: f64) -> Transition {
    let facts = &looked.life.facts;
    let (status, tier) = match turn {
        Turn::Promote => (Status::Active, facts.tier),
        Turn::Demote => (looked.life.status, Tier::Fading),
        Turn::Raise => (looked.life.status, Tier::Active),
        Turn::Archive => (Status::Archived, facts.tier),
    };
    let why = Map::from_iter([
        ("rule".to_owned(), json!(rule.word())),
        ("strength".to_owned(), json!((strength * 1e4).round() / 1e4)),
    ]);
    Transition {
        row: looked.row,
        action: turn.word(),
        seen: ExpectedState {
            status: looked.life.status,
            tier: facts.tier,
            confidence: facts.confidence,
            accessed: Some(facts.accessed),
        },
        status,
        tier,
        confidence: facts.confidence,
        ends: false,
        is_use: false,
        is_review: false,
        why,
    }
}

/// A memory with its transition, the rule and the strength.
type Planned<'a> = (&'a Looked, Turn, Rule, f64);

/// Applies a plan, unless the run is dry. Returns its event, and the memories that changed, in the plan's order.
fn apply(
    engine: &Engine,
    action: &'static str,
    plan: &[Planned<'_>],
    detail: &Map<String, Value>,
    dry_run: bool,
    now: Timestamp,
) -> Result<(Option<u64>, Vec<Turned>)> {
    let mut plan: Vec<&Planned<'_>> = plan.iter().collect();
    let mut event = None;
    if !dry_run {
        let turns: Vec<Transition> = plan
            .iter()
            .map(|(looked, turn, rule, strength)| turning(looked, *turn, *rule, *strength))
            .collect();
        let turned = engine.store.turn(Some((action, detail)), &turns, Stamp { now, actor: ACTOR })?;
        event = Some(turned.event);
        if turned.rows.len() < plan.len() {
            let rows: std::collections::HashSet<RowId> = turned.rows.into_iter().collect();
            plan.retain(|(looked, ..)| rows.contains(&looked.row));
        }
    }
    let rows: Vec<RowId> = plan.iter().map(|(looked, ..)| looked.row).collect();
    let titles = engine.store.titles(&rows)?;
    let turned = plan
        .into_iter()
        .zip(titles)
        .filter_map(|(&(looked, turn, rule, strength), title)| {
            let (id, summary) = title?;
            let facts = &looked.life.facts;
            Some(Turned {
                id,
                summary,
                memory_type: facts.memory_type,
                turn,
                why: rule.why().to_owned(),
                strength,
                access_time: facts.accessed,
            })
        })
        .collect();
    Ok((event, turned))
}

/// Reads the clock for a run that archives by it. Returns its jump; `None` where the clock is trusted. A dry run writes
/// nothing.
fn clock_jump(engine: &Engine, dry_run: bool, now: Timestamp) -> Result<Option<ClockJump>> {
    let trust = if dry_run {
        engine.store.trust()?
    } else {
        engine.store.read_clock(true, Stamp { now, actor: ACTOR })?
    };
    Ok((!trust.trusts(now)).then(|| ClockJump {
        trusted_time: trust.steady.time,
        now,
        acts_from: trust
            .waits_until()
            .unwrap_or_else(|| now.checked_add(PROBATION).unwrap_or(Timestamp::MAX)),
    }))
}

pub(crate) fn sweep(engine: &Engine, request: &SweepRequest, now: Timestamp) -> Result<Swept> {
    let &SweepRequest { dry_run } = request;
    let start = Instant::now();
    let constants = Constants::default();
    let clock_jump = clock_jump(engine, dry_run, now)?;
    if clock_jump.is_some() && !dry_run {
        // Without a trusted time it is unknown how old memories are.
        let (event, _) = apply(engine, "sweep", &[], &waits(), dry_run, now)?;
        return Ok(Swept { event, clock_jump, took_ms: milliseconds(start), ..Swept::default() });
    }
    let all = look(engine)?;
    let mut plan: Vec<Planned<'_>> = Vec::new();
    let mut holders: HashMap<&(Scope, Option<String>), Vec<usize>> = HashMap::new();
    for (at, looked) in all.iter().enumerate() {
        let turn = sweep::turn(&looked.life, &constants, now);
        if let Some((turn, rule)) = turn {
            plan.push((looked, turn, rule, strength(&looked.life.facts, now)));
        }
        if !matches!(turn, Some((Turn::Archive, _))) {
            holders.entry(&looked.holder).or_default().push(at);
        }
    }
    let mut holders: Vec<_> = holders.into_iter().collect();
    holders.sort_unstable_by_key(|(holder, _)| *holder);
    for (holder, members) in holders {
        let limit = engine.settings.limit_of(holder.0);
        if limit == 0 || members.len() <= limit {
            continue;
        }
        let lives: Vec<sweep::Life> = members.iter().map(|&at| all[at].life).collect();
        let gone: std::collections::HashSet<RowId> =
            sweep::over_limit(&lives, limit, now).into_iter().map(|nth| all[members[nth]].row).collect();
        // The limit overrides other transitions: a memory has one transition a sweep.
        plan.retain(|(looked, ..)| !gone.contains(&looked.row));
        plan.extend(
            members
                .iter()
                .map(|&at| &all[at])
                .filter(|looked| gone.contains(&looked.row))
                .map(|looked| (looked, Turn::Archive, Rule::OverLimit, strength(&looked.life.facts, now))),
        );
    }
    plan.sort_unstable_by_key(|(looked, turn, ..)| (*turn, looked.row));
    let waiting = plan.len().saturating_sub(MOST_AT_ONCE);
    plan.truncate(MOST_AT_ONCE);
    let detail = Map::from_iter([("waiting".to_owned(), json!(waiting))]);
    let (event, turned) = apply(engine, "sweep", &plan, &detail, dry_run, now)?;
    let count = |which: Turn| turned.iter().filter(|one| one.turn == which).count();
    Ok(Swept {
        promoted: count(Turn::Promote),
        demoted: count(Turn::Demote),
        raised: count(Turn::Raise),
        archived: count(Turn::Archive),
        waiting,
        dry_run,
        event,
        took_ms: milliseconds(start),
        turned,
        clock_jump,
    })
}

/// Returns the detail of the event of a run that did nothing because the clock jumped.
fn waits() -> Map<String, Value> {
    Map::from_iter([("waiting".to_owned(), json!(0)), ("clock".to_owned(), json!("jumped"))])
}

/// Whether the last run of a kind was this many hours ago or never; 0 hours is never due. A run that a wrong clock dated that
/// many hours later than now counts as that far away.
pub(crate) fn is_due(engine: &Engine, run: &str, hours: u32, now: Timestamp) -> Result<bool> {
    if hours == 0 {
        return Ok(false);
    }
    let last = engine.store.last_runs()?.remove(run);
    // A jump of the clock delays a run by a day at most, however seldom runs are made.
    let waits = engine.store.trust()?.waits_until().is_some();
    let hours = if waits { hours.min(24) } else { hours };
    Ok(last.is_none_or(|last| now.duration_since(last).abs().as_hours() >= i64::from(hours)))
}

/// Sweeps if that is due and soon done, and returns whether it did. Best effort.
pub(crate) fn sweep_when_due(engine: &Engine, now: Timestamp) -> Result<bool> {
    if !is_due(engine, "sweep", engine.settings.sweep_hours, now)? {
        return Ok(false);
    }
    let held: u64 = engine.store.held()?.iter().map(|(_, _, memories)| memories).sum();
    if held == 0 || held > SWEEPS_BY_ITSELF {
        return Ok(false);
    }
    best_effort(sweep(engine, &SweepRequest::default(), now).map(drop))?;
    Ok(true)
}

pub(crate) fn prune(engine: &Engine, request: &PruneRequest, now: Timestamp) -> Result<Pruned> {
    let &PruneRequest { threshold, dry_run } = request;
    let start = Instant::now();
    if !(0.0..=1.0).contains(&threshold) {
        return Err(Error::invalid(format!("threshold {threshold}"), "use 0 to 1; .05 is usual"));
    }
    let clock_jump = clock_jump(engine, dry_run, now)?;
    let all = look(engine)?;
    if clock_jump.is_some() && !dry_run {
        let (event, _) = apply(engine, "prune", &[], &waits(), dry_run, now)?;
        let (remaining, took_ms) = (all.len(), milliseconds(start));
        return Ok(Pruned { remaining, threshold, event, took_ms, clock_jump, ..Pruned::default() });
    }
    let mut plan: Vec<Planned<'_>> = all
        .iter()
        .filter_map(|looked| {
            let strength = sweep::prunes(&looked.life, threshold, now)?;
            Some((looked, Turn::Archive, Rule::Weak, strength))
        })
        .collect();
    plan.sort_unstable_by(|a, b| a.3.total_cmp(&b.3).then(a.0.row.cmp(&b.0.row)));
    let waiting = plan.len().saturating_sub(MOST_AT_ONCE);
    plan.truncate(MOST_AT_ONCE);
    let detail =
        Map::from_iter([("threshold".to_owned(), json!(threshold)), ("waiting".to_owned(), json!(waiting))]);
    let (event, turned) = apply(engine, "prune", &plan, &detail, dry_run, now)?;
    Ok(Pruned {
        pruned: turned.len(),
        remaining: all.len() - turned.len(),
        waiting,
        threshold,
        dry_run,
        event,
        took_ms: milliseconds(start),
        turned,
        clock_jump,
    })
}

/// Records the time of the clock if it is news. Best effort.
pub(crate) fn note_time(engine: &Engine, now: Timestamp) -> Result<()> {
    if !engine.store.trust()?.is_news(now) {
        return Ok(());
    }
    best_effort(engine.store.read_clock(false, Stamp { now, actor: ACTOR }).map(drop))
}

/// Decides about one memory and applies the decision, until nothing came between the two.
fn turn_one(
    engine: &Engine,
    visibility: &Visibility,
    id: &str,
    now: Timestamp,
    decide: &dyn Fn(&Item) -> Transition,
) -> Result<(Item, Item, u64)> {
    for _ in 0..ATTEMPTS {
        let before = engine.get(visibility, id)?;
        if before.kind == Kind::Chunk {
            let reason = "it is a part of a document; only memories have a life of their own";
            return Err(Error::invalid(format!("{} is no memory", before.id), reason));
        }
        let turned = engine.store.turn(None, &[decide(&before)], Stamp { now, actor: ACTOR })?;
        if !turned.rows.is_empty() {
            let after = engine.get(visibility, &before.id)?;
            return Ok((before, after, turned.event));
        }
    }
    Err(Error::invalid(format!("{id} changes all the time"), "try again"))
}

fn seen(item: &Item) -> ExpectedState {
    ExpectedState { status: item.status, tier: item.tier, confidence: item.confidence, accessed: None }
}

/// Returns the number of memories of each scope and owner, with its limit.
pub(crate) fn held(engine: &Engine) -> Result<Vec<Held>> {
    let held = engine.store.held()?.into_iter();
    Ok(held
        .map(|(scope, owner, memories)| Held {
            scope,
            owner,
            memories,
            limit: engine.settings.limit_of(scope) as u64,
        })
        .collect())
}

impl Engine {
    /// Applies a person's ruling on a candidate: it becomes a memory, or leaves answers.
    pub fn judge_candidate(
        &self,
        visibility: &Visibility,
        id: &str,
        ruling: CandidateRuling,
        now: Timestamp,
    ) -> Result<Item> {
        let item = self.get(visibility, id)?;
        // The sweep promotes candidates that were repeated often enough: no person has reviewed those either.
        let waits =
            item.status == Status::Candidate || (item.status == Status::Active && !item.provenance.reviewed);
        if !waits || item.kind == Kind::Chunk {
            let reason =
                format!("it is {}; bower list --status candidate shows those that wait", item.status);
            return Err(Error::invalid(format!("{} is no candidate", item.id), reason));
        }
        let (turn, status) = match ruling {
            CandidateRuling::Keep => (Turn::Promote, Status::Active),
            CandidateRuling::Drop => (Turn::Archive, Status::Archived),
        };
        let (_, after, _) = turn_one(self, visibility, id, now, &|item| Transition {
            row: item.row,
            action: turn.word(),
            seen: seen(item),
            status,
            tier: item.tier,
            confidence: item.confidence,
            ends: false,
            is_use: false,
            is_review: ruling == CandidateRuling::Keep,
            why: Map::from_iter([("rule".to_owned(), json!("told"))]),
        })?;
        Ok(after)
    }

    /// Applies feedback to a memory: it changes the confidence, and a stale memory leaves answers.
    pub fn feedback(
        &self,
        visibility: &Visibility,
        id: &str,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Feedback> {
        let (before, memory, event) = turn_one(self, visibility, id, now, &|item| {
            let effect = effect(verdict, item.confidence, item.status);
            Transition {
                row: item.row,
                action: "feedback",
                seen: seen(item),
                status: effect.status,
                tier: item.tier,
                confidence: effect.confidence,
                ends: effect.ends,
                is_use: effect.is_use,
                is_review: false,
                why: Map::from_iter([("verdict".to_owned(), json!(verdict.word()))]),
            }
        })?;
        // Only a caller that sees everything may undo, and the number counts what others do.
        let event = if visibility.is_everything() { event } else { 0 };
        Ok(Feedback { memory, verdict, confidence_before: before.confidence, event })
    }

    /// Pins a memory, so that it never fades, or unpins it.
    pub fn pin(&self, visibility: &Visibility, id: &str, how: Pinning, now: Timestamp) -> Result<Item> {
        let (_, after, _) = turn_one(self, visibility, id, now, &|item| Transition {
            row: item.row,
            action: match how {
                Pinning::Pin => "pin",
                Pinning::Unpin => "unpin",
            },
            seen: seen(item),
            status: item.status,
            tier: match (how, item.tier) {
                (Pinning::Pin, _) => Tier::Pinned,
                (Pinning::Unpin, Tier::Pinned) => Tier::Active,
                (Pinning::Unpin, other) => other,
            },
            confidence: item.confidence,
            ends: false,
            is_use: false,
            is_review: how == Pinning::Pin,
            why: Map::new(),
        })?;
        Ok(after)
    }

    /// Runs daily maintenance: promotes candidates, fades and archives unused memories, and enforces the limits of scopes.
    pub fn sweep(&self, visibility: &Visibility, request: &SweepRequest, now: Timestamp) -> Result<Swept> {
        visibility.check_everything("a sweep")?;
        sweep(self, request, now)
    }

    /// Archives memories whose effective importance is below a threshold, except decisions, procedures, and memories that are
    /// pinned or never decay.
    pub fn prune(&self, visibility: &Visibility, request: &PruneRequest, now: Timestamp) -> Result<Pruned> {
        visibility.check_everything("pruning")?;
        prune(self, request, now)
    }

    /// Reverses the changes of an event's transaction, as far as nothing changed them since.
    pub fn undo(&self, visibility: &Visibility, event: u64, now: Timestamp) -> Result<Undone> {
        visibility.check_everything("undo")?;
        let undone = self.store.undo(event, Stamp { now, actor: ACTOR })?;
        let undone = undone.ok_or_else(|| Error::NotFound { what: Missing::Event, id: event.to_string() })?;
        if undone.items.is_empty() {
            let why = undone.unmoved.first().map_or_else(
                || format!("{} changed no memory", undone.action),
                |first| format!("{} {}", first.id, first.why),
            );
            let hint = "bower history ID shows what happened since; undo the later events first";
            return Err(Error::invalid(format!("event {event} cannot be undone: {why}"), hint));
        }
        Ok(undone)
    }

    /// Reverses all that one origin wrote, as far as it is visible: its memories and transitions leave answers, and the
    /// memories that they replaced come back. The event of it is undone as a whole.
    pub fn undo_origin(
        &self,
        visibility: &Visibility,
        request: &UndoRequest,
        now: Timestamp,
    ) -> Result<Undone> {
        let UndoRequest { origin, dry_run } = request;
        if origin.is_nothing() {
            return Err(Error::invalid("origin", "name a session, a host or a source"));
        }
        let undone = self.store.undo_origin(visibility, origin, *dry_run, Stamp { now, actor: ACTOR })?;
        undone.ok_or_else(|| Error::NotFound { what: Missing::Named("origin"), id: origin.to_string() })
    }
}
