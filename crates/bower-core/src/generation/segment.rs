//! A segment of an index: one immutable file of rows, ascending by id.
//! Every section starts at a multiple of 64 bytes and is little-endian.
//!
//! ```text
//! bytes    the rows' bytes in the format's form
//! numbers  one per row, of the format's type
//! ids      rows x u32          ascending
//! more     what the format adds
//! footer   64 bytes            magic, format, two numbers of the format
//! ```

use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use bower_kernels::{Access, Mapped};
use sha2::{Digest, Sha256};

use super::file::{open_file, write_sums};
use super::format::{FOOTER, SectionOffsets};
use super::manifest::sums_path;
use super::{Disk, Rows, SegmentEntry, SegmentFormat, SegmentWriter, corrupt};
use crate::checksum::{BLOCK, BlockSums, Checked};
use crate::error::{Error, Result};
use crate::item::hex;

#[cfg(target_endian = "big")]
compile_error!("segments are little-endian and used in place");

/// An opened segment. Blocks are verified when they are first read. Damaged bytes are returned unchanged, and
/// [`Segment::damage`] reports them. Every reader must check it before using results.
#[derive(Debug)]
pub struct Segment<R: SegmentFormat> {
    path: PathBuf,
    map: Mapped,
    checked: Checked,
    /// Whether numbers and ids are verified; a flag, because they are accessed for each row.
    tables: AtomicBool,
    layout: SectionOffsets,
    dead: Option<Mapped>,
    dead_count: usize,
    format: PhantomData<R>,
}

impl<R: SegmentFormat> Segment<R> {
    /// Maps the files of an entry and checks their lengths, the footer and the dead rows.
    pub fn open(dir: &Path, entry: &SegmentEntry, format: &R) -> Result<Self> {
        let path = entry.path(dir);
        let map = open_file(&path)?;
        let len = map.bytes().len();
        if len as u64 != entry.bytes {
            return Err(corrupt(&path, format!("{len} bytes instead of {}", entry.bytes)));
        }
        let Some(footer) = map.bytes().last_chunk::<FOOTER>() else {
            return Err(corrupt(&path, format!("{len} bytes hold no footer")));
        };
        let size = u32::from_le_bytes([footer[16], footer[17], footer[18], footer[19]]);
        let layout = format.layout(entry.rows, size);
        if *footer != layout.footer::<R>() {
            return Err(corrupt(&path, "the footer does not match the manifest"));
        }
        if len != layout.len() {
            return Err(corrupt(&path, format!("{len} bytes instead of {}", layout.len())));
        }
        let dead = open_dead(dir, entry)?;
        let dead_count = entry.dead.as_ref().map_or(0, |dead| dead.count as usize);
        if layout.is_sparse {
            map.advise(Access::Random, 0, layout.numbers);
        }
        let (checked, tables) = (Checked::new(open_sums(dir, entry)), AtomicBool::new(false));
        Ok(Self { path, map, checked, tables, layout, dead, dead_count, format: PhantomData })
    }

    /// Returns the number of rows in the file, dead ones included; at least 1.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the number of rows that can be found.
    pub fn live(&self) -> usize {
        self.layout.rows - self.dead_count
    }

    /// Returns the length of the bytes of all rows.
    pub fn bytes_len(&self) -> usize {
        self.layout.bytes
    }

    /// Returns the bytes of all rows, and verifies those in `range`, which will be read.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.check(range);
        &self.map.bytes()[..self.layout.bytes]
    }

    /// Returns the number of each row.
    pub fn numbers(&self) -> &[R::Number] {
        self.check_tables();
        let len = self.layout.rows * size_of::<R::Number>();
        bytemuck::cast_slice(&self.map.bytes()[self.layout.numbers..][..len])
    }

    /// Returns the row ids, ascending.
    pub fn ids(&self) -> &[u32] {
        self.check_tables();
        bytemuck::cast_slice(&self.map.bytes()[self.layout.ids..][..self.layout.rows * 4])
    }

    /// Returns what the format added, with its padding; call [`Segment::check_more`] before using any of it.
    pub fn more(&self) -> &[u8] {
        &self.map.bytes()[self.layout.more..self.layout.footer]
    }

    /// Verifies a part of [`Segment::more`] that will be read.
    pub fn check_more(&self, part: &[u8]) {
        let start = part.as_ptr().addr() - self.map.bytes().as_ptr().addr();
        self.check(start..start + part.len());
    }

    /// Whether a range of the file has its checksums.
    fn check(&self, range: Range<usize>) -> bool {
        self.checked.check(self.map.bytes(), range)
    }

    #[inline]
    fn check_tables(&self) {
        if !self.tables.load(Ordering::Relaxed) {
            let is_whole = self.check(self.layout.numbers..self.layout.more);
            self.tables.store(is_whole, Ordering::Relaxed);
        }
    }

    /// Whether numbers and ids have their checksums.
    pub fn are_tables_whole(&self) -> bool {
        self.check_tables();
        self.tables.load(Ordering::Relaxed)
    }

    /// Whether the bytes of the row at a position have their checksums.
    pub fn is_row_whole(&self, position: usize) -> bool {
        self.span(position).is_ok_and(|span| self.check(span))
    }

    /// Whether it has block checksums. A segment of an older version has none until the next compaction.
    pub fn has_sums(&self) -> bool {
        self.checked.has_sums()
    }

    /// Returns the damage found while reading.
    pub fn damage(&self) -> Option<Error> {
        let at = self.checked.damaged()?;
        Some(corrupt(&self.path, format!("its bytes from {at} on do not match their checksum")))
    }

    /// Verifies the whole segment by its block checksums, or by the manifest's if it has none, because a merge must not
    /// copy damage.
    pub fn check_all(&self, entry: &SegmentEntry) -> Result<()> {
        if !self.has_sums() {
            return self.verify(entry);
        }
        self.checked.check_again(self.map.bytes());
        self.damage().map_or(Ok(()), Err)
    }

    /// Creates its block checksums, after verifying all of it by the manifest's checksum.
    pub fn add_sums(&self, dir: &Path, entry: &SegmentEntry, disk: &mut Disk) -> Result<()> {
        self.verify(entry)?;
        let (bytes, sum) = (self.map.bytes(), Sha256::digest(self.map.bytes()).into());
        write_sums(disk, dir, entry.number, &sum, &BlockSums::of(bytes))
    }

    /// Returns the row ids with the dead ones marked.
    #[inline]
    pub fn view(&self) -> Rows<'_> {
        Rows { ids: self.ids(), dead: self.dead.as_ref().map(Mapped::bytes) }
    }

    /// Returns the bytes of the row at a position; fails if the file is damaged.
    pub fn row(&self, position: usize) -> Result<&[u8]> {
        self.check(self.span(position)?);
        self.body().row(position)
    }

    /// Returns where the bytes of the row at a position are among those of all rows; fails if the file is damaged.
    pub fn span(&self, position: usize) -> Result<Range<usize>> {
        self.body().span(position)
    }

    /// Copies the bytes of all rows from an offset on, as many as fit, without mapping their pages.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => corrupt(&self.path, "it ends before its rows do"),
            _ => Error::index_file("read", &self.path, error),
        };
        let mut read = Vec::new();
        let blocks = |blocks: Range<usize>, sum: &mut dyn FnMut(&[u8])| {
            read.resize((blocks.end * BLOCK).min(self.map.bytes().len()) - blocks.start * BLOCK, 0);
            self.map.read(blocks.start * BLOCK, &mut read)?;
            read.chunks(BLOCK).for_each(sum);
            Ok(())
        };
        self.checked.check_by(offset..offset + to.len(), blocks).map_err(failed)?;
        self.map.read(offset, to).map_err(failed)
    }

    /// Prefetches the bytes of some rows.
    pub fn warm_rows(&self, positions: Range<usize>) {
        self.body().warm(positions);
    }

    /// Prefetches everything but the rows' bytes.
    pub fn warm(&self) {
        self.map.advise(Access::WillNeed, self.layout.numbers, self.layout.len() - self.layout.numbers);
    }

    /// Prefetches a part of [`Segment::more`].
    pub fn warm_more(&self, part: &[u8]) {
        let start = part.as_ptr().addr() - self.map.bytes().as_ptr().addr();
        self.map.advise(Access::WillNeed, start, part.len());
    }

    /// Returns the rows for a merge.
    pub fn body(&self) -> Body<'_, R> {
        let (map, bytes) = (&self.map, self.layout.bytes);
        Body { path: &self.path, map, bytes, numbers: self.numbers(), ids: self.ids() }
    }

    /// Verifies everything by the manifest's checksums and counts, and the order of the rows.
    pub fn verify(&self, entry: &SegmentEntry) -> Result<()> {
        if hex(&Sha256::digest(self.map.bytes())) != entry.sha256 {
            return Err(corrupt(&self.path, "the contents do not match their checksum"));
        }
        if !self.ids().is_sorted_by(|a, b| a < b) {
            return Err(corrupt(&self.path, "the rows do not ascend"));
        }
        if let (Some(dead), Some(map)) = (&entry.dead, &self.dead)
            && hex(&Sha256::digest(map.bytes())) != dead.sha256
        {
            return Err(corrupt(&self.path, "the dead rows do not match their checksum"));
        }
        R::check(self.numbers(), self.layout.in_footer[1]).map_err(|reason| corrupt(&self.path, reason))
    }
}

/// Maps and checks the bitmap of an entry's dead rows, if it has one: one bit per row, about 6 microseconds at 100,000.
fn open_dead(dir: &Path, entry: &SegmentEntry) -> Result<Option<Mapped>> {
    let Some(dead) = &entry.dead else { return Ok(None) };
    let path = dead.path(dir);
    let map = open_file(&path)?;
    let (len, want) = (map.bytes().len(), (entry.rows as usize).div_ceil(8));
    if len != want {
        return Err(corrupt(&path, format!("{len} bytes instead of {want}")));
    }
    let set: u32 = map.bytes().iter().map(|byte| byte.count_ones()).sum();
    if set != dead.count || hex(&Sha256::digest(map.bytes())) != dead.sha256 {
        return Err(corrupt(&path, "the dead rows do not match their checksum"));
    }
    Ok(Some(map))
}

/// Returns the block checksums of a segment; `None` if there are none that match it.
fn open_sums(dir: &Path, entry: &SegmentEntry) -> Option<BlockSums> {
    let bytes = std::fs::read(sums_path(dir, entry.number)).ok()?;
    let mut key = [0; 32];
    for (byte, digits) in key.iter_mut().zip(entry.sha256.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    BlockSums::from_bytes(&bytes, &key).filter(|sums| sums.file_len() as u64 == entry.bytes)
}

/// Rows that can be read at any position: those of a segment, or of a draft that did not become one.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a, R: SegmentFormat> {
    path: &'a Path,
    map: &'a Mapped,
    bytes: usize,
    numbers: &'a [R::Number],
    /// The row ids; ascending, unless the file is damaged.
    pub ids: &'a [u32],
}

impl<'a, R: SegmentFormat> Body<'a, R> {
    /// Returns the number of the row at a position.
    pub fn number(&self, position: usize) -> R::Number {
        self.numbers[position]
    }

    /// Returns the bytes of the row at a position; fails if the file is damaged.
    pub fn row(&self, position: usize) -> Result<&'a [u8]> {
        Ok(&self.map.bytes()[self.span(position)?])
    }

    /// Returns where its bytes are.
    fn span(&self, position: usize) -> Result<Range<usize>> {
        let span = R::span(self.numbers, self.bytes, position..position + 1);
        let is_in_place = span.start <= span.end && span.end <= self.bytes;
        let misplaced = || corrupt(self.path, format!("the row at {position} has no place in it"));
        if is_in_place { Ok(span) } else { Err(misplaced()) }
    }

    /// Prefetches the bytes of some rows.
    pub fn warm(&self, positions: Range<usize>) {
        let positions = positions.start..positions.end.min(self.ids.len());
        if !positions.is_empty() {
            let span = R::span(self.numbers, self.bytes, positions);
            self.map.advise(Access::WillNeed, span.start, span.end.saturating_sub(span.start));
        }
    }
}

impl<R: SegmentFormat> SegmentWriter<'_, R> {
    /// Ends the draft without a segment and returns its rows for reading.
    pub fn into_spool(mut self) -> Result<Spool<R>> {
        let bytes = self.file.len();
        self.file.flush()?;
        let path = self.file.path().to_path_buf();
        let map = Mapped::open(&path).map_err(|error| Error::index_file("map", &path, error))?;
        Ok(Spool { path, map, bytes, numbers: self.numbers, ids: self.ids })
    }
}

/// Rows that were written only to be merged with others.
pub struct Spool<R: SegmentFormat> {
    path: PathBuf,
    map: Mapped,
    bytes: usize,
    numbers: Vec<R::Number>,
    ids: Vec<u32>,
}

impl<R: SegmentFormat> Spool<R> {
    /// Returns the rows for a merge.
    pub fn body(&self) -> Body<'_, R> {
        let (map, bytes) = (&self.map, self.bytes);
        Body { path: &self.path, map, bytes, numbers: &self.numbers, ids: &self.ids }
    }
}
