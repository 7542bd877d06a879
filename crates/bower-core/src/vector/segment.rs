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
use sha2::{Digest, Sha256};

use super::corrupt;
use super::disk::Disk;
use super::manifest::{Entry, FORMAT};
use super::quantise::{Coder, restore};
use crate::error::{Error, Result};
use crate::item::{RowId, hex};

#[cfg(target_endian = "big")]
compile_error!("vector files are little-endian and used in place");

/// Segments of this many rows and more carry 1-bit codes. Below it an int8 scan takes .1 ms or less. A part of the format.
const CODED: u32 = 10_000;

const MAGIC: [u8; 8] = *b"BOWERVEC";
const FOOTER: usize = 64;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

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
        let map = open(&path)?;
        let layout = Layout::new(dimension, entry.rows);
        let len = map.bytes().len();
        if len != layout.len() || len as u64 != entry.bytes {
            return Err(corrupt(&path, format!("{len} bytes instead of {}", layout.len())));
        }
        if map.bytes()[layout.footer..] != layout.footer() {
            return Err(corrupt(&path, "the footer does not match the manifest"));
        }
        let dead = entry.dead.as_ref().map(|dead| {
            let path = dead.path(dir);
            let map = open(&path)?;
            let (len, want) = (map.bytes().len(), layout.rows.div_ceil(8));
            if len == want { Ok(map) } else { Err(corrupt(&path, format!("{len} bytes instead of {want}"))) }
        });
        let dead = dead.transpose()?;
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

    /// Whether the vector at a position is not to be found any more.
    #[inline]
    pub fn is_dead(&self, position: usize) -> bool {
        self.dead.as_ref().is_some_and(|dead| dead.bytes()[position / 8] >> (position % 8) & 1 == 1)
    }

    /// The bitmap of dead vectors, a bit a position.
    pub fn dead_bits(&self) -> Vec<u8> {
        self.dead.as_ref().map_or_else(|| vec![0; self.layout.rows.div_ceil(8)], |dead| dead.bytes().to_vec())
    }

    /// Where a row stands at or after position `from`. Rows are asked for in ascending order, so that with few gaps
    /// between them each is found at once.
    pub fn find(&self, row: RowId, from: usize) -> std::result::Result<usize, usize> {
        let ids = self.ids();
        let Some(start) = ids.get(from) else { return Err(ids.len()) };
        if row.0 <= *start {
            return if row.0 == *start { Ok(from) } else { Err(from) };
        }
        // Ids ascend strictly: a row stands at most as many places on as it is larger.
        let reach = (from + (row.0 - start) as usize).min(ids.len() - 1);
        match ids[reach].cmp(&row.0) {
            std::cmp::Ordering::Equal => Ok(reach),
            std::cmp::Ordering::Less => Err(reach + 1),
            std::cmp::Ordering::Greater => {
                ids[from..reach].binary_search(&row.0).map(|at| from + at).map_err(|at| from + at)
            }
        }
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
        if hex(&Sha256::digest(self.map.bytes())) != entry.sha256 {
            return Err(corrupt(&self.path, "the contents do not match their checksum"));
        }
        if !self.ids().is_sorted_by(|a, b| a < b) {
            return Err(corrupt(&self.path, "the rows do not ascend"));
        }
        if let (Some(dead), Some(map)) = (&entry.dead, &self.dead) {
            let set: u32 = map.bytes().iter().map(|byte| byte.count_ones()).sum();
            if set != dead.count || hex(&Sha256::digest(map.bytes())) != dead.sha256 {
                return Err(corrupt(&self.path, "the dead rows do not match their checksum"));
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<Mapped> {
    Mapped::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => corrupt(path, "the manifest names it and it is missing"),
        _ => Error::io("map", path, error),
    })
}

/// A segment being written, one row after another.
pub struct SegmentWriter<'a> {
    disk: &'a mut Disk,
    path: PathBuf,
    file: File,
    dimension: usize,
    buffer: Vec<u8>,
    written: u64,
    sum: Sha256,
    scales: Vec<f32>,
    ids: Vec<u32>,
    /// The sum of all vectors, for the mean.
    total: Vec<f64>,
    restored: Vec<f32>,
}

impl<'a> SegmentWriter<'a> {
    /// Starts a file.
    pub fn create(disk: &'a mut Disk, path: PathBuf, dimension: usize) -> Result<Self> {
        let file = disk.create(&path).map_err(|error| Error::io("create", &path, error))?;
        Ok(Self {
            disk,
            path,
            file,
            dimension,
            buffer: Vec::with_capacity(BUFFER),
            written: 0,
            sum: Sha256::new(),
            scales: Vec::new(),
            ids: Vec::new(),
            total: vec![0.0; dimension],
            restored: vec![0.0; dimension],
        })
    }

    /// The file being written.
    pub fn path(&self) -> &Path {
        &self.path
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
        self.put(bytes)
    }

    /// What was pushed so far as bytes of the unfinished file, which is not written to any more.
    pub fn into_spool(mut self) -> Result<Spool> {
        self.flush()?;
        let map = Mapped::open(&self.path).map_err(|error| Error::io("map", &self.path, error))?;
        Ok(Spool { map, scales: self.scales, ids: self.ids })
    }

    /// Writes the other sections and makes the file durable. At least one row was pushed.
    pub fn finish(mut self, number: u64, rotation: &Rotation, isa: Isa) -> Result<Entry> {
        assert!(!self.ids.is_empty(), "an empty segment is not written");
        let rows = self.ids.len() as u32;
        let layout = Layout::new(self.dimension, rows);
        self.pad()?;
        let scales = std::mem::take(&mut self.scales);
        self.put(bytemuck::cast_slice(&scales))?;
        self.pad()?;
        let ids = std::mem::take(&mut self.ids);
        self.put(bytemuck::cast_slice(&ids))?;
        self.pad()?;
        if rows >= CODED {
            let mut centre: Vec<f32> =
                self.total.iter().map(|total| (total / f64::from(rows)) as f32).collect();
            rotation.apply(isa, &mut centre);
            self.put(bytemuck::cast_slice(&centre))?;
            self.pad()?;
            self.put_blocks(&scales, &mut Coder::new(rotation, isa, &centre))?;
        }
        self.put(&layout.footer())?;
        self.flush()?;
        assert_eq!(self.written, layout.len() as u64, "the sections are as long as the layout says");
        self.disk.sync(&self.file).map_err(|error| Error::io("sync", &self.path, error))?;
        let sha256 = hex(&self.sum.finalize());
        Ok(Entry { number, rows, bytes: self.written, sha256, dead: None })
    }

    /// Reads the int8 rows back and writes their codes.
    fn put_blocks(&mut self, scales: &[f32], coder: &mut Coder<'_>) -> Result<()> {
        let stride = bytes::stride(self.dimension);
        let mut reader = File::open(&self.path).map_err(|error| Error::io("open", &self.path, error))?;
        reader.seek(SeekFrom::Start(0)).map_err(|error| Error::io("read", &self.path, error))?;
        // All int8 rows must be in the file before they are read from it.
        self.flush()?;
        let mut rows = vec![0; bits::BLOCK * stride];
        let mut block = vec![0; bits::block_len(self.dimension)];
        for scales in scales.chunks(bits::BLOCK) {
            let rows = &mut rows[..scales.len() * stride];
            reader.read_exact(rows).map_err(|error| Error::io("read", &self.path, error))?;
            bits::clear(&mut block);
            for (place, (row, scale)) in rows.chunks_exact(stride).zip(scales).enumerate() {
                coder.write(row, *scale, &mut block, place);
            }
            self.put(&block)?;
        }
        Ok(())
    }

    fn pad(&mut self) -> Result<()> {
        let at = self.written as usize + self.buffer.len();
        self.put(&[0; 64][..at.next_multiple_of(64) - at])
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.disk.write(&mut self.file, &self.buffer);
        written.map_err(|error| Error::io("write", &self.path, error))?;
        self.sum.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Rows that were written only to be merged with others.
pub struct Spool {
    pub map: Mapped,
    pub scales: Vec<f32>,
    pub ids: Vec<u32>,
}
