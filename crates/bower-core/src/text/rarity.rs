//! Computes how rare a question's terms are in a store, over index and delta together.
//! Each row counts once, whether it is in the index or the delta.

use super::delta::Delta;
use super::index::TextIndex;
use super::query::QueryTerm;
use super::score::{Statistics, idf};
use crate::error::Result;
use crate::item::Allowed;

/// The rarity of a question's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rarity {
    /// Number of rows.
    pub rows: u64,
    /// For each term, the number of rows that contain it.
    pub having: Vec<u64>,
}

impl Rarity {
    /// Returns the terms' BM25 weights: `ln(1 + (N - n + .5) / (n + .5))`, never negative.
    pub fn weights(&self) -> Vec<f32> {
        self.having.iter().map(|&having| idf(having, self.rows)).collect()
    }
}

/// Returns the rarity of `terms`; `delta` was scanned for the same terms. Dropped rows that are not yet compacted away
/// count. With `counted` only these rows count, and the delta was scanned for them too.
pub fn rarity(
    index: Option<&TextIndex>,
    delta: &Delta,
    terms: &[QueryTerm],
    counted: Option<Allowed<'_>>,
) -> Result<Rarity> {
    if let (Some(index), Some(counted)) = (index, counted) {
        let Statistics { docs, frequencies, .. } = index.statistics(terms, delta, Some(counted))?.0;
        return Ok(Rarity { rows: docs, having: frequencies });
    }
    let mut rarity = Rarity { rows: delta.statistics.docs, having: vec![0; terms.len()] };
    for (having, waiting) in rarity.having.iter_mut().zip(&delta.statistics.frequencies) {
        *having = *waiting;
    }
    if let Some(index) = index {
        rarity.rows += index.len();
        for (having, compacted) in rarity.having.iter_mut().zip(index.rows_with(terms)?) {
            *having += compacted;
        }
    }
    Ok(rarity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::RowId;
    use crate::text::{DeltaScan, encode_terms, query_terms};

    #[test]
    fn rows_of_the_delta_are_counted() {
        let terms = query_terms("port server zebra", &[]);
        let mut scan = DeltaScan::new(&terms, None);
        for (row, text) in ["the port, the port", "a server port", "nothing"].iter().enumerate() {
            scan.push(RowId(row as u32), &encode_terms(text)).unwrap();
        }
        let found = rarity(None, &scan.finish(), &terms, None).unwrap();
        assert_eq!(found, Rarity { rows: 3, having: vec![2, 1, 0] });
        // By hand: ln(1 + 1.5 / 2.5), ln(1 + 2.5 / 1.5), ln(1 + 3.5 / .5).
        let expected = [0.470_003_6, 0.980_829_3, 2.079_441_5];
        for (weight, expected) in found.weights().into_iter().zip(expected) {
            assert!((weight - expected).abs() < 1e-5, "{weight}");
        }
    }
}
