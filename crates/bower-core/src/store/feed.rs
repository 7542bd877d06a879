//! Feeds the indexes with texts, terms, vectors and token codes, by row and by change.

use jiff::Timestamp;

use super::clock::Stamp;
use super::vector::{NewTokens, NewVector};
use crate::error::Result;
use crate::item::{Change, RowId, RowSet, SourcedTriple};

/// The bit of a parent's number that only sessions have.
pub const SESSION: u64 = 1 << 63;

/// The text of a row as the text channel reads it: title, heading and content joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The row.
    pub row: RowId,
    /// Number of the document or session that it belongs to; 0 for none.
    pub parent: u64,
    /// The text.
    pub text: String,
    /// Start of validity, if known.
    pub valid_from: Option<Timestamp>,
    /// End of validity, if known.
    pub valid_to: Option<Timestamp>,
}

/// The data of a row from which its mentions of entities are extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionSource {
    /// The row.
    pub row: RowId,
    /// The id of its document.
    pub document: Option<String>,
    /// The title of its document.
    pub title: Option<String>,
    /// The path of its document.
    pub path: Option<String>,
    /// Other names of its document.
    pub aliases: Vec<String>,
    /// Heading path or symbol.
    pub section: Option<String>,
    /// The text.
    pub content: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The relations that language models read off its text, by source.
    pub triples: Vec<SourcedTriple>,
    /// Whether it is a memory or a turn of a conversation.
    pub is_said: bool,
}

/// The data of a new row that the text index and the graph index need, kept until they hold the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeltaData {
    /// Its terms.
    pub terms: Vec<u8>,
    /// Its mentions of entities; `None` leaves them to be extracted from its stored text.
    pub mentions: Option<Vec<u8>>,
}

/// The terms of a row that were written with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTerms {
    /// The row.
    pub row: RowId,
    /// Number of the document or session that it belongs to; 0 for none.
    pub parent: u64,
    /// The terms; `None` if they are no longer kept.
    pub terms: Option<Vec<u8>>,
}

/// A row of the text channel's delta.
#[derive(Debug)]
pub enum DeltaText<'a> {
    /// The terms that were written with the row.
    Terms(&'a [u8]),
    /// The text to analyse, because the terms are no longer kept (the index that held them is gone).
    Text(String),
}

/// The changes up to which a reader's indexes cover a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered<'a> {
    /// Last change of the text index; 0 for none.
    pub text: Change,
    /// Last change of the graph index; 0 for none.
    pub graph: Change,
    /// Last change of the vector index; 0 for none.
    pub vector: Change,
    /// Scheme and last change of the token index, if there is one.
    pub tokens: Option<(&'a str, Change)>,
}

/// Feeds the text, vector and token indexes with the rows that are newer than they are.
pub trait IndexFeed {
    /// Returns the rows whose text changed, or that were removed, after one change and up to another.
    fn gone(&self, after: Change, upto: Change) -> Result<RowSet>;
    /// Returns the rows whose text was written after one change and up to another, ascending.
    fn text_rows(&self, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Returns the rows whose tags or triples changed after one change and up to another, though their text stayed; ascending.
    /// Of the indexes only the graph's holds tags and triples.
    fn retagged(&self, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Returns the indexed texts of those rows that still exist.
    fn texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>>;
    /// Returns the mentions that were written with rows; `None` where they are not, or no longer, kept here.
    fn mentions(&self, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Returns the data of those rows that still exist from which their mentions are extracted.
    fn mention_sources(&self, rows: &[RowId]) -> Result<Vec<MentionSource>>;
    /// Returns for each row the number of its document or session, which all rows of one parent share. That of a session has
    /// the bit [`SESSION`]. It is 0 if the row has no parent, or was removed.
    fn parents(&self, rows: &[RowId]) -> Result<Vec<u64>>;
    /// Returns the terms that were written with those rows that still exist.
    fn delta_terms(&self, rows: &[RowId]) -> Result<Vec<KeptTerms>>;
    /// Feeds every row whose text is newer than a change. Returns their number.
    fn delta_texts(&self, after: Change, each: &mut dyn FnMut(RowId, DeltaText<'_>)) -> Result<usize>;
    /// Returns the rows whose vector of this model was written after one change and up to another, ascending.
    fn vector_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Feeds every vector of this model that is newer than a change, as half floats. Returns their number.
    fn delta_vectors(&self, model: &str, after: Change, each: &mut dyn FnMut(RowId, &[u8])) -> Result<usize>;
    /// Returns vectors of this model by row, as half floats.
    fn vectors(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Returns at most `most` rows after a row without a vector of this model, ascending.
    fn unembedded(&self, model: &str, after: RowId, most: usize) -> Result<Vec<RowId>>;
    /// Returns the models that the store has vectors of, with their number; the one that was written last comes first.
    fn vector_models(&self) -> Result<Vec<(String, u64)>>;
    /// Removes all vectors of a model, and returns their number.
    fn drop_vectors(&self, model: &str, stamp: Stamp<'_>) -> Result<u64>;
    /// Counts the items with a vector of a model. Goes through all of them: a sound index has counted them already.
    fn embedded(&self, model: &str) -> Result<u64>;
    /// Writes vectors of those rows that still exist and whose text is of `upto` or older. Returns their number.
    fn put_vectors(&self, vectors: &[(RowId, NewVector)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Returns the rows whose token codes of this scheme are kept here and were written after one change and up to
    /// another, ascending.
    fn code_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Returns token codes of this scheme by row; `None` where they are not, or no longer, kept here.
    fn codes(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Writes token codes of those rows that still exist and whose text is of `upto` or older. Returns their number.
    fn put_codes(&self, codes: &[(RowId, NewTokens)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Reports the coverage of this reader's indexes. Data that only their deltas needed may then be removed.
    fn release(&self, covered: &Covered<'_>) -> Result<()>;
}
