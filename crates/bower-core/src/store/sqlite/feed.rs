//! Feeds the indexes: texts, terms, vectors, token codes and removed rows.
//! Data with a checksum is verified; data that fails is left out.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use serde_json::json;

use super::beside::{put_codes, put_vector};
use super::checksums::{fits, of_vector, of_waiting, vector_checksum};
use super::columns::{first, timestamp};
use super::events::{next_change, record};
use super::half_vectors::half;
use super::triples::triples_of;
use super::{SqliteStore, lock, schema};
use crate::item::{Change, RowId, RowSet, derive_id, indexed_text};
use crate::store::{
    Covered, DeltaText, IndexFeed, IndexedText, KeptTerms, MentionSource, NewTokens, NewVector, SESSION,
    Stamp, document_aliases,
};

/// Reads the other names of a document from its column of metadata, which is NULL for a memory.
pub(super) fn aliases(row: &Row<'_>, column: usize) -> Result<Vec<String>> {
    let metadata = row.get_ref(column)?.as_str_or_null()?;
    // Most documents have no such field, and parsing takes longer than looking for its name.
    let metadata = metadata.filter(|text| text.contains("alias"));
    Ok(metadata
        .and_then(|text| serde_json::from_str(text).ok())
        .map_or_else(Vec::new, |fields| document_aliases(&fields)))
}

const INDEXED: &str = "SELECT t.content, t.section, d.title, i.document, i.source_conv_id, i.collection, i.valid_from, i.valid_to
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1";

fn read_indexed(row: &Row<'_>) -> Result<String> {
    let (content, section, title): (String, Option<String>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(indexed_text(title.as_deref(), section.as_deref(), &content))
}

/// Returns the number that all rows of one parent share: the document's row, or a hash of the session. The hash has the
/// bit [`SESSION`], so the two never collide. The text index stores it, so the formula must never change.
fn parent(document: Option<i64>, session: Option<&str>, collection: &str) -> u64 {
    match session {
        Some(session) => {
            let id = derive_id(&["session", collection, session]);
            u64::from_str_radix(&id, 16).expect("an id is 16 hex digits") | SESSION
        }
        None => document.map_or(0, i64::unsigned_abs),
    }
}

fn read_parent(row: &Row<'_>) -> Result<u64> {
    let session: Option<String> = row.get("source_conv_id")?;
    Ok(parent(row.get("document")?, session.as_deref(), &row.get::<_, String>("collection")?))
}

/// Writes model outputs for those rows that still exist with the text of `upto` or older, as one change with its event.
/// Returns their number.
fn embed<T>(
    connection: &Connection,
    what: &str,
    made: &[(RowId, T)],
    upto: Change,
    stamp: Stamp<'_>,
    put: impl Fn(RowId, &T, Change) -> Result<()>,
) -> Result<usize> {
    let change = next_change(connection)?;
    let mut written = 0;
    for (row, one) in made {
        if stands(connection, *row, upto)? {
            put(*row, one, change)?;
            written += 1;
        }
    }
    record(connection, change, stamp, "embed", None, &json!({ what: written }))?;
    Ok(written)
}

impl IndexFeed for SqliteStore {
    fn gone(&self, after: Change, upto: Change) -> crate::Result<RowSet> {
        self.read("read the changes", |connection| {
            connection
                .prepare_cached(
                    "SELECT row FROM removals WHERE change > ?1 AND change <= ?2 AND row > 0
                     UNION ALL SELECT row FROM items WHERE text_change > ?1 AND text_change <= ?2",
                )?
                .query_map([after.0, upto.0], first)?
                .collect()
        })
    }

    fn text_rows(&self, after: Change, upto: Change) -> crate::Result<Vec<RowId>> {
        self.read("read the changes", |connection| {
            row_ids(
                connection
                    .prepare_cached("SELECT row FROM items WHERE text_change > ?1 AND text_change <= ?2")?
                    .query_map([after.0, upto.0], first)?,
            )
        })
    }

    fn retagged(&self, after: Change, upto: Change) -> crate::Result<Vec<RowId>> {
        if self.schema < schema::KEEPS_RENAMED_TAGS {
            return Ok(Vec::new());
        }
        self.read("read the changes", |connection| {
            row_ids(
                connection
                    .prepare_cached("SELECT row FROM retagged WHERE change > ?1 AND change <= ?2")?
                    .query_map([after.0, upto.0], first)?,
            )
        })
    }

    fn texts(&self, rows: &[RowId]) -> crate::Result<Vec<IndexedText>> {
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

    fn mentions(&self, rows: &[RowId]) -> crate::Result<Vec<Option<Vec<u8>>>> {
        if self.schema < schema::KEEPS_MENTIONS {
            return Ok(vec![None; rows.len()]);
        }
        self.read("read the mentions", |connection| {
            let mut statement =
                connection.prepare_cached("SELECT mentions, checksum FROM mention_tail WHERE row = ?1")?;
            let mut mentions = |row: &RowId| {
                let read = |found: &Row<'_>| Ok(waiting(*row, found, 0)?.map(<[u8]>::to_vec));
                Ok(statement.query_row([row.0], read).optional()?.flatten())
            };
            rows.iter().map(&mut mentions).collect()
        })
    }

    fn mention_sources(&self, rows: &[RowId]) -> crate::Result<Vec<MentionSource>> {
        self.read("read the texts", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.title, d.path, t.section, t.content, i.document IS NULL OR i.source_conv_id IS NOT NULL, d.id,
                 d.metadata FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1",
            )?;
            let mut tags = connection.prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?;
            let mut sources = Vec::with_capacity(rows.len());
            for row in rows {
                let read = |found: &Row<'_>| {
                    Ok(MentionSource {
                        row: *row,
                        document: found.get(5)?,
                        title: found.get(0)?,
                        path: found.get(1)?,
                        aliases: aliases(found, 6)?,
                        section: found.get(2)?,
                        content: found.get(3)?,
                        is_said: found.get(4)?,
                        tags: Vec::new(),
                        triples: Vec::new(),
                    })
                };
                if let Some(mut source) = statement.query_row([row.0], read).optional()? {
                    source.tags = tags.query_map([row.0], |tag| tag.get(0))?.collect::<Result<_>>()?;
                    if self.schema >= schema::KEEPS_TRIPLES {
                        source.triples = triples_of(connection, *row)?;
                    }
                    sources.push(source);
                }
            }
            Ok(sources)
        })
    }

    fn parents(&self, rows: &[RowId]) -> crate::Result<Vec<u64>> {
        self.read("read what the items are parts of", |connection| {
            let mut statement = connection
                .prepare_cached("SELECT document, source_conv_id, collection FROM items WHERE row = ?1")?;
            let parent = |row: &RowId| statement.query_row([row.0], read_parent).optional();
            rows.iter().map(parent).map(|found| Ok(found?.unwrap_or(0))).collect()
        })
    }

    fn delta_terms(&self, rows: &[RowId]) -> crate::Result<Vec<KeptTerms>> {
        self.read("read the newest texts", |connection| {
            let mut statement = connection.prepare_cached(&self.with_checksum(
                "SELECT i.document, i.source_conv_id, i.collection, l.terms, {l.checksum} FROM items i
                     LEFT JOIN tail l ON l.row = i.row WHERE i.row = ?1",
            ))?;
            let mut kept = Vec::with_capacity(rows.len());
            for row in rows {
                let read = |found: &Row<'_>| {
                    let terms = waiting(*row, found, 3)?.map(<[u8]>::to_vec);
                    Ok(KeptTerms { row: *row, parent: read_parent(found)?, terms })
                };
                kept.extend(statement.query_row([row.0], read).optional()?);
            }
            Ok(kept)
        })
    }

    fn delta_texts(&self, after: Change, each: &mut dyn FnMut(RowId, DeltaText<'_>)) -> crate::Result<usize> {
        self.read("read the newest texts", |connection| {
            let mut statement = connection.prepare_cached(&self.with_checksum(
                "SELECT i.row, l.terms, {l.checksum} FROM items i LEFT JOIN tail l ON l.row = i.row
                 WHERE i.text_change > ?1",
            ))?;
            let mut indexed = connection.prepare_cached(INDEXED)?;
            let mut rows = statement.query([after.0])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                let id = first(row)?;
                match waiting(id, row, 1)? {
                    Some(terms) => each(id, DeltaText::Terms(terms)),
                    None => each(id, DeltaText::Text(indexed.query_row([id.0], read_indexed)?)),
                }
                count += 1;
            }
            Ok(count)
        })
    }

    fn vector_rows(&self, model: &str, after: Change, upto: Change) -> crate::Result<Vec<RowId>> {
        self.read("read the changes", |connection| {
            row_ids(
                connection
                    .prepare_cached(
                        "SELECT v.row FROM vectors v JOIN models m ON m.row = v.model
                         WHERE m.name = ?1 AND v.change > ?2 AND v.change <= ?3",
                    )?
                    .query_map(params![model, after.0, upto.0], first)?,
            )
        })
    }

    fn delta_vectors(
        &self,
        model: &str,
        after: Change,
        each: &mut dyn FnMut(RowId, &[u8]),
    ) -> crate::Result<usize> {
        self.read("read the newest vectors", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT v.row, v.model, v.vector, {} FROM vectors v
                 WHERE v.model = (SELECT row FROM models WHERE name = ?1) AND v.change > ?2",
                vector_checksum(self.schema)
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

    fn vectors(&self, model: &str, rows: &[RowId]) -> crate::Result<Vec<Option<Vec<u8>>>> {
        self.read("read the vectors", |connection| {
            let model: Option<i64> = connection
                .prepare_cached("SELECT row FROM models WHERE name = ?1")?
                .query_row([model], |row| row.get(0))
                .optional()?;
            let mut statement = connection.prepare_cached(&format!(
                "SELECT v.row, v.model, v.vector, {} FROM vectors v WHERE v.row = ?1 AND v.model = ?2",
                vector_checksum(self.schema)
            ))?;
            let mut buffer = Vec::new();
            let mut vector = |row: &Row<'_>| Ok(self.sound_half(row, &mut buffer)?.map(<[u8]>::to_vec));
            rows.iter()
                .map(|row| Ok(statement.query_row(params![row.0, model], &mut vector).optional()?.flatten()))
                .collect()
        })
    }

    fn unembedded(&self, model: &str, after: RowId, most: usize) -> crate::Result<Vec<RowId>> {
        self.read("look for items without a vector", |connection| {
            // Each item has at most one vector of a model. So if there are as many vectors as items times models, no item lacks
            // one; SQLite counts a table without reading its rows. While another model's vectors are made, those of this one
            // are counted by their index: 3 ms for 100,000. Checking each item instead takes 50 ms.
            let all_have_one: bool = connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM vectors WHERE model = m.row) AND
                     ((SELECT count(*) FROM vectors) = (SELECT count(*) FROM items) *
                       (SELECT count(*) FROM models o WHERE EXISTS (SELECT 1 FROM vectors WHERE model = o.row))
                      OR (SELECT count(*) FROM items) = (SELECT count(*) FROM vectors WHERE model = m.row))
                     FROM models m WHERE m.name = ?1",
                )?
                .query_row([model], |row| row.get(0))
                .optional()?
                .unwrap_or(false);
            if all_have_one {
                return Ok(Vec::new());
            }
            connection
                .prepare_cached(
                    "SELECT i.row FROM items i WHERE i.row > ?2 AND NOT EXISTS
                     (SELECT 1 FROM vectors v WHERE v.row = i.row AND v.model = (SELECT row FROM models WHERE name = ?1))
                     ORDER BY i.row LIMIT ?3",
                )?
                .query_map(params![model, after.0, most], first)?
                .collect()
        })
    }

    fn vector_models(&self) -> crate::Result<Vec<(String, u64)>> {
        self.read("count the vectors", |connection| {
            connection
                .prepare_cached(
                    "SELECT m.name, count(*) FROM vectors v JOIN models m ON m.row = v.model
                     GROUP BY v.model ORDER BY max(v.change) DESC, v.model",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }

    fn drop_vectors(&self, model: &str, stamp: Stamp<'_>) -> crate::Result<u64> {
        self.write("remove the vectors", |connection| {
            let removed = connection
                .prepare_cached("DELETE FROM vectors WHERE model = (SELECT row FROM models WHERE name = ?1)")?
                .execute([model])? as u64;
            if removed > 0 {
                let change = next_change(connection)?;
                let detail = json!({ "removed": removed, "model": model });
                record(connection, change, stamp, "embed", None, &detail)?;
            }
            Ok(removed)
        })
    }

    fn embedded(&self, model: &str) -> crate::Result<u64> {
        self.read("count the vectors", |connection| {
            connection
                .prepare_cached(
                    "SELECT count(*) FROM vectors WHERE model = (SELECT row FROM models WHERE name = ?1)",
                )?
                .query_row([model], |row| row.get(0))
        })
    }

    fn put_vectors(
        &self,
        vectors: &[(RowId, NewVector)],
        upto: Change,
        stamp: Stamp<'_>,
    ) -> crate::Result<usize> {
        self.write("write the vectors", |connection| {
            embed(connection, "vectors", vectors, upto, stamp, |row, vector, change| {
                put_vector(connection, row, vector, change)
            })
        })
    }

    fn code_rows(&self, model: &str, after: Change, upto: Change) -> crate::Result<Vec<RowId>> {
        self.read("read the changes", |connection| {
            row_ids(
                connection
                    .prepare_cached(
                        "SELECT t.row FROM token_tail t WHERE t.model = (SELECT row FROM models WHERE name = ?1)
                         AND t.change > ?2 AND t.change <= ?3",
                    )?
                    .query_map(params![model, after.0, upto.0], first)?,
            )
        })
    }

    fn codes(&self, model: &str, rows: &[RowId]) -> crate::Result<Vec<Option<Vec<u8>>>> {
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

    fn put_codes(
        &self,
        codes: &[(RowId, NewTokens)],
        upto: Change,
        stamp: Stamp<'_>,
    ) -> crate::Result<usize> {
        self.write("write the token codes", |connection| {
            embed(connection, "codes", codes, upto, stamp, |row, tokens, change| {
                put_codes(connection, row, tokens, change)
            })
        })
    }

    fn release(&self, covered: &Covered<'_>) -> crate::Result<()> {
        let every = covered.tokens.map_or(covered.vector, |(_, tokens)| tokens.min(covered.vector));
        self.write("shorten the delta", |connection| {
            connection.prepare_cached("DELETE FROM tail WHERE change <= ?1")?.execute([covered.text.0])?;
            for table in ["mention_tail", "retagged"] {
                connection
                    .prepare_cached(&format!("DELETE FROM {table} WHERE change <= ?1"))?
                    .execute([covered.graph.0])?;
            }
            // The mark that a purge is due stays until the purge is done.
            connection
                .prepare_cached("DELETE FROM removals WHERE change <= ?1 AND row > 0")?
                .execute([every.min(covered.text).min(covered.graph).0])?;
            if let Some((scheme, upto)) = covered.tokens {
                connection
                    .prepare_cached(
                        "DELETE FROM token_tail WHERE model = (SELECT row FROM models WHERE name = ?1) AND change <= ?2",
                    )?
                    .execute(params![scheme, upto.0])?;
            }
            Ok(())
        })
    }
}

fn row_ids(rows: rusqlite::MappedRows<'_, impl FnMut(&Row<'_>) -> Result<RowId>>) -> Result<Vec<RowId>> {
    let mut rows = rows.collect::<Result<Vec<_>>>()?;
    rows.sort_unstable();
    Ok(rows)
}

/// Whether a row still exists with the text of `upto` or older.
fn stands(connection: &Connection, row: RowId, upto: Change) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM items WHERE row = ?1 AND text_change <= ?2")?
        .exists(params![row.0, upto.0])
}

impl SqliteStore {
    /// Replaces the braces of a statement by the checksum column inside them. An old store that cannot be written has no
    /// such column, and gets `NULL`.
    pub(super) fn with_checksum(&self, sql: &str) -> String {
        let Some((before, rest)) = sql.split_once('{') else { return sql.to_owned() };
        let Some((column, after)) = rest.split_once('}') else { return sql.to_owned() };
        let column = if self.schema >= schema::KEEPS_CHECKSUMS { column } else { "NULL" };
        format!("{before}{column}{after}")
    }

    /// Returns the half floats of a vector; `row` has the columns row, model, vector and checksum. `None` if it is
    /// damaged.
    pub(super) fn sound_half<'a>(
        &self,
        row: &'a Row<'_>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>> {
        let id = first(row)?;
        let model = row.get(1)?;
        let kept = row.get_ref(2)?.as_blob()?;
        if !fits(row.get(3)?, || of_vector(id, model, kept)) {
            self.note_damage("vector", id);
            return Ok(None);
        }
        half(row, 2, buffer)
    }

    /// Records that data of a row is not as it was written, so that answers and `doctor` report it.
    pub(super) fn note_damage(&self, what: &'static str, row: RowId) {
        lock(&self.damaged).insert((what, row.0));
    }
}

/// Returns data that waits for compaction from a column that its checksum column follows. `None` if it is missing, or
/// damaged and to be computed again.
pub(super) fn waiting<'a>(id: RowId, row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>> {
    let bytes = row.get_ref(column)?.as_blob_or_null()?;
    let checksum = row.get(column + 1)?;
    Ok(bytes.filter(|bytes| fits(checksum, || of_waiting(id, bytes))))
}
