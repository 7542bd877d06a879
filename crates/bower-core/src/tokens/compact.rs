//! Compaction of a token index: writes its next generation by `generation/compact.rs`.
//! Only codes of one scheme are combined.

use std::path::Path;

use super::TokenIndex;
use super::segment::TokenRows;
use crate::error::Result;
use crate::generation::{Compaction, Disk, FreshRows};
use crate::item::{Coverage, RowSet};

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh codes.
///
/// `current` is the opened generation in `dir`; `None` starts from scratch, whatever is there. `fresh` returns rows in
/// strictly ascending order, each with its codes (eight bytes per token, none for a text without tokens). A fresh row
/// replaces an older copy of itself and takes precedence over `gone`. It needs about 16 bytes of memory per row. The
/// caller holds the lock against other compactions of this folder. Questions may be answered meanwhile, also from
/// `current`.
///
/// If it fails at any step, the current generation is untouched and stays valid. Fails with
/// [`Error::Invalid`](crate::Error::Invalid) for a wrong length or order or a `current` of another scheme, with the
/// errors of `fresh`, or because of the disk.
pub fn compact(
    dir: &Path,
    current: Option<&TokenIndex>,
    next: Coverage,
    model: &str,
    gone: &RowSet,
    fresh: &mut FreshRows<'_, TokenRows>,
) -> Result<()> {
    Compaction { dir, current, next, model, gone, purge: false }.run(&TokenRows, &mut Disk::default(), fresh)
}

/// Compacts the opened index with its own scheme, so that no file keeps a dead row.
pub fn purge(
    dir: &Path,
    current: &TokenIndex,
    next: Coverage,
    gone: &RowSet,
    fresh: &mut FreshRows<'_, TokenRows>,
) -> Result<()> {
    let compaction =
        Compaction { dir, current: Some(current), next, model: current.model(), gone, purge: true };
    compaction.run(&TokenRows, &mut Disk::default(), fresh)
}
