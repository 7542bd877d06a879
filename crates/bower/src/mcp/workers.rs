//! Runs calls on threads that may wait for a disk, over a store that is opened when it is first needed.
//! A store that could not be opened is tried again by a later call. It fails one call, never the server.

use jiff::Timestamp;
use rmcp::ErrorData;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Result};
use crate::service::{Refused, Served, Service};

/// Calls that work at a time; the others wait for their turn. A question takes two threads for some milliseconds, and an index
/// run every core, so that more would only make all of them slower.
const SEATS: usize = 8;
/// After an answer, what else the same caller asks goes first.
const PAUSE: Duration = Duration::from_millis(150);
/// The last compaction of a process that is about to end takes this long at most: what was acknowledged is kept either way.
const LAST: Duration = Duration::from_secs(3);

/// Opens the store.
type Open = dyn Fn() -> Result<Service> + Send + Sync;

/// A store and the threads that work on it.
pub struct Workers {
    store: Store,
    seats: Arc<Semaphore>,
    due: Notify,
}

/// Where the store comes from.
enum Store {
    /// It is open, and stays so.
    Open(Arc<Service>),
    /// It is opened by the first call, and again where another file stands in its place.
    Lazy { file: PathBuf, open: Box<Open>, opened: Mutex<Option<Opened>> },
}

struct Opened {
    service: Arc<Service>,
    mark: Option<Mark>,
}

/// What tells one file from another of the same name.
type Mark = (u64, u64);

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

impl Workers {
    /// For a store that is opened by the first call. `file` is where it is.
    pub fn lazy(file: PathBuf, open: impl Fn() -> Result<Service> + Send + Sync + 'static) -> Self {
        Self::new(Store::Lazy { file, open: Box::new(open), opened: Mutex::default() })
    }

    /// For a store that is open.
    pub fn of(service: Arc<Service>) -> Self {
        Self::new(Store::Open(service))
    }

    fn new(store: Store) -> Self {
        Self { store, seats: Arc::new(Semaphore::new(SEATS)), due: Notify::new() }
    }

    /// The store. Blocks while it is opened; who asks meanwhile waits for the same.
    ///
    /// Where the file was deleted or another was put in its place, what was open is let go of: writes to it would be lost.
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

    /// The store, where it is open.
    fn opened(&self) -> Option<Arc<Service>> {
        match &self.store {
            Store::Open(service) => Some(Arc::clone(service)),
            Store::Lazy { opened, .. } => {
                let opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                opened.as_ref().map(|open| Arc::clone(&open.service))
            }
        }
    }

    /// Waits until work was done: whoever looks after the store may have something to do.
    pub async fn worked(&self) {
        self.due.notified().await;
    }

    /// Does a piece of work on a thread that may block, as soon as there is a seat.
    ///
    /// A cancelled call ends at once; its thread ends when the work notices. A panic is a failure of this one call.
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

    /// Does after answers what they did not wait for, until the runtime ends. `tell` is told what failed.
    pub async fn run_maintenance(self: Arc<Self>, tell: impl Fn(&str) + Send + Sync + 'static) {
        let tell = Arc::new(tell);
        loop {
            self.worked().await;
            tokio::time::sleep(PAUSE).await;
            self.tidy(&tell).await;
        }
    }

    /// The same for the last time.
    pub async fn close(self: &Arc<Self>, tell: impl Fn(&str) + Send + Sync + 'static) {
        if tokio::time::timeout(LAST, self.tidy(&Arc::new(tell))).await.is_err() {
            tracing::debug!("the last folding was left to the next process");
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
    /// Waits until no call is at work.
    pub async fn idle(&self) {
        let seats = self.seats.acquire_many(SEATS as u32).await;
        drop(seats.expect("nobody closes the seats"));
    }
}

/// A panic's message.
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

/// Elsewhere an open file can be neither deleted nor replaced.
#[cfg(not(unix))]
fn mark(_: &Path) -> Option<Mark> {
    None
}
