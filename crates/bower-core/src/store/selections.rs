//! Selections: the rows that pass a filter, the hidden rows, and their numbers.

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

/// Rows that entered and left a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowChanges {
    /// Rows that are in it now; some may have been in it before.
    pub came: RowSet,
    /// Rows that are not in it now, whether or not they were before.
    pub went: RowSet,
}

/// Finds and counts the rows of a selection.
pub trait Selections {
    /// Returns the rows of a selection, or `None` if it excludes only hidden rows.
    fn select(&self, select: &Selection) -> Result<Option<Arc<RowSet>>>;
    /// Returns the rows that are superseded or archived. For a past time, those that were then, or did not exist yet.
    fn hidden(&self, clocks: Clocks) -> Result<RowSet>;
    /// Returns the rows that became hidden and visible after a change; `None` if reading all hidden rows is less work.
    fn hidden_since(&self, after: Change) -> Result<Option<RowChanges>>;
    /// Returns a page of a selection, newest first, and the number of all its rows.
    fn page(&self, select: &Selection, limit: usize, offset: usize) -> Result<(Vec<RowId>, usize)>;
    /// Returns the pinned candidate and active memories, newest first.
    fn pinned(&self) -> Result<Vec<RowId>>;
    /// Returns at most `most` visible memories of some types (all, if none is named) with a status, newest first.
    /// Memories from outside that no person reviewed are left out. The time depends on `most` if everything is visible,
    /// otherwise on the number of memories with the status.
    fn newest(
        &self,
        types: &[MemoryType],
        status: Status,
        visibility: &Visibility,
        most: usize,
    ) -> Result<Vec<RowId>>;
    /// Returns the number of visible memories with a status.
    fn number(&self, status: Status, visibility: &Visibility) -> Result<u64>;
    /// Returns the counts for `status`.
    fn counts(&self) -> Result<Counts>;
    /// Returns the number of candidate and active memories of each scope and owner.
    fn held(&self) -> Result<Vec<(Scope, Option<String>, u64)>>;
}
