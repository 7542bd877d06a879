//! Into the store: what another store gave away, an edited folder, conversations, another program's files. What comes in keeps
//! its times, ids and owners; what stands against what is there is told and left out; the same again changes nothing.

mod brv;
mod folder;
mod head;
mod lines;
mod talk;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::io::{BufReader, Cursor, Read};
use std::time::Instant;

use super::answer::milliseconds;
use super::late::vector_for;
use super::secrets::CleanItem;
use super::{ACTOR, Engine, LANGUAGE, fold};
use crate::error::Result;
use crate::ingest::{Form, recognise};
use crate::item::{Channel, derive_id};
use crate::request::moving::{ImportProgress, ImportRequest, Imported};
use crate::request::{Degraded, IndexProgress};
use crate::store::Stamp;
use crate::store::copies::{ItemCopy, NewItem};
use crate::text;

pub(super) use brv::migrate;
pub(super) use talk::{SESSIONS, document, stem};

/// Pieces in one transaction: others that write wait some milliseconds.
const BATCH: usize = 256;

/// Bytes in which a file shows what it is.
const PEEK: u64 = 64 << 10;

/// One import, from its first file to its event.
pub struct Import<'a> {
    engine: &'a Engine,
    request: ImportRequest,
    now: Timestamp,
    progress: &'a (dyn Fn(ImportProgress) + Sync),
    start: Instant,
    report: Imported,
}

impl<'a> Import<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        request: ImportRequest,
        now: Timestamp,
        progress: &'a (dyn Fn(ImportProgress) + Sync),
    ) -> Self {
        let report = Imported { dry_run: request.dry_run, ..Imported::default() };
        Self { engine, request, now, progress, start: Instant::now(), report }
    }

    /// Reads one file, whatever its content shows it to be: an export of a store, or conversations. `name` is what it is called
    /// in what is said of it. What it is not able to read is noted, not fatal; an error is of the store.
    pub fn file(&mut self, name: &str, mut reader: impl Read) -> Result<()> {
        self.report.files += 1;
        let mut start = Vec::new();
        if let Err(source) = (&mut reader).take(PEEK).read_to_end(&mut start) {
            self.report.error(name, format!("cannot be read: {source}"));
            return Ok(());
        }
        let form = recognise(&start);
        let reader = BufReader::with_capacity(PEEK as usize, Cursor::new(start).chain(reader));
        match form {
            Form::Pieces => lines::read(self, name, reader),
            Form::Array => talk::array(self, name, reader),
            Form::Objects => talk::objects(self, name, reader),
            Form::Unknown(reason) => {
                self.report.error(name, reason);
                Ok(())
            }
        }
    }

    /// Notes a file that could not be opened.
    pub fn unreadable(&mut self, name: &str, reason: &str) {
        self.report.files += 1;
        self.report.error(name, reason);
    }

    /// Gives vectors to what is new, folds what is due, leaves the event of the whole, and says what came in.
    pub fn finish(mut self) -> Result<Imported> {
        let (engine, progress) = (self.engine, self.progress);
        if self.request.dry_run {
            self.report.took_ms = milliseconds(self.start);
            return Ok(self.report);
        }
        if self.report.is_change() {
            match engine.model.get() {
                Ok(_) => {
                    let made = engine.embed_pending(self.now, &|step| {
                        if let IndexProgress::Committed { chunks } = step {
                            progress(ImportProgress::Vectors(chunks));
                        }
                    })?;
                    self.report.embedded += made;
                }
                Err(state) if self.report.degraded.is_empty() => {
                    let channel = Channel::Vector.into();
                    self.report.degraded.push(Degraded { channel, reason: state.why() });
                }
                Err(_) => {}
            }
            let report = &self.report;
            let detail: Map<String, Value> = [
                ("added", json!(report.added)),
                ("updated", json!(report.updated)),
                ("unchanged", json!(report.unchanged)),
                ("conflicts", json!(report.conflicting)),
                ("errors", json!(report.failed)),
            ]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
            engine.store.note("import", &detail, Stamp { now: self.now, actor: ACTOR })?;
        }
        progress(ImportProgress::Folding);
        engine.fold(fold::When::Due)?;
        self.report.took_ms = milliseconds(self.start);
        Ok(self.report)
    }
}

/// An item on its way in, with what the text channel needs of it. Its vector is made at the end, with all others, unless
/// `embed` says now. `indexed` is what the channels see of it, where that is more than its text.
fn new_item(
    engine: &Engine,
    clean: CleanItem,
    indexed: Option<&str>,
    action: &'static str,
    why: Map<String, Value>,
    embed: bool,
) -> Result<NewItem> {
    let item = clean.item;
    let indexed = indexed.unwrap_or(&item.content);
    let vector = if embed { vector_for(engine, indexed)? } else { None };
    let terms = text::encode_terms(indexed, LANGUAGE);
    Ok(NewItem { item, terms, vector, action, why })
}

/// Puts an item into the place that the request names. One that moves gets another id: two owners who import the same file have
/// two memories. Says whether it moved.
fn put_in_place(request: &ImportRequest, item: &mut ItemCopy) -> bool {
    let scope = request.scope.unwrap_or(item.scope);
    let owner = request.owner.clone().or_else(|| item.owner.clone());
    let moves = scope != item.scope || owner != item.owner;
    if moves {
        (item.scope, item.owner) = (scope, owner);
        item.id = moved_id(request, &item.id);
        item.supersedes_id = item.supersedes_id.as_deref().map(|id| moved_id(request, id));
    }
    moves
}

/// The id that an id has in the place that the request names.
fn moved_id(request: &ImportRequest, id: &str) -> String {
    let scope = request.scope.map_or("", crate::item::Scope::word);
    derive_id(&["moved", id, scope, request.owner.as_deref().unwrap_or("")])
}
