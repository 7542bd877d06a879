//! Requests to forget items, and the proof that they were forgotten.
//! Nothing here holds a word of what was forgotten.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

use super::Selection;

/// What to forget.
#[derive(Clone, Debug, PartialEq)]
pub enum ForgetRequest {
    /// These items, by id (or a unique prefix of at least 6 digits).
    Ids(Vec<String>),
    /// Everything that a selection holds.
    Selected(Box<Selection>),
}

/// How to forget it.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgetting {
    /// What.
    pub what: ForgetRequest,
    /// What was made of it, or holds all of it, stays.
    pub keep_derived: bool,
    /// Only say what would go.
    pub dry_run: bool,
}

impl Forgetting {
    /// With all that was made of it.
    pub fn of(what: ForgetRequest) -> Self {
        Self { what, keep_derived: false, dry_run: false }
    }
}

/// Proof of a deletion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Forgotten {
    /// The ids, derived ones among them.
    pub forgotten: Vec<String>,
    /// Those that nobody named: made of a forgotten item, or holding all of its text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Items that say the same and stay: nothing ties them to what was forgotten, or derived items were to be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<String>,
    /// What was removed where.
    pub receipt: Receipt,
    /// What was done to the files; none for a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<Erased>,
}

/// Counts of what a deletion removed. It says nothing of the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Receipt {
    /// Items.
    pub items: usize,
    /// Of these, memories.
    pub memories: usize,
    /// Of these, chunks of documents.
    pub chunks: usize,
    /// Their vectors.
    pub vectors: usize,
    /// Documents left without a chunk and removed with them.
    pub documents: usize,
    /// Their tags.
    pub tags: usize,
    /// Their free fields.
    pub fields: usize,
    /// Relations to or from them.
    pub relations: usize,
    /// Reviews of them.
    pub reviews: usize,
    /// Records that a session or an answer was given them.
    pub given: usize,
    /// Cached questions that were their text, or said the same; 0 to whoever sees a part of the store, as `event` is.
    pub cached: usize,
    /// Events out of which somebody's words were taken.
    pub events: usize,
    /// The event that records it.
    pub event: u64,
    /// SHA-256 over the sorted ids.
    pub sha256: String,
    /// Whether this was only a dry run.
    pub dry_run: bool,
}

/// What was done to the files below the home, so that none of them holds the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Erased {
    /// No file of the store and its indexes holds a trace. Where it is false, the next command that has time goes on.
    pub complete: bool,
    /// What stood in the way, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
    /// The store's file was written anew, because a page had kept something where nothing is kept.
    pub compacted: bool,
    /// Copies beside the store that `restore` had kept, from which the same items were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<PathBuf>,
    /// Files below the home that are not the store's and hold a part of the text: backups, exports, settings. They stay. Not told,
    /// as copies are not, to whoever sees a part of the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
}

/// A file that holds a part of a forgotten text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Elsewhere {
    /// The file.
    pub path: PathBuf,
    /// How often.
    pub matches: u64,
}

/// Where some words stand below the home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Residue {
    /// Whether they stand anywhere.
    pub found: bool,
    /// Files that hold them, as bytes.
    pub files: Vec<ResidueFile>,
    /// The words as the text index keeps them, with the rows of its files that have each.
    pub terms: Vec<ResidueTerm>,
    /// Ids of items that say them, the first hundred.
    pub items: Vec<String>,
    /// What cannot be told, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
    /// Files that were read.
    pub searched_files: u64,
    /// Bytes that were read.
    pub searched_bytes: u64,
}

/// A file with the words in it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResidueFile {
    /// The file.
    pub path: PathBuf,
    /// How often, in UTF-8 and UTF-16 and whatever case.
    pub matches: u64,
    /// Whether it counts: a model's vocabulary has words that nobody wrote here, and a few letters stand in any large file.
    pub counts: bool,
}

/// A word as the text index keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResidueTerm {
    /// The word's stem.
    pub term: String,
    /// Rows of the index's files that have it, those that are not to be found any more included.
    pub rows: u64,
}
