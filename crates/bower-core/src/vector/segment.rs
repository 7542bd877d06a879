//! One immutable file of vectors, ascending by row. Every section starts at a multiple of 64 bytes and is little-endian.
//!
//! ```text
//! int8     rows x stride       values + 128, padded to 64
//! scales   rows x f32
//! ids      rows x u32          ascending
//! centre   dimension x f32     rotated mean          } from 10,000 rows on
//! blocks   64 vectors each     see bower_kernels::scan::bits
//! footer   64 bytes            magic, format, dimension, rows
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bower_kernels::scan::rotate::Rotation;
use bower_kernels::scan::{bits, bytes};
use bower_kernels::{Access, Isa, Mapped};

use super::FORMAT;
use super::quantise::{Coder, restore};
use crate::error::{Error, Result};
use crate::generation::{Disk, Entry, Rows, SegmentFile, check_contents, corrupt, open_dead, open_file};
use crate::item::RowId;

#[cfg(target_endian = "big")]
compile_error!("vector files are little-endian and used in place");

/// Segments of this many rows and more carry 1-bit codes. Below it an int8 scan takes .1 ms or less. A part of the format.
const CODED: u32 = 10_000;

const MAGIC: [u8; 8] = *b"BOWERVEC";
const FOOTER: usize = 64;

/// Where each section starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    dimension: usize,
    stride: usize,
    rows: usize,
    scales: usize,
    ids: usize,
    centre: usize,
    blocks: usize,
    footer: usize,
}

impl Layout {
    fn new(dimension: usize, rows: u32) -> Self {
        let (stride, count) = (bytes::stride(dimension), rows as usize);
        let coded = usize::from(rows >= CODED);
        let after = |start: usize, len: usize| (start + len).next_multiple_of(64);
        let scales = after(0, count * stride);
        let ids = after(scales, count * 4);
        let centre = after(ids, count * 4);
        let blocks = after(centre, coded * dimension * 4);
        let footer = blocks + coded * count.div_ceil(bits::BLOCK) * bits::block_len(dimension);
        Self { dimension, stride, rows: count, scales, ids, centre, blocks, footer }
    }

    fn len(&self) -> usize {
        self.footer + FOOTER
    }

    fn footer(&self) -> [u8; FOOTER] {
        let mut footer = [0; FOOTER];
        footer[..8].copy_from_slice(&MAGIC);
        for (at, number) in [FORMAT, self.dimension as u32, self.rows as u32].into_iter().enumerate() {
            footer[8 + 4 * at..][..4].copy_from_slice(&number.to_le_bytes());
        }
        footer
    }
}

/// An opened segment.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    map: Mapped,
    layout: Layout,
    dead: Option<Mapped>,
    dead_count: usize,
}

impl Segment {
    /// Maps the files of an entry and checks their lengths and the footer.
    pub fn open(dir: &Path, entry: &Entry, dimension: usize) -> Result<Self> {
        let path = entry.path(dir);
        let map = open_file(&path)?;
        let layout = Layout::new(dimension, entry.rows);
        let len = map.bytes().len();
        if len != layout.len() || len as u64 != entry.bytes {
            return Err(corrupt(&path, format!("{len} bytes instead of {}", layout.len())));
        }
        if map.bytes()[layout.footer..] != layout.footer() {
            return Err(corrupt(&path, "the footer does not match the manifest"));
        }
        let dead = open_dead(dir, entry)?;
        let dead_count = entry.dead.as_ref().map_or(0, |dead| dead.count as usize);
        let segment = Self { path, map, layout, dead, dead_count };
        if segment.is_coded() {
            // Only candidates are read: reading ahead of them would bring in ten times the bytes.
            segment.map.advise(Access::Random, 0, layout.scales);
        }
        Ok(segment)
    }

    /// Vectors in the file, dead ones included; at least 1.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Vectors that can be found.
    pub fn live(&self) -> usize {
        self.layout.rows - self.dead_count
    }

    /// Whether there are 1-bit codes.
    pub fn is_coded(&self) -> bool {
        self.layout.rows >= CODED as usize
    }

    /// All int8 rows.
    pub fn bytes(&self) -> &[u8] {
        &self.map.bytes()[..self.layout.rows * self.layout.stride]
    }

    /// One scale a row.
    pub fn scales(&self) -> &[f32] {
        bytemuck::cast_slice(&self.map.bytes()[self.layout.scales..][..self.layout.rows * 4])
    }

    /// The row ids, ascending.
    pub fn ids(&self) -> &[u32] {
        bytemuck::cast_slice(&self.map.bytes()[self.layout.ids..][..self.layout.rows * 4])
    }

    /// The rotated mean; only where there are codes.
    pub fn centre(&self) -> &[f32] {
        assert!(self.is_coded(), "a segment without codes has no centre");
        bytemuck::cast_slice(&self.map.bytes()[self.layout.centre..][..self.layout.dimension * 4])
    }

    /// The blocks of codes; none where the segment is small.
    pub fn blocks(&self) -> &[u8] {
        &self.map.bytes()[self.layout.blocks..self.layout.footer]
    }

    /// The rows with those that are not to be found any more.
    #[inline]
    pub fn view(&self) -> Rows<'_> {
        Rows { ids: self.ids(), dead: self.dead.as_ref().map(Mapped::bytes) }
    }

    /// Tells the operating system that the codes, scales and ids will be read soon.
    pub fn warm(&self) {
        self.map.advise(Access::WillNeed, self.layout.scales, self.layout.len() - self.layout.scales);
    }

    /// Tells the operating system that some int8 rows will be read soon.
    pub fn warm_bytes(&self, position: usize, count: usize) {
        self.map.advise(Access::WillNeed, position * self.layout.stride, count * self.layout.stride);
    }

    /// Compares everything with the manifest's checksums and counts.
    pub fn verify(&self, entry: &Entry) -> Result<()> {
        check_contents(&self.path, entry, &self.map, self.ids(), self.dead.as_ref())
    }
}

/// A segment being written, one row after another.
pub struct SegmentWriter<'a> {
    file: SegmentFile<'a>,
    dimension: usize,
    scales: Vec<f32>,
    ids: Vec<u32>,
    /// The sum of all vectors, for the mean.
    total: Vec<f64>,
    restored: Vec<f32>,
}

impl<'a> SegmentWriter<'a> {
    /// Starts a file.
    pub fn create(disk: &'a mut Disk, path: PathBuf, dimension: usize) -> Result<Self> {
        Ok(Self {
            file: SegmentFile::create(disk, path)?,
            dimension,
            scales: Vec::new(),
            ids: Vec::new(),
            total: vec![0.0; dimension],
            restored: vec![0.0; dimension],
        })
    }

    /// The file being written.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The rows so far.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Adds a quantised vector; rows must ascend.
    pub fn push(&mut self, row: RowId, scale: f32, bytes: &[u8]) -> Result<()> {
        assert!(self.ids.last().is_none_or(|last| *last < row.0), "rows ascend");
        restore(bytes, scale, &mut self.restored);
        for (total, value) in self.total.iter_mut().zip(&self.restored) {
            *total += f64::from(*value);
        }
        self.scales.push(scale);
        self.ids.push(row.0);
        self.file.put(bytes)
    }

    /// What was pushed so far as bytes of the unfinished file, which is not written to any more.
    pub fn into_spool(mut self) -> Result<Spool> {
        self.file.flush()?;
        let path = self.file.path();
        let map = Mapped::open(path).map_err(|error| Error::io("map", path, error))?;
        Ok(Spool { map, scales: self.scales, ids: self.ids })
    }

    /// Writes the other sections and makes the file durable. At least one row was pushed.
    pub fn finish(mut self, number: u64, rotation: &Rotation, isa: Isa) -> Result<Entry> {
        assert!(!self.ids.is_empty(), "an empty segment is not written");
        let rows = self.ids.len() as u32;
        let layout = Layout::new(self.dimension, rows);
        self.file.pad()?;
        let scales = std::mem::take(&mut self.scales);
        self.file.put(bytemuck::cast_slice(&scales))?;
        self.file.pad()?;
        let ids = std::mem::take(&mut self.ids);
        self.file.put(bytemuck::cast_slice(&ids))?;
        self.file.pad()?;
        if rows >= CODED {
            let mut centre: Vec<f32> =
                self.total.iter().map(|total| (total / f64::from(rows)) as f32).collect();
            rotation.apply(isa, &mut centre);
            self.file.put(bytemuck::cast_slice(&centre))?;
            self.file.pad()?;
            self.put_blocks(&scales, &mut Coder::new(rotation, isa, &centre))?;
        }
        self.file.put(&layout.footer())?;
        self.file.finish(number, rows, layout.len())
    }

    /// Reads the int8 rows back and writes their codes.
    fn put_blocks(&mut self, scales: &[f32], coder: &mut Coder<'_>) -> Result<()> {
        let (stride, path) = (bytes::stride(self.dimension), self.file.path().to_path_buf());
        let mut reader = File::open(&path).map_err(|error| Error::io("open", &path, error))?;
        reader.seek(SeekFrom::Start(0)).map_err(|error| Error::io("read", &path, error))?;
        // All int8 rows must be in the file before they are read from it.
        self.file.flush()?;
        let mut rows = vec![0; bits::BLOCK * stride];
        let mut block = vec![0; bits::block_len(self.dimension)];
        for scales in scales.chunks(bits::BLOCK) {
            let rows = &mut rows[..scales.len() * stride];
            reader.read_exact(rows).map_err(|error| Error::io("read", &path, error))?;
            bits::clear(&mut block);
            for (place, (row, scale)) in rows.chunks_exact(stride).zip(scales).enumerate() {
                coder.write(row, *scale, &mut block, place);
            }
            self.file.put(&block)?;
        }
        Ok(())
    }
}

/// Rows that were written only to be merged with others.
pub struct Spool {
    pub map: Mapped,
    pub scales: Vec<f32>,
    pub ids: Vec<u32>,
}
