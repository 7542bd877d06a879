//! Reads vectors, token codes and cached questions, each checked against its checksum.
//! Those that fail are not given.

use rusqlite::{OptionalExtension, Row, params};

use super::checksums::{fits, of_cached, of_vector, of_waiting};
use super::columns::first;
use super::halves::half;
use super::write::cache_key;
use super::{SqliteStore, lock, schema};
use crate::error::Result;
use crate::item::{Change, RowId};
use crate::store::{NewTokens, NewVector};

impl SqliteStore {
    /// A statement with the columns of checksums that stand in braces; a store that is older and cannot be written has none.
    pub(super) fn with_checksum(&self, sql: &str) -> String {
        let Some((before, rest)) = sql.split_once('{') else { return sql.to_owned() };
        let Some((column, after)) = rest.split_once('}') else { return sql.to_owned() };
        let column = if self.schema >= schema::KEEPS_CHECKSUMS { column } else { "NULL" };
        format!("{before}{column}{after}")
    }

    /// The half floats of a vector, of which a row has row, model, vector and checksum; none where it is damaged.
    pub(super) fn sound_half<'a>(
        &self,
        row: &'a Row<'_>,
        buffer: &'a mut Vec<u8>,
    ) -> rusqlite::Result<Option<&'a [u8]>> {
        let id = first(row)?;
        let model = row.get(1)?;
        let kept = row.get_ref(2)?.as_blob()?;
        if !fits(row.get(3)?, || of_vector(id, model, kept)) {
            self.note_damage("vector", id);
            return Ok(None);
        }
        half(row, 2, buffer)
    }

    /// Remembers that something was not as it was written, so that answers and `doctor` say so.
    pub(super) fn note_damage(&self, what: &'static str, row: RowId) {
        lock(&self.damaged).insert((what, row.0));
    }

    pub(super) fn read_tail_vectors(
        &self,
        model: &str,
        after: Change,
        each: &mut dyn FnMut(RowId, &[u8]),
    ) -> Result<usize> {
        self.read("read the newest vectors", |connection| {
            let mut statement = connection.prepare_cached(&self.with_checksum(
                "SELECT v.row, v.model, v.vector, {(SELECT c.vector FROM checksums c WHERE c.row = v.row)} FROM vectors v
                 WHERE v.model = (SELECT row FROM models WHERE name = ?1) AND v.change > ?2",
            ))?;
            let mut rows = statement.query(params![model, after.0])?;
            let (mut count, mut buffer) = (0, Vec::new());
            while let Some(row) = rows.next()? {
                if let Some(half) = self.sound_half(row, &mut buffer)? {
                    each(first(row)?, half);
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    pub(super) fn read_vectors(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read("read the vectors", |connection| {
            let model: Option<i64> = connection
                .prepare_cached("SELECT row FROM models WHERE name = ?1")?
                .query_row([model], |row| row.get(0))
                .optional()?;
            let mut statement = connection.prepare_cached(&self.with_checksum(
                "SELECT v.row, v.model, v.vector, {(SELECT c.vector FROM checksums c WHERE c.row = v.row)} FROM vectors v
                 WHERE v.row = ?1 AND v.model = ?2",
            ))?;
            let mut buffer = Vec::new();
            let mut vector = |row: &Row<'_>| Ok(self.sound_half(row, &mut buffer)?.map(<[u8]>::to_vec));
            rows.iter()
                .map(|row| Ok(statement.query_row(params![row.0, model], &mut vector).optional()?.flatten()))
                .collect()
        })
    }

    pub(super) fn read_cached_vector(&self, model: &str, text: &str) -> Result<Option<NewVector>> {
        let key = cache_key(model, text);
        self.read("look up the query's vector", |connection| {
            connection
                .prepare_cached(&self.with_checksum(
                    "SELECT c.vector, m.name, c.tokens, {c.checksum} FROM embedding_cache c
                     LEFT JOIN models m ON m.row = c.tokens_model WHERE c.key = ?1",
                ))?
                .query_row([&key], |row| {
                    let (half, named): (Vec<u8>, Option<String>) = (row.get(0)?, row.get(1)?);
                    let bytes: Option<Vec<u8>> = row.get(2)?;
                    if !fits(row.get(3)?, || of_cached(&key, &half, bytes.as_deref())) {
                        // It is made again.
                        return Ok(None);
                    }
                    let tokens = named.zip(bytes).map(|(model, bytes)| NewTokens { model, bytes });
                    Ok(Some(NewVector { model: model.to_owned(), half, tokens }))
                })
                .optional()
                .map(Option::flatten)
        })
    }

    pub(super) fn read_codes(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read("read the token codes", |connection| {
            let mut statement = connection.prepare_cached(&self.with_checksum(
                "SELECT t.codes, {t.checksum} FROM token_tail t JOIN models m ON m.row = t.model
                 WHERE t.row = ?1 AND m.name = ?2",
            ))?;
            let mut codes = |row: &RowId| {
                let read = |found: &Row<'_>| Ok(waiting(*row, found, 0)?.map(<[u8]>::to_vec));
                Ok(statement.query_row(params![row.0, model], read).optional()?.flatten())
            };
            rows.iter().map(&mut codes).collect()
        })
    }
}

/// What waits to be folded, in a column before that of its checksum; none where it is not there, or damaged and to be made anew.
pub(super) fn waiting<'a>(id: RowId, row: &'a Row<'_>, column: usize) -> rusqlite::Result<Option<&'a [u8]>> {
    let bytes = row.get_ref(column)?.as_blob_or_null()?;
    let checksum = row.get(column + 1)?;
    Ok(bytes.filter(|bytes| fits(checksum, || of_waiting(id, bytes))))
}
