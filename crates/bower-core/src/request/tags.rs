//! Requests and answers about tags: their counts, renamings, and the tag index of files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tag with the number of items that have it. Tags nested below it do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagCount {
    /// The tag, without `#`.
    pub tag: String,
    /// Number of items: memories and chunks of documents.
    pub items: u64,
    /// Number of memories among them.
    pub memories: u64,
    /// Number of documents that have such a chunk.
    pub documents: u64,
}

/// A renamed tag. Tags nested below it are renamed with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TagAlias {
    /// The tag as it is written.
    pub from: String,
    /// Its new name, which may be renamed itself.
    pub to: String,
}

/// A page of tags, sorted by name, each before those nested below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagList {
    /// The tags.
    pub tags: Vec<TagCount>,
    /// Number of all tags of the selection.
    pub total: usize,
    /// The tags that were renamed, for a caller that sees the whole store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<TagAlias>,
}

/// A request to rename tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenameTags {
    /// The tags to rename, with or without `#`.
    pub from: Vec<String>,
    /// The new name of all of them.
    pub to: String,
    /// Merges the tags: items may have the new name already. Otherwise one tag is renamed to a new name.
    pub merges: bool,
    /// Changes nothing, only reports.
    pub dry_run: bool,
}

/// The result of renaming tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenamedTags {
    /// The event, by which the renaming can be undone; 0 for a dry run.
    pub event: u64,
    /// The renamed tags.
    pub renamed: Vec<TagAlias>,
    /// Number of memories that changed.
    pub memories: u64,
    /// Number of chunks of documents that changed.
    pub chunks: u64,
    /// Number of their documents.
    pub documents: u64,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The result of writing a tag index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagIndexWritten {
    /// Number of tags.
    pub tags: usize,
    /// Number of documents with tags.
    pub documents: usize,
    /// Number of files of the index.
    pub files: usize,
    /// Number of those files that were written because they were new or different.
    pub written: usize,
    /// Number of files of an earlier index that were removed.
    pub removed: usize,
    /// Size of the files in bytes.
    pub bytes: u64,
}

/// Options of reading a tag index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagImportRequest {
    /// The folder below which relative paths of the index are, as an absolute path.
    pub root: Option<String>,
    /// Changes nothing, only reports.
    pub dry_run: bool,
}

/// The result of reading a tag index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagIndexRead {
    /// The event, by which it can be undone; 0 if nothing changed.
    pub event: u64,
    /// Number of files of the index.
    pub files: usize,
    /// Number of documents that got tags.
    pub changed: u64,
    /// Number of tags that they got.
    pub added: u64,
    /// Number of documents that have all their tags of the index already.
    pub unchanged: u64,
    /// Number of tags that documents of the index have besides. They stay.
    pub kept: u64,
    /// Paths of the index that no document of the store has.
    pub missing: Vec<String>,
    /// Whether nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
