//! Lookups for the smaller channels and for ranking: tags, paths, canonical lines, and facts of items.
//! Each costs by what it finds, never by the store's whole size, but for the one scan of paths.

use rusqlite::{OptionalExtension, params, params_from_iter};
use std::collections::BTreeSet;

use super::columns::{first, parse_word, row_id, timestamp, word};
use super::{SqliteStore, select};
use crate::error::Result;
use crate::item::{Facts, RowId, Tier, Visibility};
use crate::store::{DocumentRow, Passage};

impl SqliteStore {
    pub(super) fn read_rows_by_id(
        &self,
        prefix: &str,
        visibility: &Visibility,
        most: usize,
    ) -> crate::Result<Vec<(RowId, String)>> {
        let visible = select::visible(visibility);
        let sql = format!(
            "SELECT i.row, i.id FROM items i WHERE i.id >= ? AND i.id < ? || 'g' AND {} ORDER BY i.id LIMIT {most}",
            if visible.sql.is_empty() { "1" } else { &visible.sql }
        );
        let prefix = rusqlite::types::Value::Text(prefix.to_owned());
        self.read("look up the id", |connection| {
            connection
                .prepare_cached(&sql)?
                .query_map(params_from_iter([&prefix, &prefix].into_iter().chain(&visible.values)), |row| {
                    Ok((first(row)?, row.get(1)?))
                })?
                .collect()
        })
    }

    pub(super) fn find_facts(&self, rows: &[RowId]) -> Result<Vec<Option<Facts>>> {
        self.read("read the items' facts", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT kind, type, importance, confidence, access_count, decay_rate, create_time, access_time, tier
                 FROM items WHERE row = ?1",
            )?;
            let mut facts = |row: &RowId| {
                statement
                    .query_row([row.0], |row| {
                        let memory_type = row.get::<_, Option<String>>("type")?.map(|word| parse_word(&word)).transpose()?;
                        let tier: i64 = row.get("tier")?;
                        Ok(Facts {
                            kind: word(row, "kind")?,
                            memory_type,
                            importance: row.get("importance")?,
                            confidence: row.get("confidence")?,
                            access_count: row.get::<_, i64>("access_count")?.unsigned_abs(),
                            decay_rate: row.get("decay_rate")?,
                            created: timestamp(row.get("create_time")?)?,
                            accessed: timestamp(row.get("access_time")?)?,
                            tier: parse_word::<Tier>(&tier.to_string())?,
                            asked_time: None,
                        })
                    })
                    .optional()
            };
            rows.iter().map(&mut facts).collect()
        })
    }

    /// Goes from tag to tag by the index, so that a tag of a million items costs as much as one of a single item.
    pub(super) fn find_tags(&self, beginnings: &[String]) -> Result<Vec<String>> {
        self.read("look for tags", |connection| {
            let mut from = connection.prepare_cached("SELECT tag FROM tags WHERE tag >= ?1 LIMIT 1")?;
            let mut after = connection.prepare_cached("SELECT tag FROM tags WHERE tag > ?1 LIMIT 1")?;
            let mut found = BTreeSet::new();
            for beginning in beginnings {
                let mut next: Option<String> = from.query_row([beginning], |row| row.get(0)).optional()?;
                while let Some(tag) = next.take_if(|tag| tag.starts_with(beginning.as_str())) {
                    next = after.query_row([&tag], |row| row.get(0)).optional()?;
                    found.insert(tag);
                }
            }
            Ok(found.into_iter().collect())
        })
    }

    pub(super) fn find_tag_counts(&self, tags: &[String]) -> Result<Vec<u64>> {
        self.read("count a tag's items", |connection| {
            let mut statement = connection.prepare_cached("SELECT count(*) FROM tags WHERE tag = ?1")?;
            tags.iter().map(|tag| statement.query_row([tag], |row| row.get(0))).collect()
        })
    }

    pub(super) fn find_tagged(&self, tag: &str, each: &mut dyn FnMut(RowId) -> bool) -> Result<()> {
        self.read("read a tag's items", |connection| {
            let mut statement =
                connection.prepare_cached("SELECT row FROM tags WHERE tag = ?1 ORDER BY row DESC")?;
            let mut rows = statement.query([tag])?;
            while let Some(row) = rows.next()? {
                if !each(first(row)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    pub(super) fn find_newest_row(&self) -> Result<Option<RowId>> {
        self.read("look for the newest item", |connection| {
            connection
                .prepare_cached("SELECT row FROM items ORDER BY row DESC LIMIT 1")?
                .query_row([], first)
                .optional()
        })
    }

    /// Reads the index of collections and paths alone, not the documents.
    pub(super) fn find_paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> Result<usize> {
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

    pub(super) fn find_document_rows(
        &self,
        documents: &[DocumentRow],
        most: usize,
    ) -> Result<Vec<Vec<RowId>>> {
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

    pub(super) fn find_passages(&self, document: DocumentRow) -> Result<Vec<Passage>> {
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
}
