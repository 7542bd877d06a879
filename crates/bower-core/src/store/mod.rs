//! The store of all items, and the source of truth: everything else can be rebuilt from it.
//!
//! A write is one transaction with one change number and its events: either all of it is stored, or none of it. The
//! store's functions are split by role, with one trait and one file each. Another kind of store is one more folder beside
//! `sqlite`.

mod aliases;
mod cache;
pub mod clock;
pub mod copies;
mod desk;
mod documents;
mod feed;
mod items;
mod journal;
mod lifecycle;
mod llm;
mod memories;
mod pairs;
mod selections;
pub mod sqlite;
mod tags;
mod triples;
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

pub use aliases::{AliasRow, Aliases};
pub use cache::{CacheKey, CacheLimits, CacheRemoved, CacheTotals, CacheUses, CachedText, VectorCache};
pub use clock::{Stamp, TrustedTime};
pub use copies::{Exporter, Importer};
pub use desk::{Desk, Given};
pub use documents::{
    DocumentNames, DocumentRow, DocumentStore, KeptChunk, KnownDocument, MovedDocument, NewChunk,
    NewDocument, Passage, PathChanges, RepositoryFile, Written, chunk_id, document_aliases,
};
pub use feed::{Covered, DeltaData, DeltaText, IndexFeed, IndexedText, KeptTerms, MentionSource, SESSION};
pub use items::{DatedText, Items, Link};
pub use journal::Journal;
pub use lifecycle::{
    AppliedTransitions, ExpectedState, Lifecycle, LifecycleRow, NewPattern, OWN, Transition,
};
pub use llm::{
    LlmAnswer, LlmCacheBounds, LlmCall, LlmCallEnd, LlmDesk, LlmLookup, NewLlmAnswer, NewLlmCall, Reserved,
};
pub use memories::{Audience, Decided, Kept, Memories, Namespace, NewMemory, ReviewRow, WriteAction};
pub use pairs::{OpenPair, PairOutcome, Pairs, PossibleRow, RelationRow, WordingChanges};
pub use selections::{Counts, RowChanges, Selections};
pub use sqlite::{SqliteStore, file_in};
pub use tags::{DocumentTags, GivenTags, RenameOutcome, TagRenaming, Tags, below};
pub use triples::{Extractor, NewTriples, Triples};
pub use upkeep::Upkeep;
pub use vector::{NewTokens, NewVector};

/// Opens the store of a home, or creates it, and the desk of this machine. With `SQLite` both are in one file.
pub fn open(home: &Path, settings: &Settings, now: Timestamp) -> Result<(Arc<dyn Store>, Arc<dyn Desk>)> {
    let store = Arc::new(SqliteStore::open(&file_in(home), settings, now)?);
    Ok((Arc::<SqliteStore>::clone(&store), store))
}

/// The only place where items are written and read. The contract tests in `contract.rs` hold for every implementation.
pub trait Store:
    Items
    + Selections
    + DocumentStore
    + IndexFeed
    + Memories
    + Pairs
    + Lifecycle
    + Journal
    + Tags
    + Aliases
    + Triples
    + Upkeep
    + Exporter
    + Importer
    + TrustedTime
    + Send
    + Sync
{
    /// The store's identity. It is created once, never changes, and is part of every index built from the store.
    fn identity(&self) -> &str;
    /// The name of the folder with this store's indexes, as this opening sees the store. It differs for each identity,
    /// and for each part of a store that is all its opener sees.
    fn index_folder(&self) -> &str;
    /// Location of the store, for errors.
    fn location(&self) -> Location;
    /// The schema number.
    fn schema(&self) -> u32;
    /// The newest change, with its fingerprint.
    fn coverage(&self) -> Result<Coverage>;
    /// Whether an index of this coverage was built from this store's present history.
    fn confirms(&self, coverage: &Coverage) -> Result<bool>;
}
