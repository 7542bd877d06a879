//! Keeps a memory: admits, classifies, embeds and compares a text, then writes the decision in one transaction.

pub(crate) mod echo;
mod neighbours;
pub(crate) mod review;
pub(crate) mod secrets;
pub(crate) mod write;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::engine::curate::echo::is_echo;
use crate::engine::curate::neighbours::{Likenesses, Neighbour, neighbours};
use crate::engine::curate::secrets::clean_request;
use crate::engine::curate::write::{ANYTHING, CONFIDENCE, check, free_id, new_memory, normal_tags, number};
use crate::engine::late::vector_for;
use crate::engine::query::when::holds;
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine, missing};
use crate::error::Result;
use crate::item::{
    Channel, CurateOutcome, Gate, MemoryType, Provenance, Relation, RowId, Status, Tier, Visibility,
};
use crate::memory::conflict::Side;
use crate::memory::gate::{self, Cut, Refusal};
use crate::memory::judge::{self, Judged, judge_read};
use crate::memory::merge::{self, Bands, Decision, decide};
use crate::memory::said::Said;
use crate::request::{CurateRequest, Curated, Degraded, Item, Other};
use crate::store::{Decided, Kept, Namespace, NewMemory, Stamp, WriteAction};

/// Most decisions about one memory; each is repeated if another process wrote to the same namespace meanwhile. A decision
/// takes a millisecond or two, so only dozens of processes that write to one namespace at once reach this limit. Then the
/// memory is kept beside the others.
const ATTEMPTS: usize = 16;

/// Origin of a memory that a rule extracted from a session, without a request to keep it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unasked<'a> {
    /// Program whose session it was.
    pub source: &'a str,
    /// Rows that the session was given at any time: a text that repeats them is an echo.
    pub given: &'a [RowId],
    /// Provenance of the memory.
    pub provenance: Provenance,
}

/// Returns the answer before a decision: nothing is kept yet.
fn undecided(judged: &Judged, verdict: &gate::Verdict, cut: &Result<Cut, gate::Named>) -> Curated {
    let redacted = verdict.redacted.iter().flat_map(|redacted| &redacted.found);
    let redacted = redacted.chain(cut.iter().flat_map(|cut| &cut.found));
    Curated {
        id: None,
        summary: judged.summary.clone(),
        memory_type: judged.memory_type,
        took_ms: 0.0,
        is_update: false,
        accepted: false,
        reason: None,
        outcome: CurateOutcome::Refuse,
        durability: verdict.durability(),
        other: None,
        redacted: redacted.map(|kind| kind.label().to_owned()).collect(),
        redacted_fields: cut.iter().flat_map(|cut| &cut.fields).map(|field| (*field).to_owned()).collect(),
        is_candidate: false,
        review: None,
        degraded: Vec::new(),
    }
}

/// Adds the decision and the written memory to the answer.
fn decided(
    curated: &mut Curated,
    visibility: &Visibility,
    memory: &NewMemory,
    kept: Kept,
    decision: &Decision,
    other: Option<Item>,
) {
    curated.accepted = true;
    curated.is_candidate = memory.status == Status::Candidate && !kept.is_update;
    curated.outcome = match kept.review {
        Some(_) => CurateOutcome::Contradict,
        // Another process wrote the same text meanwhile.
        None if kept.is_update && matches!(decision.fate, CurateOutcome::Create | CurateOutcome::Link) => {
            CurateOutcome::Confirm
        }
        None => decision.fate,
    };
    curated.other = other.map(|item| Other {
        id: item.id,
        create_time: item.create_time,
        why: decision.why.to_string(),
        stands: decision.fate == CurateOutcome::Supersede && decision.stays == Side::Kept,
    });
    curated.is_update = kept.is_update;
    curated.review = match (kept.review, &curated.other) {
        (Some(review), Some(other)) => Some(number(visibility, review, &kept.id, &other.id)),
        (review, _) => review,
    };
    curated.id = Some(kept.id);
}

/// Keeps a memory. With `unasked`, nobody asked to keep it: it becomes a candidate and ends no memory that somebody kept.
pub(crate) fn curate_as(
    engine: &Engine,
    visibility: &Visibility,
    request: &CurateRequest,
    unasked: Option<Unasked<'_>>,
    now: Timestamp,
) -> Result<Curated> {
    let start = Instant::now();
    check(request.content.trim())?;
    let mut request = request.clone();
    let content = std::mem::take(&mut request.content);
    let content = content.trim();
    let collection = request.collection.clone().unwrap_or_else(|| engine.settings.memory_collection.clone());
    let strictness = request.gate.unwrap_or_else(|| engine.settings.gate_of(&collection));
    let cut = if strictness == Gate::Off { Ok(Cut::default()) } else { clean_request(&mut request) };
    let tags = normal_tags(&request.tags)?;
    let place = Namespace { collection, scope: request.scope, owner: request.owner.clone() };
    visibility.check_place(&place.collection, place.scope, place.owner.as_deref())?;
    let verdict = gate::judge(content, strictness, &gate::Constants::default());
    let redacted = verdict.redacted.as_ref();
    let content = redacted.map_or(content, |redacted| &redacted.text).to_owned();
    let judged =
        judge_read(&content, &verdict.reading, request.memory_type, CONFIDENCE, &judge::Constants::default());
    let mut curated = undecided(&judged, &verdict, &cut);
    curated.degraded.extend(missing::degraded(engine)?);
    if let Err(named) = cut {
        curated.reason = Some(named.reason());
        curated.took_ms = milliseconds(start);
        return Ok(curated);
    }
    let refused = match verdict.refused.filter(|refusal| !is_told_to_be(*refusal, request.memory_type)) {
        // The echo check comes last, because it reads what answers returned.
        None if strictness != Gate::Off
            && is_echo(
                engine,
                visibility,
                &place,
                &content,
                unasked.map_or(&[], |unasked| unasked.given),
                now,
            )? =>
        {
            Some(Refusal::Echo)
        }
        refused => refused,
    };
    // A request may repeat a memory word for word, with new tags.
    let is_echo = refused == Some(Refusal::Echo) && unasked.is_none() && is_kept(engine, &place, &content)?;
    if let Some(refusal) = refused.filter(|_| !is_echo) {
        curated.reason = Some(refusal.reason());
        curated.took_ms = milliseconds(start);
        return Ok(curated);
    }

    let vector = vector_for(engine, &content)?;
    if let Err(state) = engine.model.get() {
        curated.degraded.push(Degraded { channel: Channel::Vector.into(), reason: state.why() });
    }
    let said = Said::of(&content);
    let holds = holds(engine, &content, now)?;
    let mut memory = new_memory(&request, &place, content, judged, said.slot.as_ref(), vector);
    memory.tags = tags;
    (memory.valid_from, memory.valid_to) = (holds.from, holds.until);
    memory.create_time = request.told_time.filter(|told| *told < now);
    if let Some(unasked) = unasked {
        (memory.source, memory.provenance) = (unasked.source.to_owned(), unasked.provenance);
    }
    if !memory.provenance.reviewed {
        memory.status = Status::Candidate;
    }
    let (kept, decision, other) = keep(engine, &place, &mut memory, &said, is_echo, now)?;
    decided(&mut curated, visibility, &memory, kept, &decision, other);
    curated.took_ms = milliseconds(start);
    Ok(curated)
}

/// Whether the requested type overrides a refusal. A caller that names a type for accounts wants the summary of a session
/// kept. A caller that names a type for lasting rules does not mean a step of the present work.
fn is_told_to_be(refusal: Refusal, told: Option<MemoryType>) -> bool {
    let accounts = [MemoryType::Digest, MemoryType::Handoff, MemoryType::Episode];
    let rules = [
        MemoryType::Preference,
        MemoryType::Convention,
        MemoryType::Decision,
        MemoryType::Procedure,
        MemoryType::Pattern,
        MemoryType::Gotcha,
    ];
    told.is_some_and(|told| {
        (refusal == Refusal::SessionSummary && accounts.contains(&told))
            || (refusal == Refusal::Step && rules.contains(&told))
    })
}

/// Decides and writes, until no other write came between the two.
fn keep(
    engine: &Engine,
    place: &Namespace,
    memory: &mut NewMemory,
    said: &Said,
    is_echo: bool,
    now: Timestamp,
) -> Result<(Kept, Decision, Option<Item>)> {
    let Said { claims, slot, frame } = said;
    let told = merge::Incoming {
        claims,
        slot: slot.as_ref(),
        frame,
        confidence: CONFIDENCE,
        time: now,
        first_time: memory.create_time,
    };
    let (mut read, mut likenesses) = (HashMap::new(), Likenesses::default());
    let mut attempt = 0;
    loop {
        attempt += 1;
        memory.id = free_id(engine, place, &memory.content)?;
        let newest = engine.store.coverage()?;
        let (near, seen) = if attempt == ATTEMPTS {
            // Other processes write here all the time, so the memory is kept beside those that it may repeat.
            (Vec::new(), ANYTHING)
        } else {
            let vector = memory.vector.as_ref();
            (neighbours(engine, place, &memory.content, said, vector, &newest)?, newest.change)
        };
        let mut decision = weigh(engine, &told, &near, &mut read, &mut likenesses);
        let other = decision.target.map(|at| near[at].item.clone());
        if let Some(other) = other.as_ref().filter(|other| is_heard_in_own_words(memory, &decision, other)) {
            // The other memory was only extracted, or came from outside; now a caller says it in its own words.
            decision.fate = CurateOutcome::Append;
            debug_assert!(other.id != memory.id, "the same words are confirmed");
        }
        let decided = Decided {
            standing: standing_of(memory, &decision, other.as_ref()),
            also: if memory.status == Status::Candidate {
                Vec::new()
            } else {
                decision.also.iter().map(|&at| near[at].item.row).collect()
            },
            why: reasons(&decision),
            is_observed: !is_echo,
            seen,
        };
        if let Some(kept) = engine.store.put_memory(memory, &decided, Stamp { now, actor: ACTOR })? {
            return Ok((kept, decision, other));
        }
    }
}

/// Whether a text replaces a memory that says the same but is unreviewed or comes from outside. Then only the caller's own
/// words are trusted.
fn is_heard_in_own_words(memory: &NewMemory, decision: &Decision, other: &Item) -> bool {
    decision.fate == CurateOutcome::Confirm
        && other.id != memory.id
        && other.tier != Tier::Pinned
        && other.provenance.yields_to(memory.provenance)
}

/// Decides, and reuses the analysis of memories from an earlier attempt.
fn weigh(
    engine: &Engine,
    told: &merge::Incoming<'_>,
    near: &[Neighbour],
    read: &mut HashMap<RowId, Said>,
    likenesses: &mut Likenesses,
) -> Decision {
    for one in near {
        read.entry(one.item.row).or_insert_with(|| Said::of(&one.item.content));
    }
    let kept = |one: &Neighbour, likeness: Option<f32>| merge::Existing {
        claims: &read[&one.item.row].claims,
        slot: read[&one.item.row].slot.as_ref(),
        frame: &read[&one.item.row].frame,
        confidence: one.item.confidence,
        time: one.item.create_time,
        cosine: one.cosine,
        likeness,
        pinned: one.item.tier == Tier::Pinned,
    };
    let mut memories: Vec<merge::Existing<'_>> = near.iter().map(|one| kept(one, None)).collect();
    let asked = merge::asked(told, &memories);
    likenesses.give(engine, &asked, &mut memories);
    decide(told, &memories, &Bands::default())
}

/// Returns what the store does with a memory. A candidate replaces only another candidate, and none of more trusted sources.
/// Where it would supersede another memory, a review is opened. Where it would only add detail, it is kept beside it.
fn standing_of(memory: &NewMemory, decision: &Decision, other: Option<&Item>) -> WriteAction {
    let decided = standing(decision, other);
    match (decided, other) {
        (WriteAction::Replaces(row), Some(other))
            if memory.status == Status::Candidate
                && (other.status != Status::Candidate
                    || other.provenance.least_trusted < memory.provenance.least_trusted) =>
        {
            if decision.fate == CurateOutcome::Append {
                WriteAction::Relates(
                    row,
                    Relation::RelatedTo,
                    decision.why.cosine.unwrap_or(1.0).clamp(0.0, 1.0),
                )
            } else {
                WriteAction::Disputes(row)
            }
        }
        (decided, _) => decided,
    }
}

/// Returns what the store does by the decision alone.
fn standing(decision: &Decision, other: Option<&Item>) -> WriteAction {
    let Some(other) = other else { return WriteAction::Alone };
    match (decision.fate, decision.stays) {
        (CurateOutcome::Create | CurateOutcome::Refuse, _) => WriteAction::Alone,
        (CurateOutcome::Confirm, _) => WriteAction::Confirms(other.row),
        (CurateOutcome::Link, _) => {
            let strength = decision.why.cosine.or(decision.why.jaccard).unwrap_or(1.0).clamp(0.0, 1.0);
            WriteAction::Relates(other.row, Relation::RelatedTo, strength)
        }
        (CurateOutcome::Append, _) | (CurateOutcome::Supersede, Side::Told) => {
            WriteAction::Replaces(other.row)
        }
        (CurateOutcome::Supersede, Side::Kept) => WriteAction::Yields(other.row),
        (CurateOutcome::Contradict, _) => WriteAction::Disputes(other.row),
    }
}

/// Returns the rule that decided and its figures, for the event. Words of either text are not among them.
fn reasons(decision: &Decision) -> Map<String, Value> {
    let why = &decision.why;
    let figure = |name: &str, value: Option<f64>| {
        value.map(|value| (name.to_owned(), json!((value * 1e3).round() / 1e3)))
    };
    [
        Some(("rule".to_owned(), json!(why.rule))),
        figure("cosine", why.cosine.map(f64::from)),
        figure("jaccard", why.jaccard.map(f64::from)),
        figure("days", why.days),
        figure("surer", why.surer.map(f64::from)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether a memory has exactly this text.
fn is_kept(engine: &Engine, place: &Namespace, content: &str) -> Result<bool> {
    let id = free_id(engine, place, content)?;
    Ok(!engine.store.rows_by_id(&id, &Visibility::everything(), 1)?.is_empty())
}

impl Engine {
    /// Keeps a memory. When this returns, every process finds it.
    pub fn curate(
        &self,
        visibility: &Visibility,
        request: &CurateRequest,
        now: Timestamp,
    ) -> Result<Curated> {
        let curated = curate_as(self, visibility, request, None, now)?;
        self.pending.has_kept.fetch_or(curated.accepted, Ordering::Relaxed);
        Ok(curated)
    }
}
