//! Serves the operations of `service` over HTTP (`bower serve`), with what a server must have around them.
//! Async lives here and nowhere below; whatever touches the store runs on a thread that may block, so many at once and no more.

pub mod auth;
pub mod connections;
mod cursor;
mod documents;
mod events;
mod export;
pub mod followers;
mod handle;
mod keeper;
pub mod limits;
mod listen;
mod mcp;
mod metrics;
mod observe;
mod openapi;
mod operations;
#[cfg(test)]
pub mod probe;
mod problem;
mod remainder;
mod runs;
mod socket;
mod stream;
pub mod tokens;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use bower_kernels::descriptors;
use jiff::Timestamp;
use rmcp::ServerHandler;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::failure::{Failure, Result};
use crate::service::Service;
use auth::Door;
use connections::Connections;
use followers::Followers;
use limits::{Gate, Limits};
use metrics::Metrics;
use problem::Problem;
use runs::Runs;

pub use mcp::handler;
pub use observe::log_to_standard_error;

/// Requests that may wait for each kind of work: some seconds' worth of it.
const MOST_WAITING: usize = 512;
/// Memory that the bodies of all requests have together, in KiB.
const BODIES_KIB: usize = 256 << 10;
/// Memory that long answers have together until their clients have read them, in KiB.
const ANSWERS_KIB: usize = 256 << 10;

/// Files that are open beside connections: the store's, at most three for each of its connections, and those of indexes.
const OTHER_FILES: u64 = 256;

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
    service: Arc<Service>,
    options: Options,
    /// Where models are kept.
    models: PathBuf,
    door: Door,
    limits: Arc<Limits>,
    connections: Arc<Connections>,
    followers: Arc<Followers>,
    metrics: Metrics,
    gates: Gates,
    runs: Runs,
    /// Memory for the bodies of requests, in KiB.
    bodies: Arc<Semaphore>,
    /// Memory for long answers, in KiB.
    answers: Arc<Semaphore>,
    /// Something was asked since the store was last looked after.
    is_used: AtomicBool,
    /// Whether the indexes were brought up to the store once: after an upgrade that reads texts in another way that takes a while.
    is_settled: AtomicBool,
    /// Something was written here: whoever follows need not wait.
    has_written: Notify,
    /// The store's last change, for those who follow it.
    last_change: watch::Sender<u64>,
    /// The server is about to end.
    is_ending: watch::Sender<bool>,
}

/// Kinds of work that do not wait for each other.
#[derive(Debug)]
struct Gates {
    read: Gate,
    write: Gate,
    long: Gate,
    export: Gate,
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
    fn new(service: Arc<Service>, options: Options, models: PathBuf, door: Door) -> Result<Self> {
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
                read: Gate::new(2 * cores, MOST_WAITING),
                // One writes, and the next makes its vector meanwhile.
                write: Gate::new(2, MOST_WAITING),
                long: Gate::new(2, 32),
                // One goes on as slowly as its client reads, so nobody else's work may wait for it.
                export: Gate::new(4, 16),
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

    fn gate(&self, work: Work) -> &Gate {
        match work {
            Work::Read => &self.gates.read,
            Work::Write => &self.gates.write,
            Work::Long => &self.gates.long,
        }
    }

    /// Notes that the store was used, and perhaps changed.
    fn touched(&self, work: Work) {
        self.is_used.store(true, Ordering::Relaxed);
        match work {
            Work::Read => {}
            Work::Write | Work::Long => self.has_written.notify_one(),
        }
    }

    fn is_ending(&self) -> bool {
        *self.is_ending.borrow()
    }
}

#[cfg(test)]
impl App {
    /// On a store without a model, that gives a request a second.
    fn sample(home: &std::path::Path) -> Arc<Self> {
        let settings = bower_core::config::Settings { model: "none".into(), ..Default::default() };
        Self::sample_of(Service::new(bower_core::Engine::open(home, settings, now()).unwrap()), home)
    }

    /// On any store.
    fn sample_of(service: Service, home: &std::path::Path) -> Arc<Self> {
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

/// What stands behind a question mark, as each operation that takes some reads it.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzzed_query(query: &str) {
    let _ = operations::parse_query::<operations::ListQuery>(query);
    let _ = operations::parse_query::<operations::DocumentsQuery>(query);
    let _ = operations::parse_query::<operations::ReviewsQuery>(query);
}

/// The clock, read once a request.
fn now() -> Timestamp {
    #[cfg(test)]
    if let Some(told) = probe::clock() {
        return told;
    }
    Timestamp::now()
}

/// All routes with what stands before them: the log, panics, CORS, who asks, limits.
fn router(app: &Arc<App>, mcp: impl ServerHandler + Clone) -> Router {
    let mut router = operations::all().into_iter().fold(Router::new(), handle::route);
    router = observe::routes(router);
    router = events::route(router);
    router = export::route(router);
    router = mcp::route(router, app, mcp);
    let mut router: Router = router
        .fallback(|| async {
            Problem::new(StatusCode::NOT_FOUND, "no such route", "GET /openapi.json lists them")
                .into_response()
        })
        .method_not_allowed_fallback(|request: Request| async move {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("{} does not take {}", request.uri().path(), metrics::method_name(request.method())),
                "GET /openapi.json lists what each route takes",
            )
            .into_response()
        })
        .with_state(Arc::clone(app))
        .layer(from_fn_with_state(Arc::clone(app), handle::admit));
    if !app.door.origins().is_empty() {
        router = router.layer(cors(app.door.origins()));
    }
    router
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| -> Response {
            Problem::internal("a handler panicked").into_response()
        }))
        .layer(from_fn_with_state(Arc::clone(app), observe::observe))
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("x-request-id"),
        ])
        .expose_headers([HeaderName::from_static("x-request-id"), header::RETRY_AFTER])
        .max_age(Duration::from_mins(10))
}

/// How many of the connections that are wanted this process can have: each is an open file, and without one left over nothing of
/// the store can be read.
fn possible(wanted: usize) -> usize {
    let Some(files) = descriptors::raise_limit(wanted as u64 + OTHER_FILES) else { return wanted };
    // Where there are few, half.
    let most = files.saturating_sub(OTHER_FILES).max(files / 2).max(1);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most < wanted {
        tracing::warn!(target: "bower", wanted, most, "fewer connections: this process may not open more files");
    }
    most.min(wanted)
}

/// Listens until the process is told to end. `mcp` makes what is served at /mcp: [`handler`]. `began` is called with the address once
/// requests are taken.
pub fn serve<H: ServerHandler + Clone>(
    mcp: impl FnOnce(&Arc<App>) -> Result<H>,
    service: Service,
    home: &std::path::Path,
    models: PathBuf,
    options: Options,
    began: impl FnOnce(SocketAddr, bool) -> Result<()>,
) -> Result<()> {
    let door = Door::new(home, options.bind, options.origins.clone(), now())?.under(options.hosts.clone());
    let listener = std::net::TcpListener::bind((options.bind, options.port)).map_err(|source| {
        Failure::environment(
            format!("cannot listen on {}: {source}", SocketAddr::new(options.bind, options.port)),
            "another program may have the port: give another with --port, or --port 0 for any that is free",
        )
    })?;
    let connections = connections::Rules { most: possible(options.connections.most), ..options.connections };
    let options = Options { connections, ..options };
    let app = Arc::new(App::new(Arc::new(service), options, models, door)?);
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    // Its own memory after two minutes of load: 37 MB instead of 47, at the same cost of a request.
    bower_kernels::heap::limit_arenas(2 * cores);
    let workers = cores.clamp(1, 4);
    // What a panic says may quote a text; its place is enough to find it.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(target: "bower", place, "panicked");
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(64)
        .thread_name("bower-http")
        .enable_all()
        .build()
        .map_err(|source| Failure::environment(format!("cannot start threads: {source}"), "run it again"))?;
    let keeper = keeper::Keeper::start(Arc::clone(&app))?;
    let ended = runtime.block_on(async {
        let router = router(&app, mcp(&app)?);
        listen::run(&app, router, listener, began).await
    });
    // What still blocks now was given its time already.
    runtime.shutdown_timeout(Duration::from_millis(100));
    keeper.end();
    ended
}
