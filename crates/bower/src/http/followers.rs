//! Limits open streams: how many each caller has, how many there are in all, and how long each lasts.
//! Where all places are taken, a caller with few streams may still open one. The oldest stream of the caller with the
//! most ends, and its client resumes where it was.

use axum::http::StatusCode;
use bower_core::config::Serve;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::auth::Key;
use super::problem::Problem;

/// Limits on the number of streams and their age.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum number of streams at once.
    pub most: usize,
    /// Maximum number of streams at once of one token, or of one address while there are no tokens.
    pub most_of_one: usize,
    /// Time after which a stream ends.
    pub age: Duration,
}

impl Rules {
    /// Reads the rules from the settings.
    pub fn of(serve: &Serve) -> Self {
        let age = Duration::from_secs(serve.stream_s);
        Self { most: serve.streams, most_of_one: serve.streams_each, age }
    }
}

/// Whether and why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// It does not end.
    Not,
    /// It is older than the rules allow.
    Age,
    /// A caller with fewer streams needs the place.
    Room,
}

impl Over {
    /// Returns the reason as one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Not => "none",
            Self::Age => "age",
            Self::Room => "room",
        }
    }
}

#[derive(Debug)]
struct Held {
    key: Key,
    over: watch::Sender<Over>,
}

/// All open streams. Their numbers ascend, so the oldest is first.
#[derive(Debug)]
pub struct Followers {
    rules: Rules,
    held: Mutex<(u64, BTreeMap<u64, Held>)>,
}

/// Registration of one stream; dropping it removes the stream.
#[derive(Debug)]
pub struct Follower {
    all: Arc<Followers>,
    id: u64,
    end: Instant,
    over: watch::Receiver<Over>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.all.lock().1.remove(&self.id);
    }
}

impl Follower {
    /// Waits until the stream must end, and returns why.
    pub async fn over(&mut self) -> Over {
        tokio::select! {
            // The sender is dropped with its entry, and the entry is removed only to give its place to another stream.
            told = self.over.wait_for(|over| *over != Over::Not) => told.map_or(Over::Room, |over| *over),
            () = sleep_until(self.end.into()) => Over::Age,
        }
    }
}

impl Followers {
    /// Creates an empty set of streams.
    pub fn new(rules: Rules) -> Self {
        Self { rules, held: Mutex::default() }
    }

    /// Registers one more stream, or refuses it.
    pub fn enter(self: &Arc<Self>, key: &Key, now: Instant) -> Result<Follower, Problem> {
        let mut held = self.lock();
        let mut counts: HashMap<&Key, usize> = HashMap::new();
        for one in held.1.values() {
            *counts.entry(&one.key).or_default() += 1;
        }
        let own = counts.get(key).copied().unwrap_or(0);
        let most_of_one = if key.is_everybody() { self.rules.most } else { self.rules.most_of_one };
        if own >= most_of_one {
            return Err(Problem::later(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{own} streams are open: end one, or raise serve.streams_each"),
                60,
            ));
        }
        if held.1.len() >= self.rules.most {
            let most = counts.values().copied().max().unwrap_or(0);
            // The other caller must have at least two more: otherwise its client would reconnect and take the place
            // back.
            let oldest = held.1.iter().find(|(_, one)| most > own + 1 && counts[&one.key] == most);
            let Some((&id, _)) = oldest else {
                return Err(Problem::later(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!("{} streams are open, and nobody has many of them", held.1.len()),
                    60,
                ));
            };
            if let Some(gone) = held.1.remove(&id) {
                gone.over.send_replace(Over::Room);
            }
        }
        let id = held.0;
        held.0 += 1;
        let (sender, over) = watch::channel(Over::Not);
        held.1.insert(id, Held { key: key.clone(), over: sender });
        // Ages differ by the number, so that streams that began together do not all reconnect together.
        let part = 1.0 - 0.02 * (id % 10) as f64;
        Ok(Follower { all: Arc::clone(self), id, end: now + self.rules.age.mul_f64(part), over })
    }

    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Held>)> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { most: 8, most_of_one: 6, age: Duration::from_hours(1) };

    fn key(name: &str) -> Key {
        Key::Token(name.into())
    }

    #[tokio::test]
    async fn one_caller_never_has_all_streams() {
        let all = Arc::new(Followers::new(RULES));
        let now = Instant::now();
        let enter = |name: &str| all.enter(&key(name), now);
        let mut greedy: Vec<Follower> = (0..6).map(|_| enter("greedy").unwrap()).collect();
        let refused = enter("greedy").unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after_s), (429, Some(60)));
        let other = [enter("other").unwrap(), enter("other").unwrap()];
        let late = [enter("late").unwrap(), enter("late").unwrap(), enter("late").unwrap()];
        assert_eq!(all.lock().1.len(), 8, "three of the greedy one's have gone");
        for (at, one) in greedy.iter_mut().enumerate() {
            let over = tokio::time::timeout(Duration::ZERO, one.over()).await.ok();
            assert_eq!(over, (at < 3).then_some(Over::Room), "{at}");
        }
        assert_eq!(enter("late").unwrap_err().status, 503, "all have about as many");
        drop(greedy);
        drop((other, late));
        assert_eq!(all.lock().1.len(), 0);
    }

    #[tokio::test]
    async fn a_stream_has_an_end() {
        let all = Arc::new(Followers::new(RULES));
        let now = Instant::now();
        let first = all.enter(&key("a"), now).unwrap();
        let second = all.enter(&key("a"), now).unwrap();
        assert!(second.end < first.end && second.end >= now + Duration::from_mins(48));
        let all = Arc::new(Followers::new(Rules { age: Duration::ZERO, ..RULES }));
        assert_eq!(all.enter(&key("a"), now).unwrap().over().await, Over::Age);
    }

    #[test]
    fn the_loopback_without_tokens_is_all_of_the_machine() {
        let all = Arc::new(Followers::new(RULES));
        let local = Key::Address("127.0.0.1".parse().unwrap());
        let held: Vec<_> = (0..8).map(|_| all.enter(&local, Instant::now()).unwrap()).collect();
        assert!(all.enter(&local, Instant::now()).is_err());
        drop(held);
    }
}
