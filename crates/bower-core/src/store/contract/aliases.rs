//! Tests of aliases: stated once for a pair of forms, taken back, imported and undone, each with its event.

use super::{at, stamp, with_store};
use crate::store::copies::{NewPiece, PieceOutcome};
use crate::store::{AliasRow, Store};

fn alias(name: &str, other: &str) -> AliasRow {
    let mut forms = [name.to_lowercase(), other.to_lowercase()];
    forms.sort_unstable();
    AliasRow { name: name.to_owned(), other: other.to_owned(), forms, time: at(1) }
}

fn shown(store: &dyn Store) -> Vec<String> {
    store.aliases().unwrap().iter().map(|one| format!("{} = {}", one.name, one.other)).collect()
}

#[test]
fn a_pair_is_stated_once_and_taken_back_once() {
    with_store(|store, _| {
        let (one, wild) = (alias("K8s", "Kubernetes"), alias("'; DROP TABLE entity_aliases; --", "A"));
        assert!(store.add_alias(&one, stamp(1)).unwrap().is_some());
        assert!(store.add_alias(&wild, stamp(2)).unwrap().is_some());
        let change = store.coverage().unwrap();
        assert_eq!(store.add_alias(&alias("KUBERNETES", "k8s"), stamp(3)).unwrap(), None);
        assert_eq!(store.coverage().unwrap(), change, "nothing was written");
        assert_eq!(store.aliases().unwrap(), [wild.clone(), one.clone()], "by their forms");
        let (gone, event) = store.remove_alias(&one.forms, stamp(4)).unwrap().unwrap();
        assert_eq!((gone, shown(store).len()), (one.clone(), 1));
        assert_eq!(store.remove_alias(&one.forms, stamp(5)).unwrap(), None);
        let undone = store.undo(event, stamp(6)).unwrap().unwrap();
        assert_eq!((undone.items, undone.unmoved), (vec!["K8s = Kubernetes".to_owned()], Vec::new()));
        assert_eq!(store.aliases().unwrap(), [wild, one], "as they were stated");
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn an_undo_takes_back_what_still_holds() {
    with_store(|store, _| {
        let one = alias("K8s", "Kubernetes");
        let stated = store.add_alias(&one, stamp(1)).unwrap().unwrap();
        let undone = store.undo(stated, stamp(2)).unwrap().unwrap();
        assert_eq!((shown(store).len(), undone.action.as_str()), (0, "alias"));
        let change = store.coverage().unwrap();
        let again = store.undo(stated, stamp(3)).unwrap().unwrap();
        assert_eq!((again.event, again.unmoved.len(), store.coverage().unwrap()), (0, 1, change));
        store.undo(undone.event, stamp(4)).unwrap().unwrap();
        assert_eq!(store.aliases().unwrap(), [one]);
    });
}

#[test]
fn an_imported_alias_is_new_or_there() {
    with_store(|store, _| {
        let pieces =
            [NewPiece::Alias(alias("K8s", "Kubernetes")), NewPiece::Alias(alias("kubernetes", "K8S"))];
        let outcome = [PieceOutcome::Added, PieceOutcome::Same];
        assert_eq!(store.take_pieces(&pieces, true, stamp(1)).unwrap(), outcome);
        assert_eq!(shown(store).len(), 0);
        assert_eq!(store.take_pieces(&pieces, false, stamp(2)).unwrap(), outcome);
        assert_eq!(shown(store), ["K8s = Kubernetes"]);
    });
}
