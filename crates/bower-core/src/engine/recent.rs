//! Keeps vectors that this process used lately in memory, and counts what it asked for.
//! The least recently used go first, and none stays longer than a day.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::request::ProcessCache;
use crate::store::{CacheKey, NewVector};

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

    /// Returns a vector, if it is there.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<Arc<NewVector>> {
        lock(&self.held).get(key, Instant::now())
    }

    /// Keeps a vector, and at most so many.
    pub(crate) fn put(&self, key: CacheKey, vector: Arc<NewVector>, most: usize) {
        lock(&self.held).put(key, vector, most.min(MOST_RECENT), Instant::now());
    }

    /// Counts a hit or a miss.
    pub(crate) fn count(&self, is_hit: bool) {
        let count = if is_hit { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops all of them if entries of the file were removed since the last call.
    pub(crate) fn follow(&self, drops: u64) {
        let mut held = lock(&self.held);
        if held.drops.replace(drops).is_some_and(|before| before != drops) {
            *held = Recent { drops: held.drops, ..Recent::default() };
        }
    }

    pub(crate) fn status(&self) -> ProcessCache {
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

/// Returns the share of hits; `None` before the first question.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts below 2^52")]
pub(crate) fn ratio(hits: u64, misses: u64) -> Option<f64> {
    (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::CacheRole;

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
        assert!(recent.get(&key("a"), start + KEPT.saturating_sub(Duration::from_secs(1))).is_some());
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
