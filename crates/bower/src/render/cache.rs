//! Renders the cache of vectors for people.

use bower_core::request::{CachePruned, CacheStatus, WarmReport};

use super::table::{Column, Table};
use super::{Look, bytes, count, counted, duration, line, style, thousands};

/// Renders `bower cache status`.
pub fn status(cache: &CacheStatus, look: &Look) -> String {
    let mut table = Table::new(0, [Column::new().style(style::NAME), Column::new().shrinks()]);
    table.row(["cache", &summary(cache)]);
    for one in &cache.models {
        let oldest =
            one.oldest_use.map(|time| format!("; least recent use {}", look.age(time))).unwrap_or_default();
        let what = format!(
            "{} of {}s ({}); {}{oldest}",
            vectors(one.entries),
            one.role,
            bytes(one.bytes),
            uses(one.hits, one.misses),
        );
        table.row([&line(&one.identity), &what]);
    }
    table.print(look)
}

/// Renders the cache in one line, as `bower status` shows it too.
pub fn summary(cache: &CacheStatus) -> String {
    let process = cache.process;
    let here = match process.hits + process.misses {
        0 => String::new(),
        _ => format!("; this process: {}", uses(process.hits, process.misses)),
    };
    format!("{} ({}); {}{here}", vectors(cache.entries), bytes(cache.bytes), uses(cache.hits, cache.misses))
}

fn vectors(number: u64) -> String {
    counted(number, "vector", "vectors")
}

fn uses(hits: u64, misses: u64) -> String {
    match hits + misses {
        0 => "not used yet".to_owned(),
        all => format!("{} of {} found ({} %)", thousands(hits), thousands(all), 100 * hits / all),
    }
}

/// Renders `bower warm`.
pub fn warmed(warmed: &WarmReport) -> String {
    let vectors = match warmed.embedded {
        0 => "no item lacked a vector".to_owned(),
        embedded => format!("{} got a vector", count(embedded as u64, "item")),
    };
    let files = count(warmed.files as u64, "file");
    format!("{vectors}; read {files} ({}) in {}\n", bytes(warmed.bytes), duration(warmed.took_ms))
}

/// Renders `bower cache prune`.
pub fn pruned(pruned: &CachePruned) -> String {
    let removed = format!("{} ({})", vectors(pruned.removed), bytes(pruned.removed_bytes));
    let left = format!("{} ({})", vectors(pruned.entries), bytes(pruned.bytes));
    match (pruned.dry_run, pruned.removed) {
        (true, _) => format!("{removed} would be removed; the cache has {left}\n"),
        (false, 0) => format!("nothing to remove; the cache has {left}\n"),
        (false, _) => format!("{removed} removed; the cache has {left}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::item::CacheRole;
    use bower_core::request::{CachedModel, ProcessCache};

    #[test]
    fn a_cache() {
        let model = |identity: &str, role, entries, hits, misses| CachedModel {
            identity: identity.into(),
            role,
            entries,
            bytes: entries * 1_160,
            hits,
            misses,
            oldest_use: (entries > 0).then(|| sample::time("2026-01-01T00:00:00Z")),
        };
        let status = CacheStatus {
            entries: 1_204,
            bytes: 1_396_640,
            hits: 301,
            misses: 1_210,
            hit_ratio: Some(0.199),
            process: ProcessCache { entries: 12, hits: 3, misses: 12, hit_ratio: Some(0.2) },
            models: vec![
                model("all-MiniLM-L6-v2.i8-2", CacheRole::Question, 1_204, 301, 1_205),
                model("openai~text-embedding-3-small~1536~1a2b3c4d", CacheRole::Document, 0, 0, 5),
            ],
        };
        let look = sample::look(100);
        let pruned = |removed, dry_run| {
            super::pruned(&CachePruned {
                removed,
                removed_bytes: removed * 1_160,
                entries: 1_204 - removed,
                bytes: (1_204 - removed) * 1_160,
                dry_run,
            })
        };
        let all = super::status(&status, &look) + &pruned(4, true) + &pruned(4, false) + &pruned(0, false);
        insta::assert_snapshot!("cache", all);
    }
}
