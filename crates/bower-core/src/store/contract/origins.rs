//! Contract tests of provenance, and of undoing everything that one origin wrote.

use super::*;
use crate::item::{Origin, TakenHow, Visibility};
use crate::request::Undone;
use crate::store::{NewPattern, OWN};

fn by(session: &str, memory: NewMemory) -> NewMemory {
    NewMemory { source_conv_id: Some(session.into()), host: Some("codex".into()), ..memory }
}

fn provenance(store: &dyn Store, row: RowId) -> Provenance {
    store.items(&[row]).unwrap().remove(0).unwrap().provenance
}

fn status(store: &dyn Store, row: RowId) -> Status {
    store.items(&[row]).unwrap().remove(0).unwrap().status
}

fn of_session(name: &str) -> Origin {
    Origin { session: Some(name.into()), ..Origin::default() }
}

fn undo(store: &dyn Store, origin: &Origin, second: i64) -> Undone {
    store.undo_origin(&Visibility::everything(), origin, false, stamp(second)).unwrap().unwrap()
}

#[test]
fn what_nobody_reviewed_takes_nothing_from_what_somebody_did() {
    with_store(|store, _| {
        let row = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
        let pick = NewMemory {
            provenance: Provenance::picked(Author::User, Author::User),
            status: Status::Candidate,
            tags: vec!["beta".into()],
            metadata: Map::from_iter([("team".to_owned(), json!("theirs"))]),
            ..memory("port 8080")
        };
        put(store, &pick, stamp(2)).unwrap();
        let item = store.items(&[row]).unwrap().remove(0).unwrap();
        assert_eq!(item.provenance, Provenance::told(Author::User));
        assert_eq!((item.metadata["team"].as_str(), item.tags), (Some("core"), vec!["alpha".to_owned()]));
        assert!((item.confidence - 0.65).abs() < 1e-6, "it is an observation all the same");
        let web = NewMemory { provenance: Provenance::told(Author::Web), ..pick };
        put(store, &web, stamp(3)).unwrap();
        let item = store.items(&[row]).unwrap().remove(0).unwrap();
        assert!((item.confidence - 0.65).abs() < 1e-6, "a page confirms nothing");

        // The reverse: stating an extracted candidate makes it an active memory.
        let picked = NewMemory { provenance: web.provenance, ..web };
        let row = put(
            store,
            &NewMemory { id: derive_id(&["two"]), content: "two".into(), ..picked.clone() },
            stamp(4),
        );
        let row = row.unwrap().row;
        let told = NewMemory {
            id: derive_id(&["two"]),
            content: "two".into(),
            status: Status::Active,
            provenance: Provenance::told(Author::User),
            ..picked
        };
        put(store, &told, stamp(5)).unwrap();
        assert_eq!((status(store, row), provenance(store, row)), (Status::Active, told.provenance));
        // That is undone with its event.
        let events = store.events(&told.id).unwrap();
        store.undo(events.last().unwrap().event, stamp(6)).unwrap().unwrap();
        assert_eq!(status(store, row), Status::Candidate);
        assert_eq!(provenance(store, row), Provenance::told(Author::Web));
    });
}

#[test]
fn all_of_an_origin_is_taken_back_the_last_first() {
    with_store(|store, _| {
        let first = put(store, &memory("port 1"), stamp(1)).unwrap().row;
        let replaces = |text: &str, row, second| {
            let told = store.put_memory(
                &by("s1", memory(text)),
                &decided(WriteAction::Replaces(row)),
                stamp(second),
            );
            told.unwrap().unwrap().row
        };
        let second = replaces("port 2", first, 2);
        let third = replaces("port 3", second, 3);
        let kept = put(store, &memory("kept"), stamp(4)).unwrap().row;
        store.put_memory(&by("s1", memory("kept")), &decided(WriteAction::Confirms(kept)), stamp(5)).unwrap();
        // A later confirmation by another origin stays.
        store.put_memory(&memory("kept"), &decided(WriteAction::Confirms(kept)), stamp(6)).unwrap();
        let other = put(store, &by("s2", memory("other")), stamp(7)).unwrap().row;
        let theirs = NewMemory { owner: Some("bob".into()), ..by("s1", memory("bob's")) };
        let theirs = put(store, &theirs, stamp(8)).unwrap().row;
        let before = store.coverage().unwrap();

        let ann = Visibility::of(None, Some("ann".into()));
        let dry = store.undo_origin(&ann, &of_session("s1"), true, stamp(9)).unwrap().unwrap();
        assert_eq!(store.coverage().unwrap(), before, "only looked at");
        let undone = store.undo_origin(&ann, &of_session("s1"), false, stamp(9)).unwrap().unwrap();
        assert_eq!((dry.taken, dry.event, dry.dry_run), (undone.taken.clone(), 0, true));
        assert_eq!(undone.unmoved, []);
        let what =
            |text: &str| undone.taken.iter().find(|taken| taken.summary == text).map(|taken| taken.what);
        assert_eq!(what("port 1"), Some(TakenHow::Restored));
        assert_eq!((what("port 2"), what("port 3")), (Some(TakenHow::Archived), Some(TakenHow::Archived)));
        assert_eq!((what("kept"), what("other"), what("bob's")), (Some(TakenHow::Unconfirmed), None, None));
        assert_eq!(
            [first, second, third].map(|row| status(store, row)),
            [Status::Active, Status::Archived, Status::Archived]
        );
        assert_eq!((status(store, other), status(store, theirs)), (Status::Active, Status::Active));
        let item = store.items(&[kept]).unwrap().remove(0).unwrap();
        assert!((item.confidence - 0.65).abs() < 1e-6, "one observation of two is left: {}", item.confidence);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
        assert_eq!(undo(store, &of_session("s2"), 10).items.len(), 1);
        // It is a run: all of it comes back.
        let redone = store.undo(undone.event, stamp(11)).unwrap().unwrap();
        assert_eq!(redone.unmoved, []);
        assert_eq!(
            [first, second, third].map(|row| status(store, row)),
            [Status::Superseded, Status::Superseded, Status::Active]
        );
        assert_eq!(store.chain(first).unwrap(), [first, second, third]);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_pattern_goes_with_what_it_was_made_of_and_turns_go_too() {
    with_store(|store, _| {
        let mine = put(store, &memory("one"), stamp(1)).unwrap().row;
        let theirs = ["two", "three"].map(|text| put(store, &by("s1", memory(text)), stamp(2)).unwrap().row);
        let pattern = NewMemory { source: OWN.into(), ..memory("all of them") };
        let members = vec![mine, theirs[0], theirs[1]];
        store.put_patterns(&[NewPattern { memory: pattern.clone(), members }], stamp(3)).unwrap();
        let (row, _) = store.rows_by_id(&pattern.id, &Visibility::everything(), 1).unwrap().remove(0);
        let turn = NewDocument {
            session: Some("s1".into()),
            provenance: Provenance::picked(Author::User, Author::User),
            host: Some("codex".into()),
            ..document("codex/s1/1", &["User: two and three"])
        };
        store.put_documents(&[turn, document("/a.md", &["a file"])], stamp(4)).unwrap();
        let said = store.chunks(&derive_id(&["documents", "codex/s1/1"])).unwrap()[0].1;
        let file = store.chunks(&derive_id(&["documents", "/a.md"])).unwrap()[0].1;
        assert_eq!(provenance(store, said), Provenance::picked(Author::User, Author::User));
        assert_eq!(provenance(store, file), Provenance::FILE);

        let undone = undo(store, &of_session("s1"), 5);
        assert_eq!(undone.unmoved, []);
        assert_eq!([row, theirs[0], theirs[1], said].map(|row| status(store, row)), [Status::Archived; 4]);
        assert_eq!([mine, file].map(|row| status(store, row)), [Status::Active; 2]);
        assert_eq!(undo(store, &of_session("s1"), 6).items, Vec::<String>::new(), "nothing is left of it");
        store.undo(undone.event, stamp(7)).unwrap().unwrap();
        assert_eq!([row, said].map(|row| status(store, row)), [Status::Active; 2]);
        assert_eq!([mine, theirs[0]].map(|row| status(store, row)), [Status::Archived; 2]);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_briefing_reads_nothing_from_outside_that_nobody_reviewed() {
    with_store(|store, _| {
        let of = |text: &str, provenance| NewMemory { provenance, ..memory(text) };
        let user = put(store, &of("one", Provenance::told(Author::User)), stamp(1)).unwrap().row;
        put(store, &of("two", Provenance::picked(Author::Agent, Author::Tool)), stamp(2)).unwrap();
        let pick =
            put(store, &of("three", Provenance::picked(Author::User, Author::User)), stamp(3)).unwrap().row;
        let kept = Provenance { reviewed: true, ..Provenance::told(Author::Web) };
        let kept = put(store, &of("four", kept), stamp(4)).unwrap().row;
        let found =
            store.newest(&[MemoryType::Decision], Status::Active, &Visibility::everything(), 10).unwrap();
        assert_eq!(found, [kept, pick, user]);
    });
}

#[test]
fn whose_words_an_item_is_does_not_change_unseen() {
    with_store(|store, fixture| {
        let web = NewMemory { provenance: Provenance::told(Author::Web), ..memory("one") };
        put(store, &web, stamp(1)).unwrap();
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
        let damage = [
            ("reviewed", json!(true)),
            ("said_by", json!("user")),
            ("least_trusted", json!(null)),
            ("host", json!("x")),
        ];
        for (column, other) in damage {
            let before = fixture.rows("items")[0][column].clone();
            fixture.set("items", column, &other);
            assert_eq!(store.verify().unwrap().len(), 1, "{column}");
            fixture.set("items", column, &before);
            assert_eq!(store.verify().unwrap(), Vec::<String>::new(), "{column}");
        }
    });
}
