//! Seeded codes, and a folder to fold them into. For tests only.

use std::ops::Range;
use std::path::Path;

use bower_kernels::scan::maxsim::MaxSimToken;

use super::{TokenIndex, TokenQuery, fold};
use crate::error::Result;
use crate::item::{Change, Coverage, RowId, RowSet};

/// The codes of a row: a length of 0 to 90 and words that only this row and seed have.
pub fn codes(row: u32, seed: u64) -> Vec<u64> {
    let mut state = u64::from(row) << 32 | seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ (state >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let len = if row % 7 == 3 { 0 } else { next() % 91 };
    (0..len).map(|_| next()).collect()
}

pub fn bytes(codes: &[u64]) -> Vec<u8> {
    codes.iter().flat_map(|code| code.to_le_bytes()).collect()
}

/// A question of some tokens.
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

/// A folder with an index of the scheme `m`.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn open(&self) -> Option<TokenIndex> {
        TokenIndex::open(self.path()).unwrap()
    }

    /// Folds the codes of a range's rows on top of what is there.
    pub fn fold(&self, change: u64, gone: &[u32], seed: u64, fresh: Range<u32>) {
        let gone: RowSet = gone.iter().map(|row| RowId(*row)).collect();
        let current = self.open();
        fold(self.path(), current.as_ref(), coverage(change), "m", &gone, &mut rows(fresh, seed)).unwrap();
    }

    /// Whether each row has exactly the score of its codes of this seed.
    pub fn holds(&self, rows: &[u32], seed: u64) -> bool {
        let (query, index) = (question(1), self.open().unwrap());
        let ids: Vec<RowId> = rows.iter().map(|row| RowId(*row)).collect();
        let want = rows.iter().map(|row| Some(query.score(&[&codes(*row, seed)])[0]));
        index.score(&query, &ids).unwrap() == want.collect::<Vec<_>>()
    }
}

pub fn coverage(change: u64) -> Coverage {
    Coverage { store: "s".into(), change: Change(change), mark: 7 }
}

/// The rows of a range as a fold takes them.
pub fn rows(rows: Range<u32>, seed: u64) -> impl Iterator<Item = Result<(RowId, Vec<u8>)>> {
    rows.map(move |row| Ok((RowId(row), bytes(&codes(row, seed)))))
}
