//! Computes nDCG, recall and reciprocal rank of a ranking, as `trec_eval` does.
//! All functions are pure. Definitions: `trec_eval` 9.0 measures `ndcg_cut` (linear gain), `recall` and `recip_rank`.

use std::collections::BTreeMap;

/// Cutoff of `Recall@100`.
pub const DEEP: usize = 100;

/// The grades of one query's judged documents; zero and below is not relevant.
pub type Grades = BTreeMap<String, i32>;

/// Figures of one query, or the mean of several; each is 0..1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Discounted cumulative gain of the first k, as a share of the best possible.
    pub ndcg: f64,
    /// Share of the relevant documents among the first k.
    pub recall: f64,
    /// Share of the relevant documents among the first 100.
    pub recall_deep: f64,
    /// Reciprocal rank of the first relevant document, if it is among the first k.
    pub mrr: f64,
}

impl Figures {
    /// Computes the figures of one ranking. `ranking` is best first and names each document once; `k` is at least 1.
    ///
    /// Judged documents that are not in the ranking count as missed. A query without a relevant document is worth 0.
    pub fn of(ranking: &[&str], grades: &Grades, k: usize) -> Self {
        let gain = |document: &str| f64::from(grades.get(document).copied().unwrap_or(0).max(0));
        let relevant = grades.values().filter(|grade| **grade > 0).count();
        if relevant == 0 {
            return Self::default();
        }
        let mut best: Vec<f64> = grades.values().map(|grade| f64::from((*grade).max(0))).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        let found = |depth: usize| ranking.iter().take(depth).filter(|document| gain(document) > 0.0).count();
        let first = ranking.iter().take(k).position(|document| gain(document) > 0.0);
        Self {
            ndcg: discounted(ranking.iter().map(|document| gain(document)), k)
                / discounted(best.into_iter(), k),
            recall: found(k) as f64 / relevant as f64,
            recall_deep: found(DEEP) as f64 / relevant as f64,
            mrr: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
        }
    }

    /// Adds figures one by one.
    pub fn plus(self, other: Self) -> Self {
        Self {
            ndcg: self.ndcg + other.ndcg,
            recall: self.recall + other.recall,
            recall_deep: self.recall_deep + other.recall_deep,
            mrr: self.mrr + other.mrr,
        }
    }

    /// Returns the figures in the order of their names: nDCG, Recall, Recall@100, MRR.
    pub fn values(self) -> [f64; 4] {
        [self.ndcg, self.recall, self.recall_deep, self.mrr]
    }

    /// Divides a sum by the number of queries; 0 if there are none.
    pub fn over(self, count: usize) -> Self {
        let count = count.max(1) as f64;
        Self {
            ndcg: self.ndcg / count,
            recall: self.recall / count,
            recall_deep: self.recall_deep / count,
            mrr: self.mrr / count,
        }
    }
}

/// Returns the smallest value that at least `share` (0..1) of the values do not exceed, by nearest rank; 0 if there are none.
/// Sorts `values`.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

/// Sums gain / log2(rank + 1) over the first k.
fn discounted(gains: impl Iterator<Item = f64>, k: usize) -> f64 {
    gains.take(k).enumerate().map(|(at, gain)| gain / ((at + 2) as f64).log2()).sum()
}

/// Figures of one ranking by their printed names: `ndcg@10`, `recall@10`, `recall@100`, `mrr@10`.
pub type Named = BTreeMap<String, f64>;

/// Returns the names of the figures, in the order of [`Figures::values`].
pub fn keys(cutoff: usize) -> [String; 4] {
    [format!("ndcg@{cutoff}"), format!("recall@{cutoff}"), format!("recall@{DEEP}"), format!("mrr@{cutoff}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_equal_those_of_trec_eval() {
        #[derive(serde::Deserialize)]
        struct Expected {
            ndcg: f64,
            recall: f64,
            recall_100: f64,
            mrr: f64,
        }
        #[derive(serde::Deserialize)]
        struct Case {
            name: String,
            grades: Grades,
            ranking: Vec<String>,
            expected: BTreeMap<usize, Expected>,
        }
        // Made by tools/golden_eval.py.
        let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/golden/eval.json")).unwrap();
        assert!(cases.len() >= 50);
        for case in &cases {
            let ranking: Vec<_> = case.ranking.iter().map(String::as_str).collect();
            assert!(case.expected.contains_key(&10));
            for (&k, expected) in &case.expected {
                let figures = Figures::of(&ranking, &case.grades, k);
                let pairs = [
                    (figures.ndcg, expected.ndcg),
                    (figures.recall, expected.recall),
                    (figures.recall_deep, expected.recall_100),
                    (figures.mrr, expected.mrr),
                ];
                for (ours, theirs) in pairs {
                    assert!((ours - theirs).abs() < 1e-9, "{} at {k}: {figures:?}, not {theirs}", case.name);
                }
            }
        }
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        assert!(percentile(&mut [], 0.5).abs() < 1e-12);
        let mut values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert!((percentile(&mut values, 0.5) - 3.0).abs() < 1e-12);
        assert!((percentile(&mut values, 0.95) - 5.0).abs() < 1e-12);
        assert!((percentile(&mut values, 0.0) - 1.0).abs() < 1e-12);
        assert!((percentile(&mut [2.0, 1.0], 0.5) - 1.0).abs() < 1e-12);
    }
}
