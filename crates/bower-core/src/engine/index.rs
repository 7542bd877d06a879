//! Indexes documents in a pipeline with bounded queues: one reader, one embedder per core, one writer.
//! The reader walks, hashes, parses and compares; the caller's thread commits; another thread compacts meanwhile. A document
//! is committed whole or not at all, so a killed run is simply run again.
//!
//! Documents are committed in the order in which they are read, and transactions and compactions are cut by counts, never by
//! time. So the same documents give the same rows, the same segments and the same scores, whatever the threads do.

pub(crate) mod compact;
mod matching;
pub(crate) mod sources;
mod work;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use jiff::Timestamp;
use std::collections::HashSet;
use std::time::Instant;

use crate::cpu_time::thread_seconds;
use crate::embed::Embedder;
use crate::engine::late::{missing_codes, new_vector, vector_for};
use crate::engine::mentions;
use crate::engine::model::embedder_threads;
use crate::engine::timing::milliseconds;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::{Channel, Coverage, RowId, Scope, Visibility, indexed_text};
use crate::request::{CompactWhen, Degraded, IndexProgress, IndexReport, IndexRequest};
use crate::store::{IndexedText, MovedDocument, NewDocument, NewVector, Stamp};
use crate::vector::in_order;
use compact::CompactionLock;
use sources::{DocumentInput, DocumentSeries, Note, Source, SourceStep};
use work::{Assembly, Embedded, WorkUnit};

/// Length of a queue between two stages: enough that no stage waits for another, few enough to stay small.
const QUEUE: usize = 64;
/// Most units that are with the embedders or wait for an earlier one: how far one embedder may run ahead of another with a
/// long unit. The waiting units stay below 10 MB: 16 chunks a unit, some 2.5 kB a chunk with its vector and codes.
const WINDOW: usize = 4 * QUEUE;
/// Fewest chunks of a commit; a document without new ones counts as one. It is about a second of two embedders' work, which
/// is what a killed run loses, while other writers wait for some 25 ms.
const BATCH_CHUNKS: usize = 256;
/// Fewest chunks of a commit without a model: nothing is slow then, and other writers wait for about a tenth of a second.
const BATCH_CHUNKS_OF_WORDS: usize = 1_024;
/// Fewest moved documents of a commit, except for the last one. Other writers wait for about a tenth of a second.
const BATCH_MOVES: usize = 4_096;
/// Length of the writer's queue: a batch of moved documents with two notes each, so that the next files are read while one
/// is committed. What is large, units with their vectors, is bounded by the window.
const STEPS: usize = 3 * BATCH_MOVES;
/// Number of chunks after which a long run compacts, beside its writer, so that questions asked meanwhile stay fast.
const COMPACT_EVERY: usize = 25_000;

/// Seconds of CPU that each stage used, for the report's `model_share`.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    model: f64,
    rest: f64,
}

pub(crate) fn index_files(
    engine: &Engine,
    request: &IndexRequest,
    now: Timestamp,
    progress: &(dyn Fn(IndexProgress) + Sync),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<IndexReport> {
    let files = sources::FileSource::open(engine, request)?;
    let (mut report, files) = run(engine, files, now, progress, go_on)?;
    let vanished = files.vanished();
    report.removed = vanished.len();
    if !vanished.is_empty() {
        report.chunks_removed += engine.store.remove_documents(&vanished, Stamp { now, actor: ACTOR })?;
    }
    Ok(report)
}

pub(crate) fn add_documents(
    engine: &Engine,
    documents: Vec<DocumentInput>,
    scope: Scope,
    owner: Option<String>,
    now: Timestamp,
) -> Result<IndexReport> {
    run(engine, sources::InputSource::new(documents, scope, owner), now, &|_| {}, &|| true)
        .map(|(report, _)| report)
}

fn run<S: Source>(
    engine: &Engine,
    mut source: S,
    now: Timestamp,
    progress: &(dyn Fn(IndexProgress) + Sync),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<(IndexReport, S)> {
    let start = Instant::now();
    let mut report = IndexReport::default();
    let (to_embed, units) = bounded::<WorkUnit>(QUEUE);
    let (to_write, steps) = bounded::<Step>(STEPS);
    let (enter, window) = bounded::<()>(WINDOW);
    // Each compaction goes up to the requested change and takes no later rows, however late it starts.
    let (to_compact, compactions) = unbounded::<Coverage>();
    let outcome = std::thread::scope(|threads| {
        let compactor = threads.spawn(move || {
            let before = thread_seconds();
            // If a compaction fails, its rows wait, and the compaction at the end reports the reason.
            compactions
                .iter()
                .try_for_each(|upto| engine.compact_upto(CompactWhen::Due, Some(&upto)).map(drop))
                .ok();
            thread_seconds() - before
        });
        let reader = {
            let (to_write, source) = (to_write.clone(), &mut source);
            threads.spawn(move || {
                let before = thread_seconds();
                let outcome = read(engine, source, &enter, &to_embed, &to_write);
                (outcome, thread_seconds() - before)
            })
        };
        let embedders: Vec<_> = (0..embedder_threads(&engine.settings))
            .map(|_| {
                let (units, to_write) = (units.clone(), to_write.clone());
                threads.spawn(move || embed_units(engine, &units, &to_write))
            })
            .collect();
        // The writer's queue ends when the last of the other stages drops its end.
        drop((units, to_write));
        let before = thread_seconds();
        let mut batch = Batch::new(engine, to_compact, now);
        if engine.model.get().is_err() {
            batch.most = BATCH_CHUNKS_OF_WORDS;
        }
        let written = write(batch, steps, window, progress, go_on, &mut report);
        let mut cpu = Cpu { model: 0.0, rest: thread_seconds() - before };
        let (read, spent) = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        cpu.rest += spent;
        for embedder in embedders {
            let spent = embedder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            cpu.model += spent.model;
            cpu.rest += spent.rest;
        }
        cpu.rest += compactor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(read).map(|()| cpu)
    });
    // Large transactions let the log grow. If it cannot be emptied now, the next process that finds it long does it. The
    // commits are valid either way.
    engine.store.tidy(CompactWhen::Due).ok();
    let cpu = outcome?;
    // At the end, because a damaged model is noticed only while it is used.
    report.degraded.extend(without_vectors(engine));
    report.model_share = if cpu.model > 0.0 { cpu.model / (cpu.model + cpu.rest) } else { 0.0 };
    report.took_ms = milliseconds(start);
    Ok((report, source))
}

/// A message to the writer.
enum Step {
    Note(Note),
    Moved(Box<MovedDocument>),
    Embedded(Result<Embedded>),
}

/// Reads while there is room in the window: the writer makes room when a unit no longer waits for an earlier one.
fn read(
    engine: &Engine,
    source: &mut impl Source,
    enter: &Sender<()>,
    to_embed: &Sender<WorkUnit>,
    to_write: &Sender<Step>,
) -> Result<()> {
    let mut number = 0;
    source.read(engine, &mut |read| match read {
        SourceStep::Changed(draft) => {
            work::units(*draft, &mut number).all(|unit| enter.send(()).is_ok() && to_embed.send(unit).is_ok())
        }
        SourceStep::Moved(document) => to_write.send(Step::Moved(document)).is_ok(),
        SourceStep::Note(note) => to_write.send(Step::Note(note)).is_ok(),
    })
}

/// Informs the writer when an embedder panics: its unit never arrives, and everything after it would wait for ever.
struct Alarm<'a>(&'a Sender<Step>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // If the writer has ended, nobody waits. The panic itself is passed on to the caller.
            self.0.send(Step::Embedded(Err(cancelled()))).ok();
        }
    }
}

/// Embeds units until the reader has no more, or until the writer has ended.
fn embed_units(engine: &Engine, units: &Receiver<WorkUnit>, to_write: &Sender<Step>) -> Cpu {
    let mut cpu = Cpu::default();
    let _alarm = Alarm(to_write);
    // What a service embeds is written first: the texts are sent many at once afterwards.
    let is_service = engine.model.batch_texts().is_some();
    for unit in units {
        let before = thread_seconds();
        let mut model = 0.0;
        let embedded = unit.embed(|document, chunk| {
            let text = indexed_text(document.title.as_deref(), chunk.section.as_deref(), &chunk.content);
            let start = thread_seconds();
            let vector = if is_service { Ok(None) } else { vector_for(engine, &text) };
            model += thread_seconds() - start;
            Ok((mentions::of_chunk(document, chunk, &text), vector?))
        });
        cpu.model += model;
        cpu.rest += thread_seconds() - before - model;
        if to_write.send(Step::Embedded(embedded)).is_err() {
            break;
        }
    }
    cpu
}

/// Receives steps in any order, and commits whole documents in batches, in the order in which they were read.
///
/// It owns the window, so that the reader, which may wait for room in it, ends with the writer.
fn write(
    mut batch: Batch<'_>,
    steps: Receiver<Step>,
    window: Receiver<()>,
    progress: &(dyn Fn(IndexProgress) + Sync),
    go_on: &(dyn Fn() -> bool + Sync),
    report: &mut IndexReport,
) -> Result<()> {
    let mut assembly = Assembly::default();
    // Each unit took its place in the window before it was sent.
    let make_room = move || window.try_recv().unwrap_or_default();
    let mut found = 0;
    for step in steps {
        if !go_on() {
            // The other stages end with the queue; the next run reads again what is not committed.
            return Err(cancelled());
        }
        match step {
            Step::Note(Note::Found) => {
                found += 1;
                report.files += 1;
                progress(IndexProgress::Found { files: found });
            }
            Step::Note(Note::Walked) => progress(IndexProgress::Walked { files: found }),
            Step::Note(Note::Unchanged) => {
                report.unchanged += 1;
                progress(IndexProgress::File { chunks: 0 });
            }
            Step::Note(Note::Skipped(skipped)) => {
                report.skipped.push(skipped);
                progress(IndexProgress::File { chunks: 0 });
            }
            Step::Note(Note::Problems(problems)) => report.problems.extend(problems),
            Step::Moved(document) => batch.moves(*document, report)?,
            Step::Embedded(embedded) => {
                let documents = assembly.take(embedded?, &make_room);
                for document in documents {
                    report.indexed += 1;
                    report.chunks_kept += document.kept.len();
                    report.embedded += document.added.iter().filter(|chunk| chunk.vector.is_some()).count();
                    progress(IndexProgress::File { chunks: document.added.len() });
                    batch.push(document, report, progress)?;
                }
            }
        }
    }
    batch.commit(report, progress)
}

/// Documents that wait for one transaction.
struct Batch<'a> {
    engine: &'a Engine,
    to_compact: Sender<Coverage>,
    now: Timestamp,
    /// Number of chunks at which the batch is committed.
    most: usize,
    documents: Vec<NewDocument>,
    /// Documents at other paths. They are written before the documents, which may already have ids that these get.
    moved: Vec<MovedDocument>,
    chunks: usize,
    uncompacted: usize,
}

impl<'a> Batch<'a> {
    fn new(engine: &'a Engine, to_compact: Sender<Coverage>, now: Timestamp) -> Self {
        let (documents, moved) = (Vec::new(), Vec::new());
        Self { engine, to_compact, now, most: BATCH_CHUNKS, documents, moved, chunks: 0, uncompacted: 0 }
    }

    fn moves(&mut self, document: MovedDocument, report: &mut IndexReport) -> Result<()> {
        report.moved += usize::from(document.path != document.from_path);
        self.moved.push(document);
        if self.moved.len() >= BATCH_MOVES { self.commit_moves() } else { Ok(()) }
    }

    fn commit_moves(&mut self) -> Result<()> {
        if !self.moved.is_empty() {
            self.engine.store.move_documents(&self.moved, Stamp { now: self.now, actor: ACTOR })?;
            self.moved.clear();
        }
        Ok(())
    }

    fn push(
        &mut self,
        document: NewDocument,
        report: &mut IndexReport,
        progress: &(dyn Fn(IndexProgress) + Sync),
    ) -> Result<()> {
        self.chunks += document.added.len().max(1);
        self.documents.push(document);
        if self.chunks >= self.most { self.commit(report, progress) } else { Ok(()) }
    }

    fn commit(&mut self, report: &mut IndexReport, progress: &(dyn Fn(IndexProgress) + Sync)) -> Result<()> {
        self.commit_moves()?;
        if self.documents.is_empty() {
            return Ok(());
        }
        let written =
            self.engine.store.put_documents(&self.documents, Stamp { now: self.now, actor: ACTOR })?;
        let (added, removed) =
            written.iter().fold((0, 0), |sum, one| (sum.0 + one.added, sum.1 + one.removed));
        report.chunks_added += added;
        report.chunks_removed += removed;
        progress(IndexProgress::Committed { chunks: added });
        self.documents.clear();
        self.chunks = 0;
        self.uncompacted += added;
        if self.uncompacted >= COMPACT_EVERY {
            self.uncompacted = 0;
            // If an earlier compaction failed, nobody receives this; the end of the run reports the failure.
            self.to_compact.send(self.engine.store.coverage()?).ok();
        }
        Ok(())
    }
}

fn cancelled() -> Error {
    Error::Cancelled { what: "indexing" }
}

/// Returns what a report says if items got no vectors.
fn without_vectors(engine: &Engine) -> Option<Degraded> {
    let reason = engine.model.why_none()?;
    Some(Degraded { channel: Channel::Vector.into(), reason })
}

/// Number of rows that get vectors from a model on this machine in one transaction.
const PENDING_PAGE: usize = 64;

/// What came of embedding some rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmbeddedRows {
    /// The last of them; `None` if no row waits.
    pub(crate) last: Option<RowId>,
    /// Their number.
    pub(crate) asked: usize,
    /// Those with a vector now.
    pub(crate) written: usize,
    /// Those that a service gave no vector.
    pub(crate) refused: usize,
}

/// Embeds at most `most` rows after a row, and writes their vectors in one transaction. `None` if the model turned out to be
/// damaged, or a service embedded none of them.
pub(crate) fn embed_page(
    engine: &Engine,
    embedder: &dyn Embedder,
    after: RowId,
    most: usize,
    threads: usize,
    now: Timestamp,
) -> Result<Option<EmbeddedRows>> {
    let upto = engine.store.coverage()?.change;
    let rows = engine.store.unembedded(embedder.model(), after, most)?;
    let (last, asked) = (rows.last().copied(), rows.len());
    if rows.is_empty() {
        return Ok(Some(EmbeddedRows { last, asked, written: 0, refused: 0 }));
    }
    let Some(vectors) = embed_rows(engine, &rows, threads)? else { return Ok(None) };
    let refused = asked - vectors.len();
    let written = engine.store.put_vectors(&vectors, upto, Stamp { now, actor: ACTOR })?;
    Ok(Some(EmbeddedRows { last, asked, written, refused }))
}

/// Embeds the items that have no vector of the engine's model, and then those that have none of its stand-in's. Returns the
/// number of the first.
pub(crate) fn embed_pending(
    engine: &Engine,
    now: Timestamp,
    progress: &(dyn Fn(IndexProgress) + Sync),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<usize> {
    let embedded = embed_missing(engine, now, progress, go_on)?;
    if let Some(stand_in) = engine.stand_in()
        && embed_missing(stand_in, now, &|_| (), go_on)? > 0
    {
        stand_in.compact(CompactWhen::Due)?;
    }
    Ok(embedded)
}

fn embed_missing(
    engine: &Engine,
    now: Timestamp,
    progress: &(dyn Fn(IndexProgress) + Sync),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<usize> {
    let Ok(embedder) = engine.model.get() else { return Ok(0) };
    let (mut embedded, mut after) = (0, RowId(0));
    let most = embedder.batch_texts().unwrap_or(PENDING_PAGE);
    let threads = embedder_threads(&engine.settings);
    let mut right = None;
    loop {
        if !go_on() {
            return Err(cancelled());
        }
        // A worker of another process gives way after its batch.
        if right.is_none() && !engine.store.unembedded(embedder.model(), after, 1)?.is_empty() {
            right = CompactionLock::to_embed(engine.indexes.folder(), CompactWhen::Always)?;
        }
        let Some(page) = embed_page(engine, embedder, after, most, threads, now)? else {
            return Ok(embedded);
        };
        // Rows that change while they are embedded wait for the next run.
        let Some(last) = page.last else { break };
        after = last;
        embedded += page.written;
        progress(IndexProgress::Committed { chunks: page.written });
    }
    // Codes are stored in their index alone, so they are computed again if it was lost.
    for rows in missing_codes(engine, embedder)?.chunks(PENDING_PAGE) {
        let upto = engine.store.coverage()?.change;
        if !go_on() {
            return Err(cancelled());
        }
        let Some(made) = embed_rows(engine, rows, threads)? else { return Ok(embedded) };
        let codes: Vec<_> =
            made.into_iter().filter_map(|(row, vector)| Some((row, vector.tokens?))).collect();
        let written = engine.store.put_codes(&codes, upto, Stamp { now, actor: ACTOR })?;
        progress(IndexProgress::Committed { chunks: written });
    }
    Ok(embedded)
}

/// Embeds rows; `None` if the model turned out to be damaged, or a service embedded none of them.
fn embed_rows(engine: &Engine, rows: &[RowId], threads: usize) -> Result<Option<Vec<(RowId, NewVector)>>> {
    let texts = engine.store.texts(rows)?;
    if engine.model.batch_texts().is_some() {
        return embed_at_service(engine, &texts);
    }
    let embed = |at: usize| Ok(vector_for(engine, &texts[at].text)?.map(|vector| (texts[at].row, vector)));
    in_order(threads, texts.len(), embed).into_iter().collect()
}

/// Embeds texts by one call of a service. Those that it refuses wait for the next run; reports name one of the reasons.
fn embed_at_service(engine: &Engine, texts: &[IndexedText]) -> Result<Option<Vec<(RowId, NewVector)>>> {
    let contents: Vec<&str> = texts.iter().map(|text| &*text.text).collect();
    let mut refused = None;
    let vectors = engine.model.give(|embedder| {
        let mut vectors = Vec::with_capacity(texts.len());
        for (text, made) in texts.iter().zip(embedder.embed_texts(&contents)) {
            match made {
                Ok(made) => vectors.push((text.row, new_vector(embedder, made))),
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        match refused.take() {
            Some(error) if vectors.is_empty() => Err(error),
            other => {
                refused = other;
                Ok(vectors)
            }
        }
    });
    if let Some(error) = &refused {
        engine.model.note_failure(error);
    }
    vectors
}

impl Engine {
    /// Reads files into a collection: walk, parse, compare, embed, commit, compact.
    ///
    /// Only changed files are read again, vanished files are removed, and a killed run is continued by the next. A path
    /// belongs to one scope and owner, so a caller that is limited to one of them may index nothing.
    ///
    /// The run goes on while `go_on` returns true; it is called between documents, from several threads. Else the run returns
    /// [`Error::Cancelled`]; what was committed stays, and the next run goes on from there.
    ///
    /// [`Error::Cancelled`]: crate::error::Error::Cancelled
    pub fn index(
        &self,
        visibility: &Visibility,
        request: &IndexRequest,
        now: Timestamp,
        progress: &(dyn Fn(IndexProgress) + Sync),
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<IndexReport> {
        let collection = request.collection.as_ref().unwrap_or(&self.settings.document_collection);
        visibility.check_place(collection, request.scope, request.owner.as_deref())?;
        Visibility { collections: None, ..visibility.clone() }.check_everything("indexing files")?;
        let mut report = index_files(self, request, now, progress, go_on)?;
        report.embedded += embed_pending(self, now, progress, go_on)?;
        if report.degraded.is_empty() {
            report.degraded.extend(without_vectors(self));
        }
        progress(IndexProgress::Compacting);
        self.compact(CompactWhen::Always)?;
        Ok(report)
    }

    /// Adds documents that are not files (a BEIR corpus, a page from elsewhere), in the same way as [`Engine::index`]. They
    /// are compacted when enough of them wait, so that small additions stay cheap. All of them belong to one scope and owner.
    pub fn add_documents(
        &self,
        visibility: &Visibility,
        documents: Vec<DocumentInput>,
        (scope, owner): (Scope, Option<String>),
        now: Timestamp,
    ) -> Result<IndexReport> {
        for document in &documents {
            let collection = document.collection.as_ref().unwrap_or(&self.settings.document_collection);
            visibility.check_place(collection, scope, owner.as_deref())?;
        }
        let report = add_documents(self, documents, scope, owner, now)?;
        self.compact(CompactWhen::Due)?;
        Ok(report)
    }

    /// Makes a series consist of these documents: adds and renews them, and removes the others of the series. Unchanged
    /// ones cost one lookup each. They are compacted when enough of them wait.
    pub fn put_series(
        &self,
        visibility: &Visibility,
        series: &DocumentSeries,
        documents: Vec<DocumentInput>,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<IndexReport> {
        self.write_series(visibility, series, documents, &|_, others| others, now, go_on)
    }

    /// Adds and renews documents of a series, and removes those with the ids `gone`; the others of the series stay. In other
    /// things it is as [`Engine::put_series`].
    pub fn renew_series(
        &self,
        visibility: &Visibility,
        series: &DocumentSeries,
        documents: Vec<DocumentInput>,
        gone: &[String],
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<IndexReport> {
        let listed = |collection: &str, others: Vec<String>| {
            let id = |id: &String| sources::id_at(collection, id, series.scope, series.owner.as_deref());
            let gone: HashSet<String> = gone.iter().map(id).collect();
            others.into_iter().filter(|id| gone.contains(id)).collect()
        };
        self.write_series(visibility, series, documents, &listed, now, go_on)
    }

    /// Writes documents of a series. `removed` selects which of the other stored ones are removed, of the ids in a collection.
    fn write_series(
        &self,
        visibility: &Visibility,
        series: &DocumentSeries,
        documents: Vec<DocumentInput>,
        removed: &dyn Fn(&str, Vec<String>) -> Vec<String>,
        now: Timestamp,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<IndexReport> {
        let collection = series.collection.as_ref().unwrap_or(&self.settings.document_collection);
        visibility.check_place(collection, series.scope, series.owner.as_deref())?;
        let (documents, others) = series.compare(self, collection, documents)?;
        let gone = removed(collection, others);
        if documents.is_empty() && gone.is_empty() {
            return Ok(IndexReport::default());
        }
        let source = sources::InputSource::new(documents, series.scope, series.owner.clone());
        let (mut report, _) = run(self, source, now, &|_| {}, go_on)?;
        report.removed = gone.len();
        report.chunks_removed += self.store.remove_documents(&gone, Stamp { now, actor: ACTOR })?;
        self.compact(CompactWhen::Due)?;
        Ok(report)
    }

    /// Embeds the items that have no vector of the present model, and returns their number.
    pub fn embed_pending(&self, now: Timestamp, progress: &(dyn Fn(IndexProgress) + Sync)) -> Result<usize> {
        embed_pending(self, now, progress, &|| true)
    }
}
