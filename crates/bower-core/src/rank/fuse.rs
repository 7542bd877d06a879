//! Reciprocal rank fusion of ranked lists by row.
//! A row found by several channels is one candidate; ties go to the older row.

use std::collections::HashMap;

use crate::item::{RowId, Scored};

/// Fuses ranked lists. Each row's score is the sum of 1 / (k + rank) over the lists that contain it, with ranks from 1.
/// It is divided by its maximum, so that a row which is first in every list scores 1.
///
/// Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
/// Methods", SIGIR 2009. Best first, total order.
pub fn reciprocal_rank(lists: &[&[Scored]], k: f32) -> Vec<Scored> {
    let mut scores: HashMap<RowId, f32> = HashMap::new();
    for list in lists {
        for (at, hit) in list.iter().enumerate() {
            *scores.entry(hit.row).or_default() += 1.0 / (k + (at + 1) as f32);
        }
    }
    let most = lists.len() as f32 / (k + 1.0);
    let mut fused: Vec<_> =
        scores.into_iter().map(|(row, score)| Scored { row, score: score / most }).collect();
    fused.sort_unstable_by(Scored::cmp_best_first);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rows: &[u32]) -> Vec<Scored> {
        rows.iter().map(|&row| Scored { row: RowId(row), score: 0.0 }).collect()
    }

    fn check(lists: &[&[u32]], expected: &[(u32, f32)]) {
        let lists: Vec<_> = lists.iter().map(|rows| list(rows)).collect();
        let lists: Vec<_> = lists.iter().map(Vec::as_slice).collect();
        let fused = reciprocal_rank(&lists, 60.0);
        assert_eq!(fused.len(), expected.len());
        for (got, (row, score)) in fused.iter().zip(expected) {
            assert!(got.row.0 == *row && (got.score - score).abs() < 1e-6, "{fused:?} is not {expected:?}");
        }
    }

    #[test]
    fn ranks_add_up() {
        // By hand: (1/61 + 1/62) / (2/61) = (1 + 61/62) / 2 = .991935; (1/62 + 1/61) is the same; 1/63 alone is .484127.
        check(&[&[7, 3, 9], &[3, 7]], &[(3, 0.991_935_5), (7, 0.991_935_5), (9, 0.484_127)]);
        check(&[&[5], &[5]], &[(5, 1.0)]);
        check(&[&[5]], &[(5, 1.0)]);
        check(&[&[], &[]], &[]);
    }
}
