//! The journal: the events of items and documents, by subject and by change, and their undoing.

use serde_json::{Map, Value};

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, Origin, Visibility};
use crate::request::{Event, StoreChange, Undone};

/// Reads the events of items and documents, and takes back what they did.
pub trait Journal {
    /// What happened to an item or document, oldest first.
    fn events(&self, subject: &str) -> Result<Vec<Event>>;
    /// What was done after a change to visible items, and to documents that have a visible chunk: oldest first, with the last
    /// change that was looked at, of `most` at most.
    fn changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> Result<(Vec<StoreChange>, Change)>;
    /// Leaves an event on a subject that is no item (how far a transcript was read, say); its number.
    fn mark(&self, subject: &str, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>)
    -> Result<u64>;
    /// Leaves an event that is of no single item; its number.
    fn note(&self, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>) -> Result<u64>;
    /// Takes back what the transaction of an event did, as far as nothing changed it since. `None` where there is no such
    /// event; what could not be taken back is named.
    fn undo(&self, event: u64, stamp: Stamp<'_>) -> Result<Option<Undone>>;
    /// Takes back all that one origin wrote and that is visible: its memories and turns leave answers, what they had replaced
    /// comes back, and what they had confirmed is confirmed once less. One run, which is undone as a whole. With `dry_run`
    /// everything is done and taken back: what is told is what would happen. `None` where it wrote nothing.
    fn undo_origin(
        &self,
        visibility: &Visibility,
        origin: &Origin,
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> Result<Option<Undone>>;
}
