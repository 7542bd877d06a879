//! Handles the part of a request's body that its handler leaves unread.
//! A short rest is read, so that the next request on the connection begins at the right byte. Otherwise the response
//! says that the connection ends.

use axum::body::Bytes;
use axum::body::HttpBody;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// Maximum number of bytes that are read for the sake of the next request; the longest memory fits. For a longer rest a
/// new connection costs less.
const MOST_DRAINED: u64 = 1 << 20;
/// Time limit for reading the rest. Bytes that were already sent arrive within it.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// A request's body on loan to its handler. Dropping it returns the body.
#[derive(Debug)]
pub struct Lent<B> {
    body: Option<B>,
    shared: Arc<Shared<B>>,
}

/// Receiver of the returned body.
#[derive(Debug)]
pub struct Owed<B>(Arc<Shared<B>>);

#[derive(Debug)]
struct Shared<B> {
    returned: Mutex<Option<B>>,
    /// Whether the handler has polled the body. If so, a client that waits for 100 Continue has received it.
    is_begun: AtomicBool,
    /// Whether the whole body was read.
    is_ended: AtomicBool,
}

/// Lends a body to a handler.
pub fn lend<B>(body: B) -> (Lent<B>, Owed<B>) {
    let shared = Arc::new(Shared {
        returned: Mutex::new(None),
        is_begun: AtomicBool::new(false),
        is_ended: AtomicBool::new(false),
    });
    (Lent { body: Some(body), shared: Arc::clone(&shared) }, Owed(shared))
}

impl<B: HttpBody + Unpin> HttpBody for Lent<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.shared.is_begun.store(true, Ordering::Relaxed);
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.shared.is_ended.store(matches!(polled, Poll::Ready(None)), Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl<B> Drop for Lent<B> {
    fn drop(&mut self) {
        *self.shared.returned.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> Owed<B> {
    /// Reads the rest of the body, within limits, once the response is known; otherwise the response ends the
    /// connection. `expects` is whether the client sent `Expect`. Such a client sends no body after a final response,
    /// so nothing is read.
    pub async fn settle<T>(self, answer: &mut Response<T>, expects: bool) {
        // The body was not returned: its holder reads on while the response is sent.
        let Some(body) = self.0.returned.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        if self.0.is_ended.load(Ordering::Relaxed) || body.is_end_stream() {
            return;
        }
        // A client that sent too slowly has already had its time.
        let is_late = matches!(answer.status(), StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT);
        let waits = expects && !self.0.is_begun.load(Ordering::Relaxed);
        let is_read = !is_late
            && !waits
            && body.size_hint().lower() <= MOST_DRAINED
            && tokio::time::timeout(DRAIN_TIME, drain(body)).await.unwrap_or(false);
        if !is_read {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Whether the client waits for 100 Continue before it sends the body.
pub fn expects(headers: &HeaderMap) -> bool {
    headers.contains_key(header::EXPECT)
}

/// Reads a whole body; false if it is too long or breaks off.
async fn drain<B: HttpBody<Data = Bytes> + Unpin>(mut body: B) -> bool {
    let mut drained = 0;
    loop {
        match std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => {
                drained += frame.data_ref().map_or(0, |data| data.len() as u64);
                if drained > MOST_DRAINED {
                    return false;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    async fn settled(body: Body, read: bool, status: u16, expects: bool) -> bool {
        let (mut lent, owed) = lend(body);
        if read {
            let _ = std::future::poll_fn(|context| Pin::new(&mut lent).poll_frame(context)).await;
        }
        drop(lent);
        let mut answer = Response::builder().status(status).body(()).unwrap();
        owed.settle(&mut answer, expects).await;
        !answer.headers().contains_key(header::CONNECTION)
    }

    /// A body with the pieces that a function returns until it returns none.
    struct Made<F>(F);

    impl<F: FnMut() -> Option<Result<Bytes, std::io::Error>> + Unpin> HttpBody for Made<F> {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            Poll::Ready((self.0)().map(|data| data.map(Frame::data)))
        }
    }

    #[tokio::test]
    async fn a_short_rest_is_read_and_a_long_one_ends_the_connection() {
        assert!(settled(Body::empty(), false, 429, false).await);
        assert!(settled(Body::from("left unread"), false, 429, false).await);
        assert!(settled(Body::from(vec![7; MOST_DRAINED as usize]), false, 401, false).await);
        assert!(!settled(Body::from(vec![7; MOST_DRAINED as usize + 1]), false, 413, false).await);
        assert!(!settled(Body::from("late"), false, 504, false).await);
        assert!(!settled(Body::from("waits"), false, 429, true).await, "it was never asked to send");
        assert!(settled(Body::from("sends"), true, 200, true).await);
        let broken = Made(|| Some(Err(std::io::Error::other("it broke off"))));
        assert!(!settled(Body::new(broken), false, 429, false).await);
        let endless = Made(|| Some(Ok(Bytes::from(vec![0; 1 << 16]))));
        assert!(!settled(Body::new(endless), false, 429, false).await);
    }
}
