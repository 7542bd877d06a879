//! MCP over streamable HTTP at `/mcp`: the handler of `bower mcp` behind the same door as everything else. Each request brings the
//! bounds of whoever asks; hosts and origins were looked at before it gets here.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::any_service;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use super::auth::Caller;
use super::{App, Work};
use crate::failure::Result;
use crate::mcp::{self, Desk, Handler, Options, Within};

/// Where it is.
pub const PATH: &str = "/mcp";

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
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    router.route(PATH, any_service(service).layer(from_fn(bound)))
}

/// Puts the caller's bounds where the handler looks for them.
async fn bound(mut request: Request, next: Next) -> Response {
    if let Some(bounds) = request.extensions().get::<Caller>().map(Caller::bounds_elsewhere) {
        request.extensions_mut().insert(bounds);
    }
    next.run(request).await
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
