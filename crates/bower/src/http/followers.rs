//! Limits open streams: how many each caller has, how many there are in all, and how long each lasts.
//! Where all are taken, a caller with few is let in, and the oldest stream of the caller with most ends; its client comes back where it
//! was.

use axum::http::StatusCode;
use bower_core::config::Serve;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::auth::Key;
use super::problem::Problem;

/// How many streams there may be, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Streams at once.
    pub most: usize,
    /// Streams of one token at once, and of one address where there are no tokens.
    pub most_of_one: usize,
    /// How long one lasts.
    pub age: Duration,
}

impl Rules {
    /// As the settings say.
    pub fn of(serve: &Serve) -> Self {
        let age = Duration::from_secs(serve.stream_s);
        Self { most: serve.streams, most_of_one: serve.streams_each, age }
    }
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// It goes on.
    Not,
    /// It is old.
    Age,
    /// Somebody with fewer streams needs the place.
    Room,
}

impl Over {
    /// One word for it.
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

/// All streams, by their numbers: the oldest first.
#[derive(Debug)]
pub struct Followers {
    rules: Rules,
    held: Mutex<(u64, BTreeMap<u64, Held>)>,
}

/// One stream, as long as this lives.
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
    /// Waits until it is to end, and says why.
    pub async fn over(&mut self) -> Over {
        tokio::select! {
            // The sender goes with its entry, and that goes only once the place is somebody else's.
            told = self.over.wait_for(|over| *over != Over::Not) => told.map_or(Over::Room, |over| *over),
            () = sleep_until(self.end.into()) => Over::Age,
        }
    }
}

impl Followers {
    /// None yet.
    pub fn new(rules: Rules) -> Self {
        Self { rules, held: Mutex::default() }
    }

    /// Lets one more in.
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
            // One that only changed hands would come back and change them again.
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
        // Those that began together do not all come back together.
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
