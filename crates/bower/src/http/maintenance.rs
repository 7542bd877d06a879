//! Maintains the store in a background thread of the server.
//! One second after a request it compacts the indexes and stores what was used. It sweeps, prunes and consolidates when
//! that is due. Between these it makes missing vectors. The store records when the rest last ran, so the schedule depends neither on how often a server starts nor
//! on how long it runs.

use bower_core::request::{MaintenanceReport, MaintenanceRequest, PruneEvery};
use bower_kernels::heap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::app::App;
use super::clock::now;
use crate::background::{Background, News};
use crate::failure::{Failure, Result};
use crate::service::PRUNE_THRESHOLD;

/// Longest time that background work waits after a request.
const EVERY: Duration = Duration::from_secs(1);
/// Time between two checks whether memories must be swept, pruned and consolidated.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// The maintenance thread; it runs until [`Maintenance::end`].
pub struct Maintenance {
    end: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the thread. `background` makes missing vectors and follows the setting `model`.
    pub fn start(app: Arc<App>, mut background: Option<Background>) -> Result<Self> {
        let (end, ended) = channel();
        let body = move || {
            maintain(&app);
            // Set even after a failure: waiting for a later try would not change the state.
            app.is_settled.store(true, Ordering::Relaxed);
            let mut looked: Option<Instant> = None;
            let mut maintained = Instant::now();
            let mut wait = EVERY;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                if maintained.elapsed() >= EVERY {
                    if looked.is_none_or(|last| last.elapsed() >= LOOK_EVERY) {
                        looked = Some(Instant::now());
                        run_maintenance(&app);
                    } else {
                        maintain(&app);
                    }
                    maintained = Instant::now();
                }
                wait = EVERY.saturating_sub(maintained.elapsed());
                if let Some(background) = &mut background {
                    wait = wait.min(work(&app, background));
                }
            }
            app.is_used.store(true, Ordering::Relaxed);
            maintain(&app);
        };
        let thread = std::thread::Builder::new().name("bower-keeper".into()).spawn(body);
        let thread = thread.map_err(|source| {
            Failure::environment(format!("cannot start a thread: {source}"), "run it again")
        })?;
        Ok(Self { end, thread: Some(thread) })
    }

    /// Ends the thread after it has stored what was used and compacted what is due.
    pub fn end(mut self) {
        self.end.send(()).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Maintains the store if a request arrived since the last time. A failure here changes nothing that was acknowledged.
fn maintain(app: &App) {
    if !app.is_used.swap(false, Ordering::Relaxed) {
        return;
    }
    match app.service.maintain(now()) {
        Ok(true) => {
            tracing::debug!(target: "bower", "wrote new changes into the indexes");
            // A compaction holds more memory for a moment than all responses together.
            heap::give_back();
        }
        Ok(false) => {}
        Err(failure) => {
            tracing::warn!(target: "bower", part = "maintain", cause = failure.line(), "maintenance failed");
        }
    }
}

/// Does a step of the work in the background, and returns how long it waits before the next.
fn work(app: &App, background: &mut Background) -> Duration {
    let stepped = background.step(&app.service, &|| app.activity(), app.began.elapsed(), now());
    if stepped.has_written {
        // New vectors are compacted like any other change.
        app.is_used.store(true, Ordering::Relaxed);
        app.has_written.notify_one();
    }
    match stepped.news {
        Some(News::Answers(model)) => tracing::info!(target: "bower", model, "another model answers"),
        Some(News::Unread(cause)) => {
            tracing::warn!(target: "bower", part = "settings", cause, "the settings cannot be read");
        }
        Some(News::Unavailable(cause)) => {
            tracing::warn!(target: "bower", part = "worker", cause, "the model makes no vectors");
        }
        None => {}
    }
    stepped.wait
}

fn run_maintenance(app: &App) {
    app.is_used.store(false, Ordering::Relaxed);
    let every = app.options.prune_every;
    let hours = every.map(|every| u32::try_from(every.as_secs() / 3_600).unwrap_or(u32::MAX).max(1));
    let prune = hours.map(|hours| PruneEvery { threshold: PRUNE_THRESHOLD, hours });
    let MaintenanceReport { swept, pruned, crowded, consolidated, settled, failed, .. } = app
        .service
        .engine()
        .run_maintenance(&MaintenanceRequest { prune, ..MaintenanceRequest::default() }, now());
    for one in &swept {
        let turned = one.promoted + one.demoted + one.raised + one.archived;
        tracing::info!(target: "bower", turned, event = one.event, ms = one.took_ms, "swept");
    }
    for one in &pruned {
        tracing::info!(target: "bower", archived = one.pruned, event = one.event, ms = one.took_ms, "pruned");
    }
    if let Some(done) = &consolidated {
        let (patterns, merged) = (done.patterns_created, done.merged);
        let crowded = crowded.len();
        tracing::info!(target: "bower", crowded, patterns, merged, ms = done.took_ms, "consolidated");
    }
    if let Some(done) =
        settled.as_ref().filter(|done| !done.events.is_empty() || done.failed + done.unread > 0)
    {
        let (replaced, confirmed, different) = (done.replaced, done.confirmed, done.different);
        let (unread, failed) = (done.unread, done.failed);
        tracing::info!(target: "bower", replaced, confirmed, different, unread, failed, "settled by the language model");
        if let Some(why) = &done.failure {
            tracing::warn!(target: "bower", cause = why.as_str(), "the language model gave no answer");
        }
    }
    for one in &failed {
        tracing::warn!(target: "bower", part = one.part, cause = one.why.as_str(), "maintenance failed");
    }
    let has_settled = settled.is_some_and(|done| !done.events.is_empty());
    if !swept.is_empty() || !pruned.is_empty() || consolidated.is_some() || has_settled {
        app.has_written.notify_one();
    }
    // Responses between compactions and this run leave free memory in the heap. Returning it takes some milliseconds
    // per minute.
    heap::give_back();
}
