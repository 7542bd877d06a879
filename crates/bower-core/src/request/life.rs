//! Requests and results of memory maintenance: sweeps, pruning, consolidation, undo and feedback.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Item, LlmUses, thousandths};
use crate::item::{Facts, MemoryType, Origin, Scope, TakenHow, Turn, Verdict};

/// A person's decision about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateRuling {
    /// The candidate becomes a memory.
    Keep,
    /// The candidate leaves answers.
    Drop,
}

/// A change of a memory's pin. A pinned memory never fades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Pins the memory.
    Pin,
    /// Removes the pin.
    Unpin,
}

/// A memory whose state a run changed, or would change in a dry run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Turned {
    /// Its id.
    pub id: String,
    /// Its first sentence.
    pub summary: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The change of its state.
    pub turn: Turn,
    /// Why it changed.
    pub why: String,
    /// Its present effective importance, 0..1.
    #[serde(serialize_with = "thousandths")]
    pub strength: f64,
    /// When it was last used or repeated.
    pub access_time: Timestamp,
}

/// Options of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepRequest {
    /// Changes nothing.
    pub dry_run: bool,
}

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Swept {
    /// Number of candidates that became active.
    pub promoted: usize,
    /// Number of memories that now fade.
    pub demoted: usize,
    /// Number of memories that no longer fade.
    pub raised: usize,
    /// Number of archived memories.
    pub archived: usize,
    /// Number of changes left for the next sweep; one sweep makes 10,000.
    pub waiting: usize,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Its event, for `undo`; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The memories whose state changed.
    pub turned: Vec<Turned>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// The clock jump because of which nothing was, or would be, changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_jump: Option<ClockJump>,
}

/// A clock that differs too much from the store's trusted time to archive anything. Either nobody used the store for a
/// month, or the clock is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClockJump {
    /// The last time that the store trusted.
    pub trusted_time: Timestamp,
    /// The clock's present time.
    pub now: Timestamp,
    /// The time from which this clock is trusted, provided that it continues from here.
    pub acts_from: Timestamp,
}

/// Options of pruning.
#[derive(Clone, Debug, PartialEq)]
pub struct PruneRequest {
    /// Effective importance below which memories are archived, 0..1.
    pub threshold: f64,
    /// Changes nothing.
    pub dry_run: bool,
}

impl PruneRequest {
    /// The default threshold.
    pub const THRESHOLD: f64 = 0.05;
}

impl Default for PruneRequest {
    /// Archives memories below [`PruneRequest::THRESHOLD`].
    fn default() -> Self {
        Self { threshold: Self::THRESHOLD, dry_run: false }
    }
}

/// The result of pruning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pruned {
    /// Number of archived memories.
    pub pruned: usize,
    /// Number of candidate and active memories that remain.
    pub remaining: usize,
    /// Number of memories below the threshold left for the next run; one run archives 10,000.
    pub waiting: usize,
    /// The threshold of effective importance.
    pub threshold: f64,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Its event, for `undo`; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// The archived memories, weakest first.
    pub turned: Vec<Turned>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// The clock jump because of which nothing was, or would be, changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_jump: Option<ClockJump>,
}

/// Options of consolidation.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsolidateRequest {
    /// Least cosine of two similar memories, above 0 and up to 1.
    pub similarity: f32,
    /// Changes nothing.
    pub dry_run: bool,
    /// Time limit in milliseconds; remaining clusters wait for the next run.
    pub most_ms: u64,
    /// Whether the configured language model writes the patterns' texts. A text is used only if it states nothing but
    /// what the members state. A dry run sends no requests.
    pub llm: bool,
}

impl Default for ConsolidateRequest {
    /// Returns a cosine of .90 and a minute of work.
    fn default() -> Self {
        Self { similarity: 0.9, dry_run: false, most_ms: 60_000, llm: false }
    }
}

/// The result of consolidation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Consolidated {
    /// Number of memories that a new pattern replaces.
    pub merged: usize,
    /// Number of new patterns.
    pub patterns_created: usize,
    /// Number of clusters left for the next run because the time was up.
    pub waiting: usize,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The clusters, each with its pattern's event for `undo`.
    pub clusters: Vec<Cluster>,
    /// Number of memories that were compared.
    pub compared: usize,
    /// Memories without a vector of the current model; they cannot join a cluster.
    pub without_vector: usize,
    /// The language model's part; `None` if it was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm: Option<Wording>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// Similar memories, and the pattern that replaces them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cluster {
    /// The pattern's id; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Its event, for `undo`; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// Its text.
    pub content: String,
    /// The type of its members.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Ids of its members, oldest first.
    pub members: Vec<String>,
    /// The language model that wrote its text; `None` if the text is a member's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
}

/// Patterns' texts by a language model. A pattern whose members share one text needs no request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Wording {
    /// The model's name.
    pub model: String,
    /// Number of patterns whose text it wrote.
    pub written: usize,
    /// Patterns that kept a member's text, by reason.
    pub refused: Vec<Refused>,
    /// The requests and what they cost.
    pub uses: LlmUses,
}

/// Texts of a language model that were not used for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    /// The reason.
    pub why: String,
    /// Number of patterns.
    pub patterns: usize,
}

/// A request to undo everything that one origin wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    /// The session, host or source; at least one must be set.
    pub origin: Origin,
    /// Changes nothing.
    pub dry_run: bool,
}

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Undone {
    /// The event that records the undo; 0 if nothing could be undone.
    pub event: u64,
    /// The event that was to be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// The origin that was to be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The undone action: `sweep`, `curate`, …; `origin`.
    pub action: String,
    /// Ids of the restored items.
    pub items: Vec<String>,
    /// The effect on each item, if an origin was undone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// The items that could not be restored.
    pub unmoved: Vec<Unmoved>,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The effect on one item of undoing an origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Taken {
    /// Its id.
    pub id: String,
    /// A memory's first sentence, or the beginning of a turn.
    pub summary: String,
    /// The effect.
    pub what: TakenHow,
}

/// An item that an undo did not change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unmoved {
    /// Its id.
    pub id: String,
    /// The reason.
    pub why: String,
}

/// The result of feedback.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Feedback {
    /// The memory after the feedback.
    pub memory: Item,
    /// The feedback.
    pub verdict: Verdict,
    /// The confidence before, 0..1.
    pub confidence_before: f32,
    /// Its event, for `undo`. 0 for a caller who may see only a part of the store, and therefore may not undo.
    pub event: u64,
}

/// Number of memories in a scope, with its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Held {
    /// The scope.
    pub scope: Scope,
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Candidate and active memories.
    pub memories: u64,
    /// Most memories that a sweep leaves, as far as they may fade; 0 is no limit.
    pub limit: u64,
}

/// Limits of the maintenance that a long-lived process runs beside its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct MaintenanceRequest {
    /// Automatic pruning, if it was requested.
    pub prune: Option<PruneEvery>,
    /// Time limit in milliseconds for each of sweeping, pruning and consolidating. A step that has begun is completed:
    /// a third of a second, or one memory in the model.
    pub most_ms: u64,
}

impl Default for MaintenanceRequest {
    fn default() -> Self {
        Self { prune: None, most_ms: 10_000 }
    }
}

/// Repeated pruning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneEvery {
    /// Effective importance below which memories are archived, 0..1.
    pub threshold: f64,
    /// Hours between runs, whichever process runs them; at least 1.
    pub hours: u32,
}

/// The result of maintenance; empty if nothing was due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MaintenanceReport {
    /// Sweeps, each with its event for `undo`. There are several if more than 10,000 memories changed.
    pub swept: Vec<Swept>,
    /// Prunings, likewise.
    pub pruned: Vec<Pruned>,
    /// Scopes and owners that had reached 80 % of their limit and were consolidated.
    pub crowded: Vec<Held>,
    /// The consolidation of their memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidated: Option<Consolidated>,
    /// What the language model settled, where the setting `llm_settle` asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<SettledByModel>,
    /// Whether an index was compacted; there may be more to compact.
    #[serde(rename = "folded")]
    pub compacted: bool,
    /// The parts that failed; all others were done.
    pub failed: Vec<Neglected>,
    /// Wall time inside the engine.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
}

/// What a language model settled of the pairs that nobody did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettledByModel {
    /// The model's name.
    pub model: String,
    /// Earlier memories that were replaced.
    pub replaced: usize,
    /// Memories that became another wording of an earlier one.
    pub confirmed: usize,
    /// Pairs that are different facts.
    pub different: usize,
    /// Answers that could not be read; their pairs stay open.
    pub unread: usize,
    /// Questions without an answer; their pairs stay open.
    pub failed: usize,
    /// Why the last of these had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The requests and what they cost.
    pub uses: LlmUses,
    /// The events, one for each settled pair, for `undo`.
    pub events: Vec<u64>,
}

/// A part of maintenance that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neglected {
    /// The part: `sweep`, `prune`, `consolidate`, `settle`, `codes` or `fold`.
    pub part: &'static str,
    /// The error.
    pub why: String,
}

impl Item {
    /// Returns the fields that its life depends on.
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
