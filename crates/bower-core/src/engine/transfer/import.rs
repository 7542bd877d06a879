//! Imports an export, an edited folder, conversations, or another program's memories.
//! Items keep their times, ids and owners. Conflicts with the store are reported and left out; the same import again changes
//! nothing.

pub(crate) mod batch;
mod brv;
mod folder;
mod foreign;
mod head;
mod lines;
mod relations;
mod talk;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::io::{BufReader, Cursor, Read};
use std::path::Path;
use std::time::Instant;

use crate::engine::timing::milliseconds;
use crate::engine::transfer::import::batch::Import;
use crate::engine::transfer::import::foreign::state::ForeignState;
use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::ingest::{Form, recognise};
use crate::item::{Channel, Visibility};
use crate::request::moving::{ImportProgress, ImportRequest, Imported, MigrateRequest, Migrated};
use crate::request::{CompactWhen, Degraded, IndexProgress};
use crate::store::Stamp;

/// Bytes of a file from which its form is recognised.
const PEEK: u64 = 64 << 10;

impl<'a> Import<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        request: ImportRequest,
        now: Timestamp,
        progress: &'a (dyn Fn(ImportProgress) + Sync),
    ) -> Self {
        let report = Imported { dry_run: request.dry_run, ..Imported::default() };
        Self {
            engine,
            request,
            now,
            progress,
            start: Instant::now(),
            report,
            foreign: ForeignState::default(),
        }
    }

    /// Reads one file in the form that its content shows: an export of a store, or conversations. `name` names the file in
    /// the report. A file that cannot be read is reported and is not fatal; an error comes from the store.
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

    /// Reports a file that could not be opened.
    pub fn unreadable(&mut self, name: &str, reason: &str) {
        self.report.files += 1;
        self.report.error(name, reason);
    }

    /// Embeds new items, compacts what is due, writes the event of the import, and returns the report.
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
        progress(ImportProgress::Compacting);
        engine.compact(CompactWhen::Due)?;
        self.report.took_ms = milliseconds(self.start);
        Ok(self.report)
    }
}

impl Engine {
    /// Begins an import: files are passed to it one after the other, and [`Import::finish`] ends it. Files name the scopes
    /// and owners of their items, so the caller must see the whole store.
    pub fn import<'a>(
        &'a self,
        visibility: &Visibility,
        request: ImportRequest,
        now: Timestamp,
        progress: &'a (dyn Fn(ImportProgress) + Sync),
    ) -> Result<Import<'a>> {
        visibility.check_everything("an import")?;
        Ok(Import::new(self, request, now, progress))
    }

    /// Imports the memories that `brv` keeps below a folder.
    pub fn migrate_from_brv(
        &self,
        visibility: &Visibility,
        path: &Path,
        request: &MigrateRequest,
        now: Timestamp,
    ) -> Result<Migrated> {
        visibility.check_everything("an import")?;
        brv::migrate(self, path, request, now)
    }
}
