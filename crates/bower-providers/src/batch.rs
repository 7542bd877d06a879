//! Plans batches within a server's limits, and runs several at once with the results in order.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::call::lock;
use crate::embed::Limits;

/// The size of a text, as far as limits go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextSize {
    /// Estimated tokens.
    pub tokens: usize,
    /// Bytes.
    pub bytes: usize,
}

/// Returns ranges of texts that follow each other, each within the limits. A text over a limit is a batch of its own.
pub(crate) fn plan(sizes: &[TextSize], limits: &Limits) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut tokens, mut bytes) = (0, 0_usize, 0_usize);
    for (at, size) in sizes.iter().enumerate() {
        let fits = at - start < limits.texts
            && tokens.saturating_add(size.tokens) <= limits.tokens
            && bytes.saturating_add(size.bytes) <= limits.bytes;
        if !fits && at > start {
            batches.push(start..at);
            (start, tokens, bytes) = (at, 0, 0);
        }
        tokens = tokens.saturating_add(size.tokens);
        bytes = bytes.saturating_add(size.bytes);
    }
    if start < sizes.len() {
        batches.push(start..sizes.len());
    }
    batches
}

/// Calls a function for each batch, at most `flight` at once, and returns the results in the order of the batches.
pub(crate) fn run<T: Send>(
    batches: &[Range<usize>],
    flight: usize,
    call: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let threads = flight.clamp(1, batches.len().max(1));
    if threads == 1 {
        return batches.iter().cloned().map(call).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = batches.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(at) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < batches.len())
                {
                    let result = call(batches[at].clone());
                    *lock(&results[at]) = Some(result);
                }
            });
        }
    });
    let taken = results.into_iter().map(|result| lock(&result).take());
    taken.map(|result| result.expect("each batch was called, or the scope has panicked")).collect()
}

/// Calls a function for a range, and for its halves where it fails by its size. `call` returns `Err` if halves may succeed.
/// `budget` is how often ranges are halved for another reason than their size.
pub(crate) fn halve<T>(
    range: Range<usize>,
    budget: &AtomicUsize,
    call: &impl Fn(Range<usize>) -> Result<Vec<T>, Halve<T>>,
) -> Vec<T> {
    let failed = match call(range.clone()) {
        Ok(items) => return items,
        Err(failed) => failed,
    };
    let take = |left: usize| left.checked_sub(1);
    let may = failed.by_size || budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
    if range.len() < 2 || !may {
        return (failed.items)(range);
    }
    let middle = range.start + range.len() / 2;
    let mut items = halve(range.start..middle, budget, call);
    items.extend(halve(middle..range.end, budget, call));
    items
}

/// A range that failed, and whose halves may succeed.
pub(crate) struct Halve<T> {
    /// Whether its size is the reason. Then it is halved down to single texts.
    pub by_size: bool,
    /// What becomes of its texts if it is not halved.
    pub items: Box<dyn FnOnce(Range<usize>) -> Vec<T>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;

    fn sizes(tokens: &[usize]) -> Vec<TextSize> {
        tokens.iter().map(|tokens| TextSize { tokens: *tokens, bytes: tokens * 3 }).collect()
    }

    #[test]
    fn a_text_over_the_limit_is_alone() {
        let limits = Limits { texts: 3, tokens: 10, bytes: 1_000, text_tokens: 10 };
        assert_eq!(plan(&sizes(&[5, 5, 1, 50, 1, 1, 1, 1]), &limits), [0..2, 2..3, 3..4, 4..7, 7..8]);
        assert!(plan(&[], &limits).is_empty());
    }

    #[test]
    fn results_are_in_order_and_no_more_are_in_flight_than_allowed() {
        let batches: Vec<Range<usize>> = (0..50).map(|at| at * 2..at * 2 + 2).collect();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let got = run(&batches, 4, |range| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
            range
        });
        assert_eq!(got, batches);
        assert!(most.into_inner() <= 4);
        assert!(run::<()>(&[], 4, |_| ()).is_empty());
    }

    #[test]
    fn a_batch_is_halved_until_the_bad_text_is_alone() {
        let check = |bad: &[usize], by_size: bool, budget: usize, failed: &[usize], most_calls: usize| {
            let calls = RefCell::new(0);
            let items = halve(0..64, &AtomicUsize::new(budget), &|range: Range<usize>| {
                *calls.borrow_mut() += 1;
                if range.clone().any(|at| bad.contains(&at)) {
                    let items =
                        Box::new(|range: Range<usize>| range.map(|at| (at, false)).collect::<Vec<_>>());
                    return Err(Halve { by_size, items });
                }
                Ok(range.map(|at| (at, true)).collect())
            });
            assert!(items.iter().map(|item| item.0).eq(0..64), "each text once, in order");
            let got: Vec<usize> = items.iter().filter(|item| !item.1).map(|item| item.0).collect();
            assert_eq!(got, failed);
            assert!(*calls.borrow() <= most_calls, "{calls:?}");
        };
        check(&[], true, 1, &[], 1);
        check(&[37], true, 1, &[37], 13);
        check(&[37], false, 14, &[37], 13);
        check(&[0, 31, 63], true, 1, &[0, 31, 63], 40);
        // If everything fails for another reason than size, it is not asked 127 times.
        let all: Vec<usize> = (0..64).collect();
        check(&all, false, 14, &all, 20);
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_limits(
            sizes in prop::collection::vec((0_usize..40, 0_usize..200), 0..200),
            texts in 1_usize..20, tokens in 1_usize..100, bytes in 1_usize..500,
        ) {
            let sizes: Vec<TextSize> =
                sizes.into_iter().map(|(tokens, bytes)| TextSize { tokens, bytes }).collect();
            let limits = Limits { texts, tokens, bytes, text_tokens: 10 };
            let batches = plan(&sizes, &limits);
            prop_assert!(batches.iter().cloned().flatten().eq(0..sizes.len()));
            for batch in &batches {
                let within = &sizes[batch.clone()];
                let sum = |of: fn(&TextSize) -> usize| within.iter().map(of).sum::<usize>();
                let fits = within.len() <= texts && sum(|size| size.tokens) <= tokens && sum(|size| size.bytes) <= bytes;
                prop_assert!(fits || within.len() == 1);
            }
            // No two neighbours would fit together, or the next text would.
            for pair in batches.windows(2) {
                let next = &sizes[pair[0].start..=pair[1].start];
                let sum = |of: fn(&TextSize) -> usize| next.iter().map(of).sum::<usize>();
                prop_assert!(next.len() > texts || sum(|size| size.tokens) > tokens || sum(|size| size.bytes) > bytes);
            }
        }
    }
}
