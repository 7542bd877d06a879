//! Scores the few documents of one segment that a narrow filter keeps, and returns the best.
//! Each term is looked up for these documents; no other document is scored. The scores equal those of [`super::best`]
//! to the bit, because sums are exact ([`super::Bm25`]).

use std::cmp::Reverse;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, TERMINATED};

use super::super::score::Bm25;
use super::best::Cursor;

/// Passes to `each` those of `docs` (ascending) that may be among the best `k`, ascending, with scores above the
/// threshold. `each` returns the next threshold, which never falls.
pub(super) fn among(
    mut cursors: Vec<Cursor>,
    docs: Vec<DocId>,
    k: usize,
    bm25: &Bm25,
    lengths: &FieldNormReader,
    mut threshold: f32,
    each: &mut dyn FnMut(DocId, f32) -> f32,
) {
    // The weightiest terms first, so that documents are ruled out before the frequent terms are looked up.
    cursors.sort_by(|a, b| bm25.most(b.nth()).total_cmp(&bm25.most(a.nth())));
    let mut rest: f32 = cursors.iter().map(|cursor| bm25.most(cursor.nth())).sum();
    let mut live: Vec<(DocId, f32)> = docs.into_iter().map(|doc| (doc, 0.0)).collect();
    let mut sums: Vec<u32> = Vec::new();
    for mut cursor in cursors {
        if live.len() / 2 > k && cursor.doc_freq() > live.len() {
            // At least `k` scores are no less than this. Sums are not negative, so their bits sort like the sums.
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
