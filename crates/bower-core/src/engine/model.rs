//! Opens the local embedding model when it is first needed.
//! A missing model is a state, not an error: the text channel still works.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::config::Settings;
use crate::embed::{Embedder, IDENTITY, MiniLm};
use crate::error::Error;
use crate::request::ModelState;

/// Value of the setting `model` for no model.
const NONE: &str = "none";

pub(crate) struct LocalModel {
    name: String,
    packed: PathBuf,
    opened: OnceLock<Result<Box<dyn Embedder>, ModelState>>,
    /// Set once a part that was read does not match its checksum.
    damaged: OnceLock<ModelState>,
}

impl LocalModel {
    pub(crate) fn new(home: &Path, settings: &Settings) -> Self {
        let models = settings.models_folder.clone().unwrap_or_else(|| home.join("models"));
        let packed = models.join(&settings.model).join(format!("{IDENTITY}.packed"));
        Self { name: settings.model.clone(), packed, opened: OnceLock::new(), damaged: OnceLock::new() }
    }

    /// Uses an embedder of the program, in place of the packed file.
    pub(crate) fn given(&mut self, embedder: Box<dyn Embedder>) {
        embedder.model().clone_into(&mut self.name);
        self.opened = OnceLock::from(Ok(embedder));
    }

    /// Returns the embedder, or the reason why there is none.
    pub(crate) fn get(&self) -> Result<&dyn Embedder, &ModelState> {
        if let Some(state) = self.damaged.get() {
            return Err(state);
        }
        self.opened.get_or_init(|| self.open()).as_ref().map(|embedder| &**embedder)
    }

    /// Returns the identity of the model's token codes; `None` where there is no model, or it has no token states.
    pub(crate) fn tokens(&self) -> Option<&str> {
        self.get().ok()?.tokens()
    }

    /// Returns the packed file, for `doctor`.
    pub(crate) fn packed(&self) -> &Path {
        &self.packed
    }

    pub(crate) fn state(&self) -> ModelState {
        match self.get() {
            Ok(_) => ModelState { name: self.name.clone(), state: "ready".into(), reason: None },
            Err(state) => state.clone(),
        }
    }

    /// Returns the model's result; `None` if there is no model or it failed. After a failure this process does not use the
    /// model again, and answers report the reason.
    pub(crate) fn give<T>(
        &self,
        ask: impl FnOnce(&dyn Embedder) -> crate::error::Result<T>,
    ) -> crate::error::Result<Option<T>> {
        let Ok(embedder) = self.get() else { return Ok(None) };
        match ask(embedder) {
            Err(Error::Model { model, reason }) => {
                let reason = Some(format!("model {model}: {reason}: run bower model pull"));
                self.damaged.get_or_init(|| ModelState {
                    name: self.name.clone(),
                    state: "damaged".into(),
                    reason,
                });
                Ok(None)
            }
            given => given.map(Some),
        }
    }

    /// Computes the checksums that an opened model lacks. Best effort.
    pub(crate) fn add_sums(&self) {
        if let Some(Ok(embedder)) = self.opened.get() {
            let _ = self.give(|_| embedder.add_sums());
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
            let reason = format!("model {} is not installed: run bower model pull", self.name);
            return Err(state("missing", reason));
        }
        match MiniLm::open(&self.packed) {
            Ok(model) => Ok(Box::new(model)),
            Err(error) => Err(state("damaged", format!("{error}: run bower model pull"))),
        }
    }
}

/// Returns the number of threads that embed at once: the settings' `threads`, or one a core.
pub(crate) fn embedder_threads(settings: &Settings) -> usize {
    match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}
