//! Records what answers returned: exposures, uses, and the texts of each session.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::PoisonError;

use crate::engine::Engine;
use crate::engine::pending::best_effort;
use crate::error::Result;
use crate::item::{Band, Kind, RowId, Scope, Visibility, derive_id};
use crate::request::{Hit, Item, QueryRequest, Selection};
use crate::store::Given;

/// Most exposures that wait to be written; the newest are kept.
const MOST_FRESH: usize = 1_000;

/// Returns the hash that identifies a text, whichever item has it and however it is spaced or capitalised.
fn text_hash(content: &str) -> i64 {
    let mut hash = Sha256::new();
    for word in content.split_whitespace() {
        hash.update(word.to_lowercase());
        hash.update(b" ");
    }
    let digest = hash.finalize();
    let (first, _) = digest.as_chunks::<8>();
    i64::from_le_bytes(first[0])
}

/// The texts that a session was given and has not lost.
#[derive(Debug, Default)]
pub(crate) struct SessionTexts {
    hashes: HashSet<i64>,
}

impl SessionTexts {
    /// Reads the texts of the request's session; empty if the request names none.
    pub(crate) fn of(engine: &Engine, visibility: &Visibility, request: &QueryRequest) -> Result<Self> {
        match session_of(visibility, request)? {
            Some(session) => Self::of_session(engine, &session),
            None => Ok(Self::default()),
        }
    }

    /// Reads the texts of a session by its full name.
    pub(crate) fn of_session(engine: &Engine, session: &str) -> Result<Self> {
        let kept = engine.desk.given(session)?;
        let fresh = engine.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = fresh.iter().filter(|(other, _)| *other == session).flat_map(|(_, given)| given);
        let hashes = kept.iter().chain(fresh).map(|given| given.text_hash);
        Ok(Self { hashes: hashes.filter(|hash| *hash != Given::LOST).collect() })
    }

    /// Whether there are no texts.
    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether the session has the text of this item. An item that changed since has another text.
    pub(crate) fn has(&self, item: &Item) -> bool {
        self.has_text(&item.content)
    }

    /// Whether the session has this text.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&text_hash(text))
    }
}

/// Returns the full name of the request's session. Callers with different scopes or owners have separate sessions, because
/// "already given" would reveal what another caller was given.
fn session_of(visibility: &Visibility, request: &QueryRequest) -> Result<Option<String>> {
    let Some(session) = &request.session else { return Ok(None) };
    let Selection { scope, owner, .. } = &request.select;
    Ok(Some(session_name(session, &visibility.narrowed(*scope, owner.as_deref())?)))
}

/// Returns the full name of a caller's session. Each visibility has its own sessions.
pub(crate) fn session_name(session: &str, visibility: &Visibility) -> String {
    if visibility.is_everything() {
        return session.to_owned();
    }
    let scope = visibility.scope.map_or("", Scope::word);
    let owner = visibility.owner.as_deref().unwrap_or_default();
    match &visibility.collections {
        None => format!("{scope}\u{1f}{owner}\u{1f}{session}"),
        Some(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{scope}\u{1f}{owner}\u{1f}{}\u{1f}{session}", derive_id(&names))
        }
    }
}

/// Returns the name under which a session's questions are recorded, apart from the memories that they are about.
pub(crate) fn questions_of(session: &str) -> String {
    format!("{session}\u{1f}?")
}

/// Notes that an answer returned rows, so that echoes of them are recognised. [`keep_given`] writes the notes.
pub(crate) fn note_shown(engine: &Engine, rows: impl Iterator<Item = RowId>, now: Timestamp) {
    let mut fresh = engine.pending.exposed.lock().unwrap_or_else(PoisonError::into_inner);
    fresh.extend(rows.map(|row| (row, now)));
    let most = fresh.len().saturating_sub(MOST_FRESH);
    fresh.drain(..most);
}

pub(crate) fn note_given<'a>(
    engine: &Engine,
    visibility: &Visibility,
    request: &QueryRequest,
    items: impl Iterator<Item = &'a Item>,
) -> Result<()> {
    if let Some(session) = session_of(visibility, request)? {
        note_given_to(engine, session, items.map(|item| (item.row, item.content.as_str())));
    }
    Ok(())
}

/// Notes the texts that a session was given, each with its row; `session` is the full name.
pub(crate) fn note_given_to(
    engine: &Engine,
    session: String,
    texts: impl Iterator<Item = (RowId, impl AsRef<str>)>,
) {
    let given = |(row, text): (RowId, _)| Given { row, text_hash: text_hash(AsRef::as_ref(&text)) };
    let given: Vec<Given> = texts.map(given).collect();
    if !given.is_empty() {
        let mut fresh = engine.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
        fresh.push((session, given));
    }
}

/// Notes that items were used. [`keep_uses`] writes the notes.
pub(crate) fn note_used(engine: &Engine, rows: impl Iterator<Item = RowId>, now: Timestamp) {
    let mut fresh = engine.pending.used.lock().unwrap_or_else(PoisonError::into_inner);
    fresh.extend(rows.map(|row| (row, now)));
}

/// Notes a use of each memory that a question found with a high band, unless the request is a prefetch. Prefetched memories
/// and those of a lower band are exposures, not uses: only a real use makes a memory stronger.
pub(crate) fn note_found(engine: &Engine, request: &QueryRequest, hits: &[Hit], now: Timestamp) {
    if request.prefetch {
        return;
    }
    let sure = hits.iter().filter(|hit| hit.band == Some(Band::High) && hit.memory.kind == Kind::Memory);
    note_used(engine, sure.map(|hit| hit.memory.row), now);
}

/// Writes the uses since the last time. Best effort: a store that is busy or read-only keeps none.
pub(crate) fn keep_uses(engine: &Engine) -> Result<()> {
    let used = std::mem::take(&mut *engine.pending.used.lock().unwrap_or_else(PoisonError::into_inner));
    if used.is_empty() {
        return Ok(());
    }
    best_effort(engine.store.add_uses(&used))
}

/// Writes the exposures and the texts of sessions since the last time. Best effort: a store that is busy or read-only keeps
/// nothing.
pub(crate) fn keep_given(engine: &Engine, now: Timestamp) -> Result<()> {
    let exposed = std::mem::take(&mut *engine.pending.exposed.lock().unwrap_or_else(PoisonError::into_inner));
    if !exposed.is_empty() {
        best_effort(engine.desk.expose(&exposed))?;
    }
    let fresh = std::mem::take(&mut *engine.pending.given.lock().unwrap_or_else(PoisonError::into_inner));
    let kept = SignedDuration::from_hours(24 * i64::from(engine.settings.session_days));
    let keep_after = now.checked_sub(kept).unwrap_or(Timestamp::MIN);
    for (session, given) in fresh {
        best_effort(engine.desk.give(&session, &given, now, keep_after))?;
    }
    Ok(())
}

impl Engine {
    /// Notes that a person opened an item: that is a use. [`Engine::keep_given`] writes the note.
    pub fn note_used(&self, visibility: &Visibility, item: &Item, now: Timestamp) {
        let visible = item.is_visible(visibility).then_some(item.row);
        note_used(self, visible.into_iter(), now);
    }

    /// Whether a text or question is still remembered for a session.
    pub fn was_given(&self, visibility: &Visibility, session: &str) -> Result<bool> {
        let name = session_name(session, visibility);
        Ok(!SessionTexts::of_session(self, &name)?.is_empty()
            || !SessionTexts::of_session(self, &questions_of(&name))?.is_empty())
    }

    /// Marks the texts of a session as lost, because the session was cleared or compacted; later answers may return them
    /// again. Best effort: a store that is busy or read-only changes nothing. No other thread may call [`Engine::keep_given`]
    /// meanwhile.
    pub fn lose_given(&self, visibility: &Visibility, session: &str) -> Result<()> {
        let name = session_name(session, visibility);
        for name in [questions_of(&name), name] {
            if SessionTexts::of_session(self, &name)?.is_empty() {
                continue;
            }
            let mut fresh = self.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
            let lost = fresh.iter_mut().filter(|(of, _)| *of == name).flat_map(|(_, given)| given);
            lost.for_each(|given| given.text_hash = Given::LOST);
            drop(fresh);
            best_effort(self.desk.lose_given(&name))?;
        }
        Ok(())
    }

    /// Removes rows that the last answer gave a session but that were not shown; later answers may return them again. Call it
    /// before [`Engine::keep_given`].
    pub fn not_shown(&self, visibility: &Visibility, session: &str, rows: &[RowId]) {
        let name = session_name(session, visibility);
        let mut fresh = self.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, given) in fresh.iter_mut().filter(|(of, _)| *of == name) {
            given.retain(|given| !rows.contains(&given.row));
        }
    }

    /// Writes the uses, exposures and texts of sessions since the last time, so that sessions are not given the same texts
    /// again. [`Engine::maintain`] does this too; a caller that does not use it calls this after the answer is sent.
    pub fn keep_given(&self, now: Timestamp) -> Result<()> {
        keep_uses(self)?;
        keep_given(self, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_again_however_it_is_spaced() {
        // printf 'ports are 8080. ' | sha256sum | cut -c1-16, read as a little-endian number.
        assert_eq!(text_hash("Ports are 8080."), 7_444_010_604_583_644_254);
        assert_eq!(text_hash("Ports  are\n8080."), text_hash("ports are 8080."));
        assert_ne!(text_hash("ports are 8080."), text_hash("ports are 9090."));
    }
}
