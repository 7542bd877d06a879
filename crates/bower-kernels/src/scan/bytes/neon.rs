//! Computes the int8 dot products on 64-bit ARM: four rows at a time, so that the query is loaded once for them.

use std::arch::aarch64::{
    int8x16_t, int32x4_t, vaddvq_s32, vdupq_n_s8, vdupq_n_s32, veorq_s8, vget_low_s8, vld1q_s8,
    vmlal_high_s8, vmlal_s8, vmull_high_s8, vmull_s8, vpadalq_s16,
};
use std::arch::{asm, is_aarch64_feature_detected};

use super::rows::{AHEAD, prefetch, row};

/// Rows at a time.
const ROWS: usize = 4;

/// [`super::dots_at`]. NEON is a part of 64-bit ARM; the dot product extension is used where it is present.
pub(super) fn gather(rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    if is_aarch64_feature_detected!("dotprod") {
        // SAFETY: the instructions are present, as just asked.
        unsafe { gather_dot(rows, positions, query, out) }
    } else {
        // SAFETY: `dotprod` is not asked for.
        unsafe { gather_with::<false>(rows, positions, query, out) }
    }
}

/// [`super::dots`], the same way.
pub(super) fn scan(rows: &[u8], query: &[i8], out: &mut [i32]) {
    if is_aarch64_feature_detected!("dotprod") {
        // SAFETY: the instructions are present, as just asked.
        unsafe { scan_dot(rows, query, out) }
    } else {
        // SAFETY: `dotprod` is not asked for.
        unsafe { scan_with::<false>(rows, query, out) }
    }
}

#[target_feature(enable = "neon,dotprod")]
fn gather_dot(rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    // SAFETY: this function is entered only where `dotprod` is present.
    unsafe { gather_with::<true>(rows, positions, query, out) }
}

#[target_feature(enable = "neon,dotprod")]
fn scan_dot(rows: &[u8], query: &[i8], out: &mut [i32]) {
    // SAFETY: as above.
    unsafe { scan_with::<true>(rows, query, out) }
}

/// # Safety
/// Where `DOT`, the machine must have `dotprod`.
#[inline(always)]
unsafe fn gather_with<const DOT: bool>(rows: &[u8], positions: &[u32], query: &[i8], out: &mut [i32]) {
    let len = query.len();
    let (fours, rest) = positions.as_chunks::<ROWS>();
    let (out_fours, out_rest) = out.as_chunks_mut::<ROWS>();
    for (at, (four, out)) in fours.iter().zip(out_fours).enumerate() {
        for next in positions.iter().skip(ROWS * at + AHEAD).take(ROWS) {
            prefetch(row(rows, *next, len));
        }
        let [a, b, c, d] = *four;
        let four = [row(rows, a, len), row(rows, b, len), row(rows, c, len), row(rows, d, len)];
        // SAFETY: the caller's promise.
        *out = unsafe { dot::<DOT, ROWS>(four, query) };
    }
    for (position, out) in rest.iter().zip(out_rest) {
        // SAFETY: the caller's promise.
        [*out] = unsafe { dot::<DOT, 1>([row(rows, *position, len)], query) };
    }
}

/// # Safety
/// Where `DOT`, the machine must have `dotprod`.
#[inline(always)]
unsafe fn scan_with<const DOT: bool>(rows: &[u8], query: &[i8], out: &mut [i32]) {
    let len = query.len();
    let (fours, rest) = out.as_chunks_mut::<ROWS>();
    let (four_rows, rest_rows) = rows.split_at(fours.len() * ROWS * len);
    for (rows, out) in four_rows.chunks_exact(ROWS * len).zip(fours) {
        let (a, b, c, d) = (&rows[..len], &rows[len..2 * len], &rows[2 * len..3 * len], &rows[3 * len..]);
        // SAFETY: the caller's promise.
        *out = unsafe { dot::<DOT, ROWS>([a, b, c, d], query) };
    }
    for (row, out) in rest_rows.chunks_exact(len).zip(rest) {
        // SAFETY: the caller's promise.
        [*out] = unsafe { dot::<DOT, 1>([row], query) };
    }
}

/// The dot product of the query, a multiple of 64 values, with each of `R` rows. A row's bytes less 128 are signed; so are
/// the query's values, and none is -128, so that two products fit 16 bits: 2 x 128 x 127 = 32,512.
///
/// # Safety
/// Where `DOT`, the machine must have `dotprod`.
#[inline(always)]
unsafe fn dot<const DOT: bool, const R: usize>(rows: [&[u8]; R], query: &[i8]) -> [i32; R] {
    assert!(rows.iter().all(|row| row.len() == query.len()), "rows are as long as the query");
    let mut totals = [0; R];
    // SAFETY: NEON is a part of 64-bit ARM, `dotprod` is the caller's promise. 32 bytes are read from
    // the query and from each row, which is as long, at every multiple of 32 that leaves so many.
    unsafe {
        let mut sums = [[vdupq_n_s32(0); 2]; R];
        for at in (0..query.len() / 32).map(|step| 32 * step) {
            let first = vld1q_s8(query.as_ptr().add(at));
            let second = vld1q_s8(query.as_ptr().add(at + 16));
            for r in 0..R {
                let from = rows[r].as_ptr().add(at).cast();
                let low = veorq_s8(vld1q_s8(from), vdupq_n_s8(-128));
                let high = veorq_s8(vld1q_s8(from.add(16)), vdupq_n_s8(-128));
                if DOT {
                    sums[r][0] = sdot(sums[r][0], low, first);
                    sums[r][1] = sdot(sums[r][1], high, second);
                } else {
                    let even = vmlal_s8(
                        vmull_s8(vget_low_s8(low), vget_low_s8(first)),
                        vget_low_s8(high),
                        vget_low_s8(second),
                    );
                    let odd = vmlal_high_s8(vmull_high_s8(low, first), high, second);
                    sums[r][0] = vpadalq_s16(sums[r][0], even);
                    sums[r][1] = vpadalq_s16(sums[r][1], odd);
                }
            }
        }
        for r in 0..R {
            totals[r] = vaddvq_s32(sums[r][0]) + vaddvq_s32(sums[r][1]);
        }
    }
    totals
}

/// To each sum four products. In assembly, for the library's name is newer than the compiler that this crate asks for.
///
/// # Safety
/// The machine must have `dotprod`.
#[inline(always)]
unsafe fn sdot(sums: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    let mut out = sums;
    // SAFETY: the caller's promise; the instruction works in registers alone.
    unsafe {
        asm!("sdot {0:v}.4s, {1:v}.16b, {2:v}.16b", inlateout(vreg) out, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    /// A machine with `dotprod` never takes the other path by itself, so this compares the two.
    #[test]
    fn both_paths_give_the_same_integers() {
        if !is_aarch64_feature_detected!("dotprod") {
            return;
        }
        let mut dice = Dice(29);
        for (len, count) in [(64, 1), (384, 3), (448, 4), (4096, 7)] {
            let rows: Vec<u8> = (0..len * count).map(|_| (dice.next() % 256) as u8).collect();
            let query: Vec<i8> = (0..len).map(|_| ((dice.next() % 255) as i16 - 127) as i8).collect();
            let positions: Vec<u32> = (0..count as u32).rev().collect();
            let (mut wide, mut dot) = (vec![1; 2 * count], vec![2; 2 * count]);
            // SAFETY: `dotprod` was just found.
            unsafe {
                scan_with::<false>(&rows, &query, &mut wide[..count]);
                gather_with::<false>(&rows, &positions, &query, &mut wide[count..]);
                scan_dot(&rows, &query, &mut dot[..count]);
                gather_dot(&rows, &positions, &query, &mut dot[count..]);
            }
            assert_eq!(wide, dot, "{count} rows of {len}");
        }
    }
}
