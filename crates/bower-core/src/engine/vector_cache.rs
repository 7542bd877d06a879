//! Caches vectors of questions, and of single texts that a service embedded: in memory, and in the store's file.
//! A question never waits for a write: uses are noted, and [`Engine::maintain`] records them.

use jiff::Timestamp;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::engine::pending::best_effort;
use crate::engine::recent::ratio;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::{CacheRole, Visibility};
use crate::request::{CachePruneRequest, CachePruned, CacheStatus, CachedModel};
use crate::store::{CacheKey, CacheLimits, CacheTotals, CacheUses, CachedText, NewVector, Stamp};

/// Returns the cached vector of a text, if `is_usable`. Counts the hit or the miss.
pub(crate) fn cached(
    engine: &Engine,
    model: &str,
    role: CacheRole,
    text: &str,
    is_usable: impl Fn(&NewVector) -> bool,
) -> Result<Option<Arc<NewVector>>> {
    let key = CacheKey::of(model, role, text);
    let mut found = engine.recent.get(&key);
    if found.is_none() {
        found = engine.desk.cached_vector(model, role, text)?.map(Arc::new);
        if let Some(kept) = &found {
            engine.recent.put(key.clone(), Arc::clone(kept), engine.settings.cached_queries);
        }
    }
    let found = found.filter(|kept| is_usable(kept));
    engine.recent.count(found.is_some());
    if found.is_some() {
        *noted(engine).hits.entry(key).or_default() += 1;
    }
    Ok(found)
}

/// Notes a vector that the model made because the cache had none.
pub(crate) fn note_made(engine: &Engine, role: CacheRole, text: &str, vector: NewVector) {
    let key = CacheKey::of(&vector.model, role, text);
    engine.recent.put(key, Arc::new(vector.clone()), engine.settings.cached_queries);
    noted(engine).added.push(CachedText { role, text: text.to_owned(), vector });
}

/// Writes the noted uses. Best effort: a store that is busy or read-only keeps none.
pub(crate) fn keep_cached(engine: &Engine, now: Timestamp) -> Result<()> {
    engine.recent.follow(engine.desk.cache_drops()?);
    let uses = std::mem::take(&mut *noted(engine));
    if uses == CacheUses::default() {
        return Ok(());
    }
    let stamp = Stamp { now, actor: ACTOR };
    best_effort(engine.desk.cache_vectors(&uses, engine.settings.cached_queries, stamp))
}

/// Returns the state of the cache: that of the file, and that of this process.
pub(crate) fn cache_status(engine: &Engine) -> Result<CacheStatus> {
    let totals = engine.desk.cache_totals()?;
    let sum = |of: fn(&CacheTotals) -> u64| totals.iter().map(of).sum::<u64>();
    let (hits, misses) = (sum(|one| one.hits), sum(|one| one.misses));
    Ok(CacheStatus {
        entries: sum(|one| one.entries),
        bytes: sum(|one| one.bytes),
        hits,
        misses,
        hit_ratio: ratio(hits, misses),
        process: engine.recent.status(),
        models: totals
            .into_iter()
            .map(|one| CachedModel {
                identity: one.model,
                role: one.role,
                entries: one.entries,
                bytes: one.bytes,
                hits: one.hits,
                misses: one.misses,
                oldest_use: one.oldest,
            })
            .collect(),
    })
}

fn noted(engine: &Engine) -> MutexGuard<'_, CacheUses> {
    engine.pending.cache_uses.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Returns entries, sizes and hit ratios of the cache of vectors.
    pub fn cache_status(&self, visibility: &Visibility) -> Result<CacheStatus> {
        visibility.check_everything("the cache's status")?;
        cache_status(self)
    }

    /// Removes cached vectors that were not used lately, or until a size is reached. They are made again when they are needed.
    ///
    /// Fails with [`Error::Invalid`] if the request names no limit.
    pub fn prune_cache(
        &self,
        visibility: &Visibility,
        request: &CachePruneRequest,
        now: Timestamp,
    ) -> Result<CachePruned> {
        visibility.check_everything("pruning the cache")?;
        if request.used_before.is_none() && request.max_bytes.is_none() {
            return Err(Error::invalid("cache prune", "name an age or a size"));
        }
        keep_cached(self, now)?;
        let limits = CacheLimits { used_before: request.used_before, max_bytes: request.max_bytes };
        let removed = self.desk.prune_cache(limits, request.dry_run)?;
        if !request.dry_run {
            self.recent.clear();
        }
        let left = self.desk.cache_totals()?;
        Ok(CachePruned {
            removed: removed.entries,
            removed_bytes: removed.bytes,
            entries: left.iter().map(|one| one.entries).sum(),
            bytes: left.iter().map(|one| one.bytes).sum(),
            dry_run: request.dry_run,
        })
    }
}
