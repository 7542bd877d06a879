//! Reports the progress of a call to a client that requested it.
//! It reports about ten times a second, never backwards, and never after the response.

use bower_core::request::IndexProgress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use std::time::Duration;
use tokio::sync::watch;

/// Time between two notifications.
pub const EVERY: Duration = Duration::from_millis(100);

/// Progress of an index run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    found: usize,
    read: usize,
    chunks: usize,
    compacting: bool,
}

/// Records progress on the working thread.
pub fn take(steps: &watch::Sender<Step>, progress: &IndexProgress) {
    steps.send_modify(|step| match progress {
        IndexProgress::Found { files } | IndexProgress::Walked { files } => step.found = *files,
        IndexProgress::File { .. } => step.read += 1,
        IndexProgress::Committed { chunks } => step.chunks += chunks,
        IndexProgress::Compacting => step.compacting = true,
    });
}

/// Sender of progress notifications, on the side of the waiting call.
pub struct Teller {
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    steps: watch::Receiver<Step>,
    told: f64,
}

impl Teller {
    /// Creates the sender for a call. Without a token it sends nothing.
    pub fn new(token: Option<ProgressToken>, peer: Peer<RoleServer>) -> (Self, watch::Sender<Step>) {
        let (sender, steps) = watch::channel(Step::default());
        (Self { token, peer, steps, told: -1.0 }, sender)
    }

    /// Sends the progress if it has changed.
    pub async fn tell(&mut self) {
        let Some(token) = &self.token else { return };
        if !self.steps.has_changed().unwrap_or(true) {
            return;
        }
        let step = self.steps.borrow_and_update().clone();
        // The compaction of the indexes is the last step of the work.
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
        // If the client is gone, the transport reports that.
        let _ = self.peer.notify_progress(progress).await;
    }
}
