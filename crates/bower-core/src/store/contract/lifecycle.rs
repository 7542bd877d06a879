//! Contract tests of memory maintenance: state changes of a run, undo, patterns, uses, and counts of each scope.
//! These changes are automatic; a change is void if the memory changed since its decision.

use super::*;
use crate::item::Ruling;
use crate::store::{ExpectedState, NewPattern, OWN, Transition};

fn turning(store: &dyn Store, row: RowId, status: Status, tier: Tier) -> Transition {
    let item = store.items(&[row]).unwrap().remove(0).unwrap();
    Transition {
        row,
        action: "archive",
        seen: ExpectedState {
            status: item.status,
            tier: item.tier,
            confidence: item.confidence,
            accessed: Some(item.access_time),
        },
        status,
        tier,
        confidence: item.confidence,
        ends: false,
        is_use: false,
        is_review: false,
        why: Map::from_iter([("rule".to_owned(), json!("unused"))]),
    }
}

fn state(store: &dyn Store, row: RowId) -> (Status, Tier) {
    let item = store.items(&[row]).unwrap().remove(0).unwrap();
    (item.status, item.tier)
}

fn put_pattern(store: &dyn Store, memory: &NewMemory, members: &[RowId], stamp: Stamp<'_>) -> Option<u64> {
    let pattern = NewPattern { memory: memory.clone(), members: members.to_vec() };
    store.put_patterns(&[pattern], stamp).unwrap().remove(0)
}

fn held(store: &dyn Store) -> Vec<(Scope, Option<String>, u64)> {
    store.held().unwrap()
}

#[test]
fn a_run_turns_what_is_still_as_it_was_seen_and_is_undone_as_a_whole() {
    with_store(|store, _| {
        let rows: Vec<RowId> =
            ["one", "two", "three"].map(|text| put(store, &memory(text), stamp(1)).unwrap().row).to_vec();
        let mut turns: Vec<Transition> =
            rows.iter().map(|&row| turning(store, row, Status::Archived, Tier::Active)).collect();
        turns[1].status = Status::Active;
        turns[1].tier = Tier::Fading;
        // Used meanwhile.
        store.add_uses(&[(rows[2], at(2))]).unwrap();
        let detail = Map::new();
        let turned = store.turn(Some(("sweep", &detail)), &turns, stamp(3)).unwrap();
        assert_eq!(turned.rows, [rows[0], rows[1]]);
        assert_eq!(state(store, rows[0]), (Status::Archived, Tier::Active));
        assert_eq!(state(store, rows[1]), (Status::Active, Tier::Fading));
        assert_eq!(state(store, rows[2]), (Status::Active, Tier::Active));
        assert_eq!(store.hidden(Clocks::default()).unwrap().iter().collect::<Vec<_>>(), [rows[0]]);
        // The past is unchanged.
        let then = Clocks { as_of: Some(at(2)), valid_at: None };
        assert!(store.hidden(then).unwrap().is_empty());
        assert_eq!(held(store), [(Scope::Project, Some("ann".to_owned()), 2)]);
        assert_eq!(store.last_runs().unwrap().get("sweep"), Some(&at(3)));

        // One of them was pinned since: the others are restored.
        let pin = Transition {
            tier: Tier::Pinned,
            action: "pin",
            ..turning(store, rows[1], Status::Active, Tier::Active)
        };
        store.turn(None, &[pin], stamp(4)).unwrap();
        let undone = store.undo(turned.event, stamp(5)).unwrap().unwrap();
        assert_eq!((undone.action.as_str(), undone.items), ("sweep", vec![memory("one").id]));
        assert_eq!(undone.unmoved.len(), 1);
        assert_eq!(state(store, rows[0]), (Status::Active, Tier::Active));
        assert_eq!(state(store, rows[1]), (Status::Active, Tier::Pinned));
        assert!(store.hidden(Clocks::default()).unwrap().is_empty());
        // Nothing is left to undo.
        let again = store.undo(turned.event, stamp(6)).unwrap().unwrap();
        assert_eq!((again.event, again.items.len()), (0, 0));
        // The undo can be undone too.
        let redone = store.undo(undone.event, stamp(7)).unwrap().unwrap();
        assert_eq!(redone.items, [memory("one").id]);
        assert_eq!(state(store, rows[0]), (Status::Archived, Tier::Active));
        assert_eq!(store.undo(99_999, stamp(8)).unwrap(), None);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

/// Half of it would leave a chain with two heads.
#[test]
fn what_replaced_a_memory_is_undone_wholly_or_not_at_all() {
    with_store(|store, _| {
        let first = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
        let tagged = NewMemory { tags: vec!["net".into()], ..memory("port 9090") };
        let second =
            store.put_memory(&tagged, &decided(WriteAction::Replaces(first)), stamp(2)).unwrap().unwrap().row;
        let event = store.events(&memory("port 9090").id).unwrap().pop().unwrap();
        assert_eq!(event.action, "supersede");
        let third = store
            .put_memory(&memory("port 7070"), &decided(WriteAction::Replaces(second)), stamp(3))
            .unwrap()
            .unwrap()
            .row;
        let refused = store.undo(event.event, stamp(4)).unwrap().unwrap();
        assert_eq!((refused.event, refused.items.len(), refused.unmoved.len()), (0, 0, 1), "{refused:?}");
        assert_eq!(store.chain(first).unwrap(), [first, second, third]);

        let later = store.events(&memory("port 7070").id).unwrap().pop().unwrap();
        store.undo(later.event, stamp(5)).unwrap().unwrap();
        assert_eq!(state(store, second).0, Status::Active);
        assert_eq!(state(store, third).0, Status::Archived);
        store.undo(event.event, stamp(6)).unwrap().unwrap();
        assert_eq!(state(store, first).0, Status::Active);
        assert_eq!(state(store, second).0, Status::Archived);
        assert_eq!(store.chain(first).unwrap(), [first]);
        let item = store.items(&[first]).unwrap().remove(0).unwrap();
        assert_eq!((item.valid_to, item.superseded_by_id), (None, None));
        let item = store.items(&[second]).unwrap().remove(0).unwrap();
        assert_eq!(item.tags, ["net"], "the older one's tag went back");
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

/// Otherwise undoing the undo would link the newer memory to a removed one. Stated again, that one would be replaced and
/// stay visible.
#[test]
fn no_undo_ties_a_memory_to_what_was_forgotten() {
    with_store(|store, _| {
        let first = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
        let newer = decided(WriteAction::Replaces(first));
        let second = store.put_memory(&memory("port 9090"), &newer, stamp(2)).unwrap().unwrap();
        let event = store.events(&second.id).unwrap().pop().unwrap();
        let undone = store.undo(event.event, stamp(3)).unwrap().unwrap();
        store.forget(&[first], false, stamp(4)).unwrap();

        // Visible again, without its link.
        let again = store.undo(undone.event, stamp(5)).unwrap().unwrap();
        assert_eq!(again.items, std::slice::from_ref(&second.id));
        assert_eq!(again.unmoved.last().map(|unmoved| &unmoved.id), Some(&second.id), "its link: {again:?}");
        assert_eq!(state(store, second.row).0, Status::Active);
        assert_eq!(store.items(&[second.row]).unwrap().remove(0).unwrap().supersedes_id, None);
        put(store, &memory("port 8080"), stamp(6)).unwrap();
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_confirmation_and_a_contradiction_are_undone() {
    with_store(|store, _| {
        let first = put(store, &memory("the cache is on"), stamp(1)).unwrap().row;
        let again = NewMemory { tags: vec!["net".into()], ..memory("the cache is on") };
        store.put_memory(&again, &decided(WriteAction::Confirms(first)), stamp(2)).unwrap().unwrap();
        let event = store.events(&memory("the cache is on").id).unwrap().pop().unwrap();
        store.undo(event.event, stamp(3)).unwrap().unwrap();
        let item = store.items(&[first]).unwrap().remove(0).unwrap();
        assert!((item.confidence - 0.6).abs() < 1e-6, "{}", item.confidence);
        assert_eq!(item.tags, ["alpha"]);

        let dispute = decided(WriteAction::Disputes(first));
        let newer = store.put_memory(&memory("the cache is not on"), &dispute, stamp(4)).unwrap().unwrap();
        let event = store.events(&newer.id).unwrap().pop().unwrap();
        store.undo(event.event, stamp(5)).unwrap().unwrap();
        assert_eq!(store.reviews(true).unwrap(), []);
        assert_eq!(state(store, newer.row).0, Status::Archived);
    });
}

/// In one transaction: a candidate with a closed review would wait for a decision that never comes.
#[test]
fn a_review_that_is_settled_for_a_candidate_promotes_it_and_both_are_undone() {
    with_store(|store, _| {
        let first = put(store, &memory("the cache is on"), stamp(1)).unwrap().row;
        let candidate = NewMemory { status: Status::Candidate, ..memory("the cache is not on") };
        let dispute = decided(WriteAction::Disputes(first));
        let newer = store.put_memory(&candidate, &dispute, stamp(2)).unwrap().unwrap();
        let review = store.reviews(true).unwrap().remove(0).review;
        store.settle(review, Ruling::Both, stamp(3)).unwrap().unwrap();
        assert_eq!(state(store, newer.row).0, Status::Active);
        let event = store.events(&newer.id).unwrap().pop().unwrap();
        let undone = store.undo(event.event, stamp(4)).unwrap().unwrap();
        assert_eq!(undone.unmoved, []);
        assert_eq!(state(store, newer.row).0, Status::Candidate);
        assert_eq!(store.reviews(true).unwrap().len(), 1, "open again");
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_pattern_stands_for_its_examples_until_that_is_undone() {
    with_store(|store, _| {
        let rows: Vec<RowId> =
            ["one", "two", "three"].map(|text| put(store, &memory(text), stamp(1)).unwrap().row).to_vec();
        let pattern =
            NewMemory { memory_type: MemoryType::Pattern, source: OWN.into(), ..memory("all of them") };
        let event = put_pattern(store, &pattern, &rows, stamp(2)).unwrap();
        assert_eq!(rows.iter().map(|&row| state(store, row).0).collect::<Vec<_>>(), [Status::Archived; 3]);
        let mut own = Vec::new();
        store.lives(&mut |life| own.push((life.is_own, life.observations, life.id.to_owned()))).unwrap();
        assert_eq!(own, [(true, 3, pattern.id.clone())]);
        assert_eq!(put_pattern(store, &pattern, &rows, stamp(3)), None, "they are examples already");

        let undone = store.undo(event, stamp(4)).unwrap().unwrap();
        assert_eq!(undone.items.len(), 4);
        assert_eq!(rows.iter().map(|&row| state(store, row).0).collect::<Vec<_>>(), [Status::Active; 3]);
        assert_eq!(store.counts().unwrap().memories, 3);
        assert_eq!(put_pattern(store, &pattern, &rows, stamp(5)), None, "somebody took it back");
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

/// Patterns written together exist independently, and are undone independently.
#[test]
fn patterns_of_one_transaction_stand_alone() {
    with_store(|store, _| {
        let rows: Vec<RowId> = ["one", "two", "three", "four", "five", "six", "seven"]
            .map(|text| put(store, &memory(text), stamp(1)).unwrap().row)
            .to_vec();
        let pattern = |text: &str, members: &[RowId]| NewPattern {
            memory: NewMemory {
                memory_type: MemoryType::Pattern,
                source: OWN.into(),
                vector: None,
                ..memory(text)
            },
            members: members.to_vec(),
        };
        let patterns = [
            pattern("low", &rows[..3]),
            pattern("again low", &rows[2..5]),
            pattern("high", &rows[3..6]),
            pattern("low", &rows[6..]),
        ];
        let before = store.coverage().unwrap().change;
        let events = store.put_patterns(&patterns, stamp(2)).unwrap();
        let told: Vec<bool> = events.iter().map(Option::is_some).collect();
        assert_eq!(told, [true, false, true, false], "whose member went, and who is there already, is void");
        assert_eq!(store.coverage().unwrap().change, Change(before.0 + 2));
        let states = |rows: &[RowId]| rows.iter().map(|&row| state(store, row).0).collect::<Vec<_>>();
        assert_eq!(states(&rows[..6]), [Status::Archived; 6]);
        assert_eq!(states(&rows[6..]), [Status::Active]);
        let undone = store.undo(events[0].unwrap(), stamp(3)).unwrap().unwrap();
        assert_eq!(undone.items.len(), 4);
        assert_eq!(states(&rows[..3]), [Status::Active; 3]);
        assert_eq!(states(&rows[3..6]), [Status::Archived; 3], "the other pattern stands");
        assert_eq!(store.put_patterns(&[], stamp(4)).unwrap(), []);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn scopes_and_owners_are_counted_as_memories_come_and_go() {
    with_store(|store, _| {
        assert_eq!(held(store), []);
        let first = put(store, &memory("one"), stamp(1)).unwrap().row;
        let nobody = NewMemory { owner: None, scope: Scope::Agent, ..memory("two") };
        put(store, &nobody, stamp(1)).unwrap();
        let empty = NewMemory { owner: Some(String::new()), scope: Scope::Agent, ..memory("three") };
        put(store, &empty, stamp(1)).unwrap();
        store.put_documents(&[document("/notes/a.md", &["x"])], stamp(2)).unwrap();
        let ann = || (Scope::Project, Some("ann".to_owned()), 1);
        let agents = [(Scope::Agent, None, 1), (Scope::Agent, Some(String::new()), 1)];
        assert_eq!(held(store), [&agents[..], &[ann()]].concat());
        store.forget(&[first], false, stamp(3)).unwrap();
        assert_eq!(held(store), agents);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn what_was_told_since_is_seen_for_its_own_scope_and_owner() {
    with_store(|store, _| {
        let rows: Vec<RowId> =
            ["one", "two", "three"].map(|text| put(store, &memory(text), stamp(1)).unwrap().row).to_vec();
        let before = store.coverage().unwrap().change;
        let since = |scope, owner| store.is_told_since(scope, owner, before).unwrap();
        let ann = Some("ann");
        assert!(!since(Scope::Project, ann));
        assert!(store.is_told_since(Scope::Project, ann, Change(0)).unwrap());
        let pattern = NewMemory { source: OWN.into(), ..memory("all of them") };
        put_pattern(store, &pattern, &rows, stamp(2)).unwrap();
        assert!(!since(Scope::Project, ann), "a pattern is not told");
        put(store, &NewMemory { owner: None, ..memory("four") }, stamp(3)).unwrap();
        assert_eq!((since(Scope::Project, ann), since(Scope::Project, None)), (false, true));
        put(store, &NewMemory { scope: Scope::Agent, ..memory("five") }, stamp(3)).unwrap();
        assert_eq!((since(Scope::Project, ann), since(Scope::Agent, ann)), (false, true));
    });
}

#[test]
fn uses_are_counted_and_leave_no_event() {
    with_store(|store, _| {
        let row = put(store, &memory("one"), stamp(1)).unwrap().row;
        let before = store.coverage().unwrap();
        store.add_uses(&[(row, at(5)), (row, at(4)), (RowId(99), at(5))]).unwrap();
        let item = store.items(&[row]).unwrap().remove(0).unwrap();
        assert_eq!((item.access_count, item.access_time), (2, at(5)));
        assert_eq!(store.coverage().unwrap(), before);
    });
}
