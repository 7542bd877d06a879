//! Requests and results of memory maintenance: sweeps, pruning, consolidation, undo, feedback, housekeeping.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Item, thousandths};
use crate::item::{Facts, MemoryType, Origin, Scope, TakenHow, Turn, Verdict};

/// What somebody decides about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateRuling {
    /// It is a memory from now on.
    Keep,
    /// It leaves answers.
    Drop,
}

/// Whether a memory is to be pinned: a pinned one never fades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// It is pinned from now on.
    Pin,
    /// The pin is taken out.
    Unpin,
}

/// One memory that a run turned, or would.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Turned {
    /// Its id.
    pub id: String,
    /// Its first sentence.
    pub summary: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// What becomes of it.
    pub turn: Turn,
    /// Why.
    pub why: String,
    /// Its effective importance now, 0..1.
    #[serde(serialize_with = "thousandths")]
    pub strength: f64,
    /// When it was last used or told.
    pub access_time: Timestamp,
}

/// How a sweep is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepRequest {
    /// Only looked at.
    pub dry_run: bool,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Swept {
    /// Candidates that are active now.
    pub promoted: usize,
    /// Memories that fade now.
    pub demoted: usize,
    /// Memories that fade no longer.
    pub raised: usize,
    /// Memories that left answers.
    pub archived: usize,
    /// Turns that wait for the next sweep: one does 10,000.
    pub waiting: usize,
    /// Only looked at.
    pub dry_run: bool,
    /// Its event, for `undo`; none of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Each memory that turned.
    pub turned: Vec<Turned>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Why nothing was done, or would be: the clock jumped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_jump: Option<ClockJump>,
}

/// A clock that is too far from the time that the store trusts for anything to be archived by it: nobody used the store for a
/// month, or the clock is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClockJump {
    /// The last time that the store trusted.
    pub trusted_time: Timestamp,
    /// What the clock says.
    pub now: Timestamp,
    /// From then on, by this clock, it is believed, where it goes on from here.
    pub acts_from: Timestamp,
}

/// How memories are pruned.
#[derive(Clone, Debug, PartialEq)]
pub struct PruneRequest {
    /// Memories whose effective importance is below this are archived, 0..1.
    pub threshold: f64,
    /// Only looked at.
    pub dry_run: bool,
}

impl PruneRequest {
    /// The threshold of a request that names none.
    pub const THRESHOLD: f64 = 0.05;
}

impl Default for PruneRequest {
    /// Archives what is below [`PruneRequest::THRESHOLD`].
    fn default() -> Self {
        Self { threshold: Self::THRESHOLD, dry_run: false }
    }
}

/// What was pruned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pruned {
    /// Memories that left answers.
    pub pruned: usize,
    /// Candidate and active memories that stay.
    pub remaining: usize,
    /// Memories as weak that wait for the next run: one does 10,000.
    pub waiting: usize,
    /// Effective importance below which they went.
    pub threshold: f64,
    /// Only looked at.
    pub dry_run: bool,
    /// Its event, for `undo`; none of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Each of them, weakest first.
    pub turned: Vec<Turned>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Why nothing was done, or would be: the clock jumped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_jump: Option<ClockJump>,
}

/// How memories are consolidated.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsolidateRequest {
    /// Cosine from which on two memories are near, above 0 and up to 1.
    pub similarity: f32,
    /// Only looked at.
    pub dry_run: bool,
    /// How long it may take, in milliseconds; what is left waits for the next run.
    pub most_ms: u64,
    /// Whether the language model that the settings name writes the patterns' texts, where it says nothing else than their
    /// members do. A run that is only looked at asks nobody.
    pub llm: bool,
}

impl Default for ConsolidateRequest {
    /// A cosine of .90 and a minute of work.
    fn default() -> Self {
        Self { similarity: 0.9, dry_run: false, most_ms: 60_000, llm: false }
    }
}

/// What was consolidated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Consolidated {
    /// Memories that a pattern stands for now.
    pub merged: usize,
    /// Patterns that were made.
    pub patterns_created: usize,
    /// Clusters that wait for the next run, because time was up.
    pub waiting: usize,
    /// Only looked at.
    pub dry_run: bool,
    /// Each pattern, with its event for `undo`.
    pub clusters: Vec<Cluster>,
    /// Memories that were looked at.
    pub compared: usize,
    /// Memories without a vector of the present model, which no cluster can hold.
    pub without_vector: usize,
    /// What the language model did; nothing where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm: Option<Wording>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// Memories that say much the same, and the pattern that stands for them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cluster {
    /// The pattern's id; none of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Its event, for `undo`; none of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Its text.
    pub content: String,
    /// The type of its members.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Ids of its members, oldest first.
    pub members: Vec<String>,
    /// The language model that wrote its text; none where that is the members' own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
}

/// What a language model wrote of patterns. One that is of a single text already is not asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Wording {
    /// Its name.
    pub model: String,
    /// Patterns whose text is its.
    pub written: usize,
    /// Patterns that kept their members' own words, by why.
    pub refused: Vec<Refused>,
}

/// Why texts of a language model were not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// How many.
    pub patterns: usize,
}

/// What one origin wrote, to be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    /// The session, host or source; it must name one.
    pub origin: Origin,
    /// Only looked at.
    pub dry_run: bool,
}

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Undone {
    /// The event that says so; 0 where nothing could be taken back.
    pub event: u64,
    /// The event that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The origin that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What that was: `sweep`, `curate`, …; `origin`.
    pub action: String,
    /// Ids of the items that are again as they were.
    pub items: Vec<String>,
    /// What became of each of them, where an origin was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// What could not be taken back.
    pub unmoved: Vec<Unmoved>,
    /// Nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// An item, and what became of it when an origin was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Taken {
    /// Its id.
    pub id: String,
    /// A memory's first sentence; the beginning of a turn.
    pub summary: String,
    /// What.
    pub what: TakenHow,
}

/// An item that an undo left as it is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unmoved {
    /// Its id.
    pub id: String,
    /// Why.
    pub why: String,
}

/// What feedback did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Feedback {
    /// The memory as it is now.
    pub memory: Item,
    /// What was said of it.
    pub verdict: Verdict,
    /// Its confidence before, 0..1.
    pub confidence_before: f32,
    /// Its event, for `undo`; 0 to whoever sees a part of the store, and may not undo.
    pub event: u64,
}

/// What a scope holds, beside its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Held {
    /// The scope.
    pub scope: Scope,
    /// Whose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Candidate and active memories.
    pub memories: u64,
    /// The most that a sweep leaves, as far as they fade; 0 is no limit.
    pub limit: u64,
}

/// What a process that lives long does beside its answers, at most.
#[derive(Clone, Debug, PartialEq)]
pub struct MaintenanceRequest {
    /// Whether and how it prunes by itself; not unless somebody asked for it.
    pub prune: Option<PruneEvery>,
    /// How long it may sweep, prune and consolidate, each, in milliseconds. What is begun is ended: a third of a second, or one
    /// memory in the model.
    pub most_ms: u64,
}

impl Default for MaintenanceRequest {
    fn default() -> Self {
        Self { prune: None, most_ms: 10_000 }
    }
}

/// Pruning that comes again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneEvery {
    /// Effective importance below which memories go, 0..1.
    pub threshold: f64,
    /// Hours from one run, whoever made it, to the next; at least 1.
    pub hours: u32,
}

/// What was done beside the answers; nothing where nothing was due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MaintenanceReport {
    /// Sweeps, each with its event for `undo`: more than one where more than 10,000 memories turned.
    pub swept: Vec<Swept>,
    /// Prunings, in the same way.
    pub pruned: Vec<Pruned>,
    /// Scopes and owners that held 80 % of their limit, and were consolidated.
    pub crowded: Vec<Held>,
    /// What became of their memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidated: Option<Consolidated>,
    /// Whether an index was compacted: there may be more to compact.
    #[serde(rename = "folded")]
    pub compacted: bool,
    /// What failed; all else was done.
    pub failed: Vec<Neglected>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// A part of the housekeeping that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neglected {
    /// `sweep`, `prune`, `consolidate` or `fold`.
    pub part: &'static str,
    /// The error.
    pub why: String,
}

impl Item {
    /// What its life depends on.
    pub fn facts(&self) -> Facts {
        Facts {
            kind: self.kind,
            memory_type: self.memory_type,
            importance: self.importance,
            confidence: self.confidence,
            access_count: self.access_count,
            decay_rate: self.decay_rate,
            created: self.create_time,
            accessed: self.access_time,
            tier: self.tier,
            asked_time: None,
        }
    }
}
