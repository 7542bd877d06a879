//! Computes late interaction: reads a question's tokens from the cache or the model, and scores rows by them.
//! Rows are scored from the index or the delta. A row without codes has no score; it is never guessed.

use crate::embed::{EmbeddedText, Embedder};
use crate::engine::Engine;
use crate::engine::indexes::covered;
use crate::engine::vector_cache::{cached, note_made};
use crate::error::Result;
use crate::item::{CacheRole, Change, RowId, RowSet};
use crate::store::{NewTokens, NewVector};
use crate::tokens::{self, TokenQuery};
use crate::vector::{floats, halves};

/// A question's vector and tokens, from the model or the cache.
pub(crate) struct QueryVectors {
    /// Vector of unit length, except for the rounding to half floats.
    pub(crate) vector: Vec<f32>,
    /// Its tokens; `None` where the model gives no token states.
    pub(crate) tokens: Option<TokenQuery>,
    /// Whether the cache had them, so that the model was not run.
    pub(crate) cached: bool,
}

/// Returns a question's vector and tokens from the cache or the model. New ones wait until [`Engine::maintain`] writes them
/// to the cache. Both give the same numbers, so scores do not reveal whether the question was asked before.
pub(crate) fn question(engine: &Engine, embedder: &dyn Embedder, text: &str) -> Result<QueryVectors> {
    let scheme = embedder.tokens();
    // Cached by an older version, or for another scheme: without its tokens it cannot be used.
    let is_usable = |kept: &NewVector| match (scheme, &kept.tokens) {
        (None, _) => true,
        (Some(scheme), Some(tokens)) => tokens.model == scheme && tokens::from_bytes(&tokens.bytes).is_some(),
        (Some(_), None) => false,
    };
    if let Some(kept) = cached(engine, embedder.model(), CacheRole::Question, text, is_usable)? {
        let tokens = kept.tokens.as_ref().filter(|_| scheme.is_some());
        let tokens = tokens.and_then(|tokens| tokens::from_bytes(&tokens.bytes));
        let tokens = tokens.map(|tokens| TokenQuery::new(&tokens));
        return Ok(QueryVectors { vector: floats(&kept.half), tokens, cached: true });
    }
    let made = embedder.embed_question(text)?;
    let bytes = made.tokens.as_deref().map(tokens::to_bytes);
    let half = halves(&made.vector);
    let vector = floats(&half);
    let kept = NewVector { model: embedder.model().to_owned(), half, tokens: new_tokens(embedder, bytes) };
    note_made(engine, CacheRole::Question, text, kept);
    let tokens = made.tokens.map(|tokens| TokenQuery::new(&tokens));
    Ok(QueryVectors { vector, tokens, cached: false })
}

/// Returns how close each row's tokens are to the question's, in the order of `rows`: about -1 to 1, higher is closer, 0 for
/// a text without tokens. `None` where the row has no codes: it waits for `embed_pending`, or the index cannot be used.
///
/// The index is read first, then the delta. Rows that neither had may have been compacted between the two, so then the newest
/// index is read.
pub(crate) fn late_interaction(
    engine: &Engine,
    query: &TokenQuery,
    rows: &[RowId],
) -> Result<Vec<Option<f32>>> {
    let Some(scheme) = engine.model.tokens() else { return Ok(vec![None; rows.len()]) };
    let index = engine.indexes.tokens(scheme, &*engine.store)?;
    let indexed = index.ask(|index| index.score(query, rows))?;
    let mut scores = indexed.unwrap_or_else(|| vec![None; rows.len()]);
    let (places, waiting): (Vec<usize>, Vec<RowId>) =
        (0..rows.len()).filter(|at| scores[*at].is_none()).map(|at| (at, rows[at])).unzip();
    if waiting.is_empty() {
        return Ok(scores);
    }
    let kept = engine.store.codes(scheme, &waiting)?;
    let (places, codes): (Vec<usize>, Vec<Vec<u64>>) = places
        .into_iter()
        .zip(kept)
        .filter_map(|(place, bytes)| Some(tokens::codes(&bytes?).map(|codes| (place, codes))))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    let documents: Vec<&[u64]> = codes.iter().map(Vec::as_slice).collect();
    for (place, score) in places.into_iter().zip(query.score(&documents)) {
        scores[place] = Some(score);
    }
    if scores.contains(&None) {
        let newer = engine.indexes.tokens(scheme, &*engine.store)?;
        if covered(&newer) != covered(&index)
            && let Some(newer) = newer.ask(|index| index.score(query, rows))?
        {
            for (score, indexed) in scores.iter_mut().zip(newer) {
                *score = score.or(indexed);
            }
        }
    }
    Ok(scores)
}

/// Returns the reason why an existing token index cannot be read.
pub(crate) fn unusable(engine: &Engine) -> Result<Option<String>> {
    let Some(scheme) = engine.model.tokens() else { return Ok(None) };
    Ok(engine.indexes.tokens(scheme, &*engine.store)?.unusable().map(str::to_owned))
}

/// Computes the vector and the token codes of an item's text, in one pass of the model.
pub(crate) fn vector_of(embedder: &dyn Embedder, text: &str) -> Result<NewVector> {
    Ok(new_vector(embedder, embedder.embed_text(text)?))
}

/// Returns what an embedder made of a text as it is stored.
pub(crate) fn new_vector(embedder: &dyn Embedder, made: EmbeddedText) -> NewVector {
    let bytes = made.codes.map(|codes| codes.iter().flat_map(|code| code.to_le_bytes()).collect());
    NewVector {
        model: embedder.model().to_owned(),
        half: halves(&made.vector),
        tokens: new_tokens(embedder, bytes),
    }
}

/// Calls [`vector_of`] with the engine's model. `None` if there is no model or it turns out to be damaged: the item then
/// waits for its vector.
///
/// A service is not asked twice for one text: agents often write what is there already, and each call costs time and money. A
/// local model is faster than such a cache would be worth.
pub(crate) fn vector_for(engine: &Engine, text: &str) -> Result<Option<NewVector>> {
    engine.model.give(|embedder| {
        if embedder.batch_texts().is_none() {
            return vector_of(embedder, text);
        }
        if let Some(kept) = cached(engine, embedder.model(), CacheRole::Document, text, |_| true)? {
            return Ok(NewVector::clone(&kept));
        }
        let made = vector_of(embedder, text)?;
        note_made(engine, CacheRole::Document, text, made.clone());
        Ok(made)
    })
}

fn new_tokens(embedder: &dyn Embedder, bytes: Option<Vec<u8>>) -> Option<NewTokens> {
    Some(NewTokens { model: embedder.tokens()?.to_owned(), bytes: bytes? })
}

/// Returns rows that have a vector and no codes, ascending. Their index was deleted or could not be used, or they were
/// written before there were codes.
pub(crate) fn missing_codes(engine: &Engine, embedder: &dyn Embedder) -> Result<Vec<RowId>> {
    let Some(scheme) = embedder.tokens() else { return Ok(Vec::new()) };
    let store = &*engine.store;
    let newest = store.coverage()?.change;
    // The delta is read before the index, so that a row that a compaction moves meanwhile is seen at least once.
    let waiting = store.code_rows(scheme, Change(0), newest)?;
    let index = engine.indexes.tokens(scheme, store)?;
    let indexed = index.ask(|index| Ok(index.rows().collect::<RowSet>()))?.unwrap_or_default();
    let present: RowSet = indexed.iter().chain(waiting).collect();
    let mut rows = store.vector_rows(embedder.model(), Change(0), newest)?;
    rows.retain(|row| !present.contains(*row));
    rows.sort_unstable();
    Ok(rows)
}
