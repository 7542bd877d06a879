//! Scores those few documents of one segment that a narrow filter keeps, and gives the best.
//! Each term is asked for them; no other document is scored. The scores are those of [`super::best`], to the bit: sums are exact
//! ([`super::Bm25`]).

use std::cmp::Reverse;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentReader;
use tantivy::{DocId, TERMINATED};

use super::super::score::Bm25;
use super::best::Cursor;
use super::examine::first_not_below;
use super::{Columns, TextIndex};
use crate::item::{Allowed, RowId};

/// A filter that keeps at most one in this many rows is narrow. With one in ten, going through all postings and asking of the
/// best whether they are kept takes less.
const NARROW: usize = 20;

impl TextIndex {
    /// The documents that a narrow filter keeps of a segment, ascending; `None` where it keeps too many, or an older version
    /// wrote the segment and its rows do not ascend.
    pub(super) fn kept(
        &self,
        segment: &SegmentReader,
        columns: &Columns,
        allowed: Allowed<'_>,
    ) -> Option<Vec<DocId>> {
        let keep = allowed.keep?;
        if keep.len() > self.docs as usize / NARROW {
            return None;
        }
        let (rows, end) = (&*columns.rows, segment.max_doc());
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
        // Where each was found, it does not matter how the others stand.
        (docs.len() == wanted.len() || columns.ascends(end)).then_some(docs)
    }
}

impl Columns {
    /// Whether the rows of all `docs` documents ascend strictly: looked at once while the index is open, and only when it matters.
    fn ascends(&self, docs: DocId) -> bool {
        let row = |doc| self.rows.get_val(doc);
        *self.ascends.get_or_init(|| (1..docs).all(|doc| row(doc - 1) < row(doc)))
    }
}

/// Gives `each` those of `docs` (ascending) that may be among the best `k`, ascending, with their scores, all of them above
/// the threshold; `each` says the threshold from there on, which never falls.
pub(super) fn among(
    mut cursors: Vec<Cursor>,
    docs: Vec<DocId>,
    k: usize,
    bm25: &Bm25,
    lengths: &FieldNormReader,
    mut threshold: f32,
    each: &mut dyn FnMut(DocId, f32) -> f32,
) {
    // The weightiest first, so that what cannot be among the best any more is known before the frequent ones are asked.
    cursors.sort_by(|a, b| bm25.most(b.nth()).total_cmp(&bm25.most(a.nth())));
    let mut rest: f32 = cursors.iter().map(|cursor| bm25.most(cursor.nth())).sum();
    let mut live: Vec<(DocId, f32)> = docs.into_iter().map(|doc| (doc, 0.0)).collect();
    let mut sums: Vec<u32> = Vec::new();
    for mut cursor in cursors {
        if live.len() / 2 > k && cursor.doc_freq() > live.len() {
            // At least `k` scores are no less than this. Sums are not negative, so their bits are in their order.
            sums.clear();
            sums.extend(live.iter().map(|(_, sum)| sum.to_bits()));
            let (_, least, _) = sums.select_nth_unstable_by_key(k - 1, |bits| Reverse(*bits));
            threshold = threshold.max(f32::from_bits(*least).next_down());
        }
        live.retain(|(_, sum)| sum + rest > threshold);
        rest -= bm25.most(cursor.nth());
        for (doc, sum) in &mut live {
            if let Some(frequency) = cursor.seek(*doc) {
                *sum += bm25.term(cursor.nth(), lengths.fieldnorm_id(*doc), frequency);
            } else if cursor.doc() == TERMINATED {
                break;
            }
        }
    }
    for (doc, sum) in live {
        if sum > threshold {
            threshold = each(doc, sum).max(threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::language::Language;
    use super::super::super::query::query_terms;
    use super::super::super::tail::Tail;
    use super::super::tests::put;
    use super::*;
    use crate::item::RowSet;

    /// As an older version merged them: rows descend, so no kept row stands where it is looked for.
    #[test]
    fn kept_rows_are_found_in_a_segment_without_order() {
        let dir = tempfile::tempdir().unwrap();
        let rows: Vec<(u32, &str)> =
            (0..400).rev().map(|row| (row * 2, ["cod", "cod elf"][row as usize % 2])).collect();
        put(dir.path(), 1, &[], &rows);
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        let terms = query_terms("cod elf", Language::English);
        let question = index.prepare(&terms, &Tail::empty(), None).unwrap();
        let keep: RowSet = [6, 7, 300, 798, 900].into_iter().map(RowId).collect();
        let allowed = Allowed { keep: Some(&keep), drop: &RowSet::new() };
        let found = index.search(&question, 10, allowed, &Tail::empty()).unwrap();
        assert_eq!(found.iter().map(|hit| hit.row.0).collect::<Vec<_>>(), [6, 798, 300]);
    }
}
