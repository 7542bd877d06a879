//! The worker of a long-lived process: makes the vectors that rows lack, in small batches beside the answers.
//! `Machine` decides, without a clock or a store; [`Worker::step`] alone applies it. A row waits until its vector is written, so a
//! process that is killed loses nothing.

use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

use crate::embed::Embedder;
use crate::engine::Engine;
use crate::engine::index::compact::CompactionLock;
use crate::engine::index::{EmbeddedRows, embed_page};
use crate::engine::model::embedder_threads;
use crate::error::{Error, Result};
use crate::files;
use crate::item::{Change, RowId};
use crate::request::{CompactWhen, ModelState, WorkerActivity, WorkerState, WorkerStatus};
use crate::vector::{ExactQuery, halves};

/// Texts of a batch while nobody asks: a quarter of a second of one core with the default model.
const IDLE_BATCH: usize = 50;
/// Texts of a batch while somebody asks: 50 ms of one core.
const ACTIVE_BATCH: usize = 10;
/// Time between two batches, for requests that came meanwhile.
const PAUSE: Duration = Duration::from_millis(100);
/// Time that the worker gives way to requests, or waits for a model that failed.
const DEFERRAL: Duration = Duration::from_mins(1);
/// Time between two looks for rows that wait.
const LOOK: Duration = Duration::from_secs(1);
/// Time between two records of an unchanged state.
const RECORD: Duration = Duration::from_secs(1);
/// Most rows that are counted as the queue.
const MOST_COUNTED: usize = 1 << 22;
/// File in the folder of the indexes in which the worker's status is recorded, for other processes.
const RECORD_FILE: &str = "worker.json";

/// Two texts that say the same in other words, and one that says something else: a model that works finds the first two closer.
const PROBE: [&str; 3] = [
    "The ferry leaves at seven in the morning.",
    "In the morning the ferry departs at seven.",
    "Photosynthesis turns sunlight into sugar.",
];

/// What other requests do, as the caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// No request lately.
    Idle,
    /// Requests are answered.
    Active,
    /// Requests wait for their turn.
    Busy,
}

/// What is decided, and when the next decision is due.
#[derive(Clone, Debug, Default)]
struct Machine {
    state: WorkerState,
    reason: Option<String>,
    /// Nothing happens before this time.
    until: Duration,
    /// Whether it gave way since the last batch.
    deferred: bool,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Wait(Duration),
    Defer,
    Load,
    Batch(usize),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Loaded,
    Deferred,
    Embedded,
    /// Nothing waits, or another process works.
    Nothing,
    Failed(String),
}

impl Machine {
    /// Decides, from the time and what other requests do. `waits` is whether rows wait for a vector.
    fn next(&self, at: Duration, waits: bool, activity: Activity) -> Next {
        if at < self.until {
            return Next::Wait(self.until.saturating_sub(at));
        }
        if !waits {
            return Next::Wait(LOOK);
        }
        match (self.state, activity) {
            (WorkerState::Idle | WorkerState::Loading | WorkerState::Unavailable, _) => Next::Load,
            (WorkerState::Ready, Activity::Busy) if !self.deferred => Next::Defer,
            (WorkerState::Ready, Activity::Idle) => Next::Batch(IDLE_BATCH),
            // After it gave way once it works all the same: on a server that is always busy rows would wait for ever.
            (WorkerState::Ready, Activity::Active | Activity::Busy) => Next::Batch(ACTIVE_BATCH),
        }
    }

    /// Takes in what came of a decision at a time.
    fn follow(&mut self, outcome: Outcome, at: Duration) {
        match outcome {
            Outcome::Loaded => (self.state, self.reason, self.until) = (WorkerState::Ready, None, at),
            Outcome::Deferred => (self.deferred, self.until) = (true, at + DEFERRAL),
            Outcome::Embedded => (self.deferred, self.until) = (false, at + PAUSE),
            Outcome::Nothing => self.until = at + LOOK,
            Outcome::Failed(reason) => {
                (self.state, self.reason) = (WorkerState::Unavailable, Some(reason));
                self.until = at + DEFERRAL;
            }
        }
    }
}

/// Makes the vectors that rows lack, one batch a step. A caller calls [`Worker::step`] again and again, each time after the wait that
/// the last one returned.
pub struct Worker {
    machine: Machine,
    status: WorkerStatus,
    /// No row up to this one lacks a vector.
    from: RowId,
    /// Last row of the last batch: rows that a service refused are passed over until the end.
    after: RowId,
    /// Whether some of the rows before it got no vector.
    some_failed: bool,
    /// Change at which `from` was found, if earlier rows were left out.
    upto: Option<Change>,
    /// Change up to which no row waits.
    drained: Option<Change>,
    /// When the queue was last empty, and whether it was counted since.
    began: Option<Duration>,
    /// Held while rows wait: one process works on a store.
    lock: Option<CompactionLock>,
    recorded: Option<(Duration, WorkerState, WorkerActivity)>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Default for Worker {
    fn default() -> Self {
        Self::new()
    }
}

impl Worker {
    /// Creates a worker for the model that answers.
    pub fn new() -> Self {
        Self {
            machine: Machine::default(),
            status: WorkerStatus::default(),
            from: RowId(0),
            upto: None,
            after: RowId(0),
            some_failed: false,
            drained: None,
            began: None,
            lock: None,
            recorded: None,
        }
    }

    /// Creates a worker for a coming model: another one answers until all rows have a vector of it.
    pub fn coming() -> Self {
        Self { status: WorkerStatus { is_coming: true, ..WorkerStatus::default() }, ..Self::new() }
    }

    /// Does what is due, and returns how long to wait before the next step. `at` is the time since the caller began. `activity` is
    /// asked before each batch.
    pub fn step(
        &mut self,
        engine: &Engine,
        activity: &dyn Fn() -> Activity,
        at: Duration,
        now: Timestamp,
    ) -> Duration {
        if at >= self.machine.until {
            let outcome = match self.waits(engine) {
                Ok(waits) => self.apply(engine, self.machine.next(at, waits, activity()), at, now),
                Err(error) => Outcome::Failed(error.to_string()),
            };
            self.follow(outcome, at);
            self.record(engine, at, now);
        }
        // Never without a pause, whatever the clock says.
        self.machine.until.saturating_sub(at).max(Duration::from_millis(1))
    }

    /// Returns what the worker does and has done.
    pub fn status(&self) -> &WorkerStatus {
        &self.status
    }

    /// Whether all rows had a vector when the worker last looked.
    pub fn is_drained(&self) -> bool {
        self.drained.is_some()
    }

    /// Whether the model could not be opened though its file is there now, so that the caller should open it again.
    pub fn wants_reopening(&self, engine: &Engine, at: Duration) -> bool {
        self.machine.state == WorkerState::Unavailable
            && at >= self.machine.until
            && engine.model.can_be_reopened()
    }

    fn apply(&mut self, engine: &Engine, next: Next, at: Duration, now: Timestamp) -> Outcome {
        match next {
            Next::Wait(_) => {
                self.set_activity(match self.machine.state {
                    WorkerState::Unavailable => WorkerActivity::Waiting,
                    WorkerState::Idle | WorkerState::Loading | WorkerState::Ready => WorkerActivity::Idle,
                });
                Outcome::Nothing
            }
            Next::Defer => {
                self.set_activity(WorkerActivity::Deferred);
                Outcome::Deferred
            }
            Next::Load => {
                self.status.state = WorkerState::Loading;
                self.record(engine, at, now);
                load(engine).map_or_else(Outcome::Failed, |()| Outcome::Loaded)
            }
            Next::Batch(most) => {
                let done = self.batch(engine, most, at, now);
                done.unwrap_or_else(|error| Outcome::Failed(error.to_string()))
            }
        }
    }

    fn follow(&mut self, outcome: Outcome, at: Duration) {
        if let Outcome::Failed(reason) = &outcome {
            self.status.last_error = Some(reason.clone());
            self.set_activity(WorkerActivity::Waiting);
            // Another process may have what this one lacks, such as a key.
            self.lock = None;
        }
        self.machine.follow(outcome, at);
        self.status.state = self.machine.state;
        self.status.reason.clone_from(&self.machine.reason);
    }

    fn set_activity(&mut self, activity: WorkerActivity) {
        self.status.activity = activity;
    }

    /// Returns whether rows wait for a vector. After the last one they are looked for again only when the store has changed.
    fn waits(&mut self, engine: &Engine) -> Result<bool> {
        let newest = engine.store.coverage()?.change;
        if let Some(drained) = self.drained {
            // Only rows that were written since can lack a vector; looking through all of a large store would take long.
            let Some(first) = engine.store.text_rows(drained, newest)?.into_iter().min() else {
                self.drained = Some(newest);
                return Ok(false);
            };
            self.from = RowId(first.0.saturating_sub(1));
            (self.after, self.upto) = (self.from, Some(newest));
        }
        let identity = match engine.model.get() {
            Ok(embedder) => embedder.model(),
            // No model is wanted.
            Err(state) if state.state == "off" => {
                self.status.model.clone_from(&state.name);
                self.drained = Some(newest);
                return Ok(false);
            }
            // Not known before the model is there: any item waits.
            Err(state) => {
                self.status.model.clone_from(&state.name);
                ""
            }
        };
        if !identity.is_empty() {
            identity.clone_into(&mut self.status.model);
        }
        if !engine.store.unembedded(identity, self.after, 1)?.is_empty() {
            self.drained = None;
            return Ok(true);
        }
        if self.some_failed {
            // From the beginning again, after a minute: a service may take now what it refused.
            (self.after, self.some_failed) = (self.from, false);
            return Err(Error::Model {
                model: self.status.model.clone(),
                reason: self.status.last_error.clone().unwrap_or_else(|| "it refused some texts".into()),
            });
        }
        // Row numbers only grow, yet a changed row waits again.
        if self.after != self.from {
            self.after = self.from;
            return self.waits(engine);
        }
        // Earlier rows that were changed meanwhile are seen at the next look.
        self.drained = Some(self.upto.take().unwrap_or(newest));
        (self.began, self.lock, self.status.queue) = (None, None, 0);
        Ok(false)
    }

    /// Embeds a batch, unless another process does.
    fn batch(&mut self, engine: &Engine, most: usize, at: Duration, now: Timestamp) -> Result<Outcome> {
        let folder = engine.indexes.folder();
        if self.lock.is_none() {
            self.lock = CompactionLock::of_worker(folder)?;
        }
        let right =
            if self.lock.is_some() { CompactionLock::to_embed(folder, CompactWhen::Due)? } else { None };
        let Some(_right) = right else {
            self.set_activity(WorkerActivity::Elsewhere);
            return Ok(Outcome::Nothing);
        };
        let Ok(embedder) = engine.model.get() else { return Ok(Outcome::Failed(why(engine))) };
        if self.began.is_none() {
            let waiting = engine.store.unembedded(embedder.model(), RowId(0), MOST_COUNTED)?.len() as u64;
            (self.began, self.status.queue, self.status.done) = (Some(at), waiting, 0);
        }
        self.set_activity(WorkerActivity::Embedding);
        // While somebody asks, one thread leaves the other cores to the answers.
        let threads = if most == IDLE_BATCH { embedder_threads(&engine.settings) } else { 1 };
        let Some(page) = embed_page(engine, embedder, self.after, most, threads, now)? else {
            return Ok(Outcome::Failed(why(engine)));
        };
        self.note(&page, at, now);
        if page.written == 0 && page.refused > 0 {
            return Ok(Outcome::Failed(why(engine)));
        }
        Ok(Outcome::Embedded)
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate of counts below 2^52")]
    fn note(&mut self, page: &EmbeddedRows, at: Duration, now: Timestamp) {
        let EmbeddedRows { last, asked, written, refused } = *page;
        self.after = last.unwrap_or(self.after);
        self.some_failed |= refused > 0;
        let status = &mut self.status;
        let (asked, written) = (asked as u64, written as u64);
        status.batches += 1;
        status.written += written;
        status.done += written;
        status.failed += refused as u64;
        status.queue = status.queue.saturating_sub(written);
        status.last_batch = asked;
        status.largest_batch = status.largest_batch.max(asked);
        status.last_time = Some(now);
        let seconds = at.saturating_sub(self.began.unwrap_or(at)).as_secs_f64();
        status.rate = (seconds > 0.0).then(|| status.done as f64 / seconds);
    }

    /// Records the status for other processes: when it changed, and now and then. Best effort.
    fn record(&mut self, engine: &Engine, at: Duration, now: Timestamp) {
        (self.status.process, self.status.time) = (std::process::id(), now);
        let is_new = self.recorded.is_none_or(|(last, state, activity)| {
            (state, activity) != (self.status.state, self.status.activity)
                || self.status.activity == WorkerActivity::Embedding && at >= last + RECORD
                || at >= last + DEFERRAL
        });
        // A worker that never had anything to do leaves no trace.
        if !is_new || (self.recorded.is_none() && self.status.state == WorkerState::Idle) {
            return;
        }
        self.recorded = Some((at, self.status.state, self.status.activity));
        if let Ok(text) = serde_json::to_vec(&self.status) {
            let (file, aside) = (record_file(engine), engine.indexes.folder().join("worker.json.new"));
            let _ = files::create_folder(engine.indexes.folder())
                .and_then(|()| files::write(&aside, &text))
                .and_then(|()| std::fs::rename(&aside, &file));
        }
    }
}

fn why(engine: &Engine) -> String {
    engine.model.why_none().unwrap_or_else(|| "the model gives no vector".to_owned())
}

/// Opens the model and probes it; the error says why it makes no vectors.
fn load(engine: &Engine) -> std::result::Result<(), String> {
    let embedder = engine.model.get().map_err(ModelState::why)?;
    let models = engine.store.vector_models().map_err(|error| error.to_string())?;
    if embedder.batch_texts().is_some() && !models.iter().any(|(name, _)| name == embedder.model()) {
        return Err(format!(
            "no text of this store was sent to {} yet: bower model use says what that costs, and does it",
            embedder.model()
        ));
    }
    let probed = engine.model.give(probe).map_err(|error| error.to_string())?;
    probed.ok_or_else(|| why(engine))
}

/// Checks that a model finds two paraphrases closer than a stranger, in vectors of its dimension.
pub(crate) fn probe(embedder: &dyn Embedder) -> Result<()> {
    let made = embedder.embed_texts(&PROBE).into_iter().collect::<Result<Vec<_>>>()?;
    let failed = |reason: String| Error::Model { model: embedder.model().to_owned(), reason };
    let [one, same, stranger] = made.as_slice() else {
        return Err(failed(format!("it made {} vectors of {} texts", made.len(), PROBE.len())));
    };
    for text in &made {
        if text.vector.len() != embedder.dimension() {
            let (found, known) = (text.vector.len(), embedder.dimension());
            return Err(failed(format!("it made a vector of {found} numbers, not {known}")));
        }
    }
    let query = ExactQuery::new(&one.vector);
    let [near, far] = [same, stranger].map(|text| query.cosine_f16(&halves(&text.vector)));
    if near > far {
        return Ok(());
    }
    Err(failed(format!("its vectors say nothing: two paraphrases have cosine {near:.2}, strangers {far:.2}")))
}

fn record_file(engine: &Engine) -> PathBuf {
    engine.indexes.folder().join(RECORD_FILE)
}

/// Returns what the last worker recorded; `None` if there was none, or its record cannot be read.
pub(crate) fn worker_status(engine: &Engine) -> Option<WorkerStatus> {
    serde_json::from_slice(&std::fs::read(record_file(engine)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ready() -> Machine {
        let mut machine = Machine::default();
        machine.follow(Outcome::Loaded, seconds(5));
        machine
    }

    #[test]
    fn the_model_is_loaded_once_rows_wait_and_again_a_minute_after_it_failed() {
        let mut machine = Machine::default();
        assert_eq!(machine.next(seconds(0), false, Activity::Idle), Next::Wait(LOOK));
        assert_eq!(machine.next(seconds(1), true, Activity::Busy), Next::Load);
        machine.follow(Outcome::Failed("it is not installed".into()), seconds(1));
        assert_eq!(machine.state, WorkerState::Unavailable);
        assert_eq!(machine.reason.as_deref(), Some("it is not installed"));
        assert_eq!(machine.next(seconds(2), true, Activity::Idle), Next::Wait(seconds(59)));
        assert_eq!(machine.next(seconds(61), true, Activity::Idle), Next::Load);
        machine.follow(Outcome::Loaded, seconds(61));
        assert_eq!((machine.state, machine.reason.clone()), (WorkerState::Ready, None));
        assert_eq!(machine.next(seconds(61), true, Activity::Idle), Next::Batch(50));
    }

    #[test]
    fn a_batch_is_small_while_somebody_asks_and_a_pause_follows_each() {
        let mut machine = ready();
        assert_eq!(machine.next(seconds(5), true, Activity::Active), Next::Batch(10));
        machine.follow(Outcome::Embedded, seconds(5));
        let soon = seconds(5) + Duration::from_millis(40);
        assert_eq!(machine.next(soon, true, Activity::Idle), Next::Wait(Duration::from_millis(60)));
        let later = seconds(5) + Duration::from_millis(100);
        assert_eq!(machine.next(later, true, Activity::Idle), Next::Batch(50));
    }

    #[test]
    fn it_gives_way_to_requests_that_wait_for_a_minute_and_then_does_one_batch() {
        let mut machine = ready();
        assert_eq!(machine.next(seconds(5), true, Activity::Busy), Next::Defer);
        machine.follow(Outcome::Deferred, seconds(5));
        assert_eq!(machine.next(seconds(64), true, Activity::Idle), Next::Wait(seconds(1)));
        assert_eq!(machine.next(seconds(65), true, Activity::Busy), Next::Batch(10));
        machine.follow(Outcome::Embedded, seconds(65));
        assert_eq!(machine.next(seconds(66), true, Activity::Busy), Next::Defer);
    }

    #[test]
    fn nothing_to_do_is_looked_for_each_second() {
        let mut machine = ready();
        machine.follow(Outcome::Nothing, seconds(7));
        assert_eq!(machine.next(seconds(7), true, Activity::Idle), Next::Wait(LOOK));
        assert_eq!(machine.next(seconds(8), false, Activity::Idle), Next::Wait(LOOK));
    }
}
