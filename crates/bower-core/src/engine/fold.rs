//! Folding: what the store has and the indexes have not goes into the next generation, under a lock that dies with
//! its process. The store is only read, so a fold blocks no writer; a reader keeps the generation that it opened.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::indexes::{Derived, Found, covered};
use super::{Engine, LANGUAGE};
use crate::error::{Error, Result};
use crate::item::{Change, RowId};
use crate::store::IndexedText;
use crate::{text, tokens, vector};

/// When to fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Whenever an index lacks a change.
    Always,
    /// When the tail is longer than the settings' `fold_after`, or an index does not match the store.
    Due,
}

/// Memory for terms that are not yet written, in bytes.
const FOLD_MEMORY: usize = 64 << 20;

/// Rows read from the store at once while folding.
const PAGE: usize = 512;

impl Engine {
    /// Brings the indexes up to date; false where nothing was due or another process is folding.
    pub(super) fn fold(&self, when: When) -> Result<bool> {
        let due = self.due(when)?;
        if !due.text && !due.vector && !due.tokens {
            return Ok(false);
        }
        let Some(_lock) = FoldLock::take(self.indexes.folder())? else { return Ok(false) };
        // Another process may have folded while this one came here.
        let due = self.due(when)?;
        if due.text {
            self.fold_text()?;
        }
        if due.vector
            && let Ok(embedder) = self.model.get()
        {
            self.fold_vectors(embedder.model(), embedder.dimension())?;
        }
        if due.tokens
            && let Some(scheme) = self.model.tokens()
        {
            self.fold_tokens(scheme)?;
        }
        self.indexes.reopen();
        self.tidy_store()?;
        Ok(true)
    }

    fn due(&self, when: When) -> Result<Due> {
        let store = &*self.store;
        let newest = store.coverage()?.change;
        let most = match when {
            When::Always => 0,
            When::Due => self.settings.fold_after,
        };
        let text = self.indexes.text(store)?;
        let text_due = is_due(&text, newest, |after| Ok(store.text_rows(after, newest)?.len() > most))?;
        let vector_due = match self.model.get() {
            Ok(embedder) => {
                let model = embedder.model();
                let vector = self.indexes.vector(model, store)?;
                is_due(&vector, newest, |after| Ok(store.vector_rows(model, after, newest)?.len() > most))?
            }
            Err(_) => false,
        };
        // Removals alone are folded too when asked for, so that an index does not carry the forgotten on.
        let removed =
            |after| when == When::Always && store.gone(after, newest).is_ok_and(|gone| !gone.is_empty());
        let text = text_due || (text.good().is_some() && removed(covered(&text)));
        let tokens = match self.model.tokens() {
            Some(scheme) => {
                let tokens = self.indexes.tokens(scheme, store)?;
                is_due(&tokens, newest, |after| Ok(store.code_rows(scheme, after, newest)?.len() > most))?
                    || (tokens.good().is_some() && removed(covered(&tokens)))
            }
            None => false,
        };
        Ok(Due { text, vector: vector_due, tokens })
    }

    /// Drops from the store what only the tails needed. A store that cannot be written keeps it: longer, never wrong.
    fn tidy_store(&self) -> Result<()> {
        let store = &*self.store;
        let text = covered(&self.indexes.text(store)?);
        let vector = match self.model.get() {
            Ok(embedder) => covered(&self.indexes.vector(embedder.model(), store)?),
            Err(_) => Change(0),
        };
        let mut every = text.min(vector);
        let mut codes = None;
        if let Some(scheme) = self.model.tokens() {
            let found = self.indexes.tokens(scheme, store)?;
            // Where there is no index, none holds what was removed.
            if found.good().is_some() {
                every = every.min(covered(&found));
                codes = Some((scheme, covered(&found)));
            }
        }
        let dropped = store
            .drop_tail(text, every)
            .and_then(|()| codes.map_or(Ok(()), |(scheme, upto)| store.drop_codes(scheme, upto)))
            .and_then(|()| store.checkpoint());
        match dropped {
            Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn fold_text(&self) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.text_dir());
        let found = self.indexes.text(store)?;
        clear_unusable(&found, &dir)?;
        let after = covered(&found);
        let next = store.coverage()?;
        let gone = store.gone(after, next.change)?;
        let rows = store.text_rows(after, next.change)?;
        let mut fresh = pages(&rows, |page| {
            let fresh = |IndexedText { row, parent, text }| text::FreshText { row, parent, text };
            Ok(store.texts(page)?.into_iter().map(fresh).collect())
        });
        let plan = text::FoldPlan { next, language: LANGUAGE, gone: &gone, memory_bytes: FOLD_MEMORY };
        text::fold(&dir, &plan, &mut fresh)
    }

    fn fold_vectors(&self, model: &str, dimension: usize) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.vector_dir(model));
        let found = self.indexes.vector(model, store)?;
        clear_unusable(&found, &dir)?;
        let after = covered(&found);
        let next = store.coverage()?;
        let gone = store.gone(after, next.change)?;
        let rows = store.vector_rows(model, after, next.change)?;
        let mut fresh = pages(&rows, |page| {
            let vectors = store.vectors(model, page)?;
            let whole = page.iter().zip(vectors).filter_map(|(row, half)| half.map(|half| (*row, half)));
            Ok(whole.map(|(row, half)| (row, vector::floats(&half))).collect())
        });
        vector::fold(&dir, found.good(), next, model, dimension, &gone, &mut fresh)
    }

    fn fold_tokens(&self, scheme: &str) -> Result<()> {
        let (store, dir) = (&*self.store, self.indexes.tokens_dir(scheme));
        let found = self.indexes.tokens(scheme, store)?;
        clear_unusable(&found, &dir)?;
        let after = covered(&found);
        let next = store.coverage()?;
        let gone = store.gone(after, next.change)?;
        let rows = store.code_rows(scheme, after, next.change)?;
        let mut fresh = pages(&rows, |page| {
            let codes = store.codes(scheme, page)?;
            Ok(page.iter().zip(codes).filter_map(|(row, codes)| Some((*row, codes?))).collect())
        });
        tokens::fold(&dir, found.good(), next, scheme, &gone, &mut fresh)
    }
}

struct Due {
    text: bool,
    vector: bool,
    tokens: bool,
}

fn is_due<T: Derived>(
    found: &Found<T>,
    newest: Change,
    tail_is_long: impl FnOnce(Change) -> Result<bool>,
) -> Result<bool> {
    match found {
        Found::Unusable(_) => Ok(true),
        Found::Good(_) if covered(found) == newest => Ok(false),
        Found::Absent | Found::Good(_) => tail_is_long(covered(found)),
    }
}

fn clear_unusable<T>(found: &Found<T>, dir: &Path) -> Result<()> {
    match found {
        Found::Unusable(_) if dir.exists() => {
            std::fs::remove_dir_all(dir).map_err(|source| Error::io("remove the unusable index", dir, source))
        }
        Found::Unusable(_) | Found::Absent | Found::Good(_) => Ok(()),
    }
}

/// What is loaded for some rows, a page at a time.
fn pages<'a, T: 'a>(
    rows: &'a [RowId],
    load: impl Fn(&[RowId]) -> Result<Vec<T>> + 'a,
) -> impl Iterator<Item = Result<T>> + 'a {
    rows.chunks(PAGE).flat_map(move |page| match load(page) {
        Ok(loaded) => loaded.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    })
}

/// The right to fold. The operating system takes it back when its process ends, however it ends.
struct FoldLock {
    _file: File,
}

impl FoldLock {
    fn take(folder: &Path) -> Result<Option<Self>> {
        std::fs::create_dir_all(folder).map_err(|source| Error::io("create the folder", folder, source))?;
        let path = folder.join("fold.lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| Error::io("open the lock", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }
}
