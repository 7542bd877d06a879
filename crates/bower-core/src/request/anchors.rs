//! Reports what became of the code that memories name.

use schemars::JsonSchema;
use serde::Serialize;

use crate::item::CheckedAnchor;

/// A memory with anchors that no longer hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnchoredMemory {
    /// Its id.
    pub id: String,
    /// Its first sentence.
    pub summary: String,
    /// The anchors that do not hold.
    pub anchors: Vec<CheckedAnchor>,
}

/// The check of all anchors of candidate and active memories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AnchorsReport {
    /// Memories with anchors that do not hold, newest first.
    pub memories: Vec<AnchoredMemory>,
    /// Number of memories with anchors.
    pub anchored: usize,
    /// Number of anchors that were compared with files.
    pub checked: usize,
    /// Number of anchors that could not be compared: their project or file cannot be read here.
    pub unchecked: usize,
    /// Wall time inside the engine.
    #[serde(serialize_with = "super::thousandths")]
    pub took_ms: f64,
}
