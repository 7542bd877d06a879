//! Contract tests of read marks, pinned memories and the newest memories.

use serde_json::{Map, json};

use super::{at, memory, put, stamp, with_store};
use crate::item::{MemoryType, Scope, Status, Tier, Visibility, derive_id};
use crate::store::NewMemory;

#[test]
fn a_mark_is_an_event_on_its_subject() {
    with_store(|store, fixture| {
        let before = store.coverage().unwrap();
        let detail = |turns: u64| Map::from_iter([("turns".to_owned(), json!(turns))]);
        let first = store.mark("00ff00ff00ff00ff", "read", &detail(3), stamp(1)).unwrap();
        let second = store.mark("00ff00ff00ff00ff", "read", &detail(5), stamp(2)).unwrap();
        assert!(second > first && store.coverage().unwrap() != before);
        let again = fixture.open(at(3)).unwrap();
        let events = again.events("00ff00ff00ff00ff").unwrap();
        let told: Vec<_> = events.iter().map(|event| (event.event, event.detail["turns"].as_u64())).collect();
        assert_eq!(told, [(first, Some(3)), (second, Some(5))]);
        assert!(again.events("other").unwrap().is_empty());
    });
}

#[test]
fn what_is_pinned_is_found() {
    with_store(|store, _| {
        let of = |text: &str, tier, status| NewMemory {
            id: derive_id(&["memories", text]),
            content: text.to_owned(),
            tier,
            status,
            ..memory(text)
        };
        let keep = |text: &str, tier, status| put(store, &of(text, tier, status), stamp(1)).unwrap().row;
        let one = keep("one", Tier::Pinned, Status::Active);
        keep("two", Tier::Active, Status::Active);
        keep("three", Tier::Pinned, Status::Archived);
        let four = keep("four", Tier::Pinned, Status::Candidate);
        assert_eq!(store.pinned().unwrap(), [four, one]);
        store.forget(&[four], false, stamp(2)).unwrap();
        assert_eq!(store.pinned().unwrap(), [one]);
    });
}

#[test]
fn the_newest_of_some_types_are_found() {
    with_store(|store, _| {
        let keep = |text: &str, memory_type, status, owner: Option<&str>, second| {
            let new = NewMemory {
                id: derive_id(&["memories", text]),
                content: text.to_owned(),
                memory_type,
                status,
                owner: owner.map(str::to_owned),
                ..memory(text)
            };
            put(store, &new, stamp(second)).unwrap().row
        };
        let ann = Some("ann");
        let one = keep("one", MemoryType::Decision, Status::Active, ann, 9);
        let two = keep("two", MemoryType::Procedure, Status::Active, None, 2);
        let three = keep("three", MemoryType::Decision, Status::Candidate, ann, 3);
        let four = keep("four", MemoryType::Decision, Status::Active, None, 4);
        store.put_documents(&[super::document("/a.md", &["a chunk"])], stamp(5)).unwrap();
        let find = |types: &[MemoryType], status, visibility: Visibility, most| {
            store.newest(types, status, &visibility, most).unwrap()
        };
        let anyone = Visibility::everything;
        assert_eq!(store.number(Status::Active, &anyone()).unwrap(), 3);
        assert_eq!(
            store.number(Status::Active, &Visibility { owner: ann.map(str::to_owned), ..anyone() }).unwrap(),
            1
        );
        assert_eq!(find(&[MemoryType::Decision], Status::Active, anyone(), 9), [one, four]);
        assert_eq!(find(&[], Status::Active, anyone(), 9), [one, four, two]);
        assert_eq!(find(&[], Status::Active, anyone(), 1), [one]);
        assert_eq!(find(&[], Status::Candidate, anyone(), 9), [three]);
        let of_ann = Visibility { owner: ann.map(str::to_owned), ..anyone() };
        assert_eq!(find(&[], Status::Active, of_ann, 9), [one]);
        let agents = Visibility { scope: Some(Scope::Agent), ..anyone() };
        assert_eq!(find(&[], Status::Active, agents, 9), []);
        let of = |name: &str| Visibility { collections: Some([name.to_owned()].into()), ..anyone() };
        assert_eq!(find(&[], Status::Active, of("memories"), 9), [one, four, two]);
        assert_eq!(find(&[], Status::Active, of("others"), 9), []);
        assert_eq!((store.number(Status::Active, &of("memories")).unwrap()), 3);
        assert_eq!((store.number(Status::Active, &of("others")).unwrap()), 0);
    });
}
