//! Puts an earlier memory behind a later one that may replace it, and marks it.
//! Questions about the past turn the order round.

use jiff::Timestamp;
use std::collections::HashMap;

use crate::engine::Engine;
use crate::error::Result;
use crate::item::{Kind, Relation, RowId};
use crate::memory::past::is_about_the_past;
use crate::request::{Hit, Item, LaterMemory};

/// Weight of the log odds that a later memory replaces an earlier one, against the difference of their cosines with the
/// question (`tools/fit_order.py`). Left-out twins keep their place for a close question as often as by cosine alone. Of the
/// updates in other words, .74 stand first for a question in other words.
const ODDS: f32 = 0.19;
/// The least sum for which the later memory stands first.
const LEAST: f32 = -0.19;
/// The likelihood that decides where a cosine is missing: then it is likelier than not.
const LIKELY: f32 = 0.5;

/// A later hit that may replace an earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Later {
    /// Its index among the hits.
    at: usize,
    /// The likelihood, 0..1.
    likelihood: f32,
}

/// Orders the hits by time where several seem to tell the same attribute of the same thing: each earlier one follows directly
/// behind the last that may replace it, and names the newest of those. For a question about the past, the later ones follow
/// the earlier ones instead.
pub(crate) fn by_time(engine: &Engine, hits: &mut Vec<Hit>, question: &str, now: Timestamp) -> Result<()> {
    if hits.iter().filter(|hit| hit.memory.kind == Kind::Memory).count() < 2 {
        return Ok(());
    }
    let later = later_hits(engine, hits)?;
    if later.iter().any(|later| !later.is_empty()) {
        arrange(hits, &later, is_about_the_past(question), now);
    }
    Ok(())
}

/// Whether a later memory that may replace an earlier one stands before it. Nothing is hidden, so an error costs one place.
/// The cosines are those with the question.
fn stands_first(likelihood: f32, earlier: Option<f32>, later: Option<f32>) -> bool {
    match earlier.zip(later) {
        Some((earlier, later)) => {
            let likelihood = likelihood.clamp(1e-4, 1.0 - 1e-4);
            ODDS * (likelihood / (1.0 - likelihood)).ln() + later - earlier >= LEAST
        }
        None => likelihood >= LIKELY,
    }
}

/// Marks each hit that has a later one, and puts it behind those; for a question about the past, before them.
fn arrange(hits: &mut Vec<Hit>, later: &[Vec<Later>], is_past: bool, now: Timestamp) {
    for (at, all) in later.iter().enumerate() {
        let Some(newest) = all.iter().max_by_key(|one| told(&hits[one.at].memory, now)) else { continue };
        let memory = &hits[newest.at].memory;
        let named =
            LaterMemory { id: memory.id.clone(), told: memory.create_time, likelihood: newest.likelihood };
        hits[at].perhaps_replaced_by = Some(named);
    }
    let replaces = |old: usize, new: usize| later[old].iter().any(|one| one.at == new);
    let order =
        yielding(hits.len(), |one, two| if is_past { replaces(two, one) } else { replaces(one, two) });
    let mut kept: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(order.into_iter().filter_map(|at| kept[at].take()));
}

/// When a memory was told. One that a wrong clock dated later than now counts as told now. Of two with the same time, the
/// later row is the newer one.
fn told(item: &Item, now: Timestamp) -> (Timestamp, RowId) {
    (item.create_time.min(now), item.row)
}

/// Returns for each hit the later hits that may replace it, as the model found when they were told.
fn later_hits(engine: &Engine, hits: &[Hit]) -> Result<Vec<Vec<Later>>> {
    let rows: Vec<RowId> = hits.iter().map(|hit| hit.memory.row).collect();
    let places: HashMap<RowId, usize> = rows.iter().copied().zip(0..).collect();
    let mut later: Vec<Vec<Later>> = vec![Vec::new(); hits.len()];
    for (at, possible) in engine.store.possible(&rows)?.into_iter().enumerate() {
        for one in possible {
            let old = places.get(&one.row).filter(|_| one.relation == Relation::MayReplace);
            if let Some(&old) = old
                && stands_first(one.likelihood, hits[old].semantic, hits[at].semantic)
            {
                later[old].push(Later { at, likelihood: one.likelihood });
            }
        }
    }
    Ok(later)
}

/// Returns an order of `count` positions: each that yields to later ones follows directly behind the last of those.
fn yielding(count: usize, yields: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut place = 0;
    // Each step settles a position or moves one down; the limit ends cycles.
    for _ in 0..count * 2 {
        let Some(&old) = order.get(place) else { break };
        match (place + 1..count).rev().find(|&new| yields(old, order[new])) {
            Some(new) => order[place..=new].rotate_left(1),
            None => place += 1,
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::item::Visibility;
    use crate::request::CurateRequest;

    /// Three hits, told a second apart, in the order in which they were told.
    fn hits() -> Vec<Hit> {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { model: "none".into(), ..Settings::default() };
        let engine = Engine::open(folder.path(), settings, at(0)).unwrap();
        let tell = |(second, text): (i64, &str)| {
            let request = CurateRequest::new(text.to_owned());
            let id = engine.curate(&Visibility::everything(), &request, at(second)).unwrap().id.unwrap();
            let memory = engine.get(&Visibility::everything(), &id).unwrap();
            Hit {
                memory,
                score: 0.5,
                band: None,
                citation: None,
                cited_line: None,
                duplicates: Vec::new(),
                perhaps_replaced_by: None,
                around: Vec::new(),
                anchors: Vec::new(),
                path: Vec::new(),
                reranked: None,
                bm25: None,
                semantic: None,
                signals: Vec::new(),
                factors: Vec::new(),
                odds: Vec::new(),
            }
        };
        let told = ["The kiln is fired on Mondays.", "Ida mends the boat.", "We glaze at the weekend."];
        (0..).zip(told).map(tell).collect()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn texts(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.memory.content.split(' ').next().unwrap()).collect()
    }

    #[test]
    fn an_earlier_memory_names_the_newest_that_may_replace_it_and_stands_behind_it() {
        let mut hits = hits();
        let ids: Vec<String> = hits.iter().map(|hit| hit.memory.id.clone()).collect();
        let later = |at, likelihood| Later { at, likelihood };
        let all = [vec![later(1, 0.9), later(2, 0.75)], vec![], vec![]];
        arrange(&mut hits, &all, false, at(9));
        assert_eq!(texts(&hits), ["Ida", "We", "The"]);
        let named: Vec<_> = hits.iter().map(|hit| hit.perhaps_replaced_by.clone()).collect();
        let newest = LaterMemory { id: ids[2].clone(), told: at(2), likelihood: 0.75 };
        assert_eq!(named, [None, None, Some(newest)]);
    }

    #[test]
    fn a_question_about_the_past_turns_the_order_round_and_keeps_the_mark() {
        let mut hits = hits();
        hits.reverse();
        let all = [vec![], vec![], vec![Later { at: 0, likelihood: 0.9 }]];
        arrange(&mut hits, &all, true, at(9));
        assert_eq!(texts(&hits), ["Ida", "The", "We"]);
        assert!(hits[1].perhaps_replaced_by.is_some() && hits[2].perhaps_replaced_by.is_none());
    }

    /// .19 of the log odds of .5 is 0, of .8 it is .263.
    #[test]
    fn a_likelier_update_stands_first_though_the_question_is_nearer_to_the_earlier_one() {
        assert!(stands_first(0.5, Some(0.7), Some(0.52)) && !stands_first(0.5, Some(0.7), Some(0.5)));
        assert!(stands_first(0.8, Some(0.7), Some(0.25)) && !stands_first(0.8, Some(0.7), Some(0.24)));
        assert!(stands_first(0.5, None, Some(0.1)) && !stands_first(0.49, None, Some(0.1)));
    }

    #[test]
    fn who_yields_stands_right_behind_the_last_it_yields_to() {
        let newer = |pairs: &'static [(usize, usize)]| move |old, new| pairs.contains(&(old, new));
        assert_eq!(yielding(4, newer(&[(0, 2)])), [1, 2, 0, 3]);
        assert_eq!(yielding(4, newer(&[(0, 1), (0, 3), (1, 3)])), [2, 3, 1, 0]);
        assert_eq!(yielding(3, newer(&[])), [0, 1, 2]);
        assert_eq!(yielding(0, newer(&[])), [0; 0]);
        // No position is lost where both yield.
        let mut round = yielding(2, newer(&[(0, 1), (1, 0)]));
        round.sort_unstable();
        assert_eq!(round, [0, 1]);
    }
}
