//! Tracks operations that take longer than a request may.
//! Each goes on by itself, and its caller can query its result. The server remembers the last runs while it lives.

use axum::http::StatusCode;
use bower_core::item::hex;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

use super::auth::Key;
use super::clock::now;
use super::problem::{Problem, Wrong};

/// Path at which the state of a run is read.
pub const PATH: &str = "/api/v1/runs/{id}";
/// Maximum number of ended runs that are remembered.
const MOST_KEPT: usize = 64;

/// Result of a run.
pub(super) type Ended = Result<Vec<u8>, Problem>;

/// The operations that outlasted their requests.
#[derive(Debug)]
pub struct Runs {
    all: Mutex<VecDeque<Run>>,
    running: watch::Sender<usize>,
}

#[derive(Debug)]
struct Run {
    id: String,
    operation: &'static str,
    /// Its caller; no other caller may see it.
    key: Key,
    begin_time: Timestamp,
    end: Option<(Timestamp, Result<Vec<u8>, Wrong>)>,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Stage {
    Running,
    Done,
    Failed,
}

/// An operation that takes longer than a request may.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunState {
    /// Its id; GET /api/v1/runs/{id} returns its state.
    run: String,
    /// The operation's id in this document.
    operation: &'static str,
    /// running, done or failed.
    state: Stage,
    /// Time at which its request had taken too long.
    begin_time: Timestamp,
    /// Time of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<Timestamp>,
    /// Response of the operation, once it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    /// Reason why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Wrong>,
}

impl Runs {
    /// Creates an empty set of runs.
    pub fn new() -> Self {
        Self { all: Mutex::default(), running: watch::Sender::new(0) }
    }

    /// Returns the state of a caller's run.
    pub fn state(&self, id: &str, key: &Key) -> Result<RunState, Problem> {
        let all = self.lock();
        let run = all.iter().find(|run| run.id == id && run.key == *key).ok_or_else(|| {
            Problem::new(
                StatusCode::NOT_FOUND,
                format!("no run {id}"),
                format!(
                    "a run is remembered until {MOST_KEPT} others have ended or the server stops; only its caller sees it"
                ),
            )
        })?;
        let mut state = RunState {
            run: run.id.clone(),
            operation: run.operation,
            state: Stage::Running,
            begin_time: run.begin_time,
            end_time: run.end.as_ref().map(|(time, _)| *time),
            answer: None,
            problem: None,
        };
        match &run.end {
            None => {}
            Some((_, Ok(answer))) => {
                let answer = serde_json::from_slice(answer);
                state.answer =
                    Some(answer.map_err(|why| Problem::internal(format!("a run's answer: {why}")))?);
                state.state = Stage::Done;
            }
            Some((_, Err(wrong))) => {
                state.problem = Some(wrong.clone());
                state.state = Stage::Failed;
            }
        }
        Ok(state)
    }

    /// Waits until no run is in progress.
    pub async fn ended(&self) {
        // `wait_for` fails only when the sender is dropped, and `self` owns it.
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Records that an operation outlasts its request, and returns the id of its run.
    pub(super) fn begin(&self, operation: &'static str, key: Key) -> Result<String, Problem> {
        let mut id = [0_u8; 8];
        getrandom::fill(&mut id).map_err(|why| Problem::internal(format!("no random numbers: {why}")))?;
        let id = hex(&id);
        self.lock().push_back(Run { id: id.clone(), operation, key, begin_time: now(), end: None });
        self.running.send_modify(|running| *running += 1);
        Ok(id)
    }

    /// Records the result of a run.
    pub(super) fn end(&self, id: &str, end: Ended) {
        let mut all = self.lock();
        let at = all.iter().position(|run| run.id == id);
        if let Some(mut run) = at.and_then(|at| all.remove(at)) {
            let state = if end.is_ok() { "done" } else { "failed" };
            let operation = run.operation;
            if let Some(cause) = end.as_ref().err().and_then(|problem| problem.cause.as_deref()) {
                tracing::error!(target: "bower", run = id, operation, cause, "ended");
            } else {
                tracing::info!(target: "bower", run = id, operation, state, "ended");
            }
            run.end = Some((now(), end.map_err(Problem::told)));
            // Ended runs are in the order in which they ended.
            all.push_back(run);
        }
        while all.iter().filter(|run| run.end.is_some()).count() > MOST_KEPT {
            let oldest = all.iter().position(|run| run.end.is_some());
            oldest.and_then(|at| all.remove(at));
        }
        drop(all);
        self.running.send_modify(|running| *running -= 1);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Run>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::app::App;
    use super::super::handle::patiently;
    use super::*;
    use axum::http::header;
    use std::sync::Arc;

    fn key(name: &str) -> Key {
        Key::Token(name.into())
    }

    /// Begins a run that outlasts its request. The run ends with the result that the returned sender passes.
    async fn begin(app: &Arc<App>) -> (String, std::sync::mpsc::Sender<Ended>) {
        let (tell, told) = std::sync::mpsc::channel::<Ended>();
        let response = patiently(app, key("ann"), "index", move || told.recv().unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        let place = response.headers()[header::LOCATION].to_str().unwrap().to_owned();
        (place.strip_prefix("/api/v1/runs/").unwrap().to_owned(), tell)
    }

    #[tokio::test]
    async fn what_outlasts_its_request_goes_on_and_tells_whoever_began_it_how_it_ended() {
        let home = tempfile::tempdir().unwrap();
        let app = App::sample(home.path());
        let quick = patiently(&app, key("ann"), "index", || Ok(b"{}".to_vec())).await.unwrap();
        assert_eq!((quick.status(), app.runs.lock().len()), (StatusCode::OK, 0));
        let (good, tell_good) = begin(&app).await;
        let (bad, tell_bad) = begin(&app).await;
        let state = app.runs.state(&good, &key("ann")).unwrap();
        assert_eq!((state.operation, state.state, state.end_time), ("index", Stage::Running, None));
        assert_eq!(app.runs.state(&good, &key("bob")).unwrap_err().status, 404);
        tell_good.send(Ok(br#"{"indexed":3}"#.to_vec())).unwrap();
        tell_bad.send(Err(Problem::bad("paths: none is left"))).unwrap();
        app.runs.ended().await;
        let state = app.runs.state(&good, &key("ann")).unwrap();
        assert_eq!((state.state, &state.answer.unwrap()["indexed"]), (Stage::Done, &Value::from(3)));
        let state = serde_json::to_value(app.runs.state(&bad, &key("ann")).unwrap()).unwrap();
        assert_eq!(
            (&state["state"], &state["problem"]["error"]),
            (&"failed".into(), &"paths: none is left".into())
        );
        // The last ended runs are kept, and all that are still in progress.
        let (going, tell) = begin(&app).await;
        for _ in 0..=MOST_KEPT {
            let id = app.runs.begin("sweep", key("bob")).unwrap();
            app.runs.end(&id, Ok(b"{}".to_vec()));
        }
        assert_eq!(app.runs.lock().len(), MOST_KEPT + 1);
        assert!(app.runs.state(&good, &key("ann")).is_err() && app.runs.state(&going, &key("ann")).is_ok());
        drop(tell);
        app.runs.ended().await;
        assert_eq!(
            app.runs.state(&going, &key("ann")).unwrap().state,
            Stage::Failed,
            "a panic is an end too"
        );
    }
}
