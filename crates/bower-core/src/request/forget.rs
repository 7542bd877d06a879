//! Requests to forget items, and the proof of their deletion.
//! They contain no word of a forgotten text.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

use super::Selection;

/// The items to forget.
#[derive(Clone, Debug, PartialEq)]
pub enum ForgetRequest {
    /// Items by id, or by a unique prefix of at least 6 digits.
    Ids(Vec<String>),
    /// All items of a selection.
    Selected(Box<Selection>),
}

/// A request to forget, with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgetting {
    /// The items to forget.
    pub what: ForgetRequest,
    /// Keeps items that were derived from them or contain all of their text.
    pub keep_derived: bool,
    /// Only reports what would be removed.
    pub dry_run: bool,
}

impl Forgetting {
    /// Forgets the items and everything derived from them.
    pub fn of(what: ForgetRequest) -> Self {
        Self { what, keep_derived: false, dry_run: false }
    }
}

/// Proof of a deletion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Ids of the removed items, derived ones included.
    pub forgotten: Vec<String>,
    /// Ids that the request did not name: derived from a forgotten item, or containing all of its text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Items with the same content that stay: nothing links them to the forgotten ones, or derived items were to be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<String>,
    /// Counts of what was removed.
    pub receipt: Receipt,
    /// The changes to files; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased: Option<Erased>,
}

/// Counts of what a deletion removed. It contains nothing of the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Receipt {
    /// Number of items.
    pub items: usize,
    /// Number of memories among them.
    pub memories: usize,
    /// Number of other wordings of memories among them.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub wordings: usize,
    /// Number of chunks among them.
    pub chunks: usize,
    /// Number of their vectors.
    pub vectors: usize,
    /// Number of documents removed because no chunk was left.
    pub documents: usize,
    /// Number of their tags.
    pub tags: usize,
    /// Number of their anchors: places in a project's code.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub anchors: usize,
    /// Number of their free fields.
    pub fields: usize,
    /// Number of relations that language models read off their texts.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub triples: usize,
    /// Number of relations to or from them.
    pub relations: usize,
    /// Number of their reviews.
    pub reviews: usize,
    /// Number of records that a session or an answer returned them.
    pub given: usize,
    /// Number of cached questions that were one of their texts, or were almost equal in meaning. 0, like `event`, for a
    /// caller who may see only a part of the store.
    pub cached: usize,
    /// Number of cached answers of language models: all of them, because any may hold a part of the texts. 0 like `cached`.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub answers: usize,
    /// Number of events from which words were removed.
    pub events: usize,
    /// Number of the event that records the deletion.
    pub event: u64,
    /// SHA-256 over the sorted ids.
    pub sha256: String,
    /// Whether this was only a dry run.
    pub dry_run: bool,
}

/// The changes to files below the home, after which none of them contains the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Erased {
    /// Whether no file of the store and its indexes contains a trace. If false, the next command with spare time continues.
    pub complete: bool,
    /// Reasons why it is not complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
    /// Whether the store's file was rewritten, because a page still held bytes in its free space.
    pub compacted: bool,
    /// Copies beside the store, kept by `restore`, from which the same items were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<PathBuf>,
    /// Files below the home that contain a part of the text and do not belong to the store: backups, exports, settings.
    /// They are not changed. A caller who may see only a part of the store gets neither these nor `copies`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
}

/// A file that contains a part of a forgotten text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Elsewhere {
    /// The file.
    pub path: PathBuf,
    /// Number of matches.
    pub matches: u64,
}

/// The result of a search for a text's residue below the home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Residue {
    /// Whether the words were found.
    pub found: bool,
    /// Files that contain them as bytes.
    pub files: Vec<ResidueFile>,
    /// Their terms in the text index, with the number of rows of each.
    pub terms: Vec<ResidueTerm>,
    /// Ids of items that contain them, the first hundred.
    pub items: Vec<String>,
    /// Aliases that contain them. Forgetting leaves what a person stated about names; `bower graph alias --undo` takes it back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Facts that the search cannot determine, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
    /// Number of files read.
    pub searched_files: u64,
    /// Number of bytes read.
    pub searched_bytes: u64,
}

/// A file that contains the words.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ResidueFile {
    /// The file.
    pub path: PathBuf,
    /// Number of matches in UTF-8 and UTF-16, in any case.
    pub matches: u64,
    /// Whether it counts as residue. A model's vocabulary contains words that nobody wrote here, and any large file
    /// contains a few given letters.
    pub counts: bool,
}

/// A term of the text index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResidueTerm {
    /// The stem of the word.
    pub term: String,
    /// Number of rows in the index's files that contain it, deleted rows included.
    pub rows: u64,
}
