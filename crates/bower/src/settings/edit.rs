//! config.toml as text: reading it with line numbers, and changing one value so that everything else stays as written.

use serde_json::Value;
use std::path::Path;
use toml_edit::{Document, DocumentMut, Item};

use super::{Knob, checked, known};
use crate::failure::{Failure, Result, one_line};

/// The file's settings, checked; the first that cannot be meant is an error with its line.
pub fn read(path: &Path, text: &str) -> Result<Vec<(&'static str, Value)>> {
    let document = Document::parse(text).map_err(|source| unreadable(path, text, &source))?;
    let place = |span: Option<std::ops::Range<usize>>| {
        format!("{}:{}", path.display(), line_of(text, span.map_or(0, |span| span.start)))
    };
    let mut values = Vec::new();
    for (key, item) in document.as_table().iter() {
        let span = document.as_table().key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
        let knob = known(key).map_err(|why| {
            Failure::environment(format!("{}: unknown setting {}", place(span.clone()), one_line(key)), why)
        })?;
        let value = scalar(item).and_then(|value| checked(knob, value)).map_err(|why| {
            Failure::environment(
                format!("{}: {key}: {}", place(span), one_line(&why)),
                "bower config set writes it for you",
            )
        })?;
        values.push((knob.key, value));
    }
    Ok(values)
}

/// The text with one value set.
pub fn set(path: &Path, text: &str, knob: &Knob, value: &Value) -> Result<String> {
    let mut document = parsed(path, text)?;
    let mut new = match value {
        Value::String(word) => toml_edit::Value::from(word.as_str()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml_edit::Value::from(whole),
            None => toml_edit::Value::from(number.as_f64().unwrap_or_default()),
        },
        Value::Bool(on) => toml_edit::Value::from(*on),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            return Err(Failure::internal(format!("no setting holds {value}")));
        }
    };
    match document.get_mut(knob.key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            // What follows the last line (comments, blank lines) would otherwise end up after the new line.
            let trailing = document.trailing().as_str().unwrap_or_default().to_string();
            document.set_trailing("");
            document.insert(knob.key, Item::Value(new));
            if !trailing.is_empty()
                && let Some(mut key) = document.key_mut(knob.key)
            {
                let end = if trailing.ends_with('\n') { "" } else { "\n" };
                key.leaf_decor_mut().set_prefix(format!("{trailing}{end}"));
            }
        }
    }
    Ok(document.to_string())
}

/// The text without one value; none, if it was not there.
pub fn unset(path: &Path, text: &str, key: &str) -> Result<Option<String>> {
    let mut document = parsed(path, text)?;
    let before = document
        .key(key)
        .and_then(|key| key.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).map(String::from));
    if document.remove(key).is_none() {
        return Ok(None);
    }
    // The comment lines above the value are kept, above what is now first after it.
    let Some(before) = before.filter(|text| !text.trim().is_empty()) else {
        return Ok(Some(document.to_string()));
    };
    let at = text.find(&before).unwrap_or_default();
    let after = text[at + before.len()..].split_once('\n').map_or("", |(_, rest)| rest);
    Ok(Some(format!("{}{before}{after}", &text[..at])))
}

fn parsed(path: &Path, text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|source| unreadable(path, text, &source))
}

fn unreadable(path: &Path, text: &str, source: &toml_edit::TomlError) -> Failure {
    let line = line_of(text, source.span().map_or(0, |span| span.start));
    Failure::environment(
        format!("{}:{line}: {}", path.display(), one_line(source.message())),
        "write settings as KEY = VALUE, text in quotes",
    )
}

fn scalar(item: &Item) -> Result<Value, String> {
    let value = item.as_value().ok_or("a table, where one value is wanted")?;
    match value {
        toml_edit::Value::String(text) => Ok(text.value().as_str().into()),
        toml_edit::Value::Integer(number) => Ok((*number.value()).into()),
        toml_edit::Value::Float(number) => Ok((*number.value()).into()),
        toml_edit::Value::Boolean(on) => Ok((*on.value()).into()),
        toml_edit::Value::Datetime(_) | toml_edit::Value::Array(_) | toml_edit::Value::InlineTable(_) => {
            Err(format!("{} is not one plain value", value.to_string().trim()))
        }
    }
}

/// Lines count from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}
