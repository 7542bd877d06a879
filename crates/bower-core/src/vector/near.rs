//! All pairs of vectors that are near each other, without comparing each with each: vectors that agree in enough hyperplanes
//! meet in a bucket, and only those are compared.

use bower_kernels::Isa;
use bower_kernels::scan::bytes;
use bower_kernels::scan::rotate::splitmix;

use super::quantise::{ByteQuery, Quantised, restore};

/// So many vectors or fewer are compared each with each: 8 million dot products of 384 bytes, some 100 ms.
const EXACT: usize = 4_096;

/// Bits of a sketch that make a bucket's key.
const KEY_BITS: usize = 14;

/// Keys of each vector. Two vectors at an angle of a agree in one bit with probability 1 - a/pi, hence meet in one of T buckets
/// of b bits with 1 - (1 - (1 - a/pi)^b)^T (Charikar, STOC 2002): at cosine .87, which is .90 before the mean of the texts is
/// taken away, in 94 % of cases, at .93 in 99.8 %.
const KEYS: usize = 32;

/// In a bucket that holds more, each is compared with so many that follow it: a crowd that says the same is found all the
/// same, for each of its members has near neighbours among them.
const MOST_IN_BUCKET: usize = 64;

/// Seed of the bits that make the keys: any will do, and the same gives the same pairs.
const SEED: u64 = 0x6f77_6572_626f_7772;

/// A pair of places, the smaller first, with its cosine.
pub type NearPair = (u32, u32, f32);

/// The pairs whose cosine by int8 (within some .004) is at least `threshold`, ascending; all of up to 4,096 vectors, nearly
/// all of more. Vectors of another dimension than the first are near nothing.
pub fn near_pairs(vectors: &[Quantised], threshold: f32) -> Vec<NearPair> {
    let Some(stride) = vectors.first().map(|vector| vector.bytes.len()).filter(|stride| *stride > 0) else {
        return Vec::new();
    };
    let mut all = vec![128_u8; vectors.len() * stride];
    let mut scales = vec![0.0; vectors.len()];
    for (at, vector) in vectors.iter().enumerate().filter(|(_, vector)| vector.bytes.len() == stride) {
        all[at * stride..][..stride].copy_from_slice(&vector.bytes);
        scales[at] = vector.scale;
    }
    let rows = Rows { stride, bytes: all, scales, isa: Isa::best() };
    if vectors.len() <= EXACT { rows.each_with_each(threshold) } else { rows.by_buckets(threshold) }
}

struct Rows {
    stride: usize,
    bytes: Vec<u8>,
    scales: Vec<f32>,
    isa: Isa,
}

impl Rows {
    fn len(&self) -> usize {
        self.scales.len()
    }

    fn query(&self, at: usize) -> ByteQuery {
        let bytes = self.bytes[at * self.stride..][..self.stride].to_vec();
        ByteQuery::from(&Quantised { bytes, scale: self.scales[at] })
    }

    fn each_with_each(&self, threshold: f32) -> Vec<NearPair> {
        let mut pairs = Vec::new();
        let mut dots = vec![0; self.len()];
        for one in 0..self.len() {
            let query = self.query(one);
            let dots = &mut dots[one + 1..];
            bytes::dots(self.isa, &self.bytes[(one + 1) * self.stride..], &query.values, dots);
            for (two, dot) in (one + 1..).zip(dots) {
                let cosine = *dot as f32 * query.scale * self.scales[two];
                if cosine >= threshold {
                    pairs.push((one as u32, two as u32, cosine.min(1.0)));
                }
            }
        }
        pairs
    }

    /// The mean of the vectors, and its squared length.
    fn mean(&self) -> (Vec<f32>, f32) {
        let mut sums = vec![0.0_f64; self.stride];
        let mut row = vec![0.0; self.stride];
        for (bytes, scale) in self.bytes.chunks_exact(self.stride).zip(&self.scales) {
            restore(bytes, *scale, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let mean: Vec<f32> = sums.iter().map(|sum| (sum / self.len() as f64) as f32).collect();
        let square = mean.iter().map(|value| value * value).sum();
        (mean, square)
    }

    /// The signs of each vector beside the mean, 64 to a word.
    fn sketches(&self, mean: &[f32]) -> Vec<u64> {
        let words = self.stride / 64;
        let mut sketches = Vec::with_capacity(self.len() * words);
        let mut least = vec![0_u8; self.stride];
        for (bytes, scale) in self.bytes.chunks_exact(self.stride).zip(&self.scales) {
            // A coordinate is above the mean where its byte is: one division a coordinate less.
            let to_byte = if *scale > 0.0 { 1.0 / scale } else { 0.0 };
            for (least, mean) in least.iter_mut().zip(mean) {
                *least = (mean * to_byte + 128.0).clamp(0.0, 255.0) as u8;
            }
            for (bytes, least) in bytes.chunks_exact(64).zip(least.chunks_exact(64)) {
                let bits = bytes.iter().zip(least).enumerate();
                sketches.push(bits.fold(0, |word, (at, (byte, least))| word | u64::from(byte > least) << at));
            }
        }
        sketches
    }

    fn by_buckets(&self, threshold: f32) -> Vec<NearPair> {
        let (mean, square) = self.mean();
        let sketches = self.sketches(&mean);
        let words = self.stride / 64;
        let sketch = |at: u32| &sketches[at as usize * words..][..words];
        // What is left of the threshold without the mean, as the share of bits that differ, and three deviations more.
        let left = ((threshold - square) / (1.0 - square).max(1e-3)).clamp(-1.0, 1.0);
        let share = left.acos() / std::f32::consts::PI;
        let bits = self.stride as f32;
        let most = bits * share + 3.0 * (bits * share * (1.0 - share)).sqrt();
        let most = most.ceil() as u32;

        let mut seed = SEED;
        let mut candidates: Vec<u64> = Vec::new();
        let mut keyed: Vec<(u16, u32)> = Vec::with_capacity(self.len());
        for _ in 0..KEYS {
            let places: [usize; KEY_BITS] =
                std::array::from_fn(|_| (splitmix(&mut seed) % self.stride as u64) as usize);
            keyed.clear();
            keyed.extend((0..self.len() as u32).map(|at| {
                let sketch = sketch(at);
                let bit = |place: usize| (sketch[place / 64] >> (place % 64) & 1) as u16;
                (places.iter().fold(0, |key, &place| key << 1 | bit(place)), at)
            }));
            keyed.sort_unstable();
            for bucket in keyed.chunk_by(|a, b| a.0 == b.0) {
                for (nth, &(_, one)) in bucket.iter().enumerate() {
                    let one_bits = sketch(one);
                    for &(_, two) in bucket[nth + 1..].iter().take(MOST_IN_BUCKET) {
                        let apart: u32 =
                            one_bits.iter().zip(sketch(two)).map(|(a, b)| (a ^ b).count_ones()).sum();
                        if apart <= most {
                            candidates.push(u64::from(one) << 32 | u64::from(two));
                        }
                    }
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut pairs = Vec::new();
        let (mut places, mut dots) = (Vec::new(), Vec::new());
        for group in candidates.chunk_by(|a, b| a >> 32 == b >> 32) {
            let one = (group[0] >> 32) as u32;
            let query = self.query(one as usize);
            places.clear();
            places.extend(group.iter().map(|pair| (pair & u64::from(u32::MAX)) as u32));
            dots.clear();
            dots.resize(places.len(), 0);
            bytes::dots_at(self.isa, &self.bytes, &places, &query.values, &mut dots);
            for (&two, dot) in places.iter().zip(&dots) {
                let cosine = *dot as f32 * query.scale * self.scales[two as usize];
                if cosine >= threshold {
                    pairs.push((one, two, cosine.min(1.0)));
                }
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Vectors;
    use super::*;

    fn quantised(vectors: &[Vec<f32>]) -> Vec<Quantised> {
        vectors.iter().map(|vector| Quantised::new(vector)).collect()
    }

    #[test]
    fn few_are_compared_each_with_each() {
        let vectors = quantised(&[vec![1.0, 0.0], vec![0.8, 0.6], vec![1.0, 0.05], vec![0.0, 0.0]]);
        let near = near_pairs(&vectors, 0.79);
        // By hand: .8, 1 / sqrt(1.0025) = .99875, (.8 + .03) / sqrt(1.0025) = .82896.
        let expected = [(0, 1, 0.8), (0, 2, 0.998_75), (1, 2, 0.828_96)];
        assert_eq!(near.len(), expected.len(), "{near:?}");
        for (near, expected) in near.iter().zip(expected) {
            assert_eq!((near.0, near.1), (expected.0, expected.1));
            assert!((near.2 - expected.2).abs() < 0.01, "{near:?}");
        }
        assert!(near_pairs(&[], 0.5).is_empty());
    }

    /// The slow twin.
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
        let vectors = quantised(&vectors);
        let stride = vectors[0].bytes.len();
        let rows = Rows {
            stride,
            bytes: vectors.iter().flat_map(|vector| vector.bytes.clone()).collect(),
            scales: vectors.iter().map(|vector| vector.scale).collect(),
            isa: Isa::best(),
        };
        let exact = rows.each_with_each(0.9);
        let found = near_pairs(&vectors, 0.9);
        assert!(exact.len() > 1_000, "{}", exact.len());
        assert!(found.iter().all(|pair| exact.contains(pair)), "no pair that is not near");
        let share = found.len() as f64 / exact.len() as f64;
        assert!(share >= 0.95, "{share} of {}", exact.len());
    }
}
