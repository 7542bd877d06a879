//! Stores vectors of questions and of single texts by the hash of their text, with their size and their uses.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params};
use std::collections::BTreeMap;

use super::SqliteStore;
use super::beside::model_row;
use super::checksums::{fits, of_cached};
use super::columns::{parse_word, timestamp};
use super::schema::KEEPS_CACHE_USE;
use crate::item::CacheRole;
use crate::store::cache::cache_key;
use crate::store::{
    CacheLimits, CacheRemoved, CacheTotals, CacheUses, NewTokens, NewVector, Stamp, VectorCache,
};

/// Entries of a role in the order in which they are dropped. Those that a wrong clock dated later than now come first; otherwise
/// nothing new would be kept until then.
const LATER: &str = "WHERE role = ?1 AND used_time > ?3 ORDER BY used_time DESC, key";
const EARLIER: &str = "WHERE role = ?1 AND ?3 NOT NULL ORDER BY used_time, key";

impl VectorCache for SqliteStore {
    fn cached_vector(&self, model: &str, role: CacheRole, text: &str) -> crate::Result<Option<NewVector>> {
        let key = cache_key(model, role, text);
        self.read("look up a cached vector", |connection| {
            connection
                .prepare_cached(&self.with_checksum(
                    "SELECT c.vector, m.name, c.tokens, {c.checksum} FROM embedding_cache c
                     LEFT JOIN models m ON m.row = c.tokens_model WHERE c.key = ?1",
                ))?
                .query_row([&key[..]], |row| {
                    let (half, named): (Vec<u8>, Option<String>) = (row.get(0)?, row.get(1)?);
                    let bytes: Option<Vec<u8>> = row.get(2)?;
                    if !fits(row.get(3)?, || of_cached(&key, &half, bytes.as_deref())) {
                        // It is computed again.
                        return Ok(None);
                    }
                    let tokens = named.zip(bytes).map(|(model, bytes)| NewTokens { model, bytes });
                    Ok(Some(NewVector { model: model.to_owned(), half, tokens }))
                })
                .optional()
                .map(Option::flatten)
        })
    }

    fn cache_vectors(&self, uses: &CacheUses, most: usize, stamp: Stamp<'_>) -> crate::Result<()> {
        let now = stamp.now.as_microsecond();
        self.write("keep vectors in the cache", |connection| {
            let mut counts = BTreeMap::<(i64, CacheRole), (u64, u64)>::new();
            for (key, times) in &uses.hits {
                connection
                    .prepare_cached(
                        "UPDATE embedding_cache SET hits = hits + ?2, used_time = ?3 WHERE key = ?1",
                    )?
                    .execute(params![&key.hash[..], times.cast_signed(), now])?;
                counts.entry((model_row(connection, &key.model)?, key.role)).or_default().0 += times;
            }
            for added in &uses.added {
                let (vector, tokens) = (&added.vector, added.vector.tokens.as_ref());
                let model = model_row(connection, &vector.model)?;
                let key = cache_key(&vector.model, added.role, &added.text);
                let checksum = of_cached(&key, &vector.half, tokens.map(|tokens| &tokens.bytes[..]));
                let tokens_model =
                    tokens.map(|tokens| model_row(connection, &tokens.model)).transpose()?;
                let bytes =
                    key.len() + vector.half.len() + tokens.map_or(0, |tokens| tokens.bytes.len());
                connection
                    .prepare_cached(
                        "INSERT INTO embedding_cache (key, model, used_time, vector, tokens_model, tokens, checksum, role, bytes)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                         ON CONFLICT (key) DO UPDATE SET model = ?2, used_time = ?3, vector = ?4, tokens_model = ?5, tokens = ?6,
                           checksum = ?7, role = ?8, bytes = ?9",
                    )?
                    .execute(params![
                        &key[..],
                        model,
                        now,
                        vector.half,
                        tokens_model,
                        tokens.map(|tokens| &tokens.bytes),
                        checksum,
                        added.role.word(),
                        bytes,
                    ])?;
                counts.entry((model, added.role)).or_default().1 += 1;
            }
            for ((model, role), (hits, misses)) in counts {
                connection
                    .prepare_cached(
                        "INSERT INTO cache_counts VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT DO UPDATE SET hits = hits + ?3, misses = misses + ?4",
                    )?
                    .execute(params![model, role.word(), hits.cast_signed(), misses.cast_signed()])?;
            }
            CacheRole::ALL.iter().try_for_each(|role| drop_over(connection, *role, most, now))
        })
    }

    fn cache_totals(&self) -> crate::Result<Vec<CacheTotals>> {
        if self.schema < KEEPS_CACHE_USE {
            return Ok(Vec::new());
        }
        self.read("count the cached vectors", |connection| {
            let mut statement = connection.prepare_cached(
                "WITH held AS (SELECT model, role, count(*) AS entries, sum(bytes) AS bytes, min(used_time) AS oldest
                   FROM embedding_cache GROUP BY 1, 2),
                 used AS (SELECT model, role FROM held UNION SELECT model, role FROM cache_counts)
                 SELECT m.name, u.role, ifnull(h.entries, 0), ifnull(h.bytes, 0), ifnull(c.hits, 0), ifnull(c.misses, 0), h.oldest
                 FROM used u JOIN models m ON m.row = u.model
                 LEFT JOIN held h ON h.model = u.model AND h.role = u.role
                 LEFT JOIN cache_counts c ON c.model = u.model AND c.role = u.role
                 ORDER BY 4 DESC, 1, 2",
            )?;
            statement
                .query_map([], |row| {
                    Ok(CacheTotals {
                        model: row.get(0)?,
                        role: parse_word(&row.get::<_, String>(1)?)?,
                        entries: row.get(2)?,
                        bytes: row.get(3)?,
                        hits: row.get(4)?,
                        misses: row.get(5)?,
                        oldest: row.get::<_, Option<i64>>(6)?.map(timestamp).transpose()?,
                    })
                })?
                .collect()
        })
    }

    fn prune_cache(&self, limits: CacheLimits, dry_run: bool) -> crate::Result<CacheRemoved> {
        let choose = |connection: &Connection| -> Result<Vec<(Vec<u8>, u64)>> {
            let mut entries: Vec<(Vec<u8>, u64, i64)> = connection
                .prepare_cached("SELECT key, bytes, used_time FROM embedding_cache ORDER BY used_time, key")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<Result<_>>()?;
            let mut left: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
            let before = limits.used_before.map_or(i64::MIN, Timestamp::as_microsecond);
            let most = limits.max_bytes.unwrap_or(u64::MAX);
            entries.retain(|(_, bytes, used)| {
                let goes = *used < before || left > most;
                left -= if goes { *bytes } else { 0 };
                goes
            });
            Ok(entries.into_iter().map(|(key, bytes, _)| (key, bytes)).collect())
        };
        let removed = |chosen: &[(Vec<u8>, u64)]| CacheRemoved {
            entries: chosen.len() as u64,
            bytes: chosen.iter().map(|(_, bytes)| bytes).sum(),
        };
        if dry_run {
            return self.read("look at the cached vectors", choose).map(|chosen| removed(&chosen));
        }
        self.write("remove cached vectors", |connection| {
            let chosen = choose(connection)?;
            let mut delete = connection.prepare_cached("DELETE FROM embedding_cache WHERE key = ?1")?;
            for (key, _) in &chosen {
                delete.execute([key])?;
            }
            if !chosen.is_empty() {
                note_drop(connection)?;
            }
            Ok(removed(&chosen))
        })
    }

    fn cache_drops(&self) -> crate::Result<u64> {
        if self.schema < KEEPS_CACHE_USE {
            return Ok(0);
        }
        self.read("read whether cached vectors were removed", |connection| {
            connection.prepare_cached("SELECT times FROM cache_drops")?.query_row([], |row| row.get(0))
        })
    }
}

/// Drops the least recently used entries of a role beyond `most`.
fn drop_over(connection: &Connection, role: CacheRole, most: usize, now: i64) -> Result<()> {
    let held: usize = connection
        .prepare_cached("SELECT count(*) FROM embedding_cache WHERE role = ?1")?
        .query_row([role.word()], |row| row.get(0))?;
    let mut over = held.saturating_sub(most);
    for which in [LATER, EARLIER] {
        if over > 0 {
            over -= connection
                .prepare_cached(&format!(
                    "DELETE FROM embedding_cache WHERE key IN (SELECT key FROM embedding_cache {which} LIMIT ?2)"
                ))?
                .execute(params![role.word(), over, now])?;
        }
    }
    Ok(())
}

/// Records that entries were removed because somebody wanted it.
pub(super) fn note_drop(connection: &Connection) -> Result<()> {
    connection.prepare_cached("UPDATE cache_drops SET times = times + 1")?.execute([]).map(drop)
}
