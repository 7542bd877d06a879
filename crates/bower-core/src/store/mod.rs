//! The store of items, which is the truth: everything else can be deleted and made again.
//!
//! A write is one transaction with one change number and its events: all of it is there, or none of it.

pub mod clock;
pub mod copies;
pub mod salvage;
pub mod sqlite;
mod vector;

#[cfg(test)]
mod contract;

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::item::{
    Change, Coverage, Facts, Kind, MemoryType, Origin, Provenance, Relation, RowId, RowSet, Ruling, Scope,
    Status, Tier, Visibility, derive_id,
};
use crate::request::{
    Clocks, Documents, Event, Item, Loss, Receipt, Selection, StoreChange, StoreCopy, Undone,
};

pub use clock::Stamp;
pub use sqlite::SqliteStore;
pub use vector::{NewTokens, NewVector};

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
    /// Whose words it is.
    pub provenance: Provenance,
    /// The program that its writer runs in.
    pub host: Option<String>,
    /// Subject and attribute in a normal form, where the text says one thing.
    pub slot: Option<String>,
    /// Since when it is true, where the text says so.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true, where the text says so.
    pub valid_to: Option<Timestamp>,
    /// When it was told first, where whoever tells it knows that; else it is told now.
    pub create_time: Option<Timestamp>,
    /// What the text channel needs until the index holds it.
    pub terms: Vec<u8>,
    /// Its vector, where a model was at hand.
    pub vector: Option<NewVector>,
}

/// A pattern to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPattern {
    /// What stands for its members.
    pub memory: NewMemory,
    /// Whom it stands for.
    pub members: Vec<RowId>,
}

/// Where memories belong together: one is never compared with those of another place, nor changed by them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The domain.
    pub collection: String,
    /// Who may see them.
    pub scope: Scope,
    /// Whose they are.
    pub owner: Option<String>,
}

impl Place {
    /// The id of a memory that says something here for the first time.
    pub fn memory_id(&self, content: &str) -> String {
        derive_id(&self.id_parts(content))
    }

    /// The same where it was superseded and is told anew: the second time, the third.
    pub fn later_id(&self, content: &str, time: u32) -> String {
        derive_id(&[&self.id_parts(content)[..], &[&time.to_string()]].concat())
    }

    /// Who may see it is part of what it is: two owners who keep the same words keep two memories.
    fn id_parts<'a>(&'a self, content: &'a str) -> [&'a str; 5] {
        let owner = self.owner.as_deref().unwrap_or("");
        ["memory", &self.collection, self.scope.word(), owner, content]
    }
}

/// Who writes to a place, and what may be told of what is there: see [`Visibility::is_known_at`].
#[derive(Clone, Copy, Debug)]
pub struct Audience<'a> {
    /// What whoever writes may see.
    pub visibility: &'a Visibility,
    /// Where it is written.
    pub place: &'a Place,
}

impl Audience<'_> {
    /// Whether nothing is to be kept from it but what others own: there is no need to look at each item, for that is looked at
    /// once a text seems to be an echo.
    pub fn knows_everything(&self) -> bool {
        self.visibility.is_everything() && self.place.owner.is_none()
    }
}

/// What was decided about a new memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// How it stands to what is there.
    pub standing: Standing,
    /// Others that a memory which replaces one makes untrue too; those that are gone or hidden meanwhile are passed over.
    pub also: Vec<RowId>,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
    /// Whether a confirmation is an observation: what the store said itself, told back, adds tags and no confidence.
    pub is_observed: bool,
    /// The store's last change when it was decided. Where a memory of the same place is newer, the decision is void.
    pub seen: Change,
}

/// How a new memory stands to one that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Nothing there has to do with it.
    Alone,
    /// The other says so already: no new row, one more observation.
    Confirms(RowId),
    /// A new row, related to the other with this strength, 0..1.
    Relates(RowId, Relation, f32),
    /// A new row, which takes the other's place in its chain; the other is superseded.
    Replaces(RowId),
    /// A new row beside the other, which it contradicts; somebody is asked.
    Disputes(RowId),
    /// A new row that is superseded from the start: the other, which it contradicts, stands.
    Yields(RowId),
}

impl Standing {
    /// The memory that is there.
    pub fn other(self) -> Option<RowId> {
        match self {
            Self::Alone => None,
            Self::Confirms(row)
            | Self::Relates(row, _, _)
            | Self::Replaces(row)
            | Self::Disputes(row)
            | Self::Yields(row) => Some(row),
        }
    }
}

/// A row that is tied to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The tied row.
    pub row: RowId,
    /// The other is one of the examples that it was made of.
    pub is_made_of_it: bool,
}

/// What became of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its row.
    pub row: RowId,
    /// Its id: of a confirmed memory the one that was there.
    pub id: String,
    /// It was there before; tags and metadata were merged.
    pub is_update: bool,
    /// The review that asks which side is right, where that is open.
    pub review: Option<u64>,
}

/// A memory as far as its life depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life<'a> {
    /// Its row.
    pub row: RowId,
    /// Its id.
    pub id: &'a str,
    /// Candidate or active.
    pub status: Status,
    /// How often it was told.
    pub observations: u64,
    /// Made by the program itself.
    pub is_own: bool,
    /// Whose words it is.
    pub provenance: Provenance,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<&'a str>,
    /// Its domain.
    pub collection: &'a str,
    /// The rest.
    pub facts: Facts,
}

/// What becomes of a memory that nobody told anything about.
#[derive(Clone, Debug, PartialEq)]
pub struct Turning {
    /// Its row.
    pub row: RowId,
    /// The event's action.
    pub action: &'static str,
    /// What it was when that was decided; where it is something else by now, nothing becomes of it.
    pub seen: Seen,
    /// Its status from now on.
    pub status: Status,
    /// Its budget class from now on.
    pub tier: Tier,
    /// Its confidence from now on, 0..1.
    pub confidence: f32,
    /// Whether it is true no longer.
    pub ends: bool,
    /// Whether that is a use of it.
    pub is_use: bool,
    /// Whether somebody decided to keep it.
    pub is_review: bool,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
}

/// A memory as somebody saw it who decided about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Its status.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Its confidence.
    pub confidence: f32,
    /// Its last use, where the decision hangs on that.
    pub accessed: Option<Timestamp>,
}

/// The source of what the program made itself.
pub const OWN: &str = "consolidate";

/// What turned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turned {
    /// The last event: that of the whole run, where it was one.
    pub event: u64,
    /// The rows that turned, as they were given.
    pub rows: Vec<RowId>,
}

/// Two memories that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewRow {
    /// Its number.
    pub review: u64,
    /// The newer side.
    pub row: RowId,
    /// The older side.
    pub other: RowId,
    /// Why nobody could tell; no text of theirs.
    pub reason: String,
    /// When it was found.
    pub create_time: Timestamp,
    /// How it ended; none while it is open.
    pub outcome: Option<Ruling>,
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
    /// The conversation or thread that it is a part of, together with other documents.
    pub session: Option<String>,
    /// Whose words it is.
    pub provenance: Provenance,
    /// The program that its writer runs in.
    pub host: Option<String>,
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

/// A document's row in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentRow(pub u64);

/// A chunk's text with its place in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The row.
    pub row: RowId,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The text.
    pub content: String,
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
    /// The hash of its text at the time; [`Given::LOST`] where the session has it no more.
    pub text_hash: i64,
}

impl Given {
    /// The hash of what a session lost, when its context was compacted, say. That it was given is still known: told back, it is an
    /// echo.
    pub const LOST: i64 = 0;
}

/// One row's text as the text channel sees it: title, heading and content in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The row.
    pub row: RowId,
    /// The document or session that it is a part of; 0 is none.
    pub parent: u64,
    /// The text.
    pub text: String,
    /// From when what it says is so, as far as that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is so, as far as that is known.
    pub valid_to: Option<Timestamp>,
}

impl IndexedText {
    /// Whether what it says is so at a time, as far as that is known.
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_to.is_none_or(|until| time < until)
    }
}

/// A row's terms as they were written with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTerms {
    /// The row.
    pub row: RowId,
    /// The document or session that it is a part of; 0 is none.
    pub parent: u64,
    /// The terms; `None` where they are not kept any more.
    pub terms: Option<Vec<u8>>,
}

/// A row of the text channel's tail.
#[derive(Debug)]
pub enum TailText<'a> {
    /// The terms as they were written with the row.
    Terms(&'a [u8]),
    /// The terms are not kept any more (the index that held them is gone): analyse the text.
    Text(String),
}

/// What tells when an item is of, with the start of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DatedText {
    /// Memory or chunk.
    pub kind: Kind,
    /// When it was written to the store.
    pub create_time: Timestamp,
    /// Since when it holds, where that is known.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds, where that is known.
    pub valid_to: Option<Timestamp>,
    /// Title of the document.
    pub title: Option<String>,
    /// Heading path or symbol.
    pub section: Option<String>,
    /// The file's name.
    pub file_name: Option<String>,
    /// The item's own fields.
    pub metadata: Map<String, Value>,
    /// The document's fields.
    pub document_metadata: Map<String, Value>,
    /// The text, cut after as many characters as were asked for.
    pub content: String,
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
}

/// The one place where items are written and read. Contract tests in `contract.rs` hold for every implementation.
pub trait Store: copies::Moving + clock::TrustedTime + Send + Sync {
    /// The store's identity: made once, never changed, carried by every index made from it.
    fn identity(&self) -> &str;
    /// The schema's number.
    fn schema(&self) -> u32;
    /// The newest change, with its mark.
    fn coverage(&self) -> Result<Coverage>;
    /// Whether an index of this coverage was made from this store's present history.
    fn confirms(&self, coverage: &Coverage) -> Result<bool>;

    /// Keeps a memory as was decided, in one transaction with its events. One that has the same id is confirmed, whatever was
    /// decided: its tags and metadata are merged, its text stays.
    ///
    /// `None` where the decision is void: a memory of the same place was written since, or what it speaks of is gone or
    /// superseded. Nothing was written then; decide again.
    fn put_memory(&self, memory: &NewMemory, decided: &Decided, stamp: Stamp<'_>) -> Result<Option<Kept>>;
    /// Ends a review. The older side gives way to the newer when that is accepted, or was itself replaced by a text of both
    /// (merge); the newer is superseded when it is rejected. `None` where there is no such open review.
    fn settle(&self, review: u64, ruling: Ruling, stamp: Stamp<'_>) -> Result<Option<ReviewRow>>;
    /// Remembers which items an answer gave. No change of the store: no index has to follow, and no event is left.
    fn expose(&self, given: &[(RowId, Timestamp)]) -> Result<()>;
    /// Feeds every candidate and active memory, in no order that matters.
    fn lives(&self, each: &mut dyn FnMut(Life<'_>)) -> Result<()>;
    /// Turns memories as was decided, in one transaction; those that changed since they were seen are passed over. `head` is
    /// the run that they belong to, with what its event tells: it is undone as a whole.
    fn turn(
        &self,
        head: Option<(&'static str, &Map<String, Value>)>,
        turns: &[Turning],
        stamp: Stamp<'_>,
    ) -> Result<Turned>;
    /// Remembers uses of items. No change of the store: no index has to follow, and no event is left.
    fn add_uses(&self, used: &[(RowId, Timestamp)]) -> Result<()>;
    /// Keeps patterns in the place of their members, which are archived as their examples: all in one transaction, each a change
    /// of its own with an event of its own, which is given and undoes that pattern alone. `None` where a member is not to be seen
    /// any more, or the pattern is there already, or was taken back: nothing was written for it.
    fn put_patterns(&self, patterns: &[NewPattern], stamp: Stamp<'_>) -> Result<Vec<Option<u64>>>;
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
    /// When each sort of run over many memories (`sweep`, `prune`, `consolidate`) was last made.
    fn last_runs(&self) -> Result<BTreeMap<String, Timestamp>>;
    /// How many candidate and active memories each scope and owner holds.
    fn held(&self) -> Result<Vec<(Scope, Option<String>, u64)>>;
    /// Whether a memory was told to one scope and owner, whose it is exactly, after a change. Patterns are not told.
    fn is_told_since(&self, scope: Scope, owner: Option<&str>, after: Change) -> Result<bool>;
    /// Writes documents with their chunks, in one transaction.
    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> Result<Vec<Written>>;
    /// Removes documents with their chunks; returns how many chunks went.
    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// Gives vectors to rows that are still there with the text of `text_change` or older.
    fn put_vectors(&self, vectors: &[(RowId, NewVector)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Gives token codes to rows that are still there with the text of `upto` or older.
    fn put_codes(&self, codes: &[(RowId, NewTokens)], upto: Change, stamp: Stamp<'_>) -> Result<usize>;
    /// Removes items from every table, with their text; the events that remain hold no text.
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt>;
    /// Rows that are tied to some rows by a chain or a relation, each once; the rows themselves are not among them.
    fn linked(&self, rows: &[RowId]) -> Result<Vec<Link>>;
    /// Feeds the text of every item.
    fn each_text(&self, each: &mut dyn FnMut(RowId, &str)) -> Result<()>;
    /// The last change that forgot something of which files may still hold traces. Stays until [`Store::end_purge`], whoever is
    /// killed meanwhile.
    fn purge_due(&self) -> Result<Option<Change>>;
    /// The ids of what was forgotten and is to be purged.
    fn forgotten_ids(&self) -> Result<Vec<String>>;
    /// Removes items by id from another store's file, a copy of this one, and leaves it one whole file; how many it had.
    fn forget_in_copy(&self, copy: &std::path::Path, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// No file holds a trace of what was forgotten up to a change.
    fn end_purge(&self, upto: Change) -> Result<()>;
    /// Empties the log; false where somebody still reads what it holds.
    fn empty_log(&self) -> Result<bool>;
    /// Feeds what the store's file holds where nothing is kept: what was moved or deleted may have left its bytes there.
    fn free_space(&self, each: &mut dyn FnMut(&[u8])) -> Result<()>;
    /// Writes the whole file anew, so that nothing is in it but what is kept. Proportional to the size of the store.
    fn compact(&self) -> Result<()>;
    /// Keeps query vectors, oldest use dropped beyond `most`.
    fn cache_vectors(&self, vectors: &[(String, NewVector)], most: usize, stamp: Stamp<'_>) -> Result<()>;
    /// Drops the tail's terms up to a change that the text index now holds, and the list of removed rows up to one that
    /// every index holds.
    fn drop_tail(&self, text: Change, every: Change) -> Result<()>;

    /// Drops the token codes of this scheme up to a change that its index now holds.
    fn drop_codes(&self, model: &str, upto: Change) -> Result<()>;

    /// Items by row, in the order asked; a row that is gone gives `None`.
    fn items(&self, rows: &[RowId]) -> Result<Vec<Option<Item>>>;
    /// Id and summary by row, in the order asked; a row that is gone gives `None`.
    fn titles(&self, rows: &[RowId]) -> Result<Vec<Option<(String, String)>>>;
    /// Memories of a place with a larger row than this, whatever their status, ascending.
    fn memories_of(&self, place: &Place, after: RowId) -> Result<Vec<RowId>>;
    /// Candidate and active memories of a place with this slot, newest first, at most `most`.
    fn in_slot(&self, place: &Place, slot: &str, most: usize) -> Result<Vec<RowId>>;
    /// The chain of a memory from its first form to its last, itself included.
    fn chain(&self, row: RowId) -> Result<Vec<RowId>>;
    /// Open reviews (or all), oldest first.
    fn reviews(&self, all: bool) -> Result<Vec<ReviewRow>>;
    /// How often answers gave an item, and when last; none where they never did.
    fn exposure(&self, row: RowId) -> Result<Option<(u64, Timestamp)>>;
    /// What answers gave since a time, of what an audience may know of, newest first, at most `most`.
    fn exposed(&self, to: &Audience<'_>, since: Timestamp, most: usize) -> Result<Vec<RowId>>;
    /// Those of some rows that an audience may know of, in their order; rows that are gone may be among them where it may know of
    /// everything.
    fn known_to(&self, to: &Audience<'_>, rows: &[RowId]) -> Result<Vec<RowId>>;
    /// Visible rows whose id starts with a prefix, at most `most`.
    fn rows_by_id(&self, prefix: &str, visibility: &Visibility, most: usize) -> Result<Vec<(RowId, String)>>;
    /// The rows of a selection, or `None` where it holds nothing back but the hidden.
    fn select(&self, select: &Selection) -> Result<Option<Arc<RowSet>>>;
    /// Rows that are superseded or archived; of a past, those that were then, or were not there.
    fn hidden(&self, clocks: Clocks) -> Result<RowSet>;
    /// A page of a selection, newest first, and how many it holds in all.
    fn page(&self, select: &Selection, limit: usize, offset: usize) -> Result<(Vec<RowId>, usize)>;

    /// What tells when items are of, with the first `most` characters of each text; a row that is gone gives `None`.
    fn dated_texts(&self, rows: &[RowId], most: usize) -> Result<Vec<Option<DatedText>>>;
    /// The chunks of the same document that stand at most `reach` places from a chunk, itself included, each with its
    /// place, in order; nothing for a memory.
    fn around(&self, row: RowId, reach: u32) -> Result<Vec<(u32, RowId)>>;
    /// What a session was given, by row.
    fn given(&self, session: &str) -> Result<Vec<Given>>;
    /// Remembers what a session is given now, and drops what any session was given before `keep_after`. No change of
    /// the store: no index has to follow, and no event is left.
    fn give(&self, session: &str, given: &[Given], now: Timestamp, keep_after: Timestamp) -> Result<()>;
    /// The session has nothing any more of what it was given, which becomes [`Given::LOST`].
    fn lose_given(&self, session: &str) -> Result<()>;

    /// Documents that have a chunk in a selection, the last changed first, and how many there are in all.
    fn document_page(&self, select: &Selection, limit: usize, offset: usize) -> Result<Documents>;
    /// What is known of the documents of a collection.
    fn documents(&self, collection: &str) -> Result<Vec<KnownDocument>>;
    /// What is known of the documents of a place with these paths, in the order asked: those that have a chunk there. Another
    /// scope or owner may have a document of the same path.
    fn documents_at(&self, place: &Place, paths: &[&str]) -> Result<Vec<Option<KnownDocument>>>;
    /// The chunks of a document: key and row, in order.
    fn chunks(&self, document: &str) -> Result<Vec<(String, RowId)>>;
    /// The document of each row, for rows that are chunks.
    fn documents_of(&self, rows: &[RowId]) -> Result<Vec<Option<String>>>;

    /// What ranking may know of each row; `asked_time` is left to the caller. A row that is gone gives `None`.
    fn facts(&self, rows: &[RowId]) -> Result<Vec<Option<Facts>>>;
    /// The distinct tags that begin with any of these, ascending.
    fn tags(&self, beginnings: &[String]) -> Result<Vec<String>>;
    /// How many rows have each tag, in the order asked.
    fn tag_counts(&self, tags: &[String]) -> Result<Vec<u64>>;
    /// Feeds the rows of a tag, newest first, until `each` wants no more.
    fn tagged(&self, tag: &str, each: &mut dyn FnMut(RowId) -> bool) -> Result<()>;
    /// The newest row ever written: at least as many as there are items.
    fn newest_row(&self) -> Result<Option<RowId>>;
    /// Feeds the path of every document, those of one folder in a row where they are of one collection; how many there are.
    fn paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> Result<usize>;
    /// The chunks of each document, in order, at most `most` of each.
    fn document_rows(&self, documents: &[DocumentRow], most: usize) -> Result<Vec<Vec<RowId>>>;
    /// The chunks of a document with their texts, in order.
    fn passages(&self, document: DocumentRow) -> Result<Vec<Passage>>;

    /// Rows whose text changed, or that were removed, after one change and up to another.
    fn gone(&self, after: Change, upto: Change) -> Result<RowSet>;
    /// Rows whose text was written after one change and up to another, ascending.
    fn text_rows(&self, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// The indexed texts of rows that are still there.
    fn texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>>;
    /// What rows that are still there had for the text channel when they were written.
    fn tail_terms(&self, rows: &[RowId]) -> Result<Vec<KeptTerms>>;
    /// The document or session that each row is a part of, as a number that rows of one parent share; 0 where it is part of
    /// none, or is gone.
    fn parents(&self, rows: &[RowId]) -> Result<Vec<u64>>;
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
    /// A query's vector from the cache, with its tokens.
    fn cached_vector(&self, model: &str, text: &str) -> Result<Option<NewVector>>;
    /// Rows whose token codes of this scheme are kept here and were written after one change and up to another, ascending.
    fn code_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>>;
    /// Token codes of this scheme by row; `None` where they are not kept here (any more).
    fn codes(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>>;

    /// What happened to an item or document, oldest first.
    fn events(&self, subject: &str) -> Result<Vec<Event>>;
    /// Leaves an event on a subject that is no item (how far a transcript was read, say); its number.
    fn mark(&self, subject: &str, action: &str, detail: &Map<String, Value>, stamp: Stamp<'_>)
    -> Result<u64>;
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
    /// What was done after a change to visible items, and to documents that have a visible chunk: oldest first, with the last
    /// change that was looked at, of `most` at most.
    fn changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> Result<(Vec<StoreChange>, Change)>;
    /// Counts for `status`.
    fn counts(&self) -> Result<Counts>;
    /// How many items have a vector of a model. Goes through all of them: an index that is sound has counted them already.
    fn embedded(&self, model: &str) -> Result<u64>;
    /// Leaves the store as one whole file, where nobody else is reading. Costs a wait for the disk; never needed for safety.
    fn checkpoint(&self) -> Result<()>;
    /// Empties the log where it has grown long. Waits for nobody: while others read it, it stays, and the next caller tries
    /// again. One that is never emptied makes each new process read all of it, and copy all of it into the file when it
    /// writes.
    fn trim_log(&self) -> Result<()>;
    /// Copies the store as it is at one moment into a new file, which appears under its name when it is whole and sound. Writers
    /// go on meanwhile.
    fn backup(&self, to: &std::path::Path) -> Result<StoreCopy>;
    /// Bytes of the store's files.
    fn size_bytes(&self) -> Result<u64>;
    /// Reads every page and every index of the store; the findings, none where it is sound.
    fn verify(&self) -> Result<Vec<String>>;
    /// Changes that were acknowledged and are missing, and that nobody has accepted, oldest first.
    fn losses(&self) -> Result<Vec<Loss>>;
    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64>;
    /// How many texts and vectors were read, since the store was opened, that are not as they were written.
    fn damage(&self) -> usize;
}
