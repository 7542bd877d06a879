//! Reads and changes config.toml as text.
//! It reads with line numbers, and changes one value so that everything else stays as written.

use serde_json::Value;
use std::path::Path;
use toml_edit::{Document, DocumentMut, Item, Key, Table, TableLike};

use super::knob::{Knob, checked};
use super::table::{RETIRED, knobs, known};
use crate::failure::{Failure, Hint, Result, one_line};

/// Settings with their values, and what a file has from earlier versions.
type Read = (Vec<(&'static str, Value)>, Former);

/// What a file has from earlier versions.
#[derive(Debug, Default)]
pub struct Former {
    /// Names of earlier versions, each with the present name.
    pub renamed: Vec<(String, String)>,
    /// Settings that have no effect any more.
    pub retired: Vec<String>,
}

/// Reads and checks the file's settings. The first invalid one is an error with its line.
pub fn read(path: &Path, text: &str) -> Result<Read> {
    let document = Document::parse(text).map_err(|source| unreadable(path, text, &source))?;
    let place = |span: Option<std::ops::Range<usize>>| {
        format!("{}:{}", path.display(), line_of(text, span.map_or(0, |span| span.start)))
    };
    let (mut values, mut former) = (Vec::new(), Former::default());
    let mut take = |key: &str, name: Option<&Key>, item: &Item| -> Result<()> {
        let span = name.and_then(Key::span).or_else(|| item.span());
        if RETIRED.contains(&key) {
            former.retired.push(key.to_owned());
            return Ok(());
        }
        let knob = known(key).map_err(|why| {
            Failure::environment(
                format!("{}: unknown setting {}", place(span.clone()), one_line(key)),
                Hint::Person(why.into()),
            )
        })?;
        let value = scalar(item).and_then(|value| checked(knob, value)).map_err(|why| {
            Failure::environment(
                format!("{}: {key}: {}", place(span), one_line(&why)),
                Hint::person("bower config set writes it for you"),
            )
        })?;
        // If a file contains both names, the present one counts, whichever comes first.
        let is_former = key != knob.key;
        if is_former {
            former.renamed.push((key.to_owned(), knob.key.to_owned()));
        }
        if !is_former || !values.iter().any(|(known, _)| *known == knob.key) {
            values.push((knob.key, value));
        }
        Ok(())
    };
    let top = document.as_table();
    for (key, item) in top {
        if !is_table(key) {
            take(key, top.key(key), item)?;
            continue;
        }
        let Some(table) = item.as_table_like() else {
            let span = top.key(key).and_then(Key::span).or_else(|| item.span());
            return Err(Failure::environment(
                format!("{}: {key}: {}", place(span), no_table(item)),
                format!("write [{key}] and its settings below it"),
            ));
        };
        for (last, item) in table.iter() {
            take(&format!("{key}.{last}"), table.key(last), item)?;
        }
    }
    Ok((values, former))
}

/// Whether the file groups settings in a table of this name.
fn is_table(name: &str) -> bool {
    knobs().any(|knob| knob.key.split_once('.').is_some_and(|(table, _)| table == name))
}

fn no_table(item: &Item) -> String {
    match item.as_value() {
        Some(value) => format!("{} is not a table of settings", value.to_string().trim()),
        None => "a list of tables, where one is wanted".into(),
    }
}

/// Returns the text with one value set.
pub fn set(path: &Path, text: &str, knob: &Knob, value: &Value) -> Result<String> {
    let mut document = parsed(path, text)?;
    let new = match value {
        Value::String(word) => toml_edit::Value::from(word.as_str()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml_edit::Value::from(whole),
            None => toml_edit::Value::from(number.as_f64().unwrap_or_default()),
        },
        Value::Bool(on) => toml_edit::Value::from(*on),
        Value::Array(all) => {
            toml_edit::Value::Array(all.iter().filter_map(Value::as_str).collect::<toml_edit::Array>())
        }
        Value::Null | Value::Object(_) => {
            return Err(Failure::internal(format!("no setting holds {value}")));
        }
    };
    let Some((name, key)) = knob.key.split_once('.') else {
        let is_last = document.iter().all(|(_, item)| item.is_value());
        let trailing = if is_last { take_trailing(&mut document) } else { String::new() };
        put(document.as_table_mut(), knob.key, new, &trailing);
        return Ok(document.to_string());
    };
    if document.get(name).is_none_or(Item::is_none) {
        let trailing = take_trailing(&mut document);
        let mut table = Table::new();
        table.insert(key, Item::Value(new));
        let gap = if document.is_empty() && trailing.is_empty() { "" } else { "\n" };
        table.decor_mut().set_prefix(format!("{trailing}{gap}"));
        document.insert(name, Item::Table(table));
        return Ok(document.to_string());
    }
    let is_last = document.iter().last().is_some_and(|(last, item)| last == name && !item.is_value());
    let trailing = if is_last { take_trailing(&mut document) } else { String::new() };
    let item = document.get_mut(name).expect("it was just seen");
    let told = no_table(item);
    let Some(table) = item.as_table_like_mut() else {
        return Err(Failure::environment(
            format!("{}: {name}: {told}", path.display()),
            format!("write [{name}] and its settings below it"),
        ));
    };
    let is_new = table.get(key).is_none();
    put(table, key, new, &trailing);
    if let Some(inline) = item.as_inline_table_mut().filter(|_| is_new) {
        inline.fmt();
    }
    Ok(document.to_string())
}

/// Removes and returns the text after the last line (comments, blank lines). Otherwise a new last line would be
/// inserted above it.
fn take_trailing(document: &mut DocumentMut) -> String {
    let mut trailing = document.trailing().as_str().unwrap_or_default().to_string();
    document.set_trailing("");
    if !trailing.is_empty() && !trailing.ends_with('\n') {
        trailing.push('\n');
    }
    trailing
}

/// Sets a value in place, keeping its comments, or adds it at the table's end, after `trailing`.
fn put(table: &mut dyn TableLike, key: &str, mut new: toml_edit::Value, trailing: &str) {
    if let Some(old) = table.get_mut(key).and_then(Item::as_value_mut) {
        *new.decor_mut() = old.decor().clone();
        *old = new;
        return;
    }
    table.insert(key, Item::Value(new));
    if !trailing.is_empty()
        && let Some(mut key) = table.key_mut(key)
    {
        key.leaf_decor_mut().set_prefix(trailing);
    }
}

/// Returns the text without one value; none if it is not there. A table that becomes empty is removed too.
pub fn unset(path: &Path, text: &str, key: &str) -> Result<Option<String>> {
    let mut document = parsed(path, text)?;
    let (table, last): (&mut dyn TableLike, &str) = match key.split_once('.') {
        None => (document.as_table_mut(), key),
        Some((name, last)) => match document.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(table) => (table, last),
            None => return Ok(None),
        },
    };
    let before = table
        .key(last)
        .and_then(|key| key.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).map(String::from));
    if table.remove(last).is_none() {
        return Ok(None);
    }
    let is_bare = table.is_empty();
    // The comment lines above the value are kept. They now precede whatever followed the value.
    let Some(before) = before.filter(|text| !text.trim().is_empty()) else {
        if let Some((name, _)) = key.split_once('.').filter(|_| is_bare) {
            remove_table(&mut document, name);
        }
        return Ok(Some(document.to_string()));
    };
    let at = text.find(&before).unwrap_or_default();
    let after = text[at + before.len()..].split_once('\n').map_or("", |(_, rest)| rest);
    Ok(Some(format!("{}{before}{after}", &text[..at])))
}

/// Removes an empty table, unless there is a comment above it.
fn remove_table(document: &mut DocumentMut, name: &str) {
    let said = document.get(name).and_then(Item::as_table).and_then(|table| table.decor().prefix()?.as_str());
    if said.is_none_or(|text| text.trim().is_empty()) {
        document.remove(name);
    }
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
        toml_edit::Value::Array(all) => {
            let word = |value: &toml_edit::Value| value.as_str().map(Value::from);
            all.iter()
                .map(word)
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
                .ok_or_else(|| format!("{} is not a list of texts in quotes", value.to_string().trim()))
        }
        toml_edit::Value::Datetime(_) | toml_edit::Value::InlineTable(_) => {
            Err(format!("{} is not one plain value", value.to_string().trim()))
        }
    }
}

/// Returns the line of a byte offset, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}
