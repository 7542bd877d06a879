//! Tests of stores that older versions wrote: they open, and are brought up to date.

use serde_json::json;

use super::fixture::with_sqlite;
use crate::config::Settings;
use crate::filter::Filter;
use crate::item::{CacheRole, Change, Visibility};
use crate::request::Selection;
use crate::store::contract::filters::{Dice, rows, write};
use crate::store::contract::fixture::{Fixture, StoreAndDesk};
use crate::store::contract::{MODEL, SCHEME, at, codes, stamp, vector};
use crate::store::{NewVector, SqliteStore};

/// Reverts a store to the schema before the life of a memory was kept.
const LIFELESS: &str =
    "DROP INDEX embedding_cache_used; ALTER TABLE embedding_cache DROP COLUMN role; ALTER TABLE embedding_cache DROP COLUMN bytes;
 ALTER TABLE embedding_cache DROP COLUMN hits; CREATE INDEX embedding_cache_used ON embedding_cache (used_time);
 DROP TABLE cache_counts; DROP TABLE cache_drops;
 CREATE TABLE one_vector (row INTEGER PRIMARY KEY REFERENCES items (row), model INTEGER NOT NULL REFERENCES models (row),
  change INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
 INSERT INTO one_vector SELECT row, model, change, vector FROM vectors; DROP TABLE vectors; ALTER TABLE one_vector RENAME TO vectors;
 CREATE INDEX vectors_change ON vectors (model, change);
 DROP TABLE llm_answers; DROP TABLE llm_calls; DROP TRIGGER extracted_removed; DROP TABLE extracted; DROP TABLE extractions; DROP TABLE entity_aliases; DROP TRIGGER document_tags_removed; DROP TABLE tag_aliases; DROP TABLE written_tags; DROP TABLE document_tags; DROP TABLE retagged;
 DROP TABLE mention_tail; DROP TABLE anchors; DROP TABLE clock; DROP TABLE clock_repairs;
 DROP TABLE losses; DROP TABLE checksums; ALTER TABLE documents DROP COLUMN checksum; ALTER TABLE events DROP COLUMN checksum;
 ALTER TABLE tail DROP COLUMN checksum; ALTER TABLE token_tail DROP COLUMN checksum;
 ALTER TABLE embedding_cache DROP COLUMN checksum; ALTER TABLE store DROP COLUMN copy; ALTER TABLE store DROP COLUMN open_losses;
 DROP INDEX items_variants; DROP INDEX items_newest; DROP INDEX items_pinned; DROP TRIGGER holders_added; DROP TRIGGER holders_removed; DROP TRIGGER holders_changed; DROP TABLE holders;
 DROP INDEX events_runs; DROP TABLE relations; DROP TABLE reviews; DROP TABLE exposures; DROP INDEX items_place;
 DROP INDEX items_slot; DROP INDEX items_supersedes; DROP INDEX items_valid_from; DROP INDEX items_valid_to;
 ALTER TABLE items DROP COLUMN slot; ALTER TABLE items DROP COLUMN hidden_time;
 ALTER TABLE items DROP COLUMN said_by; ALTER TABLE items DROP COLUMN least_trusted; ALTER TABLE items DROP COLUMN reviewed;
 ALTER TABLE items DROP COLUMN host;";

/// `tests/golden/schema-1.db` was written by the version that had schema 1: two items, a cached question.
#[test]
fn a_store_of_schema_1_opens_and_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    std::fs::write(&path, include_bytes!("../../../../tests/golden/schema-1.db")).unwrap();
    let store: &dyn StoreAndDesk = &SqliteStore::open(&path, &Settings::default(), at(0)).unwrap();
    assert!(store.schema() >= 2);
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    let row = store.rows_by_id("", &Visibility::everything(), 9).unwrap().len();
    assert_eq!(row, 2);
    let newest = store.coverage().unwrap().change;
    let rows = store.vector_rows(MODEL, Change(0), newest).unwrap();
    assert_eq!((rows.len(), store.code_rows(SCHEME, Change(0), newest).unwrap().len()), (2, 0));
    assert_eq!(store.put_codes(&[(rows[0], codes(5))], newest, stamp(1)).unwrap(), 1);
    assert_eq!(store.codes(SCHEME, &rows).unwrap(), [Some(vec![5; 16]), None]);
    let cached = store.cached_vector(MODEL, CacheRole::Question, "an old question").unwrap();
    assert_eq!(cached, Some(NewVector { tokens: None, ..vector(9) }));
}

#[test]
fn a_store_without_fields_gets_them_when_it_is_opened() {
    with_sqlite(|store, fixture| {
        let mut dice = Dice(3);
        (0..60).for_each(|second| write(store, &mut dice, second));
        let triggers = ["added", "removed", "changed"]
            .map(|when| format!("DROP TRIGGER fields_item_{when}; DROP TRIGGER fields_document_{when};"));
        // Restores the state of the schema before it.
        let drop = "DROP TABLE item_fields; DROP TABLE document_fields;";
        fixture.file().execute_batch(&[&triggers.concat(), drop, LIFELESS].concat()).unwrap();
        fixture.set_schema(4);
        let again = fixture.opened();
        let select = Selection {
            filter: Some(Filter::from_value(&json!({ "team": { "$nin": [] }, "n": { "$gte": 1 } })).unwrap()),
            ..Selection::default()
        };
        let indexed = again.select_by_index(&select, 10).unwrap().unwrap();
        assert_eq!(rows(&indexed), rows(&again.select_by_scan(&select).unwrap()));
        assert!(!indexed.is_empty());
    });
}
