//! The feed of the indexes: texts, terms, vectors and token codes by row and by change.

use jiff::Timestamp;

use super::clock::Stamp;
use super::vector::{NewTokens, NewVector};
use crate::error::Result;
use crate::item::{Change, RowId, RowSet};

/// One row's text as the text channel sees it: title, heading and content in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The row.
    pub row: RowId,
    /// The document or session that it is a part of; 0 is none.
    pub parent: u64,
    /// The text.
    pub text: String,
    /// From when what it says is so, as far as that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is so, as far as that is known.
    pub valid_to: Option<Timestamp>,
}

impl IndexedText {
    /// Whether what it says is so at a time, as far as that is known.
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_to.is_none_or(|until| time < until)
    }
}

/// A row's terms as they were written with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTerms {
    /// The row.
    pub row: RowId,
    /// The document or session that it is a part of; 0 is none.
    pub parent: u64,
    /// The terms; `None` where they are not kept any more.
    pub terms: Option<Vec<u8>>,
}

/// A row of the text channel's delta.
#[derive(Debug)]
pub enum DeltaText<'a> {
    /// The terms as they were written with the row.
    Terms(&'a [u8]),
    /// The terms are not kept any more (the index that held them is gone): analyse the text.
    Text(String),
}

/// How far the indexes of a reader hold a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered<'a> {
    /// The last change of the text index; 0 where there is none.
    pub text: Change,
    /// The last change of the vector index; 0 where there is none.
    pub vector: Change,
    /// The scheme of the token index with its last change, where there is one.
    pub tokens: Option<(&'a str, Change)>,
}

/// Feeds the text, vector and token indexes with what is newer than they are.
pub trait IndexFeed {
    /// Rows whose text changed, or that were removed, after one change and up to another.
    fn gone(&self, after: Change, upto: Change) -> Result<RowSet>;
    /// Rows whose text was written after one change and up to another, ascending.
    fn text_rows(&self, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// The indexed texts of rows that are still there.
    fn texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>>;
    /// The document or session that each row is a part of, as a number that rows of one parent share; 0 where it is part of
    /// none, or is gone.
    fn parents(&self, rows: &[RowId]) -> Result<Vec<u64>>;
    /// What rows that are still there had for the text channel when they were written.
    fn delta_terms(&self, rows: &[RowId]) -> Result<Vec<KeptTerms>>;
    /// Feeds every row whose text is newer than a change.
    fn delta_texts(&self, after: Change, each: &mut dyn FnMut(RowId, DeltaText<'_>)) -> Result<usize>;
    /// Rows whose vector of this model was written after one change and up to another, ascending.
    fn vector_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Feeds every vector of this model that is newer than a change, as half floats.
    fn delta_vectors(&self, model: &str, after: Change, each: &mut dyn FnMut(RowId, &[u8])) -> Result<usize>;
    /// Vectors of this model by row, as half floats.
    fn vectors(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Rows without a vector of this model, ascending, at most `most`.
    fn unembedded(&self, model: &str, most: usize) -> Result<Vec<RowId>>;
    /// How many items have a vector of a model. Goes through all of them: an index that is sound has counted them already.
    fn embedded(&self, model: &str) -> Result<u64>;
    /// Gives vectors to rows that are still there with the text of `text_change` or older.
    fn put_vectors(&self, vectors: &[(RowId, NewVector)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Rows whose token codes of this scheme are kept here and were written after one change and up to another, ascending.
    fn code_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Token codes of this scheme by row; `None` where they are not kept here (any more).
    fn codes(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Gives token codes to rows that are still there with the text of `upto` or older.
    fn put_codes(&self, codes: &[(RowId, NewTokens)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Says what the indexes of this reader hold: what only their deltas needed may go.
    fn release(&self, covered: &Covered<'_>) -> Result<()>;
}
