//! What changed after a change: the events of each transaction as one, and whom they concern.

use rusqlite::types::Value;
use rusqlite::{Result, params_from_iter};
use std::collections::BTreeSet;

use super::read::timestamp;
use super::{SqliteStore, select};
use crate::item::Change;
use crate::request::{Selection, StoreChange};

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

    pub(super) fn read_held_of(
        &self,
        ids: &[String],
        selection: &Selection,
    ) -> crate::Result<BTreeSet<String>> {
        let condition = select::condition(selection);
        let sql = format!(
            "SELECT i.id FROM json_each(?) s CROSS JOIN items i ON i.id = s.value WHERE {0}
             UNION SELECT d.id FROM json_each(?) s CROSS JOIN documents d ON d.id = s.value
             WHERE EXISTS (SELECT 1 FROM items i WHERE i.document = d.row AND {0})",
            condition.sql
        );
        let ids = Value::Text(serde_json::json!(ids).to_string());
        let half = || std::iter::once(&ids).chain(&condition.values);
        self.read("look up the ids", |connection| {
            let mut statement = connection.prepare(&sql)?;
            statement.query_map(params_from_iter(half().chain(half())), |row| row.get(0))?.collect()
        })
    }
}
