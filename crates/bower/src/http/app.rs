//! Holds the state that all requests of a running server share, and its options.

use bower_core::engine::Activity;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore, watch};

use super::auth::Door;
#[cfg(test)]
use super::clock::now;
use super::connections::{self, Connections};
use super::followers::{self, Followers};
use super::limits::{self, ConcurrencyLimit, Limits};
use super::metrics::Metrics;
use super::runs::Runs;
use crate::failure::Result;
use crate::service::Service;

/// Maximum number of requests that wait for each kind of work: a few seconds of it.
const MOST_WAITING: usize = 512;
/// Milliseconds after a request in which the next one is expected.
const ACTIVE_MS: u64 = 1_000;
/// Memory for the bodies of all requests together, in KiB.
pub(super) const BODIES_KIB: usize = 256 << 10;
/// Memory for all long responses that their clients have not read yet, in KiB.
pub(super) const ANSWERS_KIB: usize = 256 << 10;

/// Options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address to listen on.
    pub bind: IpAddr,
    /// Port to listen on; 0 picks a free one.
    pub port: u16,
    /// Host names beside the loopback's that requests may name. A server that does not listen on the loopback accepts
    /// any name while this is empty.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests.
    pub origins: Vec<String>,
    /// Longest body of a request, in bytes.
    pub body_bytes: usize,
    /// Time that a request may take until its response begins.
    pub request_time: Duration,
    /// Time that running requests have to finish when the server ends.
    pub grace: Duration,
    /// Limits for each caller.
    pub limits: limits::Rules,
    /// Limits on the number of connections and their times.
    pub connections: connections::Rules,
    /// Limits on the number of streams and their times.
    pub followers: followers::Rules,
    /// Time between two runs that sweep, prune and consolidate memories; none disables them.
    pub prune_every: Option<Duration>,
}

/// State that all requests of a running server share.
#[derive(Debug)]
pub struct App {
    pub(super) service: Arc<Service>,
    pub(super) options: Options,
    /// Folder of the models.
    pub(super) models: PathBuf,
    pub(super) door: Door,
    pub(super) limits: Arc<Limits>,
    pub(super) connections: Arc<Connections>,
    pub(super) followers: Arc<Followers>,
    pub(super) metrics: Metrics,
    pub(super) gates: Gates,
    pub(super) runs: Runs,
    /// Memory for the bodies of requests, in KiB.
    pub(super) bodies: Arc<Semaphore>,
    /// Memory for long answers, in KiB.
    pub(super) answers: Arc<Semaphore>,
    /// When the server began, and the milliseconds from then to the last request.
    pub(super) began: Instant,
    pub(super) last_used_ms: AtomicU64,
    /// Whether a request arrived since the last maintenance.
    pub(super) is_used: AtomicBool,
    /// Whether the indexes were brought up to date with the store once. After an upgrade that analyzes texts
    /// differently, this takes a while.
    pub(super) is_settled: AtomicBool,
    /// Wakes the task that watches for changes after a write by this server, so that streams need not wait for its next
    /// poll.
    pub(super) has_written: Notify,
    /// The store's last change number, for streams of changes.
    pub(super) last_change: watch::Sender<u64>,
    /// Becomes true when the server begins to end.
    pub(super) is_ending: watch::Sender<bool>,
}

/// Concurrency limits of the kinds of work. One kind does not wait for another.
#[derive(Debug)]
pub(super) struct Gates {
    pub(super) read: ConcurrencyLimit,
    pub(super) write: ConcurrencyLimit,
    pub(super) long: ConcurrencyLimit,
    pub(super) export: ConcurrencyLimit,
}

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Takes milliseconds, and writes nothing.
    Read,
    /// Takes milliseconds, and writes.
    Write,
    /// Reads much of the store.
    Long,
}

/// Address of the client of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl App {
    /// Creates the state for a store; `models` is the folder of the models.
    pub(super) fn new(service: Arc<Service>, options: Options, models: PathBuf, door: Door) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2);
        let last = service.engine().last_change()?;
        Ok(Self {
            service,
            models,
            door,
            limits: Arc::new(Limits::new(options.limits)),
            connections: Arc::new(Connections::new(options.connections)),
            followers: Arc::new(Followers::new(options.followers)),
            metrics: Metrics::default(),
            gates: Gates {
                // A query uses two threads by itself, so more queries at once would only share the same cores. Yet one
                // that waits for a language model must not block all others.
                read: ConcurrencyLimit::new(2 * cores, MOST_WAITING),
                // One writes while the next one computes its vector.
                write: ConcurrencyLimit::new(2, MOST_WAITING),
                long: ConcurrencyLimit::new(2, 32),
                // An export goes on as slowly as its client reads, so it must not block other work.
                export: ConcurrencyLimit::new(4, 16),
            },
            runs: Runs::new(),
            bodies: Arc::new(Semaphore::new(BODIES_KIB)),
            answers: Arc::new(Semaphore::new(ANSWERS_KIB)),
            began: Instant::now(),
            last_used_ms: AtomicU64::new(0),
            is_used: AtomicBool::new(true),
            is_settled: AtomicBool::new(false),
            has_written: Notify::new(),
            last_change: watch::Sender::new(last),
            is_ending: watch::Sender::new(false),
            options,
        })
    }

    /// Returns the concurrency limit of a kind of work.
    pub(super) fn gate(&self, work: Work) -> &ConcurrencyLimit {
        match work {
            Work::Read => &self.gates.read,
            Work::Write => &self.gates.write,
            Work::Long => &self.gates.long,
        }
    }

    /// Records that the store was used, and perhaps changed.
    pub(super) fn touched(&self, work: Work) {
        self.is_used.store(true, Ordering::Relaxed);
        self.last_used_ms.store(self.elapsed_ms(), Ordering::Relaxed);
        match work {
            Work::Read => {}
            Work::Write | Work::Long => self.has_written.notify_one(),
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns what requests do, for work that gives way to them.
    pub(super) fn activity(&self) -> Activity {
        let waits = |gate: &ConcurrencyLimit| gate.waiting() > 0;
        if waits(&self.gates.read) || waits(&self.gates.write) {
            Activity::Busy
        } else if self.metrics.under_way.load(Ordering::Relaxed) > 0
            || self.elapsed_ms() - self.last_used_ms.load(Ordering::Relaxed) < ACTIVE_MS
        {
            Activity::Active
        } else {
            Activity::Idle
        }
    }

    /// Whether the server is about to end.
    pub(super) fn is_ending(&self) -> bool {
        *self.is_ending.borrow()
    }
}

#[cfg(test)]
impl App {
    /// Creates the state for a store without a model; a request has one second.
    pub(super) fn sample(home: &std::path::Path) -> Arc<Self> {
        let settings = bower_core::config::Settings { model: "none".into(), ..Default::default() };
        Self::sample_of(Service::new(bower_core::Engine::open(home, settings, now()).unwrap()), home)
    }

    /// Creates the state for any service.
    pub(super) fn sample_of(service: Service, home: &std::path::Path) -> Arc<Self> {
        let bind = IpAddr::from([127, 0, 0, 1]);
        let serve = bower_core::config::Serve::default();
        let options = Options {
            bind,
            port: 0,
            hosts: Vec::new(),
            origins: Vec::new(),
            body_bytes: 1 << 20,
            request_time: Duration::from_secs(1),
            grace: Duration::from_secs(1),
            limits: limits::Rules { rate: 0, ..limits::Rules::of(&serve) },
            connections: connections::Rules::of(&serve),
            followers: followers::Rules::of(&serve),
            prune_every: None,
        };
        let door = Door::new(home, bind, Vec::new(), now()).unwrap();
        Arc::new(Self::new(Arc::new(service), options, home.join("models"), door).unwrap())
    }
}
