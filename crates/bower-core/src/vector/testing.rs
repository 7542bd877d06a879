//! Seeded vectors that look like embeddings, and a folder to fold them into. For tests only.

use std::ops::Range;
use std::path::Path;

use super::{VectorIndex, fold};
use crate::error::Result;
use crate::item::{Allowed, Change, Coverage, RowId, RowSet, Scored};

/// Vectors with clusters, fewer real directions than numbers, and a common mean, as sentence embeddings have.
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

    /// About normal: the sum of four uniforms.
    fn normal(&mut self) -> f32 {
        let word = self.next();
        let sum: u64 = (0..4).map(|at| word >> (16 * at) & 0xffff).sum();
        (sum as f32 / 65_536.0 - 2.0) * 1.732
    }
}

impl Vectors {
    /// `count` vectors around `count`/50 centres in a space of a third of the dimensions, plus a little noise in all.
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

    /// The rows of a range as a fold takes them.
    pub fn rows(&self, rows: Range<u32>) -> impl Iterator<Item = Result<(RowId, Vec<f32>)>> {
        rows.map(|row| Ok((RowId(row), self.get(row).to_vec())))
    }

    /// The rows as a search asks for them.
    #[allow(clippy::unnecessary_wraps)] // the shape of the callback
    pub fn fetch(&self, rows: &[RowId]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(rows.iter().map(|row| Some(self.get(row.0).to_vec())).collect())
    }
}

/// A folder with an index of the model `m`.
pub struct Folder {
    dir: tempfile::TempDir,
    dimension: usize,
}

impl Folder {
    pub fn new(dimension: usize) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), dimension }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn open(&self) -> Option<VectorIndex> {
        VectorIndex::open(self.path()).unwrap()
    }

    #[allow(clippy::unused_self)] // reads as the folder's
    pub fn coverage(&self, change: u64) -> Coverage {
        Coverage { store: "s".into(), change: Change(change), mark: 7 }
    }

    /// Folds the rows of a range on top of what is there.
    pub fn fold(&self, change: u64, gone: &[u32], data: &Vectors, fresh: Range<u32>) {
        let (current, next) = (self.open(), self.coverage(change));
        let gone: RowSet = gone.iter().map(|row| RowId(*row)).collect();
        let fresh = &mut data.rows(fresh);
        fold(self.path(), current.as_ref(), next, "m", self.dimension, &gone, fresh).unwrap();
    }

    #[allow(clippy::unused_self)] // reads as the folder's
    pub fn search(&self, index: &VectorIndex, data: &Vectors, query: &[f32], k: usize) -> Vec<Scored> {
        let drop = RowSet::new();
        index.search(query, k, Allowed { keep: None, drop: &drop }, &mut |rows| data.fetch(rows)).unwrap()
    }
}
