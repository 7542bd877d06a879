//! Triples that language models read off the texts of items: kept by source, and cached by the text.

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{RowId, RowSet, Triple};
use crate::request::{RemovedTriples, TripleSource};

/// Who reads triples off texts: a change of either part asks about every text again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extractor<'a> {
    /// The source: `llm:` and the model's name.
    pub source: &'a str,
    /// The version of the prompt.
    pub prompt: u32,
}

/// The triples of one row's text; none if the text states no relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTriples {
    /// The row.
    pub row: RowId,
    /// Its triples.
    pub triples: Vec<Triple>,
}

/// Keeps triples apart by source, and each answer with a hash of the text that it is about. A row that is removed loses its
/// triples; the answer stays for the same text elsewhere. Once a text was forgotten, its answer goes with the last such row.
///
/// A new row gets no triples by itself: its writer would learn whether somebody else has the same text.
pub trait Triples {
    /// Returns the rows whose text an extractor has read.
    fn extracted_rows(&self, by: Extractor<'_>) -> Result<RowSet>;
    /// Returns those rows of which an extractor has read the same text elsewhere, in the order of `rows`.
    fn cached_rows(&self, by: Extractor<'_>, rows: &[RowId]) -> Result<Vec<RowId>>;
    /// Gives rows the triples that are kept for their texts, in one transaction. Returns the number of rows that got any answer.
    fn link_triples(&self, by: Extractor<'_>, rows: &[RowId], stamp: Stamp<'_>) -> Result<usize>;
    /// Keeps the triples of those rows that still exist, in one transaction. Returns the number of these rows.
    fn put_triples(&self, by: Extractor<'_>, new: &[NewTriples], stamp: Stamp<'_>) -> Result<usize>;
    /// Removes all triples of a source, in one transaction; the source may be asked about every text again.
    fn remove_triples(&self, source: &str, stamp: Stamp<'_>) -> Result<RemovedTriples>;
    /// Returns the sources of triples with their numbers, by name.
    fn triple_sources(&self) -> Result<Vec<TripleSource>>;
}
