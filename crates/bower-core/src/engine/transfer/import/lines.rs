//! Imports the JSON lines that another store exported; a line that cannot be read is reported and skipped.

use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use crate::engine::ACTOR;
use crate::engine::curate::alias::row_of;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::transfer::import::batch::{BATCH, Import, moved_id, new_item, put_in_place};
use crate::error::Result;
use crate::ingest::{Line, MOST_VALUES, check_values, line_too_long, read_line};
use crate::item::{Anchor, Kind, MOST_ANCHORS, indexed_text};
use crate::prompt::one_line;
use crate::request::moving::ImportProgress;
use crate::store::copies::{
    AliasCopy, DocumentCopy, EventCopy, ExportPiece, FORMAT, ItemCopy, NewPiece, PieceOutcome, RelationCopy,
    ReviewCopy, VectorCopy,
};
use crate::store::{NewVector, Stamp};

/// Bytes of lines after which pieces are written.
const BATCH_BYTES: u64 = 8 << 20;

/// Most bytes of a document's lines: a document is written whole, so it is held whole. One of 10 MB, the default limit of
/// indexing, has some 30 MB with its vectors.
const LARGEST_DOCUMENT: u64 = 64 << 20;

/// State of reading a file.
struct Reading<'i, 'a> {
    import: &'i mut Import<'a>,
    name: String,
    /// Identity of the store that wrote the file.
    from: String,
    /// Id of the document whose chunks follow, and its title.
    document: Option<(String, Option<String>)>,
    /// Ids of items and documents that were not taken: pieces that depend on them are not taken either.
    refused: HashSet<String>,
    /// New ids of items that moved to another owner or scope, by their old ids.
    moved: HashMap<String, String>,
    batch: Vec<(u64, NewPiece)>,
    /// Bytes of the batch's lines.
    batch_bytes: u64,
}

/// Reads a whole file.
pub(crate) fn read(import: &mut Import<'_>, name: &str, mut reader: impl BufRead) -> Result<()> {
    let mut reading = Reading {
        import,
        name: name.to_owned(),
        from: String::new(),
        document: None,
        refused: HashSet::new(),
        moved: HashMap::new(),
        batch: Vec::new(),
        batch_bytes: 0,
    };
    let mut line = Vec::new();
    for number in 1_u64.. {
        match read_line(&mut reader, &mut line) {
            Ok(Line::End) => break,
            Ok(Line::Whole(_)) => {}
            Ok(Line::TooLong(bytes)) => {
                reading.error(number, &line_too_long(bytes));
                continue;
            }
            Err(source) => {
                let reason = format!("cannot be read further: {source}; everything before it was imported");
                reading.error(number, &reason);
                break;
            }
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        if let Err(reason) = check_values(text, MOST_VALUES) {
            reading.error(number, &format!("{reason}; the line was left out"));
            continue;
        }
        match serde_json::from_slice::<ExportPiece>(text) {
            Ok(piece) => {
                if !reading.take(number, text.len() as u64, piece)? {
                    return Ok(());
                }
            }
            Err(error) => {
                let reason = format!("{}; mend the line or export again", one_line(&error.to_string()));
                reading.error(number, &reason);
            }
        }
    }
    reading.write()
}

impl Reading<'_, '_> {
    fn error(&mut self, line: u64, reason: &str) {
        self.import.report.error(format!("{}:{line}", self.name), reason);
    }

    /// Takes one piece; returns false if the rest cannot be understood.
    fn take(&mut self, line: u64, bytes: u64, piece: ExportPiece) -> Result<bool> {
        // A document is written whole, because its hash states that all of it is there. The events of one transaction are
        // written together, as far as memory allows.
        let is_full = self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES;
        let is_whole = !is_chunk(&piece) && (!self.goes_on(&piece) || self.batch_bytes >= LARGEST_DOCUMENT);
        if is_full && is_whole {
            self.write()?;
        }
        self.batch_bytes += bytes;
        if is_chunk(&piece) && self.batch_bytes > LARGEST_DOCUMENT {
            self.leave_out_document(line)?;
        }
        let piece = match piece {
            ExportPiece::Header(header) if header.bower > FORMAT => {
                let found = header.bower;
                self.error(
                    line,
                    &format!(
                        "format {found} is newer than {FORMAT}, which this program reads; upgrade bower"
                    ),
                );
                return Ok(false);
            }
            ExportPiece::Header(header) => {
                self.from = header.store;
                return Ok(true);
            }
            ExportPiece::Document(document) => Some(NewPiece::Document(self.document(document))),
            ExportPiece::Item(item) => self.item(line, *item)?,
            ExportPiece::Relation(relation) => {
                let (from, to) = (self.placed(&relation.from), self.placed(&relation.to));
                from.zip(to).map(|(from, to)| NewPiece::Relation(RelationCopy { from, to, ..relation }))
            }
            ExportPiece::Review(review) => {
                let (newer, older) = (self.placed(&review.newer), self.placed(&review.older));
                newer.zip(older).map(|(newer, older)| NewPiece::Review(ReviewCopy { newer, older, ..review }))
            }
            ExportPiece::Event(event) => self.placed(&event.subject).map(|subject| {
                let detail = self.translated(event.detail);
                NewPiece::Event(EventCopy { subject, detail, ..event })
            }),
            ExportPiece::Alias(AliasCopy { name, other, time }) => match row_of(&name, &other, time) {
                Ok(row) => Some(NewPiece::Alias(row)),
                Err(error) => {
                    self.error(line, &error.to_string());
                    None
                }
            },
        };
        self.batch.extend(piece.map(|piece| (line, piece)));
        Ok(true)
    }

    /// Drops the document whose chunks are being read, and writes the pieces before it.
    fn leave_out_document(&mut self, line: u64) -> Result<()> {
        let last = self.batch.iter().rposition(|(_, piece)| matches!(piece, NewPiece::Document(_)));
        let Some((_, NewPiece::Document(document))) = last
            .map(|at| self.batch.split_off(at))
            .and_then(|mut rest| (!rest.is_empty()).then(|| rest.swap_remove(0)))
        else {
            return Ok(());
        };
        self.error(
            line,
            &format!(
                "the document {} is larger than {} MB with its chunks; it was left out: index its file instead",
                document.path,
                LARGEST_DOCUMENT >> 20
            ),
        );
        self.refused.insert(document.id);
        self.write()
    }

    /// Whether an event is of the same transaction as the last one.
    fn goes_on(&self, piece: &ExportPiece) -> bool {
        match (piece, self.batch.last()) {
            (ExportPiece::Event(event), Some((_, NewPiece::Event(last)))) => event.together == last.together,
            (_, _) => false,
        }
    }

    /// Returns the id that an item has here; `None` if it was not taken.
    fn placed(&self, id: &str) -> Option<String> {
        let here = self.moved.get(id).map_or(id, String::as_str);
        (!self.refused.contains(here)).then(|| here.to_owned())
    }

    /// Replaces the ids of moved memories in an event's detail.
    fn translated(&self, mut detail: Value) -> Value {
        if let Value::Object(fields) = &mut detail {
            for value in fields.values_mut() {
                if let Some(id) = value.as_str().and_then(|id| self.moved.get(id)) {
                    *value = json!(id);
                }
            }
        }
        detail
    }

    fn document(&mut self, mut document: DocumentCopy) -> DocumentCopy {
        let request = &self.import.request;
        let told = document.id.clone();
        if request.scope.is_some() || request.owner.is_some() {
            document.id = moved_id(request, &document.id);
            self.moved.insert(told.clone(), document.id.clone());
        }
        self.document = Some((told, document.title.clone()));
        document
    }

    fn item(&mut self, line: u64, mut item: ItemCopy) -> Result<Option<NewPiece>> {
        if let Some(reason) = flaw(&item) {
            self.refused.insert(item.id.clone());
            self.error(line, &reason);
            return Ok(None);
        }
        let mut title = None;
        if let Some(part) = &mut item.part {
            match &self.document {
                Some((id, of)) if *id == part.document => title.clone_from(of),
                Some(_) | None => {
                    self.error(line, "a chunk that does not follow its document; export again");
                    return Ok(None);
                }
            }
            let Some(document) = self.placed(&part.document) else { return Ok(None) };
            part.document = document;
        }
        let told = item.id.clone();
        if put_in_place(&self.import.request, &mut item) {
            self.moved.insert(told, item.id.clone());
        }
        let vector = match item.vector.take().map(|vector| half_floats(&vector)).transpose() {
            Ok(vector) => vector,
            Err(reason) => {
                self.error(line, reason);
                None
            }
        };
        let section = item.part.as_ref().and_then(|part| part.section.as_deref());
        let indexed = match item.kind {
            Kind::Memory => None,
            Kind::Chunk => Some(indexed_text(title.as_deref(), section, &item.content)),
        };
        let id = item.id.clone();
        let clean = match CleanItem::of(self.import.engine, item) {
            Ok(clean) => clean,
            Err(reason) => {
                self.refused.insert(id);
                self.error(line, &reason);
                return Ok(None);
            }
        };
        self.import.report.redacted += u64::from(clean.is_cut);
        let vector = vector.filter(|_| !clean.is_other_text);
        let why = Map::from_iter([("store".to_owned(), json!(self.from))]);
        let mut new = new_item(self.import.engine, clean, indexed.as_deref(), "import", why, false)?;
        new.vector = vector;
        Ok(Some(NewPiece::Item(Box::new(new))))
    }

    fn write(&mut self) -> Result<()> {
        let import = &mut *self.import;
        let dry_run = import.request.dry_run;
        // In a dry run, pieces that depend on others would not find them in the store, so they are not checked.
        let is_alone = |piece: &NewPiece| identity(piece).is_some() || matches!(piece, NewPiece::Alias(_));
        self.batch.retain(|(_, piece)| !dry_run || is_alone(piece));
        if self.batch.is_empty() {
            self.batch_bytes = 0;
            return Ok(());
        }
        let (lines, pieces): (Vec<u64>, Vec<NewPiece>) = self.batch.drain(..).unzip();
        self.batch_bytes = 0;
        let stamp = Stamp { now: import.now, actor: ACTOR };
        let fates = import.engine.store.take_pieces(&pieces, dry_run, stamp)?;
        for ((line, piece), fate) in lines.into_iter().zip(&pieces).zip(fates) {
            let report = &mut import.report;
            if let (PieceOutcome::Added, NewPiece::Alias(_)) = (&fate, piece) {
                report.aliases += 1;
            }
            match (fate, identity(piece)) {
                (PieceOutcome::Added, Some(_)) => report.added += 1,
                (PieceOutcome::Updated, Some(_)) => report.updated += 1,
                (PieceOutcome::Same, Some(_)) => report.unchanged += 1,
                (PieceOutcome::Newer, Some(_)) => report.newer += 1,
                (PieceOutcome::Conflict(why), id) => {
                    let what = id.map_or(String::new(), |id| format!("{id}: "));
                    report.conflict(format!("{}:{line}", self.name), what + &why);
                    self.refused.extend(id.cloned());
                }
                (
                    PieceOutcome::Added | PieceOutcome::Updated | PieceOutcome::Same | PieceOutcome::Newer,
                    None,
                ) => {}
            }
        }
        (import.progress)(ImportProgress::Items(pieces.len() as u64));
        Ok(())
    }
}

/// Returns the id of an item or document; `None` for pieces that depend on others.
fn identity(piece: &NewPiece) -> Option<&String> {
    match piece {
        NewPiece::Document(document) => Some(&document.id),
        NewPiece::Item(new) => Some(&new.item.id),
        NewPiece::Relation(_) | NewPiece::Review(_) | NewPiece::Event(_) | NewPiece::Alias(_) => None,
    }
}

fn is_chunk(piece: &ExportPiece) -> bool {
    matches!(piece, ExportPiece::Item(item) if item.kind == Kind::Chunk)
}

/// Largest count that is accepted. SQLite's integers end at 2^63. A count that grows past that is no integer any more, and
/// nothing could be written to the item again.
const MOST_COUNTED: u64 = 4_294_967_295;

/// Returns what is wrong with an item, which may have been written by hand.
fn flaw(item: &ItemCopy) -> Option<String> {
    let is_id =
        |id: &str| id.len() == 16 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let share = |value: f32| (0.0..=1.0).contains(&value);
    if !is_id(&item.id) {
        Some(format!("the id {:?} is not 16 hex digits in lower case", item.id))
    } else if item.supersedes_id.as_deref().is_some_and(|id| !is_id(id)) {
        Some("supersedes_id is not 16 hex digits in lower case".to_owned())
    } else if !share(item.importance) || !share(item.confidence) {
        Some("importance and confidence are from 0 to 1".to_owned())
    } else if !item.decay_rate.is_finite() || item.decay_rate < 0.0 {
        Some("decay_rate is 0 or more".to_owned())
    } else if counts(item).iter().any(|count| *count > MOST_COUNTED) {
        Some(format!("access_count, observations and times are at most {MOST_COUNTED}"))
    } else if item.kind == Kind::Memory && item.content.trim().is_empty() {
        Some("a memory has a text".to_owned())
    } else if (item.kind == Kind::Chunk) != item.part.is_some() {
        Some("a chunk has a part and a memory has none".to_owned())
    } else if item.kind == Kind::Memory && item.memory_type.is_none() {
        Some("a memory has a type".to_owned())
    } else if let Some(flaw) = item.anchors.iter().find_map(Anchor::flaw) {
        Some(flaw.to_owned())
    } else if item.anchors.len() > MOST_ANCHORS {
        Some(format!("a memory has at most {MOST_ANCHORS} anchors"))
    } else if item.collection.is_empty() {
        Some("the collection is empty".to_owned())
    } else {
        None
    }
}

fn counts(item: &ItemCopy) -> [u64; 3] {
    [item.access_count, item.observations, item.exposed.as_ref().map_or(0, |exposed| exposed.times)]
}

fn half_floats(vector: &VectorCopy) -> Result<NewVector, &'static str> {
    let odd = "the vector is not in hex, four digits a dimension; it is computed again";
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let bytes = vector.half_floats.as_bytes();
    let half: Option<Vec<u8>> =
        bytes.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect();
    let half = half.filter(|half| !half.is_empty() && half.len().is_multiple_of(2)).ok_or(odd)?;
    Ok(NewVector { model: vector.model.clone(), half, tokens: None })
}
