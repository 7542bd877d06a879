//! Forgets items: deletes them from every table and cleans their events.
//! Cached questions that said the same are dropped, and an item's events keep only rules, numbers and ids. The same
//! transaction marks that files are to be purged.

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

use super::aliases::ended_in;
use super::backup::replaced;
use super::cache::note_drop;
use super::checksums::seal_event;
use super::columns::{json_field, json_text};
use super::events::{next_change, record};
use super::half_vectors::half;
use super::llm::forget_answers;
use super::memories::remove_row;
use super::renaming::forget_names;
use super::tags::all_tags;
use super::ties::wordings_of;
use super::triples::{forget_text, forget_unused};
use super::{SqliteStore, lock};
use crate::item::{CacheRole, Kind, RowId, Status, Visibility, hex};
use crate::request::{Erased, Receipt};
use crate::store::cache::cache_key;
use crate::store::{Items, Stamp};
use crate::vector::{ExactQuery, floats};

/// Cosine from which a cached question says the same as a forgotten text. From this value on one text replaces another
/// (Bowerbird's first version: .95 and more supersedes).
const SAME: f32 = 0.95;

/// Fields of events with the program's own words, or an id: they outlive their subject. Every other word came from a user
/// (tags, paths) and is removed with the item.
const OUR_WORDS: &[&str] = &[
    "rule",
    "relation",
    "other",
    "by",
    "replaces",
    "type",
    "ruling",
    "action",
    "status",
    "tier",
    "scope",
    "sha256",
    "said_by",
    "least_trusted",
];

/// Row of the mark that a purge is due, in the list of removed rows; no item has it.
pub(super) const MARK: i64 = 0;

impl SqliteStore {
    pub(super) fn remove_items(
        &self,
        rows: &[RowId],
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> crate::Result<Receipt> {
        let forget = |connection: &Connection| {
            let mut receipt = Receipt { dry_run, ..Receipt::default() };
            let (mut ids, mut texts) = (Vec::new(), Vec::new());
            let mut documents = BTreeSet::new();
            let mut tags = BTreeSet::new();
            let mut questions = Questions::of(connection)?;
            let change = next_change(connection)?;
            // The wordings of a memory go with it.
            let mut all = Vec::with_capacity(rows.len());
            for &row in rows {
                all.push(row);
                all.extend(wordings_of(connection, row)?);
            }
            for row in all {
                let Some(gone) = Gone::of(connection, row)? else { continue };
                gone.count(connection, row, &mut receipt)?;
                questions.leave(connection, row, &gone)?;
                tags.extend(all_tags(connection, row)?);
                receipt.triples += forget_text(connection, row, &gone.content)?;
                remove_row(connection, row, change, stamp)?;
                receipt.events += clean_events(connection, &gone.id)?;
                record(connection, change, stamp, "forget", Some(&gone.id), &json!({}))?;
                documents.extend(gone.document);
                texts.push(gone.content.to_lowercase());
                ids.push(gone.id);
            }
            receipt.cached = questions.drop(connection)?;
            receipt.answers = forget_answers(connection)?;
            forget_unused(connection)?;
            for document in documents {
                let removed: Option<String> = connection
                    .prepare_cached(
                        "DELETE FROM documents WHERE row = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE document = ?1)
                         RETURNING id",
                    )?
                    .query_row([document], |row| row.get(0))
                    .optional()?;
                if let Some(id) = removed {
                    receipt.documents += 1;
                    receipt.events += clean_events(connection, &id)?;
                }
            }
            let named = [forget_names(connection, &tags)?, ended_in(connection, &texts)?].concat();
            for event in named {
                receipt.events += usize::from(clean_event(connection, event)?);
            }
            ids.sort_unstable();
            receipt.sha256 = hex(&Sha256::digest(ids.join("\n").as_bytes()));
            let detail = json!({ "items": receipt.items, "vectors": receipt.vectors,
                "documents": receipt.documents, "sha256": receipt.sha256 });
            receipt.event = record(connection, change, stamp, "forget", None, &detail)?;
            connection
                .prepare_cached("INSERT OR IGNORE INTO removals (change, row) VALUES (?1, ?2)")?
                .execute(params![change.0, MARK])?;
            Ok(receipt)
        };
        if !dry_run {
            return self.write("forget the items", |transaction| forget(transaction));
        }
        // A dry run does everything and is rolled back: it reports what would happen.
        let mut receipt = None;
        let undone = self.write::<()>("forget the items", |transaction| {
            receipt = Some(forget(transaction)?);
            Err(rusqlite::Error::StatementChangedRows(0))
        });
        match (receipt, undone) {
            (Some(receipt), _) => Ok(Receipt { event: 0, ..receipt }),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(Receipt { dry_run, ..Receipt::default() }),
        }
    }

    pub(super) fn empty_log(&self) -> crate::Result<bool> {
        if self.is_read_only() {
            return Ok(false);
        }
        let reader = self.reader()?;
        // Waits for readers of older pages as long as for any lock, and reports whether any remained.
        let busy: bool = reader
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|source| self.failed("empty the log", source))?;
        Ok(!busy)
    }

    /// Removes what was forgotten from the copies that a restore kept beside the store, which no user requested.
    pub(super) fn forget_in_copies(&self, erased: &mut Erased, stamp: Stamp<'_>) -> crate::Result<()> {
        let copies = replaced(&self.path)?;
        if copies.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = self.read("read what was forgotten", |connection| {
            connection
                .prepare_cached(
                    "SELECT DISTINCT e.subject FROM removals r JOIN events e ON e.change = r.change
                     WHERE r.row = ?1 AND e.action = 'forget' AND e.subject IS NOT NULL ORDER BY 1",
                )?
                .query_map([MARK], |row| row.get(0))?
                .collect()
        })?;
        for path in copies {
            match self.forget_in_copy(&path, &ids, stamp) {
                Ok(0) => {}
                Ok(_) => erased.copies.push(path),
                Err(error) => erased.waits.push(error.to_string()),
            }
        }
        Ok(())
    }

    /// Removes items by id from another store's file, a copy of this one, and leaves it as one whole file. Returns the
    /// number removed.
    fn forget_in_copy(&self, copy: &Path, ids: &[String], stamp: Stamp<'_>) -> crate::Result<usize> {
        let copy = Self::open(copy, &self.settings, stamp.now)?;
        let mut rows = Vec::new();
        for id in ids {
            rows.extend(copy.rows_by_id(id, &Visibility::everything(), 1)?.into_iter().map(|(row, _)| row));
        }
        if rows.is_empty() {
            // Opening it may have migrated its schema; nothing else was done to it.
            copy.one_file()?;
            return Ok(0);
        }
        let removed = copy.remove_items(&rows, false, stamp)?.items;
        copy.write_anew()?;
        copy.one_file()?;
        Ok(removed)
    }

    /// Leaves no log and no head beside the file.
    fn one_file(&self) -> crate::Result<()> {
        let connections: Vec<Connection> = lock(&self.idle).drain(..).collect();
        let connection = connections.into_iter().next().map_or_else(|| self.connect(), Ok)?;
        connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .map_err(|source| self.failed("empty the log", source))?;
        lock(&self.head)
            .remove()
            .map_err(|source| crate::Error::io("remove the head of", self.path(), source))
    }

    pub(super) fn write_anew(&self) -> crate::Result<()> {
        if self.is_read_only() {
            return Err(crate::Error::ReadOnly { at: self.path().into() });
        }
        let _turn = lock(&self.writing);
        let mut reader = self.reader()?;
        // `VACUUM` needs as much space again as the log: on disk, because the store may be larger than memory.
        let written = reader
            .execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY")
            .map_err(|source| self.failed("write the store anew", source));
        if written.is_err() {
            reader.connection = None;
        }
        written
    }
}

/// An item that is about to be removed.
struct Gone {
    id: String,
    kind: String,
    status: String,
    document: Option<i64>,
    metadata: String,
    summary: String,
    content: String,
}

impl Gone {
    fn of(connection: &Connection, row: RowId) -> Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT i.id, i.kind, i.document, i.metadata, coalesce(t.summary, ''), coalesce(t.content, ''), i.status
                 FROM items i LEFT JOIN texts t ON t.row = i.row WHERE i.row = ?1",
            )?
            .query_row([row.0], |row| {
                Ok(Self {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    document: row.get(2)?,
                    metadata: row.get(3)?,
                    summary: row.get(4)?,
                    content: row.get(5)?,
                    status: row.get(6)?,
                })
            })
            .optional()
    }

    /// Adds the data that is removed with it to a receipt.
    fn count(&self, connection: &Connection, row: RowId, receipt: &mut Receipt) -> Result<()> {
        let count = |sql: &str| -> Result<usize> {
            connection.prepare_cached(sql)?.query_row([row.0], |row| row.get(0))
        };
        receipt.items += 1;
        if self.status == Status::Variant.word() {
            receipt.wordings += 1;
        } else if self.kind == Kind::Memory.word() {
            receipt.memories += 1;
        } else {
            receipt.chunks += 1;
        }
        receipt.vectors += count("SELECT count(*) FROM vectors WHERE row = ?1")?;
        receipt.tags += count("SELECT count(*) FROM tags WHERE row = ?1")?;
        receipt.anchors += count("SELECT count(*) FROM anchors WHERE row = ?1")?;
        receipt.relations += count("SELECT count(*) FROM relations WHERE row = ?1 OR other = ?1")?;
        receipt.reviews += count("SELECT count(*) FROM reviews WHERE row = ?1 OR other = ?1")?;
        receipt.given += count("SELECT count(*) FROM injections WHERE row = ?1")?
            + count("SELECT count(*) FROM exposures WHERE row = ?1")?;
        let fields: Map<String, Value> = json_field(&self.metadata)?;
        receipt.fields += fields.len();
        Ok(())
    }

    /// Returns texts that a question may have had, word for word.
    fn asked(&self) -> BTreeSet<&str> {
        let content = self.content.trim();
        let bare = |text: &'static [char]| content.trim_end_matches(text);
        [&self.content, content, bare(&['.']), bare(&['.', '!', '?']), self.summary.as_str()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect()
    }
}

/// The cached questions with their vectors. Their keys are hashes, so a question's meaning is only known from its vector.
struct Questions {
    models: Vec<(i64, String)>,
    cached: Vec<(Vec<u8>, i64, Vec<u8>)>,
    going: BTreeSet<Vec<u8>>,
}

impl Questions {
    fn of(connection: &Connection) -> Result<Self> {
        let models = connection
            .prepare_cached("SELECT row, name FROM models")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_>>()?;
        let cached = connection
            .prepare_cached("SELECT key, model, vector FROM embedding_cache")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_>>()?;
        Ok(Self { models, cached, going: BTreeSet::new() })
    }

    /// Marks the questions that were an item's text, or said the same.
    fn leave(&mut self, connection: &Connection, row: RowId, gone: &Gone) -> Result<()> {
        if self.cached.is_empty() {
            return Ok(());
        }
        for text in gone.asked() {
            self.going.extend(self.models.iter().flat_map(|(_, name)| {
                CacheRole::ALL.iter().map(|role| cache_key(name, *role, text).to_vec())
            }));
        }
        let mut statement = connection.prepare_cached("SELECT model, vector FROM vectors WHERE row = ?1")?;
        let mut found = statement.query([row.0])?;
        let mut buffer = Vec::new();
        while let Some(row) = found.next()? {
            let model: i64 = row.get(0)?;
            let Some(half) = half(row, 1, &mut buffer)? else { continue };
            let vector = floats(half);
            let said = ExactQuery::new(&vector);
            let same =
                self.cached.iter().filter(|(_, of, asked)| *of == model && said.cosine_f16(asked) >= SAME);
            self.going.extend(same.map(|(key, ..)| key.clone()));
        }
        Ok(())
    }

    /// Drops the marked questions, and returns their number.
    fn drop(self, connection: &Connection) -> Result<usize> {
        let mut delete = connection.prepare_cached("DELETE FROM embedding_cache WHERE key = ?1")?;
        let dropped = self.going.iter().map(|key| delete.execute([key])).sum::<Result<usize>>()?;
        // Other processes may have copies in memory of what the file no longer has.
        note_drop(connection)?;
        Ok(dropped)
    }
}

/// Removes user-written words from the events of a subject. Returns the number of events that contained any.
fn clean_events(connection: &Connection, subject: &str) -> Result<usize> {
    let events: Vec<i64> = connection
        .prepare_cached("SELECT event FROM events WHERE subject = ?1 AND detail <> '{}'")?
        .query_map([subject], |row| row.get(0))?
        .collect::<Result<_>>()?;
    let mut cleaned = 0;
    for event in events {
        cleaned += usize::from(clean_event(connection, event)?);
    }
    Ok(cleaned)
}

/// Removes user-written words from an event. Returns whether it contained any.
fn clean_event(connection: &Connection, event: i64) -> Result<bool> {
    let detail: String = connection
        .prepare_cached("SELECT detail FROM events WHERE event = ?1")?
        .query_row([event], |row| row.get(0))?;
    let found: Value = json_field(&detail)?;
    let clean = without_words(found.clone(), "").unwrap_or_else(|| json!({}));
    if clean == found {
        return Ok(false);
    }
    connection
        .prepare_cached("UPDATE events SET detail = ?2 WHERE event = ?1")?
        .execute(params![event, json_text(&clean)?])?;
    seal_event(connection, event)?;
    Ok(true)
}

/// Returns a value without user-written words; `None` if it is nothing but one.
fn without_words(value: Value, key: &str) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value),
        Value::String(text) => (OUR_WORDS.contains(&key) || is_hash(&text)).then_some(Value::String(text)),
        Value::Array(values) => {
            Some(Value::Array(values.into_iter().filter_map(|value| without_words(value, key)).collect()))
        }
        Value::Object(fields) => Some(Value::Object(
            fields
                .into_iter()
                .filter_map(|(name, value)| {
                    let value = without_words(value, &name)?;
                    Some((name, value))
                })
                .collect(),
        )),
    }
}

/// Whether a text is an id, or a hash.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 16 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_rules_figures_and_ids() {
        let detail = json!({ "rule": "new_value", "cosine": 0.5, "tags": ["the cellar", "0011223344556677"],
            "path": "/notes/the cellar.md", "other": "0011223344556677", "before": { "tier": "2", "note": "x", "n": 1 } });
        let clean = json!({ "rule": "new_value", "cosine": 0.5, "tags": ["0011223344556677"],
            "other": "0011223344556677", "before": { "tier": "2", "n": 1 } });
        assert_eq!(without_words(detail, ""), Some(clean));
    }
}
