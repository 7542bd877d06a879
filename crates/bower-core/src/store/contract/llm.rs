//! Tests of language models' answers, gone with whatever is forgotten, and of a budget that processes share.

use serde_json::json;

use super::{at, memory, put, stamp, with_store};
use crate::item::{Dollars, LlmOperation};
use crate::store::{
    LlmCacheBounds, LlmCall, LlmCallEnd, LlmDesk, LlmLookup, NewLlmAnswer, NewLlmCall, Reserved, Stamp,
};

const BOUNDS: LlmCacheBounds = LlmCacheBounds { most: 2, keep_after: jiff::Timestamp::UNIX_EPOCH };

fn keep(store: &dyn LlmDesk, key: u8, text: &str, forgotten: u64, second: i64) {
    let answer = NewLlmAnswer { key: &[key; 32], text, forgotten };
    store.keep_llm_answer(&answer, BOUNDS, stamp(second)).unwrap();
}

fn look_up(store: &dyn LlmDesk, key: u8) -> Option<String> {
    store.llm_answer(&[key; 32], BOUNDS.keep_after).unwrap().answer.map(|answer| answer.text)
}

fn call(most: u64, budget: Option<u64>) -> NewLlmCall<'static> {
    NewLlmCall {
        operation: LlmOperation::Rerank,
        model: "m",
        most: Dollars::of_billionths(most),
        budget: budget.map(|budget| (Dollars::of_billionths(budget), at(0))),
    }
}

fn reserve(store: &dyn LlmDesk, call: &NewLlmCall<'_>, stamp: Stamp<'_>) -> Option<LlmCall> {
    match store.reserve_llm(call, stamp).unwrap() {
        Reserved::Call(call) => Some(call),
        Reserved::TooLittle(_) => None,
    }
}

fn end(cost: u64) -> LlmCallEnd {
    LlmCallEnd {
        cost: Dollars::of_billionths(cost),
        input_tokens: Some(3),
        output_tokens: Some(1),
        failure: None,
    }
}

#[test]
fn an_answer_is_used_again_until_it_is_old_damaged_or_pushed_out() {
    with_store(|store, fixture| {
        keep(store, 1, "a", 0, 1);
        keep(store, 2, "b", 0, 2);
        store.note_llm_hit(&[1; 32], stamp(3)).unwrap();
        keep(store, 3, "c", 0, 4);
        assert_eq!([1, 2, 3].map(|key| look_up(store, key)), [Some("a".into()), None, Some("c".into())]);
        let report = store.llm_report(at(0)).unwrap();
        assert_eq!((report.cached_answers, report.cache_hits), (2, 1));
        let older = |second| store.llm_answer(&[1; 32], at(second)).unwrap().answer;
        assert_eq!((older(1).is_some(), older(2)), (true, None));
        fixture.set("llm_answers", "answer", &json!("other"));
        assert_eq!(look_up(store, 1), None, "its checksum does not fit");
        assert!(!store.verify().unwrap().is_empty());
        // They are asked for again.
        keep(store, 1, "a", 0, 5);
        keep(store, 3, "c", 0, 6);
    });
}

#[test]
fn forgetting_anything_removes_all_answers_and_those_that_are_on_their_way() {
    with_store(|store, fixture| {
        let row = put(store, &memory("the vault is behind the zylophone"), stamp(1)).unwrap().row;
        keep(store, 1, "behind the zylophone", 0, 2);
        let LlmLookup { answer: None, forgotten } = store.llm_answer(&[2; 32], at(0)).unwrap() else {
            panic!()
        };
        let failed = reserve(store, &call(0, None), stamp(2)).unwrap();
        let failure = Some("the service refuses zylophone".to_owned());
        store.book_llm(failed, &LlmCallEnd { failure, ..LlmCallEnd::default() }).unwrap();
        assert_eq!(store.forget(&[row], true, stamp(3)).unwrap().answers, 1);
        assert!(look_up(store, 1).is_some(), "a dry run removes nothing");
        assert_eq!(store.forget(&[row], false, stamp(3)).unwrap().answers, 1);
        assert_eq!(look_up(store, 1), None);
        // The request was sent before, and its answer comes after.
        keep(store, 2, "zylophone too", forgotten, 4);
        assert_eq!(look_up(store, 2), None);
        assert_eq!(store.llm_report(at(0)).unwrap().last_failure.unwrap().reason, "");
        assert!(
            fixture.rows("llm_calls").iter().all(|row| !row["failure"].to_string().contains("zylophone"))
        );
        // Later ones are kept again.
        let LlmLookup { forgotten, .. } = store.llm_answer(&[2; 32], at(0)).unwrap();
        keep(store, 2, "new", forgotten, 5);
        assert_eq!(look_up(store, 2).unwrap(), "new");
    });
}

#[test]
fn a_budget_counts_what_is_reserved_until_it_is_booked() {
    with_store(|store, _| {
        let first = reserve(store, &call(60, Some(100)), stamp(1)).unwrap();
        assert_eq!(
            store.reserve_llm(&call(60, Some(100)), stamp(2)).unwrap(),
            Reserved::TooLittle(Dollars::of_billionths(40))
        );
        // A process that died would leave it like this.
        let report = store.llm_report(at(0)).unwrap();
        assert_eq!((report.spent_today.billionths(), report.reserved_today.billionths()), (60, 60));
        store.book_llm(first, &end(10)).unwrap();
        let second = reserve(store, &call(60, Some(100)), stamp(3)).unwrap();
        store.book_llm(second, &end(90)).unwrap();
        assert_eq!(reserve(store, &call(1, Some(100)), stamp(4)), None, "10 and 90 are spent");
        assert!(reserve(store, &call(0, Some(100)), stamp(4)).is_some(), "what costs nothing is not limited");
        let report = store.llm_report(at(0)).unwrap();
        let day = &report.models[0];
        assert_eq!((report.spent_today.billionths(), report.reserved_today.billionths()), (100, 0));
        assert_eq!((day.requests, day.failed, day.input_tokens, day.output_tokens), (3, 0, 6, 2));
        // Another day.
        let tomorrow = NewLlmCall { budget: Some((Dollars::of_billionths(100), at(4))), ..call(90, None) };
        assert!(reserve(store, &tomorrow, stamp(5)).is_some());
    });
}

#[test]
fn many_processes_share_one_budget() {
    with_store(|store, fixture| {
        let granted: usize = std::thread::scope(|scope| {
            let ask = || {
                let store = fixture.open(at(0)).unwrap();
                (0..10).filter(|n| reserve(&*store, &call(10, Some(100)), stamp(*n)).is_some()).count()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(granted, 10);
        assert_eq!(store.llm_report(at(0)).unwrap().spent_today.billionths(), 100);
    });
}

#[test]
fn requests_are_remembered_for_a_month() {
    with_store(|store, fixture| {
        for day in [0, 15, 30, 45] {
            let stamp = stamp(day * 24 * 3_600);
            store.read_clock(false, stamp).unwrap();
            reserve(store, &call(1, None), stamp).unwrap();
        }
        assert_eq!(fixture.rows("llm_calls").len(), 3);
    });
}
