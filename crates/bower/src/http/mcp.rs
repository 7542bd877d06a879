//! MCP over streamable HTTP at `/mcp`: the handler of `bower mcp` behind the same door as everything else. Each request brings the
//! bounds of whoever asks; hosts and origins were looked at before it gets here.

use axum::Router;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use super::App;
use crate::failure::Result;
use crate::mcp::{Desk, Options, handler};

/// Where it is.
pub const PATH: &str = "/mcp";

/// Adds the route.
pub fn route(router: Router, app: &Arc<App>) -> Result<Router> {
    let desk = Arc::new(Desk::of(Arc::clone(&app.service)));
    let handler = handler(desk, Options { bounds_per_request: true, ..Options::default() })?;
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
    Ok(router.nest_service(PATH, StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)))
}
