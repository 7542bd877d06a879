//! Takes change numbers, and records and reads the events of a change.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Map, Value};

use super::checksums::of_event;
use super::columns::json_field;
use crate::item::{Change, derive_id};
use crate::store::Stamp;

/// An event of a change.
pub(super) struct Entry {
    pub(super) event: i64,
    pub(super) action: String,
    pub(super) subject: Option<String>,
    pub(super) detail: Map<String, Value>,
}

/// Takes the next change number. This happens inside the transaction, so numbers follow the order of commits.
pub(super) fn next_change(connection: &Connection) -> Result<Change> {
    connection
        .prepare_cached("UPDATE store SET change = change + 1 RETURNING change")?
        .query_row([], |row| row.get(0))
        .map(Change)
}

/// Largest number of events after a change for which their effects are looked up one by one.
const MOST_SINCE: usize = 4_096;

/// Whether there are few enough events after a change to look up their effects one by one.
pub(super) fn are_few_since(connection: &Connection, after: Change) -> Result<bool> {
    let number: usize = connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM events WHERE change > ?1 LIMIT ?2)")?
        .query_row(params![after.0, MOST_SINCE + 1], |row| row.get(0))?;
    Ok(number <= MOST_SINCE)
}

pub(super) fn record(
    connection: &Connection,
    change: Change,
    stamp: Stamp<'_>,
    action: &str,
    subject: Option<&str>,
    detail: &Value,
) -> Result<u64> {
    let (time, detail) = (stamp.now.as_microsecond(), detail.to_string());
    let checksum = of_event(change.0, time, (action, subject, stamp.actor), &detail);
    connection
        .prepare_cached(
            "INSERT INTO events (change, time, action, subject, actor, detail, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![change.0, time, action, subject, stamp.actor, detail, checksum])?;
    Ok(connection.last_insert_rowid().unsigned_abs())
}

/// Returns the fingerprint of a change: a hash of its first event, which no other history shares (its time is in
/// microseconds).
pub(super) fn mark(connection: &Connection, change: Change) -> Result<Option<u64>> {
    connection
        .prepare_cached(
            "SELECT event, time, action, coalesce(subject, '') FROM events WHERE change = ?1 ORDER BY event LIMIT 1",
        )?
        .query_row([change.0], |row| {
            let (event, time): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (action, subject): (String, String) = (row.get(2)?, row.get(3)?);
            let id = derive_id(&[&event.to_string(), &time.to_string(), &action, &subject]);
            Ok(u64::from_str_radix(&id, 16).expect("an id is 16 hex digits"))
        })
        .optional()
}

/// Reads the events of a change, the last first.
pub(super) fn entries(connection: &Connection, change: Change) -> Result<Vec<Entry>> {
    connection
        .prepare_cached(
            "SELECT event, action, subject, detail FROM events WHERE change = ?1 ORDER BY event DESC",
        )?
        .query_map([change.0], |row| {
            let detail: String = row.get(3)?;
            Ok(Entry {
                event: row.get(0)?,
                action: row.get(1)?,
                subject: row.get(2)?,
                detail: json_field(&detail)?,
            })
        })?
        .collect()
}
