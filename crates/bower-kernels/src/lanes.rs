//! Defines operations on sixteen floats at a time, for each instruction set.
//! Every lane does the same IEEE additions and multiplications in the same order on all of them (nothing is fused), so a kernel
//! written once gives the same bits on every machine.

#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected;

use crate::cpu::Isa;

/// Floats in one vector, on every instruction set.
pub(crate) const LANES: usize = 16;
/// Outputs in one tile of a matrix product, and in one block of packed weights.
pub(crate) const TILE: usize = 64;
/// Adding and subtracting 1.5 * 2^23 rounds a float below 2^22 to the nearest integer, ties to even.
pub(crate) const MAGIC: f32 = 12_582_912.0;

/// Proof that an instruction set is present, and its operations on vectors of [`LANES`] floats.
pub(crate) trait Simd: Copy {
    /// Sixteen floats.
    type V: Copy;
    /// Sixteen 32-bit sums.
    type I: Copy;
    /// Rows of an attention tile that fit the registers: 4 or 8.
    const ROWS: usize;
    /// What [`Simd::tile`] takes from each byte before it multiplies; [`Simd::centred`] undoes it.
    const BYTE_ZERO: i32 = 0;

    fn splat(self, x: f32) -> Self::V;
    fn load(self, from: &[f32; LANES]) -> Self::V;
    fn store(self, v: Self::V, to: &mut [f32; LANES]);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to the nearest integer, ties to even, and keeps the low byte; values lie in 0..=255.
    fn store_bytes(self, v: Self::V, to: &mut [u8; LANES]);
    /// Multiplies `v` by two to the power in the low bits of `power`, an integer to which [`MAGIC`] was added.
    fn scale(self, v: Self::V, power: Self::V) -> Self::V;
    /// Rounds to the nearest integer, ties to even; values fit 16 bits.
    fn store_words(self, v: Self::V, to: &mut [i16; LANES]);
    /// As [`Simd::store_words`], two vectors lane by lane.
    fn store_pairs(self, a: Self::V, b: Self::V, to: &mut [[i16; 2]; LANES]);
    /// Sums of nothing.
    fn no_sums(self) -> Self::I;
    /// Adds `a[0] * b[i][0] + a[1] * b[i][1]` to each sum; the caller sees to it that nothing overflows.
    fn dot_pairs(self, sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I;
    /// Sums as floats, rounded to the nearest.
    fn floats_of(self, sums: Self::I) -> Self::V;
    /// `sums - zero * columns` (wrapping) as floats, rounded to the nearest.
    fn centred(self, sums: &[i32; LANES], zero: i32, columns: &[i32; LANES]) -> Self::V;
    /// The exact products of `R` rows of bytes, `k` each and less [`Simd::BYTE_ZERO`], with one block of weights
    /// `[k/4][TILE][4]`. Weights so many bytes ahead of those in use, which may lie beyond the block, are asked for in
    /// advance.
    fn tile<const R: usize>(
        self,
        rows: [&[u8]; R],
        weights: &[i8],
        ahead: usize,
        sums: &mut [[i32; TILE]; R],
    );

    /// All lanes added, as a fixed tree.
    #[inline(always)]
    fn sum(self, v: Self::V) -> f32 {
        fold(self, v, |a, b| a + b)
    }
    /// The largest lane.
    #[inline(always)]
    fn largest(self, v: Self::V) -> f32 {
        fold(self, v, f32::max)
    }
    /// The smallest lane.
    #[inline(always)]
    fn smallest(self, v: Self::V) -> f32 {
        fold(self, v, f32::min)
    }
}

/// A computation that is compiled once for each instruction set.
pub(crate) trait Kernel {
    /// Runs it with the instruction set proved by `simd`. Must be `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S);
}

/// Runs a kernel on an instruction set.
///
/// # Panics
/// When this machine does not have the instruction set.
pub(crate) fn dispatch(isa: Isa, kernel: impl Kernel) {
    assert!(isa.is_present(), "{isa:?} is not present on this machine");
    match isa {
        // SAFETY: the assertion above proved that the instructions are present.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { crate::lanes_x86::on_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => {
            if is_x86_feature_detected!("avxvnni") {
                // SAFETY: as above, and AVX-VNNI was just found.
                unsafe { crate::lanes_x86::on_avx2_vnni(kernel) }
            } else {
                // SAFETY: as above.
                unsafe { crate::lanes_x86::on_avx2(kernel) }
            }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => {
            if is_aarch64_feature_detected!("i8mm") {
                // SAFETY: it was just found.
                unsafe { crate::lanes_neon::on_neon_mixed(kernel) }
            } else if is_aarch64_feature_detected!("dotprod") {
                // SAFETY: as above.
                unsafe { crate::lanes_neon::on_neon_dot(kernel) }
            } else {
                crate::lanes_neon::on_neon(kernel);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx512 | Isa::Avx2 => unreachable!("not an x86-64"),
        #[cfg(not(target_arch = "aarch64"))]
        Isa::Neon => unreachable!("not an ARM"),
        Isa::Plain => kernel.run(Plain),
    }
}

#[inline(always)]
fn fold<S: Simd>(simd: S, v: S::V, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    simd.store(v, &mut lanes);
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = join(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Plain Rust, laid out so that the compiler uses whatever vectors the target's baseline has.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> [f32; LANES] {
    let mut out = [0.0; LANES];
    for (i, x) in out.iter_mut().enumerate() {
        *x = f(i);
    }
    out
}

impl Simd for Plain {
    type V = [f32; LANES];
    #[cfg(target_arch = "x86_64")]
    type I = crate::lanes_x86::Baseline;
    #[cfg(not(target_arch = "x86_64"))]
    type I = [i32; LANES];
    const ROWS: usize = 4;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        *from
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f32; LANES]) {
        *to = v;
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        each(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        each(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        each(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        each(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        each(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn store_bytes(self, v: Self::V, to: &mut [u8; LANES]) {
        for (to, x) in to.iter_mut().zip(v) {
            *to = (x + MAGIC).to_bits() as u8;
        }
    }
    #[inline(always)]
    fn scale(self, v: Self::V, power: Self::V) -> Self::V {
        each(|i| f32::from_bits(v[i].to_bits().wrapping_add(power[i].to_bits() << 23)))
    }
    #[inline(always)]
    fn store_words(self, v: Self::V, to: &mut [i16; LANES]) {
        for (to, x) in to.iter_mut().zip(v) {
            *to = (x + MAGIC).to_bits() as i16;
        }
    }
    #[inline(always)]
    fn store_pairs(self, a: Self::V, b: Self::V, to: &mut [[i16; 2]; LANES]) {
        for (i, to) in to.iter_mut().enumerate() {
            *to = [(a[i] + MAGIC).to_bits() as i16, (b[i] + MAGIC).to_bits() as i16];
        }
    }
    #[inline(always)]
    fn no_sums(self) -> Self::I {
        Self::I::default()
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn dot_pairs(self, sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I {
        sums.dot_pairs(a, b)
    }
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn dot_pairs(self, mut sums: Self::I, a: [i16; 2], b: &[[i16; 2]; LANES]) -> Self::I {
        for i in 0..LANES {
            sums[i] += i32::from(a[0]) * i32::from(b[i][0]) + i32::from(a[1]) * i32::from(b[i][1]);
        }
        sums
    }
    #[inline(always)]
    fn floats_of(self, sums: Self::I) -> Self::V {
        #[cfg_attr(not(target_arch = "x86_64"), expect(clippy::useless_conversion))]
        let sums: [i32; LANES] = sums.into();
        each(|i| sums[i] as f32)
    }
    #[inline(always)]
    fn centred(self, sums: &[i32; LANES], zero: i32, columns: &[i32; LANES]) -> Self::V {
        each(|i| sums[i].wrapping_sub(zero.wrapping_mul(columns[i])) as f32)
    }

    #[inline(always)]
    fn tile<const R: usize>(
        self,
        rows: [&[u8]; R],
        weights: &[i8],
        _ahead: usize,
        sums: &mut [[i32; TILE]; R],
    ) {
        #[cfg(target_arch = "x86_64")]
        crate::lanes_x86::tile_baseline(rows, weights, sums);
        #[cfg(not(target_arch = "x86_64"))]
        tile_plain(rows, weights, sums);
    }
}

/// [`Simd::tile`] in plain Rust: the definition, and the path of machines that have no other.
#[cfg_attr(target_arch = "x86_64", cfg(test))]
fn tile_plain<const R: usize>(rows: [&[u8]; R], weights: &[i8], sums: &mut [[i32; TILE]; R]) {
    /// Outputs of one pass: their sums stay in registers.
    const PASS: usize = 8;
    let (steps, _) = weights.as_chunks::<{ TILE * 4 }>();
    for (r, row) in rows.iter().enumerate() {
        let (quads, _) = row.as_chunks::<4>();
        for pass in 0..TILE / PASS {
            let mut kept = [0_i32; PASS * 4];
            for (weights, q) in steps.iter().zip(quads) {
                let weights: &[i8; PASS * 4] =
                    weights[pass * PASS * 4..][..PASS * 4].try_into().expect("a pass of a step");
                // Products of 16-bit numbers: the compiler has vector instructions for them even at the x86-64
                // baseline, unlike those of 32 bits.
                for i in 0..PASS * 4 {
                    kept[i] += i32::from(i16::from(weights[i])) * i32::from(i16::from(q[i % 4]));
                }
            }
            for (sum, kept) in sums[r][pass * PASS..][..PASS].iter_mut().zip(kept.as_chunks::<4>().0) {
                *sum = kept.iter().sum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_rust_and_the_baseline_give_the_same_sums() {
        let row: Vec<u8> = (0..36_u32).map(|i| (i * 89 % 256) as u8).collect();
        let weights: Vec<i8> = (0..36 * 64_u32).map(|i| (i * 53 % 255) as i8).collect();
        let (mut plain, mut other) = ([[0; TILE]; 2], [[1; TILE]; 2]);
        tile_plain([&row, &row], &weights, &mut plain);
        Plain.tile([&row, &row], &weights, 0, &mut other);
        assert_eq!(plain, other);
        let first: i32 = (0..36).map(|k| i32::from(row[k]) * i32::from(weights[k / 4 * 256 + k % 4])).sum();
        assert_eq!(plain[0][0], first);
    }
}
