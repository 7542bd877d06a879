//! Tests of tags: renamed for all items and for what is written later, given to documents, undone and forgotten.

use serde_json::json;

use super::fixture::Fixture;
use super::{MODEL, at, chunk, chunk_rows, document, memory, put, stamp, with_store};
use crate::error::Error;
use crate::item::{Change, RowId, derive_id};
use crate::request::{RenamedTags, Selection, TagAlias};
use crate::store::{DocumentTags, KeptChunk, NewMemory, RenameOutcome, Store, TagRenaming};

const PATH: &str = "/n/guide.md";

fn tags(store: &dyn Store, row: RowId) -> Vec<String> {
    store.items(&[row]).unwrap()[0].clone().unwrap().tags
}

fn tagged(content: &str, tags: &[&str]) -> NewMemory {
    NewMemory { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..memory(content) }
}

fn rename(store: &dyn Store, from: &[&str], to: &str, second: i64) -> RenameOutcome {
    let from: Vec<String> = from.iter().map(|&tag| tag.to_owned()).collect();
    let renaming = TagRenaming { from: &from, to, merges: from.len() > 1, dry_run: false };
    store.rename_tags(renaming, stamp(second)).unwrap()
}

#[track_caller]
fn renamed(outcome: RenameOutcome) -> RenamedTags {
    match outcome {
        RenameOutcome::Renamed(renamed) => renamed,
        other => panic!("{other:?}"),
    }
}

fn counts(store: &dyn Store, under: Option<&str>) -> Vec<(String, u64)> {
    let list = store.tag_list(&Selection::default(), under).unwrap();
    list.into_iter().map(|count| (count.tag, count.items)).collect()
}

fn counted(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter().map(|&(tag, items)| (tag.to_owned(), items)).collect()
}

#[test]
fn tags_are_counted_with_those_below_them() {
    with_store(|store, _| {
        put(store, &tagged("one", &["infra", "infra/db"]), stamp(1)).unwrap();
        put(store, &tagged("two", &["infra-x", "infra/db/a", "infra"]), stamp(2)).unwrap();
        store.put_documents(&[document(PATH, &["three", "four"])], stamp(3)).unwrap();
        let all = [("beta", 2), ("infra", 2), ("infra/db", 1), ("infra/db/a", 1), ("infra-x", 1)];
        assert_eq!(counts(store, None), counted(&all));
        assert_eq!(counts(store, Some("infra/db")), counted(&all[2..4]));
        assert_eq!(counts(store, Some("infr")), []);
        let beta = store.tag_list(&Selection::default(), Some("beta")).unwrap();
        assert_eq!((beta[0].memories, beta[0].documents), (0, 1));
        let some = Selection { tags: vec!["infra/db".into()], ..Selection::default() };
        assert_eq!(store.tag_list(&some, None).unwrap().len(), 2, "those that occur together");
        let pairs = store.document_tags(&Selection::default()).unwrap();
        assert_eq!(pairs, [(PATH.to_owned(), "beta".to_owned())]);
    });
}

#[test]
fn a_renamed_tag_stays_renamed_when_its_file_is_read_again() {
    with_store(|store, _| {
        let one = put(store, &tagged("one", &["alpha", "beta/x", "beta"]), stamp(1)).unwrap().row;
        store.put_documents(&[document(PATH, &["two", "three"])], stamp(2)).unwrap();
        let rows = chunk_rows(store, PATH);
        let before = store.coverage().unwrap().change;
        let done = renamed(rename(store, &["beta"], "new/name", 3));
        assert_eq!((done.memories, done.chunks, done.documents), (1, 2, 1));
        assert_eq!(tags(store, one), ["alpha", "new/name", "new/name/x"]);
        assert_eq!(tags(store, rows[0]), ["new/name"]);
        assert!(store.coverage().unwrap().change > before);

        let now = store.coverage().unwrap().change;
        let changed = store.retagged(before, now).unwrap();
        assert_eq!(changed, [one, rows[0], rows[1]], "the graph index reads them again");
        assert_eq!(store.text_rows(before, now).unwrap(), [], "their texts stay");
        assert_eq!(store.mentions(&[one]).unwrap(), [None], "its mentions name the old tag");
        assert_eq!(store.vectors(MODEL, &[one]).unwrap(), [Some(vec![1; 16])]);
        let with = |tag: &str| Selection { tags: vec![tag.into()], ..Selection::default() };
        assert_eq!(store.select(&with("new/name")).unwrap().unwrap().len(), 3);
        assert!(store.select(&with("beta")).unwrap().unwrap().is_empty());

        // A chunk of the file as it is, and a new one; and a memory that repeats the old name.
        let mut next = document(PATH, &[]);
        next.kept = vec![KeptChunk { row: rows[0], position: 0, lines: (1, 2), tags: vec!["beta".into()] }];
        next.added = vec![chunk(PATH, "four", 1)];
        next.removed = vec![rows[1]];
        store.put_documents(&[next], stamp(4)).unwrap();
        for row in chunk_rows(store, PATH) {
            assert_eq!(tags(store, row), ["new/name"]);
        }
        put(store, &tagged("one", &["beta"]), stamp(5)).unwrap();
        assert_eq!(tags(store, one), ["alpha", "new/name", "new/name/x"]);
        assert!(store.is_written(&derive_id(&["documents", PATH]), "beta").unwrap());

        let events = store.events(&memory("one").id).unwrap();
        let event = events.iter().find(|event| event.action == "retag").unwrap();
        assert_eq!(event.detail, json!({"removed": ["beta", "beta/x"], "added": ["new/name", "new/name/x"]}));
    });
}

#[test]
fn an_undone_renaming_brings_back_what_was_written() {
    with_store(|store, _| {
        let both = put(store, &tagged("both", &["a", "b"]), stamp(1)).unwrap().row;
        let old = put(store, &tagged("old", &["a"]), stamp(2)).unwrap().row;
        let new = put(store, &tagged("new", &["b"]), stamp(3)).unwrap().row;
        let done = renamed(rename(store, &["a", "c"][..1], "c", 4));
        let chained = renamed(rename(store, &["c", "b"], "d", 5));
        let later = put(store, &tagged("later", &["a"]), stamp(6)).unwrap().row;
        let shown = |store: &dyn Store| [both, old, new, later].map(|row| tags(store, row).join(" "));
        assert_eq!(shown(store), ["d", "d", "d", "d"]);
        assert_eq!(store.tag_aliases().unwrap().len(), 3);

        let undone = store.undo(done.event, stamp(7)).unwrap().unwrap();
        assert_eq!((undone.action.as_str(), undone.items.len(), undone.unmoved.len()), ("retag", 3, 0));
        assert_eq!(shown(store), ["a d", "a", "d", "a"]);
        // An undo of the undo.
        store.undo(undone.event, stamp(8)).unwrap().unwrap();
        assert_eq!(shown(store), ["d", "d", "d", "d"]);
        store.undo(chained.event, stamp(9)).unwrap().unwrap();
        assert_eq!(shown(store), ["b c", "c", "b", "c"]);
        let again = store.undo(done.event, stamp(10)).unwrap().unwrap();
        assert_eq!(shown(store), ["a b", "a", "b", "a"]);
        assert_eq!(store.tag_aliases().unwrap(), []);
        // There is nothing left to undo, and nothing is written.
        let change = store.coverage().unwrap().change;
        let nothing = store.undo(done.event, stamp(11)).unwrap().unwrap();
        assert_eq!((nothing.items.len(), nothing.unmoved.len()), (0, 1));
        assert_eq!(store.coverage().unwrap().change, change);
        assert!(again.event > 0);
    });
}

#[test]
fn a_confirmation_is_undone_under_the_present_name_of_its_tags() {
    with_store(|store, _| {
        let row = put(store, &tagged("one", &["a"]), stamp(1)).unwrap().row;
        put(store, &tagged("one", &["b"]), stamp(2)).unwrap();
        renamed(rename(store, &["b"], "c", 3));
        assert_eq!(tags(store, row), ["a", "c"]);
        let event =
            store.events(&memory("one").id).unwrap().into_iter().find(|event| event.action == "confirm");
        assert_eq!(store.undo(event.unwrap().event, stamp(4)).unwrap().unwrap().items.len(), 1);
        assert_eq!(tags(store, row), ["a"]);
    });
}

#[test]
fn what_cannot_be_renamed_changes_nothing() {
    with_store(|store, _| {
        put(store, &tagged("one", &["a", "b", "x/y"]), stamp(1)).unwrap();
        let first = renamed(rename(store, &["a"], "n", 2));
        let change = store.coverage().unwrap().change;
        let check = |from: &[&str], to: &str, expected: RenameOutcome| {
            assert_eq!(rename(store, from, to, 3), expected, "{from:?} {to}");
            assert_eq!(store.coverage().unwrap().change, change);
            assert_eq!(store.tag_aliases().unwrap(), [TagAlias { from: "a".into(), to: "n".into() }]);
        };
        check(&["q"], "r", RenameOutcome::Unknown { tag: "q".into(), now: None });
        check(&["b", "q"], "r", RenameOutcome::Unknown { tag: "q".into(), now: None });
        check(&["a"], "r", RenameOutcome::Unknown { tag: "a".into(), now: Some("n".into()) });
        check(&["b"], "n", RenameOutcome::Taken { items: 1 });
        check(&["n"], "a", RenameOutcome::Circle { tag: "n".into(), event: Some(first.event) });
        check(&["x"], "x/y/z", RenameOutcome::Circle { tag: "x".into(), event: None });
        let from = ["b".to_owned(), "n".to_owned()];
        let dry = TagRenaming { from: &from, to: "z", merges: true, dry_run: true };
        let RenameOutcome::Renamed(told) = store.rename_tags(dry, stamp(3)).unwrap() else { panic!() };
        assert_eq!((told.event, told.memories, told.dry_run), (0, 1, true));
        assert_eq!(store.coverage().unwrap().change, change);
    });
}

#[test]
fn a_long_chain_of_renamings_ends_and_one_without_end_is_refused() {
    with_store(|store, _| {
        let row = put(store, &tagged("one", &["t0"]), stamp(1)).unwrap().row;
        for n in 0..60 {
            renamed(rename(store, &[&format!("t{n}")], &format!("t{}", n + 1), 2));
        }
        let late = put(store, &tagged("two", &["t0/below"]), stamp(3)).unwrap().row;
        assert_eq!(
            (tags(store, row), tags(store, late)),
            (vec!["t60".to_owned()], vec!["t60/below".to_owned()])
        );
        let circle = rename(store, &["t60"], "t3", 4);
        assert!(matches!(circle, RenameOutcome::Circle { event: Some(_), .. }), "{circle:?}");
    });
}

#[test]
fn tags_of_a_kept_chunk_follow_its_file() {
    with_store(|store, _| {
        store.put_documents(&[document(PATH, &["one"])], stamp(1)).unwrap();
        let row = chunk_rows(store, PATH)[0];
        let again = |tags: &[&str], second| {
            let mut next = document(PATH, &[]);
            let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            next.kept = vec![KeptChunk { row, position: 0, lines: (1, 2), tags }];
            let before = store.coverage().unwrap().change;
            store.put_documents(&[next], stamp(second)).unwrap();
            store.retagged(before, store.coverage().unwrap().change).unwrap()
        };
        assert_eq!(again(&["beta"], 2), [], "nothing changed");
        assert_eq!(again(&["gamma", "delta"], 3), [row]);
        assert_eq!(tags(store, row), ["delta", "gamma"]);
        assert_eq!(again(&[], 4), [row]);
        assert_eq!(tags(store, row), Vec::<String>::new());
    });
}

#[test]
fn tags_given_to_a_document_stay_with_it() {
    with_store(|store, _| {
        store.put_documents(&[document(PATH, &["one"])], stamp(1)).unwrap();
        let give = |paths: &[&str], tags: &[&str], dry_run, second| {
            let all = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
            let given = [
                DocumentTags { paths: all(paths), tags: all(tags) },
                DocumentTags { paths: vec!["/n/gone.md".into()], tags: vec!["x".into()] },
            ];
            store.give_tags(&given, dry_run, stamp(second)).unwrap()
        };
        let row = chunk_rows(store, PATH)[0];
        let looked = give(&["guide.md", PATH], &["beta", "given"], true, 2);
        assert_eq!((looked.event, looked.changed, looked.added, looked.missing.len()), (0, 1, 1, 1));
        assert_eq!(tags(store, row), ["beta"]);
        let made = give(&["guide.md", PATH], &["given"], false, 3);
        assert_eq!((made.changed, made.added, made.kept, made.unchanged), (1, 1, 1, 0));
        assert_eq!(tags(store, row), ["beta", "given"]);
        let again = give(&[PATH], &["beta", "given"], false, 4);
        assert_eq!((again.event, again.changed, again.unchanged), (0, 0, 1));

        // The file changes, and its tag is renamed.
        let mut next = document(PATH, &[]);
        next.kept = vec![KeptChunk { row, position: 0, lines: (1, 2), tags: vec!["beta".into()] }];
        next.added = vec![chunk(PATH, "two", 1)];
        store.put_documents(&[next], stamp(5)).unwrap();
        let shown = |store: &dyn Store| -> Vec<String> {
            chunk_rows(store, PATH).into_iter().map(|row| tags(store, row).join(" ")).collect()
        };
        assert_eq!(shown(store), ["beta given", "beta given"]);
        let renaming = renamed(rename(store, &["given"], "told", 6));
        assert_eq!(shown(store), ["beta told", "beta told"]);
        store.undo(renaming.event, stamp(7)).unwrap().unwrap();
        let undone = store.undo(made.event, stamp(8)).unwrap().unwrap();
        assert_eq!(undone.items, [derive_id(&["documents", PATH])]);
        assert_eq!(shown(store), ["beta", "beta"]);
        store.undo(undone.event, stamp(9)).unwrap().unwrap();
        assert_eq!(shown(store), ["beta given", "beta given"]);
        store.remove_documents(&[derive_id(&["documents", PATH])], stamp(10)).unwrap();
    });
}

#[test]
fn forgetting_the_last_item_of_a_tag_forgets_its_renamings() {
    with_store(|store, fixture: &dyn Fixture| {
        let secret = put(store, &tagged("one", &["codename", "beta"]), stamp(1)).unwrap().row;
        let other = put(store, &tagged("two", &["beta"]), stamp(2)).unwrap().row;
        renamed(rename(store, &["codename"], "quiet-one", 3));
        renamed(rename(store, &["beta"], "gamma", 4));
        let undone = renamed(rename(store, &["quiet-one"], "third-name", 5));
        store.undo(undone.event, stamp(6)).unwrap().unwrap();
        store.forget(&[secret], false, stamp(7)).unwrap();
        assert_eq!(store.tag_aliases().unwrap(), [TagAlias { from: "beta".into(), to: "gamma".into() }]);
        for name in ["codename", "quiet-one", "third-name"] {
            for event in fixture.rows("events") {
                assert!(!event["detail"].as_str().unwrap().contains(name), "{event:?}");
            }
        }
        assert_eq!(tags(store, other), ["gamma"]);
        store.forget(&[other], false, stamp(8)).unwrap();
        for table in ["tag_aliases", "written_tags", "document_tags", "retagged", "tags"] {
            assert_eq!(fixture.rows(table).len(), 0, "{table}");
        }
    });
}

#[test]
fn a_renaming_that_is_cut_short_anywhere_changes_nothing() {
    with_store(|store, fixture| {
        let row = put(store, &tagged("one", &["a", "a/b"]), stamp(1)).unwrap().row;
        let state = |store: &dyn Store| {
            (
                store.coverage().unwrap(),
                tags(store, row),
                store.tag_aliases().unwrap(),
                store.retagged(Change(0), Change(99)).unwrap(),
            )
        };
        let before = state(store);
        let from = ["a".to_owned()];
        let renaming = TagRenaming { from: &from, to: "c", merges: false, dry_run: false };
        let mut interrupted = 0;
        for steps in (1..).map(|n| n * 7) {
            let failing = fixture.open_failing(steps);
            match failing.rename_tags(renaming, stamp(2)) {
                Err(error) => {
                    assert!(matches!(error, Error::Store { .. }), "{error:?}");
                    assert_eq!(state(&*failing), before, "after {steps} steps");
                    interrupted += 1;
                }
                Ok(outcome) => {
                    assert_eq!(renamed(outcome).memories, 1);
                    break;
                }
            }
        }
        assert!(interrupted > 10, "only {interrupted} writes were cut short");
        let again = fixture.open(at(3)).unwrap();
        assert_eq!(
            (tags(&*again, row), again.verify().unwrap()),
            (vec!["c".to_owned(), "c/b".to_owned()], Vec::new())
        );
    });
}
