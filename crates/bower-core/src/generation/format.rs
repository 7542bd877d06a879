//! Describes the rows of each kind of segment index by a trait, and writes their segments by it.
//! So opening, verifying and compacting are implemented once. A position is an index in the order of ids.
//!
//! A row has some bytes and one number of fixed size. A segment contains the bytes of its rows, their numbers, their
//! ids, and what the format adds (`segment.rs` has the layout).

use std::fmt::Debug;
use std::ops::Range;
use std::path::PathBuf;

use super::{Disk, SegmentEntry, SegmentFile};
use crate::error::{Error, Result};
use crate::item::RowId;

pub(super) const FOOTER: usize = 64;

/// Describes the rows of one kind of segment index.
///
/// Positions ascend by id, because rows are looked up by id. [`SegmentFormat::span`] returns where a position's bytes
/// are. The bytes are in the order in which they were pushed: by id, as the merge in `compact.rs` emits them. What
/// [`SegmentFormat::finish`] derives from the rows may be in any order, such as that of clusters, if it records the
/// positions.
pub trait SegmentFormat: Debug + Sized {
    /// The version of its format: manifest, segments and how their numbers are made. Any change needs a new one.
    const FORMAT: u32;
    /// The first bytes of its segments' footer.
    const MAGIC: [u8; 8];
    /// The name of its index in messages.
    const INDEX: &'static str;
    /// The name of its rows in messages.
    const ROWS: &'static str;
    /// The name of one row in messages, before "of row 7".
    const ROW: &'static str;

    /// A row as a compaction receives it.
    type Fresh;
    /// The number that a segment stores for a row beside its bytes.
    type Number: bytemuck::Pod + Debug;

    /// Returns the format of an index of this dimension, or why there can be none.
    fn of(dimension: usize) -> Result<Self, String>;

    /// Returns the dimension in manifests: numbers of a vector or of a token.
    fn dimension(&self) -> usize;

    /// Returns the sections of a segment with this many rows and this [`SegmentFormat::size`]. If the file is damaged,
    /// `size` can be any number.
    fn layout(&self, rows: u32, size: u32) -> SectionOffsets;

    /// Returns the second number in the footer of a segment with these rows. The segment's length follows from it and
    /// their count.
    fn size(numbers: &[Self::Number]) -> u32;

    /// Returns where the bytes of the rows at some positions, at least one, are among `bytes`. Any range if the file is
    /// damaged.
    fn span(numbers: &[Self::Number], bytes: usize, positions: Range<usize>) -> Range<usize>;

    /// Checks a fresh row and pushes it to a draft.
    fn write(&self, row: RowId, fresh: &Self::Fresh, draft: &mut SegmentWriter<'_, Self>) -> Result<()>;

    /// Pushes a row that a segment or an unfinished draft stores as `number` and `bytes` to another draft.
    fn copy(
        &self,
        row: RowId,
        number: Self::Number,
        bytes: &[u8],
        draft: &mut SegmentWriter<'_, Self>,
    ) -> Result<()>;

    /// Writes what the format adds between ids and footer; the draft has all its rows.
    fn finish(&self, _draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        Ok(())
    }

    /// Returns what is wrong with the numbers of a segment of this [`SegmentFormat::size`]; part of verifying.
    fn check(_numbers: &[Self::Number], _size: u32) -> Result<(), &'static str> {
        Ok(())
    }

    /// Returns an [`Error::Invalid`] for a fresh row.
    fn refused(row: RowId, reason: impl Into<String>) -> Error {
        Error::invalid(format!("{} of row {}", Self::ROW, row.0), reason)
    }
}

/// The start of each section.
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
    /// Returns the sections of a segment with `rows` rows, `bytes` bytes of them, `more` bytes after the ids, and two
    /// numbers for the footer. The second of these is its [`SegmentFormat::size`].
    pub fn new<R: SegmentFormat>(rows: u32, bytes: usize, more: usize, in_footer: [u32; 2]) -> Self {
        let rows = rows as usize;
        let numbers = bytes.next_multiple_of(64);
        let ids = (numbers + rows * size_of::<R::Number>()).next_multiple_of(64);
        let after = (ids + rows * size_of::<u32>()).next_multiple_of(64);
        let footer = (after + more).next_multiple_of(64);
        Self { rows, bytes, numbers, ids, more: after, footer, in_footer, is_sparse: false }
    }

    /// Marks the rows' bytes as sparsely read: read-ahead would load many times what is needed.
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
    /// The file, which contains the rows' bytes so far.
    pub file: SegmentFile<'d>,
    /// The number of each row so far.
    pub numbers: Vec<R::Number>,
    /// The rows so far.
    pub ids: Vec<u32>,
}

impl<'d, R: SegmentFormat> SegmentWriter<'d, R> {
    /// Creates a file.
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
