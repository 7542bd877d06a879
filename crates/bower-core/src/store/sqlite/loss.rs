//! Detects acknowledged changes that are missing, and restores or reports them.
//! The head reveals them when a store is opened, and before each write. The data that the files still hold is copied
//! aside before anything overwrites it. If the log proves its contents, all of it is restored. Otherwise the loss is
//! recorded, and reported until it is accepted.

use rusqlite::{Connection, OpenFlags, Result, TransactionBehavior, params};
use serde_json::json;
use std::path::{Path, PathBuf};

use super::events::{mark, next_change, record};
use super::head::{Head, HeadFile, Heads};
use super::salvage::{Beyond, Image};
use super::schema::KEEPS_CHECKSUMS;
use super::{SqliteStore, empty_log, lock, with_end};
use crate::error::Error;
use crate::item::Change;
use crate::request::Loss;
use crate::store::{Stamp, Upkeep};

/// Suffix of the folder that keeps damaged files, after the name of the store's file.
const ASIDE: &str = "-damaged";
/// Copy of the log as it was found. It is not named `memory.db-wal`: SQLite would apply it to the image beside it, and
/// undo the repair.
const LOG: &str = "damaged-wal";
/// The database with all of the log that could be read.
pub(super) const IMAGE: &str = "memory.db";

/// Author of the events about losses.
const ACTOR: &str = "bower";

/// Returns the folder that keeps a store's damaged files.
pub(super) fn aside_folder(store: &Path) -> PathBuf {
    with_end(store, ASIDE)
}

/// Reads the one row of the table `store`: its head without fingerprint, and the number of losses that are not accepted.
pub(super) fn state(connection: &Connection) -> Result<(Head, u64)> {
    let (identity, copy, change, losses) = connection
        .prepare_cached("SELECT identity, copy, change, open_losses FROM store")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, Change(row.get(2)?), row.get(3)?)))?;
    Ok((Head { identity, copy, change, mark: 0 }, losses))
}

/// Reads the state of a store with the fingerprint of its last change.
fn marked(connection: &Connection) -> Result<Head> {
    let (head, _) = state(connection)?;
    let mark = mark(connection, head.change)?.unwrap_or(0);
    Ok(Head { mark, ..head })
}

/// Returns the head if it names a change that the store lacks, or has with another fingerprint; `None` if nothing is
/// missing.
fn ahead(connection: &Connection, heads: &Heads, store: &Head) -> Result<Option<Head>> {
    let Some(head) = heads.of(store).filter(|head| head.change > Change(0)) else { return Ok(None) };
    let is_ahead =
        head.change > store.change || (head.mark != 0 && mark(connection, head.change)? != Some(head.mark));
    Ok(is_ahead.then(|| head.clone()))
}

/// Returns the first change that a head names and the store lacks. If the store has another change of the head's number,
/// that number.
fn first_missing(store: &Head, head: &Head) -> u64 {
    (store.change.0 + 1).min(head.change.0)
}

impl SqliteStore {
    /// Reads the records of the head's file. An unreadable file counts as empty; `doctor` reports it.
    pub(super) fn read_heads(&self) -> Heads {
        lock(&self.head).read().unwrap_or_default()
    }

    /// Writes the head after a commit. The commit stands even if this fails.
    pub(super) fn keep_head(&self, head: &Head) {
        let synced = self.settings.sync == crate::config::Sync::Full;
        // A head that is behind is harmless; `doctor` reports one that cannot be written.
        let _ = lock(&self.head).write(head, synced);
    }

    /// Returns the head after a transaction, or `None` if it was not a change.
    pub(super) fn next_head(connection: &Connection, before: &Head) -> Result<Option<Head>> {
        let (after, _) = state(connection)?;
        if after.change == before.change {
            return Ok(None);
        }
        marked(connection).map(Some)
    }

    /// Returns the present state, within a transaction; `None` if acknowledged changes are missing, which must be settled
    /// first.
    pub(super) fn complete_state(&self, connection: &Connection) -> Result<Option<Head>> {
        let (store, _) = state(connection)?;
        Ok(ahead(connection, &self.read_heads(), &store)?.is_none().then_some(store))
    }

    /// Looks for missing changes when the store is opened. `heads` were read before the store: a change that is committed
    /// in between is not missing.
    pub(super) fn look_for_losses(
        &mut self,
        connection: &mut Connection,
        heads: &Heads,
    ) -> crate::Result<()> {
        if self.schema < KEEPS_CHECKSUMS {
            return Ok(());
        }
        let failed = |source| self.failed("look for missing changes", source);
        let (store, _) = state(connection).map_err(failed)?;
        let Some(head) = ahead(connection, heads, &store).map_err(failed)? else { return Ok(()) };
        if self.is_read_only() {
            self.missing = Some(Loss {
                first_change: first_missing(&store, &head),
                last_change: head.change.0,
                time: self.opened,
                kept: None,
            });
            return Ok(());
        }
        self.settle_losses(connection)
    }

    /// Copies the files' contents aside, then restores the missing changes if they can be proven, or else records the
    /// loss. No process writes meanwhile: each writer checks the head within its transaction, and ends up here.
    pub(super) fn settle_losses(&self, connection: &mut Connection) -> crate::Result<()> {
        let mut head_file = lock(&self.head);
        let path = head_file.path().to_path_buf();
        let _settling = head_file.lock().map_err(|source| Error::io("lock", &path, source))?;
        let heads = head_file.read().map_err(|source| Error::io("read", &path, source))?;
        let failed = |source| self.failed("settle what is missing", source);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (store, _) = state(&transaction).map_err(failed)?;
        let Some(head) = ahead(&transaction, &heads, &store).map_err(failed)? else {
            // Another process has settled it.
            return Ok(());
        };
        let aside = self.keep_aside(&head)?;
        drop(transaction);
        let mut is_mended = false;
        if let Some(folder) = &aside {
            is_mended = self.mend(connection, &folder.join(IMAGE), &head)?;
            if is_mended {
                remove_folder(folder)?;
                // The folder is empty now, unless something else was kept.
                let _ = std::fs::remove_dir(aside_folder(&self.path));
            }
        }
        let stamp = Stamp { now: self.opened, actor: ACTOR };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let first = first_missing(&store, &head);
        let missing = json!({ "first_change": first, "last_change": head.change.0 });
        let written = (|| {
            if is_mended {
                let change = next_change(&transaction)?;
                record(&transaction, change, stamp, "mend", None, &missing)?;
            } else {
                let name = aside.as_ref().and_then(|folder| folder.file_name()?.to_str());
                transaction.execute(
                    "INSERT INTO losses (first_change, last_change, time, aside) VALUES (?1, ?2, ?3, ?4)",
                    params![first, head.change.0, stamp.now.as_microsecond(), name],
                )?;
                // No acknowledged number is ever used for another change.
                transaction.execute(
                    "UPDATE store SET change = max(change, ?1), open_losses = open_losses + 1",
                    [head.change.0],
                )?;
                let change = next_change(&transaction)?;
                record(&transaction, change, stamp, "loss", None, &missing)?;
            }
            let head = marked(&transaction)?;
            transaction.commit()?;
            Ok(head)
        })()
        .map_err(failed)?;
        head_file.write_locked(&written, true).map_err(|source| Error::io("write", &path, source))
    }

    /// Copies the contents of the store's files, with the log read beyond its damage, into a folder beside them. Returns
    /// the folder, or `None` if the files hold no more than the store shows.
    pub(super) fn keep_aside(&self, head: &Head) -> crate::Result<Option<PathBuf>> {
        let all = aside_folder(&self.path);
        let folder = all.join(format!("{}-{:016x}", head.change.0, head.mark));
        if folder.exists() {
            return Ok(Some(folder));
        }
        let log_path = super::log_of(&self.path);
        let log = match std::fs::read(&log_path) {
            Ok(log) => log,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(Error::io("read", &log_path, source)),
        };
        let mut image = Image::open(&self.path, &log, Beyond::Take)
            .map_err(|source| Error::io("read", &self.path, source))?;
        if !image.holds_more {
            return Ok(None);
        }
        let partial = all.join("partial");
        remove_folder(&partial)?;
        crate::files::create_folder(&partial)
            .map_err(|source| Error::io("create the folder", &partial, source))?;
        let log_copy = partial.join(LOG);
        write_private(&log_copy, &log).map_err(|source| Error::io("write", &log_copy, source))?;
        let to = partial.join(IMAGE);
        if let Some(repaired) = self.repaired(&log, image.alternatives, &to, head)? {
            image = repaired;
        }
        image.write(&to).map_err(|source| Error::io("write", &to, source))?;
        if image.is_exact() {
            // An image may be restored only if every page of it is proven.
            let proof = partial.join("exact");
            write_private(&proof, &[]).map_err(|source| Error::io("write", &proof, source))?;
        }
        std::fs::rename(&partial, &folder).map_err(|source| Error::io("rename to", &folder, source))?;
        Ok(Some(folder))
    }

    /// Looks for the only repair of a frame whose store is sound in every row and ends with the head's change. The other
    /// repairs leave the damage where it is and damage something else.
    fn repaired(
        &self,
        log: &[u8],
        alternatives: usize,
        to: &Path,
        head: &Head,
    ) -> crate::Result<Option<Image>> {
        let open = |choice| {
            Image::choosing(&self.path, log, Beyond::Take, Some(choice))
                .map_err(|source| Error::io("read", &self.path, source))
        };
        let mut found = Vec::new();
        for choice in 0..alternatives {
            open(choice)?.write(to).map_err(|source| Error::io("write", to, source))?;
            let is_sound = Self::reading(to, &self.settings).and_then(|store| {
                let ends = store.read("read the last change", marked)? == *head;
                Ok(ends && store.verify()?.is_empty())
            });
            // An unreadable store is not the one.
            if is_sound.unwrap_or(false) {
                found.push(choice);
            }
            std::fs::remove_file(to).map_err(|source| Error::io("remove", to, source))?;
        }
        if let [choice] = found[..] { open(choice).map(Some) } else { Ok(None) }
    }

    /// Replaces the store by an image if every page of it is proven, it is sound, and it ends with the head's change.
    /// Returns false otherwise.
    fn mend(&self, connection: &mut Connection, image: &Path, head: &Head) -> crate::Result<bool> {
        if !image.with_file_name("exact").exists() {
            return Ok(false);
        }
        let check = || -> Result<bool> {
            let source = Connection::open_with_flags(image, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let sound: String = source.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
            Ok(sound == "ok" && marked(&source)? == *head)
        };
        // An unreadable image proves nothing.
        if !check().unwrap_or(false) {
            return Ok(false);
        }
        self.copy_over(image, connection)?;
        Ok(true)
    }

    /// Writes the head with the store's last change, whatever it holds of another copy.
    pub(super) fn note_head(&self) -> crate::Result<()> {
        let head = self.read("read the last change", marked)?;
        self.keep_head(&head);
        Ok(())
    }

    /// Returns sentences about what is wrong with the head.
    pub(super) fn head_findings(&self) -> Vec<String> {
        let mut head = lock(&self.head);
        let path = head.path().to_path_buf();
        match head.read() {
            Ok(_) => Vec::new(),
            Err(error) => vec![format!(
                "{} cannot be read ({error}): what is missing from a damaged log would not be noticed",
                path.display()
            )],
        }
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = crate::files::create_new(path)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}

pub(super) fn remove_folder(folder: &Path) -> crate::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", folder, source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether the head beside a store names a change that the store lacks. `row` is the identity, copy number and change
/// read from the store's pages; without it everything is missing.
pub(super) fn is_behind_head(store: &Path, row: Option<(&str, i64, u64)>) -> bool {
    let Some((identity, copy, change)) = row else { return true };
    let here = Head { identity: identity.to_owned(), copy, change: Change(change), mark: 0 };
    let heads = HeadFile::of(store).read().unwrap_or_default();
    heads.of(&here).is_some_and(|head| head.change > here.change)
}

/// Returns the databases that were copied aside for a store, newest first.
pub(super) fn kept_aside(store: &Path) -> crate::Result<Vec<PathBuf>> {
    let folder = aside_folder(store);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("read", &folder, source)),
    };
    let change =
        |path: &PathBuf| -> Option<u64> { path.file_name()?.to_str()?.split_once('-')?.0.parse().ok() };
    let mut kept: Vec<(u64, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::io("read", &folder, source))?.path();
        if let Some(change) = change(&path) {
            kept.push((change, path.join(IMAGE)));
        }
    }
    kept.sort_unstable_by(|one, other| other.cmp(one));
    Ok(kept.into_iter().map(|(_, image)| image).collect())
}

impl SqliteStore {
    /// Fills a new store with rows of another, in one transaction, and computes their checksums.
    pub(super) fn fill(
        &self,
        stamp: Stamp<'_>,
        body: impl FnOnce(&Connection) -> Result<()>,
    ) -> crate::Result<()> {
        let failed = |source| self.failed("fill the store", source);
        let mut connection = self.connect()?;
        connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
        let transaction = connection.transaction().map_err(failed)?;
        let filled = (|| {
            body(&transaction)?;
            super::checksums::seal_all(&transaction)?;
            let change = next_change(&transaction)?;
            record(&transaction, change, stamp, "salvage", None, &json!({}))?;
            let head = marked(&transaction)?;
            transaction.commit()?;
            Ok(head)
        })()
        .map_err(failed)?;
        self.keep_head(&filled);
        empty_log(&connection).map_err(failed)
    }
}
