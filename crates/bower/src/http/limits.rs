//! Limits how many requests one caller may send, and how much work runs at once.
//! A caller over a limit gets the time after which to try again. Its request does not wait in memory.

use axum::http::StatusCode;
use bower_core::config::Serve;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Semaphore;

use super::auth::Key;
use super::problem::Problem;

/// Maximum number of callers that are remembered for each kind of key. Beyond it, those with no recent request are
/// forgotten.
const MOST_CALLERS: usize = 4_096;
/// Rate at which an address regains tries after wrong tokens, per second. No person mistypes faster.
const FAILURES_A_SECOND: f64 = 5.0;
/// Wrong tokens of an address that are allowed before the rate applies.
const FAILURES_AT_FIRST: f64 = 20.0;

/// A token bucket: it fills with time, and requests empty it.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    seen: Instant,
}

impl Bucket {
    fn full(most: f64, now: Instant) -> Self {
        Self { left: most, seen: now }
    }

    fn fill(&mut self, rate: f64, most: f64, now: Instant) {
        let passed = now.saturating_duration_since(self.seen).as_secs_f64();
        self.left = (self.left + passed * rate).min(most);
        self.seen = now;
    }

    /// Takes one unit, or returns the seconds until there is one.
    fn take(&mut self, rate: f64, most: f64, now: Instant) -> Result<(), u64> {
        self.fill(rate, most, now);
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err((((1.0 - self.left) / rate).ceil() as u64).max(1))
    }
}

#[derive(Debug)]
struct Use {
    bucket: Bucket,
    at_once: usize,
}

/// Limits for one caller.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum number of requests per second; 0 is no limit.
    pub rate: u32,
    /// Maximum number of requests at once.
    pub at_once: usize,
    /// Maximum number of requests at once of all programs of this machine together, where they send no token.
    pub at_once_of_all: usize,
}

impl Rules {
    /// Reads the rules from the settings.
    pub fn of(serve: &Serve) -> Self {
        Self { rate: serve.rate, at_once: serve.requests_each, at_once_of_all: serve.requests_local }
    }
}

/// Current use by each caller.
#[derive(Debug, Default)]
struct Uses {
    /// Tokens are separate from addresses: only as many exist as the owner made, and strangers' addresses must never
    /// displace them.
    tokens: HashMap<Key, Use>,
    addresses: HashMap<Key, Use>,
}

impl Uses {
    fn of(&mut self, key: &Key) -> &mut HashMap<Key, Use> {
        match key {
            Key::Token(_) => &mut self.tokens,
            Key::Address(_) => &mut self.addresses,
        }
    }
}

/// Cost of a request in its caller's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// It counts for the rate and as one request at once.
    Whole,
    /// It counts only as one request at once, because serving it costs no more than refusing it.
    Place,
}

/// The limits of each caller.
#[derive(Debug)]
pub struct Limits {
    rate: f64,
    rules: Rules,
    uses: Mutex<Uses>,
    failures: Mutex<HashMap<Key, Bucket>>,
}

/// A request that counts as one at once until it is dropped.
#[derive(Debug)]
pub struct Turn {
    limits: Arc<Limits>,
    key: Key,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut uses = lock(&self.limits.uses);
        if let Some(one) = uses.of(&self.key).get_mut(&self.key) {
            one.at_once = one.at_once.saturating_sub(1);
        }
    }
}

impl Limits {
    /// Creates the limits. A burst may have twice as many requests as the rate allows in one second.
    pub fn new(rules: Rules) -> Self {
        Self { rate: f64::from(rules.rate), rules, uses: Mutex::default(), failures: Mutex::default() }
    }

    /// Counts a request, or refuses it.
    pub fn enter(self: &Arc<Self>, key: &Key, cost: Cost, now: Instant) -> Result<Turn, Problem> {
        let most = self.rate * 2.0;
        let mut all = lock(&self.uses);
        let uses = all.of(key);
        if uses.len() >= MOST_CALLERS && !uses.contains_key(key) {
            uses.retain(|_, one| {
                one.bucket.fill(self.rate, most, now);
                one.at_once > 0 || one.bucket.left < most
            });
            if uses.len() >= MOST_CALLERS {
                return Err(too_many("too many callers", 1));
            }
        }
        let one =
            uses.entry(key.clone()).or_insert_with(|| Use { bucket: Bucket::full(most, now), at_once: 0 });
        let at_once = if key.is_everybody() { self.rules.at_once_of_all } else { self.rules.at_once };
        if one.at_once >= at_once {
            return Err(too_many(&format!("more than {at_once} requests at once"), 1));
        }
        if self.rate > 0.0 && cost == Cost::Whole {
            one.bucket.take(self.rate, most, now).map_err(|seconds| {
                too_many(&format!("more than {} requests a second", self.rate), seconds)
            })?;
        }
        one.at_once += 1;
        drop(all);
        Ok(Turn { limits: Arc::clone(self), key: key.clone() })
    }

    /// Refuses an address that sent too many wrong tokens.
    pub fn check_failures(&self, key: &Key, now: Instant) -> Result<(), Problem> {
        let mut failures = lock(&self.failures);
        let Some(bucket) = failures.get_mut(key) else { return Ok(()) };
        bucket.fill(FAILURES_A_SECOND, FAILURES_AT_FIRST, now);
        if bucket.left >= 1.0 { Ok(()) } else { Err(too_many("too many wrong tokens", 1)) }
    }

    /// Records that an address sent a wrong token.
    pub fn note_failure(&self, key: &Key, now: Instant) {
        let mut failures = lock(&self.failures);
        if failures.len() >= MOST_CALLERS {
            failures.retain(|_, bucket| {
                bucket.fill(FAILURES_A_SECOND, FAILURES_AT_FIRST, now);
                bucket.left < FAILURES_AT_FIRST
            });
        }
        if failures.len() < MOST_CALLERS {
            let bucket = failures.entry(key.clone()).or_insert_with(|| Bucket::full(FAILURES_AT_FIRST, now));
            bucket.take(FAILURES_A_SECOND, FAILURES_AT_FIRST, now).ok();
        }
    }
}

fn too_many(what: &str, seconds: u64) -> Problem {
    Problem::later(StatusCode::TOO_MANY_REQUESTS, what, seconds)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Limits how much work of one kind runs at once, and how much waits. Work runs in order of arrival, on threads that
/// may block. More work than that is refused with the time after which to try again.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
}

/// Counts one waiting request until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConcurrencyLimit {
    /// Creates a limit for this much work at once and this much that waits.
    pub fn new(at_once: usize, most_waiting: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once)), waiting: AtomicUsize::new(0), most_waiting }
    }

    /// Returns the number of requests that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits for a permit to work. Dropping the permit releases it.
    pub async fn enter(&self) -> Result<tokio::sync::OwnedSemaphorePermit, Problem> {
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.most_waiting {
            drop(waiting);
            return Err(Problem::later(
                StatusCode::SERVICE_UNAVAILABLE,
                "more requests wait than this server takes",
                1,
            ));
        }
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        drop(waiting);
        permit.map_err(|_| Problem::later(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end", 5))
    }

    /// Runs blocking work. Dropping the future does not stop work that has begun; it keeps its permit until it is done.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = self.enter().await?;
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        match done.await {
            Ok(result) => result,
            Err(ended) => {
                Err(Problem::internal(if ended.is_panic() { "it panicked" } else { "it was dropped" }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn key(name: &str) -> Key {
        Key::Token(name.into())
    }

    fn limits(rate: u32) -> Arc<Limits> {
        Arc::new(Limits::new(Rules { rate, at_once: 128, at_once_of_all: 512 }))
    }

    fn whole(limits: &Arc<Limits>, key: &Key, now: Instant) -> Result<Turn, Problem> {
        limits.enter(key, Cost::Whole, now)
    }

    #[test]
    fn a_caller_over_the_rate_is_told_when_to_come_back_and_others_are_not() {
        let limits = limits(10);
        let start = Instant::now();
        for _ in 0..20 {
            whole(&limits, &key("a"), start).unwrap();
        }
        let refused = whole(&limits, &key("a"), start).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after_s), (429, Some(1)));
        whole(&limits, &key("b"), start).unwrap();
        whole(&limits, &key("a"), start + Duration::from_millis(101)).unwrap();
        assert!(whole(&limits, &key("a"), start + Duration::from_millis(101)).is_err());
    }

    #[test]
    fn a_caller_has_so_many_requests_at_once() {
        let limits = limits(0);
        let now = Instant::now();
        let mut turns: Vec<Turn> = (0..128).map(|_| whole(&limits, &key("a"), now).unwrap()).collect();
        assert_eq!(whole(&limits, &key("a"), now).unwrap_err().status, 429);
        turns.pop();
        whole(&limits, &key("a"), now).unwrap();
    }

    #[test]
    fn callers_who_ask_nothing_are_forgotten() {
        let limits = limits(10);
        let start = Instant::now();
        for n in 0..MOST_CALLERS {
            whole(&limits, &key(&n.to_string()), start).unwrap();
        }
        assert!(whole(&limits, &key("late"), start).is_err());
        whole(&limits, &key("late"), start + Duration::from_secs(1)).unwrap();
        assert_eq!(lock(&limits.uses).tokens.len(), 1);
    }

    #[test]
    fn however_many_addresses_ask_a_token_is_let_in() {
        let limits = limits(10);
        let now = Instant::now();
        for n in 0..MOST_CALLERS as u32 {
            whole(&limits, &Key::of(std::net::Ipv4Addr::from(n + (10 << 24)).into()), now).unwrap();
        }
        assert!(whole(&limits, &Key::of([11, 0, 0, 1].into()), now).is_err());
        whole(&limits, &key("honest"), now).unwrap();
    }

    #[test]
    fn what_costs_nothing_counts_as_one_at_once_alone() {
        let limits = limits(1);
        let (now, local) = (Instant::now(), Key::of([127, 0, 0, 1].into()));
        let mut turns: Vec<Turn> =
            (0..512).map(|_| limits.enter(&local, Cost::Place, now).unwrap()).collect();
        assert_eq!(limits.enter(&local, Cost::Place, now).unwrap_err().status, 429);
        turns.clear();
        whole(&limits, &local, now).unwrap();
    }

    #[test]
    fn wrong_tokens_close_the_door_for_a_while() {
        let limits = limits(0);
        let now = Instant::now();
        let from = Key::Address("127.0.0.1".parse().unwrap());
        for _ in 0..20 {
            limits.check_failures(&from, now).unwrap();
            limits.note_failure(&from, now);
        }
        assert_eq!(limits.check_failures(&from, now).unwrap_err().status, 429);
        limits.check_failures(&from, now + Duration::from_secs(1)).unwrap();
    }

    #[tokio::test]
    async fn work_waits_in_order_and_not_without_end() {
        let gate = Arc::new(ConcurrencyLimit::new(1, 2));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (entered, is_in) = tokio::sync::oneshot::channel::<()>();
        let first = {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move {
                gate.run(move || {
                    entered.send(()).ok();
                    held.recv().ok();
                    Ok(1)
                })
                .await
            })
        };
        is_in.await.unwrap();
        let wait = |n| {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move { gate.run(move || Ok(n)).await })
        };
        let (second, third) = (wait(2), wait(3));
        while gate.waiting() < 2 {
            tokio::task::yield_now().await;
        }
        let refused = gate.run(|| Ok(4)).await.unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after_s), (503, Some(1)));
        release.send(()).unwrap();
        for (task, expected) in [(first, 1), (second, 2), (third, 3)] {
            assert_eq!(task.await.unwrap().unwrap(), expected);
        }
        let broken = gate.run(|| -> Result<(), Problem> { panic!("secret words") }).await.unwrap_err();
        assert_eq!(broken.status, 500);
        assert!(!format!("{broken:?}").contains("secret"), "{broken:?}");
    }
}
