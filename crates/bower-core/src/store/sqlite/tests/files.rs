//! Tests of the store's file: other programs' files are refused, and backups are whole and replace it.

use rusqlite::Connection;
use std::path::Path;

use super::fixture::{has, with_sqlite};
use crate::config::Settings;
use crate::error::Error;
use crate::store::contract::{at, memory, put, stamp};
use crate::store::{SqliteStore, Store, sqlite};

#[test]
fn files_that_are_not_our_store_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, make: &dyn Fn(&Path), expected: fn(&Error) -> bool| {
        let path = folder.path().join(name);
        make(&path);
        let before = std::fs::read(&path).unwrap();
        let error = SqliteStore::open(&path, &Settings::default(), at(0)).unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{name} was touched");
    };
    check(
        "text.db",
        &|path| std::fs::write(path, "not a database, but long enough to be read as one".repeat(40)).unwrap(),
        |error| matches!(error, Error::NotAStore { .. }),
    );
    check(
        "foreign.db",
        &|path| Connection::open(path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap(),
        |error| matches!(error, Error::NotAStore { .. }),
    );
    check(
        "newer.db",
        &|path| {
            drop(SqliteStore::open(path, &Settings::default(), at(0)).unwrap());
            Connection::open(path)
                .unwrap()
                .execute_batch("PRAGMA user_version = 999; PRAGMA journal_mode = DELETE")
                .unwrap();
        },
        |error| matches!(error, Error::NewerSchema { found: 999, .. }),
    );
}

#[test]
fn a_backup_is_whole_while_others_write_and_replaces_what_came_after() {
    with_sqlite(|store, fixture| {
        let path = &fixture.path();
        let first = put(store, &memory("the zanzibar port is 8080"), stamp(1)).unwrap().row;
        store.forget(&[first], false, stamp(2)).unwrap();
        put(store, &memory("one"), stamp(3)).unwrap();
        let file = path.with_file_name("copy.db");
        let copied = std::thread::scope(|threads| {
            let writer = threads.spawn(|| {
                let own = fixture.opened();
                (0..50)
                    .for_each(|n| drop(put(&own, &memory(&format!("while copying {n}")), stamp(4)).unwrap()));
            });
            let copied = store.backup(&file).unwrap();
            writer.join().unwrap();
            copied
        });
        assert!((1..=51).contains(&copied.items) && copied.replaced.is_none(), "{copied:?}");
        assert!(store.backup(&file).is_err(), "nothing is overwritten");
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(copied.bytes, bytes.len() as u64);
        assert!(!has(&bytes, "zanzibar"));

        put(store, &memory("after the copy"), stamp(9)).unwrap();
        let coverage = store.coverage().unwrap();
        let settings = Settings::default();
        let restored = sqlite::restore(path, &file, &settings, at(10)).unwrap();
        assert_eq!((restored.items, restored.change), (copied.items, copied.change));
        // An open handle sees the restored copy, and indexes of later changes are refused.
        assert_eq!(store.counts().unwrap().memories, copied.items);
        assert!(!store.confirms(&coverage).unwrap());
        put(store, &memory("goes on"), stamp(11)).unwrap();
        let aside: &dyn Store = &SqliteStore::open(&restored.replaced.unwrap(), &settings, at(12)).unwrap();
        assert_eq!(aside.counts().unwrap().memories, 52);

        // A file that is not a whole store replaces nothing.
        let before = store.coverage().unwrap();
        let broken = path.with_file_name("broken.db");
        std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
        let missing = path.with_file_name("missing.db");
        let foreign = path.with_file_name("foreign.db");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        for bad in [&broken, &missing, &foreign] {
            assert!(sqlite::restore(path, bad, &settings, at(13)).is_err(), "{bad:?}");
        }
        assert_eq!(store.coverage().unwrap(), before);
    });
}
