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
    /// The places in documents that it found, by path and line; a thousand at most. `detail` counts all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<CheckFinding>,
}

impl Check {
    /// Creates a check that found nothing.
    pub fn good(name: &str, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            outcome: Outcome::Good,
            detail: detail.into(),
            hint: None,
            findings: Vec::new(),
        }
    }

    /// Creates a check of what could be better, with its remedy.
    pub fn weak(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { outcome: Outcome::Weak, hint: Some(hint.into()), ..Self::good(name, detail) }
    }

    /// Creates a check of what is broken, with its remedy.
    pub fn bad(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { outcome: Outcome::Bad, ..Self::weak(name, detail, hint) }
    }
}

/// A place in a document that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckFinding {
    /// What is wrong there.
    pub problem: CheckProblem,
    /// Path of the document.
    pub path: String,
    /// Number of the line, from 1.
    pub line: u32,
    /// The link or the canonical fact, as it is written.
    pub text: String,
    /// Paths of the documents that the link may mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// The memory that says something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ConflictingMemory>,
}

/// What is wrong at a place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckProblem {
    /// A link leads to no document and no file.
    Nowhere,
    /// A link may mean several documents, none of them nearer than the others.
    Ambiguous,
    /// A memory says something else than a canonical fact.
    Conflict,
}

/// A memory that says something else about the same thing than a canonical fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConflictingMemory {
    /// Its id.
    pub id: String,
    /// Its text, shortened.
    pub text: String,
    /// How the two differ.
    pub why: ConflictKind,
    /// What the memory has in place of the fact's words, if they differ in one place: `9090 -> 8080`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// How a memory and a canonical fact differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConflictKind {
    /// They tell different values of the same thing.
    Value,
    /// Both cannot be true.
    Contradiction,
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
