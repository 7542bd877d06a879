//! Finds the rows of a selection: those that are known, or what indexes or a scan find.

use rusqlite::{Connection, params_from_iter};
use std::sync::Arc;

use super::columns::first;
use super::events::mark;
use super::known::Moment;
use super::{SqliteStore, lookup, schema, select};
use crate::error::Result;
use crate::item::{Change, RowSet};
use crate::request::Selection;

impl SqliteStore {
    pub(super) fn selected_rows(&self, selection: &Selection) -> Result<Option<Arc<RowSet>>> {
        self.check_clocks(selection.clocks)?;
        if select::is_everything(selection) {
            return Ok(None);
        }
        self.read("select the items", |connection| {
            let moment =
                connection.prepare_cached("SELECT identity, change FROM store")?.query_row([], |row| {
                    let (identity, change) = (row.get(0)?, row.get(1)?);
                    Ok(Moment { identity, change, mark: mark(connection, Change(change))?.unwrap_or(0) })
                })?;
            if let Some(rows) = self.selected.get(&moment, selection) {
                return Ok(Some(rows));
            }
            // A store that cannot be written keeps the schema that it has.
            let found = if self.schema >= schema::KEEPS_FIELDS {
                lookup::rows(connection, select::conjuncts(selection), lookup::NARROW)?
            } else {
                None
            };
            let rows = Arc::new(found.map_or_else(|| scan(connection, selection), Ok)?);
            self.selected.put(moment, selection, &rows);
            Ok(Some(rows))
        })
    }
}

/// The rows of a selection, from all rows: what indexes find must be the same.
fn scan(connection: &Connection, selection: &Selection) -> rusqlite::Result<RowSet> {
    let condition = select::condition(selection);
    let sql = format!("SELECT i.row FROM items i WHERE {}", condition.sql);
    connection.prepare(&sql)?.query_map(params_from_iter(condition.values), first)?.collect()
}

#[cfg(test)]
impl SqliteStore {
    /// The rows of a selection as indexes find them, where a condition with more than `narrow` rows is a wide one.
    pub(crate) fn select_by_index(&self, selection: &Selection, narrow: usize) -> Result<Option<RowSet>> {
        let conjuncts = select::conjuncts(selection);
        self.read("select the items", |connection| lookup::rows(connection, conjuncts, narrow))
    }

    /// The rows of a selection as a scan finds them.
    pub(crate) fn select_by_scan(&self, selection: &Selection) -> Result<RowSet> {
        self.read("select the items", |connection| scan(connection, selection))
    }
}
