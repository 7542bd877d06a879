//! Serves the operations of `service` over HTTP (`bower serve`), with access control, limits, logs and metrics.
//! Only this module is async. All work on the store runs on threads that may block, with a limit for each kind of work.

mod app;
pub mod auth;
mod body;
mod clock;
pub mod connections;
mod cursor;
mod documents;
mod events;
mod export;
pub mod followers;
mod handle;
pub mod limits;
mod listen;
mod maintenance;
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
use rmcp::ServerHandler;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::background::Background;
use crate::failure::{Failure, Result};
use crate::service::Service;
use app::App;
use auth::Door;
use clock::now;
use problem::Problem;

pub use app::Options;
pub use mcp::handler;
pub use metrics::resident_bytes;
pub use observe::log_to_standard_error;

/// Open files beside the connections: the store's, at most three for each of its connections, and those of the indexes.
const OTHER_FILES: u64 = 256;

/// Parses a query string with the parser of each operation that has one; for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzzed_query(query: &str) {
    let _ = operations::parse_query::<operations::ListQuery>(query);
    let _ = operations::parse_query::<operations::DocumentsQuery>(query);
    let _ = operations::parse_query::<operations::ReviewsQuery>(query);
}

/// Builds the router: all routes, wrapped in logging, panic handling, CORS, authentication and limits.
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

/// Returns how many of the wanted connections this process can have. Each is an open file, and without a spare file
/// nothing of the store can be read.
fn possible(wanted: usize) -> usize {
    let Some(files) = descriptors::raise_limit(wanted as u64 + OTHER_FILES) else { return wanted };
    // With few files, connections get half of them.
    let most = files.saturating_sub(OTHER_FILES).max(files / 2).max(1);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most < wanted {
        tracing::warn!(target: "bower", wanted, most, "fewer connections: this process may not open more files");
    }
    most.min(wanted)
}

/// Listens until the process is signalled to end. `mcp` creates the handler for /mcp, such as [`handler`]. `began` is
/// called with the address once requests are accepted.
pub fn serve<H: ServerHandler + Clone>(
    mcp: impl FnOnce(&Arc<App>) -> Result<H>,
    service: Service,
    home: &std::path::Path,
    models: PathBuf,
    options: Options,
    background: Option<Background>,
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
    // After two minutes of load the process itself takes 37 MB instead of 47 MB, at the same cost for each request.
    bower_kernels::heap::limit_arenas(2 * cores);
    let workers = cores.clamp(1, 4);
    // The message of a panic may quote a text; its location is enough to find it.
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
    let keeper = maintenance::Maintenance::start(Arc::clone(&app), background)?;
    let ended = runtime.block_on(async {
        let router = router(&app, mcp(&app)?);
        listen::run(&app, router, listener, began).await
    });
    // Blocking work that still runs has already had its time.
    runtime.shutdown_timeout(Duration::from_millis(100));
    keeper.end();
    ended
}
