//! Prints and parses a memory as a file that people edit: YAML between two lines of `---`, then its text.
//! A printed file is parsed back to the byte. Edits by hand may use any style of YAML.
//!
//! The parser is the crate that parses the front matter of documents. The printer writes a subset that is small enough
//! to be checked by reading. It has one key a line, plain words, numbers, quoted texts and lists in one line, and one
//! map of fields.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A file in its two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The fields of the front matter.
    pub fields: Map<String, Value>,
    /// The text: everything after the front matter except one line break at its end.
    pub body: String,
}

/// Writes a page; fields of `Null`, and empty maps, are left out.
pub fn print_page(fields: &[(&str, Value)], body: &str) -> String {
    let mut page = "---\n".to_owned();
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::Object(map) if map.is_empty() => {}
            Value::Object(map) => {
                let _ = writeln!(page, "{name}:");
                for (name, value) in map {
                    let _ = writeln!(page, "  {}: {}", scalar(name), flow(value));
                }
            }
            Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let _ = writeln!(page, "{name}: {}", flow(value));
            }
        }
    }
    page + "---\n" + body + "\n"
}

/// Parses a page; the error describes in one line what is wrong with its front matter. A file without front matter is all body.
pub fn read_page(text: &str) -> Result<Page, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // An editor that uses other line ends does so in the whole file.
    let unified;
    let text = if text.starts_with("---\r\n") {
        unified = text.replace("\r\n", "\n");
        &unified
    } else {
        text
    };
    let whole = |body: &str| body.strip_suffix('\n').unwrap_or(body).to_owned();
    let Some(inside) = text.strip_prefix("---\n") else {
        return Ok(Page { fields: Map::new(), body: whole(text) });
    };
    let mut at = 0;
    for line in inside.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let (head, body) = (&inside[..at], &inside[at + line.len()..]);
            let fields = match read_head(head)? {
                Value::Object(fields) => fields,
                Value::Null => Map::new(),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    return Err("the head between the two --- is no list of `key: value` lines".to_owned());
                }
            };
            return Ok(Page { fields, body: whole(body) });
        }
        at += line.len();
    }
    Err("the head has no second line of ---".to_owned())
}

fn read_head(head: &str) -> Result<Value, String> {
    if head.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str::<Value>(head).map_err(|error| {
        let text = error.to_string();
        format!("the head is no YAML: {}", text.lines().next().unwrap_or_default())
    })
}

fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => scalar(text),
        Value::Array(values) => format!("[{}]", values.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let fields: Vec<String> =
                map.iter().map(|(name, value)| format!("{}: {}", quoted(name), flow(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Writes a text so that YAML parses it back: plain if it cannot be mistaken for another value, else quoted.
fn scalar(text: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | ' ');
    let is_plain = text.len() <= 200
        && text.starts_with(char::is_alphabetic)
        && text.chars().all(word)
        && !text.ends_with(' ')
        // Words that some YAML parser reads as a boolean, null or a number.
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"]
            .contains(&text.to_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Characters that YAML reads as a line break or forbids.
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_people_write_is_read() {
        let text = "---\n# who wrote this?\nid: \"0123456789abcdef\" # quoted\ntags:\n  - api\n  - 'two: three'\nkeywords: [a, \"b, c\",]\n\
                    importance: .5\npinned: true\nowner: 'Ada ''L'''\nnote: >\n  folded\n  text\nmetadata: {port: 8080, \"k\": [1, x]}\n---\n\
                    The body.\n---\nIts second part.\n";
        let page = read_page(text).unwrap();
        let expected = json!({"id": "0123456789abcdef", "tags": ["api", "two: three"], "keywords": ["a", "b, c"],
            "importance": 0.5, "pinned": true, "owner": "Ada 'L'", "note": "folded text\n",
            "metadata": {"port": 8080, "k": [1, "x"]}});
        assert_eq!(Value::Object(page.fields), expected);
        assert_eq!(page.body, "The body.\n---\nIts second part.");
        let crlf = read_page("---\r\ntype: fact\r\n---\r\none\r\ntwo\r\n").unwrap();
        assert_eq!((crlf.fields["type"].as_str(), crlf.body.as_str()), (Some("fact"), "one\ntwo"));
        assert_eq!(read_page("just text\n").unwrap(), Page { fields: Map::new(), body: "just text".into() });
        assert!(read_page("---\n---\nx").unwrap().fields.is_empty());
        for (text, reason) in [
            ("---\nid: x\n", "no second line"),
            ("---\n- a\n---\n", "no list of"),
            ("---\na: [1\n---\n", "no YAML"),
        ] {
            let error = read_page(text).unwrap_err();
            assert!(error.contains(reason) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_page_is_plain_to_read() {
        let fields = [
            ("id", json!("0123456789abcdef")),
            ("type", json!("fact")),
            ("tags", json!(["api", "v2"])),
            ("owner", Value::Null),
            ("created", json!("2025-03-01T09:00:00Z")),
            ("metadata", json!({"a b": {"c": [true, null]}, "port": 8080, "yes": "no"})),
        ];
        let expected = "---\nid: \"0123456789abcdef\"\ntype: fact\ntags: [api, v2]\ncreated: \"2025-03-01T09:00:00Z\"\nmetadata:\n  \
                        a b: {\"c\": [true, null]}\n  port: 8080\n  \"yes\": \"no\"\n---\nThe API listens on 8080.\n";
        assert_eq!(print_page(&fields, "The API listens on 8080."), expected);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |f| serde_json::Number::from_f64(f).map(Value::Number)),
            any::<String>().prop_map(Value::from),
            "(true|no|null|~|0x1f|1e3|12:30|- a|#b|1_000|.inf|---|<<|2024-01-01)".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            fields in prop::collection::btree_map(any::<String>(), value(), 1..4),
            word in any::<String>(),
            list in prop::collection::vec(any::<String>(), 0..3),
            body in any::<String>(),
        ) {
            let fields: Map<String, Value> = fields.into_iter().collect();
            let list: Vec<Value> = list.into_iter().map(Value::from).collect();
            let head = [("word", Value::from(word)), ("list", Value::Array(list)), ("metadata", Value::Object(fields))];
            let page = read_page(&print_page(&head, &body)).unwrap();
            prop_assert_eq!(page.body, body);
            for (name, value) in head {
                prop_assert_eq!(&page.fields[name], &value);
            }
        }
    }
}
