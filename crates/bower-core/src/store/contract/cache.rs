//! Contract of the cache of vectors: what it keeps, counts and drops.

use super::*;
use crate::store::{CacheKey, CacheLimits, CacheRemoved};

#[test]
fn the_cache_keeps_the_newest_and_tells_models_apart() {
    with_store(|store, _| {
        for (second, text) in [(0, "a"), (1, "b"), (2, "c")] {
            store.cache_vectors(&asked(&[(text, vector(second))]), 2, stamp(second.into())).unwrap();
        }
        assert_eq!(store.cached_vector(MODEL, CacheRole::Question, "a").unwrap(), None);
        assert_eq!(
            store.cached_vector(MODEL, CacheRole::Question, "c").unwrap(),
            Some(vector(2)),
            "with its tokens"
        );
        assert_eq!(store.cached_vector("another-model", CacheRole::Question, "c").unwrap(), None);
    });
}

#[test]
fn the_cache_counts_its_uses_and_gives_up_what_is_asked() {
    with_store(|store, _| {
        let (question, document) = (CacheRole::Question, CacheRole::Document);
        let entry = |role, text: &str, second| CachedText { role, text: text.into(), vector: vector(second) };
        let added = vec![entry(question, "a", 1), entry(question, "b", 2), entry(document, "a", 3)];
        store.cache_vectors(&CacheUses { added, ..CacheUses::default() }, 2, stamp(1)).unwrap();
        // Each role has its own room: three entries are there with room for two.
        assert_eq!(store.cached_vector(MODEL, document, "a").unwrap(), Some(vector(3)));
        assert_eq!(store.cached_vector(MODEL, question, "a").unwrap(), Some(vector(1)));
        let used = [(CacheKey::of(MODEL, question, "a"), 3), (CacheKey::of(MODEL, question, "gone"), 1)];
        let uses = CacheUses { hits: used.into(), added: vec![entry(question, "c", 4)] };
        store.cache_vectors(&uses, 2, stamp(2)).unwrap();
        let is_there = |text: &str| store.cached_vector(MODEL, question, text).unwrap().is_some();
        assert_eq!((is_there("a"), is_there("b"), is_there("c")), (true, false, true), "a was used after b");
        let totals = |role| store.cache_totals().unwrap().into_iter().find(|one| one.role == role).unwrap();
        // By hand: a key has 32 bytes, and `vector` and its tokens 16 each.
        let bytes = 32 + 16 + 16;
        let asked = totals(question);
        assert_eq!((asked.model.as_str(), asked.entries, asked.bytes), (MODEL, 2, 2 * bytes));
        assert_eq!((asked.hits, asked.misses, asked.oldest), (4, 3, Some(at(2))));
        assert_eq!((totals(document).entries, totals(document).hits, totals(document).misses), (1, 0, 1));

        let drops = store.cache_drops().unwrap();
        let old = CacheLimits { used_before: Some(at(2)), max_bytes: None };
        let one = CacheRemoved { entries: 1, bytes };
        assert_eq!(store.prune_cache(old, true).unwrap(), one, "only counted");
        assert_eq!((totals(document).entries, store.cache_drops().unwrap()), (1, drops));
        assert_eq!(store.prune_cache(old, false).unwrap(), one);
        assert_eq!(store.cached_vector(MODEL, document, "a").unwrap(), None);
        assert_eq!((totals(document).entries, totals(document).misses), (0, 1), "what was counted stays");
        assert!(store.cache_drops().unwrap() > drops);
        let small = CacheLimits { used_before: None, max_bytes: Some(2 * bytes - 1) };
        assert_eq!(store.prune_cache(small, false).unwrap(), one);
        assert_eq!(store.prune_cache(small, false).unwrap(), CacheRemoved::default());
        assert_eq!(totals(question).entries, 1);
    });
}
