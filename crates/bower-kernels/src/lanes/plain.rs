//! Implements [`Simd`] in plain Rust, for any machine.
//! The compiler uses whatever vectors the target's baseline has.

use super::simd::{LANES, MAGIC, Simd, TILE};
#[cfg(target_arch = "x86_64")]
use super::x86::{Baseline, tile_baseline};

/// Nothing to prove: every machine runs plain Rust.
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
    type I = Baseline;
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
        tile_baseline(rows, weights, sums);
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
