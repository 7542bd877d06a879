//! Caches of one process: what it read from the store and analysed, kept while that is current.

use lru::LruCache;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use crate::embed::Embedder;
use crate::engine::deltas::Deltas;
use crate::engine::query::channels::paths::Paths;
use crate::engine::versioned::VersionedCache;
use crate::error::Result;
use crate::item::{Change, Coverage, RowId, RowSet};
use crate::memory::gate::Heard;
use crate::request::Clocks;
use crate::store::{Namespace, Store};

/// What this process keeps between requests.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// The paths of all documents.
    paths: VersionedCache<Paths>,
    /// Rows that are superseded or archived, or were at the last time that was asked about.
    hidden: VersionedCache<RowSet, Clocks>,
    /// Whether some items have no vector yet.
    pub(crate) waits: VersionedCache<bool>,
    /// The rows of those items.
    pub(crate) waiting: VersionedCache<RowSet>,
    /// Rows that the indexes lack, as the last question saw them.
    pub(crate) deltas: Deltas,
    /// Rows of the places that memories were written to.
    pub(crate) places: Mutex<NamespaceRows>,
    /// Vectors of texts that were compared without names and values.
    pub(crate) masked: Masked,
    /// The words of texts that answers gave, to know an echo.
    pub(crate) heard: Mutex<HeardRows>,
}

impl Caches {
    /// The paths of all documents, as they are now.
    pub(crate) fn paths(&self, store: &dyn Store) -> Result<Arc<Paths>> {
        self.paths.get_of(&store.coverage()?, (), |kept| {
            match since(store, kept, |after| store.paths_since(after))? {
                Some((paths, changes)) => Ok(paths.changed(&changes)),
                None => Paths::load(store),
            }
        })
    }

    /// Rows that no question by these clocks sees. `newest` was read from the store before.
    pub(crate) fn hidden(&self, store: &dyn Store, newest: &Coverage, clocks: Clocks) -> Result<Arc<RowSet>> {
        self.hidden.get_of(newest, clocks, |kept| {
            // What is hidden from a past clock changes with times too.
            let kept = kept.filter(|_| clocks == Clocks::default());
            match since(store, kept, |after| store.hidden_since(after))? {
                Some((rows, changes)) => {
                    let mut rows = Arc::unwrap_or_clone(rows);
                    rows.remove_all(&changes.went);
                    rows.add_all(&changes.came);
                    Ok(rows)
                }
                None => store.hidden(clocks),
            }
        })
    }
}

/// What was kept, and what changed since. `None` where nothing was, where it is of another history, or where the store does not tell.
fn since<T, C>(
    store: &dyn Store,
    kept: Option<(Coverage, Arc<T>)>,
    changes: impl FnOnce(Change) -> Result<Option<C>>,
) -> Result<Option<(Arc<T>, C)>> {
    let Some((at, kept)) = kept else { return Ok(None) };
    let changes = if store.confirms(&at)? { changes(at.change)? } else { None };
    Ok(changes.map(|changes| (kept, changes)))
}

/// Masked texts whose vectors are kept between writes, 2 kB each: what is told alike is alike without its names and values, and
/// asks for the same ones again.
const KEPT_MASKED: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

/// The rows of some places, up to the change to which they were read: rows are never used again, so only newer ones are read.
#[derive(Debug, Default)]
pub(crate) struct NamespaceRows(pub(crate) Vec<(Namespace, Arc<RowSet>, Change)>);

/// The vectors of masked texts that were made last, by text: an engine has one model.
#[derive(Debug)]
pub(crate) struct Masked(Mutex<LruCache<String, Arc<[f32]>>>);

impl Default for Masked {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(KEPT_MASKED)))
    }
}

impl Masked {
    /// The vector of a text, from the model where it is not kept; `None` where the model fails.
    pub(crate) fn vector(&self, embedder: &dyn Embedder, text: &str) -> Option<Arc<[f32]>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = kept().get(text) {
            return Some(Arc::clone(vector));
        }
        // Not locked meanwhile: others do not wait for the model, and two that want the same make it twice.
        let vector: Arc<[f32]> = embedder.embed(text).ok()?.into();
        kept().put(text.to_owned(), Arc::clone(&vector));
        Some(vector)
    }
}

/// What answers gave, as far as it was analysed.
#[derive(Debug, Default)]
pub(crate) struct HeardRows(pub(crate) HashMap<RowId, Arc<Heard>>);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A model that counts how often it is asked.
    #[derive(Default)]
    struct Counts(AtomicUsize);

    impl Embedder for Counts {
        fn model(&self) -> &'static str {
            "counts"
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed(&self, _: &str) -> Result<Vec<f32>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(vec![1.0])
        }

        fn count_pieces(&self, text: &str) -> Result<usize> {
            Ok(text.len())
        }
    }

    #[test]
    fn a_masked_text_is_embedded_once_and_the_oldest_is_dropped() {
        let (model, masked) = (Counts::default(), Masked::default());
        let asked = || model.0.load(Ordering::Relaxed);
        for _ in 0..3 {
            masked.vector(&model, "the port of it is some number").unwrap();
        }
        assert_eq!(asked(), 1);
        for at in 0..KEPT_MASKED.get() {
            masked.vector(&model, &format!("text {at}")).unwrap();
        }
        assert_eq!(masked.0.lock().unwrap().len(), KEPT_MASKED.get());
        let before = asked();
        masked.vector(&model, "the port of it is some number").unwrap();
        assert_eq!(asked(), before + 1);
    }
}
