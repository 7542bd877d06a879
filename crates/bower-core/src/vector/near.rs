//! Finds all pairs of vectors that are near each other, by locality-sensitive hashing.
//! It does not compare all pairs: vectors that agree in enough hyperplanes share a bucket, and only those are compared.

use bower_kernels::Isa;
use bower_kernels::scan::rotate::splitmix;
use bower_kernels::scan::{bytes, sketch};
use std::ops::Range;

use super::quantise::ByteRows;
use super::threads::in_order;

/// Up to this many vectors, all pairs are compared: 8 million dot products of 384 bytes, about 100 ms.
const EXACT: usize = 4_096;

/// Bits of a sketch that make a bucket's key.
const KEY_BITS: usize = 14;

/// Keys per vector. Two vectors at an angle of a agree in one bit with probability 1 - a/pi. So they share one of T
/// buckets of b bits with 1 - (1 - (1 - a/pi)^b)^T (Charikar, STOC 2002). At cosine .87, which is .90 before the mean
/// of the texts is subtracted, that is 94 %; at .93 it is 99.8 %.
const KEYS: usize = 32;

/// Most following vectors of a bucket with which each is compared. Large groups of near vectors are found nevertheless,
/// because each member has near neighbours among them.
const MOST_IN_BUCKET: usize = 64;

/// Seed of the bits that form the keys. Any seed works; the same one gives the same pairs.
const SEED: u64 = 0x6f77_6572_626f_7772;

/// Number of rows in one piece of a thread's work.
const PIECE: usize = 4_096;

/// Number of consecutive rows that one thread compares with all others.
const TOGETHER: usize = 64;

/// Number of heaps in which candidates are sorted and compared.
const HEAPS: usize = 16;

/// A pair of indexes, the smaller first, with its cosine.
pub type NearPair = (u32, u32, f32);

/// Returns the pairs whose cosine by int8 (within about .004) is at least `threshold`, ascending: all of up to 4,096
/// vectors, nearly all of more. The number of threads does not change the result.
pub fn near_pairs(rows: &ByteRows, threshold: f32, threads: usize) -> Vec<NearPair> {
    let near = Near { rows, threshold, threads, isa: Isa::best() };
    if rows.len() <= EXACT { near.each_with_each() } else { near.by_buckets() }
}

struct Near<'a> {
    rows: &'a ByteRows,
    threshold: f32,
    threads: usize,
    isa: Isa,
}

impl Near<'_> {
    fn each_with_each(&self) -> Vec<NearPair> {
        let count = self.rows.len();
        let pairs = in_order(self.threads, count.div_ceil(TOGETHER), |piece| {
            let (mut pairs, mut dots) = (Vec::new(), vec![0; count]);
            for one in piece * TOGETHER..((piece + 1) * TOGETHER).min(count) {
                self.rows.each_after(self.isa, one, &mut dots, |two, cosine| {
                    if cosine >= self.threshold {
                        pairs.push((one as u32, two as u32, cosine));
                    }
                });
            }
            pairs
        });
        pairs.concat()
    }

    /// Returns the results of `work` for consecutive pieces of the rows.
    fn pieces<T: Send>(&self, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let count = self.rows.len();
        in_order(self.threads, count.div_ceil(PIECE), |piece| {
            work(piece * PIECE..((piece + 1) * PIECE).min(count))
        })
    }

    /// Returns the mean of the vectors, and its squared length.
    fn mean(&self) -> (Vec<f32>, f32) {
        let stride = self.rows.stride;
        let mut sums = vec![0.0_f64; stride];
        let mut there = 0;
        let pieces = self.pieces(|rows| {
            let (mut sums, mut there) = (vec![0.0_f32; stride], 0_usize);
            for (bytes, scale) in rows.map(|at| self.rows.row(at)).filter(|(_, scale)| *scale > 0.0) {
                there += 1;
                sums.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += (f32::from(*byte) - 128.0) * scale);
            }
            (sums, there)
        });
        // In the order of the pieces, whichever thread finished first.
        for (piece, rows) in pieces {
            there += rows;
            sums.iter_mut().zip(piece).for_each(|(sum, value)| *sum += f64::from(value));
        }
        let mean: Vec<f32> = sums.iter().map(|sum| (sum / there.max(1) as f64) as f32).collect();
        let square = mean.iter().map(|value| value * value).sum();
        (mean, square)
    }

    /// Returns the signs of each vector relative to the mean, 64 per word.
    fn sketches(&self, mean: &[f32]) -> Vec<u64> {
        let pieces = self.pieces(|rows| {
            let mut sketches = Vec::with_capacity(rows.len() * mean.len() / 64);
            let mut least = vec![0_u8; mean.len()];
            for (bytes, scale) in rows.map(|at| self.rows.row(at)) {
                // Compares a coordinate with the mean in bytes, which saves a division per coordinate.
                let to_byte = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                for (least, mean) in least.iter_mut().zip(mean) {
                    *least = (mean * to_byte + 128.0).clamp(0.0, 255.0) as u8;
                }
                for (bytes, least) in bytes.chunks_exact(64).zip(least.chunks_exact(64)) {
                    let bits = bytes.iter().zip(least).enumerate();
                    sketches
                        .push(bits.fold(0, |word, (at, (byte, least))| word | u64::from(byte > least) << at));
                }
            }
            sketches
        });
        pieces.concat()
    }

    /// Returns the positions of the bits that form each key.
    fn keys(&self) -> Vec<[usize; KEY_BITS]> {
        let mut seed = SEED;
        let mut place = || (splitmix(&mut seed) % self.rows.stride as u64) as usize;
        (0..KEYS).map(|_| std::array::from_fn(|_| place())).collect()
    }

    /// Returns pairs in one bucket of a key whose sketches differ in at most `most` bits; the first index is in the upper half.
    fn meet(&self, sketches: &[u64], places: &[usize; KEY_BITS], most: u32) -> Vec<u64> {
        let words = self.rows.stride / 64;
        let of = |at: u32| &sketches[at as usize * words..][..words];
        let there: Vec<u32> =
            (0..self.rows.len() as u32).filter(|&at| self.rows.scales[at as usize] > 0.0).collect();
        let key = |at: u32| {
            let sketch = of(at);
            let bit = |place: usize| (sketch[place / 64] >> (place % 64) & 1) as usize;
            places.iter().fold(0, |key, &place| key << 1 | bit(place))
        };
        // A counting sort: there are few keys, and rows of one key stay in order.
        let keys: Vec<u16> = there.iter().map(|&at| key(at) as u16).collect();
        let mut ends = vec![0_usize; 1 << KEY_BITS];
        for &key in &keys {
            ends[usize::from(key)] += 1;
        }
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut keyed = vec![0_u32; there.len()];
        for (&at, &key) in there.iter().zip(&keys) {
            let place = &mut ends[usize::from(key)];
            keyed[*place] = at;
            *place += 1;
        }
        let mut candidates = Vec::new();
        let mut apart = [0; MOST_IN_BUCKET];
        let mut start = 0;
        for end in ends {
            let bucket = &keyed[start..end];
            start = end;
            for (nth, &one) in bucket.iter().enumerate() {
                let others = &bucket[nth + 1..(nth + 1 + MOST_IN_BUCKET).min(bucket.len())];
                let apart = &mut apart[..others.len()];
                sketch::apart(self.isa, sketches, of(one), others, apart);
                let near = others.iter().zip(apart).filter(|(_, apart)| **apart <= most);
                candidates.extend(near.map(|(&two, _)| u64::from(one) << 32 | u64::from(two)));
            }
        }
        candidates
    }

    fn by_buckets(&self) -> Vec<NearPair> {
        let (mean, square) = self.mean();
        let sketches = self.sketches(&mean);
        // The threshold without the mean, as the share of differing bits, plus three deviations.
        let left = ((self.threshold - square) / (1.0 - square).max(1e-3)).clamp(-1.0, 1.0);
        let share = left.acos() / std::f32::consts::PI;
        let bits = self.rows.stride as f32;
        let most = bits * share + 3.0 * (bits * share * (1.0 - share)).sqrt();
        let most = most.ceil() as u32;

        let keys = self.keys();
        let met = in_order(self.threads, KEYS, |key| self.meet(&sketches, &keys[key], most));
        let share = self.rows.len().div_ceil(HEAPS);
        let pairs = in_order(self.threads, HEAPS, |heap| {
            let ours = (heap * share) as u64..((heap + 1) * share) as u64;
            let of_heap = |candidates: &Vec<u64>| {
                candidates.iter().copied().filter(|pair| ours.contains(&(pair >> 32))).collect::<Vec<_>>()
            };
            let mut candidates: Vec<u64> = met.iter().flat_map(of_heap).collect();
            candidates.sort_unstable();
            candidates.dedup();
            self.near_of(&candidates)
        });
        pairs.concat()
    }

    /// Returns the near ones of the candidates, in order; candidates of one row are adjacent.
    fn near_of(&self, candidates: &[u64]) -> Vec<NearPair> {
        let mut pairs = Vec::new();
        let (mut places, mut dots) = (Vec::new(), Vec::new());
        for group in candidates.chunk_by(|a, b| a >> 32 == b >> 32) {
            let one = (group[0] >> 32) as u32;
            let query = self.rows.query(one as usize);
            places.clear();
            places.extend(group.iter().map(|pair| (pair & u64::from(u32::MAX)) as u32));
            dots.clear();
            dots.resize(places.len(), 0);
            bytes::dots_at(self.isa, &self.rows.bytes, &places, &query.values, &mut dots);
            for (&two, dot) in places.iter().zip(&dots) {
                let cosine = *dot as f32 * query.scale * self.rows.scales[two as usize];
                if cosine >= self.threshold {
                    pairs.push((one, two, cosine.min(1.0)));
                }
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantise::Quantised;
    use super::super::testing::Vectors;
    use super::*;

    fn rows(vectors: &[Vec<f32>]) -> ByteRows {
        let mut rows = ByteRows::new(vectors.first().map_or(64, Vec::len), vectors.len());
        for (at, vector) in vectors.iter().enumerate() {
            let vector = Quantised::new(vector);
            assert!(rows.put(at, &vector.bytes, vector.scale));
        }
        rows
    }

    #[test]
    fn few_are_compared_each_with_each() {
        let vectors = rows(&[vec![1.0, 0.0], vec![0.8, 0.6], vec![1.0, 0.05], vec![0.0, 0.0]]);
        // By hand: .8, 1 / sqrt(1.0025) = .99875, (.8 + .03) / sqrt(1.0025) = .82896.
        let expected = [(0, 1, 0.8), (0, 2, 0.998_75), (1, 2, 0.828_96)];
        for threads in [1, 2, 5] {
            let near = near_pairs(&vectors, 0.79, threads);
            assert_eq!(near.len(), expected.len(), "{near:?}");
            for (near, expected) in near.iter().zip(expected) {
                assert_eq!((near.0, near.1), (expected.0, expected.1));
                assert!((near.2 - expected.2).abs() < 0.01, "{near:?}");
            }
        }
        assert!(near_pairs(&rows(&[]), 0.5, 2).is_empty());
    }

    /// The slow reference.
    #[test]
    fn buckets_find_nearly_all_that_comparing_each_with_each_finds() {
        let data = Vectors::clustered(384, 6_000, 11);
        let mut seed = 3;
        // Every tenth has two others near it, at about cosine .93.
        let mut vectors: Vec<Vec<f32>> = (0..6_000).map(|row| data.get(row).to_vec()).collect();
        for at in (0..6_000).step_by(10) {
            for beside in [at + 3, at + 7] {
                let noise =
                    0.4 * vectors[at].iter().map(|value| value * value).sum::<f32>().sqrt() / 384_f32.sqrt();
                vectors[beside] = vectors[at]
                    .iter()
                    .map(|value| {
                        value + noise * 1.7 * ((splitmix(&mut seed) >> 40) as f32 / (1 << 23) as f32 - 1.0)
                    })
                    .collect();
            }
        }
        // Slots that are not filled, or have no direction, are near nothing.
        for at in (1..6_000).step_by(10) {
            vectors[at].fill(0.0);
        }
        let rows = rows(&vectors);
        let exact = Near { rows: &rows, threshold: 0.9, threads: 1, isa: Isa::best() }.each_with_each();
        let found = near_pairs(&rows, 0.9, 1);
        assert!(exact.len() > 1_000, "{}", exact.len());
        assert!(found.iter().all(|pair| exact.contains(pair)), "no pair that is not near");
        let share = found.len() as f64 / exact.len() as f64;
        assert!(share >= 0.95, "{share} of {}", exact.len());
        for threads in [2, 3] {
            assert_eq!(near_pairs(&rows, 0.9, threads), found, "the same on {threads} threads");
        }
    }
}
