//! Turns a request into an operation, and the operation's result into an answer.
//! It finds who asks, how long the body may be, the JSON in it, and a thread to run the operation on. All of an answer is made before
//! any of it is sent, so that its status is true.

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use bower_core::ingest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

use super::auth::{Caller, Key};
use super::connections::Connection;
use super::limits::{Cost, Turn};
use super::operations::{Operation, Raw};
use super::problem::Problem;
use super::stream::kept;
use super::{App, Peer, Work, now, runs};

/// Routes that tell nothing of anybody's: no token is needed.
pub const OPEN: [&str; 3] = ["/health", "/ready", "/openapi.json"];

/// A body takes memory in pieces of so many KiB.
const ROOM_KIB: usize = 64;
/// Values in a body: a thousand documents with two hundred fields each. In memory they take some 30 MB.
const MOST_VALUES: usize = 250_000;
/// Answers up to this length are not counted: what a socket and its buffers hold is as much.
const SHORT_ANSWER: usize = 256 << 10;
/// Answers longer than this are refused: they are held in memory whole.
const MOST_ANSWERED: usize = 64 << 20;

/// The name of whoever asked, for the log.
#[derive(Clone, Debug)]
pub struct Asker(pub String);

/// Lets a request in, or not.
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
        // Whoever has a token is let in whatever others at his address do.
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

/// Adds an operation's route.
pub fn route(router: Router<Arc<App>>, operation: Operation) -> Router<Arc<App>> {
    let filter = if operation.takes_body() { MethodFilter::POST } else { MethodFilter::GET };
    let (path, operation) = (operation.path, Arc::new(operation));
    let handler = move |State(app): State<Arc<App>>, request: Request| answer(app, operation, request);
    router.route(path, on(filter, handler))
}

/// Who asks, as the door found out.
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
        Work::Long => runs::patiently(&app, key, name, job).await,
    }
}

/// A good answer. A long one takes memory until its client has read it, and those of all clients together have an end.
fn whole(app: &App, bytes: Vec<u8>) -> Result<Response, Problem> {
    if bytes.len() <= SHORT_ANSWER {
        return Ok(json(bytes));
    }
    let kib = (bytes.len() / 1_024 + 1).min(super::ANSWERS_KIB) as u32;
    let room = Arc::clone(&app.answers).try_acquire_many_owned(kib).map_err(|_| {
        let what = "answers that others are slow to read fill the memory for them";
        Problem::later(StatusCode::SERVICE_UNAVAILABLE, what, 1)
    })?;
    Ok(json(bytes).map(|body| kept(body, room)))
}

/// The parameter in the path; empty where it has none.
async fn first_parameter(parts: &mut axum::http::request::Parts) -> Result<String, Problem> {
    let parameters = RawPathParams::from_request_parts(parts, &())
        .await
        .map_err(|_| Problem::bad("the path is not valid UTF-8"))?;
    Ok(parameters.iter().next().map(|(_, value)| value.to_owned()).unwrap_or_default())
}

/// The whole body of a request, with the memory that it takes. Only what has arrived takes any: what somebody says that he will
/// send, and does not, keeps nobody waiting.
pub async fn read_body(
    app: &App,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
    let most = app.options.body_bytes;
    let too_long = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is longer than {most} bytes"),
            "send less at a time; bower serve --max-body raises it",
        )
    };
    let told =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > most) {
        return Err(too_long());
    }
    let mut room = None;
    let mut bytes: Vec<u8> = Vec::new();
    // A client that sends nothing for so long will not; all of the body has the request's time.
    let patience = app.options.connections.head_time;
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let Some(frame) = tokio::time::timeout(patience, next).await.map_err(|_| too_slow(patience))? else {
            break;
        };
        let frame = frame.map_err(|_| Problem::bad("the body broke off"))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > most {
                return Err(too_long());
            }
            let needed = bytes.len() + data.len();
            if needed > bytes.capacity() {
                // What is set aside counts, not what is in it yet.
                let wanted = needed.max(2 * bytes.len()).min(most);
                widen(app, &mut room, wanted)?;
                bytes.reserve_exact(wanted - bytes.len());
            }
            bytes.extend_from_slice(&data);
        }
    }
    let form = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    let essence = form.map(|form| form.split(';').next().unwrap_or("").trim().to_ascii_lowercase());
    let is_json = match essence.as_deref() {
        None => bytes.is_empty(),
        Some(essence) => essence == "application/json" || essence.ends_with("+json"),
    };
    if !is_json {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is not told to be JSON",
            "send it with Content-Type: application/json",
        ));
    }
    Ok((bytes.into(), room))
}

fn too_slow(patience: Duration) -> Problem {
    let what = format!("nothing more of the body came for {} s", patience.as_secs_f64());
    Problem::new(StatusCode::REQUEST_TIMEOUT, what, "send it again, without a pause").ending_connection()
}

/// Takes the memory that so many bytes need beyond what is taken. Nobody waits for it with a part in his hands: two who did could
/// wait for each other.
fn widen(app: &App, room: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), Problem> {
    let taken = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let wanted = (bytes / 1_024 + 1).next_multiple_of(ROOM_KIB).min(super::BODIES_KIB);
    let more = wanted.saturating_sub(taken) as u32;
    if more == 0 {
        return Ok(());
    }
    let permit = Arc::clone(&app.bodies).try_acquire_many_owned(more).map_err(|_| {
        Problem::later(
            StatusCode::SERVICE_UNAVAILABLE,
            "the bodies of other requests fill the memory for them",
            1,
        )
    })?;
    match room {
        Some(room) => room.merge(permit),
        None => *room = Some(permit),
    }
    Ok(())
}

/// An answer as JSON, not longer than an answer may be.
pub fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    let mut bounded = Bounded { bytes: Vec::with_capacity(512), most: MOST_ANSWERED };
    match serde_json::to_writer(&mut bounded, value) {
        Ok(()) => Ok(bounded.bytes),
        Err(error) if error.is_io() => {
            Err(Problem::bad(format!("the answer is longer than {} MB: ask for less", MOST_ANSWERED >> 20)))
        }
        Err(error) => Err(Problem::internal(format!("cannot write JSON: {error}"))),
    }
}

struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + more.len() > self.most {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Refuses a body of more values than anything here needs: in memory they would be many times its length.
pub fn check_values(json: &[u8]) -> Result<(), Problem> {
    ingest::check_values(json, MOST_VALUES).map_err(|why| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("body: {why}"), "send less at a time")
    })
}

/// The body of a request, an object; nothing is one without fields. An array would be read as its fields in order, and one without
/// elements would prune.
pub fn body_of<B: DeserializeOwned>(bytes: &[u8]) -> Result<B, Problem> {
    let text: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(Problem::bad("body: it is no JSON object"));
    }
    check_values(text)?;
    serde_json::from_slice(text).map_err(|why| Problem::bad(format!("body: {why}")))
}

/// A good answer of JSON.
pub fn json(bytes: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes.into()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_an_end() {
        let mut bounded = Bounded { bytes: Vec::new(), most: 8 };
        assert!(serde_json::to_writer(&mut bounded, "123456").is_ok());
        let mut bounded = Bounded { bytes: Vec::new(), most: 8 };
        assert!(serde_json::to_writer(&mut bounded, "1234567").unwrap_err().is_io());
    }
}
