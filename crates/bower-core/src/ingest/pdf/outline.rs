//! Reads what a file says of its structure: its bookmarks, which name its headings, and its title.
//!
//! Source: ISO 32000-2, sections 12.3.3 and 14.3.3.

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, String as Bytes};
use std::collections::HashSet;

use super::super::split::one_line;
use super::strings::text_string;

/// A bookmark.
#[derive(Clone, Debug)]
pub(super) struct Bookmark {
    pub(super) title: String,
    /// 1 for those at the top.
    pub(super) level: usize,
}

/// Most bookmarks that are read: a manual of 5,000 pages has about as many.
const MOST: usize = 20_000;

/// Deepest level that is read; Markdown has six of headings.
const DEEPEST: usize = 6;

/// Returns the bookmarks in the order of the file.
pub(super) fn bookmarks(pdf: &Pdf) -> Vec<Bookmark> {
    let mut found = Vec::new();
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let Some(root) = catalog.and_then(|catalog| catalog.get::<Dict<'_>>(b"Outlines")) else { return found };
    // The open items, one for each level; an item may be named twice in a damaged file.
    let mut open: Vec<Dict<'_>> = root.get(b"First").into_iter().collect();
    let mut visited = HashSet::new();
    while let Some(item) = open.pop() {
        if found.len() == MOST || !visited.insert(item.data().as_ptr() as usize) {
            continue;
        }
        let level = open.len() + 1;
        if let Some(title) = item.get::<Bytes<'_>>(b"Title") {
            found.push(Bookmark { title: one_line(&text_string(&title)), level });
        }
        // An item without a successor stays as an empty place, so that the number of open items is the level.
        open.push(item.get(b"Next").unwrap_or_default());
        if level < DEEPEST {
            open.extend(item.get::<Dict<'_>>(b"First"));
        }
    }
    found
}

/// Returns the title in the file's information.
pub(super) fn title(pdf: &Pdf) -> Option<String> {
    let title = one_line(&text_string(pdf.metadata().title.as_deref()?));
    (!title.is_empty()).then_some(title)
}
