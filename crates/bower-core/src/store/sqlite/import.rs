//! Imports items into the store as they were elsewhere: with their times, counts, chain and history.
//! A batch is one transaction; a piece that conflicts with the store writes nothing and returns the reason.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use super::SqliteStore;
use super::aliases::import_alias;
use super::beside::{anchors_of, put_anchors, put_delta, put_vector};
use super::checksums::{seal, seal_document};
use super::columns::{author, json_text, row_id};
use super::events::{next_change, record};
use super::export::{document_of, item_at};
use super::memories::LONGEST_CHAIN;
use super::states::{restart, start};
use super::tags::{put_tags, set_tags, shown_tags};
use super::ties::{row_of, tie};
use crate::item::{Change, Kind, Provenance, Relation, RowId, Status};
use crate::store::Stamp;
use crate::store::copies::{
    DocumentCopy, EventCopy, Importer, ItemCopy, NewItem, NewPiece, PieceOutcome, RelationCopy, ReviewCopy,
};

impl Importer for SqliteStore {
    fn take_pieces(
        &self,
        pieces: &[NewPiece],
        dry_run: bool,
        stamp: Stamp<'_>,
    ) -> crate::Result<Vec<PieceOutcome>> {
        let mut fates = None;
        let written = self.write("take in the items", |connection| {
            let batch = Batch {
                connection,
                stamp,
                change: Cell::new(None),
                refused: RefCell::default(),
                together: Cell::new(None),
            };
            fates = Some(pieces.iter().map(|piece| batch.take(piece)).collect::<Result<Vec<_>>>()?);
            // A dry run does everything and is rolled back: it reports what would happen.
            if dry_run { Err(rusqlite::Error::StatementChangedRows(0)) } else { Ok(()) }
        });
        match (written, fates) {
            (Ok(()), Some(fates)) => Ok(fates),
            (Err(_), Some(fates)) if dry_run => Ok(fates),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Ok(Vec::new()),
        }
    }
}

/// One import transaction.
struct Batch<'a> {
    connection: &'a Connection,
    stamp: Stamp<'a>,
    change: Cell<Option<Change>>,
    /// Documents that were not imported; their chunks are left out too.
    refused: RefCell<HashSet<String>>,
    /// The transaction number of the events that are being written.
    together: Cell<Option<u64>>,
}

impl Batch<'_> {
    /// Returns the number of this change. It is taken when the first piece is written, so a batch without news is no
    /// change.
    fn change(&self) -> Result<Change> {
        if let Some(change) = self.change.get() {
            return Ok(change);
        }
        let change = next_change(self.connection)?;
        self.change.set(Some(change));
        Ok(change)
    }

    fn take(&self, piece: &NewPiece) -> Result<PieceOutcome> {
        match piece {
            NewPiece::Document(document) => self.document(document),
            NewPiece::Item(new) => self.item(new),
            NewPiece::Relation(relation) => self.relation(relation),
            NewPiece::Review(review) => self.review(review),
            NewPiece::Event(event) => self.event(event),
            NewPiece::Alias(alias) => {
                let added = import_alias(self.connection, alias, || self.change(), self.stamp)?;
                Ok(if added { PieceOutcome::Added } else { PieceOutcome::Same })
            }
        }
    }

    fn document(&self, document: &DocumentCopy) -> Result<PieceOutcome> {
        if let Some((_, there)) = document_of(self.connection, &document.id)? {
            let same = there.hash == document.hash
                && there.collection == document.collection
                && there.path == document.path
                && there.recipe == document.recipe;
            if same {
                return Ok(PieceOutcome::Same);
            }
            self.refused.borrow_mut().insert(document.id.clone());
            return Ok(PieceOutcome::Conflict("another version of this document is here".to_owned()));
        }
        self.connection
            .prepare_cached(
                "INSERT INTO documents (id, collection, path, file_name, title, version, hash, recipe, bytes, metadata,
                 create_time, update_time) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
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
                document.create_time.as_microsecond(),
                document.update_time.as_microsecond(),
            ])?;
        seal_document(self.connection, self.connection.last_insert_rowid())?;
        let detail = json!({ "path": document.path });
        record(self.connection, self.change()?, self.stamp, "import", Some(&document.id), &detail)?;
        Ok(PieceOutcome::Added)
    }

    fn item(&self, new: &NewItem) -> Result<PieceOutcome> {
        let item = normal(&new.item);
        let document = match &item.part {
            None => None,
            Some(part) => match document_of(self.connection, &part.document)? {
                Some((row, _)) if !self.refused.borrow().contains(&part.document) => Some(row),
                Some(_) | None => {
                    return Ok(PieceOutcome::Conflict("its document was not taken in".to_owned()));
                }
            },
        };
        let Some(row) = row_of(self.connection, &item.id)? else {
            if let Some(why) = self.breaks_a_chain(&item)? {
                return Ok(PieceOutcome::Conflict(why));
            }
            self.insert(new, &item, document)?;
            return Ok(PieceOutcome::Added);
        };
        let anchors = anchors_of(self.connection, row)?;
        let there = normal(&ItemCopy { exposed: None, anchors, ..item_at(self.connection, row, false)? });
        if let Some(why) = stranger(&there, &item) {
            return Ok(PieceOutcome::Conflict(why.to_owned()));
        }
        // A copy that was made before a tag was renamed has the old name.
        let mut shown = ItemCopy { exposed: None, vector: None, ..item.clone() };
        shown.tags = shown_tags(self.connection, &item.tags)?;
        let same = there == shown;
        Ok(match item.update_time.cmp(&there.update_time) {
            _ if same => PieceOutcome::Same,
            std::cmp::Ordering::Less => PieceOutcome::Newer,
            std::cmp::Ordering::Equal => {
                let what = differences(&there, &shown).join(", ");
                PieceOutcome::Conflict(format!("it is here with another {what}, and neither is newer"))
            }
            std::cmp::Ordering::Greater => {
                if let Some(why) = self.breaks_a_chain(&item)? {
                    PieceOutcome::Conflict(why)
                } else {
                    self.update(row, new, &there, &item)?;
                    PieceOutcome::Updated
                }
            }
        })
    }

    /// Returns why this item would break a chain, if it would. Each memory has at most one successor, in its own
    /// namespace. A memory with a successor is superseded.
    fn breaks_a_chain(&self, item: &ItemCopy) -> Result<Option<String>> {
        // An archived memory would come back beside its successor when it is stated again.
        if item.status != Status::Superseded {
            let successor: Option<String> = self
                .connection
                .prepare_cached("SELECT id FROM items WHERE supersedes_id = ?1 LIMIT 1")?
                .query_row([&item.id], |row| row.get(0))
                .optional()?;
            if let Some(successor) = successor {
                return Ok(Some(format!("{successor} replaced it here")));
            }
        }
        let Some(older) = &item.supersedes_id else { return Ok(None) };
        let rival: Option<String> = self
            .connection
            .prepare_cached("SELECT id FROM items WHERE supersedes_id = ?1 AND id <> ?2 LIMIT 1")?
            .query_row([older, &item.id], |row| row.get(0))
            .optional()?;
        if let Some(rival) = rival {
            return Ok(Some(format!("it replaces {older}, which {rival} replaced here")));
        }
        let mut back = Some(older.clone());
        for _ in 0..LONGEST_CHAIN {
            let Some(id) = back else { break };
            if id == item.id {
                return Ok(Some("its chain is a circle".to_owned()));
            }
            back = self
                .connection
                .prepare_cached("SELECT supersedes_id FROM items WHERE id = ?1")?
                .query_row([&id], |row| row.get(0))
                .optional()?
                .flatten();
        }
        let Some(row) = row_of(self.connection, older)? else { return Ok(None) };
        let there = item_at(self.connection, row, false)?;
        Ok(if !is_same_place(&there, item) {
            Some(format!("it replaces {older}, which has another collection, scope or owner here"))
        } else if there.status != Status::Superseded {
            // An archived memory may become active again, and would then stand beside its successor.
            Some(format!("it replaces {older}, which was changed here later and is kept"))
        } else {
            None
        })
    }

    fn insert(&self, new: &NewItem, item: &ItemCopy, document: Option<i64>) -> Result<()> {
        let (connection, change) = (self.connection, self.change()?);
        let (part, provenance) = (item.part.as_ref(), item.provenance());
        connection
            .prepare_cached(
                "INSERT INTO items (id, kind, collection, type, importance, confidence, decay_rate, access_count, observations,
                 create_time, access_time, update_time, valid_from, valid_to, scope, owner, status, tier, metadata, source,
                 source_conv_id, supersedes_id, document, position, first_line, last_line, text_change, slot, hidden_time, said_by,
                 least_trusted, reviewed, host)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                 ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)",
            )?
            .execute(params![
                item.id,
                item.kind.word(),
                item.collection,
                item.memory_type.map(crate::item::MemoryType::word),
                item.importance,
                item.confidence,
                item.decay_rate,
                item.access_count.cast_signed(),
                item.observations.cast_signed(),
                item.create_time.as_microsecond(),
                item.access_time.as_microsecond(),
                item.update_time.as_microsecond(),
                item.valid_from.map(Timestamp::as_microsecond),
                item.valid_to.map(Timestamp::as_microsecond),
                item.scope.word(),
                item.owner,
                item.status.word(),
                item.tier as i64 + 1,
                json_text(&item.metadata)?,
                item.source,
                item.source_conv_id,
                item.supersedes_id,
                document,
                part.map(|part| part.position),
                part.map(|part| part.lines.0),
                part.map(|part| part.lines.1),
                change.0,
                item.slot,
                item.hidden_time.map(Timestamp::as_microsecond),
                author(provenance.said_by),
                author(provenance.least_trusted),
                provenance.reviewed,
                item.host,
            ])?;
        let row = row_id(connection.last_insert_rowid())?;
        connection
            .prepare_cached(
                "INSERT INTO texts (row, summary, section, key, content, keywords) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                row.0,
                item.summary,
                part.and_then(|part| part.section.as_deref()),
                part.and_then(|part| part.key.as_deref()),
                item.content,
                json_text(&item.keywords)?,
            ])?;
        put_anchors(connection, row, &item.anchors)?;
        put_delta(connection, row, change, &new.delta)?;
        put_tags(connection, row, &item.tags)?;
        if let Some(vector) = &new.vector {
            put_vector(connection, row, vector, change)?;
        }
        seal(connection, row)?;
        if let Some(exposed) = item.exposed {
            connection
                .prepare_cached("INSERT INTO exposures (row, time, times) VALUES (?1, ?2, ?3)")?
                .execute(params![row.0, exposed.time.as_microsecond(), exposed.times.cast_signed()])?;
        }
        let mut why = new.why.clone();
        if item.kind == Kind::Memory {
            start(connection, row, &mut why)?;
        }
        record(connection, change, self.stamp, new.action, Some(&item.id), &Value::Object(why))?;
        Ok(())
    }

    /// Replaces the fields of an item; its text, namespace and row stay.
    fn update(&self, row: RowId, new: &NewItem, there: &ItemCopy, item: &ItemCopy) -> Result<()> {
        let (connection, change, provenance) = (self.connection, self.change()?, item.provenance());
        connection
            .prepare_cached(
                "UPDATE items SET type = ?2, importance = ?3, confidence = ?4, decay_rate = ?5, access_count = ?6,
                 observations = ?7, create_time = ?8, access_time = ?9, update_time = ?10, valid_from = ?11, valid_to = ?12,
                 status = ?13, tier = ?14, metadata = ?15, source = ?16, source_conv_id = ?17, supersedes_id = ?18,
                 slot = ?19, hidden_time = ?20, said_by = ?21, least_trusted = ?22, reviewed = ?23, host = ?24 WHERE row = ?1",
            )?
            .execute(params![
                row.0,
                item.memory_type.map(crate::item::MemoryType::word),
                item.importance,
                item.confidence,
                item.decay_rate,
                item.access_count.cast_signed(),
                item.observations.cast_signed(),
                item.create_time.as_microsecond(),
                item.access_time.as_microsecond(),
                item.update_time.as_microsecond(),
                item.valid_from.map(Timestamp::as_microsecond),
                item.valid_to.map(Timestamp::as_microsecond),
                item.status.word(),
                item.tier as i64 + 1,
                json_text(&item.metadata)?,
                item.source,
                item.source_conv_id,
                item.supersedes_id,
                item.slot,
                item.hidden_time.map(Timestamp::as_microsecond),
                author(provenance.said_by),
                author(provenance.least_trusted),
                provenance.reviewed,
                item.host,
            ])?;
        connection
            .prepare_cached("UPDATE texts SET summary = ?2, keywords = ?3 WHERE row = ?1")?
            .execute(params![row.0, item.summary, json_text(&item.keywords)?])?;
        if item.status != Status::Variant {
            connection
                .prepare_cached("DELETE FROM relations WHERE row = ?1 AND relation = 'variant_of'")?
                .execute([row.0])?;
        }
        set_tags(connection, row, &item.tags, change)?;
        put_anchors(connection, row, &item.anchors)?;
        seal(connection, row)?;
        let mut why = new.why.clone();
        why.insert("changed".to_owned(), json!(differences(there, item)));
        restart(connection, row, &mut why)?;
        record(connection, change, self.stamp, new.action, Some(&item.id), &Value::Object(why))?;
        Ok(())
    }

    fn relation(&self, relation: &RelationCopy) -> Result<PieceOutcome> {
        let (from, to) = match self.both(&relation.from, &relation.to)? {
            Ok(rows) => rows,
            Err(why) => return Ok(PieceOutcome::Conflict(why)),
        };
        let added = self
            .connection
            .prepare_cached(
                "INSERT OR IGNORE INTO relations (row, relation, other, strength, create_time) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                from.0,
                relation.relation.word(),
                to.0,
                relation.strength,
                relation.create_time.as_microsecond()
            ])?;
        if added > 0 && relation.relation == Relation::VariantOf {
            // Whoever caches wordings reads the events of their rows.
            let tied =
                tie(self.connection, from, relation.relation.word(), to, f64::from(relation.strength))?;
            let detail = json!({ "tied": [tied] });
            record(self.connection, self.change()?, self.stamp, "import", Some(&relation.from), &detail)?;
        }
        Ok(if added > 0 { PieceOutcome::Added } else { PieceOutcome::Same })
    }

    fn review(&self, review: &ReviewCopy) -> Result<PieceOutcome> {
        let (newer, older) = match self.both(&review.newer, &review.older)? {
            Ok(rows) => rows,
            Err(why) => return Ok(PieceOutcome::Conflict(why)),
        };
        let ended = review.outcome.map(crate::item::Ruling::word);
        let closed = review.close_time.map(Timestamp::as_microsecond);
        let there: Option<(i64, Option<String>)> = self
            .connection
            .prepare_cached(
                "SELECT review, outcome FROM reviews WHERE row = ?1 AND other = ?2 AND create_time = ?3",
            )?
            .query_row(params![newer.0, older.0, review.create_time.as_microsecond()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        if let Some((number, outcome)) = there {
            if outcome.is_some() || ended.is_none() {
                return Ok(PieceOutcome::Same);
            }
            self.connection
                .prepare_cached("UPDATE reviews SET outcome = ?2, close_time = ?3 WHERE review = ?1")?
                .execute(params![number, ended, closed])?;
            return Ok(PieceOutcome::Updated);
        }
        // People refer to a review by its number, so it keeps the number if possible.
        let number = review.review.cast_signed();
        let taken = number < 1
            || self.connection.prepare_cached("SELECT 1 FROM reviews WHERE review = ?1")?.exists([number])?;
        self.connection
            .prepare_cached(
                "INSERT INTO reviews (review, row, other, reason, create_time, outcome, close_time)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                (!taken).then_some(number),
                newer.0,
                older.0,
                review.reason,
                review.create_time.as_microsecond(),
                ended,
                closed
            ])?;
        Ok(PieceOutcome::Added)
    }

    fn event(&self, event: &EventCopy) -> Result<PieceOutcome> {
        let known = self
            .connection
            .prepare_cached(
                "SELECT 1 FROM items WHERE id = ?1 UNION ALL SELECT 1 FROM documents WHERE id = ?1",
            )?
            .exists([&event.subject])?;
        if !known {
            return Ok(PieceOutcome::Conflict(
                "the item that this event names is not in this store".to_owned(),
            ));
        }
        let (time, detail) = (event.time.as_microsecond(), event.detail.to_string());
        let values = params![event.subject, time, event.action, event.actor, detail];
        let there = self
            .connection
            .prepare_cached(
                "SELECT 1 FROM events WHERE subject = ?1 AND time = ?2 AND action = ?3 AND actor = ?4 AND detail = ?5",
            )?
            .exists(values)?;
        if there {
            return Ok(PieceOutcome::Same);
        }
        // One transaction of the source is exactly one change here.
        if self.together.replace(Some(event.together)) != Some(event.together) {
            self.change.set(None);
        }
        let stamp = Stamp { now: event.time, actor: &event.actor };
        record(self.connection, self.change()?, stamp, &event.action, Some(&event.subject), &event.detail)?;
        Ok(PieceOutcome::Added)
    }

    /// Returns the rows of two items of one namespace, or the reason why there are none.
    fn both(&self, one: &str, other: &str) -> Result<Result<(RowId, RowId), String>> {
        let rows = (row_of(self.connection, one)?, row_of(self.connection, other)?);
        let (Some(one), Some(other)) = rows else { return Ok(Err("one side is not here".to_owned())) };
        let of = |row| item_at(self.connection, row, false);
        Ok(if is_same_place(&of(one)?, &of(other)?) {
            Ok((one, other))
        } else {
            Err("its sides are of different collections, scopes or owners".to_owned())
        })
    }
}

/// Returns an item in the store's form: tags sorted, and `hidden_time` set if and only if it is hidden.
fn normal(item: &ItemCopy) -> ItemCopy {
    let mut item = item.clone();
    item.tags.sort_unstable();
    item.tags.dedup();
    let provenance = item.provenance();
    item.provenance = Some(provenance).filter(|one| item.kind == Kind::Memory || *one != Provenance::FILE);
    item.hidden_time = match item.status {
        Status::Candidate | Status::Active => None,
        Status::Superseded | Status::Archived | Status::Variant => {
            Some(item.hidden_time.unwrap_or(item.update_time))
        }
    };
    item
}

fn is_same_place(one: &ItemCopy, other: &ItemCopy) -> bool {
    (&one.collection, one.scope, &one.owner) == (&other.collection, other.scope, &other.owner)
}

/// Returns why an item is not the one that has its id here, if it is not.
fn stranger(there: &ItemCopy, item: &ItemCopy) -> Option<&'static str> {
    if there.kind != item.kind || there.content != item.content {
        Some("another text has this id here")
    } else if !is_same_place(there, item) {
        Some("it has another collection, scope or owner here")
    } else if there.part.as_ref().map(|part| &part.document) != item.part.as_ref().map(|part| &part.document)
    {
        Some("it is a part of another document here")
    } else {
        None
    }
}

/// Returns the names of the fields in which two forms of an item differ.
fn differences(one: &ItemCopy, other: &ItemCopy) -> Vec<&'static str> {
    let bits = |item: &ItemCopy| [item.importance, item.confidence, item.decay_rate].map(f32::to_bits);
    [
        ("type", one.memory_type != other.memory_type),
        ("summary", one.summary != other.summary),
        ("importance", bits(one)[0] != bits(other)[0]),
        ("confidence", bits(one)[1] != bits(other)[1]),
        ("decay_rate", bits(one)[2] != bits(other)[2]),
        ("access_count", one.access_count != other.access_count),
        ("observations", one.observations != other.observations),
        ("create_time", one.create_time != other.create_time),
        ("access_time", one.access_time != other.access_time),
        ("valid_from", one.valid_from != other.valid_from),
        ("valid_to", one.valid_to != other.valid_to),
        ("supersedes_id", one.supersedes_id != other.supersedes_id),
        ("source_conv_id", one.source_conv_id != other.source_conv_id),
        ("slot", one.slot != other.slot),
        ("tags", one.tags != other.tags),
        ("anchors", one.anchors != other.anchors),
        ("keywords", one.keywords != other.keywords),
        ("metadata", one.metadata != other.metadata),
        ("status", one.status != other.status),
        ("tier", one.tier != other.tier),
        ("source", one.source != other.source),
        ("provenance", one.provenance() != other.provenance()),
        ("host", one.host != other.host),
        ("place in its document", one.part != other.part),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}
