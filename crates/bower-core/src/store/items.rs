//! Items: read by row, id and tag.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::memories::Audience;
use crate::error::Result;
use crate::item::{Facts, Kind, RowId, Visibility};
use crate::request::Item;

/// A row that is tied to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The tied row.
    pub row: RowId,
    /// The other is one of the examples that it was made of.
    pub is_made_of_it: bool,
}

/// What tells when an item is of, with the start of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DatedText {
    /// Memory or chunk.
    pub kind: Kind,
    /// When it was written to the store.
    pub create_time: Timestamp,
    /// Since when it holds, where that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds, where that is known.
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
    /// The text, cut after as many characters as were asked for.
    pub content: String,
}

/// Reads items by row, id and tag. Each method costs by what it finds.
pub trait Items {
    /// Items by row, in the order asked; a row that is gone gives `None`.
    fn items(&self, rows: &[RowId]) -> Result<Vec<Option<Item>>>;
    /// Id and summary by row, in the order asked; a row that is gone gives `None`.
    fn titles(&self, rows: &[RowId]) -> Result<Vec<Option<(String, String)>>>;
    /// What ranking may know of each row; `asked_time` is left to the caller. A row that is gone gives `None`.
    fn facts(&self, rows: &[RowId]) -> Result<Vec<Option<Facts>>>;
    /// What tells when items are of, with the first `most` characters of each text; a row that is gone gives `None`.
    fn dated_texts(&self, rows: &[RowId], most: usize) -> Result<Vec<Option<DatedText>>>;
    /// Feeds the text of every item: to whoever looks for words in any case, spacing and encoding, which no index tells.
    fn each_text(&self, each: &mut dyn FnMut(RowId, &str)) -> Result<()>;
    /// Visible rows whose id starts with a prefix, at most `most`.
    fn rows_by_id(&self, prefix: &str, visibility: &Visibility, most: usize) -> Result<Vec<(RowId, String)>>;
    /// Those of some rows that an audience may know of, in their order; rows that are gone may be among them where it may know of
    /// everything.
    fn known_to(&self, to: &Audience<'_>, rows: &[RowId]) -> Result<Vec<RowId>>;
    /// Rows that are tied to some rows by a chain or a relation, each once; the rows themselves are not among them.
    fn linked(&self, rows: &[RowId]) -> Result<Vec<Link>>;
    /// The distinct tags that begin with any of these, ascending.
    fn tags(&self, beginnings: &[String]) -> Result<Vec<String>>;
    /// How many rows have each tag, in the order asked.
    fn tag_counts(&self, tags: &[String]) -> Result<Vec<u64>>;
    /// The rows of each tag, newest first, at most `most` of each.
    fn tagged(&self, tags: &[String], most: usize) -> Result<Vec<Vec<RowId>>>;
    /// A number that the items are not more than; as close as costs nothing.
    fn items_at_most(&self) -> Result<u64>;
}
