//! Describes the rows of each kind of segment index by a trait, and writes their segments by it.
//! With it opening, verifying and compacting are written once. A position is a place in the order of ids.
//!
//! A row is some bytes and one number of fixed size beside them; a segment is the bytes of its rows, their numbers, their
//! ids, and whatever else the format wants to know of them (`segment.rs` has the layout).

use std::fmt::Debug;
use std::ops::Range;
use std::path::PathBuf;

use super::{Disk, SegmentEntry, SegmentFile};
use crate::error::{Error, Result};
use crate::item::RowId;

pub(super) const FOOTER: usize = 64;

/// Describes the rows of one kind of segment index.
///
/// Positions ascend by id, since rows are looked up by id. Where the bytes of a position stand is what [`SegmentFormat::span`] says.
/// All that [`SegmentFormat::finish`] derives from the rows may stand in any order, as that of clusters, if it says which positions
/// it is of. The bytes themselves stand as they were pushed: by id, as one loop over a merge in `compact.rs` gives them.
pub trait SegmentFormat: Debug + Sized {
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

    /// A row as whoever compacts gives it.
    type Fresh;
    /// What a segment keeps of a row beside its bytes.
    type Number: bytemuck::Pod + Debug;

    /// The format of an index of this dimension, or why there can be none.
    fn of(dimension: usize) -> Result<Self, String>;

    /// The dimension that manifests name: numbers of a vector, or of a token.
    fn dimension(&self) -> usize;

    /// The sections of a segment of so many rows and this [`SegmentFormat::size`], which any number is where the file is damaged.
    fn layout(&self, rows: u32, size: u32) -> SectionOffsets;

    /// The second number in the footer of a segment with these rows, from which and from their count its length follows.
    fn size(numbers: &[Self::Number]) -> u32;

    /// Where the bytes of the rows at some positions, at least one, stand among `bytes`. Anywhere if the file is damaged.
    fn span(numbers: &[Self::Number], bytes: usize, positions: Range<usize>) -> Range<usize>;

    /// Checks a fresh row and pushes it to a draft.
    fn write(&self, row: RowId, fresh: &Self::Fresh, draft: &mut SegmentWriter<'_, Self>) -> Result<()>;

    /// Pushes a row that a segment or an unfinished draft keeps as `number` and `bytes` to another draft.
    fn copy(
        &self,
        row: RowId,
        number: Self::Number,
        bytes: &[u8],
        draft: &mut SegmentWriter<'_, Self>,
    ) -> Result<()>;

    /// Puts what stands between ids and footer; the draft has all its rows.
    fn finish(&self, _draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// What is wrong with the numbers of a segment of this [`SegmentFormat::size`]; part of verifying.
    fn check(_numbers: &[Self::Number], _size: u32) -> Result<(), &'static str> {
        Ok(())
    }

    /// [`Error::Invalid`] for a fresh row.
    fn refused(row: RowId, reason: impl Into<String>) -> Error {
        Error::invalid(format!("{} of row {}", Self::ROW, row.0), reason)
    }
}

/// Where each section starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionOffsets {
    pub(super) rows: usize,
    /// Length of the rows' bytes.
    pub(super) bytes: usize,
    pub(super) numbers: usize,
    pub(super) ids: usize,
    pub(super) more: usize,
    pub(super) footer: usize,
    /// The format's numbers in the footer.
    pub(super) in_footer: [u32; 2],
    pub(super) is_sparse: bool,
}

impl SectionOffsets {
    /// A segment of so many rows with so many bytes, so many more behind the ids, and two numbers for the footer, of which
    /// the second is its [`SegmentFormat::size`].
    pub fn new<R: SegmentFormat>(rows: u32, bytes: usize, more: usize, in_footer: [u32; 2]) -> Self {
        let rows = rows as usize;
        let numbers = bytes.next_multiple_of(64);
        let ids = (numbers + rows * size_of::<R::Number>()).next_multiple_of(64);
        let after = (ids + rows * size_of::<u32>()).next_multiple_of(64);
        let footer = (after + more).next_multiple_of(64);
        Self { rows, bytes, numbers, ids, more: after, footer, in_footer, is_sparse: false }
    }

    /// Of the rows' bytes only some are read: reading ahead of them would bring in many times what is needed.
    pub fn sparse(self) -> Self {
        Self { is_sparse: true, ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.footer + FOOTER
    }

    pub(super) fn footer<R: SegmentFormat>(&self) -> [u8; FOOTER] {
        let mut footer = [0; FOOTER];
        footer[..8].copy_from_slice(&R::MAGIC);
        for (at, number) in [R::FORMAT, self.in_footer[0], self.in_footer[1]].into_iter().enumerate() {
            footer[8 + 4 * at..][..4].copy_from_slice(&number.to_le_bytes());
        }
        footer
    }
}

/// A segment being written, one row after another.
pub struct SegmentWriter<'d, R: SegmentFormat> {
    /// The file, which has the rows' bytes so far.
    pub file: SegmentFile<'d>,
    /// The number of each row so far.
    pub numbers: Vec<R::Number>,
    /// The rows so far.
    pub ids: Vec<u32>,
}

impl<'d, R: SegmentFormat> SegmentWriter<'d, R> {
    /// Starts a file.
    pub fn create(disk: &'d mut Disk, path: PathBuf) -> Result<Self> {
        Ok(Self { file: SegmentFile::create(disk, path)?, numbers: Vec::new(), ids: Vec::new() })
    }

    /// Adds a row; rows must ascend.
    pub fn push(&mut self, row: RowId, number: R::Number, bytes: &[u8]) -> Result<()> {
        assert!(self.ids.last().is_none_or(|last| *last < row.0), "rows ascend");
        self.numbers.push(number);
        self.ids.push(row.0);
        self.file.put(bytes)
    }

    /// Writes the other sections and makes the file durable. At least one row was pushed.
    pub fn finish(mut self, format: &R, number: u64) -> Result<SegmentEntry> {
        assert!(!self.ids.is_empty(), "an empty segment is not written");
        let layout = format.layout(self.ids.len() as u32, R::size(&self.numbers));
        self.file.pad()?;
        self.file.put(bytemuck::cast_slice(&self.numbers))?;
        self.file.pad()?;
        self.file.put(bytemuck::cast_slice(&self.ids))?;
        self.file.pad()?;
        format.finish(&mut self)?;
        self.file.pad()?;
        self.file.put(&layout.footer::<R>())?;
        self.file.finish(number, self.ids.len() as u32, layout.len())
    }
}
