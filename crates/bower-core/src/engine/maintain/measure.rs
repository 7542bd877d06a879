//! Measures and warms a store: the recall of the vector search, and the files.
//! Only warming writes anything.

use jiff::Timestamp;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::index::{embed_page, embed_pending};
use crate::engine::model::embedder_threads;
use crate::engine::timing::milliseconds;
use crate::error::{Error, Result};
use crate::item::{Allowed, Change, RowId, RowSet, Visibility};
use crate::request::{CompactWhen, IndexProgress, RecallReport, StoredPart, WarmReport};
use crate::vector::{DeltaScores, ExactQuery, floats};

/// Rows with their cosines, best first.
type Nearest = Vec<(RowId, f32)>;

/// Rows whose vectors are read at once.
const PAGE: usize = 4_096;
/// Items that are embedded in one transaction while the newest are warmed.
const WARM_PAGE: usize = 64;

impl Engine {
    /// Gets a store ready for questions: makes missing vectors of the present model, writes new rows into the indexes, and reads the
    /// files, so that the operating system has them in memory. `newest` limits the vectors to that many of the newest items.
    pub fn warm(
        &self,
        visibility: &Visibility,
        newest: Option<usize>,
        now: Timestamp,
        progress: &(dyn Fn(IndexProgress) + Sync),
    ) -> Result<WarmReport> {
        visibility.check_everything("warming")?;
        let start = Instant::now();
        let embedded = match newest {
            None => embed_pending(self, now, progress, &|| true)?,
            Some(newest) => embed_newest(self, newest, now, progress)?,
        };
        let compacted = self.compact(CompactWhen::Always)?;
        let (mut files, mut bytes) = (0, 0);
        let parts = self.store.files().into_iter().chain([self.indexes.folder().to_path_buf()]);
        for part in parts {
            each_file(&part, &mut |path| {
                let read = touch(path).map_err(|source| Error::io("read", path, source))?;
                (files, bytes) = (files + 1, bytes + read);
                Ok(())
            })?;
        }
        Ok(WarmReport { embedded, files, bytes, compacted, took_ms: milliseconds(start) })
    }

    /// Returns questions for a measurement: the summaries of at most `most` items, evenly spaced over the store.
    pub fn sample_questions(&self, visibility: &Visibility, most: usize) -> Result<Vec<String>> {
        visibility.check_everything("a measurement")?;
        let newest = self.store.coverage()?.change;
        let rows = spaced(&self.store.text_rows(Change(0), newest)?, most);
        let items = self.store.items(&rows)?.into_iter().flatten();
        Ok(items.map(|item| item.summary).filter(|summary| !summary.trim().is_empty()).collect())
    }

    /// Compares the vector search with comparing all vectors, for the `k` nearest of at most `most` items of the store. `None` if
    /// there is no vector index: everything is compared exactly then.
    pub fn vector_recall(
        &self,
        visibility: &Visibility,
        most: usize,
        k: usize,
    ) -> Result<Option<RecallReport>> {
        visibility.check_everything("a measurement")?;
        let embedder = self
            .model
            .get()
            .map_err(|state| Error::Model { model: state.name.clone(), reason: state.why() })?;
        let (store, model) = (&*self.store, embedder.model());
        let newest = store.coverage()?.change;
        let found = self.indexes.vector(model, store)?;
        let Some(index) = found.good() else { return Ok(None) };
        let upto = index.coverage().change;
        let gone = store.gone(upto, newest)?;
        let mut rows = store.vector_rows(model, Change(0), upto)?;
        rows.retain(|row| !gone.contains(*row));
        let sampled = spaced(&rows, most);
        let queries: Vec<Vec<f32>> =
            store.vectors(model, &sampled)?.into_iter().flatten().map(|half| floats(&half)).collect();
        if queries.is_empty() {
            return Ok(None);
        }
        let (nearest, exact_ms) = nearest(self, model, &rows, &queries, k)?;
        let allowed = Allowed { keep: None, drop: &gone };
        let tier = index.ask(|index| Ok(index.tier().word().to_owned()))?;
        let (mut shares, mut search_ms) = (Vec::with_capacity(queries.len()), 0.0);
        for (query, nearest) in queries.iter().zip(&nearest) {
            let start = Instant::now();
            let mut exact = |rows: &[RowId]| store.vectors(model, rows);
            let (hits, _) = index
                .ask(|index| index.search_with_delta(query, k, allowed, &DeltaScores::new(), &mut exact))?;
            search_ms += milliseconds(start);
            let found: RowSet = hits.iter().map(|hit| hit.row).collect();
            // A row as near as the last of the nearest counts as one of them: equal texts have equal vectors.
            let expected = nearest.len().min(k);
            let last = nearest.get(expected.saturating_sub(1)).map_or(0.0, |(_, cosine)| *cosine);
            let right =
                nearest.iter().filter(|(row, cosine)| *cosine >= last && found.contains(*row)).count();
            shares.push(ratio(right.min(expected), expected.max(1)));
        }
        let whole = shares.iter().filter(|share| **share >= 1.0).count();
        let count = ratio(queries.len(), 1);
        Ok(Some(RecallReport {
            model: model.to_owned(),
            tier,
            vectors: rows.len(),
            sampled: queries.len(),
            k,
            recall: shares.iter().sum::<f64>() / count,
            least: shares.iter().copied().fold(1.0, f64::min),
            whole,
            search_ms: search_ms / count,
            exact_ms: exact_ms / count,
        }))
    }

    /// Returns what the store and each of its indexes take on the disk, the largest first.
    pub fn stored_parts(&self, visibility: &Visibility) -> Result<Vec<StoredPart>> {
        visibility.check_everything("a measurement")?;
        let mut parts: Vec<StoredPart> = Vec::new();
        let mut add = |part: String, path: &Path| -> Result<()> {
            let mut one = StoredPart { part, path: path.to_path_buf(), files: 0, bytes: 0 };
            each_file(path, &mut |file| {
                let size = std::fs::metadata(file).map_err(|source| Error::io("read", file, source))?.len();
                (one.files, one.bytes) = (one.files + 1, one.bytes + size);
                Ok(())
            })?;
            parts.extend(Some(one).filter(|one| one.files > 0));
            Ok(())
        };
        for file in self.store.files() {
            add("store".into(), &file)?;
        }
        if let Ok(entries) = std::fs::read_dir(self.indexes.folder()) {
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                add(format!("index {name}"), &path)?;
            }
        }
        parts.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
        Ok(parts)
    }
}

/// Embeds those of the newest items that have no vector. Row numbers only grow, so the newest have the highest.
fn embed_newest(
    engine: &Engine,
    newest: usize,
    now: Timestamp,
    progress: &(dyn Fn(IndexProgress) + Sync),
) -> Result<usize> {
    let Ok(embedder) = engine.model.get() else { return Ok(0) };
    let upto = engine.store.coverage()?.change;
    let mut rows = engine.store.text_rows(Change(0), upto)?;
    rows.sort_unstable();
    let first = rows.len().saturating_sub(newest);
    let Some(mut after) = rows.get(first).map(|row| RowId(row.0.saturating_sub(1))) else { return Ok(0) };
    let threads = embedder_threads(&engine.settings);
    let (page, mut embedded) = (embedder.batch_texts().unwrap_or(WARM_PAGE), 0);
    while let Some(done) = embed_page(engine, embedder, after, page, threads, now)? {
        let Some(last) = done.last else { break };
        after = last;
        embedded += done.written;
        progress(IndexProgress::Committed { chunks: done.written });
    }
    Ok(embedded)
}

/// For each query its nearest rows with their cosines, best first: `k`, and those as near as the last. Also returns the
/// milliseconds of comparing.
fn nearest(
    engine: &Engine,
    model: &str,
    rows: &[RowId],
    queries: &[Vec<f32>],
    k: usize,
) -> Result<(Vec<Nearest>, f64)> {
    let exact: Vec<ExactQuery<'_>> = queries.iter().map(|query| ExactQuery::new(query)).collect();
    let mut best: Vec<Nearest> = vec![Vec::new(); queries.len()];
    let mut took_ms = 0.0;
    for rows in rows.chunks(PAGE) {
        let vectors = engine.store.vectors(model, rows)?;
        let start = Instant::now();
        for (query, best) in exact.iter().zip(&mut best) {
            let with = rows.iter().zip(&vectors).filter_map(|(row, half)| Some((*row, half.as_deref()?)));
            best.extend(with.map(|(row, half)| (row, query.cosine_f16(half))));
            best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let last = best.get(k.saturating_sub(1)).map_or(f32::NEG_INFINITY, |(_, cosine)| *cosine);
            best.retain(|(_, cosine)| *cosine >= last);
        }
        took_ms += milliseconds(start);
    }
    Ok((best, took_ms))
}

/// Returns at most `most` of the rows, evenly spaced.
fn spaced(rows: &[RowId], most: usize) -> Vec<RowId> {
    rows.iter().copied().step_by(rows.len().div_ceil(most.max(1)).max(1)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Calls `each` for a file, or for every file below a folder. What is not there is passed over.
fn each_file(path: &Path, each: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    if path.is_file() {
        return each(path);
    }
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().try_for_each(|path| each_file(path, each))
}

/// Reads a file to its end, and returns its bytes.
fn touch(path: &Path) -> std::io::Result<u64> {
    let (mut file, mut buffer, mut bytes) = (File::open(path)?, vec![0; 1 << 20], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(bytes),
            read => bytes += read as u64,
        }
    }
}
