//! Reads and writes the relations of memories: ids to rows, wordings, what is possible, and the relations of an event.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Map, Value, json};

use super::columns::first;
use crate::item::{Relation, RowId};
use crate::store::Stamp;

pub(super) fn id_of(connection: &Connection, row: RowId) -> Result<String> {
    connection.prepare_cached("SELECT id FROM items WHERE row = ?1")?.query_row([row.0], |row| row.get(0))
}

pub(super) fn row_of(connection: &Connection, id: &str) -> Result<Option<RowId>> {
    connection.prepare_cached("SELECT row FROM items WHERE id = ?1")?.query_row([id], first).optional()
}

pub(super) fn relate(
    connection: &Connection,
    row: RowId,
    relation: Relation,
    other: RowId,
    strength: f32,
    stamp: Stamp<'_>,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO relations (row, relation, other, strength, create_time) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![row.0, relation.word(), other.0, strength, stamp.now.as_microsecond()])?;
    Ok(())
}

/// Returns the rows tied to a memory as wordings, oldest first.
pub(super) fn wordings_of(connection: &Connection, row: RowId) -> Result<Vec<RowId>> {
    connection
        .prepare_cached(
            "SELECT r.row FROM relations r JOIN items i ON i.row = r.row
             WHERE r.other = ?1 AND r.relation = 'variant_of' AND i.status IN ('variant', 'archived') ORDER BY r.row",
        )?
        .query_map([row.0], first)?
        .collect()
}

/// Returns the memory that a row is a wording of.
pub(super) fn memory_of(connection: &Connection, wording: RowId) -> Result<Option<RowId>> {
    connection
        .prepare_cached(
            "SELECT r.other FROM relations r JOIN items i ON i.row = r.row
             WHERE r.row = ?1 AND r.relation = 'variant_of' AND i.status = 'variant'",
        )?
        .query_row([wording.0], first)
        .optional()
}

/// Returns a relation as an event stores it.
pub(super) fn tie(
    connection: &Connection,
    row: RowId,
    relation: &str,
    other: RowId,
    strength: f64,
) -> Result<Value> {
    let (row, other) = (id_of(connection, row)?, id_of(connection, other)?);
    Ok(json!({ "row": row, "relation": relation, "other": other, "strength": strength }))
}

/// Removes the relations that an event added, and restores those that it removed, where both items are still there.
pub(super) fn retie(connection: &Connection, detail: &Map<String, Value>, stamp: Stamp<'_>) -> Result<()> {
    for (key, is_added) in [("tied", true), ("untied", false)] {
        for tie in detail.get(key).and_then(Value::as_array).into_iter().flatten() {
            let word = |name: &str| tie.get(name).and_then(Value::as_str).unwrap_or_default();
            let rows = (row_of(connection, word("row"))?, row_of(connection, word("other"))?);
            let ((Some(row), Some(other)), Ok(relation)) = (rows, word("relation").parse::<Relation>())
            else {
                continue;
            };
            if is_added {
                connection
                    .prepare_cached("DELETE FROM relations WHERE row = ?1 AND relation = ?2 AND other = ?3")?
                    .execute(params![row.0, relation.word(), other.0])?;
            } else {
                let strength = tie.get("strength").and_then(Value::as_f64).unwrap_or(1.0);
                relate(connection, row, relation, other, strength as f32, stamp)?;
            }
        }
    }
    Ok(())
}

/// Returns the strength of a row's relation to another; `None` if it has none.
pub(super) fn strength_of(
    connection: &Connection,
    row: RowId,
    relation: &str,
    other: RowId,
) -> Result<Option<f32>> {
    connection
        .prepare_cached("SELECT strength FROM relations WHERE row = ?1 AND relation = ?2 AND other = ?3")?
        .query_row(params![row.0, relation, other.0], |found| found.get(0))
        .optional()
}

/// Whether all relations that an event added are still there with their strengths, and none that it only removed is there again.
pub(super) fn ties_stand(connection: &Connection, detail: &Map<String, Value>) -> Result<bool> {
    let ties = |key: &str| detail.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let place = |tie: &Value| {
        let word = |name: &str| tie.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        (word("row"), word("relation"), word("other"))
    };
    let present = |tie: &Value| {
        let (row, relation, other) = place(tie);
        match (row_of(connection, &row)?, row_of(connection, &other)?) {
            (Some(row), Some(other)) => strength_of(connection, row, &relation, other),
            (None, _) | (_, None) => Ok(None),
        }
    };
    let tied = ties("tied");
    for tie in &tied {
        let strength = tie.get("strength").and_then(Value::as_f64);
        let is_same =
            |present: f32| strength.is_some_and(|strength| (strength - f64::from(present)).abs() < 1e-6);
        if !present(tie)?.is_some_and(is_same) {
            return Ok(false);
        }
    }
    for tie in ties("untied") {
        let is_replaced = tied.iter().any(|other| place(other) == place(&tie));
        if !is_replaced && present(&tie)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what a memory may mean, and what may mean it: it left answers, or it was settled.
pub(super) fn end_possible(connection: &Connection, row: RowId) -> Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM relations WHERE (row = ?1 OR other = ?1) AND relation IN ('may_replace', 'may_repeat')",
        )?
        .execute([row.0])?;
    Ok(())
}
