//! The two channels of every question: each finds its own candidates, over its index and its tail, and keeps what it needs
//! to score any other row the same way.

use std::collections::BTreeMap;
use std::time::Instant;

use super::answer::{Depth, milliseconds};
use super::indexes::{Found as Opened, covered};
use super::late::{self, Question};
use super::{Engine, LANGUAGE};
use crate::config::Settings;
use crate::error::Result;
use crate::item::{Allowed, Change, Channel, Profile, RowId, RowSet, Scored};
use crate::store::TailText;
use crate::text::{self, Examined, Prepared, QueryTerm, Tail, TailScan, TextIndex};
use crate::tokens::TokenQuery;
use crate::vector::{self, ExactQuery, Quantised, VectorIndex};

/// A longer question, in bytes, is searched by its words alone: the model takes about 29 ms for each 1,000 characters
/// (256 tokens), so this is half a second of it, and so long a text has no one meaning to compare.
const LONGEST_MEANT: usize = 16_384;

/// Later than every change.
const EVER: Change = Change(i64::MAX as u64);

/// What the channels may return, and how much of it.
pub(super) struct Scope<'a> {
    pub(super) keep: Option<&'a RowSet>,
    pub(super) hidden: &'a RowSet,
    pub(super) profile: Profile,
    pub(super) depth: Depth,
}

impl Scope<'_> {
    pub(super) fn contains(&self, row: RowId) -> bool {
        self.allowed().contains(row)
    }

    /// How many rows a channel is asked for.
    pub(super) fn depth(&self, channel: Channel, settings: &Settings) -> usize {
        let limit = match self.depth {
            Depth::Hits(limit) => limit,
            Depth::Rows(rows) => return rows,
        };
        let pool = match self.profile {
            Profile::Ade => settings.ade.depth(channel, limit),
            Profile::Seed => settings.seed.depth(channel),
            // Athena and Atlas name no pool (systems.md, sections 3 and 4).
            Profile::Bower | Profile::Athena | Profile::Atlas => None,
        };
        pool.unwrap_or(settings.candidates).max(limit)
    }

    fn allowed(&self) -> Allowed<'_> {
        Allowed { keep: self.keep, drop: self.hidden }
    }

    /// The hidden rows with those that are stale in an index: what its search must leave out.
    fn dropped(&self, gone: &RowSet) -> RowSet {
        self.hidden.iter().chain(gone.iter()).collect()
    }
}

/// The words of a question.
pub(super) struct Words {
    pub(super) terms: Vec<QueryTerm>,
    pub(super) names: Vec<String>,
}

impl Words {
    pub(super) fn of(question: &str) -> Self {
        Self { terms: text::query_terms(question, LANGUAGE), names: text::query_names(question) }
    }
}

/// What the text channel found, and what it needs to score any row.
pub(super) struct TextFound {
    pub(super) rows: Vec<Scored>,
    pub(super) tail_rows: usize,
    /// How many rows it could have found, for comparing the channels.
    pub(super) searched: u64,
    pub(super) took_ms: f64,
    index: Opened<TextIndex>,
    /// The question as that index sees it.
    prepared: Option<Prepared>,
    tail: Tail,
}

impl TextFound {
    /// What the question's words say of given rows.
    pub(super) fn examine(&self, words: &Words, rows: &[RowId]) -> Result<Examined> {
        match (self.index.good(), &self.prepared) {
            (Some(index), Some(question)) => index.examine(question, &words.names, rows, &self.tail),
            _ => Ok(text::examine_tail(&words.terms, rows, &self.tail)),
        }
    }
}

/// What the vector channel found, and what it needs to score any row.
pub(super) struct VectorFound {
    pub(super) rows: Vec<Scored>,
    pub(super) tail_rows: usize,
    pub(super) searched: u64,
    pub(super) took_ms: f64,
    pub(super) embed_ms: f64,
    pub(super) cached: bool,
    pub(super) model: String,
    vector: Vec<f32>,
    tokens: Option<TokenQuery>,
    index: Opened<VectorIndex>,
    /// Every row of the tail that may be found, with its cosine.
    tail: BTreeMap<RowId, f32>,
    /// How similar the question is to the rows at large.
    pub(super) background: vector::Background,
}

/// The vector channel's outcome.
pub(super) enum Vectors {
    Found(Box<VectorFound>),
    Missing(String),
}

impl VectorFound {
    /// The cosine of each row to the question; `None` where a row has no vector.
    pub(super) fn cosines(&self, rows: &[RowId]) -> Vec<Option<f32>> {
        let mut own = self.rows.clone();
        own.sort_unstable_by_key(|hit| hit.row);
        // The channel's own scores are exact for its best; they, and the tail, come before the index's approximations.
        let mut cosines: Vec<Option<f32>> = rows
            .iter()
            .map(|row| {
                let found = || own.binary_search_by_key(row, |hit| hit.row).ok().map(|at| own[at].score);
                self.tail.get(row).copied().or_else(found)
            })
            .collect();
        if let Some(index) = self.index.good() {
            let (places, rest): (Vec<usize>, Vec<RowId>) =
                (0..rows.len()).filter(|&at| cosines[at].is_none()).map(|at| (at, rows[at])).unzip();
            for (at, cosine) in places.into_iter().zip(index.cosines(&self.vector, &rest)) {
                cosines[at] = cosine;
            }
        }
        cosines
    }

    /// How close each row's tokens are to the question's; `None` where a row has no codes.
    pub(super) fn tokens(&self, engine: &Engine, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        match &self.tokens {
            Some(tokens) => late::late_interaction(engine, tokens, rows),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// The cosine of each pair of rows, row by row; 0 where one has no vector.
    pub(super) fn likenesses(&self, engine: &Engine, rows: &[RowId]) -> Result<Vec<f32>> {
        let mut vectors = match self.index.good() {
            Some(index) => index.quantised(rows),
            None => vec![None; rows.len()],
        };
        let newer: Vec<RowId> = rows
            .iter()
            .zip(&vectors)
            .filter(|(row, vector)| vector.is_none() || self.tail.contains_key(row))
            .map(|(row, _)| *row)
            .collect();
        if !newer.is_empty() {
            let mut stored = newer.iter().zip(engine.store.vectors(&self.model, &newer)?);
            let mut next = stored.next();
            for (row, vector) in rows.iter().zip(&mut vectors) {
                if let Some((_, half)) = next.take_if(|(newer, _)| *newer == row) {
                    *vector = half.map(|half| Quantised::new(&vector::floats(&half)));
                    next = stored.next();
                }
            }
        }
        Ok(vector::likenesses(&vectors))
    }
}

/// The rows whose words answer best.
pub(super) fn text_channel(engine: &Engine, words: &Words, scope: &Scope<'_>) -> Result<TextFound> {
    let start = Instant::now();
    let store = &*engine.store;
    let index = engine.indexes.text(store)?;
    let after = covered(&index);
    let gone = store.gone(after, EVER)?;
    let depth = scope.depth(Channel::Text, &engine.settings);
    let (tail, tail_rows) = text_tail(engine, &words.terms, &words.names, after, scope.allowed())?;
    let drop = scope.dropped(&gone);
    let (rows, folded, prepared) = match index.good() {
        Some(index) => {
            let allowed = Allowed { keep: scope.keep, drop: &drop };
            let question = index.prepare(&words.terms, &tail)?;
            (index.search(&question, depth, allowed, &tail)?, index.len(), Some(question))
        }
        None => (text::search_tail(&words.terms, depth, &tail), 0, None),
    };
    let stale = gone.len().saturating_sub(tail_rows) as u64;
    let searched = folded.saturating_sub(stale) + tail_rows as u64;
    Ok(TextFound { rows, tail_rows, searched, took_ms: milliseconds(start), index, prepared, tail })
}

/// What the rows after a change have of a question's terms and names, and how many rows those are.
pub(super) fn text_tail(
    engine: &Engine,
    terms: &[QueryTerm],
    names: &[String],
    after: Change,
    allowed: Allowed<'_>,
) -> Result<(Tail, usize)> {
    let mut scan = TailScan::new(terms, names, allowed.keep);
    let (mut failed, mut old) = (None, Vec::new());
    let rows = engine.store.tail_texts(after, &mut |row, text| {
        if failed.is_some() || allowed.drop.contains(row) {
            return;
        }
        let pushed = match text {
            TailText::Terms(blob) if text::is_current(blob) => scan.push(row, blob),
            // Written by an older version.
            TailText::Terms(_) => {
                old.push(row);
                Ok(())
            }
            TailText::Text(text) => scan.push(row, &text::encode_terms(&text, LANGUAGE)),
        };
        failed = pushed.err();
    })?;
    for text in engine.store.texts(&old)? {
        scan.push(text.row, &text::encode_terms(&text.text, LANGUAGE))?;
    }
    match failed {
        Some(error) => Err(error),
        None => Ok((scan.finish(), rows)),
    }
}

/// The rows whose meaning is nearest.
pub(super) fn vector_channel(engine: &Engine, query: &str, scope: &Scope<'_>) -> Result<Vectors> {
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
    let Question { vector, tokens, cached: is_cached } = late::question(engine, embedder, query)?;
    let embed_ms = if is_cached { 0.0 } else { milliseconds(start) };

    let start = Instant::now();
    let index = engine.indexes.vector(&model, store)?;
    let after = covered(&index);
    let gone = store.gone(after, EVER)?;
    let drop = scope.dropped(&gone);
    let allowed = Allowed { keep: scope.keep, drop: &drop };
    let depth = scope.depth(Channel::Vector, &engine.settings);
    let (mut rows, folded, background) = match index.good() {
        Some(index) => {
            let mut exact = |rows: &[RowId]| store.vectors(&model, rows);
            let rows = index.search(&vector, depth, allowed, &mut exact)?;
            (rows, index.len(), index.background(&vector, allowed))
        }
        None => (Vec::new(), 0, vector::Background::default()),
    };
    let exact = ExactQuery::new(&vector);
    let mut newest = BTreeMap::new();
    let tail_rows = store.tail_vectors(&model, after, &mut |row, half| {
        if scope.contains(row) {
            newest.insert(row, exact.cosine_f16(half));
        }
    })?;
    if !newest.is_empty() {
        // A vector given to an old row late stands in the tail and, until it is folded, in the index too.
        rows.retain(|hit| !newest.contains_key(&hit.row));
        rows.extend(newest.iter().map(|(&row, &score)| Scored { row, score }));
        rows.sort_unstable_by(Scored::cmp_best_first);
        rows.truncate(depth);
    }
    let background = background.with(vector::Background::of(newest.values().copied()));
    let stale = gone.len().saturating_sub(tail_rows);
    let searched = (folded.saturating_sub(stale) + tail_rows) as u64;
    let took_ms = milliseconds(start);
    Ok(Vectors::Found(Box::new(VectorFound {
        rows,
        tail_rows,
        searched,
        took_ms,
        embed_ms,
        cached: is_cached,
        model,
        vector,
        tokens,
        index,
        tail: newest,
        background,
    })))
}
