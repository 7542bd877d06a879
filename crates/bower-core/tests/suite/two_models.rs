//! Tests a store that two models answer in turn: the index of the one that rests stays true.

use bower_core::Result;
use bower_core::engine::Engine;
use bower_core::item::Visibility;
use bower_core::model::Embedder;
use bower_core::request::CompactWhen;
use rusqlite::Connection;

use crate::place::{Place, now};

/// An embedder whose vectors say which letters a text has.
pub struct Letters(pub &'static str);

impl Embedder for Letters {
    fn model(&self) -> &str {
        self.0
    }

    fn dimension(&self) -> usize {
        64
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        let has = |letter: u8| if text.as_bytes().contains(&letter) { 1.0 } else { 0.1 };
        let counts: Vec<f32> = (b'A'..b'A' + 64).map(has).collect();
        let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
        Ok(counts.into_iter().map(|count| count / length).collect())
    }

    fn count_pieces(&self, text: &str) -> Result<usize> {
        Ok(text.split_whitespace().count())
    }
}

fn open(place: &Place, model: &'static str) -> Engine {
    place.open().with_embedder(Box::new(Letters(model)))
}

/// Rows that an index may still have to mask.
fn removals(place: &Place) -> i64 {
    let connection = Connection::open(place.home().join("memory.db")).unwrap();
    connection.query_row("SELECT count(*) FROM removals WHERE row > 0", [], |row| row.get(0)).unwrap()
}

fn index_detail(engine: &Engine) -> String {
    let checks = engine.doctor(&Visibility::everything()).unwrap();
    checks.into_iter().find(|check| check.name == "vector index").unwrap().detail
}

#[test]
fn the_index_of_a_model_that_rests_learns_later_which_rows_are_gone() {
    let place = Place::without_model();
    place.write("mill.md", "The old mill at Orsland grinds on Wednesdays.\n");
    let ferry = place.write("ferry.md", "The ferry leaves at seven in the morning.\n");
    place.index(&open(&place, "first"));
    let engine = open(&place, "second");
    assert_eq!(engine.embed_pending(now(), &|_| ()).unwrap(), 2);
    engine.compact(CompactWhen::Always).unwrap();
    std::fs::remove_file(ferry).unwrap();
    place.write("keys.md", "Ada Marsh keeps the keys of the boathouse.\n");
    place.index(&engine);
    assert_eq!(removals(&place), 1, "the first model's index does not know it yet");
    drop(engine);

    let engine = open(&place, "first");
    assert_eq!(engine.embed_pending(now(), &|_| ()).unwrap(), 1);
    engine.compact(CompactWhen::Always).unwrap();
    assert_eq!(removals(&place), 0);
    let detail = index_detail(&engine);
    let (held, newest) = detail.strip_prefix("holds change ").unwrap().split_once(" of ").unwrap();
    assert_eq!(held, newest);
    // A model whose vectors are dropped holds nothing back.
    assert_eq!(engine.drop_vectors("second", now()).unwrap(), 2);
    std::fs::remove_file(place.notes().join("keys.md")).unwrap();
    place.write("harbour.md", "The tide table hangs in the harbour office.\n");
    place.index(&engine);
    assert_eq!(removals(&place), 0);
}
