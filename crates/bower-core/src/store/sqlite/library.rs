//! The documents that have a chunk in a selection, a page at a time.

use rusqlite::{Row, params_from_iter};

use super::read::{json_field, timestamp, word};
use super::{SqliteStore, select};
use crate::request::{Document, Documents, Selection};

impl SqliteStore {
    pub(super) fn read_documents(
        &self,
        selection: &Selection,
        limit: usize,
        offset: usize,
    ) -> crate::Result<Documents> {
        let condition = select::condition(selection);
        let has_one =
            format!("EXISTS (SELECT 1 FROM items i WHERE i.document = d.row AND {})", condition.sql);
        // Chunks are counted of the page's documents alone: of all documents that took eight times as long (100,000 chunks of 10,000).
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
            let total = connection
                .prepare(&count)?
                .query_row(params_from_iter(&condition.values), |row| row.get(0))?;
            let mut statement = connection.prepare(&page)?;
            let twice = condition.values.iter().chain(&condition.values);
            let documents = statement.query_map(params_from_iter(twice), document)?;
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
