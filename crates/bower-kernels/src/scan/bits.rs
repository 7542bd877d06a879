//! Scans RaBitQ 1-bit codes (Gao & Long, SIGMOD 2024) by table lookup.
//! Every path gives the same estimates, bit for bit.
//!
//! A block holds 64 vectors: for each 8 dimensions one line of 64 bytes (a byte a vector, a bit a dimension), then 64
//! floats `a` and 64 floats `b`. A query is quantised to -7..=7 per dimension; for each 4 dimensions a table of 16 bytes
//! gives the sum over the dimensions whose bit is set, so that a byte shuffle looks up 16, 32 or 64 vectors at once
//! (André et al., VLDB 2015). That needs half the instructions of a population count per bit plane, and every
//! instruction set has it. The estimated score is `a (alpha t + beta) + b + gamma`, with `t` the sum of the tables.

mod block;
#[cfg(target_arch = "aarch64")]
mod neon;
mod query;

use crate::Isa;
pub use block::{BLOCK, block_len, clear, set};
use block::{column, parts};
pub use query::{BitQuery, Estimate, MAX_DIMENSION};

/// Appends every vector of these whole blocks whose estimate is above `threshold`, in order; `first` is the position of
/// the first.
pub fn scan(isa: Isa, blocks: &[u8], query: &BitQuery, threshold: f32, first: u32, out: &mut Vec<Estimate>) {
    let len = block_len(query.dimension());
    assert!(blocks.len().is_multiple_of(len), "whole blocks of the query's dimension");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_present() => {
            // SAFETY: the instructions are present, as just asked.
            unsafe { scan_avx512(blocks, query, threshold, first, out) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_present() => {
            // SAFETY: as above.
            unsafe { scan_avx2(blocks, query, threshold, first, out) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon if isa.is_present() => {
            // SAFETY: as above.
            unsafe { neon::scan(blocks, query, threshold, first, out) }
        }
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => {
            scan_plain(blocks, query, threshold, first, out);
        }
    }
}

fn scan_plain(blocks: &[u8], query: &BitQuery, threshold: f32, first: u32, out: &mut Vec<Estimate>) {
    for (at, block) in blocks.chunks_exact(block_len(query.dimension())).enumerate() {
        let (lines, a, b) = parts(block);
        let mut totals = [0u16; BLOCK];
        for (line, table) in lines.iter().zip(&query.tables) {
            let (low, high) = table.split_at(16);
            for (total, byte) in totals.iter_mut().zip(line) {
                *total += u16::from(low[usize::from(byte & 15)]) + u16::from(high[usize::from(byte >> 4)]);
            }
        }
        for place in 0..BLOCK {
            let [a, b] = [a[place], b[place]].map(f32::from_le_bytes);
            let score = query.estimate(totals[column(place)], a, b);
            if score > threshold {
                out.push(Estimate { position: first + (at * BLOCK + place) as u32, score });
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn scan_avx512(blocks: &[u8], query: &BitQuery, threshold: f32, first: u32, out: &mut Vec<Estimate>) {
    use std::arch::x86_64::{
        __m512i, _CMP_GT_OQ, _mm_loadu_si128, _mm512_add_epi8, _mm512_add_epi16, _mm512_add_ps,
        _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si256, _mm512_cmp_ps_mask,
        _mm512_cvtepi32_ps, _mm512_cvtepu16_epi32, _mm512_extracti64x4_epi64, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_ps, _mm512_setzero_si512,
        _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_srli_epi16, _mm512_storeu_ps, _mm512_sub_epi16,
    };
    let nibble = _mm512_set1_epi8(15);
    // The tables of one line looked up in 64 vectors: at most 112 a byte.
    let look = |line: &[u8; BLOCK], table: &[u8; 32]| -> __m512i {
        // SAFETY: 64 bytes are read from an array of 64, and 16 from each half of an array of 32; none need be aligned.
        let (codes, low, high) = unsafe {
            (
                _mm512_loadu_si512(line.as_ptr().cast()),
                _mm_loadu_si128(table.as_ptr().cast()),
                _mm_loadu_si128(table.as_ptr().add(16).cast()),
            )
        };
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), nibble);
        let lower = _mm512_and_si512(codes, nibble);
        _mm512_add_epi8(
            _mm512_shuffle_epi8(_mm512_broadcast_i32x4(low), lower),
            _mm512_shuffle_epi8(_mm512_broadcast_i32x4(high), upper),
        )
    };
    let (alpha, beta) = (_mm512_set1_ps(query.alpha), _mm512_set1_ps(query.beta));
    let (gamma, least) = (_mm512_set1_ps(query.gamma), _mm512_set1_ps(threshold));
    for (at, block) in blocks.chunks_exact(block_len(query.dimension())).enumerate() {
        let (lines, a, b) = parts(block);
        // `all` sums 16-bit lanes of two bytes, `odd` the upper byte alone; what is left of `all` is the lower byte.
        let (mut all, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        let (line_pairs, line_rest) = lines.as_chunks::<2>();
        let (table_pairs, table_rest) = query.tables.as_chunks::<2>();
        for (lines, tables) in line_pairs.iter().zip(table_pairs) {
            // Two lines are at most 224: still a byte.
            let sum = _mm512_add_epi8(look(&lines[0], &tables[0]), look(&lines[1], &tables[1]));
            all = _mm512_add_epi16(all, sum);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(sum));
        }
        for (line, table) in line_rest.iter().zip(table_rest) {
            let sum = look(line, table);
            all = _mm512_add_epi16(all, sum);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(sum));
        }
        let even = _mm512_sub_epi16(all, _mm512_slli_epi16::<8>(odd));
        let sixteens = [
            _mm512_castsi512_si256(even),
            _mm512_extracti64x4_epi64::<1>(even),
            _mm512_castsi512_si256(odd),
            _mm512_extracti64x4_epi64::<1>(odd),
        ];
        for (group, totals) in sixteens.into_iter().enumerate() {
            // SAFETY: 16 floats are read from 16 x 4 bytes; the slices check that they are there.
            let (a, b) = unsafe {
                (
                    _mm512_loadu_ps(a[16 * group..][..16].as_ptr().cast()),
                    _mm512_loadu_ps(b[16 * group..][..16].as_ptr().cast()),
                )
            };
            let totals = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(totals));
            let product = _mm512_mul_ps(a, _mm512_add_ps(_mm512_mul_ps(totals, alpha), beta));
            let scores = _mm512_add_ps(_mm512_add_ps(product, b), gamma);
            let mut passed = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(scores, least);
            if passed != 0 {
                let mut spread = [0f32; 16];
                // SAFETY: 16 floats are written to an array of 16.
                unsafe { _mm512_storeu_ps(spread.as_mut_ptr(), scores) };
                while passed != 0 {
                    let lane = passed.trailing_zeros() as usize;
                    let position = first + (at * BLOCK + 16 * group + lane) as u32;
                    out.push(Estimate { position, score: spread[lane] });
                    passed &= passed - 1;
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn scan_avx2(blocks: &[u8], query: &BitQuery, threshold: f32, first: u32, out: &mut Vec<Estimate>) {
    use std::arch::x86_64::{
        __m256i, _CMP_GT_OQ, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_ps,
        _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmp_ps, _mm256_cvtepi32_ps,
        _mm256_cvtepu16_epi32, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_mul_ps,
        _mm256_set1_epi8, _mm256_set1_ps, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16,
        _mm256_srli_epi16, _mm256_storeu_ps, _mm256_storeu_si256, _mm256_sub_epi16,
    };
    let nibble = _mm256_set1_epi8(15);
    // The tables of one line looked up in both its halves: at most 112 a byte.
    let look = |line: &[u8; BLOCK], table: &[u8; 32]| -> [__m256i; 2] {
        // SAFETY: 16 bytes are read from each half of an array of 32; they need not be aligned.
        let (low, high) = unsafe {
            (_mm_loadu_si128(table.as_ptr().cast()), _mm_loadu_si128(table.as_ptr().add(16).cast()))
        };
        let (low, high) = (_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high));
        [0, 1].map(|half| {
            // SAFETY: 32 bytes are read from one half of an array of 64; they need not be aligned.
            let codes = unsafe { _mm256_loadu_si256(line.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), nibble);
            let lower = _mm256_and_si256(codes, nibble);
            _mm256_add_epi8(_mm256_shuffle_epi8(low, lower), _mm256_shuffle_epi8(high, upper))
        })
    };
    let (alpha, beta) = (_mm256_set1_ps(query.alpha), _mm256_set1_ps(query.beta));
    let (gamma, least) = (_mm256_set1_ps(query.gamma), _mm256_set1_ps(threshold));
    for (at, block) in blocks.chunks_exact(block_len(query.dimension())).enumerate() {
        let (lines, a, b) = parts(block);
        // As in the wider path: `all` sums lanes of two bytes, `odd` the upper byte alone.
        let mut all = [_mm256_setzero_si256(); 2];
        let mut odd = [_mm256_setzero_si256(); 2];
        let (line_pairs, line_rest) = lines.as_chunks::<2>();
        let (table_pairs, table_rest) = query.tables.as_chunks::<2>();
        for (lines, tables) in line_pairs.iter().zip(table_pairs) {
            let (one, two) = (look(&lines[0], &tables[0]), look(&lines[1], &tables[1]));
            for half in 0..2 {
                let sum = _mm256_add_epi8(one[half], two[half]);
                all[half] = _mm256_add_epi16(all[half], sum);
                odd[half] = _mm256_add_epi16(odd[half], _mm256_srli_epi16::<8>(sum));
            }
        }
        for (line, table) in line_rest.iter().zip(table_rest) {
            let one = look(line, table);
            for half in 0..2 {
                all[half] = _mm256_add_epi16(all[half], one[half]);
                odd[half] = _mm256_add_epi16(odd[half], _mm256_srli_epi16::<8>(one[half]));
            }
        }
        let mut totals = [0u16; BLOCK];
        for half in 0..2 {
            let even = _mm256_sub_epi16(all[half], _mm256_slli_epi16::<8>(odd[half]));
            // SAFETY: 16 numbers are written to 16 places each, the last ending at 32 + 16 + 16 = 64.
            unsafe {
                _mm256_storeu_si256(totals.as_mut_ptr().add(16 * half).cast(), even);
                _mm256_storeu_si256(totals.as_mut_ptr().add(32 + 16 * half).cast(), odd[half]);
            }
        }
        for (group, totals) in totals.as_chunks::<8>().0.iter().enumerate() {
            // SAFETY: 8 numbers of 16 bits are read from an array of 8, and 8 floats each from 8 x 4 bytes; the slices
            // check that they are there.
            let (totals, a, b) = unsafe {
                (
                    _mm_loadu_si128(totals.as_ptr().cast()),
                    _mm256_loadu_ps(a[8 * group..][..8].as_ptr().cast()),
                    _mm256_loadu_ps(b[8 * group..][..8].as_ptr().cast()),
                )
            };
            let totals = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(totals));
            let product = _mm256_mul_ps(a, _mm256_add_ps(_mm256_mul_ps(totals, alpha), beta));
            let scores = _mm256_add_ps(_mm256_add_ps(product, b), gamma);
            let mut passed = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(scores, least)) as u32;
            if passed != 0 {
                let mut spread = [0f32; 8];
                // SAFETY: 8 floats are written to an array of 8.
                unsafe { _mm256_storeu_ps(spread.as_mut_ptr(), scores) };
                while passed != 0 {
                    let lane = passed.trailing_zeros() as usize;
                    let position = first + (at * BLOCK + 8 * group + lane) as u32;
                    out.push(Estimate { position, score: spread[lane] });
                    passed &= passed - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    /// A residual with its factors.
    type Coded = (Vec<f32>, f32, f32);

    /// Blocks of random residuals with random factors, the last block partly filled.
    fn blocks(dice: &mut Dice, dimension: usize, count: usize) -> (Vec<u8>, Vec<Coded>) {
        let mut bytes = vec![0; count.div_ceil(BLOCK) * block_len(dimension)];
        bytes.chunks_exact_mut(block_len(dimension)).for_each(clear);
        let vectors: Vec<_> = (0..count)
            .map(|_| {
                ((0..dimension).map(|_| dice.float()).collect::<Vec<_>>(), dice.float().abs(), dice.float())
            })
            .collect();
        for (at, (residual, a, b)) in vectors.iter().enumerate() {
            let block = &mut bytes[at / BLOCK * block_len(dimension)..][..block_len(dimension)];
            set(block, at % BLOCK, residual, *a, *b);
        }
        (bytes, vectors)
    }

    #[test]
    fn every_path_gives_the_same_estimates_at_odd_counts() {
        let mut dice = Dice(5);
        for dimension in [64, 72, 136, 384, 768, 1000, 1536, 3072, 4096] {
            for count in [1, 63, 64, 65, 200] {
                let (bytes, _) = blocks(&mut dice, dimension, count);
                let residual: Vec<f32> = (0..dimension).map(|_| dice.float()).collect();
                let query = BitQuery::new(&residual, 0.25);
                for threshold in [f32::NEG_INFINITY, 0.5] {
                    let run = |isa| {
                        let mut out = Vec::new();
                        scan(isa, &bytes, &query, threshold, 1000, &mut out);
                        out
                    };
                    let want = run(Isa::Plain);
                    if threshold == f32::NEG_INFINITY {
                        let positions: Vec<u32> = want.iter().map(|estimate| estimate.position).collect();
                        assert_eq!(positions, (1000..1000 + count as u32).collect::<Vec<_>>());
                    }
                    for isa in Isa::available() {
                        assert_eq!(run(isa), want, "{isa:?} {dimension} x {count} above {threshold}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_estimate_is_the_sum_of_signs_times_quantised_query() {
        // By the definition in the module's text, in floating point, without tables or bits.
        let mut dice = Dice(9);
        let (bytes, vectors) = blocks(&mut dice, 384, 70);
        let residual: Vec<f32> = (0..384).map(|_| dice.float()).collect();
        let largest = residual.iter().fold(0f32, |most, value| most.max(value.abs()));
        let mut got = Vec::new();
        scan(Isa::best(), &bytes, &BitQuery::new(&residual, -0.5), f32::NEG_INFINITY, 0, &mut got);
        for (estimate, (vector, a, b)) in got.iter().zip(&vectors) {
            let dot: f64 = vector
                .iter()
                .zip(&residual)
                .map(|(v, q)| v.signum() * (q / largest * 7.0).round() * largest / 7.0)
                .map(f64::from)
                .sum();
            let want = f64::from(*a) * dot + f64::from(*b) - 0.5;
            assert!((f64::from(estimate.score) - want).abs() < 1e-3, "{estimate:?} {want}");
        }
    }

    #[test]
    fn the_largest_dimension_does_not_overflow() {
        let dimension = MAX_DIMENSION;
        let mut bytes = vec![0; block_len(dimension)];
        clear(&mut bytes);
        for place in 0..BLOCK {
            set(&mut bytes, place, &vec![1.0; dimension], 1.0, 0.0);
        }
        for isa in Isa::available() {
            let mut out = Vec::new();
            scan(isa, &bytes, &BitQuery::new(&vec![7.0; dimension], 0.0), 0.0, 0, &mut out);
            assert_eq!(out.len(), BLOCK, "{isa:?}");
            assert!(
                out.iter().all(|estimate| (estimate.score - 28672.0).abs() < 0.1),
                "{isa:?} {:?}",
                out[0]
            );
        }
    }
}
