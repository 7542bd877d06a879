//! Loads the selected rows as hits, and puts superseded memories behind those that superseded them.

use crate::engine::query::rank::Ranking;
use crate::engine::query::select::SelectedHit;
use crate::engine::{Engine, missing};
use crate::error::Result;
use crate::item::Channel;
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
                perhaps_replaced_by: None,
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
