//! Items: read by row, id and tag.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::memories::Audience;
use crate::error::Result;
use crate::item::{Facts, Kind, RowId, Visibility};
use crate::request::Item;

/// A row that is linked to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The linked row.
    pub row: RowId,
    /// Whether the other row is one of the examples that this pattern was made of.
    pub is_made_of_it: bool,
}

/// The data that dates an item, with the start of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DatedText {
    /// Memory or chunk.
    pub kind: Kind,
    /// Time when it was written to the store.
    pub create_time: Timestamp,
    /// Start of validity, if known.
    pub valid_from: Option<Timestamp>,
    /// End of validity, if known.
    pub valid_to: Option<Timestamp>,
    /// Title of the document.
    pub title: Option<String>,
    /// Heading path or symbol.
    pub section: Option<String>,
    /// The file's name.
    pub file_name: Option<String>,
    /// The item's own fields.
    pub metadata: Map<String, Value>,
    /// The document's fields.
    pub document_metadata: Map<String, Value>,
    /// The text, cut after the requested number of characters.
    pub content: String,
}

/// Reads items by row, id and tag. The cost of each method depends on the number of rows that it finds.
pub trait Items {
    /// Returns items by row, in the order of `rows`; `None` for a removed row.
    fn items(&self, rows: &[RowId]) -> Result<Vec<Option<Item>>>;
    /// Returns id and summary by row, in the order of `rows`; `None` for a removed row.
    fn titles(&self, rows: &[RowId]) -> Result<Vec<Option<(String, String)>>>;
    /// Returns the facts that ranking uses, for each row; the caller sets `asked_time`. `None` for a removed row.
    fn facts(&self, rows: &[RowId]) -> Result<Vec<Option<Facts>>>;
    /// Returns the data that dates each item, with the first `most` characters of its text; `None` for a removed row.
    fn dated_texts(&self, rows: &[RowId], most: usize) -> Result<Vec<Option<DatedText>>>;
    /// Feeds the text of every item. Used to find words in any case, spacing and encoding, which no index can do.
    fn each_text(&self, each: &mut dyn FnMut(RowId, &str)) -> Result<()>;
    /// Returns at most `most` visible rows whose id starts with a prefix.
    fn rows_by_id(&self, prefix: &str, visibility: &Visibility, most: usize) -> Result<Vec<(RowId, String)>>;
    /// Returns those rows that an audience may learn of, in their order. If the audience may learn of everything, removed
    /// rows may be among them.
    fn known_to(&self, to: &Audience<'_>, rows: &[RowId]) -> Result<Vec<RowId>>;
    /// Returns the rows that a chain or a relation links to these rows, each once and without these rows themselves.
    fn linked(&self, rows: &[RowId]) -> Result<Vec<Link>>;
    /// Returns the distinct tags that begin with any of these, ascending.
    fn tags(&self, beginnings: &[String]) -> Result<Vec<String>>;
    /// Returns the number of rows for each tag, in the order of `tags`.
    fn tag_counts(&self, tags: &[String]) -> Result<Vec<u64>>;
    /// Returns at most `most` rows for each tag, newest first.
    fn tagged(&self, tags: &[String], most: usize) -> Result<Vec<Vec<RowId>>>;
    /// Returns an upper bound of the number of items, as close as one lookup allows.
    fn items_at_most(&self) -> Result<u64>;
}
