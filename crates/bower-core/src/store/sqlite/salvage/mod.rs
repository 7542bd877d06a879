//! Salvage: reads the readable part of a store with damaged files, and writes it into a new store.
//! It does not let `SQLite` open the files. Pages and the log are read directly, and invalid data is skipped and
//! reported.

mod image;
mod log;
mod rows;
mod tree;

use jiff::Timestamp;
use rusqlite::types::Value;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub use image::{Beyond, Image};

use super::SqliteStore;
use super::loss::{is_behind_head, kept_aside};
use crate::config::Settings;
use crate::error::{Error, Missing, Result};
use crate::request::Salvaged;
use crate::store::{Selections, Stamp, Upkeep};

/// File of texts whose item is lost.
const UNPLACED: &str = "unplaced.jsonl";

/// Writes the readable part of a store into a new store in the folder `into`. It reads the store at `path`, and the
/// files copied aside when changes were missing. The old files are not changed.
///
/// Fails with [`Error::Invalid`] if the folder has a store already, and with [`Error::NotFound`] if there is nothing
/// to read.
pub fn salvage(path: &Path, into: &Path, settings: &Settings, now: Timestamp) -> Result<Salvaged> {
    let target = into.join("memory.db");
    if target.exists() {
        let what = format!("salvage into {}", into.display());
        return Err(Error::invalid(what, "there is a store already; name an empty or a new folder"));
    }
    let mut sources = vec![(path.to_path_buf(), super::log_of(path))];
    let kept = kept_aside(path)?;
    sources.extend(kept.into_iter().map(|image| (image, PathBuf::new())));
    let mut images = Vec::new();
    for (database, log) in &sources {
        let log = match std::fs::read(log) {
            Ok(log) => log,
            Err(source) if source.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::io("read", log, source)),
        };
        let read = |beyond| {
            Image::open(database, &log, beyond).map_err(|source| Error::io("read", database, source))
        };
        let mut image = read(Beyond::Leave)?;
        let row = store_row(&mut image).map_err(|source| Error::io("read", database, source))?;
        let row = row.as_ref().map(|(identity, copy, change)| (identity.as_str(), *copy, *change));
        if is_behind_head(database, row) {
            image = read(Beyond::Take)?;
        }
        images.push(image);
    }
    if images.iter().all(|image| image.pages == 0) {
        return Err(Error::NotFound { what: Missing::Path("file"), id: path.display().to_string() });
    }
    let store = SqliteStore::open(&target, settings, now)?;
    let mut saved = rows::Saved::default();
    let stamp = Stamp { now, actor: "bower" };
    store.fill(stamp, |connection| rows::fill(connection, &mut images, &mut saved))?;
    let findings = store.verify()?;
    let counts = store.counts()?;
    let unplaced_file = into.join(UNPLACED);
    if !saved.unplaced.is_empty() {
        write_unplaced(&unplaced_file, &saved.unplaced)
            .map_err(|source| Error::io("write", &unplaced_file, source))?;
    }
    saved.damaged.sort_unstable();
    Ok(Salvaged {
        into: into.to_path_buf(),
        memories: counts.memories,
        chunks: counts.chunks,
        documents: counts.documents,
        damaged: saved.damaged,
        unplaced: saved.unplaced.len(),
        unplaced_file: (!saved.unplaced.is_empty()).then_some(unplaced_file),
        unreadable: saved.unreadable,
        findings,
    })
}

/// Reads the one row of the table `store`: identity, copy number and last change.
fn store_row(image: &mut Image) -> io::Result<Option<(String, i64, u64)>> {
    let mut reader = tree::TableReader::new(image)?;
    let tables = reader.tables()?;
    let Some(table) = tables.iter().find(|table| table.name == "store") else { return Ok(None) };
    let mut found = None;
    reader.rows(table.root, &mut |raw| {
        let [_, Value::Text(identity), Value::Integer(change), _, Value::Integer(copy), ..] = &raw.values[..]
        else {
            return;
        };
        found = Some((identity.clone(), *copy, change.unsigned_abs()));
    })?;
    Ok(found)
}

fn write_unplaced(path: &Path, texts: &[[String; 4]]) -> io::Result<()> {
    let mut out = BufWriter::new(crate::files::create(path)?);
    for [row, summary, section, content] in texts {
        writeln!(
            out,
            "{}",
            json!({ "row": row, "summary": summary, "section": section, "content": content })
        )?;
    }
    out.into_inner()?.sync_all()
}
