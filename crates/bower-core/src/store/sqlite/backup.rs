//! Copies the whole store into one file while others write, and restores it from such a copy.
//! A copy is verified before it replaces anything, and what it replaces is kept beside it.

use jiff::Timestamp;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::schema::KEEPS_CHECKSUMS;
use super::{SqliteStore, with_end};
use crate::config::Settings;
use crate::error::{Error, Missing, Result};
use crate::files;
use crate::request::StoreCopy;
use crate::store::{Selections, Store, Upkeep};

/// Pause between two tries for a lock that another process holds.
const PAUSE: Duration = Duration::from_millis(5);

/// Suffix of a copy while it is made.
pub(super) const PARTIAL: &str = ".partial";

impl SqliteStore {
    pub(super) fn copy_through(&self, partial: &Path, to: &Path) -> Result<StoreCopy> {
        let reader = self.reader()?;
        // SQLite would create the file with the mode of the umask; it also copies into an empty file.
        files::create_new(partial).map_err(|source| Error::io("create", partial, source))?;
        reader
            .execute("VACUUM INTO ?1", [partial.to_string_lossy()])
            .map_err(|source| self.failed("copy the store", source))?;
        if self.schema >= KEEPS_CHECKSUMS {
            // A copy that replaces its store is older, and nothing is missing from it: its new number makes the old head
            // irrelevant.
            Connection::open(partial)
                .and_then(|copy| copy.execute("UPDATE store SET copy = random()", []))
                .map_err(|source| self.failed("copy the store", source))?;
        }
        let copy = Self::open_copy(partial, &self.settings)?;
        let copied = copy.describe()?;
        drop(copy);
        sync(partial)?;
        std::fs::rename(partial, to).map_err(|source| Error::io("rename to", to, source))?;
        sync(to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
        Ok(copied)
    }

    /// Opens a copy for reading, and verifies that it is a whole store.
    fn open_copy(path: &Path, settings: &Settings) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::NotFound { what: Missing::Path("file"), id: path.display().to_string() });
        }
        let copy = Self::reading(path, settings)?;
        let findings = copy.verify()?;
        if !findings.is_empty() {
            return Err(Error::Corrupt { at: path.into(), reason: findings.join("; ") });
        }
        Ok(copy)
    }

    fn describe(&self) -> Result<StoreCopy> {
        let counts = self.counts()?;
        let file = std::fs::metadata(&self.path).map_err(|source| Error::io("read", &self.path, source))?;
        Ok(StoreCopy {
            items: counts.memories + counts.chunks,
            change: self.coverage()?.change.0,
            schema: self.schema,
            bytes: file.len(),
            replaced: None,
        })
    }

    /// Renames the files of an unreadable store. Its head is renamed too, because nothing is missing from the store that
    /// replaces it.
    fn move_aside(path: &Path, aside: &Path) -> Result<()> {
        for end in ["", "-wal", "-head"] {
            let (from, to) = (with_end(path, end), with_end(aside, end));
            match std::fs::rename(&from, &to) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("rename", &from, source));
                }
                Ok(()) | Err(_) => {}
            }
        }
        match std::fs::remove_file(with_end(path, "-shm")) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", path, source))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn replace_by(&self, from: &Path) -> Result<()> {
        let mut reader = self.reader()?;
        let connection = reader.connection.as_mut().expect("a reader on loan has its connection");
        self.copy_over(from, connection)
    }

    /// Overwrites the store with a file, in one transaction.
    pub(super) fn copy_over(&self, from: &Path, connection: &mut Connection) -> Result<()> {
        let failed = |source| self.failed("restore the store", source);
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
        let start = Instant::now();
        let backup = Backup::new(&source, connection).map_err(failed)?;
        loop {
            match backup.step(-1).map_err(failed)? {
                StepResult::Done => break,
                StepResult::More => {}
                StepResult::Busy | StepResult::Locked if !self.waited_out(start) => std::thread::sleep(PAUSE),
                _ => {
                    let at = self.location();
                    return Err(Error::Busy { at, waited_ms: self.settings.busy_timeout_ms });
                }
            }
        }
        Ok(())
    }
}

/// Replaces the store at `path` by a copy, in one transaction that other processes see whole. If the old store is not
/// empty, it is copied beside it first.
pub fn restore(path: &Path, from: &Path, settings: &Settings, now: Timestamp) -> Result<StoreCopy> {
    let copy = SqliteStore::open_copy(from, settings)?;
    let mut copied = copy.describe()?;
    drop(copy);
    let aside = with_end(path, &format!(".replaced-{}", now.as_second()));
    let kept = SqliteStore::open(path, settings, now).and_then(|store| {
        let holds = store.coverage()?.change.0 > 0;
        if holds {
            store.backup(&aside)?;
        }
        Ok((store, holds))
    });
    let (store, replaced) = match kept {
        Err(Error::Corrupt { .. } | Error::Store { .. } | Error::NotAStore { .. }) if path.exists() => {
            // It cannot be copied: its files are kept as they are.
            let broken = with_end(path, &format!(".broken-{}", now.as_second()));
            SqliteStore::move_aside(path, &broken)?;
            (SqliteStore::open(path, settings, now)?, Some(broken))
        }
        other => other.map(|(store, holds)| (store, holds.then_some(aside)))?,
    };
    copied.replaced = replaced;
    store.replace_by(from)?;
    store.note_head()?;
    Ok(copied)
}

/// Returns the paths of the copies that restores kept beside a store.
pub(super) fn replaced(path: &Path) -> Result<Vec<PathBuf>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let start = with_end(path, ".replaced-").file_name().map(|name| name.to_string_lossy().into_owned());
    let is_copy = |name: &str| {
        let time = start.as_deref().and_then(|start| name.strip_prefix(start));
        time.is_some_and(|time| !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let failed = |source| Error::io("list", folder, source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_copy(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Waits until a file or folder is on disk.
fn sync(path: &Path) -> Result<()> {
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| Error::io("write", path, source))
}
