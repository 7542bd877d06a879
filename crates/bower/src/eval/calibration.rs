//! Measures whether probabilities are calibrated, and whether answers recognise that they contain nothing relevant.
//! All functions are pure.
//!
//! **Calibration error** (Naeini, Cooper and Hauskrecht, AAAI 2015, with bins of equal count): the ten best documents of each
//! question are sorted by probability (equal ones by question, then rank) and cut into ten bins. Bin sizes differ by at most
//! one, the larger ones come first. The error is the mean over all hits of the distance between their bin's mean probability
//! and its share of relevant documents.
//!
//! **Relevant** is a document with the set's highest grade, as in `tools/calibrate.py`: sets that judge one or two documents
//! per question give that grade to answers. For a set with several grades, the error with every grade above zero as relevant is
//! also reported.
//!
//! **Abstention**: each question is asked as it is, and again with all its judged documents hidden (those that it excludes are
//! hidden both times). AUROC is the probability that a question of the first kind gets a higher answerable probability than one
//! of the second kind; ties count half (Mann and Whitney 1947). The calibration error has no interval: resampling adds noise to
//! each bin, and noise only widens the distances, so the interval would lie above the figure.

use serde::Serialize;

use super::bootstrap::{self, Interval};

/// Number of hits of a question that count.
pub const HITS: usize = 10;

const BINS: usize = 10;

/// One of the best documents of a question, at its best chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Id of the document.
    pub document: String,
    /// Rank among documents, from 1.
    pub rank: usize,
    /// Rank among hits, from 1: other documents may have several hits above.
    pub place: usize,
    /// Probability that the document answers, as the engine computes it.
    pub probability: f32,
    /// Feature of the probability: standing among the competitors, 0 and below.
    pub standing: f32,
    /// Feature of the probability: BM25 as a share of the most that is possible, 0..1.
    pub share: f32,
    /// Feature of the probability: share of the question's terms that the hit has, by idf, 0..1.
    pub coverage: f32,
    /// Feature of the probability: similarity of the words by late interaction, -1..1; `None` if it is not known.
    pub closeness: Option<f32>,
    /// Whether the document has the set's highest grade.
    pub relevant: bool,
    /// Whether it has any grade above zero.
    pub graded: bool,
}

/// Result of one run of one question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The best documents, best first; at most [`HITS`].
    pub hits: Vec<Hit>,
    /// Probability that the answer contains something relevant, as the engine computes it.
    pub answerable: f32,
}

/// One question, asked as it is and with all its judged documents hidden.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Position in the set's queries.
    pub query: usize,
    /// Result of the question as it is.
    pub whole: Told,
    /// Result without its judged documents; `None` if none of them is among those that it searches.
    pub removed: Option<Told>,
}

/// Calibration of the probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Number of documents that count.
    pub hits: usize,
    /// Expected calibration error, 0..1.
    pub error: f64,
    /// The error with every grade above zero as relevant, if the set has several grades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_any_grade: Option<f64>,
    /// The error over first hits alone.
    pub error_first: f64,
    /// The bins, least probable first.
    pub bins: Vec<Bin>,
    /// Recognition of questions without an answer.
    pub abstention: Abstention,
}

/// Hits of similar probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Number of hits.
    pub hits: usize,
    /// Their mean probability.
    pub probability: f64,
    /// Share of relevant hits.
    pub relevant: f64,
}

/// Recognition of questions without an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Abstention {
    /// Questions that were asked both ways.
    pub questions: usize,
    /// AUROC of questions as they are against questions without their judged documents.
    pub auroc: f64,
    /// 95 % interval of `auroc`.
    pub interval: Interval,
    /// Number of these questions with a relevant document among the ten best.
    pub answered: usize,
    /// AUROC of those alone against questions without their judged documents.
    pub auroc_answered: f64,
    /// 95 % interval of `auroc_answered`.
    pub interval_answered: Interval,
    /// Probability below which an answer abstains.
    pub threshold: f64,
    /// Share of answered questions below the threshold, which is an error.
    pub abstains_answered: f64,
    /// Share of questions without their judged documents below the threshold.
    pub abstains_removed: f64,
}

/// Computes the calibration. `threshold` is the probability below which an answer abstains; `graded` says whether the set has
/// several grades.
pub fn calibrate(asked: &[Asked], threshold: f32, graded: bool) -> Calibration {
    let hits = || asked.iter().flat_map(|one| &one.whole.hits);
    let strict: Vec<(f64, bool)> = hits().map(|hit| (f64::from(hit.probability), hit.relevant)).collect();
    let any: Vec<(f64, bool)> = hits().map(|hit| (f64::from(hit.probability), hit.graded)).collect();
    let first: Vec<(f64, bool)> =
        hits().filter(|hit| hit.rank == 1).map(|hit| (f64::from(hit.probability), hit.relevant)).collect();
    let bins = bins(strict);
    Calibration {
        hits: any.len(),
        error: error(&bins),
        error_any_grade: graded.then(|| error(&self::bins(any))),
        error_first: error(&self::bins(first)),
        bins,
        abstention: abstention(asked, threshold),
    }
}

/// Returns ten bins of equal count, ascending by probability.
fn bins(mut hits: Vec<(f64, bool)>) -> Vec<Bin> {
    // The sort is stable: equal ones stay in the order of question and rank.
    hits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rest = hits.as_slice();
    let mut bins = Vec::new();
    for left in (1..=BINS).rev() {
        let (bin, others) = rest.split_at(rest.len().div_ceil(left));
        rest = others;
        if !bin.is_empty() {
            let count = bin.len() as f64;
            bins.push(Bin {
                hits: bin.len(),
                probability: bin.iter().map(|(probability, _)| probability).sum::<f64>() / count,
                relevant: bin.iter().filter(|(_, relevant)| *relevant).count() as f64 / count,
            });
        }
    }
    bins
}

fn error(bins: &[Bin]) -> f64 {
    let hits: usize = bins.iter().map(|bin| bin.hits).sum();
    let apart = |bin: &Bin| bin.hits as f64 * (bin.probability - bin.relevant).abs();
    bins.iter().map(apart).sum::<f64>() / hits.max(1) as f64
}

fn abstention(asked: &[Asked], threshold: f32) -> Abstention {
    struct Both {
        whole: f32,
        removed: f32,
        answered: bool,
    }
    let both: Vec<Both> = asked
        .iter()
        .filter_map(|one| {
            Some(Both {
                whole: one.whole.answerable,
                removed: one.removed.as_ref()?.answerable,
                answered: one.whole.hits.iter().any(|hit| hit.relevant),
            })
        })
        .collect();
    // Tuples (question, probability, asked as it is), sorted once for all resamples.
    let sorted = |answered_only: bool| {
        let mut values: Vec<(usize, f32, bool)> = both
            .iter()
            .enumerate()
            .flat_map(|(at, one)| {
                let whole = (one.answered || !answered_only).then_some((at, one.whole, true));
                whole.into_iter().chain([(at, one.removed, false)])
            })
            .collect();
        values.sort_by(|a, b| a.1.total_cmp(&b.1));
        values
    };
    let (all, answered) = (sorted(false), sorted(true));
    let once = vec![1; both.len()];
    let intervals =
        bootstrap::intervals(both.len(), |drawn| vec![auroc(&all, drawn), auroc(&answered, drawn)]);
    let below = |values: &mut dyn Iterator<Item = f32>| {
        let values: Vec<f32> = values.collect();
        values.iter().filter(|value| **value < threshold).count() as f64 / values.len().max(1) as f64
    };
    let real = |value: f64| if value.is_finite() { value } else { 0.5 };
    Abstention {
        questions: both.len(),
        auroc: real(auroc(&all, &once)),
        interval: intervals.first().copied().unwrap_or_default(),
        answered: both.iter().filter(|one| one.answered).count(),
        auroc_answered: real(auroc(&answered, &once)),
        interval_answered: intervals.get(1).copied().unwrap_or_default(),
        threshold: f64::from(threshold),
        abstains_answered: below(&mut both.iter().filter(|one| one.answered).map(|one| one.whole)),
        abstains_removed: below(&mut both.iter().map(|one| one.removed)),
    }
}

/// Returns the probability that a true value is above a false one; ties count half. Each value counts as often as its question
/// was drawn. `values` ascend. The result is NaN if one side is empty.
fn auroc(values: &[(usize, f32, bool)], drawn: &[u32]) -> f64 {
    let (mut wins, mut truths, mut falses) = (0.0, 0.0, 0.0);
    for equal in values.chunk_by(|a, b| a.1.total_cmp(&b.1).is_eq()) {
        let count = |truth: bool| {
            equal.iter().filter(|one| one.2 == truth).map(|one| f64::from(drawn[one.0])).sum::<f64>()
        };
        let (here, against) = (count(true), count(false));
        wins += here * (falses + against / 2.0);
        truths += here;
        falses += against;
    }
    wins / (truths * falses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(rank: usize, probability: f32, relevant: bool, graded: bool) -> Hit {
        Hit {
            document: String::new(),
            rank,
            place: rank,
            probability,
            standing: 0.0,
            share: 0.0,
            coverage: 0.0,
            closeness: None,
            relevant,
            graded,
        }
    }

    fn asked(answerable: f32, removed: Option<f32>, hits: Vec<Hit>) -> Asked {
        let removed = removed.map(|answerable| Told { hits: Vec::new(), answerable });
        Asked { query: 0, whole: Told { hits, answerable }, removed }
    }

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn calibration_error_by_hand() {
        // Eleven hits in ten bins: the first has two, each other one.
        let hits = (0..11).map(|at| hit(at + 1, 0.05 * at as f32, at == 10 || at == 0, at >= 9));
        let found = calibrate(&[asked(0.5, None, hits.collect())], 0.16, true);
        assert_eq!((found.hits, found.bins.len(), found.bins[0].hits, found.bins[9].hits), (11, 10, 2, 1));
        close(found.bins[0].probability, 0.025);
        close(found.bins[0].relevant, 0.5);
        // 2 |.025 - .5| + .1 + .15 + .2 + .25 + .3 + .35 + .4 + .45 + |.5 - 1| = .95 + 2.2 + .5 = 3.65, over 11.
        close(found.error, 3.65 / 11.0);
        // Graded are the last two: 2 (.025) + .1 + .15 + .2 + .25 + .3 + .35 + .4 + .55 + .5 = 2.85.
        close(found.error_any_grade.unwrap(), 2.85 / 11.0);
        close(found.error_first, 1.0);
        assert_eq!(calibrate(&[], 0.16, false).bins, []);
        close(calibrate(&[], 0.16, false).error, 0.0);
    }

    #[test]
    fn fewer_hits_than_bins_are_bins_of_one() {
        let found = calibrate(
            &[asked(0.5, None, vec![hit(1, 0.9, true, true), hit(2, 0.2, false, false)])],
            0.1,
            false,
        );
        assert_eq!(found.bins.iter().map(|bin| bin.hits).collect::<Vec<_>>(), [1, 1]);
        close(found.error, 0.15);
        assert_eq!(found.error_any_grade, None);
    }

    #[test]
    fn auroc_by_hand() {
        let right = || vec![hit(1, 0.9, true, true)];
        let wrong = || vec![hit(1, 0.9, false, true)];
        let questions = [
            asked(0.9, Some(0.3), right()),
            asked(0.4, Some(0.4), right()),
            asked(0.1, Some(0.2), wrong()),
            // None of its judged documents is in the group, so nothing could be hidden.
            asked(0.0, None, right()),
        ];
        let found = calibrate(&questions, 0.35, false).abstention;
        assert_eq!((found.questions, found.answered), (3, 2));
        // .9 is above .3 .4 .2; .4 above .3 .2 and equal to .4; .1 above none: 5.5 of 9, without .1 5.5 of 6.
        close(found.auroc, 5.5 / 9.0);
        close(found.auroc_answered, 5.5 / 6.0);
        close(found.abstains_answered, 0.0);
        close(found.abstains_removed, 2.0 / 3.0);
        assert!(found.interval.0 < found.auroc && found.auroc < found.interval.1);
        let none = calibrate(&[], 0.16, false).abstention;
        close(none.auroc, 0.5);
    }

    /// Checks that weights by draws give the same result as repeated questions.
    #[test]
    fn weights_are_repetitions() {
        let values = [
            (0, 0.1, false),
            (1, 0.1, true),
            (0, 0.4, true),
            (2, 0.5, false),
            (2, 0.7, true),
            (1, 0.9, false),
        ];
        let drawn = [2, 0, 3];
        let mut wins = 0.0;
        let mut pairs = 0.0;
        for truth in values.iter().filter(|one| one.2) {
            for other in values.iter().filter(|one| !one.2) {
                let weight = f64::from(drawn[truth.0] * drawn[other.0]);
                pairs += weight;
                wins += weight
                    * if truth.1 > other.1 {
                        1.0
                    } else if truth.1 < other.1 {
                        0.0
                    } else {
                        0.5
                    };
            }
        }
        close(auroc(&values, &drawn), wins / pairs);
    }
}
