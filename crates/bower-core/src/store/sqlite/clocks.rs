//! Point-in-time queries: the state of the store at a past time, and facts that were valid at a time.
//! A query is one condition over all items, or lookups of the few hidden items, each by an index.

use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

use super::columns::first;
use super::condition::{Condition, every};
use super::{SqliteStore, schema};
use crate::error::{Error, Result};
use crate::item::RowSet;
use crate::request::Clocks;

/// Start of a memory's validity: the stated one, or the time when it replaced another. The first of a chain without a
/// stated start counts as always valid.
const FROM: &str = "coalesce(i.valid_from, CASE WHEN i.supersedes_id IS NOT NULL THEN i.create_time END)";

/// Selects the ids of items that were hidden at a time and restored by an undo since: their rows no longer show it. Undos
/// are found by their one event without a subject, which an index holds. Items restored because they were stated again
/// are not found.
fn back_since(then: &str, statuses: &str) -> String {
    format!(
        "SELECT e.subject FROM events h JOIN events e ON e.change = h.change
         WHERE h.action = 'undo' AND h.subject IS NULL AND h.time > {then} AND e.action = 'undo' AND e.subject IS NOT NULL
         AND json_extract(e.detail, '$.was.status') IN ({statuses})
         AND json_extract(e.detail, '$.was.hidden_time') <= {then}"
    )
}

/// Returns the condition on `items i` for being visible with these clocks.
pub(super) fn visible(clocks: Clocks) -> Condition {
    let mut all = Vec::new();
    let mut and = |sql: &str, times: &[Timestamp]| {
        let values = times.iter().map(|time| Sql::Integer(time.as_microsecond())).collect();
        all.push(Condition { sql: sql.to_owned(), values });
    };
    match (clocks.as_of, clocks.valid_at) {
        (None, None) => and("i.status IN ('candidate', 'active')", &[]),
        (Some(then), None) => {
            and("i.create_time <= ?", &[then]);
            and("(i.status IN ('candidate', 'active') OR i.hidden_time > ?)", &[then]);
            and(&format!("i.id NOT IN ({})", back_since("?", "'superseded', 'archived'")), &[then, then]);
        }
        (None, Some(at)) => {
            and("i.status NOT IN ('archived', 'variant')", &[]);
            and("(i.valid_to IS NULL OR i.valid_to > ?)", &[at]);
        }
        (Some(then), Some(at)) => {
            and("i.create_time <= ?", &[then]);
            and("(i.status NOT IN ('archived', 'variant') OR i.hidden_time > ?)", &[then]);
            and("(i.valid_to IS NULL OR i.valid_to > ? OR i.hidden_time > ?)", &[at, then]);
            and(&format!("i.id NOT IN ({})", back_since("?", "'archived'")), &[then, then]);
        }
    }
    if let Some(at) = clocks.valid_at {
        and(&format!("({FROM} IS NULL OR {FROM} <= ?)"), &[at]);
    }
    every(all.into_iter())
}

impl SqliteStore {
    /// Fails for a past time if the store has an old schema without a past and cannot be migrated.
    pub(super) fn check_clocks(&self, clocks: Clocks) -> Result<()> {
        if clocks == Clocks::default() || self.schema >= schema::KEEPS_LIFE {
            return Ok(());
        }
        let reason = format!(
            "the store's schema {} keeps no past, and the store cannot be written to bring it up to date",
            self.schema
        );
        Err(Error::invalid("a time of the past", reason))
    }
}

/// Returns the rows that are hidden with these clocks.
pub(super) fn hidden(connection: &Connection, clocks: Clocks) -> rusqlite::Result<RowSet> {
    let mut rows = RowSet::new();
    let mut add = |sql: &str, values: &[i64]| -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut found = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = found.next()? {
            rows.insert(first(row)?);
        }
        Ok(())
    };
    let [then, at] = [clocks.as_of, clocks.valid_at].map(|time| time.map(Timestamp::as_microsecond));
    match (then, at) {
        // Wordings are not hidden: a question finds their memories by them.
        (None, None) => add("SELECT row FROM items WHERE status IN ('superseded', 'archived')", &[])?,
        (Some(then), None) => {
            for status in ["status IN ('superseded', 'archived')", "status = 'variant'"] {
                let sql = format!(
                    "SELECT row FROM items WHERE {status} AND (hidden_time <= ?1 OR hidden_time IS NULL)"
                );
                add(&sql, &[then])?;
            }
        }
        (then, Some(at)) => {
            // An item that was hidden after the first clock counts in its state before that.
            let then = then.unwrap_or(i64::MAX);
            let unless = "(hidden_time <= ?1 OR hidden_time IS NULL)";
            add(
                &format!(
                    "SELECT row FROM items WHERE status IN ('superseded', 'archived') AND status = 'archived' AND {unless}"
                ),
                &[then],
            )?;
            add(&format!("SELECT row FROM items WHERE status = 'variant' AND {unless}"), &[then])?;
            add(&format!("SELECT row FROM items WHERE valid_to <= ?2 AND {unless}"), &[then, at])?;
            add("SELECT row FROM items WHERE valid_from > ?1", &[at])?;
            add(
                "SELECT row FROM items WHERE supersedes_id IS NOT NULL AND valid_from IS NULL AND create_time > ?1",
                &[at],
            )?;
        }
    }
    if let Some(then) = then {
        add("SELECT row FROM items WHERE create_time > ?1", &[then])?;
        let statuses = if at.is_some() { "'archived'" } else { "'superseded', 'archived'" };
        add(&format!("SELECT row FROM items WHERE id IN ({})", back_since("?1", statuses)), &[then])?;
    }
    Ok(rows)
}
