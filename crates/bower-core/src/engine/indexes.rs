//! The opened indexes of one store. An index that does not match the store is never searched; a newer generation that
//! another process wrote is picked up by the next question.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::Result;
use crate::item::{Change, Coverage};
use crate::store::Store;
use crate::text::{self, TextIndex};
use crate::tokens::{self, TokenIndex};
use crate::vector::{self, VectorIndex};

pub(super) struct Indexes {
    folder: PathBuf,
    text: Slot<TextIndex>,
    vector: Slot<VectorIndex>,
    tokens: Slot<TokenIndex>,
}

/// An index as it was found.
pub(super) enum Found<T> {
    /// There is none: everything is in the tail.
    Absent,
    /// It matches the store.
    Good(Arc<T>),
    /// It is damaged, or was made from another store or another history; the next fold makes it anew.
    Unusable(String),
}

impl<T> Clone for Found<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Good(index) => Self::Good(Arc::clone(index)),
            Self::Unusable(reason) => Self::Unusable(reason.clone()),
        }
    }
}

impl<T> Found<T> {
    pub(super) fn good(&self) -> Option<&T> {
        match self {
            Self::Good(index) => Some(index),
            Self::Absent | Self::Unusable(_) => None,
        }
    }
}

/// What all kinds of index have in common.
pub(super) trait Derived: Sized {
    fn open(dir: &Path) -> Result<Option<Self>>;
    fn coverage(&self) -> &Coverage;
    /// How many rows it holds.
    fn rows(&self) -> u64;
    /// The file that a new generation replaces last.
    const MANIFEST: &'static str;
    /// Whether it is folded for removals alone when somebody forgets, so that it does not carry on what a reader of its
    /// files could tell of the text.
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

    const MANIFEST: &'static str = text::MANIFEST;
    const FORGETS: bool = true;
}

impl Derived for VectorIndex {
    fn open(dir: &Path) -> Result<Option<Self>> {
        VectorIndex::open(dir)
    }

    fn coverage(&self) -> &Coverage {
        self.coverage()
    }

    fn rows(&self) -> u64 {
        self.len() as u64
    }

    const MANIFEST: &'static str = vector::MANIFEST;
    const FORGETS: bool = false;
}

impl Derived for TokenIndex {
    fn open(dir: &Path) -> Result<Option<Self>> {
        TokenIndex::open(dir)
    }

    fn coverage(&self) -> &Coverage {
        self.coverage()
    }

    fn rows(&self) -> u64 {
        self.len() as u64
    }

    const MANIFEST: &'static str = tokens::MANIFEST;
    const FORGETS: bool = true;
}

/// How a manifest file looked when its index was opened: another look means another generation.
type Look = (u64, Option<SystemTime>, u64);

/// One index, opened once a generation. Keyed by folder, since a vector index's folder names its model.
struct Slot<T> {
    opened: Mutex<Option<Opened<T>>>,
}

/// The folder, how its manifest looked, and what was found in it.
type Opened<T> = (PathBuf, Option<Look>, Found<T>);

impl<T: Derived> Slot<T> {
    fn new() -> Self {
        Self { opened: Mutex::new(None) }
    }

    fn get(&self, dir: &Path, store: &dyn Store) -> Result<Found<T>> {
        let look = look(&dir.join(T::MANIFEST));
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, seen, found)) = &*opened
            && at == dir
            && *seen == look
        {
            return Ok(found.clone());
        }
        let found = match T::open(dir) {
            Ok(None) => Found::Absent,
            Ok(Some(index)) if store.confirms(index.coverage())? => Found::Good(Arc::new(index)),
            Ok(Some(_)) => Found::Unusable("it was made from another store or another history".into()),
            Err(error) => Found::Unusable(error.to_string()),
        };
        *opened = Some((dir.to_path_buf(), look, found.clone()));
        Ok(found)
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
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, text: Slot::new(), vector: Slot::new(), tokens: Slot::new() }
    }

    /// `index/<store-id>`.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn text_dir(&self) -> PathBuf {
        self.folder.join("text")
    }

    pub(super) fn vector_dir(&self, model: &str) -> PathBuf {
        self.folder.join(format!("vectors-{model}"))
    }

    /// `scheme` has the model in its name.
    pub(super) fn tokens_dir(&self, scheme: &str) -> PathBuf {
        self.folder.join(format!("tokens-{scheme}"))
    }

    pub(super) fn text(&self, store: &dyn Store) -> Result<Found<TextIndex>> {
        self.text.get(&self.text_dir(), store)
    }

    pub(super) fn vector(&self, model: &str, store: &dyn Store) -> Result<Found<VectorIndex>> {
        self.vector.get(&self.vector_dir(model), store)
    }

    pub(super) fn tokens(&self, scheme: &str, store: &dyn Store) -> Result<Found<TokenIndex>> {
        self.tokens.get(&self.tokens_dir(scheme), store)
    }

    /// Forgets what is open, so that the next question sees what a fold has just written.
    pub(super) fn reopen(&self) {
        *self.text.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.vector.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.tokens.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The last change that an index holds; 0 where there is none.
pub(super) fn covered<T: Derived>(found: &Found<T>) -> Change {
    found.good().map_or(Change(0), |index| index.coverage().change)
}
