//! Gives each request an id, a log line and a count, and serves the routes that observe the server.
//! These are `/health`, `/ready`, `/metrics` and `/openapi.json`.
//! The log never contains a text, a token, a path as it was requested or a query string. Routes are logged as the table
//! of operations names them.

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bower_core::item::hex;
use bower_core::request::Degraded;
use serde::Serialize;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::app::{App, Peer, Work};
use super::body::{json, to_json};
use super::handle::{Asker, caller};
use super::metrics::{Present, method_name};
use super::problem::{Cause, Problem};

/// Target of our own log lines. Libraries' log lines are never shown, because they may quote what was sent.
const TARGET: &str = "bower";

/// Header with a request's id, from the client or created here.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is accepted.
const LONGEST_ID: usize = 64;

/// Sends log lines to standard error: as text on a terminal, else as JSON.
pub fn log_to_standard_error(quiet: bool, verbose: bool) {
    let level = match (quiet, verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, true) => LevelFilter::DEBUG,
        (false, false) => LevelFilter::INFO,
    };
    let only_ours = Targets::new().with_target(TARGET, level);
    let registry = tracing_subscriber::registry().with(only_ours);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    // A logger that was installed before stays.
    let _ = if std::io::stderr().is_terminal() {
        registry.with(lines.with_ansi(false)).try_init()
    } else {
        registry.with(lines.json().flatten_event(true)).try_init()
    };
}

/// A request in progress; it is counted until it is dropped.
struct UnderWay<'a>(&'a App);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.metrics.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Middleware around all others: sets the id and headers, counts the response and logs it.
pub async fn observe(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = request_id(request.headers());
    let method = method_name(request.method());
    let peer = request.extensions().get::<Peer>().copied();
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    request.headers_mut().insert(REQUEST_ID, id.clone());
    app.metrics.under_way.fetch_add(1, Ordering::Relaxed);
    let under_way = UnderWay(&app);
    let mut response = next.run(request).await;
    drop(under_way);
    let took = start.elapsed();
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    app.metrics.count(&route, method, status.as_u16(), took);
    let asker = response.extensions().get::<Asker>().map_or("-", |asker| asker.0.as_str());
    let id = id.to_str().unwrap_or("-");
    let address = peer.map(|peer| peer.0.ip().to_string()).unwrap_or_default();
    let ms = (took.as_secs_f64() * 1e6).round() / 1e3;
    let status = status.as_u16();
    match response.extensions().get::<Cause>() {
        Some(Cause(cause)) => tracing::error!(
            target: TARGET, id, method, route, status, ms, asker, address, cause = cause.as_str(), "failed"
        ),
        None if matches!(status, 401 | 403 | 408 | 413 | 429 | 503 | 504) => {
            tracing::warn!(target: TARGET, id, method, route, status, ms, asker, address, "refused");
        }
        None if OPEN_AND_FREQUENT.contains(&route.as_str()) => {
            tracing::debug!(target: TARGET, id, method, route, status, ms, asker, address, "answered");
        }
        None => tracing::info!(target: TARGET, id, method, route, status, ms, asker, address, "answered"),
    }
    response
}

/// Routes that machines request every few seconds; their log lines have level DEBUG.
const OPEN_AND_FREQUENT: [&str; 3] = ["/health", "/ready", "/metrics"];

/// Returns the id that came with a request if it is valid, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=LONGEST_ID).contains(&bytes.len()) && bytes.iter().all(is_plain)
    });
    given.cloned().unwrap_or_else(|| {
        let mut bytes = [0_u8; 8];
        // An id need not be secret. Without random numbers all ids are equal, which does no other harm.
        let _ = getrandom::fill(&mut bytes);
        HeaderValue::from_str(&hex(&bytes)).unwrap_or(HeaderValue::from_static("0"))
    })
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
    /// Missing or damaged parts of the store. It answers nevertheless, and reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<Degraded>,
}

const HEALTH: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION"), degraded: Vec::new() };

/// Adds the routes `/health`, `/ready`, `/metrics` and `/openapi.json`.
pub fn routes(router: Router<Arc<App>>) -> Router<Arc<App>> {
    // The document does not change while the process runs.
    let document = axum::body::Bytes::from(super::openapi::document().to_string());
    router
        .route("/health", get(|| async { to_json(&HEALTH).map(json) }))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(move || async move { json(document) }))
}

/// Whether the store answers with usable indexes and the server accepts requests.
async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if app.is_ending() {
        return Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end", 5));
    }
    if !app.is_settled.load(Ordering::Relaxed) {
        let what = "the indexes are brought up to the store; until then answers are slow";
        return Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, what, 5));
    }
    let shared = Arc::clone(&app);
    let read = app.gate(Work::Read).run(move || {
        let engine = shared.service.engine();
        engine.last_change()?;
        Ok((engine.unusable_indexes()?, engine.degraded()?))
    });
    let (unusable, degraded) = read.await?;
    let unusable: Vec<&str> = unusable.into_iter().map(|(index, _)| index).collect();
    if unusable.is_empty() {
        return to_json(&Health { degraded, ..HEALTH }).map(json);
    }
    // The maintenance thread rebuilds them.
    app.is_used.store(true, Ordering::Relaxed);
    let what =
        format!("being rebuilt because of damage: {}; until then answers are slow", unusable.join(", "));
    Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, what, 5))
}

async fn metrics(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    caller(request.extensions())?.must_see_all()?;
    let shared = Arc::clone(&app);
    let store = app.gate(Work::Read).run(move || Ok(shared.service.report()?)).await.ok();
    let waiting = vec![
        ("read", app.gates.read.waiting()),
        ("write", app.gates.write.waiting()),
        ("long", app.gates.long.waiting()),
        ("export", app.gates.export.waiting()),
    ];
    let text = app.metrics.text(&Present {
        version: HEALTH.version,
        store,
        waiting,
        connections: app.connections.count(),
        closed_for_room: app.connections.closed_for_room(),
    });
    let form = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, form)], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_ready_once_the_indexes_are_up_to_the_store() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        let not_yet = ready(State(Arc::clone(&app))).await.unwrap_err();
        assert_eq!(not_yet.status, StatusCode::SERVICE_UNAVAILABLE.as_u16());
        // The thread ends after it has run once.
        super::super::maintenance::Maintenance::start(Arc::clone(&app), None).unwrap().end();
        ready(State(app)).await.unwrap();
    }

    #[tokio::test]
    async fn it_is_not_ready_while_an_index_waits_to_be_made_anew() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        app.is_settled.store(true, Ordering::Relaxed);
        let notes = home.path().join("notes");
        std::fs::create_dir(&notes).unwrap();
        std::fs::write(notes.join("a.md"), "# Weir\n\nThe otter crosses the weir at dawn.\n").unwrap();
        let request = bower_core::request::IndexRequest::new(vec![notes]);
        app.service
            .engine()
            .index(
                &bower_core::item::Visibility::everything(),
                &request,
                super::super::now(),
                &|_| (),
                &|| true,
            )
            .unwrap();
        ready(State(Arc::clone(&app))).await.unwrap();
        for folder in std::fs::read_dir(home.path().join("index")).unwrap() {
            std::fs::write(folder.unwrap().path().join("text/meta.json"), "{}").unwrap();
        }
        app.is_used.store(false, Ordering::Relaxed);
        let damaged = ready(State(Arc::clone(&app))).await.unwrap_err();
        assert_eq!(damaged.status, StatusCode::SERVICE_UNAVAILABLE.as_u16());
        assert!(damaged.message.contains("text"), "{}", damaged.message);
        // The maintenance thread is notified, and rebuilds the index.
        assert!(app.is_used.load(Ordering::Relaxed));
        app.service.maintain(super::super::now()).unwrap();
        ready(State(app)).await.unwrap();
    }

    #[test]
    fn an_id_that_could_write_into_the_log_is_replaced() {
        let check = |given: &'static str, kept: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_static(given));
            let id = request_id(&headers);
            assert_eq!(id == given, kept, "{given}");
            assert!(!id.is_empty());
        };
        check("req-1.A_b", true);
        check("a b", false);
        check("\"}", false);
        check("", false);
        check("0123456789012345678901234567890123456789012345678901234567890123", true);
        check("01234567890123456789012345678901234567890123456789012345678901234", false);
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
