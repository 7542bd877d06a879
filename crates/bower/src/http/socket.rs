//! Limits how long a client may leave writes unread, and closes connections so that the client can read the response.
//! Writes that stay unread too long are an error. A connection that the server ends stays open for a moment.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::connections::Connection;
use super::stream::MOST_STALLED;

/// Bytes below which a client counts as reading nothing, if it read fewer within [`MOST_STALLED`] while more was
/// waiting.
const LEAST_READ: usize = 64 << 10;
/// Longest time that a client may still send after its last response, before it reads that and ends the connection.
const LINGER: Duration = Duration::from_secs(5);
/// Longest time that the client may be silent during that.
const LINGER_SILENT: Duration = Duration::from_secs(1);

/// A connection that records when bytes arrive, and fails when its client leaves too much unread for too long.
pub struct Socket {
    stream: TcpStream,
    connection: Arc<Connection>,
    deadline: Pin<Box<Sleep>>,
    /// Bytes that the client read since its present stall began; none while it does not stall.
    stalled: Option<usize>,
}

impl Socket {
    /// Wraps an accepted connection.
    pub fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        let deadline = Box::pin(sleep(MOST_STALLED));
        Self { stream, connection, deadline, stalled: None }
    }

    /// Ends the connection so that the client can read the last response: shuts down writing, then discards what still
    /// arrives for a moment. If it were closed at once with unread bytes, the system would discard the response that
    /// the client has not read yet.
    pub async fn linger(self) {
        let mut stream = self.stream;
        let last = async {
            if stream.shutdown().await.is_err() {
                return;
            }
            let mut thrown_away = vec![0; 16 << 10];
            while let Ok(Ok(1..)) = timeout(LINGER_SILENT, stream.read(&mut thrown_away)).await {}
        };
        // A client that sends for longer does not intend to read.
        let _ = timeout(LINGER, last).await;
    }

    /// Returns the result of a write, or an error if the write has been pending for too long. `bytes` returns the
    /// length of the write; none for a flush.
    fn timed<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        bytes: impl Fn(&T) -> Option<usize>,
    ) -> Poll<io::Result<T>> {
        match &written {
            Poll::Ready(Ok(done)) => match (bytes(done), self.stalled) {
                // A client that reads a byte now and then is as slow as one that reads nothing.
                (Some(more), Some(taken)) if taken + more < LEAST_READ => self.stalled = Some(taken + more),
                (Some(_) | None, _) => self.stalled = None,
            },
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                if self.stalled.is_none() {
                    self.stalled = Some(0);
                    self.deadline.as_mut().reset(Instant::now() + MOST_STALLED);
                }
                ready!(self.deadline.as_mut().poll(context));
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")));
            }
        }
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.connection.heard(std::time::Instant::now());
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, written, |written| Some(*written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.timed(context, flushed, |()| None)
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
        self.timed(context, written, |written| Some(*written))
    }
}
