//! Writes the data of an item in other tables: its vector, token codes, anchors and terms.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::checksums::{of_vector, of_waiting};
use super::columns::parse_word;
use super::half_vectors::kept;
use crate::item::{Anchor, Change, RowId};
use crate::store::{DeltaData, NewTokens, NewVector};

pub(super) fn model_row(connection: &Connection, name: &str) -> Result<i64> {
    let mut find = connection.prepare_cached("SELECT row FROM models WHERE name = ?1")?;
    if let Some(row) = find.query_row([name], |row| row.get(0)).optional()? {
        return Ok(row);
    }
    connection.prepare_cached("INSERT INTO models (name) VALUES (?1)")?.execute([name])?;
    Ok(connection.last_insert_rowid())
}

/// Writes an item's vector of a model, with its token codes. Vectors of other models stay.
pub(super) fn put_vector(
    connection: &Connection,
    row: RowId,
    vector: &NewVector,
    change: Change,
) -> Result<()> {
    let (model, vector_bytes) = (model_row(connection, &vector.model)?, kept(&vector.half)?);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO vectors (row, model, change, vector, checksum) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![row.0, model, change.0, vector_bytes, of_vector(row, model, &vector_bytes)])?;
    vector.tokens.as_ref().map_or(Ok(()), |tokens| put_codes(connection, row, tokens, change))
}

pub(super) fn put_codes(
    connection: &Connection,
    row: RowId,
    tokens: &NewTokens,
    change: Change,
) -> Result<()> {
    let model = model_row(connection, &tokens.model)?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO token_tail (row, model, change, codes, checksum) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![row.0, model, change.0, tokens.bytes, of_waiting(row, &tokens.bytes)])?;
    Ok(())
}

/// Replaces the anchors of a memory.
pub(super) fn put_anchors(connection: &Connection, row: RowId, anchors: &[Anchor]) -> Result<()> {
    connection.prepare_cached("DELETE FROM anchors WHERE row = ?1")?.execute([row.0])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO anchors (row, number, root, path, symbol, first_line, last_line, text_hash, commit_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (number, anchor) in anchors.iter().enumerate() {
        insert.execute(params![
            row.0,
            number,
            anchor.root,
            anchor.path,
            anchor.symbol,
            anchor.lines.map(|(first, _)| first),
            anchor.lines.map(|(_, last)| last),
            anchor.text.map(|text| text.to_string()),
            anchor.commit,
        ])?;
    }
    Ok(())
}

/// Returns the anchors of a memory, in their order.
pub(super) fn anchors_of(connection: &Connection, row: RowId) -> Result<Vec<Anchor>> {
    connection
        .prepare_cached(
            "SELECT root, path, symbol, first_line, last_line, text_hash, commit_hash FROM anchors WHERE row = ?1
             ORDER BY number",
        )?
        .query_map([row.0], |row| {
            let lines: (Option<u32>, Option<u32>) = (row.get(3)?, row.get(4)?);
            Ok(Anchor {
                root: row.get(0)?,
                path: row.get(1)?,
                symbol: row.get(2)?,
                lines: lines.0.zip(lines.1),
                text: row.get::<_, Option<String>>(5)?.map(|text| parse_word(&text)).transpose()?,
                commit: row.get(6)?,
            })
        })?
        .collect()
}

pub(super) fn put_delta(
    connection: &Connection,
    row: RowId,
    change: Change,
    delta: &DeltaData,
) -> Result<()> {
    let DeltaData { terms, mentions } = delta;
    connection
        .prepare_cached("INSERT OR REPLACE INTO tail (row, change, terms, checksum) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![row.0, change.0, terms, of_waiting(row, terms)])?;
    if let Some(mentions) = mentions {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO mention_tail (row, change, mentions, checksum) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![row.0, change.0, mentions, of_waiting(row, mentions)])?;
    }
    Ok(())
}
