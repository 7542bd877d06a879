//! The embedded store: one SQLite file in WAL mode.
//! A reader never waits, a writer waits for its turn, and no caller sees a lock.

mod aliases;
mod backup;
mod beside;
mod cache;
mod chains;
mod checksums;
mod clocks;
mod columns;
mod condition;
mod desk;
mod documents;
mod events;
mod export;
mod feed;
mod filter;
pub mod foreign;
mod forget;
mod half_vectors;
mod head;
mod import;
mod item;
mod items;
mod journal;
mod lifecycle;
mod llm;
mod lookup;
mod loss;
mod memories;
mod pages;
mod pairs;
mod renaming;
mod salvage;
mod schema;
mod select;
mod selection_cache;
mod selections;
mod states;
mod tags;
mod ties;
mod triples;
mod trust;
mod upkeep;

pub use backup::restore;
pub use salvage::salvage;

#[cfg(test)]
pub(super) mod tests;

use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::config::{Settings, Sync};
use crate::error::{Error, Location, Result};
use crate::files;
use crate::item::{Change, Coverage, derive_id};
use crate::request::Loss;
use crate::store::Store;
use events::mark;

/// Length of the log in pages of 4 KiB at which a commit copies it into the file. The next process reads at most this
/// much to index the log (about a millisecond).
const LOG_PAGES: u32 = 400;
/// Size of the log file at that length: each page has a header of 24 bytes there.
const LOG_BYTES: u64 = LOG_PAGES as u64 * (4_096 + 24);

/// Number of chunks from which a transaction is part of a bulk load, with more to follow.
const BULK: usize = 512;
/// Length of the log in pages (16 MB) during a bulk load. Ids are spread over their whole index, so most of its pages
/// change again before the next copy. The indexing run empties the log when it ends.
const BULK_LOG_PAGES: u32 = 4_000;

/// Page cache of a writing connection in KiB, unless the settings allow more.
const WRITING_KIB: u64 = 8 << 10;
/// Number of idle connections that are kept. A question uses two or three, so this serves several at once. Each has an
/// equal share of the page cache.
const AT_REST: usize = 8;
/// Time that a reader waits for a borrowed connection before it opens another. Opening takes about as long (SQLite reads
/// the schema again, 2.7 million instructions), so waiting costs at most twice the better choice. Most loans are far
/// shorter.
const LOAN_WAIT: Duration = Duration::from_micros(600);

/// An opened store file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    identity: String,
    /// The file's schema; the newest, unless the file cannot be written.
    schema: u32,
    settings: Settings,
    read_only: Option<ReadOnly>,
    /// Idle connections. A reader takes one, waits briefly for one, or opens another, so channels can read in parallel.
    idle: Mutex<Vec<Connection>>,
    /// Notified when a connection becomes idle.
    returned: Condvar,
    /// Cached rows of the last selections.
    selected: selection_cache::SelectionCache,
    /// Lock for the one writer of this process. SQLite waits for other processes.
    writing: Mutex<()>,
    /// The head: the last change, stored beside the file.
    head: Mutex<head::HeadFile>,
    /// The loss of a store that cannot be written, and so cannot record it itself.
    missing: Option<Loss>,
    /// Time when it was opened.
    opened: Timestamp,
    /// Rows whose text or vector was read and is not as it was written.
    damaged: Mutex<BTreeSet<(&'static str, u32)>>,
}

/// The reason why a store was opened for reading only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOnly {
    /// The file cannot be written, but its folder can.
    File,
    /// Nothing in the folder can be written and there is no log, so the file cannot change while it is read.
    Immutable,
    /// The disk is full. Not even the log's index can be created, so no other process has the log open either. One
    /// question can still be answered; a caller that stays longer opens the store again.
    Full,
}

/// A borrowed connection; it becomes idle again when dropped.
struct Reader<'a> {
    store: &'a SqliteStore,
    connection: Option<Connection>,
}

impl std::ops::Deref for Reader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("the connection leaves only in drop")
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let mut idle = lock(&self.store.idle);
            if idle.len() < AT_REST {
                idle.push(connection);
                self.store.returned.notify_one();
            }
        }
    }
}

impl SqliteStore {
    /// Opens the store at `path`. Creates it and its folder if needed, and migrates an older schema.
    ///
    /// A store that cannot be written is opened for reading; its writes then fail with [`Error::ReadOnly`].
    pub fn open(path: &Path, settings: &Settings, now: Timestamp) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        if !path.exists() {
            files::create_folder(folder).map_err(|source| Error::io("create the folder", folder, source))?;
            // SQLite would create the file, and later the log, with the mode of the umask. If creation fails here, SQLite
            // reports why.
            let _ = files::create_new(path);
        }
        let mut store = Self::unopened(path, settings, now);
        // The head is read before the store: a change that is committed in between is not missing.
        let heads = store.read_heads();
        if let Some(head) = heads.newest().filter(|head| head.change.0 > 0)
            && std::fs::metadata(path).map_or(0, |file| file.len()) == 0
        {
            // SQLite removes the log of an empty file.
            store.keep_aside(head)?;
        }
        let mut connection = match store.connect().and_then(|connection| store.prepare(connection, now)) {
            Err(Error::ReadOnly { .. }) if path.exists() => {
                store.read_only = Some(store.read_only_mode());
                let connection = store.connect()?;
                store.schema = store.check_schema(&connection)?;
                connection
            }
            Err(Error::DiskFull { .. }) if store.is_settled() => {
                store.read_only = Some(ReadOnly::Full);
                let connection = store.connect()?;
                // A store whose creation was cut short has no tables to read.
                store.schema = store.check_schema(&connection)?;
                if store.schema == 0 {
                    return Err(Error::DiskFull { at: store.path.into() });
                }
                connection
            }
            other => other?,
        };
        store.look_for_losses(&mut connection, &heads)?;
        store.identity = store.read_identity(&connection)?;
        lock(&store.idle).push(connection);
        Ok(store)
    }

    /// Opens a store anywhere for reading only: no file is created beside it.
    fn reading(path: &Path, settings: &Settings) -> Result<Self> {
        let mut store = Self::unopened(path, settings, Timestamp::UNIX_EPOCH);
        store.read_only = Some(store.read_only_mode());
        let connection = store.connect()?;
        store.schema = store.check_schema(&connection)?;
        if store.schema == 0 {
            return Err(Error::NotAStore { at: store.path.into(), reason: "it is empty".to_owned() });
        }
        store.identity = store.read_identity(&connection)?;
        lock(&store.idle).push(connection);
        Ok(store)
    }

    fn unopened(path: &Path, settings: &Settings, now: Timestamp) -> Self {
        Self {
            path: path.to_path_buf(),
            identity: String::new(),
            schema: schema::NEWEST,
            settings: settings.clone(),
            read_only: None,
            idle: Mutex::new(Vec::new()),
            selected: selection_cache::SelectionCache::default(),
            writing: Mutex::new(()),
            returned: Condvar::new(),
            head: Mutex::new(head::HeadFile::of(path)),
            missing: None,
            opened: now,
            damaged: Mutex::default(),
        }
    }

    fn read_identity(&self, connection: &Connection) -> Result<String> {
        connection
            .query_row("SELECT identity FROM store", [], |row| row.get(0))
            .map_err(|source| self.failed("read the identity", source))
    }

    fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Returns the path of the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read_only_mode(&self) -> ReadOnly {
        if self.has_log() { ReadOnly::File } else { ReadOnly::Immutable }
    }

    /// Whether the log beside the file is not empty.
    fn has_log(&self) -> bool {
        std::fs::metadata(self.path.with_extension("db-wal")).is_ok_and(|log| log.len() > 0)
    }

    /// Whether the file is not empty and there is no log: all data is in the file itself.
    fn is_settled(&self) -> bool {
        !self.has_log() && std::fs::metadata(&self.path).is_ok_and(|file| file.len() > 0)
    }

    /// Returns how long a statement waits for another process's lock.
    fn busy_timeout(&self) -> Duration {
        Duration::from_millis(self.settings.busy_timeout_ms)
    }

    /// Returns the page cache of all idle connections together, in KiB.
    fn cache_kib(&self) -> u64 {
        self.settings.cache_mb * 1_024
    }

    /// Opens a connection with this store's pragmas. Reads only the file's header.
    ///
    /// Deleted content is overwritten with zeros at once (`secure_delete`). A text that is forgotten later has left its
    /// terms and older chunks in pages that nothing writes any more. Their place is only known at deletion.
    ///
    /// The file is read, not memory-mapped. Each connection would map it again, with 64 KiB around each page that it
    /// touches. After a thousand questions all of the file would be resident once per connection. A question reads about
    /// 110 pages, .1 ms in all.
    fn connect(&self) -> Result<Connection> {
        let failed = |source| self.failed("open the store", source);
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = match self.read_only {
            None => Connection::open_with_flags(
                &self.path,
                flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            ),
            Some(ReadOnly::File) => {
                Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)
            }
            Some(ReadOnly::Immutable | ReadOnly::Full) => {
                let uri = format!("file:{}?immutable=1", percent_encode(&self.path));
                Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)
            }
        }
        .map_err(failed)?;
        connection.busy_timeout(self.busy_timeout()).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        // By default, closing the last connection copies the log into the file and waits for the disk four times. That
        // took 45 ms of a 60 ms process on a busy disk. Here the log stays, and `Upkeep::tidy` empties it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
        // Otherwise SQLite plans a statement again whenever a value is bound that its plan could depend on: at every
        // question.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
        let synchronous = match self.settings.sync {
            Sync::Normal => "NORMAL",
            Sync::Full => "FULL",
        };
        connection
            .execute_batch(&format!(
                "PRAGMA synchronous = {synchronous}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;
                 PRAGMA secure_delete = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -{};
                 PRAGMA wal_autocheckpoint = {LOG_PAGES};",
                self.cache_kib() / AT_REST as u64
            ))
            .map_err(failed)?;
        Ok(connection)
    }

    /// Creates the tables, or migrates an older schema.
    fn prepare(&self, mut connection: Connection, now: Timestamp) -> Result<Connection> {
        if self.check_schema(&connection)? == schema::NEWEST {
            return Ok(connection);
        }
        let failed = |source| self.failed("create the store", source);
        self.enter_wal(&connection)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have migrated the store meanwhile: read the number again inside the transaction.
        let from = self.check_schema(&transaction)?;
        let heads = self.read_heads();
        let lost = heads.newest().filter(|head| from == 0 && head.change.0 > 0);
        if let Some(head) = lost {
            // The migration overwrites the log of the store that was here.
            self.keep_aside(head)?;
        }
        for step in &schema::MIGRATIONS[from as usize..] {
            transaction.execute_batch(step).map_err(failed)?;
        }
        if from == 0 {
            let fresh = || fresh_identity(&transaction, &self.path, now);
            let (identity, copy) = match lost {
                Some(head) => (head.identity.clone(), Some(head.copy)),
                None => (fresh().map_err(failed)?, None),
            };
            transaction
                .execute(
                    "INSERT INTO store (one, identity, change, create_time, copy)
                     VALUES (1, ?1, 0, ?2, coalesce(?3, random()))",
                    (identity, now.as_microsecond(), copy),
                )
                .map_err(failed)?;
            transaction.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(failed)?;
        } else if from < schema::KEEPS_PROVENANCE {
            // Provenance must not change unnoticed either, so it is covered by the checksums.
            checksums::seal_all(&transaction).map_err(failed)?;
            if from < schema::KEEPS_CHECKSUMS {
                transaction.execute("UPDATE store SET copy = random()", []).map_err(failed)?;
            }
        }
        transaction.pragma_update(None, "user_version", schema::NEWEST).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        if from == 0 {
            // The base of every later log is now in the file itself, so a damaged log never takes the tables with it.
            empty_log(&connection).map_err(failed)?;
        }
        Ok(connection)
    }

    /// Turns WAL on. This needs the file exclusively and SQLite does not wait for it, so this waits like any other write.
    fn enter_wal(&self, connection: &Connection) -> Result<()> {
        let start = Instant::now();
        loop {
            match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
                Err(source) if is_busy(&source) && !self.waited_out(start) => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                other => return other.map_err(|source| self.failed("create the store", source)),
            }
        }
    }

    /// Returns the file's schema number; 0 for an empty file. Fails if the file is not a store.
    fn check_schema(&self, connection: &Connection) -> Result<u32> {
        let failed = |source| self.failed("open the store", source);
        let pragma =
            |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).map_err(failed);
        let (application, found) = (pragma("application_id")?, pragma("user_version")?);
        if application != schema::APPLICATION_ID {
            let tables: i64 = connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
                .map_err(failed)?;
            if application != 0 || found != 0 || tables != 0 {
                let reason = "it is another program's database".to_owned();
                return Err(Error::NotAStore { at: self.location(), reason });
            }
        }
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if found > schema::NEWEST {
            return Err(Error::NewerSchema { at: self.location(), found, known: schema::NEWEST });
        }
        Ok(found)
    }

    /// Borrows a connection for reading.
    fn reader(&self) -> Result<Reader<'_>> {
        let (mut idle, _) = self
            .returned
            .wait_timeout_while(lock(&self.idle), LOAN_WAIT, |idle| idle.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let at_rest = idle.pop();
        drop(idle);
        let connection = match at_rest {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(Reader { store: self, connection: Some(connection) })
    }

    /// Runs a read in one snapshot on a borrowed connection: its statements agree, and the file is locked once.
    fn read<T>(
        &self,
        doing: &'static str,
        body: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let reader = self.reader()?;
        let snapshot = reader.unchecked_transaction().map_err(|source| self.failed(doing, source))?;
        body(&snapshot).map_err(|source| self.failed(doing, source))
    }

    /// Runs `body` as one write transaction: all of it is stored, or nothing.
    fn write<T>(
        &self,
        doing: &'static str,
        body: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.write_with(LOG_PAGES, doing, body)
    }

    /// Runs a write transaction after which the log may have up to `log_pages` pages.
    fn write_with<T>(
        &self,
        log_pages: u32,
        doing: &'static str,
        body: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        match self.read_only {
            None => {}
            Some(ReadOnly::Full) => return Err(Error::DiskFull { at: self.location() }),
            Some(ReadOnly::File | ReadOnly::Immutable) => {
                return Err(Error::ReadOnly { at: self.location() });
            }
        }
        let _turn = lock(&self.writing);
        let mut reader = self.reader()?;
        let connection = reader.connection.as_mut().expect("a reader on loan has its connection");
        let keep_pages = |connection: &Connection, kib: u64| {
            connection.pragma_update(None, "cache_size", -kib.cast_signed())
        };
        let mut body = Some(body);
        let mut attempt = |connection: &mut Connection| -> rusqlite::Result<Option<(T, Option<head::Head>)>> {
            // With a small cache, a large write would write its pages twice.
            keep_pages(connection, self.cache_kib().max(WRITING_KIB))?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(before) = self.complete_state(&transaction)? else { return Ok(None) };
            let body = body.take().expect("only an attempt without a body is made twice");
            let value = body(&transaction)?;
            let head = Self::next_head(&transaction, &before)?;
            if log_pages == LOG_PAGES {
                transaction.commit()?;
            } else {
                transaction.pragma_update(None, "wal_autocheckpoint", log_pages)?;
                transaction.commit()?;
                connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
            }
            keep_pages(connection, self.cache_kib() / AT_REST as u64)?;
            Ok(Some((value, head)))
        };
        let mut result = attempt(connection);
        if let Ok(None) = result {
            // Acknowledged changes are missing. Settle that first: nothing may overwrite the files that still hold them.
            self.settle_losses(connection)?;
            result = attempt(connection);
        }
        let result = result.and_then(|done| {
            let (value, head) = done.ok_or(rusqlite::Error::InvalidQuery)?;
            if let Some(head) = head {
                self.keep_head(&head);
            }
            Ok(value)
        });
        if result.is_err() {
            // A connection whose write failed is not reused.
            reader.connection = None;
        }
        result.map_err(|source| self.failed(doing, source))
    }

    fn location(&self) -> Location {
        self.path.clone().into()
    }

    fn waited_out(&self, start: Instant) -> bool {
        start.elapsed() > Duration::from_millis(self.settings.busy_timeout_ms)
    }

    /// Converts a SQLite error.
    fn failed(&self, doing: &'static str, source: rusqlite::Error) -> Error {
        let at = self.location();
        // The log's index is created with system calls, so SQLite cannot report why it could not grow.
        if source
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
        {
            return Error::DiskFull { at };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Error::Busy { at, waited_ms: self.settings.busy_timeout_ms }
            }
            Some(ErrorCode::DiskFull) => Error::DiskFull { at },
            Some(ErrorCode::ReadOnly) => Error::ReadOnly { at },
            // In a folder that cannot be written SQLite fails to open its log. A path that cannot exist fails in the same
            // way.
            Some(ErrorCode::CannotOpen) if self.read_only.is_none() && self.path.exists() => {
                Error::ReadOnly { at }
            }
            Some(ErrorCode::NotADatabase) => {
                Error::NotAStore { at, reason: "it is not a database at all".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt) => Error::Corrupt { at, reason: source.to_string() },
            _ => Error::Store { doing, at, source: source.into() },
        }
    }
}

/// Returns the path of the store's file in a home.
pub fn file_in(home: &Path) -> PathBuf {
    home.join("memory.db")
}

impl Store for SqliteStore {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn index_folder(&self) -> &str {
        &self.identity
    }

    fn location(&self) -> Location {
        self.path.as_path().into()
    }

    fn schema(&self) -> u32 {
        schema::NEWEST
    }

    fn coverage(&self) -> Result<Coverage> {
        self.read("read the last change", |connection| {
            let change: Change = connection
                .prepare_cached("SELECT change FROM store")?
                .query_row([], |row| row.get(0))
                .map(Change)?;
            Ok(Coverage {
                store: self.identity.clone(),
                change,
                mark: mark(connection, change)?.unwrap_or(0),
            })
        })
    }

    fn confirms(&self, coverage: &Coverage) -> Result<bool> {
        if coverage.store != self.identity {
            return Ok(false);
        }
        self.read("read a change", |connection| {
            Ok(mark(connection, coverage.change)?.unwrap_or(0) == coverage.mark
                && (coverage.change == Change(0) || coverage.mark != 0))
        })
    }
}

/// Locks a mutex whose holder cannot leave its data half changed, so a poisoned one is used all the same.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Makes an identity that no other store has, from SQLite's randomness (seeded by the system), the path and the time.
fn fresh_identity(connection: &Connection, path: &Path, now: Timestamp) -> rusqlite::Result<String> {
    let random: String = connection.query_row("SELECT hex(randomblob(16))", [], |row| row.get(0))?;
    Ok(derive_id(&[&random, &path.to_string_lossy(), &now.to_string()]))
}

/// Copies the log into the file and truncates it, as far as other readers allow.
fn empty_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Returns the path of the log of a store's file.
fn log_of(path: &Path) -> PathBuf {
    with_end(path, "-wal")
}

/// Appends `end` to a path: the name of a file that belongs to it and lies beside it.
fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Encodes a path for a `file:` URI.
fn percent_encode(path: &Path) -> String {
    use std::fmt::Write;
    path.to_string_lossy().bytes().fold(String::new(), |mut uri, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
        uri
    })
}
