//! Connections: so many at once, each with a time for its head and a time for what it leaves unread; and the end, in which
//! nobody new is let in and whoever is in is served.

use axum::Router;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};

use super::stream::MOST_STALLED;
use super::{App, Peer, events};
use crate::failure::{Failure, Result};

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// How long nobody is let in where the system has no more connections to give.
const RECOVER: Duration = Duration::from_millis(50);

/// Takes requests until the process is told to end, then lets what runs finish.
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
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(app.options.header_time)
        .max_buf_size(LONGEST_HEAD)
        .half_close(false);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.options.connections));
    began(address, app.door.takes_tokens())?;
    loop {
        let place = tokio::select! {
            () = end.told() => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = end.told() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(target: "bower", cause = %error, "could not take a connection");
                sleep(RECOVER).await;
                continue;
            }
        };
        stream.set_nodelay(true).ok();
        let inner = service.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            inner.call(request)
        });
        let connection = builder.serve_connection(Unstalled::new(stream), service);
        let watched = graceful.watch(connection);
        let app = Arc::clone(app);
        app.metrics.connections.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // How a connection ended is its client's business.
            let _ = watched.await;
            app.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    tracing::info!(target: "bower", "ending: nobody new is let in");
    app.is_ending.send_replace(true);
    tokio::select! {
        () = async { graceful.shutdown().await; app.runs.ended().await } => {
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

/// What tells a process to end.
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

/// A connection that ends where its client leaves too long unread what is sent to it.
struct Unstalled {
    stream: TokioIo<TcpStream>,
    deadline: Pin<Box<Sleep>>,
    is_stalled: bool,
}

impl Unstalled {
    fn new(stream: TcpStream) -> Self {
        Self { stream: TokioIo::new(stream), deadline: Box::pin(sleep(MOST_STALLED)), is_stalled: false }
    }

    /// Passes on what became of a write; one that waits too long is an error.
    fn timed<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_stalled = false;
            return written;
        }
        if !self.is_stalled {
            self.is_stalled = true;
            self.deadline.as_mut().reset(Instant::now() + MOST_STALLED);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl Read for Unstalled {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Unstalled {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.timed(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.timed(context, written)
    }
}
