//! Contract tests of the clock: the readings that a store remembers, and its repair of times of a wrong clock.

use super::*;
use crate::store::clock::ClockTrust;

const DAY: i64 = 86_400;
const YEARS: i64 = 3_652 * DAY;

fn read(store: &dyn Store, by_sweep: bool, second: i64) -> ClockTrust {
    let trust = store.read_clock(by_sweep, stamp(second)).unwrap();
    assert_eq!(store.trust().unwrap(), trust, "it is kept");
    trust
}

#[test]
fn a_store_trusts_the_time_at_which_it_was_made_and_what_follows() {
    with_store(|store, _| {
        let made = store.trust().unwrap();
        assert_eq!((made.steady.change, made.jump), (Change(0), None));
        put(store, &memory("one"), stamp(1)).unwrap();
        let trust = read(store, false, 2);
        assert_eq!((trust.steady.time, trust.steady.change), (at(2), Change(1)));
        assert!(read(store, true, YEARS).jump.is_some());
        assert!(!store.trust().unwrap().trusts(at(YEARS)));
        let trust = read(store, true, YEARS + DAY);
        assert!(trust.trusts(at(YEARS + DAY)) && trust.trusts(at(3)));
        assert_eq!(trust.steady, store.trust().unwrap().steady);
    });
}

#[test]
fn what_a_wrong_clock_wrote_is_dated_just_before_it_was_set_right() {
    with_store(|store, _| {
        let replaces = |row| decided(WriteAction::Replaces(row));
        let first = put(store, &memory("port 8080"), stamp(1)).unwrap().row;
        read(store, false, 2);
        let since = NewMemory { valid_from: Some(at(9 * YEARS)), ..memory("port 9090") };
        let second = store.put_memory(&since, &replaces(first), stamp(YEARS)).unwrap().unwrap().row;
        let third =
            store.put_memory(&memory("port 7070"), &replaces(second), stamp(-YEARS)).unwrap().unwrap().row;
        store.add_uses(&[(first, at(YEARS))]).unwrap();
        let old = NewMemory { create_time: Some(at(-2 * YEARS)), ..memory("an old thing") };
        let old = put(store, &old, stamp(YEARS)).unwrap().row;
        read(store, true, YEARS);
        let change = store.coverage().unwrap().change;
        read(store, false, 10);
        assert_eq!(
            store.coverage().unwrap().change,
            Change(change.0 + 1),
            "whoever keeps rows by change reads again"
        );

        let items = store.items(&[first, second, third, old]).unwrap();
        let [first_item, second_item, third_item, old_item] =
            items.into_iter().map(Option::unwrap).collect::<Vec<_>>().try_into().unwrap();
        let before = |micros: i64| at(10) - jiff::SignedDuration::from_micros(micros);
        // Two times were wrong: first that of the second memory and the old one, then that of the third.
        assert_eq!(first_item.create_time, at(1));
        assert_eq!((second_item.create_time, third_item.create_time), (before(2), before(1)));
        assert_eq!(second_item.valid_from, Some(at(9 * YEARS)), "a text said so");
        assert_eq!(second_item.valid_to, Some(before(1)));
        assert_eq!(old_item.create_time, at(-2 * YEARS), "whoever told it said so");
        assert!(first_item.access_time <= at(10));
        let then = Clocks { as_of: Some(at(9)), valid_at: None };
        assert_eq!(store.hidden(then).unwrap().iter().collect::<Vec<_>>(), [second, third]);

        // Events keep their times, and can be undone all the same.
        let event = store.events(&third_item.id).unwrap();
        assert_eq!(event[0].time, at(-YEARS));
        let undone = store.undo(event[0].event, stamp(11)).unwrap().unwrap();
        assert_eq!((undone.items.len(), undone.unmoved), (2, Vec::new()));
        assert_eq!(store.items(&[second]).unwrap()[0].as_ref().unwrap().status, Status::Active);
        assert!(store.verify().unwrap().is_empty());
    });
}

#[test]
fn a_wrong_clock_ends_nothing_that_sessions_were_given_and_fills_no_cache() {
    with_store(|store, _| {
        let row = put(store, &memory("one"), stamp(1)).unwrap().row;
        let given = [crate::store::Given { row, text_hash: 7 }];
        store.give("ann", &given, at(2), at(-DAY)).unwrap();
        store.give("bob", &given, at(YEARS), at(YEARS - DAY)).unwrap();
        assert_eq!(store.given("ann").unwrap().len(), 1, "by that clock it would be too old");
        store.expose(&[(row, at(YEARS))]).unwrap();
        store.expose(&[(row, at(3))]).unwrap();
        assert!(store.exposed(at(4), 9).unwrap().is_empty(), "the last time counts, not the largest");
        // One query more than fits: the one dated later than now is dropped.
        store.cache_vectors(&asked(&[("ahead", vector(1))]), 2, stamp(YEARS)).unwrap();
        for (text, second) in [("two", 5), ("three", 6), ("four", 7)] {
            store.cache_vectors(&asked(&[(text, vector(2))]), 2, stamp(second)).unwrap();
        }
        let cached = |text: &str| store.cached_vector(MODEL, CacheRole::Question, text).unwrap().is_some();
        assert_eq!(
            (cached("ahead"), cached("two"), cached("three"), cached("four")),
            (false, false, true, true)
        );
    });
}
