//! Tests of triples: kept by source, cached by the text, and gone with a forgotten text.

use super::{at, chunk_rows, document, memory, put, stamp, with_store};
use crate::error::Error;
use crate::item::{Change, RowId, Triple, derive_id};
use crate::request::{RemovedTriples, TripleSource};
use crate::store::{Extractor, NewTriples, Store};

const BY: Extractor<'static> = Extractor { source: "llm:a", prompt: 1 };
const OTHER: Extractor<'static> = Extractor { source: "llm:b", prompt: 1 };
const TEXT: &str = "Ada owns a zylophone";

fn triple(object: &str) -> Triple {
    Triple { subject: "Ada".into(), relation: "owns".into(), object: object.into() }
}

fn new(row: RowId, object: &str) -> NewTriples {
    NewTriples { row, triples: vec![triple(object)] }
}

/// Sources and objects of a row's triples.
fn objects(store: &dyn Store, row: RowId) -> Vec<(String, String)> {
    let source = store.mention_sources(&[row]).unwrap().pop().unwrap();
    source.triples.into_iter().map(|one| (one.source, one.triple.object)).collect()
}

fn of(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(source, object)| ((*source).to_owned(), (*object).to_owned())).collect()
}

#[test]
fn triples_are_kept_by_source_and_make_mentions_anew() {
    with_store(|store, _| {
        let row = put(store, &memory(TEXT), stamp(1)).unwrap().row;
        assert_eq!(store.mentions(&[row]).unwrap(), [Some(vec![7; 8])]);
        let before = store.coverage().unwrap().change;
        let rows = [new(row, "zylophone"), new(RowId(99), "nothing")];
        assert_eq!(store.put_triples(BY, &rows, stamp(2)).unwrap(), 1);
        assert_eq!(store.put_triples(OTHER, &[new(row, "phone")], stamp(3)).unwrap(), 1);
        assert_eq!(objects(store, row), of(&[("llm:a", "zylophone"), ("llm:b", "phone")]));
        let newest = store.coverage().unwrap().change;
        assert_eq!(store.retagged(before, newest).unwrap(), [row]);
        assert_eq!(store.mentions(&[row]).unwrap(), [None], "those that wait lack the triples");
        assert_eq!(store.extracted_rows(BY).unwrap().iter().collect::<Vec<_>>(), [row]);
        let later = Extractor { prompt: 2, ..BY };
        assert!(store.extracted_rows(later).unwrap().is_empty(), "another prompt asks again");
        store.put_triples(later, &[new(row, "Zylophone")], stamp(4)).unwrap();
        assert_eq!(objects(store, row), of(&[("llm:a", "Zylophone"), ("llm:b", "phone")]));
        let counted = |source: &str, triples| TripleSource { source: source.into(), items: 1, triples };
        assert_eq!(store.triple_sources().unwrap(), [counted("llm:a", 1), counted("llm:b", 1)]);
        let removed = store.remove_triples("llm:a", stamp(5)).unwrap();
        assert_eq!(removed, RemovedTriples { source: "llm:a".into(), items: 1, triples: 1 });
        assert_eq!(objects(store, row), of(&[("llm:b", "phone")]));
        assert_eq!(store.retagged(newest, Change(99)).unwrap(), [row]);
        assert_eq!(store.cached_rows(BY, &[row]).unwrap(), []);
    });
}

#[test]
fn the_same_text_has_the_same_triples_wherever_it_is() {
    with_store(|store, _| {
        let row = put(store, &memory(TEXT), stamp(1)).unwrap().row;
        store.put_documents(&[document("/n/a.md", &[TEXT])], stamp(2)).unwrap();
        let earlier = chunk_rows(store, "/n/a.md")[0];
        store.put_triples(BY, &[new(row, "zylophone")], stamp(3)).unwrap();
        // The same text gets them on request.
        assert_eq!(objects(store, earlier), []);
        assert_eq!(store.cached_rows(BY, &[row, earlier, RowId(99)]).unwrap(), [row, earlier]);
        assert_eq!(store.link_triples(BY, &[earlier, RowId(99)], stamp(4)).unwrap(), 1);
        store.put_documents(&[document("/n/b.md", &[TEXT, "another"])], stamp(5)).unwrap();
        let chunks = chunk_rows(store, "/n/b.md");
        assert_eq!(objects(store, chunks[0]), []);
        assert_eq!(store.link_triples(BY, &chunks, stamp(5)).unwrap(), 1);
        for row in [earlier, chunks[0]] {
            assert_eq!(objects(store, row), of(&[("llm:a", "zylophone")]));
        }
        assert_eq!(objects(store, chunks[1]), []);
        // The answer outlives its rows, so that the text is not sent again.
        for path in ["/n/a.md", "/n/b.md"] {
            store.remove_documents(&[derive_id(&["documents", path])], stamp(6)).unwrap();
        }
        store.put_documents(&[document("/n/c.md", &[TEXT])], stamp(7)).unwrap();
        store.link_triples(BY, &chunk_rows(store, "/n/c.md"), stamp(7)).unwrap();
        assert_eq!(objects(store, chunk_rows(store, "/n/c.md")[0]), of(&[("llm:a", "zylophone")]));
    });
}

#[test]
fn forgetting_a_text_forgets_its_answers() {
    with_store(|store, fixture| {
        let row = put(store, &memory(TEXT), stamp(1)).unwrap().row;
        let other = put(store, &memory("Bob owns a quince"), stamp(1)).unwrap().row;
        store.put_documents(&[document("/n/a.md", &[TEXT])], stamp(2)).unwrap();
        let new = [new(row, "zylophone"), NewTriples { row: other, triples: vec![triple("quince")] }];
        store.put_triples(BY, &new, stamp(3)).unwrap();
        let twin = chunk_rows(store, "/n/a.md")[0];
        store.link_triples(BY, &[twin], stamp(3)).unwrap();
        let receipt = store.forget(&[row], false, stamp(4)).unwrap();
        assert_eq!(receipt.triples, 1);
        // Another item still says it.
        assert_eq!(objects(store, twin), of(&[("llm:a", "zylophone")]));
        store.remove_documents(&[derive_id(&["documents", "/n/a.md"])], stamp(5)).unwrap();
        let left = |store: &dyn Store| store.triple_sources().unwrap()[0].items;
        assert_eq!((fixture.rows("extractions").len(), left(store)), (1, 1));
        // An answer for a text that was removed goes with the next forgetting.
        store.put_documents(&[document("/n/b.md", &["Bob owns an orchard"])], stamp(6)).unwrap();
        let orchard = chunk_rows(store, "/n/b.md")[0];
        let answer = NewTriples { row: orchard, triples: vec![triple("orchard")] };
        store.put_triples(BY, &[answer], stamp(7)).unwrap();
        store.remove_documents(&[derive_id(&["documents", "/n/b.md"])], stamp(8)).unwrap();
        assert_eq!(fixture.rows("extractions").len(), 2);
        store.forget(&[other], false, stamp(9)).unwrap();
        for table in ["extractions", "extracted"] {
            assert_eq!(fixture.rows(table).len(), 0, "{table}");
        }
        store.erase(&|_| true, stamp(10)).unwrap();
        for word in ["zylophone", "quince", "orchard"] {
            assert!(!fixture.holds(word), "{word}");
        }
    });
}

#[test]
fn triples_that_are_cut_short_anywhere_change_nothing() {
    with_store(|store, fixture| {
        let row = put(store, &memory(TEXT), stamp(1)).unwrap().row;
        let before = store.coverage().unwrap();
        let mut interrupted = 0;
        for steps in (1..).map(|n| n * 7) {
            let failing = fixture.open_failing(steps);
            match failing.put_triples(BY, &[new(row, "zylophone")], stamp(2)) {
                Err(error) => {
                    assert!(matches!(error, Error::Store { .. }), "{error:?}");
                    assert_eq!(
                        (failing.coverage().unwrap(), objects(&*failing, row)),
                        (before.clone(), Vec::new())
                    );
                    interrupted += 1;
                }
                Ok(written) => {
                    assert_eq!(written, 1);
                    break;
                }
            }
        }
        assert!(interrupted > 5, "only {interrupted} writes were cut short");
        let again = fixture.open(at(3)).unwrap();
        assert_eq!(again.verify().unwrap(), Vec::<String>::new());
    });
}
