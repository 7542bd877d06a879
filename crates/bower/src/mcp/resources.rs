//! Serves resources, which are read without a tool: one item, canonical memory, and the log of a session.

use bower_core::error::{Error, Missing};
use bower_core::prompt::PromptText;
use bower_core::request::Item;
use jiff::Timestamp;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceTemplate};
use serde_json::{Value, json};
use std::fmt::Write as _;

use super::compat::{System, athena};
use super::session::{self, MOST, SESSION};
use super::{content, errors, responses};
use crate::failure::Exit;
use crate::render;
use crate::service::{Bounds, Refused, Served, Service};

/// Prefix of the URI of an item; its id follows.
pub const ITEM: &str = "bower://item/";
/// URI of canonical memory.
pub const CANONICAL: &str = "bower://memory/canonical";
/// URI of the log of this server's session.
const CURRENT: &str = "bower://session/current";

/// Returns the resources of this server.
pub fn listed(compat: Option<System>) -> Vec<Resource> {
    let mut all = vec![
        Resource::new(CANONICAL, "canonical memory")
            .with_description("What canonical documents (CANONICAL.md, or the setting canonical_files) say: the most trusted source")
            .with_mime_type("text/markdown"),
        Resource::new(CURRENT, "this session")
            .with_description("What was kept in this session, oldest first")
            .with_mime_type("text/markdown"),
    ];
    match compat {
        Some(System::Athena) => all.extend(athena::resources()),
        Some(System::Ade | System::Brv) | None => {}
    }
    all
}

/// Returns the templates of resources that are read by a name or id.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{ITEM}{{id}}"), "item")
            .with_description(
                "One memory or chunk, whole, with its metadata; the first 6 digits of an id are enough",
            )
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{SESSION}{{name}}"), "session")
            .with_description("What was kept in a session, oldest first")
            .with_mime_type("text/markdown"),
    ]
}

/// A resource to read.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    Item(String),
    Canonical,
    /// The session of this server, or the last one with a checkpoint.
    Current,
    Session(String),
}

/// Parses a URI; none if it is not one of ours.
pub fn wanted(uri: &str, compat: Option<System>) -> Option<Wanted> {
    let is_athena = compat == Some(System::Athena);
    match uri {
        CANONICAL => Some(Wanted::Canonical),
        CURRENT => Some(Wanted::Current),
        athena::CANONICAL if is_athena => Some(Wanted::Canonical),
        athena::SESSION if is_athena => Some(Wanted::Current),
        _ => {
            let named = |name: &str| Some(decoded(name)).filter(|name| !name.trim().is_empty());
            if let Some(id) = uri.strip_prefix(ITEM) {
                return named(id).map(Wanted::Item);
            }
            named(uri.strip_prefix(SESSION)?).map(Wanted::Session)
        }
    }
}

/// Decodes percent escapes such as `%20`: clients escape the value of a template.
fn decoded(text: &str) -> String {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3).and_then(hex)).flatten();
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads a resource.
pub fn read(
    uri: &str,
    wanted: &Wanted,
    service: &Service,
    bounds: &Bounds,
    session: Option<&str>,
    now: Timestamp,
) -> Served<ReadResourceResult> {
    let (text, kind) = match wanted {
        Wanted::Item(id) => {
            let got = service.get(id, bounds, now)?;
            let exposure = got.given_time.map(|time| (got.given_count, time));
            let text = render::item::one(&got.memory, exposure, &responses::look(now));
            (PromptText::lines(&text), "text/plain")
        }
        Wanted::Canonical => (canonical(service, bounds)?, "text/markdown"),
        Wanted::Current => {
            let log = session::log(service, bounds, session, now)?;
            (
                log.map_or_else(
                    || PromptText::own("Nothing was kept in this session yet.\n"),
                    |log| log.text,
                ),
                "text/markdown",
            )
        }
        Wanted::Session(name) => {
            let kept = session::kept_in(name, service, bounds, now)?;
            if kept.is_empty() {
                let missing = Error::NotFound { what: Missing::Named("session"), id: name.clone() };
                return Err(Refused::Failed(missing.into()));
            }
            (session::told(name, &kept, now), "text/markdown")
        }
    };
    Ok(ReadResourceResult::new(vec![content::resource(text, uri, kind)]))
}

/// Returns the protocol's error for a resource that cannot be read.
pub fn trouble(uri: &str, refused: &Refused) -> ErrorData {
    let failure = refused.failure();
    let text = String::from(errors::text("resources/read", failure));
    let data = Some(json!({"uri": uri}));
    match failure.exit {
        Exit::Nothing | Exit::Usage => ErrorData::resource_not_found(text, data),
        Exit::Environment | Exit::Internal => ErrorData::internal_error(text, data),
    }
}

/// Returns the text of the canonical documents, in the order of each document, with each repeated path and heading
/// once.
fn canonical(service: &Service, bounds: &Bounds) -> Served<PromptText> {
    let chunks = service.canonical(bounds, MOST as usize)?;
    if chunks.is_empty() {
        let none = "No canonical document is indexed. The setting canonical_files names them; memory_index reads one.\n";
        return Ok(PromptText::own(none));
    }
    let field = |item: &Item, name: &str| {
        item.metadata.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (mut text, mut path, mut section) = (String::new(), String::new(), String::new());
    for chunk in &chunks {
        let (from, part) = (field(chunk, "path"), field(chunk, "section_title"));
        if from != path {
            let _ = writeln!(text, "{}<!-- {from} -->", if text.is_empty() { "" } else { "\n" });
            (path, section) = (from, String::new());
        }
        if part != section && !part.is_empty() {
            let _ = writeln!(text, "\n## {part}\n");
        }
        section = part;
        let _ = writeln!(text, "{}", chunk.content.trim());
    }
    // The headings are the documents' own.
    Ok(PromptText::lines(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |uri: &str, expected: Option<Wanted>| assert_eq!(wanted(uri, None), expected, "{uri}");
        check("bower://item/3f2a9c", Some(Wanted::Item("3f2a9c".into())));
        check("bower://item/", None);
        check("bower://item/%20", None);
        check("bower://memory/canonical", Some(Wanted::Canonical));
        check("bower://session/current", Some(Wanted::Current));
        check("bower://session/a%20b%2Fc%", Some(Wanted::Session("a b/c%".into())));
        check("bower://elsewhere", None);
        check("file:///etc/passwd", None);
        check("athena://memory/canonical", None);
        let athena = Some(System::Athena);
        assert_eq!(wanted("athena://memory/canonical", athena), Some(Wanted::Canonical));
        assert_eq!(wanted("athena://session/current", athena), Some(Wanted::Current));
    }
}
