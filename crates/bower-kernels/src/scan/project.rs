//! Projects rows of floats onto 64 axes, which makes a token's state a code.
//! Every path gives the same bits: one order of sums, no fusing.

use super::maxsim::DIMENSION;
use crate::Isa;

/// Sums of squares that run side by side.
const LANES: usize = 16;

/// Axes and where they start.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// For each input number its part of every axis.
    columns: Vec<[f32; DIMENSION]>,
    /// Added after projecting: the projection of the centre, negated.
    shift: [f32; DIMENSION],
}

impl Projection {
    /// A projection of as many inputs as `columns`, a multiple of 16.
    pub fn new(columns: Vec<[f32; DIMENSION]>, shift: [f32; DIMENSION]) -> Self {
        assert!(columns.len().is_multiple_of(LANES) && !columns.is_empty(), "inputs in sixteens");
        Self { columns, shift }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Scales each row (their lengths are [`Projection::width`]) to unit length and projects it; a row without direction
    /// gives numbers that are not finite.
    pub fn apply(&self, isa: Isa, rows: &[f32], out: &mut Vec<[f32; DIMENSION]>) {
        assert!(rows.len().is_multiple_of(self.width()), "whole rows");
        out.clear();
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if isa.is_present() => {
                // SAFETY: the instructions are present, as just asked.
                unsafe { self.apply_avx512(rows, out) }
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if isa.is_present() => {
                // SAFETY: as above.
                unsafe { self.apply_avx2(rows, out) }
            }
            Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => self.apply_plain(rows, out),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn apply_avx512(&self, rows: &[f32], out: &mut Vec<[f32; DIMENSION]>) {
        self.apply_plain(rows, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, rows: &[f32], out: &mut Vec<[f32; DIMENSION]>) {
        self.apply_plain(rows, out);
    }

    /// Plain Rust that the compiler widens to what its caller enables.
    #[inline(always)]
    fn apply_plain(&self, rows: &[f32], out: &mut Vec<[f32; DIMENSION]>) {
        for row in rows.chunks_exact(self.width()) {
            let mut squares = [0f32; LANES];
            for sixteen in row.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    squares[lane] += sixteen[lane] * sixteen[lane];
                }
            }
            let scale = 1.0 / squares.iter().sum::<f32>().sqrt();
            let mut sums = [0f32; DIMENSION];
            for (value, column) in row.iter().zip(&self.columns) {
                for axis in 0..DIMENSION {
                    sums[axis] += value * column[axis];
                }
            }
            for (sum, shift) in sums.iter_mut().zip(&self.shift) {
                *sum = *sum * scale + shift;
            }
            out.push(sums);
        }
    }
}

/// The signs of a projected row: bit `i` is set where number `i` is above 0.
pub fn code(values: &[f32; DIMENSION]) -> u64 {
    values.iter().enumerate().fold(0, |code, (at, value)| code | u64::from(*value > 0.0) << at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    #[test]
    fn one_by_hand() {
        // Axis 0 is input 0, axis 63 the difference of inputs 1 and 2; the row (3, 4, 0 …) has length 5.
        let mut columns = vec![[0.0; DIMENSION]; 16];
        (columns[0][0], columns[1][63], columns[2][63]) = (1.0, 1.0, -1.0);
        let mut shift = [0.0; DIMENSION];
        (shift[0], shift[63]) = (-0.5, -0.9);
        let mut row = vec![0.0; 16];
        (row[0], row[1]) = (3.0, 4.0);
        let mut out = Vec::new();
        Projection::new(columns, shift).apply(Isa::best(), &row, &mut out);
        assert!((out[0][0] - 0.1).abs() < 1e-6 && (out[0][63] + 0.1).abs() < 1e-6, "{:?}", out[0]);
        assert_eq!(code(&out[0]), 1);
    }

    #[test]
    fn every_path_gives_the_same_bits_and_the_definition() {
        let mut dice = Dice(31);
        for (width, count) in [(16, 1), (384, 7), (400, 0), (768, 3)] {
            let columns: Vec<[f32; DIMENSION]> =
                (0..width).map(|_| std::array::from_fn(|_| dice.float())).collect();
            let projection = Projection::new(columns.clone(), std::array::from_fn(|_| dice.float()));
            let rows: Vec<f32> = (0..width * count).map(|_| dice.float()).collect();
            let run = |isa| {
                let mut out = vec![[9.0; DIMENSION]];
                projection.apply(isa, &rows, &mut out);
                out.into_iter().map(|row| row.map(f32::to_bits)).collect::<Vec<_>>()
            };
            let plain = run(Isa::Plain);
            assert_eq!(plain.len(), count);
            for isa in Isa::available() {
                assert_eq!(run(isa), plain, "{isa:?} {width}");
            }
            for (row, got) in rows.chunks_exact(width.max(1)).zip(&plain) {
                let length = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                for (axis, got) in got.iter().enumerate() {
                    let dot = row.iter().zip(&columns).map(|(x, c)| f64::from(*x) * f64::from(c[axis]));
                    let want = dot.sum::<f64>() / length + f64::from(projection.shift[axis]);
                    assert!((want - f64::from(f32::from_bits(*got))).abs() < 1e-4, "{width} {axis}");
                }
            }
        }
    }

    #[test]
    fn a_row_without_direction_has_no_signs() {
        let projection = Projection::new(vec![[1.0; DIMENSION]; 16], [0.0; DIMENSION]);
        let mut out = Vec::new();
        projection.apply(Isa::best(), &[0.0; 16], &mut out);
        assert_eq!(code(&out[0]), 0);
    }
}
