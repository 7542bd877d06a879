//! Where documents come from: files found by a walk, or documents handed in. Both are compared with what the store has.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{Engine, Scope, Source};
use crate::config::Settings;
use crate::engine::curate::normal_tags;
use crate::error::{Error, Result};
use crate::ingest::{self, Found, Parsed, WalkOptions};
use crate::item::derive_id;
use crate::request::{IndexRequest, Skipped};
use crate::store::{KeptChunk, KnownDocument, NewChunk, NewDocument};

/// The number of the way documents are cut. Another number makes the next run read everything again.
const RECIPE: u32 = 1;

/// A document that is new or has changed, before its terms and vectors are made.
#[derive(Clone)]
pub(super) struct Draft {
    /// Its number in this run.
    pub(super) number: u64,
    pub(super) document: NewDocument,
}

/// One step of reading.
pub(super) enum Read {
    /// Something to count.
    Note(Note),
    /// It is new or has changed.
    Changed(Box<Draft>),
}

/// What became of a file that needs no more work.
pub(super) enum Note {
    /// A file was found.
    Found,
    /// There are no more.
    Walked,
    /// It is as the store has it.
    Unchanged,
    /// It is left out.
    Skipped(Skipped),
}

/// A document that is not a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentInput {
    /// The caller's id; within its collection it stands where a file has its path.
    pub id: String,
    /// Title.
    pub title: Option<String>,
    /// The text.
    pub text: String,
    /// Its domain; the settings' `document_collection` unless told.
    pub collection: Option<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// The conversation or thread that it is a part of, where several documents are: each counts for the others.
    pub session: Option<String>,
}

/// Documents handed in.
pub(super) struct Inputs {
    documents: Vec<DocumentInput>,
    scope: Scope,
    owner: Option<String>,
}

impl Inputs {
    pub(super) fn new(documents: Vec<DocumentInput>, scope: Scope, owner: Option<String>) -> Self {
        Self { documents, scope, owner }
    }

    /// What the store has of each document: looked up by name, so that a few documents cost the same in a large store.
    fn known(&self, engine: &Engine) -> Result<Vec<Option<KnownDocument>>> {
        let mut known = Vec::with_capacity(self.documents.len());
        for run in self.documents.chunk_by(|one, next| one.collection == next.collection) {
            let ids: Vec<_> = run.iter().map(|input| input.id.as_str()).collect();
            known.extend(engine.store.documents_at(collection_of(engine, &run[0]), &ids)?);
        }
        Ok(known)
    }
}

fn collection_of<'a>(engine: &'a Engine, input: &'a DocumentInput) -> &'a str {
    input.collection.as_deref().unwrap_or(&engine.settings.document_collection)
}

impl Source for Inputs {
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(Read) -> bool) -> Result<()> {
        let known = self.known(engine)?;
        for (number, input) in std::mem::take(&mut self.documents).into_iter().enumerate() {
            let collection = collection_of(engine, &input).to_owned();
            let file = File {
                path: PathBuf::from(&input.id),
                collection: &collection,
                scope: self.scope,
                owner: self.owner.clone(),
                session: input.session,
            };
            let title = input.title.filter(|title| !title.trim().is_empty());
            let hash = ingest::content_hash(
                format!("{}\n{}", title.as_deref().unwrap_or(""), input.text).as_bytes(),
            );
            // A document of a title alone is found by it.
            let is_bare = input.text.trim().is_empty();
            let text = if is_bare { title.clone().unwrap_or_default() } else { input.text };
            if is_same(known[number].as_ref(), &hash, &engine.settings) {
                if each(Read::Note(Note::Found)) && each(Read::Note(Note::Unchanged)) {
                    continue;
                }
                return Ok(());
            }
            let read = match ingest::parse(&file.path, text.as_bytes(), &engine.settings) {
                Err(skipped) => Read::Note(Note::Skipped(skipped)),
                Ok(mut parsed) => {
                    parsed.title = title.or(parsed.title);
                    parsed.metadata.extend(input.metadata);
                    Read::Changed(Box::new(file.draft(
                        engine,
                        number as u64,
                        parsed,
                        hash,
                        text.len() as u64,
                    )?))
                }
            };
            if !(each(Read::Note(Note::Found)) && each(read)) {
                return Ok(());
            }
        }
        each(Read::Note(Note::Walked));
        Ok(())
    }
}

/// Files of one `index` request.
pub(super) struct Files {
    walk: Option<ingest::Walk>,
    roots: Vec<PathBuf>,
    collection: String,
    scope: Scope,
    owner: Option<String>,
    /// Whether the request asked for only some of the files, so that one which was not met may still be wanted.
    is_partial: bool,
    known: HashMap<String, KnownDocument>,
    seen: HashSet<String>,
}

impl Files {
    /// Starts the walk; a path that does not exist or a bad glob fails here, before anything is read.
    pub(super) fn open(engine: &Engine, request: &IndexRequest) -> Result<Self> {
        if request.paths.is_empty() {
            return Err(Error::invalid("index", "name at least one file or folder"));
        }
        let options = WalkOptions {
            include: request.include.clone(),
            exclude: request.exclude.clone(),
            max_bytes: engine.settings.max_file_bytes,
        };
        let walk = ingest::walk(&request.paths, &options)?;
        let roots =
            request.paths.iter().map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let collection =
            request.collection.clone().unwrap_or_else(|| engine.settings.document_collection.clone());
        Ok(Self {
            walk: Some(walk),
            roots: roots.collect(),
            scope: request.scope,
            owner: request.owner.clone(),
            is_partial: !request.include.is_empty() || !request.exclude.is_empty(),
            known: known_documents(engine, &collection)?,
            collection,
            seen: HashSet::new(),
        })
    }

    /// The documents below the request's paths whose files are gone, or may not be indexed any more.
    ///
    /// A file that is there but could not be read keeps what the store has of it.
    pub(super) fn vanished(&self) -> Vec<String> {
        let below = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let mut gone: Vec<_> = self
            .known
            .values()
            .filter(|document| !self.seen.contains(&document.path) && below(Path::new(&document.path)))
            .filter(|document| match std::fs::symlink_metadata(&document.path) {
                Err(source) => source.kind() == std::io::ErrorKind::NotFound,
                // Opening what took a file's place (a named pipe, say) could wait for ever.
                Ok(found) => {
                    !self.is_partial && (!found.is_file() || std::fs::File::open(&document.path).is_ok())
                }
            })
            .map(|document| document.id.clone())
            .collect();
        gone.sort_unstable();
        gone
    }

    fn look(&mut self, engine: &Engine, path: &Path, number: u64) -> Result<Read> {
        let bytes = match ingest::read(path, engine.settings.max_file_bytes) {
            Ok(bytes) => bytes,
            Err(skipped) => return Ok(Read::Note(Note::Skipped(skipped))),
        };
        let hash = ingest::content_hash(&bytes);
        let name = path.to_string_lossy().into_owned();
        if is_same(self.known.get(&name), &hash, &engine.settings) {
            self.seen.insert(name);
            return Ok(Read::Note(Note::Unchanged));
        }
        match ingest::parse(path, &bytes, &engine.settings) {
            Err(skipped) => Ok(Read::Note(Note::Skipped(skipped))),
            Ok(parsed) => {
                self.seen.insert(name);
                let file = File {
                    path: path.to_path_buf(),
                    collection: &self.collection,
                    scope: self.scope,
                    owner: self.owner.clone(),
                    session: None,
                };
                Ok(Read::Changed(Box::new(file.draft(engine, number, parsed, hash, bytes.len() as u64)?)))
            }
        }
    }
}

impl Source for Files {
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(Read) -> bool) -> Result<()> {
        let Some(walk) = self.walk.take() else { return Ok(()) };
        for (number, found) in walk.enumerate() {
            let go_on = match found {
                Found::Skipped(skipped) => {
                    each(Read::Note(Note::Found)) && each(Read::Note(Note::Skipped(skipped)))
                }
                Found::File { path, .. } => {
                    each(Read::Note(Note::Found)) && {
                        let read = self.look(engine, &path, number as u64)?;
                        each(read)
                    }
                }
            };
            if !go_on {
                return Ok(());
            }
        }
        each(Read::Note(Note::Walked));
        Ok(())
    }
}

fn known_documents(engine: &Engine, collection: &str) -> Result<HashMap<String, KnownDocument>> {
    let documents = engine.store.documents(collection)?;
    Ok(documents.into_iter().map(|document| (document.path.clone(), document)).collect())
}

/// How a document is cut: another answer means reading it again.
fn recipe(settings: &Settings) -> String {
    format!(
        "{RECIPE}:{}:{}:{}:{}:{}",
        settings.markdown_chunk_max,
        settings.markdown_chunk_min,
        settings.code_chunk_max,
        settings.text_chunk_max,
        settings.text_chunk_overlap
    )
}

fn is_same(known: Option<&KnownDocument>, hash: &str, settings: &Settings) -> bool {
    known.is_some_and(|known| known.hash == hash && known.recipe == recipe(settings))
}

/// What is known of a document before it is parsed.
struct File<'a> {
    path: PathBuf,
    collection: &'a str,
    scope: Scope,
    owner: Option<String>,
    session: Option<String>,
}

impl File<'_> {
    /// Compares a parsed document with the store's chunks of it.
    fn draft(self, engine: &Engine, number: u64, parsed: Parsed, hash: String, bytes: u64) -> Result<Draft> {
        let path = self.path.to_string_lossy().into_owned();
        let id = derive_id(&["document", self.collection, &path]);
        // The title is part of what is embedded, and the owner of who may see it: with another, the chunks are others.
        let title = parsed.title.as_deref().unwrap_or("");
        let mut place = vec![title, self.scope.word(), self.owner.as_deref().unwrap_or("")];
        place.extend(self.session.as_deref());
        let key = |chunk_key: &str| derive_id(&[place.as_slice(), &[chunk_key]].concat());
        let mut chunks = parsed.chunks;
        for chunk in &mut chunks {
            chunk.key = key(&chunk.key);
        }
        let stored = engine.store.chunks(&id)?;
        let diff = ingest::diff(&stored, &chunks);
        let kept = diff.kept.iter().map(|&(row, at)| KeptChunk {
            row,
            position: at as u32,
            lines: chunks[at].lines,
        });
        let kept = kept.collect();
        let added = diff.added.iter().map(|&at| new_chunk(&id, &chunks[at], at)).collect();
        let document = NewDocument {
            collection: self.collection.to_owned(),
            file_name: self
                .path
                .file_name()
                .map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned()),
            path,
            title: parsed.title,
            version: parsed.version,
            hash,
            recipe: recipe(&engine.settings),
            bytes,
            metadata: parsed.metadata,
            scope: self.scope,
            owner: self.owner,
            session: self.session,
            kept,
            added,
            removed: diff.removed,
            id,
        };
        Ok(Draft { number, document })
    }
}

fn new_chunk(document: &str, chunk: &ingest::Chunk, at: usize) -> NewChunk {
    // Tags that a file writes oddly are dropped one by one; a document is never refused for them.
    let tags =
        chunk.tags.iter().filter_map(|tag| normal_tags(std::slice::from_ref(tag)).ok()).flatten().collect();
    NewChunk {
        id: derive_id(&["chunk", document, &chunk.key]),
        key: chunk.key.clone(),
        content: chunk.content.clone(),
        section: chunk.section.clone(),
        position: at as u32,
        lines: chunk.lines,
        tags,
        terms: Vec::new(),
        vector: None,
    }
}
