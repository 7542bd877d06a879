//! Selects the hits of an answer from a ranking: probable enough, reordered, one hit for duplicates.

use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::Engine;
use crate::engine::query::copies::Copies;
use crate::engine::query::plan::MAX_LIMIT;
use crate::engine::query::rank::Ranking;
use crate::engine::query::rerank;
use crate::error::{Error, Result};
use crate::item::{Band, Profile, Rerank, RowId, RowSet, Scored};
use crate::rank::candidate::Factor;
use crate::rank::profile::athena;
use crate::rank::rerank::Reranked;
use crate::rank::{calibrate, diversity};
use crate::request::{Clocks, QueryRequest, Selection};

/// A selected hit, not loaded yet.
#[derive(Clone, Debug)]
pub(crate) struct SelectedHit {
    pub(crate) row: RowId,
    pub(crate) score: f32,
    pub(crate) band: Option<Band>,
    pub(crate) factors: Vec<Factor>,
    /// Factors of the score where it is a probability.
    pub(crate) odds: Vec<Factor>,
    pub(crate) reranked: Option<Reranked>,
    /// Rows of the duplicates.
    pub(crate) same: Vec<RowId>,
}

/// The selected hits, best first.
pub(crate) struct Selected {
    pub(crate) hits: Vec<SelectedHit>,
    /// Whether nothing seems to answer the question.
    pub(crate) abstained: bool,
}

pub(crate) fn shown(
    engine: &Engine,
    request: &QueryRequest,
    ranking: &mut Ranking,
    now: Timestamp,
) -> Result<Selected> {
    let diversity = request.diversity.unwrap_or(engine.settings.diversity);
    for (name, value) in [("diversity", diversity), ("min-score", request.min_score)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::invalid(format!("{name} {value}"), "use 0 to 1"));
        }
    }
    let profile = request.profile.unwrap_or(engine.settings.profile);
    let constants = &engine.settings.calibration;
    let abstained = ranking.answerable.is_some_and(|likely| calibrate::abstains(likely, constants));
    let mut hits: Vec<SelectedHit> = ranking
        .fused
        .iter()
        .take(MAX_LIMIT)
        .zip(0..)
        .map(|(one, at)| {
            let score = ranking.probabilities.get(at).copied().unwrap_or_else(|| one.score.clamp(0.0, 1.0));
            let band = match profile {
                Profile::Bower => Some(calibrate::band(score, constants)),
                Profile::Athena => Some(athena::band(one.score, &engine.settings.athena)),
                Profile::Atlas | Profile::Ade | Profile::Seed => None,
            };
            SelectedHit {
                row: one.row,
                score,
                band,
                factors: one.factors.clone(),
                odds: ranking
                    .features
                    .get(at)
                    .map_or_else(Vec::new, |one| calibrate::odds(one, score, constants)),
                reranked: None,
                same: Vec::new(),
            }
        })
        .collect();

    rerank(engine, request, ranking, &mut hits, now);
    hits.retain(|hit| hit.score >= request.min_score && !(request.strict && hit.band == Some(Band::Low)));
    if request.strict && abstained {
        hits.clear();
    }
    let past = past(engine, &request.select)?;
    let hits = fold_same(engine, ranking, hits, &past)?;
    // Diversity is a part of ADE's own formula.
    let lambda = match (profile, request.diversity) {
        (Profile::Ade, None) => engine.settings.ade.mmr_lambda,
        (Profile::Bower | Profile::Athena | Profile::Atlas | Profile::Seed | Profile::Ade, _) => diversity,
    };
    Ok(Selected { hits: diversify(ranking, hits, lambda), abstained })
}

/// Lets the reranker reorder the best hits, if one is chosen; scores and bands stay at their positions.
fn rerank(
    engine: &Engine,
    request: &QueryRequest,
    ranking: &mut Ranking,
    hits: &mut [SelectedHit],
    now: Timestamp,
) {
    // A request for words alone does not use the reranker of the settings.
    let usual = if request.fast { Rerank::None } else { engine.settings.rerank };
    let how = request.rerank.unwrap_or(usual);
    // What the question names is no matter of judgement.
    let named = leading(ranking, hits);
    let hits = &mut hits[named..];
    let list: Vec<Scored> = hits.iter().map(|hit| Scored { row: hit.row, score: hit.score }).collect();
    let reranking = rerank::rerank(engine, &request.text, &list, request.limit, how, now);
    ranking.degraded.extend(reranking.degraded);
    ranking.effort.rerank = reranking.effort;
    ranking.effort.llm.extend(reranking.uses);
    if reranking.changes.is_empty() {
        return;
    }
    let changes: HashMap<RowId, Reranked> =
        reranking.changes.into_iter().map(|change| (change.row, change)).collect();
    let old = hits.to_vec();
    for (hit, (&from, place)) in hits.iter_mut().zip(reranking.order.iter().zip(&list)) {
        let Some(moved) = old.get(from) else { continue };
        let reranked = changes.get(&moved.row).copied();
        // The score belongs to the position, so factors of another row's score do not explain it.
        let odds = if moved.row == hit.row { std::mem::take(&mut hit.odds) } else { Vec::new() };
        *hit = SelectedHit { score: place.score, band: hit.band, reranked, odds, ..moved.clone() };
    }
}

/// Returns the rows of a selection that a default question does not see: superseded and archived ones that the selection
/// includes.
fn past(engine: &Engine, select: &Selection) -> Result<Arc<RowSet>> {
    if select.statuses.is_empty() && select.clocks == Clocks::default() {
        return Ok(Arc::default());
    }
    engine.caches.hidden(&*engine.store, &engine.store.coverage()?, Clocks::default())
}

/// Keeps the best of several hits that say the same, with the others as its duplicates; rows of the `past` stay separate.
fn fold_same(
    engine: &Engine,
    ranking: &mut Ranking,
    hits: Vec<SelectedHit>,
    past: &RowSet,
) -> Result<Vec<SelectedHit>> {
    let rows: Vec<RowId> = hits.iter().map(|hit| hit.row).collect();
    let copies = match ranking.copies.take() {
        Some(copies) => copies,
        None => Copies::load(engine, &ranking.likeness, &rows)?,
    };
    let groups = copies.groups(&ranking.likeness, &rows, |row| past.contains(row));
    let mut hits: Vec<Option<SelectedHit>> = hits.into_iter().map(Some).collect();
    let stands_for_all = |group: Vec<usize>| {
        let same = group[1..].iter().map(|&at| rows[at]).collect();
        hits[group[0]].take().map(|best| SelectedHit { same, ..best })
    };
    Ok(groups.into_iter().filter_map(stands_for_all).collect())
}

fn diversify(ranking: &Ranking, hits: Vec<SelectedHit>, lambda: f32) -> Vec<SelectedHit> {
    if lambda >= 1.0 {
        return hits;
    }
    let mut hits = hits;
    let rest = hits.split_off(leading(ranking, &hits));
    let list: Vec<Scored> = rest.iter().map(|hit| Scored { row: hit.row, score: hit.score }).collect();
    let chosen = diversity::mmr(&list, list.len(), lambda, &|one, two| ranking.likeness.of(one, two));
    let mut by_row: HashMap<RowId, SelectedHit> = rest.into_iter().map(|hit| (hit.row, hit)).collect();
    hits.extend(chosen.iter().filter_map(|hit| by_row.remove(&hit.row)));
    hits
}

/// Returns the number of first hits that the question names.
fn leading(ranking: &Ranking, hits: &[SelectedHit]) -> usize {
    hits.iter().take_while(|hit| ranking.named.contains(&hit.row)).count()
}
