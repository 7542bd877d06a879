//! Items by id and by selection: get, list, history. What is not visible is not found, and its id not counted.

use serde_json::Value;

use super::{Engine, missing};
use crate::error::{Error, Result};
use crate::item::{RowId, Visibility};
use crate::memory::merge::changed;
use crate::request::{Event, History, Item, Listing, Selection, Version};

/// Ids may be shortened to this many digits, as long as only one item has them.
const SHORTEST_PREFIX: usize = 6;
/// A whole id.
const ID_DIGITS: usize = 16;

/// Numbers in an event's detail that count what happens in the whole store.
const STORE_WIDE: &[&str] = &["undoes", "review"];

pub(super) fn get(engine: &Engine, visibility: &Visibility, id: &str) -> Result<Item> {
    let (row, id) = resolve(engine, visibility, id)?;
    let item = engine.store.items(&[row])?.pop().flatten();
    missing::refuse(engine, item.ok_or(Error::NotFound { what: "item", id })?)
}

pub(super) fn resolve(engine: &Engine, visibility: &Visibility, id: &str) -> Result<(RowId, String)> {
    let given = id.trim().to_lowercase();
    let is_id =
        (SHORTEST_PREFIX..=ID_DIGITS).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        let reason =
            format!("an id is {ID_DIGITS} hex digits, or the first {SHORTEST_PREFIX} or more of them");
        return Err(Error::invalid(format!("id {id:?}"), reason));
    }
    let mut found = engine.store.rows_by_id(&given, visibility, 2)?;
    match (found.pop(), found.pop()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            Err(Error::invalid(format!("id {given}"), "several items begin so; write more digits"))
        }
        (None, _) => Err(Error::NotFound { what: "item", id: given }),
    }
}

/// Numbers events and changes by their order here: those of the store count what others do.
fn number_anew(events: &mut [Event]) {
    let (mut change, mut last) = (0, None);
    for (event, number) in events.iter_mut().zip(1..) {
        change += u64::from(last.replace(event.change) != Some(event.change));
        (event.event, event.change) = (number, change);
        if let Value::Object(detail) = &mut event.detail {
            for name in STORE_WIDE {
                detail.remove(*name);
            }
        }
    }
}

pub(super) fn list(engine: &Engine, select: &Selection, limit: usize, offset: usize) -> Result<Listing> {
    let (rows, total) = engine.store.page(select, limit, offset)?;
    let memories = engine.store.items(&rows)?.into_iter().flatten().collect();
    Ok(Listing { memories, total, degraded: missing::degraded(engine)? })
}

/// What happened to an item in all its forms.
pub(super) fn history(engine: &Engine, visibility: &Visibility, id: &str) -> Result<History> {
    let (row, given) = match resolve(engine, visibility, id) {
        Ok((row, id)) => (Some(row), id),
        // A forgotten item still has its history, by its whole id.
        Err(Error::NotFound { id, .. }) if visibility.is_everything() => (None, id),
        Err(error) => return Err(error),
    };
    let rows = row.map_or(Ok(Vec::new()), |row| engine.store.chain(row))?;
    let forms = engine.store.items(&rows)?.into_iter().flatten();
    let forms: Vec<Item> = forms.filter(|item| item.is_visible(visibility)).collect();
    let mut events = Vec::new();
    for id in forms.iter().map(|item| &item.id).chain((forms.is_empty()).then_some(&given)) {
        events.extend(engine.store.events(id)?);
    }
    if events.is_empty() {
        return Err(Error::NotFound { what: "item", id: given });
    }
    events.sort_by_key(|event| event.event);
    if !visibility.is_everything() {
        number_anew(&mut events);
    }
    let mut chain: Vec<Version> = Vec::with_capacity(forms.len());
    for memory in forms {
        let changed = chain.last().and_then(|before| changed(&before.memory.content, &memory.content));
        chain.push(Version { memory, changed });
    }
    Ok(History { history: events, chain })
}
