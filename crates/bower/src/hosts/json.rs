//! Edits JSON with comments, and leaves everything else as it is written.
//! An error in a file names its line.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

/// Syntax that hosts accept: JSON with comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Byte order mark; it is kept.
const MARK: char = '\u{feff}';

/// Sets a member of the object at a path. Missing objects are made.
pub fn set(text: &str, at: &[&str], name: &str, value: &Value) -> Result<String, String> {
    changed(text, |root| {
        let object = made(root, at)?;
        match only(&object, name)? {
            Some(member) => member.set_value(input(value)),
            None => drop(object.append(name, input(value))),
        }
        Ok(())
    })
}

/// Sets a member of the root if the root has none of this name.
pub fn set_absent(text: &str, name: &str, value: &Value) -> Result<String, String> {
    changed(text, |root| {
        let object = made(root, &[])?;
        if object.get(name).is_none() {
            object.append(name, input(value));
        }
        Ok(())
    })
}

/// Adds an element to the list at a path. A missing list is made.
pub fn add(text: &str, at: &[&str], value: &Value) -> Result<String, String> {
    changed(text, |root| {
        let (last, outer) = at.split_last().ok_or("no path")?;
        let object = made(root, outer)?;
        let list = match only(&object, last)? {
            Some(member) => member.array_value().ok_or_else(|| other(at, "a list"))?,
            None => object.array_value_or_create(last).ok_or_else(|| other(at, "a list"))?,
        };
        list.append(input(value));
        Ok(())
    })
}

/// Removes a member of the object at a path, and objects that become empty.
pub fn remove(text: &str, at: &[&str], name: &str) -> Result<String, String> {
    changed(text, |root| {
        let Some(object) = found(root, at)? else { return Ok(()) };
        if let Some(member) = only(&object, name)? {
            member.remove();
            prune(root, at)?;
        }
        Ok(())
    })
}

/// Removes our elements from the list at a path, and objects that become empty.
pub fn remove_items(text: &str, at: &[&str]) -> Result<String, String> {
    changed(text, |root| {
        let Some((last, outer)) = at.split_last() else { return Ok(()) };
        let Some(object) = found(root, outer)? else { return Ok(()) };
        let Some(list) = only(&object, last)?.and_then(|member| member.array_value()) else { return Ok(()) };
        let mut removed = false;
        for element in list.elements() {
            removed |= without_ours(element);
        }
        if removed && list.elements().is_empty() {
            if let Some(member) = only(&object, last)? {
                member.remove();
            }
            prune(root, outer)?;
        }
        Ok(())
    })
}

/// Removes a handler of ours, or ours within a group; removes the group if it has no others. Returns whether anything was
/// removed.
fn without_ours(element: CstNode) -> bool {
    let Some(object) = element.as_object() else { return false };
    if holds_ours(&object) {
        element.remove();
        return true;
    }
    let Some(handlers) = object.get("hooks").and_then(|member| member.array_value()) else { return false };
    let ours: Vec<CstNode> = handlers
        .elements()
        .into_iter()
        .filter(|handler| handler.as_object().is_some_and(|handler| holds_ours(&handler)))
        .collect();
    if ours.is_empty() {
        return false;
    }
    if ours.len() == handlers.elements().len() {
        element.remove();
    } else {
        ours.into_iter().for_each(CstNode::remove);
    }
    true
}

fn holds_ours(object: &CstObject) -> bool {
    let command = object.get("command").and_then(|member| member.value());
    let command = command.and_then(|value| value.as_string_lit()).and_then(|text| text.decoded_value().ok());
    command.is_some_and(|command| is_ours(&command))
}

/// Whether we wrote the command of a hook: its program has our name, and one of its words is `hook`.
pub fn is_ours(command: &str) -> bool {
    let command = command.trim_start();
    let (program, rest) = match command.chars().next() {
        Some(quote @ ('\'' | '"')) => command[1..].split_once(quote).unwrap_or((&command[1..], "")),
        Some(_) => command.split_once(' ').unwrap_or((command, "")),
        None => return false,
    };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "bower" | "bower.exe") && rest.split_whitespace().any(|word| word == "hook")
}

/// Removes objects along a path that have become empty, the innermost first.
fn prune(root: &CstRootNode, at: &[&str]) -> Result<(), String> {
    for length in (1..=at.len()).rev() {
        let Some(inner) = found(root, &at[..length])? else { continue };
        if !inner.properties().is_empty() || has_comment(&inner) {
            break;
        }
        let Some(outer) = found(root, &at[..length - 1])? else { break };
        if let Some(member) = only(&outer, at[length - 1])? {
            member.remove();
        }
    }
    Ok(())
}

fn has_comment(object: &CstObject) -> bool {
    object.children().iter().any(CstNode::is_comment)
}

/// Parses a text, changes it and prints it. The result is parsed again, as a check.
fn changed(text: &str, change: impl FnOnce(&CstRootNode) -> Result<(), String>) -> Result<String, String> {
    let (mark, body) = match text.strip_prefix(MARK) {
        Some(body) => (MARK.to_string(), body),
        None => (String::new(), text),
    };
    let root = CstRootNode::parse(body, &OPTIONS).map_err(|error| decapitalised(&error.to_string()))?;
    let was_empty = root.value().is_none();
    change(&root)?;
    let printed = root.to_string();
    // A file ends with a line feed; one that was empty has none that could be kept.
    let end = if was_empty && root.value().is_some() && !printed.ends_with('\n') { "\n" } else { "" };
    let printed = format!("{mark}{printed}{end}");
    if printed != text {
        let body = printed.strip_prefix(MARK).unwrap_or(&printed);
        CstRootNode::parse(body, &OPTIONS).map_err(|error| format!("the change would break it: {error}"))?;
    }
    Ok(printed)
}

/// Returns the object at a path; `None` if there is none.
fn found(root: &CstRootNode, at: &[&str]) -> Result<Option<CstObject>, String> {
    let Some(value) = root.value() else { return Ok(None) };
    let mut object = value.as_object().ok_or_else(|| other(&[], "an object"))?;
    for name in at {
        let Some(member) = only(&object, name)? else { return Ok(None) };
        let Some(inner) = member.object_value() else { return Ok(None) };
        object = inner;
    }
    Ok(Some(object))
}

/// Returns the object at a path, and makes missing ones.
fn made(root: &CstRootNode, at: &[&str]) -> Result<CstObject, String> {
    let mut object = root.object_value_or_create().ok_or_else(|| other(&[], "an object"))?;
    for (depth, name) in at.iter().enumerate() {
        object = match only(&object, name)? {
            Some(member) => member.object_value().ok_or_else(|| other(&at[..=depth], "an object"))?,
            None => object.object_value_or_create(name).ok_or_else(|| other(&at[..=depth], "an object"))?,
        };
    }
    Ok(object)
}

/// Returns a member by its name. Two members of one name are an error: hosts read the last, so neither can be changed safely.
fn only(object: &CstObject, name: &str) -> Result<Option<jsonc_parser::cst::CstObjectProp>, String> {
    let mut found =
        object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("{name} is in the file twice; remove one"));
    }
    Ok(first)
}

fn other(at: &[&str], wanted: &str) -> String {
    match at {
        [] => format!("its outermost value is not {wanted}"),
        at => format!("{} is not {wanted}", at.join(".")),
    }
}

fn decapitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(all) => CstInputValue::Array(all.iter().map(input).collect()),
        Value::Object(all) => {
            let mut members: Vec<(String, CstInputValue)> =
                all.iter().map(|(name, value)| (name.clone(), input(value))).collect();
            members
                .sort_by_key(|(name, _)| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
            CstInputValue::Object(members)
        }
    }
}

/// Order of members in hosts' own documents.
const FIRST: [&str; 6] = ["type", "name", "matcher", "hooks", "command", "args"];

/// Returns the list at a path, for tests.
#[cfg(test)]
pub fn list_at(text: &str, at: &[&str]) -> Option<jsonc_parser::cst::CstArray> {
    let root = CstRootNode::parse(text, &OPTIONS).ok()?;
    let (last, outer) = at.split_last()?;
    found(&root, outer).ok()??.get(last)?.array_value()
}
