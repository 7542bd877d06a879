//! Supersedes memories: each keeps its text, and is linked to the one that took its place.

use rusqlite::{Connection, Result};
use serde_json::{Map, Value, json};

use super::events::record;
use super::states::{State, turn};
use super::tags::{add_tags, written_tags};
use super::ties::{end_possible, id_of, relate};
use crate::item::{Change, Relation, RowId, Status, Turn};
use crate::store::Stamp;

/// Confidence that one more observation adds (ADE: a merge raises it by .05).
pub(super) const OBSERVED: f64 = 0.05;

/// Makes an extracted candidate an active, reviewed memory, because a person decided so.
pub(super) fn promote(connection: &Connection, row: RowId, change: Change, stamp: Stamp<'_>) -> Result<()> {
    let Some(before) = State::of(connection, row)? else { return Ok(()) };
    if before.status != Status::Candidate.word() && before.reviewed {
        return Ok(());
    }
    // A memory that was replaced since the review began has a successor, and stays superseded.
    let state = if before.status == Status::Superseded.word() {
        before.clone()
    } else {
        before.clone().with_status(Status::Active, stamp.now.as_microsecond())
    };
    let after = State { reviewed: true, ..state };
    let mut detail = Map::from_iter([("rule".to_owned(), json!("told"))]);
    turn(connection, row, &before, &after, &mut detail, stamp)?;
    let id = id_of(connection, row)?;
    record(connection, change, stamp, Turn::Promote.word(), Some(&id), &Value::Object(detail)).map(drop)
}

/// Supersedes a memory, and links `by` to it as the end of its chain, if something replaces it. The memory keeps its
/// text; the successor takes over its pin and its tags. A memory that is already hidden has its place in a chain and
/// stays as it is.
pub(super) fn supersede(
    connection: &Connection,
    row: RowId,
    by: Option<RowId>,
    why: &Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<()> {
    if !hide(connection, row, by, why, change, stamp)? {
        return Ok(());
    }
    let Some(by) = by else { return Ok(()) };
    let (Some(gone), Some(before)) = (State::of(connection, row)?, State::of(connection, by)?) else {
        return Ok(());
    };
    let id = id_of(connection, row)?;
    let mut detail = why.clone();
    let added = add_tags(connection, by, &written_tags(connection, row)?, change)?;
    detail.insert("replaces".to_owned(), json!(id));
    detail.insert("added".to_owned(), json!(added));
    if before.supersedes_id.is_some() {
        // A chain is a single line, and this memory has its place in one.
        relate(connection, by, Relation::Supersedes, row, 1.0, stamp)?;
    }
    let supersedes_id = before.supersedes_id.clone().or(Some(id));
    let after = State { supersedes_id, tier: before.tier.min(gone.tier), ..before.clone() };
    turn(connection, by, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "supersede", Some(&id_of(connection, by)?), &Value::Object(detail))?;
    Ok(())
}

/// Marks a memory as superseded, with its event. Returns false if it is already hidden, or was removed.
fn hide(
    connection: &Connection,
    row: RowId,
    by: Option<RowId>,
    why: &Map<String, Value>,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<bool> {
    let Some(before) = State::of(connection, row)?.filter(State::is_seen) else { return Ok(false) };
    let now = stamp.now.as_microsecond();
    let mut after = before.clone().with_status(Status::Superseded, now);
    let mut detail = why.clone();
    if let Some(by) = by {
        // The successor became valid at its stated time, if any, otherwise when it was written.
        let since: i64 = connection
            .prepare_cached("SELECT coalesce(valid_from, create_time) FROM items WHERE row = ?1")?
            .query_row([by.0], |row| row.get(0))?;
        after.valid_to = after.valid_to.or(Some(since));
        detail.insert("by".to_owned(), json!(id_of(connection, by)?));
    } else {
        // It was never valid.
        let written: i64 = connection
            .prepare_cached("SELECT create_time FROM items WHERE row = ?1")?
            .query_row([row.0], |row| row.get(0))?;
        (after.valid_from, after.valid_to) = (Some(written), Some(written));
    }
    end_possible(connection, row)?;
    turn(connection, row, &before, &after, &mut detail, stamp)?;
    record(connection, change, stamp, "superseded", Some(&id_of(connection, row)?), &Value::Object(detail))?;
    Ok(true)
}

/// Returns findings about chains: each memory has at most one successor, and a memory with a successor is superseded.
pub(super) fn broken_chains(connection: &Connection) -> Result<Vec<String>> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u64>(0));
    let forks = count(
        "SELECT count(*) FROM (SELECT 1 FROM items WHERE supersedes_id IS NOT NULL GROUP BY supersedes_id
         HAVING count(*) > 1)",
    )?;
    let seen = count(
        "SELECT count(*) FROM items n JOIN items o ON o.id = n.supersedes_id WHERE o.status <> 'superseded'",
    )?;
    let mut findings = Vec::new();
    if forks > 0 {
        findings.push(format!("{forks} memories were replaced twice"));
    }
    if seen > 0 {
        findings.push(format!("{seen} memories were replaced and are not superseded"));
    }
    Ok(findings)
}
