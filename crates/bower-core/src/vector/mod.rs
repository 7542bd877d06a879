//! The vector index: quantisation, search and file format.
//! Vectors of different models are never compared.
//!
//! An index is a folder with one manifest and immutable segments. [`VectorIndex::open`] maps a generation,
//! [`VectorIndex::search`] searches it, [`compact`] writes the next one beside it and switches the manifest last.

mod best;
mod clusters;
mod compact;
mod delta;
mod exact;
mod examine;
mod near;
mod packed;
mod quantise;
mod search;
mod segment;
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(not(test), allow(dead_code, unused_imports, reason = "fuzzers use a part of it"))]
#[allow(clippy::unwrap_used, reason = "it is made for tests, which fuzzers share")]
mod testing;
mod threads;

pub use crate::generation::MANIFEST;
pub use compact::{compact, purge};
pub use delta::{DeltaScores, score_delta, search_delta};
pub use exact::{ExactQuery, floats, halves};
pub use examine::{Background, likenesses};
pub use near::{NearPair, near_pairs};
pub use packed::{pack, unpack};
pub use quantise::{ByteRows, Quantised};
#[cfg(any(test, feature = "fuzzing"))]
pub use testing::damaged;
pub use threads::in_order;

use crate::generation::Generation;
pub(crate) use segment::check_dimension;
use segment::{VectorRows, VectorSegment};

/// How an index is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Scores every vector's int8 form; below 10,000 vectors that takes less than a tenth of a millisecond.
    Int8,
    /// Selects candidates by 1-bit codes, and rescores them by int8 and stored vectors.
    TwoStage,
    /// Like two-stage, but scans only the codes of the clusters near the query: from 200,000 vectors in a segment on.
    Clustered,
}

impl Tier {
    /// Returns its word in status reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::TwoStage => "two-stage",
            Self::Clustered => "clustered",
        }
    }
}

/// The opened generation of a folder `index/<store-id>/vectors-<model>/`.
pub type VectorIndex = Generation<VectorRows>;

impl VectorIndex {
    /// Returns how it is searched.
    pub fn tier(&self) -> Tier {
        if self.segments.iter().any(VectorSegment::is_clustered) {
            Tier::Clustered
        } else if self.segments.iter().any(VectorSegment::is_coded) {
            Tier::TwoStage
        } else {
            Tier::Int8
        }
    }
}
