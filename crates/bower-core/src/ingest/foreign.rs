//! Recognises the memories of other programs by their content, and reads them into one form.
//! [`FORMATS`] has a row for each program. A reader takes values and returns values: nothing here opens a file or a store.

mod basic_memory;
mod claude_code;
mod claude_mem;
mod codex;
mod form;
mod hindsight;
mod mem0;
mod mempalace;
mod okf;

use serde_json::Value;

pub use form::{ForeignMemory, ForeignPage, ForeignTable, Pages, ReadObject, Stale};

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
        read: ReadObject,
    },
    /// Tables of an SQLite database.
    Tables(&'static [ForeignTable]),
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

/// Returns the format of a JSON object, the first that recognises it, with its reader.
pub fn object_format(value: &Value) -> Option<(&'static ForeignFormat, ReadObject)> {
    let reader = |form: &ForeignForm| match form {
        ForeignForm::Objects { is, read } => is(value).then_some(*read),
        ForeignForm::Folder { .. } | ForeignForm::Tables(_) => None,
    };
    FORMATS.iter().find_map(|format| Some((format, format.forms.iter().find_map(reader)?)))
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
