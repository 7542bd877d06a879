//! From a file's bytes to its chunks: picks the reader by the file's name. `parse` never panics and is linear in the input.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::{code, html, markdown, read, text};
use crate::config::Settings;
use crate::request::Skipped;

/// One part of a document, as it is shown, embedded and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The text. It stands alone: the parts of a split Markdown section each begin with its heading.
    pub content: String,
    /// Heading path (`Guide > Install > Linux`) or symbol path (`impl Foo > fn bar`).
    pub section: Option<String>,
    /// First and last line in the file, counted from 1, both included.
    pub lines: (u32, u32),
    /// The front matter's tags and those written inside this chunk; no duplicates, in order of appearance.
    pub tags: Vec<String>,
    /// Identity inside the document: a hash of section and content, numbered where a document repeats itself.
    pub key: String,
}

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Front matter's title, `<title>` or the first heading of level 1; none where the file names nothing.
    pub title: Option<String>,
    /// `v2`, `v1.4.0` from a path part, else `current`.
    pub version: String,
    /// Every tag of the document, front matter's first; no duplicates.
    pub tags: Vec<String>,
    /// Front matter's other fields: scalars and lists of scalars.
    pub metadata: Map<String, Value>,
    /// In the order of the file. Empty where the file holds nothing to read (only white space, only front matter).
    pub chunks: Vec<Chunk>,
    /// What was wrong but did not stop the reading, in words.
    pub notes: Vec<String>,
}

/// What a reader gives: a [`Chunk`] that has no key yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub content: String,
    pub section: Option<String>,
    pub lines: (u32, u32),
    pub tags: Vec<String>,
}

/// What a reader gives for a whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub drafts: Vec<Draft>,
    pub notes: Vec<String>,
}

/// Parses a file that was read into `bytes`; `path` chooses the reader by its extension and gives the version.
///
/// Files that hold no text (binary, another encoding, empty, minified) come back as [`Skipped`] with the reason.
pub fn parse(path: &Path, bytes: &[u8], settings: &Settings) -> Result<Parsed, Skipped> {
    let skip = |reason: String| Skipped { path: path.to_path_buf(), reason };
    let text = read::decode(bytes).map_err(|reason| skip(reason.to_owned()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let reading = match extension {
        "md" | "markdown" | "mdx" | "mdown" | "mkd" => markdown::parse(&text, settings),
        "html" | "htm" | "xhtml" => html::parse(&text, settings),
        _ => {
            if let Some(reason) = read::minified(&text) {
                return Err(skip(reason));
            }
            match code::Language::of(&name, extension) {
                Some(language) => code::parse(&text, language, settings),
                None => text::parse(&text, extension, settings),
            }
        }
    };
    let mut repeats = HashMap::new();
    let chunks = reading.drafts.into_iter().map(|draft| finish(draft, &mut repeats)).collect();
    Ok(Parsed {
        title: reading.title,
        version: version(path),
        tags: reading.tags,
        metadata: reading.metadata,
        chunks,
        notes: reading.notes,
    })
}

fn finish(draft: Draft, repeats: &mut HashMap<String, u32>) -> Chunk {
    let mut hash = Sha256::new();
    // The length before the section keeps ("a", "bc") and ("ab", "c") apart.
    let section = draft.section.as_deref().unwrap_or_default();
    hash.update((section.len() as u64).to_le_bytes());
    hash.update(section);
    hash.update(&draft.content);
    // 128 bits: no two of 2^40 chunks share a key but with a chance of 2^-49.
    let mut key = hex(&hash.finalize()[..16]);
    let times = repeats.entry(key.clone()).or_insert(0);
    if *times > 0 {
        write!(key, "-{times}").expect("writing to a string cannot fail");
    }
    *times += 1;
    Chunk { content: draft.content, section: draft.section, lines: draft.lines, tags: draft.tags, key }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// The path part nearest the file that is `v<digits>[.<digits>...]`; the file's own name counts without its extension.
fn version(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let parents = path.parent().into_iter().flat_map(|parent| parent.components().rev());
    stem.into_iter()
        .chain(parents.filter_map(|part| part.as_os_str().to_str()))
        .find(|part| is_version(part))
        .unwrap_or("current")
        .to_owned()
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|numbers| {
        numbers.split('.').all(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}
