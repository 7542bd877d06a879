//! A segment's columns of rows and parents, and the documents that a narrow filter keeps.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentReader;
use tantivy::{DocId, TantivyError};

use crate::item::{Allowed, RowId};

/// A filter is narrow if it keeps at most one in this many rows. With one in ten, iterating all postings and then
/// checking the best is faster.
const NARROW: usize = 20;

/// A segment's columns. They are opened once: finding a column by its name takes as long as reading a hundred values.
pub(super) struct Columns {
    pub(super) rows: Arc<dyn ColumnValues<u64>>,
    /// 0 for none.
    pub(super) parents: Arc<dyn ColumnValues<u64>>,
    /// Whether the rows ascend; computed on demand.
    ascends: OnceLock<bool>,
}

impl Columns {
    pub(super) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let column = |name| Ok::<_, TantivyError>(segment.fast_fields().u64(name)?.first_or_default_col(0));
        Ok(Self { rows: column("row")?, parents: column("parent")?, ascends: OnceLock::new() })
    }

    /// Returns the documents of a segment that a narrow filter keeps, ascending. `None` if it keeps too many of the
    /// index's `docs_in_all` documents. Also `None` if an older version wrote the segment and its rows do not ascend.
    pub(super) fn kept(
        &self,
        segment: &SegmentReader,
        docs_in_all: u64,
        allowed: Allowed<'_>,
    ) -> Option<Vec<DocId>> {
        let keep = allowed.keep?;
        if keep.len() > docs_in_all as usize / NARROW {
            return None;
        }
        let (rows, end) = (&*self.rows, segment.max_doc());
        if end == 0 {
            return Some(Vec::new());
        }
        let range = RowId(rows.min_value() as u32)..=RowId(rows.max_value() as u32);
        let wanted: Vec<RowId> = keep.within(range).filter(|&row| !allowed.drop.contains(row)).collect();
        if wanted.len() > end as usize / NARROW {
            return None;
        }
        let alive = segment.alive_bitset();
        let (mut docs, mut from) = (Vec::with_capacity(wanted.len()), 0);
        for &RowId(row) in &wanted {
            from = first_not_below(rows, row.into(), from..end);
            if from == end {
                break;
            }
            if rows.get_val(from) == u64::from(row) && alive.is_none_or(|alive| alive.is_alive(from)) {
                docs.push(from);
            }
        }
        // If all rows were found, the order of the others does not matter.
        (docs.len() == wanted.len() || self.ascends(end)).then_some(docs)
    }

    /// Whether the rows of all `docs` documents ascend strictly. Checked at most once while the index is open, and only
    /// on demand.
    fn ascends(&self, docs: DocId) -> bool {
        let row = |doc| self.rows.get_val(doc);
        *self.ascends.get_or_init(|| (1..docs).all(|doc| row(doc - 1) < row(doc)))
    }
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns").field("documents", &self.rows.num_vals()).finish_non_exhaustive()
    }
}

/// Returns the first document of a range whose row is not below a given one; the end if there is none. Rows must ascend
/// strictly.
pub(super) fn first_not_below(rows: &dyn ColumnValues<u64>, row: u64, docs: Range<u32>) -> u32 {
    if docs.is_empty() {
        return docs.end;
    }
    let start = rows.get_val(docs.start);
    if row <= start {
        return docs.start;
    }
    // Rows ascend by at least one per document, so the row is at most this far; exactly so if no numbers are missing.
    let reach = (u64::from(docs.start) + (row - start)).min(u64::from(docs.end - 1)) as u32;
    let there = rows.get_val(reach);
    if there <= row {
        return if there == row { reach } else { docs.end };
    }
    let (mut low, mut high) = (docs.start + 1, reach);
    while low < high {
        let middle = u32::midpoint(low, high);
        if rows.get_val(middle) < row { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::super::delta::Delta;
    use super::super::super::query::query_terms;
    use super::super::TextIndex;
    use super::super::tests::put;
    use super::*;
    use crate::item::RowSet;

    /// Rows descend, as an older version merged them, so that no kept row is where bisection looks.
    #[test]
    fn kept_rows_are_found_in_a_segment_without_order() {
        let dir = tempfile::tempdir().unwrap();
        let rows: Vec<(u32, &str)> =
            (0..400).rev().map(|row| (row * 2, ["cod", "cod elf"][row as usize % 2])).collect();
        put(dir.path(), 1, &[], &rows);
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        let terms = query_terms("cod elf", &[]);
        let question = index.prepare(&terms, &Delta::empty(), None).unwrap();
        let keep: RowSet = [6, 7, 300, 798, 900].into_iter().map(RowId).collect();
        let allowed = Allowed { keep: Some(&keep), drop: &RowSet::new() };
        let found = index.search(&question, 10, allowed, &Delta::empty()).unwrap();
        assert_eq!(found.iter().map(|hit| hit.row.0).collect::<Vec<_>>(), [6, 798, 300]);
    }
}
