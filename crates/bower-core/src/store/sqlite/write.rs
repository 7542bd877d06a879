//! Writes of the embedded store: documents, vectors, token codes and cached questions.
//! Each runs in one transaction and leaves its events in it.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::beside::{model_row, put_codes, put_tags, put_tail, put_vector};
use super::checksums::{of_cached, seal, seal_document, seal_fields, seal_vector};
use super::columns::{author, json_text, row_id};
use super::events::{next_change, record};
use super::life::unlink;
use super::{BULK, BULK_LOG_PAGES, LOG_PAGES, SqliteStore};
use crate::item::{Change, Kind, RowId, Status};
use crate::store::{NewChunk, NewDocument, NewTokens, NewVector, Stamp, Written};

/// Whether a row is still there with the text of a change or an older one.
fn stands(connection: &Connection, row: RowId, upto: Change) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM items WHERE row = ?1 AND text_change <= ?2")?
        .exists(params![row.0, upto.0])
}

/// Removes one item from every table and remembers the row, so that indexes mask it.
pub(super) fn remove_row(
    connection: &Connection,
    row: RowId,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<bool> {
    for table in ["tags", "vectors", "token_tail", "tail", "injections", "exposures", "checksums", "texts"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1"))?.execute([row.0])?;
    }
    unlink(connection, row, change, stamp)?;
    let removed = connection.prepare_cached("DELETE FROM items WHERE row = ?1")?.execute([row.0])? > 0;
    if removed {
        connection
            .prepare_cached("INSERT OR IGNORE INTO removals (change, row) VALUES (?1, ?2)")?
            .execute(params![change.0, row.0])?;
    }
    Ok(removed)
}

impl SqliteStore {
    pub(super) fn write_documents(
        &self,
        documents: &[NewDocument],
        stamp: Stamp<'_>,
    ) -> crate::Result<Vec<Written>> {
        let chunks: usize = documents.iter().map(|document| document.added.len()).sum();
        let log_pages = if chunks >= BULK { BULK_LOG_PAGES } else { LOG_PAGES };
        self.write_with(log_pages, "write the documents", |connection| {
            let change = next_change(connection)?;
            documents.iter().map(|document| write_document(connection, document, change, stamp)).collect()
        })
    }

    pub(super) fn delete_documents(&self, ids: &[String], stamp: Stamp<'_>) -> crate::Result<usize> {
        self.write("remove the documents", |connection| {
            let change = next_change(connection)?;
            let mut gone = 0;
            for id in ids {
                let found: Option<(i64, String)> = connection
                    .prepare_cached("SELECT row, path FROM documents WHERE id = ?1")?
                    .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                let Some((document, path)) = found else { continue };
                let rows = rows_of_document(connection, document)?;
                for row in &rows {
                    remove_row(connection, *row, change, stamp)?;
                }
                connection.prepare_cached("DELETE FROM documents WHERE row = ?1")?.execute([document])?;
                let detail = json!({ "path": path, "chunks": rows.len() });
                record(connection, change, stamp, "remove", Some(id), &detail)?;
                gone += rows.len();
            }
            Ok(gone)
        })
    }

    pub(super) fn write_vectors(
        &self,
        vectors: &[(RowId, NewVector)],
        upto: Change,
        stamp: Stamp<'_>,
    ) -> crate::Result<usize> {
        self.write("write the vectors", |connection| {
            let change = next_change(connection)?;
            let mut written = 0;
            for (row, vector) in vectors {
                if stands(connection, *row, upto)? {
                    put_vector(connection, *row, vector, change)?;
                    seal_vector(connection, *row)?;
                    written += 1;
                }
            }
            record(connection, change, stamp, "embed", None, &json!({ "vectors": written }))?;
            Ok(written)
        })
    }

    pub(super) fn write_codes(
        &self,
        codes: &[(RowId, NewTokens)],
        upto: Change,
        stamp: Stamp<'_>,
    ) -> crate::Result<usize> {
        self.write("write the token codes", |connection| {
            let change = next_change(connection)?;
            let mut written = 0;
            for (row, tokens) in codes {
                if stands(connection, *row, upto)? {
                    put_codes(connection, *row, tokens, change)?;
                    written += 1;
                }
            }
            record(connection, change, stamp, "embed", None, &json!({ "codes": written }))?;
            Ok(written)
        })
    }

    pub(super) fn delete_codes(&self, model: &str, upto: Change) -> crate::Result<()> {
        self.write("shorten the tail of token codes", |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM token_tail WHERE model = (SELECT row FROM models WHERE name = ?1) AND change <= ?2",
                )?
                .execute(params![model, upto.0])?;
            Ok(())
        })
    }

    pub(super) fn write_cache(
        &self,
        vectors: &[(String, NewVector)],
        most: usize,
        stamp: Stamp<'_>,
    ) -> crate::Result<()> {
        self.write("keep the query's vector", |connection| {
            for (text, vector) in vectors {
                let model = model_row(connection, &vector.model)?;
                let tokens = vector.tokens.as_ref();
                let key = cache_key(&vector.model, text);
                let checksum = of_cached(&key, &vector.half, tokens.map(|tokens| &tokens.bytes[..]));
                let tokens_model =
                    tokens.map(|tokens| model_row(connection, &tokens.model)).transpose()?;
                connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO embedding_cache (key, model, used_time, vector, tokens_model, tokens, checksum)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    )?
                    .execute(params![
                        key,
                        model,
                        stamp.now.as_microsecond(),
                        vector.half,
                        tokens_model,
                        tokens.map(|tokens| &tokens.bytes),
                        checksum,
                    ])?;
            }
            let held: usize = connection
                .prepare_cached("SELECT count(*) FROM embedding_cache")?
                .query_row([], |row| row.get(0))?;
            let mut over = held.saturating_sub(most);
            // What a wrong clock dated later than this use goes first, or nothing new would be kept until then.
            for which in ["WHERE used_time > ?2 ORDER BY used_time DESC", "WHERE ?2 NOT NULL ORDER BY used_time"] {
                if over > 0 {
                    over -= connection
                        .prepare_cached(&format!(
                            "DELETE FROM embedding_cache WHERE key IN
                             (SELECT key FROM embedding_cache {which}, key LIMIT ?1)"
                        ))?
                        .execute(params![over, stamp.now.as_microsecond()])?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn delete_tail(&self, text: Change, every: Change) -> crate::Result<()> {
        self.write("shorten the tail", |connection| {
            connection.prepare_cached("DELETE FROM tail WHERE change <= ?1")?.execute([text.0])?;
            // The mark that a purge is due stays until the purge is done.
            connection
                .prepare_cached("DELETE FROM removals WHERE change <= ?1 AND row > 0")?
                .execute([every.0])?;
            Ok(())
        })
    }
}

/// The cache's key: the model is in it, so vectors of different models never meet.
pub(super) fn cache_key(model: &str, text: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(model.as_bytes());
    hash.update(b":");
    hash.update(text.as_bytes());
    hash.finalize().to_vec()
}

fn rows_of_document(connection: &Connection, document: i64) -> Result<Vec<RowId>> {
    connection
        .prepare_cached("SELECT row FROM items WHERE document = ?1")?
        .query_map([document], |row| row_id(row.get(0)?))?
        .collect()
}

fn write_document(
    connection: &Connection,
    document: &NewDocument,
    change: Change,
    stamp: Stamp<'_>,
) -> Result<Written> {
    let now = stamp.now.as_microsecond();
    let row: i64 = connection
        .prepare_cached(
            "INSERT INTO documents (id, collection, path, file_name, title, version, hash, recipe, bytes, metadata,
             create_time, update_time) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)
             ON CONFLICT (id) DO UPDATE SET title = ?5, version = ?6, hash = ?7, recipe = ?8, bytes = ?9, metadata = ?10,
             update_time = ?11 RETURNING row",
        )?
        .query_row(
            params![
                document.id,
                document.collection,
                document.path,
                document.file_name,
                document.title,
                document.version,
                document.hash,
                document.recipe,
                document.bytes.cast_signed(),
                json_text(&document.metadata)?,
                now,
            ],
            |row| row.get(0),
        )?;
    seal_document(connection, row)?;
    let mut written = Written::default();
    for gone in &document.removed {
        written.removed += usize::from(remove_row(connection, *gone, change, stamp)?);
    }
    for kept in &document.kept {
        connection
            .prepare_cached("UPDATE items SET position = ?2, first_line = ?3, last_line = ?4 WHERE row = ?1")?
            .execute(params![kept.row.0, kept.position, kept.lines.0, kept.lines.1])?;
        seal_fields(connection, kept.row)?;
    }
    for chunk in &document.added {
        written.added += usize::from(insert_chunk(connection, document, row, chunk, change, now)?);
    }
    let detail = json!({ "path": document.path, "added": written.added, "removed": written.removed,
        "kept": document.kept.len() });
    record(connection, change, stamp, "index", Some(&document.id), &detail)?;
    Ok(written)
}

/// Adds a chunk; false where another process added the same one first.
fn insert_chunk(
    connection: &Connection,
    document: &NewDocument,
    document_row: i64,
    chunk: &NewChunk,
    change: Change,
    now: i64,
) -> Result<bool> {
    let added = connection
        .prepare_cached(
            "INSERT INTO items (id, kind, collection, importance, confidence, decay_rate, create_time, access_time,
             update_time, scope, owner, status, tier, metadata, source, document, position, first_line, last_line, text_change,
             source_conv_id, said_by, least_trusted, reviewed, host)
             VALUES (?1, ?2, ?3, .5, 1, .01, ?4, ?4, ?4, ?5, ?6, ?7, 2, '{}', 'index', ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
             ?17)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            chunk.id,
            Kind::Chunk.word(),
            document.collection,
            now,
            document.scope.word(),
            document.owner,
            Status::Active.word(),
            document_row,
            chunk.position,
            chunk.lines.0,
            chunk.lines.1,
            change.0,
            document.session,
            author(document.provenance.said_by),
            author(document.provenance.least_trusted),
            document.provenance.reviewed,
            document.host,
        ])?;
    if added == 0 {
        return Ok(false);
    }
    let row = row_id(connection.last_insert_rowid())?;
    connection
        .prepare_cached("INSERT INTO texts (row, summary, section, key, content, keywords) VALUES (?1, '', ?2, ?3, ?4, '[]')")?
        .execute(params![row.0, chunk.section, chunk.key, chunk.content])?;
    put_tags(connection, row, &chunk.tags)?;
    put_tail(connection, row, change, &chunk.terms)?;
    if let Some(vector) = &chunk.vector {
        put_vector(connection, row, vector, change)?;
    }
    seal(connection, row)?;
    Ok(true)
}
