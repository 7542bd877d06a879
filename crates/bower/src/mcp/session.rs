//! Reads what was kept in a session, as its log, oldest first.

use bower_core::item::{Kind, Status};
use bower_core::prompt::PromptText;
use bower_core::request::Item;
use jiff::Timestamp;

use super::responses;
use crate::service::{Bounds, ListBody, SelectBody, Served, Service};

/// Prefix of the URI of a session's log; its name follows.
pub const SESSION: &str = "bower://session/";
/// Tag of a checkpoint.
pub const CHECKPOINT: &str = "quicksave";
/// Maximum number of items in one resource.
pub const MOST: u32 = 500;

/// The log of a session.
#[derive(Debug)]
pub struct Log {
    /// Name of the session.
    pub session: String,
    /// Text of its log, oldest first.
    pub text: PromptText,
}

/// Returns the log of a session. If that kept nothing, returns the log of the last session with a checkpoint; none if
/// there is none.
pub fn log(service: &Service, bounds: &Bounds, session: Option<&str>, now: Timestamp) -> Served<Option<Log>> {
    if let Some(session) = session {
        let kept = kept_in(session, service, bounds, now)?;
        if !kept.is_empty() {
            return Ok(Some(Log { text: told(session, &kept, now), session: session.to_owned() }));
        }
    }
    let select = SelectBody {
        kind: Some(Kind::Memory),
        tags: vec![CHECKPOINT.to_owned()],
        statuses: Status::ALL.to_vec(),
        ..SelectBody::default()
    };
    let body = ListBody { limit: Some(1), select, ..ListBody::default() };
    let newest = service.list(&body, bounds, now)?.memories.into_iter().next();
    let Some(session) = newest.and_then(|item| item.source_conv_id) else { return Ok(None) };
    let kept = kept_in(&session, service, bounds, now)?;
    Ok(Some(Log { text: told(&session, &kept, now), session }))
}

/// Returns the memories that a session kept, oldest first, including those that were replaced since.
pub fn kept_in(session: &str, service: &Service, bounds: &Bounds, now: Timestamp) -> Served<Vec<Item>> {
    let select = SelectBody {
        kind: Some(Kind::Memory),
        sources: vec![session.to_owned()],
        statuses: Status::ALL.to_vec(),
        ..SelectBody::default()
    };
    let body = ListBody { limit: Some(MOST), select, ..ListBody::default() };
    let mut kept = service.list(&body, bounds, now)?.memories;
    // A memory may have the same name as its source without being from the session.
    kept.retain(|item| item.source_conv_id.as_deref() == Some(session));
    kept.sort_by(|a, b| a.create_time.cmp(&b.create_time).then_with(|| a.row.cmp(&b.row)));
    Ok(kept)
}

/// Renders the log of a session for a model.
pub fn told(session: &str, kept: &[Item], now: Timestamp) -> PromptText {
    let look = responses::look(now);
    let mut text = PromptText::own("# Session ");
    text.push(&PromptText::line(session));
    text.push_own("\n");
    for item in kept {
        let what = if item.tags.iter().any(|tag| tag == CHECKPOINT) {
            "Checkpoint".to_owned()
        } else {
            item.memory_type.map_or_else(|| item.kind.to_string(), |what| what.to_string())
        };
        text.push_own("\n## ");
        text.push(&PromptText::line(&format!("{} {what} ({})", look.time(item.create_time), item.id)));
        text.push_own("\n\n");
        // A memory's text cannot pass for another memory's heading.
        text.push(&PromptText::prose(item.content.trim()));
    }
    text
}
