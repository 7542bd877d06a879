//! Lists the documents that have a chunk in a selection, a page at a time.

use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use super::columns::{json_field, timestamp, word};
use super::condition::Condition;
use super::read::read_known;
use super::{SqliteStore, select};
use crate::request::{Document, Documents, Selection};
use crate::store::{KnownDocument, Place};

impl SqliteStore {
    pub(super) fn read_documents_at(
        &self,
        place: &Place,
        paths: &[&str],
    ) -> crate::Result<Vec<Option<KnownDocument>>> {
        let Place { collection, scope, owner } = place;
        self.read("look up the documents", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, path, hash, recipe FROM documents d WHERE collection = ?1 AND path = ?2 AND EXISTS
                 (SELECT 1 FROM items i WHERE i.document = d.row AND i.scope = ?3 AND i.owner IS ?4)",
            )?;
            let mut find =
                |path: &&str| statement.query_row(params![collection, path, scope.word(), owner], read_known);
            paths.iter().map(|path| find(path).optional()).collect()
        })
    }

    pub(super) fn read_documents(
        &self,
        selection: &Selection,
        limit: usize,
        offset: usize,
    ) -> crate::Result<Documents> {
        let condition = select::condition(selection);
        // Few chunks have a tag, say, and an index leads to them; else each document is looked at until a chunk of it passes.
        let is_narrow = !selection.tags.is_empty()
            || !selection.sources.is_empty()
            || selection.owner.is_some()
            || selection.filter.is_some();
        let has_one = if is_narrow {
            format!("d.row IN (SELECT i.document FROM items i WHERE {})", condition.sql)
        } else {
            format!("EXISTS (SELECT 1 FROM items i WHERE i.document = d.row AND {})", condition.sql)
        };
        // Chunks are of the collection of their document, which an index finds.
        let of_collections = Condition::within("d.collection", &selection.collections);
        let has_one = match of_collections.sql.as_str() {
            "" => has_one,
            within => format!("{within} AND {has_one}"),
        };
        // Chunks are counted of the page's documents alone: counted of all 10,000 documents of 100,000 chunks, a page took eight times
        // as long.
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
}

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
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
