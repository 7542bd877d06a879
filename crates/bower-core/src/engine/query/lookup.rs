//! Looks up items by id and by selection: get, list, history.
//! What is not visible is not found, and its id not counted.

use jiff::Timestamp;
use serde_json::Value;

use crate::engine::{Engine, missing};
use crate::error::{Error, Missing, Result};
use crate::item::{Change, RowId, Visibility};
use crate::memory::merge::changed;
use crate::request::{Documents, Event, History, Item, Listing, Selection, StoreChange, Version};

/// Ids may be shortened to this many digits, as long as only one item has them.
const SHORTEST_PREFIX: usize = 6;
/// A whole id.
const ID_DIGITS: usize = 16;

/// Numbers in an event's detail that count what happens in the whole store.
const STORE_WIDE: &[&str] = &["undoes", "review"];

pub(crate) fn resolve(engine: &Engine, visibility: &Visibility, id: &str) -> Result<(RowId, String)> {
    let given = id.trim().to_lowercase();
    let is_id =
        (SHORTEST_PREFIX..=ID_DIGITS).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        let reason =
            format!("an id is {ID_DIGITS} hex digits, or the first {SHORTEST_PREFIX} or more of them");
        return Err(Error::InvalidId { id: format!("{id:?}"), reason });
    }
    let mut found = engine.store.rows_by_id(&given, visibility, 2)?;
    match (found.pop(), found.pop()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            Err(Error::InvalidId { id: given, reason: "several items begin so; write more digits".into() })
        }
        (None, _) => Err(Error::NotFound { what: Missing::Item, id: given }),
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

impl Engine {
    /// An item by its id or a prefix of at least 6 digits that only it has. What is not visible is not found, and makes no prefix
    /// ambiguous; so it is in every method that takes an id.
    pub fn get(&self, visibility: &Visibility, id: &str) -> Result<Item> {
        let (row, id) = resolve(self, visibility, id)?;
        let item = self.store.items(&[row])?.pop().flatten();
        missing::refuse(self, item.ok_or(Error::NotFound { what: Missing::Item, id })?)
    }

    /// Items of a selection, newest first.
    pub fn list(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Listing> {
        let select = &select.within(visibility)?;
        let (rows, total) = self.store.page(select, limit, offset)?;
        let memories = self.store.items(&rows)?.into_iter().flatten().collect();
        Ok(Listing { memories, total, degraded: missing::degraded(self)? })
    }

    /// What a memory said at each time, and what happened to it, oldest first. Works for items that are gone, where everything is
    /// visible: whose they were nobody knows any more.
    pub fn history(&self, visibility: &Visibility, id: &str) -> Result<History> {
        let (row, given) = match resolve(self, visibility, id) {
            Ok((row, id)) => (Some(row), id),
            // A forgotten item still has its history, by its whole id.
            Err(Error::NotFound { id, .. }) if visibility.is_everything() => (None, id),
            Err(error) => return Err(error),
        };
        let rows = row.map_or(Ok(Vec::new()), |row| self.store.chain(row))?;
        let forms = self.store.items(&rows)?.into_iter().flatten();
        let forms: Vec<Item> = forms.filter(|item| item.is_visible(visibility)).collect();
        let mut events = Vec::new();
        for id in forms.iter().map(|item| &item.id).chain((forms.is_empty()).then_some(&given)) {
            events.extend(self.store.events(id)?);
        }
        if events.is_empty() {
            return Err(Error::NotFound { what: Missing::Item, id: given });
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

    /// The number of the store's last change, whoever made it. It counts what everybody does: not to be told to whoever sees a
    /// part of the store.
    pub fn last_change(&self) -> Result<u64> {
        Ok(self.store.coverage()?.change.0)
    }

    /// What was done to visible items after a change, by any process, oldest first, and the last change that was looked at; at
    /// most `most` changes are looked at. Of what was forgotten nobody knows any more whose it was.
    pub fn changes_after(
        &self,
        visibility: &Visibility,
        change: u64,
        most: usize,
    ) -> Result<(Vec<StoreChange>, u64)> {
        let (changes, last) = self.store.changes(visibility, Change(change), most)?;
        Ok((changes, last.0))
    }

    /// A page of the documents that have a chunk in a selection, the last changed first.
    pub fn documents(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Documents> {
        self.store.document_page(&select.within(visibility)?, limit, offset)
    }

    /// How often answers gave an item, and when last; none where they never did, or it is not visible. That is no use of it.
    pub fn exposure(&self, visibility: &Visibility, item: &Item) -> Result<Option<(u64, Timestamp)>> {
        if item.is_visible(visibility) { self.desk.exposure(item.row) } else { Ok(None) }
    }
}
