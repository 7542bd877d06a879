//! Tags: counted, renamed for all items at once, and given to documents.
//! A renaming is kept and applied to every tag that is written later, so that it outlives the next reading of a file.

use super::clock::Stamp;
use crate::error::Result;
use crate::request::{RenamedTags, Selection, TagAlias, TagCount};

/// A renaming of tags, each with the tags nested below it.
#[derive(Clone, Copy, Debug)]
pub struct TagRenaming<'a> {
    /// The tags, in normal form.
    pub from: &'a [String],
    /// The new name of all of them, in normal form.
    pub to: &'a str,
    /// Whether the new name may be in use already, so that tags are merged.
    pub merges: bool,
    /// Changes nothing; the outcome tells what would change.
    pub dry_run: bool,
}

/// The outcome of a renaming.
#[derive(Clone, Debug, PartialEq)]
pub enum RenameOutcome {
    /// The tags are renamed.
    Renamed(RenamedTags),
    /// No item has this tag or one below it; `now` is the name that it got by an earlier renaming.
    Unknown {
        /// The tag.
        tag: String,
        /// Its present name, if it was renamed.
        now: Option<String>,
    },
    /// Items have the new name already.
    Taken {
        /// Number of those items.
        items: u64,
    },
    /// The renaming would lead back to this tag.
    Circle {
        /// The tag.
        tag: String,
        /// The event of the earlier renaming that leads there; `None` if the new name lies below the old one.
        event: Option<u64>,
    },
}

/// Tags that a person gives to the documents with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentTags {
    /// The paths that the documents may have: the first that any has is theirs.
    pub paths: Vec<String>,
    /// The tags, in normal form, sorted.
    pub tags: Vec<String>,
}

/// The outcome of giving tags to documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenTags {
    /// The event; 0 if nothing changed.
    pub event: u64,
    /// Number of documents that have all of the tags already.
    pub unchanged: u64,
    /// Number of documents that got tags.
    pub changed: u64,
    /// Number of tags that they got.
    pub added: u64,
    /// Number of tags that the documents have besides.
    pub kept: u64,
    /// The first paths of those that no document has.
    pub missing: Vec<String>,
}

/// Lists, renames and gives tags.
pub trait Tags {
    /// Returns the tags of a selection with their numbers of items; with `under` only that tag and those below it. Sorted
    /// by name, each tag before those below it.
    fn tag_list(&self, select: &Selection, under: Option<&str>) -> Result<Vec<TagCount>>;
    /// Returns path and tag of the documents with a chunk in a selection, sorted, each pair once. Chunks outside of the
    /// selection do not count.
    fn document_tags(&self, select: &Selection) -> Result<Vec<(String, String)>>;
    /// Whether a chunk of a document was written with a tag, whatever its name is now.
    fn is_written(&self, document: &str, tag: &str) -> Result<bool>;
    /// Returns all renamings that hold, sorted by tag.
    fn tag_aliases(&self) -> Result<Vec<TagAlias>>;
    /// Renames tags of all items, in one transaction. If it is refused, nothing is written.
    fn rename_tags(&self, renaming: TagRenaming<'_>, stamp: Stamp<'_>) -> Result<RenameOutcome>;
    /// Gives documents the tags that they lack, in one transaction. Later chunks of the documents get them too.
    fn give_tags(&self, given: &[DocumentTags], dry_run: bool, stamp: Stamp<'_>) -> Result<GivenTags>;
}

/// Returns the part of a tag after another that it is equal to, or nested below: empty, or from the `/` on.
pub fn below<'a>(tag: &'a str, other: &str) -> Option<&'a str> {
    tag.strip_prefix(other).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_tag_is_below_its_parents() {
        assert_eq!(below("a/b/c", "a"), Some("/b/c"));
        assert_eq!(below("a/b", "a/b"), Some(""));
        assert_eq!((below("ab", "a"), below("a", "a/b")), (None, None));
    }
}
