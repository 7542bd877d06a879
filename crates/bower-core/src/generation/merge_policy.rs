//! Decides which segments a compaction merges, and which rows it drops. Ids ascend strictly within a segment.

use crate::item::{RowId, RowSet};

/// Smaller segments are merged by every compaction: 1.6 MB of vectors at 384 dimensions.
const SMALL: usize = 4_096;

/// A segment is rewritten if more than one row in this many is dead.
const DEAD_SHARE: usize = 4;

/// A segment's row ids, with the dead ones marked.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Row ids, ascending.
    pub ids: &'a [u32],
    /// One bit per position; `None` if no row is dead.
    pub dead: Option<&'a [u8]>,
}

/// A compaction's action for one current segment.
#[derive(Debug)]
pub struct SegmentAction {
    /// Its dead rows after this compaction, one bit per position.
    pub dead: Vec<u8>,
    /// Number of set bits.
    pub dead_count: usize,
    /// Whether its live rows go into the new segment.
    pub merged: bool,
}

impl SegmentAction {
    /// Whether the row at a position is dead after this compaction.
    #[inline]
    pub fn is_dead(&self, position: usize) -> bool {
        self.dead[position / 8] >> (position % 8) & 1 == 1
    }
}

impl Rows<'_> {
    /// Whether the row at a position is dead.
    #[inline]
    pub fn is_dead(&self, position: usize) -> bool {
        self.dead.is_some_and(|dead| dead[position / 8] >> (position % 8) & 1 == 1)
    }

    /// Returns a row's position at or after `from`, or the position to insert it as the error. Rows are looked up in
    /// ascending order, so without many gaps each is found at once.
    pub fn find(&self, row: RowId, from: usize) -> Result<usize, usize> {
        let ids = self.ids;
        let Some(start) = ids.get(from) else { return Err(ids.len()) };
        if row.0 <= *start {
            return if row.0 == *start { Ok(from) } else { Err(from) };
        }
        // Ids ascend strictly, so the position grows at most by the difference of the ids.
        let reach = (from + (row.0 - start) as usize).min(ids.len() - 1);
        match ids[reach].cmp(&row.0) {
            std::cmp::Ordering::Equal => Ok(reach),
            std::cmp::Ordering::Less => Err(reach + 1),
            std::cmp::Ordering::Greater => {
                ids[from..reach].binary_search(&row.0).map(|at| from + at).map_err(|at| from + at)
            }
        }
    }

    fn dead_bits(&self) -> Vec<u8> {
        self.dead.map_or_else(|| vec![0; self.ids.len().div_ceil(8)], <[u8]>::to_vec)
    }
}

/// Decides which segments are merged with the fresh rows, and which of each segment's rows are dead.
///
/// It merges every segment up to twice as large as the rows gathered so far (up to 4,096 rows always), and segments
/// with many dead rows. `generation/compact.rs` describes the cost. `purge` leaves no dead row in any file, at the cost of
/// rewriting.
pub fn segment_actions(
    segments: &[Rows<'_>],
    gone: &RowSet,
    fresh: &RowSet,
    purge: bool,
) -> Vec<SegmentAction> {
    let mut actions: Vec<SegmentAction> = segments
        .iter()
        .map(|segment| {
            let mut dead = segment.dead_bits();
            for rows in [gone, fresh] {
                let mut from = 0;
                for row in rows.iter() {
                    match segment.find(row, from) {
                        Ok(at) => {
                            dead[at / 8] |= 1 << (at % 8);
                            from = at + 1;
                        }
                        Err(at) => from = at,
                    }
                }
            }
            let dead_count = dead.iter().map(|byte| byte.count_ones() as usize).sum();
            SegmentAction { dead, dead_count, merged: false }
        })
        .collect();
    let live = |at: usize, actions: &[SegmentAction]| segments[at].ids.len() - actions[at].dead_count;
    let mut total = fresh.len();
    for at in 0..segments.len() {
        let live = live(at, &actions);
        let is_worn = actions[at].dead_count * DEAD_SHARE > segments[at].ids.len();
        if live > 0 && (is_worn || (purge && actions[at].dead_count > 0)) {
            actions[at].merged = true;
            total += live;
        }
    }
    let mut order: Vec<usize> = (0..segments.len()).filter(|at| live(*at, &actions) > 0).collect();
    order.sort_by_key(|at| (live(*at, &actions), *at));
    for at in order {
        let live = live(at, &actions);
        if total > 0 && !actions[at].merged && live <= (2 * total).max(SMALL) {
            actions[at].merged = true;
            total += live;
        }
    }
    actions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_where_it_stands_from_anywhere_before() {
        let ids = [2, 3, 7, 8, 9, 40, 41];
        let rows = Rows { ids: &ids, dead: Some(&[0b10]) };
        for from in 0..=ids.len() {
            for row in 0..50 {
                let want = ids[from..].binary_search(&row).map(|at| from + at).map_err(|at| from + at);
                assert_eq!(rows.find(RowId(row), from), want, "{row} from {from}");
            }
        }
        assert_eq!((rows.is_dead(0), rows.is_dead(1)), (false, true));
    }
}
