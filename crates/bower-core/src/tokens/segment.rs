//! One immutable file of codes, ascending by row. Every section starts at a multiple of 64 bytes and is little-endian.
//!
//! ```text
//! codes    tokens x u64        bit i is set where number i is above 0; a row's tokens in the order of its text
//! ends     rows x u32          where each row's tokens end; they start where the row before it ends
//! ids      rows x u32          ascending
//! footer   64 bytes            magic, format, rows, tokens
//! ```

use std::path::{Path, PathBuf};

use bower_kernels::{Access, Mapped};

use super::FORMAT;
use crate::error::{Error, Result};
use crate::generation::{Disk, Entry, Rows, SegmentFile, check_contents, corrupt, open_dead, open_file};
use crate::item::RowId;

#[cfg(target_endian = "big")]
compile_error!("token files are little-endian and used in place");

const MAGIC: [u8; 8] = *b"BOWERTOK";
const FOOTER: usize = 64;

/// Where each section starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    rows: u32,
    tokens: u32,
    ends: usize,
    ids: usize,
    footer: usize,
}

impl Layout {
    fn new(rows: u32, tokens: u32) -> Self {
        let after = |start: usize, len: usize| (start + len).next_multiple_of(64);
        let ends = after(0, tokens as usize * 8);
        let ids = after(ends, rows as usize * 4);
        let footer = after(ids, rows as usize * 4);
        Self { rows, tokens, ends, ids, footer }
    }

    fn len(&self) -> usize {
        self.footer + FOOTER
    }

    fn footer(&self) -> [u8; FOOTER] {
        let mut footer = [0; FOOTER];
        footer[..8].copy_from_slice(&MAGIC);
        for (at, number) in [FORMAT, self.rows, self.tokens].into_iter().enumerate() {
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
    pub fn open(dir: &Path, entry: &Entry) -> Result<Self> {
        let path = entry.path(dir);
        let map = open_file(&path)?;
        let bytes = map.bytes();
        let Some(footer) = bytes.len().checked_sub(FOOTER).map(|start| &bytes[start..]) else {
            return Err(corrupt(&path, format!("{} bytes hold no footer", bytes.len())));
        };
        let tokens = u32::from_le_bytes([footer[16], footer[17], footer[18], footer[19]]);
        let layout = Layout::new(entry.rows, tokens);
        if *footer != layout.footer() {
            return Err(corrupt(&path, "the footer does not match the manifest"));
        }
        let len = bytes.len();
        if len != layout.len() || len as u64 != entry.bytes {
            return Err(corrupt(&path, format!("{len} bytes instead of {}", layout.len())));
        }
        let dead = open_dead(dir, entry)?;
        let dead_count = entry.dead.as_ref().map_or(0, |dead| dead.count as usize);
        let segment = Self { path, map, layout, dead, dead_count };
        // Only candidates are read: reading ahead of them would bring in many times the bytes.
        segment.map.advise(Access::Random, 0, layout.ends);
        Ok(segment)
    }

    /// Rows that can be found.
    pub fn live(&self) -> usize {
        self.layout.rows as usize - self.dead_count
    }

    /// The rows with those that are not to be found any more.
    #[inline]
    pub fn view(&self) -> Rows<'_> {
        Rows {
            ids: self.words(self.layout.ids, self.layout.rows),
            dead: self.dead.as_ref().map(Mapped::bytes),
        }
    }

    /// The codes of the row at a position.
    pub fn codes(&self, position: usize) -> Result<&[u64]> {
        let ends = self.ends();
        let start = position.checked_sub(1).map_or(0, |before| ends[before]) as usize;
        let all: &[u64] = bytemuck::cast_slice(&self.map.bytes()[..self.layout.tokens as usize * 8]);
        all.get(start..ends[position] as usize)
            .ok_or_else(|| corrupt(&self.path, format!("the row at {position} has no place in it")))
    }

    /// Compares everything with the manifest's checksums and counts.
    pub fn verify(&self, entry: &Entry) -> Result<()> {
        check_contents(&self.path, entry, &self.map, self.view().ids, self.dead.as_ref())?;
        let ends = self.ends();
        if ends.is_sorted() && ends.last() == Some(&self.layout.tokens) {
            Ok(())
        } else {
            Err(corrupt(&self.path, "the rows do not divide the codes"))
        }
    }

    /// Tells the operating system that the codes of these rows will be read soon.
    pub fn warm(&self, position: usize, count: usize) {
        let ends = self.ends();
        let end = |at: usize| at.checked_sub(1).map_or(0, |before| ends[before.min(ends.len() - 1)] as usize);
        let (start, end) = (end(position), end(position + count));
        self.map.advise(Access::WillNeed, start * 8, end.saturating_sub(start) * 8);
    }

    fn ends(&self) -> &[u32] {
        self.words(self.layout.ends, self.layout.rows)
    }

    fn words(&self, start: usize, count: u32) -> &[u32] {
        bytemuck::cast_slice(&self.map.bytes()[start..][..count as usize * 4])
    }
}

/// A segment being written, one row after another.
pub struct SegmentWriter<'a> {
    file: SegmentFile<'a>,
    ends: Vec<u32>,
    ids: Vec<u32>,
}

impl<'a> SegmentWriter<'a> {
    /// Starts a file.
    pub fn create(disk: &'a mut Disk, path: PathBuf) -> Result<Self> {
        Ok(Self { file: SegmentFile::create(disk, path)?, ends: Vec::new(), ids: Vec::new() })
    }

    /// The file being written.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The rows so far.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Adds a row's codes, eight bytes each; rows must ascend. Four billion tokens do not fit one segment.
    pub fn push(&mut self, row: RowId, codes: &[u8]) -> Result<()> {
        assert!(self.ids.last().is_none_or(|last| *last < row.0), "rows ascend");
        assert!(codes.len().is_multiple_of(8), "eight bytes a token");
        let tokens = u32::try_from(codes.len() / 8).ok();
        let end = tokens.and_then(|tokens| self.ends.last().unwrap_or(&0).checked_add(tokens));
        let end = end.ok_or_else(|| {
            Error::index("write more than four billion tokens to", self.file.path(), "the segment is full")
        })?;
        self.ends.push(end);
        self.ids.push(row.0);
        self.file.put(codes)
    }

    /// What was pushed so far as bytes of the unfinished file, which is not written to any more.
    pub fn into_spool(mut self) -> Result<Spool> {
        self.file.flush()?;
        let path = self.file.path();
        let map = Mapped::open(path).map_err(|error| Error::io("map", path, error))?;
        Ok(Spool { map, ends: self.ends, ids: self.ids })
    }

    /// Writes the other sections and makes the file durable. At least one row was pushed.
    pub fn finish(mut self, number: u64) -> Result<Entry> {
        let tokens = *self.ends.last().expect("an empty segment is not written");
        let layout = Layout::new(self.ids.len() as u32, tokens);
        for section in [&self.ends, &self.ids] {
            self.file.pad()?;
            self.file.put(bytemuck::cast_slice(section))?;
        }
        self.file.pad()?;
        self.file.put(&layout.footer())?;
        self.file.finish(number, layout.rows, layout.len())
    }
}

/// Rows that were written only to be merged with others.
pub struct Spool {
    map: Mapped,
    ends: Vec<u32>,
    pub ids: Vec<u32>,
}

impl Spool {
    /// The codes of the row at a position.
    pub fn codes(&self, position: usize) -> &[u8] {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        &self.map.bytes()[start * 8..self.ends[position] as usize * 8]
    }
}
