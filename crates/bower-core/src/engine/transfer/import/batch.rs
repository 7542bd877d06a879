//! Shared parts of all importers: the request with its report, and how an item enters the store.
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::curate::secrets::CleanItem;
use crate::engine::indexes::LANGUAGE;
use crate::engine::late::vector_for;
use crate::error::Result;
use crate::item::derive_id;
use crate::request::moving::{ImportProgress, ImportRequest, Imported};
use crate::store::copies::{ItemCopy, NewItem};
use crate::text;

/// Pieces in one transaction: others that write wait some milliseconds.
pub(crate) const BATCH: usize = 256;

/// One import, from its first file to its event.
pub struct Import<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) request: ImportRequest,
    pub(crate) now: Timestamp,
    pub(crate) progress: &'a (dyn Fn(ImportProgress) + Sync),
    pub(crate) start: Instant,
    pub(crate) report: Imported,
}

/// An item on its way in, with what the text channel needs of it. Its vector is made at the end, with all others, unless
/// `embed` says now. `indexed` is what the channels see of it, where that is more than its text.
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
    let terms = text::encode_terms(indexed, LANGUAGE);
    Ok(NewItem { item, terms, vector, action, why })
}

/// Puts an item into the place that the request names. One that moves gets another id: two owners who import the same file have
/// two memories. Says whether it moved.
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

/// The id that an id has in the place that the request names.
pub(crate) fn moved_id(request: &ImportRequest, id: &str) -> String {
    let scope = request.scope.map_or("", crate::item::Scope::word);
    derive_id(&["moved", id, scope, request.owner.as_deref().unwrap_or("")])
}
