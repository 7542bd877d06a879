//! What changed after a change: the events of each transaction as one.

use rusqlite::Result;

use super::SqliteStore;
use super::read::timestamp;
use crate::item::Change;
use crate::request::StoreChange;

impl SqliteStore {
    pub(super) fn read_changes(&self, after: Change, most: usize) -> crate::Result<Vec<StoreChange>> {
        self.read("read the changes", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT change, time, action, subject FROM events WHERE change > ?1 ORDER BY change, event",
            )?;
            let mut rows = statement.query([after.0])?;
            let mut changes: Vec<StoreChange> = Vec::new();
            while let Some(row) = rows.next()? {
                let change = row.get::<_, i64>(0)?.unsigned_abs();
                if changes.last().is_none_or(|last| last.change != change) {
                    if changes.len() == most {
                        break;
                    }
                    changes.push(StoreChange::new(change, timestamp(row.get(1)?)?));
                }
                let last = changes.last_mut().expect("one was pushed");
                last.add(row.get(2)?, row.get(3)?);
            }
            Result::Ok(changes)
        })
    }
}
