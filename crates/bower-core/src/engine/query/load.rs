//! Loads the selected rows as hits, and puts superseded memories behind those that superseded them.

use std::path::Path;

use crate::engine::anchors::AnchorCheck;
use crate::engine::query::rank::Ranking;
use crate::engine::query::select::SelectedHit;
use crate::engine::{Engine, missing};
use crate::error::Result;
use crate::item::{Channel, Kind, RowSet, Status};
use crate::request::{Degraded, Hit, Item, NearbyChunk, QueryRequest, Signal};

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
                around: Vec::new(),
                anchors: Vec::new(),
                path: Vec::new(),
                score: hit.score,
                band: hit.band,
                citation: ranking.citations.get(&hit.row).map(ToString::to_string),
                cited_line: ranking.citations.get(&hit.row).map(|fact| fact.line),
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

/// Adds to each hit that is a chunk its neighbours, as far as the request may find them.
pub(crate) fn add_neighbours(engine: &Engine, request: &QueryRequest, hits: &mut [Hit]) -> Result<()> {
    if request.around == 0 {
        return Ok(());
    }
    let keep = engine.store.select(&request.select)?;
    for hit in hits.iter_mut().filter(|hit| hit.memory.kind == Kind::Chunk) {
        let found = engine.store.around(hit.memory.row, request.around)?;
        let Some(&(own, _)) = found.iter().find(|(_, row)| *row == hit.memory.row) else { continue };
        let rows: Vec<_> = found.iter().map(|(_, row)| *row).collect();
        let items = found.iter().zip(engine.store.items(&rows)?);
        let near = items.filter_map(|(&(place, _), item)| Some((i64::from(place) - i64::from(own), item?)));
        hit.around = near
            .filter(|(offset, item)| *offset != 0 && may_stand_beside(item, keep.as_deref()))
            .map(|(offset, item)| NearbyChunk { offset, id: item.id, content: item.content })
            .collect();
    }
    Ok(())
}

/// Whether an item may be shown beside a hit: it is whole, and one of the selected items, or current where nothing is selected.
pub(crate) fn may_stand_beside(item: &Item, keep: Option<&RowSet>) -> bool {
    let is_selected = match keep {
        Some(keep) => keep.contains(item.row),
        None => matches!(item.status, Status::Candidate | Status::Active),
    };
    is_selected && !item.damaged
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

/// Compares the code that the hits name with the files as they are now, for a caller in a working folder.
pub(crate) fn check_anchors(engine: &Engine, folder: Option<&Path>, hits: &mut [Hit]) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let items: Vec<&Item> = hits.iter().map(|hit| &hit.memory).collect();
    let checked = AnchorCheck::new(folder).of_items(engine, &items)?;
    for (hit, anchors) in hits.iter_mut().zip(checked) {
        hit.anchors = anchors;
    }
    Ok(())
}
