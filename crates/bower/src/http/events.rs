//! Streams the changes of the store as server-sent events.
//! Each change has one event, whichever process made it; a stream may begin after any change. Changes of this server
//! are sent at once. Changes of other processes are polled for while a stream is open.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bower_core::request::StoreChange;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

use super::app::{App, Work};
use super::auth::Caller;
use super::clock::now;
use super::cursor::Cursors;
use super::followers::Over;
use super::handle::caller;
use super::operations::parse_query;
use super::problem::Problem;
use super::stream::{channel, send};

/// Milliseconds after which a client reconnects by itself. It waits longer where its stream ended because others wait
/// for a place.
const RETRY_MS: u64 = 2_000;
const RETRY_LATER_MS: u64 = 60_000;
/// Time between two polls for changes of other processes. A poll reads one row.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time between two comments on a stream without changes. Writing one detects a broken connection.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Maximum number of changes that one read returns.
const PAGE: usize = 100;

/// Start of the stream.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EventsQuery {
    /// Only changes after this one: 0 is from the beginning; default from now on. A client that reconnects sends its
    /// last one as Last-Event-ID.
    pub after: Option<u64>,
}

/// Adds the route of the stream of changes.
pub fn route(router: Router<Arc<App>>) -> Router<Arc<App>> {
    let handler = |State(app): State<Arc<App>>, request: Request| async move { follow(app, &request) };
    router.route("/api/v1/events", get(handler))
}

/// Keeps the last change number up to date while the server runs and a stream is open.
pub async fn watch_changes(app: Arc<App>) {
    let mut ending = app.is_ending.subscribe();
    loop {
        tokio::select! {
            _ = ending.wait_for(|is_ending| *is_ending) => return,
            () = app.has_written.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        if app.metrics.streams.load(Ordering::Relaxed) == 0 {
            continue;
        }
        let shared = Arc::clone(&app);
        let read = tokio::task::spawn_blocking(move || shared.service.engine().last_change().ok());
        if let Ok(Some(last)) = read.await {
            app.last_change.send_if_modified(|known| std::mem::replace(known, last) != last);
        }
    }
}

/// Counts an open stream in the metrics until it is dropped.
struct Counted(Arc<App>);

impl Counted {
    fn new(app: &Arc<App>) -> Self {
        app.metrics.streams.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(app))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

fn follow(app: Arc<App>, request: &Request) -> Result<Response, Problem> {
    let caller = caller(request.extensions())?;
    let query: EventsQuery = parse_query(request.uri().query().unwrap_or(""))?;
    let last = request.headers().get("last-event-id").map(|id| {
        let id = id.to_str().ok().and_then(|id| id.trim().parse::<u64>().ok());
        id.ok_or_else(|| Problem::bad("Last-Event-ID: the number of a change is wanted"))
    });
    let after = last.transpose()?.or(query.after);
    // From here on the stream counts as a stream, not as a request at once.
    let mut follower = app.followers.enter(&caller.key, Instant::now())?;
    let counted = Counted::new(&app);
    let (sender, body) = channel();
    tokio::spawn(async move {
        let mut ending = app.is_ending.subscribe();
        let (reason, retry_ms) = tokio::select! {
            _ = ending.wait_for(|is_ending| *is_ending) => ("server", RETRY_MS),
            over = follower.over() => (over.word(), if over == Over::Room { RETRY_LATER_MS } else { RETRY_MS }),
            // This branch ends only when the client has gone or the store cannot be read.
            _ = tell(&counted.0, &caller, after, &sender) => return,
        };
        let last = format!("event: end\nretry: {retry_ms}\ndata: {{\"reason\":\"{reason}\"}}\n\n");
        let _ = send(&sender, last.into()).await;
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, body).into_response())
}

async fn tell(
    app: &Arc<App>,
    caller: &Caller,
    after: Option<u64>,
    to: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let mut changed = app.last_change.subscribe();
    let cursors = Cursors::of(caller);
    let mut after = match after {
        Some(after) => cursors.change(after),
        None => look(app, |app, _| page(app, None, u64::MAX), caller).await?.current,
    };
    // The response head is sent with the first piece, so that the client sees at once that the stream is open.
    send(to, Bytes::from(format!(": after {}\nretry: {RETRY_MS}\n\n", cursors.told(after)))).await?;
    loop {
        let page = look(app, move |app, caller| page(app, Some(caller), after), caller).await?;
        for change in page.changes {
            send(to, event(&StoreChange { change: cursors.told(change.change), ..change })).await?;
        }
        if page.last > after {
            after = page.last;
            continue;
        }
        let current = page.current;
        if current < after {
            // A restored backup has a lower change number than the client was sent.
            let told = cursors.told(current);
            let reset = format!("event: reset\nid: {told}\ndata: {{\"change\":{told}}}\n\n");
            send(to, reset.into()).await?;
            after = current;
        }
        app.last_change.send_if_modified(|known| std::mem::replace(known, current) != current);
        wait(&mut changed, after, to).await?;
    }
}

/// Waits for another change, or for the time to check again whether the caller may follow. Fails if the client has
/// gone.
async fn wait(
    changed: &mut watch::Receiver<u64>,
    after: u64,
    to: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    tokio::select! {
        known = async { changed.wait_for(|known| *known != after).await.map(drop) } => {
            known.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
        () = tokio::time::sleep(HEARTBEAT) => send(to, Bytes::from_static(b":\n\n")).await,
        () = to.closed() => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// One page of changes.
pub(super) struct Page {
    /// The store's last change number, read before the page.
    current: u64,
    /// The last change number that the page covers.
    pub(super) last: u64,
    /// The changes of the page that the caller may see.
    pub(super) changes: Vec<StoreChange>,
}

async fn look(
    app: &Arc<App>,
    read: impl FnOnce(&App, &Caller) -> Result<Page, Problem> + Send + 'static,
    caller: &Caller,
) -> io::Result<Page> {
    let (shared, caller) = (Arc::clone(app), caller.clone());
    let read = app.gate(Work::Read).run(move || read(&shared, &caller)).await;
    // The stream ends where the store cannot be read. The client reconnects with its last id.
    read.map_err(|problem| io::Error::other(problem.message))
}

/// Returns a page of the changes after `after`; without a caller, a page without changes.
pub(super) fn page(app: &App, caller: Option<&Caller>, after: u64) -> Result<Page, Problem> {
    let engine = app.service.engine();
    let current = engine.last_change()?;
    let Some(caller) = caller else { return Ok(Page { current, last: after, changes: Vec::new() }) };
    if !app.door.still_admits(caller, now()) {
        return Err(Problem::forbidden("the token is no longer valid", "ask with a token that is in force"));
    }
    let (changes, last) = engine.changes_after(&caller.bounds.visibility(), after, PAGE)?;
    Ok(Page { current, last, changes })
}

fn event(change: &StoreChange) -> Bytes {
    let data = serde_json::to_string(change).unwrap_or_default();
    format!("event: change\nid: {}\ndata: {data}\n\n", change.change).into()
}
