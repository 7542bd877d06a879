//! Works beside a process's answers: makes missing vectors, and follows the setting `model`.
//! Another model answers only once every row has its vector; until then the one before answers alone.

use bower_core::Engine;
use bower_core::config::Settings;
use bower_core::engine::{Activity, Worker};
use bower_core::request::{CompactWhen, WorkerState};
use jiff::Timestamp;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::failure::Result;
use crate::remote;
use crate::service::Service;

/// Time between two looks at the settings file.
const LOOK: Duration = Duration::from_secs(1);

/// Reads the settings anew.
type Read = dyn Fn() -> Result<Settings> + Send;

/// The work of one process in the background.
pub struct Background {
    file: PathBuf,
    read: Box<Read>,
    /// State of the settings file when it was read, and when it was last looked at.
    seen: Option<FileState>,
    looked: Option<Duration>,
    worker: Worker,
    /// Makes the vectors of the local model that stands in for a service.
    aside: Worker,
    coming: Option<Coming>,
    /// Why the model made no vectors in the last step.
    told: Option<String>,
}

/// A model that will answer once every row has its vector.
struct Coming {
    engine: Arc<Engine>,
    worker: Worker,
}

/// Size and time of a file; of a missing file, neither.
type FileState = Option<(u64, Option<SystemTime>)>;

/// What came of a step.
#[derive(Debug)]
pub struct Stepped {
    /// How long to wait before the next step.
    pub wait: Duration,
    /// Whether vectors were written.
    pub has_written: bool,
    /// Whether no row waits for a vector.
    pub is_drained: bool,
    /// What a person may want to know.
    pub news: Option<News>,
}

/// What a person may want to know of the work in the background.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// Another model answers now.
    Answers(String),
    /// The settings cannot be read; those of before stay in force.
    Unread(String),
    /// The model makes no vectors.
    Unavailable(String),
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers(model) => write!(f, "{model} answers questions now"),
            Self::Unread(why) => write!(f, "the settings cannot be read, those of before stay: {why}"),
            Self::Unavailable(why) => write!(f, "missing vectors are not made: {why}"),
        }
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Background {
    /// Creates the work of a process. `read` returns the settings anew when their `file` has changed.
    pub fn new(file: PathBuf, read: impl Fn() -> Result<Settings> + Send + 'static) -> Self {
        Self {
            file,
            read: Box::new(read),
            seen: None,
            looked: None,
            worker: Worker::new(),
            aside: Worker::new(),
            coming: None,
            told: None,
        }
    }

    /// Does what is due: follows the settings, or embeds a batch of rows. `at` is the time since the process began.
    pub fn step(
        &mut self,
        service: &Service,
        activity: &dyn Fn() -> Activity,
        at: Duration,
        now: Timestamp,
    ) -> Stepped {
        let mut news = self.follow(service, at).err().map(|failure| News::Unread(failure.line()));
        let answering = service.engine();
        // The store may have been opened anew since: its file was replaced.
        self.coming = self.coming.take().filter(|coming| coming.engine.shares_store(&answering));
        let (engine, worker) = match &mut self.coming {
            Some(coming) => {
                if coming.worker.wants_reopening(&coming.engine, at) {
                    coming.engine = beside(&answering, &coming.engine.settings().clone());
                }
                (Arc::clone(&coming.engine), &mut coming.worker)
            }
            None if self.worker.wants_reopening(&answering, at) => {
                let engine = beside(&answering, answering.settings());
                service.answer_by(Arc::clone(&engine));
                (engine, &mut self.worker)
            }
            None => (answering, &mut self.worker),
        };
        let before = worker.status().written;
        let wait = worker.step(&engine, activity, at, now);
        let status = worker.status();
        let (has_written, is_drained) = (status.written > before, worker.is_drained());
        let reason = status.reason.clone().filter(|_| status.state == WorkerState::Unavailable);
        if reason != self.told {
            self.told.clone_from(&reason);
            news = news.or(reason.map(News::Unavailable));
        }
        if is_drained && self.coming.take().is_some() {
            // Its index is made and its files are opened before anybody waits for them. A failure here fails no answer.
            let _ = engine.compact(CompactWhen::Due);
            let _ = engine.unusable_indexes();
            news = Some(News::Answers(engine.settings().model.clone()));
            service.answer_by(engine);
            self.worker = Worker::new();
            self.aside = Worker::new();
        } else if is_drained && let Some(stand_in) = engine.stand_in() {
            let wait = wait.min(self.aside.step(stand_in, activity, at, now));
            return Stepped { wait: wait.min(LOOK), has_written, is_drained, news };
        }
        Stepped { wait: wait.min(LOOK), has_written, is_drained, news }
    }

    /// Reads the settings if their file has changed. If they name another model, it becomes the coming one.
    fn follow(&mut self, service: &Service, at: Duration) -> Result<()> {
        if self.looked.is_some_and(|last| at < last + LOOK) {
            return Ok(());
        }
        self.looked = Some(at);
        let state = state(&self.file);
        if self.seen.replace(state) == Some(state) {
            return Ok(());
        }
        let wanted = (self.read)()?;
        let answering = service.engine();
        if same_model(answering.settings(), &wanted) {
            self.coming = None;
        } else if !self.coming.as_ref().is_some_and(|coming| same_model(coming.engine.settings(), &wanted)) {
            let engine = beside(&answering, &wanted);
            self.coming = Some(Coming { engine, worker: Worker::coming() });
        }
        Ok(())
    }
}

/// Returns an engine on the same store, with the model that settings name.
fn beside(engine: &Engine, settings: &Settings) -> Arc<Engine> {
    let beside = engine.beside(settings);
    Arc::new(match remote::chosen(settings, |variable| std::env::var(variable).ok()) {
        Some(remote) => beside.with_embedder(Box::new(remote)).with_stand_in(),
        None => beside,
    })
}

/// Whether two settings name the same model, at the same place.
fn same_model(one: &Settings, other: &Settings) -> bool {
    let of = |settings: &Settings| {
        // The other settings are for services.
        if remote::named(&settings.model).is_none() {
            let settings = Settings { model: settings.model.clone(), ..Settings::default() };
            return of_model(&settings);
        }
        of_model(settings)
    };
    of(one) == of(other)
}

/// What settings say of the model.
fn of_model(settings: &Settings) -> impl PartialEq + use<> {
    (
        settings.model.clone(),
        settings.model_url.clone(),
        settings.model_dimensions,
        (settings.model_key_command.clone(), settings.model_key_file.clone()),
        (settings.model_key_variable.clone(), settings.model_key_host.clone()),
    )
}

fn state(file: &Path) -> FileState {
    let found = std::fs::metadata(file).ok()?;
    Some((found.len(), found.modified().ok()))
}

#[cfg(test)]
mod tests;
