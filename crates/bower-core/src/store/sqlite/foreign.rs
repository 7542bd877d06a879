//! Reads tables of other programs' databases, from a private copy: the original is neither changed nor locked.
//! The schema of such a database is untrusted. Only ordinary tables are read, and a value has a limit.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::{Map, Value};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::files;

/// Most bytes of one value: as much as of one line of an import.
const LARGEST_VALUE: i32 = 32 << 20;

/// Times that a database is copied while its program writes to it.
const COPIES: usize = 3;

/// The files of a database: SQLite finds the last two by these endings. They hold changes that are not in the first yet.
const ENDINGS: [&str; 3] = ["", "-wal", "-journal"];

/// A copy of another program's database, removed in the end.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Option<Connection>,
    folder: PathBuf,
}

impl ForeignDatabase {
    /// Copies a database into a new folder, and opens the copy. The error says why that failed.
    pub fn copy(from: &Path, folder: &Path) -> Result<Self, String> {
        files::create_folder(folder)
            .map_err(|source| format!("cannot create {}: {source}", folder.display()))?;
        // From here on, the folder is removed in any case.
        let mut database = Self { connection: None, folder: folder.to_path_buf() };
        let to = folder.join("copy.db");
        copy_settled(from, &to)?;
        database.connection = Some(open(&to).map_err(reason)?);
        Ok(database)
    }

    /// Whether the database has an ordinary table with these columns.
    pub fn has(&self, table: &str, columns: &[&str]) -> Result<bool, String> {
        let Some(connection) = &self.connection else { return Ok(false) };
        let sql: Option<String> = connection
            .prepare_cached("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1")
            .and_then(|mut found| found.query_row([table], |row| row.get(0)).optional())
            .map_err(reason)?;
        // A virtual table would run code of its module.
        if sql.is_none_or(|sql| sql.to_uppercase().starts_with("CREATE VIRTUAL")) {
            return Ok(false);
        }
        let named = |column: &&str| {
            connection
                .prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?
                .exists([table, *column])
        };
        columns.iter().try_fold(true, |all, column| Ok(all && named(column)?)).map_err(reason)
    }

    /// Reads the rows of a query as objects, until `each` returns false. Bytes that are no text are left out. An error ends
    /// the reading; rows before it were passed.
    pub fn rows(&self, query: &str, each: &mut dyn FnMut(Value) -> bool) -> Result<(), String> {
        let Some(connection) = &self.connection else { return Ok(()) };
        let mut statement = connection.prepare(query).map_err(reason)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(reason)?;
        while let Some(row) = rows.next().map_err(reason)? {
            let mut fields = Map::new();
            for (at, name) in names.iter().enumerate() {
                fields.insert(name.clone(), value(row.get_ref(at).map_err(reason)?));
            }
            if !each(Value::Object(fields)) {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for ForeignDatabase {
    fn drop(&mut self) {
        self.connection = None;
        // The next import makes another folder, so one that cannot be removed harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Opens a copy. Its schema may name functions and views, none of which are run.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    // Changes that are only in the log are read too, so the copy is opened for writing.
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Copies a database and its logs, again if the program wrote to one of them meanwhile.
fn copy_settled(from: &Path, to: &Path) -> Result<(), String> {
    for _ in 0..COPIES {
        let before = state(from);
        for ending in ENDINGS {
            let (from, to) = (with_ending(from, ending), with_ending(to, ending));
            match copy(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !ending.is_empty() => {}
                outcome => outcome.map_err(|source| format!("cannot be copied: {source}"))?,
            }
        }
        if state(from) == before {
            return Ok(());
        }
    }
    Err("its program writes to it all the time; end that program for a moment, and import again".to_owned())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut File::open(from)?, &mut files::create(to)?).map(drop)
}

/// Returns the sizes and times of a database's files.
fn state(path: &Path) -> Vec<Option<(u64, Option<SystemTime>)>> {
    let of = |ending: &&str| {
        let found = std::fs::metadata(with_ending(path, ending)).ok()?;
        Some((found.len(), found.modified().ok()))
    };
    ENDINGS.iter().map(of).collect()
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn value(of: ValueRef<'_>) -> Value {
    match of {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        ValueRef::Real(number) => Value::from(number),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn reason(error: rusqlite::Error) -> String {
    format!("it is no database that can be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_live_database_is_read_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("their.db");
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE notes (id INTEGER, text TEXT, raw BLOB);
                 CREATE VIEW seen AS SELECT * FROM notes;
                 CREATE VIRTUAL TABLE words USING fts5(text);
                 INSERT INTO notes VALUES (1, 'one', x'00ff'), (2, 'two', NULL);
                 BEGIN IMMEDIATE; INSERT INTO notes VALUES (3, 'not yet', NULL);",
            )
            .unwrap();
        let names = |folder: &Path| {
            let mut names: Vec<_> =
                std::fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = (names(folder.path()), state(&path));
        let copy = folder.path().join("copy");
        let database = ForeignDatabase::copy(&path, &copy).unwrap();
        assert!(database.has("notes", &["id", "text"]).unwrap());
        for (table, columns) in
            [("notes", &["other"][..]), ("seen", &[]), ("words", &["text"]), ("none", &[])]
        {
            assert!(!database.has(table, columns).unwrap(), "{table}");
        }
        let mut rows = Vec::new();
        database
            .rows("SELECT * FROM notes", &mut |row| {
                rows.push(row);
                true
            })
            .unwrap();
        let expected =
            [json!({"id": 1, "text": "one", "raw": null}), json!({"id": 2, "text": "two", "raw": null})];
        assert_eq!(rows, expected);
        assert!(database.rows("SELECT * FROM seen", &mut |_| true).is_err());
        drop(database);
        assert_eq!((names(folder.path()), state(&path)), before);
        theirs.execute_batch("COMMIT").unwrap();
    }

    #[test]
    fn what_is_no_database_is_an_error_and_a_bomb_is_not_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        std::fs::write(&path, b"SQLite format 3\0 and then nothing").unwrap();
        let read = ForeignDatabase::copy(&path, &folder.path().join("a"));
        assert!(read.and_then(|database| database.has("notes", &[])).is_err());
        assert!(!folder.path().join("a").exists());
        let path = folder.path().join("bomb.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(
                "CREATE TABLE notes (id, text AS (zeroblob(900000000))); INSERT INTO notes VALUES (1);",
            )
            .unwrap();
        let database = ForeignDatabase::copy(&path, &folder.path().join("b")).unwrap();
        assert!(database.rows("SELECT * FROM notes", &mut |_| true).is_err());
    }
}
