//! Limits how long writes to a connection stay unread, and closes it so that its client can read the answer.
//! Writes that a client leaves unread are an error, and a connection that the server ends stays open for a moment.

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

/// A client that reads less than this in [`MOST_STALLED`] while more waits for it is taken for one that reads nothing.
const LEAST_READ: usize = 64 << 10;
/// How long a client may send on after its last answer, before it reads that and ends the connection.
const LINGER: Duration = Duration::from_secs(5);
/// And how long it may be silent.
const LINGER_SILENT: Duration = Duration::from_secs(1);

/// A connection that notes when bytes come, and fails where its client leaves too much unread for too long.
pub struct Socket {
    stream: TcpStream,
    connection: Arc<Connection>,
    deadline: Pin<Box<Sleep>>,
    /// Bytes that the client took since its present stall began; none where it does not stall.
    stalled: Option<usize>,
}

impl Socket {
    /// Around an accepted connection.
    pub fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        let deadline = Box::pin(sleep(MOST_STALLED));
        Self { stream, connection, deadline, stalled: None }
    }

    /// Ends it as its client can understand: nothing more is sent, and what still comes is thrown away for a moment. Closed at once,
    /// with bytes unread, the system would take back the answer that the client has not read yet.
    pub async fn linger(self) {
        let mut stream = self.stream;
        let last = async {
            if stream.shutdown().await.is_err() {
                return;
            }
            let mut thrown_away = vec![0; 16 << 10];
            while let Ok(Ok(1..)) = timeout(LINGER_SILENT, stream.read(&mut thrown_away)).await {}
        };
        // Whoever sends on for longer does not mean to read.
        let _ = timeout(LINGER, last).await;
    }

    /// Passes on what became of a write of so many bytes; one that waits too long is an error.
    fn timed<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        bytes: impl Fn(&T) -> Option<usize>,
    ) -> Poll<io::Result<T>> {
        match &written {
            Poll::Ready(Ok(done)) => match (bytes(done), self.stalled) {
                // A client that takes a byte now and then is as slow as one that takes none.
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
