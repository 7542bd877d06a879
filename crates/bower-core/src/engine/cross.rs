//! Opens the local cross-encoder when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::config::Settings;
use crate::embed::{CROSS_PACKED, CrossEncoder};

/// The cross-encoder, opened when it is first needed.
pub(crate) struct LocalCross {
    name: String,
    packed: PathBuf,
    tokens: usize,
    opened: OnceLock<Result<CrossEncoder, String>>,
}

impl LocalCross {
    pub(crate) fn new(home: &Path, settings: &Settings) -> Self {
        let models = settings.models_folder.clone().unwrap_or_else(|| home.join("models"));
        // The folder is named after the last part of `owner/name`.
        let name = settings.rerank_model.rsplit('/').next().unwrap_or_default().to_owned();
        let (packed, tokens) = (models.join(&name).join(CROSS_PACKED), settings.rerank_tokens);
        Self { name, packed, tokens, opened: OnceLock::new() }
    }

    /// Returns the model, or the reason why there is none.
    pub(crate) fn get(&self) -> Result<&CrossEncoder, &str> {
        self.opened.get_or_init(|| self.open()).as_ref().map_err(String::as_str)
    }

    fn open(&self) -> Result<CrossEncoder, String> {
        let name = &self.name;
        if !self.packed.exists() {
            return Err(format!("model {name} is not installed: run bower model pull cross-encoder/{name}"));
        }
        match CrossEncoder::open(name, &self.packed) {
            Ok(model) => Ok(model.reading_at_most(self.tokens)),
            Err(error) => Err(format!("{error}: run bower model pull cross-encoder/{name}")),
        }
    }
}
