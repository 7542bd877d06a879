//! Keeps a memory: admits, classifies, embeds and compares a text, then writes the decision in one transaction.

pub(crate) mod alias;
pub(crate) mod choice;
pub(crate) mod class;
pub(crate) mod echo;
pub(crate) mod neighbours;
pub(crate) mod relate;
pub(crate) mod relations;
pub(crate) mod review;
pub(crate) mod secrets;
pub(crate) mod settle;
pub(crate) mod write;

use jiff::Timestamp;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::engine::anchors::anchors_of;
use crate::engine::curate::choice::Choice;
use crate::engine::curate::class::TextClass;
use crate::engine::curate::echo::is_echo;
use crate::engine::curate::neighbours::{Neighbour, neighbours};
use crate::engine::curate::relations::Relations;
use crate::engine::curate::secrets::clean_request;
use crate::engine::curate::settle::CallersWord;
use crate::engine::curate::write::{ANYTHING, CONFIDENCE, check, free_id, new_memory, normal_tags, number};
use crate::engine::late::vector_for;
use crate::engine::query::when::holds;
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine, missing};
use crate::error::{Error, Missing, Result};
use crate::item::{
    Channel, CurateOutcome, Durability, Gate, MemoryType, Provenance, RowId, Status, Tier, Visibility,
};
use crate::memory::analysis::Analysis;
use crate::memory::consolidate::happens;
use crate::memory::gate::{self, Cut, Refusal};
use crate::memory::judge::Judged;
use crate::memory::merge::{self, Decision, decide};
use crate::request::{CurateRequest, Curated, Degraded};
use crate::store::{Decided, Kept, Namespace, NewMemory, Stamp};

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
fn undecided(
    judged: &Judged,
    durability: Durability,
    verdict: &gate::Verdict,
    cut: &Result<Cut, gate::Named>,
) -> Curated {
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
        durability,
        other: None,
        possible: Vec::new(),
        redacted: redacted.map(|kind| kind.label().to_owned()).collect(),
        redacted_fields: cut.iter().flat_map(|cut| &cut.fields).map(|field| (*field).to_owned()).collect(),
        is_candidate: false,
        anchors: 0,
        review: None,
        degraded: Vec::new(),
    }
}

/// Adds the decision and the written memory to the answer.
fn decided(curated: &mut Curated, visibility: &Visibility, memory: &NewMemory, kept: Kept, choice: &Choice) {
    curated.accepted = true;
    curated.is_candidate = memory.status == Status::Candidate && !kept.is_update;
    let is_new = matches!(choice.fate, CurateOutcome::Create | CurateOutcome::Link);
    curated.outcome = match kept.review {
        Some(_) => CurateOutcome::Contradict,
        // Another process wrote the same text meanwhile.
        None if kept.is_update && is_new => CurateOutcome::Confirm,
        None => choice.fate,
    };
    if !(kept.is_update && is_new) {
        curated.possible = choice.possible();
    }
    curated.other = choice.other();
    curated.is_update = kept.is_update;
    curated.review = match (kept.review, &curated.other) {
        (Some(review), Some(other)) => Some(number(visibility, review, &kept.id, &other.id)),
        (review, _) => review,
    };
    curated.id = Some(kept.id);
    curated.anchors = memory.anchors.len();
}

/// A text that admission accepted, not yet compared with anything.
pub(crate) struct Admitted {
    /// The memory that it becomes, without an id.
    pub(crate) memory: NewMemory,
    /// Its namespace.
    pub(crate) place: Namespace,
    /// What the caller says about earlier memories.
    pub(crate) word: CallersWord,
    /// The answer before the decision.
    pub(crate) curated: Curated,
    /// Whether it repeats a memory word for word that an answer has just returned.
    is_echo: bool,
}

/// The verdict of admission on a text.
pub(crate) enum AdmissionOutcome {
    /// The text is not kept, for the reason in the answer.
    Refused(Box<Curated>),
    /// The text may be kept.
    Admitted(Box<Admitted>),
}

/// Admits a text: checks it, cuts its secrets out, classifies and embeds it.
pub(crate) fn admit(
    engine: &Engine,
    visibility: &Visibility,
    request: &CurateRequest,
    unasked: Option<Unasked<'_>>,
    now: Timestamp,
) -> Result<AdmissionOutcome> {
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
    let word = CallersWord::of(engine, visibility, &place, &request)?;
    word.check(content)?;
    let verdict = gate::judge(content, strictness, &gate::Constants::default());
    let redacted = verdict.redacted.as_ref();
    let content = redacted.map_or(content, |redacted| &redacted.text).to_owned();
    let class = TextClass::of(engine, &content)?;
    let judged = class.judge(&content, request.memory_type, CONFIDENCE);
    let mut curated = undecided(&judged, class.durability, &verdict, &cut);
    curated.degraded.extend(missing::degraded(engine)?);
    if let Err(named) = cut {
        curated.reason = Some(named.reason());
        return Ok(AdmissionOutcome::Refused(Box::new(curated)));
    }
    let given = unasked.map_or(&[][..], |unasked| unasked.given);
    let refused = match verdict.refused {
        // The echo check comes last, because it reads what answers returned.
        None if strictness != Gate::Off && is_echo(engine, visibility, &place, &content, given, now)? => {
            Some(Refusal::Echo)
        }
        None if class.is_junk(strictness) && !is_account(request.memory_type) => Some(Refusal::Junk),
        refused => refused,
    };
    // A request may repeat a memory word for word, with new tags.
    let is_echo = refused == Some(Refusal::Echo) && unasked.is_none() && is_kept(engine, &place, &content)?;
    if let Some(refusal) = refused.filter(|_| !is_echo) {
        curated.reason = Some(refusal.reason());
        return Ok(AdmissionOutcome::Refused(Box::new(curated)));
    }

    let vector = vector_for(engine, &content)?;
    if vector.is_none()
        && let Some(reason) = engine.model.why_none()
    {
        curated.degraded.push(Degraded { channel: Channel::Vector.into(), reason });
    }
    let holds = holds(engine, &content, now)?;
    let mut memory = new_memory(&request, &place, content, tags, judged, vector);
    (memory.valid_from, memory.valid_to) = (holds.from, holds.until);
    memory.create_time = request.told_time.filter(|told| *told < now);
    memory.anchors = anchors_of(request.root.as_deref(), &memory.content);
    if let Some(unasked) = unasked {
        (memory.source, memory.provenance) = (unasked.source.to_owned(), unasked.provenance);
    }
    if !memory.provenance.reviewed {
        memory.status = Status::Candidate;
    }
    Ok(AdmissionOutcome::Admitted(Box::new(Admitted { memory, place, word, curated, is_echo })))
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
    let mut curated = match admit(engine, visibility, request, unasked, now)? {
        AdmissionOutcome::Refused(curated) => *curated,
        AdmissionOutcome::Admitted(mut admitted) => {
            let (kept, choice) = keep(engine, &mut admitted, now)?;
            let Admitted { memory, mut curated, .. } = *admitted;
            decided(&mut curated, visibility, &memory, kept, &choice);
            curated
        }
    };
    curated.took_ms = milliseconds(start);
    Ok(curated)
}

/// Whether somebody named a type for accounts. Whoever does wants the summary of a session kept, which reads like junk.
fn is_account(told: Option<MemoryType>) -> bool {
    matches!(told, Some(MemoryType::Digest | MemoryType::Handoff | MemoryType::Episode))
}

/// Decides and writes, until no other write came between the two.
pub(crate) fn keep(engine: &Engine, admitted: &mut Admitted, now: Timestamp) -> Result<(Kept, Choice)> {
    let Admitted { memory, place, is_echo, word, .. } = admitted;
    let text = Analysis::of(&memory.content);
    let mut relations = Relations::default();
    let mut attempt = 0;
    loop {
        attempt += 1;
        memory.id = free_id(engine, place, &memory.content)?;
        let newest = engine.store.coverage()?;
        let (mut near, seen) = if attempt == ATTEMPTS || word.main.is_some() {
            // Other processes write here all the time, so the memory is kept beside those that it may repeat. Nor does it
            // matter what else is there where the caller says what the text is.
            (Vec::new(), ANYTHING)
        } else {
            let vector = memory.vector.as_ref();
            (neighbours(engine, place, &memory.content, vector, &newest)?, newest.change)
        };
        near.retain(|one| word.different.iter().all(|item| item.row != one.item.row));
        let choice = choose(engine, memory, &text, word, &near, &mut relations)?;
        let is_candidate = memory.status == Status::Candidate;
        let decided = Decided {
            standing: choice.action(memory),
            possible: choice.possible_rows(),
            different: word.different.iter().map(|item| item.row).collect(),
            is_told: !word.is_nothing() && !is_candidate,
            why: choice.reasons.clone(),
            is_observed: !*is_echo,
            seen,
        };
        if let Some(kept) = engine.store.put_memory(memory, &decided, Stamp { now, actor: ACTOR })? {
            return Ok((kept, choice));
        }
        if let Some((item, _)) = &word.main
            && attempt >= ATTEMPTS
        {
            // Somebody else replaced or forgot it meanwhile.
            return Err(Error::NotFound { what: Missing::Item, id: item.id.clone() });
        }
    }
}

/// Chooses what becomes of a memory beside those that are near: by the caller's word, else by the rules and the model.
pub(crate) fn choose(
    engine: &Engine,
    memory: &NewMemory,
    text: &Analysis,
    word: &CallersWord,
    near: &[Neighbour],
    relations: &mut Relations,
) -> Result<Choice> {
    let mut choice = if let Some((item, ruling)) = &word.main {
        Choice::told(item, *ruling, text)
    } else {
        let known = near.iter().position(|one| one.has_wording(text));
        let decision = if let Some(at) = known.or_else(|| near.iter().position(|one| one.has_text(text))) {
            said_before(at)
        } else {
            relations.ask(engine, text, near)?;
            let told = merge::Incoming {
                text,
                happened: happens(Some(memory.memory_type)),
                first_time: memory.create_time,
            };
            weigh(&told, near, relations)
        };
        Choice::ruled(&decision, near, text)
    };
    if choice.is_heard_in_own_words(memory) {
        // The other memory was only extracted, or came from outside; now a caller says it in its own words.
        choice.fate = CurateOutcome::Append;
    }
    Ok(choice)
}

/// Decides about a text that is, but for its form, that of a memory or a wording of it.
fn said_before(at: usize) -> Decision {
    Decision::new(CurateOutcome::Confirm, at, merge::Why::of(merge::Rule::SameText))
}

/// Decides about a text beside the memories near it.
fn weigh(told: &merge::Incoming<'_>, near: &[Neighbour], relations: &Relations) -> Decision {
    let kept = near.iter().map(|one| merge::Existing {
        text: &one.text,
        happened: happens(one.item.memory_type),
        time: one.item.create_time,
        cosine: one.cosine,
        relation: relations.of(one.item.row),
        pinned: one.item.tier == Tier::Pinned,
    });
    decide(told, &kept.collect::<Vec<_>>())
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
