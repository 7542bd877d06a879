//! Looks up items by id and by selection: get, list, history.
//! Items that are not visible are not found, and their ids do not make a prefix ambiguous.

use jiff::Timestamp;
use serde_json::Value;

use crate::engine::query::facts::{canonical_documents, cited_fact, row_of_fact};
use crate::engine::query::possible::possible_of;
use crate::engine::{Engine, missing};
use crate::error::{Error, Missing, Result};
use crate::item::{Change, RowId, Status, Visibility};
use crate::memory::analysis::changed;
use crate::request::{
    Documents, Event, History, Item, Listing, MemoryWording, Selection, StoreChange, Version,
};

/// Shortest prefix of an id, in digits. A prefix is accepted if only one item has it.
const SHORTEST_PREFIX: usize = 6;
/// Digits of a whole id.
pub(crate) const ID_DIGITS: usize = 16;

/// Fields of an event's detail whose numbers count events of the whole store.
const STORE_WIDE: &[&str] = &["undoes", "review"];

/// Whether a text is the id of an item or its first digits, and no word: it has a digit.
pub(crate) fn looks_like_id(text: &str) -> bool {
    let text = text.trim();
    (SHORTEST_PREFIX..=ID_DIGITS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_hexdigit())
        && text.bytes().any(|b| b.is_ascii_digit())
}

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

/// Renumbers events and changes by their order here: the store's numbers also count what other callers do.
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

/// Returns the other wordings of some memories, oldest first.
fn wordings(engine: &Engine, memories: &[Item]) -> Result<Vec<MemoryWording>> {
    let rows: Vec<RowId> = memories.iter().map(|item| item.row).collect();
    let rows = engine.store.wordings_of(&rows)?;
    let of = engine.store.worded_by(&rows)?;
    let texts = engine.store.items(&rows)?.into_iter().zip(of);
    Ok(texts
        .filter_map(|(item, of)| {
            let item = item.filter(|item| item.status == Status::Variant && !item.damaged)?;
            let of = memories.iter().find(|memory| Some(memory.row) == of)?;
            Some(MemoryWording { id: item.id, of: of.id.clone(), text: item.content, told: item.create_time })
        })
        .collect())
}

impl Engine {
    /// Returns an item by its id or a prefix of at least 6 digits that only it has. Items that are not visible are not found,
    /// and do not make a prefix ambiguous. This holds for every method that takes an id. The citation of a canonical fact
    /// (`Canonical:3f2a9c81d0e4b756`) gets the chunk that has it.
    pub fn get(&self, visibility: &Visibility, id: &str) -> Result<Item> {
        if let Some(fact) = cited_fact(id) {
            let rows = row_of_fact(self, fact)?;
            let item = self.store.items(rows.as_slice())?.pop().flatten();
            let item = item.filter(|item| item.is_visible(visibility));
            let missing = || Error::NotFound { what: Missing::Named("canonical fact"), id: fact.to_owned() };
            return missing::refuse(self, item.ok_or_else(missing)?);
        }
        let (row, id) = resolve(self, visibility, id)?;
        let item = self.store.items(&[row])?.pop().flatten();
        missing::refuse(self, item.ok_or(Error::NotFound { what: Missing::Item, id })?)
    }

    /// Returns at most `most` visible chunks of the canonical documents, by path and in the order of each document.
    pub fn canonical(&self, visibility: &Visibility, most: usize) -> Result<Vec<Item>> {
        let documents = canonical_documents(self)?;
        let rows = self.store.document_rows(&documents, most)?.concat();
        let mut chunks: Vec<Item> = self.store.items(&rows)?.into_iter().flatten().collect();
        chunks.retain(|item| item.is_visible(visibility));
        // A stable sort leaves the chunks of one document in their order.
        chunks.sort_by_cached_key(|item| item.metadata.get("path").map(ToString::to_string));
        chunks.truncate(most);
        Ok(chunks)
    }

    /// Returns items of a selection, newest first.
    pub fn list(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Listing> {
        let select = &select.within(visibility)?;
        let (rows, total) = self.store.page(select, limit, offset)?;
        let memories: Vec<Item> = self.store.items(&rows)?.into_iter().flatten().collect();
        let rows: Vec<RowId> = memories.iter().map(|item| item.row).collect();
        let possible = possible_of(self, visibility, &rows)?;
        let possible = memories.iter().map(|item| item.id.clone()).zip(possible);
        let possible = possible.filter(|(_, earlier)| !earlier.is_empty()).collect();
        Ok(Listing { memories, total, possible, degraded: missing::degraded(self)? })
    }

    /// Returns the other wordings of a memory, oldest first; none if it is not visible.
    pub fn wordings(&self, visibility: &Visibility, item: &Item) -> Result<Vec<MemoryWording>> {
        if item.is_visible(visibility) { wordings(self, std::slice::from_ref(item)) } else { Ok(Vec::new()) }
    }

    /// Returns the versions of a memory and its events, oldest first. It works for removed items too, but only where
    /// everything is visible: the store no longer has their owner.
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
        let wordings = wordings(self, &forms)?;
        let mut chain: Vec<Version> = Vec::with_capacity(forms.len());
        for memory in forms {
            let changed = chain.last().and_then(|before| changed(&before.memory.content, &memory.content));
            chain.push(Version { memory, changed });
        }
        Ok(History { history: events, chain, wordings })
    }

    /// Returns the number of the store's last change, by any caller. It counts all changes, so do not show it to a caller
    /// that sees only a part of the store.
    pub fn last_change(&self) -> Result<u64> {
        Ok(self.store.coverage()?.change.0)
    }

    /// Returns the changes to visible items after a change, by any process, oldest first, and the last change that was
    /// examined. At most `most` changes are examined. The store no longer has the owner of a forgotten item.
    pub fn changes_after(
        &self,
        visibility: &Visibility,
        change: u64,
        most: usize,
    ) -> Result<(Vec<StoreChange>, u64)> {
        let (changes, last) = self.store.changes(visibility, Change(change), most)?;
        Ok((changes, last.0))
    }

    /// Returns a page of the documents that have a chunk in a selection, the last changed first.
    pub fn documents(
        &self,
        visibility: &Visibility,
        select: &Selection,
        limit: usize,
        offset: usize,
    ) -> Result<Documents> {
        self.store.document_page(&select.within(visibility)?, limit, offset)
    }

    /// Returns how often answers returned an item, and when last; `None` if never, or if it is not visible. An exposure is
    /// not a use.
    pub fn exposure(&self, visibility: &Visibility, item: &Item) -> Result<Option<(u64, Timestamp)>> {
        if item.is_visible(visibility) { self.desk.exposure(item.row) } else { Ok(None) }
    }
}
