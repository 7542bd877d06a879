//! Adds to scores what times, turns beside a turn, neighbours, names, the graph and references give.
//! Each step adds a factor to some items and sorts again.

use std::collections::HashMap;

use super::{Constants, mean};
use crate::item::RowId;
use crate::rank::candidate::{Factor, Ranked};

/// Sorts a ranking again after some scores changed; equal scores keep their order. [`gain_from_neighbours`] gives the first item
/// behind the best the score of the last of these. By row, the order in which items arrived would decide between the two.
fn sort_again(ranked: &mut [Ranked]) {
    ranked.sort_by(|one, two| two.score.total_cmp(&one.score));
}

/// Adds gains in standard deviations of the scores, one for each of `ranked`, as the factor `name`. A gain of 0 changes
/// nothing.
pub fn gain_deviations(ranked: &mut [Ranked], name: &'static str, gains: &[f32]) {
    if gains.iter().all(|&gain| gain == 0.0) {
        return;
    }
    let scores = || ranked.iter().map(|one| f64::from(one.score));
    let mean = mean(scores());
    let deviation =
        (scores().map(|score| (score - mean).powi(2)).sum::<f64>() / scores().count().max(1) as f64).sqrt();
    for (one, gain) in ranked.iter_mut().zip(gains).filter(|(_, gain)| **gain != 0.0) {
        one.add(Factor::plus(name, f64::from(*gain) * deviation));
    }
    sort_again(ranked);
}

/// Adds the gain of memories that contain the question's names. `named` has one entry for each of `ranked`: the share
/// of the names, weighted by rarity, 0..1. It is `None` for chunks, whose document's title also names their subject.
/// Short texts of one kind differ in little but names, and their neighbours are about other things. So this comes after
/// the neighbours' gain.
pub fn gain_from_names(ranked: &mut [Ranked], named: &[Option<f32>], constants: &Constants) {
    let all = || named.iter().flatten().map(|share| f64::from(*share));
    let mean = mean(all());
    if all().all(|share| (share - mean).abs() < 1e-6) {
        return;
    }
    for (one, share) in ranked.iter_mut().zip(named) {
        let Some(share) = share else { continue };
        one.add(Factor::plus("names", f64::from(constants.name_weight) * (f64::from(*share) - mean)));
    }
    sort_again(ranked);
}

/// Adds the gain of items to which the question refers by a tag or a path. `share` is the share of these references that an
/// item has, 0..1. An item with all of them gains twice what one with every word of the question does: a text that only
/// mentions a path has every word of a question that is this path.
pub fn gain_from_references(ranked: &mut [Ranked], share: impl Fn(RowId) -> f32, constants: &Constants) {
    let mut has_some = false;
    for one in ranked.iter_mut() {
        let share = f64::from(share(one.row));
        if share > 0.0 {
            has_some = true;
            one.add(Factor::plus("reference", 2.0 * f64::from(constants.complete_weight) * share));
        }
    }
    if has_some {
        sort_again(ranked);
    }
}

/// Adds the gain of items that a walk over the graph reached. `walked` is an item's share of the walker's time, 1 for the item
/// with the most. Scores are mixed as probabilities: of e^x, an item's probability up to a factor, and `weight` times its
/// share. `x` is `scale` times its score below the best. Ranks or deviations mixed in the same way gain half as much on
/// questions of several hops.
pub fn gain_from_graph(ranked: &mut [Ranked], walked: impl Fn(RowId) -> f64, weight: f64, scale: f64) {
    let Some(best) = ranked.iter().map(|one| one.score).max_by(f32::total_cmp).map(f64::from) else { return };
    let mut has_some = false;
    for one in ranked.iter_mut() {
        let share = weight * walked(one.row);
        if share > 0.0 {
            has_some = true;
            let below = scale * (f64::from(one.score) - best);
            let gain = (below.exp() + share).ln() - below;
            one.add(Factor::plus("graph", gain / scale));
        }
    }
    if has_some {
        sort_again(ranked);
    }
}

/// Adds to each turn of a session a share of the better score of the turn before it and the turn after it, if these are
/// candidates. A turn that answers often shares no word with the question, but follows the turn that asks.
///
/// `session` is the session of an item. `has_between` says whether there are items between two rows that the question may find:
/// others must not count, because an answer must not depend on them. `siblings` is from [`super::rank`].
pub fn gain_from_adjacent(
    ranked: &mut [Ranked],
    session: impl Fn(RowId) -> Option<u64>,
    has_between: impl Fn(RowId, RowId) -> bool,
    siblings: f64,
    constants: &Constants,
) {
    let weight = f64::from(constants.adjacent_weight) * siblings;
    let mut turns: Vec<(RowId, u64, f32)> =
        ranked.iter().filter_map(|one| Some((one.row, session(one.row)?, one.score))).collect();
    if weight <= 0.0 || turns.is_empty() {
        return;
    }
    // The turns of a session are written one after the other.
    turns.sort_unstable_by_key(|(row, ..)| *row);
    let mut better: HashMap<RowId, f32> = HashMap::new();
    for pair in turns.windows(2) {
        let [(row, session, score), (next, session_of_next, score_of_next)] = *pair else { continue };
        if session == session_of_next && !has_between(row, next) {
            for (row, score) in [(row, score_of_next), (next, score)] {
                let best = better.entry(row).or_insert(0.0);
                *best = best.max(score);
            }
        }
    }
    better.retain(|_, score| *score > 0.0);
    if better.is_empty() {
        return;
    }
    for one in ranked.iter_mut() {
        if let Some(score) = better.get(&one.row) {
            one.add(Factor::plus("turn beside it", weight * f64::from(*score)));
        }
    }
    sort_again(ranked);
}

/// Adds to the best candidates a share of the scores of their nearest neighbours in meaning among them. An item that
/// many good candidates resemble is more likely relevant. `likenesses` contains the cosines of the first n of `ranked`,
/// row by row, n * n of them, with n from [`Constants::neighbourhood`]. Items ranked below stay below. Does nothing if
/// the lengths do not match. Those for which `gains` is false gain nothing: memories resemble memories about other things.
///
/// After the cluster hypothesis (Jardine and van Rijsbergen 1971) as score regularisation uses it (Diaz, SIGIR 2005).
pub fn gain_from_neighbours(
    ranked: &mut [Ranked],
    likenesses: &[f32],
    gains: impl Fn(RowId) -> bool,
    siblings: f64,
    constants: &Constants,
) {
    let weight = f64::from(constants.neighbour_weight) * (1.0 - siblings);
    let count = ranked.len().min(constants.neighbourhood);
    if likenesses.len() != count * count || count < 2 || weight <= 0.0 {
        return;
    }
    let (best, rest) = ranked.split_at_mut(count);
    let scores: Vec<f64> = best.iter().map(|one| f64::from(one.score)).collect();
    for (at, one) in best.iter_mut().enumerate().filter(|(_, one)| gains(one.row)) {
        let row = &likenesses[at * count..][..count];
        let mut near: Vec<(f32, usize)> =
            (0..count).filter(|&other| other != at).map(|other| (row[other].max(0.0), other)).collect();
        let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if (1..near.len()).contains(&constants.neighbours) {
            near.select_nth_unstable_by(constants.neighbours - 1, order);
        }
        near.truncate(constants.neighbours);
        near.sort_unstable_by(order);
        let sum: f64 = near.iter().map(|&(likeness, _)| f64::from(likeness)).sum();
        if sum > 0.0 {
            let gain: f64 =
                near.iter().map(|&(likeness, other)| f64::from(likeness) * scores[other]).sum::<f64>() / sum;
            one.add(Factor::plus("neighbours", weight * gain));
        }
    }
    best.sort_unstable_by(Ranked::cmp_best_first);
    let (Some(last), Some(first)) = (best.last(), rest.first()) else { return };
    let behind = (last.score - first.score).min(0.0);
    if behind < 0.0 {
        for one in rest {
            one.add(Factor::plus("behind the neighbours", f64::from(behind)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PLAIN, check};
    use super::*;

    #[test]
    fn a_time_counts_in_deviations_of_the_scores() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let mut ranked = [start(1, 3.0), start(2, 1.0)];
        gain_deviations(&mut ranked, "time", &[0.0, 2.5]);
        // The deviation of 3 and 1 is 1.
        check(&ranked, &[(2, 3.5), (1, 3.0)]);
        gain_deviations(&mut ranked, "time", &[]);
        check(&ranked, &[(2, 3.5), (1, 3.0)]);
    }

    #[test]
    fn a_memory_gains_by_what_the_question_names() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let mut ranked = [start(1, 2.0), start(2, 1.0), start(3, 0.5)];
        // The mean is .5, and a chunk gains nothing: 2 - 3 * .5, 1 + 3 * .5, .5.
        gain_from_names(&mut ranked, &[Some(0.0), Some(1.0), None], &PLAIN);
        check(&ranked, &[(2, 2.5), (1, 0.5), (3, 0.5)]);
        let before = ranked.clone();
        gain_from_names(&mut ranked, &[Some(1.0), None, Some(1.0)], &PLAIN);
        gain_from_names(&mut ranked, &[None; 3], &PLAIN);
        assert_eq!(ranked, before);
    }

    #[test]
    fn the_best_gain_from_those_like_them() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let mut ranked = [start(1, 1.0), start(2, 0.9), start(3, 0.8), start(4, 0.7)];
        // 2 and 3 are alike; the nearest of 1 is 3 by a little.
        let likenesses = [0.0, 0.1, 0.2, 0.1, 0.0, 0.9, 0.2, 0.9, 0.0];
        gain_from_neighbours(&mut ranked, &likenesses, |_| true, 0.0, &PLAIN);
        // 1: 1 + .5 * .8; 2: .9 + .5 * .8; 3: .8 + .5 * .9.
        check(&ranked, &[(1, 1.4), (2, 1.3), (3, 1.25), (4, 0.7)]);
        let before = ranked.clone();
        gain_from_neighbours(&mut ranked, &[0.0; 4], |_| true, 0.0, &PLAIN);
        assert_eq!(ranked, before);
        let mut low = [start(1, -1.0), start(2, -1.1), start(3, -1.2), start(4, -1.3)];
        gain_from_neighbours(&mut low, &likenesses, |_| true, 0.0, &PLAIN);
        assert!(low[3].score <= low[2].score, "{low:?}");
    }

    #[test]
    fn neighbours_count_as_far_as_candidates_stand_alone() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let two = [start(1, 1.0), start(2, 0.8)];
        let mut ranked = two.clone();
        // A quarter of the candidates has siblings: .5 * .75 * .8 and .5 * .75 * 1.
        gain_from_neighbours(&mut ranked, &[0.0, 0.8, 0.8, 0.0], |_| true, 0.25, &PLAIN);
        check(&ranked, &[(1, 1.3), (2, 1.175)]);
        let mut ranked = two.clone();
        gain_from_neighbours(&mut ranked, &[0.0, 0.8, 0.8, 0.0], |_| true, 1.0, &PLAIN);
        assert_eq!(ranked, two);
    }

    #[test]
    fn a_turn_gains_from_the_better_one_beside_it() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let mut ranked = [start(11, 2.0), start(13, 1.0), start(12, 0.4), start(24, 0.2), start(25, -1.0)];
        // 25 is in another session, and nothing is visible between 13 and 24. Of 11 to 24 each gains half of a quarter of the better
        // one beside it.
        let session = |row: RowId| Some(if row.0 == 25 { 8 } else { 7 });
        let between = |row: RowId, next: RowId| next.0 - row.0 > 1 && row.0 != 13;
        gain_from_adjacent(&mut ranked, session, between, 0.5, &PLAIN);
        check(&ranked, &[(11, 2.05), (13, 1.05), (12, 0.65), (24, 0.325), (25, -1.0)]);
        let before = ranked.clone();
        gain_from_adjacent(&mut ranked, |_| None, |_, _| false, 1.0, &PLAIN);
        gain_from_adjacent(&mut ranked, session, |_, _| true, 1.0, &PLAIN);
        gain_from_adjacent(&mut ranked, session, between, 0.0, &PLAIN);
        assert_eq!(ranked, before);
        // Nothing is taken from what stands beside a bad one.
        let mut low = [start(1, 1.0), start(2, -1.0)];
        gain_from_adjacent(&mut low, |_| Some(7), |_, _| false, 1.0, &PLAIN);
        check(&low, &[(1, 1.0), (2, -0.75)]);
    }

    #[test]
    fn memories_gain_nothing_from_neighbours() {
        let start = |row, score| Ranked::new(RowId(row), vec![Factor::plus("words", score)]);
        let mut ranked = [start(1, 1.0), start(2, 0.9)];
        gain_from_neighbours(&mut ranked, &[0.0, 0.8, 0.8, 0.0], |row| row.0 == 2, 0.0, &PLAIN);
        // 2 is a chunk: .9 + .5 * 1.
        check(&ranked, &[(2, 1.4), (1, 1.0)]);
    }
}
