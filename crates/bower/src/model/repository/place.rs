//! A fetched model in its folder: what was fetched, the packed file, and whether both are whole.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use bower_core::files::write;
use bower_core::model::{
    CROSS_ARITHMETIC, CROSS_PACKED, CrossEncoder, Embedder, SENTENCE_PACKED, SentenceEncoder,
    SentenceOptions, pack_cross, pack_sentence,
};
use bower_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::model::catalogue::{Offered, offered};
use crate::model::files;
use crate::model::known::KnownFile;
use crate::model::told::{FileState, FileStatus, Kind};

/// File name of the record of a fetch.
pub(super) const ORIGIN: &str = "origin.json";

/// Record of a fetch: the repository, the model's kind, and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Owner and name at the hub.
    pub(super) repository: String,
    /// Records of before there were other kinds do not name it.
    #[serde(default)]
    pub(super) kind: Kind,
    pub(super) files: Vec<OriginFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OriginFile {
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// A model with its folder.
pub(super) struct Place<'a> {
    pub(super) repository: &'a str,
    pub(super) name: &'a str,
    pub(super) folder: PathBuf,
}

/// Whether a name has the form of a repository: `owner/name`.
pub(super) fn is_repository(name: &str) -> bool {
    let good = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(known)
    };
    name.split_once('/').is_some_and(|(owner, name)| good(owner) && good(name))
}

/// Returns the name of the packed file.
pub(super) fn packed_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Cross => CROSS_PACKED,
        Kind::Sentence => SENTENCE_PACKED,
    }
}

impl<'a> Place<'a> {
    pub(super) fn new(models_dir: &Path, repository: &'a str) -> Self {
        let name = repository.rsplit('/').next().unwrap_or(repository);
        Self { repository, name, folder: models_dir.join(name) }
    }

    pub(super) fn packed(&self, kind: Kind) -> PathBuf {
        self.folder.join(packed_name(kind))
    }

    pub(super) fn error(&self, reason: String) -> Error {
        Error::Model { model: self.repository.into(), reason }
    }

    /// Opens the packed file; returns the model's identity.
    pub(super) fn open(&self, kind: Kind) -> Result<String> {
        let packed = self.packed(kind);
        match kind {
            Kind::Cross => CrossEncoder::open(self.name, &packed).map(|_| CROSS_ARITHMETIC.to_owned()),
            Kind::Sentence => SentenceEncoder::open(&packed).map(|encoder| encoder.model().to_owned()),
        }
    }

    /// Reads the whole packed file and compares its checksum; returns the model's identity.
    pub(super) fn verify(&self, kind: Kind) -> Result<String> {
        let packed = self.packed(kind);
        match kind {
            Kind::Cross => {
                CrossEncoder::open(self.name, &packed)?.verify()?;
                Ok(CROSS_ARITHMETIC.to_owned())
            }
            Kind::Sentence => {
                let encoder = SentenceEncoder::open(&packed)?;
                encoder.verify()?;
                Ok(encoder.model().to_owned())
            }
        }
    }

    /// Returns the numbers of a vector; 1 of a cross-encoder, 0 of a model that cannot be opened.
    pub(super) fn dimension(&self, kind: Kind) -> usize {
        match kind {
            Kind::Cross => 1,
            Kind::Sentence => {
                SentenceEncoder::open(&self.packed(kind)).map_or(0, |encoder| encoder.dimension())
            }
        }
    }

    /// Whether the packed file has the wanted dimension; `None` wants any.
    pub(super) fn has_dimension(&self, kind: Kind, dimension: Option<usize>) -> bool {
        dimension.is_none_or(|wanted| wanted == self.dimension(kind))
    }

    /// Packs the published files; returns the SHA-256 of each.
    pub(super) fn pack(
        &self,
        kind: Kind,
        dimension: Option<usize>,
    ) -> Result<std::collections::BTreeMap<String, String>> {
        let packed = self.packed(kind);
        let known = offered(self.repository);
        if let Some(cut) = dimension
            && let Some(known) = known
            && cut != known.dimension
            && !known.cuts.contains(&cut)
        {
            let may = match known.cuts {
                [] => "was not trained to be cut".to_owned(),
                cuts => format!("may be cut to {cuts:?}"),
            };
            return Err(self.error(format!("has vectors of {} numbers and {may}", known.dimension)));
        }
        match kind {
            Kind::Cross if dimension.is_some() => {
                Err(self.error("is a cross-encoder, which has no vectors to cut".into()))
            }
            Kind::Cross => Ok(pack_cross(self.name, &self.folder, &packed)?.sha256),
            Kind::Sentence => {
                let options = SentenceOptions { prompts: known.and_then(Offered::prompts), dimension };
                Ok(pack_sentence(self.repository, &self.folder, &packed, &options)?.sources)
            }
        }
    }
}

impl Origin {
    /// Reads the record of a folder; `None` if there is none. An unreadable record counts as none: the files are fetched again.
    pub(super) fn load(folder: &Path) -> Result<Option<Self>> {
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
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let (path, aside) = (folder.join(ORIGIN), folder.join("origin.json.part"));
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write(&aside, text.as_bytes()).map_err(|cause| Error::io("write", &aside, cause))?;
        fs::rename(&aside, &path).map_err(|cause| Error::io("rename to", &path, cause))
    }

    /// Returns the recorded files.
    pub(super) fn known(&self) -> impl Iterator<Item = KnownFile> {
        self.files.iter().map(|file| KnownFile {
            name: Cow::Owned(file.file.clone()),
            bytes: file.bytes,
            sha256: Some(Cow::Owned(file.sha256.clone())),
        })
    }

    /// Returns the recorded files that differ from the record.
    pub(super) fn missing(&self, folder: &Path) -> Result<Vec<KnownFile>> {
        let mut missing = Vec::new();
        for known in self.known() {
            if files::examine(folder, &known)? != (FileState::Whole { bytes: known.bytes }) {
                missing.push(known);
            }
        }
        Ok(missing)
    }

    /// Returns the state of every recorded file.
    pub(super) fn examined(&self, folder: &Path) -> Result<Vec<FileStatus>> {
        self.known()
            .map(|known| {
                let state = files::examine(folder, &known)?;
                Ok(FileStatus { file: known.name.into_owned(), state, sha256: known.sha256 })
            })
            .collect()
    }
}
