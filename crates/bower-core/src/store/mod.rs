//! The store of items, which is the truth: everything else can be deleted and made again.
//!
//! A write is one transaction with one change number and its events: all of it is there, or none of it. What a store does is
//! split by role, one trait and one file each; another store is one more folder beside `sqlite`.

pub mod clock;
pub mod copies;
mod desk;
mod documents;
mod feed;
mod items;
mod journal;
mod lifecycle;
mod memories;
mod selections;
pub mod sqlite;
mod upkeep;
mod vector;

#[cfg(test)]
mod contract;

use jiff::Timestamp;
use std::path::Path;
use std::sync::Arc;

use crate::config::Settings;
use crate::error::{Location, Result};
use crate::item::Coverage;

pub use clock::{Stamp, TrustedTime};
pub use copies::{Exporter, Importer};
pub use desk::{Desk, Given};
pub use documents::{
    DocumentRow, DocumentStore, KeptChunk, KnownDocument, NewChunk, NewDocument, Passage, PathChanges,
    Written,
};
pub use feed::{Covered, DeltaText, IndexFeed, IndexedText, KeptTerms};
pub use items::{DatedText, Items, Link};
pub use journal::Journal;
pub use lifecycle::{
    AppliedTransitions, ExpectedState, Lifecycle, LifecycleRow, NewPattern, OWN, Transition,
};
pub use memories::{Audience, Decided, Kept, Memories, Namespace, NewMemory, ReviewRow, WriteAction};
pub use selections::{Counts, RowChanges, Selections};
pub use sqlite::SqliteStore;
pub use upkeep::Upkeep;
pub use vector::{NewTokens, NewVector};

/// Opens the store of a home, making it where there is none, and the desk of this machine: of `SQLite` they are one file.
pub fn open(home: &Path, settings: &Settings, now: Timestamp) -> Result<(Arc<dyn Store>, Arc<dyn Desk>)> {
    let store = Arc::new(SqliteStore::open(&SqliteStore::file_in(home), settings, now)?);
    Ok((Arc::<SqliteStore>::clone(&store), store))
}

/// The one place where items are written and read. Contract tests in `contract.rs` hold for every implementation.
pub trait Store:
    Items
    + Selections
    + DocumentStore
    + IndexFeed
    + Memories
    + Lifecycle
    + Journal
    + Upkeep
    + Exporter
    + Importer
    + TrustedTime
    + Send
    + Sync
{
    /// The store's identity: made once, never changed, carried by every index made from it.
    fn identity(&self) -> &str;
    /// The name of the folder with the indexes of this store, as whoever opened it sees the store: it is another one for each
    /// identity, and for each part of a store that is all that somebody sees.
    fn index_folder(&self) -> &str;
    /// Where the store is, for errors.
    fn location(&self) -> Location;
    /// The schema's number.
    fn schema(&self) -> u32;
    /// The newest change, with its mark.
    fn coverage(&self) -> Result<Coverage>;
    /// Whether an index of this coverage was made from this store's present history.
    fn confirms(&self, coverage: &Coverage) -> Result<bool>;
}
