//! Reads the texts of items with their times and fields.
//! One lookup a row, nothing is scanned.

use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::SqliteStore;
use super::columns::{json_field, timestamp, word};
use super::read::{INDEXED, read_indexed, read_parent};
use crate::error::Result;
use crate::item::RowId;
use crate::store::{DatedText, IndexedText};

const DATED: &str = "SELECT i.kind, i.create_time, i.valid_from, i.valid_to, i.metadata, t.section,
 substr(t.content, 1, ?2) AS content, d.title, d.file_name, d.metadata AS document_metadata
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1";

impl SqliteStore {
    pub(super) fn read_texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>> {
        self.read("read the texts", |connection| {
            let mut statement = connection.prepare_cached(INDEXED)?;
            let mut texts = Vec::with_capacity(rows.len());
            for row in rows {
                let read = |found: &Row<'_>| {
                    let time = |name: &str| found.get::<_, Option<i64>>(name)?.map(timestamp).transpose();
                    Ok(IndexedText {
                        row: *row,
                        parent: read_parent(found)?,
                        text: read_indexed(found)?,
                        valid_from: time("valid_from")?,
                        valid_to: time("valid_to")?,
                    })
                };
                texts.extend(statement.query_row([row.0], read).optional()?);
            }
            Ok(texts)
        })
    }

    pub(super) fn read_dated_texts(&self, rows: &[RowId], most: usize) -> Result<Vec<Option<DatedText>>> {
        self.read("read the items' times", |connection| {
            let mut statement = connection.prepare_cached(DATED)?;
            rows.iter().map(|row| statement.query_row(params![row.0, most], read_dated).optional()).collect()
        })
    }
}

fn read_dated(row: &Row<'_>) -> rusqlite::Result<DatedText> {
    let time = |column: &str| row.get::<_, Option<i64>>(column)?.map(timestamp).transpose();
    let fields = |column: &str| -> rusqlite::Result<Map<String, Value>> {
        match row.get::<_, Option<String>>(column)?.as_deref() {
            // Most items have none.
            None | Some("{}") => Ok(Map::new()),
            Some(text) => json_field(text),
        }
    };
    Ok(DatedText {
        kind: word(row, "kind")?,
        create_time: timestamp(row.get("create_time")?)?,
        valid_from: time("valid_from")?,
        valid_to: time("valid_to")?,
        title: row.get("title")?,
        section: row.get("section")?,
        file_name: row.get("file_name")?,
        metadata: fields("metadata")?,
        document_metadata: fields("document_metadata")?,
        content: row.get("content")?,
    })
}
