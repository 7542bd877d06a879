//! The parts of a file as its parser returns them.

use serde_json::{Map, Value};

/// One part of a file: a [`super::Chunk`] without a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub content: String,
    pub section: Option<String>,
    pub lines: (u32, u32),
    pub tags: Vec<String>,
}

/// The parser's result for a whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParsedFile {
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub drafts: Vec<Draft>,
    pub problems: Vec<String>,
}

#[cfg(test)]
impl ParsedFile {
    /// Returns the section, the text and the lines of each part.
    pub(super) fn parts(&self) -> Vec<(&str, &str, (u32, u32))> {
        self.drafts
            .iter()
            .map(|draft| (draft.section.as_deref().unwrap_or_default(), draft.content.as_str(), draft.lines))
            .collect()
    }
}
