//! Fetches models by the name of their repository at the hub, `owner/name`: sentence encoders and cross-encoders.
//! Their checksums are not known in advance: those of the first fetch are recorded, and files are compared with the record from
//! then on.
//!
//! ```text
//! models/ms-marco-MiniLM-L6-v2/
//!   config.json  vocab.txt  model.safetensors   as published; a sentence encoder has more files, some in folders
//!   origin.json                                 the repository, the kind, and each file's length and SHA-256
//!   cross.i8-1.packed                           what the engine maps; sentence.i8-1.packed of a sentence encoder
//! ```

mod discover;
mod place;

use std::fs;
use std::path::Path;

use bower_core::files::create_folder;
use bower_core::{Error, Result};

use self::place::{ORIGIN, Origin, OriginFile, Place, is_repository, packed_name};
use super::catalogue::{OFFERED, offered};
use super::files::{self, lock};
use super::told::{FileState, FileStatus, InstallState, Kind, Listed, PullStep, Pulled, Source, Status};

/// Licence text of a repository that this program does not know.
const LICENCE: &str = "see the model's page";

/// Returns the repository of a name: a repository itself, or the name of an encoder that this program knows.
pub(super) fn repository_of(name: &str) -> Option<&str> {
    match offered(name) {
        Some(offered) => Some(offered.repository),
        None => is_repository(name).then_some(name),
    }
}

/// Installs a repository, like [`super::pull`]. `dimension` cuts the vectors of a sentence encoder.
pub(super) fn pull(
    models_dir: &Path,
    repository: &str,
    dimension: Option<usize>,
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
    let is_whole = match &origin {
        Some(origin) => origin.missing(folder)?.is_empty(),
        None => false,
    };
    let mut pulled = Pulled::nothing(place.name, "", folder, &place.packed(Kind::Cross));
    if let Some(origin) = &origin {
        pulled.packed = place.packed(origin.kind);
        if is_whole
            && let Ok(identity) = place.verify(origin.kind)
            && place.has_dimension(origin.kind, dimension)
        {
            pulled.identity = identity;
            return Ok(pulled);
        }
    }
    let kind = match origin {
        Some(origin) if is_whole => origin.kind,
        recorded => {
            let from = discover::From::of(source, &place)?;
            report(PullStep::Trying { source: &from.address() });
            let (kind, fetched) = discover::fetch(&place, recorded.as_ref(), from, report)?;
            pulled.source = Some(from.name());
            pulled.fetched_bytes = fetched.fetched_bytes;
            pulled.resumed_bytes = fetched.resumed_bytes;
            kind
        }
    };
    pulled.packed = place.packed(kind);
    report(PullStep::Packing);
    // A failed packing leaves no record, so that the next pull fetches the files again: they may be wrong.
    let sources = place.pack(kind, dimension).inspect_err(|_| {
        let _ = fs::remove_file(folder.join(ORIGIN));
    })?;
    pulled.identity = place.verify(kind)?;
    let mut files = Vec::new();
    for (file, sha256) in sources {
        let bytes = files::length(&folder.join(&file))?.unwrap_or(0);
        files.push(OriginFile { file, bytes, sha256 });
    }
    Origin { repository: repository.into(), kind, files }.save(folder)?;
    pulled.packed_now = true;
    Ok(pulled)
}

/// Returns the sentence encoders that this program knows, then the models that have a record, complete or not, sorted by name.
pub(super) fn list(models_dir: &Path) -> Vec<Listed> {
    let mut found: Vec<Listed> = fs::read_dir(models_dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let origin = Origin::load(&entry.path()).ok().flatten()?;
            if offered(&origin.repository).is_some() {
                return None;
            }
            let place = Place::new(models_dir, &origin.repository);
            Some(Listed {
                model: origin.repository.clone().into(),
                kind: origin.kind,
                licence: LICENCE,
                dimension: place.dimension(origin.kind),
                download_bytes: origin.files.iter().map(|file| file.bytes).sum(),
                beir: None,
                languages: None,
                installed: place.open(origin.kind).is_ok(),
            })
        })
        .collect();
    found.sort_by(|a, b| a.model.cmp(&b.model));
    let offered = OFFERED.iter().map(|offered| Listed {
        model: offered.name.into(),
        kind: Kind::Sentence,
        licence: offered.licence,
        dimension: offered.dimension,
        download_bytes: offered.megabytes * 1_000_000,
        beir: offered.beir,
        languages: Some(offered.languages),
        installed: Place::new(models_dir, offered.repository).open(Kind::Sentence).is_ok(),
    });
    offered.chain(found).collect()
}

/// Returns the state like [`super::status`], for a repository, a known name or the name of a folder; `None` if there is no such
/// model.
pub(super) fn status(models_dir: &Path, name: &str) -> Result<Option<Status>> {
    let folder = models_dir.join(name.rsplit('/').next().unwrap_or(name));
    let origin = Origin::load(&folder)?;
    let repository = match (&origin, repository_of(name)) {
        (Some(origin), _) if !name.contains('/') || origin.repository == name => origin.repository.clone(),
        (_, Some(repository)) => repository.to_owned(),
        (_, None) => return Ok(None),
    };
    let place = Place::new(models_dir, &repository);
    let origin = origin.filter(|origin| origin.repository == repository);
    let known = offered(&repository);
    let kind = match &origin {
        Some(origin) => origin.kind,
        None if known.is_some() => Kind::Sentence,
        None => Kind::Cross,
    };
    let files = match &origin {
        Some(origin) => origin.examined(&folder)?,
        None => discover::required(kind)
            .iter()
            .map(|file| {
                let state = match files::length(&files::part_path(&folder, file))? {
                    Some(bytes) if bytes > 0 => FileState::Partial { bytes },
                    Some(_) | None => FileState::Missing,
                };
                Ok(FileStatus { file: (*file).into(), state, sha256: None })
            })
            .collect::<Result<Vec<_>>>()?,
    };
    let verified = place.verify(kind);
    let packed = match files::length(&place.packed(kind))? {
        None => FileState::Missing,
        Some(bytes) => match &verified {
            Ok(_) => FileState::Whole { bytes },
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
        model: repository.clone().into(),
        kind,
        identity: verified.unwrap_or_default(),
        licence: known.map_or(LICENCE, |known| known.licence),
        dimension: known.map_or_else(|| place.dimension(kind), |known| known.dimension),
        state,
        folder,
        files,
        packed: FileStatus { file: packed_name(kind).into(), state: packed, sha256: None },
    }))
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
