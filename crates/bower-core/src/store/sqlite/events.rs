//! Takes the number of a change, and records the events of it.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::Value;

use super::checksums::of_event;
use crate::item::{Change, derive_id};
use crate::store::Stamp;

/// The next change number. Taken inside the transaction, so numbers appear in the order of commits.
pub(super) fn next_change(connection: &Connection) -> Result<Change> {
    connection
        .prepare_cached("UPDATE store SET change = change + 1 RETURNING change")?
        .query_row([], |row| row.get(0))
        .map(Change)
}

/// More events than this after a change, and what they changed is read as a whole.
const MOST_SINCE: usize = 4_096;

/// Whether there are so few events after a change that what they changed is looked up by them.
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

/// The fingerprint of a change: its first event, which no other history shares (its time is in microseconds).
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
