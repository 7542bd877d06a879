//! Records what each session was given: one row an item, gone with the item.
//! Nothing here is needed to answer a question.

use jiff::Timestamp;
use rusqlite::params;

use super::SqliteStore;
use super::columns::first;
use super::trust::outlasts;
use crate::item::RowId;
use crate::store::Given;

impl SqliteStore {
    pub(super) fn read_given(&self, session: &str) -> crate::Result<Vec<Given>> {
        self.read("read what the session was given", |connection| {
            connection
                .prepare_cached("SELECT row, text_hash FROM injections WHERE session = ?1 ORDER BY row")?
                .query_map([session], |row| Ok(Given { row: first(row)?, text_hash: row.get(1)? }))?
                .collect()
        })
    }

    pub(super) fn write_lost(&self, session: &str) -> crate::Result<()> {
        self.write("note that the session has lost what it was given", |connection| {
            connection
                .prepare_cached("UPDATE injections SET text_hash = ?2 WHERE session = ?1")?
                .execute(params![session, Given::LOST])?;
            Ok(())
        })
    }

    pub(super) fn write_given(
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
            // By a clock that jumped ahead all of them would be old.
            if outlasts(connection, now)? {
                connection
                    .prepare_cached("DELETE FROM injections WHERE time < ?1")?
                    .execute([keep_after.as_microsecond()])?;
            }
            Ok(())
        })
    }
}
