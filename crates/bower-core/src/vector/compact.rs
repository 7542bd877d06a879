//! Compaction of a vector index: writes its next generation by `generation/compact.rs`.
//! Only vectors of one model are combined.

use std::path::Path;

use super::VectorIndex;
use super::segment::VectorRows;
use crate::error::Result;
use crate::generation::{Compaction, Disk, FreshRows};
use crate::item::{Coverage, RowSet};

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh vectors.
///
/// `current` is the opened generation in `dir`; `None` starts from scratch, whatever is there. `fresh` returns rows in
/// strictly ascending order and vectors of `dimension` (a multiple of 8 in [`super::segment::DIMENSIONS`]). A fresh row
/// replaces an older copy of itself and takes precedence over `gone`. It needs about 8 bytes of memory per vector. The
/// caller holds the lock against other compactions of this folder. Searches may go on meanwhile, also in `current`.
///
/// If it fails at any step, the current generation is untouched and stays valid. Fails with
/// [`Error::Invalid`](crate::Error::Invalid) for a wrong dimension or order or a `current` of another model, with the
/// errors of `fresh`, or because of the disk.
pub fn compact(
    dir: &Path,
    current: Option<&VectorIndex>,
    next: Coverage,
    model: &str,
    dimension: usize,
    gone: &RowSet,
    fresh: &mut FreshRows<'_, VectorRows>,
) -> Result<()> {
    let compaction = Compaction { dir, current, next, model, gone, purge: false };
    compaction.run(&VectorRows::new(dimension)?, &mut Disk::default(), fresh)
}

/// Compacts the opened index with its own model and dimension, so that no file keeps a dead row.
pub fn purge(
    dir: &Path,
    current: &VectorIndex,
    next: Coverage,
    gone: &RowSet,
    fresh: &mut FreshRows<'_, VectorRows>,
) -> Result<()> {
    let format = VectorRows::new(current.dimension())?;
    let compaction =
        Compaction { dir, current: Some(current), next, model: current.model(), gone, purge: true };
    compaction.run(&format, &mut Disk::default(), fresh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Change, RowId};
    use crate::vector::Tier;
    use crate::vector::testing::{IndexFolder, Vectors};

    #[test]
    fn the_ten_thousandth_vector_of_a_segment_brings_codes() {
        let data = Vectors::clustered(64, 10_000, 1);
        for (rows, tier) in [(9_999, Tier::Int8), (10_000, Tier::TwoStage)] {
            let folder = IndexFolder::new(64);
            folder.compact(1, &[], data.rows(0..rows));
            folder.compact(2, &[7], data.rows(0..0));
            let index = folder.open().unwrap();
            assert_eq!(index.tier(), tier);
            for row in [0, 6, 9_998] {
                assert_eq!(data.search(&index, data.get(row), 1)[0].row, RowId(row));
            }
            assert_ne!(data.search(&index, data.get(7), 1)[0].row, RowId(7));
        }
    }

    #[test]
    fn a_dimension_that_no_index_takes_is_refused() {
        let (dir, none) = (Path::new("/nowhere"), RowSet::new());
        for dimension in [0, 8, 65, 4104] {
            let next = Coverage { store: "s".into(), change: Change(1), mark: 7 };
            let refused = compact(dir, None, next, "m", dimension, &none, &mut std::iter::empty());
            let want = format!("vector dimension {dimension}: use a multiple of 8 from 64 to 4096");
            assert_eq!(refused.unwrap_err().to_string(), want);
        }
    }
}
