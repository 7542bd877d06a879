//! Sends response bodies piece by piece, and drops clients that do not read them.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// Longest time that a client may leave a piece unread.
pub const MOST_STALLED: Duration = Duration::from_secs(30);

/// A body that owns a value until it is sent or dropped.
struct Kept<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> HttpBody for Kept<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Wraps a body so that `kept` lives until the body is sent or dropped.
pub fn kept<T: Unpin + Send + 'static>(body: Body, kept: T) -> Body {
    Body::new(Kept { body, _kept: kept })
}

/// A body that ends, as if complete, when a future completes.
struct Until {
    body: Body,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}

/// Wraps a body so that it ends when `end` completes.
pub fn until(body: Body, end: impl Future<Output = ()> + Send + 'static) -> Body {
    Body::new(Until { body, end: Box::pin(end) })
}

/// Body that reads its pieces from a channel.
struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// Creates a body, and the sender of its pieces.
pub fn channel() -> (mpsc::Sender<io::Result<Bytes>>, Body) {
    let (sender, pieces) = mpsc::channel(8);
    (sender, Body::new(Pieces(pieces)))
}

/// Sends a piece. Fails if the client has gone or reads nothing.
pub async fn send(to: &mpsc::Sender<io::Result<Bytes>>, piece: Bytes) -> io::Result<()> {
    match tokio::time::timeout(MOST_STALLED, to.send(Ok(piece))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client has gone")),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")),
    }
}
