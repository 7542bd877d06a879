//! Returns complete rankings for evaluation: each channel's list, the fused list, and the scores.
//!
//! `bower eval` uses these methods; answers do not.

use jiff::Timestamp;

use crate::engine::{Engine, late, query};
use crate::error::Result;
use crate::item::{Channel, Rerank, RowId, RowSet, Scored, Visibility};
use crate::request::Selection;

pub use crate::engine::query::facts::FactCitation;
pub use crate::engine::query::plan::{Depth, RankRequest};
pub use crate::engine::query::rank::Ranking;
pub use crate::engine::query::rerank::Reranking;
pub use crate::rank::calibrate::Features;
pub use crate::rank::candidate::{ChannelScore, Places, Ranked};
pub use crate::rank::fuse::reciprocal_rank;
pub use crate::rank::profile::channels;
pub use crate::text::{Analyzer, Purpose, TermOccurrence, TermShape};

impl Engine {
    /// Returns the ranked rows behind an answer, channel by channel, and more of them than an answer has. For evaluation.
    pub fn rank(&self, visibility: &Visibility, request: &RankRequest<'_>) -> Result<Ranking> {
        let select = request.select.within(visibility)?;
        query::rank::rank(self, &RankRequest { select: &select, ..*request })
    }

    /// Returns how close the tokens of rows are to a question's, in the order of `rows`: about -1 to 1, higher is closer.
    /// Rows without token codes have `None`, and all rows do where there is no model. For evaluation: the caller must see the
    /// whole store.
    pub fn late(&self, visibility: &Visibility, text: &str, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        visibility.check_everything("scoring rows")?;
        let Ok(embedder) = self.model.get() else { return Ok(vec![None; rows.len()]) };
        match late::question(self, embedder, text)?.tokens {
            Some(query) => late::late_interaction(self, &query, rows),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// Searches the tags, filename or canonical channel alone. Returns rows best first, with scores of 0..1, each with its
    /// fact where the channel cites one; other channels are refused. For evaluation and explanation.
    pub fn ask_channel(
        &self,
        visibility: &Visibility,
        channel: Channel,
        question: &str,
        depth: usize,
        select: &Selection,
    ) -> Result<Vec<(Scored, Option<FactCitation>)>> {
        let select = &select.within(visibility)?;
        let keep = self.store.select(select)?;
        let hidden = if keep.is_some() { RowSet::new() } else { self.store.hidden(select.clocks)? };
        let allowed = |row| keep.as_ref().is_none_or(|keep| keep.contains(row)) && !hidden.contains(row);
        let counted = query::plan::counted(self, select)?;
        query::channels::ask(self, channel, question, depth, &allowed, counted.as_deref())
    }

    /// Reorders the best of a ranking by a cross-encoder, a service or a language model, where their order is still open. `ranked` is
    /// best first, its scores calibrated (0..1); `limit` is the number of them that will be shown. A reranker that fails or
    /// exceeds the time of the settings leaves the order as it was, and the result names the reason. For evaluation: the
    /// caller must see the whole store.
    pub fn rerank(
        &self,
        visibility: &Visibility,
        question: &str,
        ranked: &[Scored],
        limit: usize,
        how: Rerank,
        now: Timestamp,
    ) -> Result<Reranking> {
        visibility.check_everything("scoring rows")?;
        Ok(query::rerank::rerank(self, question, ranked, limit, how, now))
    }

    /// Returns the path (or caller's id) of the document of each ranked chunk; rows that are not chunks are skipped. For
    /// evaluation: the caller must see the whole store.
    pub fn sources(&self, visibility: &Visibility, rows: &[Scored]) -> Result<Vec<String>> {
        visibility.check_everything("looking up rows")?;
        let rows: Vec<_> = rows.iter().map(|hit| hit.row).collect();
        Ok(self.store.documents_of(&rows)?.into_iter().flatten().collect())
    }
}
