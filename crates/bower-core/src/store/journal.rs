//! The journal: events of items and documents, read by subject and by change, and undone.

use serde_json::{Map, Value};

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, Origin, Visibility};
use crate::request::{Event, StoreChange, Undone};

/// Reads the events of items and documents, and undoes their changes.
pub trait Journal {
    /// Returns the events of an item or document, oldest first.
    fn events(&self, subject: &str) -> Result<Vec<Event>>;
    /// Returns at most `most` changes after `after` to visible items, and to documents with a visible chunk, oldest
    /// first. The second value is the last change that was examined.
    fn changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> Result<(Vec<StoreChange>, Change)>;
    /// Records an event on a subject that is not an item, such as how far a transcript was read. Returns the event's
    /// number.
    fn mark(&self, subject: &str, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>)
    -> Result<u64>;
    /// Records an event without a subject. Returns the event's number.
    fn note(&self, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>) -> Result<u64>;
    /// Undoes what the transaction of an event did, except where the state changed since. Returns `None` if there is no
    /// such event. The result lists the parts that could not be undone.
    fn undo(&self, event: u64, stamp: Stamp<'_>) -> Result<Option<Undone>>;
    /// Undoes all visible writes of one origin. Its memories and turns leave answers, the memories that they replaced
    /// come back, and the memories that they confirmed lose that confirmation. This is one run, which is undone as a
    /// whole. With `dry_run` the transaction is rolled back, and the result reports what would happen. Returns `None` if
    /// the origin wrote nothing.
    fn undo_origin(
        &self,
        visibility: &Visibility,
        origin: &Origin,
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> Result<Option<Undone>>;
}
