//! Serves MCP over streamable HTTP at `/mcp`.
//! The handler of `bower mcp` has the same access control as all other routes. Each request carries the access bounds
//! of its caller; host names and origins were checked before. Only the caller who began a session may use it.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any_service;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::app::{App, Work};
use super::auth::{Caller, Key};
use super::body::{check_values, json, read_body, to_json};
use super::handle::caller;
use super::problem::Problem;
use super::stream::{kept, until};
use crate::failure::Result;
use crate::mcp::{self, Handler, Options, Within, Workers};

/// Path of the route.
pub const PATH: &str = "/mcp";

/// Header with the id of a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Maximum number of sessions of one caller at once.
const MOST_OF_ONE: usize = 64;
/// Maximum number of sessions at once. Each takes about 50 KB (measured) until its client ends it or sends nothing for
/// five minutes.
const MOST_SESSIONS: usize = 1_024;
/// Age of a session's last request after which its caller's next session may replace it, once the caller has too many.
/// So a program that begins a session for each call and ends none still works.
const SILENT: Duration = Duration::from_secs(5);

/// Creates the MCP handler on this server's store. It needs the tokio runtime.
pub fn handler(app: &Arc<App>) -> Result<Handler> {
    let workers = Arc::new(Workers::of(Arc::clone(&app.service)));
    tokio::spawn(tell_of_work(Arc::clone(&workers), Arc::clone(app)));
    mcp::handler(workers, Options { within: Within::OfRequest, ..Options::default() })
}

/// Adds the route. It needs the tokio runtime.
pub fn route<H>(router: Router<Arc<App>>, app: &Arc<App>, handler: H) -> Router<Arc<App>>
where
    H: ServerHandler + Clone,
{
    // Open streams would keep the server from ending.
    let ended = CancellationToken::new();
    let (told, mut ending) = (ended.clone(), app.is_ending.subscribe());
    tokio::spawn(async move {
        let _ = ending.wait_for(|is_ending| *is_ending).await;
        told.cancel();
    });
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(app.options.body_bytes)
        .with_cancellation_token(ended);
    let manager = Arc::new(LocalSessionManager::default());
    let sessions =
        Sessions { manager: Arc::clone(&manager), held: Mutex::default(), beginning: Arc::default() };
    let service = StreamableHttpService::new(move || Ok(handler.clone()), manager, config);
    let mount = Mount { app: Arc::clone(app), sessions: Arc::new(sessions) };
    router.route(PATH, any_service(service).layer(from_fn_with_state(mount, bound)))
}

#[derive(Clone)]
struct Mount {
    app: Arc<App>,
    sessions: Arc<Sessions>,
}

/// Sessions of the clients that begin one, and their callers.
struct Sessions {
    manager: Arc<LocalSessionManager>,
    held: Mutex<HashMap<String, Held>>,
    /// Held while a session begins, so that the counts stay true until it is added.
    beginning: Arc<tokio::sync::Mutex<()>>,
}

/// One session.
struct Held {
    key: Key,
    /// When its last request ended.
    used: Instant,
    /// Number of its requests and streams in progress.
    busy: usize,
}

/// A request of a session in progress; dropping it ends the request.
struct Busy {
    sessions: Arc<Sessions>,
    session: String,
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(held) = self.sessions.lock().get_mut(&self.session) {
            (held.used, held.busy) = (Instant::now(), held.busy.saturating_sub(1));
        }
    }
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request of a session; none if the session is unknown.
    fn enter(self: &Arc<Self>, session: &str) -> Option<Busy> {
        let mut all = self.lock();
        let held = all.get_mut(session)?;
        held.busy += 1;
        Some(Busy { sessions: Arc::clone(self), session: session.to_owned() })
    }

    /// Whether another caller began the session. False for an unknown session, which the MCP service refuses itself.
    fn is_of_another(&self, session: &str, key: &Key) -> bool {
        self.lock().get(session).is_some_and(|held| held.key != *key)
    }

    fn add(&self, session: &str, key: Key) {
        let mut all = self.lock();
        let held = Held { key, used: Instant::now(), busy: 0 };
        all.entry(session.to_owned()).or_insert(held);
    }

    /// Permits one more session to begin, until the returned guard is dropped; refuses it where there are too many.
    async fn begin(&self, key: &Key) -> Result<OwnedMutexGuard<()>, Problem> {
        let begins = Arc::clone(&self.beginning).lock_owned().await;
        let mut living: HashSet<String> =
            self.manager.sessions.read().await.keys().map(ToString::to_string).collect();
        if let Some(silent) = self.too_many(key, &living)? {
            // An error means that the session has ended meanwhile, which is just as good.
            let _ = self.manager.close_session(&silent.as_str().into()).await;
            self.lock().remove(&silent);
            living.remove(&silent);
        }
        if living.len() >= MOST_SESSIONS {
            return Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open", 60));
        }
        Ok(begins)
    }

    /// Returns the session of a caller that must end before another begins; none while the caller is below the limit.
    /// Fails if all of them are in use.
    fn too_many(&self, key: &Key, living: &HashSet<String>) -> Result<Option<String>, Problem> {
        let mut all = self.lock();
        all.retain(|session, _| living.contains(session));
        let own = || all.iter().filter(|(_, held)| held.key == *key);
        if own().count() < MOST_OF_ONE {
            return Ok(None);
        }
        let silent = own().filter(|(_, held)| held.busy == 0 && held.used.elapsed() >= SILENT);
        let silent = silent.min_by_key(|(session, held)| (held.used, (*session).clone()));
        silent.map(|(session, _)| Some(session.clone())).ok_or_else(|| {
            let what = format!("{MOST_OF_ONE} sessions are open and in use; DELETE {PATH} ends one");
            Problem::later(StatusCode::TOO_MANY_REQUESTS, what, SILENT.as_secs())
        })
    }
}

/// Stores the caller's bounds with the request for the handler, after checking that a POST contains a valid message.
async fn bound(State(mount): State<Mount>, mut request: Request, next: Next) -> Result<Response, Problem> {
    let caller = caller(request.extensions())?;
    let session = session_of(request.headers());
    if session.as_ref().is_some_and(|session| mount.sessions.is_of_another(session, &caller.key)) {
        return Err(Problem::new(StatusCode::NOT_FOUND, "no such session", "begin another with initialize"));
    }
    let busy = session.as_ref().and_then(|session| mount.sessions.enter(session));
    request.extensions_mut().insert(Caller::bounds_elsewhere(&caller));
    let (mut room, mut begun, mut follower) = (None, None, None);
    if request.method() == Method::GET {
        // GET opens the stream on which the server sends its own messages.
        follower = Some(mount.app.followers.enter(&caller.key, Instant::now())?);
    }
    if request.method() == Method::POST {
        let (parts, body) = request.into_parts();
        let (bytes, taken) = read_body(&mount.app, &parts.headers, body).await?;
        room = taken;
        check_values(&bytes)?;
        match mcp::message(&bytes) {
            Ok(message) if session.is_none() && begins(&message) => {
                begun = Some(mount.sessions.begin(&caller.key).await?);
            }
            Ok(_) => {}
            Err(trouble) => return refused(&trouble),
        }
        request = Request::from_parts(parts, Body::from(bytes));
    }
    let response = next.run(request).await;
    drop(room);
    if let Some(session) = session_of(response.headers()) {
        mount.sessions.add(&session, caller.key);
    }
    drop(begun);
    // The session is in use until the whole response was sent.
    let response = response.map(|body| kept(body, busy));
    Ok(match follower.filter(|_| response.status().is_success()) {
        Some(mut follower) => response.map(|body| {
            until(body, async move {
                follower.over().await;
            })
        }),
        None => response,
    })
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|name| name.to_str().ok()).map(str::to_owned)
}

fn begins(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// Answers an invalid message in the form of the protocol.
fn refused(trouble: &ServerJsonRpcMessage) -> Result<Response, Problem> {
    Ok((StatusCode::BAD_REQUEST, json(to_json(trouble)?)).into_response())
}

/// Marks the store as used after each call. A call goes on after the head of its response was sent, so its end is
/// reported here.
async fn tell_of_work(workers: Arc<Workers>, app: Arc<App>) {
    loop {
        workers.worked().await;
        app.touched(Work::Write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[tokio::test]
    async fn the_store_is_looked_after_once_a_call_has_done_its_work() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        let workers = Arc::new(Workers::of(Arc::clone(&app.service)));
        tokio::spawn(tell_of_work(Arc::clone(&workers), Arc::clone(&app)));
        app.is_used.store(false, Ordering::Relaxed);
        let (seen, never) = (Arc::clone(&app), CancellationToken::new());
        let worked = workers.work(&never, move |_| Ok(seen.is_used.load(Ordering::Relaxed)));
        assert!(!worked.await.unwrap().unwrap(), "not before it is done");
        let told = async {
            while !app.is_used.load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
            app.has_written.notified().await;
        };
        tokio::time::timeout(Duration::from_secs(20), told).await.unwrap();
    }
}
