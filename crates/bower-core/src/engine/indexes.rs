//! Opens the indexes of one store and keeps them open while they are current.
//! An index that does not match the store is never searched. The next question uses a newer generation that another process
//! wrote.
//!
//! An index is read through [`OpenIndex::ask`] and nowhere else. Damage found there (a block that does not match its
//! checksum, an error of the index, a panic) puts the index aside. The answer is discarded, a mark in its folder informs
//! every process, and the next compaction rebuilds it. [`Indexes::again`] then repeats the request, which finds the rows in
//! the store.

use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Location, Result};
use crate::graph::{self, GraphIndex};
use crate::item::{Change, Coverage, hex};
use crate::store::Store;
use crate::text::{self, Language, TextIndex};
use crate::tokens::{self, TokenIndex};
use crate::vector::{self, VectorIndex};

/// Language of the text index. A store has one for now; the index contains it, so a change rebuilds the index.
pub(crate) const LANGUAGE: Language = Language::English;

/// Beginning of the name of a vector index's folder; the model's identity follows.
pub(crate) const VECTORS: &str = "vectors-";

/// File in an index's folder that marks a generation as unusable. It has a line with the SHA-256 of that generation's
/// manifest, and one with the reason. It does not apply to a later generation.
const MARK: &str = "unusable";

/// Time between two checks whether an open file was changed in place: 30 files take some 50 microseconds. A changed index is
/// read and compared anew.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Number of kinds of index: a request is repeated without each index that it found damaged.
const KINDS: usize = 4;

pub(crate) struct Indexes {
    folder: PathBuf,
    text: Slot<TextIndex>,
    vector: Slot<VectorIndex>,
    tokens: Slot<TokenIndex>,
    graph: Slot<GraphIndex>,
    /// Number of times that an index was put aside.
    put_aside: Arc<AtomicUsize>,
}

/// State of an index when it was opened.
pub(crate) enum IndexState<T> {
    /// There is none: everything is in the delta.
    Absent,
    /// It matches the store.
    Good(Arc<OpenIndex<T>>),
    /// It is damaged, or was made from another store or another history; the next compaction rebuilds it.
    Unusable(String),
}

impl<T> Clone for IndexState<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Good(index) => Self::Good(Arc::clone(index)),
            Self::Unusable(reason) => Self::Unusable(reason.clone()),
        }
    }
}

impl<T: Derived> IndexState<T> {
    pub(crate) fn good(&self) -> Option<&OpenIndex<T>> {
        match self {
            Self::Good(index) => Some(index),
            Self::Absent | Self::Unusable(_) => None,
        }
    }

    /// Returns the result of `ask`; `None` where there is no index that can be read.
    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&T) -> Result<R>) -> Result<Option<R>> {
        self.good().map(|index| index.ask(ask)).transpose()
    }

    /// Returns the reason why an existing index cannot be read.
    pub(crate) fn unusable(&self) -> Option<&str> {
        match self {
            Self::Unusable(reason) => Some(reason),
            Self::Absent | Self::Good(_) => None,
        }
    }
}

/// An open index, as long as it can be trusted.
pub(crate) struct OpenIndex<T> {
    index: T,
    dir: PathBuf,
    /// State of its manifest before it was opened.
    look: Option<Look>,
    /// State of its files, and the time of the last check.
    files: Vec<(PathBuf, Option<Look>)>,
    looked: Mutex<Instant>,
    /// Reason why it is no longer read.
    damage: OnceLock<String>,
    put_aside: Arc<AtomicUsize>,
}

impl<T: Derived> OpenIndex<T> {
    /// Returns the result of `ask`. An index that is damaged, fails or panics is put aside, and the error is returned.
    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let asked = guarded(&self.dir, || ask(&self.index));
        match (asked, self.index.damage()) {
            (Ok(answer), None) => Ok(answer),
            (Err(error), None) if !is_damage(&error, &self.dir) => Err(error),
            (Err(error), None) | (Ok(_) | Err(_), Some(error)) => {
                self.put_aside(&error.to_string());
                Err(error)
            }
        }
    }

    pub(crate) fn coverage(&self) -> &Coverage {
        self.index.coverage()
    }

    /// Returns the number of its rows.
    pub(crate) fn rows(&self) -> u64 {
        self.index.rows()
    }

    /// Whether its blocks have checksums.
    pub(crate) fn has_sums(&self) -> bool {
        self.index.has_sums()
    }

    /// Whether its files contain rows that must not be found any more.
    pub(crate) fn keeps_dead(&self) -> bool {
        self.index.keeps_dead()
    }

    /// Takes it out of use, in every process. Best effort: a folder that cannot be written gets no mark, and other processes
    /// find the damage themselves.
    fn put_aside(&self, reason: &str) {
        if self.damage.set(reason.to_owned()).is_ok() {
            let manifest = self.dir.join(T::MANIFEST);
            if let (true, Ok(bytes)) = (look(&manifest) == self.look, std::fs::read(&manifest)) {
                let line = reason.replace('\n', " ");
                let _ = crate::files::write(
                    &self.dir.join(MARK),
                    format!("{}\n{line}\n", key_of(&bytes)).as_bytes(),
                );
            }
        }
        self.put_aside.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether one of its files was changed in place since it was opened; false if it is too early for another check.
    fn is_changed(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < LOOK_EVERY {
            return false;
        }
        *looked = Instant::now();
        self.files.iter().any(|(path, seen)| look(path) != *seen)
    }
}

/// Runs code that may read damaged files: a panic becomes an error of the index in `dir`. It does not catch panics of
/// tantivy's writer threads; no damaged data reaches them (`text/compact.rs`).
pub(crate) fn guarded<R>(dir: &Path, run: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::index("read", dir, format!("it panicked: {text}")))
    })
}

/// Whether an error means that the index in `dir` cannot be trusted. A lack of memory or file handles, a full disk, and
/// errors of the store do not mean that.
fn is_damage(error: &Error, dir: &Path) -> bool {
    match error {
        Error::Corrupt { at: Location::File(path), .. } | Error::Index { path, .. } => {
            path.starts_with(dir) && !is_exhausted(error)
        }
        Error::IndexFile { path, source, .. } => {
            let is_refused = source.kind() == std::io::ErrorKind::PermissionDenied;
            path.starts_with(dir) && !is_refused && !is_exhausted(error)
        }
        Error::Corrupt { at: Location::Server { .. }, .. }
        | Error::Io { .. }
        | Error::DiskFull { .. }
        | Error::ReadOnly { .. }
        | Error::Busy { .. }
        | Error::NewerSchema { .. }
        | Error::NotAStore { .. }
        | Error::Store { .. }
        | Error::Unreachable { .. }
        | Error::TimedOut { .. }
        | Error::Denied { .. }
        | Error::Model { .. }
        | Error::ModelNeeded { .. }
        | Error::Invalid { .. }
        | Error::InvalidFilter { .. }
        | Error::InvalidId { .. }
        | Error::UnknownEntity { .. }
        | Error::Cancelled { .. }
        | Error::Outside { .. }
        | Error::WholeStore { .. }
        | Error::NotFound { .. } => false,
    }
}

/// Whether the cause is that this process has no more memory or file handles (EMFILE, ENFILE, ENOMEM).
fn is_exhausted(error: &Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        let found = cause.downcast_ref::<std::io::Error>();
        if found.is_some_and(|io| {
            io.kind() == std::io::ErrorKind::OutOfMemory || matches!(io.raw_os_error(), Some(12 | 23 | 24))
        }) {
            return true;
        }
        source = cause.source();
    }
    false
}

fn key_of(manifest: &[u8]) -> String {
    hex(&Sha256::digest(manifest))
}

/// Returns the reason for which the generation in a folder was put aside; `None` if it was not.
fn marked(dir: &Path, manifest: &str) -> Option<String> {
    let mark = std::fs::read_to_string(dir.join(MARK)).ok()?;
    let (key, reason) = mark.split_once('\n')?;
    let bytes = std::fs::read(dir.join(manifest)).ok()?;
    (key == key_of(&bytes)).then(|| reason.trim_end().to_owned())
}

/// Interface of all kinds of index.
pub(crate) trait Derived: Sized {
    fn open(dir: &Path) -> Result<Option<Self>>;
    fn coverage(&self) -> &Coverage;
    /// Returns the number of its rows.
    fn rows(&self) -> u64;
    /// Whether its blocks have checksums.
    fn has_sums(&self) -> bool;
    /// Returns the damage that was found while it was read.
    fn damage(&self) -> Option<Error>;
    /// Whether its files contain rows that must not be found any more.
    fn keeps_dead(&self) -> bool;
    /// Returns the files that it has opened.
    fn paths(&self) -> Vec<PathBuf>;
    /// The file that a new generation replaces last.
    const MANIFEST: &'static str;
    /// Whether forgetting compacts it even for removals alone, because its files could reveal the forgotten text.
    const FORGETS: bool;
}

impl Derived for TextIndex {
    fn open(dir: &Path) -> Result<Option<Self>> {
        TextIndex::open(dir)
    }

    fn coverage(&self) -> &Coverage {
        self.coverage()
    }

    fn rows(&self) -> u64 {
        self.len()
    }

    fn has_sums(&self) -> bool {
        self.has_sums()
    }

    fn damage(&self) -> Option<Error> {
        self.damage()
    }

    fn keeps_dead(&self) -> bool {
        self.keeps_dead()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.paths()
    }

    const MANIFEST: &'static str = text::MANIFEST;
    const FORGETS: bool = true;
}

/// Implements [`Derived`] for an index of segments, with its manifest and whether it forgets.
macro_rules! derived_segments {
    ($index:ty, $manifest:expr, $forgets:expr) => {
        impl Derived for $index {
            fn open(dir: &Path) -> Result<Option<Self>> {
                <$index>::open(dir)
            }

            fn coverage(&self) -> &Coverage {
                self.coverage()
            }

            fn rows(&self) -> u64 {
                self.len() as u64
            }

            fn has_sums(&self) -> bool {
                self.has_sums()
            }

            fn damage(&self) -> Option<Error> {
                self.damage()
            }

            fn keeps_dead(&self) -> bool {
                self.keeps_dead()
            }

            fn paths(&self) -> Vec<PathBuf> {
                self.paths()
            }

            const MANIFEST: &'static str = $manifest;
            const FORGETS: bool = $forgets;
        }
    };
}

derived_segments!(VectorIndex, vector::MANIFEST, false);
derived_segments!(TokenIndex, tokens::MANIFEST, true);
derived_segments!(GraphIndex, graph::MANIFEST, true);

/// State of a manifest file when its index was opened: another state means another generation.
type Look = (u64, Option<SystemTime>, u64);

/// One index, opened once per generation. The key is the folder, since a vector index's folder names its model.
struct Slot<T> {
    opened: Mutex<Option<Opened<T>>>,
    put_aside: Arc<AtomicUsize>,
}

/// The folder, the state of its manifest, and the state of its index.
type Opened<T> = (PathBuf, Option<Look>, IndexState<T>);

impl<T: Derived> Slot<T> {
    fn new(put_aside: &Arc<AtomicUsize>) -> Self {
        Self { opened: Mutex::new(None), put_aside: Arc::clone(put_aside) }
    }

    fn get(&self, dir: &Path, store: &dyn Store) -> Result<IndexState<T>> {
        let look = look(&dir.join(T::MANIFEST));
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, seen, found)) = &mut *opened
            && at == dir
            && *seen == look
        {
            let damage = found.good().and_then(|index| index.damage.get().cloned());
            if let Some(reason) = damage {
                *found = IndexState::Unusable(reason);
            }
            if !found.good().is_some_and(OpenIndex::is_changed) {
                return Ok(found.clone());
            }
        }
        let found = self.open(dir, look, store)?;
        *opened = Some((dir.to_path_buf(), look, found.clone()));
        Ok(found)
    }

    fn open(&self, dir: &Path, look: Option<Look>, store: &dyn Store) -> Result<IndexState<T>> {
        if let Some(reason) = marked(dir, T::MANIFEST) {
            return Ok(IndexState::Unusable(reason));
        }
        let index = match guarded(dir, || T::open(dir)) {
            Ok(None) => return Ok(IndexState::Absent),
            Ok(Some(index)) => index,
            Err(error) if is_exhausted(&error) => return Err(error),
            Err(error) => return Ok(IndexState::Unusable(error.to_string())),
        };
        if !store.confirms(index.coverage())? {
            return Ok(IndexState::Unusable("it was made from another store or another history".into()));
        }
        Ok(IndexState::Good(Arc::new(self.held(index, dir, look))))
    }

    fn held(&self, index: T, dir: &Path, look: Option<Look>) -> OpenIndex<T> {
        let files = index.paths().into_iter().map(|path| (path.clone(), self::look(&path))).collect();
        OpenIndex {
            index,
            dir: dir.to_path_buf(),
            look,
            files,
            looked: Mutex::new(Instant::now()),
            damage: OnceLock::new(),
            put_aside: Arc::clone(&self.put_aside),
        }
    }

    fn reopen(&self) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn look(manifest: &Path) -> Option<Look> {
    let metadata = std::fs::metadata(manifest).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some((metadata.len(), metadata.modified().ok(), inode))
}

impl Indexes {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let put_aside = Arc::new(AtomicUsize::new(0));
        let (text, vector) = (Slot::new(&put_aside), Slot::new(&put_aside));
        let (tokens, graph) = (Slot::new(&put_aside), Slot::new(&put_aside));
        Self { folder, text, vector, tokens, graph, put_aside }
    }

    /// Returns the store's folder in `index/`: `<store-id>`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn text_dir(&self) -> PathBuf {
        self.folder.join("text")
    }

    pub(crate) fn vector_dir(&self, model: &str) -> PathBuf {
        self.folder.join(format!("{VECTORS}{model}"))
    }

    /// Returns the folder of a token index; `scheme` contains the model's name.
    pub(crate) fn tokens_dir(&self, scheme: &str) -> PathBuf {
        self.folder.join(format!("tokens-{scheme}"))
    }

    pub(crate) fn text(&self, store: &dyn Store) -> Result<IndexState<TextIndex>> {
        self.text.get(&self.text_dir(), store)
    }

    pub(crate) fn vector(&self, model: &str, store: &dyn Store) -> Result<IndexState<VectorIndex>> {
        self.vector.get(&self.vector_dir(model), store)
    }

    pub(crate) fn tokens(&self, scheme: &str, store: &dyn Store) -> Result<IndexState<TokenIndex>> {
        self.tokens.get(&self.tokens_dir(scheme), store)
    }

    pub(crate) fn graph_dir(&self) -> PathBuf {
        self.folder.join("graph")
    }

    pub(crate) fn graph(&self, store: &dyn Store) -> Result<IndexState<GraphIndex>> {
        self.graph.get(&self.graph_dir(), store)
    }

    /// Closes the indexes, so that the next question reads the generation that a compaction has just written.
    pub(crate) fn reopen(&self) {
        self.text.reopen();
        self.vector.reopen();
        self.tokens.reopen();
        self.graph.reopen();
    }

    /// Runs a request that reads indexes. If one was put aside meanwhile, the request is repeated without it, from the store.
    pub(crate) fn again<R>(&self, mut ask: impl FnMut() -> Result<R>) -> Result<R> {
        for _ in 0..KINDS {
            let before = self.put_aside.load(Ordering::Relaxed);
            let done = ask();
            if self.put_aside.load(Ordering::Relaxed) == before {
                return done;
            }
        }
        ask()
    }

    /// Opens an index that no slot holds, of any model. As long as it is trusted, it is read like the others.
    pub(crate) fn other<T: Derived>(&self, dir: &Path, store: &dyn Store) -> Result<IndexState<T>> {
        Slot::new(&self.put_aside).open(dir, look(&dir.join(T::MANIFEST)), store)
    }
}

/// Returns the last change that an index holds; 0 where there is none.
pub(crate) fn covered<T: Derived>(found: &IndexState<T>) -> Change {
    found.good().map_or(Change(0), |index| index.coverage().change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error as IoError, ErrorKind};

    #[test]
    fn only_what_was_read_of_an_index_tells_that_it_is_damaged() {
        let (dir, file) = (Path::new("/h/index"), Path::new("/h/index/1.seg"));
        let check = |error: Error, expected: bool| assert_eq!(is_damage(&error, dir), expected, "{error:?}");
        let read = |path, kind: ErrorKind| Error::index_file("read", path, kind.into());
        check(read(file, ErrorKind::Other), true);
        check(read(file, ErrorKind::PermissionDenied), false);
        check(read(Path::new("/h/other"), ErrorKind::Other), false);
        check(Error::index_file("map", file, IoError::from_raw_os_error(24)), false);
        check(Error::io("write", file, ErrorKind::Other.into()), false);
        check(Error::Corrupt { at: file.into(), reason: "x".into() }, true);
        let server = Location::Server { host: "h".into(), port: 1, database: "d".into() };
        check(Error::Corrupt { at: server, reason: "x".into() }, false);
    }
}
