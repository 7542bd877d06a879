//! Computes the self-attention of a transformer in 16-bit integers.
//! Products and weights are exact integers, and the floats between them are rounded in one order, so every instruction set gives
//! the same bits.

use crate::cpu::Isa;
use crate::floats::SMALLEST_STEP;
use crate::lanes::dispatch;
use crate::lanes::simd::{Kernel, LANES, MAGIC, Simd};

/// Numbers that an attention head may have.
pub const HEAD_SIZES: [usize; 3] = [16, 32, 64];
/// Pairs in one vector of numbers: a 32-bit lane multiplies and adds two 16-bit numbers at once.
const PAIRS: usize = LANES / 2;
/// Largest value: the weights of a row come to less than 2^21 + 2^15, and times this to less than 2^31.
const LARGEST_VALUE: f32 = 950.0;
/// Binary logarithm of what all weights of a row come to at most (but for their rounding), and of what one does.
const ALL_WEIGHTS: u32 = 21;
const ONE_WEIGHT: u32 = 14;
/// Most tokens of a text; with more, the weights' rounding could overflow the sums.
const MOST_TOKENS: usize = 1 << 16;
/// 2^x on -0.5..=0.5, lowest power first: the minimax polynomial of degree 4 for the relative error (Lawson's iteration at
/// 2,000 nodes in float64), which is 2.6e-6.
const POWER: [f32; 5] = [0.999_999_3, 0.693_121_8, 0.240_247_45, 0.055_917_86, 0.009_570_1];

/// The heads of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// How many.
    pub count: usize,
    /// Numbers of each, one of [`HEAD_SIZES`].
    pub size: usize,
}

/// Stands where there is no query of 32 numbers.
static NO_QUERY: [[i16; 2]; 2 * PAIRS] = [[0; 2]; 2 * PAIRS];

/// Buffers of [`attention`], reused from one call to the next. All of one head.
#[derive(Clone, Debug, Default)]
pub struct AttentionScratch {
    /// `[tokens][size / 2]`.
    queries: Vec<[i16; 2]>,
    /// Laid out by dimension, so that a vector holds 16 tokens: `[size / 2][tokens rounded up to 16]`.
    keys: Vec<[i16; 2]>,
    /// Two tokens side by side: `[tokens rounded up to 16, halved][size]`.
    values: Vec<[i16; 2]>,
    /// Scores of up to 8 query rows, `[8][tokens rounded up to 16]`.
    scores: Vec<f32>,
    /// The scores' weights, two tokens side by side.
    weights: Vec<[i16; 2]>,
}

/// Self-attention over one text. `joined` holds a row for each token: queries (already divided by the root of a head's
/// size), keys and values, `count * size` finite floats each; `out` gets `count * size` floats a token. Queries and keys are
/// rounded to 8,191 steps of the largest of their head (11,584 for heads of 16, 5,792 for heads of 64), values to 950, and
/// weights to 16,384 steps of the row's largest (half of that for each doubling of 128 tokens).
///
/// # Panics
/// When the lengths do not agree, the size is none of [`HEAD_SIZES`], a text has more than 65,536 tokens, or `isa` is not
/// present.
pub fn attention(isa: Isa, joined: &[f32], heads: Heads, scratch: &mut AttentionScratch, out: &mut [f32]) {
    let width = heads.count * heads.size;
    assert!(
        width > 0 && out.len().is_multiple_of(width) && joined.len() == 3 * out.len(),
        "lengths of attention"
    );
    let tokens = out.len() / width;
    assert!(tokens <= MOST_TOKENS, "a text of {tokens} tokens");
    let padded = tokens.next_multiple_of(LANES);
    scratch.queries.resize(tokens * heads.size / 2, [0; 2]);
    scratch.keys.resize(heads.size / 2 * padded, [0; 2]);
    scratch.values.resize(padded / 2 * heads.size, [0; 2]);
    scratch.scores.resize(8 * padded, 0.0);
    scratch.weights.resize(8 * padded / 2, [0; 2]);
    match heads.size {
        16 => dispatch(isa, Attention::<1> { joined, width, tokens, padded, scratch, out }),
        32 => dispatch(isa, Attention::<2> { joined, width, tokens, padded, scratch, out }),
        64 => dispatch(isa, Attention::<4> { joined, width, tokens, padded, scratch, out }),
        size => panic!("a head of {size} numbers"),
    }
}

/// Heads of `VECTORS` times 16 numbers.
struct Attention<'a, const VECTORS: usize> {
    joined: &'a [f32],
    width: usize,
    tokens: usize,
    padded: usize,
    scratch: &'a mut AttentionScratch,
    out: &'a mut [f32],
}

/// What one step of a head's integers is worth.
#[derive(Clone, Copy)]
struct Steps {
    /// Of a score, in powers of two.
    score: f32,
    value: f32,
}

impl<const VECTORS: usize> Kernel for Attention<'_, VECTORS> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for head in 0..self.width / Self::HEAD {
            let steps = self.round(simd, head);
            let mut row = 0;
            // Eight rows of the largest heads would not fit the registers.
            while S::ROWS == 8 && VECTORS <= 2 && row + 8 <= self.tokens {
                self.rows::<S, 8>(simd, head, row, steps);
                row += 8;
            }
            while row + 4 <= self.tokens {
                self.rows::<S, 4>(simd, head, row, steps);
                row += 4;
            }
            while row < self.tokens {
                self.rows::<S, 1>(simd, head, row, steps);
                row += 1;
            }
        }
    }
}

impl<const VECTORS: usize> Attention<'_, VECTORS> {
    /// Numbers of one head.
    const HEAD: usize = VECTORS * LANES;
    /// Largest query or key: 16 * 11,584^2, 32 * 8,191^2 and 64 * 5,792^2 are less than 2^31.
    const LARGEST_FACTOR: f32 = match VECTORS {
        1 => 11_584.0,
        2 => 8_191.0,
        _ => 5_792.0,
    };

    /// The largest size of one head's queries (part 0), keys (1) or values (2).
    #[inline(always)]
    fn largest<S: Simd>(&self, simd: S, head: usize, part: usize) -> f32 {
        let zero = simd.splat(0.0);
        let mut largest = zero;
        for row in self.joined.chunks_exact(3 * self.width) {
            let (vectors, _) =
                row[part * self.width + head * Self::HEAD..][..Self::HEAD].as_chunks::<LANES>();
            for x in vectors {
                let x = simd.load(x);
                largest = simd.max(largest, simd.max(x, simd.sub(zero, x)));
            }
        }
        simd.largest(largest)
    }

    /// Rounds one head to integers, laid out as the products read them.
    #[inline(always)]
    fn round<S: Simd>(&mut self, simd: S, head: usize) -> Steps {
        let query = (self.largest(simd, head, 0) / Self::LARGEST_FACTOR).max(SMALLEST_STEP);
        let key = (self.largest(simd, head, 1) / Self::LARGEST_FACTOR).max(SMALLEST_STEP);
        let value = (self.largest(simd, head, 2) / LARGEST_VALUE).max(SMALLEST_STEP);
        let inverse = [1.0 / query, 1.0 / key, 1.0 / value];
        let Self { joined, width, tokens, padded, ref mut scratch, .. } = *self;
        for (token, row) in joined.chunks_exact(3 * width).enumerate() {
            let mut words = [[[0_i16; LANES]; VECTORS]; 2];
            for part in 0..2 {
                let (vectors, _) = row[part * width + head * Self::HEAD..][..Self::HEAD].as_chunks::<LANES>();
                for i in 0..VECTORS {
                    simd.store_words(
                        simd.mul(simd.load(&vectors[i]), simd.splat(inverse[part])),
                        &mut words[part][i],
                    );
                }
            }
            let (queries, _) = words[0].as_flattened().as_chunks::<2>();
            scratch.queries[token * Self::HEAD / 2..][..Self::HEAD / 2].copy_from_slice(queries);
            let (keys, _) = words[1].as_flattened().as_chunks::<2>();
            for (pair, key) in keys.iter().enumerate() {
                scratch.keys[pair * padded + token] = *key;
            }
        }
        let step = simd.splat(inverse[2]);
        let (to, _) = scratch.values.as_chunks_mut::<LANES>();
        for pair in 0..tokens.div_ceil(2) {
            for part in 0..VECTORS {
                let at = 2 * width + head * Self::HEAD + part * LANES;
                let first = joined[2 * pair * 3 * width + at..].first_chunk().expect("a row's values");
                // The last token of an odd number stands alone.
                let mut second = simd.splat(0.0);
                if 2 * pair + 1 < tokens {
                    second =
                        simd.load(joined[(2 * pair + 1) * 3 * width + at..].first_chunk().expect("as above"));
                }
                let (first, second) = (simd.mul(simd.load(first), step), simd.mul(second, step));
                simd.store_pairs(first, second, &mut to[pair * VECTORS + part]);
            }
        }
        Steps { score: query * key * std::f32::consts::LOG2_E, value }
    }

    /// Attention of `R` tokens from `row` on, in one head.
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, head: usize, row: usize, steps: Steps) {
        let Self { width, tokens, padded, ref mut scratch, ref mut out, .. } = *self;
        let AttentionScratch { queries, keys, values, scores, weights } = &mut **scratch;
        // The same queries as one array each; the places of shorter heads are not used.
        let firsts: [&[[i16; 2]; 2 * PAIRS]; R] = std::array::from_fn(|r| {
            let from = if VECTORS == 2 { (row + r) * 2 * PAIRS } else { 0 };
            queries[from..].first_chunk().unwrap_or(&NO_QUERY)
        });
        let (queries, _) = queries.as_chunks::<PAIRS>();
        let queries: [&[[[i16; 2]; PAIRS]; VECTORS]; R] = std::array::from_fn(|r| {
            queries[(row + r) * VECTORS..].first_chunk().expect("a query for each token")
        });
        for at in (0..padded).step_by(LANES) {
            let mut kept = [simd.no_sums(); R];
            // Written out for heads of 32, which most models have: deeper loops are not unrolled, and then the sums live in
            // memory (a quarter slower at 256 tokens).
            if VECTORS == 2 {
                for pair in 0..2 * PAIRS {
                    let keys = sixteen(&keys[pair * padded + at..]);
                    for r in 0..R {
                        kept[r] = simd.dot_pairs(kept[r], firsts[r][pair], keys);
                    }
                }
            } else {
                for part in 0..VECTORS {
                    for pair in 0..PAIRS {
                        let keys = sixteen(&keys[(part * PAIRS + pair) * padded + at..]);
                        for r in 0..R {
                            kept[r] = simd.dot_pairs(kept[r], queries[r][part][pair], keys);
                        }
                    }
                }
            }
            for r in 0..R {
                let score = simd.mul(simd.floats_of(kept[r]), simd.splat(steps.score));
                let to = scores[r * padded + at..].first_chunk_mut().expect("scores of 16 tokens");
                simd.store(score, to);
            }
        }
        let mut scale = [0.0; R];
        for r in 0..R {
            let scores = &mut scores[r * padded..][..padded];
            // The padding must not count: its weight rounds to 0.
            scores[tokens..].fill(f32::MIN);
            let weights = weights[r * padded / 2..][..padded / 2].as_flattened_mut();
            scale[r] = steps.value / soft_max(simd, scores, weights);
        }
        let pairs = padded / 2;
        // Slices of one known length, so that nothing is checked in the loop.
        let weights: [&[[i16; 2]]; R] = std::array::from_fn(|r| &weights[r * pairs..][..pairs]);
        let values = &values[..pairs * Self::HEAD];
        if S::ROWS == 8 && VECTORS == 2 {
            let mut kept = [[simd.no_sums(); 2]; R];
            for pair in 0..pairs {
                let low = sixteen(&values[pair * Self::HEAD..]);
                let high = sixteen(&values[pair * Self::HEAD + LANES..]);
                for r in 0..R {
                    kept[r][0] = simd.dot_pairs(kept[r][0], weights[r][pair], low);
                    kept[r][1] = simd.dot_pairs(kept[r][1], weights[r][pair], high);
                }
            }
            for r in 0..R {
                for part in 0..2 {
                    let to = &mut out[(row + r) * width + head * Self::HEAD + part * LANES..];
                    let to = to.first_chunk_mut().expect("a vector of a head");
                    simd.store(simd.mul(simd.floats_of(kept[r][part]), simd.splat(scale[r])), to);
                }
            }
            return;
        }
        // A part at a time: all would not fit the registers.
        for part in 0..VECTORS {
            let mut kept = [simd.no_sums(); R];
            for pair in 0..pairs {
                let values = sixteen(&values[pair * Self::HEAD + part * LANES..]);
                for r in 0..R {
                    kept[r] = simd.dot_pairs(kept[r], weights[r][pair], values);
                }
            }
            for r in 0..R {
                let to = &mut out[(row + r) * width + head * Self::HEAD + part * LANES..];
                let to = to.first_chunk_mut().expect("a vector of a head");
                simd.store(simd.mul(simd.floats_of(kept[r]), simd.splat(scale[r])), to);
            }
        }
    }
}

/// Rounds 2^(score - largest), times a power of two that suits their number, to `weights`; gives their sum, at least 1.
#[inline(always)]
fn soft_max<S: Simd>(simd: S, scores: &[f32], weights: &mut [i16]) -> f32 {
    let (scores, _) = scores.as_chunks::<LANES>();
    let (weights, _) = weights.as_chunks_mut::<LANES>();
    let mut largest = simd.splat(f32::MIN);
    for x in scores {
        largest = simd.max(largest, simd.load(x));
    }
    let size = (ALL_WEIGHTS - (scores.len() * LANES).next_power_of_two().ilog2()).min(ONE_WEIGHT);
    let shift = simd.splat(size as f32 - simd.largest(largest));
    let magic = simd.splat(MAGIC);
    let mut total = simd.splat(0.0);
    for (x, weight) in scores.iter().zip(weights) {
        // Far below one half, which rounds to 0, and within the powers that a float has.
        let x = simd.max(simd.add(simd.load(x), shift), simd.splat(-20.0));
        let power = simd.add(x, magic);
        let rest = simd.sub(x, simd.sub(power, magic));
        let mut y = simd.splat(POWER[4]);
        for power in POWER[..4].iter().rev() {
            y = simd.add(simd.mul(y, rest), simd.splat(*power));
        }
        let y = simd.scale(y, power);
        // Whole numbers, and all of them below 2^22: their sum is exact in any order.
        total = simd.add(total, simd.sub(simd.add(y, magic), magic));
        simd.store_words(y, weight);
    }
    simd.sum(total)
}

#[inline(always)]
fn sixteen(pairs: &[[i16; 2]]) -> &[[i16; 2]; LANES] {
    pairs.first_chunk().expect("16 pairs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floats::testing::{check, wave};

    #[test]
    fn attention_follows_its_definition_at_odd_lengths_and_every_size_of_head() {
        for (tokens, size) in
            HEAD_SIZES.iter().flat_map(|size| [1, 2, 5, 15, 17, 33, 130].map(|n| (n, *size)))
        {
            let joined = wave(tokens * 3 * 64, 0.9);
            let heads = Heads { count: 64 / size, size };
            let got = check(|isa| {
                let mut out = vec![0.0; tokens * 64];
                attention(isa, &joined, heads, &mut AttentionScratch::default(), &mut out);
                out
            });
            let at = |token: usize, part: usize, i: usize| f64::from(joined[token * 192 + part * 64 + i]);
            for (i, got) in got.iter().enumerate() {
                let (token, place) = (i / 64, i % 64);
                let head = place / size * size;
                let weight = |other: usize| {
                    (head..head + size).map(|d| at(token, 0, d) * at(other, 1, d)).sum::<f64>().exp()
                };
                let total: f64 = (0..tokens).map(weight).sum();
                let expected =
                    (0..tokens).map(|other| weight(other) * at(other, 2, place)).sum::<f64>() / total;
                assert!(
                    (f64::from(*got) - expected).abs() < 1e-3,
                    "{tokens} tokens, heads of {size}, {i}: {got}, not {expected}"
                );
            }
        }
    }

    /// The largest sums: equal scores of the largest factors, and equal values of the largest size.
    #[test]
    fn no_sum_leaves_32_bits() {
        for (tokens, size) in HEAD_SIZES.iter().flat_map(|size| [1, 3, 64, 513].map(|n| (n, *size))) {
            let got = check(|isa| {
                let mut out = vec![0.0; tokens * size];
                let joined = vec![-2.5; tokens * 3 * size];
                attention(isa, &joined, Heads { count: 1, size }, &mut AttentionScratch::default(), &mut out);
                out
            });
            assert!(
                got.iter().all(|x| (x + 2.5).abs() < 1e-5),
                "{tokens} tokens, heads of {size}: {}",
                got[0]
            );
        }
    }

    #[test]
    fn what_an_earlier_text_left_behind_does_not_count() {
        let mut scratch = AttentionScratch::default();
        let long = wave(40 * 3 * 64, 2.0);
        let short = wave(7 * 3 * 32, 1.0);
        let (large, small) = (Heads { count: 1, size: 64 }, Heads { count: 2, size: 16 });
        for isa in Isa::available() {
            let mut out = vec![0.0; 40 * 64];
            attention(isa, &long, large, &mut scratch, &mut out);
            let (mut again, mut fresh) = (vec![0.0; 7 * 32], vec![0.0; 7 * 32]);
            attention(isa, &short, small, &mut scratch, &mut again);
            attention(isa, &short, small, &mut AttentionScratch::default(), &mut fresh);
            assert_eq!(again, fresh, "{isa:?}");
        }
    }
}
