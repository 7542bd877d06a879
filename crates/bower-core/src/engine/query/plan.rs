//! Plans a question: its words, the rows it may find and count, and how many rows each channel gives.

use jiff::Timestamp;
use std::sync::Arc;

use crate::config::Settings;
use crate::engine::Engine;
use crate::engine::deltas::NewRows;
use crate::engine::indexes::LANGUAGE;
use crate::error::Result;
use crate::item::{Allowed, Channel, Coverage, Profile, RowId, RowSet, Statistics, Status, When};
use crate::request::Selection;
use crate::text::{self, QueryTerm};

/// Hits that one answer may hold.
pub const MAX_LIMIT: usize = 50;

/// How many rows the channels are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the profile asks of each channel for so many hits, or else the settings' `candidates`; never fewer than these.
    Hits(usize),
    /// So many of each, whatever the profile says.
    Rows(usize),
}

/// A request for whole rankings.
#[derive(Clone, Copy, Debug)]
pub struct RankRequest<'a> {
    /// Any Unicode text.
    pub text: &'a str,
    /// How many rows the channels are asked for.
    pub depth: Depth,
    /// Words alone.
    pub fast: bool,
    /// The profile that ranks; the settings' `profile` unless told.
    pub profile: Option<Profile>,
    /// What may be found.
    pub select: &'a Selection,
    /// Rows that are not there for this question.
    pub hide: Option<&'a RowSet>,
    /// What the times in the question do.
    pub when: When,
    /// A channel that is not asked, to see what it is worth.
    pub without: Option<Channel>,
    /// The present: "last week", and profiles in which age counts.
    pub now: Timestamp,
}

impl<'a> RankRequest<'a> {
    /// All channels, by the settings' profile, as for ten hits.
    pub fn new(text: &'a str, select: &'a Selection, now: Timestamp) -> Self {
        let when = When::Soft;
        let depth = Depth::Hits(10);
        Self { text, depth, fast: false, profile: None, select, hide: None, when, without: None, now }
    }
}

/// What the channels may return, and how much of it.
pub(crate) struct Scope<'a> {
    pub(crate) keep: Option<&'a RowSet>,
    pub(crate) hidden: &'a RowSet,
    pub(crate) profile: Profile,
    pub(crate) depth: Depth,
    /// The store's last change when the question was asked.
    pub(crate) newest: &'a Coverage,
    /// The rows of which a word's rarity and a text's length are told; those of the whole store where there are none.
    pub(crate) counted: Option<&'a RowSet>,
}

impl Scope<'_> {
    pub(crate) fn contains(&self, row: RowId) -> bool {
        self.allowed().contains(row)
    }

    /// How many rows a channel is asked for.
    pub(crate) fn depth(&self, channel: Channel, settings: &Settings) -> usize {
        let limit = match self.depth {
            Depth::Hits(limit) => limit,
            Depth::Rows(rows) => return rows,
        };
        let pool = match self.profile {
            Profile::Ade => settings.ade.depth(channel, limit),
            Profile::Seed => settings.seed.depth(channel),
            // Athena and Atlas name no pool.
            Profile::Bower | Profile::Athena | Profile::Atlas => None,
        };
        pool.unwrap_or(settings.candidates).max(limit)
    }

    pub(crate) fn allowed(&self) -> Allowed<'_> {
        Allowed { keep: self.keep, drop: self.hidden }
    }

    /// How many new rows were searched: those that the question may see, where it names any.
    pub(crate) fn searched_of(&self, new: &NewRows) -> usize {
        self.keep.map_or(new.rows.len(), |keep| new.rows.keys().filter(|row| keep.contains(**row)).count())
    }

    /// The hidden rows with those that are stale in an index: what its search must leave out.
    pub(crate) fn dropped(&self, gone: &RowSet) -> RowSet {
        let mut dropped = gone.clone();
        dropped.add_all(self.hidden);
        dropped
    }
}

/// The words of a question.
pub(crate) struct Words {
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) names: Vec<String>,
}

impl Words {
    pub(crate) fn of(question: &str) -> Self {
        Self { terms: text::query_terms(question, LANGUAGE), names: text::query_names(question) }
    }
}

/// The rows of which a word's rarity is told, where the settings say that these are not all: those of the collections, the scope and
/// the owner that a question names or is bound to, whatever became of them.
pub(crate) fn counted(engine: &Engine, select: &Selection) -> Result<Option<Arc<RowSet>>> {
    if engine.settings.statistics == Statistics::Shared {
        return Ok(None);
    }
    let place = Selection {
        collections: select.collections.clone(),
        scope: select.scope,
        owner: select.owner.clone(),
        ..Selection::default()
    };
    if place == Selection::default() {
        return Ok(None);
    }
    engine.store.select(&Selection { statuses: Status::ALL.to_vec(), ..place })
}
