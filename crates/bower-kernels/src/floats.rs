//! The float steps of a transformer: quantise, layer norm, GELU, attention. Sums run in one order on every instruction set,
//! so the results are the same bits.

use crate::cpu::Isa;
use crate::gemm::Quantized;
use crate::lanes::{Kernel, LANES, MAGIC, Simd, dispatch};

/// Numbers of one attention head.
pub const HEAD: usize = 32;

/// A step of each row's range below which all its values count as 0 (a row of zeros has no range).
const SMALLEST_STEP: f32 = 1e-30;

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

/// Layer norm of each row in place: `(x - mean) / sqrt(variance + 1e-12) * gain + shift`.
///
/// # Panics
/// When the width (`gain`, `shift`) is not a multiple of 16 or does not divide `rows`, or `isa` is not present.
pub fn layer_norm(isa: Isa, rows: &mut [f32], gain: &[f32], shift: &[f32]) {
    assert!(gain.len() == shift.len() && gain.len().is_multiple_of(LANES), "width of the layer norm");
    assert!(rows.len().is_multiple_of(gain.len()), "whole rows");
    dispatch(isa, LayerNorm { rows, gain, shift });
}

/// GELU with erf of each value in place, to 2e-5.
///
/// # Panics
/// When the length is not a multiple of 16, or `isa` is not present.
pub fn gelu_all(isa: Isa, values: &mut [f32]) {
    assert!(values.len().is_multiple_of(LANES), "a multiple of 16 floats");
    dispatch(isa, Gelu(values));
}

/// Buffers of [`attention`], reused from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct AttentionScratch {
    /// Keys of one head, `[HEAD][tokens rounded up to 16]`.
    keys: Vec<f32>,
    /// Weights of up to 8 query rows, `[8][tokens rounded up to 16]`.
    weights: Vec<f32>,
}

/// Self-attention over one text. `joined` holds a row for each token: queries (already divided by the root of [`HEAD`]), keys
/// and values, `heads * HEAD` floats each; `out` gets `heads * HEAD` floats a token.
///
/// # Panics
/// When the lengths do not agree, or `isa` is not present.
pub fn attention(isa: Isa, joined: &[f32], heads: usize, scratch: &mut AttentionScratch, out: &mut [f32]) {
    let width = heads * HEAD;
    assert!(
        width > 0 && out.len().is_multiple_of(width) && joined.len() == 3 * out.len(),
        "lengths of attention"
    );
    let tokens = out.len() / width;
    let padded = tokens.next_multiple_of(LANES);
    scratch.keys.resize(HEAD * padded, 0.0);
    scratch.weights.resize(8 * padded, 0.0);
    dispatch(isa, Attention { joined, width, tokens, padded, scratch, out });
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

/// e^x for x <= 0; below -87 it stays at e^-87. Reduction by ln 2 in two parts and polynomial after Cephes' `expf`
/// (S. Moshier): relative error below 2e-7.
#[inline(always)]
fn exp<S: Simd>(simd: S, x: S::V) -> S::V {
    const POWERS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
    let x = simd.max(x, simd.splat(-87.0));
    let power = simd.add(simd.mul(x, simd.splat(std::f32::consts::LOG2_E)), simd.splat(MAGIC));
    let whole = simd.sub(power, simd.splat(MAGIC));
    let rest = simd.sub(x, simd.mul(whole, simd.splat(0.693_359_4)));
    let rest = simd.sub(rest, simd.mul(whole, simd.splat(-2.121_944_4e-4)));
    let mut y = simd.splat(POWERS[0]);
    for power in &POWERS[1..] {
        y = simd.add(simd.mul(y, rest), simd.splat(*power));
    }
    let y = simd.add(simd.add(simd.mul(simd.mul(y, rest), rest), rest), simd.splat(1.0));
    simd.scale(y, power)
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
            let inverse = simd.splat(1.0 / (simd.sum(squares) / width as f32 + 1e-12).sqrt());
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

struct Attention<'a> {
    joined: &'a [f32],
    width: usize,
    tokens: usize,
    padded: usize,
    scratch: &'a mut AttentionScratch,
    out: &'a mut [f32],
}

impl Kernel for Attention<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for head in 0..self.width / HEAD {
            self.turn_keys(head);
            let mut row = 0;
            while S::ROWS == 8 && row + 8 <= self.tokens {
                self.rows::<S, 8>(simd, head, row);
                row += 8;
            }
            while row + 4 <= self.tokens {
                self.rows::<S, 4>(simd, head, row);
                row += 4;
            }
            while row < self.tokens {
                self.rows::<S, 1>(simd, head, row);
                row += 1;
            }
        }
    }
}

impl Attention<'_> {
    /// Lays one head's keys out by dimension, so that a vector holds 16 tokens.
    #[inline(always)]
    fn turn_keys(&mut self, head: usize) {
        for token in 0..self.tokens {
            let key = &self.joined[token * 3 * self.width + self.width + head * HEAD..][..HEAD];
            for (dimension, x) in key.iter().enumerate() {
                self.scratch.keys[dimension * self.padded + token] = *x;
            }
        }
    }

    /// Attention of `R` tokens from `row` on, in one head.
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, head: usize, row: usize) {
        let Self { joined, width, tokens, padded, ref mut scratch, ref mut out } = *self;
        let stride = 3 * width;
        let queries: [&[f32; HEAD]; R] = std::array::from_fn(|r| {
            let query = &joined[(row + r) * stride + head * HEAD..][..HEAD];
            query.try_into().expect("a head's length")
        });
        for at in (0..padded).step_by(LANES) {
            let mut kept = [simd.splat(0.0); R];
            for (dimension, keys) in scratch.keys.chunks_exact(padded).enumerate() {
                let keys = simd.load(vector(keys, at));
                for r in 0..R {
                    kept[r] = simd.add(kept[r], simd.mul(simd.splat(queries[r][dimension]), keys));
                }
            }
            for (r, kept) in kept.into_iter().enumerate() {
                simd.store(kept, vector_mut(&mut scratch.weights[r * padded..][..padded], at));
            }
        }
        let mut inverse = [0.0; R];
        for (r, inverse) in inverse.iter_mut().enumerate() {
            let weights = &mut scratch.weights[r * padded..][..padded];
            // The padding must not count: e^-87 times it is nothing beside the largest weight, which is 1.
            weights[tokens..].fill(f32::MIN);
            *inverse = 1.0 / soft_max(simd, weights);
        }
        let mut kept = [[simd.splat(0.0); 2]; R];
        for token in 0..tokens {
            let value = &joined[token * stride + 2 * width + head * HEAD..][..HEAD];
            let value = [simd.load(vector(value, 0)), simd.load(vector(value, LANES))];
            for (r, kept) in kept.iter_mut().enumerate() {
                let weight = simd.splat(scratch.weights[r * padded + token]);
                kept[0] = simd.add(kept[0], simd.mul(weight, value[0]));
                kept[1] = simd.add(kept[1], simd.mul(weight, value[1]));
            }
        }
        for (r, kept) in kept.into_iter().enumerate() {
            let out = &mut out[(row + r) * width + head * HEAD..][..HEAD];
            let inverse = simd.splat(inverse[r]);
            simd.store(simd.mul(kept[0], inverse), vector_mut(out, 0));
            simd.store(simd.mul(kept[1], inverse), vector_mut(out, LANES));
        }
    }
}

/// Replaces scores by e^(score - largest) and gives their sum.
#[inline(always)]
fn soft_max<S: Simd>(simd: S, scores: &mut [f32]) -> f32 {
    let (scores, _) = scores.as_chunks_mut::<LANES>();
    let mut largest = simd.splat(f32::MIN);
    for x in scores.iter() {
        largest = simd.max(largest, simd.load(x));
    }
    let largest = simd.splat(simd.largest(largest));
    let mut total = simd.splat(0.0);
    for x in scores {
        let weight = exp(simd, simd.sub(simd.load(x), largest));
        total = simd.add(total, weight);
        simd.store(weight, x);
    }
    simd.sum(total)
}

#[inline(always)]
fn vector(from: &[f32], at: usize) -> &[f32; LANES] {
    from[at..][..LANES].try_into().expect("16 floats")
}

#[inline(always)]
fn vector_mut(from: &mut [f32], at: usize) -> &mut [f32; LANES] {
    (&mut from[at..][..LANES]).try_into().expect("16 floats")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(len: usize, size: f32) -> Vec<f32> {
        (0..len).map(|i| ((i * 37 % 101) as f32 / 50.0 - 1.0) * size).collect()
    }

    /// Every instruction set gives the bits of the first.
    fn check(compute: impl Fn(Isa) -> Vec<f32>) -> Vec<f32> {
        let plain = compute(Isa::Plain);
        for isa in Isa::available() {
            assert!(plain.iter().zip(&compute(isa)).all(|(a, b)| a.to_bits() == b.to_bits()), "{isa:?}");
        }
        plain
    }

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
            layer_norm(isa, &mut rows, &gain, &shift);
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

    #[test]
    fn attention_follows_its_definition_at_odd_lengths() {
        for tokens in [1, 2, 5, 15, 17, 33] {
            let joined = wave(tokens * 3 * 64, 0.9);
            let got = check(|isa| {
                let mut out = vec![0.0; tokens * 64];
                attention(isa, &joined, 2, &mut AttentionScratch::default(), &mut out);
                out
            });
            let at = |token: usize, part: usize, i: usize| f64::from(joined[token * 192 + part * 64 + i]);
            for (i, got) in got.iter().enumerate() {
                let (token, place) = (i / 64, i % 64);
                let head = place / 32 * 32;
                let weight = |other: usize| {
                    (head..head + 32).map(|d| at(token, 0, d) * at(other, 1, d)).sum::<f64>().exp()
                };
                let total: f64 = (0..tokens).map(weight).sum();
                let expected =
                    (0..tokens).map(|other| weight(other) * at(other, 2, place)).sum::<f64>() / total;
                assert!(
                    (f64::from(*got) - expected).abs() < 1e-5,
                    "{tokens} tokens, {i}: {got}, not {expected}"
                );
            }
        }
    }
}
