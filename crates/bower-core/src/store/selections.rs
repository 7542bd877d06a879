//! Selections: which rows pass a filter, which are hidden, and how many there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::item::{Change, MemoryType, RowId, RowSet, Scope, Status, Visibility};
use crate::request::{Clocks, Selection};

/// Counts for `status`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Candidate and active memories.
    pub memories: u64,
    /// Chunks.
    pub chunks: u64,
    /// Documents.
    pub documents: u64,
    /// Memories by type.
    pub by_type: BTreeMap<String, u64>,
    /// Items by collection.
    pub by_collection: BTreeMap<String, u64>,
    /// Mean stored importance of the memories.
    pub avg_importance: f64,
}

/// Rows that came into a set and went out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowChanges {
    /// They are in it now; some may have been before.
    pub came: RowSet,
    /// They are not in it now, whether they were or not.
    pub went: RowSet,
}

/// Finds and counts the rows of a selection.
pub trait Selections {
    /// The rows of a selection, or `None` where it holds nothing back but the hidden.
    fn select(&self, select: &Selection) -> Result<Option<Arc<RowSet>>>;
    /// Rows that are superseded or archived; of a past, those that were then, or were not there.
    fn hidden(&self, clocks: Clocks) -> Result<RowSet>;
    /// What of the rows that are hidden now came and went after a change; `None` where reading all of them is less work.
    fn hidden_since(&self, after: Change) -> Result<Option<RowChanges>>;
    /// A page of a selection, newest first, and how many it holds in all.
    fn page(&self, select: &Selection, limit: usize, offset: usize) -> Result<(Vec<RowId>, usize)>;
    /// Candidate and active memories that are pinned, newest first.
    fn pinned(&self) -> Result<Vec<RowId>>;
    /// Visible memories of some types (all, where none is named) with a status, newest first, at most `most`; none that came from
    /// outside and that nobody reviewed. Takes as long as `most` says where everything is visible, else as there are memories of
    /// the status.
    fn newest(
        &self,
        types: &[MemoryType],
        status: Status,
        visibility: &Visibility,
        most: usize,
    ) -> Result<Vec<RowId>>;
    /// How many visible memories have a status.
    fn number(&self, status: Status, visibility: &Visibility) -> Result<u64>;
    /// Counts for `status`.
    fn counts(&self) -> Result<Counts>;
    /// How many candidate and active memories each scope and owner holds.
    fn held(&self) -> Result<Vec<(Scope, Option<String>, u64)>>;
}
