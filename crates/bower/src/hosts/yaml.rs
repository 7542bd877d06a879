//! Edits YAML, and leaves everything else as it is written.
//! It sets one name in one block of the root, found line by line. The result is parsed again, and is used only if it differs
//! from the original in that name alone.

use serde_json::{Map, Value};

/// Sets a name in a block of the root.
pub fn set(text: &str, block: &str, name: &str, value: &str) -> Result<String, String> {
    let before = parsed(text)?;
    let mut wanted = before.clone();
    let inner = wanted.entry(block).or_insert(Value::Null);
    if inner.is_null() {
        *inner = Value::Object(Map::new());
    }
    let inner = inner.as_object_mut().ok_or_else(|| format!("{block} is not a block of names"))?;
    inner.insert(name.to_owned(), value.into());
    checked(with(text, block, name, Some(value)), &wanted, block, name)
}

/// Removes a name from a block if it has this value, and the block if it becomes empty.
pub fn remove(text: &str, block: &str, name: &str, value: &str) -> Result<String, String> {
    let mut wanted = parsed(text)?;
    let Some(inner) = wanted.get_mut(block).and_then(Value::as_object_mut) else {
        return Ok(text.to_owned());
    };
    if inner.get(name).and_then(Value::as_str) != Some(value) {
        return Ok(text.to_owned());
    }
    inner.remove(name);
    if inner.is_empty() {
        wanted.remove(block);
    }
    checked(with(text, block, name, None), &wanted, block, name)
}

/// Parses the root; an empty file gives an empty map.
fn parsed(text: &str) -> Result<Map<String, Value>, String> {
    let line =
        |error: &dyn std::fmt::Display| error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("its root is not a block of names".to_owned()),
        Err(_) if text.lines().all(is_quiet) => Ok(Map::new()),
        Err(error) => Err(line(&error)),
    }
}

fn checked(text: String, wanted: &Map<String, Value>, block: &str, name: &str) -> Result<String, String> {
    if parsed(&text).is_ok_and(|read| read == *wanted) {
        return Ok(text);
    }
    Err(format!(
        "{block} is written in a form that is not changed by this program; set {name} below {block} by hand"
    ))
}

/// Returns the text with a name set, or removed if there is no value.
fn with(text: &str, block: &str, name: &str, value: Option<&str>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(head) = lines.iter().position(|line| indent(line) == 0 && key(line) == Some(block)) else {
        let Some(value) = value else { return text.to_owned() };
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        return format!("{text}{gap}{block}:{newline}  {name}: {value}{newline}");
    };
    let body = lines[head + 1..].iter().take_while(|line| is_quiet(line) || indent(line) > 0).count();
    let body = head + 1..head + 1 + body;
    let deep = body.clone().map(|at| lines[at]).find(|line| !is_quiet(line)).map_or(2, indent);
    let there = body.clone().find(|&at| indent(lines[at]) == deep && key(lines[at]) == Some(name));
    let mut out: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match (there, value) {
        (Some(at), Some(value)) => {
            out[at] = format!("{}{name}: {value}{}", " ".repeat(deep), tail(lines[at]));
        }
        (Some(at), None) => {
            let is_alone = body.clone().all(|other| other == at || is_quiet(lines[other]));
            out.remove(at);
            if is_alone {
                out.remove(head);
            }
        }
        (None, Some(value)) => {
            if !out[head].ends_with('\n') {
                out[head].push_str(newline);
            }
            out.insert(head + 1, format!("{}{name}: {value}{newline}", " ".repeat(deep)));
        }
        (None, None) => {}
    }
    out.concat()
}

/// Returns the name that a line sets.
fn key(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start_matches(' ').split_once(':')?;
    let plain = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    plain.then(|| name.trim_end().trim_matches(['"', '\'']))
}

/// Returns the rest of a line after its value: its comment and its end.
fn tail(line: &str) -> &str {
    let comment = line.find(" #").map(|at| line[..at].trim_end().len());
    let end = line.trim_end_matches(['\r', '\n']).len();
    &line[comment.unwrap_or(end)..]
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether a line is blank, a comment or a document marker.
fn is_quiet(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        assert_eq!(set(before, "memory", "provider", "bowerbird").as_deref(), Ok(after));
    }

    #[test]
    fn one_name_changes_and_nothing_else() {
        check("", "memory:\n  provider: bowerbird\n");
        check("# mine\nmodel: x", "# mine\nmodel: x\nmemory:\n  provider: bowerbird\n");
        check(
            "memory:\n    provider: honcho # old\n    x: 1\nz: 2\n",
            "memory:\n    provider: bowerbird # old\n    x: 1\nz: 2\n",
        );
        check(
            "a: 1\nmemory:\n  # note\n\n  limit: 3\n",
            "a: 1\nmemory:\n  provider: bowerbird\n  # note\n\n  limit: 3\n",
        );
        check("memory:\r\n  x: 1\r\n", "memory:\r\n  provider: bowerbird\r\n  x: 1\r\n");
        check("memory:", "memory:\n  provider: bowerbird\n");
        check("memory:\n  provider: ''\n", "memory:\n  provider: bowerbird\n");
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for text in [
            "memory: {provider: x}\n",
            "- a\n",
            "memory: [\n",
            "memory: none\n",
            "memory: &m\n  x: 1\nb: *m\n",
        ] {
            let changed = set(text, "memory", "provider", "bowerbird");
            assert!(changed.is_err(), "{text}: {changed:?}");
        }
    }

    #[test]
    fn it_is_taken_out_where_it_is_ours() {
        let out = |text: &str| remove(text, "memory", "provider", "bowerbird");
        assert_eq!(out("a: 1\nmemory:\n  provider: bowerbird\n").as_deref(), Ok("a: 1\n"));
        assert_eq!(out("memory:\n  provider: bowerbird\n  x: 1\n").as_deref(), Ok("memory:\n  x: 1\n"));
        assert_eq!(out("memory:\n  provider: honcho\n").as_deref(), Ok("memory:\n  provider: honcho\n"));
        assert_eq!(out("").as_deref(), Ok(""));
    }
}
