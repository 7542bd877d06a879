//! Items by id and by selection: get, list, history. What is outside a request's reach is not found, and its id not counted.

use super::Engine;
use crate::error::{Error, Result};
use crate::item::{Reach, RowId};
use crate::memory::merge::changed;
use crate::request::{History, Item, Listing, Selection, Version};

/// Ids may be shortened to this many digits, as long as only one item has them.
const SHORTEST_PREFIX: usize = 6;
/// A whole id.
const ID_DIGITS: usize = 16;

/// Items that begin alike and are looked through for those within a reach. Ids are hashes: so many never begin alike.
const MOST_ALIKE: usize = 1_000;

pub(super) fn get(engine: &Engine, id: &str) -> Result<Item> {
    get_within(engine, id, &Reach::default())
}

pub(super) fn get_within(engine: &Engine, id: &str, reach: &Reach) -> Result<Item> {
    let (row, id) = resolve(engine, id, reach)?;
    let item = engine.store.items(&[row])?.pop().flatten();
    item.ok_or(Error::NotFound { what: "item", id })
}

pub(super) fn resolve(engine: &Engine, id: &str, reach: &Reach) -> Result<(RowId, String)> {
    let given = id.trim().to_lowercase();
    let is_id =
        (SHORTEST_PREFIX..=ID_DIGITS).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        let reason =
            format!("an id is {ID_DIGITS} hex digits, or the first {SHORTEST_PREFIX} or more of them");
        return Err(Error::invalid(format!("id {id:?}"), reason));
    }
    let mut found = if reach.is_everything() {
        engine.store.rows_by_id(&given, 2)?
    } else {
        let all = engine.store.rows_by_id(&given, MOST_ALIKE)?;
        let rows: Vec<RowId> = all.iter().map(|(row, _)| *row).collect();
        let items = engine.store.items(&rows)?.into_iter().flatten();
        items.filter(|item| item.is_within(reach)).map(|item| (item.row, item.id)).collect()
    };
    match (found.pop(), found.pop()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            Err(Error::invalid(format!("id {given}"), "several items begin so; write more digits"))
        }
        (None, _) => Err(Error::NotFound { what: "item", id: given }),
    }
}

pub(super) fn list(engine: &Engine, select: &Selection, limit: usize, offset: usize) -> Result<Listing> {
    let (rows, total) = engine.store.page(select, limit, offset)?;
    let memories = engine.store.items(&rows)?.into_iter().flatten().collect();
    Ok(Listing { memories, total })
}

/// What happened to an item in all its forms.
pub(super) fn history(engine: &Engine, id: &str, reach: &Reach) -> Result<History> {
    let (row, given) = match resolve(engine, id, reach) {
        Ok((row, id)) => (Some(row), id),
        // A forgotten item still has its history, by its whole id.
        Err(Error::NotFound { id, .. }) if reach.is_everything() => (None, id),
        Err(error) => return Err(error),
    };
    let rows = row.map_or(Ok(Vec::new()), |row| engine.store.chain(row))?;
    let forms: Vec<Item> = engine.store.items(&rows)?.into_iter().flatten().collect();
    let mut events = Vec::new();
    for id in forms.iter().map(|item| &item.id).chain((forms.is_empty()).then_some(&given)) {
        events.extend(engine.store.events(id)?);
    }
    if events.is_empty() {
        return Err(Error::NotFound { what: "item", id: given });
    }
    events.sort_by_key(|event| event.event);
    let mut chain: Vec<Version> = Vec::with_capacity(forms.len());
    for memory in forms {
        let changed = chain.last().and_then(|before| changed(&before.memory.content, &memory.content));
        chain.push(Version { memory, changed });
    }
    Ok(History { history: events, chain })
}
