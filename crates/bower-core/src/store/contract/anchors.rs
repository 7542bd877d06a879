//! Contract tests of anchors: they are kept with their memory, replaced when it is said again, and forgotten with it.

use super::*;
use crate::item::{Anchor, TextHash};

fn anchor(path: &str) -> Anchor {
    Anchor {
        root: "/srv/app".into(),
        path: Some(path.into()),
        symbol: Some("impl Foo > fn parse".into()),
        lines: Some((3, 9)),
        text: Some(TextHash { hash: u64::MAX, bytes: 120 }),
        commit: Some("0123456789abcdef0123456789abcdef01234567".into()),
    }
}

fn anchors(store: &dyn Store, row: RowId) -> Vec<Anchor> {
    store.anchors(&[row]).unwrap().remove(0)
}

#[test]
fn anchors_are_kept_replaced_and_forgotten_with_their_memory() {
    with_store(|store, fixture| {
        let commit = Anchor { path: None, symbol: None, lines: None, text: None, ..anchor("a.rs") };
        let told = NewMemory { anchors: vec![anchor("a.rs"), commit.clone()], ..memory("the port is 8080") };
        let row = put(store, &told, stamp(1)).unwrap().row;
        let bare = put(store, &memory("the lamp is blue"), stamp(2)).unwrap().row;
        let other = fixture.open(at(9)).unwrap();
        let all = other.anchors(&[bare, RowId(99), row]).unwrap();
        assert_eq!(all, [vec![], vec![], vec![anchor("a.rs"), commit]]);
        assert_eq!(other.anchored().unwrap(), [row]);

        put(store, &memory("the port is 8080"), stamp(3)).unwrap();
        assert_eq!(anchors(store, row).len(), 2, "said again from nowhere");
        let again = NewMemory { anchors: vec![anchor("b.rs")], ..memory("the port is 8080") };
        let web = NewMemory { provenance: Provenance::told(Author::Web), ..again.clone() };
        put(store, &web, stamp(4)).unwrap();
        assert_eq!(anchors(store, row).len(), 2, "a page is not heard");
        put(store, &again, stamp(5)).unwrap();
        assert_eq!(anchors(store, row), [anchor("b.rs")]);

        let receipt = store.forget(&[row], false, stamp(6)).unwrap();
        assert_eq!((receipt.anchors, anchors(store, row)), (1, vec![]));
        assert_eq!(store.anchored().unwrap(), Vec::<RowId>::new());
    });
}

#[test]
fn a_wording_has_no_anchors_of_its_own() {
    with_store(|store, _| {
        let row =
            put(store, &NewMemory { anchors: vec![anchor("a.rs")], ..memory("one") }, stamp(1)).unwrap().row;
        let wording = NewMemory { anchors: vec![anchor("b.rs")], ..memory("one, in other words") };
        store.put_memory(&wording, &decided(WriteAction::Rewords(row)), stamp(2)).unwrap();
        assert_eq!((store.anchored().unwrap(), anchors(store, row)), (vec![row], vec![anchor("a.rs")]));
    });
}
