//! The seed profile, Bowerbird's first design: weighted reciprocal ranks, then effective importance.
//! Fusion uses ranks only, never scores.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::shares;
use crate::item::Channel;
use crate::rank::candidate::{Candidate, Factor, Ranked};
use crate::strength;

/// The constants of the seed profile. Defaults without another source are those of Bowerbird's first version.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// Weight of the text channel, 0 and up.
    pub text_weight: f32,
    /// Weight of the vector channel, 0 and up.
    pub vector_weight: f32,
    /// Weight of the graph channel, 0 and up.
    pub graph_weight: f32,
    /// Number of candidates of the text channel, 1 and up.
    pub text_pool: usize,
    /// Number of candidates of the vector channel, 1 and up.
    pub vector_pool: usize,
    /// Number of candidates of the graph channel, 1 and up.
    pub graph_pool: usize,
    /// The constant of reciprocal rank fusion, 0 and up.
    pub rrf_k: f32,
    /// Decay of importance with age, per day, 0 and up.
    pub age_decay: f32,
    /// The share of the score that depends on importance, 0..1. The source only states that importance comes after
    /// fusion. With 1, the bare product, a trivial new memory (importance .05) could never rank above an unrelated
    /// important one.
    pub importance_share: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            text_weight: 0.4,
            vector_weight: 0.5,
            graph_weight: 0.1,
            text_pool: 200,
            vector_pool: 200,
            graph_pool: 50,
            rrf_k: 60.0,
            age_decay: strength::AGE_DECAY,
            importance_share: 0.3,
        }
    }
}

impl Constants {
    /// Returns how many candidates a channel should return: 200 by text, 200 by vectors, 50 by the graph. `None` for
    /// other channels.
    pub fn depth(&self, channel: Channel) -> Option<usize> {
        match channel {
            Channel::Text => Some(self.text_pool),
            Channel::Vector => Some(self.vector_pool),
            Channel::Graph => Some(self.graph_pool),
            Channel::Tags | Channel::Filename | Channel::Canonical => None,
        }
    }
}

/// Ranks candidates by the sum over channels of w / (k + rank), then by effective importance.
///
/// Weights are normalised to a sum of 1 over the channels that took part. The sum is divided by its maximum, 1 / (k +
/// 1), so that an item which is first in every channel has 1 before importance. Then the source's thresholds of .80 and
/// .15 can be reached. Correction: only ranks count (the original added scores and scaled the graph to 4.5e-6). Scores
/// are 0..1, best first, ties by row.
pub fn rank(candidates: &[Candidate], constants: &Constants, now: Timestamp) -> Vec<Ranked> {
    let weights = [
        (Channel::Text, constants.text_weight),
        (Channel::Vector, constants.vector_weight),
        (Channel::Graph, constants.graph_weight),
    ];
    let shares = shares(candidates, weights, |places, channel| places.rank(channel).is_some());
    let k = f64::from(constants.rrf_k);
    let share = f64::from(constants.importance_share).clamp(0.0, 1.0);
    let mut ranked: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let mut factors: Vec<_> = shares
                .iter()
                .filter_map(|&(channel, weight)| {
                    let rank = candidate.places.rank(channel)? as f64;
                    Some(Factor::plus(channel.word(), weight * (k + 1.0) / (k + rank)))
                })
                .collect();
            let [importance, access, age] = strength::parts(&candidate.facts, constants.age_decay, now);
            factors.push(Factor::note("importance", importance));
            factors.push(Factor::note("decay since access", access));
            factors.push(Factor::note("decay with age", age));
            factors
                .push(Factor::times("effective importance", 1.0 - share + share * importance * access * age));
            Ranked::new(candidate.row, factors)
        })
        .collect();
    ranked.sort_unstable_by(Ranked::cmp_best_first);
    ranked
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ago, candidate, check, now};
    use super::*;

    /// Constants without importance, to test fusion alone.
    fn fusion() -> Constants {
        Constants { importance_share: 0.0, ..Constants::default() }
    }

    #[test]
    fn three_channels_fuse_by_weighted_rank() {
        use Channel::{Graph, Text, Vector};
        let candidates = [
            candidate(1, &[(Text, Some(1), 9.0), (Vector, Some(3), 0.2)]),
            candidate(2, &[(Vector, Some(1), 0.9), (Graph, Some(2), 0.1)]),
            candidate(3, &[(Text, Some(2), 8.0), (Graph, Some(1), 0.1), (Vector, None, 0.1)]),
        ];
        // 1: .4*61/61 + .5*61/63 = .4 + .484127 = .884127
        // 2: .5*61/61 + .1*61/62 = .5 + .0983871 = .5983871
        // 3: .4*61/62 + .1*61/61 = .3935484 + .1 = .4935484; a true score without a rank counts for nothing
        check(&rank(&candidates, &fusion(), now()), &[(1, 0.884_127), (2, 0.598_387_1), (3, 0.493_548_4)]);
    }

    #[test]
    fn a_channel_that_is_missing_scales_nobody_down() {
        let candidates =
            [candidate(1, &[(Channel::Text, Some(1), 9.0)]), candidate(2, &[(Channel::Text, Some(2), 8.0)])];
        // Text alone took part, so its weight is 1: 61/61 = 1, which passes the threshold of .80; 61/62 = .983871.
        check(&rank(&candidates, &fusion(), now()), &[(1, 1.0), (2, 0.983_871)]);
    }

    #[test]
    fn ranks_count_and_scores_do_not() {
        // The original added scores, so that a BM25 of 40 beat every rank, and the graph weighed 4.5e-6.
        let scaled = |by: f32| {
            [
                candidate(1, &[(Channel::Text, Some(2), 3.0 * by), (Channel::Graph, Some(1), 0.001 * by)]),
                candidate(2, &[(Channel::Text, Some(1), 40.0 * by)]),
            ]
        };
        let ranked = rank(&scaled(1.0), &fusion(), now());
        // Text .8 and graph .2 of 1: 2 has .8; 1 has .8*61/62 + .2 = .9870968.
        check(&ranked, &[(1, 0.987_096_8), (2, 0.8)]);
        assert_eq!(ranked, rank(&scaled(1_000.0), &fusion(), now()));
    }

    #[test]
    fn importance_decays_when_it_is_read() {
        let mut facts = candidate(1, &[]).facts;
        facts.importance = 0.8;
        facts.decay_rate = 0.05;
        facts.accessed = ago(20);
        facts.created = ago(250);
        // 1/(1 + .05*20) = .5; 1/(1 + .001*250) = .8; .8*.5*.8 = .32
        let [importance, access, age] = strength::parts(&facts, strength::AGE_DECAY, now());
        assert!((importance - 0.8).abs() < 1e-6 && (access - 0.5).abs() < 1e-6 && (age - 0.8).abs() < 1e-6);
        let mut with = candidate(1, &[(Channel::Text, Some(1), 1.0)]);
        with.facts = facts;
        // 1 * (1 - .3 + .3*.32) = .796; as a bare product .32
        check(&rank(&[with], &Constants::default(), now()), &[(1, 0.796)]);
        let bare = Constants { importance_share: 1.0, ..Constants::default() };
        check(&rank(&[with], &bare, now()), &[(1, 0.32)]);
    }

    #[test]
    fn each_channel_has_its_pool() {
        let pools = Constants::default();
        let depths = [Channel::Text, Channel::Vector, Channel::Graph, Channel::Tags]
            .map(|channel| pools.depth(channel));
        assert_eq!(depths, [Some(200), Some(200), Some(50), None]);
    }

    #[test]
    fn ties_go_to_the_older_row() {
        let tie =
            [candidate(9, &[(Channel::Text, Some(1), 1.0)]), candidate(4, &[(Channel::Text, Some(1), 1.0)])];
        check(&rank(&tie, &fusion(), now()), &[(4, 1.0), (9, 1.0)]);
        check(&rank(&[], &fusion(), now()), &[]);
    }
}
