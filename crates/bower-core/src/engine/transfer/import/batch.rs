//! Defines what all importers share: the request with its report, and the way of an item into the store.
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::late::vector_for;
use crate::engine::transfer::import::foreign::state::ForeignState;
use crate::error::Result;
use crate::item::derive_id;
use crate::request::moving::{ImportProgress, ImportRequest, Imported};
use crate::store::DeltaData;
use crate::store::copies::{ItemCopy, NewItem};
use crate::text;

/// Number of pieces in one transaction: other writers wait some milliseconds.
pub(crate) const BATCH: usize = 256;

/// One import, from its first file to its event.
pub struct Import<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) request: ImportRequest,
    pub(crate) now: Timestamp,
    pub(crate) progress: &'a (dyn Fn(ImportProgress) + Sync),
    pub(crate) start: Instant,
    pub(crate) report: Imported,
    /// What it remembers of other programs' memories.
    pub(crate) foreign: ForeignState,
}

/// Creates an item to write, with its terms. Its vector is computed at the end, with all others, unless `embed` is set.
/// `indexed` is the text that the channels index, if that is more than the item's text.
pub(crate) fn new_item(
    engine: &Engine,
    clean: CleanItem,
    indexed: Option<&str>,
    action: &'static str,
    why: Map<String, Value>,
    embed: bool,
) -> Result<NewItem> {
    let item = clean.item;
    let indexed = indexed.unwrap_or(&item.content);
    let vector = if embed { vector_for(engine, indexed)? } else { None };
    // A chunk's mentions depend on its document, which is stored by then.
    let delta = DeltaData { terms: text::encode_terms(indexed), mentions: None };
    Ok(NewItem { item, delta, vector, action, why })
}

/// Moves an item to the scope and owner that the request names, and returns whether it moved. A moved item gets another id:
/// two owners who import the same file have two memories.
pub(crate) fn put_in_place(request: &ImportRequest, item: &mut ItemCopy) -> bool {
    let scope = request.scope.unwrap_or(item.scope);
    let owner = request.owner.clone().or_else(|| item.owner.clone());
    let moves = scope != item.scope || owner != item.owner;
    if moves {
        (item.scope, item.owner) = (scope, owner);
        item.id = moved_id(request, &item.id);
        item.supersedes_id = item.supersedes_id.as_deref().map(|id| moved_id(request, id));
    }
    moves
}

/// Returns the id that an item has after it moved.
pub(crate) fn moved_id(request: &ImportRequest, id: &str) -> String {
    let scope = request.scope.map_or("", crate::item::Scope::word);
    derive_id(&["moved", id, scope, request.owner.as_deref().unwrap_or("")])
}
