//! Scores vectors of the delta exactly as an index scores its own.
//! So compaction changes no score.

use std::collections::BTreeMap;

use bower_kernels::Isa;
use bower_kernels::scan::bytes;

use super::best::{Fetch, RESCORED, VectorCandidate, rescore};
use super::exact::read_halves;
use super::quantise::{ByteQuery, quantise};
use crate::error::{Error, Result};
use crate::item::{RowId, Scored};

/// The int8 cosine of each row with a query.
pub type DeltaScores = BTreeMap<RowId, f32>;

/// Returns the int8 cosine of a query with each vector.
///
/// The vectors are stored ones: little-endian half floats. A vector of another dimension has no score. A vector without
/// direction (zero, not finite) scores 0, and so do all if the query has no direction.
pub fn score_delta<'a>(query: &[f32], vectors: impl Iterator<Item = (RowId, &'a [u8])>) -> DeltaScores {
    let (isa, dimension) = (Isa::best(), query.len());
    let query = ByteQuery::new(query);
    let mut floats = vec![0.0_f32; dimension];
    let mut row_bytes = vec![0; bytes::stride(dimension)];
    let mut dot = [0];
    let score = |(row, vector): (RowId, &[u8])| {
        if vector.len() != 2 * dimension {
            return None;
        }
        read_halves(vector, &mut floats);
        let scale = quantise(&floats, &mut row_bytes);
        bytes::dots(isa, &row_bytes, &query.values, &mut dot);
        // Multiplied in the same order as in the index's scan.
        Some((row, dot[0] as f32 * scale * query.scale))
    };
    vectors.filter_map(score).collect()
}

/// Returns the `k` best of scored rows, for a model without an index; ordered and rescored as by
/// [`super::VectorIndex::search`].
///
/// # Errors
/// Those of `exact`, and a vector whose dimension differs from the query's.
pub fn search_delta(
    query: &[f32],
    k: usize,
    delta: &DeltaScores,
    exact: &mut Fetch<'_>,
) -> Result<Vec<Scored>> {
    let kept = delta.iter().map(|(&row, &score)| VectorCandidate::of_delta(row, score)).collect();
    rescore(query, k, kept, RESCORED, exact, |cause| Error::invalid("the stored vectors", cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Allowed, RowSet};
    use crate::vector::testing::{IndexFolder, Vectors};
    use crate::vector::{floats, halves};

    const ROWS: u32 = 1_200;

    /// Creates a folder with the first `compacted` rows as stored.
    fn folder(data: &Vectors, compacted: u32) -> IndexFolder {
        let folder = IndexFolder::new(128);
        folder.compact(1, &[], (0..compacted).map(|row| Ok((RowId(row), floats(&halves(data.get(row)))))));
        folder
    }

    /// Returns the scores of the rows from `compacted` on that a filter keeps.
    fn delta(data: &Vectors, compacted: u32, query: &[f32], keep: Option<&RowSet>) -> DeltaScores {
        let stored: Vec<_> = (compacted..ROWS)
            .map(|row| (RowId(row), halves(data.get(row))))
            .filter(|(row, _)| keep.is_none_or(|keep| keep.contains(*row)))
            .collect();
        score_delta(query, stored.iter().map(|(row, half)| (*row, half.as_slice())))
    }

    /// Other writers cause compactions, which must not change our scores.
    #[test]
    fn where_compaction_stopped_changes_no_result() {
        let data = Vectors::clustered(128, ROWS as usize, 5);
        let whole = folder(&data, ROWS).open().unwrap();
        let none = RowSet::new();
        let few: RowSet = (0..ROWS).step_by(40).map(RowId).collect();
        let many: RowSet = (0..ROWS).filter(|row| row % 3 != 0).map(RowId).collect();
        let fetch = &mut |rows: &[RowId]| data.fetch(rows);
        for compacted in [1, 600, 1_199] {
            let part = folder(&data, compacted).open().unwrap();
            for (query, keep) in [(3, None), (700, Some(&few)), (1_199, Some(&many))] {
                let query = data.get(query);
                let allowed = Allowed { keep, drop: &none };
                let delta = delta(&data, compacted, query, keep);
                for k in [5, 100] {
                    let (found, _) = part.search_with_delta(query, k, allowed, &delta, fetch).unwrap();
                    assert_eq!(
                        found,
                        whole.search(query, k, allowed, fetch).unwrap(),
                        "{compacted} rows compacted"
                    );
                }
                for (row, score) in &delta {
                    let compacted = whole.cosines(query, &[*row])[0].unwrap();
                    assert_eq!(compacted.to_bits(), score.clamp(-1.0, 1.0).to_bits());
                }
            }
        }
    }

    #[test]
    fn without_an_index_the_delta_is_found_alike() {
        let data = Vectors::clustered(128, ROWS as usize, 6);
        let whole = folder(&data, ROWS).open().unwrap();
        let query = data.get(77);
        let scores = delta(&data, 0, query, None);
        let found = search_delta(query, 50, &scores, &mut |rows| data.fetch(rows)).unwrap();
        assert_eq!(found, data.search(&whole, query, 50));
    }

    #[test]
    fn a_newer_vector_of_a_row_stands_for_the_one_in_the_index() {
        let data = Vectors::clustered(128, ROWS as usize, 7);
        let index = folder(&data, ROWS).open().unwrap();
        let (query, none) = (data.get(9), RowSet::new());
        let away: Vec<f32> = query.iter().map(|value| -value).collect();
        let newer = halves(&away);
        let delta = score_delta(query, [(RowId(9), newer.as_slice())].into_iter());
        let allowed = Allowed { keep: None, drop: &none };
        let fetch = &mut |rows: &[RowId]| {
            let vector = |row: &RowId| if row.0 == 9 { newer.clone() } else { halves(data.get(row.0)) };
            Ok(rows.iter().map(|row| Some(vector(row))).collect())
        };
        let (found, _) = index.search_with_delta(query, 10, allowed, &delta, fetch).unwrap();
        assert_eq!(found.len(), 10);
        assert!(found.iter().all(|hit| hit.row != RowId(9)), "its old vector was the nearest");
    }

    #[test]
    fn vectors_that_cannot_be_compared_have_no_score_or_zero() {
        let query = [1.0_f32; 128];
        let (short, still, good) = (vec![0; 254], halves(&[0.0; 128]), halves(&[2.0; 128]));
        let rows = [short, still, good];
        let scores = score_delta(&query, (0..).map(RowId).zip(rows.iter().map(Vec::as_slice)));
        assert_eq!(scores.keys().map(|row| row.0).collect::<Vec<_>>(), [1, 2]);
        assert!(scores[&RowId(1)].abs() < f32::EPSILON);
        // By hand: 128 coordinates of 127, each with the scale 1/(127 sqrt(128)): 1.
        assert!((scores[&RowId(2)] - 1.0).abs() < 1e-6);
    }
}
