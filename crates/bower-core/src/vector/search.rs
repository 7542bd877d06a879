//! One search: 1-bit candidates, int8 scores, stored vectors for the best. Every stage is a total order: score, then row.

use std::sync::atomic::Ordering;

use bower_kernels::scan::bits::{self, BLOCK};
use bower_kernels::scan::bytes;

use super::quantise::{ByteQuery, bit_query};
use super::segment::Segment;
use super::{ExactQuery, VectorIndex};
use crate::error::{Error, Result};
use crate::item::{Allowed, RowId, RowSet, Scored};

/// Candidates of the 1-bit scan: at least 400, five for each result wanted. Measured on MiniLM vectors: recall@10
/// .997-1.0 with 400; recall@200 .985-.996 with 1,000 (.90-.98 with 400).
const CANDIDATES: usize = 400;
const CANDIDATES_PER_RESULT: usize = 5;

/// How many of the best int8 scores are replaced by cosines of the stored vectors.
const RESCORED: usize = 40;

/// A filter that keeps at most one in this many vectors is walked row by row with int8; above, the codes are scanned.
const NARROW: usize = 20;

/// Blocks scanned between two looks at the threshold.
const BLOCKS: usize = 16;

/// Rows scored between two looks at the threshold.
const ROWS: usize = 256;

/// A vector on its way through the stages.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: f32,
    row: RowId,
    segment: u32,
    position: u32,
}

impl Candidate {
    fn cmp_best_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
    }
}

/// Keeps the best few of many: a buffer of twice as many and a threshold that rises whenever it is full.
struct Best {
    limit: usize,
    threshold: f32,
    kept: Vec<Candidate>,
}

impl Best {
    fn new(limit: usize, expected: usize) -> Self {
        Self { limit, threshold: f32::NEG_INFINITY, kept: Vec::with_capacity(expected.min(2 * limit)) }
    }

    /// Takes a candidate; scores at or below the threshold cannot be among the best. (At it: an earlier one of the
    /// same score came from a smaller row, or from another segment, whose order is fixed too.)
    #[inline]
    fn push(&mut self, candidate: Candidate) {
        if candidate.score > self.threshold {
            self.kept.push(candidate);
            if self.kept.len() >= 2 * self.limit {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.limit {
            let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, Candidate::cmp_best_first);
            self.threshold = last.score;
            self.kept.truncate(self.limit);
        }
    }

    fn into_kept(mut self) -> Vec<Candidate> {
        self.cut();
        self.kept
    }
}

impl VectorIndex {
    /// The `k` vectors with the largest cosine to `query` among the allowed, best first; equal scores by row.
    ///
    /// `exact` is asked once for the stored vectors of the best 40, in ascending order of rows, and answers in that
    /// order. `None` is a row that is gone; it is left out. Further results keep their int8 score, which differs from the
    /// cosine by some .002. A query without direction (all zero) is similar to nothing: no results.
    ///
    /// Fails with [`Error::Invalid`] when the query has another dimension or is not finite, or as `exact` does.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        allowed: Allowed<'_>,
        exact: &mut dyn FnMut(&[RowId]) -> Result<Vec<Option<Vec<f32>>>>,
    ) -> Result<Vec<Scored>> {
        if query.len() != self.dimension() {
            let reason = format!("has {} dimensions, the index has {}", query.len(), self.dimension());
            return Err(Error::invalid("query vector", reason));
        }
        if query.iter().any(|value| !value.is_finite()) {
            return Err(Error::invalid("query vector", "holds a number that is not finite"));
        }
        let bytes = ByteQuery::new(query);
        let rows: usize = self.segments.iter().map(Segment::rows).sum();
        if bytes.scale == 0.0 || k == 0 || rows == 0 {
            return Ok(Vec::new());
        }
        let cold = !self.warmed.swap(true, Ordering::Relaxed);
        let mut best = Best::new(k.max(RESCORED), rows);
        match allowed.keep {
            Some(keep) if keep.len() <= rows / NARROW => self.score_kept(&bytes, keep, allowed, &mut best),
            Some(_) | None => {
                self.score_candidates(query, k, &bytes, allowed, cold, &mut best);
                self.score_small(&bytes, allowed, &mut best);
            }
        }
        self.rescore(query, k, best.into_kept(), exact)
    }

    /// The rows that a narrow filter keeps, by int8.
    fn score_kept(&self, query: &ByteQuery, keep: &RowSet, allowed: Allowed<'_>, best: &mut Best) {
        let mut positions = Vec::with_capacity(ROWS);
        for (number, segment) in self.segments.iter().enumerate() {
            let mut from = 0;
            for row in keep.iter() {
                match segment.find(row, from) {
                    Ok(at) => {
                        from = at + 1;
                        if !allowed.drop.contains(row) && !segment.is_dead(at) {
                            positions.push(at as u32);
                        }
                    }
                    Err(at) => from = at,
                }
                if positions.len() == ROWS {
                    self.score_at(query, number, &positions, best);
                    positions.clear();
                }
                if from >= segment.rows() {
                    break;
                }
            }
            self.score_at(query, number, &positions, best);
            positions.clear();
        }
    }

    /// The candidates of every segment's 1-bit codes, by int8.
    fn score_candidates(
        &self,
        query: &[f32],
        k: usize,
        bytes: &ByteQuery,
        allowed: Allowed<'_>,
        cold: bool,
        best: &mut Best,
    ) {
        if !self.segments.iter().any(Segment::is_coded) {
            return;
        }
        let norm = query.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
        let mut rotated: Vec<f32> = query.iter().map(|value| (f64::from(*value) / norm) as f32).collect();
        self.rotation.apply(self.isa, &mut rotated);
        let limit = CANDIDATES.max(CANDIDATES_PER_RESULT.saturating_mul(k));
        let mut candidates = Best::new(limit, self.segments.iter().map(Segment::rows).sum());
        let mut passed = Vec::with_capacity(BLOCKS * BLOCK);
        for (number, segment) in self.segments.iter().enumerate().filter(|(_, segment)| segment.is_coded()) {
            if cold {
                segment.warm();
            }
            let query = bit_query(&rotated, segment.centre());
            let ids = segment.ids();
            let chunks = segment.blocks().chunks(BLOCKS * bits::block_len(self.dimension()));
            for (at, blocks) in chunks.enumerate() {
                passed.clear();
                let first = (at * BLOCKS * BLOCK) as u32;
                bits::scan(self.isa, blocks, &query, candidates.threshold, first, &mut passed);
                for estimate in &passed {
                    // The filter is asked last: few vectors pass the threshold. Places after the last row never do
                    // unless the file is damaged, and then they have no row.
                    let position = estimate.position as usize;
                    let Some(row) = ids.get(position).map(|row| RowId(*row)) else { continue };
                    if estimate.score > candidates.threshold
                        && allowed.contains(row)
                        && !segment.is_dead(position)
                    {
                        let (segment, position) = (number as u32, estimate.position);
                        candidates.push(Candidate { score: estimate.score, row, segment, position });
                    }
                }
            }
        }
        let mut candidates = candidates.into_kept();
        candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.position));
        for group in candidates.chunk_by(|a, b| a.segment == b.segment) {
            let number = group[0].segment as usize;
            let positions: Vec<u32> = group.iter().map(|candidate| candidate.position).collect();
            if cold {
                positions.iter().for_each(|at| self.segments[number].warm_bytes(*at as usize, 1));
            }
            self.score_at(bytes, number, &positions, best);
        }
    }

    /// Every row of the segments without codes, by int8.
    fn score_small(&self, query: &ByteQuery, allowed: Allowed<'_>, best: &mut Best) {
        let mut dots = [0; ROWS];
        for (number, segment) in self.segments.iter().enumerate().filter(|(_, segment)| !segment.is_coded()) {
            let (ids, scales) = (segment.ids(), segment.scales());
            for (chunk, rows) in segment.bytes().chunks(ROWS * query.values.len()).enumerate() {
                let dots = &mut dots[..rows.len() / query.values.len()];
                bytes::dots(self.isa, rows, &query.values, dots);
                for (at, dot) in dots.iter().enumerate() {
                    let position = chunk * ROWS + at;
                    let score = *dot as f32 * scales[position] * query.scale;
                    let row = RowId(ids[position]);
                    if score > best.threshold && allowed.contains(row) && !segment.is_dead(position) {
                        best.push(Candidate {
                            score,
                            row,
                            segment: number as u32,
                            position: position as u32,
                        });
                    }
                }
            }
        }
    }

    /// Some rows of one segment, by int8.
    fn score_at(&self, query: &ByteQuery, number: usize, positions: &[u32], best: &mut Best) {
        let segment = &self.segments[number];
        let (ids, scales) = (segment.ids(), segment.scales());
        let mut dots = [0; ROWS];
        for positions in positions.chunks(ROWS) {
            let dots = &mut dots[..positions.len()];
            bytes::dots_at(self.isa, segment.bytes(), positions, &query.values, dots);
            for (position, dot) in positions.iter().zip(dots) {
                let at = *position as usize;
                let score = *dot as f32 * scales[at] * query.scale;
                let row = RowId(ids[at]);
                best.push(Candidate { score, row, segment: number as u32, position: *position });
            }
        }
    }

    /// Replaces the best scores by cosines of the stored vectors and orders the results.
    fn rescore(
        &self,
        query: &[f32],
        k: usize,
        mut kept: Vec<Candidate>,
        exact: &mut dyn FnMut(&[RowId]) -> Result<Vec<Option<Vec<f32>>>>,
    ) -> Result<Vec<Scored>> {
        kept.sort_unstable_by(Candidate::cmp_best_first);
        let mut found: Vec<Scored> =
            kept.iter().map(|candidate| Scored { row: candidate.row, score: candidate.score }).collect();
        let rest = found.split_off(found.len().min(RESCORED));
        let mut rows: Vec<RowId> = found.iter().map(|scored| scored.row).collect();
        rows.sort_unstable();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = exact(&rows)?;
        if vectors.len() != rows.len() {
            let cause = format!("{} vectors came for {} rows", vectors.len(), rows.len());
            return Err(Error::index("rescore results of", &self.dir, cause));
        }
        let query = ExactQuery::new(query);
        let mut results = Vec::with_capacity(rows.len() + rest.len());
        for (row, vector) in rows.into_iter().zip(vectors) {
            let Some(vector) = vector else { continue };
            if vector.len() != self.dimension() {
                let cause = format!("the vector of row {} has {} dimensions", row.0, vector.len());
                return Err(Error::index("rescore results of", &self.dir, cause));
            }
            results.push(Scored { row, score: query.cosine(&vector) });
        }
        results.extend(rest);
        results.sort_unstable_by(Scored::cmp_best_first);
        results.truncate(k);
        Ok(results)
    }
}
