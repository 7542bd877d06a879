//! Recognises echoes: texts that only repeat what answers of this store returned lately.
//! Answers of every process count. Each text is analysed once per process; the text of a row never changes.

use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, PoisonError};

use crate::engine::Engine;
use crate::engine::query::plan::{Depth, Scope, Words};
use crate::engine::query::retrieve::text_channel;
use crate::error::Result;
use crate::item::{Profile, RowId, RowSet, Statistics, Visibility};
use crate::memory::gate::{self, Heard};
use crate::store::{Audience, Namespace};
use crate::text;

/// Number of the last rows that answers returned, some six answers of ten, which are always compared.
const LAST: usize = 64;

/// Number of earlier rows that are compared: those whose words match best. An echo of an answer repeats ten texts at most.
const FITTING: usize = 16;

/// Most rows that are considered: those of two hundred answers of ten within a day. Earlier ones are ignored.
const MOST: usize = 2_048;

/// Most analysed texts that are kept: half a kilobyte each for a text of forty words.
const MOST_HEARD: usize = 1_024;

/// Whether a text only repeats what this store returned lately, of the items that a writer to the namespace may know.
///
/// `also` are rows that the writer was given, however long ago.
pub(crate) fn is_echo(
    engine: &Engine,
    visibility: &Visibility,
    place: &Namespace,
    content: &str,
    also: &[RowId],
    now: Timestamp,
) -> Result<bool> {
    let audience = Audience { visibility, place };
    let mut given = given(engine, &audience, now)?;
    let also = engine.store.known_to(&audience, also)?;
    let lately: RowSet = given.iter().copied().collect();
    given.extend(also.into_iter().filter(|&row| !lately.contains(row)));
    if given.is_empty() {
        return Ok(false);
    }
    let (last, before) = given.split_at(given.len().min(LAST));
    let mut rows = last.to_vec();
    if !before.is_empty() {
        rows.extend(fitting(engine, content, before)?);
    }
    let constants = gate::Constants::default();
    let heard = heard(engine, &rows)?;
    let all: Vec<&Heard> = heard.iter().map(|(_, heard)| &**heard).collect();
    if !gate::is_echo(content, &all, &constants) {
        return Ok(false);
    }
    // An item that was forgotten since it was analysed does not count. Nor do items that others own or that the writer may
    // not see: refusing their echo would reveal that they exist.
    let rows: Vec<RowId> = heard.iter().map(|(row, _)| *row).collect();
    let writer = (place.scope, place.owner.as_deref());
    let there: RowSet = (engine.store.items(&rows)?.into_iter().flatten())
        .filter(|item| item.is_visible(visibility))
        .filter(|item| Visibility::is_known_at(writer, (item.scope, item.owner.as_deref())))
        .map(|item| item.row)
        .collect();
    let all: Vec<&Heard> =
        heard.iter().filter(|(row, _)| there.contains(*row)).map(|(_, heard)| &**heard).collect();
    Ok(gate::is_echo(content, &all, &constants))
}

/// Returns the rows that answers returned lately and the writer may know, the last first. Rows of other audiences do not
/// count towards the limit.
fn given(engine: &Engine, to: &Audience<'_>, now: Timestamp) -> Result<Vec<RowId>> {
    let since = echoes_since(engine, now);
    let fresh = engine.pending.exposed.lock().unwrap_or_else(PoisonError::into_inner);
    let lately = fresh.iter().rev().filter(|(_, time)| *time >= since);
    let lately: Vec<RowId> = lately.map(|(row, _)| *row).collect();
    drop(fresh);
    let mut rows = engine.store.known_to(to, &lately)?;
    rows.extend(exposed_to(engine, to, since, MOST)?);
    let mut seen = RowSet::new();
    rows.retain(|&row| seen.insert(row));
    rows.truncate(MOST);
    Ok(rows)
}

/// Returns the rows that answers returned since a time and an audience may know, the last first: at least `most`, if there
/// are as many.
fn exposed_to(engine: &Engine, to: &Audience<'_>, since: Timestamp, most: usize) -> Result<Vec<RowId>> {
    let mut asked = most;
    loop {
        let rows = engine.desk.exposed(since, asked)?;
        let known = engine.store.known_to(to, &rows)?;
        // The desk has rows alone, so if most of them are not for this audience, more are read.
        if known.len() >= most || rows.len() < asked {
            return Ok(known);
        }
        asked *= 8;
    }
}

/// Returns the rows whose words match a text best.
fn fitting(engine: &Engine, content: &str, rows: &[RowId]) -> Result<Vec<RowId>> {
    let words = Words::of(content, &[text::language_of(content)]);
    if words.terms.is_empty() {
        return Ok(Vec::new());
    }
    let keep: RowSet = rows.iter().copied().collect();
    let newest = engine.store.coverage()?;
    let scope = Scope {
        keep: Some(&keep),
        hidden: &RowSet::new(),
        profile: Profile::Bower,
        depth: Depth::Rows(FITTING),
        newest: &newest,
        counted: (engine.settings.statistics == Statistics::Own).then_some(&keep),
    };
    Ok(text_channel(engine, &words, &scope, &mut drop)?.rows.iter().map(|hit| hit.row).collect())
}

/// Returns the analysed texts of rows that exist, and analyses those that are not cached.
fn heard(engine: &Engine, rows: &[RowId]) -> Result<Vec<(RowId, Arc<Heard>)>> {
    let mut kept = engine.caches.heard.lock().unwrap_or_else(PoisonError::into_inner);
    let missing: Vec<RowId> = rows.iter().copied().filter(|row| !kept.0.contains_key(row)).collect();
    if kept.0.len() + missing.len() > MOST_HEARD {
        let wanted: RowSet = rows.iter().copied().collect();
        kept.0.retain(|row, _| wanted.contains(*row));
    }
    for text in engine.store.texts(&missing)? {
        kept.0.insert(text.row, Arc::new(Heard::of(&text.text)));
    }
    Ok(rows.iter().filter_map(|row| Some((*row, Arc::clone(kept.0.get(row)?)))).collect())
}

/// Returns the time before which answers are not considered.
pub(crate) fn echoes_since(engine: &Engine, now: Timestamp) -> Timestamp {
    let hours = SignedDuration::from_hours(i64::from(engine.settings.echo_hours));
    now.checked_sub(hours).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::item::Scope;
    use crate::request::CurateRequest;

    #[test]
    fn what_others_were_given_leaves_no_less_room() {
        let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::UNIX_EPOCH);
        let settings = Settings { model: "none".into(), ..Settings::default() };
        let engine = Engine::open(folder.path(), settings, now).unwrap();
        let everything = Visibility::everything();
        let kept = |owner: &str, text: &str| {
            let request = CurateRequest { owner: Some(owner.to_owned()), ..CurateRequest::new(text) };
            let id = engine.curate(&everything, &request, now).unwrap().id.unwrap();
            engine.get(&everything, &id).unwrap().row
        };
        let hers = kept("ann", "The cod swims in the pond.");
        let others =
            ["eel", "perch", "trout"].map(|fish| kept(fish, &format!("The {fish} swims in the lake.")));
        engine.desk.expose(&[(hers, now)]).unwrap();
        let later = Timestamp::from_second(1).unwrap();
        engine.desk.expose(&others.map(|row| (row, later))).unwrap();
        let place =
            Namespace { collection: "memories".into(), scope: Scope::Project, owner: Some("ann".into()) };
        let audience = Audience { visibility: &everything, place: &place };
        assert_eq!(exposed_to(&engine, &audience, now, 1).unwrap(), [hers]);
    }
}
