//! The fixture of the contract tests for SQLite: a store file in a temporary folder.

use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::config::Settings;
use crate::error::Result;
use crate::item::RowSet;
use crate::request::Selection;
use crate::store::contract::at;
use crate::store::contract::fixture::{Fixture, StoreAndDesk};
use crate::store::{SqliteStore, Store};

/// A store file that is created when it is first opened.
pub struct SqliteFixture {
    /// A handle that only reads.
    scanner: OnceLock<SqliteStore>,
    folder: tempfile::TempDir,
}

impl SqliteFixture {
    pub fn new() -> Self {
        Self { scanner: OnceLock::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// Returns the path of the store's file, in a folder that opening creates.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("deep/home/memory.db")
    }

    /// Opens the store, for methods that only SQLite has.
    pub fn opened(&self) -> SqliteStore {
        SqliteStore::open(&self.path(), &Settings::default(), at(0)).unwrap()
    }

    /// Opens the database file directly.
    pub fn file(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

/// Runs a check on a store, opened and empty, and verifies it afterwards.
pub fn with_sqlite(check: impl Fn(&dyn Store, &SqliteFixture)) {
    let fixture = SqliteFixture::new();
    let store: &dyn Store = &fixture.opened();
    check(store, &fixture);
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
}

impl Fixture for SqliteFixture {
    fn open(&self, now: Timestamp) -> Result<Box<dyn StoreAndDesk>> {
        Ok(Box::new(SqliteStore::open(&self.path(), &Settings::default(), now)?))
    }

    fn open_failing(&self, steps: u32) -> Box<dyn StoreAndDesk> {
        let store = self.opened();
        store.interrupt_after(steps);
        Box::new(store)
    }

    fn open_full(&self) -> Box<dyn StoreAndDesk> {
        let store = self.opened();
        store.limit_pages();
        Box::new(store)
    }

    fn open_copy(&self) -> Box<dyn StoreAndDesk> {
        let path = self.path().with_file_name("copy.db");
        self.file().execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
        Box::new(SqliteStore::open(&path, &Settings::default(), at(0)).unwrap())
    }

    fn set_schema(&self, schema: u32) {
        self.file().pragma_update(None, "user_version", schema).unwrap();
    }

    fn rows(&self, table: &str) -> Vec<Map<String, Value>> {
        let file = self.file();
        let mut statement = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([], |row| {
            let value = |(at, column): (usize, &String)| {
                let value = match row.get_ref(at)? {
                    ValueRef::Integer(number) => json!(number),
                    ValueRef::Real(number) => json!(number),
                    ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
                    ValueRef::Null | ValueRef::Blob(_) => Value::Null,
                };
                Ok((column.clone(), value))
            };
            columns.iter().enumerate().map(value).collect()
        });
        rows.unwrap().map(rusqlite::Result::unwrap).collect()
    }

    fn set(&self, table: &str, column: &str, value: &Value) {
        let statement = format!("UPDATE {table} SET {column} = json_extract(?1, '$')");
        self.file().execute(&statement, [value.to_string()]).unwrap();
    }

    fn holds(&self, text: &str) -> bool {
        let path = self.path();
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).any(|bytes| has(&bytes, text))
    }

    fn scan(&self, select: &Selection) -> RowSet {
        self.scanner.get_or_init(|| self.opened()).select_by_scan(select).unwrap()
    }
}

/// Whether the bytes of a file contain a text.
pub fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

impl SqliteStore {
    /// Makes the idle connection fail after so many steps of SQLite's machine.
    pub(super) fn interrupt_after(&self, steps: u32) {
        let mut reader = self.reader().unwrap();
        let connection = reader.connection.as_mut().unwrap();
        connection.progress_handler(steps.cast_signed(), Some(|| true)).unwrap();
    }

    /// Limits the file to its present size.
    fn limit_pages(&self) {
        let connection = self.reader().unwrap();
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.query_row(&format!("PRAGMA max_page_count = {}", pages + 8), [], |_| Ok(())).unwrap();
    }
}
