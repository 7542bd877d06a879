//! Reads documents from files that a walk finds, or from the caller, and compares them with the store.

use crossbeam_channel::bounded;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::config::Settings;
use crate::engine::Engine;
use crate::engine::curate::write::normal_tag;
use crate::engine::index::matching::{Match, StoredFiles, name_of};
use crate::engine::model::embedder_threads;
use crate::error::{Error, Result};
use crate::ingest::{self, Parsed, WalkEntry, WalkOptions};
use crate::item::{Provenance, RowId, Scope, derive_id};
use crate::rank::time::stamp_day;
use crate::request::{FileProblem, IndexRequest, Skipped};
use crate::store::{
    DeltaData, KeptChunk, KnownDocument, MovedDocument, Namespace, NewChunk, NewDocument, RepositoryFile,
    chunk_id, document_aliases,
};
use crate::vector::in_order;

/// Version of the way documents are cut. Another number makes the next run read everything again.
const RECIPE: u32 = 8;

/// One step of reading.
pub(crate) enum SourceStep {
    /// A note to count.
    Note(Note),
    /// A document whose file is elsewhere now, or in another repository or on another branch.
    Moved(Box<MovedDocument>),
    /// A new or changed document; its terms and vectors are not computed yet.
    Changed(Box<NewDocument>),
}

/// Progress of reading, and the outcome of a file that needs no more work.
pub(crate) enum Note {
    /// A file was found.
    Found,
    /// The walk has ended.
    Walked,
    /// A file is unchanged.
    Unchanged,
    /// A file is left out.
    Skipped(Skipped),
    /// A file was read with problems.
    Problems(Vec<FileProblem>),
}

impl Note {
    /// Takes the problems of a parsed file, if there are any.
    fn of_problems(parsed: &mut Parsed, path: &Path) -> Option<Self> {
        let problems = std::mem::take(&mut parsed.problems);
        let named = |problem| FileProblem { path: path.to_path_buf(), problem };
        (!problems.is_empty()).then(|| Self::Problems(problems.into_iter().map(named).collect()))
    }
}

/// A document that is not a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentInput {
    /// The caller's id; within its collection it takes the place of a file's path.
    pub id: String,
    /// Title.
    pub title: Option<String>,
    /// Text.
    pub text: String,
    /// The content as a file has it; then `text` is not used.
    pub file: Option<FileContent>,
    /// Collection; `None` means the settings' `document_collection`.
    pub collection: Option<String>,
    /// Free fields.
    pub metadata: Map<String, Value>,
    /// The conversation or thread that it is a part of, where several documents are: each counts for the others.
    pub session: Option<String>,
    /// Provenance of a document that is not a file.
    pub provenance: Option<Provenance>,
    /// Host of its writer.
    pub host: Option<String>,
}

/// The bytes of a document, with the name of a file that would have them: it selects their reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileContent {
    /// A name with an extension.
    pub name: String,
    /// Bytes.
    pub bytes: Vec<u8>,
}

/// Documents that belong together, such as the messages of one repository: those whose ids begin with a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSeries {
    /// Their collection; `None` means the settings' `document_collection`.
    pub collection: Option<String>,
    /// The scope of their chunks.
    pub scope: Scope,
    /// The owner of their chunks.
    pub owner: Option<String>,
    /// The beginning of their ids; it ends with `/`.
    pub prefix: String,
}

impl DocumentSeries {
    /// Returns the documents of the series in its collection, and the stored ids of those that are not among them.
    pub(crate) fn compare(
        &self,
        engine: &Engine,
        collection: &str,
        documents: Vec<DocumentInput>,
    ) -> Result<(Vec<DocumentInput>, Vec<String>)> {
        let of_series = |input: &DocumentInput| input.id.starts_with(&self.prefix);
        let documents: Vec<DocumentInput> = documents
            .into_iter()
            .filter(of_series)
            .map(|input| DocumentInput { collection: Some(collection.to_owned()), ..input })
            .collect();
        let wanted: HashSet<&str> = documents.iter().map(|input| input.id.as_str()).collect();
        let is_own = |known: &KnownDocument| {
            known.id == id_at(collection, &known.path, self.scope, self.owner.as_deref())
        };
        let stored = engine.store.documents_below(collection, &self.prefix)?;
        let gone = stored.into_iter().filter(|known| is_own(known) && !wanted.contains(known.path.as_str()));
        let gone = gone.map(|known| known.id).collect();
        Ok((documents, gone))
    }
}

/// Documents that the caller passed.
pub(crate) struct InputSource {
    documents: Vec<DocumentInput>,
    scope: Scope,
    owner: Option<String>,
}

impl InputSource {
    pub(crate) fn new(documents: Vec<DocumentInput>, scope: Scope, owner: Option<String>) -> Self {
        Self { documents, scope, owner }
    }

    /// Returns what the store has of each document, looked up by name, so that a few documents cost the same in a large
    /// store.
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

/// Returns for each document whether the same id comes again later; only the last one counts. Else both would be compared
/// with the store before either is in it.
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
            let is_file = input.file.is_some();
            let (name, bytes, hash) = if let Some(FileContent { name, bytes }) = input.file {
                let hash = ingest::content_hash(&[name.as_bytes(), b"\n", &bytes].concat());
                (PathBuf::from(name), bytes, hash)
            } else {
                let whole = format!("{}\n{}", title.as_deref().unwrap_or(""), input.text);
                let hash = ingest::content_hash(whole.as_bytes());
                // A document that has only a title is found by it.
                let is_bare = input.text.trim().is_empty();
                let text = if is_bare { title.clone().unwrap_or_default() } else { input.text };
                (file.path.clone(), text.into_bytes(), hash)
            };
            if is_same(known[number].as_ref(), &hash, &engine.settings) {
                if each(SourceStep::Note(Note::Found)) && each(SourceStep::Note(Note::Unchanged)) {
                    continue;
                }
                return Ok(());
            }
            let read = match ingest::parse(&name, &bytes, &engine.settings) {
                Err(skipped) => SourceStep::Note(Note::Skipped(Skipped { path: file.path, ..skipped })),
                Ok(mut parsed) => {
                    let problems = Note::of_problems(&mut parsed, &file.path);
                    if problems.is_some_and(|problems| !each(SourceStep::Note(problems))) {
                        return Ok(());
                    }
                    parsed.title = title.or(parsed.title);
                    if is_file {
                        parsed.title = parsed.title.or_else(|| ingest::title_of_name(&file.path));
                        parsed.version = ingest::version_of(&file.path);
                    }
                    parsed.metadata.extend(input.metadata);
                    let chunks = engine.store.chunks(&file.id)?;
                    SourceStep::Changed(Box::new(file.draft(
                        engine,
                        parsed,
                        hash,
                        bytes.len() as u64,
                        &chunks,
                    )))
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
    namespace: Namespace,
    /// Whether the request selects only some of the files, so that a file that was not met may still be wanted.
    is_partial: bool,
    stored: StoredFiles,
    seen: HashSet<String>,
    /// Paths of files whose names are not valid text, by the names that they have here.
    odd: HashMap<String, PathBuf>,
}

impl FileSource {
    /// Starts the walk; a path that does not exist or a bad glob fails here, before anything is read.
    pub(crate) fn open(engine: &Engine, request: &IndexRequest) -> Result<Self> {
        if request.paths.is_empty() {
            return Err(Error::invalid("index", "name at least one file or folder"));
        }
        let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())).collect()
        };
        let options = WalkOptions {
            include: request.include.clone(),
            exclude: request.exclude.clone(),
            max_bytes: engine.settings.max_file_bytes,
            only: real(&request.only),
        };
        let walk = ingest::walk(&request.paths, &options)?;
        let collection =
            request.collection.clone().unwrap_or_else(|| engine.settings.document_collection.clone());
        let documents = engine.store.documents(&collection)?;
        Ok(Self {
            walk: Some(walk),
            is_partial: !request.include.is_empty() || !request.exclude.is_empty(),
            stored: StoredFiles::new(&collection, documents, real(&request.paths), options.only),
            namespace: Namespace { collection, scope: request.scope, owner: request.owner.clone() },
            seen: HashSet::new(),
            odd: HashMap::new(),
        })
    }

    /// Returns the ids of documents at which this run looks and whose files are gone, or may not be indexed any more.
    ///
    /// A file that exists but could not be read keeps its document.
    pub(crate) fn vanished(&self) -> Vec<String> {
        let trees = self.stored.gone_trees();
        let mut gone: Vec<_> = self
            .stored
            .documents()
            .filter(|document| !self.seen.contains(&document.path))
            .filter_map(|document| Some((document, self.stored.path_below(document, &trees)?)))
            .filter(|(document, path)| {
                let path = self.odd.get(&document.path).unwrap_or(path);
                match std::fs::symlink_metadata(path) {
                    Err(source) => source.kind() == std::io::ErrorKind::NotFound,
                    // Opening what took a file's place (a named pipe, say) could wait for ever.
                    Ok(found) => !self.is_partial && (!found.is_file() || std::fs::File::open(path).is_ok()),
                }
            })
            .map(|(document, _)| document.id.clone())
            .collect();
        gone.sort_unstable();
        gone
    }

    /// Compares a file with its document, and passes on what has changed; returns false if the run ends.
    fn look(
        &mut self,
        engine: &Engine,
        Content { path, bytes, hash }: &Content,
        each: &mut dyn FnMut(SourceStep) -> bool,
    ) -> Result<bool> {
        let name = name_of(path);
        if path.to_str().is_none() {
            self.odd.insert(name.clone(), path.clone());
        }
        if self.seen.contains(&name) {
            let reason = format!("another file is called {name} here");
            return Ok(each(SourceStep::Note(Note::Skipped(Skipped { path: path.clone(), reason }))));
        }
        let found = self.stored.find(engine.store.as_ref(), path, &name, hash, &self.namespace)?;
        // A title that is made of the path is a part of every chunk, so it must be read again if it changes.
        let is_unchanged = is_same(found.stored.as_deref(), hash, &engine.settings)
            && !found.is_renamed(path, &name)
            && !self.stored.is_in_other_folder(&found, path, &name);
        if is_unchanged {
            let moved = found.moved(path, &name);
            self.stored.keep(&name, found);
            self.seen.insert(name);
            let moves_on = moved.is_none_or(|moved| each(SourceStep::Moved(Box::new(moved))));
            return Ok(moves_on && each(SourceStep::Note(Note::Unchanged)));
        }
        let mut parsed = match ingest::parse(path, bytes, &engine.settings) {
            Err(skipped) => return Ok(each(SourceStep::Note(Note::Skipped(skipped)))),
            Ok(parsed) => parsed,
        };
        if Note::of_problems(&mut parsed, path).is_some_and(|problems| !each(SourceStep::Note(problems))) {
            return Ok(false);
        }
        parsed.title = parsed.title.or_else(|| ingest::title_of_name(path));
        for (field, value) in RepositoryFile::fields(found.file.as_ref()) {
            // Outside of a repository these names belong to the file's own front matter.
            match value {
                Value::Null if found.file.is_none() => {}
                Value::Null => drop(parsed.metadata.remove(field)),
                value => drop(parsed.metadata.insert(field.to_owned(), value)),
            }
        }
        self.tag_by_folder(engine, path, &found, &mut parsed)?;
        // A document with another id is moved first. Else its path is written with its text.
        let moved = found.moved(path, &name).filter(|moved| moved.id != moved.from_id);
        let file = File {
            id: found.id.clone(),
            path: path.clone(),
            collection: &self.namespace.collection,
            scope: self.namespace.scope,
            owner: self.namespace.owner.clone(),
            session: None,
            provenance: Provenance::FILE,
            host: None,
        };
        let stored_id = found.stored.as_ref().map_or(&found.id, |stored| &stored.id);
        let chunks = engine.store.chunks(stored_id)?;
        let draft = file.draft(engine, parsed, hash.clone(), bytes.len() as u64, &chunks);
        self.stored.keep(&name, found);
        self.seen.insert(name);
        let moves_on = moved.is_none_or(|moved| each(SourceStep::Moved(Box::new(moved))));
        Ok(moves_on && each(SourceStep::Changed(Box::new(draft))))
    }
}

impl FileSource {
    /// Gives a document without tags of its own the name of its folder as a tag. Files directly in what is indexed get none:
    /// that folder has a name for the machine, or is named by nobody. A file that is indexed by its own path later keeps
    /// the tag that it got when its folder was indexed.
    fn tag_by_folder(&self, engine: &Engine, path: &Path, found: &Match, parsed: &mut Parsed) -> Result<()> {
        let Some(tag) = ingest::folder_tag(path).and_then(|tag| normal_tag(&tag).ok()) else { return Ok(()) };
        if parsed
            .tags
            .iter()
            .chain(parsed.chunks.iter().flat_map(|chunk| &chunk.tags))
            .any(|tag| normal_tag(tag).is_ok())
        {
            return Ok(());
        }
        let was_tagged = || match found
            .stored
            .as_ref()
            .filter(|stored| ingest::folder_tag(Path::new(&stored.path)) == ingest::folder_tag(path))
        {
            Some(stored) => engine.store.is_written(&stored.id, &tag),
            None => Ok(false),
        };
        if self.stored.is_in_folder(path) || was_tagged()? {
            parsed.chunks.iter_mut().for_each(|chunk| chunk.tags.push(tag.clone()));
        }
        Ok(())
    }
}

impl Source for FileSource {
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(SourceStep) -> bool) -> Result<()> {
        let Some(walk) = self.walk.take() else { return Ok(()) };
        let (found, parts) = bounded(WALK_AHEAD);
        std::thread::scope(|threads| {
            // The walk ends early if nobody receives what it finds.
            threads.spawn(move || walk_parts(walk, &mut |part| found.send(part).is_ok()));
            for part in parts {
                for content in read_all(engine, &part) {
                    let go_on = each(SourceStep::Note(Note::Found))
                        && match content {
                            Err(skipped) => each(SourceStep::Note(Note::Skipped(skipped))),
                            Ok(content) => self.look(engine, &content, each)?,
                        };
                    if !go_on {
                        return Ok(());
                    }
                }
            }
            each(SourceStep::Note(Note::Walked));
            Ok(())
        })
    }
}

/// Cuts a walk into parts whose files are read at once, until `each` returns false.
fn walk_parts(walk: ingest::Walk, each: &mut dyn FnMut(Vec<WalkEntry>) -> bool) {
    let (mut part, mut total) = (Vec::new(), 0);
    for entry in walk {
        if let WalkEntry::File { bytes, .. } = &entry {
            total += bytes;
        }
        part.push(entry);
        if part.len() >= READ_AHEAD || total >= READ_AHEAD_BYTES {
            total = 0;
            if !each(std::mem::take(&mut part)) {
                return;
            }
        }
    }
    if !part.is_empty() {
        each(part);
    }
}

/// Number of parts that the walk may be ahead of reading.
const WALK_AHEAD: usize = 2;
/// Number of files that are read at once: a run over unchanged files mostly waits for them.
const READ_AHEAD: usize = 256;
/// Bytes of files that are read at once, without the last one.
const READ_AHEAD_BYTES: u64 = 32 << 20;

/// A file as it was read.
struct Content {
    path: PathBuf,
    bytes: Vec<u8>,
    hash: String,
}

/// Reads files on several threads, and returns them in their order.
fn read_all(engine: &Engine, entries: &[WalkEntry]) -> Vec<std::result::Result<Content, Skipped>> {
    let most = engine.settings.max_file_bytes;
    in_order(embedder_threads(&engine.settings), entries.len(), |at| match &entries[at] {
        WalkEntry::Skipped(skipped) => Err(skipped.clone()),
        WalkEntry::File { path, .. } => {
            let bytes = ingest::read(path, most)?;
            Ok(Content { path: path.clone(), hash: ingest::content_hash(&bytes), bytes })
        }
    })
}

/// Returns the settings by which a document is cut: another value means reading it again.
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

/// Returns the id of a document that the caller passed. Its path is a name that other owners may give to theirs. A document
/// of the whole project has the id that a file of this path has.
pub(super) fn id_at(collection: &str, path: &str, scope: Scope, owner: Option<&str>) -> String {
    match (scope, owner) {
        (Scope::Project, None) => derive_id(&["document", collection, path]),
        (scope, owner) => derive_id(&["document", collection, path, scope.word(), owner.unwrap_or("")]),
    }
}

/// Returns the session of a short text whose title only says when it was written: those of one day are turns of one conversation.
/// A text of several chunks is a context of its own.
fn stamped_session(parsed: &Parsed) -> Option<String> {
    let title = parsed.title.as_deref().filter(|_| parsed.chunks.len() == 1)?;
    stamp_day(title).map(|day| day.to_string())
}

/// Data of a document before it is parsed.
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
    /// Compares a parsed document with its stored chunks.
    fn draft(
        self,
        engine: &Engine,
        parsed: Parsed,
        hash: String,
        bytes: u64,
        stored: &[(String, RowId)],
    ) -> NewDocument {
        let path = name_of(&self.path);
        let id = self.id;
        // The title is a part of what is embedded, and the owner decides who may see it: if one changes, the chunks are new.
        let title = parsed.title.as_deref().unwrap_or("");
        let mut place = vec![title, self.scope.word(), self.owner.as_deref().unwrap_or("")];
        let session = self.session.or_else(|| stamped_session(&parsed));
        place.extend(session.as_deref());
        // Other names are names of every chunk in the graph.
        let aliases = document_aliases(&parsed.metadata).join("\n");
        place.extend(Some(aliases.as_str()).filter(|aliases| !aliases.is_empty()));
        let key = |chunk_key: &str| derive_id(&[place.as_slice(), &[chunk_key]].concat());
        let mut chunks = parsed.chunks;
        for chunk in &mut chunks {
            chunk.key = key(&chunk.key);
        }
        let diff = ingest::diff(stored, &chunks);
        let kept = diff.kept.iter().map(|&(row, at)| KeptChunk {
            row,
            position: at as u32,
            lines: chunks[at].lines,
            tags: stored_tags(&chunks[at].tags),
        });
        let kept = kept.collect();
        let added = diff.added.iter().map(|&at| new_chunk(&id, &chunks[at], at)).collect();
        NewDocument {
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
            session,
            provenance: self.provenance,
            host: self.host,
            kept,
            added,
            removed: diff.removed,
            id,
        }
    }
}

/// Returns the tags of a file as they are stored. Invalid ones are dropped one by one; a document is never refused for them.
fn stored_tags(tags: &[String]) -> Vec<String> {
    tags.iter().filter_map(|tag| normal_tag(tag).ok()).collect()
}

fn new_chunk(document: &str, chunk: &ingest::Chunk, at: usize) -> NewChunk {
    NewChunk {
        id: chunk_id(document, &chunk.key),
        key: chunk.key.clone(),
        content: chunk.content.clone(),
        section: chunk.section.clone(),
        position: at as u32,
        lines: chunk.lines,
        tags: stored_tags(&chunk.tags),
        delta: DeltaData::default(),
        vector: None,
    }
}

/// A source of documents.
pub(crate) trait Source: Send {
    /// Reads documents and passes each step to `each`, until that returns false.
    fn read(&mut self, engine: &Engine, each: &mut dyn FnMut(SourceStep) -> bool) -> Result<()>;
}
