//! Parses the front matter of a Markdown file: YAML (`---`) or TOML-like (`+++`).
//! Front matter that cannot be parsed stays text and is reported.

use serde_json::{Map, Value};

use super::tags;

/// The contents of front matter.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Frontmatter {
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    /// The byte where the body begins; 0 without front matter.
    pub body: usize,
    /// The byte where unparseable front matter ends, before which the text is not Markdown; 0 if there is none.
    pub broken: usize,
    /// What is wrong with it.
    pub note: Option<String>,
}

/// Longest front matter in bytes; longer ones count as text, because the parser would build a tree of all of it.
const MAX_BYTES: usize = 64 << 10;

/// Parses the front matter of a text whose line ends are `\n`.
pub(super) fn parse(text: &str) -> Frontmatter {
    let Some((yaml, body)) = fence(text, "---") else {
        return toml(text);
    };
    if yaml.trim().is_empty() {
        return Frontmatter { body, ..Frontmatter::default() };
    }
    match serde_saphyr::from_str::<Value>(yaml) {
        Ok(Value::Object(fields)) => from_fields(fields, body),
        // A thematic break, a sentence, another break: valid YAML, but no front matter.
        Ok(_) => Frontmatter::default(),
        Err(error) => {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            Frontmatter {
                broken: body,
                note: Some(format!("front matter kept as text: {first}")),
                ..Frontmatter::default()
            }
        }
    }
}

/// Returns the text between a first line `mark` and the next, and where the rest begins.
fn fence<'a>(text: &'a str, mark: &str) -> Option<(&'a str, usize)> {
    let inside = text.strip_prefix(mark)?.strip_prefix('\n')?;
    let start = text.len() - inside.len();
    let mut at = start;
    for line in inside.split_inclusive('\n') {
        let end = line.trim_end();
        if end == mark || (end == "..." && mark == "---") {
            return Some((&text[start..at], at + line.len()));
        }
        at += line.len();
        if at - start > MAX_BYTES {
            break;
        }
    }
    None
}

/// Parses `key = value` lines with strings, numbers, booleans and lists of them, as in Hugo's front matter; tables end it.
fn toml(text: &str) -> Frontmatter {
    let Some((inside, body)) = fence(text, "+++") else { return Frontmatter::default() };
    let mut fields = Map::new();
    for line in inside.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            break;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        // TOML's strings, numbers, booleans and lists of them are YAML's flow style too.
        if let Ok(value) = serde_saphyr::from_str::<Value>(value.trim()) {
            fields.insert(key.trim().trim_matches('"').to_owned(), value);
        }
    }
    from_fields(fields, body)
}

fn from_fields(fields: Map<String, Value>, body: usize) -> Frontmatter {
    let mut head = Frontmatter { body, ..Frontmatter::default() };
    for (key, value) in fields {
        match (key.to_ascii_lowercase().as_str(), value) {
            ("title", value @ (Value::String(_) | Value::Number(_))) => {
                head.title = Some(plain(&value).trim().to_owned()).filter(|title| !title.is_empty());
            }
            ("tags" | "tag" | "keywords", value) => add_tags(&mut head.tags, &value),
            (_, value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                head.metadata.insert(key, value);
            }
            (_, Value::Array(values))
                if values.iter().all(|value| !value.is_array() && !value.is_object()) =>
            {
                head.metadata.insert(key, Value::Array(values));
            }
            (_, Value::Null | Value::Array(_) | Value::Object(_)) => {}
        }
    }
    head
}

/// Adds a list of tags, or one string of tags separated by commas or, without commas, by white space.
fn add_tags(tags: &mut Vec<String>, value: &Value) {
    match value {
        Value::Array(values) => {
            for value in values {
                tags::add(tags, &plain(value));
            }
        }
        Value::String(list) if list.contains(',') => list.split(',').for_each(|tag| tags::add(tags, tag)),
        Value::String(list) => list.split_whitespace().for_each(|tag| tags::add(tags, tag)),
        other => tags::add(tags, &plain(other)),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, title: Option<&str>, tags: &[&str], metadata: &Value, rest: &str) {
        let head = parse(text);
        assert_eq!(head.title.as_deref(), title);
        assert_eq!(head.tags, tags);
        assert_eq!(&Value::Object(head.metadata), metadata);
        assert_eq!(&text[head.body..], rest);
    }

    #[test]
    fn heads_are_read_or_left_alone() {
        let head = "---\ntitle: Setup\ntags: [linux, '#net work', linux]\naliases: [a, b]\ndraft: true\nrank: 3\n\
                    date: 2024-05-01\nnested: {a: 1}\nempty:\n---\nBody\n";
        let metadata = json!({"aliases": ["a", "b"], "draft": true, "rank": 3, "date": "2024-05-01"});
        check(head, Some("Setup"), &["linux", "net work"], &metadata, "Body\n");
        check("---\ntags: one, two\n---", None, &["one", "two"], &json!({}), "");
        check("---\ntags: one #two\n...\nx", None, &["one"], &json!({}), "x");
        check("---\ntags: one two\n---\nx", None, &["one", "two"], &json!({}), "x");
        check(
            "+++\ntitle = \"T\"\ntags = [\"a\", \"b\"]\nweight = 2\n+++\nx",
            Some("T"),
            &["a", "b"],
            &json!({"weight": 2}),
            "x",
        );
        for text in ["# H\n", "---\nno end\n", "---\njust a sentence\n---\n", "----\na: b\n----\n"] {
            check(text, None, &[], &json!({}), text);
        }
        check("---\n---\nx", None, &[], &json!({}), "x");
    }

    #[test]
    fn a_broken_head_is_kept_and_noted() {
        let head = parse("---\ntitle: [unclosed\n---\nBody");
        assert_eq!((head.body, head.broken), (0, 25));
        assert!(head.note.expect("a note").starts_with("front matter kept as text: "));
    }
}
