//! Reports the progress of a call to a client that asked to be told.
//! It tells some ten times a second, never backwards, and never after the answer.

use bower_core::request::IndexProgress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use std::time::Duration;
use tokio::sync::watch;

/// Between two notifications.
pub const EVERY: Duration = Duration::from_millis(100);

/// How far an index run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    found: usize,
    read: usize,
    chunks: usize,
    compacting: bool,
}

/// The working thread's end.
pub fn take(steps: &watch::Sender<Step>, progress: &IndexProgress) {
    steps.send_modify(|step| match progress {
        IndexProgress::Found { files } | IndexProgress::Walked { files } => step.found = *files,
        IndexProgress::File { .. } => step.read += 1,
        IndexProgress::Committed { chunks } => step.chunks += chunks,
        IndexProgress::Compacting => step.compacting = true,
    });
}

/// The waiting call's end.
pub struct Teller {
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    steps: watch::Receiver<Step>,
    told: f64,
}

impl Teller {
    /// For a call. Without a token nothing is told.
    pub fn new(token: Option<ProgressToken>, peer: Peer<RoleServer>) -> (Self, watch::Sender<Step>) {
        let (sender, steps) = watch::channel(Step::default());
        (Self { token, peer, steps, told: -1.0 }, sender)
    }

    /// Tells what is new, if anything is.
    pub async fn tell(&mut self) {
        let Some(token) = &self.token else { return };
        if !self.steps.has_changed().unwrap_or(true) {
            return;
        }
        let step = self.steps.borrow_and_update().clone();
        // Bringing the indexes up to date is the last piece of the work.
        let (done, total) = ((step.read + usize::from(step.compacting)) as f64, (step.found + 1) as f64);
        if done <= self.told {
            return;
        }
        self.told = done;
        let message = if step.compacting {
            format!("bringing the indexes up to date, {} chunks written", step.chunks)
        } else {
            format!("{} of {} files, {} chunks written", step.read, step.found, step.chunks)
        };
        let progress =
            ProgressNotificationParam::new(token.clone(), done).with_total(total).with_message(message);
        // Whoever does not listen any more is told by the transport.
        let _ = self.peer.notify_progress(progress).await;
    }
}
