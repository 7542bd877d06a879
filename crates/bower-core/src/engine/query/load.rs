//! Loads the selected rows as hits, and puts replaced memories below the memories that replaced them.

use jiff::Timestamp;

use crate::engine::query::rank::Ranking;
use crate::engine::query::select::SelectedHit;
use crate::engine::{Engine, missing};
use crate::error::Result;
use crate::item::{Channel, Kind};
use crate::memory::frame::{Frame, Question, seems_to_replace};
use crate::memory::slot::{Slot, slot};
use crate::request::{Degraded, Hit, Item, Signal};

/// Loads the best hits whose items are `wanted`, with their signals and factors.
pub(crate) fn load(
    engine: &Engine,
    ranking: &Ranking,
    shown: &[SelectedHit],
    limit: usize,
    wanted: &mut dyn FnMut(&Item) -> bool,
) -> Result<Vec<Hit>> {
    let mut hits = Vec::with_capacity(limit);
    // A row that was removed between search and loading, or is not wanted, is replaced by the next.
    for best in shown.chunks(limit) {
        let rows: Vec<_> = best.iter().map(|hit| hit.row).collect();
        for (hit, item) in best.iter().zip(engine.store.items(&rows)?) {
            let Some(memory) = item.filter(&mut *wanted) else { continue };
            let places = ranking.places(hit.row);
            let signal = |&channel: &Channel| {
                places.get(channel).map(|place| Signal { channel, rank: place.rank, score: place.score })
            };
            let same = if hit.same.is_empty() { Vec::new() } else { engine.store.items(&hit.same)? };
            hits.push(Hit {
                memory,
                score: hit.score,
                band: hit.band,
                citation: ranking.citations.get(&hit.row).cloned(),
                duplicates: same.into_iter().flatten().map(|item| item.id).collect(),
                reranked: hit.reranked,
                bm25: places.score(Channel::Text),
                semantic: places.score(Channel::Vector),
                signals: Channel::ALL.iter().filter_map(signal).collect(),
                factors: hit.factors.clone(),
                odds: hit.odds.clone(),
            });
            if hits.len() == limit {
                return Ok(hits);
            }
        }
    }
    Ok(hits)
}

/// Whether an item is damaged. A damaged item is reported in `named` instead of being returned.
pub(crate) fn leaves_out(item: &Item, named: &mut Vec<Degraded>) -> bool {
    if item.damaged {
        named.push(missing::left_out(item));
    }
    item.damaged
}

/// Puts each superseded hit below the hit that supersedes it, where both were found.
pub(crate) fn below_successors(hits: &mut Vec<Hit>) {
    // Chains of successors end, so each move is made once.
    while let Some((old, new)) = hits.iter().enumerate().find_map(|(old, hit)| {
        let by = hit.memory.superseded_by_id.as_ref()?;
        let new = hits.iter().rposition(|other| other.memory.id == *by)?;
        (new > old).then_some((old, new))
    }) {
        let hit = hits.remove(old);
        hits.insert(new, hit);
    }
}

/// Puts a memory below a newer one of its namespace that seems to replace it, though no rule was sure: it has another value
/// of the same thing.
///
/// A memory that a wrong clock dated later than now counts as written now. Of two with the same time, the later row is the
/// newer one.
pub(crate) fn below_newer(hits: &mut Vec<Hit>, question: &str, ranking: &Ranking, now: Timestamp) {
    let is_memory = |hit: &Hit| hit.memory.kind == Kind::Memory;
    if hits.iter().filter(|hit| is_memory(hit)).count() < 2 {
        return;
    }
    let question = Question::of(question);
    let read = |hit: &Hit| {
        let (row, text) = (hit.memory.row, &hit.memory.content);
        let frame = || ranking.frames.get(&row).cloned().unwrap_or_else(|| Frame::of(text));
        is_memory(hit).then(|| (frame(), slot(text)))
    };
    let said: Vec<Option<(Frame, Option<Slot>)>> = hits.iter().map(read).collect();
    let yields = |old: usize, new: usize| {
        let (one, two) = (&hits[old].memory, &hits[new].memory);
        let told = |item: &Item| (item.create_time.min(now), item.row);
        let is_later = told(one) < told(two)
            && (&one.collection, one.scope, &one.owner) == (&two.collection, two.scope, &two.owner);
        let texts = said[old].as_ref().zip(said[new].as_ref()).filter(|_| is_later);
        texts.is_some_and(|((earlier, earlier_slot), (later, later_slot))| {
            let likeness = ranking.likeness.of(one.row, two.row);
            seems_to_replace((earlier, earlier_slot.as_ref()), (later, later_slot.as_ref()), likeness)
                || question.is_answered_anew(earlier, later)
        })
    };
    let order = yielding(hits.len(), yields);
    let mut kept: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(order.into_iter().filter_map(|at| kept[at].take()));
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
