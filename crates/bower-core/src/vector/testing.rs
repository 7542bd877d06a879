//! Fixtures for vector tests: seeded vectors that look like embeddings, and rows for the shared tests.
//! All segment indexes must pass the shared tests. For tests only.

use std::ops::Range;
use std::sync::LazyLock;

use super::segment::VectorRows;
use super::{VectorIndex, halves};
use crate::error::Result;
use crate::generation::testing::{self, Sample, small_files, test_format};
use crate::item::{Allowed, RowId, RowSet, Scored};

/// Vectors with clusters, fewer effective dimensions than numbers, and a common mean, like sentence embeddings.
pub struct Vectors {
    pub dimension: usize,
    pub values: Vec<f32>,
}

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }

    /// Returns an approximately normal number: the sum of four uniform ones.
    fn normal(&mut self) -> f32 {
        let word = self.next();
        let sum: u64 = (0..4).map(|at| word >> (16 * at) & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 1.732
    }
}

impl Vectors {
    /// Returns `count` vectors around `count`/50 centres in a space of a third of the dimensions, plus a little noise in all.
    pub fn clustered(dimension: usize, count: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let rank = dimension / 3;
        let basis: Vec<f32> = (0..rank * dimension).map(|_| dice.normal()).collect();
        let spread: Vec<f32> = (0..rank).map(|at| 1.0 / (1.0 + at as f32).sqrt()).collect();
        let centres: Vec<f32> =
            (0..count.div_ceil(50) * rank).map(|at| dice.normal() * spread[at % rank]).collect();
        let mut values = Vec::with_capacity(count * dimension);
        let mut place = vec![0.0; rank];
        for _ in 0..count {
            let centre = dice.next() as usize % count.div_ceil(50);
            for (at, value) in place.iter_mut().enumerate() {
                *value = centres[centre * rank + at] + 0.7 * dice.normal() * spread[at];
            }
            let start = values.len();
            values.extend((0..dimension).map(|_| 0.3 + 0.3 * dice.normal()));
            for (weight, direction) in place.iter().zip(basis.chunks_exact(dimension)) {
                for (value, axis) in values[start..].iter_mut().zip(direction) {
                    *value += weight * axis;
                }
            }
        }
        Self { dimension, values }
    }

    pub fn get(&self, row: u32) -> &[f32] {
        &self.values[row as usize * self.dimension..][..self.dimension]
    }

    /// Returns the rows of a range in the form that a compaction expects.
    pub fn rows(&self, rows: Range<u32>) -> impl Iterator<Item = Result<(RowId, Vec<f32>)>> {
        rows.map(|row| Ok((RowId(row), self.get(row).to_vec())))
    }

    /// Returns the stored vectors of rows, for a search.
    #[allow(clippy::unnecessary_wraps)] // the shape of the callback
    pub fn fetch(&self, rows: &[RowId]) -> Result<Vec<Option<Vec<u8>>>> {
        Ok(rows.iter().map(|row| Some(halves(self.get(row.0)))).collect())
    }

    /// Searches among all rows of an index of these vectors.
    pub fn search(&self, index: &VectorIndex, query: &[f32], k: usize) -> Vec<Scored> {
        let drop = RowSet::new();
        index.search(query, k, Allowed { keep: None, drop: &drop }, &mut |rows| self.fetch(rows)).unwrap()
    }
}

/// A folder to compact vectors into.
pub type IndexFolder = testing::IndexFolder<VectorRows>;

/// Opens and uses an index whose files are damaged by `data`.
pub fn damaged(data: &[u8]) {
    static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(small_files::<VectorRows>);
    crate::generation::testing::damaged::<VectorRows>(&FILES, data);
}

test_format!(VectorRows);

impl Sample for VectorRows {
    const DIMENSION: usize = 72;

    fn row(row: u32, seed: u64) -> Vec<f32> {
        let mut dice = Dice(u64::from(row) << 32 | seed);
        (0..Self::DIMENSION).map(|_| dice.normal()).collect()
    }

    fn misfit() -> Vec<f32> {
        vec![1.0; Self::DIMENSION + 1]
    }

    fn has(index: &VectorIndex, row: u32, seed: u64) -> Option<bool> {
        let cosine = index.cosines(&Self::row(row, seed), &[RowId(row)])[0];
        cosine.map(|cosine| cosine > 0.99)
    }

    fn ask(index: &VectorIndex) {
        let (query, none) = (Self::row(1, 1), RowSet::new());
        let keep: RowSet = [RowId(5), RowId(6)].into_iter().collect();
        for keep in [None, Some(&keep)] {
            let allowed = Allowed { keep, drop: &none };
            let _ = index.search(&query, 10, allowed, &mut |rows| Ok(vec![None; rows.len()]));
            let _ = index.background(&query, allowed);
        }
        let _ = index.quantised(&(0..50).map(RowId).collect::<Vec<_>>());
    }
}

/// Written by `tools/golden_vectors.py`, an implementation from the format's description alone. Never written again.
const GOLDEN: [(&str, &[u8]); 3] = [
    ("manifest", include_bytes!("../../tests/golden/vectors-2/manifest")),
    ("0000000000000005.segment", include_bytes!("../../tests/golden/vectors-2/0000000000000005.segment")),
    ("0000000000000006.dead", include_bytes!("../../tests/golden/vectors-2/0000000000000006.dead")),
];

#[test]
fn format_2_is_read_for_ever() {
    let folder = IndexFolder::golden(VectorRows::DIMENSION, &GOLDEN);
    let index = folder.open().unwrap();
    index.verify().unwrap();
    assert_eq!((index.model(), index.len(), index.coverage().change.0), ("golden", 3, 42));
    let mut first = [0.0; VectorRows::DIMENSION];
    first[0] = 2.0;
    let cosines = index.cosines(&first, &[70_001, 3, 9, 70_000, 4].map(RowId));
    // Row 3 is the first axis; row 9 is dead; row 70,000 has no direction; row 70,001: half way to another axis.
    let want = [Some(0.5f32.sqrt()), Some(1.0), None, Some(0.0), None];
    for (cosine, want) in cosines.iter().zip(want) {
        assert_eq!(cosine.is_some(), want.is_some(), "{cosines:?}");
        assert!((cosine.unwrap_or(0.0) - want.unwrap_or(0.0)).abs() < 1e-6, "{cosines:?}");
    }
    let last = index.quantised(&[RowId(70_001)])[0].clone().unwrap();
    let last = (f32::from(last.bytes[71]) - 128.0) * last.scale;
    assert!((last + 0.5f32.sqrt()).abs() < 1e-6, "{last}");
}

/// Codes of format 1 had no clusters; the caller makes a new index from the store's vectors.
#[test]
fn format_1_is_refused_by_its_number() {
    let manifest = include_bytes!("../../tests/golden/vectors-1/manifest");
    let folder = IndexFolder::golden(VectorRows::DIMENSION, &[("manifest", manifest)]);
    let refused = VectorIndex::open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("format 1 instead of 2"), "{refused}");
}
