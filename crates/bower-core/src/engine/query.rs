//! Answers a question in stages: plan, retrieve, score, rank, select, load, evidence.
//!
//! `plan` says what may be found. `retrieve` asks the text and vector channels side by side. `score` gives every candidate its true
//! score in each. `rank` applies the profile. `select` groups and reorders. `load` reads the winners. `evidence` packs them.

pub(crate) mod channels;
pub(crate) mod evidence;
mod load;
pub(crate) mod lookup;
pub(crate) mod plan;
pub(crate) mod rank;
pub(crate) mod record;
pub(crate) mod rerank;
pub(crate) mod retrieve;
mod score;
mod scorers;
mod select;
pub(crate) mod when;

use jiff::Timestamp;
use std::time::Instant;

use crate::engine::query::load::{below_newer, below_successors, load};
use crate::engine::query::plan::{Depth, MAX_LIMIT, RankRequest};
use crate::engine::query::rank::Ranking;
use crate::engine::query::record::{SessionTexts, note_found, note_shown};
use crate::engine::query::rerank::Reranking;
use crate::engine::timing::milliseconds;
use crate::engine::{Engine, late, missing};
use crate::error::{Error, Result};
use crate::item::{Channel, Rerank, RowId, RowSet, Scored, Visibility};
use crate::request::{Answer, QueryRequest, Selection};

/// Searches without recording exposure: the caller records what it shows.
pub(crate) fn search(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    now: Timestamp,
) -> Result<Answer> {
    let start = Instant::now();
    // From here on the selection holds nothing that the caller may not see.
    let request = &QueryRequest { select: request.select.within(visibility)?, ..request.clone() };
    if request.text.trim().is_empty() {
        return Err(Error::invalid("query", "the question is empty; write what you look for"));
    }
    if !(1..=MAX_LIMIT).contains(&request.limit) {
        return Err(Error::invalid(format!("limit {}", request.limit), format!("use 1 to {MAX_LIMIT}")));
    }
    evidence::check(request)?;
    let mut ranking = rank::rank(
        engine,
        &RankRequest {
            text: &request.text,
            depth: Depth::Hits(request.limit),
            fast: request.fast,
            profile: request.profile,
            select: &request.select,
            hide: None,
            when: request.when,
            without: None,
            // Age counts from the past that is asked about, and so does "last week".
            now: request.select.clocks.as_of.unwrap_or(now),
        },
    )?;
    let shown = select::shown(engine, request, &mut ranking)?;
    let known = SessionTexts::of(engine, visibility, request)?;
    let mut unreviewed = 0;
    let mut already_given = request.session.as_ref().map(|_| 0);
    let mut left_out = Vec::new();
    let mut hits = load(engine, &ranking, &shown.hits, request.limit, &mut |item| {
        let given = known.has(item);
        already_given = already_given.map(|count| count + usize::from(given));
        let admitted = evidence::admits(request, item);
        unreviewed += usize::from(!given && !admitted);
        !given && admitted && !load::leaves_out(item, &mut left_out)
    })?;
    below_successors(&mut hits);
    below_newer(&mut hits, &request.text, &ranking, now);
    let terms = evidence::Terms::of(engine, request);
    let held_back = evidence::hold_back(request, &terms, &ranking, &mut hits)?.map(|held| held + unreviewed);
    let evidence = evidence::pack(engine, visibility, request, &terms, &hits)?;
    ranking.degraded.append(&mut left_out);
    ranking.degraded.extend(missing::degraded(engine)?);
    Ok(Answer {
        query: request.text.clone(),
        hits,
        answerable: ranking.answerable,
        abstained: shown.abstained,
        evidence,
        already_given,
        held_back,
        total_found: ranking.fused.len(),
        took_ms: milliseconds(start),
        model_used: ranking.model_used,
        degraded: ranking.degraded,
        effort: if visibility.is_everything() { ranking.effort } else { ranking.effort.of_a_part() },
    })
}

impl Engine {
    /// Answers a question: analyse, retrieve from both channels side by side, fuse by row, load.
    pub fn query(&self, visibility: &Visibility, request: &QueryRequest, now: Timestamp) -> Result<Answer> {
        let answer = search(self, visibility, request, now)?;
        note_shown(self, answer.hits.iter().map(|hit| hit.memory.row), now);
        note_found(self, request, &answer.hits, now);
        Ok(answer)
    }

    /// The ranked rows behind an answer, deeper than an answer goes, channel by channel. For evaluation.
    pub fn rank(&self, visibility: &Visibility, request: &RankRequest<'_>) -> Result<Ranking> {
        let select = request.select.within(visibility)?;
        rank::rank(self, &RankRequest { select: &select, ..*request })
    }

    /// How close the tokens of some rows are to a question's, in the order of `rows`: about -1 to 1, higher is closer; `None`
    /// for rows without token codes, and for all where there is no model. For evaluation: of the whole store alone.
    pub fn late(&self, visibility: &Visibility, text: &str, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        visibility.check_everything("scoring rows")?;
        let Ok(embedder) = self.model.get() else { return Ok(vec![None; rows.len()]) };
        match late::question(self, embedder, text)?.tokens {
            Some(query) => late::late_interaction(self, &query, rows),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// What the tags, filename or canonical channel finds by itself, best first, scores 0..1, each with its citation where
    /// the channel cites; other channels are refused. For evaluation and explanation.
    pub fn ask_channel(
        &self,
        visibility: &Visibility,
        channel: Channel,
        question: &str,
        depth: usize,
        select: &Selection,
    ) -> Result<Vec<(Scored, Option<String>)>> {
        let select = &select.within(visibility)?;
        let keep = self.store.select(select)?;
        let hidden = if keep.is_some() { RowSet::new() } else { self.store.hidden(select.clocks)? };
        let allowed = |row| keep.as_ref().is_none_or(|keep| keep.contains(row)) && !hidden.contains(row);
        let counted = plan::counted(self, select)?;
        channels::ask(self, channel, question, depth, &allowed, counted.as_deref())
    }

    /// Reorders the best of a ranking by a cross-encoder or a language model, where their order is still open. `ranked` is best
    /// first, its scores calibrated (0..1); `limit` is how many of them somebody will see. Whatever fails or takes longer than
    /// the settings allow leaves the order as it was, and is named. For evaluation: of the whole store alone.
    pub fn rerank(
        &self,
        visibility: &Visibility,
        question: &str,
        ranked: &[Scored],
        limit: usize,
        how: Rerank,
    ) -> Result<Reranking> {
        visibility.check_everything("scoring rows")?;
        Ok(rerank::rerank(self, question, ranked, limit, how))
    }

    /// The path (or caller's id) of the document of each ranked chunk; rows that are no chunks are passed over. For evaluation:
    /// of the whole store alone.
    pub fn sources(&self, visibility: &Visibility, rows: &[Scored]) -> Result<Vec<String>> {
        visibility.check_everything("looking up rows")?;
        let rows: Vec<_> = rows.iter().map(|hit| hit.row).collect();
        Ok(self.store.documents_of(&rows)?.into_iter().flatten().collect())
    }
}
