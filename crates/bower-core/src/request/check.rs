//! The findings of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;

/// One check of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The subject of the check.
    pub name: String,
    /// The result.
    pub outcome: Outcome,
    /// The result in words.
    pub detail: String,
    /// The remedy, if something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing to do.
    Good,
    /// Works, but less well than it could.
    Weak,
    /// Broken.
    Bad,
}
