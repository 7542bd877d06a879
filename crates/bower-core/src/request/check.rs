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

/// Documents that share most of their text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NearCopies {
    /// Number of documents that were compared.
    pub compared: u64,
    /// The groups, in the order of their first paths.
    pub groups: Vec<NearCopyGroup>,
}

/// A document and its near copies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NearCopyGroup {
    /// Path of the first of them.
    pub path: String,
    /// The others.
    pub copies: Vec<NearCopy>,
}

/// A document that is a near copy of another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NearCopy {
    /// Its path.
    pub path: String,
    /// The share of the runs of five words of both documents that stand in both, 0..1, as an estimate.
    pub likeness: f32,
}
