//! Computes how rare a question's terms are in a store, over index and delta together.
//! A row counts once, wherever it is.

use super::index::TextIndex;
use super::query::QueryTerm;
use super::score::{Statistics, idf};
use super::tail::Tail;
use crate::error::Result;
use crate::item::Allowed;

/// The rarity of a question's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rarity {
    /// Rows in all.
    pub rows: u64,
    /// For each term, in how many rows it is.
    pub having: Vec<u64>,
}

impl Rarity {
    /// The terms' BM25 weights: `ln(1 + (N - n + .5) / (n + .5))`, never negative.
    pub fn weights(&self) -> Vec<f32> {
        self.having.iter().map(|&having| idf(having, self.rows)).collect()
    }
}

/// The rarity of `terms`; `tail` was scanned for the same terms. Rows that are dropped but not yet folded away count; with
/// `counted` these rows alone, for which the tail was scanned too.
pub fn rarity(
    index: Option<&TextIndex>,
    tail: &Tail,
    terms: &[QueryTerm],
    counted: Option<Allowed<'_>>,
) -> Result<Rarity> {
    if let (Some(index), Some(counted)) = (index, counted) {
        let Statistics { docs, frequencies, .. } = index.statistics(terms, tail, Some(counted))?.0;
        return Ok(Rarity { rows: docs, having: frequencies });
    }
    let mut rarity = Rarity { rows: tail.statistics.docs, having: vec![0; terms.len()] };
    for (having, tailed) in rarity.having.iter_mut().zip(&tail.statistics.frequencies) {
        *having = *tailed;
    }
    if let Some(index) = index {
        rarity.rows += index.len();
        for (having, folded) in rarity.having.iter_mut().zip(index.rows_with(terms)?) {
            *having += folded;
        }
    }
    Ok(rarity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::RowId;
    use crate::text::{Language, TailScan, encode_terms, query_terms};

    #[test]
    fn rows_of_the_tail_are_counted() {
        let terms = query_terms("port server zebra", Language::English);
        let mut scan = TailScan::new(&terms, &[], None);
        for (row, text) in ["the port, the port", "a server port", "nothing"].iter().enumerate() {
            scan.push(RowId(row as u32), &encode_terms(text, Language::English)).unwrap();
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
