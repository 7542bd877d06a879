//! Purges forgotten items from every index, the store's free pages and its copies.

use jiff::Timestamp;
use std::path::Path;

use crate::engine::index::compact::{
    CompactionLock, LOCK, entries, fresh_codes, fresh_vectors, pages, remove, remove_folder,
};
use crate::engine::indexes::{Derived, IndexState, OpenIndex, VECTORS};
use crate::engine::maintain::forget::Traces;
use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::graph::GraphIndex;
use crate::item::{Change, Coverage};
use crate::request::{CompactWhen, Erased};
use crate::store::Stamp;
use crate::{tokens, vector};

/// Rewrites an index for which that is due, and rebuilds an unusable one. `compact` receives whether it must rewrite every file
/// with a removed row.
fn purge_index<T: Derived>(
    found: IndexState<T>,
    dir: &Path,
    is_due: impl Fn(&Coverage, bool) -> bool,
    compact: impl Fn(bool) -> Result<()>,
) -> Result<()> {
    match found {
        IndexState::Good(index) if is_due(index.coverage(), index.keeps_dead()) => compact(true),
        IndexState::Good(_) => Ok(()),
        IndexState::Absent => remove_folder(dir),
        IndexState::Unusable(_) => compact(false),
    }
}

impl Engine {
    /// Removes all traces of forgotten items from files, and the mark that says that this is due. Returns `None` if nothing
    /// is due or another process is compacting.
    ///
    /// `traces` are those of items that were forgotten just now. A process that goes on for another has none: the store's
    /// file is then rewritten, whatever is in it.
    pub(crate) fn purge(
        &self,
        when: CompactWhen,
        traces: Option<&Traces>,
        now: Timestamp,
    ) -> Result<Option<Erased>> {
        let store = &*self.store;
        if store.erasure_due()?.is_none() {
            return Ok(None);
        }
        let Some(_lock) = CompactionLock::take(self.indexes.folder(), when)? else { return Ok(None) };
        // Another process may have done it while this one waited for the lock.
        let Some(due) = store.erasure_due()? else { return Ok(None) };
        let mut waits = Vec::new();
        self.purge_indexes(due, traces.is_none(), &mut waits)?;
        self.indexes.reopen();
        self.tidy_store(when)?;
        let finder = traces.map(|traces| traces.finder(store, &self.indexes.text(store)?)).transpose()?;
        let is_trace = |bytes: &[u8]| match &finder {
            Some(finder) => finder.as_ref().is_some_and(|finder| finder.is_match(bytes)),
            None => true,
        };
        let mut erased = store.erase(&is_trace, Stamp { now, actor: ACTOR })?;
        erased.waits.splice(..0, waits);
        if erased.waits.is_empty() {
            store.end_erasure(due)?;
        }
        Ok(Some(erased))
    }

    /// Rewrites each index that has a forgotten or replaced row, and removes files that belong to no index. With `all`, it
    /// also searches for files that killed compactions left.
    fn purge_indexes(&self, due: Change, all: bool, waits: &mut Vec<String>) -> Result<()> {
        let store = &*self.store;
        let is_due = |coverage: &Coverage, keeps_dead: bool| all || coverage.change < due || keeps_dead;
        purge_index(self.indexes.text(store)?, &self.indexes.text_dir(), is_due, |purge| {
            self.compact_text_by(purge, None)
        })?;
        purge_index(self.indexes.graph(store)?, &self.indexes.graph_dir(), is_due, |purge| {
            self.compact_graph(purge, None)
        })?;
        self.indexes.other::<GraphIndex>(&self.indexes.graph_dir(), store)?.ask(|index| {
            index.clear_leftovers();
            Ok(())
        })?;
        let folder = self.indexes.folder().to_path_buf();
        for (path, name) in entries(&folder)? {
            if name.starts_with(VECTORS) {
                self.indexes.again(|| self.purge_vectors(&path, due))?;
            } else if name.starts_with("tokens-") {
                self.indexes.again(|| self.purge_tokens(&path, due))?;
            } else if ![LOCK, "text", "graph"].contains(&&*name) {
                remove(&path)?;
            }
        }
        // Indexes of other stores: those of this home before a copy took its store's place.
        for (path, _) in folder.parent().map_or(Ok(Vec::new()), entries)? {
            if path != folder {
                remove(&path)?;
            }
        }
        self.indexes.reopen();
        if self.indexes.text(store)?.good().is_some_and(OpenIndex::keeps_dead) {
            waits.push("the text index could not be written anew".to_owned());
        }
        Ok(())
    }

    fn purge_vectors(&self, dir: &Path, due: Change) -> Result<()> {
        let store = &*self.store;
        // The index may belong to any model, also to one that is not installed. A damaged index is removed and rebuilt.
        let found = self.indexes.other::<vector::VectorIndex>(dir, store)?;
        let Some(index) = found.good() else {
            remove_folder(dir)?;
            return match self.model.get() {
                Ok(model) if self.indexes.vector_dir(model.model()) == dir => {
                    self.compact_vectors(model.model(), model.dimension(), None)
                }
                Ok(_) | Err(_) => Ok(()),
            };
        };
        if index.coverage().change < due || index.keeps_dead() {
            let after = index.coverage().change;
            let next = store.coverage()?;
            let gone = store.gone(after, next.change)?;
            index.ask(|index| {
                let rows = store.vector_rows(index.model(), after, next.change)?;
                let mut fresh = pages(&rows, |page| fresh_vectors(store, index.model(), page));
                vector::purge(dir, index, next, &gone, &mut fresh)
            })?;
        }
        self.indexes.other::<vector::VectorIndex>(dir, store)?.ask(|index| {
            index.clear_leftovers();
            Ok(())
        })?;
        Ok(())
    }

    fn purge_tokens(&self, dir: &Path, due: Change) -> Result<()> {
        let store = &*self.store;
        let found = self.indexes.other::<tokens::TokenIndex>(dir, store)?;
        let Some(index) = found.good() else {
            // Intact rows of a damaged index are saved.
            return match self.model.tokens() {
                Some(scheme) if self.indexes.tokens_dir(scheme) == dir => self.compact_tokens(scheme, None),
                Some(_) | None => remove_folder(dir),
            };
        };
        if index.coverage().change < due || index.keeps_dead() {
            let after = index.coverage().change;
            let next = store.coverage()?;
            let gone = store.gone(after, next.change)?;
            index.ask(|index| {
                let rows = store.code_rows(index.model(), after, next.change)?;
                let mut fresh = pages(&rows, |page| fresh_codes(store, index.model(), page));
                tokens::purge(dir, index, next, &gone, &mut fresh)
            })?;
        }
        self.indexes.other::<tokens::TokenIndex>(dir, store)?.ask(|index| {
            index.clear_leftovers();
            Ok(())
        })?;
        Ok(())
    }
}
