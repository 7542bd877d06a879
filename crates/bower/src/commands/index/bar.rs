//! Indexes files and shows the progress on standard error.
//! A terminal shows a bar; otherwise nothing is shown.

use bower_core::request::{IndexProgress, IndexReport};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::commands::{Session, now};
use crate::failure::Result;
use crate::service::{Bounds, IndexBody, Service};

/// Indexes all paths once, with a progress bar on a terminal.
pub fn once(service: &Service, body: &IndexBody, session: &Session) -> Result<IndexReport> {
    let progress = Progress::new(session);
    let ended = service.index(body, &Bounds::local(), now(), &|step| progress.take(&step), &|| true);
    progress.bar.finish_and_clear();
    Ok(ended?)
}

/// Adds vectors to the `waiting` items that have none of the present model, with the same bar. Returns their number.
pub fn embed(service: &Service, waiting: u64, session: &Session) -> Result<usize> {
    with_bar(waiting, session, |progress| Ok(service.engine().embed_pending(now(), progress)?))
}

/// Runs what adds vectors to `waiting` items, with the same bar.
pub fn with_bar<T>(
    waiting: u64,
    session: &Session,
    run: impl FnOnce(&(dyn Fn(IndexProgress) + Sync)) -> Result<T>,
) -> Result<T> {
    let progress = Progress::new(session);
    progress.bar.set_length(waiting);
    progress.bar.set_message("vectors for what is stored already");
    let ended = run(&|step| match step {
        IndexProgress::Committed { chunks } => {
            progress.bar.inc(chunks as u64);
            progress.tell("vectors for what is stored already");
        }
        IndexProgress::Found { .. }
        | IndexProgress::Walked { .. }
        | IndexProgress::File { .. }
        | IndexProgress::Compacting => {}
    });
    progress.bar.finish_and_clear();
    ended
}

/// Counts steps from any thread and shows them. The bar counts chunks, because they take the time. Their total is exact once
/// every file is read; before that, it is estimated from the files read so far.
struct Progress {
    bar: ProgressBar,
    files: AtomicU64,
    read: AtomicU64,
    queued: AtomicU64,
    committed: AtomicU64,
}

impl Progress {
    fn new(session: &Session) -> Self {
        let bar = if session.out.quiet || !std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            let bar = ProgressBar::new(0);
            let template = "{bar:24.green/dim} {percent:>3}% {msg}";
            bar.set_style(
                ProgressStyle::with_template(template)
                    .expect("the template is a constant that a test draws")
                    .progress_chars("━╸─"),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        };
        Self {
            bar,
            files: AtomicU64::new(0),
            read: AtomicU64::new(0),
            queued: AtomicU64::new(0),
            committed: AtomicU64::new(0),
        }
    }

    fn take(&self, step: &IndexProgress) {
        match step {
            IndexProgress::Found { files } | IndexProgress::Walked { files } => {
                self.files.store(*files as u64, Ordering::Relaxed);
            }
            IndexProgress::File { chunks } => {
                self.read.fetch_add(1, Ordering::Relaxed);
                self.queued.fetch_add(*chunks as u64, Ordering::Relaxed);
            }
            IndexProgress::Committed { chunks } => {
                self.committed.fetch_add(*chunks as u64, Ordering::Relaxed);
            }
            IndexProgress::Compacting => {
                self.bar.set_message("bringing the indexes up to date");
                return;
            }
        }
        let [files, read, queued, committed] = [&self.files, &self.read, &self.queued, &self.committed]
            .map(|count| count.load(Ordering::Relaxed));
        self.bar.set_length(expected_chunks(files, read, queued));
        self.bar.set_position(committed);
        self.tell(&format!("{read} of {files} files, {committed} chunks"));
    }

    /// Shows the done work, its rate and, if known, the remaining time.
    fn tell(&self, done: &str) {
        let left = match self.bar.eta().as_secs() {
            0 => String::new(),
            seconds @ 1..60 => format!(", {seconds} s left"),
            seconds => format!(", {} min left", seconds.div_ceil(60)),
        };
        let rate = self.bar.per_sec();
        self.bar.set_message(format!("{done}, {rate:.0} a second{left}"));
    }
}

/// Estimates the total number of chunks: the remaining files are assumed to be like those that were read.
fn expected_chunks(files: u64, read: u64, queued: u64) -> u64 {
    let left = files.saturating_sub(read);
    queued + (queued * left).checked_div(read).unwrap_or(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_ends_at_what_was_queued() {
        assert_eq!(expected_chunks(0, 0, 0), 0);
        assert_eq!(expected_chunks(10, 0, 0), 10);
        assert_eq!(expected_chunks(10, 5, 20), 40);
        assert_eq!(expected_chunks(10, 10, 33), 33);
        assert_eq!(
            expected_chunks(10, 11, 33),
            33,
            "a file that was named and found counts twice in no case"
        );
    }
}
