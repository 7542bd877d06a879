//! Reads what was kept in a session, as its log, oldest first.

use bower_core::item::{Kind, Status};
use bower_core::prompt::PromptText;
use bower_core::request::Item;
use jiff::Timestamp;

use super::responses;
use crate::service::{Bounds, ListBody, SelectBody, Served, Service};

/// A session's log, by its name.
pub const SESSION: &str = "bower://session/";
/// The tag of a checkpoint.
pub const CHECKPOINT: &str = "quicksave";
/// Items that one resource is made of at most.
pub const MOST: u32 = 500;

/// A session's log.
#[derive(Debug)]
pub struct Log {
    /// The session.
    pub session: String,
    /// What it kept, oldest first.
    pub text: PromptText,
}

/// The log of a session; where that kept nothing, of the last one with a checkpoint. None where there is none.
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

/// What a session kept, oldest first: what was replaced since was said then all the same.
pub fn kept_in(session: &str, service: &Service, bounds: &Bounds, now: Timestamp) -> Served<Vec<Item>> {
    let select = SelectBody {
        kind: Some(Kind::Memory),
        sources: vec![session.to_owned()],
        statuses: Status::ALL.to_vec(),
        ..SelectBody::default()
    };
    let body = ListBody { limit: Some(MOST), select, ..ListBody::default() };
    let mut kept = service.list(&body, bounds, now)?.memories;
    // A memory may come from elsewhere and have that name as its source.
    kept.retain(|item| item.source_conv_id.as_deref() == Some(session));
    kept.sort_by(|a, b| a.create_time.cmp(&b.create_time).then_with(|| a.row.cmp(&b.row)));
    Ok(kept)
}

/// What a session kept, for a model.
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
        // No memory passes for another.
        text.push(&PromptText::prose(item.content.trim()));
    }
    text
}
