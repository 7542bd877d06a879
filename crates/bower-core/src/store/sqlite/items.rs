//! Reads items by row, id and tag, and the facts that ranking uses.
//! The cost of each method depends on the rows that it finds, never on the store's whole size, except for the scan of all
//! texts.

use rusqlite::{OptionalExtension, Row, params, params_from_iter};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

use super::columns::{first, json_field, parse_word, timestamp, word};
use super::item::{self, read_item};
use super::{SqliteStore, select};
use crate::item::{Facts, Relation, RowId, Tier, Visibility};
use crate::request::Item;
use crate::store::{Audience, DatedText, Items, Link};

const DATED: &str = "SELECT i.kind, i.create_time, i.valid_from, i.valid_to, i.metadata, t.section,
 substr(t.content, 1, ?2) AS content, d.title, d.file_name, d.metadata AS document_metadata
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1";

impl Items for SqliteStore {
    fn items(&self, rows: &[RowId]) -> crate::Result<Vec<Option<Item>>> {
        self.read("read the items", |connection| {
            let mut statement = connection.prepare_cached(item::statement(self.schema))?;
            let mut read = |row: &RowId| {
                let item = statement.query_row([row.0], |row| read_item(connection, row)).optional()?;
                if item.as_ref().is_some_and(|item| item.damaged) {
                    self.note_damage("text", *row);
                }
                Ok(item)
            };
            rows.iter().map(&mut read).collect()
        })
    }

    fn titles(&self, rows: &[RowId]) -> crate::Result<Vec<Option<(String, String)>>> {
        self.read("read the titles of memories", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT i.id, t.summary FROM items i JOIN texts t ON t.row = i.row WHERE i.row = ?1",
            )?;
            rows.iter()
                .map(|row| statement.query_row([row.0], |row| Ok((row.get(0)?, row.get(1)?))).optional())
                .collect()
        })
    }

    fn facts(&self, rows: &[RowId]) -> crate::Result<Vec<Option<Facts>>> {
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

    fn dated_texts(&self, rows: &[RowId], most: usize) -> crate::Result<Vec<Option<DatedText>>> {
        self.read("read the items' times", |connection| {
            let mut statement = connection.prepare_cached(DATED)?;
            rows.iter().map(|row| statement.query_row(params![row.0, most], read_dated).optional()).collect()
        })
    }

    fn each_text(&self, each: &mut dyn FnMut(RowId, &str)) -> crate::Result<()> {
        self.read("read all texts", |connection| {
            let mut statement = connection.prepare_cached("SELECT row, content FROM texts ORDER BY row")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(first(row)?, row.get_ref(1)?.as_str()?);
            }
            Ok(())
        })
    }

    fn rows_by_id(
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

    fn known_to(&self, to: &Audience<'_>, rows: &[RowId]) -> crate::Result<Vec<RowId>> {
        if rows.is_empty() || to.knows_everything() {
            return Ok(rows.to_vec());
        }
        let known = select::known_to(to);
        let sql = format!(
            "SELECT r.value FROM json_each(?) r CROSS JOIN items i ON i.row = r.value WHERE {} ORDER BY r.key",
            known.sql
        );
        let list = rusqlite::types::Value::Text(serde_json::json!(rows).to_string());
        self.read("look up what may be known", |connection| {
            let values = std::iter::once(&list).chain(&known.values);
            connection.prepare(&sql)?.query_map(params_from_iter(values), first)?.collect()
        })
    }

    fn linked(&self, rows: &[RowId]) -> crate::Result<Vec<Link>> {
        self.read("read what the items are tied to", |connection| {
            let mut forms = connection.prepare_cached(
                "SELECT o.row FROM items i JOIN items o ON o.id = i.supersedes_id WHERE i.row = ?1
                 UNION SELECT n.row FROM items i JOIN items n ON n.supersedes_id = i.id WHERE i.row = ?1",
            )?;
            let mut related = connection.prepare_cached(
                "SELECT other, relation = ?2 FROM relations WHERE row = ?1
                 UNION ALL SELECT row, 0 FROM relations WHERE other = ?1",
            )?;
            let mut links: Vec<Link> = Vec::new();
            for row in rows {
                for found in forms.query_map([row.0], first)? {
                    links.push(Link { row: found?, is_made_of_it: false });
                }
                for found in related.query_map(params![row.0, Relation::ExampleOf.word()], |row| {
                    Ok((first(row)?, row.get(1)?))
                })? {
                    let (row, is_made_of_it) = found?;
                    links.push(Link { row, is_made_of_it });
                }
            }
            links.sort_unstable_by_key(|link| (link.row, !link.is_made_of_it));
            links.dedup_by_key(|link| link.row);
            links.retain(|link| !rows.contains(&link.row));
            Ok(links)
        })
    }

    fn tags(&self, beginnings: &[String]) -> crate::Result<Vec<String>> {
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

    fn tag_counts(&self, tags: &[String]) -> crate::Result<Vec<u64>> {
        self.read("count a tag's items", |connection| {
            let mut statement = connection.prepare_cached("SELECT count(*) FROM tags WHERE tag = ?1")?;
            tags.iter().map(|tag| statement.query_row([tag], |row| row.get(0))).collect()
        })
    }

    fn tagged(&self, tags: &[String], most: usize) -> crate::Result<Vec<Vec<RowId>>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("read a tag's items", |connection| {
            let mut statement = connection
                .prepare_cached("SELECT row FROM tags WHERE tag = ?1 ORDER BY row DESC LIMIT ?2")?;
            tags.iter().map(|tag| statement.query_map(params![tag, most], first)?.collect()).collect()
        })
    }

    fn items_at_most(&self) -> crate::Result<u64> {
        self.read("look for the newest item", |connection| {
            connection
                .prepare_cached("SELECT coalesce(max(row), 0) FROM items")?
                .query_row([], |row| row.get(0))
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
