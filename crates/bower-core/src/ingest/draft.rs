//! Holds the parts of a file as its reader gives them.

use serde_json::{Map, Value};

/// What a reader gives: a [`super::Chunk`] that has no key yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub content: String,
    pub section: Option<String>,
    pub lines: (u32, u32),
    pub tags: Vec<String>,
}

/// What a reader gives for a whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParsedFile {
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub drafts: Vec<Draft>,
    pub notes: Vec<String>,
}
