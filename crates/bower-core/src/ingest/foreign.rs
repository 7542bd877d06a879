//! Recognises the memories of other programs by their content, and reads them into one form.
//! [`FORMATS`] has a row for each program. A reader takes values and returns values: nothing here opens a file or a store.

mod basic_memory;
mod claude_code;
mod claude_mem;
mod codex;
mod hindsight;
mod mem0;
mod mempalace;
mod okf;

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::HashMap;

use super::page::{Page, read_page};
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

/// A program whose memories can be read.
#[derive(Debug)]
pub struct ForeignFormat {
    /// The source that its memories get in the store.
    pub source: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The forms in which it keeps or exports its memories.
    pub forms: &'static [ForeignForm],
}

/// A form in which a program keeps or exports memories.
#[derive(Debug)]
pub enum ForeignForm {
    /// A folder of Markdown files.
    Folder {
        /// Whether the pages are such a folder.
        is: fn(&Pages) -> bool,
        /// Reads all memories of one page; the error says what is wrong with it.
        read: fn(&ForeignPage, &Pages) -> Result<Vec<ForeignMemory>, String>,
    },
    /// JSON objects, each a memory. They stand in a list, one a line, or in a list that is a field of one object.
    Objects {
        /// Whether an object is such a memory.
        is: fn(&Value) -> bool,
        /// Reads it; `None` if it says nothing.
        read: fn(&Value) -> Result<Option<ForeignMemory>, String>,
    },
    /// Tables of an SQLite database.
    Tables(&'static [ForeignTable]),
}

/// A table of an SQLite database whose rows are memories.
#[derive(Debug)]
pub struct ForeignTable {
    /// The tables that must be there, each with its columns.
    pub needs: &'static [(&'static str, &'static [&'static str])],
    /// The query that returns the rows, each of which is read as an object.
    pub query: &'static str,
    /// Reads a row; `None` if it says nothing.
    pub read: fn(&Value) -> Result<Option<ForeignMemory>, String>,
}

/// All programs whose memories can be read. Of two that recognise the same content, the first reads it.
pub const FORMATS: &[ForeignFormat] = &[
    ForeignFormat {
        source: "claude-code-memory",
        title: "Claude Code's memory",
        forms: &[ForeignForm::Folder { is: claude_code::is, read: claude_code::read }],
    },
    ForeignFormat {
        source: "codex-memory",
        title: "Codex' memories",
        forms: &[ForeignForm::Folder { is: codex::is, read: codex::read }],
    },
    ForeignFormat {
        source: "basic-memory",
        title: "basic-memory",
        forms: &[ForeignForm::Folder { is: basic_memory::is, read: basic_memory::read }],
    },
    ForeignFormat {
        source: "mem0",
        title: "mem0",
        forms: &[ForeignForm::Objects { is: mem0::is, read: mem0::read }, ForeignForm::Tables(mem0::HISTORY)],
    },
    ForeignFormat {
        source: "claude-mem",
        title: "claude-mem",
        forms: &[ForeignForm::Tables(claude_mem::TABLES)],
    },
    ForeignFormat {
        source: "mempalace",
        title: "MemPalace",
        forms: &[ForeignForm::Tables(mempalace::TABLES)],
    },
    ForeignFormat {
        source: "hindsight",
        title: "Hindsight",
        forms: &[ForeignForm::Objects { is: hindsight::is, read: hindsight::read }],
    },
    ForeignFormat {
        source: "okf",
        title: "Open Knowledge Format",
        forms: &[ForeignForm::Folder { is: okf::is, read: okf::read }],
    },
];

/// Names of the field in which an export keeps its list of memories.
const LISTS: &[&str] = &["results", "memories", "items", "facts"];

/// A Markdown file of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignPage {
    /// Its path relative to the folder, with `/` between the parts.
    pub path: String,
    /// Its front matter and its text, or what is wrong with the front matter.
    pub page: Result<Page, String>,
    /// When the file was last changed.
    pub modified: Option<Timestamp>,
}

impl ForeignPage {
    /// Parses a file.
    pub fn new(path: String, text: &str, modified: Option<Timestamp>) -> Self {
        Self { path, page: read_page(text), modified }
    }

    /// Creates the page of a file that could not be read, for this reason.
    pub fn unreadable(path: String, reason: String) -> Self {
        Self { path, page: Err(reason), modified: None }
    }

    /// Returns the name of the file.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns the path without `.md`.
    fn stem(&self) -> &str {
        self.path.strip_suffix(".md").unwrap_or(&self.path)
    }

    /// Returns a field of the front matter.
    fn field(&self, name: &str) -> Option<&Value> {
        self.page.as_ref().ok()?.fields.get(name)
    }

    fn page(&self) -> Result<&Page, String> {
        self.page.as_ref().map_err(Clone::clone)
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
    fn get(&self, path: &str) -> Option<&ForeignPage> {
        self.all.binary_search_by(|page| page.path.as_str().cmp(path)).ok().map(|at| &self.all[at])
    }

    /// Returns the file that a link names.
    fn named(&self, name: &str) -> Option<&ForeignPage> {
        self.names.get(&name.to_lowercase()).map(|&at| &self.all[at])
    }

    /// Whether there are pages that `is_one` is asked about, and most of them pass: a few may be damaged or written by hand.
    fn mostly(&self, is_asked: impl Fn(&ForeignPage) -> bool, is_one: impl Fn(&ForeignPage) -> bool) -> bool {
        let asked = self.all.iter().filter(|page| is_asked(page));
        let (all, good) = asked.fold((0, 0), |(all, good), page| (all + 1, good + usize::from(is_one(page))));
        2 * good > all
    }
}

/// Returns the format of a JSON object: the first that recognises it.
pub fn object_format(value: &Value) -> Option<(&'static ForeignFormat, &'static ForeignForm)> {
    let is_one = |form: &&ForeignForm| matches!(form, ForeignForm::Objects { is, .. } if is(value));
    FORMATS.iter().find_map(|format| Some((format, format.forms.iter().find(is_one)?)))
}

/// Takes the list of memories out of an export that is one object; the object itself if it has no such list.
pub fn listed(mut value: Value) -> Result<Vec<Value>, Value> {
    let is_list = |list: &Value| {
        let first = list.as_array().and_then(|list| list.first());
        first.is_some_and(|first| object_format(first).is_some())
    };
    let name = LISTS.iter().find(|name| value.get(**name).is_some_and(is_list));
    match name.and_then(|name| value.get_mut(*name)).map(Value::take) {
        Some(Value::Array(list)) => Ok(list),
        Some(_) | None => Err(value),
    }
}

/// Returns a field as text: a non-empty string without white space around it, or a number.
fn words(of: &Value, name: &str) -> Option<String> {
    plain(of.get(name)?)
}

/// Returns a value as text: a non-empty string without white space around it, or a number.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a list of texts: a JSON list, a JSON list within a text, or texts separated by commas.
fn list(value: &Value) -> Vec<String> {
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

/// Copies the named fields that say something into metadata.
fn copied(of: &Value, names: &[&str]) -> Map<String, Value> {
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
fn paragraphs(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Puts the subject before a statement that does not name it.
fn about(subject: &str, statement: &str) -> String {
    if statement.to_lowercase().contains(&subject.to_lowercase()) {
        statement.to_owned()
    } else {
        format!("{subject}: {statement}")
    }
}

/// Returns the targets of wiki links in a text: `[[Target]]`, `[[Target|shown]]`.
fn wiki_links(text: &str) -> Vec<String> {
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
    use proptest::prelude::*;
    use serde_json::json;

    /// Calls every reader with a page, whatever folder it is from.
    fn read_page_by_all(pages: &Pages) {
        for form in FORMATS.iter().flat_map(|format| format.forms) {
            if let ForeignForm::Folder { is, read } = form {
                let _ = is(pages);
                for page in pages.all() {
                    let _ = read(page, pages);
                }
            }
        }
    }

    /// Calls every reader with an object, whatever list or table it is from.
    fn read_value_by_all(value: &Value) {
        for form in FORMATS.iter().flat_map(|format| format.forms) {
            match form {
                ForeignForm::Folder { .. } => {}
                ForeignForm::Objects { is, read } => drop((is(value), read(value))),
                ForeignForm::Tables(tables) => tables.iter().for_each(|table| drop((table.read)(value))),
            }
        }
    }

    #[test]
    fn each_source_has_one_row() {
        let sources: std::collections::BTreeSet<&str> = FORMATS.iter().map(|format| format.source).collect();
        assert_eq!(sources.len(), FORMATS.len());
    }

    #[test]
    fn a_list_is_taken_out_of_its_export() {
        let memory = json!({"id": "m1", "memory": "x", "hash": "y"});
        assert_eq!(listed(json!({"results": [memory], "relations": []})), Ok(vec![memory.clone()]));
        assert_eq!(listed(json!({"results": [{"a": 1}]})), Err(json!({"results": [{"a": 1}]})));
        assert_eq!(listed(memory.clone()), Err(memory));
        assert_eq!(wiki_links("[[a]] [[b|c]] [[a]] [[d\n]] [[[[e]]"), ["a", "b", "e"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_page_is_read(path in "[a-zé/]{0,8}(MEMORY|index|note|x)?(\\.md)?", head in ".{0,60}", text in "(?s).{0,200}") {
            for text in [text.clone(), format!("---\ntitle: a\ntype: b\npermalink: c\nname: {head}\n---\n{text}"), format!("- [{head}] {text} #x (y)\n# Task Group:{text}\n## User preferences\n- {head} [Task 1]")] {
                read_page_by_all(&Pages::new(vec![ForeignPage::new(path.clone(), &text, None)]));
            }
        }

        #[test]
        fn any_object_is_read(text in ".{0,40}", number in any::<i64>()) {
            let of = |value: Value| {
                let names = ["id", "memory", "memory_id", "new_memory", "next", "text", "title", "facts", "fields", "fact_type",
                    "metadata", "tags", "entities", "created_at", "created_at_epoch", "categories", "state"];
                Value::Object(names.iter().map(|name| ((*name).to_owned(), value.clone())).collect())
            };
            for value in [json!(text), json!(number), json!([text, number]), json!({"a": text}), Value::Null] {
                read_value_by_all(&value);
                read_value_by_all(&of(value));
            }
        }
    }
}
