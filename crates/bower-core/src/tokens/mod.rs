//! The index for late interaction: eight bytes a token, searched for given rows only.
//! Codes of different schemes are never compared.
//!
//! An index is a folder with one manifest and immutable segments. [`TokenIndex::open`] maps a generation,
//! [`TokenIndex::score`] compares a question's tokens with those of some rows, [`compact`] writes the next generation.
//!
//! The score is `MaxSim`: for each token of the question its best match among the row's tokens, averaged by the tokens'
//! weights. `embed/` makes the codes and the question's tokens; here they are numbers.

mod compact;
mod query;
mod segment;
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(not(test), allow(dead_code, unused_imports, reason = "fuzzers use a part of it"))]
#[allow(clippy::unwrap_used, reason = "it is made for tests, which fuzzers share")]
mod testing;

pub use crate::generation::MANIFEST;
pub use compact::{compact, purge};
pub use query::{TokenQuery, from_bytes, to_bytes};
#[cfg(any(test, feature = "fuzzing"))]
pub use testing::damaged;

use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::item::RowId;
use segment::{Copied, TokenRows};

/// Bytes of codes, counted over all segments, that are mapped; those beyond are read. A question reads some hundred
/// rows anywhere. So after a thousand questions everything that is mapped is in this process's memory: 96 MB at 100,000
/// items. A read keeps nothing in memory, and costs .4 (quiet) to 1.2 microseconds more than accessing a resident page.
const MAPPED: usize = 40 << 20;

/// Number of rows that are read at once and then scored: about 32 KB, which nearly fits the first-level cache.
const AT_ONCE: usize = 32;

/// The opened generation of a folder `index/<store-id>/tokens-<scheme>/`; its model is the scheme.
pub type TokenIndex = Generation<TokenRows>;

impl TokenIndex {
    /// Returns the rows that have codes, each once, unordered. Reads all ids.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.segments.iter().flat_map(|segment| {
            let view = segment.view();
            let live = move |(at, id): (usize, &u32)| (!view.is_dead(at)).then_some(RowId(*id));
            view.ids.iter().enumerate().filter_map(live)
        })
    }

    /// Returns the rows with verified codes, ascending, of an index that is damaged elsewhere, because making codes
    /// costs a pass of the model. Rows of a segment without checksums, or with damaged tables, are not among them.
    pub fn whole_rows(&self) -> Vec<WholeRow> {
        let mut whole = Vec::new();
        for (number, segment) in self.segments.iter().enumerate().filter(|(_, segment)| segment.has_sums()) {
            if !segment.are_tables_whole() {
                continue;
            }
            let view = segment.view();
            let rows =
                view.ids.iter().enumerate().filter(|(at, _)| !view.is_dead(*at) && segment.is_row_whole(*at));
            whole.extend(rows.map(|(position, id)| WholeRow { row: RowId(*id), segment: number, position }));
        }
        whole.sort_unstable_by_key(|row| (row.row, row.segment));
        whole.dedup_by_key(|row| row.row);
        whole
    }

    /// Returns the codes of a row from [`TokenIndex::whole_rows`], eight bytes per token.
    pub fn codes_of(&self, row: WholeRow) -> Result<&[u8]> {
        self.segments[row.segment].row(row.position)
    }

    /// Returns the score of each row, in the order of `rows`: higher is closer, 0 for a text without tokens, about -1
    /// to 1. `None` if the index has no codes of the row.
    ///
    /// Fails with [`Error::Corrupt`] if a row lies outside its segment's bytes, or its file was shortened.
    pub fn score(&self, query: &TokenQuery, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        self.score_mapped_to(MAPPED, query, rows)
    }

    /// Like [`TokenIndex::score`], with this many bytes of codes mapped.
    fn score_mapped_to(&self, mapped: usize, query: &TokenQuery, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        // Ascending, so that each segment is traversed once; a row that is passed twice is found twice.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|at| (rows[*at], *at));
        let mut scores = vec![None; rows.len()];
        let mut score = |places: &[usize], codes: &[&[u64]]| {
            for (place, score) in places.iter().zip(query.score(codes)) {
                scores[*place] = Some(score);
            }
        };
        let (mut places, mut positions, mut copied) = (Vec::new(), Vec::new(), Copied::default());
        let mut mapped = mapped;
        for segment in &self.segments {
            let (view, mut from) = (segment.view(), 0);
            places.clear();
            positions.clear();
            for place in &order {
                match view.find(rows[*place], from) {
                    Ok(at) => {
                        from = at;
                        if !view.is_dead(at) {
                            places.push(*place);
                            positions.push(at);
                        }
                    }
                    Err(at) => from = at,
                }
                if from == view.ids.len() {
                    break;
                }
            }
            // Rows below the limit come first, because their ids ascend. If they do not, the file is damaged and any
            // split is as good.
            let below = |at: &usize| segment.span(*at).is_ok_and(|span| span.end <= mapped);
            let (near, far) = positions.split_at(positions.partition_point(below));
            let (near_places, far_places) = places.split_at(near.len());
            let codes = near.iter().map(|at| segment.codes(*at)).collect::<Result<Vec<_>>>()?;
            score(near_places, &codes);
            for (places, positions) in far_places.chunks(AT_ONCE).zip(far.chunks(AT_ONCE)) {
                copied.read(segment, positions)?;
                score(places, &copied.rows());
            }
            mapped = mapped.saturating_sub(segment.bytes_len());
        }
        Ok(scores)
    }
}

/// The position of a row in an index.
#[derive(Clone, Copy, Debug)]
pub struct WholeRow {
    /// The row.
    pub row: RowId,
    segment: usize,
    position: usize,
}

/// Returns the stored codes of one text as words: eight little-endian bytes per token.
///
/// Fails with [`Error::Invalid`] if the length is not a multiple of eight.
pub fn codes(bytes: &[u8]) -> Result<Vec<u64>> {
    match bytes.as_chunks::<8>() {
        (words, []) => Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect()),
        (_, _) => Err(Error::invalid(
            format!("token codes of {} bytes", bytes.len()),
            "must be eight bytes a token",
        )),
    }
}
