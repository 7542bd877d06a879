//! The stores that the contract holds for, each behind a fixture that opens it, looks into it and makes it fail.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::panic::resume_unwind;
use std::thread;

use crate::error::Result;
use crate::item::RowSet;
use crate::request::Selection;
use crate::store::{Desk, Store};

/// A store with the desk beside it.
pub trait StoreAndDesk: Store + Desk {}

impl<T: Store + Desk> StoreAndDesk for T {}

/// Makes a fixture.
type Make = fn() -> Box<dyn Fixture>;

/// Every store by name, each with a fixture of its own for each test: another store is one more line.
const STORES: &[(&str, Make)] =
    &[("SQLite", || Box::new(crate::store::sqlite::tests::fixture::SqliteFixture::new()))];

/// One store, which is made when it is first opened, and goes with the fixture.
pub trait Fixture: Sync {
    /// Opens the store, as one more process would.
    fn open(&self, now: Timestamp) -> Result<Box<dyn StoreAndDesk>>;
    /// Opens the store, whose work is cut short once it took this many of the smallest steps that it has: instructions, or
    /// bytes that it sends. After that failure it works.
    fn open_failing(&self, steps: u32) -> Box<dyn StoreAndDesk>;
    /// Opens the store on a disk that has room for a few kilobytes more.
    fn open_full(&self) -> Box<dyn StoreAndDesk>;
    /// Opens a backup of the store as it is, restored in another place.
    fn open_copy(&self) -> Box<dyn StoreAndDesk>;
    /// Says in the store that it has this schema.
    fn set_schema(&self, schema: u32);
    /// The rows of a table, by column, in any order. Bytes are given as null.
    fn rows(&self, table: &str) -> Vec<Map<String, Value>>;
    /// Sets a column in all rows of a table, behind the store's back.
    fn set(&self, table: &str, column: &str, value: &Value);
    /// Whether anything that the store wrote, in use or free, holds a text.
    fn holds(&self, text: &str) -> bool;
    /// The rows of a selection as a scan of all rows finds them: the slow twin of [`Selections::select`](crate::store::Selections::select).
    fn scan(&self, select: &Selection) -> RowSet;
}

/// Checks each store before it is made. The thread's name says which one fails.
pub fn with_fixture(check: impl Fn(&dyn Fixture) + Sync) {
    for (name, make) in STORES {
        thread::scope(|scope| {
            let thread = thread::Builder::new().name((*name).to_owned());
            let checked = thread.spawn_scoped(scope, || check(&*make())).unwrap().join();
            checked.unwrap_or_else(|panic| resume_unwind(panic));
        });
    }
}
