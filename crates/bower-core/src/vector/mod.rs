//! Vectors: quantise, scan, file format. Vectors of different models are never compared.
//!
//! An index is a folder with one manifest and immutable segments. [`VectorIndex::open`] maps a generation,
//! [`VectorIndex::search`] asks it, [`fold`] writes the next one beside it and switches the manifest last.

#[cfg(test)]
mod damage;
mod exact;
mod examine;
mod fold;
mod quantise;
mod search;
mod segment;
#[cfg(test)]
mod testing;

pub use crate::generation::MANIFEST;
pub use exact::{ExactQuery, cosine_f16, score_exact};
pub use examine::{Background, likenesses};
pub use fold::fold;
pub use search::Fetch;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use bower_kernels::Isa;
use bower_kernels::scan::rotate::Rotation;

use crate::error::{Error, Result};
use crate::generation::{Manifest, corrupt};
use crate::item::Coverage;
use segment::Segment;

/// Dimensions that an index takes: multiples of 8 in this range. The upper end keeps the sums of the 1-bit scan in 16 bits.
pub const DIMENSIONS: std::ops::RangeInclusive<usize> = 64..=bower_kernels::scan::bits::MAX_DIMENSION;

/// The seed of every rotation. A part of the format: another seed needs another format number.
const ROTATION_SEED: u64 = 0x0b0e_4b14_d000_0001;

/// The number of the format: manifest, segments, rotation and quantisation. Any change of either needs a new one.
const FORMAT: u32 = 1;

/// How an index is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Every vector's int8 form is scored: below 10,000 vectors that costs less than a tenth of a millisecond.
    Int8,
    /// 1-bit codes choose candidates, int8 and stored vectors rescore them.
    TwoStage,
}

impl Tier {
    /// The word for it in status reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::TwoStage => "two-stage",
        }
    }
}

/// An opened generation: mapped, immutable. It stays whole while it is open, whatever later folds remove.
#[derive(Debug)]
pub struct VectorIndex {
    dir: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
    rotation: Rotation,
    isa: Isa,
    /// Whether the operating system was told what the first search will need.
    warmed: AtomicBool,
}

impl VectorIndex {
    /// Opens the generation in a folder (`index/<store-id>/vectors-<model>/`); `None` where there is none.
    ///
    /// Checks the manifest and each file's length and footer, and touches no more pages than that. Whatever does not
    /// fit together is [`Error::Corrupt`]: delete the folder and fold again.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let Some(manifest) = Manifest::load(dir, FORMAT)? else { return Ok(None) };
        check_dimension(manifest.dimension)
            .map_err(|error| corrupt(&dir.join(MANIFEST), error.to_string()))?;
        let segments = manifest
            .segments
            .iter()
            .map(|entry| Segment::open(dir, entry, manifest.dimension))
            .collect::<Result<Vec<_>>>()?;
        let rotation = Rotation::new(manifest.dimension, ROTATION_SEED);
        let (isa, warmed) = (Isa::best(), AtomicBool::new(false));
        Ok(Some(Self { dir: dir.to_path_buf(), manifest, segments, rotation, isa, warmed }))
    }

    /// What the index holds.
    pub fn coverage(&self) -> &Coverage {
        &self.manifest.coverage
    }

    /// The model that made the vectors.
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// Numbers in a vector.
    pub fn dimension(&self) -> usize {
        self.manifest.dimension
    }

    /// How many vectors can be found.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::live).sum()
    }

    /// Whether none can.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How it is searched.
    pub fn tier(&self) -> Tier {
        if self.segments.iter().any(Segment::is_coded) { Tier::TwoStage } else { Tier::Int8 }
    }

    /// How many segments it has: at most about the binary logarithm of its size over 4,096.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Reads everything and compares it with its checksums and counts. Proportional to the size of the index.
    pub fn verify(&self) -> Result<()> {
        self.manifest
            .segments
            .iter()
            .zip(&self.segments)
            .try_for_each(|(entry, segment)| segment.verify(entry))
    }
}

/// Checks a dimension at the edge of this room.
fn check_dimension(dimension: usize) -> Result<()> {
    if DIMENSIONS.contains(&dimension) && dimension.is_multiple_of(8) {
        Ok(())
    } else {
        Err(Error::invalid(
            format!("vector dimension {dimension}"),
            format!("use a multiple of 8 from {} to {}", DIMENSIONS.start(), DIMENSIONS.end()),
        ))
    }
}
