//! Compaction of the graph index: writes its next generation by `generation/compact.rs`.

use std::path::Path;

use super::GraphIndex;
use super::segment::MentionRows;
use crate::error::Result;
use crate::generation::{Compaction, Disk, FreshRows};
use crate::item::{Coverage, RowSet};

/// Name of what makes the rows, in place of a model.
const EXTRACTION: &str = "names";

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh mentions.
///
/// `current` is the opened generation in `dir`; `None` starts from scratch, whatever is there. `fresh` returns rows in
/// strictly ascending order, each with its encoded mentions. A fresh row replaces an older copy of itself and takes
/// precedence over `gone`. It needs 20 bytes of memory a mention. The caller holds the lock against other compactions of
/// this folder. `purge` rewrites every segment with a dead row, so that no file keeps one.
///
/// If it fails at any step, the current generation is untouched and stays valid. Fails with
/// [`Error::Invalid`](crate::Error::Invalid) for a wrong length or order, with the errors of `fresh`, or because of the disk.
pub fn compact(
    dir: &Path,
    current: Option<&GraphIndex>,
    next: Coverage,
    gone: &RowSet,
    purge: bool,
    fresh: &mut FreshRows<'_, MentionRows>,
) -> Result<()> {
    let compaction = Compaction { dir, current, next, model: EXTRACTION, gone, purge };
    compaction.run(&MentionRows, &mut Disk::default(), fresh)
}
