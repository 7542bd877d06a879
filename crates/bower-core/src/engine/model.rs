//! Opens the local embedding model when it is first needed.
//! A missing model is a state, not an error: the text channel still works.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::config::Settings;
use crate::embed::{Classifier, DEFAULT_MODEL, Embedder, SentenceEncoder, Statements};
use crate::error::Error;
use crate::request::ModelState;

/// Value of the setting `model` for no model.
const NONE: &str = "none";

/// The local models of an engine: the one that makes vectors, and the one that classifies statements.
pub(crate) struct LocalModel {
    /// Makes the vectors.
    encoder: OneModel,
    /// Classifies statements, if the encoder has no adapter for that: the default model, if it is installed.
    classifier: Option<OneModel>,
}

/// A model that is opened when it is first needed.
struct OneModel {
    name: String,
    packed: PathBuf,
    opened: OnceLock<Result<Box<dyn Embedder>, ModelState>>,
    /// Set once a part that was read does not match its checksum.
    damaged: OnceLock<ModelState>,
    /// Why the last request to a service failed; `None` after one that succeeded.
    failed: Mutex<Option<String>>,
}

impl LocalModel {
    pub(crate) fn new(home: &Path, settings: &Settings) -> Self {
        let models = settings.models_folder.clone().unwrap_or_else(|| home.join("models"));
        let encoder = OneModel::new(&models, &settings.model);
        let has_adapter = [NONE, DEFAULT_MODEL].contains(&settings.model.as_str());
        let classifier = (!has_adapter).then(|| OneModel::new(&models, DEFAULT_MODEL));
        Self { encoder, classifier }
    }

    /// Uses an embedder of the program, in place of the packed file. A service has no adapter for statements, so the local
    /// default model goes on classifying beside it.
    pub(crate) fn given(&mut self, embedder: Box<dyn Embedder>) {
        let is_service = embedder.batch_texts().is_some();
        if !is_service {
            embedder.model().clone_into(&mut self.encoder.name);
            self.classifier = None;
        }
        self.encoder.opened = OnceLock::from(Ok(embedder));
    }

    /// Returns the embedder, or the reason why there is none.
    pub(crate) fn get(&self) -> Result<&dyn Embedder, &ModelState> {
        self.encoder.get()
    }

    /// Returns the identity of the model's token codes; `None` where there is no model, or it has no token states.
    pub(crate) fn tokens(&self) -> Option<&str> {
        self.get().ok()?.tokens()
    }

    /// Returns how many texts a request to a service should have; `None` for a model on this machine.
    pub(crate) fn batch_texts(&self) -> Option<usize> {
        self.get().ok()?.batch_texts()
    }

    /// Returns why the encoder gave no vector: there is no model, or the last request to its service failed.
    pub(crate) fn why_none(&self) -> Option<String> {
        self.encoder.why_none()
    }

    /// Remembers that a service did not embed a text, though it embedded others.
    pub(crate) fn note_failure(&self, error: &Error) {
        *lock(&self.encoder.failed) = Some(error.to_string());
    }

    /// Returns the packed file, for `doctor`; `None` for a service.
    pub(crate) fn packed(&self) -> Option<&Path> {
        self.batch_texts().is_none().then_some(&self.encoder.packed)
    }

    pub(crate) fn state(&self) -> ModelState {
        self.encoder.state()
    }

    /// Whether the model could not be opened, and its file is there now.
    pub(crate) fn can_be_reopened(&self) -> bool {
        self.encoder.name != NONE && self.encoder.get().is_err() && self.encoder.packed.exists()
    }

    /// Returns the model's result; `None` if there is no model or it failed. After a failure this process does not use the
    /// model again, and answers report the reason.
    pub(crate) fn give<T>(
        &self,
        ask: impl FnOnce(&dyn Embedder) -> crate::error::Result<T>,
    ) -> crate::error::Result<Option<T>> {
        self.encoder.give(ask)
    }

    /// Returns what is asked of the vocabulary: that of the default model, whose pieces are English words. `None` if there is
    /// none.
    pub(crate) fn with_vocabulary<T>(
        &self,
        ask: impl FnOnce(&dyn Embedder) -> crate::error::Result<T>,
    ) -> crate::error::Result<Option<T>> {
        self.classifying().give(ask)
    }

    /// Returns the embedder if it counts tokens exactly: a service's tokenizer is not known here.
    pub(crate) fn counter(&self) -> Option<&dyn Embedder> {
        self.get().ok().filter(|embedder| embedder.batch_texts().is_none())
    }

    /// Returns what classifiers say of an input. `None` if no installed model has an adapter for statements, or it failed;
    /// [`LocalModel::classifier_state`] says why.
    pub(crate) fn classify(
        &self,
        input: &Statements<'_>,
        classifiers: &[Classifier],
    ) -> crate::error::Result<Option<Vec<Vec<f32>>>> {
        Ok(self.classifying().give(|model| model.classify(input, classifiers))?.flatten())
    }

    /// Returns the state of the model that classifies statements.
    pub(crate) fn classifier_state(&self) -> ModelState {
        self.classifying().state()
    }

    fn classifying(&self) -> &OneModel {
        self.classifier.as_ref().unwrap_or(&self.encoder)
    }

    /// Computes the checksums that opened models lack. Best effort.
    pub(crate) fn add_sums(&self) {
        for model in self.classifier.iter().chain([&self.encoder]) {
            if let Some(Ok(embedder)) = model.opened.get() {
                let _ = model.give(|_| embedder.add_sums());
            }
        }
    }
}

impl OneModel {
    fn new(models: &Path, name: &str) -> Self {
        let packed = SentenceEncoder::packed_path(models, name);
        let (opened, damaged) = (OnceLock::new(), OnceLock::new());
        Self { name: name.to_owned(), packed, opened, damaged, failed: Mutex::new(None) }
    }

    fn get(&self) -> Result<&dyn Embedder, &ModelState> {
        if let Some(state) = self.damaged.get() {
            return Err(state);
        }
        self.opened.get_or_init(|| self.open()).as_ref().map(|embedder| &**embedder)
    }

    fn state(&self) -> ModelState {
        let state = |state: &str, reason| ModelState { name: self.name.clone(), state: state.into(), reason };
        match (self.get(), self.why_none()) {
            (Ok(_), None) => state("ready", None),
            (Ok(_), reason) => state("unavailable", reason),
            (Err(state), _) => state.clone(),
        }
    }

    fn why_none(&self) -> Option<String> {
        match self.get() {
            Ok(_) => lock(&self.failed).clone(),
            Err(state) => Some(state.why()),
        }
    }

    fn give<T>(
        &self,
        ask: impl FnOnce(&dyn Embedder) -> crate::error::Result<T>,
    ) -> crate::error::Result<Option<T>> {
        let Ok(embedder) = self.get() else { return Ok(None) };
        let is_service = embedder.batch_texts().is_some();
        match ask(embedder) {
            // The next request may succeed.
            Err(error @ Error::Model { .. }) if is_service => {
                *lock(&self.failed) = Some(error.to_string());
                Ok(None)
            }
            Err(Error::Model { model, reason }) => {
                let reason = Some(format!("model {model}: {reason}: run {}", self.pull()));
                self.damaged.get_or_init(|| ModelState {
                    name: self.name.clone(),
                    state: "damaged".into(),
                    reason,
                });
                Ok(None)
            }
            given => {
                if is_service && given.is_ok() {
                    *lock(&self.failed) = None;
                }
                given.map(Some)
            }
        }
    }

    /// Returns the command that installs the model.
    fn pull(&self) -> String {
        match self.name.as_str() {
            DEFAULT_MODEL => "bower model pull".into(),
            name => format!("bower model pull {name}"),
        }
    }

    fn open(&self) -> Result<Box<dyn Embedder>, ModelState> {
        let state = |state: &str, reason: String| ModelState {
            name: self.name.clone(),
            state: state.into(),
            reason: Some(reason),
        };
        if self.name == NONE {
            return Err(state("off", "no model is chosen (setting model = none)".into()));
        }
        if !self.packed.exists() {
            let reason = format!("model {} is not installed: run {}", self.name, self.pull());
            return Err(state("missing", reason));
        }
        match SentenceEncoder::open(&self.packed) {
            Ok(model) => Ok(Box::new(model)),
            Err(error) => Err(state("damaged", format!("{error}: run {}", self.pull()))),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of threads that embed at once: the settings' `threads`, or one a core.
pub(crate) fn embedder_threads(settings: &Settings) -> usize {
    match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}
