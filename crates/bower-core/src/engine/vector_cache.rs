//! Caches vectors of questions, and of single texts that a service embedded: in memory, and in the store's file.
//! A question never waits for a write: uses are noted, and [`Engine::maintain`] records them.

use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::pending::best_effort;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::{CacheRole, Visibility};
use crate::request::{CachePruneRequest, CachePruned, CacheStatus, CachedModel, ProcessCache};
use crate::store::{CacheKey, CacheLimits, CacheTotals, CacheUses, CachedText, NewVector, Stamp};

/// Most vectors in memory: 8 MB of 384 numbers, without tokens.
const MOST_RECENT: usize = 10_000;
/// Time after which a vector in memory is dropped, used or not.
const KEPT: Duration = Duration::from_hours(24);

/// Vectors in memory, and what this process asked for.
#[derive(Debug, Default)]
pub(crate) struct RecentVectors {
    held: Mutex<Recent>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl RecentVectors {
    /// Drops all of them.
    pub(crate) fn clear(&self) {
        let mut held = lock(&self.held);
        *held = Recent { drops: held.drops, ..Recent::default() };
    }

    /// Drops all of them if entries of the file were removed since the last call.
    fn follow(&self, drops: u64) {
        let mut held = lock(&self.held);
        if held.drops.replace(drops).is_some_and(|before| before != drops) {
            *held = Recent { drops: held.drops, ..Recent::default() };
        }
    }

    fn status(&self) -> ProcessCache {
        let [hits, misses] = [&self.hits, &self.misses].map(|count| count.load(Ordering::Relaxed));
        let entries = lock(&self.held).entries.len() as u64;
        ProcessCache { entries, hits, misses, hit_ratio: ratio(hits, misses) }
    }
}

/// The least recently used vectors go first.
#[derive(Debug, Default)]
struct Recent {
    entries: HashMap<CacheKey, RecentVector>,
    /// Keys by their last use.
    order: BTreeMap<u64, CacheKey>,
    uses: u64,
    /// The store's number of removals when it was last read.
    drops: Option<u64>,
}

#[derive(Debug)]
struct RecentVector {
    vector: Arc<NewVector>,
    added: Instant,
    used: u64,
}

impl Recent {
    fn get(&mut self, key: &CacheKey, now: Instant) -> Option<Arc<NewVector>> {
        let entry = self.entries.get_mut(key)?;
        let key = self.order.remove(&entry.used)?;
        if now.saturating_duration_since(entry.added) >= KEPT {
            self.entries.remove(&key);
            return None;
        }
        self.uses += 1;
        entry.used = self.uses;
        self.order.insert(self.uses, key);
        Some(Arc::clone(&entry.vector))
    }

    fn put(&mut self, key: CacheKey, vector: Arc<NewVector>, most: usize, now: Instant) {
        self.uses += 1;
        let entry = RecentVector { vector, added: now, used: self.uses };
        if let Some(before) = self.entries.insert(key.clone(), entry) {
            self.order.remove(&before.used);
        }
        self.order.insert(self.uses, key);
        while self.entries.len() > most {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.entries.remove(&oldest);
        }
    }
}

/// Returns the cached vector of a text, if `is_usable`. Counts the hit or the miss.
pub(crate) fn cached(
    engine: &Engine,
    model: &str,
    role: CacheRole,
    text: &str,
    is_usable: impl Fn(&NewVector) -> bool,
) -> Result<Option<Arc<NewVector>>> {
    let key = CacheKey::of(model, role, text);
    let mut found = lock(&engine.recent.held).get(&key, Instant::now());
    if found.is_none() {
        found = engine.desk.cached_vector(model, role, text)?.map(Arc::new);
        if let Some(kept) = &found {
            let most = most_recent(engine);
            lock(&engine.recent.held).put(key.clone(), Arc::clone(kept), most, Instant::now());
        }
    }
    let found = found.filter(|kept| is_usable(kept));
    if found.is_some() {
        engine.recent.hits.fetch_add(1, Ordering::Relaxed);
        *lock(&engine.pending.cache_uses).hits.entry(key).or_default() += 1;
    } else {
        engine.recent.misses.fetch_add(1, Ordering::Relaxed);
    }
    Ok(found)
}

/// Notes a vector that the model made because the cache had none.
pub(crate) fn note_made(engine: &Engine, role: CacheRole, text: &str, vector: NewVector) {
    let key = CacheKey::of(&vector.model, role, text);
    let most = most_recent(engine);
    lock(&engine.recent.held).put(key, Arc::new(vector.clone()), most, Instant::now());
    lock(&engine.pending.cache_uses).added.push(CachedText { role, text: text.to_owned(), vector });
}

/// Writes the noted uses. Best effort: a store that is busy or read-only keeps none.
pub(crate) fn keep_cached(engine: &Engine, now: Timestamp) -> Result<()> {
    engine.recent.follow(engine.desk.cache_drops()?);
    let uses = std::mem::take(&mut *lock(&engine.pending.cache_uses));
    if uses == CacheUses::default() {
        return Ok(());
    }
    let stamp = Stamp { now, actor: ACTOR };
    best_effort(engine.desk.cache_vectors(&uses, engine.settings.cached_queries, stamp))
}

fn most_recent(engine: &Engine) -> usize {
    MOST_RECENT.min(engine.settings.cached_queries)
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

/// Returns the share of hits; `None` before the first question.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts below 2^52")]
fn ratio(hits: u64, misses: u64) -> Option<f64> {
    (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> CacheKey {
        CacheKey::of("m", CacheRole::Question, text)
    }

    fn vector(number: u8) -> Arc<NewVector> {
        Arc::new(NewVector { model: "m".into(), half: vec![number], tokens: None })
    }

    #[test]
    fn the_least_recently_used_goes_first_and_all_go_after_a_day() {
        let start = Instant::now();
        let mut recent = Recent::default();
        for (number, text) in [(1, "a"), (2, "b")] {
            recent.put(key(text), vector(number), 2, start);
        }
        assert_eq!(recent.get(&key("a"), start).unwrap().half, [1]);
        recent.put(key("c"), vector(3), 2, start);
        assert!(recent.get(&key("b"), start).is_none(), "a was used after b");
        let day = start + KEPT;
        assert!(recent.get(&key("a"), day - Duration::from_secs(1)).is_some());
        assert!(recent.get(&key("a"), day).is_none() && recent.get(&key("c"), day).is_none());
        assert!(recent.entries.is_empty() && recent.order.is_empty());
    }

    #[test]
    fn the_same_key_is_replaced_and_nothing_is_held_without_room() {
        let start = Instant::now();
        let mut recent = Recent::default();
        recent.put(key("a"), vector(1), 2, start);
        recent.put(key("a"), vector(2), 2, start);
        assert_eq!((recent.entries.len(), recent.order.len()), (1, 1));
        assert_eq!(recent.get(&key("a"), start).unwrap().half, [2]);
        recent.put(key("b"), vector(3), 0, start);
        assert!(recent.entries.is_empty());
    }

    #[test]
    fn removals_in_the_file_empty_the_memory_once() {
        let recent = RecentVectors::default();
        recent.follow(3);
        lock(&recent.held).put(key("a"), vector(1), 9, Instant::now());
        recent.follow(3);
        assert_eq!(recent.status().entries, 1);
        recent.follow(4);
        assert_eq!(recent.status().entries, 0);
    }

    #[test]
    fn a_ratio_counts_hits_among_all() {
        assert_eq!((ratio(0, 0), ratio(3, 1)), (None, Some(0.75)));
    }
}
