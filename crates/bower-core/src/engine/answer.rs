//! One question, top to bottom: analyse, retrieve from both channels side by side, fuse by row, load the best.

use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Instant;

use super::indexes::covered;
use super::{ACTOR, Engine, LANGUAGE, evidence};
use crate::error::{Error, Result};
use crate::item::{Allowed, Change, Channel, RowId, RowSet, Scored};
use crate::rank::fuse;
use crate::request::{Answer, ChannelEffort, Degraded, Effort, Hit, Item, QueryRequest, Selection, Signal};
use crate::store::{NewVector, Stamp, TailText};
use crate::text::{self, QueryTerm, Tail, TailScan};
use crate::vector::ExactQuery;

/// Hits that one answer may hold.
pub const MAX_LIMIT: usize = 50;

/// A longer question, in bytes, is searched by its words alone: the model takes about 29 ms for each 1,000 characters
/// (256 tokens), so this is half a second of it, and so long a text has no one meaning to compare.
const LONGEST_MEANT: usize = 16_384;

/// Later than every change.
const EVER: Change = Change(i64::MAX as u64);

/// A request for whole rankings.
#[derive(Clone, Copy, Debug)]
pub struct RankRequest<'a> {
    /// Any Unicode text.
    pub text: &'a str,
    /// Rows wanted of each channel.
    pub depth: usize,
    /// Words alone.
    pub fast: bool,
    /// What may be found.
    pub select: &'a Selection,
}

/// Rankings by channel and fused.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// BM25, best first.
    pub text: Vec<Scored>,
    /// Cosine, best first.
    pub vector: Vec<Scored>,
    /// Both, best first.
    pub fused: Vec<Scored>,
    /// Channels that did not take part, with the reason.
    pub degraded: Vec<Degraded>,
    /// What it cost.
    pub effort: Effort,
    /// The model whose vectors were compared.
    pub model_used: Option<String>,
}

/// One channel's candidates and cost.
struct Found {
    rows: Vec<Scored>,
    tail: usize,
    took_ms: f64,
    /// How many rows the channel could have found, for comparing the channels.
    searched: u64,
}

/// The vector channel's outcome.
enum Vectors {
    Found { found: Found, model: String, embed_ms: f64, cached: bool },
    Missing(String),
}

pub(super) fn query(engine: &Engine, request: &QueryRequest, _now: Timestamp) -> Result<Answer> {
    let start = Instant::now();
    if request.text.trim().is_empty() {
        return Err(Error::invalid("query", "the question is empty; write what you look for"));
    }
    if !(1..=MAX_LIMIT).contains(&request.limit) {
        return Err(Error::invalid(format!("limit {}", request.limit), format!("use 1 to {MAX_LIMIT}")));
    }
    evidence::check(request)?;
    let depth = engine.settings.candidates.max(request.limit);
    let ranking = rank(
        engine,
        &RankRequest { text: &request.text, depth, fast: request.fast, select: &request.select },
    )?;
    let known = evidence::Known::of(engine, request)?;
    let mut already_given = request.session.as_ref().map(|_| 0);
    let mut hits = load(engine, &ranking, request.limit, &mut |item| {
        let given = known.has(item);
        already_given = already_given.map(|count| count + usize::from(given));
        !given
    })?;
    let held_back = evidence::hold_back(engine, request, &ranking, &mut hits)?;
    let evidence = evidence::pack(engine, request, &hits)?;
    Ok(Answer {
        query: request.text.clone(),
        hits,
        evidence,
        already_given,
        held_back,
        total_found: ranking.fused.len(),
        took_ms: milliseconds(start),
        model_used: ranking.model_used,
        degraded: ranking.degraded,
        effort: ranking.effort,
    })
}

pub(super) fn rank(engine: &Engine, request: &RankRequest<'_>) -> Result<Ranking> {
    let terms = text::query_terms(request.text, LANGUAGE);
    let keep = engine.store.select(request.select)?;
    let hidden = if keep.is_some() { RowSet::new() } else { engine.store.hidden()? };
    let scope = Scope { keep: keep.as_ref(), hidden: &hidden, depth: request.depth };

    let (words, vectors) = if request.fast {
        (text_channel(engine, &terms, &scope), None)
    } else {
        std::thread::scope(|threads| {
            let vectors = threads.spawn(|| vector_channel(engine, request.text, &scope));
            let words = text_channel(engine, &terms, &scope);
            (words, Some(vectors.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
        })
    };
    assemble(engine, words, vectors)
}

/// What the channels may return, and how much of it.
struct Scope<'a> {
    keep: Option<&'a RowSet>,
    hidden: &'a RowSet,
    depth: usize,
}

impl Scope<'_> {
    fn contains(&self, row: RowId) -> bool {
        self.keep.is_none_or(|keep| keep.contains(row)) && !self.hidden.contains(row)
    }

    /// The hidden rows with those that are stale in an index: what its search must leave out.
    fn dropped(&self, gone: &RowSet) -> RowSet {
        self.hidden.iter().chain(gone.iter()).collect()
    }
}

/// Puts the channels together. One that failed is named; when every channel failed, the first failure is the answer.
fn assemble(engine: &Engine, words: Result<Found>, vectors: Option<Result<Vectors>>) -> Result<Ranking> {
    let mut ranking = Ranking::default();
    let mut searched = 0;
    let failed = match words {
        Ok(found) => {
            searched = found.searched;
            note(&mut ranking.effort, Channel::Text, &found);
            ranking.text = found.rows;
            None
        }
        Err(error) => {
            ranking.degraded.push(Degraded { channel: Channel::Text, reason: error.to_string() });
            Some(error)
        }
    };
    let mut lists = Vec::with_capacity(2);
    if failed.is_none() {
        lists.push(Channel::Text);
    }
    match vectors {
        None => {}
        Some(Ok(Vectors::Found { found, model, embed_ms, cached })) => {
            note(&mut ranking.effort, Channel::Vector, &found);
            ranking.effort.embed_ms = embed_ms;
            ranking.effort.vector_cached = cached;
            ranking.model_used = Some(model);
            // The counts are cheap and may be off while rows come and go; the store is asked only when they differ.
            let waiting = found.searched < searched
                && engine
                    .store
                    .unembedded(ranking.model_used.as_deref().unwrap_or(""), 1)
                    .is_ok_and(|rows| !rows.is_empty());
            if waiting {
                let reason = "some items have no vector yet: run bower index, or bower model pull".to_owned();
                ranking.degraded.push(Degraded { channel: Channel::Vector, reason });
            }
            ranking.vector = found.rows;
            lists.push(Channel::Vector);
        }
        Some(Ok(Vectors::Missing(reason))) => {
            ranking.degraded.push(Degraded { channel: Channel::Vector, reason });
        }
        Some(Err(error)) => {
            ranking.degraded.push(Degraded { channel: Channel::Vector, reason: error.to_string() });
        }
    }
    if let (Some(error), true) = (failed, lists.is_empty()) {
        return Err(error);
    }
    let of = |channel: &Channel| match channel {
        Channel::Text => ranking.text.as_slice(),
        Channel::Vector => ranking.vector.as_slice(),
    };
    let lists: Vec<&[Scored]> = lists.iter().map(of).collect();
    ranking.fused = fuse::reciprocal_rank(&lists, engine.settings.rrf_k);
    ranking.effort.candidates = ranking.fused.len();
    Ok(ranking)
}

fn note(effort: &mut Effort, channel: Channel, found: &Found) {
    effort.channels.push(ChannelEffort { channel, candidates: found.rows.len(), took_ms: found.took_ms });
    effort.tail = effort.tail.max(found.tail);
}

fn text_channel(engine: &Engine, terms: &[QueryTerm], scope: &Scope<'_>) -> Result<Found> {
    let start = Instant::now();
    let store = &*engine.store;
    let index = engine.indexes.text(store)?;
    let after = covered(&index);
    let gone = store.gone(after, EVER)?;
    let (tail, rows) = text_tail(engine, terms, after, scope)?;
    let drop = scope.dropped(&gone);
    let (rows_found, folded) = match index.good() {
        Some(index) => {
            let allowed = Allowed { keep: scope.keep, drop: &drop };
            (index.search(terms, scope.depth, allowed, &tail)?, index.len())
        }
        None => (text::search_tail(terms, scope.depth, &tail), 0),
    };
    let stale = gone.len().saturating_sub(rows) as u64;
    let searched = folded.saturating_sub(stale) + rows as u64;
    Ok(Found { rows: rows_found, tail: rows, took_ms: milliseconds(start), searched })
}

fn text_tail(
    engine: &Engine,
    terms: &[QueryTerm],
    after: Change,
    scope: &Scope<'_>,
) -> Result<(Tail, usize)> {
    let mut scan = TailScan::new(terms, scope.keep);
    let mut failed = None;
    let rows = engine.store.tail_texts(after, &mut |row, text| {
        if failed.is_some() || scope.hidden.contains(row) {
            return;
        }
        let pushed = match text {
            TailText::Terms(blob) => scan.push(row, blob),
            TailText::Text(text) => scan.push(row, &text::encode_terms(&text, LANGUAGE)),
        };
        failed = pushed.err();
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok((scan.finish(), rows)),
    }
}

fn vector_channel(engine: &Engine, query: &str, scope: &Scope<'_>) -> Result<Vectors> {
    let store = &*engine.store;
    let embedder = match engine.model.get() {
        Ok(embedder) => embedder,
        Err(state) => {
            return Ok(Vectors::Missing(state.why()));
        }
    };
    if query.len() > LONGEST_MEANT {
        let reason = format!(
            "the question is {} kB long; its meaning is compared up to {} kB, its words in full",
            query.len() / 1_024,
            LONGEST_MEANT / 1_024
        );
        return Ok(Vectors::Missing(reason));
    }
    let model = embedder.model().to_owned();
    let start = Instant::now();
    let cached = store.cached_vector(&model, query)?;
    let is_cached = cached.is_some();
    let vector = if let Some(half) = cached {
        floats(&half)
    } else {
        let vector = embedder.embed(query)?;
        let kept = NewVector { model: model.clone(), half: halves(&vector) };
        engine.fresh_queries.lock().unwrap_or_else(PoisonError::into_inner).push((query.to_owned(), kept));
        vector
    };
    let embed_ms = if is_cached { 0.0 } else { milliseconds(start) };

    let start = Instant::now();
    let index = engine.indexes.vector(&model, store)?;
    let after = covered(&index);
    let gone = store.gone(after, EVER)?;
    let drop = scope.dropped(&gone);
    let (mut rows, folded) = match index.good() {
        Some(index) => {
            let allowed = Allowed { keep: scope.keep, drop: &drop };
            let mut exact = |rows: &[RowId]| -> Result<Vec<Option<Vec<f32>>>> {
                let halves = store.vectors(&model, rows)?;
                Ok(halves.into_iter().map(|half| half.map(|half| floats(&half))).collect())
            };
            (index.search(&vector, scope.depth, allowed, &mut exact)?, index.len())
        }
        None => (Vec::new(), 0),
    };
    let exact = ExactQuery::new(&vector);
    let mut fresh = Vec::new();
    let tail = store.tail_vectors(&model, after, &mut |row, half| {
        if scope.contains(row) {
            fresh.push(Scored { row, score: exact.cosine_f16(half) });
        }
    })?;
    if !fresh.is_empty() {
        rows.append(&mut fresh);
        rows.sort_unstable_by(Scored::cmp_best_first);
        // A vector given to an old row late stands in the tail and, until it is folded, in the index too.
        let mut seen = RowSet::new();
        rows.retain(|hit| seen.insert(hit.row));
        rows.truncate(scope.depth);
    }
    let stale = gone.len().saturating_sub(tail);
    let searched = (folded.saturating_sub(stale) + tail) as u64;
    let found = Found { rows, tail, took_ms: milliseconds(start), searched };
    Ok(Vectors::Found { found, model, embed_ms, cached: is_cached })
}

/// The question's vector as the vector channel made or found it.
pub(super) fn question_vector(engine: &Engine, model: &str, question: &str) -> Result<Option<Vec<f32>>> {
    {
        let fresh = engine.fresh_queries.lock().unwrap_or_else(PoisonError::into_inner);
        let made = fresh.iter().rev().find(|(text, kept)| text == question && kept.model == model);
        if let Some((_, kept)) = made {
            return Ok(Some(floats(&kept.half)));
        }
    }
    Ok(engine.store.cached_vector(model, question)?.map(|half| floats(&half)))
}

/// The best hits that are `wanted` as items, with each channel's rank and score.
fn load(
    engine: &Engine,
    ranking: &Ranking,
    limit: usize,
    wanted: &mut dyn FnMut(&Item) -> bool,
) -> Result<Vec<Hit>> {
    let by_row = |rows: &[Scored]| -> HashMap<RowId, (usize, f32)> {
        rows.iter().enumerate().map(|(at, hit)| (hit.row, (at + 1, hit.score))).collect()
    };
    let (words, vectors) = (by_row(&ranking.text), by_row(&ranking.vector));
    let mut hits = Vec::with_capacity(limit);
    // A row that was removed between search and loading gives way to the next.
    for best in ranking.fused.chunks(limit) {
        let rows: Vec<_> = best.iter().map(|hit| hit.row).collect();
        for (hit, item) in best.iter().zip(engine.store.items(&rows)?) {
            let Some(memory) = item.filter(&mut *wanted) else { continue };
            let signal = |channel, found: Option<&(usize, f32)>| {
                found.map(|&(rank, score)| Signal { channel, rank, score })
            };
            let (word, vector) = (words.get(&hit.row), vectors.get(&hit.row));
            hits.push(Hit {
                memory,
                score: hit.score,
                bm25: word.map(|found| found.1),
                semantic: vector.map(|found| found.1),
                signals: [signal(Channel::Text, word), signal(Channel::Vector, vector)]
                    .into_iter()
                    .flatten()
                    .collect(),
            });
            if hits.len() == limit {
                return Ok(hits);
            }
        }
    }
    Ok(hits)
}

/// Writes the vectors of recent queries to the cache. Best effort: a store that is busy or read-only keeps none.
pub(super) fn keep_query_vectors(engine: &Engine, now: Timestamp) -> Result<()> {
    let fresh = std::mem::take(&mut *engine.fresh_queries.lock().unwrap_or_else(PoisonError::into_inner));
    if fresh.is_empty() {
        return Ok(());
    }
    let stamp = Stamp { now, actor: ACTOR };
    match engine.store.cache_vectors(&fresh, engine.settings.cached_queries, stamp) {
        Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. } | Error::DiskFull { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A vector as the store keeps it: little-endian half floats.
pub(super) fn halves(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes()).collect()
}

/// A stored vector as floats.
pub(super) fn floats(half: &[u8]) -> Vec<f32> {
    half.as_chunks::<2>().0.iter().map(|&bytes| half::f16::from_le_bytes(bytes).to_f32()).collect()
}

pub(super) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
