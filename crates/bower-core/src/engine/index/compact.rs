//! Compacts indexes: writes their deltas into the next generation, under a lock that dies with its process.
//! The store is read. At the end one short transaction drops from it what only the deltas needed, so compaction does not hold
//! up writers for long. A reader keeps the generation that it opened.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::engine::Engine;
use crate::engine::indexes::{Derived, IndexState, VECTORS, covered, guarded};
use crate::engine::mentions;
use crate::error::{Error, Result};
use crate::item::{Change, Coverage, RowId, RowSet};
use crate::request::CompactWhen;
use crate::store::{Covered, IndexedText, KeptTerms, Store};
use crate::{files, graph, text, tokens, vector};

/// Number of changed rows that wait, however small the index. A compaction takes some 10 ms before its first row
/// (`forget_one` of `bower-bench scale-writes`), and .04 ms for each of these rows. They add half a millisecond to a
/// question.
const LEAST_WAITING: usize = 256;

/// Share of an index's rows that wait before a compaction: one in this many. A store that grows to n rows is compacted about
/// log(n) times until the settings' `compact_after` is reached. From there on it is compacted after each so many rows.
const WAITING_SHARE: u64 = 4;

/// Whether `waiting` changed rows are worth compacting into an index of `indexed` rows; `most` is the settings'
/// `compact_after`.
fn is_worth_compacting(waiting: usize, indexed: u64, most: usize) -> bool {
    let share = usize::try_from(indexed / WAITING_SHARE).unwrap_or(usize::MAX);
    waiting > share.max(LEAST_WAITING).min(most)
}

/// Memory for terms that are not yet written, in bytes.
const COMPACTION_MEMORY: usize = 64 << 20;

/// Name of the file whose lock is the right to compact.
pub(crate) const LOCK: &str = "fold.lock";
/// Name of the file whose lock is the right to embed the rows that wait.
const EMBED_LOCK: &str = "embed.lock";
/// Name of the file whose lock only one worker has, as long as rows wait.
const WORKER_LOCK: &str = "worker.lock";

/// Number of rows that a compaction reads from the store at once.
const PAGE: usize = 512;

impl Engine {
    /// Brings the indexes up to date; returns false if nothing was due or another process is compacting.
    pub fn compact(&self, when: CompactWhen) -> Result<bool> {
        self.compact_upto(when, None)
    }

    /// Compacts up to a change: what was written later is left to the next compaction. `None` takes all there is.
    pub(crate) fn compact_upto(&self, when: CompactWhen, upto: Option<&Coverage>) -> Result<bool> {
        let due = self.due(when, upto)?;
        if !due.text && !due.vector && !due.tokens && !due.graph {
            return Ok(false);
        }
        let Some(_lock) = CompactionLock::take(self.indexes.folder(), when)? else { return Ok(false) };
        // Another process may have compacted while this one waited for the lock.
        let due = self.due(when, upto)?;
        if due.text {
            self.compact_text(upto)?;
        }
        if due.vector
            && let Ok(embedder) = self.model.get()
        {
            self.compact_vectors(embedder.model(), embedder.dimension(), upto)?;
        }
        if due.tokens
            && let Some(scheme) = self.model.tokens()
        {
            self.compact_tokens(scheme, upto)?;
        }
        if due.graph {
            self.compact_graph(false, upto)?;
        }
        self.indexes.reopen();
        self.tidy_store(when)?;
        Ok(true)
    }

    /// Returns the coverage that a compaction reaches.
    fn next(&self, upto: Option<&Coverage>) -> Result<Coverage> {
        upto.map_or_else(|| self.store.coverage(), |upto| Ok(upto.clone()))
    }

    fn due(&self, when: CompactWhen, upto: Option<&Coverage>) -> Result<Due> {
        let store = &*self.store;
        let newest = self.next(upto)?.change;
        let text = self.indexes.text(store)?;
        let gone = |store: &dyn Store, after, upto| store.gone(after, upto);
        let text = self.is_due(when, newest, &text, |after| store.text_rows(after, newest), gone)?;
        let vector = match self.model.get() {
            Ok(embedder) => {
                let model = embedder.model();
                let vector = self.indexes.vector(model, store)?;
                let fresh = |after| store.vector_rows(model, after, newest);
                self.is_due(when, newest, &vector, fresh, gone)?
            }
            Err(_) => false,
        };
        let tokens = match self.model.tokens() {
            Some(scheme) => {
                let tokens = self.indexes.tokens(scheme, store)?;
                let fresh = |after| store.code_rows(scheme, after, newest);
                self.is_due(when, newest, &tokens, fresh, gone)?
            }
            None => false,
        };
        let graph = self.indexes.graph(store)?;
        let fresh = |after| mentions::changed_rows(store, after, newest);
        let graph = self.is_due(when, newest, &graph, fresh, mentions::gone)?;
        Ok(Due { text, vector, tokens, graph })
    }

    /// Whether an index is due for compaction; `fresh` returns the rows written for it after a change, and `gone` those that
    /// it must not find any more.
    fn is_due<T: Derived>(
        &self,
        when: CompactWhen,
        newest: Change,
        found: &IndexState<T>,
        fresh: impl FnOnce(Change) -> Result<Vec<RowId>>,
        gone: impl Fn(&dyn Store, Change, Change) -> Result<RowSet>,
    ) -> Result<bool> {
        let after = covered(found);
        let indexed = match found {
            IndexState::Unusable(_) => return Ok(true),
            // An older version wrote it without checksums.
            IndexState::Good(index) if !index.has_sums() => return Ok(true),
            IndexState::Good(_) if after >= newest => return Ok(false),
            IndexState::Good(index) => Some(index.rows()),
            IndexState::Absent => None,
        };
        let fresh = fresh(after)?.len();
        // Rows that were removed or replaced wait too: each question leaves them out.
        let gone = || indexed.map_or(Ok(0), |_| gone(&*self.store, after, newest).map(|gone| gone.len()));
        Ok(match when {
            CompactWhen::Always => fresh > 0 || (T::FORGETS && gone()? > 0),
            CompactWhen::Due => {
                is_worth_compacting(fresh.max(gone()?), indexed.unwrap_or(0), self.settings.compact_after)
            }
        })
    }

    /// Drops from the store what only the deltas needed. A store that cannot be written keeps it longer, which is harmless.
    pub(crate) fn tidy_store(&self, when: CompactWhen) -> Result<()> {
        let store = &*self.store;
        let text = covered(&self.indexes.text(store)?);
        let graph = covered(&self.indexes.graph(store)?);
        let vector = self.least_covered_vectors()?;
        let mut tokens = None;
        if let Some(scheme) = self.model.tokens() {
            let found = self.indexes.tokens(scheme, store)?;
            // Without an index, no index contains removed rows.
            tokens = found.good().map(|index| (scheme, index.coverage().change));
        }
        let released = store.release(&Covered { text, graph, vector, tokens });
        match released.and_then(|()| store.tidy(when)) {
            Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn compact_text(&self, upto: Option<&Coverage>) -> Result<()> {
        self.compact_text_by(false, upto)
    }

    pub(crate) fn compact_text_by(&self, purge: bool, upto: Option<&Coverage>) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.text_dir());
        // An index that turns out to be damaged is put aside, and the second attempt has none to build on.
        self.indexes.again(|| {
            let found = self.indexes.text(store)?;
            clear_unusable(&found, &dir)?;
            let after = covered(&found);
            let next = self.next(upto)?;
            let gone = store.gone(after, next.change)?;
            let rows = store.text_rows(after, next.change)?;
            let mut fresh = pages(&rows, |page| fresh_texts(store, page));
            let plan = text::CompactionPlan { next, gone: &gone, memory_bytes: COMPACTION_MEMORY, purge };
            match found.good() {
                Some(index) => index.ask(|_| text::compact(&dir, &plan, &mut fresh)),
                None => guarded(&dir, || text::compact(&dir, &plan, &mut fresh)),
            }
        })
    }

    /// Returns the change up to which every vector index holds the store, those of models that no longer answer too: such a model
    /// may return, and then its index has to know which rows are gone.
    fn least_covered_vectors(&self) -> Result<Change> {
        let store = &*self.store;
        let (mut least, own) = match self.model.get() {
            Ok(embedder) => {
                let index = self.indexes.vector(embedder.model(), store)?;
                (covered(&index), Some(self.indexes.vector_dir(embedder.model())))
            }
            Err(_) => (Change(0), None),
        };
        for (dir, name) in entries(self.indexes.folder())? {
            if name.starts_with(VECTORS) && own.as_ref() != Some(&dir) {
                let found = self.indexes.other::<vector::VectorIndex>(&dir, store)?;
                least = found.good().map_or(least, |index| least.min(index.coverage().change));
            }
        }
        Ok(least)
    }

    pub(crate) fn compact_vectors(
        &self,
        model: &str,
        dimension: usize,
        upto: Option<&Coverage>,
    ) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.vector_dir(model));
        self.indexes.again(|| {
            let found = self.indexes.vector(model, store)?;
            clear_unusable(&found, &dir)?;
            let after = covered(&found);
            let next = self.next(upto)?;
            let gone = store.gone(after, next.change)?;
            let rows = store.vector_rows(model, after, next.change)?;
            let mut fresh = pages(&rows, |page| fresh_vectors(store, model, page));
            let mut compact = |current: Option<&_>| {
                vector::compact(&dir, current, next.clone(), model, dimension, &gone, &mut fresh)
            };
            match found.good() {
                Some(index) => index.ask(|index| compact(Some(index))),
                None => guarded(&dir, || compact(None)),
            }
        })
    }

    pub(crate) fn compact_graph(&self, purge: bool, upto: Option<&Coverage>) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.graph_dir());
        self.indexes.again(|| {
            let found = self.indexes.graph(store)?;
            clear_unusable(&found, &dir)?;
            let after = covered(&found);
            let next = self.next(upto)?;
            let gone = mentions::gone(store, after, next.change)?;
            let rows = mentions::changed_rows(store, after, next.change)?;
            let mut fresh = pages(&rows, |page| mentions::of_rows(store, page));
            let mut compact =
                |current: Option<&_>| graph::compact(&dir, current, next.clone(), &gone, purge, &mut fresh);
            match found.good() {
                Some(index) => index.ask(|index| compact(Some(index))),
                None => guarded(&dir, || compact(None)),
            }
        })
    }

    pub(crate) fn compact_tokens(&self, scheme: &str, upto: Option<&Coverage>) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.tokens_dir(scheme));
        self.indexes.again(|| {
            let found = self.indexes.tokens(scheme, store)?;
            let saved = found.unusable().map_or(Ok(None), |_| saved_codes(store, &dir, scheme))?;
            clear_unusable(&found, &dir)?;
            let after = covered(&found);
            let next = self.next(upto)?;
            let gone = store.gone(after, next.change)?;
            let rows = store.code_rows(scheme, after, next.change)?;
            let fresh = pages(&rows, |page| fresh_codes(store, scheme, page));
            let saved = saved.as_ref().map(|saved| saved.rows(store, &rows, next.change)).transpose()?;
            let mut fresh = in_order_of_rows(fresh, saved.into_iter().flatten());
            let mut compact =
                |current: Option<&_>| tokens::compact(&dir, current, next.clone(), scheme, &gone, &mut fresh);
            match found.good() {
                Some(index) => index.ask(|index| compact(Some(index))),
                None => guarded(&dir, || compact(None)),
            }
        })
    }
}

/// Intact rows of a damaged index of token codes; otherwise only the model could compute them again. The files stay mapped
/// when they are removed.
struct SavedCodes {
    index: tokens::TokenIndex,
    rows: Vec<tokens::WholeRow>,
}

/// Reads the intact rows; `None` if none can be verified, or the index is of another scheme, store or history.
fn saved_codes(store: &dyn Store, dir: &Path, scheme: &str) -> Result<Option<SavedCodes>> {
    let opened = guarded(dir, || {
        let index = tokens::TokenIndex::open(dir)?.filter(|index| index.model() == scheme);
        Ok(index.map(|index| SavedCodes { rows: index.whole_rows(), index }))
    });
    match opened {
        Ok(Some(saved)) if store.confirms(saved.index.coverage())? => Ok(Some(saved)),
        // An index that does not even open has nothing to save.
        Ok(_) | Err(_) => Ok(None),
    }
}

impl SavedCodes {
    /// Returns its rows, ascending, without those that are gone or have newer codes in the store.
    fn rows(
        &self,
        store: &dyn Store,
        newer: &[RowId],
        upto: Change,
    ) -> Result<impl Iterator<Item = Result<(RowId, Vec<u8>)>> + '_> {
        let mut stale = store.gone(self.index.coverage().change, upto)?;
        stale.add_all(&newer.iter().copied().collect());
        let rows = self.rows.iter().filter(move |whole| !stale.contains(whole.row));
        Ok(rows.map(|whole| Ok((whole.row, self.index.codes_of(*whole)?.to_vec()))))
    }
}

/// Merges two ascending lists of different rows. An error is returned as soon as its list has it.
fn in_order_of_rows<T>(
    one: impl Iterator<Item = Result<(RowId, T)>>,
    two: impl Iterator<Item = Result<(RowId, T)>>,
) -> impl Iterator<Item = Result<(RowId, T)>> {
    let (mut one, mut two) = (one.peekable(), two.peekable());
    std::iter::from_fn(move || match (one.peek(), two.peek()) {
        (Some(Ok((first, _))), Some(Ok((second, _)))) if second < first => two.next(),
        (Some(_), _) => one.next(),
        (None, _) => two.next(),
    })
}

/// Whether a compaction is due for each index.
#[allow(clippy::struct_excessive_bools, reason = "one for each index")]
struct Due {
    text: bool,
    vector: bool,
    tokens: bool,
    graph: bool,
}

fn clear_unusable<T: Derived>(found: &IndexState<T>, dir: &Path) -> Result<()> {
    match found {
        IndexState::Unusable(_) if dir.exists() => {
            std::fs::remove_dir_all(dir).map_err(|source| Error::io("remove the unusable index", dir, source))
        }
        IndexState::Unusable(_) | IndexState::Absent | IndexState::Good(_) => Ok(()),
    }
}

/// Returns the terms of rows, ascending: the stored ones, or those of their texts where none are stored or an older version
/// stored them.
fn fresh_texts(store: &dyn Store, rows: &[RowId]) -> Result<Vec<text::FreshText>> {
    let (mut fresh, mut bare) = (Vec::with_capacity(rows.len()), Vec::new());
    for KeptTerms { row, parent, terms } in store.delta_terms(rows)? {
        match terms.filter(|terms| text::is_whole(terms)) {
            Some(terms) => fresh.push(text::FreshText { row, parent, terms }),
            None => bare.push(row),
        }
    }
    if !bare.is_empty() {
        fresh.extend(store.texts(&bare)?.into_iter().map(|IndexedText { row, parent, text, .. }| {
            let terms = text::encode_terms(&text);
            text::FreshText { row, parent, terms }
        }));
        fresh.sort_unstable_by_key(|fresh| fresh.row);
    }
    Ok(fresh)
}

pub(crate) fn fresh_vectors(
    store: &dyn Store,
    model: &str,
    page: &[RowId],
) -> Result<Vec<(RowId, Vec<f32>)>> {
    let vectors = store.vectors(model, page)?;
    let whole = page.iter().zip(vectors).filter_map(|(row, half)| half.map(|half| (*row, half)));
    Ok(whole.map(|(row, half)| (row, vector::floats(&half))).collect())
}

pub(crate) fn fresh_codes(store: &dyn Store, scheme: &str, page: &[RowId]) -> Result<Vec<(RowId, Vec<u8>)>> {
    let codes = store.codes(scheme, page)?;
    Ok(page.iter().zip(codes).filter_map(|(row, codes)| Some((*row, codes?))).collect())
}

/// Returns the entries of a folder, by path and name; none where there is no folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    let list = match std::fs::read_dir(folder) {
        Ok(list) => list,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("list", folder, source)),
    };
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.map_err(|source| Error::io("list", folder, source))?;
        Ok((entry.path(), entry.file_name().to_string_lossy().into_owned()))
    };
    list.map(entry).collect()
}

pub(crate) fn remove_folder(dir: &Path) -> Result<()> {
    if dir.exists() { remove(dir) } else { Ok(()) }
}

/// Removes a file or folder that belongs to no index.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.map_err(|source| Error::io("remove", path, source))
}

/// Loads rows a page at a time.
pub(crate) fn pages<'a, T: 'a>(
    rows: &'a [RowId],
    load: impl Fn(&[RowId]) -> Result<Vec<T>> + 'a,
) -> impl Iterator<Item = Result<T>> + 'a {
    rows.chunks(PAGE).flat_map(move |page| match load(page) {
        Ok(loaded) => loaded.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    })
}

/// The right to compact, or to embed. The operating system releases it when its process ends, however it ends.
pub(crate) struct CompactionLock {
    _file: File,
}

impl CompactionLock {
    /// Takes the right to compact. `CompactWhen::Due` returns `None` if another process compacts. `CompactWhen::Always` waits
    /// for it, because its compaction may be older than what this one wants.
    pub(crate) fn take(folder: &Path, when: CompactWhen) -> Result<Option<Self>> {
        Self::of(folder, LOCK, when)
    }

    /// Takes the right to embed the rows that wait for their vector, in the same way: two processes would compute them twice,
    /// and a service would be paid twice.
    pub(crate) fn to_embed(folder: &Path, when: CompactWhen) -> Result<Option<Self>> {
        Self::of(folder, EMBED_LOCK, when)
    }

    /// Takes the right to work in the background; `None` if another process has it.
    pub(crate) fn of_worker(folder: &Path) -> Result<Option<Self>> {
        Self::of(folder, WORKER_LOCK, CompactWhen::Due)
    }

    fn of(folder: &Path, name: &str, when: CompactWhen) -> Result<Option<Self>> {
        files::create_folder(folder).map_err(|source| Error::io("create the folder", folder, source))?;
        let path = folder.join(name);
        let file =
            files::open_or_create(&path).map_err(|source| Error::io("open the lock", &path, source))?;
        let taken = match when {
            CompactWhen::Always => file.lock().map_err(TryLockError::Error),
            CompactWhen::Due => file.try_lock(),
        };
        match taken {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::engine::DocumentInput;
    use crate::item::{Scope, Visibility};
    use crate::request::QueryRequest;
    use jiff::Timestamp;

    #[test]
    fn a_larger_index_waits_for_more_rows_up_to_a_limit() {
        let check = |indexed, most, limit| {
            assert!(!is_worth_compacting(limit, indexed, most), "{indexed} {most}");
            assert!(is_worth_compacting(limit + 1, indexed, most), "{indexed} {most}");
        };
        check(0, 2_000, 256);
        check(1_024, 2_000, 256);
        check(4_000, 2_000, 1_000);
        check(1_000_000, 2_000, 2_000);
        check(1_000_000, 7, 7);
    }

    /// A store that grows by single rows compacts so seldom that each row is written a few times in all.
    #[test]
    fn growing_compacts_a_row_as_often_as_its_logarithm() {
        let (mut indexed, mut waiting, mut compactions) = (0, 0, 0);
        for _ in 0..100_000 {
            waiting += 1;
            if is_worth_compacting(waiting, indexed, usize::MAX) {
                (indexed, waiting, compactions) = (indexed + waiting as u64, 0, compactions + 1);
            }
        }
        assert!((20..40).contains(&compactions), "{compactions}");
    }

    /// A compaction during a long run does not depend on how far the writer has come meanwhile.
    #[test]
    fn a_compaction_as_of_a_change_leaves_what_was_written_later() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp::from_second(1_790_000_000).unwrap();
        let settings = Settings { model: "none".into(), ..Settings::default() };
        let engine = Engine::open(home.path(), settings, now).unwrap();
        let add = |from: u32, to: u32, text: &str| {
            let input = |at: u32| DocumentInput {
                id: at.to_string(),
                text: format!("{text} of number {at}"),
                ..DocumentInput::default()
            };
            let documents = (from..to).map(input).collect();
            let place = (Scope::Project, None);
            engine.add_documents(&Visibility::everything(), documents, place, now).unwrap();
        };
        let held = || {
            engine
                .indexes
                .text(&*engine.store)
                .unwrap()
                .good()
                .map(|index| (index.rows(), index.coverage().change))
        };
        add(0, 3, "cod");
        let then = engine.store.coverage().unwrap();
        add(3, 5, "eel");
        // One of the first three is replaced: its old row is gone.
        add(1, 2, "perch");
        assert!(engine.compact_upto(CompactWhen::Always, Some(&then)).unwrap());
        assert_eq!(held(), Some((2, then.change)));
        assert!(!engine.compact_upto(CompactWhen::Always, Some(&then)).unwrap(), "it holds that already");
        let found = |word: &str| {
            let asked = QueryRequest { text: word.into(), ..QueryRequest::default() };
            engine.query(&Visibility::everything(), &asked, now).unwrap().hits.len()
        };
        assert_eq!(["cod", "eel", "perch"].map(found), [2, 2, 1]);
        assert!(engine.compact(CompactWhen::Always).unwrap());
        assert_eq!(held(), Some((5, engine.store.coverage().unwrap().change)));
        assert_eq!(["cod", "eel", "perch"].map(found), [2, 2, 1]);
        assert!(!engine.compact_upto(CompactWhen::Always, Some(&then)).unwrap(), "an index never goes back");
    }
}
