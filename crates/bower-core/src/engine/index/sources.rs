//! Reads documents from files found by a walk, or from those handed in, and compares them with the store.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::config::Settings;
use crate::engine::Engine;
use crate::engine::curate::write::normal_tags;
use crate::error::{Error, Result};
use crate::ingest::{self, Parsed, WalkEntry, WalkOptions};
use crate::item::{Provenance, Scope, derive_id};
use crate::request::{IndexRequest, Skipped};
use crate::store::{KeptChunk, KnownDocument, Namespace, NewChunk, NewDocument};

/// The number of the way documents are cut. Another number makes the next run read everything again.
const RECIPE: u32 = 1;

/// One step of reading.
pub(crate) enum SourceStep {
    /// Something to count.
    Note(Note),
    /// It is new or has changed; its terms and vectors are still to be made.
    Changed(Box<NewDocument>),
}

/// What became of a file that needs no more work.
pub(crate) enum Note {
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
    /// Whose words it is, where it is no file.
    pub provenance: Option<Provenance>,
    /// The program that its writer runs in.
    pub host: Option<String>,
}

/// Documents handed in.
pub(crate) struct InputSource {
    documents: Vec<DocumentInput>,
    scope: Scope,
    owner: Option<String>,
}

impl InputSource {
    pub(crate) fn new(documents: Vec<DocumentInput>, scope: Scope, owner: Option<String>) -> Self {
        Self { documents, scope, owner }
    }

    /// What the store has of each document: looked up by name, so that a few documents cost the same in a large store.
    fn known(&self, engine: &Engine) -> Result<Vec<Option<KnownDocument>>> {
        let mut known = Vec::with_capacity(self.documents.len());
        for run in self.documents.chunk_by(|one, next| one.collection == next.collection) {
            let ids: Vec<_> = run.iter().map(|input| input.id.as_str()).collect();
            let collection = collection_of(engine, &run[0]).to_owned();
            let place = Namespace { collection, scope: self.scope, owner: self.owner.clone() };
            known.extend(engine.store.documents_at(&place, &ids)?);
        }
        Ok(known)
    }
}

fn collection_of<'a>(engine: &'a Engine, input: &'a DocumentInput) -> &'a str {
    input.collection.as_deref().unwrap_or(&engine.settings.document_collection)
}

/// For each document, whether the same id comes again later, so that only the last one counts. Both would be compared with
/// the store before either is in it.
fn replaced(engine: &Engine, documents: &[DocumentInput]) -> Vec<bool> {
    let mut last = HashSet::new();
    let mut replaced: Vec<bool> = documents
        .iter()
        .rev()
        .map(|input| !last.insert((collection_of(engine, input), input.id.as_str())))
        .collect();
    replaced.reverse();
    replaced
}

impl Source for InputSource {
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(SourceStep) -> bool) -> Result<()> {
        let known = self.known(engine)?;
        let replaced = replaced(engine, &self.documents);
        for (number, input) in std::mem::take(&mut self.documents).into_iter().enumerate() {
            if replaced[number] {
                let reason = "it is given again in the same call; the last one counts".into();
                let skipped = Skipped { path: PathBuf::from(&input.id), reason };
                if each(SourceStep::Note(Note::Found)) && each(SourceStep::Note(Note::Skipped(skipped))) {
                    continue;
                }
                return Ok(());
            }
            let collection = collection_of(engine, &input).to_owned();
            let id = match &known[number] {
                Some(known) => known.id.clone(),
                None => id_at(&collection, &input.id, self.scope, self.owner.as_deref()),
            };
            let file = File {
                id,
                path: PathBuf::from(&input.id),
                collection: &collection,
                scope: self.scope,
                owner: self.owner.clone(),
                session: input.session,
                provenance: input.provenance.unwrap_or(Provenance::FILE),
                host: input.host,
            };
            let title = input.title.filter(|title| !title.trim().is_empty());
            let hash = ingest::content_hash(
                format!("{}\n{}", title.as_deref().unwrap_or(""), input.text).as_bytes(),
            );
            // A document of a title alone is found by it.
            let is_bare = input.text.trim().is_empty();
            let text = if is_bare { title.clone().unwrap_or_default() } else { input.text };
            if is_same(known[number].as_ref(), &hash, &engine.settings) {
                if each(SourceStep::Note(Note::Found)) && each(SourceStep::Note(Note::Unchanged)) {
                    continue;
                }
                return Ok(());
            }
            let read = match ingest::parse(&file.path, text.as_bytes(), &engine.settings) {
                Err(skipped) => SourceStep::Note(Note::Skipped(skipped)),
                Ok(mut parsed) => {
                    parsed.title = title.or(parsed.title);
                    parsed.metadata.extend(input.metadata);
                    SourceStep::Changed(Box::new(file.draft(engine, parsed, hash, text.len() as u64)?))
                }
            };
            if !(each(SourceStep::Note(Note::Found)) && each(read)) {
                return Ok(());
            }
        }
        each(SourceStep::Note(Note::Walked));
        Ok(())
    }
}

/// The files of one `index` request.
pub(crate) struct FileSource {
    walk: Option<ingest::Walk>,
    roots: Vec<PathBuf>,
    collection: String,
    scope: Scope,
    owner: Option<String>,
    /// Whether the request asked for only some of the files, so that one which was not met may still be wanted.
    is_partial: bool,
    known: HashMap<String, KnownDocument>,
    seen: HashSet<String>,
    /// The paths of files that were met whose names are no text, by the names that they have here.
    odd: HashMap<String, PathBuf>,
}

impl FileSource {
    /// Starts the walk; a path that does not exist or a bad glob fails here, before anything is read.
    pub(crate) fn open(engine: &Engine, request: &IndexRequest) -> Result<Self> {
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
            odd: HashMap::new(),
        })
    }

    /// The documents below the request's paths whose files are gone, or may not be indexed any more.
    ///
    /// A file that is there but could not be read keeps what the store has of it.
    pub(crate) fn vanished(&self) -> Vec<String> {
        let below = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let mut gone: Vec<_> = self
            .known
            .values()
            .filter(|document| !self.seen.contains(&document.path) && below(Path::new(&document.path)))
            .filter(|document| {
                let path = self.odd.get(&document.path).map_or(Path::new(&document.path), PathBuf::as_path);
                match std::fs::symlink_metadata(path) {
                    Err(source) => source.kind() == std::io::ErrorKind::NotFound,
                    // Opening what took a file's place (a named pipe, say) could wait for ever.
                    Ok(found) => !self.is_partial && (!found.is_file() || std::fs::File::open(path).is_ok()),
                }
            })
            .map(|document| document.id.clone())
            .collect();
        gone.sort_unstable();
        gone
    }

    fn look(&mut self, engine: &Engine, path: &Path) -> Result<SourceStep> {
        let name = name_of(path);
        if path.to_str().is_none() {
            self.odd.insert(name.clone(), path.to_path_buf());
        }
        if self.seen.contains(&name) {
            let reason = format!("another file is called {name} here");
            return Ok(SourceStep::Note(Note::Skipped(Skipped { path: path.to_path_buf(), reason })));
        }
        let bytes = match ingest::read(path, engine.settings.max_file_bytes) {
            Ok(bytes) => bytes,
            Err(skipped) => return Ok(SourceStep::Note(Note::Skipped(skipped))),
        };
        let hash = ingest::content_hash(&bytes);
        if is_same(self.known.get(&name), &hash, &engine.settings) {
            self.seen.insert(name);
            return Ok(SourceStep::Note(Note::Unchanged));
        }
        match ingest::parse(path, &bytes, &engine.settings) {
            Err(skipped) => Ok(SourceStep::Note(Note::Skipped(skipped))),
            Ok(parsed) => {
                let id = derive_id(&["document", &self.collection, &name]);
                self.seen.insert(name);
                let file = File {
                    id,
                    path: path.to_path_buf(),
                    collection: &self.collection,
                    scope: self.scope,
                    owner: self.owner.clone(),
                    session: None,
                    provenance: Provenance::FILE,
                    host: None,
                };
                Ok(SourceStep::Changed(Box::new(file.draft(engine, parsed, hash, bytes.len() as u64)?)))
            }
        }
    }
}

impl Source for FileSource {
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(SourceStep) -> bool) -> Result<()> {
        let Some(walk) = self.walk.take() else { return Ok(()) };
        for found in walk {
            let go_on = match found {
                WalkEntry::Skipped(skipped) => {
                    each(SourceStep::Note(Note::Found)) && each(SourceStep::Note(Note::Skipped(skipped)))
                }
                WalkEntry::File { path, .. } => {
                    each(SourceStep::Note(Note::Found)) && {
                        let read = self.look(engine, &path)?;
                        each(read)
                    }
                }
            };
            if !go_on {
                return Ok(());
            }
        }
        each(SourceStep::Note(Note::Walked));
        Ok(())
    }
}

fn known_documents(engine: &Engine, collection: &str) -> Result<HashMap<String, KnownDocument>> {
    // A document that was handed in for somebody under the path of a file is not that file.
    let is_file = |known: &KnownDocument| known.id == derive_id(&["document", collection, &known.path]);
    let documents = engine.store.documents(collection)?.into_iter().filter(is_file);
    Ok(documents.map(|document| (document.path.clone(), document)).collect())
}

/// What a file is called here: its path, with `\xff` for each byte that is no text, so that two such files are two documents.
#[cfg(unix)]
fn name_of(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string never fails.
            let _ = write!(name, "\\x{byte:02x}");
        }
    }
    name
}

#[cfg(not(unix))]
fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
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

/// The id of a document that is handed in: its path is a name that others may give to theirs. What is everybody's has the id that a
/// file of this path has.
fn id_at(collection: &str, path: &str, scope: Scope, owner: Option<&str>) -> String {
    match (scope, owner) {
        (Scope::Project, None) => derive_id(&["document", collection, path]),
        (scope, owner) => derive_id(&["document", collection, path, scope.word(), owner.unwrap_or("")]),
    }
}

/// What is known of a document before it is parsed.
struct File<'a> {
    id: String,
    path: PathBuf,
    collection: &'a str,
    scope: Scope,
    owner: Option<String>,
    session: Option<String>,
    provenance: Provenance,
    host: Option<String>,
}

impl File<'_> {
    /// Compares a parsed document with the store's chunks of it.
    fn draft(self, engine: &Engine, parsed: Parsed, hash: String, bytes: u64) -> Result<NewDocument> {
        let path = name_of(&self.path);
        let id = self.id;
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
        Ok(NewDocument {
            collection: self.collection.to_owned(),
            file_name: self.path.file_name().map_or_else(|| path.clone(), |name| name_of(Path::new(name))),
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
            provenance: self.provenance,
            host: self.host,
            kept,
            added,
            removed: diff.removed,
            id,
        })
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

/// Where documents come from.
pub(crate) trait Source: Send {
    /// Reads on, giving each step to `each` until it says stop (false).
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(SourceStep) -> bool) -> Result<()>;
}
