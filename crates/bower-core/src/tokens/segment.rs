//! The segment layout of token codes.
//! A code is a function of text and scheme alone, so merging only copies.
//!
//! ```text
//! codes    tokens x u64        bit i is set if number i is above 0; a row's tokens in the order of its text
//! ends     rows x u32          where each row's tokens end; they start where the row before it ends
//! ids      rows x u32          ascending
//! footer   64 bytes            magic, format, rows, tokens
//! ```

use std::ops::Range;

use crate::error::{Error, Result};
use crate::generation::{self, SectionOffsets, SegmentFormat, SegmentWriter};
use crate::item::RowId;

/// The version of the format: manifest, segments and the order of bits in a code. Any change needs a new one.
const FORMAT: u32 = 1;

/// Numbers of a token, which are the bits of a code.
pub const DIMENSION: usize = bower_kernels::scan::maxsim::DIMENSION;

/// Bytes of a code.
const CODE: usize = size_of::<u64>();

/// Largest gap between two rows that is read with them: copying that many bytes costs about as much as another read.
const JOINED: usize = 2_048;

/// Codes of one scheme. A row is the codes of its tokens, and the end of its codes among those of all rows.
#[derive(Debug)]
pub struct TokenRows;

impl SegmentFormat for TokenRows {
    const FORMAT: u32 = FORMAT;
    const MAGIC: [u8; 8] = *b"BOWERTOK";
    const INDEX: &'static str = "token index";
    const ROWS: &'static str = "codes";
    const ROW: &'static str = "token codes";

    type Fresh = Vec<u8>;
    type Number = u32;

    fn of(dimension: usize) -> Result<Self, String> {
        let wrong = || format!("{dimension} numbers a token instead of {DIMENSION}");
        if dimension == DIMENSION { Ok(Self) } else { Err(wrong()) }
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn layout(&self, rows: u32, tokens: u32) -> SectionOffsets {
        // Only candidates are read.
        SectionOffsets::new::<Self>(rows, tokens as usize * CODE, 0, [rows, tokens]).sparse()
    }

    fn size(ends: &[u32]) -> u32 {
        ends.last().copied().unwrap_or(0)
    }

    fn span(ends: &[u32], _bytes: usize, rows: Range<usize>) -> Range<usize> {
        let end = |rows: usize| rows.checked_sub(1).map_or(0, |last| ends[last] as usize * CODE);
        end(rows.start)..end(rows.end)
    }

    fn write(&self, row: RowId, codes: &Vec<u8>, draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        if !codes.len().is_multiple_of(CODE) {
            return Err(Self::refused(row, "must be eight bytes a token"));
        }
        self.copy(row, 0, codes, draft)
    }

    /// Copies a row. Fails if the segment would have more than four billion tokens.
    fn copy(&self, row: RowId, _old: u32, codes: &[u8], draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        let tokens = u32::try_from(codes.len() / CODE).ok();
        let end = tokens.and_then(|tokens| Self::size(&draft.numbers).checked_add(tokens));
        let end = end.ok_or_else(|| {
            Error::index("write more than four billion tokens to", draft.file.path(), "the segment is full")
        })?;
        draft.push(row, end, codes)
    }

    fn check(ends: &[u32], tokens: u32) -> Result<(), &'static str> {
        let whole = ends.is_sorted() && Self::size(ends) == tokens;
        if whole { Ok(()) } else { Err("the rows do not divide the codes") }
    }
}

/// An opened segment of codes.
pub type TokenSegment = generation::Segment<TokenRows>;

impl TokenSegment {
    /// Returns the mapped codes of the row at a position; fails if the file is damaged.
    pub fn codes(&self, position: usize) -> Result<&[u64]> {
        self.row(position).map(bytemuck::cast_slice)
    }
}

/// Codes of some rows of a segment, copied from its file into a reused buffer.
#[derive(Debug, Default)]
pub struct Copied {
    words: Vec<u64>,
    /// The range of each row's codes in `words`.
    rows: Vec<Range<usize>>,
}

impl Copied {
    /// Returns the codes of each row, in the order of the positions.
    pub fn rows(&self) -> Vec<&[u64]> {
        self.rows.iter().map(|row| &self.words[row.clone()]).collect()
    }

    /// Replaces its contents by the codes of the rows at some positions, ascending. Rows close together are read at
    /// once, with the bytes between them. Fails if the file is damaged or was shortened.
    pub fn read(&mut self, segment: &TokenSegment, positions: &[usize]) -> Result<()> {
        self.rows.clear();
        let mut words = 0;
        // The range of the current read in the file, and the position of its first byte among the words.
        let mut run: Option<(Range<usize>, usize)> = None;
        for position in positions {
            let span = segment.span(*position)?;
            match &mut run {
                Some((read, _)) if read.start <= span.start && span.start <= read.end + JOINED => {
                    read.end = read.end.max(span.end);
                }
                _ => {
                    words += self.fill(segment, run.take())?;
                    run = Some((span.clone(), words));
                }
            }
            let (read, first) = run.as_ref().expect("a run was begun");
            let start = first + (span.start - read.start) / CODE;
            self.rows.push(start..start + span.len() / CODE);
        }
        self.fill(segment, run).map(drop)
    }

    /// Reads a run into its words; returns their number.
    fn fill(&mut self, segment: &TokenSegment, run: Option<(Range<usize>, usize)>) -> Result<usize> {
        let Some((read, first)) = run else { return Ok(0) };
        let words = read.len() / CODE;
        if self.words.len() < first + words {
            self.words.resize(first + words, 0);
        }
        segment.read(read.start, bytemuck::cast_slice_mut(&mut self.words[first..first + words]))?;
        Ok(words)
    }
}
