//! Accepts connections, and serves each until it ends.
//! A connection ends when its client ends it, when it is too old, idle or slow, or when another needs its place. When
//! the server ends, it accepts no new connection and finishes the requests of open ones.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};
use tokio_util::task::TaskTracker;

use super::app::{App, Peer};
use super::connections::{Closed, Connection, Due};
use super::remainder::{expects, lend};
use super::socket::Socket;
use super::{events, stream};
use crate::failure::{Failure, Result};

/// Time between two tries to register a new connection while all places belong to other new ones.
const CROWDED: Duration = Duration::from_millis(5);

/// Longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// Pause after the system could not provide another connection.
const RECOVER: Duration = Duration::from_millis(50);

/// The routes as a hyper service.
type Routes = TowerToHyperService<Router>;

/// Accepts and serves connections until the process gets a signal to end, then lets running requests finish.
pub async fn run(
    app: &Arc<App>,
    router: Router,
    listener: std::net::TcpListener,
    began: impl FnOnce(SocketAddr, bool) -> Result<()>,
) -> Result<()> {
    let failed = |source: io::Error| Failure::environment(format!("cannot listen: {source}"), "run it again");
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = TcpListener::from_std(listener).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let mut end = End::new().map_err(failed)?;
    tokio::spawn(events::watch_changes(Arc::clone(app)));
    let routes = TowerToHyperService::new(router);
    let serving = TaskTracker::new();
    began(address, app.door.takes_tokens())?;
    loop {
        let accepted = tokio::select! {
            () = end.told() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(target: "bower", cause = %error, "could not take a connection");
                // The system has no more connections to give. The next client may have a token, so one connection is
                // closed.
                app.connections.make_some_room();
                sleep(RECOVER).await;
                continue;
            }
        };
        stream.set_nodelay(true).ok();
        let (connection, close) = loop {
            if let Some(opened) = app.connections.open(peer.ip(), app.door.takes_tokens(), Instant::now()) {
                break opened;
            }
            // All anonymous places belong to other new connections; the system's queue holds the rest.
            sleep(CROWDED).await;
        };
        serving.spawn(serve(Arc::clone(app), routes.clone(), stream, peer, connection, close));
    }
    drop(listener);
    serving.close();
    tracing::info!(target: "bower", "ending: nobody new is let in");
    app.is_ending.send_replace(true);
    tokio::select! {
        () = async { serving.wait().await; app.runs.ended().await } => {
            tracing::info!(target: "bower", "every request was answered");
        }
        () = sleep(app.options.grace) => {
            let left = app.metrics.under_way.load(Ordering::Relaxed);
            tracing::warn!(target: "bower", left, "time is up: some requests were not answered");
        }
        () = end.told() => tracing::warn!(target: "bower", "told again to end"),
    }
    Ok(())
}

/// Serves one connection until it ends.
async fn serve(
    app: Arc<App>,
    routes: Routes,
    stream: TcpStream,
    peer: SocketAddr,
    connection: Connection,
    mut close: watch::Receiver<Closed>,
) {
    let connection = Arc::new(connection);
    let socket = Socket::new(stream, Arc::clone(&connection));
    let service = {
        let connection = Arc::clone(&connection);
        service_fn(move |request| answer(routes.clone(), request, peer, Arc::clone(&connection)))
    };
    let mut ending = app.is_ending.subscribe();
    // Timeouts are checked in this loop: the head and an idle connection have different ones, and hyper has only one
    // for both.
    let mut http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(LONGEST_HEAD)
        .half_close(false)
        .serve_connection(TokioIo::new(socket), service);
    let mut is_ending = false;
    let mut look = Instant::now();
    loop {
        tokio::select! {
            // Why a connection ended does not matter here.
            _ = &mut http => break,
            _ = close.wait_for(|close| *close != Closed::Not) => return,
            _ = ending.wait_for(|is_ending| *is_ending), if !is_ending => {
                is_ending = true;
                Pin::new(&mut http).graceful_shutdown();
            }
            () = sleep_until(look.into()) => match connection.due(Instant::now()) {
                Due::Look(next) => look = next,
                Due::Close => return,
            },
        }
    }
    let socket = http.into_parts().io.into_inner();
    tokio::select! {
        () = socket.linger() => {}
        _ = close.wait_for(|close| *close != Closed::Not) => {}
    }
}

/// Answers one request. Its connection is busy until the whole response was sent.
async fn answer(
    routes: Routes,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
    connection: Arc<Connection>,
) -> std::result::Result<hyper::Response<Body>, Infallible> {
    let busy = connection.begin(Instant::now());
    let (mut parts, body) = request.into_parts();
    let expects = expects(&parts.headers);
    parts.extensions.insert(Peer(peer));
    parts.extensions.insert(connection);
    let (lent, owed) = lend(body);
    let mut answer = routes.call(hyper::Request::from_parts(parts, lent)).await?;
    owed.settle(&mut answer, expects).await;
    if busy.is_last(Instant::now()) {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(answer.map(|body| stream::kept(body, busy)))
}

/// Signals that tell the process to end.
struct End {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl End {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    #[cfg(unix)]
    async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn told(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
