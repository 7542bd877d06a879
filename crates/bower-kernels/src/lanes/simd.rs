//! Defines [`Simd`], operations on sixteen floats at a time, and [`Kernel`], computations written in them.
//! Every lane does the same IEEE additions and multiplications in the same order on all of them (nothing is fused), so a kernel
//! written once gives the same bits on every machine.

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
