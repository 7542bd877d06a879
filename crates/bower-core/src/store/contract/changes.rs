//! Contract tests of the list of changes that followers of a store read.

use super::*;

#[test]
fn each_change_is_told_once_with_what_it_did_and_to_whom() {
    with_store(|store, fixture| {
        assert_eq!(store.changes(&Visibility::everything(), Change(0), 10).unwrap().0, []);
        put(store, &memory("one"), stamp(1)).unwrap();
        // Another process's handle: the reader need not be the writer.
        let other = fixture.open(at(9)).unwrap();
        put(&*other, &memory("one"), stamp(2)).unwrap();
        store.put_documents(&[document("/a.md", &["run it", "stop it"])], stamp(3)).unwrap();
        let told = store.changes(&Visibility::everything(), Change(0), 10).unwrap().0;
        let last = store.coverage().unwrap().change.0;
        assert_eq!(told.last().unwrap().change, last);
        assert!(told.windows(2).all(|pair| pair[0].change < pair[1].change));
        assert_eq!(told.iter().map(|change| change.time).collect::<Vec<_>>(), [at(1), at(2), at(3)]);
        let actions: Vec<Vec<&str>> =
            told.iter().map(|change| change.actions.keys().map(String::as_str).collect()).collect();
        assert_eq!(actions, [["curate"], ["confirm"], ["index"]]);
        assert_eq!(told[0].subjects, [memory("one").id]);
        // After any of them, with a limit.
        let rest = store.changes(&Visibility::everything(), Change(told[0].change), 1).unwrap().0;
        assert_eq!(rest, told[1..2]);
        assert_eq!(store.changes(&Visibility::everything(), Change(last), 10).unwrap().0, []);
    });
}

/// Neither ids nor counts of invisible items are returned.
#[test]
fn a_caller_is_told_of_what_it_may_see_alone() {
    with_store(|store, _| {
        put(store, &memory("one"), stamp(1)).unwrap();
        let bobs = NewMemory { owner: Some("bob".into()), ..memory("two") };
        put(store, &bobs, stamp(2)).unwrap();
        let guide = NewDocument { owner: Some("ann".into()), ..document("/a.md", &["run it", "stop it"]) };
        store.put_documents(&[guide.clone(), document("/b.md", &["see it"])], stamp(3)).unwrap();
        store.note("import", &Map::new(), stamp(4)).unwrap();
        let last = store.coverage().unwrap().change;
        let told = |visibility: &Visibility| store.changes(visibility, Change(0), 10).unwrap();
        let (all, looked) = told(&Visibility::everything());
        assert_eq!((all.len(), looked), (4, last));
        assert_eq!(all[2].actions["index"], 2);
        let owner = memory("one").owner;
        let (anns, looked) = told(&Visibility { owner, ..Visibility::everything() });
        assert_eq!(looked, last);
        let subjects: Vec<&String> = anns.iter().flat_map(|change| &change.subjects).collect();
        assert_eq!(subjects, [&memory("one").id, &guide.id]);
        assert_eq!(anns[1].actions["index"], 1, "another's document in the same change is not counted");
        let attic = Visibility { collections: Some(["attic".to_owned()].into()), ..Visibility::everything() };
        assert_eq!(told(&attic), (vec![], last));
        // Reading continues after the last examined change, whether it was visible or not.
        let (first, upto) = store.changes(&attic, Change(0), 2).unwrap();
        assert_eq!((first, upto), (vec![], Change(all[1].change)));
    });
}

#[test]
fn documents_are_listed_a_page_at_a_time() {
    with_store(|store, _| {
        let bobs = NewDocument { owner: Some("bob".into()), ..document("/b.md", &["see it", "say it"]) };
        store.put_documents(&[document("/a.md", &["run it"])], stamp(1)).unwrap();
        store.put_documents(&[bobs], stamp(2)).unwrap();
        put(store, &memory("one"), stamp(3)).unwrap();
        let page = |select: &Selection, limit, offset| {
            let page = store.document_page(select, limit, offset).unwrap();
            let ids = page.documents.iter().map(|one| (one.id.clone(), one.chunks)).collect::<Vec<_>>();
            (ids, page.total)
        };
        let all = Selection::default();
        let (a, b) = (("/a.md".to_owned(), 1), ("/b.md".to_owned(), 2));
        assert_eq!(page(&all, 9, 0), (vec![b.clone(), a.clone()], 2));
        assert_eq!(page(&all, 1, 1), (vec![a], 2));
        assert_eq!(page(&Selection { owner: Some("bob".into()), ..all.clone() }, 9, 0), (vec![b.clone()], 1));
        let below = Selection { sources: vec!["/b.md".into()], ..all.clone() };
        assert_eq!(page(&below, 9, 0), (vec![b], 1));
        let elsewhere = Selection { collections: vec!["attic".into()], ..all.clone() };
        assert_eq!(page(&elsewhere, 9, 0), (vec![], 0));
        let here = Selection { collections: vec!["documents".into(), "attic".into()], ..all };
        assert_eq!(page(&here, 1, 0).1, 2);
    });
}

#[test]
fn a_large_change_names_some_and_counts_the_rest() {
    with_store(|store, _| {
        let documents: Vec<NewDocument> =
            (0..130).map(|n| document(&format!("/{n}.md"), &["text"])).collect();
        store.put_documents(&documents, stamp(1)).unwrap();
        let told = store.changes(&Visibility::everything(), Change(0), 10).unwrap().0;
        assert_eq!((told.len(), told[0].subjects.len(), told[0].more), (1, 100, 30));
        assert_eq!(told[0].actions["index"], 130);
    });
}

#[test]
fn the_paths_that_came_since_a_change_are_told() {
    with_store(|store, _| {
        store
            .put_documents(&[document("/b/z.md", &["z"]), document("/a/guide.md", &["one"])], stamp(1))
            .unwrap();
        let upto = store.coverage().unwrap().change;
        let since = |after| store.paths_since(after).unwrap();
        let came = |after| {
            let mut came: Vec<_> = since(after).unwrap().came.into_iter().map(|(_, path)| path).collect();
            came.sort_unstable();
            came
        };
        put(store, &memory("one"), stamp(2)).unwrap();
        assert_eq!(came(upto), Vec::<String>::new());
        assert_eq!(came(Change(0)), ["/a/guide.md", "/b/z.md"]);
        store.put_documents(&[document("/a/new.md", &["new"])], stamp(3)).unwrap();
        assert_eq!(came(upto), ["/a/new.md"]);
        store.remove_documents(&[derive_id(&["documents", "/a/new.md"])], stamp(4)).unwrap();
        let went = since(upto).map(|changes| changes.went.len());
        assert!(matches!(went, None | Some(1)), "what went is told, or all is to be read");
    });
}
