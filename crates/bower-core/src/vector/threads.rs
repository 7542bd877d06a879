//! Distributes pieces of work among threads and returns their results in order.
//! The results never depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `count` pieces of work on at most `threads` threads, and returns the results in order. Each thread takes the
/// next free piece.
pub fn in_order<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return done;
            }
            done.push((at, work(at)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_and_stands_in_its_place() {
        for threads in [0, 1, 2, 7] {
            for count in [0, 1, 2, 33] {
                let expected: Vec<usize> = (0..count).map(|at| at * at).collect();
                assert_eq!(in_order(threads, count, |at| at * at), expected, "{threads} threads");
            }
        }
    }

    #[test]
    #[should_panic(expected = "piece 3")]
    fn a_panic_is_passed_on() {
        in_order(2, 5, |at| assert_ne!(at, 3, "piece 3"));
    }
}
