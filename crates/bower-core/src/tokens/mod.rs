//! Late interaction: eight bytes a token, searched for given rows only. Codes of different schemes are never compared.
//!
//! An index is a folder with one manifest and immutable segments. [`TokenIndex::open`] maps a generation,
//! [`TokenIndex::score`] compares a question's tokens with those of some rows, [`fold`] writes the next generation.
//!
//! What is compared is `MaxSim`: for each token of the question its best match among the row's tokens, averaged by the
//! tokens' weights. `embed/` makes the codes and the question's tokens; here they are numbers.

#[cfg(test)]
mod damage;
mod fold;
mod query;
mod segment;
#[cfg(test)]
mod testing;

pub use crate::generation::MANIFEST;
pub use fold::fold;
pub use query::{MOST_TOKENS, TokenQuery, from_bytes, to_bytes};

use std::path::Path;

use crate::error::{Error, Result};
use crate::generation::{Manifest, corrupt};
use crate::item::{Coverage, RowId};
use segment::Segment;

/// The number of the format: manifest, segments and the order of bits in a code. Any change needs a new one.
const FORMAT: u32 = 1;

/// Numbers of a token: the bits of a code.
const DIMENSION: usize = bower_kernels::scan::maxsim::DIMENSION;

/// An opened generation: mapped, immutable. It stays whole while it is open, whatever later folds remove.
#[derive(Debug)]
pub struct TokenIndex {
    manifest: Manifest,
    segments: Vec<Segment>,
}

impl TokenIndex {
    /// Opens the generation in a folder (`index/<store-id>/tokens-<scheme>/`); `None` where there is none.
    ///
    /// Checks the manifest and each file's length and footer, and touches no more pages than that. Whatever does not
    /// fit together is [`Error::Corrupt`]: delete the folder and fold again.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        let Some(manifest) = Manifest::load(dir, FORMAT)? else { return Ok(None) };
        if manifest.dimension != DIMENSION {
            let reason = format!("{} numbers a token instead of {DIMENSION}", manifest.dimension);
            return Err(corrupt(&dir.join(MANIFEST), reason));
        }
        let segments =
            manifest.segments.iter().map(|entry| Segment::open(dir, entry)).collect::<Result<_>>()?;
        Ok(Some(Self { manifest, segments }))
    }

    /// What the index holds.
    pub fn coverage(&self) -> &Coverage {
        &self.manifest.coverage
    }

    /// The scheme that made the codes, with its model.
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// How many rows have codes.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::live).sum()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many segments it has: at most about the binary logarithm of its rows over 4,096.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The rows that have codes, in no order; each once. Reads all ids.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.segments.iter().flat_map(|segment| {
            let view = segment.view();
            let live = move |(at, id): (usize, &u32)| (!view.is_dead(at)).then_some(RowId(*id));
            view.ids.iter().enumerate().filter_map(live)
        })
    }

    /// The score of each row, in the order of `rows`: higher is closer, 0 for a text without tokens, about -1 to 1.
    /// `None` where the index holds no codes of the row.
    ///
    /// Fails with [`Error::Corrupt`] where a segment's row has no place in it.
    pub fn score(&self, query: &TokenQuery, rows: &[RowId]) -> Result<Vec<Option<f32>>> {
        // Ascending, so that each segment is gone through once; a row given twice is found twice.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|at| (rows[*at], *at));
        let (mut places, mut codes) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for segment in &self.segments {
            let (view, mut from) = (segment.view(), 0);
            for place in &order {
                match view.find(rows[*place], from) {
                    Ok(at) => {
                        from = at;
                        if !view.is_dead(at) {
                            places.push(*place);
                            codes.push(segment.codes(at)?);
                        }
                    }
                    Err(at) => from = at,
                }
                if from == view.ids.len() {
                    break;
                }
            }
        }
        let mut scores = vec![None; rows.len()];
        for (place, score) in places.into_iter().zip(query.score(&codes)) {
            scores[place] = Some(score);
        }
        Ok(scores)
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

/// Codes of one text as the store keeps them, as words: eight little-endian bytes a token.
///
/// Fails with [`Error::Invalid`] where the length is not a multiple of eight.
pub fn codes(bytes: &[u8]) -> Result<Vec<u64>> {
    match bytes.as_chunks::<8>() {
        (words, []) => Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect()),
        (_, _) => Err(Error::invalid(
            format!("token codes of {} bytes", bytes.len()),
            "must be eight bytes a token",
        )),
    }
}
