//! Reads the changes after a given one: the events of each transaction as one, and whom they concern.

use rusqlite::{Result, params_from_iter};

use super::columns::timestamp;
use super::{SqliteStore, select};
use crate::item::{Change, Visibility};
use crate::request::StoreChange;

impl SqliteStore {
    pub(super) fn read_changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> crate::Result<(Vec<StoreChange>, Change)> {
        let visible = select::visible(visibility);
        // An event without a subject is of the whole store.
        let is_visible = if visibility.is_everything() {
            "1".to_owned()
        } else {
            format!(
                "e.subject IS NOT NULL AND (EXISTS (SELECT 1 FROM items i WHERE i.id = e.subject AND {0})
                 OR EXISTS (SELECT 1 FROM documents d JOIN items i ON i.document = d.row WHERE d.id = e.subject AND {0}))",
                visible.sql
            )
        };
        let sql = format!(
            "SELECT e.change, e.time, e.action, e.subject, {is_visible} FROM events e WHERE e.change > {}
             ORDER BY e.change, e.event",
            after.0
        );
        self.read("read the changes", |connection| {
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(visible.values.iter().chain(&visible.values)))?;
            let (mut changes, mut looked, mut last): (Vec<StoreChange>, usize, Change) =
                (Vec::new(), 0, after);
            while let Some(row) = rows.next()? {
                let change = Change(row.get::<_, i64>(0)?.unsigned_abs());
                if change != last {
                    if looked == most {
                        break;
                    }
                    (looked, last) = (looked + 1, change);
                }
                if !row.get::<_, bool>(4)? {
                    continue;
                }
                if changes.last().is_none_or(|told| told.change != change.0) {
                    changes.push(StoreChange::new(change.0, timestamp(row.get(1)?)?));
                }
                let told = changes.last_mut().expect("one was pushed");
                told.add(row.get(2)?, row.get(3)?);
            }
            Result::Ok((changes, last))
        })
    }
}
