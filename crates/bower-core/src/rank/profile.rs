//! Ranking profiles: the source systems' formulas, one file each, and the functions that they share.
//! A formula depends on values only and breaks every tie by row.

pub mod ade;
pub mod athena;
pub mod atlas;
pub mod native;
pub mod seed;

use jiff::Timestamp;

use super::candidate::{Candidate, Places};
use crate::item::{Channel, Profile};

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// Returns the channels that a profile uses, as `bower eval` takes them away one by one. The default profile also asks tags, file
/// names and canonical documents where a question refers to them; its function `by_default` decides what is asked. The formula
/// of `seed` has a weight for the graph, which is not walked for it.
pub fn channels(profile: Profile) -> &'static [Channel] {
    match profile {
        Profile::Atlas | Profile::Ade => &[Channel::Text, Channel::Vector],
        Profile::Bower | Profile::Seed => &[Channel::Text, Channel::Vector, Channel::Graph],
        Profile::Athena => Channel::ALL,
    }
}

/// Returns the days from one time to a later one, with fractions; 0 if it is not later (the clock was set back).
fn days(from: Timestamp, to: Timestamp) -> f64 {
    (to.duration_since(from).as_secs_f64() / DAY).max(0.0)
}

/// Normalises the channels' weights to a sum of 1 over those that took part: that listed at least one candidate for
/// which `counts` is true. So a missing channel scales no score down. If all weights are 0, they count as equal.
fn shares<const N: usize>(
    candidates: &[Candidate],
    weights: [(Channel, f32); N],
    counts: impl Fn(&Places, Channel) -> bool,
) -> [(Channel, f64); N] {
    let mut shares = weights.map(|(channel, weight)| {
        let took_part = candidates.iter().any(|candidate| counts(&candidate.places, channel));
        (channel, took_part, if took_part { f64::from(weight) } else { 0.0 })
    });
    if shares.iter().all(|share| share.2 == 0.0) {
        for share in &mut shares {
            share.2 = f64::from(u8::from(share.1));
        }
    }
    let sum: f64 = shares.iter().map(|share| share.2).sum();
    shares.map(|(channel, _, weight)| (channel, if sum > 0.0 { weight / sum } else { 0.0 }))
}

/// Returns the greatest score of a channel, at least 0.
fn greatest(candidates: &[Candidate], channel: Channel) -> f64 {
    let scores = candidates.iter().filter_map(|candidate| candidate.places.score(channel));
    f64::from(scores.fold(0.0, f32::max))
}

/// Returns a channel's score of an item as a share of `most`, 0..1; 0 if it has none.
fn share_of(places: &Places, channel: Channel, most: f64) -> f64 {
    let score = places.score(channel).map_or(0.0, f64::from);
    if most > 0.0 { (score / most).clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the cosine of an item, 0..1; negative cosines count as 0, because opposite meaning is no meaning in common.
/// 0 if it has no vector.
fn cosine(places: &Places) -> f64 {
    places.score(Channel::Vector).map_or(0.0, f64::from).clamp(0.0, 1.0)
}

#[cfg(test)]
mod testing {
    //! Candidates for golden tests.

    use jiff::Timestamp;

    use super::super::candidate::{Candidate, ChannelScore, Places, Ranked, recompute};
    use crate::item::{Channel, Facts, Kind, MemoryType, RowId, Tier};

    /// The present of every test.
    pub fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    /// Returns the time that many whole days earlier.
    pub fn ago(days: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 - days * 86_400).unwrap()
    }

    /// Returns a fact of medium importance, written and used just now.
    pub fn candidate(row: u32, places: &[(Channel, Option<usize>, f32)]) -> Candidate {
        let mut all = Places::default();
        for &(channel, rank, score) in places {
            all.set(channel, ChannelScore { rank, score });
        }
        let facts = Facts {
            kind: Kind::Memory,
            memory_type: Some(MemoryType::Fact),
            importance: 0.5,
            confidence: 0.5,
            access_count: 0,
            decay_rate: 0.01,
            created: now(),
            accessed: now(),
            tier: Tier::Active,
            asked_time: None,
        };
        Candidate { row: RowId(row), places: all, facts }
    }

    /// Checks rows and scores, and that every score equals the fold of its factors.
    #[track_caller]
    pub fn check(got: &[Ranked], expected: &[(u32, f32)]) {
        assert_eq!(got.len(), expected.len(), "{got:?}");
        for (hit, &(row, score)) in got.iter().zip(expected) {
            assert!(hit.row.0 == row && (hit.score - score).abs() < 2e-6, "{got:#?} is not {expected:?}");
            assert_eq!(hit.score.to_bits(), recompute(&hit.factors).to_bits());
        }
    }
}
