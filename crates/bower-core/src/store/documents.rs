//! Documents: written with their chunks, compared with the stored ones, and read by channels.

use serde_json::{Map, Value};

use super::clock::Stamp;
use super::feed::DeltaData;
use super::memories::Namespace;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{Change, Provenance, RowId, Scope, derive_id};
use crate::request::{Documents, Selection};

/// A document as a run of `index` found it, already compared with the stored one.
#[derive(Clone, Debug, PartialEq)]
pub struct NewDocument {
    /// Id, derived from the collection and the path, or the place in a repository.
    pub id: String,
    /// Its collection.
    pub collection: String,
    /// Absolute path, or the caller's id for documents that are not files.
    pub path: String,
    /// Last part of the path.
    pub file_name: String,
    /// Title, where the text has one.
    pub title: Option<String>,
    /// Version: a path part `v<digits>…`, else `current`.
    pub version: String,
    /// SHA-256 of its bytes, hex.
    pub hash: String,
    /// Parser format and chunk sizes. A document with another recipe is read again.
    pub recipe: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Metadata from its frontmatter.
    pub metadata: Map<String, Value>,
    /// Scope of the chunks: who may see them.
    pub scope: Scope,
    /// Owner of the chunks.
    pub owner: Option<String>,
    /// The conversation or thread that it belongs to, together with other documents.
    pub session: Option<String>,
    /// Its speaker, its least trusted source, and whether a person reviewed it.
    pub provenance: Provenance,
    /// The program that its writer runs in.
    pub host: Option<String>,
    /// Unchanged chunks; their positions may have changed.
    pub kept: Vec<KeptChunk>,
    /// New chunks.
    pub added: Vec<NewChunk>,
    /// Removed rows.
    pub removed: Vec<RowId>,
}

/// An unchanged chunk that the store already holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptChunk {
    /// Its row.
    pub row: RowId,
    /// New position in the document, from 0.
    pub position: u32,
    /// New first and last line, from 1.
    pub lines: (u32, u32),
    /// Its tags now, in normal form: front matter may change while the text below stays.
    pub tags: Vec<String>,
}

/// A chunk to add.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChunk {
    /// Id, derived from the document's id and the chunk's key.
    pub id: String,
    /// Hash of heading path and content with an occurrence number. It identifies the same chunk in a later version.
    pub key: String,
    /// The text.
    pub content: String,
    /// Heading path or symbol.
    pub section: Option<String>,
    /// Position in the document, from 0.
    pub position: u32,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Tags in normal form.
    pub tags: Vec<String>,
    /// What the indexes need until they hold the row.
    pub delta: DeltaData,
    /// Its vector, if a model was available.
    pub vector: Option<NewVector>,
}

/// Returns the id of the chunk with this key in a document.
pub fn chunk_id(document: &str, key: &str) -> String {
    derive_id(&["chunk", document, key])
}

/// The stored data of a document that an index run compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its id.
    pub id: String,
    /// Its path.
    pub path: String,
    /// SHA-256 of its bytes when it was read.
    pub hash: String,
    /// Parser format and chunk sizes.
    pub recipe: String,
    /// Its file in a git repository, as its metadata says.
    pub repository_file: Option<RepositoryFile>,
}

/// A file of a git repository. A document's metadata has these fields under their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Name of the repository on every machine.
    pub repository: String,
    /// The branch that was checked out when the file was last indexed; `None` if none was.
    pub branch: Option<String>,
    /// Path below the root of the working tree, with `/` between its parts.
    pub relative_path: String,
}

impl RepositoryFile {
    /// Returns the fields that the metadata of a document has. They are null for a file of no repository or no branch.
    pub fn fields(file: Option<&Self>) -> [(&'static str, Value); 3] {
        let field = |get: fn(&Self) -> Option<&String>| Value::from(file.and_then(get).cloned());
        [
            ("repository", field(|file| Some(&file.repository))),
            ("branch", field(|file| file.branch.as_ref())),
            ("relative_path", field(|file| Some(&file.relative_path))),
        ]
    }
}

/// A document whose file has the same content at another path, or another place in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedDocument {
    /// The id that it has.
    pub from_id: String,
    /// The path that it has.
    pub from_path: String,
    /// Its new id; if it is another one, its chunks get new ids too.
    pub id: String,
    /// Its new path.
    pub path: String,
    /// Last part of the new path.
    pub file_name: String,
    /// Version by the new path.
    pub version: String,
    /// Its new place in a repository.
    pub repository_file: Option<RepositoryFile>,
}

/// Most names that front matter gives a document.
const MOST_ALIASES: usize = 32;

/// Returns the other names that front matter gives a document: the field `aliases` or `alias`, a list or one name.
pub fn document_aliases(metadata: &Map<String, Value>) -> Vec<String> {
    let of_field = |field: &str| match metadata.get(field) {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(name)) => vec![name.clone()],
        Some(_) | None => Vec::new(),
    };
    let mut names: Vec<String> = ["aliases", "alias"].into_iter().flat_map(of_field).collect();
    names.retain(|name| !name.trim().is_empty());
    names.truncate(MOST_ALIASES);
    names
}

/// A document's row in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentRow(pub u64);

/// The names of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentNames {
    /// The document.
    pub document: DocumentRow,
    /// Its id.
    pub id: String,
    /// Its path, or the id that the caller chose.
    pub path: String,
    /// Its title, where the text has one.
    pub title: Option<String>,
    /// Other names that its front matter gives it (`aliases`).
    pub aliases: Vec<String>,
}

/// A chunk's text with its lines in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The row.
    pub row: RowId,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The text.
    pub content: String,
}

impl Passage {
    /// Returns the text's lines with their numbers in the document. `None` is the number of the first lines of a part of a long
    /// section, which repeat its heading, or the head of its table.
    pub fn numbered_lines(&self) -> impl Iterator<Item = (Option<u32>, &str)> {
        let (first, last) = self.lines;
        let span = (last.saturating_sub(first) + 1) as usize;
        let repeated = self.content.lines().count().saturating_sub(span);
        self.content.lines().enumerate().map(move |(at, text)| {
            let below = at.checked_sub(repeated).and_then(|below| u32::try_from(below).ok());
            (below.map(|below| first.saturating_add(below)), text)
        })
    }
}

/// The result of writing a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Chunks added.
    pub added: usize,
    /// Chunks removed.
    pub removed: usize,
}

/// Documents that were added and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathChanges {
    /// Documents that exist now, with their paths; some may have existed before.
    pub came: Vec<(DocumentRow, String)>,
    /// Documents that do not exist now, whether or not they did before.
    pub went: Vec<DocumentRow>,
}

/// Writes and reads documents with their chunks.
pub trait DocumentStore {
    /// Writes documents with their chunks, in one transaction.
    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> Result<Vec<Written>>;
    /// Moves documents to other paths in one transaction. Their chunks stay, with their rows and vectors.
    fn move_documents(&self, moved: &[MovedDocument], stamp: Stamp<'_>) -> Result<()>;
    /// Removes documents with their chunks; returns the number of chunks removed.
    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// Returns a page of the documents that have a chunk in a selection, the last changed first, and the number of all.
    fn document_page(&self, select: &Selection, limit: usize, offset: usize) -> Result<Documents>;
    /// Returns the stored data of the documents of a collection.
    fn documents(&self, collection: &str) -> Result<Vec<KnownDocument>>;
    /// Returns the stored data of the documents of a collection whose paths begin with a prefix that ends with `/`.
    fn documents_below(&self, collection: &str, prefix: &str) -> Result<Vec<KnownDocument>>;
    /// Returns the stored data of documents with these paths that have a chunk in a namespace, in the order of `paths`.
    /// Another scope or owner may have a document with the same path.
    fn documents_at(&self, place: &Namespace, paths: &[&str]) -> Result<Vec<Option<KnownDocument>>>;
    /// Returns the ids of the collection's documents that have chunks, but none in the namespace.
    fn documents_outside(&self, place: &Namespace) -> Result<Vec<String>>;
    /// Returns the chunks of a document: key and row, in order.
    fn chunks(&self, document: &str) -> Result<Vec<(String, RowId)>>;
    /// Returns the path of each row's document; `None` for a row that is no chunk.
    fn documents_of(&self, rows: &[RowId]) -> Result<Vec<Option<String>>>;
    /// Returns the names of each row's document; `None` for a row that is no chunk.
    fn document_names(&self, rows: &[RowId]) -> Result<Vec<Option<DocumentNames>>>;
    /// Returns the paths that were added and removed after a change; `None` if that is unknown, or reading all paths is
    /// less work.
    fn paths_since(&self, after: Change) -> Result<Option<PathChanges>>;
    /// Returns at most `most` chunks of each document, in order.
    fn document_rows(&self, documents: &[DocumentRow], most: usize) -> Result<Vec<Vec<RowId>>>;
    /// Returns the chunks of a document with their texts, in order.
    fn passages(&self, document: DocumentRow) -> Result<Vec<Passage>>;
    /// Returns the names of documents, in the order of `documents`; `None` for one that does not exist.
    fn names_of_documents(&self, documents: &[DocumentRow]) -> Result<Vec<Option<DocumentNames>>>;
    /// Returns the chunks of the same document at most `reach` positions away from a chunk, itself included. Each has its
    /// position, and they are in order. Empty for a memory.
    fn around(&self, row: RowId, reach: u32) -> Result<Vec<(u32, RowId)>>;
    /// Feeds the path of every document, and returns their number. Paths of one folder follow each other within one
    /// collection.
    fn paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> Result<usize>;
}
