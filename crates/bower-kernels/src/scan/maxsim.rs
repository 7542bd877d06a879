//! Scores late interaction (`MaxSim` of `ColBERT`, Khattab & Zaharia, SIGIR 2020) against sign codes.
//! Every path gives the same bits.
//!
//! A token of a document is the signs of 64 numbers, one machine word. A token of the question is 64 signed bytes. Their
//! dot product is a sum over the word's eight bytes of a table of 256 entries, and an entry holds the sums of sixteen
//! question tokens side by side: eight loads and additions of 32 bytes a document token, whatever the document's length,
//! with nothing to transpose and nothing to add up across lanes. Tables of 4 and 6 bits (fewer bytes, more look-ups) took
//! 1.9 and 1.3 times as long; sixteen tokens' tables are 64 KiB, which second-level caches hold.

use crate::Isa;

/// Numbers of a token, signs of a code.
pub const DIMENSION: usize = 64;

/// Question tokens that share one set of tables.
const LANES: usize = 16;

/// Bytes of a code.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const BYTES: usize = DIMENSION / 8;

/// The sums of one byte's dimensions for sixteen question tokens: at most 8 x 128, so that 16 bits hold all eight.
type Sums = [i16; LANES];

/// One token of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxSimToken {
    /// Its numbers, quantised.
    pub values: [i8; DIMENSION],
    /// What makes a quantised number a number again. Finite.
    pub step: f32,
    /// How much it counts; finite, at least 0.
    pub weight: f32,
}

/// A question's tokens, ready for any number of documents.
#[derive(Clone, Debug)]
pub struct MaxSimQuery {
    blocks: Vec<Block>,
}

/// Up to sixteen tokens; the others are zero and count nothing.
#[derive(Clone, Debug)]
struct Block {
    /// 256 entries for each byte of a code.
    tables: Vec<[Sums; 256]>,
    /// Of each token step times weight, divided by the sum of all weights.
    factors: [f32; LANES],
}

impl MaxSimQuery {
    /// Makes the tables: 64 KiB and some nine microseconds for each sixteen tokens. Where no token has a weight, every
    /// document scores 0.
    pub fn new(tokens: &[MaxSimToken]) -> Self {
        let total: f32 = tokens.iter().map(|token| token.weight).sum();
        let share = if total > 0.0 { 1.0 / total } else { 0.0 };
        Self { blocks: tokens.chunks(LANES).map(|tokens| Block::new(tokens, share)).collect() }
    }
}

impl Block {
    fn new(tokens: &[MaxSimToken], share: f32) -> Self {
        let mut factors = [0.0; LANES];
        // Dimension by dimension, the numbers of all tokens.
        let mut columns = [[0i16; LANES]; DIMENSION];
        for (lane, token) in tokens.iter().enumerate() {
            factors[lane] = token.step * (token.weight * share);
            for (column, value) in columns.iter_mut().zip(&token.values) {
                column[lane] = i16::from(*value);
            }
        }
        let table = |eight: &[Sums; 8]| {
            let mut table = [[0; LANES]; 256];
            for column in eight {
                table[0] = std::array::from_fn(|lane| table[0][lane] - column[lane]);
            }
            // Every entry is another with one bit more: that dimension's number is added instead of subtracted.
            for byte in 1..256usize {
                let (column, without) = (eight[byte.trailing_zeros() as usize], table[byte & (byte - 1)]);
                table[byte] = std::array::from_fn(|lane| without[lane] + 2 * column[lane]);
            }
            table
        };
        Self { tables: columns.as_chunks::<8>().0.iter().map(table).collect(), factors }
    }

    /// For each document the sum over these tokens of factor times largest dot product, added to `out`.
    fn add_plain(&self, documents: &[&[u64]], out: &mut [f32]) {
        for (codes, out) in documents.iter().zip(out) {
            let mut best = [i16::MIN; LANES];
            for code in *codes {
                let mut sums: Sums = [0; LANES];
                for (table, byte) in self.tables.iter().zip(code.to_le_bytes()) {
                    for (sum, entry) in sums.iter_mut().zip(&table[usize::from(byte)]) {
                        *sum += entry;
                    }
                }
                for (best, sum) in best.iter_mut().zip(sums) {
                    *best = (*best).max(sum);
                }
            }
            self.gather(codes, &best, out);
        }
    }

    /// The same with one register for the sixteen tokens. Left to itself the compiler spreads them over halves.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_avx2(&self, documents: &[&[u64]], out: &mut [f32]) {
        use std::arch::x86_64::{
            __m256i, _mm256_add_epi16, _mm256_loadu_si256, _mm256_max_epi16, _mm256_set1_epi16,
            _mm256_storeu_si256,
        };
        let tables: &[[Sums; 256]; BYTES] = self.tables.as_slice().try_into().expect("a table a byte");
        let load = |at: usize, code: u64| -> __m256i {
            let entry = &tables[at][(code >> (8 * at) & 255) as usize];
            // SAFETY: 32 bytes are read from an array of sixteen 16-bit numbers; they need not be aligned.
            unsafe { _mm256_loadu_si256(entry.as_ptr().cast()) }
        };
        for (codes, out) in documents.iter().zip(out) {
            let mut best = _mm256_set1_epi16(i16::MIN);
            for code in *codes {
                // Two chains, so that an addition need not wait for the one before.
                let (mut even, mut odd) = (load(0, *code), load(1, *code));
                for at in (2..BYTES).step_by(2) {
                    even = _mm256_add_epi16(even, load(at, *code));
                    odd = _mm256_add_epi16(odd, load(at + 1, *code));
                }
                best = _mm256_max_epi16(best, _mm256_add_epi16(even, odd));
            }
            let mut lanes = [0; LANES];
            // SAFETY: 32 bytes are written to an array of sixteen 16-bit numbers; it need not be aligned.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), best) };
            self.gather(codes, &lanes, out);
        }
    }

    /// The same with two registers for the sixteen tokens, each with two chains of additions.
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    fn add_neon(&self, documents: &[&[u64]], out: &mut [f32]) {
        use std::arch::aarch64::{vaddq_s16, vdupq_n_s16, vld1q_s16, vmaxq_s16, vst1q_s16};
        let tables: &[[Sums; 256]; BYTES] = self.tables.as_slice().try_into().expect("a table a byte");
        for (codes, out) in documents.iter().zip(out) {
            let mut best = [vdupq_n_s16(i16::MIN); 2];
            for code in *codes {
                let mut sums = [[vdupq_n_s16(0); 2]; 2];
                for at in 0..BYTES {
                    let entry = &tables[at][(code >> (8 * at) & 255) as usize];
                    for (half, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: 8 numbers of 16 bits are read from each half of an array of 16.
                        let entry = unsafe { vld1q_s16(entry.as_ptr().add(8 * half)) };
                        sums[at % 2] = vaddq_s16(sums[at % 2], entry);
                    }
                }
                for (best, sums) in best.iter_mut().zip(sums) {
                    *best = vmaxq_s16(*best, vaddq_s16(sums[0], sums[1]));
                }
            }
            let mut lanes = [0; LANES];
            for (lanes, best) in lanes.as_chunks_mut::<8>().0.iter_mut().zip(best) {
                // SAFETY: 8 numbers of 16 bits are written to an array of 8.
                unsafe { vst1q_s16(lanes.as_mut_ptr(), best) };
            }
            self.gather(codes, &lanes, out);
        }
    }

    /// Adds the best sums of a document that has any.
    #[inline]
    fn gather(&self, codes: &[u64], best: &Sums, out: &mut f32) {
        if !codes.is_empty() {
            for (best, factor) in best.iter().zip(&self.factors) {
                *out += f32::from(*best) * factor;
            }
        }
    }
}

/// Scores documents, each given by its tokens' codes: for every question token the largest dot product with a document
/// token (a set bit is +1, a cleared one -1; bit `i` is dimension `i`), times step and weight, summed in the tokens' order
/// and divided by the sum of the weights. A document without tokens scores 0. `out` is as long as `documents` and is written over.
pub fn maxsim(isa: Isa, query: &MaxSimQuery, documents: &[&[u64]], out: &mut [f32]) {
    assert_eq!(documents.len(), out.len(), "a score a document");
    out.fill(0.0);
    for block in &query.blocks {
        match isa {
            // Sixteen lanes are one AVX2 register; wider ones want wider tables, which was slower (8.1 ns a token for 32).
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 if Isa::Avx2.is_present() => {
                // SAFETY: the instructions are present, as just asked.
                unsafe { block.add_avx2(documents, out) }
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon if isa.is_present() => {
                // SAFETY: as above.
                unsafe { block.add_neon(documents, out) }
            }
            Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => block.add_plain(documents, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    /// The definition, a dimension at a time.
    fn slow(tokens: &[MaxSimToken], codes: &[u64]) -> f32 {
        let dot = |values: &[i8; DIMENSION], code: u64| -> i32 {
            (0..DIMENSION)
                .map(|at| if code >> at & 1 == 1 { i32::from(values[at]) } else { -i32::from(values[at]) })
                .sum()
        };
        let total: f32 = tokens.iter().map(|token| token.weight).sum();
        let mut sum = 0.0;
        for token in tokens {
            if let Some(best) = codes.iter().map(|code| dot(&token.values, *code)).max() {
                sum += best as f32 * token.step * token.weight / total;
            }
        }
        sum
    }

    #[test]
    fn two_by_hand() {
        let (mut first, mut second) = ([0; DIMENSION], [0; DIMENSION]);
        (first[0], first[63]) = (5, -7);
        second[8] = 100;
        let token = |values, step, weight| MaxSimToken { values, step, weight };
        let query = MaxSimQuery::new(&[token(first, 4.0, 1.0), token(second, 0.5, 3.0)]);
        // Bits 0 and 8: 5 + 7 and 100; bit 63: -5 - 7 and -100. The best of each token may come from different words.
        // (12 x 4 x 1 + 100 x .5 x 3) / (1 + 3) = 49.5
        let (both, top) = (1 | 1 << 8, 1 << 63);
        for isa in Isa::available() {
            let mut out = vec![9.0; 4];
            maxsim(isa, &query, &[&[both, top], &[top], &[1, 1 << 8], &[]], &mut out);
            assert_eq!(out, vec![49.5, -49.5, 49.5, 0.0], "{isa:?}");
        }
    }

    #[test]
    fn without_weights_every_document_scores_nothing() {
        let token = MaxSimToken { values: [3; DIMENSION], step: 1.0, weight: 0.0 };
        for tokens in [vec![], vec![token; 3]] {
            let mut out = vec![f32::NAN; 2];
            maxsim(Isa::best(), &MaxSimQuery::new(&tokens), &[&[u64::MAX], &[]], &mut out);
            assert_eq!(out, vec![0.0, 0.0]);
        }
    }

    #[test]
    fn every_path_is_the_definition_at_odd_lengths() {
        let mut dice = Dice(23);
        for count in [0usize, 1, 3, 12, 15, 16, 17, 33, 65, 130] {
            let tokens: Vec<_> = (0..count)
                .map(|_| MaxSimToken {
                    values: std::array::from_fn(|_| ((dice.next() % 255) as i16 - 127) as i8),
                    step: dice.float(),
                    weight: 1.0 + dice.float(),
                })
                .collect();
            let words: Vec<u64> = (0..600).map(|_| dice.next()).collect();
            let mut rest = words.as_slice();
            let mut documents: Vec<&[u64]> = Vec::new();
            for len in [0, 1, 2, 7, 64, 100, 0, 254, 31] {
                let (document, after) = rest.split_at(len);
                (rest, documents) = (after, [documents, vec![document]].concat());
            }
            let want: Vec<f32> = documents.iter().map(|codes| slow(&tokens, codes)).collect();
            let query = MaxSimQuery::new(&tokens);
            let run = |isa| {
                let mut out = vec![f32::NAN; documents.len()];
                maxsim(isa, &query, &documents, &mut out);
                out
            };
            let plain = run(Isa::Plain);
            for (got, want) in plain.iter().zip(&want) {
                assert!((got - want).abs() <= 1e-5 * want.abs().max(100.0), "{count}: {got} {want}");
            }
            for isa in Isa::available() {
                assert_eq!(run(isa), plain, "{isa:?} {count}");
            }
        }
    }

    #[test]
    fn the_largest_values_fit() {
        for value in [127, -127, -128] {
            let token = MaxSimToken { values: [value; DIMENSION], step: 1.0, weight: 0.5 };
            let query = MaxSimQuery::new(&[token; 16]);
            for isa in Isa::available() {
                let mut out = vec![0.0; 2];
                maxsim(isa, &query, &[&[u64::MAX], &[0]], &mut out);
                let sum = 64.0 * f32::from(value);
                assert_eq!(out, vec![sum, -sum], "{isa:?} {value}");
            }
        }
    }
}
