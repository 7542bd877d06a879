//! The ade profile: ADE's hybrid score of words and meaning, and its composite with recency and importance.
//! The score is the same formula for every candidate, with or without a vector.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{cosine, days, shares};
use crate::item::{Channel, Facts, MemoryType, Tier};
use crate::rank::candidate::{Candidate, Factor, Ranked};

/// The constants of the ade profile. Defaults without another source are those of ADE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// BM25's weight in the hybrid score, 0 and up.
    pub text_weight: f32,
    /// The cosine's weight in the hybrid score, 0 and up.
    pub vector_weight: f32,
    /// The hybrid score's share of the composite, 0..1.
    pub hybrid_share: f32,
    /// Recency's share, 0..1.
    pub recency_share: f32,
    /// Importance's share, 0..1.
    pub importance_share: f32,
    /// Confidence's share, 0..1.
    pub confidence_share: f32,
    /// The share of the number of uses, 0..1.
    pub use_share: f32,
    /// Half-life of recency in days, above 0.
    pub half_life_days: f32,
    /// Number of uses that counts fully, 1 and up.
    pub uses_full: f32,
    /// Factor on the score of pinned items, 1 and up. The source names the boost and no value.
    pub pinned_boost: f32,
    /// Factor on the score of tier 3, 0..1. The source names the boost and no value.
    pub fading_boost: f32,
    /// MMR's lambda: 1 is relevance alone.
    pub mmr_lambda: f32,
    /// The least size of the vector pool.
    pub pool_least: usize,
    /// Candidates in the vector pool for each hit wanted.
    pub pool_per_hit: usize,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            text_weight: 0.3,
            vector_weight: 0.7,
            hybrid_share: 0.4,
            recency_share: 0.2,
            importance_share: 0.15,
            confidence_share: 0.15,
            use_share: 0.1,
            half_life_days: 30.0,
            uses_full: 10.0,
            pinned_boost: 1.2,
            fading_boost: 0.9,
            mmr_lambda: 0.7,
            pool_least: 40,
            pool_per_hit: 8,
        }
    }
}

impl Constants {
    /// Returns how many candidates a channel should return for `limit` hits: max(40, 8 * limit) for the vector channel.
    /// The source names no number for the others.
    pub fn depth(&self, channel: Channel, limit: usize) -> Option<usize> {
        match channel {
            Channel::Vector => Some(self.pool_least.max(self.pool_per_hit.saturating_mul(limit))),
            Channel::Text | Channel::Tags | Channel::Filename | Channel::Canonical | Channel::Graph => None,
        }
    }
}

/// ADE's three importances: high, medium, low.
const IMPORTANCES: [f64; 3] = [1.0, 0.6, 0.3];

/// Ranks candidates by ADE's composite.
///
/// hybrid = .30 s / (s + median s) + .70 cosine, with s the BM25 score and the median over the candidates that have one;
/// .40 hybrid + .20 * .5^(days / 30) + .15 importance + .15 confidence + .10 min(uses / 10, 1), then the boosts of pinned
/// and fading items. Best first, ties by row; scores are 0..`pinned_boost`.
///
/// Where the source leaves a choice: days count from the last use, as its idle times do. Items that never decay
/// (preferences, conventions, pinned) stay as recent as new ones. Its importances have three values, so ours is rounded
/// to the nearest of 1, .6, .3. Without any vector the hybrid is the words' part alone, at full weight ("lexical
/// results, and the answer says so").
///
/// Corrections: recency is a function of time at read (the original multiplied the stored score every day). A row
/// without a vector has cosine 0 in the same formula and so no advantage (MMR over these scores:
/// [`crate::rank::diversity`]).
pub fn rank(candidates: &[Candidate], constants: &Constants, now: Timestamp) -> Vec<Ranked> {
    let weights = [(Channel::Text, constants.text_weight), (Channel::Vector, constants.vector_weight)];
    let [(_, text), (_, vector)] =
        shares(candidates, weights, |places, channel| places.score(channel).is_some());
    let median = median(candidates);
    let mut ranked: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let facts = &candidate.facts;
            let bm25 = candidate.places.score(Channel::Text).map_or(0.0, f64::from).max(0.0);
            let bm25 = if bm25 > 0.0 { bm25 / (bm25 + median) } else { 0.0 };
            let hybrid = f64::from(constants.hybrid_share);
            let uses = (facts.access_count as f64 / f64::from(constants.uses_full).max(1.0)).min(1.0);
            let mut factors = vec![
                Factor::plus("text", hybrid * text * bm25),
                Factor::plus("vector", hybrid * vector * cosine(&candidate.places)),
                Factor::plus("recency", f64::from(constants.recency_share) * recency(facts, constants, now)),
                Factor::plus("importance", f64::from(constants.importance_share) * importance(facts)),
                Factor::plus(
                    "confidence",
                    f64::from(constants.confidence_share) * f64::from(facts.confidence).clamp(0.0, 1.0),
                ),
                Factor::plus("uses", f64::from(constants.use_share) * uses),
            ];
            match facts.tier {
                Tier::Pinned => factors.push(Factor::times("pinned", f64::from(constants.pinned_boost))),
                Tier::Active => {}
                Tier::Fading => factors.push(Factor::times("fading", f64::from(constants.fading_boost))),
            }
            Ranked::new(candidate.row, factors)
        })
        .collect();
    ranked.sort_unstable_by(Ranked::cmp_best_first);
    ranked
}

/// Returns the median of the positive BM25 scores; the mean of the middle two if their number is even.
fn median(candidates: &[Candidate]) -> f64 {
    let scores = candidates.iter().filter_map(|candidate| candidate.places.score(Channel::Text));
    let mut scores: Vec<f32> = scores.filter(|&score| score > 0.0).collect();
    scores.sort_unstable_by(f32::total_cmp);
    let middle = scores.len() / 2;
    match scores.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => f64::from(scores[middle]),
        _ => f64::midpoint(f64::from(scores[middle - 1]), f64::from(scores[middle])),
    }
}

fn recency(facts: &Facts, constants: &Constants, now: Timestamp) -> f64 {
    let lasts = facts.tier == Tier::Pinned
        || matches!(facts.memory_type, Some(MemoryType::Preference | MemoryType::Convention));
    if lasts {
        return 1.0;
    }
    0.5_f64.powf(days(facts.accessed, now) / f64::from(constants.half_life_days))
}

fn importance(facts: &Facts) -> f64 {
    let distance = |level: &f64| (level - f64::from(facts.importance)).abs();
    IMPORTANCES
        .into_iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .expect("there are three importances")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ago, candidate, check, now};
    use super::*;

    use Channel::{Text, Vector};

    #[test]
    fn the_composite_by_hand() {
        let mut old = candidate(1, &[(Text, Some(1), 12.0), (Vector, Some(2), 0.5)]);
        old.facts.accessed = ago(30);
        old.facts.importance = 0.9;
        old.facts.confidence = 0.8;
        old.facts.access_count = 5;
        let mut new = candidate(2, &[(Text, Some(2), 4.0), (Vector, Some(1), 0.9)]);
        new.facts.importance = 0.2;
        new.facts.access_count = 40;
        // The median of 12 and 4 is 8.
        // 1: hybrid .3*12/20 + .7*.5 = .18 + .35 = .53
        //    .4*.53 + .2*.5 + .15*1 + .15*.8 + .1*.5 = .212 + .1 + .15 + .12 + .05 = .632
        // 2: hybrid .3*4/12 + .7*.9 = .1 + .63 = .73
        //    .4*.73 + .2*1 + .15*.3 + .15*.5 + .1*1 = .292 + .2 + .045 + .075 + .1 = .712
        check(&rank(&[old, new], &Constants::default(), now()), &[(2, 0.712), (1, 0.632)]);
    }

    #[test]
    fn pinned_and_tiers_are_boosts() {
        let tier = |row, tier| {
            let mut candidate = candidate(row, &[(Text, Some(1), 5.0)]);
            candidate.facts.tier = tier;
            candidate
        };
        let candidates = [tier(1, Tier::Fading), tier(2, Tier::Active), tier(3, Tier::Pinned)];
        // Each: no vectors at all, so the words' part has the whole hybrid: 5/(5+5) = .5
        // .4*.5 + .2*1 + .15*.6 + .15*.5 + 0 = .2 + .2 + .09 + .075 = .565; *1.2 = .678; *.9 = .5085
        check(&rank(&candidates, &Constants::default(), now()), &[(3, 0.678), (2, 0.565), (1, 0.508_5)]);
    }

    #[test]
    fn a_row_without_a_vector_has_no_advantage() {
        let with = candidate(2, &[(Text, Some(1), 5.0), (Vector, Some(1), 0.1)]);
        let without = candidate(1, &[(Text, Some(1), 5.0)]);
        // with: .4*(.3*.5 + .7*.1) + .365 = .088 + .365 = .453; without: .4*(.3*.5 + .7*0) + .365 = .06 + .365 = .425
        check(&rank(&[without, with], &Constants::default(), now()), &[(2, 0.453), (1, 0.425)]);
    }

    #[test]
    fn recency_is_read_from_the_clock_and_some_things_last() {
        let aged = |memory_type| {
            let mut facts = candidate(1, &[]).facts;
            facts.memory_type = memory_type;
            facts.accessed = ago(60);
            recency(&facts, &Constants::default(), now())
        };
        // .5^(60/30) = .25, where the original had about 1e-4 by then
        assert!((aged(Some(MemoryType::Fact)) - 0.25).abs() < 1e-12);
        assert!((aged(None) - 0.25).abs() < 1e-12);
        assert!((aged(Some(MemoryType::Convention)) - 1.0).abs() < 1e-12);
        let future = Facts { accessed: now(), ..candidate(1, &[]).facts };
        assert!((recency(&future, &Constants::default(), ago(3)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn importance_is_the_nearest_of_three() {
        let level = |value| importance(&Facts { importance: value, ..candidate(1, &[]).facts });
        let got = [0.0, 0.44, 0.46, 0.79, 0.81, 1.0].map(level);
        let expected = [0.3, 0.3, 0.6, 0.6, 1.0, 1.0];
        assert!(got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12), "{got:?}");
    }

    #[test]
    fn the_pool_grows_with_the_limit() {
        let constants = Constants::default();
        let pool = |limit| constants.depth(Vector, limit);
        assert_eq!([1, 5, 6, 50].map(pool), [Some(40), Some(40), Some(48), Some(400)]);
        assert_eq!(constants.depth(Text, 50), None, "the source names a pool for vectors alone");
        let deep = Constants { pool_least: 7, pool_per_hit: usize::MAX, ..constants };
        assert_eq!([0, 1, 9].map(|limit| deep.depth(Vector, limit).unwrap()), [7, usize::MAX, usize::MAX]);
    }
}
