//! The desk: data that only this machine remembers. A shared store has one desk on each machine.

use jiff::Timestamp;

use super::cache::VectorCache;
use super::llm::LlmDesk;
use crate::error::Result;
use crate::item::RowId;

/// An item that was given to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// The item.
    pub row: RowId,
    /// Hash of its text at that time; [`Given::LOST`] if the session no longer has the text.
    pub text_hash: i64,
}

impl Given {
    /// Hash of a text that a session lost, for example when its context was compacted. The store still knows that it was
    /// given, so a repetition of it is an echo.
    pub const LOST: i64 = 0;
}

/// Stores what only this machine needs. It is not a change of the store: no index has to follow, and no event is
/// recorded.
pub trait Desk: VectorCache + LlmDesk {
    /// Returns the items that a session was given, by row.
    fn given(&self, session: &str) -> Result<Vec<Given>>;
    /// Records the items that a session is given now, and drops everything that any session was given before
    /// `keep_after`.
    fn give(&self, session: &str, given: &[Given], now: Timestamp, keep_after: Timestamp) -> Result<()>;
    /// Records that the session lost everything it was given: all hashes become [`Given::LOST`].
    fn lose_given(&self, session: &str) -> Result<()>;
    /// Records which items an answer returned.
    fn expose(&self, given: &[(RowId, Timestamp)]) -> Result<()>;
    /// Returns how often answers returned an item, and when last; `None` if they never did.
    fn exposure(&self, row: RowId) -> Result<Option<(u64, Timestamp)>>;
    /// Returns at most `most` items that answers returned since a time, newest first.
    fn exposed(&self, since: Timestamp, most: usize) -> Result<Vec<RowId>>;
}
