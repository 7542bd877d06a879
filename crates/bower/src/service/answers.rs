//! Defines the answers whose form is not the engine's, such as the state of the part of a store that a caller sees.

use bower_core::item::Scope;
use bower_core::request::{Held, Item, ModelState, Review, StatusReport, VisibleStatus};
use bower_core::shared::strength;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

use super::Bounds;

/// An item, and what it counts now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Got {
    /// The item.
    pub memory: Item,
    /// Importance as it counts now, 0..1.
    pub strength: f64,
    /// How often answers gave it, asked for or not.
    pub given_count: u64,
    /// When an answer gave it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_time: Option<Timestamp>,
}

impl Got {
    /// With how often answers gave it, and when last.
    pub(super) fn new(memory: Item, given: Option<(u64, Timestamp)>, now: Timestamp) -> Self {
        Self {
            strength: (strength(&memory.facts(), now) * 1e3).round() / 1e3,
            given_count: given.map_or(0, |(times, _)| times),
            given_time: given.map(|(_, last)| last),
            memory,
        }
    }
}

/// Contradictions, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reviews {
    /// Both sides of each.
    pub reviews: Vec<Review>,
}

/// A memory that was pinned, or is no longer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pinned {
    /// As it is now.
    pub memory: Item,
}

/// How much is stored and whether the indexes match it, as far as whoever asks may see it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreState {
    /// To whoever sees everything: the whole store.
    Whole(Box<StatusReport>),
    /// To whoever is bound: what is within the bounds, and nothing of the rest.
    Part(Box<StorePart>),
}

/// What of a store is within somebody's bounds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StorePart {
    /// The bounds.
    pub bound_to: BoundTo,
    /// Memories that are not archived or superseded.
    pub total_memories: u64,
    /// Chunks.
    pub total_chunks: u64,
    /// Memories by type.
    pub by_type: BTreeMap<String, u64>,
    /// Items by collection.
    pub by_collection: BTreeMap<String, u64>,
    /// What each scope and owner within holds, beside its limit; not told of collections, for which there is none.
    pub scopes: Vec<Held>,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// The local model and whether it is there.
    pub model: ModelState,
}

impl StorePart {
    /// What was counted within some bounds.
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

/// What somebody is bound to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoundTo {
    /// Only this scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Only this owner's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only these collections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
}

impl StoreState {
    /// Items by collection.
    pub fn by_collection(&self) -> &BTreeMap<String, u64> {
        match self {
            Self::Whole(report) => &report.by_collection,
            Self::Part(part) => &part.by_collection,
        }
    }

    /// The local model and whether it is there.
    pub fn model(&self) -> &ModelState {
        match self {
            Self::Whole(report) => &report.model,
            Self::Part(part) => &part.model,
        }
    }
}
