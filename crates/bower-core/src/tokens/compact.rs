//! Compaction of a token index: writes its next generation, as `generation/compact.rs` does it.
//! Only codes of one scheme are put together.

use std::path::Path;

use super::TokenIndex;
use super::segment::TokenRows;
use crate::error::Result;
use crate::generation::{Compaction, Disk, FreshRows};
use crate::item::{Coverage, RowSet};

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh codes.
///
/// `current` is the opened generation in `dir`; `None` starts anew, whatever is there. `fresh` gives rows in strictly
/// ascending order, each with its codes (eight bytes a token, none for a text without tokens); a fresh row replaces an
/// older copy of itself and wins over `gone`. Memory needed: some 16 bytes a row. The caller holds the lock that keeps
/// other compacts of this folder out; questions may be answered meanwhile, also from `current`.
///
/// When it fails, at whatever step, the current generation is untouched and stays valid. Fails with
/// [`Error::Invalid`](crate::Error::Invalid) for a wrong length or order or a `current` of another scheme, as `fresh`
/// does, or because of the disk.
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

/// The same for the opened index itself, with its own scheme, and so that no file keeps what is not to be found.
pub fn purge(
    dir: &Path,
    current: &TokenIndex,
    next: Coverage,
    gone: &RowSet,
    fresh: &mut FreshRows<'_, TokenRows>,
) -> Result<()> {
    let compact = Compaction { dir, current: Some(current), next, model: current.model(), gone, purge: true };
    compact.run(&TokenRows, &mut Disk::default(), fresh)
}
