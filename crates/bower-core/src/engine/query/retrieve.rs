//! Retrieves candidates from the text and the vector channel in parallel, each over its index and its delta.

use std::sync::{Arc, OnceLock, mpsc};
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::deltas::NewRows;
use crate::engine::indexes::{Derived, IndexState, covered};
use crate::engine::late::{self, QueryVectors};
use crate::engine::query::plan::{Scope, Words};
use crate::engine::query::score::{EagerScores, Scorers, Scores};
use crate::engine::query::scorers::{TextScorer, VectorScorer};
use crate::engine::timing::milliseconds;
use crate::error::Result;
use crate::item::{Allowed, Change, Channel, RowId, RowSet, Scored};
use crate::text::{self, Delta, DeltaScan, QueryTerm};
use crate::tokens::TokenQuery;
use crate::vector;

/// Longest question, in bytes, whose meaning is compared; a longer one is searched by its words alone. The model takes about
/// 29 ms for each 1,000 characters (256 tokens), so this is half a second. A longer text has no single meaning to compare.
const LONGEST_MEANT: usize = 16_384;

/// Result of the text channel.
pub(crate) struct TextFound {
    pub(crate) rows: Vec<Scored>,
    pub(crate) delta_rows: usize,
    /// Number of rows that it could have found, for comparing the channels.
    pub(crate) searched: u64,
    pub(crate) took_ms: f64,
    pub(crate) scorer: Arc<TextScorer>,
}

/// Result of the vector channel.
pub(crate) struct VectorFound<'a> {
    pub(crate) rows: Vec<Scored>,
    pub(crate) delta_rows: usize,
    pub(crate) searched: u64,
    pub(crate) took_ms: f64,
    pub(crate) embed_ms: f64,
    pub(crate) cached: bool,
    pub(crate) scorer: Arc<VectorScorer<'a>>,
}

/// Outcome of the vector channel: its result, or why there is none.
pub(crate) enum Vectors<'a> {
    Found(VectorFound<'a>),
    Missing(String),
}

/// Results of the channels of one question; `None` for a channel that was not searched.
pub(crate) struct Retrieved<'a> {
    pub(crate) text: Option<Result<TextFound>>,
    pub(crate) vectors: Option<Result<Vectors<'a>>>,
    /// Scores that were computed already.
    pub(crate) known: Vec<Scores>,
}

/// Searches both channels in parallel. The first channel to finish also scores its rows for the other, so that little is left
/// to score when both are done.
pub(crate) fn both<'a>(
    engine: &'a Engine,
    query: &str,
    words: &Words,
    scope: &'a Scope<'a>,
) -> Result<Retrieved<'a>> {
    // A thread that ends without a scorer drops its end of the channel, and the other stops waiting.
    let (send_text, text_scorer) = mpsc::sync_channel::<Arc<TextScorer>>(1);
    let (send_vector, vector_scorer) = mpsc::sync_channel::<Arc<VectorScorer<'a>>>(1);
    let ahead = EagerScores::default();
    let ahead = &ahead;
    std::thread::scope(|threads| {
        // The vector channel takes longer, so the text channel runs on the new thread, which needs time to start.
        let text = threads.spawn(move || {
            let found = text_channel(engine, words, scope, &mut |scorer| drop(send_text.send(scorer)));
            let known = match (&found, vector_scorer.recv()) {
                (Ok(found), Ok(vector)) => {
                    // Computes the background for the other thread, unless its search computes that at no extra cost.
                    let scorers = Scorers { engine, words, text: Some(&found.scorer), vector: Some(&vector) };
                    let knows =
                        vector.index.ask(|index| Ok(index.scores_all())).is_ok_and(|all| all == Some(true));
                    let ready = if knows { Ok(()) } else { vector.background().map(drop) };
                    Some(ready.and_then(|()| ahead.score(scorers, Channel::Text, &found.rows)))
                }
                (Ok(_) | Err(_), _) => None,
            };
            (found, known)
        });
        let vectors = vector_channel(engine, query, scope, &mut |scorer| drop(send_vector.send(scorer)));
        drop(send_vector);
        let of_vectors = match (&vectors, text_scorer.recv()) {
            (Ok(Vectors::Found(found)), Ok(text)) => {
                let scorers = Scorers { engine, words, text: Some(&text), vector: Some(&found.scorer) };
                Some(ahead.score(scorers, Channel::Vector, &found.rows))
            }
            (Ok(_) | Err(_), _) => None,
        };
        let (text, of_text) = text.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Scores that were computed with a channel that then failed do not fit the channels that remain.
        let are_both_found = text.is_ok() && matches!(vectors, Ok(Vectors::Found(_)));
        let known = if are_both_found { [of_vectors, of_text] } else { [None, None] };
        let known = known.into_iter().flatten().collect::<Result<_>>()?;
        Ok(Retrieved { text: Some(text), vectors: Some(vectors), known })
    })
}

/// Retrieves the rows whose words match the question best.
///
/// `ready` receives the scorer for other rows before the search begins.
pub(crate) fn text_channel(
    engine: &Engine,
    words: &Words,
    scope: &Scope<'_>,
    ready: &mut dyn FnMut(Arc<TextScorer>),
) -> Result<TextFound> {
    let start = Instant::now();
    let store = &*engine.store;
    let (index, new) = settled(
        || engine.indexes.text(store),
        |after| engine.caches.deltas.text(store, scope.newest, after),
    )?;
    let depth = scope.depth(Channel::Text, &engine.settings);
    let delta = text_delta(&words.terms, &new, scope.allowed(), scope.counted)?;
    let drop = scope.dropped(&new.gone);
    let counted = scope.counted.map(|counted| Allowed { keep: Some(counted), drop: &drop });
    let prepared = index.ask(|index| index.prepare(&words.terms, &delta, counted))?;
    let scorer = Arc::new(TextScorer { index, prepared, delta });
    ready(Arc::clone(&scorer));
    let (rows, indexed) = match (scorer.index.good(), &scorer.prepared) {
        (Some(index), Some(question)) => {
            let allowed = Allowed { keep: scope.keep, drop: &drop };
            (index.ask(|index| index.search(question, depth, allowed, &scorer.delta))?, index.rows())
        }
        _ => (text::search_delta(&words.terms, depth, &scorer.delta), 0),
    };
    let delta_rows = new.rows.len();
    let stale = new.gone.len().saturating_sub(delta_rows) as u64;
    let searched = indexed.saturating_sub(stale) + delta_rows as u64;
    let delta_rows = scope.searched_of(&new);
    Ok(TextFound { rows, delta_rows, searched, took_ms: milliseconds(start), scorer })
}

/// Most times that an index is opened again because it was compacted while its delta was read.
const COMPACTED_MEANWHILE: usize = 3;

/// Opens an index and reads its delta. Compaction drops from the store what only the older index needed: which of its rows
/// were removed. So the index must still be the newest after its delta was read.
pub(crate) fn settled<T: Derived>(
    open: impl Fn() -> Result<IndexState<T>>,
    read: impl Fn(Change) -> Result<Arc<NewRows>>,
) -> Result<(IndexState<T>, Arc<NewRows>)> {
    let mut index = open()?;
    for _ in 0..COMPACTED_MEANWHILE {
        let new = read(covered(&index))?;
        let now = open()?;
        if covered(&now) == covered(&index) {
            return Ok((index, new));
        }
        index = now;
    }
    let new = read(covered(&index))?;
    Ok((index, new))
}

/// Scans new rows for a question's terms. Rows outside `allowed.keep` count in the statistics, unless `counted`
/// names the rows that do; dropped rows do not count.
pub(crate) fn text_delta(
    terms: &[QueryTerm],
    new: &NewRows,
    allowed: Allowed<'_>,
    counted: Option<&RowSet>,
) -> Result<Delta> {
    let mut scan = DeltaScan::new(terms, allowed.keep).counting(counted);
    for (row, blob) in new.rows.iter().filter(|(row, _)| !allowed.drop.contains(**row)) {
        scan.push(*row, blob)?;
    }
    Ok(scan.finish())
}

/// Retrieves the rows whose meaning is nearest to the question.
///
/// `ready` receives the scorer for other rows before the search begins.
pub(crate) fn vector_channel<'a>(
    engine: &Engine,
    query: &str,
    scope: &'a Scope<'a>,
    ready: &mut dyn FnMut(Arc<VectorScorer<'a>>),
) -> Result<Vectors<'a>> {
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
    let Some(question) = engine.model.give(|embedder| late::question(engine, embedder, query))? else {
        // The model turned out to be damaged, or its service did not answer.
        let missing = || "the model gives no vector".to_owned();
        return Ok(Vectors::Missing(engine.model.why_none().unwrap_or_else(missing)));
    };
    let QueryVectors { vector, tokens, cached: is_cached } = question;
    let embed_ms = if is_cached { 0.0 } else { milliseconds(start) };

    let start = Instant::now();
    let depth = scope.depth(Channel::Vector, &engine.settings);
    let near = by_vector(engine, model, vector, tokens, scope, depth, ready)?;
    let VectorHits { rows, delta_rows, searched, scorer } = near;
    let took_ms = milliseconds(start);
    Ok(Vectors::Found(VectorFound {
        rows,
        delta_rows,
        searched,
        took_ms,
        embed_ms,
        cached: is_cached,
        scorer,
    }))
}

/// The rows nearest to a vector.
pub(crate) struct VectorHits<'a> {
    pub(crate) rows: Vec<Scored>,
    delta_rows: usize,
    searched: u64,
    scorer: Arc<VectorScorer<'a>>,
}

/// Finds the `depth` rows nearest to a vector of a model, in the index and the delta. `ready` receives the scorer for other
/// rows before the search begins.
pub(crate) fn by_vector<'a>(
    engine: &Engine,
    model: String,
    vector: Vec<f32>,
    tokens: Option<TokenQuery>,
    scope: &'a Scope<'a>,
    depth: usize,
    ready: &mut dyn FnMut(Arc<VectorScorer<'a>>),
) -> Result<VectorHits<'a>> {
    let store = &*engine.store;
    let (index, new) = settled(
        || engine.indexes.vector(&model, store),
        |after| engine.caches.deltas.vectors(store, scope.newest, &model, after),
    )?;
    let newest = new.rows.iter().filter(|(row, _)| scope.contains(**row));
    let delta = vector::score_delta(&vector, newest.map(|(row, half)| (*row, &**half)));
    let scorer = Arc::new(VectorScorer {
        model,
        vector,
        tokens,
        index,
        delta,
        keep: scope.keep,
        drop: scope.dropped(&new.gone),
        background: OnceLock::new(),
    });
    ready(Arc::clone(&scorer));
    let mut exact = |rows: &[RowId]| {
        let mut vectors: Vec<_> =
            rows.iter().map(|row| new.rows.get(row).map(|half| half.to_vec())).collect();
        let indexed: Vec<RowId> = rows.iter().filter(|row| !new.rows.contains_key(row)).copied().collect();
        let empty = vectors.iter_mut().filter(|vector| vector.is_none());
        empty.zip(store.vectors(&scorer.model, &indexed)?).for_each(|(place, vector)| *place = vector);
        Ok(vectors)
    };
    let (rows, indexed) = match scorer.index.good() {
        Some(index) => {
            let (rows, background) = index.ask(|index| {
                index.search_with_delta(&scorer.vector, depth, scorer.allowed(), &scorer.delta, &mut exact)
            })?;
            scorer.know(background);
            (rows, index.rows() as usize)
        }
        None => (vector::search_delta(&scorer.vector, depth, &scorer.delta, &mut exact)?, 0),
    };
    let delta_rows = new.rows.len();
    let stale = new.gone.len().saturating_sub(delta_rows);
    let searched = (indexed.saturating_sub(stale) + delta_rows) as u64;
    let delta_rows = scope.searched_of(&new);
    Ok(VectorHits { rows, delta_rows, searched, scorer })
}
