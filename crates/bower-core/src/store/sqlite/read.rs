//! Reads of the embedded store, and its implementation of the `Store` trait.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::columns::{first, json_field, row_id, timestamp, word};
use super::events::mark;
use super::item::{self, read_item};
use super::vectors::waiting;
use super::{LOG_BYTES, SqliteStore, empty_log, is_busy, lock, schema, select};
use crate::error::Result;
use crate::item::{
    Change, Coverage, Facts, MemoryType, Origin, RowId, RowSet, Ruling, Scope, Status, Visibility, derive_id,
    indexed_text,
};
use crate::request::{
    Clocks, Documents, Event, Item, Loss, Receipt, Selection, StoreChange, StoreCopy, Undone,
};
use crate::store::{
    Audience, Counts, DatedText, Decided, DocumentRow, Given, IndexedText, Kept, KeptTerms, KnownDocument,
    Life, Link, NewDocument, NewMemory, NewPattern, NewTokens, NewVector, Passage, Place, ReviewRow, Stamp,
    Store, TailText, Turned, Turning, Written,
};

impl SqliteStore {
    /// Runs a read on a connection of its own, in one snapshot: its statements agree, and the file is locked once.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        body: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let reader = self.reader()?;
        let snapshot = reader.unchecked_transaction().map_err(|source| self.failed(doing, source))?;
        body(&snapshot).map_err(|source| self.failed(doing, source))
    }
}

pub(super) const INDEXED: &str = "SELECT t.content, t.section, d.title, i.document, i.source_conv_id, i.collection, i.valid_from, i.valid_to
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1";

pub(super) fn read_indexed(row: &Row<'_>) -> rusqlite::Result<String> {
    let (content, section, title): (String, Option<String>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(indexed_text(title.as_deref(), section.as_deref(), &content))
}

/// The number that the rows of one parent share: that of the document, or a hash of the session with the highest bit set, so
/// that the two never meet. Folded into the text index, hence fixed for ever.
fn parent(document: Option<i64>, session: Option<&str>, collection: &str) -> u64 {
    const SESSION: u64 = 1 << 63;
    match session {
        Some(session) => {
            let id = derive_id(&["session", collection, session]);
            u64::from_str_radix(&id, 16).expect("an id is 16 hex digits") | SESSION
        }
        None => document.map_or(0, i64::unsigned_abs),
    }
}

pub(super) fn read_parent(row: &Row<'_>) -> rusqlite::Result<u64> {
    let session: Option<String> = row.get("source_conv_id")?;
    Ok(parent(row.get("document")?, session.as_deref(), &row.get::<_, String>("collection")?))
}

/// The importances' unit in `counts`, where their sum is kept in whole numbers.
const IMPORTANCE_STEPS: f64 = (1u64 << 40) as f64;

/// Adds up what `from` says of each sort of items.
pub(super) fn read_counts(connection: &Connection, from: &str) -> rusqlite::Result<Counts> {
    let mut statement = connection.prepare(&format!(
        "SELECT kind, collection, type, status, number, importance FROM ({from}) WHERE number > 0"
    ))?;
    let mut rows = statement.query([])?;
    let (mut counts, mut memories, mut importance) = (Counts::default(), 0, 0);
    while let Some(row) = rows.next()? {
        let (collection, number): (String, u64) = (row.get(1)?, row.get(4)?);
        match row.get_ref(0)?.as_str()? {
            "document" => {
                counts.documents += number;
                continue;
            }
            "memory" => {
                memories += number;
                importance += row.get::<_, i64>(5)?;
                if let Status::Candidate | Status::Active = word(row, "status")? {
                    counts.memories += number;
                    *counts.by_type.entry(row.get(2)?).or_default() += number;
                }
            }
            _ => counts.chunks += number,
        }
        *counts.by_collection.entry(collection).or_default() += number;
    }
    if memories > 0 {
        counts.avg_importance = importance as f64 / IMPORTANCE_STEPS / memories as f64;
    }
    Ok(counts)
}

pub(super) fn read_known(row: &Row<'_>) -> rusqlite::Result<KnownDocument> {
    Ok(KnownDocument { id: row.get(0)?, path: row.get(1)?, hash: row.get(2)?, recipe: row.get(3)? })
}

fn row_ids(
    rows: rusqlite::MappedRows<'_, impl FnMut(&Row<'_>) -> rusqlite::Result<RowId>>,
) -> rusqlite::Result<Vec<RowId>> {
    let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    rows.sort_unstable();
    Ok(rows)
}

impl Store for SqliteStore {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn schema(&self) -> u32 {
        schema::NEWEST
    }

    fn coverage(&self) -> Result<Coverage> {
        self.read("read the last change", |connection| {
            let change: Change = connection
                .prepare_cached("SELECT change FROM store")?
                .query_row([], |row| row.get(0))
                .map(Change)?;
            Ok(Coverage {
                store: self.identity.clone(),
                change,
                mark: mark(connection, change)?.unwrap_or(0),
            })
        })
    }

    fn confirms(&self, coverage: &Coverage) -> Result<bool> {
        if coverage.store != self.identity {
            return Ok(false);
        }
        self.read("read a change", |connection| {
            Ok(mark(connection, coverage.change)?.unwrap_or(0) == coverage.mark
                && (coverage.change == Change(0) || coverage.mark != 0))
        })
    }

    fn put_memory(&self, memory: &NewMemory, decided: &Decided, stamp: Stamp<'_>) -> Result<Option<Kept>> {
        self.write_memory(memory, decided, stamp)
    }

    fn settle(&self, review: u64, ruling: Ruling, stamp: Stamp<'_>) -> Result<Option<ReviewRow>> {
        self.end_review(review, ruling, stamp)
    }

    fn expose(&self, given: &[(RowId, Timestamp)]) -> Result<()> {
        self.write_exposures(given)
    }

    fn mark(
        &self,
        subject: &str,
        action: &str,
        detail: &Map<String, Value>,
        stamp: Stamp<'_>,
    ) -> Result<u64> {
        self.write_mark(subject, action, detail, stamp)
    }

    fn pinned(&self) -> Result<Vec<RowId>> {
        self.read_pinned()
    }

    fn newest(
        &self,
        types: &[MemoryType],
        status: Status,
        visibility: &Visibility,
        most: usize,
    ) -> Result<Vec<RowId>> {
        self.read_newest(types, status, visibility, most)
    }

    fn number(&self, status: Status, visibility: &Visibility) -> Result<u64> {
        self.read_number(status, visibility)
    }

    fn titles(&self, rows: &[RowId]) -> Result<Vec<Option<(String, String)>>> {
        self.read_titles(rows)
    }

    fn lives(&self, each: &mut dyn FnMut(Life<'_>)) -> Result<()> {
        self.read_lives(each)
    }

    fn turn(
        &self,
        head: Option<(&'static str, &Map<String, Value>)>,
        turns: &[Turning],
        stamp: Stamp<'_>,
    ) -> Result<Turned> {
        self.write_turns(head, turns, stamp)
    }

    fn add_uses(&self, used: &[(RowId, Timestamp)]) -> Result<()> {
        self.write_uses(used)
    }

    fn put_patterns(&self, patterns: &[NewPattern], stamp: Stamp<'_>) -> Result<Vec<Option<u64>>> {
        self.write_patterns(patterns, stamp)
    }

    fn undo(&self, event: u64, stamp: Stamp<'_>) -> Result<Option<Undone>> {
        self.undo_event(event, stamp)
    }

    fn undo_origin(
        &self,
        visibility: &Visibility,
        origin: &Origin,
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> Result<Option<Undone>> {
        self.undo_all_of(visibility, origin, dry_run, stamp)
    }

    fn last_runs(&self) -> Result<BTreeMap<String, Timestamp>> {
        self.read_last_runs()
    }

    fn is_told_since(&self, scope: Scope, owner: Option<&str>, after: Change) -> Result<bool> {
        self.read_told_since(scope, owner, after)
    }

    fn held(&self) -> Result<Vec<(Scope, Option<String>, u64)>> {
        self.read_held()
    }

    fn memories_of(&self, place: &Place, after: RowId) -> Result<Vec<RowId>> {
        self.read_memories_of(place, after)
    }

    fn in_slot(&self, place: &Place, slot: &str, most: usize) -> Result<Vec<RowId>> {
        self.read_in_slot(place, slot, most)
    }

    fn chain(&self, row: RowId) -> Result<Vec<RowId>> {
        self.read_chain(row)
    }

    fn reviews(&self, all: bool) -> Result<Vec<ReviewRow>> {
        self.read_reviews(all)
    }

    fn exposure(&self, row: RowId) -> Result<Option<(u64, Timestamp)>> {
        self.read_exposure(row)
    }

    fn exposed(&self, to: &Audience<'_>, since: Timestamp, most: usize) -> Result<Vec<RowId>> {
        self.read_exposed(to, since, most)
    }

    fn known_to(&self, to: &Audience<'_>, rows: &[RowId]) -> Result<Vec<RowId>> {
        self.read_known_to(to, rows)
    }

    fn put_documents(&self, documents: &[NewDocument], stamp: Stamp<'_>) -> Result<Vec<Written>> {
        self.write_documents(documents, stamp)
    }

    fn remove_documents(&self, ids: &[String], stamp: Stamp<'_>) -> Result<usize> {
        self.delete_documents(ids, stamp)
    }

    fn put_vectors(&self, vectors: &[(RowId, NewVector)], upto: Change, stamp: Stamp<'_>) -> Result<usize> {
        self.write_vectors(vectors, upto, stamp)
    }

    fn put_codes(&self, codes: &[(RowId, NewTokens)], upto: Change, stamp: Stamp<'_>) -> Result<usize> {
        self.write_codes(codes, upto, stamp)
    }

    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt> {
        let receipt = self.remove_items(rows, dry_run, stamp)?;
        if !dry_run {
            // The log still holds the pages as they were; whoever ends the purge makes sure that it went.
            self.checkpoint()?;
        }
        Ok(receipt)
    }

    fn linked(&self, rows: &[RowId]) -> Result<Vec<Link>> {
        self.read_linked(rows)
    }

    fn each_text(&self, each: &mut dyn FnMut(RowId, &str)) -> Result<()> {
        self.read_each_text(each)
    }

    fn purge_due(&self) -> Result<Option<Change>> {
        self.read_purge_due()
    }

    fn end_purge(&self, upto: Change) -> Result<()> {
        self.delete_purge_mark(upto)
    }

    fn forgotten_ids(&self) -> Result<Vec<String>> {
        self.read_forgotten_ids()
    }

    fn forget_in_copy(&self, copy: &Path, ids: &[String], stamp: Stamp<'_>) -> Result<usize> {
        self.remove_from_copy(copy, ids, stamp)
    }

    fn empty_log(&self) -> Result<bool> {
        self.empty_whole_log()
    }

    fn free_space(&self, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.read_free_space(each)
    }

    fn compact(&self) -> Result<()> {
        self.write_anew()
    }

    fn cache_vectors(&self, vectors: &[(String, NewVector)], most: usize, stamp: Stamp<'_>) -> Result<()> {
        self.write_cache(vectors, most, stamp)
    }

    fn give(&self, session: &str, given: &[Given], now: Timestamp, keep_after: Timestamp) -> Result<()> {
        self.write_given(session, given, now, keep_after)
    }

    fn lose_given(&self, session: &str) -> Result<()> {
        self.write_lost(session)
    }

    fn given(&self, session: &str) -> Result<Vec<Given>> {
        self.read_given(session)
    }

    fn drop_tail(&self, text: Change, every: Change) -> Result<()> {
        self.delete_tail(text, every)
    }

    fn drop_codes(&self, model: &str, upto: Change) -> Result<()> {
        self.delete_codes(model, upto)
    }

    fn items(&self, rows: &[RowId]) -> Result<Vec<Option<Item>>> {
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

    fn rows_by_id(&self, prefix: &str, visibility: &Visibility, most: usize) -> Result<Vec<(RowId, String)>> {
        self.read_rows_by_id(prefix, visibility, most)
    }

    fn select(&self, selection: &Selection) -> Result<Option<Arc<RowSet>>> {
        self.selected_rows(selection)
    }

    fn hidden(&self, clocks: Clocks) -> Result<RowSet> {
        self.read_hidden(clocks)
    }

    fn page(&self, selection: &Selection, limit: usize, offset: usize) -> Result<(Vec<RowId>, usize)> {
        let condition = select::condition(selection);
        self.read("list the items", |connection| {
            let total = connection
                .prepare(&format!("SELECT count(*) FROM items i WHERE {}", condition.sql))?
                .query_row(params_from_iter(&condition.values), |row| row.get(0))?;
            let mut statement = connection.prepare(&format!(
                "SELECT i.row FROM items i WHERE {} ORDER BY i.create_time DESC, i.row DESC LIMIT {limit} OFFSET {offset}",
                condition.sql
            ))?;
            let rows = statement.query_map(params_from_iter(&condition.values), first)?;
            Ok((rows.collect::<rusqlite::Result<_>>()?, total))
        })
    }

    fn dated_texts(&self, rows: &[RowId], most: usize) -> Result<Vec<Option<DatedText>>> {
        self.read_dated_texts(rows, most)
    }

    fn documents(&self, collection: &str) -> Result<Vec<KnownDocument>> {
        self.read("read the documents", |connection| {
            connection
                .prepare_cached(
                    "SELECT id, path, hash, recipe FROM documents WHERE collection = ?1 ORDER BY path",
                )?
                .query_map([collection], read_known)?
                .collect()
        })
    }

    fn documents_at(&self, place: &Place, paths: &[&str]) -> Result<Vec<Option<KnownDocument>>> {
        self.read_documents_at(place, paths)
    }

    fn chunks(&self, document: &str) -> Result<Vec<(String, RowId)>> {
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

    fn documents_of(&self, rows: &[RowId]) -> Result<Vec<Option<String>>> {
        self.read("read the documents of items", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT d.path FROM items i JOIN documents d ON d.row = i.document WHERE i.row = ?1",
            )?;
            rows.iter().map(|row| statement.query_row([row.0], |row| row.get(0)).optional()).collect()
        })
    }

    fn facts(&self, rows: &[RowId]) -> Result<Vec<Option<Facts>>> {
        self.find_facts(rows)
    }

    fn tags(&self, beginnings: &[String]) -> Result<Vec<String>> {
        self.find_tags(beginnings)
    }

    fn tag_counts(&self, tags: &[String]) -> Result<Vec<u64>> {
        self.find_tag_counts(tags)
    }

    fn tagged(&self, tag: &str, each: &mut dyn FnMut(RowId) -> bool) -> Result<()> {
        self.find_tagged(tag, each)
    }

    fn newest_row(&self) -> Result<Option<RowId>> {
        self.find_newest_row()
    }

    fn paths(&self, each: &mut dyn FnMut(DocumentRow, &str)) -> Result<usize> {
        self.find_paths(each)
    }

    fn document_rows(&self, documents: &[DocumentRow], most: usize) -> Result<Vec<Vec<RowId>>> {
        self.find_document_rows(documents, most)
    }

    fn passages(&self, document: DocumentRow) -> Result<Vec<Passage>> {
        self.find_passages(document)
    }

    fn around(&self, row: RowId, reach: u32) -> Result<Vec<(u32, RowId)>> {
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

    fn gone(&self, after: Change, upto: Change) -> Result<RowSet> {
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

    fn text_rows(&self, after: Change, upto: Change) -> Result<Vec<RowId>> {
        self.read("read the changes", |connection| {
            row_ids(
                connection
                    .prepare_cached("SELECT row FROM items WHERE text_change > ?1 AND text_change <= ?2")?
                    .query_map([after.0, upto.0], first)?,
            )
        })
    }

    fn texts(&self, rows: &[RowId]) -> Result<Vec<IndexedText>> {
        self.read_texts(rows)
    }

    fn tail_terms(&self, rows: &[RowId]) -> Result<Vec<KeptTerms>> {
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

    fn parents(&self, rows: &[RowId]) -> Result<Vec<u64>> {
        self.read("read what the items are parts of", |connection| {
            let mut statement = connection
                .prepare_cached("SELECT document, source_conv_id, collection FROM items WHERE row = ?1")?;
            let parent = |row: &RowId| statement.query_row([row.0], read_parent).optional();
            rows.iter().map(parent).map(|found| Ok(found?.unwrap_or(0))).collect()
        })
    }

    fn tail_texts(&self, after: Change, each: &mut dyn FnMut(RowId, TailText<'_>)) -> Result<usize> {
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
                    Some(terms) => each(id, TailText::Terms(terms)),
                    None => each(id, TailText::Text(indexed.query_row([id.0], read_indexed)?)),
                }
                count += 1;
            }
            Ok(count)
        })
    }

    fn vector_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>> {
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

    fn tail_vectors(&self, model: &str, after: Change, each: &mut dyn FnMut(RowId, &[u8])) -> Result<usize> {
        self.read_tail_vectors(model, after, each)
    }

    fn vectors(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_vectors(model, rows)
    }

    fn unembedded(&self, model: &str, most: usize) -> Result<Vec<RowId>> {
        self.read("look for items without a vector", |connection| {
            // Each item has one vector at most, so as many vectors as items, all of one model, leave none without. Looking
            // at each item instead takes 50 ms for 100,000.
            let all_have_one: bool = connection
                .prepare_cached(
                    "SELECT (SELECT count(*) FROM items) = (SELECT count(*) FROM vectors)
                     AND NOT EXISTS (SELECT 1 FROM vectors WHERE model < m.row)
                     AND NOT EXISTS (SELECT 1 FROM vectors WHERE model > m.row) FROM models m WHERE m.name = ?1",
                )?
                .query_row([model], |row| row.get(0))
                .optional()?
                .unwrap_or(false);
            if all_have_one {
                return Ok(Vec::new());
            }
            connection
                .prepare_cached(
                    "SELECT i.row FROM items i LEFT JOIN vectors v ON v.row = i.row
                     WHERE v.row IS NULL OR v.model IS NOT (SELECT row FROM models WHERE name = ?1) ORDER BY i.row LIMIT ?2",
                )?
                .query_map(params![model, most], first)?
                .collect()
        })
    }

    fn cached_vector(&self, model: &str, text: &str) -> Result<Option<NewVector>> {
        self.read_cached_vector(model, text)
    }

    fn code_rows(&self, model: &str, after: Change, upto: Change) -> Result<Vec<RowId>> {
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

    fn codes(&self, model: &str, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_codes(model, rows)
    }

    fn events(&self, subject: &str) -> Result<Vec<Event>> {
        self.read("read the history", |connection| {
            connection
                .prepare_cached(
                    "SELECT event, change, time, action, subject, actor, detail FROM events WHERE subject = ?1 ORDER BY event",
                )?
                .query_map([subject], |row| {
                    Ok(Event {
                        event: row.get::<_, i64>(0)?.unsigned_abs(),
                        change: row.get::<_, i64>(1)?.unsigned_abs(),
                        time: timestamp(row.get(2)?)?,
                        action: row.get(3)?,
                        subject: row.get(4)?,
                        actor: row.get(5)?,
                        detail: json_field(&row.get::<_, String>(6)?)?,
                    })
                })?
                .collect()
        })
    }

    fn changes(
        &self,
        visibility: &Visibility,
        after: Change,
        most: usize,
    ) -> Result<(Vec<StoreChange>, Change)> {
        self.read_changes(visibility, after, most)
    }

    fn document_page(&self, select: &Selection, limit: usize, offset: usize) -> Result<Documents> {
        self.read_documents(select, limit, offset)
    }

    fn counts(&self) -> Result<Counts> {
        // A store that cannot be written keeps the schema that it has.
        let from = if self.schema >= schema::KEEPS_COUNTS { "SELECT * FROM counts" } else { schema::COUNTED };
        self.read("count the items", |connection| read_counts(connection, from))
    }

    fn embedded(&self, model: &str) -> Result<u64> {
        self.read("count the vectors", |connection| {
            connection
                .prepare_cached(
                    "SELECT count(*) FROM vectors WHERE model = (SELECT row FROM models WHERE name = ?1)",
                )?
                .query_row([model], |row| row.get(0))
        })
    }

    fn checkpoint(&self) -> Result<()> {
        if self.is_read_only() {
            return Ok(());
        }
        let reader = self.reader()?;
        // Readers of older pages make this do less than it could; the next one does the rest.
        empty_log(&reader).map_err(|source| self.failed("empty the log", source))
    }

    fn trim_log(&self) -> Result<()> {
        let log = self.path().with_extension("db-wal");
        let is_long = std::fs::metadata(log).is_ok_and(|log| log.len() >= LOG_BYTES);
        if self.is_read_only() || !is_long {
            return Ok(());
        }
        let reader = self.reader()?;
        let trimmed = reader.busy_timeout(Duration::ZERO).and_then(|()| empty_log(&reader));
        let waits = reader.busy_timeout(self.busy_timeout());
        trimmed
            .and(waits)
            .or_else(|error| if is_busy(&error) { Ok(()) } else { Err(self.failed("empty the log", error)) })
    }

    fn backup(&self, to: &Path) -> Result<StoreCopy> {
        self.copy_to(to)
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(["db", "db-wal"]
            .iter()
            .filter_map(|extension| std::fs::metadata(self.path().with_extension(extension)).ok())
            .map(|file| file.len())
            .sum())
    }

    fn verify(&self) -> Result<Vec<String>> {
        self.read_findings()
    }

    fn losses(&self) -> Result<Vec<Loss>> {
        self.read_losses()
    }

    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64> {
        self.write_accepted(stamp)
    }

    fn damage(&self) -> usize {
        lock(&self.damaged).len()
    }
}
