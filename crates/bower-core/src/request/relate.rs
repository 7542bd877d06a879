//! Requests and answers about relations that somebody states: between two memories, or between two names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::{Author, Scope};

/// A relation to state, or to take back.
#[derive(Clone, Debug, PartialEq)]
pub struct RelateRequest {
    /// What has the relation: the id of a memory, or a name.
    pub from: String,
    /// Its type. Between memories: one of [`RelateRequest::TYPES`]. Between names: a verb of 1 to 40 letters, digits, `_` and `-`,
    /// such as `works_at`.
    pub relation: String,
    /// What it leads to: an id if `from` is one, else a name.
    pub to: String,
    /// Its strength between memories, above 0 and up to 1; `None` is 1.
    pub strength: Option<f32>,
    /// Id of the item that proves a relation between names; memories have none.
    pub proof: Option<String>,
    /// Takes the relation back.
    pub undo: bool,
    /// The collection of a relation between names; `None` is the setting `memory_collection`.
    pub collection: Option<String>,
    /// Its scope.
    pub scope: Scope,
    /// Its owner.
    pub owner: Option<String>,
    /// Who states a relation between names.
    pub said_by: Author,
    /// The program in which it is stated.
    pub host: Option<String>,
}

impl RelateRequest {
    /// Types of relations between two memories.
    pub const TYPES: [&str; 7] =
        ["causes", "informs", "contradicts", "example_of", "prerequisite_for", "led_to", "related_to"];
}

/// Result of stating a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelateOutcome {
    /// It was written.
    Stated,
    /// It was so already, and nothing was written.
    Unchanged,
    /// It was taken back.
    Ended,
}

/// A relation that was stated or taken back.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Related {
    /// What has the relation: a name, or the id of a memory.
    pub from: String,
    /// Its type.
    #[serde(rename = "type")]
    pub relation: String,
    /// What it leads to.
    pub to: String,
    /// The outcome.
    pub outcome: RelateOutcome,
    /// Id of the memory that states a relation between names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The event that `undo` reverses, of a relation between memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}
