//! Tests of query plans: indexes find the rows that a scan finds, in a fraction of its steps.

use serde_json::{Map, Value, json};

use super::fixture::with_sqlite;
use crate::filter::Filter;
use crate::item::{RowId, Visibility};
use crate::request::Selection;
use crate::store::contract::filters::{Dice, rows, selection, write};
use crate::store::contract::fixture::Fixture;
use crate::store::contract::{MODEL, document, memory, put, stamp, vector};
use crate::store::{NewDocument, NewVector};

#[test]
fn indexes_find_what_a_scan_finds() {
    with_sqlite(|store, fixture| {
        let own = fixture.opened();
        let (mut dice, mut by_index) = (Dice(7), 0);
        for second in 0..40 {
            for _ in 0..4 {
                write(store, &mut dice, second);
            }
            for _ in 0..100 {
                let select = selection(&mut dice);
                let scanned = rows(&own.select_by_scan(&select).unwrap());
                for narrow in [0, 1, 5, usize::MAX] {
                    if let Some(indexed) = own.select_by_index(&select, narrow).unwrap() {
                        assert_eq!(rows(&indexed), scanned, "{narrow}: {select:?}");
                        assert_eq!(indexed.len(), scanned.len());
                        by_index += 1;
                    }
                }
            }
        }
        assert!(by_index > 6_000, "{by_index}");
    });
}

/// A scan takes hundreds of steps of SQLite's machine for each row; there are a thousand rows in all.
#[test]
fn a_filter_costs_by_the_rows_it_keeps() {
    with_sqlite(|store, fixture| {
        for n in 0..100 {
            let documents: Vec<NewDocument> = (0..10)
                .map(|at| NewDocument {
                    metadata: Map::from_iter([
                        ("lot".to_owned(), json!(n)),
                        ("all".to_owned(), json!("same")),
                    ]),
                    ..document(&format!("/{n}/{at}.md"), &["one"])
                })
                .collect();
            store.put_documents(&documents, stamp(n)).unwrap();
        }
        let check = |filter: Value, expected: usize| {
            let own = fixture.opened();
            let select =
                Selection { filter: Some(Filter::from_value(&filter).unwrap()), ..Selection::default() };
            own.interrupt_after(2_000);
            assert_eq!(own.select_by_index(&select, 100).unwrap().unwrap().len(), expected, "{filter}");
            own.select_by_scan(&select).unwrap_err();
        };
        check(json!({ "lot": 7 }), 10);
        check(json!({ "lot": { "$in": [7, 8, "9"] } }), 20);
        check(json!({ "lot": { "$gt": 97.5 } }), 20);
        check(json!({ "lot": 7, "all": "same", "$contains": "one" }), 10);
        check(json!({ "lot": 7, "all": { "$ne": "same" } }), 0);
        check(json!({ "path": "/7/3.md" }), 1);
        check(json!({ "path": { "$gte": "/97/", "$lt": "/98/" } }), 10);
        check(json!({ "lot": 7, "collection": "documents" }), 10);
        check(json!({ "lot": 7, "collection": { "$ne": "documents" } }), 0);
    });
}

/// Every question may need this: examining each of 500 rows would take thousands of steps of SQLite's machine.
#[test]
fn that_nothing_waits_for_a_vector_is_known_by_counting() {
    with_sqlite(|store, fixture| {
        for n in 0..500 {
            put(store, &memory(&format!("memory {n}")), stamp(1)).unwrap();
        }
        assert_eq!(fixture.open_failing(500).unembedded(MODEL, RowId(0), 1).unwrap(), []);
        // With the vectors of a second model too, once all items have them.
        let rows = store.rows_by_id("", &Visibility::everything(), 1_000).unwrap();
        let other = NewVector { model: "next-model".into(), ..vector(1) };
        let both: Vec<_> = rows.into_iter().map(|(row, _)| (row, other.clone())).collect();
        let upto = store.coverage().unwrap().change;
        assert_eq!(store.put_vectors(&both, upto, stamp(2)).unwrap(), 500);
        for model in [MODEL, "next-model"] {
            assert_eq!(fixture.open_failing(500).unembedded(model, RowId(0), 1).unwrap(), []);
        }
    });
}
