//! Writes documents with their chunks, reads them, and lists those of a selection by page.

use rusqlite::{Connection, OptionalExtension, Result, Row, params, params_from_iter};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::beside::{put_delta, put_vector};
use super::checksums::{MOVED_DOCUMENT, of_document, seal, seal_document, seal_fields};
use super::columns::{author, first, json_field, json_text, row_id, timestamp, word};
use super::condition::Condition;
use super::events::{are_few_since, next_change, record};
use super::feed::aliases;
use super::memories::remove_row;
use super::tags::{forget_mentions, given_tags, put_tags, set_file_tags};
use super::{BULK, BULK_LOG_PAGES, LOG_PAGES, SqliteStore, select};
use crate::item::{Change, Kind, RowId, Status};
use crate::request::{Document, Documents, Selection};
use crate::store::{
    DocumentNames, DocumentRow, DocumentStore, KnownDocument, MovedDocument, Namespace, NewChunk,
    NewDocument, Passage, PathChanges, RepositoryFile, Stamp, Written, chunk_id,
};

/// Reads a row with the row, id, path, title and metadata of a document.
fn read_names(row: &Row<'_>) -> rusqlite::Result<DocumentNames> {
    Ok(DocumentNames {
        document: DocumentRow(row.get::<_, i64>(0)?.unsigned_abs()),
        id: row.get(1)?,
        path: row.get(2)?,
        title: row.get(3)?,
        aliases: aliases(row, 4)?,
    })
}

impl DocumentStore for SqliteStore {
    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> crate::Result<Vec<Written>> {
        let chunks: usize = documents.iter().map(|document| document.added.len()).sum();
        let log_pages = if chunks >= BULK { BULK_LOG_PAGES } else { LOG_PAGES };
        self.write_with(log_pages, "write the documents", |connection| {
            let change = next_change(connection)?;
            documents.iter().map(|document| write_document(connection, document, change, stamp)).collect()
        })
    }

    fn move_documents(&self, moved: &[MovedDocument], stamp: Stamp<'_>) -> crate::Result<()> {
        self.write("move the documents", |connection| {
            let change = next_change(connection)?;
            moved.iter().try_for_each(|document| move_document(connection, document))?;
            // One event for all: a repository may have a hundred thousand files.
            let detail = json!({ "documents": moved.len() });
            record(connection, change, stamp, "move", None, &detail).map(drop)
        })
    }

    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> crate::Result<usize> {
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

    fn document_page(&self, selection: &Selection, limit: usize, offset: usize) -> crate::Result<Documents> {
        let condition = select::condition(selection);
        // A tag, for example, has few chunks, which an index finds. Otherwise each document is examined until one of its
        // chunks passes.
        let is_narrow = !selection.tags.is_empty()
            || !selection.sources.is_empty()
            || selection.owner.is_some()
            || selection.filter.is_some();
        let has_one = if is_narrow {
            format!("d.row IN (SELECT i.document FROM items i WHERE {})", condition.sql)
        } else {
            format!("EXISTS (SELECT 1 FROM items i WHERE i.document = d.row AND {})", condition.sql)
        };
        // Chunks are in the collection of their document, which an index finds.
        let of_collections = Condition::within("d.collection", &selection.collections);
        let has_one = match of_collections.sql.as_str() {
            "" => has_one,
            within => format!("{within} AND {has_one}"),
        };
        // Chunks are counted only for the documents of the page. Counting for all 10,000 documents of 100,000 chunks made
        // a page eight times as slow.
        let page = format!(
            "SELECT d.path, d.id, d.collection, d.title, d.version, count(*), d.bytes, i.scope, i.owner, d.metadata,
             d.create_time, d.update_time
             FROM (SELECT * FROM documents d WHERE {has_one}
                   ORDER BY d.update_time DESC, d.row DESC LIMIT {limit} OFFSET {offset}) d
             JOIN items i ON i.document = d.row AND {}
             GROUP BY d.row ORDER BY d.update_time DESC, d.row DESC",
            condition.sql
        );
        let count = format!("SELECT count(*) FROM documents d WHERE {has_one}");
        self.read("list the documents", |connection| {
            let values = of_collections.values.iter().chain(&condition.values);
            let total = connection.prepare(&count)?.query_row(params_from_iter(values), |row| row.get(0))?;
            let mut statement = connection.prepare(&page)?;
            let values = of_collections.values.iter().chain(&condition.values).chain(&condition.values);
            let documents = statement.query_map(params_from_iter(values), document)?;
            Ok(Documents { documents: documents.collect::<rusqlite::Result<_>>()?, total })
        })
    }

    fn documents(&self, collection: &str) -> crate::Result<Vec<KnownDocument>> {
        self.read("read the documents", |connection| {
            connection
                .prepare_cached(
                    "SELECT id, path, hash, recipe, metadata FROM documents WHERE collection = ?1 ORDER BY path",
                )?
                .query_map([collection], read_known)?
                .collect()
        })
    }

    fn documents_below(&self, collection: &str, prefix: &str) -> crate::Result<Vec<KnownDocument>> {
        // The character after `/` is `0`: the paths are one range of the index.
        let end = format!("{}0", prefix.strip_suffix('/').unwrap_or(prefix));
        self.read("read the documents of a series", |connection| {
            connection
                .prepare_cached(
                    "SELECT id, path, hash, recipe, metadata FROM documents
                     WHERE collection = ?1 AND path >= ?2 AND path < ?3 ORDER BY path",
                )?
                .query_map(params![collection, prefix, end], read_known)?
                .collect()
        })
    }

    fn documents_at(&self, place: &Namespace, paths: &[&str]) -> crate::Result<Vec<Option<KnownDocument>>> {
        let Namespace { collection, scope, owner } = place;
        self.read("look up the documents", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, path, hash, recipe, metadata FROM documents d WHERE collection = ?1 AND path = ?2 AND EXISTS
                 (SELECT 1 FROM items i WHERE i.document = d.row AND i.scope = ?3 AND i.owner IS ?4)",
            )?;
            let mut find =
                |path: &&str| statement.query_row(params![collection, path, scope.word(), owner], read_known);
            paths.iter().map(|path| find(path).optional()).collect()
        })
    }

    fn documents_outside(&self, place: &Namespace) -> crate::Result<Vec<String>> {
        let Namespace { collection, scope, owner } = place;
        self.read("look for documents of others", |connection| {
            connection
                .prepare_cached(
                    "SELECT d.id FROM documents d JOIN (
                       SELECT document FROM items WHERE document IS NOT NULL
                       GROUP BY document HAVING NOT max(scope = ?2 AND owner IS ?3)) other ON other.document = d.row
                     WHERE d.collection = ?1",
                )?
                .query_map(params![collection, scope.word(), owner], |row| row.get(0))?
                .collect()
        })
    }

    fn chunks(&self, document: &str) -> crate::Result<Vec<(String, RowId)>> {
        self.read("read a document's chunks", |connection| {
            connection
                .prepare_cached(
                    "SELECT t.key, i.row FROM documents d JOIN items i ON i.document = d.row JOIN texts t ON t.row = i.row
                     WHERE d.id = ?1 ORDER BY i.position, i.row",
                )?
                .query_map([document], |row| Ok((row.get(0)?, row_id(row.get(1)?)?)))?
                .collect()
        })
    }

    fn documents_of(&self, rows: &[RowId]) -> crate::Result<Vec<Option<String>>> {
        self.read("read the documents of items", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.path FROM items i JOIN documents d ON d.row = i.document WHERE i.row = ?1",
            )?;
            rows.iter().map(|row| statement.query_row([row.0], |row| row.get(0)).optional()).collect()
        })
    }

    fn document_names(&self, rows: &[RowId]) -> crate::Result<Vec<Option<DocumentNames>>> {
        self.read("read the names of documents", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.row, d.id, d.path, d.title, d.metadata FROM items i JOIN documents d ON d.row = i.document
                 WHERE i.row = ?1",
            )?;
            rows.iter().map(|row| statement.query_row([row.0], read_names).optional()).collect()
        })
    }

    fn paths_since(&self, after: Change) -> crate::Result<Option<PathChanges>> {
        self.read("read the documents' paths", |connection| {
            if !are_few_since(connection, after)? {
                return Ok(None);
            }
            // No event names the row of a removed document, or the moved documents.
            let has_gone = connection
                .prepare_cached("SELECT 1 FROM events WHERE change > ?1 AND action IN ('remove', 'forget', 'move')")?
                .exists([after.0])?;
            if has_gone {
                return Ok(None);
            }
            let came = connection
                .prepare_cached(
                    "SELECT DISTINCT d.row, d.path FROM events e JOIN documents d ON d.id = e.subject WHERE e.change > ?1",
                )?
                .query_map([after.0], |row| Ok((DocumentRow(row.get::<_, i64>(0)?.unsigned_abs()), row.get(1)?)))?
                .collect::<Result<_>>()?;
            Ok(Some(PathChanges { came, went: Vec::new() }))
        })
    }

    fn document_rows(&self, documents: &[DocumentRow], most: usize) -> crate::Result<Vec<Vec<RowId>>> {
        self.read("read the documents' chunks", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT row FROM items WHERE document = ?1 ORDER BY position, row LIMIT ?2",
            )?;
            documents
                .iter()
                .map(|document| statement.query_map(params![document.0, most], first)?.collect())
                .collect()
        })
    }

    fn passages(&self, document: DocumentRow) -> crate::Result<Vec<Passage>> {
        self.read("read the document's text", |connection| {
            connection
                .prepare_cached(
                    "SELECT i.row, i.first_line, i.last_line, t.content FROM items i JOIN texts t ON t.row = i.row
                     WHERE i.document = ?1 ORDER BY i.position, i.row",
                )?
                .query_map([document.0], |row| {
                    let lines: (Option<u32>, Option<u32>) = (row.get(1)?, row.get(2)?);
                    Ok(Passage {
                        row: row_id(row.get(0)?)?,
                        lines: (lines.0.unwrap_or(1), lines.1.unwrap_or(1)),
                        content: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    fn names_of_documents(&self, documents: &[DocumentRow]) -> crate::Result<Vec<Option<DocumentNames>>> {
        self.read("read the names of documents", |connection| {
            let mut statement = connection
                .prepare_cached("SELECT row, id, path, title, metadata FROM documents WHERE row = ?1")?;
            documents.iter().map(|one| statement.query_row([one.0], read_names).optional()).collect()
        })
    }

    fn around(&self, row: RowId, reach: u32) -> crate::Result<Vec<(u32, RowId)>> {
        self.read("read the neighbours of an item", |connection| {
            connection
                .prepare_cached(
                    "SELECT b.row, b.position FROM items a JOIN items b ON b.document = a.document
                     AND b.position BETWEEN a.position - ?2 AND a.position + ?2
                     WHERE a.row = ?1 ORDER BY b.position, b.row",
                )?
                .query_map(params![row.0, reach], |row| Ok((row.get(1)?, first(row)?)))?
                .collect()
        })
    }

    fn paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> crate::Result<usize> {
        self.read("read the documents' paths", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT row, path FROM documents INDEXED BY documents_path ORDER BY collection, path",
            )?;
            let mut rows = statement.query([])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                let document = DocumentRow(row.get::<_, i64>(0)?.unsigned_abs());
                each(document, row.get_ref(1)?.as_str()?);
                count += 1;
            }
            Ok(count)
        })
    }
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
             ON CONFLICT (id) DO UPDATE SET path = ?3, file_name = ?4, title = ?5, version = ?6, hash = ?7, recipe = ?8, bytes = ?9, metadata = ?10,
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
    let given = given_tags(connection, row)?;
    for kept in &document.kept {
        connection
            .prepare_cached("UPDATE items SET position = ?2, first_line = ?3, last_line = ?4 WHERE row = ?1")?
            .execute(params![kept.row.0, kept.position, kept.lines.0, kept.lines.1])?;
        seal_fields(connection, kept.row)?;
        set_file_tags(connection, kept.row, [kept.tags.as_slice(), &given].concat(), change)?;
    }
    let place = ChunkPlace { document, row, given: &given };
    for chunk in &document.added {
        written.added += usize::from(insert_chunk(connection, &place, chunk, change, now)?);
    }
    let detail = json!({ "path": document.path, "added": written.added, "removed": written.removed,
        "kept": document.kept.len() });
    record(connection, change, stamp, "index", Some(&document.id), &detail)?;
    Ok(written)
}

/// The document of a new chunk: its row, and the tags that a person gave it.
struct ChunkPlace<'a> {
    document: &'a NewDocument,
    row: i64,
    given: &'a [String],
}

/// Adds a chunk; returns false if another process added the same one first.
fn insert_chunk(
    connection: &Connection,
    place: &ChunkPlace<'_>,
    chunk: &NewChunk,
    change: Change,
    now: i64,
) -> Result<bool> {
    let document = place.document;
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
            place.row,
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
    put_delta(connection, row, change, &chunk.delta)?;
    put_tags(connection, row, &chunk.tags)?;
    if !place.given.is_empty() {
        put_tags(connection, row, place.given)?;
        forget_mentions(connection, row)?;
    }
    if let Some(vector) = &chunk.vector {
        put_vector(connection, row, vector, change)?;
    }
    seal(connection, row)?;
    Ok(true)
}

fn read_known(row: &Row<'_>) -> Result<KnownDocument> {
    Ok(KnownDocument {
        id: row.get(0)?,
        path: row.get(1)?,
        hash: row.get(2)?,
        recipe: row.get(3)?,
        repository_file: repository_file(row.get_ref(4)?.as_str()?),
    })
}

/// Returns the place in a repository that metadata names; `None` without one, or if front matter uses the names otherwise.
fn repository_file(metadata: &str) -> Option<RepositoryFile> {
    #[derive(Deserialize)]
    struct Fields {
        repository: String,
        branch: Option<String>,
        relative_path: String,
    }
    let Fields { repository, branch, relative_path } =
        Some(metadata).filter(|text| *text != "{}").and_then(|text| serde_json::from_str(text).ok())?;
    Some(RepositoryFile { repository, branch, relative_path })
}

/// Moves one document; one that is gone meanwhile stays so.
fn move_document(connection: &Connection, moved: &MovedDocument) -> Result<()> {
    let fields = RepositoryFile::fields(moved.repository_file.as_ref());
    let fields = Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value)));
    let fields = Value::Object(fields).to_string();
    // Two statements a document: a move of a large repository is little else. With one statement for each group of
    // columns and two for the checksum it took three times as long.
    let found: Option<(i64, String, u32)> = connection
        .prepare_cached(MOVED_DOCUMENT)?
        .query_row(
            params![moved.from_id, moved.id, moved.path, moved.file_name, moved.version, fields],
            |row| Ok((row.get(0)?, row.get("metadata")?, of_document(row)?)),
        )
        .optional()?;
    let Some((row, metadata, checksum)) = found else { return Ok(()) };
    if moved.id == moved.from_id {
        // A statement that sets the id would write its index anew.
        connection
            .prepare_cached(
                "UPDATE documents SET path = ?2, file_name = ?3, version = ?4, metadata = ?5, checksum = ?6 WHERE row = ?1",
            )?
            .execute(params![row, moved.path, moved.file_name, moved.version, metadata, checksum])?;
        return Ok(());
    }
    // Another process may have written a document with the new id; the next run compares again.
    let renamed = connection
        .prepare_cached(
            "UPDATE OR IGNORE documents SET path = ?2, file_name = ?3, version = ?4, metadata = ?5, checksum = ?6,
             id = ?7 WHERE row = ?1",
        )?
        .execute(params![row, moved.path, moved.file_name, moved.version, metadata, checksum, moved.id])?;
    if renamed == 0 {
        return Ok(());
    }
    let chunks: Vec<(i64, String)> = connection
        .prepare_cached(
            "SELECT i.row, t.key FROM items i JOIN texts t ON t.row = i.row WHERE i.document = ?1",
        )?
        .query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_>>()?;
    for (chunk, key) in chunks {
        connection
            .prepare_cached("UPDATE items SET id = ?2 WHERE row = ?1")?
            .execute(params![chunk, chunk_id(&moved.id, &key)])?;
        seal(connection, row_id(chunk)?)?;
    }
    Ok(())
}

fn document(row: &Row<'_>) -> Result<Document> {
    Ok(Document {
        id: row.get(0)?,
        subject: row.get(1)?,
        collection: row.get(2)?,
        title: row.get(3)?,
        version: row.get(4)?,
        chunks: row.get::<_, i64>(5)?.unsigned_abs(),
        bytes: row.get::<_, i64>(6)?.unsigned_abs(),
        scope: word(row, "scope")?,
        owner: row.get(8)?,
        metadata: json_field(&row.get::<_, String>(9)?)?,
        create_time: timestamp(row.get(10)?)?,
        update_time: timestamp(row.get(11)?)?,
    })
}
