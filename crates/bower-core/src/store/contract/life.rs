//! Contract tests of the life of a memory: chains, decisions, reviews and forgetting.
//! Chains have one head, decisions are void after a newer write, and nothing remains of a forgotten text.

use super::*;
use crate::item::{Relation, Ruling};
use crate::store::{Audience, Namespace};

fn told(store: &dyn Store, content: &str, standing: WriteAction, second: i64) -> RowId {
    store.put_memory(&memory(content), &decided(standing), stamp(second)).unwrap().unwrap().row
}

fn statuses(store: &dyn Store, rows: &[RowId]) -> Vec<Status> {
    store.items(rows).unwrap().into_iter().map(|item| item.unwrap().status).collect()
}

fn actions(store: &dyn Store, content: &str) -> Vec<String> {
    let events = store.events(&memory(content).id).unwrap();
    events.into_iter().map(|event| event.action).collect()
}

#[test]
fn what_replaces_a_memory_follows_it_in_one_chain() {
    with_store(|store, _| {
        let pinned = NewMemory { tier: Tier::Pinned, tags: vec!["port".into()], ..memory("port 8080") };
        let first = put(store, &pinned, stamp(1)).unwrap().row;
        let second = told(store, "port 9090", WriteAction::Replaces(first), 2);
        let third = told(store, "port 7070", WriteAction::Replaces(second), 3);
        for row in [first, second, third] {
            assert_eq!(store.chain(row).unwrap(), [first, second, third]);
        }
        assert_eq!(
            statuses(store, &[first, second, third]),
            [Status::Superseded, Status::Superseded, Status::Active]
        );
        let head = store.items(&[third]).unwrap().remove(0).unwrap();
        assert_eq!((head.tier, head.tags), (Tier::Pinned, vec!["alpha".to_owned(), "port".to_owned()]));
        assert_eq!(head.supersedes_id, Some(memory("port 9090").id));
        assert_eq!(store.hidden(Clocks::default()).unwrap().iter().collect::<Vec<_>>(), [first, second]);
        let dated = store.dated_texts(&[first], 9).unwrap().remove(0).unwrap();
        assert_eq!(dated.valid_to, Some(at(2)), "it held until the next became true");
        assert_eq!(actions(store, "port 9090"), ["curate", "supersede", "superseded"]);
        assert_eq!(store.counts().unwrap().memories, 1);

        // Forgetting a link joins its neighbours.
        store.forget(&[second], false, stamp(4)).unwrap();
        assert_eq!(store.chain(third).unwrap(), [first, third]);
    });
}

#[test]
fn a_decision_is_void_when_the_place_or_the_other_side_moved_on() {
    with_store(|store, _| {
        let first = told(store, "port 8080", WriteAction::Alone, 1);
        let seen = store.coverage().unwrap().change;
        let put = |content: &str, standing, second| {
            let decided = Decided { seen, ..decided(standing) };
            store.put_memory(&memory(content), &decided, stamp(second)).unwrap()
        };
        // Documents and other owners are unrelated.
        store.put_documents(&[document("/notes/a.md", &["x"])], stamp(2)).unwrap();
        let elsewhere = NewMemory { owner: None, id: derive_id(&["other"]), ..memory("other") };
        super::put(store, &elsewhere, stamp(2)).unwrap();
        let second = put("port 9090", WriteAction::Replaces(first), 3).unwrap().row;
        // Another writer was first.
        assert_eq!(put("port 7070", WriteAction::Alone, 4), None);
        let void = store.put_memory(&memory("port 7070"), &decided(WriteAction::Replaces(first)), stamp(4));
        assert_eq!(void.unwrap(), None, "a chain does not fork");
        // A text from before the present head is stated again: this does not confirm the superseded memory.
        assert_eq!(put("port 8080", WriteAction::Replaces(second), 5), None);
        assert_eq!(store.chain(first).unwrap(), [first, second]);
    });
}

#[test]
fn a_confirmation_adds_an_observation_and_keeps_the_words_that_were_there() {
    with_store(|store, _| {
        let first = told(store, "the port is 8080", WriteAction::Alone, 1);
        let again =
            NewMemory { tags: vec!["net".into()], vector: Some(vector(9)), ..memory("8080 is the port") };
        let kept =
            store.put_memory(&again, &decided(WriteAction::Confirms(first)), stamp(2)).unwrap().unwrap();
        assert_eq!((kept.row, kept.is_update, kept.id), (first, true, memory("the port is 8080").id));
        let item = store.items(&[first]).unwrap().remove(0).unwrap();
        assert_eq!(item.content, "the port is 8080");
        // .6, and .05 for the observation (ADE).
        assert!((item.confidence - 0.65).abs() < 1e-6, "{}", item.confidence);
        assert_eq!(item.tags, ["alpha", "net"]);
        assert_eq!(
            store.vectors(MODEL, &[first]).unwrap(),
            [Some(vector(1).half)],
            "of the text that stayed"
        );
        for second in 3..20 {
            told(store, "the port is 8080", WriteAction::Alone, second);
        }
        let most = store.items(&[first]).unwrap().remove(0).unwrap().confidence;
        assert!((most - 1.0).abs() < 1e-6, "{most}");
    });
}

#[test]
fn both_sides_of_a_contradiction_stay_until_somebody_says_which_is_right() {
    for (ruling, hidden) in [
        (Ruling::Accept, vec![0]),
        (Ruling::Reject, vec![1]),
        (Ruling::Merge, vec![0]),
        (Ruling::Both, vec![]),
    ] {
        with_store(|store, _| {
            let older = told(store, "the cache is on", WriteAction::Alone, 1);
            let why = Map::from_iter([("rule".to_owned(), json!("negation"))]);
            let dispute = Decided { why, ..decided(WriteAction::Disputes(older)) };
            let kept = store.put_memory(&memory("the cache is not on"), &dispute, stamp(2)).unwrap().unwrap();
            let review = kept.review.unwrap();
            let open = store.reviews(false).unwrap();
            assert_eq!(
                (open[0].review, open[0].row, open[0].other, open[0].reason.as_str()),
                (review, kept.row, older, "negation")
            );
            assert_eq!(store.hidden(Clocks::default()).unwrap().len(), 0);
            assert_eq!(store.settle(review + 1, ruling, stamp(3)).unwrap(), None);
            let settled = store.settle(review, ruling, stamp(3)).unwrap().unwrap();
            assert_eq!(settled.outcome, Some(ruling));
            assert_eq!(store.settle(review, ruling, stamp(4)).unwrap(), None, "it has ended");
            let expected: Vec<RowId> = hidden.iter().map(|at| [older, kept.row][*at]).collect();
            assert_eq!(
                store.hidden(Clocks::default()).unwrap().iter().collect::<Vec<_>>(),
                expected,
                "{ruling}"
            );
            assert_eq!((store.reviews(false).unwrap().len(), store.reviews(true).unwrap().len()), (0, 1));
            store.forget(&[older], false, stamp(5)).unwrap();
            assert_eq!(store.reviews(true).unwrap(), []);
        });
    }
}

/// A late decision: the older side was replaced meanwhile, or the newer was, which a person wrote or nobody has reviewed.
#[test]
fn a_review_of_what_was_replaced_meanwhile_forks_no_chain() {
    let candidate = NewMemory {
        status: Status::Candidate,
        provenance: Provenance::told(Author::Web),
        ..memory("the cache is not on")
    };
    for ruling in Ruling::ALL {
        for (side, second) in
            [(0, memory("the cache is not on")), (1, memory("the cache is not on")), (1, candidate.clone())]
        {
            with_store(|store, _| {
                let older = told(store, "the cache is on", WriteAction::Alone, 1);
                let dispute = decided(WriteAction::Disputes(older));
                let newer = store.put_memory(&second, &dispute, stamp(2)).unwrap().unwrap();
                let sides = [older, newer.row];
                let since = told(store, "the cache is gone", WriteAction::Replaces(sides[side]), 3);
                store.settle(newer.review.unwrap(), *ruling, stamp(4)).unwrap().unwrap();
                assert_eq!(store.verify().unwrap(), Vec::<String>::new(), "{ruling} {side}");
                assert!(store.chain(since).unwrap().ends_with(&[sides[side], since]), "{ruling} {side}");
                assert_eq!(statuses(store, &[since]), [Status::Active]);
            });
        }
    }
}

#[test]
fn a_text_that_loses_is_kept_out_of_sight() {
    with_store(|store, _| {
        let sure = told(store, "the cache is on", WriteAction::Alone, 1);
        let doubted = told(store, "the cache is not on", WriteAction::Yields(sure), 2);
        assert_eq!(statuses(store, &[sure, doubted]), [Status::Active, Status::Superseded]);
        assert_eq!(store.chain(sure).unwrap(), [sure], "it takes nobody's place");
        assert_eq!(actions(store, "the cache is not on"), ["curate", "superseded", "contradict"]);
    });
}

#[test]
fn the_memories_of_a_place_are_found() {
    with_store(|store, _| {
        let first = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
        let after_first = store.coverage().unwrap().change;
        let second = store
            .put_memory(&memory("port 9090"), &decided(WriteAction::Replaces(first)), stamp(2))
            .unwrap()
            .unwrap()
            .row;
        let other = NewMemory { owner: None, id: derive_id(&["x"]), ..memory("port 1") };
        let others = put(store, &other, stamp(3)).unwrap().row;
        store.put_documents(&[document("/notes/a.md", &["x"])], stamp(4)).unwrap();
        let place = |owner: Option<&str>| Namespace {
            collection: "memories".into(),
            scope: Scope::Project,
            owner: owner.map(Into::into),
        };
        let memories = |owner, after| {
            let mut rows = store.memories_of(&place(owner), after).unwrap();
            rows.sort_unstable();
            rows
        };
        assert_eq!(memories(Some("ann"), Change(0)), [first, second]);
        assert_eq!(memories(Some("ann"), after_first), [second]);
        assert_eq!(memories(None, Change(0)), [others]);
        assert_eq!(memories(None, store.coverage().unwrap().change), []);
    });
}

#[test]
fn relations_go_with_either_side() {
    with_store(|store, fixture| {
        let first = told(store, "one", WriteAction::Alone, 1);
        let second = told(store, "two", WriteAction::Relates(first, Relation::RelatedTo, 0.8), 2);
        let third = told(store, "three", WriteAction::Relates(second, Relation::RelatedTo, 0.7), 3);
        let count = || fixture.rows("relations").len();
        assert_eq!(count(), 2);
        store.forget(&[second], false, stamp(4)).unwrap();
        assert_eq!(count(), 0);
        assert_eq!(statuses(store, &[first, third]), [Status::Active, Status::Active]);
    });
}

#[test]
fn what_answers_gave_is_known_for_a_while() {
    with_store(|store, _| {
        let first = told(store, "one", WriteAction::Alone, 1);
        let second = told(store, "two", WriteAction::Alone, 1);
        let change = store.coverage().unwrap();
        let everything = Visibility::everything();
        let of = |owner: Option<&str>| Namespace {
            collection: "others".into(),
            scope: Scope::Project,
            owner: owner.map(str::to_owned),
        };
        let (nobody, ann, bob) = (of(None), of(Some("ann")), of(Some("bob")));
        let anybody = Audience { visibility: &everything, place: &nobody };
        store.expose(&[(first, at(10)), (RowId(99), at(10))]).unwrap();
        store.expose(&[(second, at(20)), (first, at(20))]).unwrap();
        assert_eq!(store.exposed(at(0), 9).unwrap(), [first, second]);
        assert_eq!(
            (store.exposed(at(21), 9).unwrap(), store.exposed(at(0), 1).unwrap()),
            (vec![], vec![first])
        );
        assert_eq!(store.coverage().unwrap(), change, "no index has to follow");
        let (hers, his) = (Audience { place: &ann, ..anybody }, Audience { place: &bob, ..anybody });
        assert_eq!(store.known_to(&anybody, &[second, first]).unwrap(), [second, first]);
        assert_eq!(store.known_to(&hers, &[RowId(99), second, first]).unwrap(), [second, first]);
        assert_eq!(store.known_to(&his, &[second, first]).unwrap(), []);
        let elsewhere = Visibility { collections: Some(["others".to_owned()].into()), ..everything.clone() };
        let elsewhere = Audience { visibility: &elsewhere, ..hers };
        assert_eq!(store.known_to(&elsewhere, &[first, second]).unwrap(), []);
        store.forget(&[second], false, stamp(50)).unwrap();
        assert_eq!(store.exposed(at(0), 9).unwrap(), [first]);
    });
}

#[test]
fn the_past_is_what_the_store_knew_and_what_was_so() {
    with_store(|store, _| {
        // Learned at 10 and replaced at 20, by a text that has been valid since 15.
        let old = told(store, "port 8080", WriteAction::Alone, 10);
        let since = NewMemory { valid_from: Some(at(15)), ..memory("port 9090 since then") };
        let decided = decided(WriteAction::Replaces(old));
        let new = store.put_memory(&since, &decided, stamp(20)).unwrap().unwrap().row;
        let wrong = told(store, "port 1", WriteAction::Yields(new), 30);
        let check = |as_of: Option<i64>, valid_at: Option<i64>, expected: &[RowId]| {
            let clocks = Clocks { as_of: as_of.map(at), valid_at: valid_at.map(at) };
            let hidden = store.hidden(clocks).unwrap();
            let seen: Vec<RowId> =
                [old, new, wrong].into_iter().filter(|row| !hidden.contains(*row)).collect();
            assert_eq!(seen, expected, "{as_of:?} {valid_at:?}");
            let found = Selection { clocks, kinds: vec![Kind::Memory], ..Selection::default() };
            assert_eq!(
                rows(store.select(&found).unwrap()),
                expected.iter().map(|row| row.0).collect::<Vec<_>>()
            );
        };
        check(None, None, &[new]);
        check(Some(9), None, &[]);
        check(Some(10), None, &[old]);
        check(Some(19), None, &[old]);
        check(Some(20), None, &[new]);
        check(Some(99), None, &[new]);
        // By validity: the first has no stated start.
        check(None, Some(1), &[old]);
        check(None, Some(14), &[old]);
        check(None, Some(15), &[new]);
        check(None, Some(99), &[new]);
        // At 19 the store did not yet know of the change at 15.
        check(Some(19), Some(17), &[old]);
        check(Some(20), Some(17), &[new]);
        check(Some(20), Some(14), &[old]);
    });
}

#[test]
fn what_was_archived_and_brought_back_was_out_of_sight_between() {
    with_store(|store, _| {
        let row = told(store, "port 8080", WriteAction::Alone, 10);
        let told = store.events(&memory("port 8080").id).unwrap().pop().unwrap().event;
        let archived = store.undo(told, stamp(20)).unwrap().unwrap().event;
        let back = store.undo(archived, stamp(30)).unwrap().unwrap().event;
        let again = store.undo(back, stamp(40)).unwrap().unwrap().event;
        store.undo(again, stamp(50)).unwrap().unwrap();
        for (as_of, is_seen) in [
            (9, false),
            (10, true),
            (19, true),
            (20, false),
            (29, false),
            (30, true),
            (39, true),
            (40, false),
            (50, true),
        ] {
            for valid_at in [None, Some(at(60))] {
                let clocks = Clocks { as_of: Some(at(as_of)), valid_at };
                assert_eq!(!store.hidden(clocks).unwrap().contains(row), is_seen, "{as_of} {valid_at:?}");
                let found = Selection { clocks, kinds: vec![Kind::Memory], ..Selection::default() };
                assert_eq!(rows(store.select(&found).unwrap()), if is_seen { vec![row.0] } else { vec![] });
            }
        }
    });
}

/// Indexes find hidden items; a condition on each item finds visible ones.
#[test]
fn what_is_hidden_is_what_is_not_seen() {
    with_store(|store, fixture| {
        let mut seed = 11_u64;
        let mut dice = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33).cast_signed() % below
        };
        let mut rows: Vec<RowId> = Vec::new();
        for second in 0..300 {
            let time = |dice: i64| (dice < 300).then(|| at(dice));
            let kept = NewMemory {
                valid_from: time(dice(900)),
                valid_to: time(dice(900)),
                status: Status::ALL[usize::try_from(dice(4)).unwrap()],
                ..memory(&format!("memory {second}"))
            };
            let standing = match rows.get(usize::try_from(dice(600)).unwrap()) {
                Some(row) if dice(2) == 0 => WriteAction::Replaces(*row),
                Some(row) => WriteAction::Yields(*row),
                None => WriteAction::Alone,
            };
            rows.extend(
                store.put_memory(&kept, &decided(standing), stamp(second)).unwrap().map(|kept| kept.row),
            );
            if dice(4) == 0 {
                // Hides a stated memory, or restores one that was hidden this way.
                store.undo(dice(3 * second).unsigned_abs() + 1, stamp(second)).unwrap();
            }
        }
        for _ in 0..200 {
            let time = |dice: i64| (dice < 320).then(|| at(dice));
            let clocks = Clocks { as_of: time(dice(600)), valid_at: time(dice(600)) };
            let seen = fixture.scan(&Selection { clocks, ..Selection::default() });
            let hidden = store.hidden(clocks).unwrap();
            for row in &rows {
                assert_ne!(seen.contains(*row), hidden.contains(*row), "{row:?} {clocks:?}");
            }
        }
    });
}
