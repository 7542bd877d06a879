//! Streams exports as JSON lines.
//! Only a few pieces of an export are in memory, however large it is. If an export fails half way, its connection is
//! broken off, so that no client takes a part for the whole.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bower_core::request::moving::ExportRequest;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::app::App;
use super::body::{body_of, read_body};
use super::clock::now;
use super::handle::caller;
use super::limits::Turn;
use super::problem::Problem;
use super::stream::{channel, kept, send};
use crate::failure::Failure;
use crate::service::{Bounds, ExportBody};

/// Approximate size in bytes of the pieces in which lines are sent.
const PIECE: usize = 64 << 10;

/// Adds the route.
pub fn route(router: Router<Arc<App>>) -> Router<Arc<App>> {
    router.route("/api/v1/export", post(export))
}

async fn export(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let caller = caller(&parts.extensions)?;
    let (bytes, _room) = read_body(&app, &parts.headers, body).await?;
    let wanted = wanted(&body_of(&bytes)?, &caller.bounds)?;
    let visibility = caller.bounds.visibility();
    let permit = app.gates.export.enter().await?;
    let (pieces, body) = channel();
    // The request counts as running until the whole export was sent.
    let body = kept(body, parts.extensions.get::<Arc<Turn>>().cloned());
    let (began, beginning) = oneshot::channel();
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let mut lines = Lines { pieces, began: Some(began), runtime, kept: Vec::with_capacity(PIECE) };
        let engine = app.service.engine();
        let done = engine.export_lines(&visibility, &wanted, &mut lines, Path::new("the answer"), now());
        drop(permit);
        lines.end(done.map(drop).map_err(Failure::from));
    });
    match beginning.await {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return Err(failure.into()),
        Err(_) => return Err(Problem::internal("an export ended without a word")),
    }
    let form = HeaderValue::from_static("application/x-ndjson");
    Ok(([(header::CONTENT_TYPE, form)], body).into_response())
}

/// Builds the export request for a body, limited to the caller's bounds.
pub(super) fn wanted(body: &ExportBody, bounds: &Bounds) -> Result<ExportRequest, Problem> {
    if body.all && !body.select.statuses.is_empty() {
        return Err(Problem::bad("statuses: leave them out where all is true"));
    }
    Ok(body.request(bounds, now())?)
}

/// Writer of an export: passes bytes from a blocking thread to the body of the response.
struct Lines {
    pieces: mpsc::Sender<io::Result<Bytes>>,
    /// Notified once: with success when the first piece is ready, or with the export's result.
    began: Option<oneshot::Sender<Result<(), Failure>>>,
    runtime: Handle,
    kept: Vec<u8>,
}

impl Lines {
    fn send_kept(&mut self) -> io::Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        if let Some(began) = self.began.take() {
            began.send(Ok(())).ok();
        }
        let piece = std::mem::replace(&mut self.kept, Vec::with_capacity(PIECE));
        self.runtime.block_on(send(&self.pieces, piece.into()))
    }

    fn end(mut self, done: Result<(), Failure>) {
        match (done, self.began.take()) {
            (done, Some(began)) => {
                began.send(done).ok();
            }
            (Ok(()), None) => {}
            (Err(failure), None) => {
                let broken = Err(io::Error::other(failure.message));
                self.runtime.block_on(self.pieces.send(broken)).ok();
            }
        }
    }
}

impl Write for Lines {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(more);
        if self.kept.len() >= PIECE {
            self.send_kept()?;
        }
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_kept()
    }
}

#[cfg(test)]
mod tests {
    use super::super::app::Work;
    use super::super::auth::Caller;
    use super::*;
    use axum::body::Body;
    use bower_core::item::{Gate, Visibility};
    use bower_core::request::CurateRequest;
    use std::time::Duration;

    #[tokio::test]
    async fn exports_that_nobody_reads_keep_no_other_work_waiting() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        for n in 0..16 {
            let words: Vec<String> = (0..9_000).map(|word| format!("{n}x{word}")).collect();
            let request = CurateRequest { gate: Some(Gate::Off), ..CurateRequest::new(words.join(" ")) };
            app.service.engine().curate(&Visibility::everything(), &request, now()).unwrap();
        }
        let begin = async || {
            let mut request = Request::new(Body::empty());
            request.extensions_mut().insert(Caller::local([127, 0, 0, 1].into()));
            export(State(Arc::clone(&app)), request).await.unwrap()
        };
        let unread = [begin().await, begin().await];
        let entered = tokio::time::timeout(Duration::from_secs(20), app.gate(Work::Long).enter()).await;
        assert!(entered.is_ok_and(|entered| entered.is_ok()));
        drop(unread);
    }
}
