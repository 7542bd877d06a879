//! Asks the graph channel: walks from a question's names and best hits over the entities that items mention.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::indexes::OpenIndex;
use crate::engine::query::plan::Scope;
use crate::engine::query::retrieve::settled;
use crate::engine::timing::milliseconds;
use crate::error::{Error, Result};
use crate::graph::{
    EntityKey, Graph, GraphIndex, ItemLink, Role, Seeds, Walked, asked_names, content_words, walk,
};
use crate::item::{Allowed, RowId, RowSet, Scored};
use crate::rank::candidate::Ranked;
use crate::store::RelationRow;

/// Number of best candidates from which the walk starts.
const STARTS: usize = 20;

/// Number of best candidates whose relations with other memories the walk follows.
const RELATED: usize = 5;

/// How much a question with a stated relation among its best memories is about entities, at least.
const LINKED: f64 = 0.1;

/// Share of the starts that entities have which the question writes as names.
const NAMED: f64 = 0.4;

/// Share of the starts that other entities have which the question may mean: titles in lower case, words of memories.
const MEANT: f64 = 0.1;

/// Number of items that the channel returns.
const DEPTH: usize = 50;

/// Most rows whose mentions are extracted from their texts for a question, if there is no graph index: some 50 ms. A store of
/// an older version gets its index by the next compaction.
const MOST_UNINDEXED: u64 = 4_096;

/// The result of the graph channel.
pub(crate) struct GraphFound {
    /// The items that the walk reached, best first; a score is the share of the walker's time relative to the best.
    pub(crate) rows: Vec<Scored>,
    shares: HashMap<RowId, f64>,
    /// The walk itself, which has the paths.
    pub(crate) walked: Walked,
    /// How much of the question is about named entities: their words, weighted by rarity, among all words that are no stop
    /// words, 0..1.
    pub(crate) about: f64,
    pub(crate) delta_rows: usize,
    pub(crate) took_ms: f64,
}

impl GraphFound {
    /// Returns an item's share of the walker's time relative to the best, 0..1.
    pub(crate) fn share(&self, row: RowId) -> f64 {
        self.shares.get(&row).copied().unwrap_or(0.0)
    }
}

/// Walks over the graph; `None` if the walk reaches nothing. `ranked` are the candidates of the other channels, best first.
pub(crate) fn graph_channel(
    engine: &Engine,
    question: &str,
    scope: &Scope<'_>,
    ranked: &[Ranked],
    is_memory: impl Fn(RowId) -> bool,
) -> Result<Option<GraphFound>> {
    let start = Instant::now();
    let best = ranked.iter().map(|one| one.row).take(RELATED).filter(|row| is_memory(*row));
    let links = links(engine, scope, &best.collect::<Vec<_>>())?;
    let ((walked, about), delta_rows) = with_graph(engine, scope, &links, |graph| {
        let (seeds, named) = seeds(graph, question, ranked);
        let about = if links.is_empty() { named } else { named.max(LINKED) };
        // A question without a name is better answered without the graph.
        let walked = if about > 0.0 { walk(graph, &seeds)? } else { Walked::default() };
        Ok((walked, about))
    })?;
    let Some(&(_, most)) = walked.items.first() else { return Ok(None) };
    if walked.reached.is_empty() {
        return Ok(None);
    }
    let mut rows: Vec<Scored> = walked
        .items
        .iter()
        .filter(|(row, _)| walked.reached.contains(row))
        .map(|(row, share)| Scored { row: *row, score: (share / most) as f32 })
        .collect();
    rows.truncate(with_ties(rows.iter().map(|hit| hit.score.into()), DEPTH));
    let shares = walked.items.iter().map(|(row, share)| (*row, share / most)).collect();
    Ok(Some(GraphFound { rows, shares, walked, about, delta_rows, took_ms: milliseconds(start) }))
}

/// Returns the relations of memories with others that may be found.
pub(crate) fn related(engine: &Engine, scope: &Scope<'_>, rows: &[RowId]) -> Result<Vec<RelationRow>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut related = engine.store.relations(rows)?;
    related.retain(|one| scope.contains(one.row) && scope.contains(one.other));
    Ok(related)
}

/// Returns those of them that a walk follows, in both directions.
pub(crate) fn links(engine: &Engine, scope: &Scope<'_>, rows: &[RowId]) -> Result<Vec<ItemLink>> {
    let mut links = Vec::new();
    for one in related(engine, scope, rows)? {
        let weight = f64::from(one.strength * one.relation.weight());
        if weight > 0.0 {
            links.push(ItemLink { from: one.row, to: one.other, weight });
            links.push(ItemLink { from: one.other, to: one.row, weight });
        }
    }
    Ok(links)
}

/// Calls a function with the graph of the items that may be found, and returns its result with the number of new rows that
/// were searched without the index.
///
/// Fails if the store has many items and no graph index yet.
pub(crate) fn with_graph<R>(
    engine: &Engine,
    scope: &Scope<'_>,
    links: &[ItemLink],
    ask: impl Fn(&Graph<'_>) -> Result<R>,
) -> Result<(R, usize)> {
    let store = &*engine.store;
    let lacks_index = engine.indexes.graph(store)?.good().is_none();
    if lacks_index && engine.indexes.text(store)?.good().is_some_and(|text| text.rows() > MOST_UNINDEXED) {
        let dir = engine.indexes.graph_dir();
        return Err(Error::index(
            "search",
            &dir,
            "there is none yet; the next bower index or curate builds it",
        ));
    }
    let (index, new) = settled(
        || engine.indexes.graph(store),
        |after| engine.caches.deltas.mentions(store, scope.newest, after),
    )?;
    let delta = new.as_mentions();
    let aliases = engine.caches.aliases(store, scope.newest)?;
    // `gone` has the new rows too.
    let stale = new.gone.len().saturating_sub(new.rows.len()) + scope.hidden.len();
    let indexed = index.good().map_or(0, |index| index.rows() as usize);
    let items = scope.keep.map_or((indexed + new.rows.len()).saturating_sub(stale), RowSet::len);
    let from = |index: Option<&GraphIndex>| {
        let allowed = Allowed { keep: scope.keep, drop: scope.hidden };
        ask(&Graph { index, delta: &delta, allowed, stale: &new.gone, items, links, aliases: &aliases })
    };
    let answer = match index.good() {
        Some(index) => OpenIndex::ask(index, |index| from(Some(index)))?,
        None => from(None)?,
    };
    Ok((answer, scope.searched_of(&new)))
}

/// Returns where the walk starts, and how much of the question is about rare entities, 0..1: their words, weighted by rarity and by
/// how certainly they are names, among all words that are no stop words.
///
/// The longest names that items mention count, the rarer the more. A word in lower case alone is a start only as a link, a tag or a
/// title, or as a word of memories.
fn seeds(graph: &Graph<'_>, question: &str, ranked: &[Ranked]) -> (Seeds, f64) {
    let mut named: Vec<(EntityKey, f64)> = Vec::new();
    let mut meant: Vec<(EntityKey, f64)> = Vec::new();
    let mut named_words = 0.0;
    let mut taken: Vec<Range<usize>> = Vec::new();
    let all = (graph.items.max(2) as f64).ln();
    for name in asked_names(question) {
        if taken.iter().any(|other| name.words.start < other.end && other.start < name.words.end) {
            continue;
        }
        let key = graph.aliases.resolve(name.key);
        // Two names of one entity are one start.
        let is_aliased = graph.aliases.members(name.key).is_some();
        if is_aliased && named.iter().chain(&meant).any(|(start, _)| *start == key) {
            taken.push(name.words.clone());
            continue;
        }
        let entity = graph.entity(key);
        let is_alone = name.words.len() == 1;
        if !entity.is_known() || (is_alone && !name.is_capital && entity.role < Role::Tag) {
            continue;
        }
        taken.push(name.words.clone());
        if entity.is_hub {
            continue;
        }
        let df = entity.df as f64;
        let rarity = (graph.items as f64 / df).ln() / all;
        // One word with a capital is often a first name, and several in lower case are often a subject (`information retrieval`).
        let certainty = match (name.is_capital, is_alone) {
            (true, false) => 1.0,
            (true, true) if entity.role == Role::Title => 1.0,
            (true, true) | (false, false) => MEANT / NAMED,
            (false, true) => 0.0,
        };
        named_words += certainty * rarity * name.words.len() as f64;
        let starts = if name.is_capital { &mut named } else { &mut meant };
        starts.push((key, 1.0 / df));
    }
    let best = ranked.first().map_or(0.0, |one| f64::from(one.score));
    let starts = with_ties(ranked.iter().map(|one| one.score.into()), STARTS);
    let hits = ranked.iter().take(starts);
    let mut items: Vec<(RowId, f64)> =
        hits.map(|one| (one.row, (f64::from(one.score) - best).exp())).collect();
    let of_named = if named.is_empty() { 0.0 } else { NAMED };
    let of_meant = if meant.is_empty() { 0.0 } else { MEANT };
    share_out(&mut named, of_named);
    share_out(&mut meant, of_meant);
    share_out(&mut items, 1.0 - of_named - of_meant);
    named.append(&mut meant);
    let about = (named_words / content_words(question).max(1) as f64).min(1.0);
    (Seeds { entities: named, items }, about)
}

/// Returns how many of the values, best first, to take: `most`, and those that equal the last of them up to rounding. Otherwise
/// the order in which items arrived would decide between equal ones.
fn with_ties(mut values: impl Iterator<Item = f64>, most: usize) -> usize {
    let Some(last) = values.nth(most.saturating_sub(1)) else { return usize::MAX };
    most + values.take_while(|value| *value >= last - 1e-5 * last.abs()).count()
}

/// Scales weights so that they sum to `total`.
fn share_out<T>(weighted: &mut [(T, f64)], total: f64) {
    let sum: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    if sum > 0.0 {
        for (_, weight) in weighted {
            *weight *= total / sum;
        }
    }
}
