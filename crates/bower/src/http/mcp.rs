//! MCP over streamable HTTP at `/mcp`: the handler of `bower mcp` behind the same door as everything else. Each request brings the
//! bounds of whoever asks; hosts and origins were looked at before it gets here. A session is its beginner's alone.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any_service;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::auth::{Caller, Key};
use super::handle::{caller, json, read_body, to_json};
use super::problem::Problem;
use super::{App, Work};
use crate::failure::Result;
use crate::mcp::{self, Desk, Handler, Options, Within};

/// Where it is.
pub const PATH: &str = "/mcp";

/// A session's name, as its client sends it along.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Sessions of one caller at once.
const MOST_OF_ONE: usize = 64;
/// Sessions at once. Each takes some 50 KB (measured) until its client ends it or is silent for five minutes.
const MOST_SESSIONS: usize = 1_024;

/// The handler on this server's store. Needs the runtime.
pub fn handler(app: &Arc<App>) -> Result<Handler> {
    let desk = Arc::new(Desk::of(Arc::clone(&app.service)));
    tokio::spawn(tell_of_work(Arc::clone(&desk), Arc::clone(app)));
    mcp::handler(desk, Options { within: Within::OfRequest, ..Options::default() })
}

/// Adds the route. Needs the runtime.
pub fn route<H>(router: Router<Arc<App>>, app: &Arc<App>, handler: H) -> Router<Arc<App>>
where
    H: ServerHandler + Clone,
{
    // Streams that stay open would keep the server from ending.
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
        Sessions { manager: Arc::clone(&manager), keys: Mutex::default(), beginning: Arc::default() };
    let service = StreamableHttpService::new(move || Ok(handler.clone()), manager, config);
    let mount = Mount { app: Arc::clone(app), sessions: Arc::new(sessions) };
    router.route(PATH, any_service(service).layer(from_fn_with_state(mount, bound)))
}

#[derive(Clone)]
struct Mount {
    app: Arc<App>,
    sessions: Arc<Sessions>,
}

/// The sessions of clients that begin one, and whose each is.
struct Sessions {
    manager: Arc<LocalSessionManager>,
    keys: Mutex<HashMap<String, Key>>,
    /// Held by whoever begins one: what is counted stays true until it is added.
    beginning: Arc<tokio::sync::Mutex<()>>,
}

impl Sessions {
    /// Whether somebody else began it. That nobody did is not for this to say.
    fn is_of_another(&self, session: &str, key: &Key) -> bool {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.get(session).is_some_and(|whose| whose != key)
    }

    fn add(&self, session: &str, key: Key) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(session.to_owned(), key);
    }

    /// Lets one more begin, until what it gives is dropped; refuses it where there are too many.
    async fn begin(&self, key: &Key) -> Result<OwnedMutexGuard<()>, Problem> {
        let begins = Arc::clone(&self.beginning).lock_owned().await;
        let living = self.manager.sessions.read().await;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|session, _| living.contains_key(session.as_str()));
        if keys.values().filter(|whose| *whose == key).count() >= MOST_OF_ONE {
            let what = format!("{MOST_OF_ONE} sessions are open; DELETE {PATH} ends one");
            return Err(Problem::later(StatusCode::TOO_MANY_REQUESTS, what, 60));
        }
        if living.len() >= MOST_SESSIONS {
            return Err(Problem::later(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open", 60));
        }
        Ok(begins)
    }
}

/// Puts the caller's bounds where the handler looks for them, once it is sure that there is a message for it.
async fn bound(State(mount): State<Mount>, mut request: Request, next: Next) -> Result<Response, Problem> {
    let caller = caller(request.extensions())?;
    let session = session_of(request.headers());
    if session.as_ref().is_some_and(|session| mount.sessions.is_of_another(session, &caller.key)) {
        return Err(Problem::new(StatusCode::NOT_FOUND, "no such session", "begin another with initialize"));
    }
    request.extensions_mut().insert(Caller::bounds_elsewhere(&caller));
    let (mut room, mut begun) = (None, None);
    if request.method() == Method::POST {
        let (parts, body) = request.into_parts();
        let (bytes, taken) = read_body(&mount.app, &parts.headers, body).await?;
        room = taken;
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
    Ok(response)
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|name| name.to_str().ok()).map(str::to_owned)
}

fn begins(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// What is no message is answered in the protocol's own form.
fn refused(trouble: &ServerJsonRpcMessage) -> Result<Response, Problem> {
    Ok((StatusCode::BAD_REQUEST, json(to_json(trouble)?)).into_response())
}

/// A call works on after the head of its answer is out: what it did is told when it is done, as of every other operation.
async fn tell_of_work(desk: Arc<Desk>, app: Arc<App>) {
    loop {
        desk.worked().await;
        app.touched(Work::Write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    #[tokio::test]
    async fn the_store_is_looked_after_once_a_call_has_done_its_work() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        let desk = Arc::new(Desk::of(Arc::clone(&app.service)));
        tokio::spawn(tell_of_work(Arc::clone(&desk), Arc::clone(&app)));
        app.is_used.store(false, Ordering::Relaxed);
        let (seen, never) = (Arc::clone(&app), CancellationToken::new());
        let worked = desk.work(&never, move |_| Ok(seen.is_used.load(Ordering::Relaxed)));
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
