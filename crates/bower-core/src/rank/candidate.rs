//! Types of ranking: a candidate with its channels' scores, and a ranked item with the factors of its score.
//! A score is exactly the fold of its factors.

use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;

use crate::item::{Channel, Facts, RowId, Scored};

/// Number of channels.
const CHANNELS: usize = Channel::ALL.len();

/// One channel's result for one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelScore {
    /// Rank from 1; equal scores share a rank. `None` if the item is not in the channel's own list and its true score
    /// was computed afterwards.
    pub rank: Option<usize>,
    /// Score on the channel's own scale.
    pub score: f32,
}

/// Each channel's result for one item.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Places([Option<ChannelScore>; CHANNELS]);

impl Places {
    /// Returns a channel's result; `None` if it has none for the item.
    pub fn get(&self, channel: Channel) -> Option<ChannelScore> {
        self.0[channel as usize]
    }

    /// Returns the item's rank in a channel, if it is in the channel's list.
    pub fn rank(&self, channel: Channel) -> Option<usize> {
        self.get(channel).and_then(|place| place.rank)
    }

    /// Returns the item's score in a channel.
    pub fn score(&self, channel: Channel) -> Option<f32> {
        self.get(channel).map(|place| place.score)
    }

    /// Sets a channel's result, replacing an earlier one.
    pub fn set(&mut self, channel: Channel, place: ChannelScore) {
        self.0[channel as usize] = Some(place);
    }
}

/// An item that some channel retrieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its row, by which every profile merges. Names and paths never merge items.
    pub row: RowId,
    /// The channels' results.
    pub places: Places,
    /// The item's stored facts.
    pub facts: Facts,
}

/// How a factor enters the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Added to the value so far.
    Plus,
    /// Multiplied with the value so far.
    Times,
    /// A part of the next factor, shown to the reader; it does not count again.
    Note,
}

/// One term or multiplier of a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Factor {
    /// Its name.
    pub name: &'static str,
    /// How it enters the score.
    pub step: Step,
    /// Its value.
    pub value: f32,
}

impl Factor {
    /// Returns a term.
    pub fn plus(name: &'static str, value: f64) -> Self {
        Self { name, step: Step::Plus, value: value as f32 }
    }

    /// Returns a multiplier.
    pub fn times(name: &'static str, value: f64) -> Self {
        Self { name, step: Step::Times, value: value as f32 }
    }

    /// Returns a part of the next factor.
    pub fn note(name: &'static str, value: f64) -> Self {
        Self { name, step: Step::Note, value: value as f32 }
    }
}

/// An item with a profile's score and its factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The item.
    pub row: RowId,
    /// The result of `recompute` on the factors.
    pub score: f32,
    /// The factors, in the order of computation.
    pub factors: Vec<Factor>,
}

impl Ranked {
    /// Returns an item whose score is the fold of its factors.
    pub fn new(row: RowId, factors: Vec<Factor>) -> Self {
        Self { row, score: recompute(&factors), factors }
    }

    /// Adds a factor at the end, and computes the score again.
    pub fn add(&mut self, factor: Factor) {
        self.factors.push(factor);
        self.score = recompute(&self.factors);
    }

    /// Orders by higher score, then smaller row; a total order.
    pub fn cmp_best_first(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
    }
}

/// How far items that are put first stand above each other, and above the rest. Scores are some tens at most, so it is many times
/// their rounding.
const STEP: f64 = 0.01;

/// Puts some items above all others, in their order. They stand so little above the best that the others keep their distance to it:
/// what a question names is often also what it is about.
pub fn put_first(ranked: &mut [Ranked], rows: &[RowId]) {
    let Some(best) = ranked.iter().map(|one| one.score).max_by(f32::total_cmp).map(f64::from) else { return };
    for (place, row) in rows.iter().enumerate() {
        if let Some(one) = ranked.iter_mut().find(|one| one.row == *row) {
            let target = best + STEP * (rows.len() - place) as f64;
            one.add(Factor::plus("name", target - f64::from(one.score)));
        }
    }
    if !rows.is_empty() {
        ranked.sort_by(|one, two| two.score.total_cmp(&one.score));
    }
}

/// Computes a score from its factors: starting at 0, terms are added and multipliers multiply the value so far.
pub fn recompute(factors: &[Factor]) -> f32 {
    factors.iter().fold(0.0, |score, factor| match factor.step {
        Step::Plus => score + factor.value,
        Step::Times => score * factor.value,
        Step::Note => score,
    })
}

/// Merges the channels' lists, each best first, into one list of rows with their results, ascending by row.
///
/// Equal scores share the rank of the first of them. A tag's thousand items, or a file's chunks, have one rank, because
/// a row's age must not decide between them. A row that is twice in a list keeps its first rank.
pub fn gather(lists: &[(Channel, &[Scored])]) -> Vec<(RowId, Places)> {
    let mut all: Vec<(RowId, Channel, ChannelScore)> =
        Vec::with_capacity(lists.iter().map(|(_, list)| list.len()).sum());
    for &(channel, list) in lists {
        let mut rank = 0;
        let mut before = None;
        for (at, hit) in list.iter().enumerate() {
            if before.replace(hit.score.to_bits()) != Some(hit.score.to_bits()) {
                rank = at + 1;
            }
            all.push((hit.row, channel, ChannelScore { rank: Some(rank), score: hit.score }));
        }
    }
    // Stable: a row's first position in a list stays before its second.
    all.sort_by_key(|(row, ..)| *row);
    let mut rows: Vec<(RowId, Places)> = Vec::with_capacity(all.len());
    for (row, channel, place) in all {
        if rows.last().is_none_or(|(last, _)| *last != row) {
            rows.push((row, Places::default()));
        }
        if let Some((_, places)) = rows.last_mut()
            && places.get(channel).is_none()
        {
            places.set(channel, place);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_fold_in_their_order() {
        let factors =
            [Factor::plus("a", 2.0), Factor::plus("b", 1.0), Factor::note("n", 9.0), Factor::times("c", 0.5)];
        assert_eq!(Ranked::new(RowId(1), factors.to_vec()).score.to_bits(), 1.5_f32.to_bits());
        assert_eq!(recompute(&[]).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn some_are_put_first_in_their_order() {
        let one = |row, score| Ranked::new(RowId(row), vec![Factor::plus("a", score)]);
        let mut ranked = vec![one(1, 7.0), one(2, 3.0), one(3, -90.0), one(4, 3.0)];
        put_first(&mut ranked, &[RowId(3), RowId(9), RowId(4)]);
        let rows: Vec<u32> = ranked.iter().map(|one| one.row.0).collect();
        assert_eq!(rows, [3, 4, 1, 2]);
        assert!(ranked[0].score - ranked[2].score < 0.05 && ranked[0].factors.len() == 2);
        let before = ranked.clone();
        put_first(&mut ranked, &[]);
        put_first(&mut [], &[RowId(1)]);
        assert_eq!(ranked, before);
    }

    #[test]
    fn one_item_in_two_channels_is_one_candidate_and_equal_scores_share_a_rank() {
        let list = |hits: &[(u32, f32)]| -> Vec<Scored> {
            hits.iter().map(|&(row, score)| Scored { row: RowId(row), score }).collect()
        };
        let vector = list(&[(7, 0.9), (3, 0.8)]);
        let tags = list(&[(3, 0.5), (5, 0.5), (7, 0.5), (9, 0.1), (3, 0.05)]);
        let rows = gather(&[(Channel::Vector, &vector), (Channel::Tags, &tags)]);
        let ranks: Vec<_> = rows
            .iter()
            .map(|(row, places)| (row.0, places.rank(Channel::Vector), places.rank(Channel::Tags)))
            .collect();
        let expected = [(3, Some(2), Some(1)), (5, None, Some(1)), (7, Some(1), Some(1)), (9, None, Some(4))];
        assert_eq!(ranks, expected);
        assert_eq!(rows[0].1.score(Channel::Tags), Some(0.5));
        assert_eq!(rows[0].1.get(Channel::Text), None);
    }
}
