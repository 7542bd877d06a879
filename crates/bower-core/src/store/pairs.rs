//! Pairs of memories: the caller's word about two of them, what a new one may mean, and the wordings of a memory.

use jiff::Timestamp;

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, PairRuling, Relation, RowId};

/// An earlier memory that a memory may replace or repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PossibleRow {
    /// The earlier memory.
    pub row: RowId,
    /// [`Relation::MayReplace`] or [`Relation::MayRepeat`].
    pub relation: Relation,
    /// The likelihood, 0..1.
    pub likelihood: f32,
}

/// Two memories of which nobody said what the newer is to the older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPair {
    /// The newer memory.
    pub newer: RowId,
    /// The memory that it may replace or repeat.
    pub older: RowId,
}

/// The result of settling a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    /// It was written; this event undoes it.
    Settled(u64),
    /// It was so already, and nothing was written.
    Unchanged,
    /// One of the two was removed, superseded or archived meanwhile, and nothing was written.
    Void,
}

/// Wordings of memories, each with its memory, and rows that are no wordings any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordingChanges {
    /// Each wording with its memory.
    pub came: Vec<(RowId, RowId)>,
    /// Rows that are no wordings now, whether or not they were before.
    pub went: Vec<RowId>,
}

/// A relation between two memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationRow {
    /// The memory that has it.
    pub row: RowId,
    /// Its type.
    pub relation: Relation,
    /// The memory to which it leads.
    pub other: RowId,
    /// Its strength, 0..1.
    pub strength: f32,
}

/// Applies the caller's word about two memories, and reads what ties memories to each other.
pub trait Pairs {
    /// Applies the caller's word about a memory and an earlier one, in one transaction with its events. It ends what was
    /// possible between the two, and their open review. A pinned memory is superseded too.
    fn settle_pair(
        &self,
        newer: RowId,
        older: RowId,
        ruling: PairRuling,
        stamp: Stamp<'_>,
    ) -> Result<PairOutcome>;
    /// Gives a memory a relation to another one, or ends it where `strength` is `None`, in one transaction with its event. Both must be
    /// candidate or active, else the outcome is [`PairOutcome::Void`].
    fn relate(
        &self,
        row: RowId,
        relation: Relation,
        other: RowId,
        strength: Option<f32>,
        stamp: Stamp<'_>,
    ) -> Result<PairOutcome>;
    /// Returns the relations that these rows have, and those that lead to them, each once, ascending by row, type and other row.
    fn relations(&self, rows: &[RowId]) -> Result<Vec<RelationRow>>;
    /// Returns what each memory may mean, in the order of `rows`, the likeliest first: only where both sides are candidate
    /// or active.
    fn possible(&self, rows: &[RowId]) -> Result<Vec<Vec<PossibleRow>>>;
    /// Returns pairs of memories of which the newer may replace or repeat the older and nobody said which, opened before a time:
    /// at most `most` of them, the likeliest first. Both sides are active and reviewed, and none is pinned.
    fn open_pairs(&self, before: Timestamp, most: usize) -> Result<Vec<OpenPair>>;
    /// Returns each wording with its memory, whatever the memory's status.
    fn wordings(&self) -> Result<Vec<(RowId, RowId)>>;
    /// Returns how the wordings changed after a change; `None` if reading all of them is less work.
    fn wordings_since(&self, after: Change) -> Result<Option<WordingChanges>>;
    /// Returns the rows tied to some memories as wordings, oldest first. An undone confirmation leaves an archived one.
    fn wordings_of(&self, rows: &[RowId]) -> Result<Vec<RowId>>;
    /// Returns the memory that each row is a wording of, in the order of `rows`.
    fn worded_by(&self, rows: &[RowId]) -> Result<Vec<Option<RowId>>>;
}
