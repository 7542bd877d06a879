//! Stores the time that the store trusts, and repairs the times of a wrong clock.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params, params_from_iter};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

use super::checksums::{seal_document, seal_fields};
use super::columns::{row_id, timestamp};
use super::events::{next_change, record};
use super::{SqliteStore, schema};
use crate::item::Change;
use crate::store::Stamp;
use crate::store::clock::{ClockReading, ClockTrust, ClockVerdict, Jump, MOST_GAP, TrustedTime};

/// Columns with times that a write takes from the clock. `items.access_time` is not among them: later uses change it.
const STAMPED: &[(&str, &[&str])] = &[
    ("items", &["create_time", "update_time", "hidden_time", "valid_from", "valid_to"]),
    ("documents", &["create_time", "update_time"]),
    ("relations", &["create_time"]),
    ("reviews", &["create_time", "close_time"]),
];

/// Columns with times of uses, which have no event.
const USES: &[(&str, &str)] = &[
    ("items", "access_time"),
    ("exposures", "time"),
    ("injections", "time"),
    ("embedding_cache", "used_time"),
    ("llm_answers", "used_time"),
    ("llm_answers", "create_time"),
    ("llm_calls", "time"),
];

impl TrustedTime for SqliteStore {
    fn trust(&self) -> crate::Result<ClockTrust> {
        self.read("read the trusted time", |connection| {
            if self.schema >= schema::KEEPS_CLOCK {
                return trust(connection);
            }
            let made = first_trust(connection)?;
            let last = connection.query_row("SELECT max(event), time FROM events", [], |row| row.get(1));
            let time = last.optional()?.flatten().map_or(Ok(made.steady.time), timestamp)?;
            Ok(ClockTrust::new(ClockReading { time, ..made.steady }))
        })
    }

    fn read_clock(&self, by_sweep: bool, stamp: Stamp<'_>) -> crate::Result<ClockTrust> {
        self.write("note the time", |connection| {
            let before = trust(connection)?;
            let change =
                connection.query_row("SELECT change FROM store", [], |row| row.get(0)).map(Change)?;
            let (mut after, verdict) = before.read(ClockReading { time: stamp.now, change }, by_sweep);
            if let ClockVerdict::Returned(steady) = verdict
                && let Some(change) = repair(connection, steady, stamp)?
            {
                after = ClockTrust::new(ClockReading { time: stamp.now, change });
            }
            put(connection, &after)?;
            Ok(after)
        })
    }
}

/// Whether entries that are too old at `now` may be dropped, inside a transaction.
pub(super) fn outlasts(connection: &Connection, now: Timestamp) -> Result<bool> {
    Ok(trust(connection)?.outlasts(now))
}

fn trust(connection: &Connection) -> Result<ClockTrust> {
    let kept = connection
        .prepare_cached(
            "SELECT time, change, jump_time, jump_change, first_time, mark_time, is_trusted FROM clock",
        )?
        .query_row([], |row| {
            let jump = row.get::<_, Option<i64>>(2)?.map(|time| {
                Ok::<_, rusqlite::Error>(Jump {
                    first: timestamp(row.get(4)?)?,
                    last: ClockReading { time: timestamp(time)?, change: Change(row.get(3)?) },
                    marked: row.get::<_, Option<i64>>(5)?.map(timestamp).transpose()?,
                    is_trusted: row.get(6)?,
                })
            });
            let steady = ClockReading { time: timestamp(row.get(0)?)?, change: Change(row.get(1)?) };
            Ok(ClockTrust { steady, jump: jump.transpose()? })
        })
        .optional()?;
    kept.map_or_else(|| first_trust(connection), Ok)
}

fn first_trust(connection: &Connection) -> Result<ClockTrust> {
    let time = connection.query_row("SELECT create_time FROM store", [], |row| timestamp(row.get(0)?))?;
    Ok(ClockTrust::new(ClockReading { time, change: Change(0) }))
}

fn put(connection: &Connection, trust: &ClockTrust) -> Result<()> {
    let ClockTrust { steady, jump } = trust;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO clock (one, time, change, jump_time, jump_change, first_time, mark_time, is_trusted)
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            steady.time.as_microsecond(),
            steady.change.0,
            jump.map(|jump| jump.last.time.as_microsecond()),
            jump.map(|jump| jump.last.change.0),
            jump.map(|jump| jump.first.as_microsecond()),
            jump.and_then(|jump| jump.marked).map(Timestamp::as_microsecond),
            jump.is_some_and(|jump| jump.is_trusted),
        ])?;
    Ok(())
}

/// Replaces the times that a wrong clock gave after a reading. Returns the change, or `None` if no event has such a time.
///
/// Each transaction has one time, which no other has by chance. So a column with that time was set from the clock, and
/// times that a text or an import stated are kept.
fn repair(connection: &Connection, steady: ClockReading, stamp: Stamp<'_>) -> Result<Option<Change>> {
    let micros = |time: Option<Timestamp>, otherwise: Timestamp| time.unwrap_or(otherwise).as_microsecond();
    let (now, earliest, latest) = (
        stamp.now.as_microsecond(),
        micros(steady.time.checked_sub(MOST_GAP).ok(), Timestamp::MIN),
        micros(stamp.now.checked_add(MOST_GAP).ok(), Timestamp::MAX),
    );
    let wrong: Vec<i64> = connection
        .prepare(
            "SELECT time FROM events WHERE change > ?1 AND time NOT BETWEEN ?2 AND ?3 GROUP BY time ORDER BY min(event)",
        )?
        .query_map(params![steady.change.0, earliest, latest], |row| row.get(0))?
        .collect::<Result<_>>()?;
    let mut touched = BTreeSet::new();
    for (table, column) in USES {
        let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {column} > ?2");
        update(connection, table, &sql, &[now, latest], &mut touched)?;
    }
    if wrong.is_empty() {
        reseal(connection, &touched)?;
        return Ok(None);
    }
    let mut keep =
        connection.prepare("INSERT OR REPLACE INTO clock_repairs (wrong, time) VALUES (?1, ?2)")?;
    for (later, time) in (1..).zip(wrong.iter().rev()) {
        keep.execute([*time, now - later])?;
    }
    let right = |column: &str| {
        format!(
            "{column} = (SELECT r.time FROM clock_repairs r WHERE r.wrong = {column})
             WHERE {column} IN (SELECT wrong FROM clock_repairs)"
        )
    };
    let sql = format!("UPDATE items SET {}", right("access_time"));
    let mut repaired = update(connection, "items", &sql, &[], &mut touched)?;
    for (table, columns) in STAMPED {
        for column in *columns {
            let sql = format!("UPDATE {table} SET {}", right(column));
            repaired += update(connection, table, &sql, &[], &mut touched)?;
        }
    }
    reseal(connection, &touched)?;
    let change = next_change(connection)?;
    let detail = json!({ "times": wrong.len(), "fields": repaired });
    record(connection, change, stamp, "clock", None, &detail)?;
    Ok(Some(change))
}

/// Updates a table, and records the changed rows if its checksums cover times. Returns the number of changed rows.
fn update(
    connection: &Connection,
    table: &'static str,
    sql: &str,
    values: &[i64],
    touched: &mut BTreeSet<(&'static str, i64)>,
) -> Result<usize> {
    if !matches!(table, "items" | "documents") {
        return connection.execute(sql, params_from_iter(values));
    }
    let rows: Vec<i64> = connection
        .prepare(&format!("{sql} RETURNING row"))?
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<Result<_>>()?;
    touched.extend(rows.iter().map(|row| (table, *row)));
    Ok(rows.len())
}

/// Writes the checksums of repaired rows, which would otherwise count as damaged.
fn reseal(connection: &Connection, touched: &BTreeSet<(&'static str, i64)>) -> Result<()> {
    touched.iter().try_for_each(|&(table, row)| {
        if table == "documents" {
            seal_document(connection, row)
        } else {
            seal_fields(connection, row_id(row)?)
        }
    })
}

/// Replaces the times in an event's state by their repaired values.
pub(super) fn repaired(connection: &Connection, state: &mut Map<String, Value>) -> Result<()> {
    let mut find = connection.prepare_cached("SELECT time FROM clock_repairs WHERE wrong = ?1")?;
    for name in ["hidden_time", "valid_from", "valid_to"] {
        let Some(time) = state.get(name).and_then(Value::as_i64) else { continue };
        if let Some(right) = find.query_row([time], |row| row.get::<_, i64>(0)).optional()? {
            state.insert(name.to_owned(), json!(right));
        }
    }
    Ok(())
}
