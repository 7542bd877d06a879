//! Reads one item from its row, its text, its tags and its document.

use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};
use std::path::Path;

use super::checksums::{fits, of_text};
use super::columns::{json_field, parse_word, row_id, timestamp};
use super::schema::{KEEPS_LIFE, KEEPS_PROVENANCE};
use crate::error::Error;
use crate::item::{Kind, Provenance, Tier, unit_of};
use crate::request::Item;

/// Selects the columns of an item, in the order in which [`read_item`] reads them.
macro_rules! item {
    ($successor:literal, $checksum:literal, $provenance:literal) => {
        concat!(
            "SELECT i.row, i.id, i.kind, i.collection, i.type, i.importance, i.confidence, i.decay_rate, i.access_count,
 i.create_time, i.access_time, i.scope, i.owner, i.status, i.tier, i.metadata, i.source_conv_id, i.supersedes_id, ",
            $successor,
            ", i.valid_from, i.valid_to, i.source, ",
            $provenance,
            ", t.summary, t.content, t.keywords, t.section, i.first_line, i.last_line,
 d.id, d.path, d.file_name, d.title, d.version, d.metadata, t.key, ",
            $checksum,
            "
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document WHERE i.row = ?1"
        )
    };
}

/// Selects an item of a store with the newest schema.
const ITEM: &str = item!(
    "CASE i.status WHEN 'superseded' THEN (SELECT n.id FROM items n WHERE n.supersedes_id = i.id
 UNION ALL SELECT n.id FROM relations r JOIN items n ON n.row = r.row WHERE r.other = i.row AND r.relation = 'supersedes') END",
    "(SELECT c.text FROM checksums c WHERE c.row = i.row)",
    "coalesce(i.said_by, 'document'), coalesce(i.least_trusted, 'document'), i.reviewed, i.host"
);

/// Selects an item of a store without checksums and provenance that cannot be migrated. Its provenance is the least
/// trusted.
const ITEM_UNCHECKED: &str = item!(
    "CASE i.status WHEN 'superseded' THEN (SELECT n.id FROM items n WHERE n.supersedes_id = i.id
 UNION ALL SELECT n.id FROM relations r JOIN items n ON n.row = r.row WHERE r.other = i.row AND r.relation = 'supersedes') END",
    "NULL",
    "'import', 'import', 0, NULL"
);

/// Selects an item of a store from before chains that cannot be migrated.
const ITEM_ALONE: &str = item!("NULL", "NULL", "'import', 'import', 0, NULL");

/// Returns the statement that selects an item of a store with this schema.
pub(super) fn statement(schema: u32) -> &'static str {
    match schema {
        KEEPS_PROVENANCE.. => ITEM,
        KEEPS_LIFE.. => ITEM_UNCHECKED,
        _ => ITEM_ALONE,
    }
}

/// Positions of the columns row, id, summary, section, key, content and keywords, and of the text's checksum.
const TEXT: [usize; 7] = [0, 1, 26, 29, 38, 27, 28];
const CHECKSUM: usize = 39;

/// Reads the columns of a row one after the other. Access by name compares it with all names, letter by letter: for ten
/// items that took as long as reading them.
struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl Columns<'_> {
    fn take<T: rusqlite::types::FromSql>(&mut self) -> rusqlite::Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    fn word<T: std::str::FromStr<Err = Error>>(&mut self) -> rusqlite::Result<T> {
        parse_word(&self.take::<String>()?)
    }

    fn json<T: serde::de::DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        json_field(&self.take::<String>()?)
    }
}

pub(super) fn read_item(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Item> {
    let sum = of_text(row, TEXT)?;
    let damaged = !fits(row.get(CHECKSUM)?, || sum);
    let mut columns = Columns { row, next: 0 };
    let id = row_id(columns.take()?)?;
    let mut tags = connection.prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?;
    let tags = tags.query_map([id.0], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut item = Item {
        row: id,
        id: columns.take()?,
        kind: columns.word()?,
        collection: columns.take()?,
        memory_type: columns.take::<Option<String>>()?.map(|word| parse_word(&word)).transpose()?,
        importance: columns.take()?,
        confidence: columns.take()?,
        decay_rate: columns.take()?,
        access_count: columns.take::<i64>()?.unsigned_abs(),
        create_time: timestamp(columns.take()?)?,
        access_time: timestamp(columns.take()?)?,
        scope: columns.word()?,
        owner: columns.take()?,
        status: columns.word()?,
        tier: parse_word::<Tier>(&columns.take::<i64>()?.to_string())?,
        metadata: columns.json()?,
        source_conv_id: columns.take()?,
        supersedes_id: columns.take()?,
        superseded_by_id: columns.take()?,
        valid_from: columns.take::<Option<i64>>()?.map(timestamp).transpose()?,
        valid_to: columns.take::<Option<i64>>()?.map(timestamp).transpose()?,
        source: columns.take()?,
        provenance: Provenance {
            said_by: columns.word()?,
            least_trusted: columns.word()?,
            reviewed: columns.take()?,
        },
        host: columns.take()?,
        summary: columns.take()?,
        content: columns.take()?,
        keywords: columns.json()?,
        tags,
        damaged,
    };
    if item.kind == Kind::Chunk {
        complete_chunk(&mut item, &mut columns)?;
    }
    Ok(item)
}

/// Adds the data of its document to a chunk; the next of `columns` is its section.
fn complete_chunk(chunk: &mut Item, columns: &mut Columns<'_>) -> rusqlite::Result<()> {
    let section: Option<String> = columns.take()?;
    let lines: [Option<u32>; 2] = [columns.take()?, columns.take()?];
    let document: Option<String> = columns.take()?;
    let path: Option<String> = columns.take()?;
    let file_name: Option<String> = columns.take()?;
    let title: Option<String> = columns.take()?;
    let version: Option<String> = columns.take()?;
    let fields: Option<String> = columns.take()?;
    let mut metadata: Map<String, Value> = fields.map_or(Ok(Map::new()), |text| json_field(&text))?;
    metadata.append(&mut chunk.metadata);
    let unit = path.as_deref().map_or("line", |path| unit_of(Path::new(path)));
    metadata.insert("path".into(), json!(path));
    metadata.insert("source".into(), json!(path));
    metadata.insert("document".into(), json!(document));
    metadata.insert("file_name".into(), json!(file_name));
    metadata.insert("section_title".into(), json!(section));
    metadata.insert("version".into(), json!(version));
    metadata.insert("chunk_size".into(), json!(chunk.content.chars().count()));
    metadata.insert("lines".into(), json!(lines));
    if unit != "line" {
        metadata.insert("unit".into(), json!(unit));
    }
    chunk.metadata = metadata;
    chunk.summary = title.or(file_name).unwrap_or_default();
    Ok(())
}
