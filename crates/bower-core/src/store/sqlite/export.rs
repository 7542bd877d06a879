//! Exports rows with everything that belongs to them, in one snapshot and one order.
//! A store that imported the result exports the same again.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use std::collections::HashMap;

use super::SqliteStore;
use super::beside::anchors_of;
use super::checksums::is_damaged;
use super::columns::{json_field, parse_word, row_id, timestamp};
use super::half_vectors::half;
use super::schema::KEEPS_ANCHORS;
use super::ties::wordings_of;
use crate::item::{Kind, Provenance, RowId, Status, Tier, hex};
use crate::store::copies::{
    ChunkPlace, DocumentCopy, EventCopy, ExportPiece, Exporter, Exposed, FORMAT, Header, ItemCopy, Pieces,
    RelationCopy, ReviewCopy, VectorCopy,
};

/// Columns of `items` that a copy contains, or that are set anew (`row`, `document`, `text_change`). A test compares this
/// with the table, so that no new column is left out.
#[cfg(test)]
const CARRIED: &[&str] = &[
    "row",
    "id",
    "kind",
    "collection",
    "type",
    "importance",
    "confidence",
    "decay_rate",
    "access_count",
    "observations",
    "create_time",
    "access_time",
    "update_time",
    "valid_from",
    "valid_to",
    "scope",
    "owner",
    "status",
    "tier",
    "metadata",
    "source",
    "source_conv_id",
    "supersedes_id",
    "document",
    "position",
    "first_line",
    "last_line",
    "text_change",
    "slot",
    "hidden_time",
    "said_by",
    "least_trusted",
    "reviewed",
    "host",
];

const COPY: &str = "SELECT i.id, i.kind, i.collection, i.type, i.importance, i.confidence, i.decay_rate, i.access_count,
 i.observations, i.create_time, i.access_time, i.update_time, i.valid_from, i.valid_to, i.scope, i.owner, i.status, i.tier,
 i.metadata, i.source, i.source_conv_id, i.supersedes_id, i.position, i.first_line, i.last_line, i.slot, i.hidden_time,
 t.summary, t.section, t.key, t.content, t.keywords, d.id, e.time, e.times,
 coalesce(i.said_by, 'document'), coalesce(i.least_trusted, 'document'), i.reviewed, i.host
 FROM items i JOIN texts t ON t.row = i.row LEFT JOIN documents d ON d.row = i.document
 LEFT JOIN exposures e ON e.row = i.row WHERE i.row = ?1";

const DOCUMENT: &str =
    "SELECT id, collection, path, file_name, title, version, hash, recipe, bytes, metadata, create_time,
 update_time FROM documents WHERE ";

impl Exporter for SqliteStore {
    fn give_pieces(
        &self,
        rows: &[RowId],
        vectors: bool,
        now: jiff::Timestamp,
        each: &mut dyn FnMut(ExportPiece) -> bool,
    ) -> crate::Result<Pieces> {
        self.read("read the items", |connection| {
            let chosen = Chosen::of(connection, rows)?;
            let relations = relations(connection, &chosen)?;
            let reviews = reviews(connection, &chosen)?;
            let events = events(connection, &chosen)?;
            let counts = Pieces {
                memories: (chosen.memories.len() - chosen.wordings) as u64,
                documents: chosen.documents.len() as u64,
                chunks: (chosen.ids.len() - chosen.memories.len()) as u64,
                relations: relations.len() as u64,
                reviews: reviews.len() as u64,
                events: events.len() as u64,
                aliases: 0,
            };
            let change = connection.query_row("SELECT change FROM store", [], |row| row.get(0))?;
            let store = self.identity.clone();
            let mut go_on =
                each(ExportPiece::Header(Header { bower: FORMAT, store, change, time: now, counts }));
            for &document in &chosen.documents {
                go_on = go_on && each(ExportPiece::Document(document_at(connection, document)?));
                for row in chunks_of(connection, document)? {
                    go_on =
                        go_on && each(ExportPiece::Item(Box::new(self.item_copy(connection, row, vectors)?)));
                }
            }
            for &row in &chosen.memories {
                go_on = go_on && each(ExportPiece::Item(Box::new(self.item_copy(connection, row, vectors)?)));
            }
            go_on = go_on && relations.into_iter().all(|relation| each(ExportPiece::Relation(relation)));
            go_on = go_on && reviews.into_iter().all(|review| each(ExportPiece::Review(review)));
            let (mut together, mut last) = (0, None);
            for event in events {
                let (change, copy) = event_at(connection, event)?;
                together += u64::from(last.replace(change) != Some(change));
                go_on = go_on && each(ExportPiece::Event(EventCopy { together, ..copy }));
            }
            Ok(counts)
        })
    }

    fn copies(&self, rows: &[RowId]) -> crate::Result<Vec<Option<ItemCopy>>> {
        self.read("read the items", |connection| {
            rows.iter().map(|&row| self.item_copy(connection, row, false).optional()).collect()
        })
    }
}

impl SqliteStore {
    /// Returns an item with its anchors. A store of an older schema that is only read has none.
    fn item_copy(&self, connection: &Connection, row: RowId, vectors: bool) -> Result<ItemCopy> {
        let anchors = if self.schema < KEEPS_ANCHORS { Vec::new() } else { anchors_of(connection, row)? };
        Ok(ItemCopy { anchors, ..item_at(connection, row, vectors)? })
    }
}

/// The contents of an export, by row.
struct Chosen {
    /// Memories with their wordings, ascending.
    memories: Vec<RowId>,
    /// Number of wordings among them.
    wordings: usize,
    /// Rows of documents, ascending. A document is exported whole or not at all, because its hash promises that all of it
    /// is there.
    documents: Vec<i64>,
    ids: HashMap<RowId, String>,
}

impl Chosen {
    fn of(connection: &Connection, rows: &[RowId]) -> Result<Self> {
        let mut chosen =
            Self { memories: Vec::new(), wordings: 0, documents: Vec::new(), ids: HashMap::new() };
        let mut find = connection.prepare_cached("SELECT id, document, status FROM items WHERE row = ?1")?;
        let mut look = |row: RowId| {
            let read = |row: &Row<'_>| -> Result<(String, Option<i64>, String)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            };
            find.query_row([row.0], read).optional()
        };
        for &row in rows {
            match look(row)? {
                // A wording goes with its memory, and nowhere without it.
                Some((_, None, status)) if status == Status::Variant.word() => {}
                Some((_, Some(document), _)) => chosen.documents.push(document),
                Some((id, None, _)) => {
                    chosen.memories.push(row);
                    chosen.ids.insert(row, id);
                }
                None => {}
            }
        }
        chosen.memories.sort_unstable();
        chosen.memories.dedup();
        let mut wordings = Vec::new();
        for &memory in &chosen.memories {
            for row in wordings_of(connection, memory)? {
                if let Some((id, _, status)) = look(row)?
                    && status == Status::Variant.word()
                {
                    wordings.push(row);
                    chosen.ids.insert(row, id);
                }
            }
        }
        chosen.wordings = wordings.len();
        chosen.memories.extend(wordings);
        chosen.memories.sort_unstable();
        chosen.documents.sort_unstable();
        chosen.documents.dedup();
        for &document in &chosen.documents {
            for row in chunks_of(connection, document)? {
                let id = connection
                    .prepare_cached("SELECT id FROM items WHERE row = ?1")?
                    .query_row([row.0], |row| row.get(0))?;
                chosen.ids.insert(row, id);
            }
        }
        Ok(chosen)
    }
}

fn chunks_of(connection: &Connection, document: i64) -> Result<Vec<RowId>> {
    connection
        .prepare_cached("SELECT row FROM items WHERE document = ?1 ORDER BY position, id")?
        .query_map([document], |row| row_id(row.get(0)?))?
        .collect()
}

pub(super) fn document_at(connection: &Connection, document: i64) -> Result<DocumentCopy> {
    connection.prepare_cached(&format!("{DOCUMENT} row = ?1"))?.query_row([document], read_document)
}

/// Returns a document by its id, with its row.
pub(super) fn document_of(connection: &Connection, id: &str) -> Result<Option<(i64, DocumentCopy)>> {
    let row: Option<i64> = connection
        .prepare_cached("SELECT row FROM documents WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    row.map(|row| Ok((row, document_at(connection, row)?))).transpose()
}

fn read_document(row: &Row<'_>) -> Result<DocumentCopy> {
    Ok(DocumentCopy {
        id: row.get(0)?,
        collection: row.get(1)?,
        path: row.get(2)?,
        file_name: row.get(3)?,
        title: row.get(4)?,
        version: row.get(5)?,
        hash: row.get(6)?,
        recipe: row.get(7)?,
        bytes: row.get::<_, i64>(8)?.cast_unsigned(),
        metadata: json_field(&row.get::<_, String>(9)?)?,
        create_time: timestamp(row.get(10)?)?,
        update_time: timestamp(row.get(11)?)?,
    })
}

/// Returns an item by its row, without its anchors; fails with `QueryReturnedNoRows` if there is none.
pub(super) fn item_at(connection: &Connection, row: RowId, vectors: bool) -> Result<ItemCopy> {
    let mut item = connection.prepare_cached(COPY)?.query_row([row.0], read_copy)?;
    if is_damaged(connection, row)? {
        // After an import elsewhere it would count as sound.
        let reason =
            format!("the text of item {} is not as it was written: forget it, or salvage the store", item.id);
        return Err(rusqlite::Error::FromSqlConversionFailure(
            30,
            rusqlite::types::Type::Text,
            reason.into(),
        ));
    }
    item.tags = connection
        .prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?
        .query_map([row.0], |row| row.get(0))?
        .collect::<Result<_>>()?;
    if vectors {
        let mut buffer = Vec::new();
        item.vector = connection
            .prepare_cached(
                "SELECT v.vector, m.name FROM vectors v JOIN models m ON m.row = v.model WHERE v.row = ?1
                 ORDER BY v.change DESC, v.model DESC LIMIT 1",
            )?
            .query_row([row.0], |row| {
                let model = row.get(1)?;
                Ok(half(row, 0, &mut buffer)?.map(|half| VectorCopy { model, half_floats: hex(half) }))
            })
            .optional()?
            .flatten();
    }
    Ok(item)
}

fn read_copy(row: &Row<'_>) -> Result<ItemCopy> {
    let time = |column: usize| row.get::<_, Option<i64>>(column)?.map(timestamp).transpose();
    let count = |column: usize| row.get::<_, i64>(column).map(i64::unsigned_abs);
    let kind: Kind = parse_word(&row.get::<_, String>(1)?)?;
    let (position, first, last): (Option<u32>, Option<u32>, Option<u32>) =
        (row.get(22)?, row.get(23)?, row.get(24)?);
    let (section, key) = (row.get(28)?, row.get(29)?);
    let part = row.get::<_, Option<String>>(32)?.map(|document| ChunkPlace {
        document,
        key,
        section,
        position: position.unwrap_or(0),
        lines: (first.unwrap_or(0), last.unwrap_or(0)),
    });
    let exposed = match (time(33)?, row.get::<_, Option<i64>>(34)?) {
        (Some(time), Some(times)) => Some(Exposed { time, times: times.unsigned_abs() }),
        (_, _) => None,
    };
    Ok(ItemCopy {
        id: row.get(0)?,
        kind,
        collection: row.get(2)?,
        memory_type: row.get::<_, Option<String>>(3)?.map(|word| parse_word(&word)).transpose()?,
        importance: row.get(4)?,
        confidence: row.get(5)?,
        decay_rate: row.get(6)?,
        access_count: count(7)?,
        observations: count(8)?,
        create_time: timestamp(row.get(9)?)?,
        access_time: timestamp(row.get(10)?)?,
        update_time: timestamp(row.get(11)?)?,
        valid_from: time(12)?,
        valid_to: time(13)?,
        scope: parse_word(&row.get::<_, String>(14)?)?,
        owner: row.get(15)?,
        status: parse_word(&row.get::<_, String>(16)?)?,
        tier: parse_word::<Tier>(&row.get::<_, i64>(17)?.to_string())?,
        metadata: json_field(&row.get::<_, String>(18)?)?,
        source: row.get(19)?,
        source_conv_id: row.get(20)?,
        supersedes_id: row.get(21)?,
        slot: row.get(25)?,
        hidden_time: time(26)?,
        summary: row.get(27)?,
        content: row.get(30)?,
        keywords: json_field(&row.get::<_, String>(31)?)?,
        tags: Vec::new(),
        anchors: Vec::new(),
        exposed,
        part,
        // For a file it is left out as the default.
        provenance: Some(Provenance {
            said_by: parse_word(&row.get::<_, String>(35)?)?,
            least_trusted: parse_word(&row.get::<_, String>(36)?)?,
            reviewed: row.get(37)?,
        })
        .filter(|provenance| kind == Kind::Memory || *provenance != Provenance::FILE),
        host: row.get(38)?,
        vector: None,
    })
}

/// Returns the relations between the chosen items, in an order that does not depend on row numbers.
fn relations(connection: &Connection, chosen: &Chosen) -> Result<Vec<RelationCopy>> {
    let mut find = connection
        .prepare_cached("SELECT relation, other, strength, create_time FROM relations WHERE row = ?1")?;
    let mut found = Vec::new();
    for (row, id) in &chosen.ids {
        let mut rows = find.query([row.0])?;
        while let Some(row) = rows.next()? {
            let Some(to) = chosen.ids.get(&row_id(row.get(1)?)?) else { continue };
            found.push(RelationCopy {
                from: id.clone(),
                relation: parse_word(&row.get::<_, String>(0)?)?,
                to: to.clone(),
                strength: row.get(2)?,
                create_time: timestamp(row.get(3)?)?,
            });
        }
    }
    found.sort_by(|a, b| (&a.from, a.relation, &a.to).cmp(&(&b.from, b.relation, &b.to)));
    Ok(found)
}

fn reviews(connection: &Connection, chosen: &Chosen) -> Result<Vec<ReviewCopy>> {
    let mut statement = connection.prepare_cached(
        "SELECT review, row, other, reason, create_time, outcome, close_time FROM reviews ORDER BY review",
    )?;
    let (mut rows, mut found) = (statement.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        let sides = (chosen.ids.get(&row_id(row.get(1)?)?), chosen.ids.get(&row_id(row.get(2)?)?));
        let (Some(newer), Some(older)) = sides else { continue };
        found.push(ReviewCopy {
            review: row.get::<_, i64>(0)?.unsigned_abs(),
            newer: newer.clone(),
            older: older.clone(),
            reason: row.get(3)?,
            create_time: timestamp(row.get(4)?)?,
            outcome: row.get::<_, Option<String>>(5)?.map(|word| parse_word(&word)).transpose()?,
            close_time: row.get::<_, Option<i64>>(6)?.map(timestamp).transpose()?,
        });
    }
    Ok(found)
}

/// Returns the numbers of the events of the chosen items and documents. Their import into this store is left out: it is
/// not part of their history elsewhere.
fn events(connection: &Connection, chosen: &Chosen) -> Result<Vec<i64>> {
    let mut find =
        connection.prepare_cached("SELECT event FROM events WHERE subject = ?1 AND action <> 'import'")?;
    let mut numbers = Vec::new();
    let mut add = |id: &str| -> Result<()> {
        for number in find.query_map([id], |row| row.get(0))? {
            numbers.push(number?);
        }
        Ok(())
    };
    for id in chosen.ids.values() {
        add(id)?;
    }
    for &document in &chosen.documents {
        add(&document_at(connection, document)?.id)?;
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns an event with the number of its change.
fn event_at(connection: &Connection, event: i64) -> Result<(i64, EventCopy)> {
    connection
        .prepare_cached("SELECT subject, action, time, actor, detail, change FROM events WHERE event = ?1")?
        .query_row(params![event], |row| {
            let copy = EventCopy {
                together: 0,
                subject: row.get(0)?,
                action: row.get(1)?,
                time: timestamp(row.get(2)?)?,
                actor: row.get(3)?,
                detail: json_field(&row.get::<_, String>(4)?)?,
            };
            Ok((row.get(5)?, copy))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    /// A new column of the table that is not listed would be left out of every export.
    #[test]
    fn no_column_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let now = jiff::Timestamp::from_second(1_700_000_000).unwrap();
        let store = SqliteStore::open(&folder.path().join("memory.db"), &Settings::default(), now).unwrap();
        let columns: Vec<String> = store
            .read("read the columns", |connection| {
                connection
                    .prepare("SELECT name FROM pragma_table_info('items') ORDER BY name")?
                    .query_map([], |row| row.get(0))?
                    .collect()
            })
            .unwrap();
        let mut carried = CARRIED.to_vec();
        carried.sort_unstable();
        assert_eq!(columns, carried);
    }
}
