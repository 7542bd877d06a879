//! Tracks open connections and their callers, and chooses which to close when another needs its place.
//! A connection is anonymous until a request on it shows a valid token. Anonymous connections never displace those with
//! a token.

use axum::http::StatusCode;
use bower_core::config::Serve;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

use super::auth::{Key, place_of};
use super::problem::Problem;

/// Time before a silent new connection may lose its place. A request arrives within milliseconds, also over a network.
/// A crowd of silent connections delays others by this much each time that it fills all anonymous places.
const NEWCOMER_TIME: Duration = Duration::from_millis(250);

/// Limits on the number of connections and their times.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum number of connections at once.
    pub most: usize,
    /// Maximum number of connections of one token, and of anonymous ones of one address. The address limit does not
    /// apply to the loopback, which all local programs share.
    pub most_of_one: usize,
    /// Time that a client may take to send the head of a request.
    pub head_time: Duration,
    /// Time that a connection may be idle between two requests.
    pub idle_time: Duration,
    /// Age after which the next response closes the connection.
    pub age: Duration,
    /// Time for which a new connection without a request keeps its place: it may be about to show a token.
    pub newcomer_time: Duration,
}

impl Rules {
    /// Reads the rules from the settings.
    pub fn of(serve: &Serve) -> Self {
        Self {
            most: serve.connections,
            most_of_one: serve.connections_each,
            head_time: Duration::from_secs(serve.head_s),
            idle_time: Duration::from_secs(serve.idle_s),
            age: Duration::from_secs(serve.connection_s),
            newcomer_time: NEWCOMER_TIME,
        }
    }

    /// Returns the maximum number of anonymous connections at once. Where tokens are needed it is half, so that a flood
    /// of them leaves the other half free.
    fn most_anonymous(&self, takes_tokens: bool) -> usize {
        if takes_tokens { (self.most / 2).max(1) } else { self.most }
    }

    /// Returns the maximum number of connections with a token at once. A sixteenth stays free for connections that have
    /// not shown theirs yet.
    fn most_known(&self) -> usize {
        self.most - (self.most / 16).max(1).min(self.most - 1)
    }
}

/// Whether and why the server closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// It is open.
    Not,
    /// Another connection needed its place.
    Room,
}

/// Result of checking a connection's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing to do before this time.
    Look(Instant),
    /// The connection was idle too long, or the head of its request did not arrive: close it.
    Close,
}

/// State of an open connection.
#[derive(Debug)]
struct Held {
    /// The address that the limits count it for.
    address: IpAddr,
    /// The token that its last request showed.
    token: Option<Key>,
    /// Whether a request has arrived on it. A connection without one may be about to show a token.
    has_asked: bool,
    /// Whether a request is in progress.
    is_busy: bool,
    /// When it last became busy or idle.
    since: Instant,
    close: watch::Sender<Closed>,
}

/// All open connections.
#[derive(Debug)]
pub struct Connections {
    rules: Rules,
    held: Mutex<HashMap<u64, Held>>,
    next: AtomicU64,
    closed_for_room: AtomicU64,
}

/// Registration of one connection; dropping it removes the connection.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    id: u64,
    opened: Instant,
    /// 1 + milliseconds from `opened` until the head of a request began to arrive; 0 if no head has begun.
    head_began_ms: AtomicU64,
}

/// A request in progress on a connection; dropping it ends the request.
#[derive(Debug)]
pub struct Busy(Arc<Connection>);

impl Busy {
    /// Whether the connection closes after this response.
    pub fn is_last(&self, now: Instant) -> bool {
        self.0.is_old(now)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set(false, Instant::now());
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

impl Connections {
    /// Creates an empty set of connections.
    pub fn new(rules: Rules) -> Self {
        Self { rules, held: Mutex::default(), next: AtomicU64::new(0), closed_for_room: AtomicU64::new(0) }
    }

    /// Returns the number of open connections, and how many of those have shown a token.
    pub fn count(&self) -> (usize, usize) {
        let held = self.lock();
        (held.len(), held.values().filter(|one| one.token.is_some()).count())
    }

    /// Returns the number of connections that were closed because others needed their places.
    pub fn closed_for_room(&self) -> u64 {
        self.closed_for_room.load(Ordering::Relaxed)
    }

    /// Registers a new connection. It is not refused, because it may be about to show a token.
    /// Where there is no place, it closes an anonymous connection: idle before busy, then one with an earlier request
    /// before one without, then the longest idle. Returns none where all places belong to other new connections; the
    /// caller waits and tries again.
    pub fn open(
        self: &Arc<Self>,
        address: IpAddr,
        takes_tokens: bool,
        now: Instant,
    ) -> Option<(Connection, watch::Receiver<Closed>)> {
        let address = place_of(address);
        let mut held = self.lock();
        let is_anonymous = |one: &Held| one.token.is_none();
        if !address.is_loopback() {
            let is_of_it = |one: &Held| is_anonymous(one) && one.address == address;
            self.make_room(&mut held, self.rules.most_of_one, now, is_of_it)?;
        }
        self.make_room(&mut held, self.rules.most_anonymous(takes_tokens), now, is_anonymous)?;
        let known = held.values().filter(|one| !is_anonymous(one)).count();
        self.make_room(&mut held, self.rules.most.saturating_sub(known), now, is_anonymous)?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (close, told) = watch::channel(Closed::Not);
        held.insert(id, Held { address, token: None, has_asked: false, is_busy: false, since: now, close });
        let connection =
            Connection { all: Arc::clone(self), id, opened: now, head_began_ms: AtomicU64::new(0) };
        Some((connection, told))
    }

    /// Closes one connection: idle before busy, then anonymous before one with a token, then the longest idle.
    pub fn make_some_room(&self) {
        let mut held = self.lock();
        let idlest = held.iter().min_by_key(|(id, one)| (one.is_busy, one.token.is_some(), one.since, **id));
        if let Some(id) = idlest.map(|(id, _)| *id) {
            self.close(&mut held, id);
        }
    }

    /// Closes connections of a kind until one more of them is within the limit `most`. Returns none where the best
    /// candidate is a new connection within its grace time.
    fn make_room(
        &self,
        held: &mut HashMap<u64, Held>,
        most: usize,
        now: Instant,
        is_of_kind: impl Fn(&Held) -> bool,
    ) -> Option<()> {
        loop {
            let of_kind = || held.iter().filter(|(_, one)| is_of_kind(one));
            if of_kind().count() < most {
                return Some(());
            }
            let idlest = of_kind().min_by_key(|(id, one)| (one.is_busy, !one.has_asked, one.since, **id));
            let Some((&id, idlest)) = idlest else { return Some(()) };
            let is_new = !idlest.is_busy && !idlest.has_asked;
            if is_new && now.saturating_duration_since(idlest.since) < self.rules.newcomer_time {
                return None;
            }
            self.close(held, id);
        }
    }

    fn close(&self, held: &mut HashMap<u64, Held>, id: u64) {
        if let Some(gone) = held.remove(&id) {
            self.closed_for_room.fetch_add(1, Ordering::Relaxed);
            gone.close.send_replace(Closed::Room);
        }
    }

    /// Records that a request on a connection showed a valid token. Where that token has too many connections, its
    /// longest idle one is closed. Where all tokens together have too many, the longest idle one of the token with the
    /// most is closed.
    fn prove(&self, id: u64, key: &Key) -> Result<(), Problem> {
        let mut held = self.lock();
        if held.get(&id).is_none_or(|one| one.token.as_ref() == Some(key)) {
            return Ok(());
        }
        let mut counts: HashMap<Key, usize> = HashMap::new();
        for (_, one) in held.iter().filter(|(other, _)| **other != id) {
            if let Some(token) = &one.token {
                *counts.entry(token.clone()).or_default() += 1;
            }
        }
        let resting = |held: &HashMap<u64, Held>, of: &Key| {
            let of_it = held
                .iter()
                .filter(|(other, one)| **other != id && !one.is_busy && one.token.as_ref() == Some(of));
            of_it.min_by_key(|(id, one)| (one.since, **id)).map(|(id, _)| *id)
        };
        let own = counts.get(key).copied().unwrap_or(0);
        if own >= self.rules.most_of_one {
            let Some(idlest) = resting(&held, key) else {
                let what = format!("this token has {own} connections, and all of them are busy");
                return Err(Problem::later(StatusCode::TOO_MANY_REQUESTS, what, 1));
            };
            self.close(&mut held, idlest);
        } else if counts.values().sum::<usize>() >= self.rules.most_known() {
            let most = counts.iter().max_by_key(|(key, count)| (**count, hash_of(key)));
            let whose = most.filter(|(_, count)| **count > own).map(|(key, _)| key);
            let Some(idlest) = whose.and_then(|whose| resting(&held, whose)) else {
                let what = "other tokens have all connections, and all of them are busy";
                return Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, what, 1));
            };
            self.close(&mut held, idlest);
        }
        if let Some(one) = held.get_mut(&id) {
            one.token = Some(key.clone());
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Records that the head of a request has arrived. The request lasts until the returned value is dropped.
    pub fn begin(self: &Arc<Self>, now: Instant) -> Busy {
        self.set(true, now);
        Busy(Arc::clone(self))
    }

    /// Records that a request showed a valid token, or refuses it where the token has too many connections.
    pub fn prove(&self, key: &Key) -> Result<(), Problem> {
        self.all.prove(self.id, key)
    }

    /// Records that a request showed no valid token.
    pub fn disprove(&self) {
        if let Some(one) = self.all.lock().get_mut(&self.id) {
            one.token = None;
        }
    }

    /// Records that bytes arrived.
    pub fn heard(&self, now: Instant) {
        if self.head_began_ms.load(Ordering::Relaxed) == 0 {
            let ms = now.saturating_duration_since(self.opened).as_millis() as u64 + 1;
            self.head_began_ms.store(ms, Ordering::Relaxed);
        }
    }

    /// Whether it is so old that its next response is its last. An idle connection is not closed for its age: its
    /// client may be sending a request.
    pub fn is_old(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.opened) >= self.all.rules.age
    }

    /// Returns the action that is due at `now`.
    pub fn due(&self, now: Instant) -> Due {
        let rules = &self.all.rules;
        let (is_busy, since) = match self.all.lock().get(&self.id) {
            Some(one) => (one.is_busy, one.since),
            None => return Due::Close,
        };
        if !is_busy {
            let began = self.head_began_ms.load(Ordering::Relaxed);
            // The first request has the same time limit as a head that has begun to arrive.
            let head = match began.checked_sub(1) {
                Some(ms) => Some(self.opened + Duration::from_millis(ms)),
                None => (since == self.opened).then_some(since),
            };
            let end = head.map_or(since + rules.idle_time, |head| head + rules.head_time);
            return if end <= now { Due::Close } else { Due::Look(end) };
        }
        // A busy connection is checked again when it could first have been idle for too long.
        Due::Look(now + rules.head_time.min(rules.idle_time))
    }

    fn set(&self, is_busy: bool, now: Instant) {
        self.head_began_ms.store(0, Ordering::Relaxed);
        if let Some(one) = self.all.lock().get_mut(&self.id) {
            (one.has_asked, one.is_busy, one.since) = (true, is_busy, now);
        }
    }
}

/// Returns a text that orders keys with equal counts.
fn hash_of(key: &Key) -> String {
    match key {
        Key::Token(hash) => hash.clone(),
        Key::Address(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        most: 16,
        most_of_one: 6,
        head_time: Duration::from_secs(15),
        idle_time: Duration::from_mins(1),
        age: Duration::from_hours(1),
        newcomer_time: Duration::ZERO,
    };
    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    type Opened = (Arc<Connection>, watch::Receiver<Closed>);

    fn key(name: &str) -> Key {
        Key::Token(name.into())
    }

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    fn open(all: &Arc<Connections>, address: IpAddr, now: Instant) -> Opened {
        let (connection, told) =
            all.open(address, true, now).expect("newcomers have no time of their own here");
        (Arc::new(connection), told)
    }

    fn is_open((_, told): &Opened) -> bool {
        *told.borrow() == Closed::Not
    }

    /// The attack: as many connections as are allowed, each sending a request now and then.
    #[test]
    fn those_without_a_token_never_keep_one_out_that_has_a_token() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let flood: Vec<Opened> = (0..100)
            .map(|n| {
                let one = open(&all, LOCAL, after(start, n));
                drop(one.0.begin(after(start, n)));
                one
            })
            .collect();
        assert_eq!(all.count(), (8, 0), "half of the places");
        assert!(flood[..92].iter().all(|one| !is_open(one)) && flood[92..].iter().all(is_open));
        let honest = open(&all, LOCAL, after(start, 1_000));
        honest.0.prove(&key("honest")).unwrap();
        let _more: Vec<Opened> = (0..100).map(|n| open(&all, LOCAL, after(start, 2_000 + n))).collect();
        assert!(is_open(&honest), "and it stays");
        assert_eq!(all.count(), (9, 1));
        honest.0.disprove();
        let _more: Vec<Opened> = (0..100).map(|n| open(&all, LOCAL, after(start, 3_000 + n))).collect();
        assert!(!is_open(&honest), "a token that was taken back is none");
    }

    #[test]
    fn the_longest_rest_ends_first_and_work_is_not_ended() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let eight: Vec<Opened> = (0..8).map(|n| open(&all, LOCAL, after(start, n))).collect();
        let busy = eight[0].0.begin(after(start, 10));
        eight[1].0.set(true, after(start, 11));
        eight[1].0.set(false, after(start, 12));
        let _next = open(&all, LOCAL, after(start, 20));
        assert!(!is_open(&eight[1]), "the others may be about to show a token");
        let _third = open(&all, LOCAL, after(start, 21));
        assert!(!is_open(&eight[2]), "it has rested longest");
        drop(busy);
        let all_busy: Vec<Busy> = eight.iter().map(|one| one.0.begin(after(start, 30))).collect();
        let _more: Vec<Opened> = (0..8).map(|n| open(&all, LOCAL, after(start, 40 + n))).collect();
        assert_eq!(all.count().0, 8, "and where all are busy, the first of them goes");
        drop(all_busy);
    }

    #[test]
    fn a_token_has_so_many_and_its_own_rest_ends_where_it_wants_more() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let known = |name: &str, at: u64| {
            let one = open(&all, LOCAL, after(start, at));
            one.0.prove(&key(name)).map(|()| one)
        };
        let greedy: Vec<Opened> = (0..6).map(|n| known("greedy", n).unwrap()).collect();
        let other = known("other", 10).unwrap();
        let busy: Vec<Busy> = greedy[1..].iter().map(|one| one.0.begin(after(start, 20))).collect();
        let seventh = known("greedy", 30).unwrap();
        assert!(!is_open(&greedy[0]) && is_open(&other));
        let all_busy = greedy[1..].iter().chain([&seventh]).map(|one| one.0.begin(after(start, 40)));
        let all_busy: Vec<Busy> = all_busy.collect();
        assert_eq!(known("greedy", 50).unwrap_err().status, 429);
        drop((busy, all_busy));
        // Fifteen of sixteen places are for tokens. A token with few connections takes the last of them.
        let _b: Vec<Opened> = (0..5).map(|n| known("b", 60 + n).unwrap()).collect();
        let _c: Vec<Opened> = (0..3).map(|n| known("c", 70 + n).unwrap()).collect();
        assert_eq!(all.count(), (15, 15));
        let late = known("late", 80).unwrap();
        assert!(is_open(&late) && is_open(&other));
        assert_eq!(all.count(), (15, 15));
        assert_eq!(greedy.iter().filter(|one| is_open(one)).count(), 4, "one of the token with the most");
    }

    #[test]
    fn where_the_system_has_no_more_the_longest_rest_without_a_token_ends() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let known = open(&all, LOCAL, start);
        known.0.prove(&key("a")).unwrap();
        let (busy, rests) = (open(&all, LOCAL, after(start, 1)), open(&all, LOCAL, after(start, 2)));
        let under_way = busy.0.begin(after(start, 3));
        all.make_some_room();
        assert!(!is_open(&rests) && is_open(&known) && is_open(&busy));
        all.make_some_room();
        assert!(!is_open(&known) && is_open(&busy), "what is under way ends last");
        drop(under_way);
    }

    #[test]
    fn an_address_has_so_many_and_the_loopback_is_everybodys() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let quiet = open(&all, address("10.0.0.1"), start);
        let loud: Vec<Opened> =
            (0..20).map(|n| open(&all, address("10.0.0.2"), after(start, 10 + n))).collect();
        assert_eq!(loud.iter().filter(|one| is_open(one)).count(), 6);
        assert!(is_open(&quiet));
        assert_eq!(place_of(address("2001:db8::1")), place_of(address("2001:db8::ffff:1")));
        assert_ne!(place_of(address("2001:db8:0:1::1")), place_of(address("2001:db8::1")));
        assert_eq!(place_of(address("::ffff:10.0.0.2")), address("10.0.0.2"));
        let all = Arc::new(Connections::new(RULES));
        let tools: Vec<_> = (0..16).map(|n| all.open(LOCAL, false, after(start, n)).unwrap()).collect();
        assert_eq!(all.count().0, 16, "without tokens every program of the machine is one of ours");
        drop(tools);
        assert_eq!(all.count().0, 0);
    }

    #[test]
    fn a_head_comes_soon_a_rest_ends_and_nobody_stays_for_ever() {
        let all = Arc::new(Connections::new(RULES));
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let (one, _told) = all.open(LOCAL, true, start).unwrap();
        let one = Arc::new(one);
        assert_eq!(one.due(at(1)), Due::Look(at(15)), "nothing has come yet");
        one.heard(at(2));
        one.heard(at(9));
        assert_eq!(one.due(at(10)), Due::Look(at(17)), "the head has begun");
        assert_eq!(one.due(at(17)), Due::Close);
        one.set(true, at(18));
        assert_eq!(one.due(at(400)), Due::Look(at(415)), "work is not hurried");
        one.set(false, at(400));
        assert_eq!(one.due(at(401)), Due::Look(at(460)));
        assert_eq!(one.due(at(460)), Due::Close);
        assert!(!one.is_old(at(3_599)) && one.is_old(at(3_600)), "an old one ends with its answer");
    }
}
