//! What every store tells of its changes to whoever follows them.

use super::*;

#[test]
fn each_change_is_told_once_with_what_it_did_and_to_whom() {
    with_store(|store, path| {
        assert_eq!(store.changes(Change(0), 10).unwrap(), []);
        put(store, &memory("one"), stamp(1)).unwrap();
        // Another process's handle: who asks need not be who wrote.
        let other = SqliteStore::open(path, &Settings::default(), at(9)).unwrap();
        put(&other, &memory("one"), stamp(2)).unwrap();
        store.put_documents(&[document("/a.md", &["run it", "stop it"])], stamp(3)).unwrap();
        let told = store.changes(Change(0), 10).unwrap();
        let last = store.coverage().unwrap().change.0;
        assert_eq!(told.last().unwrap().change, last);
        assert!(told.windows(2).all(|pair| pair[0].change < pair[1].change));
        assert_eq!(told.iter().map(|change| change.time).collect::<Vec<_>>(), [at(1), at(2), at(3)]);
        let actions: Vec<Vec<&str>> =
            told.iter().map(|change| change.actions.keys().map(String::as_str).collect()).collect();
        assert_eq!(actions, [["curate"], ["confirm"], ["index"]]);
        assert_eq!(told[0].subjects, [memory("one").id]);
        // From any of them on, as many as are wanted.
        let rest = store.changes(Change(told[0].change), 1).unwrap();
        assert_eq!(rest, told[1..2]);
        assert_eq!(store.changes(Change(last), 10).unwrap(), []);
    });
}

#[test]
fn a_large_change_names_some_and_counts_the_rest() {
    with_store(|store, _| {
        let documents: Vec<NewDocument> =
            (0..130).map(|n| document(&format!("/{n}.md"), &["text"])).collect();
        store.put_documents(&documents, stamp(1)).unwrap();
        let told = store.changes(Change(0), 10).unwrap();
        assert_eq!((told.len(), told[0].subjects.len(), told[0].more), (1, 100, 30));
        assert_eq!(told[0].actions["index"], 130);
    });
}
