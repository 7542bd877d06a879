//! Keeps the best candidates of a search, and rescores them by their stored vectors.

use super::ExactQuery;
use crate::error::{Error, Result};
use crate::item::{RowId, Scored};

/// Number of best int8 scores that are replaced by cosines of stored vectors, each a read of the store; and the number
/// of rows for which one more is rescored. Among more rows, more are as near as the tenth except for int8's error.
/// Recall@10 of 400 questions on 100,000 real passages, many of them alike, is .9975 with 20, .9972 with 14 and .9900
/// with 10. (On a million, where the clusters decided, 24 gave .9790 and 14 gave .9788.)
pub(super) const RESCORED: usize = 14;
pub(super) const ROWS_PER_RESCORED: usize = 100_000;

/// Returns the stored vectors of some rows, in order, as little-endian half floats; `None` for a missing row.
pub type Fetch<'a> = dyn FnMut(&[RowId]) -> Result<Vec<Option<Vec<u8>>>> + 'a;

/// A vector between two stages of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorCandidate {
    pub(super) score: f32,
    pub(super) row: RowId,
    pub(super) segment: u32,
    pub(super) position: u32,
}

/// The segment number of candidates from the delta.
pub(super) const DELTA: u32 = u32::MAX;

impl VectorCandidate {
    /// Creates a candidate for a row of the delta, with its int8 score.
    pub(super) fn of_delta(row: RowId, score: f32) -> Self {
        Self { score, row, segment: DELTA, position: 0 }
    }

    fn cmp_best_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
    }
}

/// Keeps the best of many candidates: a buffer of twice the limit, and a threshold that rises whenever it is full.
pub(super) struct Best {
    limit: usize,
    pub(super) threshold: f32,
    pub(super) kept: Vec<VectorCandidate>,
}

impl Best {
    pub(super) fn new(limit: usize, expected: usize) -> Self {
        Self { limit, threshold: f32::NEG_INFINITY, kept: Vec::with_capacity(expected.min(2 * limit)) }
    }

    /// Clears it and sets the threshold, above which scores are accepted.
    pub(super) fn begin(&mut self, threshold: f32) {
        self.threshold = threshold;
        self.kept.clear();
    }

    /// Adds a candidate. Scores at or below the threshold cannot be among the best. (An equal score that came earlier
    /// has a smaller row, or is from another segment, whose order is fixed too.)
    #[inline]
    pub(super) fn push(&mut self, candidate: VectorCandidate) {
        if candidate.score > self.threshold {
            self.kept.push(candidate);
            if self.kept.len() >= 2 * self.limit {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.limit {
            let (_, last, _) =
                self.kept.select_nth_unstable_by(self.limit - 1, VectorCandidate::cmp_best_first);
            self.threshold = last.score;
            self.kept.truncate(self.limit);
        }
    }

    pub(super) fn into_kept(mut self) -> Vec<VectorCandidate> {
        self.cut();
        self.kept
    }
}

/// Replaces the best scores by cosines of the stored vectors and orders the results. `fail` makes the error for invalid
/// vectors.
pub(super) fn rescore(
    query: &[f32],
    k: usize,
    mut kept: Vec<VectorCandidate>,
    rescored: usize,
    exact: &mut Fetch<'_>,
    fail: impl Fn(String) -> Error,
) -> Result<Vec<Scored>> {
    kept.sort_unstable_by(VectorCandidate::cmp_best_first);
    let mut found: Vec<Scored> =
        kept.iter().map(|candidate| Scored { row: candidate.row, score: candidate.score }).collect();
    let rest = found.split_off(found.len().min(rescored));
    let mut rows: Vec<RowId> = found.iter().map(|scored| scored.row).collect();
    rows.sort_unstable();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = exact(&rows)?;
    if vectors.len() != rows.len() {
        return Err(fail(format!("{} vectors came for {} rows", vectors.len(), rows.len())));
    }
    let dimension = query.len();
    let query = ExactQuery::new(query);
    let mut results = Vec::with_capacity(rows.len() + rest.len());
    for (row, vector) in rows.into_iter().zip(vectors) {
        let Some(vector) = vector else { continue };
        if vector.len() != 2 * dimension {
            return Err(fail(format!("the vector of row {} has {} dimensions", row.0, vector.len() / 2)));
        }
        results.push(Scored { row, score: query.cosine_f16(&vector) });
    }
    results.extend(rest);
    results.sort_unstable_by(Scored::cmp_best_first);
    results.truncate(k);
    Ok(results)
}
