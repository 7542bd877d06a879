//! Computes the float steps of a transformer: quantisation, layer norm and GELU.
//! Sums run in one order on every instruction set, so the results are the same bits.

use crate::cpu::Isa;
use crate::lanes::dispatch;
use crate::lanes::simd::{Kernel, LANES, Simd};

/// A step of a range below which all its values count as 0 (a row of zeros has no range).
pub(crate) const SMALLEST_STEP: f32 = 1e-30;

/// Where GELU's distance from max(x, 0) is cut off: it is 1.5e-5 there.
const GELU_END: f32 = 4.5;
/// `u * (1 - Phi(u))` on 0..=4.5 as a polynomial in `t = u * 2/4.5 - 1`, lowest power first: the minimax polynomial of degree
/// 10 (Lawson's iteration at 2,000 nodes in float64). The largest error of GELU in float32 arithmetic over -8..=8 is 1.5e-5,
/// a thousandth of the step that its values are rounded to next.
const GELU: [f32; 11] = [
    0.027_497_133,
    -0.133_039_5,
    0.246_592_39,
    -0.147_215_9,
    -0.202_968_17,
    0.434_781_73,
    -0.204_907_66,
    -0.176_315_52,
    0.176_380_98,
    0.021_782_713,
    -0.042_587_034,
];

/// Rows of unsigned bytes, each with its own scale and zero point: `x = (byte - zero) * scale`.
#[derive(Clone, Debug, Default)]
pub struct Quantized {
    /// Row-major, `width` bytes a row.
    pub(crate) bytes: Vec<u8>,
    /// Step between two neighbouring bytes, one a row.
    pub(crate) scales: Vec<f32>,
    /// The byte that stands for 0, one a row.
    pub(crate) zeros: Vec<i32>,
    /// Bytes of a row.
    pub(crate) width: usize,
}

/// Quantises rows of `width` floats, each to its own range of bytes (widened to hold 0): the values are finite.
/// `spread` lists inputs that are written once more after the row, in order; `shares[i]` multiplies input `i` and its copies.
/// The result's rows are `width + spread.len()` bytes.
///
/// # Panics
/// When a length is not a multiple of 16 (`width`, `rows`), or `isa` is not present.
pub fn quantize(isa: Isa, rows: &[f32], shares: &[f32], spread: &[u16], to: &mut Quantized) {
    let width = shares.len();
    assert!(
        width.is_multiple_of(LANES) && rows.len().is_multiple_of(width),
        "rows of a multiple of 16 floats"
    );
    let count = rows.len() / width;
    to.width = width + spread.len();
    to.bytes.resize(count * to.width, 0);
    to.scales.resize(count, 0.0);
    to.zeros.resize(count, 0);
    dispatch(isa, Quantize { rows, shares, spread, to });
}

/// Layer norm of each row in place: `(x - mean) / sqrt(variance + epsilon) * gain + shift`.
///
/// # Panics
/// When the width (`gain`, `shift`) is not a multiple of 16 or does not divide `rows`, or `isa` is not present.
pub fn layer_norm(isa: Isa, rows: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) {
    assert!(gain.len() == shift.len() && gain.len().is_multiple_of(LANES), "width of the layer norm");
    assert!(rows.len().is_multiple_of(gain.len()), "whole rows");
    dispatch(isa, LayerNorm { rows, gain, shift, epsilon });
}

/// GELU with erf of each value in place, to 2e-5.
///
/// # Panics
/// When the length is not a multiple of 16, or `isa` is not present.
pub fn gelu_all(isa: Isa, values: &mut [f32]) {
    assert!(values.len().is_multiple_of(LANES), "a multiple of 16 floats");
    dispatch(isa, Gelu(values));
}

/// GELU: `max(x, 0)` less a bell that depends on |x| alone. Several vectors at once, because each is one long chain.
#[inline(always)]
pub(crate) fn gelu<S: Simd, const N: usize>(simd: S, x: [S::V; N]) -> [S::V; N] {
    let zero = simd.splat(0.0);
    let mut t = x;
    for t in &mut t {
        let size = simd.min(simd.max(*t, simd.sub(zero, *t)), simd.splat(GELU_END));
        *t = simd.sub(simd.mul(size, simd.splat(2.0 / GELU_END)), simd.splat(1.0));
    }
    let mut bell = [simd.splat(GELU[GELU.len() - 1]); N];
    for power in GELU[..GELU.len() - 1].iter().rev() {
        for i in 0..N {
            bell[i] = simd.add(simd.mul(bell[i], t[i]), simd.splat(*power));
        }
    }
    for i in 0..N {
        bell[i] = simd.sub(simd.max(x[i], zero), bell[i]);
    }
    bell
}

struct Quantize<'a> {
    rows: &'a [f32],
    shares: &'a [f32],
    spread: &'a [u16],
    to: &'a mut Quantized,
}

impl Kernel for Quantize<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows, shares, spread, to } = self;
        let width = shares.len();
        let (shares, _) = shares.as_chunks::<LANES>();
        for (r, row) in rows.chunks_exact(width).enumerate() {
            let (row, _) = row.as_chunks::<LANES>();
            let (mut low, mut high) = (simd.splat(0.0), simd.splat(0.0));
            for (x, share) in row.iter().zip(shares) {
                let x = simd.mul(simd.load(x), simd.load(share));
                low = simd.min(low, x);
                high = simd.max(high, x);
            }
            let (low, high) = (simd.smallest(low), simd.largest(high));
            let scale = ((high - low) / 255.0).max(SMALLEST_STEP);
            let zero = (-low / scale).round_ties_even();
            let (inverse, offset) = (simd.splat(1.0 / scale), simd.splat(zero));
            let (least, most) = (simd.splat(0.0), simd.splat(255.0));
            let (bytes, copies) = to.bytes[r * to.width..][..to.width].split_at_mut(width);
            let (chunks, _) = bytes.as_chunks_mut::<LANES>();
            for ((x, share), chunk) in row.iter().zip(shares).zip(chunks) {
                let x = simd.mul(simd.load(x), simd.load(share));
                let x = simd.add(simd.mul(x, inverse), offset);
                simd.store_bytes(simd.min(simd.max(x, least), most), chunk);
            }
            for (copy, from) in copies.iter_mut().zip(spread) {
                *copy = bytes[usize::from(*from)];
            }
            to.scales[r] = scale;
            to.zeros[r] = zero as i32;
        }
    }
}

struct LayerNorm<'a> {
    rows: &'a mut [f32],
    gain: &'a [f32],
    shift: &'a [f32],
    epsilon: f32,
}

impl Kernel for LayerNorm<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let width = self.gain.len();
        let (gain, _) = self.gain.as_chunks::<LANES>();
        let (shift, _) = self.shift.as_chunks::<LANES>();
        for row in self.rows.chunks_exact_mut(width) {
            let (row, _) = row.as_chunks_mut::<LANES>();
            let mut total = simd.splat(0.0);
            for x in row.iter() {
                total = simd.add(total, simd.load(x));
            }
            let mean = simd.splat(simd.sum(total) / width as f32);
            let mut squares = simd.splat(0.0);
            for x in row.iter_mut() {
                let centred = simd.sub(simd.load(x), mean);
                squares = simd.add(squares, simd.mul(centred, centred));
                simd.store(centred, x);
            }
            let inverse = simd.splat(1.0 / (simd.sum(squares) / width as f32 + self.epsilon).sqrt());
            for ((x, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
                let normal = simd.mul(simd.load(x), inverse);
                simd.store(simd.add(simd.mul(normal, simd.load(gain)), simd.load(shift)), x);
            }
        }
    }
}

struct Gelu<'a>(&'a mut [f32]);

impl Kernel for Gelu<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (chunks, _) = self.0.as_chunks_mut::<LANES>();
        for x in chunks {
            let [value] = gelu(simd, [simd.load(x)]);
            simd.store(value, x);
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of all float kernels share.

    use super::Isa;

    /// Numbers from -`size` to `size`, no two neighbours alike.
    pub(crate) fn wave(len: usize, size: f32) -> Vec<f32> {
        (0..len).map(|i| ((i * 37 % 101) as f32 / 50.0 - 1.0) * size).collect()
    }

    /// Every instruction set gives the bits of the first.
    pub(crate) fn check(compute: impl Fn(Isa) -> Vec<f32>) -> Vec<f32> {
        let plain = compute(Isa::Plain);
        for isa in Isa::available() {
            assert!(plain.iter().zip(&compute(isa)).all(|(a, b)| a.to_bits() == b.to_bits()), "{isa:?}");
        }
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{check, wave};
    use super::*;

    #[test]
    fn gelu_is_near_the_definition() {
        // x * Phi(x) from a table of the normal distribution, in float64.
        let known = [
            (-6.0, -5.919e-9),
            (-2.0, -0.045_500_26),
            (-1.0, -0.158_655_25),
            (-0.5, -0.154_268_77),
            (0.0, 0.0),
            (0.5, 0.345_731_23),
            (1.0, 0.841_344_7),
            (2.0, 1.954_499_7),
            (3.0, 2.995_950_3),
            (40.0, 40.0),
        ];
        let mut inputs: Vec<f32> = known.iter().map(|(x, _)| *x).collect();
        inputs.resize(16, 0.0);
        let got = check(|isa| {
            let mut values = inputs.clone();
            gelu_all(isa, &mut values);
            values
        });
        for ((x, expected), got) in known.iter().zip(got) {
            assert!((got - expected).abs() < 2e-5, "gelu({x}) is {got}, not {expected}");
        }
    }

    #[test]
    fn layer_norm_and_quantize_follow_their_definitions() {
        let (gain, shift) = (wave(48, 2.0), wave(48, 0.5));
        let rows = wave(48 * 5, 3.0);
        let got = check(|isa| {
            let mut rows = rows.clone();
            layer_norm(isa, &mut rows, &gain, &shift, 1e-12);
            rows
        });
        for (row, got) in rows.chunks(48).zip(got.chunks(48)) {
            let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / 48.0;
            let variance = row.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / 48.0;
            for i in 0..48 {
                let expected =
                    (f64::from(row[i]) - mean) / variance.sqrt() * f64::from(gain[i]) + f64::from(shift[i]);
                assert!((f64::from(got[i]) - expected).abs() < 1e-5);
            }
        }
        let mut shares = vec![1.0; 48];
        shares[7] = 0.5;
        for isa in Isa::available() {
            let mut to = Quantized::default();
            quantize(isa, &got, &shares, &[7, 0, 0, 0], &mut to);
            for r in 0..5 {
                for i in 0..48 {
                    let value = (i32::from(to.bytes[r * 52 + i]) - to.zeros[r]) as f32 * to.scales[r];
                    assert!((value - got[r * 48 + i] * shares[i]).abs() <= to.scales[r] * 1.01, "{isa:?}");
                }
                assert_eq!(to.bytes[r * 52 + 48], to.bytes[r * 52 + 7]);
            }
        }
    }
}
