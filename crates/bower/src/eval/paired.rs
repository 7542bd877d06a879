//! Compares two rankings of the same questions: differences question by question, with their intervals.
//! A difference is always the second minus the first. All functions are pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bootstrap::{self, Interval};
use super::metrics::{Named, keys};
use super::{FUSED, Judged, Outcome};
use crate::eval::set::Set;

/// Difference below which figures are equal: sums in another order differ in the last digits.
const EQUAL: f64 = 1e-9;

/// Difference of one figure between two rankings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "fields are the keys of the JSON")]
pub struct Difference {
    /// Mean over all questions, second minus first.
    pub difference: f64,
    /// 95 % interval over questions, drawn in pairs.
    pub interval: Interval,
    /// Number of questions on which the second is better.
    pub better: usize,
    /// Number of questions on which it is worse.
    pub worse: usize,
    /// Number of questions on which both are equal.
    pub equal: usize,
}

/// Comparison of two profiles on one index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Names of the first and the second profile.
    pub profiles: [String; 2],
    /// Figures over all queries.
    pub all: Sides,
    /// Figures by category of query, if the set has categories.
    pub by_category: BTreeMap<String, Sides>,
}

/// Figures of both profiles on some queries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sides {
    /// Number of queries that have a judged document.
    pub queries: usize,
    /// Figures of the first and of the second.
    pub figures: [Named; 2],
    /// Differences by the figures' names.
    pub differences: BTreeMap<String, Difference>,
}

/// Figures without one part of the ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ablated {
    /// `channel` or `factor`.
    pub kind: &'static str,
    /// Name of the part that was left out.
    pub removed: String,
    /// Figures of the ranking without it.
    pub figures: Named,
    /// nDCG without the part minus nDCG of the whole: below zero, the part helps.
    #[serde(flatten)]
    pub difference: Difference,
}

/// Computes the mean difference of pairs (first, second), its interval, and the counts.
pub fn difference(pairs: &[(f64, f64)]) -> Difference {
    let apart: Vec<Vec<f64>> = pairs.iter().map(|(first, second)| vec![second - first]).collect();
    let count = |is: &dyn Fn(f64) -> bool| apart.iter().filter(|one| is(one[0])).count();
    let (better, worse) = (count(&|by| by > EQUAL), count(&|by| by < -EQUAL));
    Difference {
        difference: apart.iter().map(|one| one[0]).sum::<f64>() / pairs.len().max(1) as f64,
        interval: bootstrap::of_means(&apart).first().copied().unwrap_or_default(),
        better,
        worse,
        equal: pairs.len() - better - worse,
    }
}

/// Compares two profiles' answers to the same questions of `set`, in the same order.
pub fn compare(
    set: &Set,
    cutoff: usize,
    profiles: [&str; 2],
    first: &Outcome,
    second: &Outcome,
) -> Comparison {
    let pairs: Vec<(&Judged, &Judged)> = first.judged.iter().zip(&second.judged).collect();
    let mut categories: BTreeMap<&str, Vec<(&Judged, &Judged)>> = BTreeMap::new();
    for (one, other) in &pairs {
        debug_assert_eq!(one.query, other.query, "both were asked the same");
        if let Some(category) = &set.queries[one.query].category {
            categories.entry(category).or_default().push((one, other));
        }
    }
    Comparison {
        profiles: profiles.map(str::to_owned),
        all: sides(&pairs, cutoff),
        by_category: categories
            .iter()
            .map(|(name, pairs)| ((*name).to_owned(), sides(pairs, cutoff)))
            .collect(),
    }
}

/// Compares the figures without a part of the ranking to those of the whole.
pub fn ablated(
    kind: &'static str,
    removed: &str,
    cutoff: usize,
    whole: &Outcome,
    without: &Outcome,
) -> Ablated {
    let ndcg = |one: &Judged| one.of(FUSED).ndcg;
    let pairs: Vec<(f64, f64)> = whole
        .judged
        .iter()
        .zip(&without.judged)
        .map(|(whole, without)| (ndcg(whole), ndcg(without)))
        .collect();
    let rows: Vec<&Judged> = without.judged.iter().collect();
    Ablated {
        kind,
        removed: removed.to_owned(),
        figures: means(&rows, cutoff),
        difference: difference(&pairs),
    }
}

fn sides(pairs: &[(&Judged, &Judged)], cutoff: usize) -> Sides {
    let (first, second): (Vec<&Judged>, Vec<&Judged>) = pairs.iter().copied().unzip();
    let differences = keys(cutoff).into_iter().enumerate().map(|(at, key)| {
        let value = |one: &Judged| one.of(FUSED).values()[at];
        let values: Vec<_> = pairs.iter().map(|(one, other)| (value(one), value(other))).collect();
        (key, difference(&values))
    });
    Sides {
        queries: pairs.len(),
        differences: differences.collect(),
        figures: [means(&first, cutoff), means(&second, cutoff)],
    }
}

fn means(rows: &[&Judged], cutoff: usize) -> Named {
    let mean =
        |at: usize| rows.iter().map(|one| one.of(FUSED).values()[at]).sum::<f64>() / rows.len().max(1) as f64;
    keys(cutoff).into_iter().enumerate().map(|(at, key)| (key, mean(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::metrics::Figures;
    use crate::eval::set::Query;
    use std::collections::BTreeSet;

    #[test]
    fn differences_by_hand() {
        let found = difference(&[(0.5, 1.0), (0.5, 0.25), (1.0, 1.0), (0.0, 0.75)]);
        assert!((found.difference - 0.25).abs() < 1e-12);
        assert_eq!((found.better, found.worse, found.equal), (2, 1, 1));
        assert!(found.interval.0 < 0.25 && found.interval.1 > 0.25 && !found.interval.is_clear());
        let none = difference(&[]);
        assert_eq!(none, Difference::default());
        // The difference is always .1, whatever is drawn.
        let sure = difference(&[(0.5, 0.6), (0.2, 0.3), (0.9, 1.0)]);
        assert!((sure.interval.0 - 0.1).abs() < 1e-9 && (sure.interval.1 - 0.1).abs() < 1e-9);
        assert!(sure.interval.is_clear());
    }

    fn outcome(ndcg: [f64; 3]) -> Outcome {
        let judged = ndcg.iter().enumerate().map(|(query, &ndcg)| Judged {
            query,
            figures: BTreeMap::from([(FUSED.to_owned(), Figures { ndcg, mrr: 0.5, ..Figures::default() })]),
        });
        Outcome { judged: judged.collect(), times: Vec::new() }
    }

    #[test]
    fn sides_are_compared_in_all_and_by_category() {
        let query = |category: Option<&str>| Query {
            id: String::new(),
            text: String::new(),
            group: None,
            exclude: BTreeSet::new(),
            category: category.map(Into::into),
        };
        let set = Set { queries: vec![query(Some("x")), query(None), query(Some("x"))], ..Set::default() };
        let (a, b) = (outcome([0.2, 0.4, 0.6]), outcome([0.3, 0.1, 0.9]));
        let found = compare(&set, 10, ["atlas", "bower"], &a, &b);
        assert_eq!(found.all.queries, 3);
        assert!((found.all.figures[1]["ndcg@10"] - 1.3 / 3.0).abs() < 1e-12);
        assert!((found.all.differences["ndcg@10"].difference - 0.1 / 3.0).abs() < 1e-12);
        assert_eq!(found.all.differences["mrr@10"].equal, 3);
        let category = &found.by_category["x"];
        assert_eq!((category.queries, category.differences["ndcg@10"].better), (2, 2));
        assert!((category.differences["ndcg@10"].difference - 0.2).abs() < 1e-12);
        let without = ablated("channel", "text", 10, &b, &a);
        assert!((without.difference.difference + 0.1 / 3.0).abs() < 1e-12);
        assert!((without.figures["ndcg@10"] - 0.4).abs() < 1e-12);
    }
}
