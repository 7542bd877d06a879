//! Calibrates ranking scores to probabilities: that a hit answers, and that an answer holds such a hit.
//! No probability is above 1 or NaN.
//!
//! ```text
//! standing = x - ln(sum of e^x over the best 50),  x = max(scale (score - best score), -8)
//! share    = BM25 of the hit / (2.2 x sum of weight x idf over the question's terms)
//! coverage = weight x idf of the question's terms that the hit has / weight x idf of all of them
//!
//! P(hit answers)                     = 1 / (1 + e^-y),  y = .560 + .918 standing + 2.441 share - .510 ln(rank)
//! P(ten best hold one that answers)  = 1 / (1 + e^-y),  of the first hit
//!                                        y = -2.058 + .754 standing + 1.379 coverage + 3.960 closeness
//! ```
//!
//! `standing` is a hit's lead over its competitors. `share` and `coverage` are how much of the question it contains,
//! whatever the others contain. The score alone is not enough: it is made of deviations, so the best of a bad list
//! scores as high as any. A term that no row has counts with the idf of such a term. `rank` counts hits, from 1, in the
//! order of the scores. `closeness` comes from late interaction, which looks for each word of the question among a
//! hit's words. If unknown it counts as .61, the mean of first hits.
//!
//! Fitted by `tools/calibrate.py` (ridge logistic regression, sets weighted equally) to the ten best documents of each
//! question of six labelled sets, as the default profile ranks them. "Answers" means relevant in sets that label one or
//! two documents a question, and the highest of cranfield's four grades. Each line below is a set judged by constants
//! fitted to the other five. The columns: the expected calibration error over ten bins of equal count, of equal width,
//! and for the first hits alone. Then for each bin the mean probability and the share that answers, in hundredths.
//!
//! ```text
//! set               hits    error of          probability : share that answers, bin by bin
//! locomo           15,360  .006 .006 .048  1:1 2:2 2:2 3:4 4:4 5:6 7:6 10:10 18:17 46:48
//! locomo-session   15,360  .034 .032 .253  0:0 1:1 1:1 2:2 2:3 3:3 5:6 8:9 17:22 52:77
//! scifact-train     8,090  .017 .015 .113  0:0 0:1 1:1 1:2 2:1 2:2 4:3 6:6 14:16 54:65
//! cranfield         2,250  .011 .014 .050  0:2 2:4 2:2 3:4 4:6 5:5 7:8 10:11 19:20 48:49
//! cosqa-dev         5,000  .036 .036 .061  1:1 3:1 4:2 5:4 6:2 7:5 10:6 14:7 22:17 50:39
//! vault            14,811  .031 .023 .174  0:2 1:2 1:2 2:2 2:3 3:2 4:3 6:4 11:5 34:16
//! ```
//!
//! Memories are ranked by weights of their own, so their standing counts 1.3 times, and their rank counts nothing: one
//! statement answers, and how far it leads says all. Chosen on 13,500 hits in four stores of 100 to 1,160 memories, made
//! like those of `tools/fit_memory_rank.py`. The errors are .006 over all hits and .094 over the first; without it .011
//! and .124. Questions that nothing answers make 46 % of these answers abstain, far ones that something answers 34 %.
//!
//! Limits: labels that mean less than an answer are more frequent. With every grade of cranfield as relevant (8.2
//! documents a question instead of 1.6) the error there is .26, with the upper two grades .08. Nothing but labels
//! distinguishes such a set from the others. The remedy is a higher [`Constants::base`] (by 2: .05). In cisi, which
//! labels 41 documents a question as relevant to its subject, the error is .37, and a third of its answered questions abstain.
//! Fitting to cisi too, and by the standing or closeness of all ten hits, changes that by .02 and makes the others worse. First hits of
//! whole sessions get probabilities that are too low. Those of the vault get too high ones, because only one of many
//! plausible notes is labelled.
//!
//! Answers: each question was asked twice, of the complete store and with every judged document removed. The columns:
//! AUROC of complete against removed, AUROC of complete with an answer in the ten best against removed, and calibration
//! error. Each set was left out of the fit:
//!
//! ```text
//! locomo .672 .712 .034   locomo-session .803 .809 .081   scifact-train .747 .790 .050
//! cranfield .780 .798 .066   cosqa-dev .601 .641 .080   vault .537 .620 .079
//! ```
//!
//! Without closeness the AUROC of complete against removed is .665 .798 .744 .771 .597 .535.
//!
//! Removal leaves unjudged neighbouring turns, twin functions and notes of the same kind. If the evidence was not found
//! in the first place (59% of the vault), removal changes nothing. Knowing for certain whether the ten best contain the
//! labelled document gives .70 there and .91 to .99 elsewhere. Some 95 further features were tried: margins, agreement
//! of channels, closest and worst tokens, spread of scores. Fitted to each set alone and cross-validated on it, they
//! give .71 .84 .78 .80 .62 .54 in the order above; boosted trees give no more. Questions asked of another conversation
//! instead of their own (512 each, none in the fit) are separated at .94 (sessions) and .92 (turns), without closeness
//! at .90 and .86.

use serde::{Deserialize, Serialize};

use crate::item::Band;
use crate::rank::candidate::Factor;

/// Scaled scores further below the best count as this, as in the fit.
const FLOOR: f64 = -8.0;

/// Number of best hits that compete, as in the fit.
const POOL: usize = 50;

/// Closeness of a hit for which it is unknown: the mean of the fit's first hits, .55 to .63 by set.
const UNKNOWN_CLOSENESS: f32 = 0.61;

/// Limit of BM25 for one term of idf 1: k1 + 1 with the text channel's k1 = 1.2.
const TERM_LIMIT: f32 = 2.2;

/// The constants of calibration. Those without a named source are from the fit in the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// A hit: log odds of the first hit with all standing and no words of the question. Raise it if many documents
    /// answer a question, lower it if few do.
    pub base: f32,
    /// A hit: weight of standing in the log odds, 0 and up.
    pub standing: f32,
    /// A hit: weight of its share of the question's words, 0 and up.
    pub share: f32,
    /// A hit: penalty on the logarithm of its rank among the hits, 0 and up.
    pub rank: f32,
    /// Factor of a memory's standing, for hits and answers, 0 and up.
    pub memory_standing: f32,
    /// An answer: log odds if its first hit has all standing and no words of the question.
    pub answer_base: f32,
    /// An answer: weight of the first hit's standing, 0 and up.
    pub answer_standing: f32,
    /// An answer: weight of the first hit's coverage of the question's words, 0 and up.
    pub answer_coverage: f32,
    /// An answer: weight of the first hit's closeness, 0 and up.
    pub answer_tokens: f32,
    /// The scale of scores from words alone. The fit with all channels uses 1. Of 1, 1.5, 2, 2.5 and 3 this was best
    /// for words alone: errors .007 .025 .016 .013 .017 .029 in the order of the module's table, .03 .05 .04 .04 .02
    /// .01 at 1. (Measured with the previous fit, whose probabilities differ by some hundredths.)
    pub words_scale: f32,
    /// The least probability of band HIGH, 0..1. At .5, 64, 92, 83, 69, 56 and 31 % of held-out HIGH hits answer (in
    /// the module's order). Every second question has one, in the vault every fifth.
    pub high: f32,
    /// The least probability of band MED, 0..1; strict mode drops hits below it. At .05, 15, 22, 18, 15, 9 and 7 % of
    /// MED hits answer, and 3.0, 2.0, 1.7, 3.5, 2.0 and 2.4 % of LOW hits. Strict mode keeps 84, 89, 87, 83, 91 and 58
    /// % of the answering hits among the ten best.
    pub medium: f32,
    /// The answer abstains below this probability, 0..1. Of the questions with an answer among the ten best, 5 % are
    /// below .15, sets weighted equally (held out: .9, .3, 2.0, .5, 4.3 and 37 %). Of questions asked of the wrong
    /// conversation, 67 and 48 % are (turns, sessions).
    pub abstain: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            base: 0.56,
            standing: 0.918,
            share: 2.441,
            rank: 0.51,
            memory_standing: 1.3,
            answer_base: -2.058,
            answer_standing: 0.754,
            answer_coverage: 1.379,
            answer_tokens: 3.96,
            words_scale: 2.0,
            high: 0.5,
            medium: 0.05,
            abstain: 0.15,
        }
    }
}

/// The channels that made the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Vectors, with or without words.
    Meaning,
    /// Words alone: there was no model or no vector.
    Words,
}

/// Features of one hit. Numbers out of range count as the nearest valid one, NaN as the worst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features {
    /// Its lead over its competitors, 0 and below: see `standings`.
    pub standing: f32,
    /// Its BM25 as a share of the maximum, 0..1: see `share`.
    pub share: f32,
    /// The idf share of the question's terms that it contains, 0..1: see `coverage`.
    pub coverage: f32,
    /// Late interaction's match of its words with the question's, -1..1; `None` if unknown.
    pub closeness: Option<f32>,
    /// Its rank among the hits, from 1.
    pub rank: usize,
}

impl Features {
    /// Returns the features of a memory that was ranked by meaning: its standing counts more, its rank nothing.
    pub(crate) fn of_memory(self, constants: &Constants) -> Self {
        Self { standing: self.standing * constants.memory_standing, rank: 1, ..self }
    }
}

/// Returns the standing of each of `scores` (best first, as the default profile ranks) among the best 50. It is the
/// logarithm of the score's part of their sum, as if scores were logarithms. Each is at most 0; a single hit has 0.
pub fn standings(scores: &[f32], basis: Basis, constants: &Constants) -> Vec<f32> {
    let scale = match basis {
        Basis::Meaning => 1.0,
        Basis::Words => f64::from(constants.words_scale),
    };
    let best = scores
        .iter()
        .copied()
        .filter(|score| score.is_finite())
        .max_by(f32::total_cmp)
        .map_or(0.0, f64::from);
    let below: Vec<f64> =
        scores.iter().map(|&score| bound(scale * (f64::from(score) - best), FLOOR, 0.0)).collect();
    let total = below.iter().take(POOL).map(|x| x.exp()).sum::<f64>().max(1.0).ln();
    below.into_iter().map(|x| (x - total) as f32).collect()
}

/// Returns a BM25 score as a share of the maximum, which a text approaches by repeating every term of the question.
/// `idf_sum` is the sum of weight times idf over all terms of the question. 0 for a question without terms.
pub fn share(text: f32, idf_sum: f32) -> f32 {
    part(text, TERM_LIMIT * idf_sum)
}

/// Returns the part of `idf_sum` (see `share`) that belongs to terms in the hit. 0 for a question without terms.
pub fn coverage(idf_found: f32, idf_sum: f32) -> f32 {
    part(idf_found, idf_sum)
}

/// Returns the probability that the hit answers the question, 0..1. It never falls with standing or share and never
/// rises with rank, as long as the constants are not negative.
pub fn probability(hit: &Features, constants: &Constants) -> f32 {
    logistic(terms(hit, constants).iter().map(|(_, value)| value).sum())
}

/// Returns the named terms whose sum is the log odds of a hit.
fn terms(hit: &Features, constants: &Constants) -> [(&'static str, f64); 4] {
    let constant = |x: f32| f64::from(x);
    [
        ("base", constant(constants.base)),
        ("standing", constant(constants.standing) * standing(hit)),
        ("share of the words", constant(constants.share) * bound(f64::from(hit.share), 0.0, 1.0)),
        ("rank", -constant(constants.rank) * (hit.rank.max(1) as f64).ln()),
    ]
}

/// Returns the named parts whose sum is the log odds of a probability: base, standing, share of the question's words
/// and rank. If [`level`] pooled the hit with its neighbours, that difference is a further part.
pub fn odds(hit: &Features, told: f32, constants: &Constants) -> Vec<Factor> {
    let terms = terms(hit, constants);
    let mut odds: Vec<Factor> = terms.iter().map(|(name, value)| Factor::plus(name, *value)).collect();
    let sum = terms.iter().map(|(_, value)| value).sum::<f64>();
    let told = bound(f64::from(told), 1e-9, 1.0 - 1e-9);
    let levelled = (told / (1.0 - told)).ln() - sum;
    // Near 1, steps of single-precision probabilities are larger than this in log odds.
    if (logistic(sum) - told as f32).abs() > 1e-6 {
        odds.push(Factor::plus("level with its neighbours", levelled));
    }
    odds
}

/// Makes probabilities (best hit first) non-increasing by pooling neighbours that increase. A second hit that is
/// likelier than the first would confuse a reader. The sum stays the same, and with it the overall calibration.
///
/// Pool adjacent violators (Barlow, Bartholomew, Bremner and Brunk 1972).
pub fn level(probabilities: &mut [f32]) {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(probabilities.len());
    for &probability in probabilities.iter() {
        pools.push((f64::from(probability), 1));
        while let [.., (before, count), (sum, more)] = pools.as_mut_slice()
            && *before / (*count as f64) < *sum / (*more as f64)
        {
            *before += *sum;
            *count += *more;
            pools.pop();
        }
    }
    let mut at = 0;
    for (sum, count) in pools {
        probabilities[at..at + count].fill((sum / count as f64) as f32);
        at += count;
    }
}

/// Returns the probability that the ten best contain an answer, 0..1, from the first hit by score; 0 if there is none.
/// It never falls with standing, coverage or closeness, as long as the constants are not negative.
///
/// The fit removed the evidence of every second question, so it is too low if almost all questions can be answered.
pub fn answerable(first: Option<&Features>, constants: &Constants) -> f32 {
    let Some(hit) = first else { return 0.0 };
    logistic(
        f64::from(constants.answer_base)
            + f64::from(constants.answer_standing) * standing(hit)
            + f64::from(constants.answer_coverage) * bound(f64::from(hit.coverage), 0.0, 1.0)
            + f64::from(constants.answer_tokens)
                * bound(f64::from(hit.closeness.unwrap_or(UNKNOWN_CLOSENESS)), -1.0, 1.0),
    )
}

/// Whether an answer of this probability abstains.
pub fn abstains(answerable: f32, constants: &Constants) -> bool {
    answerable < constants.abstain
}

/// Returns the band of a probability. Strict mode drops [`Band::Low`].
pub fn band(probability: f32, constants: &Constants) -> Band {
    Band::of(probability, constants.high, constants.medium)
}

fn standing(hit: &Features) -> f64 {
    bound(f64::from(hit.standing), FLOOR - (POOL as f64).ln(), 0.0)
}

fn part(of: f32, whole: f32) -> f32 {
    if whole > 0.0 { bound(f64::from(of) / f64::from(whole), 0.0, 1.0) as f32 } else { 0.0 }
}

/// Does `f64::clamp`, with NaN at the lower end.
fn bound(x: f64, least: f64, most: f64) -> f64 {
    if x.is_nan() { least } else { x.clamp(least, most) }
}

fn logistic(log_odds: f64) -> f32 {
    (1.0 / (1.0 + (-bound(log_odds, -30.0, 30.0)).exp())) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_probabilities_are_pooled() {
        let mut given = [0.5, 0.7, 0.3, 0.1, 0.2, 0.3];
        level(&mut given);
        // .5 and .7 become .6; .1, .2, .3 become .2.
        for (found, expected) in given.iter().zip([0.6, 0.6, 0.3, 0.2, 0.2, 0.2]) {
            assert!((found - expected).abs() < 1e-6, "{given:?}");
        }
        level(&mut []);
    }
    use proptest::prelude::*;

    fn near(got: f32, expected: f32) {
        assert!((got - expected).abs() < 2e-6, "{got} is not {expected}");
    }

    /// Values by `tools/calibrate.py --golden`, in Python from the formulas of the module's page.
    #[test]
    fn standings_compete() {
        let check = |scores: &[f32], basis, expected: &[f32]| {
            let got = standings(scores, basis, &Constants::default());
            assert_eq!(got.len(), expected.len());
            got.iter().zip(expected).for_each(|(got, expected)| near(*got, *expected));
        };
        check(&[3.5, 2.0, -1.25, -90.0], Basis::Meaning, &[-0.208_734, -1.708_734, -4.958_734, -8.208_734]);
        check(&[0.4, 0.4, 0.1], Basis::Words, &[-0.935_627, -0.935_627, -1.535_627]);
        check(&[7.0], Basis::Meaning, &[0.0]);
        check(&[], Basis::Meaning, &[]);
        // By hand: fifty equal scores share 1, so each has ln(1/50) = -3.912023, and so has the fifty-first.
        check(&[1.0; 51], Basis::Words, &[-3.912_023; 51]);
    }

    #[test]
    fn a_lonely_hit_is_as_likely_as_its_words_say() {
        let constants = Constants::default();
        let hit = Features { standing: 0.0, share: 0.5, coverage: 1.0, closeness: None, rank: 1 };
        let odds = odds(&hit, probability(&hit, &constants), &constants);
        let told: Vec<(&str, f32)> = odds.iter().map(|factor| (factor.name, factor.value)).collect();
        // By hand: .560 + 2.441 / 2 = 1.7805, and 1 / (1 + e^-1.7805) = .855759.
        assert_eq!(told, [("base", 0.56), ("standing", 0.0), ("share of the words", 1.2205), ("rank", -0.0)]);
        near(probability(&hit, &constants), 0.855_759);
        // Pooled with a less likely neighbour: ln(.7 / .3) - 1.7805.
        let pooled = super::odds(&hit, 0.7, &constants);
        assert_eq!(pooled[4].name, "level with its neighbours");
        near(pooled[4].value, -0.933_202);
    }

    /// Values by `tools/calibrate.py --golden`.
    #[test]
    fn probabilities_are_those_of_the_fit() {
        let check = |standing, share, coverage, closeness, rank, hit, answer| {
            let features = Features { standing, share, coverage, closeness, rank };
            near(probability(&features, &Constants::default()), hit);
            near(answerable(Some(&features), &Constants::default()), answer);
        };
        check(-0.2, 0.45, 0.8, Some(0.7), 1, 0.813_793, 0.841_095);
        check(-2.5, 0.3, 0.5, None, 2, 0.204_858, 0.301_977);
        check(-6.0, 0.0, 0.0, Some(0.4), 10, 0.002_189, 0.006_706);
        assert!(answerable(None, &Constants::default()).abs() < f32::EPSILON);
    }

    #[test]
    fn a_memory_is_judged_by_its_lead_alone() {
        let constants = Constants::default();
        let hit = Features { standing: -1.0, share: 0.1, coverage: 0.5, closeness: Some(0.5), rank: 4 };
        // By hand: .56 - .918 + 2.441 / 10 - .51 ln 4 = -.820911, and .56 - 1.3 * .918 + 2.441 / 10 = -.3893.
        near(probability(&hit, &constants), 0.305_570);
        near(probability(&hit.of_memory(&constants), &constants), 0.403_886);
        // -2.058 - 1.3 * .754 + 1.379 / 2 + 3.96 / 2 = -.3687.
        near(answerable(Some(&hit.of_memory(&constants)), &constants), 0.408_855);
    }

    #[test]
    fn shares_are_of_the_whole_question() {
        // By hand: 6.6 / (2.2 x 10) = .3; 4 / 10 = .4; more than everything is everything; no terms, nothing.
        near(share(6.6, 10.0), 0.3);
        near(coverage(4.0, 10.0), 0.4);
        near(coverage(11.0, 10.0), 1.0);
        near(share(3.0, 0.0), 0.0);
        near(coverage(f32::NAN, 10.0), 0.0);
    }

    #[test]
    fn bands_and_abstention_begin_where_they_say() {
        let constants = Constants::default();
        let words: Vec<_> =
            [1.0, 0.5, 0.499, 0.05, 0.049, 0.0, f32::NAN].map(|p| band(p, &constants).word()).into();
        assert_eq!(words, ["HIGH", "HIGH", "MED", "MED", "LOW", "LOW", "LOW"]);
        assert!(abstains(0.149, &constants) && !abstains(0.15, &constants));
    }

    /// A first hit far ahead with most of the question's words is HIGH. The second of fifty equal hits without any of
    /// them is LOW, and the answer abstains.
    #[test]
    fn the_same_in_every_store() {
        let constants = Constants::default();
        let sure = Features { standing: -0.1, share: 0.6, coverage: 0.9, closeness: Some(0.7), rank: 1 };
        assert_eq!(band(probability(&sure, &constants), &constants), Band::High);
        assert!(!abstains(answerable(Some(&sure), &constants), &constants));
        let lost = Features { standing: -3.9, share: 0.0, coverage: 0.0, closeness: Some(0.5), rank: 2 };
        assert_eq!(band(probability(&lost, &constants), &constants), Band::Low);
        assert!(abstains(answerable(Some(&lost), &constants), &constants));
    }

    fn any_hit() -> impl Strategy<Value = Features> {
        (any::<f32>(), any::<f32>(), any::<f32>(), any::<Option<f32>>(), any::<usize>()).prop_map(
            |(standing, share, coverage, closeness, rank)| Features {
                standing,
                share,
                coverage,
                closeness,
                rank,
            },
        )
    }

    proptest! {
        #[test]
        fn any_input_gives_a_probability(hit in any_hit(), scores in prop::collection::vec(any::<f32>(), 0..70)) {
            let constants = Constants::default();
            prop_assert!((0.0..=1.0).contains(&probability(&hit, &constants)));
            prop_assert!((0.0..=1.0).contains(&answerable(Some(&hit), &constants)));
            for basis in [Basis::Meaning, Basis::Words] {
                let standings = standings(&scores, basis, &constants);
                prop_assert_eq!(standings.len(), scores.len());
                prop_assert!(standings.iter().all(|standing| (-12.0..=0.0).contains(standing)));
            }
        }

        #[test]
        fn more_is_never_less(hit in any_hit(), other in any_hit()) {
            let constants = Constants::default();
            let up = Features {
                standing: hit.standing.max(other.standing),
                share: hit.share.max(other.share),
                coverage: hit.coverage.max(other.coverage),
                closeness: Some(
                    hit.closeness.unwrap_or(UNKNOWN_CLOSENESS).max(other.closeness.unwrap_or(UNKNOWN_CLOSENESS)),
                ),
                rank: hit.rank.min(other.rank),
            };
            prop_assert!(probability(&up, &constants) >= probability(&hit, &constants));
            prop_assert!(answerable(Some(&up), &constants) >= answerable(Some(&hit), &constants));
        }

        #[test]
        fn a_better_score_never_stands_worse(mut scores in prop::collection::vec(-50.0f32..50.0, 1..70)) {
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            let standings = standings(&scores, Basis::Meaning, &Constants::default());
            prop_assert!(standings.is_sorted_by(|a, b| a >= b));
        }
    }
}
