//! Implements [`Simd`] for 64-bit ARM.
//! NEON is a part of every such machine; a value of [`Neon`] with a faster product of bytes exists only inside a function that was
//! entered after its instructions were found to be present.
//!
//! The instructions for dot products are written in assembly: the library's names for them are newer than the compiler
//! that this crate asks for (`vdotq_s32`), or not there yet (`vsudotq_laneq_s32`).

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int16x8_t, int32x4_t, vaddq_f32, vaddq_s32, vbslq_f32, vcgtq_f32, vcombine_s8,
    vcombine_s16, vcreate_s16, vcvtnq_s32_f32, vcvtq_f32_s32, vdupq_lane_s32, vdupq_n_f32, vdupq_n_s8,
    vdupq_n_s32, veorq_s8, vget_low_s8, vget_low_s16, vld1_s8, vld1q_f32, vld1q_s8, vld1q_s16, vld1q_s32,
    vmlal_high_lane_s16, vmlal_high_s8, vmlal_lane_s16, vmlal_s8, vmlsq_s32, vmovn_s16, vmovn_s32,
    vmull_high_s8, vmull_s8, vmulq_f32, vpadalq_s16, vpaddq_s32, vreinterpret_s32_s8, vreinterpretq_f32_s32,
    vreinterpretq_s8_s32, vreinterpretq_s16_s32, vreinterpretq_s32_f32, vshlq_n_s32, vst1q_f32, vst1q_s8,
    vst1q_s16, vst1q_s32, vsubq_f32, vtrn1q_s16, vuzp1q_s16, vuzp2q_s16,
};
use std::arch::asm;

use super::simd::{Kernel, LANES, Simd, TILE};

/// Products of bytes by widening them: every machine.
pub(crate) const WIDE: u8 = 0;
/// Products of signed bytes, four at a time (`dotprod`): from ARMv8.2 on, nearly all.
pub(crate) const DOT: u8 = 1;
/// The same of signed with unsigned bytes (`i8mm`): from ARMv8.6 on.
pub(crate) const MIXED: u8 = 2;

/// NEON is present, and for [`DOT`] and [`MIXED`] those instructions.
#[derive(Clone, Copy)]
pub(crate) struct Neon<const PRODUCT: u8>(());

/// Runs a kernel compiled for NEON alone.
pub(crate) fn on_neon(kernel: impl Kernel) {
    kernel.run(Neon::<WIDE>(()));
}

/// Runs a kernel compiled for NEON and the dot product extension.
///
/// # Safety
/// The machine must have `dotprod`.
#[target_feature(enable = "neon,dotprod")]
pub(crate) unsafe fn on_neon_dot(kernel: impl Kernel) {
    kernel.run(Neon::<DOT>(()));
}

/// Runs a kernel compiled for NEON and the extension for products of bytes of either kind.
///
/// # Safety
/// The machine must have `i8mm`.
#[target_feature(enable = "neon,i8mm")]
pub(crate) unsafe fn on_neon_mixed(kernel: impl Kernel) {
    kernel.run(Neon::<MIXED>(()));
}

/// Calls intrinsics that only compute.
macro_rules! compute {
    ($call:expr) => {
        // SAFETY: NEON is a part of 64-bit ARM, and the call touches no memory.
        unsafe { $call }
    };
}

impl<const PRODUCT: u8> Simd for Neon<PRODUCT> {
    type V = [float32x4_t; 4];
    type I = [int32x4_t; 4];
    const ROWS: usize = 4;
    // Bytes are signed to all instructions but the mixed one.
    const BYTE_ZERO: i32 = if PRODUCT == MIXED { 0 } else { 128 };

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        compute!([vdupq_n_f32(x); 4])
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        let from = from.as_ptr();
        // SAFETY: the reference covers 16 floats.
        unsafe { [vld1q_f32(from), vld1q_f32(from.add(4)), vld1q_f32(from.add(8)), vld1q_f32(from.add(12))] }
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f32; LANES]) {
        for (v, to) in v.into_iter().zip(to.as_chunks_mut::<4>().0) {
            // SAFETY: the reference covers 4 floats.
            unsafe { vst1q_f32(to.as_mut_ptr(), v) }
        }
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        let mut out = a;
        for i in 0..4 {
            out[i] = compute!(vaddq_f32(a[i], b[i]));
        }
        out
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        let mut out = a;
        for i in 0..4 {
            out[i] = compute!(vsubq_f32(a[i], b[i]));
        }
        out
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        let mut out = a;
        for i in 0..4 {
            out[i] = compute!(vmulq_f32(a[i], b[i]));
        }
        out
    }
    // NEON's own `fmax` and `fmin` order the two zeros and pass NaN on; the twin, as x86-64, does neither.
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        let mut out = b;
        for i in 0..4 {
            out[i] = compute!(vbslq_f32(vcgtq_f32(a[i], b[i]), a[i], b[i]));
        }
        out
    }
    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        let mut out = b;
        for i in 0..4 {
            out[i] = compute!(vbslq_f32(vcgtq_f32(b[i], a[i]), a[i], b[i]));
        }
        out
    }
    #[inline(always)]
    fn store_bytes(self, v: Self::V, to: &mut [u8; LANES]) {
        let [low, high] = words(v);
        // SAFETY: the reference covers 16 bytes.
        unsafe { vst1q_s8(to.as_mut_ptr().cast(), vcombine_s8(vmovn_s16(low), vmovn_s16(high))) }
    }
    #[inline(always)]
    fn scale(self, v: Self::V, power: Self::V) -> Self::V {
        let mut out = v;
        for i in 0..4 {
            out[i] = compute!({
                let power = vshlq_n_s32::<23>(vreinterpretq_s32_f32(power[i]));
                vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(v[i]), power))
            });
        }
        out
    }
    #[inline(always)]
    fn store_words(self, v: Self::V, to: &mut [i16; LANES]) {
        for (words, to) in words(v).into_iter().zip(to.as_chunks_mut::<8>().0) {
            // SAFETY: the reference covers 16 bytes.
            unsafe { vst1q_s16(to.as_mut_ptr(), words) }
        }
    }
    #[inline(always)]
    fn store_pairs(self, a: Self::V, b: Self::V, to: &mut [[i16; 2]; LANES]) {
        let (to, _) = to.as_chunks_mut::<4>();
        for i in 0..4 {
            // SAFETY: the reference covers 16 bytes.
            unsafe {
                let low = vreinterpretq_s16_s32(vcvtnq_s32_f32(a[i]));
                let high = vreinterpretq_s16_s32(vcvtnq_s32_f32(b[i]));
                vst1q_s16(to[i].as_mut_ptr().cast(), vtrn1q_s16(low, high));
            }
        }
    }
    #[inline(always)]
    fn no_sums(self) -> Self::I {
        compute!([vdupq_n_s32(0); 4])
    }
    #[inline(always)]
    fn dot_pairs(self, sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I {
        let (b, _) = b.as_chunks::<4>();
        let mut out = sums;
        for i in 0..2 {
            // SAFETY: each reference covers 16 bytes. (`ld2` would part the pairs by itself, but the compiler repeats it for
            // each row.)
            unsafe {
                let a = vcreate_s16(u64::from(bytemuck::cast::<_, u32>(a)));
                let low = vld1q_s16(b[2 * i].as_ptr().cast());
                let high = vld1q_s16(b[2 * i + 1].as_ptr().cast());
                let (first, second) = (vuzp1q_s16(low, high), vuzp2q_s16(low, high));
                out[2 * i] = vmlal_lane_s16::<0>(out[2 * i], vget_low_s16(first), a);
                out[2 * i] = vmlal_lane_s16::<1>(out[2 * i], vget_low_s16(second), a);
                out[2 * i + 1] = vmlal_high_lane_s16::<0>(out[2 * i + 1], first, a);
                out[2 * i + 1] = vmlal_high_lane_s16::<1>(out[2 * i + 1], second, a);
            }
        }
        out
    }
    #[inline(always)]
    fn floats_of(self, sums: Self::I) -> Self::V {
        let mut out = self.splat(0.0);
        for i in 0..4 {
            out[i] = compute!(vcvtq_f32_s32(sums[i]));
        }
        out
    }
    #[inline(always)]
    fn centred(self, sums: &[i32; LANES], zero: i32, columns: &[i32; LANES]) -> Self::V {
        let mut out = self.splat(0.0);
        for (i, out) in out.iter_mut().enumerate() {
            // SAFETY: each reference covers 16 numbers, and the last load ends with them.
            *out = unsafe {
                let (sums, columns) =
                    (vld1q_s32(sums.as_ptr().add(4 * i)), vld1q_s32(columns.as_ptr().add(4 * i)));
                vcvtq_f32_s32(vmlsq_s32(sums, vdupq_n_s32(zero), columns))
            };
        }
        out
    }

    #[inline(always)]
    fn tile<const R: usize>(
        self,
        rows: [&[u8]; R],
        weights: &[i8],
        _ahead: usize,
        sums: &mut [[i32; TILE]; R],
    ) {
        if PRODUCT == WIDE {
            self.tile_wide(rows, weights, sums);
        } else {
            self.tile_dot(rows, weights, sums);
        }
    }
}

impl<const PRODUCT: u8> Neon<PRODUCT> {
    /// Only for [`DOT`] and [`MIXED`].
    #[inline(always)]
    fn tile_dot<const R: usize>(self, rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
        let steps = weights.len() / (TILE * 4);
        assert!(rows.iter().all(|row| row.len() >= steps * 4), "a row is shorter than the weights");
        for pass in 0..TILE / LANES {
            // SAFETY: step s < steps and pass p < 4 read weights [256 s + 64 p, 256 s + 64 p + 64), inside the slice by the
            // division above, and four or sixteen of the first 4 `steps` bytes of each row, inside by the assertion; a pass
            // writes 16 of the 64 sums of each row.
            unsafe {
                // 6 x 16 sums fill 24 of the 32 registers.
                let mut kept = [[vdupq_n_s32(0); 4]; R];
                let mut bytes = [vdupq_n_s8(0); R];
                let at = weights.as_ptr().add(pass * LANES * 4);
                for four in 0..steps / 4 {
                    for r in 0..R {
                        bytes[r] = self.signed(vld1q_s8(rows[r].as_ptr().add(four * 16).cast()));
                    }
                    let at = at.add(four * 4 * TILE * 4);
                    self.step::<0, R>(&mut kept, at, bytes);
                    self.step::<1, R>(&mut kept, at.add(TILE * 4), bytes);
                    self.step::<2, R>(&mut kept, at.add(2 * TILE * 4), bytes);
                    self.step::<3, R>(&mut kept, at.add(3 * TILE * 4), bytes);
                }
                for step in steps / 4 * 4..steps {
                    for r in 0..R {
                        let quad = rows[r].as_ptr().add(step * 4).cast::<i32>().read_unaligned();
                        bytes[r] = self.signed(vreinterpretq_s8_s32(vdupq_n_s32(quad)));
                    }
                    self.step::<0, R>(&mut kept, at.add(step * TILE * 4), bytes);
                }
                for (sums, kept) in sums.iter_mut().zip(kept) {
                    for (i, kept) in kept.into_iter().enumerate() {
                        vst1q_s32(sums.as_mut_ptr().add(pass * LANES + 4 * i), kept);
                    }
                }
            }
        }
    }

    /// Adds the products of sixteen outputs' weights with four bytes of each row, those from 4 `QUAD` on.
    ///
    /// # Safety
    /// 64 bytes can be read at `at`.
    #[inline(always)]
    unsafe fn step<const QUAD: usize, const R: usize>(
        self,
        kept: &mut [[int32x4_t; 4]; R],
        at: *const i8,
        bytes: [int8x16_t; R],
    ) {
        for i in 0..4 {
            // SAFETY: the caller's promise.
            let weights = unsafe { vld1q_s8(at.add(16 * i)) };
            for (kept, bytes) in kept.iter_mut().zip(bytes) {
                kept[i] = self.dot::<QUAD>(kept[i], weights, bytes);
            }
        }
    }

    /// Bytes as [`Neon::dot`] takes them.
    #[expect(clippy::unused_self, reason = "as the others")]
    #[inline(always)]
    fn signed(self, bytes: int8x16_t) -> int8x16_t {
        if PRODUCT == MIXED { bytes } else { compute!(veorq_s8(bytes, vdupq_n_s8(-128))) }
    }

    /// To each sum the product of its four weights with the same four bytes, those from 4 `QUAD` on.
    #[expect(clippy::unused_self, reason = "it proves that the instructions are present")]
    #[inline(always)]
    fn dot<const QUAD: usize>(self, sums: int32x4_t, weights: int8x16_t, bytes: int8x16_t) -> int32x4_t {
        let mut out = sums;
        if PRODUCT == MIXED {
            // SAFETY: the instruction is present, and works in registers alone.
            unsafe {
                asm!("sudot {0:v}.4s, {1:v}.16b, {2:v}.4b[{3}]", inlateout(vreg) out, in(vreg) weights,
                    in(vreg) bytes, const QUAD, options(pure, nomem, nostack, preserves_flags));
            }
        } else {
            assert!(PRODUCT == DOT, "dot products have not been found");
            // SAFETY: as above.
            unsafe {
                asm!("sdot {0:v}.4s, {1:v}.16b, {2:v}.4b[{3}]", inlateout(vreg) out, in(vreg) weights,
                    in(vreg) bytes, const QUAD, options(pure, nomem, nostack, preserves_flags));
            }
        }
        out
    }

    /// Only for [`WIDE`]. Products of two bytes with two weights fit 16 bits, and so does the sum of two: 2 x 128 x 127 = 32,512.
    #[inline(always)]
    fn tile_wide<const R: usize>(self, rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
        /// Outputs of one pass: with 6 rows, 24 of the 32 registers hold sums, two for each output.
        const PASS: usize = 8;
        let steps = weights.len() / (TILE * 4);
        assert!(rows.iter().all(|row| row.len() >= steps * 4), "a row is shorter than the weights");
        for pass in 0..TILE / PASS {
            // SAFETY: step s < steps and pass p < 8 read weights [256 s + 32 p, 256 s + 32 p + 32), inside the slice by the
            // division above, and four or eight of the first 4 `steps` bytes of each row, inside by the assertion; a pass
            // writes 8 of the 64 sums of each row.
            unsafe {
                let mut kept = [[vdupq_n_s32(0); 4]; R];
                let at = weights.as_ptr().add(pass * PASS * 4);
                for two in 0..steps / 2 {
                    let at = at.add(two * 2 * TILE * 4);
                    let first = [vld1q_s8(at), vld1q_s8(at.add(16))];
                    let second = [vld1q_s8(at.add(TILE * 4)), vld1q_s8(at.add(TILE * 4 + 16))];
                    for r in 0..R {
                        let bytes = vreinterpret_s32_s8(vld1_s8(rows[r].as_ptr().add(two * 8).cast()));
                        let a = self.signed(vreinterpretq_s8_s32(vdupq_lane_s32::<0>(bytes)));
                        let b = self.signed(vreinterpretq_s8_s32(vdupq_lane_s32::<1>(bytes)));
                        for i in 0..2 {
                            let low = vmull_s8(vget_low_s8(first[i]), vget_low_s8(a));
                            let low = vmlal_s8(low, vget_low_s8(second[i]), vget_low_s8(b));
                            let high = vmlal_high_s8(vmull_high_s8(first[i], a), second[i], b);
                            kept[r][2 * i] = vpadalq_s16(kept[r][2 * i], low);
                            kept[r][2 * i + 1] = vpadalq_s16(kept[r][2 * i + 1], high);
                        }
                    }
                }
                if !steps.is_multiple_of(2) {
                    let at = at.add((steps - 1) * TILE * 4);
                    for r in 0..R {
                        let quad = rows[r].as_ptr().add((steps - 1) * 4).cast::<i32>().read_unaligned();
                        let a = self.signed(vreinterpretq_s8_s32(vdupq_n_s32(quad)));
                        for i in 0..2 {
                            let weights = vld1q_s8(at.add(16 * i));
                            let low = vmull_s8(vget_low_s8(weights), vget_low_s8(a));
                            kept[r][2 * i] = vpadalq_s16(kept[r][2 * i], low);
                            kept[r][2 * i + 1] = vpadalq_s16(kept[r][2 * i + 1], vmull_high_s8(weights, a));
                        }
                    }
                }
                for (sums, kept) in sums.iter_mut().zip(kept) {
                    for (i, halves) in kept.as_chunks::<2>().0.iter().enumerate() {
                        let four = vpaddq_s32(halves[0], halves[1]);
                        vst1q_s32(sums.as_mut_ptr().add(pass * PASS + 4 * i), four);
                    }
                }
            }
        }
    }
}

/// Rounds to the nearest integers, ties to even; values fit 16 bits.
#[inline(always)]
fn words(v: [float32x4_t; 4]) -> [int16x8_t; 2] {
    compute!({
        let low = vcombine_s16(vmovn_s32(vcvtnq_s32_f32(v[0])), vmovn_s32(vcvtnq_s32_f32(v[1])));
        let high = vcombine_s16(vmovn_s32(vcvtnq_s32_f32(v[2])), vmovn_s32(vcvtnq_s32_f32(v[3])));
        [low, high]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::is_aarch64_feature_detected;

    /// A machine takes one form by itself, so this compares those that it has with the definition.
    #[test]
    fn every_form_of_a_tile_gives_the_definition() {
        for steps in [1, 2, 3, 4, 7, 96, 129] {
            let row: Vec<u8> = (0..steps * 4).map(|i| 255 - (i * 89 % 256) as u8).collect();
            let weights: Vec<i8> =
                (0..steps * TILE * 4).map(|i| (i * 53 % 255) as i8).map(|w| w.max(-127)).collect();
            check(&row, &weights);
        }
        for (byte, weight) in [(0, 127), (0, -127), (255, 127), (255, -127)] {
            check(&[byte; 4 * 33], &[weight; 4 * 33 * TILE]);
        }
    }

    fn check(row: &[u8], weights: &[i8]) {
        let less = |zero: i32| -> [i32; TILE] {
            std::array::from_fn(|output| {
                let weight = |k: usize| i32::from(weights[k / 4 * TILE * 4 + output * 4 + k % 4]);
                (0..row.len()).map(|k| (i32::from(row[k]) - zero) * weight(k)).sum()
            })
        };
        let mut sums = [[1; TILE]; 3];
        Neon::<WIDE>(()).tile([row; 3], weights, 0, &mut sums);
        assert_eq!(sums, [less(128); 3], "widened, {} bytes", row.len());
        if is_aarch64_feature_detected!("dotprod") {
            // SAFETY: just found.
            unsafe { dot(row, weights, &mut sums) };
            assert_eq!(sums, [less(128); 3], "dotprod, {} bytes", row.len());
        }
        if is_aarch64_feature_detected!("i8mm") {
            // SAFETY: just found.
            unsafe { mixed(row, weights, &mut sums) };
            assert_eq!(sums, [less(0); 3], "i8mm, {} bytes", row.len());
        }
    }

    #[target_feature(enable = "neon,dotprod")]
    fn dot(row: &[u8], weights: &[i8], sums: &mut [[i32; TILE]; 3]) {
        Neon::<DOT>(()).tile([row; 3], weights, 0, sums);
    }

    #[target_feature(enable = "neon,i8mm")]
    fn mixed(row: &[u8], weights: &[i8], sums: &mut [[i32; TILE]; 3]) {
        Neon::<MIXED>(()).tile([row; 3], weights, 0, sums);
    }
}
