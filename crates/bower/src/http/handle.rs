//! Turns a request into an operation, and the operation's result into a response.
//! It authenticates the caller, reads the body within its limits, and runs the operation on a blocking thread. The
//! whole response is built before any of it is sent, so that its status is right.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use super::app::{ANSWERS_KIB, App, Peer, Work};
use super::auth::{Caller, Key};
use super::body::{json, read_body, to_json};
use super::clock::now;
use super::connections::Connection;
use super::limits::{Cost, Turn};
use super::operations::{Operation, Raw};
use super::problem::Problem;
use super::runs::{self, Ended};
use super::stream::kept;

/// Routes that reveal no caller's data, so they need no token.
pub const OPEN: [&str; 3] = ["/health", "/ready", "/openapi.json"];

/// Responses up to this many bytes do not count for the memory limit: a socket and its buffers hold as much.
const SHORT_ANSWER: usize = 256 << 10;
/// Share of a request's time for which it waits for the result. The rest is for earlier steps, above all reading the
/// body. A consolidation without a time limit of its own ends within half of the request's time.
const PATIENCE: f64 = 0.75;

/// Name of the caller, for the log.
#[derive(Clone, Debug)]
pub struct Asker(pub String);

/// Admits a request or refuses it, and limits its time.
pub async fn admit(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let (name, turn) = match enter(&app, &mut request) {
        Ok(entered) => entered,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(Arc::clone(&turn));
    let time = app.options.request_time;
    let mut response = match tokio::time::timeout(time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::new(
            StatusCode::GATEWAY_TIMEOUT,
            format!("it took longer than {} s", time.as_secs_f64()),
            "what was to be written may still be: look before you try again",
        )
        .into_response(),
    };
    response.extensions_mut().insert(Asker(name));
    response
}

fn enter(app: &Arc<App>, request: &mut Request) -> Result<(String, Arc<Turn>), Problem> {
    let Some(&Peer(peer)) = request.extensions().get::<Peer>() else {
        return Err(Problem::internal("a request without a peer"));
    };
    app.door.check_origin(request.headers())?;
    let address = Key::of(peer.ip());
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if let Some(route) = route.filter(|route| OPEN.contains(route)) {
        let cost = if route == "/ready" { Cost::Whole } else { Cost::Place };
        let turn = app.limits.enter(&address, cost, Instant::now())?;
        return Ok(("anybody".into(), Arc::new(turn)));
    }
    let connection = request.extensions().get::<Arc<Connection>>();
    let caller = app.door.admit(request.headers(), peer, now()).map_err(|problem| {
        if problem.status != StatusCode::UNAUTHORIZED {
            return problem;
        }
        if let Some(connection) = connection {
            connection.disprove();
        }
        // Only requests without a valid token count: a valid token is admitted whatever others at its address do.
        let refused = app.limits.check_failures(&address, Instant::now()).err();
        app.limits.note_failure(&address, Instant::now());
        refused.unwrap_or(problem)
    })?;
    if let (Some(connection), Key::Token(_)) = (connection, &caller.key) {
        connection.prove(&caller.key).map_err(Problem::ending_connection)?;
    }
    let turn = app.limits.enter(&caller.key, Cost::Whole, Instant::now())?;
    let name = caller.name.clone();
    request.extensions_mut().insert(caller);
    Ok((name, Arc::new(turn)))
}

/// Adds the route of an operation.
pub fn route(router: Router<Arc<App>>, operation: Operation) -> Router<Arc<App>> {
    let filter = if operation.takes_body() { MethodFilter::POST } else { MethodFilter::GET };
    let (path, operation) = (operation.path, Arc::new(operation));
    let handler = move |State(app): State<Arc<App>>, request: Request| answer(app, operation, request);
    router.route(path, on(filter, handler))
}

/// Returns the caller whom [`admit`] stored with the request.
pub fn caller(request: &axum::http::Extensions) -> Result<Caller, Problem> {
    request.get::<Caller>().cloned().ok_or_else(|| Problem::internal("a request without a caller"))
}

async fn answer(app: Arc<App>, operation: Arc<Operation>, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let caller = caller(&parts.extensions)?;
    let id = first_parameter(&mut parts).await?;
    let query = parts.uri.query().unwrap_or("").to_owned();
    let (body, room) = if operation.takes_body() {
        read_body(&app, &parts.headers, body).await?
    } else {
        (Bytes::new(), None)
    };
    let (work, name, key) = (operation.work, operation.id, caller.key.clone());
    let (shared, turn) = (Arc::clone(&app), parts.extensions.get::<Arc<Turn>>().cloned());
    let job = move || {
        let done = (operation.run)(&shared, &caller, Raw { id, query, body });
        drop((room, turn));
        shared.touched(work);
        done
    };
    match work {
        Work::Read | Work::Write => whole(&app, app.gate(work).run(job).await?),
        Work::Long => patiently(&app, key, name, job).await,
    }
}

/// Runs a long job and returns its result. If it takes most of the request's time, the response is 202 with the address
/// of the run, which goes on. A client that disconnects before that removes a job that still waits from the queue.
pub async fn patiently(
    app: &Arc<App>,
    key: Key,
    operation: &'static str,
    job: impl FnOnce() -> Ended + Send + 'static,
) -> Result<Response, Problem> {
    let shared = Arc::clone(app);
    let work = tokio::spawn(async move { shared.gate(Work::Long).run(job).await });
    let mut work = AbortOnDropHandle::new(work);
    if let Ok(ended) = tokio::time::timeout(app.options.request_time.mul_f64(PATIENCE), &mut work).await {
        return outcome(ended).map(json);
    }
    let id = app.runs.begin(operation, key.clone())?;
    let told = app.runs.state(&id, &key).and_then(|state| to_json(&state))?;
    let place = HeaderValue::try_from(runs::PATH.replace("{id}", &id));
    let shared = Arc::clone(app);
    tokio::spawn(async move {
        let ended = outcome(work.await);
        shared.runs.end(&id, ended);
    });
    let mut response = (StatusCode::ACCEPTED, json(told)).into_response();
    if let Ok(place) = place {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

fn outcome(ended: Result<Ended, JoinError>) -> Ended {
    ended.unwrap_or_else(|why| Err(Problem::internal(format!("a run: {why}"))))
}

/// Builds a successful response. A long one reserves memory until its client has read it; all clients together share
/// one limit.
fn whole(app: &App, bytes: Vec<u8>) -> Result<Response, Problem> {
    if bytes.len() <= SHORT_ANSWER {
        return Ok(json(bytes));
    }
    let kib = (bytes.len() / 1_024 + 1).min(ANSWERS_KIB) as u32;
    let room = Arc::clone(&app.answers).try_acquire_many_owned(kib).map_err(|_| {
        let what = "answers that others are slow to read fill the memory for them";
        Problem::later(StatusCode::SERVICE_UNAVAILABLE, what, 1)
    })?;
    Ok(json(bytes).map(|body| kept(body, room)))
}

/// Returns the first parameter of the path; empty if it has none.
async fn first_parameter(parts: &mut axum::http::request::Parts) -> Result<String, Problem> {
    let parameters = RawPathParams::from_request_parts(parts, &())
        .await
        .map_err(|_| Problem::bad("the path is not valid UTF-8"))?;
    Ok(parameters.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default())
}
