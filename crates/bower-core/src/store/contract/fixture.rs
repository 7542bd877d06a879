//! The stores under contract, each behind a fixture that opens it, inspects it and makes it fail.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::panic::resume_unwind;
use std::thread;

use crate::error::Result;
use crate::item::RowSet;
use crate::request::Selection;
use crate::store::{Desk, Store};

/// A store with its desk.
pub trait StoreAndDesk: Store + Desk {}

impl<T: Store + Desk> StoreAndDesk for T {}

/// Makes a fixture.
type Make = fn() -> Box<dyn Fixture>;

/// Every store by name, with a new fixture for each test. Another store is one more line.
const STORES: &[(&str, Make)] =
    &[("SQLite", || Box::new(crate::store::sqlite::tests::fixture::SqliteFixture::new()))];

/// One store, which is created when it is first opened, and removed with the fixture.
pub trait Fixture: Sync {
    /// Opens the store, as another process would.
    fn open(&self, now: Timestamp) -> Result<Box<dyn StoreAndDesk>>;
    /// Opens the store so that its work is interrupted after this many of its smallest steps: instructions, or bytes
    /// sent. After that failure it works.
    fn open_failing(&self, steps: u32) -> Box<dyn StoreAndDesk>;
    /// Opens the store on a disk that has room for a few kilobytes more.
    fn open_full(&self) -> Box<dyn StoreAndDesk>;
    /// Opens a copy of the store, restored from a backup in another place.
    fn open_copy(&self) -> Box<dyn StoreAndDesk>;
    /// Writes this schema number into the store.
    fn set_schema(&self, schema: u32);
    /// Returns the rows of a table, by column, in any order. Bytes are returned as null.
    fn rows(&self, table: &str) -> Vec<Map<String, Value>>;
    /// Sets a column in all rows of a table, behind the store's back.
    fn set(&self, table: &str, column: &str, value: &Value);
    /// Whether any bytes that the store wrote, used or free, contain a text.
    fn holds(&self, text: &str) -> bool;
    /// Returns the rows of a selection that a scan finds: the slow twin of
    /// [`Selections::select`](crate::store::Selections::select).
    fn scan(&self, select: &Selection) -> RowSet;
}

/// Runs a check on each store before it is created. The thread's name says which one fails.
pub fn with_fixture(check: impl Fn(&dyn Fixture) + Sync) {
    for (name, make) in STORES {
        thread::scope(|scope| {
            let thread = thread::Builder::new().name((*name).to_owned());
            let checked = thread.spawn_scoped(scope, || check(&*make())).unwrap().join();
            checked.unwrap_or_else(|panic| resume_unwind(panic));
        });
    }
}
