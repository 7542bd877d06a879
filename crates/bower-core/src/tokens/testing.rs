//! Fixtures and tests of the token index: seeded codes, its golden file, and rows in any order.
//! The codes are rows for the tests that all segment indexes share. For tests only.

use bower_kernels::scan::maxsim::MaxSimToken;
use std::sync::LazyLock;

use super::segment::TokenRows;
use super::{TokenIndex, TokenQuery};
use crate::generation::testing::{IndexFolder, Sample, rows, small_files, test_format};
use crate::item::RowId;

/// Returns the codes of a row: 0 to 90 words that only this row and seed have.
pub fn codes(row: u32, seed: u64) -> Vec<u64> {
    let mut state = u64::from(row) << 32 | seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ (state >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let len = if row % 7 == 3 { 0 } else { next() % 91 };
    (0..len).map(|_| next()).collect()
}

/// Returns a question of some tokens.
pub fn question(seed: u64) -> TokenQuery {
    let noise = codes(1, seed + 99);
    let token = |at: usize| MaxSimToken {
        values: std::array::from_fn(|dimension| {
            ((noise[(at + dimension) % noise.len()] >> dimension) as u8).cast_signed()
        }),
        step: 0.01,
        weight: 1.0 + at as f32,
    };
    TokenQuery::new(&(0..5).map(token).collect::<Vec<_>>())
}

/// Opens and uses an index whose files are damaged by `data`.
pub fn damaged(data: &[u8]) {
    static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(small_files::<TokenRows>);
    crate::generation::testing::damaged::<TokenRows>(&FILES, data);
}

test_format!(TokenRows);

impl Sample for TokenRows {
    const DIMENSION: usize = super::segment::DIMENSION;

    fn row(row: u32, seed: u64) -> Vec<u8> {
        codes(row, seed).iter().flat_map(|code| code.to_le_bytes()).collect()
    }

    fn misfit() -> Vec<u8> {
        vec![0; 9]
    }

    fn has(index: &TokenIndex, row: u32, seed: u64) -> Option<bool> {
        let query = question(1);
        // A damaged file gives no score, which counts as a wrong one.
        let Ok(scores) = index.score(&query, &[RowId(row)]) else { return Some(false) };
        scores[0].map(|score| score.to_bits() == query.score(&[&codes(row, seed)])[0].to_bits())
    }

    fn ask(index: &TokenIndex) {
        let rows: Vec<RowId> = (0..50).map(RowId).collect();
        for mapped in [0, usize::MAX] {
            let _ = index.score_mapped_to(mapped, &question(1), &rows);
        }
        let _ = index.rows().count();
    }
}

#[test]
fn rows_are_scored_in_any_order_repeated_and_without_tokens() {
    let folder = IndexFolder::<TokenRows>::new(super::segment::DIMENSION);
    folder.compact(1, &[], rows::<TokenRows>(0..300, 1));
    folder.compact(2, &[7], rows::<TokenRows>(300..500, 1));
    let (index, query) = (folder.open().unwrap(), question(1));
    assert_eq!(index.rows().count(), 499);
    let asked = [499, 0, 7, 3, 6, 9_999, 300, 0, 299];
    let want = asked.map(|row| (row != 7 && row < 500).then(|| query.score(&[&codes(row, 1)])[0]));
    assert_eq!(index.score(&query, &asked.map(RowId)).unwrap(), want);
    assert_eq!(index.score(&query, &[]).unwrap(), []);
}

#[test]
fn rows_score_the_same_mapped_or_read() {
    let folder = IndexFolder::<TokenRows>::new(super::segment::DIMENSION);
    folder.compact(1, &[], rows::<TokenRows>(0..20_000, 1));
    folder.compact(2, &[40, 41], rows::<TokenRows>(20_000..20_050, 1));
    let (index, query) = (folder.open().unwrap(), question(1));
    assert_eq!(index.segments(), 2);
    let mut dice = codes(2, 7).into_iter().cycle();
    let mut row = |below: u64| (dice.next().unwrap() % below) as u32;
    let near: Vec<RowId> = (0..70).map(RowId).collect();
    let apart: Vec<RowId> = (0..90).map(|_| RowId(row(20_100))).collect();
    let groups: Vec<RowId> =
        (0..40).map(|_| row(20_000)).flat_map(|row| [row, row + 1, row + 4, row]).map(RowId).collect();
    let bytes: usize = index.segments.iter().map(crate::generation::Segment::bytes_len).sum();
    for rows in [near, apart, groups, vec![RowId(20_049)], Vec::new()] {
        let want = index.score_mapped_to(usize::MAX, &query, &rows).unwrap();
        for mapped in [0, 1, 5_000, bytes / 2, bytes - 8, bytes] {
            let scores = index.score_mapped_to(mapped, &query, &rows).unwrap();
            let bits =
                |scores: &[Option<f32>]| scores.iter().map(|one| one.map(f32::to_bits)).collect::<Vec<_>>();
            assert_eq!(bits(&scores), bits(&want), "{mapped} mapped");
        }
    }
    let behind = index.segments[0].read(bytes, &mut vec![0; 1 << 20]).unwrap_err();
    assert!(matches!(behind, crate::Error::Corrupt { .. }), "{behind}");
}

/// Written by `tools/golden_tokens.py`, an implementation from the format's description alone. Never written again.
const GOLDEN: [(&str, &[u8]); 3] = [
    ("manifest", include_bytes!("../../tests/golden/tokens-1/manifest")),
    ("0000000000000005.segment", include_bytes!("../../tests/golden/tokens-1/0000000000000005.segment")),
    ("0000000000000006.dead", include_bytes!("../../tests/golden/tokens-1/0000000000000006.dead")),
];

#[test]
fn format_1_is_read_for_ever() {
    let folder = IndexFolder::<TokenRows>::golden(super::segment::DIMENSION, &GOLDEN);
    let index = folder.open().unwrap();
    index.verify().unwrap();
    assert_eq!((index.model(), index.len(), index.coverage().change.0), ("golden.t1", 3, 42));
    assert_eq!(index.rows().collect::<Vec<_>>(), [RowId(3), RowId(70_000), RowId(70_001)]);
    // One token, all numbers 1: its best dot product is twice the best code's set bits, less 64.
    let all = MaxSimToken { values: [1; 64], step: 1.0, weight: 2.0 };
    let rows = [RowId(70_001), RowId(3), RowId(9), RowId(70_000), RowId(4)];
    let scores = index.score(&TokenQuery::new(&[all]), &rows).unwrap();
    // Row 3: codes 1 and 0xff; row 9 is dead; row 70,000 has no tokens; row 70,001: all bits but one.
    assert_eq!(scores, [Some(62.0), Some(-48.0), None, Some(0.0), None]);
}
