//! Defines the answers that the engine does not have, such as the state of the part of a store that a caller sees.

use bower_core::item::{CheckedAnchor, Scope};
use bower_core::request::{
    CacheStatus, Degraded, Held, Item, MemoryWording, ModelState, Review, StatusReport, VisibleStatus,
    WorkerState, WorkerStatus,
};
use bower_core::shared::strength;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

use super::Bounds;

/// An item, with its present strength and its exposures.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Got {
    /// The item.
    pub memory: Item,
    /// Present strength of its importance, 0..1.
    pub strength: f64,
    /// Number of answers that returned it, prefetches included.
    pub given_count: u64,
    /// Time when an answer last returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_time: Option<Timestamp>,
    /// Its other wordings, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<MemoryWording>,
    /// What became of the files, symbols and commits that it names, as far as they were checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<CheckedAnchor>,
}

impl Got {
    /// Creates the answer. `given` is how often answers returned the item, and when last.
    pub(super) fn new(memory: Item, given: Option<(u64, Timestamp)>, now: Timestamp) -> Self {
        Self {
            strength: (strength(&memory.facts(), now) * 1e3).round() / 1e3,
            given_count: given.map_or(0, |(times, _)| times),
            given_time: given.map(|(_, last)| last),
            wordings: Vec::new(),
            anchors: Vec::new(),
            memory,
        }
    }
}

/// Contradictions, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reviews {
    /// The reviews, with both sides of each.
    pub reviews: Vec<Review>,
}

/// A memory that was pinned or unpinned.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pinned {
    /// The memory after the change.
    pub memory: Item,
}

/// Counts of stored items and the state of the indexes, as far as the caller may see them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreState {
    /// The whole store, for a caller who sees everything.
    Whole(Box<StatusReport>),
    /// The items within the bounds, for a caller with bounds.
    Part(Box<StorePart>),
}

/// Health of the models, the cache and the maintenance, on one page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HealthReport {
    /// `ok`, or `degraded` if answers or vectors lack a part.
    pub status: &'static str,
    /// The model that answers, and its state.
    pub model: ModelState,
    /// The worker that makes missing vectors; absent if none had anything to do yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerStatus>,
    /// Items without a vector of the model that answers.
    pub queue: u64,
    /// The cache of vectors, with its hit ratios.
    pub cache: CacheStatus,
    /// When memories were last swept, pruned and consolidated.
    pub last_runs: BTreeMap<String, Timestamp>,
    /// Number of memories of each scope and owner, with its limit.
    pub scopes: Vec<Held>,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// Missing or damaged parts of the store.
    pub degraded: Vec<Degraded>,
}

impl HealthReport {
    /// Selects the health from a status.
    pub(super) fn new(report: StatusReport, degraded: Vec<Degraded>) -> Self {
        let works =
            |worker: &WorkerStatus| worker.state != WorkerState::Unavailable || report.unembedded == 0;
        let is_well = degraded.is_empty()
            && report.index_healthy
            && report.model.reason.is_none()
            && report.worker.as_ref().is_none_or(works);
        Self {
            status: if is_well { "ok" } else { "degraded" },
            model: report.model,
            worker: report.worker,
            queue: report.unembedded,
            cache: report.cache,
            last_runs: report.last_runs,
            scopes: report.scopes,
            index_healthy: report.index_healthy,
            degraded,
        }
    }
}

/// State of the part of a store within a caller's bounds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StorePart {
    /// The caller's bounds.
    pub bound_to: BoundTo,
    /// Number of memories that are neither archived nor superseded.
    pub total_memories: u64,
    /// Number of chunks.
    pub total_chunks: u64,
    /// Number of memories by type.
    pub by_type: BTreeMap<String, u64>,
    /// Number of items by collection.
    pub by_collection: BTreeMap<String, u64>,
    /// Number of memories of each scope and owner within the bounds, with its limit. Empty for bounds with collections,
    /// which have no limit.
    pub scopes: Vec<Held>,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// The local model and its state.
    pub model: ModelState,
}

impl StorePart {
    /// Creates the state from the counts within the bounds.
    pub(super) fn new(bounds: &Bounds, counted: VisibleStatus) -> Self {
        Self {
            bound_to: BoundTo {
                scope: bounds.scope,
                owner: bounds.owner.clone(),
                collections: bounds.collections.clone(),
            },
            total_memories: counted.total_memories,
            total_chunks: counted.total_chunks,
            by_type: counted.by_type,
            by_collection: counted.by_collection,
            scopes: counted.scopes,
            index_healthy: counted.index_healthy,
            model: counted.model,
        }
    }
}

/// Bounds of a caller.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoundTo {
    /// The only scope that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The only owner whose items it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The only collections that it sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
}

impl StoreState {
    /// Returns the number of items by collection.
    pub fn by_collection(&self) -> &BTreeMap<String, u64> {
        match self {
            Self::Whole(report) => &report.by_collection,
            Self::Part(part) => &part.by_collection,
        }
    }

    /// Returns the state of the local model.
    pub fn model(&self) -> &ModelState {
        match self {
            Self::Whole(report) => &report.model,
            Self::Part(part) => &part.model,
        }
    }
}
