//! Documents: written with their chunks, compared with what is there, and read by channels.

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::memories::Namespace;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{Change, Provenance, RowId, Scope};
use crate::request::{Documents, Selection};

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

/// Documents that came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathChanges {
    /// They are there now, with their paths; some may have been before.
    pub came: Vec<(DocumentRow, String)>,
    /// They are not there now, whether they were or not.
    pub went: Vec<DocumentRow>,
}

/// Writes and reads documents with their chunks.
pub trait DocumentStore {
    /// Writes documents with their chunks, in one transaction.
    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> Result<Vec<Written>>;
    /// Removes documents with their chunks; returns how many chunks went.
    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// Documents that have a chunk in a selection, the last changed first, and how many there are in all.
    fn document_page(&self, select: &Selection, limit: usize, offset: usize) -> Result<Documents>;
    /// What is known of the documents of a collection.
    fn documents(&self, collection: &str) -> Result<Vec<KnownDocument>>;
    /// What is known of the documents of a place with these paths, in the order asked: those that have a chunk there. Another
    /// scope or owner may have a document of the same path.
    fn documents_at(&self, place: &Namespace, paths: &[&str]) -> Result<Vec<Option<KnownDocument>>>;
    /// The chunks of a document: key and row, in order.
    fn chunks(&self, document: &str) -> Result<Vec<(String, RowId)>>;
    /// The document of each row, for rows that are chunks.
    fn documents_of(&self, rows: &[RowId]) -> Result<Vec<Option<String>>>;
    /// The paths that came and went after a change; `None` where that cannot be told, or reading all of them is less work.
    fn paths_since(&self, after: Change) -> Result<Option<PathChanges>>;
    /// The chunks of each document, in order, at most `most` of each.
    fn document_rows(&self, documents: &[DocumentRow], most: usize) -> Result<Vec<Vec<RowId>>>;
    /// The chunks of a document with their texts, in order.
    fn passages(&self, document: DocumentRow) -> Result<Vec<Passage>>;
    /// The chunks of the same document that stand at most `reach` places from a chunk, itself included, each with its
    /// place, in order; nothing for a memory.
    fn around(&self, row: RowId, reach: u32) -> Result<Vec<(u32, RowId)>>;
    /// Feeds the path of every document, those of one folder in a row where they are of one collection; how many there are.
    fn paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> Result<usize>;
}
