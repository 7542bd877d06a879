//! Items by id and by selection: get, list, forget, history.

use jiff::Timestamp;

use super::{ACTOR, Engine, fold};
use crate::error::{Error, Result};
use crate::item::RowId;
use crate::memory::merge::changed;
use crate::request::{ForgetRequest, Forgotten, History, Item, Listing, Selection, Version};
use crate::store::Stamp;

/// Ids may be shortened to this many digits, as long as only one item has them.
const SHORTEST_PREFIX: usize = 6;
/// A whole id.
const ID_DIGITS: usize = 16;

pub(super) fn get(engine: &Engine, id: &str) -> Result<Item> {
    let (row, id) = resolve(engine, id)?;
    let item = engine.store.items(&[row])?.pop().flatten();
    item.ok_or(Error::NotFound { what: "item", id })
}

fn resolve(engine: &Engine, id: &str) -> Result<(RowId, String)> {
    let given = id.trim().to_lowercase();
    let is_id =
        (SHORTEST_PREFIX..=ID_DIGITS).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        let reason =
            format!("an id is {ID_DIGITS} hex digits, or the first {SHORTEST_PREFIX} or more of them");
        return Err(Error::invalid(format!("id {id:?}"), reason));
    }
    let mut found = engine.store.rows_by_id(&given, 2)?;
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

pub(super) fn forget(
    engine: &Engine,
    request: &ForgetRequest,
    dry_run: bool,
    now: Timestamp,
) -> Result<Forgotten> {
    let rows: Vec<RowId> = match request {
        ForgetRequest::Ids(ids) => {
            let mut rows = ids.iter().map(|id| Ok(resolve(engine, id)?.0)).collect::<Result<Vec<_>>>()?;
            rows.sort_unstable();
            rows.dedup();
            rows
        }
        ForgetRequest::Selected(select) if **select == Selection::default() => {
            return Err(Error::invalid("forget", "nothing is selected; name ids or a filter"));
        }
        ForgetRequest::Selected(select) => {
            let (rows, _) = engine.store.page(select, usize::MAX >> 1, 0)?;
            rows
        }
    };
    let mut forgotten: Vec<String> =
        engine.store.items(&rows)?.into_iter().flatten().map(|item| item.id).collect();
    forgotten.sort_unstable();
    let receipt = engine.store.forget(&rows, dry_run, Stamp { now, actor: ACTOR })?;
    if !dry_run {
        // The words leave the indexes now, not with the next fold that happens to be due.
        engine.fold(fold::When::Always)?;
    }
    Ok(Forgotten { forgotten, receipt })
}

/// What happened to an item in all its forms.
pub(super) fn history(engine: &Engine, id: &str) -> Result<History> {
    let (row, given) = match resolve(engine, id) {
        Ok((row, id)) => (Some(row), id),
        // A forgotten item still has its history, by its whole id.
        Err(Error::NotFound { id, .. }) => (None, id),
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
