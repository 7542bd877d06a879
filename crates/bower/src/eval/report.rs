//! Builds the report of `bower eval` as data: figures over all queries and by category, with their intervals.
//! Field names never change; parts that were not asked for are left out.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bootstrap::{self, Interval};
use super::calibration::Calibration;
use super::evidence::Budget;
use super::metrics::{Figures, Named, keys, percentile};
use super::paired::{Ablated, Comparison};
use super::set::Set;
use super::{Judged, Outcome};

/// Intervals of one ranking's figures, under the same names.
pub type Intervals = BTreeMap<String, Interval>;

/// The report that `bower eval` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The retrieval profile.
    pub profile: String,
    /// Number of documents in the corpus.
    pub documents: usize,
    /// Number of queries that have a judged document.
    pub queries: usize,
    /// Figures of `fused` and of each channel.
    pub figures: BTreeMap<String, Named>,
    /// The 95 % intervals of these figures.
    pub intervals: BTreeMap<String, Intervals>,
    /// Figures by category of query, if the set has categories.
    pub by_category: BTreeMap<String, BTreeMap<String, Named>>,
    /// The 95 % intervals by category.
    pub category_intervals: BTreeMap<String, BTreeMap<String, Intervals>>,
    /// Number of queries in each category.
    pub category_queries: BTreeMap<String, usize>,
    /// Time for one query.
    pub latency_ms: Latency,
    /// Comparison of this profile, the first, with another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Figures without each part of the ranking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Vec<Ablated>>,
    /// Calibration of the probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Share of the relevant documents that fits each budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Budget>>,
    /// The k of the figures' names.
    #[serde(skip)]
    pub cutoff: usize,
}

/// Time for one query, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
}

impl Report {
    /// Returns the report on a profile's answers to a set at `cutoff`, computed by [`super::judge`].
    pub fn of(set: &Set, profile: &str, cutoff: usize, outcome: &Outcome) -> Self {
        let mut categories: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for one in &outcome.judged {
            if let Some(category) = &set.queries[one.query].category {
                categories.entry(category).or_default().push(one);
            }
        }
        let all: Vec<&Judged> = outcome.judged.iter().collect();
        let (figures, intervals) = figures(&all, cutoff);
        let mut report = Self {
            profile: profile.to_owned(),
            documents: set.documents.len(),
            queries: all.len(),
            figures,
            intervals,
            by_category: BTreeMap::new(),
            category_intervals: BTreeMap::new(),
            category_queries: BTreeMap::new(),
            latency_ms: Latency {
                p50: percentile(&mut outcome.times.clone(), 0.50),
                p95: percentile(&mut outcome.times.clone(), 0.95),
            },
            comparison: None,
            ablation: None,
            calibration: None,
            evidence: None,
            cutoff,
        };
        for (category, judged) in categories {
            let (named, intervals) = self::figures(&judged, cutoff);
            report.by_category.insert(category.to_owned(), named);
            report.category_intervals.insert(category.to_owned(), intervals);
            report.category_queries.insert(category.to_owned(), judged.len());
        }
        report
    }
}

/// Computes means and intervals by ranking. A query in which a channel took no part adds zero: the mean is over all queries.
fn figures(judged: &[&Judged], cutoff: usize) -> (BTreeMap<String, Named>, BTreeMap<String, Intervals>) {
    let mut names: Vec<&str> = judged.iter().flat_map(|one| one.figures.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let values = |one: &Judged| names.iter().flat_map(|name| one.of(name).values()).collect();
    let intervals = bootstrap::of_means(&judged.iter().map(|one| values(one)).collect::<Vec<_>>());
    let means = names.iter().map(|name| {
        let sum = judged.iter().fold(Figures::default(), |sum, one| sum.plus(one.of(name)));
        ((*name).to_owned(), keys(cutoff).into_iter().zip(sum.over(judged.len()).values()).collect())
    });
    let width = keys(cutoff).len();
    let intervals = names.iter().zip(intervals.chunks(width)).map(|(name, intervals)| {
        ((*name).to_owned(), keys(cutoff).into_iter().zip(intervals.iter().copied()).collect())
    });
    (means.collect(), intervals.collect())
}
