//! Caches data that this process read from the store and analysed, while it is current.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use crate::config::{CanonicalFiles, CanonicalMatcher};
use crate::engine::deltas::Deltas;
use crate::engine::query::channels::paths::Paths;
use crate::engine::query::wordings::Wordings;
use crate::engine::versioned::VersionedCache;
use crate::error::Result;
use crate::graph::EntityAliases;
use crate::item::{Change, Coverage, RowId, RowSet};
use crate::memory::gate::Heard;
use crate::request::Clocks;
use crate::store::{AliasRow, DocumentRow, Namespace, Store};

/// Caches that this process keeps between requests.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// The paths of all documents.
    paths: VersionedCache<Paths>,
    /// The canonical documents.
    canonical: VersionedCache<Vec<DocumentRow>>,
    /// The compiled setting `canonical_files`.
    canonical_matcher: OnceLock<CanonicalMatcher>,
    /// Rows that are superseded or archived at the clocks of the last question.
    hidden: VersionedCache<RowSet, Clocks>,
    /// The memory of each wording.
    wordings: VersionedCache<Wordings>,
    /// Names that mean one entity.
    aliases: VersionedCache<EntityAliases>,
    /// Whether some items have no vector yet.
    pub(crate) waits: VersionedCache<bool>,
    /// The rows of those items.
    pub(crate) waiting: VersionedCache<RowSet>,
    /// Rows that the indexes lack, as the last question read them.
    pub(crate) deltas: Deltas,
    /// Rows of the namespaces that memories were written to.
    pub(crate) places: Mutex<NamespaceRows>,
    /// Analysed texts that answers returned, to recognise echoes.
    pub(crate) heard: Mutex<HeardRows>,
}

impl Caches {
    /// Returns the current paths of all documents.
    pub(crate) fn paths(&self, store: &dyn Store) -> Result<Arc<Paths>> {
        self.paths.get_of(&store.coverage()?, (), |kept| {
            match since(store, kept, |after| store.paths_since(after))? {
                Some((paths, changes)) => Ok(paths.changed(&changes)),
                None => Paths::load(store),
            }
        })
    }

    /// Returns which paths the setting `canonical_files` names.
    pub(crate) fn canonical_matcher(&self, files: &CanonicalFiles) -> &CanonicalMatcher {
        self.canonical_matcher.get_or_init(|| files.matcher())
    }

    /// Returns the documents that the setting `canonical_files` names.
    pub(crate) fn canonical(
        &self,
        store: &dyn Store,
        files: &CanonicalFiles,
    ) -> Result<Arc<Vec<DocumentRow>>> {
        self.canonical.get_of(&store.coverage()?, (), |kept| {
            let matcher = self.canonical_matcher(files);
            let (mut documents, mut came) = (Vec::new(), Vec::new());
            if let Some((kept, changes)) = since(store, kept, |after| store.paths_since(after))? {
                let is_stale = |one: &DocumentRow| {
                    changes.went.contains(one) || changes.came.iter().any(|(document, _)| document == one)
                };
                documents.extend(kept.iter().copied().filter(|one| !is_stale(one)));
                came = changes.came;
            } else {
                store.paths(&mut |document, path| {
                    if matcher.matches(path) {
                        documents.push(document);
                    }
                })?;
            }
            let came = came.into_iter().filter(|(_, path)| matcher.matches(path));
            documents.extend(came.map(|(document, _)| document));
            documents.sort_unstable();
            Ok(documents)
        })
    }

    /// Returns the rows that are hidden from questions with these clocks. `newest` was read from the store before.
    pub(crate) fn hidden(&self, store: &dyn Store, newest: &Coverage, clocks: Clocks) -> Result<Arc<RowSet>> {
        self.hidden.get_of(newest, clocks, |kept| {
            // Rows that are hidden at a past clock also change with its times, so they are read anew.
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

    /// Returns the names that mean one entity. `newest` was read from the store before.
    pub(crate) fn aliases(&self, store: &dyn Store, newest: &Coverage) -> Result<Arc<EntityAliases>> {
        self.aliases.get(newest, || Ok(joined(&store.aliases()?)))
    }

    /// Returns each wording with its memory. `newest` was read from the store before.
    pub(crate) fn wordings(&self, store: &dyn Store, newest: &Coverage) -> Result<Arc<Wordings>> {
        self.wordings.get_of(newest, (), |kept| {
            match since(store, kept, |after| store.wordings_since(after))? {
                Some((all, changes)) => Ok(all.changed(&changes.went, changes.came)),
                None => Ok(Wordings::new(store.wordings()?)),
            }
        })
    }
}

/// Returns what stated aliases make one entity.
pub(crate) fn joined(rows: &[AliasRow]) -> EntityAliases {
    EntityAliases::new(rows.iter().map(|row| (row.name.as_str(), row.other.as_str())))
}

/// Returns the cached value and the changes since. `None` if nothing is cached, it belongs to another history, or the store
/// cannot list the changes.
fn since<T, C>(
    store: &dyn Store,
    kept: Option<(Coverage, Arc<T>)>,
    changes: impl FnOnce(Change) -> Result<Option<C>>,
) -> Result<Option<(Arc<T>, C)>> {
    let Some((at, kept)) = kept else { return Ok(None) };
    let changes = if store.confirms(&at)? { changes(at.change)? } else { None };
    Ok(changes.map(|changes| (kept, changes)))
}

/// Rows of some namespaces, with the change up to which they were read. Row numbers are never reused, so only newer rows are
/// read.
#[derive(Debug, Default)]
pub(crate) struct NamespaceRows(pub(crate) Vec<(Namespace, Arc<RowSet>, Change)>);

/// Analysed texts that answers returned, by row.
#[derive(Debug, Default)]
pub(crate) struct HeardRows(pub(crate) HashMap<RowId, Arc<Heard>>);
