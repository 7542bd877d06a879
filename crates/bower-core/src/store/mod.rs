//! Where items live. The store is the truth; everything else can be deleted and made again.
//!
//! A write is one transaction with one change number and its events: all of it is there, or none of it.

pub mod sqlite;

#[cfg(test)]
mod contract;

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

use crate::error::Result;
use crate::item::{Change, Coverage, MemoryType, RowId, RowSet, Scope, Status, Tier};
use crate::request::{Event, Item, Receipt, Selection};

pub use sqlite::SqliteStore;

/// When a write happens and who asked for it; both go into its events.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The time, given by the caller.
    pub now: Timestamp,
    /// Who, e.g. `cli`.
    pub actor: &'a str,
}

/// A vector to keep: unit length, little-endian IEEE half floats (an error of at most 2^-11 a component).
#[derive(Clone, Debug, PartialEq)]
pub struct NewVector {
    /// The model's identity, scheme included.
    pub model: String,
    /// Two bytes a dimension.
    pub half: Vec<u8>,
}

/// A memory to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// Derived from collection, scope, owner and content: the same memory has the same id.
    pub id: String,
    /// Its domain.
    pub collection: String,
    /// What it is about.
    pub memory_type: MemoryType,
    /// The text.
    pub content: String,
    /// Its first sentence.
    pub summary: String,
    /// 0..1.
    pub importance: f32,
    /// 0..1.
    pub confidence: f32,
    /// Per day.
    pub decay_rate: f32,
    /// Normal form: no `#`, lower case.
    pub tags: Vec<String>,
    /// Best first.
    pub keywords: Vec<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<String>,
    /// Where it starts its life.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Where it came from, e.g. `cli`.
    pub source: String,
    /// The conversation it came from.
    pub source_conv_id: Option<String>,
    /// What the text channel needs until the index holds it.
    pub terms: Vec<u8>,
    /// Its vector, where a model was at hand.
    pub vector: Option<NewVector>,
}

/// What became of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its row.
    pub row: RowId,
    /// It was there before; tags and metadata were merged.
    pub is_update: bool,
}

/// A document as a run of `index` found it, already compared with what the store had.
#[derive(Clone, Debug, PartialEq)]
pub struct NewDocument {
    /// Derived from collection and path.
    pub id: String,
    /// Its domain.
    pub collection: String,
    /// Absolute path, or the caller's id for documents that are not files.
    pub path: String,
    /// Its last part.
    pub file_name: String,
    /// Title, where the text has one.
    pub title: Option<String>,
    /// From a path part `v<digits>…`, else `current`.
    pub version: String,
    /// SHA-256 of its bytes, hex.
    pub hash: String,
    /// How it was cut: parser format and chunk sizes. Another recipe means reading it again.
    pub recipe: String,
    /// Its size.
    pub bytes: u64,
    /// Fields from its frontmatter.
    pub metadata: Map<String, Value>,
    /// Who may see its chunks.
    pub scope: Scope,
    /// Whose they are.
    pub owner: Option<String>,
    /// Chunks that did not change; their place may have.
    pub kept: Vec<KeptChunk>,
    /// New chunks.
    pub added: Vec<NewChunk>,
    /// Rows that are gone.
    pub removed: Vec<RowId>,
}

/// A chunk that is in the store already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptChunk {
    /// Its row.
    pub row: RowId,
    /// Where it stands in the document now, from 0.
    pub position: u32,
    /// First and last line now, from 1.
    pub lines: (u32, u32),
}

/// A chunk to add.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChunk {
    /// Derived from the document's id and the chunk's key.
    pub id: String,
    /// Hash of heading path and content with an occurrence number: what makes it the same chunk in a later version.
    pub key: String,
    /// The text.
    pub content: String,
    /// Heading path or symbol.
    pub section: Option<String>,
    /// Where it stands in the document, from 0.
    pub position: u32,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Normal form.
    pub tags: Vec<String>,
    /// What the text channel needs until the index holds it.
    pub terms: Vec<u8>,
    /// Its vector, where a model was at hand.
    pub vector: Option<NewVector>,
}

/// What the store knows of a document, for comparing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its id.
    pub id: String,
    /// Its path.
    pub path: String,
    /// SHA-256 of its bytes at the time.
    pub hash: String,
    /// How it was cut.
    pub recipe: String,
}

/// A document that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Chunks added.
    pub added: usize,
    /// Chunks removed.
    pub removed: usize,
}

/// An item that a session was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// The item.
    pub row: RowId,
    /// The hash of its text at the time.
    pub text_hash: i64,
}

/// One row's text as the text channel sees it: title, heading and content in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The row.
    pub row: RowId,
    /// The text.
    pub text: String,
}

/// A row of the text channel's tail.
#[derive(Debug)]
pub enum TailText<'a> {
    /// The terms as they were written with the row.
    Terms(&'a [u8]),
    /// The terms are not kept any more (the index that held them is gone): analyse the text.
    Text(String),
}

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
    /// Items with a vector of the asked model.
    pub embedded: u64,
}

/// The one place where items are written and read. Contract tests in `contract.rs` hold for every implementation.
pub trait Store: Send + Sync {
    /// The store's identity: made once, never changed, carried by every index made from it.
    fn identity(&self) -> &str;
    /// The schema's number.
    fn schema(&self) -> u32;
    /// The newest change, with its mark.
    fn coverage(&self) -> Result<Coverage>;
    /// Whether an index of this coverage was made from this store's present history.
    fn confirms(&self, coverage: &Coverage) -> Result<bool>;

    /// Keeps a memory; one that has the same id is confirmed: its tags and metadata are merged, its text stays.
    fn put_memory(&self, memory: &NewMemory, stamp: Stamp<'_>) -> Result<Kept>;
    /// Writes documents with their chunks, in one transaction.
    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> Result<Vec<Written>>;
    /// Removes documents with their chunks; returns how many chunks went.
    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// Gives vectors to rows that are still there with the text of `text_change` or older.
    fn put_vectors(&self, vectors: &[(RowId, NewVector)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Removes items from every table, with their text; the events that remain hold no text.
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt>;
    /// Keeps query vectors, oldest use dropped beyond `most`.
    fn cache_vectors(&self, vectors: &[(String, NewVector)], most: usize, stamp: Stamp<'_>) -> Result<()>;
    /// Drops the tail's terms up to a change that the text index now holds, and the list of removed rows up to one that
    /// every index holds.
    fn drop_tail(&self, text: Change, every: Change) -> Result<()>;

    /// Items by row, in the order asked; a row that is gone gives `None`.
    fn items(&self, rows: &[RowId]) -> Result<Vec<Option<Item>>>;
    /// Rows whose id starts with a prefix, at most `most`.
    fn rows_by_id(&self, prefix: &str, most: usize) -> Result<Vec<(RowId, String)>>;
    /// The rows of a selection, or `None` where it holds nothing back but the hidden.
    fn select(&self, select: &Selection) -> Result<Option<RowSet>>;
    /// Rows that are superseded or archived.
    fn hidden(&self) -> Result<RowSet>;
    /// A page of a selection, newest first, and how many it holds in all.
    fn page(&self, select: &Selection, limit: usize, offset: usize) -> Result<(Vec<RowId>, usize)>;

    /// The chunks of the same document that stand at most `reach` places from a chunk, itself included, each with its
    /// place, in order; nothing for a memory.
    fn around(&self, row: RowId, reach: u32) -> Result<Vec<(u32, RowId)>>;
    /// What a session was given, by row.
    fn given(&self, session: &str) -> Result<Vec<Given>>;
    /// Remembers what a session is given now, and drops what any session was given before `keep_after`. No change of
    /// the store: no index has to follow, and no event is left.
    fn give(&self, session: &str, given: &[Given], now: Timestamp, keep_after: Timestamp) -> Result<()>;

    /// What is known of the documents of a collection.
    fn documents(&self, collection: &str) -> Result<Vec<KnownDocument>>;
    /// The chunks of a document: key and row, in order.
    fn chunks(&self, document: &str) -> Result<Vec<(String, RowId)>>;
    /// The document of each row, for rows that are chunks.
    fn documents_of(&self, rows: &[RowId]) -> Result<Vec<Option<String>>>;

    /// Rows whose text changed, or that were removed, after one change and up to another.
    fn gone(&self, after: Change, upto: Change) -> Result<RowSet>;
    /// Rows whose text was written after one change and up to another, ascending.
    fn text_rows(&self, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// The indexed texts of rows that are still there.
    fn texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>>;
    /// Feeds every row whose text is newer than a change.
    fn tail_texts(&self, after: Change, each: &mut dyn FnMut(RowId, TailText<'_>)) -> Result<usize>;
    /// Rows whose vector of this model was written after one change and up to another, ascending.
    fn vector_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Feeds every vector of this model that is newer than a change, as half floats.
    fn tail_vectors(&self, model: &str, after: Change, each: &mut dyn FnMut(RowId, &[u8])) -> Result<usize>;
    /// Vectors of this model by row, as half floats.
    fn vectors(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;
    /// Rows without a vector of this model, ascending, at most `most`.
    fn unembedded(&self, model: &str, most: usize) -> Result<Vec<RowId>>;
    /// A query's vector from the cache.
    fn cached_vector(&self, model: &str, text: &str) -> Result<Option<Vec<u8>>>;

    /// What happened to an item or document, oldest first.
    fn events(&self, subject: &str) -> Result<Vec<Event>>;
    /// Counts for `status`; `model` says whose vectors to count.
    fn counts(&self, model: &str) -> Result<Counts>;
    /// Leaves the store as one whole file, where nobody else is reading. Costs a wait for the disk; never needed for safety.
    fn checkpoint(&self) -> Result<()>;
    /// Bytes of the store's files.
    fn size_bytes(&self) -> Result<u64>;
    /// Reads every page and every index of the store; the findings, none where it is sound.
    fn verify(&self) -> Result<Vec<String>>;
}
