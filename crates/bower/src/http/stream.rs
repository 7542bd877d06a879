//! Answers that are sent piece by piece. Whoever does not read them is dropped: nothing waits for him for long.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

use super::limits::Turn;

/// How long a client may leave a piece unread.
pub const MOST_STALLED: Duration = Duration::from_secs(30);

/// The receiving end, as a body. The request counts as long as it lives.
struct Pieces {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    _turn: Option<Arc<Turn>>,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// A body, and where its pieces are put.
pub fn channel(turn: Option<Arc<Turn>>) -> (mpsc::Sender<io::Result<Bytes>>, Body) {
    let (sender, pieces) = mpsc::channel(8);
    (sender, Body::new(Pieces { pieces, _turn: turn }))
}

/// Sends a piece; an error where the client has gone or reads nothing.
pub async fn send(to: &mpsc::Sender<io::Result<Bytes>>, piece: Bytes) -> io::Result<()> {
    match tokio::time::timeout(MOST_STALLED, to.send(Ok(piece))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client has gone")),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")),
    }
}
