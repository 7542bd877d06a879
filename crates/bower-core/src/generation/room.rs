//! The trait by which each kind of segment index describes its rows.
//! With it opening, verifying and compacting are written once. A position is a place in the order of ids.
//!
//! A row is some bytes and one number of fixed size beside them; a segment is the bytes of its rows, their numbers, their
//! ids, and whatever else the room wants to know of them (`segment.rs` has the layout).

use std::fmt::Debug;
use std::ops::Range;

use super::Draft;
use super::segment::Layout;
use crate::error::{Error, Result};
use crate::item::RowId;

/// A room with segments: what its rows are.
///
/// Positions ascend by id, since rows are looked up by id. Where the bytes of a position stand is what [`Room::span`] says.
/// All that [`Room::finish`] derives from the rows may stand in any order, as that of clusters, if it says which positions
/// it is of. The bytes themselves stand as they were pushed: by id, as one loop over a merge in `fold.rs` gives them.
pub trait Room: Debug + Sized {
    /// The number of its format: manifest, segments and how their numbers are made. Any change needs a new one.
    const FORMAT: u32;
    /// What the footer of its segments starts with.
    const MAGIC: [u8; 8];
    /// What messages call its index.
    const INDEX: &'static str;
    /// What messages call its rows.
    const ROWS: &'static str;
    /// What messages call one of its rows, before "of row 7".
    const ROW: &'static str;

    /// A row as whoever folds gives it.
    type Fresh;
    /// What a segment keeps of a row beside its bytes.
    type Number: bytemuck::Pod + Debug;

    /// The room of an index of this dimension, or why there can be none.
    fn of(dimension: usize) -> Result<Self, String>;

    /// The dimension that manifests name: numbers of a vector, or of a token.
    fn dimension(&self) -> usize;

    /// The sections of a segment of so many rows and this [`Room::size`], which any number is where the file is damaged.
    fn layout(&self, rows: u32, size: u32) -> Layout;

    /// The second number in the footer of a segment with these rows, from which and from their count its length follows.
    fn size(numbers: &[Self::Number]) -> u32;

    /// Where the bytes of the rows at some positions, at least one, stand among `bytes`. Anywhere if the file is damaged.
    fn span(numbers: &[Self::Number], bytes: usize, positions: Range<usize>) -> Range<usize>;

    /// Checks a fresh row and pushes it to a draft.
    fn write(&self, row: RowId, fresh: &Self::Fresh, draft: &mut Draft<'_, Self>) -> Result<()>;

    /// Pushes a row that a segment or an unfinished draft keeps as `number` and `bytes` to another draft.
    fn copy(&self, row: RowId, number: Self::Number, bytes: &[u8], draft: &mut Draft<'_, Self>)
    -> Result<()>;

    /// Puts what stands between ids and footer; the draft has all its rows.
    fn finish(&self, _draft: &mut Draft<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// What is wrong with the numbers of a segment of this [`Room::size`]; part of verifying.
    fn check(_numbers: &[Self::Number], _size: u32) -> Result<(), &'static str> {
        Ok(())
    }

    /// [`Error::Invalid`] for a fresh row.
    fn refused(row: RowId, reason: impl Into<String>) -> Error {
        Error::invalid(format!("{} of row {}", Self::ROW, row.0), reason)
    }
}
