//! Writes memories as files of a folder, with a manifest that later shows which of them were edited.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use crate::engine::Engine;
use crate::engine::transfer::export::select::memories;
use crate::error::{Error, Result};
use crate::files;
use crate::ingest::{content_hash, print_page};
use crate::item::{Durability, MemoryType, Status, Tier};
use crate::memory::judge::{self, judge_text};
use crate::request::moving::{ExportRequest, Exported};
use crate::store::copies::{FORMAT, ItemCopy};

/// Name of the manifest: it is beside the files, hidden in listings.
pub(crate) const MANIFEST: &str = ".bower-export.json";

/// Largest manifest, in bytes: that of some 400,000 files.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// Number of memories that are read at once.
const PAGE: usize = 256;

/// Most characters of the readable part of a file's name.
const LONGEST_SLUG: usize = 48;

/// State of a folder when it was last the same as the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExportManifest {
    /// Number of the format.
    pub bower: u32,
    /// Identity of the store.
    pub store: String,
    /// Files by their path below the folder, parts joined by `/`.
    pub files: BTreeMap<String, ExportEntry>,
}

/// State of a file at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExportEntry {
    /// Id of the memory that the file now represents.
    pub id: String,
    /// Hash of its bytes.
    pub sha256: String,
    /// Time of the memory's last change, as of then.
    pub updated: Timestamp,
}

impl ExportManifest {
    /// Reads the manifest of a folder; `None` where there is none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let mut bytes = Vec::new();
        let opened = std::fs::File::open(&path).map(|file| file.take(LARGEST_MANIFEST + 1));
        match opened.and_then(|mut file| file.read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::io("read", &path, source)),
        }
        if bytes.len() as u64 > LARGEST_MANIFEST {
            let reason =
                format!("it is larger than {} MB, and no export's; delete it", LARGEST_MANIFEST >> 20);
            return Err(Error::invalid(path.display().to_string(), reason));
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| {
            let reason =
                format!("{error}; delete that file: ids and times in the heads then say what was changed");
            Error::invalid(path.display().to_string(), reason)
        })?;
        if manifest.bower > FORMAT {
            let reason = format!("format {} is newer than {FORMAT}; upgrade bower", manifest.bower);
            return Err(Error::invalid(path.display().to_string(), reason));
        }
        Ok(Some(manifest))
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(MANIFEST);
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::io("write", &path, std::io::Error::from(error)))?;
        bytes.push(b'\n');
        put(&path, &bytes)
    }
}

/// Writes a file under a temporary name, and renames it when it is complete.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_folder(folder).map_err(|source| Error::io("create the folder", folder, source))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let aside = path.with_file_name(name);
    let written = files::write(&aside, bytes).and_then(|()| {
        // A file that others may read keeps its permissions.
        if let Ok(there) = std::fs::metadata(path) {
            std::fs::set_permissions(&aside, there.permissions())?;
        }
        std::fs::rename(&aside, path)
    });
    written.map_err(failed)
}

/// Refuses a folder that contains anything else.
pub(crate) fn check_folder(folder: &Path, is_ours: bool, force: bool) -> Result<()> {
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(Error::io("read the folder", folder, source)),
    };
    if is_ours || force || entries.next().is_none() {
        return Ok(());
    }
    let reason = "it is not empty, and no export of bower; name another folder, or add --force to write beside what is there";
    Err(Error::invalid(folder.display().to_string(), reason))
}

pub(crate) fn folder(engine: &Engine, request: &ExportRequest, folder: &Path) -> Result<Exported> {
    let before = ExportManifest::read(folder)?;
    check_folder(folder, before.is_some(), request.force)?;
    let before = before.unwrap_or_default();
    if !request.force {
        let edited: Vec<&String> = before
            .files
            .iter()
            .filter(|(name, entry)| is_edited(folder, name, entry))
            .map(|(name, _)| name)
            .collect();
        if let Some(first) = edited.first() {
            let reason = format!(
                "{} of its files were changed since the last export ({first}); bower import takes them in, --force \
                 overwrites them",
                edited.len()
            );
            return Err(Error::invalid(folder.display().to_string(), reason));
        }
    }
    let names: BTreeMap<&str, &str> =
        before.files.iter().map(|(name, entry)| (entry.id.as_str(), name.as_str())).collect();
    let mut manifest =
        ExportManifest { bower: FORMAT, store: engine.store.identity().to_owned(), files: BTreeMap::new() };
    let mut report = Exported::default();
    let rows = memories(engine, &request.select)?;
    // A file has one text, which a person may edit: it is not said which of several wordings an edit means.
    let wordings = engine.store.items(&engine.store.wordings_of(&rows)?)?.into_iter().flatten();
    report.wordings = wordings.filter(|item| item.status == Status::Variant).count();
    for rows in rows.chunks(PAGE) {
        for item in engine.store.copies(rows)?.into_iter().flatten() {
            let bytes = page(&item).into_bytes();
            let name = match names.get(item.id.as_str()) {
                Some(name) => (*name).to_owned(),
                None => free_name(&item, |name| {
                    manifest.files.contains_key(name) || before.files.contains_key(name)
                }),
            };
            let entry =
                ExportEntry { sha256: content_hash(&bytes), updated: item.update_time, id: item.id.clone() };
            let path = folder.join(&name);
            if before.files.get(&name) != Some(&entry) || is_edited(folder, &name, &entry) {
                put(&path, &bytes)?;
                report.written += 1;
            }
            report.memories += 1;
            report.bytes += bytes.len() as u64;
            manifest.files.insert(name, entry);
        }
    }
    report.files = manifest.files.len();
    for (name, entry) in &before.files {
        if !manifest.files.contains_key(name) && !is_edited(folder, name, entry) {
            let path = folder.join(name);
            match std::fs::remove_file(&path) {
                Ok(()) => report.removed += 1,
                Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::io("delete", &path, source)),
            }
        }
    }
    files::create_folder(folder).map_err(|source| Error::io("create the folder", folder, source))?;
    manifest.write(folder)?;
    Ok(report)
}

/// Whether a file was changed since. A deleted file does not count: it has no edits that could be lost.
fn is_edited(folder: &Path, name: &str, entry: &ExportEntry) -> bool {
    std::fs::read(folder.join(name)).is_ok_and(|bytes| content_hash(&bytes) != entry.sha256)
}

/// Returns a name such as `fact/api-port-is-9090-6e8486fb.md`: the first words, made unique by the id.
fn free_name(item: &ItemCopy, is_taken: impl Fn(&str) -> bool) -> String {
    let folder = item.memory_type.map_or("memory", crate::item::MemoryType::word);
    let words = slug(if item.summary.is_empty() { &item.content } else { &item.summary });
    let name = |digits: usize| format!("{folder}/{words}{}.md", &item.id[..digits.min(item.id.len())]);
    let short = name(8);
    if is_taken(&short) { name(16) } else { short }
}

/// Returns the first words of a text, in letters and digits, each followed by `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    let mut length = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters = word.chars().count();
        if length + letters > LONGEST_SLUG {
            break;
        }
        length += letters + 1;
        slug.extend(word.chars().flat_map(char::to_lowercase));
        slug.push('-');
    }
    slug
}

/// Returns a memory as a file. Fields with default values are left out.
pub(crate) fn page(item: &ItemCopy) -> String {
    let memory_type = item.memory_type.unwrap_or(MemoryType::Fact);
    let constants = judge::Constants::default();
    let judged = judge_text(&item.content, memory_type, Durability::Lasting, item.confidence, &constants);
    let some = |is_said: bool, value: Value| if is_said { value } else { Value::Null };
    let time = |time: Option<Timestamp>| time.map_or(Value::Null, |time| json!(time.to_string()));
    let fields = [
        ("id", json!(item.id)),
        ("type", item.memory_type.map_or(Value::Null, |memory_type| json!(memory_type.word()))),
        ("tags", json!(item.tags)),
        ("pinned", some(item.tier == Tier::Pinned, json!(true))),
        ("fading", some(item.tier == Tier::Fading, json!(true))),
        ("status", some(item.status != Status::Active, json!(item.status.word()))),
        ("summary", some(item.summary != judged.summary, json!(item.summary))),
        ("keywords", json!(item.keywords)),
        ("importance", short(item.importance)),
        ("confidence", short(item.confidence)),
        (
            "decay_rate",
            some(item.decay_rate.to_bits() != judged.decay_rate.to_bits(), short(item.decay_rate)),
        ),
        ("valid_from", time(item.valid_from)),
        ("valid_to", time(item.valid_to)),
        ("metadata", Value::Object(item.metadata.clone())),
        ("collection", json!(item.collection)),
        ("scope", json!(item.scope.word())),
        ("owner", json!(item.owner)),
        ("conversation", json!(item.source_conv_id)),
        ("source", json!(item.source)),
        ("host", json!(item.host)),
        ("said_by", json!(item.provenance().said_by)),
        (
            "least_trusted",
            some(
                item.provenance().least_trusted != item.provenance().said_by,
                json!(item.provenance().least_trusted),
            ),
        ),
        ("reviewed", json!(item.provenance().reviewed)),
        ("replaces", json!(item.supersedes_id)),
        ("observations", some(item.observations != 1, json!(item.observations))),
        ("uses", some(item.access_count != 0, json!(item.access_count))),
        ("used", some(item.access_time != item.create_time, time(Some(item.access_time)))),
        ("hidden", time(item.hidden_time)),
        ("created", time(Some(item.create_time))),
        ("updated", time(Some(item.update_time))),
    ];
    print_page(&fields, &item.content)
}

/// Returns a number with the digits of its `f32`.
fn short(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_can_be_read() {
        let check = |text: &str, expected: &str| assert_eq!(slug(text), expected);
        check("The API's port is 9090!", "the-api-s-port-is-9090-");
        check("端口是 8080", "端口是-8080-");
        check("../../etc/passwd", "etc-passwd-");
        check("\u{0}\n", "");
        assert!(slug(&"word ".repeat(99)).chars().count() <= LONGEST_SLUG + 1);
    }
}
