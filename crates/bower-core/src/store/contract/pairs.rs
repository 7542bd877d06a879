//! Contract tests of pairs of memories: the caller's word, what stays open, and other wordings.

use super::*;
use crate::item::{PairRuling, Relation, Ruling};
use crate::store::{PairOutcome, PossibleRow, WordingChanges};

fn told(store: &dyn Store, content: &str, standing: WriteAction, second: i64) -> RowId {
    store.put_memory(&memory(content), &decided(standing), stamp(second)).unwrap().unwrap().row
}

fn row(store: &dyn Store, content: &str) -> RowId {
    store.rows_by_id(&memory(content).id, &Visibility::everything(), 1).unwrap()[0].0
}

fn statuses(store: &dyn Store, rows: &[RowId]) -> Vec<Status> {
    store.items(rows).unwrap().into_iter().map(|item| item.unwrap().status).collect()
}

fn observations(store: &dyn Store, row: RowId) -> u64 {
    store.copies(&[row]).unwrap().remove(0).unwrap().observations
}

fn possible(store: &dyn Store, row: RowId) -> Vec<(RowId, f32)> {
    let found = store.possible(&[row]).unwrap().remove(0);
    found.into_iter().map(|one| (one.row, one.likelihood)).collect()
}

fn settle(store: &dyn Store, newer: RowId, older: RowId, ruling: PairRuling, second: i64) -> u64 {
    match store.settle_pair(newer, older, ruling, stamp(second)).unwrap() {
        PairOutcome::Settled(event) => event,
        other => panic!("{other:?}"),
    }
}

fn undo(store: &dyn Store, event: u64, second: i64) -> u64 {
    let undone = store.undo(event, stamp(second)).unwrap().unwrap();
    assert_eq!(undone.unmoved, []);
    assert!(!undone.items.is_empty());
    undone.event
}

/// Keeps a memory that may replace some others, by these likelihoods.
fn open(store: &dyn Store, content: &str, others: &[(RowId, f32)], second: i64) -> RowId {
    let row = |&(row, likelihood): &(RowId, f32)| PossibleRow {
        row,
        relation: if likelihood < 0.5 { Relation::MayRepeat } else { Relation::MayReplace },
        likelihood,
    };
    let possible = others.iter().map(row).collect();
    let decided = Decided { possible, ..decided(WriteAction::Alone) };
    store.put_memory(&memory(content), &decided, stamp(second)).unwrap().unwrap().row
}

#[test]
fn what_is_possible_stays_open_until_one_side_leaves_answers() {
    with_store(|store, _| {
        let (one, two) =
            (told(store, "one", WriteAction::Alone, 1), told(store, "two", WriteAction::Alone, 2));
        let new = open(store, "new", &[(one, 0.25), (two, 0.75)], 3);
        assert_eq!(possible(store, new), [(two, 0.75), (one, 0.25)]);
        let found = store.possible(&[one, new]).unwrap();
        assert_eq!(
            (found[0].len(), found[1][0].relation, found[1][1].relation),
            (0, Relation::MayReplace, Relation::MayRepeat)
        );
        told(store, "three", WriteAction::Replaces(two), 4);
        assert_eq!(possible(store, new), [(one, 0.25)], "it was superseded");
        store.forget(&[one], false, stamp(5)).unwrap();
        assert_eq!(possible(store, new), []);

        let last = open(store, "last", &[(new, 0.5)], 6);
        let curated = store.events(&memory("last").id).unwrap().remove(0).event;
        undo(store, curated, 7);
        assert_eq!((statuses(store, &[last]), possible(store, last)), (vec![Status::Archived], vec![]));
    });
}

#[test]
fn open_pairs_are_those_that_nobody_settled_and_a_model_may() {
    with_store(|store, _| {
        let [one, two, three] = [("one", 1), ("two", 2), ("three", 3)]
            .map(|(text, second)| told(store, text, WriteAction::Alone, second));
        let pinned = NewMemory { tier: Tier::Pinned, ..memory("pinned") };
        let pinned = put(store, &pinned, stamp(4)).unwrap().row;
        let unreviewed = Provenance::picked(Author::Agent, Author::Agent);
        let unreviewed = NewMemory { provenance: unreviewed, ..memory("unreviewed") };
        let unreviewed = put(store, &unreviewed, stamp(4)).unwrap().row;
        let others = [(one, 0.25), (two, 0.75), (three, 0.5), (pinned, 0.9), (unreviewed, 0.8)];
        let new = open(store, "new", &others, 5);
        let pairs = |before, most| {
            let found = store.open_pairs(at(before), most).unwrap();
            assert!(found.iter().all(|pair| pair.newer == new));
            found.iter().map(|pair| pair.older).collect::<Vec<_>>()
        };
        assert_eq!((pairs(6, 9), pairs(6, 1)), (vec![two, three, one], vec![two]));
        assert_eq!(pairs(5, 9), [], "they are not old enough");
        let event = settle(store, new, two, PairRuling::DifferentFrom, 6);
        told(store, "four", WriteAction::Replaces(three), 7);
        assert_eq!(pairs(9, 9), [one]);
        undo(store, event, 8);
        assert_eq!(pairs(9, 9), [two, one]);
    });
}

#[test]
fn a_caller_replaces_a_pinned_memory_and_the_event_says_so() {
    with_store(|store, _| {
        let pinned = NewMemory { tier: Tier::Pinned, ..memory("port 8080") };
        let old = put(store, &pinned, stamp(1)).unwrap().row;
        let new = open(store, "port 9090", &[(old, 0.75)], 2);
        let event = settle(store, new, old, PairRuling::Replaces, 3);
        assert_eq!(statuses(store, &[old, new]), [Status::Superseded, Status::Active]);
        assert_eq!((store.chain(new).unwrap(), possible(store, new)), (vec![old, new], vec![]));
        assert_eq!(store.items(&[new]).unwrap()[0].as_ref().unwrap().tier, Tier::Pinned);
        let events = store.events(&memory("port 9090").id).unwrap();
        let detail = &events.iter().find(|one| one.event == event).unwrap().detail;
        assert_eq!(
            (&detail["rule"], &detail["ruling"], &detail["pinned"]),
            (&json!("told"), &json!("replaces"), &json!(true))
        );
        let change = store.coverage().unwrap().change;
        let again = store.settle_pair(new, old, PairRuling::Replaces, stamp(4)).unwrap();
        assert_eq!((again, store.coverage().unwrap().change), (PairOutcome::Unchanged, change));
        assert_eq!(store.settle_pair(old, new, PairRuling::Replaces, stamp(4)).unwrap(), PairOutcome::Void);

        let undone = undo(store, event, 5);
        assert_eq!(statuses(store, &[old, new]), [Status::Active; 2]);
        assert_eq!((store.chain(new).unwrap(), possible(store, new)), (vec![new], vec![(old, 0.75)]));
        undo(store, undone, 6);
        assert_eq!(statuses(store, &[old, new]), [Status::Superseded, Status::Active]);
        assert_eq!((store.chain(new).unwrap(), possible(store, new)), (vec![old, new], vec![]));
    });
}

#[test]
fn what_replaced_one_memory_may_replace_another() {
    with_store(|store, _| {
        let (one, two) =
            (told(store, "one", WriteAction::Alone, 1), told(store, "two", WriteAction::Alone, 2));
        let new = told(store, "new", WriteAction::Replaces(one), 3);
        settle(store, new, two, PairRuling::Replaces, 4);
        assert_eq!(
            statuses(store, &[one, two, new]),
            [Status::Superseded, Status::Superseded, Status::Active]
        );
        assert_eq!((store.chain(one).unwrap(), store.chain(two).unwrap()), (vec![one, new], vec![two, new]));
    });
}

#[test]
fn a_settled_pair_ends_its_review() {
    for (ruling, closed, left) in [
        (PairRuling::Replaces, Ruling::Accept, [Status::Superseded, Status::Active]),
        (PairRuling::DifferentFrom, Ruling::Both, [Status::Active, Status::Active]),
        (PairRuling::Confirms, Ruling::Both, [Status::Active, Status::Variant]),
    ] {
        with_store(|store, _| {
            let older = told(store, "the cache is on", WriteAction::Alone, 1);
            let newer = told(store, "the cache is not on", WriteAction::Disputes(older), 2);
            let event = settle(store, newer, older, ruling, 3);
            assert_eq!(store.reviews(false).unwrap(), []);
            assert_eq!(store.reviews(true).unwrap()[0].outcome, Some(closed));
            assert_eq!(statuses(store, &[older, newer]), left);
            undo(store, event, 4);
            assert_eq!(store.reviews(false).unwrap().len(), 1);
            assert_eq!(statuses(store, &[older, newer]), [Status::Active; 2]);
        });
    }
}

#[test]
fn different_facts_are_tied_as_such_and_no_more_compared() {
    with_store(|store, _| {
        let old = told(store, "the girls' team trains on Monday", WriteAction::Alone, 1);
        let new = open(store, "the boys' team trains on Friday", &[(old, 0.75)], 2);
        let event = settle(store, new, old, PairRuling::DifferentFrom, 3);
        assert_eq!((possible(store, new), statuses(store, &[old, new])), (vec![], vec![Status::Active; 2]));
        let again = store.settle_pair(new, old, PairRuling::DifferentFrom, stamp(4)).unwrap();
        assert_eq!(again, PairOutcome::Unchanged);
        undo(store, event, 5);
        assert_eq!(possible(store, new), [(old, 0.75)]);

        // At once, with the new memory.
        let different = Decided { different: vec![old], ..decided(WriteAction::Alone) };
        let third = store.put_memory(&memory("third"), &different, stamp(6)).unwrap().unwrap().row;
        let again = store.settle_pair(third, old, PairRuling::DifferentFrom, stamp(7)).unwrap();
        assert_eq!(again, PairOutcome::Unchanged);
    });
}

#[test]
fn relations_are_stated_changed_ended_and_undone() {
    with_store(|store, _| {
        let rain = told(store, "it rained", WriteAction::Alone, 1);
        let flood = told(store, "the cellar was flooded", WriteAction::Alone, 2);
        let gone = told(store, "gone", WriteAction::Alone, 3);
        let all = || {
            let found = store.relations(&[flood]).unwrap();
            found.iter().map(|one| (one.row, one.relation, one.other, one.strength)).collect::<Vec<_>>()
        };
        let relate =
            |strength, second| store.relate(rain, Relation::Causes, flood, strength, stamp(second)).unwrap();
        let of = |strength: f32| vec![(rain, Relation::Causes, flood, strength)];
        let PairOutcome::Settled(first) = relate(Some(0.5), 4) else { panic!() };
        assert_eq!((all(), relate(Some(0.5), 5)), (of(0.5), PairOutcome::Unchanged));
        assert_eq!(store.relations(&[rain, flood]).unwrap().len(), 1, "each once");
        let PairOutcome::Settled(second) = relate(Some(0.75), 6) else { panic!() };
        assert_eq!(all(), of(0.75));
        // The first cannot be undone while the second holds.
        let undone = store.undo(first, stamp(7)).unwrap().unwrap();
        assert!(undone.items.is_empty() && !undone.unmoved.is_empty(), "{undone:?}");
        assert_eq!(all(), of(0.75));
        undo(store, second, 8);
        assert_eq!(all(), of(0.5));
        let again = undo(store, first, 9);
        assert_eq!(all(), vec![]);
        undo(store, again, 10);
        assert_eq!(all(), of(0.5));
        let PairOutcome::Settled(end) = relate(None, 11) else { panic!() };
        assert_eq!((all(), relate(None, 12)), (vec![], PairOutcome::Unchanged));
        undo(store, end, 13);
        assert_eq!(all(), of(0.5));
        // A memory that left answers takes part in none.
        told(store, "newer", WriteAction::Replaces(gone), 14);
        let outcome = store.relate(gone, Relation::Causes, flood, Some(1.0), stamp(15)).unwrap();
        assert_eq!(outcome, PairOutcome::Void);
        let outcome = store.relate(rain, Relation::Causes, rain, Some(1.0), stamp(16)).unwrap();
        assert_eq!(outcome, PairOutcome::Void);
    });
}

#[test]
fn a_wording_is_kept_with_its_memory_and_counts_nowhere() {
    with_store(|store, _| {
        let first = told(store, "the port is 8080", WriteAction::Alone, 1);
        let (counts, held) = (store.counts().unwrap(), store.held().unwrap());
        let seen = store.coverage().unwrap();
        let other =
            NewMemory { tags: vec!["net".into()], vector: Some(vector(9)), ..memory("it listens on 8080") };
        let rewords = decided(WriteAction::Rewords(first));
        let kept = store.put_memory(&other, &rewords, stamp(2)).unwrap().unwrap();
        assert_eq!((kept.row, kept.is_update, kept.id), (first, true, memory("the port is 8080").id));
        let wording = row(store, "it listens on 8080");
        let item = store.items(&[wording]).unwrap().remove(0).unwrap();
        assert_eq!((item.status, item.tags.len(), item.metadata.len()), (Status::Variant, 0, 0));
        assert_eq!(store.vectors(MODEL, &[wording]).unwrap(), [Some(vector(9).half)]);
        assert_eq!(observations(store, first), 2);
        assert_eq!(store.items(&[first]).unwrap()[0].as_ref().unwrap().tags, ["alpha", "net"]);
        assert_eq!(store.counts().unwrap(), counts);
        assert_eq!(store.held().unwrap(), held);
        assert_eq!(store.page(&Selection::default(), 9, 0).unwrap(), (vec![first], 1));
        let mut lives = Vec::new();
        store.lives(&mut |life| lives.push(life.row)).unwrap();
        assert_eq!((lives, store.pinned().unwrap()), (vec![first], vec![]));

        // Questions see it, by all ways to its memory.
        assert!(!store.hidden(Clocks::default()).unwrap().contains(wording));
        assert_eq!(store.wordings().unwrap(), [(wording, first)]);
        let came = WordingChanges { came: vec![(wording, first)], went: Vec::new() };
        let since = store.wordings_since(seen.change).unwrap().unwrap();
        assert_eq!(since.came, came.came);
        assert_eq!(store.wordings_of(&[first]).unwrap(), [wording]);
        assert_eq!(store.worded_by(&[first, wording]).unwrap(), [None, Some(first)]);
        // The past is as it was told then.
        let past = store.hidden(Clocks { as_of: Some(at(9)), valid_at: None }).unwrap();
        assert!(past.contains(wording) && !past.contains(first));
        let valid = store.hidden(Clocks { as_of: None, valid_at: Some(at(9)) }).unwrap();
        assert!(valid.contains(wording) && !valid.contains(first));

        // The same words confirm the memory once more.
        let kept = store.put_memory(&other, &decided(WriteAction::Alone), stamp(3)).unwrap().unwrap();
        assert_eq!((kept.row, observations(store, first)), (first, 3));
        assert_eq!(store.wordings().unwrap().len(), 1);
        // Its memory is superseded, and the wording with it: told again, the text is news.
        told(store, "the port is 9090", WriteAction::Replaces(first), 4);
        assert_eq!(store.put_memory(&other, &decided(WriteAction::Alone), stamp(5)).unwrap(), None);
        assert_eq!(store.worded_by(&[wording]).unwrap(), [Some(first)]);
    });
}

#[test]
fn undoing_a_confirmation_removes_the_wording_and_undoing_that_brings_it_back() {
    with_store(|store, _| {
        let first = told(store, "the port is 8080", WriteAction::Alone, 1);
        let seen = store.coverage().unwrap();
        told(store, "it listens on 8080", WriteAction::Rewords(first), 2);
        let wording = row(store, "it listens on 8080");
        let confirm = store.events(&memory("the port is 8080").id).unwrap().pop().unwrap();
        let undone = undo(store, confirm.event, 3);
        assert_eq!(
            (statuses(store, &[first, wording]), store.wordings().unwrap()),
            (vec![Status::Active, Status::Archived], vec![])
        );
        assert_eq!(observations(store, first), 1);
        assert!(store.wordings_since(seen.change).unwrap().unwrap().went.contains(&wording));
        undo(store, undone, 4);
        assert_eq!(store.wordings().unwrap(), [(wording, first)]);
        undo(store, confirm.event + 1, 5);
        // Told once more it is a memory of its own.
        assert_eq!(told(store, "it listens on 8080", WriteAction::Alone, 6), wording);
        assert_eq!(statuses(store, &[wording]), [Status::Active]);
        assert_eq!(store.worded_by(&[wording]).unwrap(), [None]);
        assert_eq!(store.wordings_of(&[first]).unwrap(), []);
    });
}

#[test]
fn a_memory_becomes_a_wording_with_all_that_it_had() {
    with_store(|store, _| {
        let old = told(store, "port 7070", WriteAction::Alone, 1);
        let newer = told(store, "port 8080", WriteAction::Replaces(old), 2);
        told(store, "8080 it is", WriteAction::Rewords(newer), 3);
        let first = told(store, "the port is 8080", WriteAction::Alone, 4);
        let seen = store.coverage().unwrap();
        let event = settle(store, newer, first, PairRuling::Confirms, 5);
        let wording = row(store, "8080 it is");
        assert_eq!(statuses(store, &[newer, first]), [Status::Variant, Status::Active]);
        assert_eq!(store.chain(first).unwrap(), [old, first]);
        assert_eq!(store.wordings_of(&[first]).unwrap(), [newer, wording]);
        let mut came = store.wordings_since(seen.change).unwrap().unwrap().came;
        came.dedup();
        came.sort_unstable();
        came.dedup();
        assert_eq!(came, [(newer, first), (wording, first)]);
        let again = store.settle_pair(newer, first, PairRuling::Confirms, stamp(6)).unwrap();
        assert_eq!(again, PairOutcome::Unchanged);
        // It is parted from the memory, and then its wording again.
        let parted = settle(store, newer, first, PairRuling::DifferentFrom, 7);
        assert_eq!(statuses(store, &[newer, first]), [Status::Active; 2]);
        undo(store, parted, 8);
        undo(store, event, 9);
        assert_eq!(statuses(store, &[newer, first]), [Status::Active; 2]);
        assert_eq!(
            (store.chain(newer).unwrap(), store.chain(first).unwrap()),
            (vec![old, newer], vec![first])
        );
        assert_eq!(store.wordings().unwrap(), [(wording, newer)]);
    });
}

#[test]
fn a_wording_takes_the_place_of_its_memory_if_the_caller_says_so() {
    with_store(|store, _| {
        let first = told(store, "the port is 8080", WriteAction::Alone, 1);
        told(store, "the port is 8081", WriteAction::Rewords(first), 2);
        let wording = row(store, "the port is 8081");
        // Said with the text itself.
        let says = Decided { is_told: true, ..decided(WriteAction::Replaces(first)) };
        let kept = store.put_memory(&memory("the port is 8081"), &says, stamp(3)).unwrap().unwrap();
        assert_eq!((kept.row, kept.id), (wording, memory("the port is 8081").id));
        assert_eq!(statuses(store, &[first, wording]), [Status::Superseded, Status::Active]);
        assert_eq!(
            (store.chain(wording).unwrap(), store.wordings().unwrap()),
            (vec![first, wording], vec![])
        );
    });
}

#[test]
fn what_the_caller_says_holds_for_a_text_that_is_there_already() {
    with_store(|store, _| {
        let (one, two, three) = (
            told(store, "one", WriteAction::Alone, 1),
            told(store, "two", WriteAction::Alone, 2),
            told(store, "three", WriteAction::Alone, 3),
        );
        let say = |standing, different, second| {
            let says = Decided { is_told: true, different, ..decided(standing) };
            store.put_memory(&memory("two"), &says, stamp(second)).unwrap().unwrap()
        };
        let kept = say(WriteAction::Replaces(one), vec![three], 4);
        assert_eq!((kept.row, statuses(store, &[one, two])), (two, vec![Status::Superseded, Status::Active]));
        let again = store.settle_pair(two, three, PairRuling::DifferentFrom, stamp(5)).unwrap();
        assert_eq!(again, PairOutcome::Unchanged);
        let kept = say(WriteAction::Rewords(three), Vec::new(), 6);
        assert_eq!((kept.row, kept.id), (three, memory("three").id));
        assert_eq!(store.worded_by(&[two]).unwrap(), [Some(three)]);
    });
}

#[test]
fn forgetting_a_memory_forgets_its_wordings_and_a_wording_goes_alone() {
    with_store(|store, fixture| {
        let first = told(store, "the harbour opens at noon", WriteAction::Alone, 1);
        told(store, "noon is when quayside starts", WriteAction::Rewords(first), 2);
        told(store, "from twelve the jetty works", WriteAction::Rewords(first), 3);
        let jetty = row(store, "from twelve the jetty works");
        let receipt = store.forget(&[jetty], false, stamp(4)).unwrap();
        assert_eq!((receipt.items, receipt.memories, receipt.wordings), (1, 0, 1));
        assert_eq!(statuses(store, &[first]), [Status::Active]);
        let dry = store.forget(&[first], true, stamp(5)).unwrap();
        assert_eq!((dry.items, dry.memories, dry.wordings, dry.vectors), (2, 1, 1, 2));
        let receipt = store.forget(&[first], false, stamp(6)).unwrap();
        assert_eq!((receipt.items, receipt.memories, receipt.wordings), (2, 1, 1));
        assert_eq!((store.wordings().unwrap(), store.wordings_of(&[first]).unwrap()), (vec![], vec![]));
        for table in ["relations", "texts", "vectors", "tail", "token_tail"] {
            assert!(fixture.rows(table).is_empty(), "{table}");
        }
    });
}

#[test]
fn wordings_are_exported_with_their_memories_and_never_alone() {
    with_store(|store, _| {
        let first = told(store, "the port is 8080", WriteAction::Alone, 1);
        told(store, "it listens on 8080", WriteAction::Rewords(first), 2);
        let wording = row(store, "it listens on 8080");
        let mut lines = Vec::new();
        let counts = store
            .give_pieces(&[wording, first], false, at(3), &mut |piece| {
                lines.push(serde_json::to_value(&piece).unwrap());
                true
            })
            .unwrap();
        assert_eq!((counts.memories, counts.relations), (1, 1));
        let text = json!(lines).to_string();
        assert!(text.contains("\"variant\"") && text.contains("\"variant_of\""), "{text}");
        let mut alone = 0;
        store
            .give_pieces(&[wording], false, at(3), &mut |_| {
                alone += 1;
                true
            })
            .unwrap();
        assert_eq!(alone, 1, "a header: no wording goes without its memory");
    });
}
