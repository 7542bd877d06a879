//! Requests and answers about aliases: statements of people that two names mean one entity.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An alias to state, or to take back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasRequest {
    /// One name, or a `#tag`.
    pub name: String,
    /// The other name.
    pub other: String,
    /// Takes the alias back.
    pub undo: bool,
}

/// What became of an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AliasOutcome {
    /// It was written.
    Stated,
    /// It was so already, and nothing was written.
    Unchanged,
    /// It was taken back.
    Ended,
}

/// An alias that was stated or taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatedAlias {
    /// One name.
    pub name: String,
    /// The other name.
    pub other: String,
    /// The outcome.
    pub outcome: AliasOutcome,
    /// The event that `undo` reverses, if something was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// All names that the aliases make one entity now; none after an alias was taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Those of the two names that no item mentions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// An alias: two names that mean one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EntityAlias {
    /// One name, as it was written.
    pub name: String,
    /// The other name.
    pub other: String,
    /// Time when it was stated.
    pub time: Timestamp,
}

/// An entity with aliases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AliasedEntity {
    /// All of its names that the aliases have, sorted.
    pub names: Vec<String>,
    /// The aliases, oldest first.
    pub aliases: Vec<EntityAlias>,
}

/// The entities with aliases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AliasList {
    /// The entities, sorted by their names.
    pub entities: Vec<AliasedEntity>,
}
