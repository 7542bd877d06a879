//! Stores data of this machine only: items given to sessions, and exposures.
//! Rows that refer to an item are removed with the item. No answer depends on this data.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::SqliteStore;
use super::columns::{first, timestamp};
use super::schema::KEEPS_LIFE;
use super::trust::outlasts;
use crate::item::RowId;
use crate::store::{Desk, Given};

impl Desk for SqliteStore {
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
