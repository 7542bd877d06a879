//! Stores data of this machine only: vectors of questions, items given to sessions, and exposures.
//! Rows that refer to an item are removed with the item. No answer depends on this data.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::SqliteStore;
use super::beside::model_row;
use super::checksums::{fits, of_cached};
use super::columns::{first, timestamp};
use super::schema::KEEPS_LIFE;
use super::trust::outlasts;
use crate::item::RowId;
use crate::store::{Desk, Given, NewTokens, NewVector, Stamp};

impl Desk for SqliteStore {
    fn cached_vector(&self, model: &str, text: &str) -> crate::Result<Option<NewVector>> {
        let key = cache_key(model, text);
        self.read("look up the query's vector", |connection| {
            connection
                .prepare_cached(&self.with_checksum(
                    "SELECT c.vector, m.name, c.tokens, {c.checksum} FROM embedding_cache c
                     LEFT JOIN models m ON m.row = c.tokens_model WHERE c.key = ?1",
                ))?
                .query_row([&key], |row| {
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

    fn cache_vectors(
        &self,
        vectors: &[(String, NewVector)],
        most: usize,
        stamp: Stamp<'_>,
    ) -> crate::Result<()> {
        self.write("keep the query's vector", |connection| {
            for (text, vector) in vectors {
                let model = model_row(connection, &vector.model)?;
                let tokens = vector.tokens.as_ref();
                let key = cache_key(&vector.model, text);
                let checksum = of_cached(&key, &vector.half, tokens.map(|tokens| &tokens.bytes[..]));
                let tokens_model =
                    tokens.map(|tokens| model_row(connection, &tokens.model)).transpose()?;
                connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO embedding_cache (key, model, used_time, vector, tokens_model, tokens, checksum)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute(params![
                        key,
                        model,
                        stamp.now.as_microsecond(),
                        vector.half,
                        tokens_model,
                        tokens.map(|tokens| &tokens.bytes),
                        checksum,
                    ])?;
            }
            let held: usize = connection
                .prepare_cached("SELECT count(*) FROM embedding_cache")?
                .query_row([], |row| row.get(0))?;
            let mut over = held.saturating_sub(most);
            // Entries that a wrong clock dated later than this use are dropped first; otherwise nothing new would be kept
            // until then.
            for which in ["WHERE used_time > ?2 ORDER BY used_time DESC", "WHERE ?2 NOT NULL ORDER BY used_time"] {
                if over > 0 {
                    over -= connection
                        .prepare_cached(&format!(
                            "DELETE FROM embedding_cache WHERE key IN
                             (SELECT key FROM embedding_cache {which}, key LIMIT ?1)"
                        ))?
                        .execute(params![over, stamp.now.as_microsecond()])?;
                }
            }
            Ok(())
        })
    }

    fn given(&self, session: &str) -> crate::Result<Vec<Given>> {
        self.read("read what the session was given", |connection| {
            connection
                .prepare_cached("SELECT row, text_hash FROM injections WHERE session = ?1 ORDER BY row")?
                .query_map([session], |row| Ok(Given { row: first(row)?, text_hash: row.get(1)? }))?
                .collect()
        })
    }

    fn give(
        &self,
        session: &str,
        given: &[Given],
        now: Timestamp,
        keep_after: Timestamp,
    ) -> crate::Result<()> {
        self.write("remember what the session was given", |connection| {
            // An item may have been forgotten since it was given; it must not come back here.
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO injections (session, row, text_hash, time)
                 SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM items WHERE row = ?2)",
            )?;
            for Given { row: RowId(row), text_hash } in given {
                insert.execute(params![session, row, text_hash, now.as_microsecond()])?;
            }
            // With a clock that jumped ahead, all of them would seem old.
            if outlasts(connection, now)? {
                connection
                    .prepare_cached("DELETE FROM injections WHERE time < ?1")?
                    .execute([keep_after.as_microsecond()])?;
            }
            Ok(())
        })
    }

    fn lose_given(&self, session: &str) -> crate::Result<()> {
        self.write("note that the session has lost what it was given", |connection| {
            connection
                .prepare_cached("UPDATE injections SET text_hash = ?2 WHERE session = ?1")?
                .execute(params![session, Given::LOST])?;
            Ok(())
        })
    }

    fn expose(&self, given: &[(RowId, Timestamp)]) -> crate::Result<()> {
        self.write("remember what an answer gave", |connection| {
            // An item may have been forgotten since; it must not come back here.
            let mut insert = connection.prepare_cached(
                "INSERT INTO exposures (row, time, times) SELECT ?1, ?2, 1 WHERE EXISTS (SELECT 1 FROM items WHERE row = ?1)
                 ON CONFLICT (row) DO UPDATE SET time = ?2, times = times + 1",
            )?;
            given.iter().try_for_each(|(row, time)| {
                insert.execute(params![row.0, time.as_microsecond()]).map(drop)
            })
        })
    }

    fn exposure(&self, row: RowId) -> crate::Result<Option<(u64, Timestamp)>> {
        if self.schema < KEEPS_LIFE {
            return Ok(None);
        }
        self.read("read how often an item was given", |connection| {
            connection
                .prepare_cached("SELECT times, time FROM exposures WHERE row = ?1")?
                .query_row([row.0], |row| Ok((row.get(0)?, timestamp(row.get(1)?)?)))
                .optional()
        })
    }

    fn exposed(&self, since: Timestamp, most: usize) -> crate::Result<Vec<RowId>> {
        self.read("read what answers gave", |connection| {
            connection
                .prepare_cached(
                    "SELECT row FROM exposures WHERE time >= ?1 ORDER BY time DESC, row LIMIT ?2",
                )?
                .query_map(params![since.as_microsecond(), most.cast_signed()], first)?
                .collect()
        })
    }
}

/// Returns the cache's key. It includes the model, so vectors of different models never mix.
pub(super) fn cache_key(model: &str, text: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(model.as_bytes());
    hash.update(b":");
    hash.update(text.as_bytes());
    hash.finalize().to_vec()
}
