//! Runs calls on threads that may block, over a store that is opened when it is first needed.
//! If the store cannot be opened, that fails one call and never the server; a later call tries again.

use bower_core::engine::Activity;
use jiff::Timestamp;
use rmcp::ErrorData;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::background::Background;
use crate::failure::{Failure, Result};
use crate::service::{Refused, Served, Service};

/// Maximum number of calls that run at once; others wait. A query uses two threads for some milliseconds, and an index
/// run uses every core. So more calls at once would only slow all of them down.
const SEATS: usize = 8;
/// Pause before maintenance, so that the caller's next call goes first.
const PAUSE: Duration = Duration::from_millis(150);
/// Pause before the store is looked at for work in the background.
const BEFORE_BACKGROUND: Duration = Duration::from_secs(1);
/// Time limit for the last compaction before the process ends. Acknowledged changes are kept either way.
const LAST: Duration = Duration::from_secs(3);

/// Function that opens the store.
type Open = dyn Fn() -> Result<Service> + Send + Sync;

/// A store and the limit of the threads that work on it.
pub struct Workers {
    store: Store,
    seats: Arc<Semaphore>,
    due: Notify,
}

/// Source of the store.
enum Store {
    /// The store is open and stays open.
    Open(Arc<Service>),
    /// The first call opens the store. It is opened again when another file has replaced it.
    Lazy { file: PathBuf, open: Box<Open>, opened: Mutex<Option<Opened>> },
}

struct Opened {
    service: Arc<Service>,
    mark: Option<Mark>,
}

/// Device and inode of a file, which tell it from another of the same name.
type Mark = (u64, u64);

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// Creates workers for a store that the first call opens. `file` is its path.
    pub fn lazy(file: PathBuf, open: impl Fn() -> Result<Service> + Send + Sync + 'static) -> Self {
        Self::new(Store::Lazy { file, open: Box::new(open), opened: Mutex::default() })
    }

    /// Creates workers for an open store.
    pub fn of(service: Arc<Service>) -> Self {
        Self::new(Store::Open(service))
    }

    fn new(store: Store) -> Self {
        Self { store, seats: Arc::new(Semaphore::new(SEATS)), due: Notify::new() }
    }

    /// Returns the store. Blocks while it is opened; concurrent callers wait for the same opening.
    ///
    /// If its file was deleted or replaced, the open store is closed and opened again: writes to the old file would be
    /// lost.
    fn service(&self) -> Result<Arc<Service>> {
        let (file, open, opened) = match &self.store {
            Store::Open(service) => return Ok(Arc::clone(service)),
            Store::Lazy { file, open, opened } => (file, open, opened),
        };
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = opened.as_ref().filter(|open| mark(file) == open.mark) {
            return Ok(Arc::clone(&open.service));
        }
        *opened = None;
        let service = Arc::new(open()?);
        *opened = Some(Opened { service: Arc::clone(&service), mark: mark(file) });
        Ok(service)
    }

    /// Returns the store if it is open.
    fn opened(&self) -> Option<Arc<Service>> {
        match &self.store {
            Store::Open(service) => Some(Arc::clone(service)),
            Store::Lazy { opened, .. } => {
                let opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                opened.as_ref().map(|open| Arc::clone(&open.service))
            }
        }
    }

    /// Waits until a call has worked, after which maintenance may be due.
    pub async fn worked(&self) {
        self.due.notified().await;
    }

    /// Runs a job on a thread that may block, as soon as a permit is free.
    ///
    /// A cancelled call returns at once; its thread ends when the job notices. A panic fails only this call.
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        cancelled: &CancellationToken,
        job: impl FnOnce(&Service) -> Served<T> + Send + 'static,
    ) -> std::result::Result<Served<T>, ErrorData> {
        let gone = || ErrorData::internal_error("the call was cancelled", None);
        let seat = tokio::select! {
            seat = Arc::clone(&self.seats).acquire_owned() => seat.map_err(|_| gone())?,
            () = cancelled.cancelled() => return Err(gone()),
        };
        let workers = Arc::clone(self);
        let mut thread = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            let served = workers.service().map_err(Refused::from).and_then(|service| job(&service));
            workers.due.notify_one();
            served
        });
        tokio::select! {
            ended = &mut thread => Ok(ended.unwrap_or_else(|panic| Err(Failure::internal(told(panic)).into()))),
            () = cancelled.cancelled() => Err(gone()),
        }
    }

    /// Runs maintenance after calls, until the runtime ends. `tell` receives failures.
    pub async fn run_maintenance(self: Arc<Self>, tell: impl Fn(&str) + Send + Sync + 'static) {
        let tell = Arc::new(tell);
        loop {
            self.worked().await;
            tokio::time::sleep(PAUSE).await;
            self.tidy(&tell).await;
        }
    }

    /// Makes missing vectors and follows the setting `model`, until the runtime ends.
    pub async fn run_background(self: Arc<Self>, background: Background, tell: impl Fn(&str) + Send + Sync) {
        let began = Instant::now();
        let mut background = Some(background);
        let mut wait = BEFORE_BACKGROUND;
        loop {
            tokio::time::sleep(wait).await;
            let workers = Arc::clone(&self);
            let Some(mut at_work) = background.take() else { return };
            let stepped = tokio::task::spawn_blocking(move || {
                // Before the first call nothing is opened.
                let stepped = workers.opened().map(|service| {
                    let activity = || workers.activity();
                    at_work.step(&service, &activity, began.elapsed(), Timestamp::now())
                });
                (at_work, stepped)
            });
            let Ok((rest, stepped)) = stepped.await else { return };
            background = Some(rest);
            wait = stepped.as_ref().map_or(BEFORE_BACKGROUND, |stepped| stepped.wait);
            if let Some(stepped) = stepped {
                if stepped.has_written {
                    self.due.notify_one();
                }
                if let Some(news) = stepped.news {
                    tell(&news.to_string());
                }
            }
        }
    }

    /// Returns what calls do, for work that gives way to them.
    fn activity(&self) -> Activity {
        match self.seats.available_permits() {
            0 => Activity::Busy,
            SEATS => Activity::Idle,
            _ => Activity::Active,
        }
    }

    /// Runs maintenance a last time.
    pub async fn close(self: &Arc<Self>, tell: impl Fn(&str) + Send + Sync + 'static) {
        if tokio::time::timeout(LAST, self.tidy(&Arc::new(tell))).await.is_err() {
            tracing::debug!("the last compaction was left to the next process");
        }
    }

    async fn tidy(self: &Arc<Self>, tell: &Arc<impl Fn(&str) + Send + Sync + 'static>) {
        let workers = Arc::clone(self);
        let tidied = tokio::task::spawn_blocking(move || {
            workers.opened().map_or(Ok(false), |service| service.maintain(Timestamp::now()))
        });
        match tidied.await {
            Ok(Ok(_)) => {}
            Ok(Err(failure)) => {
                tell(&format!("could not write new changes into the indexes: {}", failure.line()));
            }
            Err(panic) => tell(&format!("could not write new changes into the indexes: {}", told(panic))),
        }
    }
}

#[cfg(test)]
impl Workers {
    /// Waits until no call is running.
    pub async fn idle(&self) {
        let seats = self.seats.acquire_many(SEATS as u32).await;
        drop(seats.expect("nobody closes the seats"));
    }
}

/// Returns the message of a panic.
fn told(panic: tokio::task::JoinError) -> String {
    match panic.try_into_panic() {
        Ok(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => payload.downcast_ref::<&str>().map_or("a panic", |text| text).to_string(),
        },
        Err(_) => "the work was taken off its thread".into(),
    }
}

#[cfg(unix)]
fn mark(file: &Path) -> Option<Mark> {
    use std::os::unix::fs::MetadataExt;
    let facts = std::fs::metadata(file).ok()?;
    Some((facts.dev(), facts.ino()))
}

/// On other systems an open file can be neither deleted nor replaced.
#[cfg(not(unix))]
fn mark(_: &Path) -> Option<Mark> {
    None
}
