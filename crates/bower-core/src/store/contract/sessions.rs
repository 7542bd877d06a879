//! Contract tests of the items given to sessions: given once, removed with the item, dropped after a while.

use super::{at, chunk, chunk_rows, document, memory, stamp, with_store};
use crate::item::{RowId, derive_id};
use crate::store::{Given, Kept, KeptChunk, Store};

fn given(row: RowId, text_hash: i64) -> Given {
    Given { row, text_hash }
}

fn keep(store: &dyn Store, content: &str) -> Kept {
    super::put(store, &memory(content), stamp(1)).unwrap()
}

#[test]
fn a_session_knows_what_it_was_given() {
    with_store(|store, fixture| {
        let (one, two) = (keep(store, "one").row, keep(store, "two").row);
        store.give("s", &[given(two, -7), given(one, 1)], at(10), at(0)).unwrap();
        store.give("other", &[given(one, 1)], at(11), at(0)).unwrap();
        let again = fixture.open(at(12)).unwrap();
        assert_eq!(again.given("s").unwrap(), [given(one, 1), given(two, -7)]);
        assert_eq!(again.given("other").unwrap(), [given(one, 1)]);
        assert_eq!(again.given("unknown").unwrap(), []);
        // Another text of the same item replaces the first.
        store.give("s", &[given(one, 2)], at(13), at(0)).unwrap();
        assert_eq!(store.given("s").unwrap(), [given(one, 2), given(two, -7)]);
        store.lose_given("s").unwrap();
        assert_eq!(store.given("s").unwrap(), [given(one, Given::LOST), given(two, Given::LOST)]);
        assert_eq!(store.given("other").unwrap(), [given(one, 1)]);
        // An item that is given again is no longer lost.
        store.give("s", &[given(two, 7)], at(14), at(0)).unwrap();
        assert_eq!(store.given("s").unwrap(), [given(one, Given::LOST), given(two, 7)]);
    });
}

#[test]
fn what_is_forgotten_was_never_given() {
    with_store(|store, _| {
        let (one, two) = (keep(store, "one").row, keep(store, "two").row);
        store.give("s", &[given(one, 1), given(two, 2)], at(10), at(0)).unwrap();
        store.forget(&[one], false, stamp(11)).unwrap();
        assert_eq!(store.given("s").unwrap(), [given(two, 2)]);
        // A write after the deletion does not bring it back.
        store.give("s", &[given(one, 1)], at(12), at(0)).unwrap();
        assert_eq!(store.given("s").unwrap(), [given(two, 2)]);
        let before = store.coverage().unwrap();
        assert_eq!(store.forget(&[two], true, stamp(13)).unwrap().items, 1);
        assert_eq!((store.given("s").unwrap(), store.coverage().unwrap()), (vec![given(two, 2)], before));
    });
}

#[test]
fn a_chunk_that_is_replaced_leaves_no_trace_of_having_been_given() {
    with_store(|store, _| {
        store.put_documents(&[document("/a.md", &["one", "two"])], stamp(1)).unwrap();
        let id = derive_id(&["documents", "/a.md"]);
        let rows = store.chunks(&id).unwrap();
        store.give("s", &[given(rows[0].1, 1), given(rows[1].1, 2)], at(2), at(0)).unwrap();
        let mut next = document("/a.md", &[]);
        next.kept =
            vec![KeptChunk { row: rows[1].1, position: 1, lines: (11, 19), tags: vec!["beta".into()] }];
        next.added = vec![chunk("/a.md", "uno", 0)];
        next.removed = vec![rows[0].1];
        store.put_documents(&[next], stamp(3)).unwrap();
        assert_eq!(store.given("s").unwrap(), [given(rows[1].1, 2)]);
        store.remove_documents(&[id], stamp(4)).unwrap();
        assert_eq!(store.given("s").unwrap(), []);
    });
}

#[test]
fn old_sessions_are_pruned_by_the_next_write() {
    with_store(|store, _| {
        let row = keep(store, "one").row;
        store.give("old", &[given(row, 1)], at(10), at(0)).unwrap();
        store.give("new", &[given(row, 1)], at(100), at(50)).unwrap();
        assert_eq!((store.given("old").unwrap(), store.given("new").unwrap()), (vec![], vec![given(row, 1)]));
    });
}

#[test]
fn giving_is_all_or_nothing_and_no_change_of_the_store() {
    for steps in [10, 40, 70, 100, 200] {
        with_store(|store, fixture| {
            let rows: Vec<_> = ["one", "two", "three"].map(|text| keep(store, text).row).into();
            let before = store.coverage().unwrap();
            let all: Vec<_> = rows.iter().map(|&row| given(row, 1)).collect();
            let written = fixture.open_failing(steps).give("s", &all, at(2), at(0)).is_ok();
            let whole = fixture.open(at(3)).unwrap();
            assert_eq!(whole.given("s").unwrap(), if written { all } else { vec![] }, "{steps}");
            assert_eq!(whole.coverage().unwrap(), before, "no index has to follow");
        });
    }
}

#[test]
fn a_chunk_has_neighbours_and_a_memory_has_none() {
    with_store(|store, _| {
        store
            .put_documents(&[document("/a.md", &["a", "b", "c", "d"]), document("/b.md", &["x"])], stamp(1))
            .unwrap();
        let rows = chunk_rows(store, "/a.md");
        assert_eq!(store.around(rows[1], 1).unwrap(), [(0, rows[0]), (1, rows[1]), (2, rows[2])]);
        assert_eq!(store.around(rows[3], 1).unwrap(), [(2, rows[2]), (3, rows[3])]);
        assert_eq!(store.around(rows[3], 0).unwrap(), [(3, rows[3])]);
        let memory = keep(store, "one").row;
        assert_eq!(store.around(memory, 3).unwrap(), []);
        assert_eq!(store.around(RowId(999), 3).unwrap(), []);
    });
}
