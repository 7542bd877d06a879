//! Contract tests of filters: lookups in indexes find what a scan finds.
//! This holds for all sequences of writes, changes and removals, and for all filters.

use serde_json::{Map, Value, json};

use super::{at, chunk_rows, document, memory, stamp, with_store};
use crate::filter::Filter;
use crate::item::{Kind, MemoryType, RowSet, Scope, Status, derive_id};
use crate::request::Selection;
use crate::store::{NewDocument, NewMemory, Store};

/// Seeded random numbers: a failing run fails again.
pub(in crate::store) struct Dice(pub u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn second(&mut self) -> i64 {
        self.below(40).try_into().unwrap()
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

const NAMES: [&str; 4] = ["team", "n", "wörd\"s", "path"];
/// Fields that are columns.
const COLUMNS: [&str; 5] = ["collection", "chunk_size", "type", "path", "file_name"];
const TAGS: [&str; 2] = ["alpha", "beta"];
const COLLECTIONS: [&str; 2] = ["memories", "shop"];

/// Values that databases, JSON or bytes could confuse, and texts around the length that an index keeps.
fn values() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-3),
        json!(7),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(9.3e18),
        json!(""),
        json!("1"),
        json!("true"),
        json!("null"),
        json!("core"),
        json!("Core"),
        json!("co\u{0}re"),
        json!("co\u{0}"),
        json!("co"),
        json!("zürich"),
        json!("\u{1f426}"),
    ];
    for length in [198, 199, 200, 201, 230] {
        values.push(json!("x".repeat(length)));
        values.push(json!(format!("{}é{}", "x".repeat(length - 3), "y")));
        values.push(json!(format!("x\u{0}{}", "x".repeat(length))));
    }
    values
}

fn metadata(dice: &mut Dice) -> Map<String, Value> {
    let mut values = values();
    values.extend([json!([1, "core"]), json!({ "n": 7 })]);
    (0..dice.below(4)).map(|_| (dice.one(&NAMES).to_owned(), dice.one(&values))).collect()
}

fn filter(dice: &mut Dice, depth: usize) -> Value {
    let values = values();
    let operators = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"];
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        6 | 7 => {
            let parts: Vec<Value> = (0..dice.below(4)).map(|_| filter(dice, depth - 1)).collect();
            json!({ dice.one(&["$and", "$or"]): parts })
        }
        8 => json!({ dice.one(&["$contains", "$not_contains"]): dice.one(&["one", "2", "zero"]) }),
        5 => {
            let words = ["memories", "documents", "shop", "fact", "/notes/3.md", "/notes/5.md", "5.md", ""];
            let value = |dice: &mut Dice| match dice.below(6) {
                0 => json!(3),
                1 => json!(null),
                _ => json!(dice.one(&words)),
            };
            let operator = dice.one(&operators);
            let value = match operator {
                "$in" | "$nin" => (0..dice.below(4)).map(|_| value(dice)).collect(),
                _ => value(dice),
            };
            json!({ dice.one(&COLUMNS): { operator: value } })
        }
        _ => {
            let operator = dice.one(&operators);
            let value = match operator {
                "$in" | "$nin" => (0..dice.below(4)).map(|_| dice.one(&values)).collect(),
                _ => dice.one(&values),
            };
            json!({ dice.one(&NAMES): { operator: value } })
        }
    }
}

pub(in crate::store) fn selection(dice: &mut Dice) -> Selection {
    let mut select = Selection::default();
    if dice.below(4) > 0 {
        select.filter = Some(Filter::from_value(&filter(dice, 3)).unwrap());
    }
    match dice.below(12) {
        0 => select.kinds = vec![dice.one(Kind::ALL)],
        1 => select.collections = vec![dice.one(&COLLECTIONS).to_owned(), "memories".to_owned()],
        2 => select.collections = vec![dice.one(&["shop", "documents", "nowhere"]).to_owned()],
        3 => select.types = vec![dice.one(&[MemoryType::Decision, MemoryType::Fact]), MemoryType::Digest],
        4 => select.tags = TAGS[..=dice.below(2)].iter().map(|tag| (*tag).to_owned()).collect(),
        5 => select.since = Some(at(dice.second())),
        6 => (select.since, select.until) = (Some(at(5)), Some(at(dice.second()))),
        7 => select.statuses = (0..=dice.below(3)).map(|_| dice.one(Status::ALL)).collect(),
        8 => select.version = Some("v2.1".into()),
        9 => select.owner = Some("ann".into()),
        10 => select.scope = Some(Scope::Project),
        _ => {}
    }
    select
}

pub(in crate::store) fn write(store: &dyn Store, dice: &mut Dice, second: i64) {
    let n = dice.below(30);
    let path = format!("/notes/{}.md", dice.below(8));
    match dice.below(8) {
        0..4 => {
            let kept = NewMemory {
                collection: dice.one(&COLLECTIONS).into(),
                memory_type: dice.one(&[MemoryType::Decision, MemoryType::Fact]),
                status: dice.one(Status::ALL),
                owner: dice.one(&[Some("ann".to_owned()), None]),
                tags: vec![dice.one(&TAGS).to_owned()],
                metadata: metadata(dice),
                ..memory(&format!("memory {n}"))
            };
            // Nothing is written if the same text is superseded.
            store
                .put_memory(&kept, &super::decided(crate::store::WriteAction::Alone), stamp(second))
                .unwrap();
        }
        4..6 => {
            let (added, removed) = match chunk_rows(store, &path) {
                rows if rows.is_empty() => (&["one", "two", "three"][..=dice.below(3)], rows),
                rows => (&[][..], rows[..dice.below(2)].to_vec()),
            };
            let written = NewDocument { metadata: metadata(dice), removed, ..document(&path, added) };
            store.put_documents(&[written], stamp(second)).unwrap();
        }
        6 => drop(store.remove_documents(&[derive_id(&["documents", &path])], stamp(second)).unwrap()),
        _ => {
            let all = store.text_rows(crate::item::Change(0), crate::item::Change(u32::MAX.into())).unwrap();
            if let Some(row) = all.get(dice.below(200)) {
                store.forget(&[*row], false, stamp(second)).unwrap();
            }
        }
    }
}

#[test]
fn a_selection_finds_what_a_scan_finds() {
    with_store(|store, fixture| {
        let other = fixture.open(at(0)).unwrap();
        let (mut dice, mut found) = (Dice(7), 0);
        // Repeated while others write: cached rows must not be stale. `other` never writes.
        let lasting: Vec<Selection> = (0..12).map(|_| selection(&mut dice)).collect();
        for second in 0..40 {
            for _ in 0..4 {
                write(store, &mut dice, second);
            }
            for select in lasting.iter().chain(&lasting).filter(|select| **select != Selection::default()) {
                let scanned = rows(&fixture.scan(select));
                assert_eq!(rows(&store.select(select).unwrap().unwrap()), scanned, "{select:?}");
                assert_eq!(rows(&other.select(select).unwrap().unwrap()), scanned, "{select:?}");
            }
            for _ in 0..100 {
                let select = selection(&mut dice);
                let scanned = fixture.scan(&select);
                found += scanned.len();
                if select != Selection::default() {
                    assert_eq!(rows(&store.select(&select).unwrap().unwrap()), rows(&scanned), "{select:?}");
                }
            }
        }
        assert!(found > 10_000, "{found}");
    });
}

pub(in crate::store) fn rows(set: &RowSet) -> Vec<u32> {
    set.iter().map(|row| row.0).collect()
}
