//! The atlas profile: Atlas's hybrid search in its four fusion strategies.
//! Every relevance score is 0..1, and the least relevance applies to all strategies.

use serde::{Deserialize, Serialize};

use super::{cosine, greatest, share_of, shares};
use crate::item::Channel;
use crate::rank::candidate::{Candidate, Factor, Ranked};

/// How Atlas combines two scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// `weighted`: the weighted sum of semantic and keyword score.
    #[default]
    Weighted,
    /// `add`: half the sum of both scores, which keeps it 0..1; weights are ignored.
    Add,
    /// `multiply`: the product of both scores; above 0 only if both channels found the item.
    Multiply,
    /// `rank`: weighted reciprocal ranks.
    Rank,
}

/// The constants of the atlas profile. The defaults are those of Atlas (`RetrievalSettings`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// Weight of the semantic score, 0 and up; the two weights are normalised to a sum of 1.
    pub semantic_weight: f32,
    /// Weight of the keyword score, 0 and up.
    pub keyword_weight: f32,
    /// The fusion strategy.
    pub fusion: Fusion,
    /// The constant of rank fusion, 0 and up.
    pub rank_k: f32,
    /// Least relevance of a hit, 0..1. Atlas sets none.
    pub min_relevance: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            semantic_weight: 0.7,
            keyword_weight: 0.3,
            fusion: Fusion::Weighted,
            rank_k: 60.0,
            min_relevance: 0.0,
        }
    }
}

/// Ranks candidates by the chosen fusion and drops those below the least relevance.
///
/// The semantic score is the cosine, negative ones 0; the keyword score is BM25 as a share of the best candidate's. If
/// one channel took no part, the other has the whole weight, and `multiply` leaves the other's score unchanged. Rank
/// fusion is divided by its maximum, 1 / (k + 1), so that the least relevance means the same in every strategy. Best
/// first; equal scores (`multiply` makes many of 0) are ordered by the weighted score, then by row.
///
/// Corrections: the hybrid search uses keywords (the original never ran BM25) and applies the least relevance.
pub fn rank(candidates: &[Candidate], constants: &Constants) -> Vec<Ranked> {
    let weights = [(Channel::Vector, constants.semantic_weight), (Channel::Text, constants.keyword_weight)];
    let counts_rank = constants.fusion == Fusion::Rank;
    let shares = shares(candidates, weights, |places, channel| {
        places.get(channel).is_some_and(|place| place.rank.is_some() || !counts_rank)
    });
    let best = greatest(candidates, Channel::Text);
    let mut ranked: Vec<(f64, Ranked)> = candidates
        .iter()
        .map(|candidate| {
            let scores = [cosine(&candidate.places), share_of(&candidate.places, Channel::Text, best)];
            let weighted: f64 = shares.iter().zip(scores).map(|((_, share), score)| share * score).sum();
            (weighted, Ranked::new(candidate.row, factors(candidate, constants, &shares, scores)))
        })
        .filter(|(_, ranked)| ranked.score >= constants.min_relevance)
        .collect();
    ranked.sort_unstable_by(|(a_weighted, a), (b_weighted, b)| {
        b.score.total_cmp(&a.score).then(b_weighted.total_cmp(a_weighted)).then(a.row.cmp(&b.row))
    });
    ranked.into_iter().map(|(_, ranked)| ranked).collect()
}

/// Returns the factors of one candidate; `shares` and `scores` belong to the vector channel, then to the text channel.
fn factors(
    candidate: &Candidate,
    constants: &Constants,
    shares: &[(Channel, f64); 2],
    scores: [f64; 2],
) -> Vec<Factor> {
    let each = shares.iter().zip(scores);
    let taking_part = shares.iter().filter(|(_, share)| *share > 0.0).count().max(1) as f64;
    let took_part = |share: f64| share > 0.0 || taking_part > 1.0;
    match constants.fusion {
        Fusion::Weighted => {
            each.map(|(&(channel, share), score)| Factor::plus(channel.word(), share * score)).collect()
        }
        Fusion::Add => each
            .filter(|((_, share), _)| took_part(*share))
            .map(|(&(channel, _), score)| Factor::plus(channel.word(), score / taking_part))
            .collect(),
        Fusion::Multiply => {
            let mut factors = Vec::with_capacity(2);
            for (&(channel, _), score) in each.filter(|((_, share), _)| took_part(*share)) {
                let step = if factors.is_empty() { Factor::plus } else { Factor::times };
                factors.push(step(channel.word(), score));
            }
            factors
        }
        Fusion::Rank => {
            let k = f64::from(constants.rank_k);
            shares
                .iter()
                .filter_map(|&(channel, share)| {
                    let rank = candidate.places.rank(channel)? as f64;
                    Some(Factor::plus(channel.word(), share * (k + 1.0) / (k + rank)))
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{candidate, check};
    use super::*;

    use Channel::{Text, Vector};

    fn with(fusion: Fusion) -> Constants {
        Constants { fusion, ..Constants::default() }
    }

    /// 1 is similar in meaning, 2 contains the words, 3 is a little of both.
    fn three() -> [Candidate; 3] {
        [
            candidate(1, &[(Vector, Some(1), 0.8), (Text, None, 0.0)]),
            candidate(2, &[(Text, Some(1), 10.0), (Vector, None, -0.2)]),
            candidate(3, &[(Vector, Some(2), 0.5), (Text, Some(2), 6.0)]),
        ]
    }

    #[test]
    fn the_four_strategies_by_hand() {
        // Keyword scores: 0, 10/10 = 1, 6/10 = .6; cosines .8, 0 (for -.2), .5.
        // weighted: .7*.8 = .56; .3*1 = .3; .7*.5 + .3*.6 = .53
        check(&rank(&three(), &with(Fusion::Weighted)), &[(1, 0.56), (3, 0.53), (2, 0.3)]);
        // add: .8/2 = .4; 1/2 = .5; 1.1/2 = .55
        check(&rank(&three(), &with(Fusion::Add)), &[(3, 0.55), (2, 0.5), (1, 0.4)]);
        // multiply: 0, 0, .5*.6 = .3; the two zeros by their weighted scores .56 and .3
        check(&rank(&three(), &with(Fusion::Multiply)), &[(3, 0.3), (1, 0.0), (2, 0.0)]);
        // rank: .7; .3; .7*61/62 + .3*61/62 = .9838710
        check(&rank(&three(), &with(Fusion::Rank)), &[(3, 0.983_871), (1, 0.7), (2, 0.3)]);
    }

    #[test]
    fn weights_are_normalised_to_one() {
        let constants = Constants { semantic_weight: 7.0, keyword_weight: 3.0, ..Constants::default() };
        assert_eq!(rank(&three(), &constants), rank(&three(), &Constants::default()));
        let none = Constants { semantic_weight: 0.0, keyword_weight: 0.0, ..Constants::default() };
        // Equal halves: .4, .5, .25 + .3 = .55
        check(&rank(&three(), &none), &[(3, 0.55), (2, 0.5), (1, 0.4)]);
    }

    #[test]
    fn keywords_count_in_the_hybrid_search() {
        // The original's hybrid search never ran BM25: 2 could not be found before 1.
        let near = [
            candidate(1, &[(Vector, Some(1), 0.3)]),
            candidate(2, &[(Text, Some(1), 7.0), (Vector, Some(2), 0.2)]),
        ];
        // .7*.3 = .21; .7*.2 + .3*1 = .44
        check(&rank(&near, &Constants::default()), &[(2, 0.44), (1, 0.21)]);
    }

    #[test]
    fn the_least_relevance_holds_in_every_strategy() {
        let constants = Constants { min_relevance: 0.5, ..Constants::default() };
        check(&rank(&three(), &constants), &[(1, 0.56), (3, 0.53)]);
        let by_rank = Constants { fusion: Fusion::Rank, ..constants };
        check(&rank(&three(), &by_rank), &[(3, 0.983_871), (1, 0.7)]);
        let product = Constants { fusion: Fusion::Multiply, min_relevance: 0.1, ..constants };
        check(&rank(&three(), &product), &[(3, 0.3)]);
    }

    #[test]
    fn one_channel_alone_has_the_whole_weight() {
        let words = [candidate(1, &[(Text, Some(1), 4.0)]), candidate(2, &[(Text, Some(2), 1.0)])];
        for fusion in [Fusion::Weighted, Fusion::Add, Fusion::Multiply] {
            check(&rank(&words, &with(fusion)), &[(1, 1.0), (2, 0.25)]);
        }
        check(&rank(&words, &with(Fusion::Rank)), &[(1, 1.0), (2, 0.983_871)]);
        check(&rank(&[], &Constants::default()), &[]);
    }
}
