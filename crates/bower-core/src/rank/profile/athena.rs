//! The athena profile: weighted reciprocal rank fusion over many channels, and its confidence bands.
//! Items merge by row, never by name.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{cosine, days, greatest, share_of};
use crate::item::{Band, Channel, Facts};
use crate::rank::candidate::{Candidate, Factor, Places, Ranked};

/// The constants of the athena profile. Defaults without another source are those of Athena.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// Weight of the vector channel, 0 and up.
    pub vector_weight: f32,
    /// Weight of the tag index, 0 and up.
    pub tags_weight: f32,
    /// Weight of the graph, 0 and up.
    pub graph_weight: f32,
    /// Weight of file names, 0 and up.
    pub filename_weight: f32,
    /// Weight of full text, 0 and up. The source lists the channel without a weight; this equals the least of the others.
    pub text_weight: f32,
    /// Weight of canonical memory, 0 and up. The source calls it the most trusted and gives no weight; this exceeds all others.
    pub canonical_weight: f32,
    /// The constant of reciprocal rank fusion, 0 and up.
    pub rrf_k: f32,
    /// Added to the score of each place in a list, 0 and up.
    pub base: f32,
    /// Share of its score that the oldest item keeps, 0..1; 1 turns age off. The source names the factor and no value.
    pub oldest: f32,
    /// Half-life of the rest in days, above 0. The source names the factor and no value.
    pub half_life_days: f32,
    /// Least score of band HIGH. For scale: the first of the vector channel with cosine .7 scores .59, and so do two
    /// medium places in two channels. The source names the bands and no value.
    pub high: f32,
    /// Least score of band MED: about the fiftieth of one channel falls below it.
    pub medium: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            vector_weight: 30.0,
            tags_weight: 25.0,
            graph_weight: 25.0,
            filename_weight: 20.0,
            text_weight: 20.0,
            canonical_weight: 40.0,
            rrf_k: 60.0,
            base: 0.5,
            oldest: 0.8,
            half_life_days: 90.0,
            high: 0.6,
            medium: 0.3,
        }
    }
}

impl Constants {
    fn weight(&self, channel: Channel) -> f32 {
        match channel {
            Channel::Text => self.text_weight,
            Channel::Vector => self.vector_weight,
            Channel::Tags => self.tags_weight,
            Channel::Filename => self.filename_weight,
            Channel::Canonical => self.canonical_weight,
            Channel::Graph => self.graph_weight,
        }
    }
}

/// Ranks candidates by the sum over channels of w * (.5 + score) / (60 + rank), times how well the item's time fits.
///
/// Channel scores are 0..1: the cosine unchanged, BM25 as a share of the best candidate's, the others unchanged. Only
/// places in a channel's own list count. The temporal factor is the fit with the time in the question. If the question
/// names none, it falls with age from 1 towards `oldest`. Best first, ties by row; scores are not bounded by 1.
///
/// Correction: an item is its row. (The original merged by display name: one document found twice never merged, and all
/// tag hits became one.)
pub fn rank(candidates: &[Candidate], constants: &Constants, now: Timestamp) -> Vec<Ranked> {
    let best = greatest(candidates, Channel::Text);
    let k = f64::from(constants.rrf_k);
    let mut ranked: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let places = &candidate.places;
            let mut factors: Vec<_> = Channel::ALL
                .iter()
                .filter_map(|&channel| {
                    let rank = places.rank(channel)? as f64;
                    let worth = f64::from(constants.base) + score(places, channel, best);
                    let weight = f64::from(constants.weight(channel));
                    Some(Factor::plus(channel.word(), weight * worth / (k + rank)))
                })
                .collect();
            factors.push(Factor::times("time", temporal(&candidate.facts, constants, now)));
            Ranked::new(candidate.row, factors)
        })
        .collect();
    ranked.sort_unstable_by(Ranked::cmp_best_first);
    ranked
}

/// Returns the band of a score. [`Band::Low`] is a weak match, and Athena's strict mode does nothing but drop those.
/// (The engine drops them for every profile that has bands, after reranking.)
pub fn band(score: f32, constants: &Constants) -> Band {
    Band::of(score, constants.high, constants.medium)
}

fn score(places: &Places, channel: Channel, best_text: f64) -> f64 {
    match channel {
        Channel::Text => share_of(places, channel, best_text),
        Channel::Vector => cosine(places),
        Channel::Tags | Channel::Filename | Channel::Canonical | Channel::Graph => {
            share_of(places, channel, 1.0)
        }
    }
}

fn temporal(facts: &Facts, constants: &Constants, now: Timestamp) -> f64 {
    if let Some(fit) = facts.asked_time {
        return f64::from(fit).clamp(0.0, 1.0);
    }
    let oldest = f64::from(constants.oldest);
    oldest + (1.0 - oldest) * 0.5_f64.powf(days(facts.created, now) / f64::from(constants.half_life_days))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ago, candidate, check, now};
    use super::*;

    use Channel::{Canonical, Filename, Graph, Tags, Text, Vector};

    #[test]
    fn every_channel_by_hand() {
        let candidates = [
            candidate(1, &[(Vector, Some(1), 0.7), (Tags, Some(2), 0.5)]),
            candidate(2, &[(Filename, Some(1), 1.0), (Graph, Some(4), 0.3)]),
            candidate(3, &[(Canonical, Some(1), 0.8), (Vector, None, 0.9)]),
            candidate(4, &[(Text, Some(1), 12.0)]),
            candidate(5, &[(Text, Some(2), 3.0)]),
        ];
        // 1: 30*(.5+.7)/61 + 25*(.5+.5)/62 = .5901639 + .4032258 = .9933897
        // 2: 20*(.5+1)/61 + 25*(.5+.3)/64 = .4918033 + .3125 = .8043033
        // 3: 40*(.5+.8)/61 = .8524590; the cosine has no rank and does not count
        // 4: 20*(.5+1)/61 = .4918033    5: 20*(.5+3/12)/62 = .2419355
        let ranked = rank(&candidates, &Constants::default(), now());
        check(
            &ranked,
            &[(1, 0.993_389_7), (3, 0.852_459), (2, 0.804_303_3), (4, 0.491_803_3), (5, 0.241_935_5)],
        );
        let bands: Vec<_> = ranked.iter().map(|hit| band(hit.score, &Constants::default()).word()).collect();
        assert_eq!(bands, ["HIGH", "HIGH", "HIGH", "MED", "LOW"]);
    }

    #[test]
    fn the_items_time_multiplies() {
        let mut old = candidate(1, &[(Vector, Some(1), 0.5)]);
        old.facts.created = ago(90);
        let mut asked = old;
        asked.row = crate::item::RowId(2);
        asked.facts.asked_time = Some(0.25);
        // 30*1/61 = .4918033; after one half-life .8 + .2*.5 = .9: .4426230; a fit of .25: .1229508
        check(&rank(&[asked, old], &Constants::default(), now()), &[(1, 0.442_623), (2, 0.122_950_8)]);
        let ageless = Constants { oldest: 1.0, ..Constants::default() };
        check(&rank(&[old], &ageless, now()), &[(1, 0.491_803_3)]);
    }

    #[test]
    fn one_item_found_twice_is_one_item() {
        // Channels identify items by row, so that [`crate::rank::candidate::gather`] merges them; two tag hits stay two.
        use crate::item::{RowId, Scored};
        use crate::rank::candidate::{Candidate, gather};
        let hit = |row, score| Scored { row: RowId(row), score };
        let lists: [(Channel, &[Scored]); 2] =
            [(Vector, &[hit(8, 0.6)]), (Tags, &[hit(7, 0.9), hit(8, 0.4)])];
        let candidates: Vec<_> = gather(&lists)
            .into_iter()
            .map(|(row, places)| Candidate { row, places, facts: candidate(1, &[]).facts })
            .collect();
        // 8: 30*1.1/61 + 25*.9/62 = .5409836 + .3629032 = .9038868; 7: 25*1.4/61 = .5737705
        check(&rank(&candidates, &Constants::default(), now()), &[(8, 0.903_886_8), (7, 0.573_770_5)]);
    }
}
