//! Records what answers gave: exposures, uses, and the texts of each session.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::PoisonError;

use crate::engine::pending::best_effort;
use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::item::{Band, Kind, RowId, Scope, Visibility, derive_id};
use crate::request::{Hit, Item, QueryRequest, Selection};
use crate::store::{Given, Stamp};

/// Exposures that wait to be written; who never writes them keeps the last.
const MOST_FRESH: usize = 1_000;

/// The hash by which a text is known again: whoever stored it, however it is spaced.
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
    /// Those of the request's session; none where it names none.
    pub(crate) fn of(engine: &Engine, visibility: &Visibility, request: &QueryRequest) -> Result<Self> {
        match session_of(visibility, request)? {
            Some(session) => Self::of_session(engine, &session),
            None => Ok(Self::default()),
        }
    }

    /// Those of a session by its whole name.
    pub(crate) fn of_session(engine: &Engine, session: &str) -> Result<Self> {
        let kept = engine.desk.given(session)?;
        let fresh = engine.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = fresh.iter().filter(|(other, _)| *other == session).flat_map(|(_, given)| given);
        let hashes = kept.iter().chain(fresh).map(|given| given.text_hash);
        Ok(Self { hashes: hashes.filter(|hash| *hash != Given::LOST).collect() })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether the session has this text. An item that changed since has another.
    pub(crate) fn has(&self, item: &Item) -> bool {
        self.has_text(&item.content)
    }

    /// Whether the session has this text.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&text_hash(text))
    }
}

/// The session's name: of those who name a scope or an owner, each has sessions of its own, for "already given" tells that
/// somebody else was given it.
fn session_of(visibility: &Visibility, request: &QueryRequest) -> Result<Option<String>> {
    let Some(session) = &request.session else { return Ok(None) };
    let Selection { scope, owner, .. } = &request.select;
    Ok(Some(session_name(session, &visibility.narrowed(*scope, owner.as_deref())?)))
}

/// The same of a session of a caller. Each part of what the caller may see is told apart from the others.
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

/// What a session was asked has a name of its own: a question is not the memory that it is about.
pub(crate) fn questions_of(session: &str) -> String {
    format!("{session}\u{1f}?")
}

/// Notes what somebody is given, so that it is known again when it is told back. [`keep_given`] writes that down.
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

/// Notes which texts a session is given, by its whole name, and the row that each is of.
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

/// Notes that somebody asked for an item and got it. [`keep_uses`] writes that down.
pub(crate) fn note_used(engine: &Engine, rows: impl Iterator<Item = RowId>, now: Timestamp) {
    let mut fresh = engine.pending.used.lock().unwrap_or_else(PoisonError::into_inner);
    fresh.extend(rows.map(|row| (row, now)));
}

/// Notes the hits that a question found, where somebody asked it: those of which the answer is sure. What nobody asked for,
/// and what only comes nearest, is given and not used (only a real use makes a memory stronger, not an automatic prefetch).
pub(crate) fn note_found(engine: &Engine, request: &QueryRequest, hits: &[Hit], now: Timestamp) {
    if request.prefetch {
        return;
    }
    let sure = hits.iter().filter(|hit| hit.band == Some(Band::High) && hit.memory.kind == Kind::Memory);
    note_used(engine, sure.map(|hit| hit.memory.row), now);
}

/// Writes uses since the last time. Best effort: a store that is busy or read-only keeps none.
pub(crate) fn keep_uses(engine: &Engine) -> Result<()> {
    let used = std::mem::take(&mut *engine.pending.used.lock().unwrap_or_else(PoisonError::into_inner));
    if used.is_empty() {
        return Ok(());
    }
    best_effort(engine.store.add_uses(&used))
}

/// Writes what answers gave since the last time, to sessions and at all. Best effort: a store that is busy or read-only keeps
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

/// Writes the vectors of recent queries to the cache. Best effort: a store that is busy or read-only keeps none.
pub(crate) fn keep_query_vectors(engine: &Engine, now: Timestamp) -> Result<()> {
    let fresh =
        std::mem::take(&mut *engine.pending.query_vectors.lock().unwrap_or_else(PoisonError::into_inner));
    if fresh.is_empty() {
        return Ok(());
    }
    let stamp = Stamp { now, actor: ACTOR };
    best_effort(engine.desk.cache_vectors(&fresh, engine.settings.cached_queries, stamp))
}

impl Engine {
    /// Notes that somebody opened an item: that is a use. [`Engine::keep_given`] writes it down.
    pub fn note_used(&self, visibility: &Visibility, item: &Item, now: Timestamp) {
        let visible = item.is_visible(visibility).then_some(item.row);
        note_used(self, visible.into_iter(), now);
    }

    /// Whether a session has anything that it was given, as far as that is remembered.
    pub fn was_given(&self, visibility: &Visibility, session: &str) -> Result<bool> {
        let name = session_name(session, visibility);
        Ok(!SessionTexts::of_session(self, &name)?.is_empty()
            || !SessionTexts::of_session(self, &questions_of(&name))?.is_empty())
    }

    /// A session that was cleared or compacted has lost what it was given, and is given it again where it is asked for. Best effort:
    /// a store that is busy or read-only changes nothing. Nobody else keeps what this engine gave ([`Engine::keep_given`]) meanwhile.
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

    /// What the last answer gave a session and nobody was shown: some rows of it. It is given where it is asked for again. To be
    /// called before [`Engine::keep_given`].
    pub fn not_shown(&self, visibility: &Visibility, session: &str, rows: &[RowId]) {
        let name = session_name(session, visibility);
        let mut fresh = self.pending.given.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, given) in fresh.iter_mut().filter(|(of, _)| *of == name) {
            given.retain(|given| !rows.contains(&given.row));
        }
    }

    /// Remembers what sessions were given since the last time, so that they are not given it again. [`Engine::maintain`]
    /// does this too; whoever does not call that calls this after the answer is out.
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
