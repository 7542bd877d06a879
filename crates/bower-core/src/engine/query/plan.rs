//! Plans a question: its words, the rows it may find and count, and how many rows each channel returns.

use jiff::Timestamp;
use std::sync::Arc;

use crate::config::Settings;
use crate::engine::Engine;
use crate::engine::deltas::NewRows;
use crate::engine::query::wordings::Wordings;
use crate::error::Result;
use crate::item::{Allowed, Channel, Coverage, Profile, RowId, RowSet, Statistics, Status, When};
use crate::request::Selection;
use crate::text::{self, Language, QueryTerm};

/// Most hits of one answer.
pub const MAX_LIMIT: usize = 50;

/// Number of rows that each channel retrieves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The depth that the profile sets for this many hits, or else the settings' `candidates`; never fewer than the hits.
    Hits(usize),
    /// This many rows of each channel, whatever the profile sets.
    Rows(usize),
}

/// A request for whole rankings.
#[derive(Clone, Copy, Debug)]
pub struct RankRequest<'a> {
    /// The question: any Unicode text.
    pub text: &'a str,
    /// Number of rows that each channel retrieves.
    pub depth: Depth,
    /// Leaves out the vector channel.
    pub fast: bool,
    /// Profile that ranks; `None` means the settings' `profile`.
    pub profile: Option<Profile>,
    /// Items that may be found.
    pub select: &'a Selection,
    /// Rows that are treated as absent.
    pub hide: Option<&'a RowSet>,
    /// Effect of the times in the question.
    pub when: When,
    /// Channel that is left out, to measure what it contributes.
    pub without: Option<Channel>,
    /// The present, for "last week" and for profiles in which age counts.
    pub now: Timestamp,
}

impl<'a> RankRequest<'a> {
    /// Creates a request for all channels, with the settings' profile and the depth of ten hits.
    pub fn new(text: &'a str, select: &'a Selection, now: Timestamp) -> Self {
        let when = When::Soft;
        let depth = Depth::Hits(10);
        Self { text, depth, fast: false, profile: None, select, hide: None, when, without: None, now }
    }
}

/// The rows that a selection may find, with those over which words are counted.
pub(crate) struct FoundRows {
    keep: Option<Arc<RowSet>>,
    hidden: Arc<RowSet>,
    newest: Coverage,
    counted: Option<Arc<RowSet>>,
    /// The wordings of memories.
    pub(crate) worded: Arc<Wordings>,
}

impl FoundRows {
    /// Reads the rows of a selection, without the rows in `hide`.
    pub(crate) fn of(engine: &Engine, select: &Selection, hide: Option<&RowSet>) -> Result<Self> {
        let mut keep = engine.store.select(select)?;
        let newest = engine.store.coverage()?;
        let mut hidden = match &keep {
            Some(_) => Arc::default(),
            None => engine.caches.hidden(&*engine.store, &newest, select.clocks)?,
        };
        if let Some(others) = hide {
            Arc::make_mut(&mut hidden).add_all(others);
        }
        let worded = engine.caches.wordings(&*engine.store, &newest)?;
        worded.limit(select.clocks, &mut keep, &mut hidden);
        let counted = counted(engine, select)?;
        Ok(Self { keep, hidden, newest, counted, worded })
    }

    /// Returns them as the scope of a question.
    pub(crate) fn scope(&self, profile: Profile, depth: Depth) -> Scope<'_> {
        Scope {
            keep: self.keep.as_deref(),
            hidden: &self.hidden,
            profile,
            depth,
            newest: &self.newest,
            counted: self.counted.as_deref(),
        }
    }
}

/// The rows that the channels may return, and how many.
pub(crate) struct Scope<'a> {
    pub(crate) keep: Option<&'a RowSet>,
    pub(crate) hidden: &'a RowSet,
    pub(crate) profile: Profile,
    pub(crate) depth: Depth,
    /// The store's last change when the question was asked.
    pub(crate) newest: &'a Coverage,
    /// Rows over which word rarity and text length are computed; `None` means the whole store.
    pub(crate) counted: Option<&'a RowSet>,
}

impl Scope<'_> {
    pub(crate) fn contains(&self, row: RowId) -> bool {
        self.allowed().contains(row)
    }

    /// Whether there are rows between two rows that may be found. Without a selection, rows that were removed count.
    pub(crate) fn has_between(&self, row: RowId, next: RowId) -> bool {
        let (from, to) = (row.0.saturating_add(1), next.0.saturating_sub(1));
        match self.keep {
            _ if from > to => false,
            Some(keep) => keep.within(RowId(from)..=RowId(to)).any(|row| !self.hidden.contains(row)),
            None => (from..=to).any(|row| !self.hidden.contains(RowId(row))),
        }
    }

    /// Returns the number of rows that a channel retrieves.
    pub(crate) fn depth(&self, channel: Channel, settings: &Settings) -> usize {
        let limit = match self.depth {
            Depth::Hits(limit) => limit,
            Depth::Rows(rows) => return rows,
        };
        let pool = match self.profile {
            Profile::Ade => settings.ade.depth(channel, limit),
            Profile::Seed => settings.seed.depth(channel),
            // Athena and Atlas set no depth.
            Profile::Bower | Profile::Athena | Profile::Atlas => None,
        };
        pool.unwrap_or(settings.candidates).max(limit)
    }

    pub(crate) fn allowed(&self) -> Allowed<'_> {
        Allowed { keep: self.keep, drop: self.hidden }
    }

    /// Returns the number of new rows that were searched: only visible ones where the question is limited to a selection.
    pub(crate) fn searched_of(&self, new: &NewRows) -> usize {
        self.keep.map_or(new.rows.len(), |keep| new.rows.keys().filter(|row| keep.contains(**row)).count())
    }

    /// Returns the hidden rows and the stale rows of an index, which its search must leave out.
    pub(crate) fn dropped(&self, gone: &RowSet) -> RowSet {
        let mut dropped = gone.clone();
        dropped.add_all(self.hidden);
        dropped
    }
}

/// The words of a question.
pub(crate) struct Words {
    pub(crate) terms: Vec<QueryTerm>,
    /// The question's language, if it is certain among English and the store's languages.
    pub(crate) language: Option<Language>,
}

impl Words {
    /// Reads the words of a question in English and in the other languages of the texts that may be counted.
    pub(crate) fn of(question: &str, languages: &[Language]) -> Self {
        Self {
            terms: text::query_terms(question, languages),
            language: text::certain_language(question, languages),
        }
    }
}

/// Returns the rows over which word rarity is computed; `None` means the whole store (setting `statistics`). They are the
/// rows of the collections, scope and owner that the question names or is limited to, with any status.
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
