//! Selects the rows of an export.

use crate::engine::Engine;
use crate::error::Result;
use crate::item::{Kind, RowId, Status};
use crate::request::Selection;
use crate::request::moving::ExportRequest;

/// Page size that includes every row: the largest number that the store can hold.
const ALL: usize = usize::MAX >> 1;

/// Returns the rows of a request. Chunks are included if documents are requested, or if the selection names their kind.
pub(crate) fn rows(engine: &Engine, request: &ExportRequest) -> Result<Vec<RowId>> {
    let mut select = request.select.clone();
    if select.kinds.is_empty() && !request.documents {
        select.kinds = vec![Kind::Memory];
    }
    Ok(engine.store.page(&select, ALL, 0)?.0)
}

/// Returns the memories of a selection, ascending by row, without their other wordings.
pub(crate) fn memories(engine: &Engine, select: &Selection) -> Result<Vec<RowId>> {
    let mut select = Selection { kinds: vec![Kind::Memory], ..select.clone() };
    let is_default = select.statuses.is_empty();
    select.statuses.retain(|status| *status != Status::Variant);
    if select.statuses.is_empty() && !is_default {
        return Ok(Vec::new());
    }
    let mut rows = engine.store.page(&select, ALL, 0)?.0;
    rows.sort_unstable();
    Ok(rows)
}
