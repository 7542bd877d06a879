//! Writes the tags of documents as Markdown tables, a file for each first letter, and reads such tables back.

mod format;

use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::engine::curate::write::normal_tag;
use crate::engine::transfer::export::folder::put;
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::files;
use crate::item::Visibility;
use crate::request::{Selection, TagImportRequest, TagIndexRead, TagIndexWritten};
use crate::store::{DocumentTags, Stamp};

/// Largest file of an index that is read, in bytes.
const LARGEST: u64 = 64 << 20;

impl Engine {
    /// Writes the tags of the documents with a chunk in a selection to a folder: for each first letter that occurs one file
    /// with the tables tag → files and file → tags. The same tags make the same bytes. `root` is an absolute path: paths
    /// below it are written relative to it.
    pub fn export_tags(
        &self,
        visibility: &Visibility,
        select: &Selection,
        root: Option<&str>,
        folder: &Path,
    ) -> Result<TagIndexWritten> {
        check_folder(folder)?;
        let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, tag) in self.store.document_tags(&select.within(visibility)?)? {
            // A nameless document has no cell.
            if !path.is_empty() {
                index.entry(below_root(&path, root).to_owned()).or_default().insert(tag);
            }
        }
        let tags: BTreeSet<&String> = index.values().flatten().collect();
        let mut report =
            TagIndexWritten { tags: tags.len(), documents: index.len(), ..TagIndexWritten::default() };
        let shards = format::shards(&index);
        files::create_folder(folder).map_err(|source| Error::io("create the folder", folder, source))?;
        for (name, text) in &shards {
            let path = folder.join(name);
            report.bytes += text.len() as u64;
            if read(&path)?.as_deref() != Some(text.as_bytes()) {
                put(&path, text.as_bytes())?;
                report.written += 1;
            }
        }
        report.files = shards.len();
        for path in index_files(folder)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Only what an export writes is removed: a file of another program may have another division.
            if !shards.contains_key(name) && format::is_shard(name) {
                std::fs::remove_file(&path).map_err(|source| Error::io("delete", &path, source))?;
                report.removed += 1;
            }
        }
        Ok(report)
    }

    /// Reads the tags of an index in a folder, and gives documents of the store those that they lack. All files are read
    /// before anything is written; a table that cannot be read is an error.
    pub fn import_tags(
        &self,
        visibility: &Visibility,
        request: &TagImportRequest,
        folder: &Path,
        now: Timestamp,
    ) -> Result<TagIndexRead> {
        visibility.check_everything("importing tags")?;
        check_folder(folder)?;
        let paths = index_files(folder)?;
        if paths.is_empty() {
            let what = Missing::Named("TAG_INDEX_*.md in");
            return Err(Error::NotFound { what, id: folder.display().to_string() });
        }
        let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in &paths {
            let wrong = |line: usize, why: String| Error::invalid(format!("{}:{line}", path.display()), why);
            let bytes = read(path)?.unwrap_or_default();
            let text = String::from_utf8(bytes).map_err(|_| wrong(1, "it is not valid UTF-8".to_owned()))?;
            for pair in format::parse(&text).map_err(|(line, why)| wrong(line, why))? {
                let tag = read_tag(&pair.tag).map_err(|why| wrong(pair.line, why))?;
                index.entry(pair.path).or_default().insert(tag);
            }
        }
        let root = request.root.as_deref();
        let given: Vec<DocumentTags> = index
            .into_iter()
            .map(|(path, tags)| {
                let below = root.filter(|_| !Path::new(&path).is_absolute());
                let whole = below.map(|root| format!("{}/{path}", root.trim_end_matches('/')));
                DocumentTags {
                    paths: [path].into_iter().chain(whole).collect(),
                    tags: tags.into_iter().collect(),
                }
            })
            .collect();
        let given = self.store.give_tags(&given, request.dry_run, Stamp { now, actor: ACTOR })?;
        Ok(TagIndexRead {
            event: given.event,
            files: paths.len(),
            changed: given.changed,
            added: given.added,
            unchanged: given.unchanged,
            kept: given.kept,
            missing: given.missing,
            dry_run: request.dry_run,
        })
    }
}

/// Returns a tag of an index as it is stored. White space in it is no mistake: an import may have stored what is no single
/// word, and an index of that store must be readable.
fn read_tag(tag: &str) -> Result<String, String> {
    let words: String = tag.split_whitespace().collect();
    let checked = normal_tag(if words.is_empty() { tag } else { &words });
    checked.map(|_| tag.to_lowercase()).map_err(|error| error.to_string())
}

/// Returns a path relative to a folder, if it is below it.
fn below_root<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    let below = root.and_then(|root| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Refuses a file in the place of a folder.
fn check_folder(folder: &Path) -> Result<()> {
    match std::fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            Err(Error::invalid(folder.display().to_string(), "it is a file; name a folder for the tag index"))
        }
        _ => Ok(()),
    }
}

/// Returns the files of an index in a folder, sorted.
fn index_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(source) if source.kind() == ErrorKind::NotFound => {
            return Err(Error::NotFound { what: Missing::Path("folder"), id: folder.display().to_string() });
        }
        Err(source) => return Err(Error::io("read the folder", folder, source)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::io("read the folder", folder, source))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if format::is_index(name) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Reads a file; `None` if there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path).map(|file| file.take(LARGEST + 1));
    match opened.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() as u64 > LARGEST => {
            let reason = format!("it is larger than {} MB, and no tag index's", LARGEST >> 20);
            Err(Error::invalid(path.display().to_string(), reason))
        }
        Ok(_) => Ok(Some(bytes)),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io("read", path, source)),
    }
}
