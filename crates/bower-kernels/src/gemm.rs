//! Multiplies rows of bytes with packed signed-byte weights, and applies the step that follows the product.
//! The integers are exact and the floats are rounded in one order, so every instruction set gives the same bits.

use crate::cpu::Isa;
use crate::floats::{Quantized, gelu};
use crate::lanes::dispatch;
use crate::lanes::simd::{Kernel, LANES, Simd, TILE};

/// Inputs of one step: the bytes that one 32-bit lane of a dot product takes.
const STEP: usize = 4;
/// Rows of one tile at most: 6 x 64 sums fill 24 of AVX-512's 32 registers.
const ROWS: usize = 6;
/// How far ahead of its use a weight is asked for, in bytes, by the tile that reads a block first and by those after it:
/// short texts wait for memory, not for arithmetic.
const FROM_MEMORY: usize = 8192;
const FROM_CACHE: usize = 2048;
/// Vectors of one row of a tile.
const PARTS: usize = TILE / LANES;

/// Packed weights of `outputs x inputs`, borrowed from wherever they lie (a mapped file, usually).
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// `[outputs/64][inputs/4][64][4]`, in -127..=127; see [`pack`].
    values: &'a [i8],
    /// What one integer step of an output is worth.
    scales: &'a [f32],
    /// The sum of an output's values; undoes the zero points.
    sums: &'a [i32],
    /// Added to each output.
    bias: &'a [f32],
    /// Inputs of an output.
    inputs: usize,
}

/// What is done with a product before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Written as it is.
    Store,
    /// Added to what the output holds (a residual connection).
    Add,
    /// GELU (with erf) first.
    Gelu,
}

impl<'a> Weights<'a> {
    /// Views packed weights; `None` when the lengths do not fit together, or the outputs are not a multiple of 64 or the
    /// inputs of 4.
    pub fn new(values: &'a [i8], scales: &'a [f32], sums: &'a [i32], bias: &'a [f32]) -> Option<Self> {
        let outputs = scales.len();
        let inputs = values.len().checked_div(outputs)?;
        let fits = outputs.is_multiple_of(TILE)
            && inputs.is_multiple_of(STEP)
            && values.len() == outputs * inputs
            && sums.len() == outputs
            && bias.len() == outputs;
        // A longer sum could leave 32 bits: 255 * 127 * 65,536 < 2^31.
        (fits && inputs <= 1 << 16).then_some(Self { values, scales, sums, bias, inputs })
    }

    /// Outputs (columns of the product).
    pub fn outputs(&self) -> usize {
        self.scales.len()
    }

    /// Inputs (bytes of a row).
    pub fn inputs(&self) -> usize {
        self.inputs
    }
}

/// Lays row-major weights (`outputs x inputs`, -127..=127) out as the kernels read them: `[outputs/64][inputs/4][64][4]`.
///
/// # Panics
/// When the outputs are not a multiple of 64 or the inputs of 4.
pub fn pack(values: &[i8], inputs: usize) -> Vec<i8> {
    let outputs = values.len() / inputs;
    assert!(outputs * inputs == values.len() && outputs.is_multiple_of(TILE) && inputs.is_multiple_of(STEP));
    let mut packed = Vec::with_capacity(values.len());
    for block in 0..outputs / TILE {
        for step in 0..inputs / STEP {
            for output in 0..TILE {
                packed.extend_from_slice(&values[(block * TILE + output) * inputs + step * STEP..][..STEP]);
            }
        }
    }
    packed
}

/// Multiplies rows with weights: `out[r][o] = scale[r] * scales[o] * sum(bytes - zero[r], values[o]) + bias[o]`, then `then`.
/// `out` is row-major, `outputs` floats a row.
///
/// # Panics
/// When the shapes do not agree, or `isa` is not present.
pub fn multiply(isa: Isa, rows: &Quantized, weights: &Weights<'_>, then: Then, out: &mut [f32]) {
    assert_eq!(rows.width, weights.inputs, "inputs of a row and of the weights");
    assert_eq!(out.len(), rows.scales.len() * weights.outputs(), "length of the output");
    dispatch(isa, Multiply { rows, weights, then, sums: [[0; TILE]; ROWS], out });
}

struct Multiply<'a> {
    rows: &'a Quantized,
    weights: &'a Weights<'a>,
    then: Then,
    /// The sums of the tile at hand; here, so that no tile has to clear them first.
    sums: [[i32; TILE]; ROWS],
    out: &'a mut [f32],
}

impl Kernel for Multiply<'_> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let count = self.rows.scales.len();
        // Tiles of nearly equal height: 16 rows as 6, 5, 5 rather than 6, 6, 4. A block of weights (24 KB for 384
        // inputs) serves all rows before the next is read, so each weight is fetched from memory once a text.
        let tiles = count.div_ceil(ROWS);
        for block in 0..self.weights.outputs() / TILE {
            let mut row = 0;
            for tile in 0..tiles {
                let height = (count - row).div_ceil(tiles - tile);
                let ahead = if tile == 0 { FROM_MEMORY } else { FROM_CACHE };
                match height {
                    1 => self.tile::<S, 1>(simd, block, row, ahead),
                    2 => self.tile::<S, 2>(simd, block, row, ahead),
                    3 => self.tile::<S, 3>(simd, block, row, ahead),
                    4 => self.tile::<S, 4>(simd, block, row, ahead),
                    5 => self.tile::<S, 5>(simd, block, row, ahead),
                    _ => self.tile::<S, ROWS>(simd, block, row, ahead),
                }
                row += height;
            }
        }
    }
}

impl Multiply<'_> {
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(&mut self, simd: S, block: usize, row: usize, ahead: usize) {
        let Self { rows, weights, then, sums, out } = self;
        let (inputs, outputs) = (weights.inputs, weights.outputs());
        let bytes: [&[u8]; R] = std::array::from_fn(|r| &rows.bytes[(row + r) * inputs..][..inputs]);
        let values = &weights.values[block * TILE * inputs..][..TILE * inputs];
        let sums = sums.first_chunk_mut::<R>().expect("no tile is higher than ROWS");
        simd.tile(bytes, values, ahead, sums);
        let (scales, _) = weights.scales[block * TILE..][..TILE].as_chunks::<LANES>();
        let (columns, _) = weights.sums[block * TILE..][..TILE].as_chunks::<LANES>();
        let (bias, _) = weights.bias[block * TILE..][..TILE].as_chunks::<LANES>();
        for r in 0..R {
            let (sums, _) = sums[r].as_chunks::<LANES>();
            let zero = rows.zeros[row + r] - S::BYTE_ZERO;
            let scale = simd.splat(rows.scales[row + r]);
            let (out, _) = out[(row + r) * outputs + block * TILE..][..TILE].as_chunks_mut::<LANES>();
            // Four vectors at a time: GELU is one long chain of dependent steps, and four chains hide each other's waits.
            // (Loops, not closures: a closure would not be compiled with the instruction set.)
            let mut values = [scale; PARTS];
            for i in 0..PARTS {
                let x = simd.centred(&sums[i], zero, &columns[i]);
                let x = simd.mul(x, simd.mul(scale, simd.load(&scales[i])));
                values[i] = simd.add(x, simd.load(&bias[i]));
            }
            match then {
                Then::Store => {}
                Then::Add => {
                    for i in 0..PARTS {
                        values[i] = simd.add(simd.load(&out[i]), values[i]);
                    }
                }
                Then::Gelu => values = gelu(simd, values),
            }
            for i in 0..PARTS {
                simd.store(values[i], &mut out[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of bytes that needs no crate (splitmix64).
    fn bytes(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                (z >> 40) as u8
            })
            .collect()
    }

    /// One product by the definition, in 64-bit integers, against every instruction set.
    fn check(count: usize, inputs: usize, outputs: usize, extreme: bool) {
        let seed = (count * 31 + inputs) as u64;
        let raw = if extreme { vec![255; count * inputs] } else { bytes(seed, count * inputs) };
        let values: Vec<i8> = if extreme {
            (0..outputs * inputs).map(|i| if (i / inputs).is_multiple_of(2) { 127 } else { -127 }).collect()
        } else {
            bytes(seed + 1, outputs * inputs).iter().map(|b| (*b as i8).max(-127)).collect()
        };
        let rows = Quantized {
            bytes: raw.clone(),
            scales: (0..count).map(|r| 0.01 + r as f32 * 0.003).collect(),
            zeros: (0..count).map(|r| (r * 37 % 256) as i32).collect(),
            width: inputs,
        };
        let scales: Vec<f32> = (0..outputs).map(|o| 0.001 + o as f32 * 1e-5).collect();
        let bias: Vec<f32> = (0..outputs).map(|o| o as f32 - 30.0).collect();
        let sums: Vec<i32> = values.chunks(inputs).map(|w| w.iter().map(|x| i32::from(*x)).sum()).collect();
        let packed = pack(&values, inputs);
        let weights = Weights::new(&packed, &scales, &sums, &bias).unwrap();
        let mut expected = Vec::new();
        for r in 0..count {
            for o in 0..outputs {
                let dot: i64 = (0..inputs)
                    .map(|k| {
                        let byte = i64::from(raw[r * inputs + k]) - i64::from(rows.zeros[r]);
                        byte * i64::from(values[o * inputs + k])
                    })
                    .sum();
                expected.push(dot as f32 * (rows.scales[r] * scales[o]) + bias[o]);
            }
        }
        for isa in Isa::available() {
            let mut out = vec![0.0; count * outputs];
            multiply(isa, &rows, &weights, Then::Store, &mut out);
            assert_eq!(out, expected, "{isa:?} {count} x {inputs} x {outputs}");
            multiply(isa, &rows, &weights, Then::Add, &mut out);
            let twice: Vec<f32> = expected.iter().map(|x| x + x).collect();
            assert_eq!(out, twice, "{isa:?} added");
        }
    }

    #[test]
    fn products_equal_the_definition_at_odd_heights_and_widths() {
        for (count, inputs) in [(1, 4), (2, 12), (3, 384), (5, 516), (7, 1536), (13, 388), (17, 64)] {
            check(count, inputs, 128, false);
        }
        check(4, 1540, 64, true);
    }

    #[test]
    fn no_rows_are_no_work_and_wrong_lengths_are_refused() {
        check(0, 8, 64, false);
        assert!(Weights::new(&[0; 64], &[0.0; 16], &[0; 16], &[0.0; 16]).is_none());
        assert!(Weights::new(&[], &[], &[], &[]).is_none());
        assert!(Weights::new(&[0; 256], &[0.0; 64], &[0; 63], &[0.0; 64]).is_none());
    }
}
