//! Checksums of the store's rows: a CRC-32 over the values of each row.
//! The row number is one of the values, so that a flipped bit and two swapped rows are both detected. `SQLite` itself
//! only checks the structure of pages, never their contents.
//!
//! The checksums of items and texts are in a table of their own. Adding them to 100,000 old rows writes three megabytes
//! instead of all texts. Damage to a page hits only one of the two.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use std::collections::BTreeMap;

use super::columns::first;
use super::schema::{KEEPS_CHECKSUMS, KEEPS_VECTORS_BY_MODEL};
use crate::item::RowId;

/// Columns of an item that its checksum covers.
const ITEM: &str = "i.row, i.id, i.kind, i.collection, i.type, i.importance, i.confidence, i.decay_rate, i.access_count,
 i.observations, i.create_time, i.access_time, i.update_time, i.valid_from, i.valid_to, i.scope, i.owner, i.status, i.tier,
 i.metadata, i.source, i.source_conv_id, i.supersedes_id, i.document, i.position, i.first_line, i.last_line, i.text_change,
 i.slot, i.hidden_time, i.said_by, i.least_trusted, i.reviewed, i.host";
/// Number of those columns.
const ITEM_COLUMNS: usize = 34;
/// Columns of its text.
const TEXT: &str = "i.row, i.id, t.summary, t.section, t.key, t.content, t.keywords";
const TEXT_COLUMNS: usize = 7;
/// Columns of a document.
const DOCUMENT: &str = "row, id, collection, path, file_name, title, version, hash, recipe, bytes, metadata, create_time, update_time";
const DOCUMENT_COLUMNS: usize = 13;
/// Reads the columns of document `?1` as they will be after a move: with id `?2`, path `?3`, file name `?4`, version `?5`,
/// and the fields `?6` in its metadata.
pub(super) const MOVED_DOCUMENT: &str = "SELECT row, ?2, collection, ?3, ?4, title, ?5, hash, recipe, bytes, json_patch(metadata, ?6) AS metadata,
 create_time, update_time FROM documents WHERE id = ?1";
/// Columns of an event.
const EVENT: &str = "change, time, action, subject, actor, detail";
const EVENT_COLUMNS: usize = 6;

/// A CRC-32 (IEEE 802.3, as in `zlib`) over values. Each value is one byte for its type, then 8 little-endian bytes of a
/// number. For a text or blob these 8 bytes are its length, and its bytes follow.
#[derive(Clone, Default)]
pub(super) struct Sum(crc32fast::Hasher);

impl Sum {
    fn sort(&mut self, sort: u8) {
        self.0.update(&[sort]);
    }

    pub fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.sort(0),
            ValueRef::Integer(number) => {
                self.sort(1);
                self.0.update(&number.to_le_bytes());
            }
            ValueRef::Real(number) => {
                self.sort(2);
                self.0.update(&number.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) => self.bytes(3, bytes),
            ValueRef::Blob(bytes) => self.bytes(4, bytes),
        }
    }

    fn bytes(&mut self, sort: u8, bytes: &[u8]) {
        self.sort(sort);
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub fn end(self) -> u32 {
        self.0.finalize()
    }

    /// Computes the checksum of given values.
    pub fn of(values: &[ValueRef<'_>]) -> u32 {
        let mut sum = Self::default();
        for value in values {
            sum.add(*value);
        }
        sum.end()
    }

    /// Computes the checksum of `count` columns of a row, starting at `from`.
    fn of_columns(row: &Row<'_>, from: usize, count: usize) -> Result<u32> {
        let mut sum = Self::default();
        for at in from..from + count {
            sum.add(row.get_ref(at)?);
        }
        Ok(sum.end())
    }
}

/// Computes the checksum of a text from its columns row, id, summary, section, key, content and keywords.
pub(super) fn of_text(row: &Row<'_>, columns: [usize; TEXT_COLUMNS]) -> Result<u32> {
    let mut sum = Sum::default();
    for at in columns {
        sum.add(row.get_ref(at)?);
    }
    Ok(sum.end())
}

/// Computes the checksum of a vector in its stored form.
pub(super) fn of_vector(row: RowId, model: i64, kept: &[u8]) -> u32 {
    Sum::of(&[ValueRef::Integer(row.0.into()), ValueRef::Integer(model), ValueRef::Blob(kept)])
}

/// Computes the checksum of terms or token codes that wait for compaction.
pub(super) fn of_waiting(row: RowId, bytes: &[u8]) -> u32 {
    Sum::of(&[ValueRef::Integer(row.0.into()), ValueRef::Blob(bytes)])
}

/// Computes the checksum of a cached question.
pub(super) fn of_cached(key: &[u8], vector: &[u8], tokens: Option<&[u8]>) -> u32 {
    let tokens = tokens.map_or(ValueRef::Null, ValueRef::Blob);
    Sum::of(&[ValueRef::Blob(key), ValueRef::Blob(vector), tokens])
}

/// Computes the checksum of a language model's answer.
pub(super) fn of_answer(key: &[u8], answer: &str) -> u32 {
    Sum::of(&[ValueRef::Blob(key), ValueRef::Text(answer.as_bytes())])
}

/// Computes the checksum of an event.
pub(super) fn of_event(change: u64, time: i64, words: (&str, Option<&str>, &str), detail: &str) -> u32 {
    let (action, subject, actor) = words;
    let subject = subject.map_or(ValueRef::Null, |subject| ValueRef::Text(subject.as_bytes()));
    Sum::of(&[
        ValueRef::Integer(change.cast_signed()),
        ValueRef::Integer(time),
        ValueRef::Text(action.as_bytes()),
        subject,
        ValueRef::Text(actor.as_bytes()),
        ValueRef::Text(detail.as_bytes()),
    ])
}

/// Whether stored data is as it was written. Data without a checksum was written by an older program.
pub(super) fn fits(kept: Option<i64>, is: impl FnOnce() -> u32) -> bool {
    kept.is_none_or(|kept| kept == i64::from(is()))
}

/// Returns the column of a vector's checksum in a statement about `vectors v`: old stores have it elsewhere, or none.
pub(super) fn vector_checksum(schema: u32) -> &'static str {
    match schema {
        KEEPS_VECTORS_BY_MODEL.. => "v.checksum",
        KEEPS_CHECKSUMS.. => "(SELECT c.vector FROM checksums c WHERE c.row = v.row)",
        ..KEEPS_CHECKSUMS => "NULL",
    }
}

/// Computes the checksums of an item and its text.
fn sums(row: &Row<'_>) -> Result<(u32, u32)> {
    let item = Sum::of_columns(row, 0, ITEM_COLUMNS)?;
    Ok((item, Sum::of_columns(row, ITEM_COLUMNS, TEXT_COLUMNS)?))
}

fn select_all() -> String {
    format!("SELECT {ITEM}, {TEXT} FROM items i JOIN texts t ON t.row = i.row")
}

/// Writes the checksums of an item in its present state.
pub(super) fn seal(connection: &Connection, row: RowId) -> Result<()> {
    let sql = format!("{} WHERE i.row = ?1", select_all());
    let (item, text) = connection.prepare_cached(&sql)?.query_row([row.0], sums)?;
    put(connection, row, item, text)
}

fn put(connection: &Connection, row: RowId, item: u32, text: u32) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO checksums (row, text, item) VALUES (?1, ?2, ?3)")?
        .execute(params![row.0, text, item])?;
    Ok(())
}

/// Writes the checksum of an item's fields only.
pub(super) fn seal_fields(connection: &Connection, row: RowId) -> Result<()> {
    let sql = format!("SELECT {ITEM} FROM items i WHERE i.row = ?1");
    let item = connection
        .prepare_cached(&sql)?
        .query_row([row.0], |found| Sum::of_columns(found, 0, ITEM_COLUMNS))
        .optional()?;
    let Some(item) = item else { return Ok(()) };
    connection
        .prepare_cached("UPDATE checksums SET item = ?2 WHERE row = ?1")?
        .execute(params![row.0, item])?;
    Ok(())
}

/// Writes the checksum of a document in its present state.
pub(super) fn seal_document(connection: &Connection, row: i64) -> Result<()> {
    let sql = format!("SELECT {DOCUMENT} FROM documents WHERE row = ?1");
    let sum = connection.prepare_cached(&sql)?.query_row([row], of_document)?;
    connection
        .prepare_cached("UPDATE documents SET checksum = ?2 WHERE row = ?1")?
        .execute(params![row, sum])?;
    Ok(())
}

/// Computes the checksum of a document from its columns, the first of a row.
pub(super) fn of_document(row: &Row<'_>) -> Result<u32> {
    Sum::of_columns(row, 0, DOCUMENT_COLUMNS)
}

/// Writes the checksum of an event in its present state.
pub(super) fn seal_event(connection: &Connection, event: i64) -> Result<()> {
    let sql = format!("SELECT {EVENT} FROM events WHERE event = ?1");
    let sum = connection
        .prepare_cached(&sql)?
        .query_row([event], |found| Sum::of_columns(found, 0, EVENT_COLUMNS))?;
    connection
        .prepare_cached("UPDATE events SET checksum = ?2 WHERE event = ?1")?
        .execute(params![event, sum])?;
    Ok(())
}

/// Writes all checksums as the rows are now, for a store from before checksums, or one put together from parts. Events
/// remain without: there are too many to rewrite, and no answer depends on them.
pub(super) fn seal_all(connection: &Connection) -> Result<()> {
    connection.execute("DELETE FROM checksums", [])?;
    let mut all = connection.prepare(&format!("{} ORDER BY i.row", select_all()))?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let (item, text) = sums(row)?;
        put(connection, first(row)?, item, text)?;
    }
    seal_vectors(connection)?;
    seal_documents(connection)
}

fn seal_vectors(connection: &Connection) -> Result<()> {
    let mut update = connection.prepare("UPDATE vectors SET checksum = ?3 WHERE row = ?1 AND model = ?2")?;
    let mut all = connection.prepare("SELECT row, model, vector FROM vectors")?;
    let mut rows = all.query([])?;
    let mut sums = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, model) = (first(row)?, row.get(1)?);
        sums.push((id, model, of_vector(id, model, row.get_ref(2)?.as_blob()?)));
    }
    sums.into_iter().try_for_each(|(row, model, sum)| update.execute(params![row.0, model, sum]).map(drop))
}

fn seal_documents(connection: &Connection) -> Result<()> {
    let documents: Vec<i64> = connection
        .prepare("SELECT row FROM documents")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_>>()?;
    documents.into_iter().try_for_each(|row| seal_document(connection, row))
}

/// Largest number of findings of one kind that are listed one by one.
const MOST_NAMED: usize = 20;

/// Returns a sentence for each row that is not as it was written, for `doctor`.
pub(super) fn findings(connection: &Connection, schema: u32) -> Result<Vec<String>> {
    let mut found = Findings::default();
    let sql = format!(
        "SELECT {ITEM}, {TEXT}, c.item, c.text, c.row FROM items i JOIN texts t ON t.row = i.row
         LEFT JOIN checksums c ON c.row = i.row"
    );
    let kept = ITEM_COLUMNS + TEXT_COLUMNS;
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (item, text) = sums(row)?;
        let id = String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?).into_owned();
        let kept = |at: usize| row.get::<_, Option<i64>>(kept + at);
        if kept(2)?.is_none() {
            found.add("items", format!("item {id} has no checksum"));
            continue;
        }
        if kept(0)? != Some(item.into()) {
            found.add("items", format!("the fields of item {id} are not as they were written"));
        }
        if kept(1)? != Some(text.into()) {
            found.add("texts", format!("the text of item {id} is not as it was written"));
        }
    }
    let checksum = vector_checksum(schema);
    let mut statement = connection.prepare(&format!(
        "SELECT v.row, v.model, v.vector, {checksum}, i.id FROM vectors v JOIN items i ON i.row = v.row ORDER BY v.row"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (vector, model) = (row.get_ref(2)?.as_blob()?, row.get(1)?);
        if row.get::<_, Option<i64>>(3)? != Some(of_vector(first(row)?, model, vector).into()) {
            let id = String::from_utf8_lossy(row.get_ref(4)?.as_bytes()?).into_owned();
            found.add("vectors", format!("the vector of item {id} is not as it was written"));
        }
    }
    let columns =
        [("documents", "id", DOCUMENT, DOCUMENT_COLUMNS), ("events", "event", EVENT, EVENT_COLUMNS)];
    for (table, name, columns, count) in columns {
        let sql = format!(
            "SELECT {columns}, checksum, CAST({name} AS TEXT) FROM {table} WHERE checksum IS NOT NULL"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let sum = Sum::of_columns(row, 0, count)?;
            if row.get::<_, Option<i64>>(count)? != Some(sum.into()) {
                let what = if table == "documents" { "document" } else { "event" };
                let name = String::from_utf8_lossy(row.get_ref(count + 1)?.as_bytes()?).into_owned();
                found.add(table, format!("{what} {name} is not as it was written"));
            }
        }
    }
    for (table, columns, of) in WAITING {
        // A store that cannot be written keeps its older schema.
        let exists = connection
            .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?
            .exists([table])?;
        if !exists {
            continue;
        }
        let sql = format!("SELECT {columns}, checksum FROM {table} WHERE checksum IS NOT NULL");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut damaged = 0_u64;
        while let Some(row) = rows.next()? {
            let columns = columns.split(',').count();
            let sum = Sum::of_columns(row, 0, columns)?;
            damaged += u64::from(row.get::<_, Option<i64>>(columns)? != Some(sum.into()));
        }
        if damaged > 0 {
            found.add(table, format!("{damaged} {of} do not match their checksums; they are rebuilt"));
        }
    }
    Ok(found.sentences())
}

/// Whether an item's text is not as it was written.
pub(super) fn is_damaged(connection: &Connection, row: RowId) -> Result<bool> {
    let sql = format!(
        "SELECT {TEXT}, c.text FROM items i JOIN texts t ON t.row = i.row JOIN checksums c ON c.row = i.row
         WHERE i.row = ?1"
    );
    let fits = connection
        .prepare_cached(&sql)?
        .query_row([row.0], |found| {
            let sum = Sum::of_columns(found, 0, TEXT_COLUMNS)?;
            Ok(found.get::<_, i64>(TEXT_COLUMNS)? == i64::from(sum))
        })
        .optional()?;
    Ok(fits == Some(false))
}

/// Computes the checksum of a text from its values: summary, section, key, content and keywords.
pub(super) fn of_text_values(row: i64, id: &str, values: [&Value; 5]) -> u32 {
    let mut sum = Sum::default();
    sum.add(ValueRef::Integer(row));
    sum.add(ValueRef::Text(id.as_bytes()));
    for value in values {
        sum.add(value.into());
    }
    sum.end()
}

/// Tables of data that waits for compaction or can be computed again: the columns that the checksum covers, and a name.
const WAITING: &[(&str, &str, &str)] = &[
    ("tail", "row, terms", "lists of terms that wait for the text index"),
    ("token_tail", "row, codes", "token codes that wait for their index"),
    ("mention_tail", "row, mentions", "lists of mentions that wait for the graph index"),
    ("embedding_cache", "key, vector, tokens", "cached questions"),
    ("llm_answers", "key, answer", "answers of language models"),
];

/// Sentences by table, with the number of findings.
#[derive(Default)]
struct Findings(BTreeMap<&'static str, (usize, Vec<String>)>);

impl Findings {
    fn add(&mut self, of: &'static str, sentence: String) {
        let (count, named) = self.0.entry(of).or_default();
        *count += 1;
        if named.len() < MOST_NAMED {
            named.push(sentence);
        }
    }

    fn sentences(self) -> Vec<String> {
        let mut all = Vec::new();
        for (of, (count, mut named)) in self.0 {
            if count > named.len() {
                named.push(format!("{} more {of} are not as they were written", count - named.len()));
            }
            all.append(&mut named);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected by Python: zlib.crc32(b'\x01' + (7).to_bytes(8, 'little') + b'\x03' + (2).to_bytes(8, 'little') + b'ab' + b'\x00'
    // + b'\x02' + struct.pack('<d', .5) + b'\x04' + bytes(8)).
    #[test]
    fn a_sum_is_the_crc_of_its_values() {
        let values = [
            ValueRef::Integer(7),
            ValueRef::Text(b"ab"),
            ValueRef::Null,
            ValueRef::Real(0.5),
            ValueRef::Blob(b""),
        ];
        assert_eq!(Sum::of(&values), 0xA541_B84E);
    }
}
