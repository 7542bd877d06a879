//! Tests of what is specific to SQLite: connections, log, files, query plans, and stores of older schemas.

mod files;
pub mod fixture;
mod plans;
mod upgrades;

use rusqlite::StatementStatus;

use super::*;
use crate::request::CompactWhen;
use crate::store::Upkeep;
use crate::store::contract::{document, memory, put, stamp};
use fixture::with_sqlite;

#[test]
fn a_question_is_planned_once_whatever_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(&folder.path().join("memory.db"), &Settings::default(), Timestamp::UNIX_EPOCH)
            .unwrap();
    let reader = store.reader().unwrap();
    // The second index of `items` on this column is partial: without a fixed plan its use depends on the value.
    let mut statement =
        reader.prepare("SELECT row FROM items WHERE kind = ?1 AND type = ?2 AND text_change > ?3").unwrap();
    for change in 0..3 {
        assert_eq!(statement.query_map((0, "fact", change), |_| Ok(())).unwrap().count(), 0);
    }
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

#[test]
fn connections_at_rest_keep_no_more_than_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { cache_mb: 2, ..Settings::default() };
    let store =
        SqliteStore::open(&folder.path().join("memory.db"), &settings, Timestamp::UNIX_EPOCH).unwrap();
    for n in 0..3 {
        store
            .write("fill the store", |connection| {
                connection
                    .execute("INSERT INTO events (change, time, action, actor, detail) VALUES (?1, 0, 'test', 'test', hex(zeroblob(1000000)))", [n])
                    .map(drop)
            })
            .unwrap();
    }
    let readers: Vec<_> = (0..9).map(|_| store.reader().unwrap()).collect();
    for reader in &readers {
        let length = "SELECT sum(length(detail)) FROM events";
        let read: u64 = reader.query_row(length, [], |row| row.get(0)).unwrap();
        assert_eq!(read, 6_000_000);
    }
    drop(readers);
    let idle = lock(&store.idle);
    assert_eq!(idle.len(), AT_REST);
    for connection in idle.iter() {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((pragma("mmap_size"), pragma("cache_size")), (0, -256));
    }
}

/// A process that ends leaves the log behind, and the next one cannot know which part of it was copied already.
#[test]
fn the_log_stays_short_when_each_write_is_a_process_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let open = || SqliteStore::open(&path, &Settings::default(), Timestamp::UNIX_EPOCH).unwrap();
    let log = || std::fs::metadata(folder.path().join("memory.db-wal")).unwrap().len();
    let write = || {
        let store = open();
        let statement = "INSERT INTO events (change, time, action, actor, detail)
                         VALUES (0, 0, 'test', 'test', hex(zeroblob(100000)))";
        store.reader().unwrap().execute(statement, []).unwrap();
    };
    (0..12).for_each(|_| write());
    assert!(log() > LOG_BYTES, "{}", log());
    let store = open();
    let other = open();
    let reading = other.reader().unwrap();
    reading.execute_batch("BEGIN; SELECT count(*) FROM items").unwrap();
    store.tidy(CompactWhen::Due).unwrap();
    assert!(log() > LOG_BYTES, "somebody reads it");
    reading.execute_batch("COMMIT").unwrap();
    store.tidy(CompactWhen::Due).unwrap();
    assert_eq!(log(), 0);
    write();
    let short = log();
    store.tidy(CompactWhen::Due).unwrap();
    assert_eq!(log(), short, "a short one stays");
}

#[test]
fn numbers_that_are_wrong_are_found() {
    with_sqlite(|store, fixture| {
        put(store, &memory("one"), stamp(1)).unwrap();
        store.put_documents(&[document("/a/guide.md", &["one"])], stamp(2)).unwrap();
        let add = |n: i32| {
            let statement = "UPDATE counts SET number = number + ?1 WHERE kind = 'document'";
            fixture.file().execute(statement, [n]).unwrap()
        };
        assert_eq!(add(1), 1);
        assert_eq!(store.verify().unwrap(), ["the numbers of items that are kept are wrong"]);
        add(-1);
    });
}
