//! Sends requests over one pool of connections, and tries again as `wait` decides.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::HeaderValue;

use crate::address::Address;
use crate::breaker::Breaker;
use crate::clock::{Clock, SystemClock};
use crate::failure::{Failure, FailureKind, Subject};
use crate::pace::Pace;
use crate::provider::{KeyHeader, Provider};
use crate::refusal::{Refusal, classify};
use crate::secret::Secret;
use crate::wait::{RetryPolicy, Spent, rate_reports};
use crate::wire::{WireAnswer, WireRequest};

/// Idle connections that stay open for the next requests.
const IDLE: usize = 10;
/// The longest that a request is held back before it fails instead.
const MOST_HELD: Duration = Duration::from_secs(15);

/// How a service is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The service.
    pub provider: Provider,
    /// Another address than the vendor's.
    pub base_url: Option<String>,
    /// The key. It is sent to this address alone.
    pub key: Option<Secret>,
    /// Most time for a connection.
    pub connect_timeout: Duration,
    /// Most time for one try.
    pub try_timeout: Duration,
    /// When a call is tried again.
    pub retry: RetryPolicy,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The start of the numbers that spread waits.
    pub seed: u64,
}

/// One call: its limits and what it costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOptions {
    pub retry: RetryPolicy,
    pub deadline: Option<Instant>,
    /// Estimated tokens, for limits of tokens.
    pub tokens: u64,
}

/// A call without a success: the failure, and the last answer if there was one.
#[derive(Debug)]
pub(crate) struct CallError {
    pub failure: Failure,
    pub answer: Option<WireAnswer>,
}

/// A client of one server, with its connections, its breaker and its pace.
pub(crate) struct Client {
    address: Address,
    key: Option<Secret>,
    agent: Agent,
    connection: Connection,
    breaker: Mutex<Breaker>,
    pace: Mutex<Pace>,
    waits: AtomicU64,
}

/// The end of one try.
enum Try {
    Success(WireAnswer),
    /// Without a success. The last is whether it may be billed all the same.
    Refused(Refusal, Option<WireAnswer>, bool),
}

impl Connection {
    /// Returns the connection to the vendor's address with the default times.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            base_url: None,
            key: None,
            connect_timeout: Duration::from_secs(5),
            try_timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            clock: Arc::new(SystemClock),
            seed: u64::from(std::process::id()),
        }
    }
}

impl Client {
    /// Creates a client. No connection is made yet.
    pub fn new(connection: Connection, subject: &Subject) -> Result<Self, Failure> {
        let provider = connection.provider;
        let key = connection.key.clone();
        let refused = |kind, reason: &str| subject.failure(kind, reason, key.as_ref());
        let base = connection.base_url.as_deref().or_else(|| provider.base_url_for(key.as_ref()));
        let base =
            base.ok_or_else(|| refused(FailureKind::RefusedAddress, "this provider needs an address"))?;
        let address = Address::parse(base).map_err(|reason| refused(FailureKind::RefusedAddress, &reason))?;
        if key.is_none() && provider.needs_key() && connection.base_url.is_none() {
            return Err(refused(FailureKind::Key, "there is no key"));
        }
        if let Some(host) = key.as_ref().and_then(Secret::host).filter(|host| *host != address.host()) {
            let reason = format!("the key is for {host}, not for {}", address.host());
            return Err(refused(FailureKind::RefusedAddress, &reason));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(IDLE)
            .max_idle_connections_per_host(IDLE)
            .timeout_connect(Some(connection.connect_timeout))
            .user_agent(concat!("bowerbird/", env!("CARGO_PKG_VERSION")));
        if address.is_loopback() {
            // A proxy would get what is meant for this machine.
            config = config.proxy(None);
        }
        Ok(Self {
            address,
            key,
            agent: config.build().into(),
            connection,
            breaker: Mutex::default(),
            pace: Mutex::default(),
            waits: AtomicU64::new(0),
        })
    }

    /// Returns the host with its port.
    pub fn authority(&self) -> String {
        self.address.authority()
    }

    /// Returns the client's clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.connection.clock
    }

    /// Returns the default policy of trying again.
    pub fn retry(&self) -> RetryPolicy {
        self.connection.retry
    }

    /// Returns a failure of this client.
    pub fn failure(&self, subject: &Subject, kind: FailureKind, detail: &str) -> Failure {
        subject.failure(kind, detail, self.key.as_ref())
    }

    /// Sends a request until there is a success or no more tries. Never sends it again after a success.
    pub fn send(
        &self,
        subject: &Subject,
        request: &WireRequest,
        options: CallOptions,
    ) -> Result<WireAnswer, Box<CallError>> {
        let clock = self.clock();
        let refused = |failure: Failure| Box::new(CallError { failure, answer: None });
        lock(&self.breaker).check(clock.now()).map_err(|failure| {
            // The breaker may have been opened by a call for another model.
            refused(failure.of_model(&subject.model).billed(false))
        })?;
        let mut spent = Spent { tries: 0, wasted: Duration::ZERO, left: None };
        let mut unanswered_tries = 0;
        loop {
            self.keep_pace(subject, options).map_err(|failure| {
                lock(&self.breaker).abandoned();
                refused(failure.billed(unanswered_tries > 0))
            })?;
            let start = clock.now();
            let left = options.deadline.map(|deadline| deadline.saturating_duration_since(start));
            let (mut refusal, answer, may_be_billed) = match self.try_once(request, left) {
                Try::Success(answer) => {
                    lock(&self.breaker).succeeded();
                    self.note_rates(&answer, options.tokens);
                    return Ok(WireAnswer { unanswered_tries, ..answer });
                }
                Try::Refused(refusal, answer, may_be_billed) => (refusal, answer, may_be_billed),
            };
            let now = clock.now();
            spent.tries += 1;
            unanswered_tries += u32::from(may_be_billed);
            spent.wasted += now - start;
            spent.left = options.deadline.map(|deadline| deadline.saturating_duration_since(now));
            if let (FailureKind::Rate, Some(wait)) = (refusal.kind, refusal.wait) {
                lock(&self.pace).hold(now, wait);
            }
            if refusal.kind == FailureKind::Transport && spent.tries > 1 {
                refusal.wait = None;
            }
            let next = refusal
                .retried
                .then(|| options.retry.next_wait(spent, refusal.wait, self.jitter()))
                .flatten();
            let Some(wait) = next else {
                let failure =
                    self.failure(subject, refusal.kind, &refusal.detail).billed(unanswered_tries > 0);
                return Err(self.give_up(with_501_hint(failure, answer.as_ref(), refusal.wait), answer));
            };
            clock.wait(wait);
            spent.wasted += wait;
        }
    }

    fn give_up(&self, failure: Failure, answer: Option<WireAnswer>) -> Box<CallError> {
        lock(&self.breaker).failed(&failure, self.clock().now());
        Box::new(CallError { failure, answer })
    }

    /// Waits until the server's limits allow a request, or fails at once if that is too late.
    fn keep_pace(&self, subject: &Subject, options: CallOptions) -> Result<(), Failure> {
        let now = self.clock().now();
        let left = options.deadline.map(|deadline| deadline.saturating_duration_since(now));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(self.failure(subject, FailureKind::Timeout, "the deadline is over"));
        }
        let most = left.map_or(MOST_HELD, |left| left.min(MOST_HELD));
        let wait = lock(&self.pace).reserve(now, most).map_err(|wait| {
            self.failure(subject, FailureKind::Rate, "its limit is reached").with_retry_after(Some(wait))
        })?;
        if !wait.is_zero() {
            self.clock().wait(wait);
        }
        Ok(())
    }

    fn note_rates(&self, answer: &WireAnswer, tokens: u64) {
        let [requests, of_tokens] = rate_reports(|name| answer.header(name), self.clock().date());
        let pause = requests.map(|report| report.pause(1));
        let pause = pause.max(of_tokens.map(|report| report.pause(tokens.max(1))));
        lock(&self.pace).slow_down(pause.unwrap_or_default());
    }

    fn try_once(&self, request: &WireRequest, left: Option<Duration>) -> Try {
        let most = self.connection.try_timeout;
        let timeout = left.map_or(most, |left| left.min(most));
        match self.exchange(request, timeout) {
            Ok(answer) => match classify(&answer, self.clock().date()) {
                None => Try::Success(answer),
                Some(refusal) => {
                    // A gateway answers with 5xx while the service behind it may be at work.
                    let may_be_billed = answer.status >= 500 || answer.status < 400;
                    Try::Refused(refusal, Some(answer), may_be_billed)
                }
            },
            Err(error) => Try::Refused(lost(&error, timeout), None, was_sent(&error)),
        }
    }

    fn exchange(&self, request: &WireRequest, timeout: Duration) -> Result<WireAnswer, ureq::Error> {
        let mut call = self
            .agent
            .post(self.address.join(&request.path))
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("content-type", "application/json");
        for (name, value) in &request.headers {
            call = call.header(*name, value);
        }
        if let Some(key) = &self.key {
            let (name, value) = match self.connection.provider.key_header() {
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                KeyHeader::Plain(name) => (name, key.expose().to_owned()),
            };
            let mut value = HeaderValue::try_from(value).map_err(ureq::http::Error::from)?;
            // Not even a trace of the network shows it.
            value.set_sensitive(true);
            call = call.header(name, value);
        }
        let answer = call.send(&request.body[..])?;
        let (parts, body) = answer.into_parts();
        // The limit is on what is read after it was decompressed.
        let mut reader = body.into_reader().take(request.most_bytes + 1);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        if bytes.len() as u64 > request.most_bytes {
            return Err(ureq::Error::BodyExceedsLimit(request.most_bytes));
        }
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value)));
        Ok(WireAnswer {
            status: parts.status.as_u16(),
            headers: headers.collect(),
            body: bytes,
            unanswered_tries: 0,
        })
    }

    /// Returns a number from 0 to 1 that differs for each wait.
    fn jitter(&self) -> f64 {
        let count = self.waits.fetch_add(1, Ordering::Relaxed);
        // SplitMix64: Steele, Lea and Flood, 2014.
        let mut x =
            self.connection.seed.wrapping_add(count.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Adds the wait that the server asks for, and what a missing function means.
fn with_501_hint(failure: Failure, answer: Option<&WireAnswer>, wait: Option<Duration>) -> Failure {
    let failure = failure.with_retry_after(wait);
    match answer {
        Some(answer) if answer.status == 501 => failure
            .with_hint("start the server with this function, e.g. llama-server --reranking or --embeddings"),
        Some(_) | None => failure,
    }
}

/// Classifies a try without a whole answer.
fn lost(error: &ureq::Error, timeout: Duration) -> Refusal {
    let refusal = |kind, detail: String, retried| Refusal { kind, detail, retried, wait: None };
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            refusal(FailureKind::Transport, "no connection in time".to_owned(), true)
        }
        ureq::Error::Timeout(_) => {
            refusal(FailureKind::Timeout, format!("after {} ms", timeout.as_millis()), true)
        }
        ureq::Error::BodyExceedsLimit(most) => {
            refusal(FailureKind::NotJson, format!("the answer has more than {most} bytes"), false)
        }
        ureq::Error::Decompress(..) | ureq::Error::LargeResponseHeader(..) => {
            refusal(FailureKind::NotJson, error.to_string(), false)
        }
        ureq::Error::Io(cause) if ended_early(cause.kind()) => Refusal {
            // A server closes idle connections as it likes: the first time that is no reason to wait.
            wait: Some(Duration::ZERO),
            ..refusal(FailureKind::Transport, error.to_string(), true)
        },
        _ => refusal(FailureKind::Transport, error.to_string(), true),
    }
}

/// Returns whether the request may have reached the server.
fn was_sent(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
        | ureq::Error::ConnectionFailed
        | ureq::Error::HostNotFound => false,
        ureq::Error::Io(cause) => cause.kind() != ErrorKind::ConnectionRefused,
        _ => true,
    }
}

/// Returns whether a connection that existed came to an end.
fn ended_early(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
    )
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
