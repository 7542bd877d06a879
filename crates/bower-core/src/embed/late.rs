//! Token codes for late interaction: 64 signs for each token of a row, 64 signed bytes for each of a question.
//! The axes are fixed by the scheme, so a code is a function of model and text, and codes of one scheme can always be compared.
//!
//! Punctuation is left out on both sides (`ColBERT` drops it from documents), unless a window has nothing else. Without
//! it nDCG@10 of the default profile over six labelled sets rose from .6110 to .6117 (numpy; no set lost more than
//! .002). 10 % (abstracts) to 43 % (code) of the tokens then need no code. Dropped from documents alone it is .6118.
//! With function words dropped too it is .6118, but .005 lower on notes.
//!
//! `tools/late_axes.py` made `late.bin` from documentation, dictionaries, quotations and source code. It contains 64
//! random directions of the first 128 principal axes of the unit-length last-layer states (so signs lose the same on
//! each). It also contains the rarity of each word piece, 0 for punctuation. With a store's own 64 axes and
//! frequencies, `MaxSim` alone was better by .002 (conversations) to .010 (abstracts, code) nDCG@10. But then no code
//! could exist before the store does, and all would be made again when it changes.

use std::sync::OnceLock;

use bower_kernels::Isa;
use bower_kernels::scan::maxsim::{DIMENSION, MaxSimToken};
use bower_kernels::scan::project::{Projection, code};

use super::pack::SHAPE;

const HIDDEN: usize = SHAPE.hidden;

/// The identity of codes and question tokens: the model, its arithmetic, and this scheme. Raise the last number
/// whenever a code could not be compared any more with earlier ones. Storing fewer of the same codes is not another
/// scheme.
pub const TOKENS_IDENTITY: &str = "all-MiniLM-L6-v2.i8-2.t2";

/// Number of word pieces in the model's vocabulary.
const PIECES: usize = 30_522;

/// Value of one step in the table of weights.
const WEIGHT_STEP: f32 = 1.0 / 16.0;

/// Axes (384 x 64 signed bytes), the value of one step of each, their shifts, and a weight per piece.
static FILE: &[u8; HIDDEN * DIMENSION + 8 * DIMENSION + PIECES] = include_bytes!("late.bin");

/// Divisor of scores: a unit vector's dot product with 64 signs is at most 8, so scores stay within -1..=1.
const SIGNS_LENGTH: f32 = 8.0;

/// Most bits by which a dropped code differs from an earlier code of its text.
const NEAR: u32 = 8;

/// Number of earlier codes with which a code is compared.
const REACH: usize = 2_048;

/// Returns the codes of a text without near-duplicates: each returned code differs from all earlier ones in more than
/// eight bits. A question token's best match is a sum of 64 numbers with signs. It loses at most twice the eight
/// largest.
///
/// The share of codes of 4,000 passages of documentation that is dropped, and nDCG@10 of the default profile, by the
/// number of bits. At 0 only equal codes are dropped, which changes no score:
///
/// | bits | 0 | 2 | 3 | 4 | 6 | 8 |
/// |---|---|---|---|---|---|---|
/// | dropped, % | .4 | 5.2 | 9.7 | 15.1 | 25.9 | 35.0 |
/// | locomo | .6087 | .6087 | .6087 | .6090 | .6088 | .6089 |
/// | locomo-session | .8512 | .8513 | .8511 | .8506 | .8512 | .8512 |
/// | scifact-train | .7475 | .7472 | .7466 | .7471 | .7468 | .7475 |
/// | cranfield | .5793 | .5788 | .5791 | .5806 | .5782 | .5774 |
/// | cosqa-dev | .6125 | .6126 | .6126 | .6135 | .6126 | .6144 |
/// | vault | .2818 | .2818 | .2814 | .2815 | .2820 | .2820 |
/// | mean | .6135 | .6134 | .6133 | .6137 | .6133 | .6136 |
///
/// A text of 120 codes takes 6 microseconds, its pass of the model 9,000. A code is compared with at most the last
/// [`REACH`] that were kept, so that a megabyte takes no longer per code.
pub fn distinct_codes(mut codes: Vec<u64>) -> Vec<u64> {
    let mut kept: usize = 0;
    for at in 0..codes.len() {
        let code = codes[at];
        // Without an early exit the bits of several codes are counted at once.
        let least = codes[kept.saturating_sub(REACH)..kept]
            .iter()
            .map(|before| (before ^ code).count_ones())
            .fold(u32::MAX, u32::min);
        if least > NEAR {
            codes[kept] = code;
            kept += 1;
        }
    }
    codes.truncate(kept);
    codes
}

fn axes() -> &'static Projection {
    static AXES: OnceLock<Projection> = OnceLock::new();
    AXES.get_or_init(|| {
        let (values, rest) = FILE.split_at(HIDDEN * DIMENSION);
        let floats = |bytes: &[u8]| -> [f32; DIMENSION] {
            let (numbers, _) = bytes.as_chunks::<4>();
            std::array::from_fn(|at| f32::from_le_bytes(numbers[at]))
        };
        let (steps, shift) = (floats(rest), floats(&rest[4 * DIMENSION..]));
        let column = |bytes: &[u8; DIMENSION]| {
            std::array::from_fn(|axis| f32::from(bytes[axis].cast_signed()) * steps[axis])
        };
        Projection::new(values.as_chunks::<DIMENSION>().0.iter().map(column).collect(), shift)
    })
}

/// Returns a piece's weight in a question: the logarithm of its rarity; 0 for punctuation and for pieces that the table lacks.
fn weight(piece: u32) -> f32 {
    let weights = &FILE[HIDDEN * DIMENSION + 8 * DIMENSION..];
    weights.get(piece as usize).map_or(0.0, |byte| f32::from(*byte) * WEIGHT_STEP)
}

/// Returns the weight of each piece of a window; `None` for those that are left out. If all would be, all have equal weights.
fn weights(pieces: &[u32]) -> impl Iterator<Item = Option<f32>> + '_ {
    let has_words = pieces.iter().any(|&piece| weight(piece) > 0.0);
    pieces.iter().map(move |&piece| match weight(piece) {
        weight if weight > 0.0 => Some(weight),
        _ if has_words => None,
        _ => Some(1.0),
    })
}

/// Turns token states into codes and question tokens; reuses its buffer.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    projected: Vec<[f32; DIMENSION]>,
}

impl Tokens {
    /// Appends the codes of a row's window, one for each token that is not left out. `states` has 384 numbers per piece.
    pub(super) fn codes(&mut self, isa: Isa, pieces: &[u32], states: &[f32], codes: &mut Vec<u64>) {
        axes().apply(isa, states, &mut self.projected);
        let parts = weights(pieces).zip(&self.projected);
        codes.extend(parts.filter_map(|(weight, values)| weight.map(|_| code(values))));
    }

    /// Appends the tokens of a question's window that are not left out, at unit length after projection.
    pub(super) fn question(&mut self, isa: Isa, pieces: &[u32], states: &[f32], to: &mut Vec<MaxSimToken>) {
        axes().apply(isa, states, &mut self.projected);
        let parts = weights(pieces).zip(&self.projected);
        to.extend(parts.filter_map(|(weight, values)| Some(quantise(values, weight?))));
    }
}

/// Quantises a projected token to 8 bits; one without direction has weight 0.
fn quantise(values: &[f32; DIMENSION], weight: f32) -> MaxSimToken {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    let largest = values.iter().fold(0f32, |most, value| most.max(value.abs()));
    if !length.is_finite() || largest == 0.0 {
        return MaxSimToken { values: [0; DIMENSION], step: 0.0, weight };
    }
    let to_byte = 127.0 / largest;
    MaxSimToken {
        values: values.map(|value| (value * to_byte).round().clamp(-127.0, 127.0) as i8),
        step: largest / (127.0 * length * SIGNS_LENGTH),
        weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_quantised_at_unit_length() {
        // (3, -4, 0 …): length 5, largest 4.
        let mut values = [0.0; DIMENSION];
        (values[0], values[1]) = (3.0, -4.0);
        let token = quantise(&values, 2.0);
        assert_eq!((token.values[..3].to_vec(), token.weight), (vec![95, -127, 0], 2.0));
        // Against matching signs: (3 + 4) / 5 / 8.
        let dot: f32 = token.values.iter().map(|value| f32::from(value.abs())).sum();
        assert!((dot * token.step - 7.0 / 40.0).abs() < 1e-3);
        for values in [[0.0; DIMENSION], [f32::NAN; DIMENSION], [f32::INFINITY; DIMENSION]] {
            let token = quantise(&values, 1.0);
            assert_eq!((token.values, token.step.to_bits()), ([0; DIMENSION], 0));
        }
    }

    #[test]
    fn a_code_that_says_nothing_new_is_not_kept() {
        let all = u64::MAX;
        assert!(distinct_codes(Vec::new()).is_empty());
        assert_eq!(distinct_codes(vec![0, 0xff, 0, 0x1ff, 1 << 63]), [0, 0x1ff]);
        // A code near a dropped code need not be near a kept one: 0xffff is eight bits from 0xff, which was dropped.
        let codes = vec![0, 0xff, 0xffff, all, all << 8, all << 9];
        assert_eq!(distinct_codes(codes), [0, 0xffff, all, all << 9]);
        // Filtering kept codes again keeps all of them, and every code is near a kept one.
        let mut state = 7u64;
        let given: Vec<u64> = (0..300)
            .map(|at| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Twenty centres, up to seven bits flipped.
                (0..state >> 61).fold((at % 20 + 1_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), |code, flip| {
                    code ^ 1 << (state.rotate_right(7 * flip as u32) & 63)
                })
            })
            .collect();
        let kept = distinct_codes(given.clone());
        assert!((20..200).contains(&kept.len()), "{}", kept.len());
        assert_eq!(distinct_codes(kept.clone()), kept);
        for code in given {
            assert!(kept.iter().any(|kept| (kept ^ code).count_ones() <= 8));
        }
    }

    #[test]
    fn codes_are_the_signs_of_centred_unit_states_on_the_axes() {
        // Reads the file in a second way: in float64, one axis at a time.
        let float = |at: usize| f64::from(f32::from_le_bytes(FILE[at..at + 4].try_into().unwrap()));
        let base = HIDDEN * DIMENSION;
        let mut state = vec![0f32; 2 * HIDDEN];
        for (at, value) in state.iter_mut().enumerate() {
            *value = ((at * 7_919 % 1_000) as f32 - 480.0) / 100.0;
        }
        let mut codes = Vec::new();
        Tokens::default().codes(Isa::best(), &[ZEBRA, ZEBRA], &state, &mut codes);
        assert_eq!(codes.len(), 2);
        for (row, code) in state.chunks_exact(HIDDEN).zip(codes) {
            let length = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            for axis in 0..DIMENSION {
                let part = |input: usize| f64::from(FILE[input * DIMENSION + axis].cast_signed());
                let dot: f64 = (0..HIDDEN).map(|input| f64::from(row[input]) * part(input)).sum();
                let value = dot * float(base + 4 * axis) / length + float(base + 4 * DIMENSION + 4 * axis);
                assert!(value.abs() < 1e-6 || (value > 0.0) == (code >> axis & 1 == 1), "{axis} {value}");
            }
        }
    }

    /// "zebra", "the" and "." in the model's vocabulary; 999,999 is no piece.
    const ZEBRA: u32 = 29_145;
    const THE: u32 = 1_996;
    const POINT: u32 = 1_012;

    #[test]
    fn rare_pieces_weigh_more_than_common_ones_and_punctuation_nothing() {
        assert!(weight(ZEBRA) > 2.0 * weight(THE), "{} {}", weight(ZEBRA), weight(THE));
        assert!(weight(THE) > 0.0);
        assert_eq!([POINT, 999_999].map(|piece| weight(piece).to_bits()), [0; 2]);
    }

    #[test]
    fn punctuation_takes_part_only_where_there_is_nothing_else() {
        let parts = |pieces: &[u32]| weights(pieces).map(|weight| weight.is_some()).collect::<Vec<_>>();
        assert_eq!(parts(&[POINT, ZEBRA, THE, POINT]), [false, true, true, false]);
        assert_eq!(weights(&[POINT, POINT]).collect::<Vec<_>>(), [Some(1.0), Some(1.0)]);
        assert_eq!(parts(&[]), [false; 0]);
        let (mut codes, mut tokens) = (Vec::new(), Vec::new());
        let mut states = vec![0.5; 3 * HIDDEN];
        states[HIDDEN..2 * HIDDEN].fill(-0.25);
        states[HIDDEN] = 3.0;
        let isa = Isa::best();
        Tokens::default().codes(isa, &[POINT, ZEBRA, POINT], &states, &mut codes);
        Tokens::default().codes(isa, &[ZEBRA], &states[HIDDEN..2 * HIDDEN], &mut codes);
        assert_eq!((codes.len(), codes[0]), (2, codes[1]), "the code is that of the middle state");
        Tokens::default().question(isa, &[POINT, ZEBRA, POINT], &states, &mut tokens);
        assert_eq!((tokens.len(), tokens[0].weight.to_bits()), (1, weight(ZEBRA).to_bits()));
    }
}
