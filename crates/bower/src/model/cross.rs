//! Fetches cross-encoders by the name of their repository at the hub, `owner/name`.
//! Their checksums are not known in advance: those of the first fetch are recorded, and files are compared with the record from
//! then on.
//!
//! ```text
//! models/ms-marco-MiniLM-L6-v2/
//!   config.json  vocab.txt  model.safetensors   as published
//!   origin.json                                 the repository, and each file's length and SHA-256
//!   cross.i8-1.packed                           what the engine maps
//! ```

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use bower_core::files::{create_folder, write};
use bower_core::model::{CROSS_ARITHMETIC, CROSS_FILES, CROSS_PACKED, CrossEncoder, pack_cross};
use bower_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::files::{self, lock};
use super::hub;
use super::known::KnownFile;
use super::told::{
    FetchError, Fetched, FileState, FileStatus, InstallState, Listed, PullStep, Pulled, Source, Status,
};

/// File name of the record of a fetch.
const ORIGIN: &str = "origin.json";
/// Licence text: it is not known here, but stated on the model's page.
const LICENCE: &str = "see the model's page";

/// Record of a fetch: the repository and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// Owner and name at the hub.
    repository: String,
    files: Vec<OriginFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OriginFile {
    file: String,
    bytes: u64,
    sha256: String,
}

/// A cross-encoder with its folder.
struct Place<'a> {
    repository: &'a str,
    name: &'a str,
    folder: PathBuf,
    packed: PathBuf,
}

/// Whether a name has the form of a repository: `owner/name`.
pub(super) fn is_repository(name: &str) -> bool {
    let good = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(known)
    };
    name.split_once('/').is_some_and(|(owner, name)| good(owner) && good(name))
}

/// Installs a repository, like [`super::pull`].
pub(super) fn pull(
    models_dir: &Path,
    repository: &str,
    source: &Source,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<Pulled> {
    let place = Place::new(models_dir, repository);
    let folder = &place.folder;
    create_folder(folder).map_err(|cause| Error::io("create the folder", folder, cause))?;
    let _lock = lock(&folder.join(".lock"), report)?;
    let origin = Origin::load(folder)?;
    if let Some(origin) = &origin
        && origin.repository != repository
    {
        let reason = format!("{} holds {}: move it away first", folder.display(), origin.repository);
        return Err(place.error(reason));
    }
    let mut pulled = Pulled::nothing(place.name, CROSS_ARITHMETIC, folder, &place.packed);
    let missing: Vec<&'static str> = match &origin {
        None => CROSS_FILES.to_vec(),
        Some(origin) => origin.missing(folder)?,
    };
    if missing.is_empty() && place.verify().is_ok() {
        return Ok(pulled);
    }
    if !missing.is_empty() {
        let (words, name) = match source {
            Source::Auto { base_url, .. } | Source::Hub { base_url } => (base_url.clone(), "hub"),
            Source::Folder(from) => (from.display().to_string(), "folder"),
            Source::Pip { .. } => {
                return Err(place.error("is in no Python package that is known here".into()));
            }
        };
        report(PullStep::Trying { source: &words });
        let fetched = place.fetch(&missing, source, report)?;
        pulled.source = Some(name);
        pulled.fetched_bytes = fetched.fetched_bytes;
        pulled.resumed_bytes = fetched.resumed_bytes;
    }
    report(PullStep::Packing);
    // A failed packing leaves no record, so that the next pull fetches the files again: they may be wrong.
    let sources = pack_cross(place.name, folder, &place.packed).inspect_err(|_| {
        let _ = fs::remove_file(folder.join(ORIGIN));
    })?;
    place.verify()?;
    let mut files = Vec::new();
    for (file, sha256) in sources.sha256 {
        let bytes = files::length(&folder.join(&file))?.unwrap_or(0);
        files.push(OriginFile { file, bytes, sha256 });
    }
    Origin { repository: repository.into(), files }.save(folder)?;
    pulled.packed_now = true;
    Ok(pulled)
}

/// Returns the cross-encoders that have a record, complete or not, sorted by name.
pub(super) fn list(models_dir: &Path) -> Vec<Listed> {
    let mut found: Vec<Listed> = fs::read_dir(models_dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let origin = Origin::load(&entry.path()).ok().flatten()?;
            let place = Place::new(models_dir, &origin.repository);
            Some(Listed {
                model: origin.repository.clone().into(),
                licence: LICENCE,
                dimension: 1,
                download_bytes: origin.files.iter().map(|file| file.bytes).sum(),
                installed: CrossEncoder::open(place.name, &place.packed).is_ok(),
            })
        })
        .collect();
    found.sort_by(|a, b| a.model.cmp(&b.model));
    found
}

/// Returns the state like [`super::status`], for a repository or the name of its folder; `None` if there is no such folder.
pub(super) fn status(models_dir: &Path, name: &str) -> Result<Option<Status>> {
    let folder = models_dir.join(name.rsplit('/').next().unwrap_or(name));
    let origin = Origin::load(&folder)?;
    let repository = match &origin {
        Some(origin) if !name.contains('/') || origin.repository == name => origin.repository.clone(),
        Some(_) | None if is_repository(name) => name.to_owned(),
        Some(_) | None => return Ok(None),
    };
    let place = Place::new(models_dir, &repository);
    let origin = origin.filter(|origin| origin.repository == repository);
    let files = CROSS_FILES
        .iter()
        .map(|file| {
            let known = origin.as_ref().and_then(|origin| origin.known(file));
            let state = match &known {
                Some(known) => files::examine(&folder, known)?,
                None => match files::length(&files::part_path(&folder, file))? {
                    Some(bytes) if bytes > 0 => FileState::Partial { bytes },
                    Some(_) | None => FileState::Missing,
                },
            };
            let sha256 = known.and_then(|known| known.sha256);
            Ok(FileStatus { file: (*file).into(), state, sha256 })
        })
        .collect::<Result<Vec<_>>>()?;
    let packed = match files::length(&place.packed)? {
        None => FileState::Missing,
        Some(bytes) => match place.verify() {
            Ok(()) => FileState::Whole { bytes },
            Err(error) => FileState::Damaged { bytes, reason: error.to_string() },
        },
    };
    let state = match packed {
        FileState::Whole { .. } if origin.is_some() => InstallState::Installed,
        FileState::Missing if files.iter().all(|file| file.state == FileState::Missing) => {
            InstallState::Missing
        }
        FileState::Whole { .. }
        | FileState::Missing
        | FileState::Partial { .. }
        | FileState::Damaged { .. } => InstallState::Partial,
    };
    Ok(Some(Status {
        model: repository.into(),
        identity: CROSS_ARITHMETIC,
        licence: LICENCE,
        dimension: 1,
        state,
        folder,
        files,
        packed: FileStatus { file: CROSS_PACKED.into(), state: packed, sha256: None },
    }))
}

impl<'a> Place<'a> {
    fn new(models_dir: &Path, repository: &'a str) -> Self {
        let name = repository.rsplit('/').next().unwrap_or(repository);
        let folder = models_dir.join(name);
        Self { repository, name, packed: folder.join(CROSS_PACKED), folder }
    }

    fn error(&self, reason: String) -> Error {
        Error::Model { model: self.repository.into(), reason }
    }

    fn verify(&self) -> Result<()> {
        CrossEncoder::open(self.name, &self.packed)?.verify()
    }

    /// Fetches files whose lengths, and checksums if it reports them, only the source knows.
    fn fetch(
        &self,
        missing: &[&'static str],
        source: &Source,
        report: &mut dyn FnMut(PullStep<'_>),
    ) -> Result<Fetched> {
        let named = |error| match error {
            Error::Model { reason, .. } => self.error(reason),
            other => other,
        };
        let (repository, folder) = (self.repository, &self.folder);
        match source {
            Source::Auto { base_url, .. } | Source::Hub { base_url } => {
                let files = hub::describe(repository, base_url, missing).map_err(named)?;
                let files: Vec<&KnownFile> = files.iter().collect();
                hub::fetch(repository, base_url, &files, folder, report).map_err(|failed| match failed {
                    FetchError::Unavailable(reason) | FetchError::WrongContent(reason) => self.error(reason),
                    FetchError::Local(error) => error,
                })
            }
            Source::Folder(from) => {
                let mut files = Vec::new();
                for name in missing {
                    let bytes = files::length(&from.join(name))?
                        .ok_or_else(|| self.error(format!("{} has no {name}", from.display())))?;
                    files.push(KnownFile { name, bytes, sha256: None });
                }
                let files: Vec<&KnownFile> = files.iter().collect();
                files::copy(from, &files, folder, report).map_err(named)
            }
            Source::Pip { .. } => Err(self.error("is in no Python package that is known here".into())),
        }
    }
}

impl Origin {
    /// Reads the record of a folder; `None` if there is none. An unreadable record counts as none: the files are fetched again.
    fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(ORIGIN);
        match fs::read(&path) {
            Ok(bytes) => {
                let origin: Option<Self> = serde_json::from_slice(&bytes).ok();
                Ok(origin.filter(|origin| is_repository(&origin.repository)))
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
            Err(cause) => Err(Error::io("read", &path, cause)),
        }
    }

    /// Writes a temporary file and renames it: a record is complete or absent.
    fn save(&self, folder: &Path) -> Result<()> {
        let (path, aside) = (folder.join(ORIGIN), folder.join("origin.json.part"));
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write(&aside, text.as_bytes()).map_err(|cause| Error::io("write", &aside, cause))?;
        fs::rename(&aside, &path).map_err(|cause| Error::io("rename to", &path, cause))
    }

    /// Returns the recorded length and checksum of a file.
    fn known(&self, name: &'static str) -> Option<KnownFile> {
        let file = self.files.iter().find(|file| file.file == name)?;
        Some(KnownFile { name, bytes: file.bytes, sha256: Some(Cow::Owned(file.sha256.clone())) })
    }

    /// Returns the files that differ from the record.
    fn missing(&self, folder: &Path) -> Result<Vec<&'static str>> {
        let mut missing = Vec::new();
        for name in CROSS_FILES {
            let whole = match self.known(name) {
                Some(known) => files::examine(folder, &known)? == (FileState::Whole { bytes: known.bytes }),
                None => false,
            };
            if !whole {
                missing.push(name);
            }
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests;
