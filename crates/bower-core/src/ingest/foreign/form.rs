//! Defines the form into which other programs' memories are read, and the values that their readers share.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

use crate::ingest::page::{Page, read_page};
use crate::item::MemoryType;

/// A memory of another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignMemory {
    /// Its id in the other program. It is stable: the same memory has it at the next import.
    pub id: String,
    /// The text.
    pub text: String,
    /// Its type, if the other program's category names one.
    pub memory_type: Option<MemoryType>,
    /// Its tags, unchanged.
    pub tags: Vec<String>,
    /// When it was first said.
    pub created: Option<Timestamp>,
    /// When it stops being true, if the other program says so.
    pub expires: Option<Timestamp>,
    /// The conversation that it came from.
    pub conversation: Option<String>,
    /// The other fields.
    pub metadata: Map<String, Value>,
    /// Ids of memories of the same program that it refers to.
    pub related: Vec<String>,
    /// Another name by which memories of the same program refer to it.
    pub also_named: Option<String>,
    /// Why it is not current in the other program.
    pub stale: Option<Stale>,
}

/// Why a memory is not current in the other program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// Something replaced it, or it was archived or marked as invalid. The reason.
    Archived(String),
    /// It was deleted.
    Deleted,
}

/// Reads a memory from an object or a row; `None` if it says nothing.
pub type ReadObject = fn(&Value) -> Result<Option<ForeignMemory>, String>;

/// A table of an SQLite database whose rows are memories.
#[derive(Debug)]
pub struct ForeignTable {
    /// The tables that must be there, each with its columns.
    pub needs: &'static [(&'static str, &'static [&'static str])],
    /// The query that returns the rows, each of which is read as an object.
    pub query: &'static str,
    /// Reads a row; `None` if it says nothing.
    pub read: ReadObject,
}

/// A Markdown file of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignPage {
    /// Its path relative to the folder, with `/` between the parts.
    pub path: String,
    /// Its front matter and its text, or what is wrong with the front matter.
    pub page: Arc<Result<Page, String>>,
    /// When the file was last changed.
    pub modified: Option<Timestamp>,
}

impl ForeignPage {
    /// Parses a file.
    pub fn new(path: String, text: &str, modified: Option<Timestamp>) -> Self {
        Self { path, page: Arc::new(read_page(text)), modified }
    }

    /// Creates the page of a file that could not be read, for this reason.
    pub fn unreadable(path: String, reason: String) -> Self {
        Self { path, page: Arc::new(Err(reason)), modified: None }
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns the path without `.md`.
    pub(super) fn stem(&self) -> &str {
        self.path.strip_suffix(".md").unwrap_or(&self.path)
    }

    /// Returns a field of the front matter.
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.page().ok()?.fields.get(name)
    }

    pub(super) fn page(&self) -> Result<&Page, &String> {
        self.page.as_ref().as_ref()
    }
}

/// The Markdown files of a folder, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pages {
    all: Vec<ForeignPage>,
    /// The place of each page, by its path without `.md`, its title and its permalink, in lower case.
    names: HashMap<String, usize>,
}

impl Pages {
    /// Sorts files by their paths.
    pub fn new(mut all: Vec<ForeignPage>) -> Self {
        all.sort_by(|one, two| one.path.cmp(&two.path));
        let mut names = HashMap::new();
        for (at, page) in all.iter().enumerate() {
            let fields = ["title", "permalink"].into_iter().filter_map(|name| plain(page.field(name)?));
            for name in fields.chain([page.stem().to_owned()]) {
                names.entry(name.to_lowercase()).or_insert(at);
            }
        }
        Self { all, names }
    }

    /// Returns all files.
    pub fn all(&self) -> &[ForeignPage] {
        &self.all
    }

    /// Returns the file with a path.
    pub(super) fn get(&self, path: &str) -> Option<&ForeignPage> {
        self.all.binary_search_by(|page| page.path.as_str().cmp(path)).ok().map(|at| &self.all[at])
    }

    /// Returns the file that a link names.
    pub(super) fn named(&self, name: &str) -> Option<&ForeignPage> {
        self.names.get(&name.to_lowercase()).map(|&at| &self.all[at])
    }

    /// Whether there are pages that `is_one` is asked about, and most of them pass: a few may be damaged or written by hand.
    pub(super) fn mostly(
        &self,
        is_asked: impl Fn(&ForeignPage) -> bool,
        is_one: impl Fn(&ForeignPage) -> bool,
    ) -> bool {
        let asked = self.all.iter().filter(|page| is_asked(page));
        let (all, good) = asked.fold((0, 0), |(all, good), page| (all + 1, good + usize::from(is_one(page))));
        2 * good > all
    }
}

/// Returns a field as text: a non-empty string without white space around it, or a number.
pub(super) fn words(of: &Value, name: &str) -> Option<String> {
    plain(of.get(name)?)
}

/// Returns a value as text: a non-empty string without white space around it, or a number.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a list of texts: a JSON list, a JSON list within a text, or texts separated by commas.
pub(super) fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(plain).collect(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(values)) => values.iter().filter_map(plain).collect(),
            Ok(_) | Err(_) => {
                text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// Returns the object that a field holds; an empty one for any other value.
pub(super) fn object(of: &Value, name: &str) -> Map<String, Value> {
    of.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Copies the named fields that say something into metadata.
pub(super) fn copied(of: &Value, names: &[&str]) -> Map<String, Value> {
    let said = |value: &&Value| match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let fields =
        names.iter().filter_map(|name| Some(((*name).to_owned(), of.get(*name).filter(said)?.clone())));
    fields.collect()
}

/// Joins paragraphs that say something.
pub(super) fn paragraphs(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Puts the subject before a statement that does not name it.
pub(super) fn about(subject: &str, statement: &str) -> String {
    if statement.to_lowercase().contains(&subject.to_lowercase()) {
        statement.to_owned()
    } else {
        format!("{subject}: {statement}")
    }
}

/// Returns the targets of wiki links in a text: `[[Target]]`, `[[Target|shown]]`.
pub(super) fn wiki_links(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("[[") {
        let rest = &text[at + 2..];
        let Some(end) = rest.find("]]").filter(|&end| !rest[..end].contains(['\n', '['])) else { continue };
        let target = rest[..end].split('|').next().unwrap_or_default().trim();
        if !target.is_empty() && !found.iter().any(|known| known == target) {
            found.push(target.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_wiki_links_are_found_once() {
        assert_eq!(wiki_links("[[a]] [[b|c]] [[a]] [[d\n]] [[[[e]]"), ["a", "b", "e"]);
    }
}
