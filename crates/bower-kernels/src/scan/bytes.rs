//! Computes dot products of int8 rows with an int8 query.
//! Every path gives the same integers.
//!
//! A row's values -127..=127 are kept with 128 added, as unsigned bytes: VNNI multiplies unsigned by signed, and the
//! surplus is 128 times the query's sum, one number a query.

#[cfg(target_arch = "aarch64")]
mod neon;
mod rows;

use crate::Isa;
use rows::row;
#[cfg(target_arch = "x86_64")]
use rows::{AHEAD, prefetch};

/// Rows and query are padded to a multiple of this many values (a row's padding is 128, the query's is 0).
pub const STRIDE: usize = 64;

/// How many bytes a row of this dimension takes.
pub fn stride(dimension: usize) -> usize {
    dimension.next_multiple_of(STRIDE)
}

/// The dot product of `query` (values -127..=127, a multiple of 64 long) with each of the rows at `positions`.
///
/// `rows` holds rows of the query's length one after another; `out` takes one number a position. Panics when a
/// position lies outside of `rows`.
pub fn dots_at(isa: Isa, rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    assert_eq!(positions.len(), out.len(), "one result a position");
    check(rows, query);
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_present() => {
            // SAFETY: the instructions are present, as just asked.
            unsafe { gather_avx512(rows, positions, query, out) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_present() => {
            // SAFETY: as above.
            unsafe { gather_avx2(rows, positions, query, out) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon if isa.is_present() => neon::gather(rows, positions, query, out),
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => {
            for (position, out) in positions.iter().zip(out) {
                *out = plain(row(rows, *position, query.len()), query);
            }
        }
    }
}

/// The same for all rows in order; `out` takes one number a row.
pub fn dots(isa: Isa, rows: &[u8], query: &[i8], out: &mut [i32]) {
    check(rows, query);
    assert_eq!(rows.len(), out.len() * query.len(), "one result a row");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_present() => {
            // SAFETY: the instructions are present, as just asked.
            unsafe { scan_avx512(rows, query, out) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_present() => {
            // SAFETY: as above.
            unsafe { scan_avx2(rows, query, out) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon if isa.is_present() => neon::scan(rows, query, out),
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => {
            for (row, out) in rows.chunks_exact(query.len()).zip(out) {
                *out = plain(row, query);
            }
        }
    }
}

fn check(rows: &[u8], query: &[i8]) {
    assert!(!query.is_empty() && query.len().is_multiple_of(STRIDE), "queries are padded to {STRIDE} values");
    assert!(rows.len().is_multiple_of(query.len()), "rows are as long as the query");
}

fn plain(row: &[u8], query: &[i8]) -> i32 {
    row.iter().zip(query).map(|(value, query)| (i32::from(*value) - 128) * i32::from(*query)).sum()
}

/// What the 128 added to each of a row's values puts on top of the dot product.
#[cfg(target_arch = "x86_64")]
fn surplus(query: &[i8]) -> i32 {
    128 * query.iter().map(|value| i32::from(*value)).sum::<i32>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn gather_avx512(rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    let surplus = surplus(query);
    for (at, (position, out)) in positions.iter().zip(out).enumerate() {
        if let Some(next) = positions.get(at + AHEAD) {
            prefetch(row(rows, *next, query.len()));
        }
        *out = dot_avx512(row(rows, *position, query.len()), query) - surplus;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn scan_avx512(rows: &[u8], query: &[i8], out: &mut [i32]) {
    let surplus = surplus(query);
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        *out = dot_avx512(row, query) - surplus;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn dot_avx512(row: &[u8], query: &[i8]) -> i32 {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32,
        _mm512_setzero_si512,
    };
    let mut sums = [_mm512_setzero_si512(); 2];
    for (at, (row, query)) in row.as_chunks::<64>().0.iter().zip(query.as_chunks::<64>().0).enumerate() {
        // SAFETY: 64 bytes are read from arrays of 64; they need not be aligned.
        let (row, query) =
            unsafe { (_mm512_loadu_si512(row.as_ptr().cast()), _mm512_loadu_si512(query.as_ptr().cast())) };
        sums[at % 2] = _mm512_dpbusd_epi32(sums[at % 2], row, query);
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn gather_avx2(rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    for (at, (position, out)) in positions.iter().zip(out).enumerate() {
        if let Some(next) = positions.get(at + AHEAD) {
            prefetch(row(rows, *next, query.len()));
        }
        *out = dot_avx2(row(rows, *position, query.len()), query);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn scan_avx2(rows: &[u8], query: &[i8], out: &mut [i32]) {
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        *out = dot_avx2(row, query);
    }
}

/// Products of |query| and the row's value with the query's sign: two of them are at most 2 x 127 x 127 = 32,258, so
/// the 16-bit sums never saturate. (A byte of 0, -128, is never written; it would lose its sign here.)
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn dot_avx2(row: &[u8], query: &[i8]) -> i32 {
    use std::arch::x86_64::{
        _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_abs_epi8, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_sign_epi8,
        _mm256_xor_si256,
    };
    let (bias, ones) = (_mm256_set1_epi8(-128), _mm256_set1_epi16(1));
    let mut sums = [_mm256_setzero_si256(); 2];
    for (at, (row, query)) in row.as_chunks::<32>().0.iter().zip(query.as_chunks::<32>().0).enumerate() {
        // SAFETY: 32 bytes are read from arrays of 32; they need not be aligned.
        let (row, query) =
            unsafe { (_mm256_loadu_si256(row.as_ptr().cast()), _mm256_loadu_si256(query.as_ptr().cast())) };
        let signed = _mm256_sign_epi8(_mm256_xor_si256(row, bias), query);
        let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(query), signed);
        sums[at % 2] = _mm256_add_epi32(sums[at % 2], _mm256_madd_epi16(pairs, ones));
    }
    let sum = _mm256_add_epi32(sums[0], sums[1]);
    let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b01_00_11_10>(sum));
    _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32::<0b10_11_00_01>(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    #[test]
    fn three_by_hand() {
        let mut query = vec![0i8; 64];
        query[..3].copy_from_slice(&[127, -2, 5]);
        let mut row = vec![128u8; 64];
        row[..3].copy_from_slice(&[128 + 127, 128 + 3, 128 - 127]);
        let mut out = [0];
        for isa in Isa::available() {
            dots(isa, &row, &query, &mut out);
            assert_eq!(out, [127 * 127 - 6 - 635], "{isa:?}");
        }
    }

    #[test]
    fn every_path_gives_the_same_integers_at_odd_counts() {
        let mut dice = Dice(11);
        for stride in [64, 128, 192, 384, 448, 768, 4096] {
            for count in [0usize, 1, 2, 7, 33] {
                let rows: Vec<u8> = (0..count * stride).map(|_| 1 + (dice.next() % 255) as u8).collect();
                let query: Vec<i8> =
                    (0..stride).map(|_| (dice.next() % 255) as i16 - 127).map(|v| v as i8).collect();
                let positions: Vec<u32> = (0..count as u32).rev().step_by(2).collect();
                let mut want = vec![0; count];
                dots(Isa::Plain, &rows, &query, &mut want);
                for isa in Isa::available() {
                    let mut got = vec![0; count];
                    dots(isa, &rows, &query, &mut got);
                    assert_eq!(got, want, "{isa:?} {stride} x {count}");
                    let mut got = vec![0; positions.len()];
                    dots_at(isa, &rows, &positions, &query, &mut got);
                    let want: Vec<i32> = positions.iter().map(|at| want[*at as usize]).collect();
                    assert_eq!(got, want, "{isa:?} {stride} x {count}");
                }
            }
        }
    }

    #[test]
    fn the_largest_values_do_not_saturate() {
        for value in [1u8, 255] {
            for sign in [-127i8, 127] {
                let (row, query) = (vec![value; 4096], vec![sign; 4096]);
                for isa in Isa::available() {
                    let mut out = [0];
                    dots(isa, &row, &query, &mut out);
                    assert_eq!(
                        out[0],
                        4096 * (i32::from(value) - 128) * i32::from(sign),
                        "{isa:?} {value} {sign}"
                    );
                }
            }
        }
    }
}
