//! Converts a turn of a conversation into a document.
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::path::Path;

use crate::engine::Engine;
use crate::engine::index::sources::DocumentInput;
use crate::ingest::Turn;
use crate::item::Scope;
use crate::request::moving::ImportRequest;

/// Collection of conversations unless the request names one; Athena uses the same name.
pub(crate) const SESSIONS: &str = "sessions";

/// Returns a turn as a document of its conversation.
pub(crate) fn document(
    engine: &Engine,
    request: &ImportRequest,
    zone: &TimeZone,
    turn: Turn,
) -> DocumentInput {
    let name = turn.speaker.name(request.me.as_deref());
    let is_long = turn.text.len() > engine.settings.text_chunk_max;
    let mut title = turn.title.clone().unwrap_or_default();
    if let Some(time) = turn.time {
        let date = time.to_zoned(zone.clone()).strftime("%-d %B %Y, %H:%M").to_string();
        title = if title.is_empty() { date } else { format!("{title}, {date}") };
    }
    if is_long {
        // Its later chunks would not name the speaker.
        title = format!("{name}, {title}");
    }
    // A conversation that two owners import becomes separate documents.
    let place = match (request.scope, &request.owner) {
        (None, None) => String::new(),
        (scope, owner) => {
            format!("{}:{}/", scope.unwrap_or(Scope::Project), owner.as_deref().unwrap_or_default())
        }
    };
    // Long answers are Markdown: they are cut at their headings, and no code is separated from its fence.
    let extension = if is_long { ".md" } else { "" };
    DocumentInput {
        file: None,
        id: format!("{place}{}/{}/{}{extension}", turn.origin, turn.conversation, turn.id),
        title: Some(title),
        text: format!("{name}: {}", turn.text.trim()),
        collection: Some(request.collection.clone().unwrap_or_else(|| SESSIONS.to_owned())),
        metadata: fields(&turn, &name),
        provenance: Some(turn.provenance(request.me.as_deref())),
        host: Some(turn.origin.to_owned()),
        session: Some(turn.conversation),
    }
}

/// Returns the fields of a turn, for filters. The ranking reads an item's own time from `date`.
pub(crate) fn fields(turn: &Turn, name: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("speaker".to_owned(), json!(name));
    if let Some(time) = turn.time {
        fields.insert("date".to_owned(), json!(time.to_string()));
    }
    if let Some(title) = &turn.title {
        fields.insert("conversation".to_owned(), json!(title));
    }
    fields.insert("origin".to_owned(), json!(turn.origin));
    fields
}

/// Returns the name of a file's conversation where no line names it.
pub(crate) fn stem(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name)
}
