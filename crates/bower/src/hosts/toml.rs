//! Edits TOML, and leaves everything else as it is written.
//! A new table goes to the end of the file, which is possible unless the file has its outer table on one line.

use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Sets a server's table in an outer table.
pub fn set(text: &str, at: &str, name: &str, command: &str, arguments: &[String]) -> Result<String, String> {
    let before = parsed(text)?;
    let mut entry = Table::new();
    entry.insert("command", toml_edit::value(command));
    entry.insert("args", toml_edit::value(Array::from_iter(arguments)));
    if is_there(&before, at, name) {
        return Err(format!("{at}.{name} is in the file already"));
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut added = String::new();
    if !text.is_empty() {
        added.push_str(if text.ends_with('\n') { newline } else { "\n\n" });
    }
    let body = entry.to_string().replace('\n', newline);
    let appended = format!("{text}{added}[{at}.{name}]{newline}{body}");
    if parsed(&appended).is_ok_and(|document| is_there(&document, at, name)) {
        return Ok(appended);
    }
    // The outer table is written on one line.
    let mut document = before;
    let outer = document.get_mut(at).and_then(Item::as_inline_table_mut);
    let outer = outer.ok_or_else(|| format!("{at} is not a table"))?;
    outer.insert(name, Value::InlineTable(entry.into_inline_table()));
    Ok(document.to_string())
}

/// Removes a server's table, and the outer one if it becomes empty.
pub fn remove(text: &str, at: &str, name: &str) -> Result<String, String> {
    let mut document = parsed(text)?;
    let Some(outer) = document.get_mut(at).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if outer.remove(name).is_none() {
        return Ok(text.to_owned());
    }
    if outer.is_empty() {
        document.remove(at);
    }
    Ok(document.to_string())
}

fn is_there(document: &DocumentMut, at: &str, name: &str) -> bool {
    document.get(at).and_then(Item::as_table_like).is_some_and(|outer| outer.contains_key(name))
}

/// Parses a document. The error names its line and column.
fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let place = error.span().map(|span| place(text, span.start));
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        match place {
            Some((line, column)) => format!("{message} on line {line} column {column}"),
            None => message,
        }
    })
}

fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}
