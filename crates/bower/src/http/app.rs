//! Holds what a running server shares, and how it is to be.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
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

/// Requests that may wait for each kind of work: some seconds' worth of it.
const MOST_WAITING: usize = 512;
/// Memory that the bodies of all requests have together, in KiB.
pub(super) const BODIES_KIB: usize = 256 << 10;
/// Memory that long answers have together until their clients have read them, in KiB.
pub(super) const ANSWERS_KIB: usize = 256 << 10;

/// How a server is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens.
    pub bind: IpAddr,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// Names beside the loopback's under which it may be asked for. Where it listens elsewhere and none is told, any is one.
    pub hosts: Vec<String>,
    /// Origins whose pages may ask.
    pub origins: Vec<String>,
    /// The longest body of a request, in bytes.
    pub body_bytes: usize,
    /// How long a request may take until its answer begins.
    pub request_time: Duration,
    /// How long what runs may take to finish when the server ends.
    pub grace: Duration,
    /// How much one caller may ask.
    pub limits: limits::Rules,
    /// How many connections there may be, and for how long.
    pub connections: connections::Rules,
    /// How many streams there may be, and for how long.
    pub followers: followers::Rules,
    /// How often memories are swept, pruned and consolidated; never where there is none.
    pub prune_every: Option<Duration>,
}

/// What a running server shares.
#[derive(Debug)]
pub struct App {
    pub(super) service: Arc<Service>,
    pub(super) options: Options,
    /// Where models are kept.
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
    /// Something was asked since the store was last looked after.
    pub(super) is_used: AtomicBool,
    /// Whether the indexes were brought up to the store once: after an upgrade that reads texts in another way that takes a while.
    pub(super) is_settled: AtomicBool,
    /// Something was written here: whoever follows need not wait.
    pub(super) has_written: Notify,
    /// The store's last change, for those who follow it.
    pub(super) last_change: watch::Sender<u64>,
    /// The server is about to end.
    pub(super) is_ending: watch::Sender<bool>,
}

/// Kinds of work that do not wait for each other.
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
    /// Milliseconds, and nothing is written.
    Read,
    /// Milliseconds, and something is written.
    Write,
    /// Goes through much of the store.
    Long,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl App {
    /// On a store; `models` is where models are kept.
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
                // A question uses two threads by itself: more at once would only share the same cores. One that waits for a
                // language model must not keep all others waiting, though.
                read: ConcurrencyLimit::new(2 * cores, MOST_WAITING),
                // One writes, and the next makes its vector meanwhile.
                write: ConcurrencyLimit::new(2, MOST_WAITING),
                long: ConcurrencyLimit::new(2, 32),
                // One goes on as slowly as its client reads, so nobody else's work may wait for it.
                export: ConcurrencyLimit::new(4, 16),
            },
            runs: Runs::new(),
            bodies: Arc::new(Semaphore::new(BODIES_KIB)),
            answers: Arc::new(Semaphore::new(ANSWERS_KIB)),
            is_used: AtomicBool::new(true),
            is_settled: AtomicBool::new(false),
            has_written: Notify::new(),
            last_change: watch::Sender::new(last),
            is_ending: watch::Sender::new(false),
            options,
        })
    }

    /// Where work of a kind waits for its turn.
    pub(super) fn gate(&self, work: Work) -> &ConcurrencyLimit {
        match work {
            Work::Read => &self.gates.read,
            Work::Write => &self.gates.write,
            Work::Long => &self.gates.long,
        }
    }

    /// Notes that the store was used, and perhaps changed.
    pub(super) fn touched(&self, work: Work) {
        self.is_used.store(true, Ordering::Relaxed);
        match work {
            Work::Read => {}
            Work::Write | Work::Long => self.has_written.notify_one(),
        }
    }

    /// Whether the server is about to end.
    pub(super) fn is_ending(&self) -> bool {
        *self.is_ending.borrow()
    }
}

#[cfg(test)]
impl App {
    /// On a store without a model, that gives a request a second.
    pub(super) fn sample(home: &std::path::Path) -> Arc<Self> {
        let settings = bower_core::config::Settings { model: "none".into(), ..Default::default() };
        Self::sample_of(Service::new(bower_core::Engine::open(home, settings, now()).unwrap()), home)
    }

    /// On any store.
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
