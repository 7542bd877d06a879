//! The desk: what only this machine remembers. A store that many machines share has one on each of them.

use jiff::Timestamp;

use super::clock::Stamp;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::RowId;

/// An item that a session was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// The item.
    pub row: RowId,
    /// The hash of its text at the time; [`Given::LOST`] where the session has it no more.
    pub text_hash: i64,
}

impl Given {
    /// The hash of what a session lost, when its context was compacted, say. That it was given is still known: told back, it is an
    /// echo.
    pub const LOST: i64 = 0;
}

/// Remembers what only this machine needs: nothing of it is a change of the store, so no index has to follow and no event is left.
pub trait Desk: Send + Sync {
    /// A query's vector from the cache, with its tokens.
    fn cached_vector(&self, model: &str, text: &str) -> Result<Option<NewVector>>;
    /// Keeps query vectors, oldest use dropped beyond `most`.
    fn cache_vectors(&self, vectors: &[(String, NewVector)], most: usize, stamp: Stamp<'_>) -> Result<()>;
    /// What a session was given, by row.
    fn given(&self, session: &str) -> Result<Vec<Given>>;
    /// Remembers what a session is given now, and drops what any session was given before `keep_after`.
    fn give(&self, session: &str, given: &[Given], now: Timestamp, keep_after: Timestamp) -> Result<()>;
    /// The session has nothing any more of what it was given, which becomes [`Given::LOST`].
    fn lose_given(&self, session: &str) -> Result<()>;
    /// Remembers which items an answer gave.
    fn expose(&self, given: &[(RowId, Timestamp)]) -> Result<()>;
    /// How often answers gave an item, and when last; none where they never did.
    fn exposure(&self, row: RowId) -> Result<Option<(u64, Timestamp)>>;
    /// What answers gave since a time, newest first, at most `most`.
    fn exposed(&self, since: Timestamp, most: usize) -> Result<Vec<RowId>>;
}
