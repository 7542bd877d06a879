//! Exact cosines with complete stored vectors, for the last rescoring of a search.
//! Half floats and the floats that they become give the same bits.

use bower_kernels::Isa;
use bower_kernels::scan::exact::{sums_f16, sums_f32};
use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// Returns a vector in its stored form: little-endian half floats.
pub fn halves(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect()
}

/// Returns a stored vector as floats.
pub fn floats(half: &[u8]) -> Vec<f32> {
    let mut floats = vec![0.0; half.len() / 2];
    read_halves(half, &mut floats);
    floats
}

/// Number of floats that are converted at once.
const TOGETHER: usize = 64;

/// Converts a stored vector to as many floats.
pub(super) fn read_halves(half: &[u8], floats: &mut [f32]) {
    let mut halves = [f16::ZERO; TOGETHER];
    for (bytes, floats) in half.chunks(2 * TOGETHER).zip(floats.chunks_mut(TOGETHER)) {
        for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *half = f16::from_le_bytes(*bytes);
        }
        // One call for many floats, because each call detects the processor's features.
        halves[..floats.len()].convert_to_f32_slice(floats);
    }
}

/// A query with its length computed once.
#[derive(Clone, Copy, Debug)]
pub struct ExactQuery<'a> {
    isa: Isa,
    query: &'a [f32],
    square: f32,
}

impl<'a> ExactQuery<'a> {
    /// Prepares a query of any length.
    pub fn new(query: &'a [f32]) -> Self {
        let isa = Isa::best();
        Self { isa, query, square: sums_f32(isa, query, query).1 }
    }

    /// Returns the cosine with a vector of the same dimension, -1..=1; 0 if either has no direction (zero, not finite)
    /// or the dimensions differ.
    #[cfg(feature = "parts")]
    pub fn cosine(&self, vector: &[f32]) -> f32 {
        if vector.len() != self.query.len() {
            return 0.0;
        }
        self.divided(sums_f32(self.isa, self.query, vector))
    }

    /// Returns the cosine with a stored vector: little-endian IEEE half floats, two bytes per number.
    pub fn cosine_f16(&self, vector: &[u8]) -> f32 {
        if vector.len() != 2 * self.query.len() {
            return 0.0;
        }
        self.divided(sums_f16(self.isa, self.query, vector))
    }

    fn divided(&self, (dot, square): (f32, f32)) -> f32 {
        let cosine = dot / (self.square.sqrt() * square.sqrt());
        if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn cosines_by_hand() {
        let cosine = |query: &[f32], vector: &[f32]| ExactQuery::new(query).cosine(vector);
        assert!((cosine(&[3.0, 4.0], &[4.0, 3.0]) - 0.96).abs() < 1e-6);
        assert!((cosine(&[1.0, 0.0], &[-5.0, 0.0]) + 1.0).abs() < 1e-6);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]).to_bits(), 0);
        assert_eq!(cosine(&[1.0, 0.0], &[f32::NAN, 0.0]).to_bits(), 0);
        assert_eq!(cosine(&[1.0, 0.0], &[1.0]).to_bits(), 0);
    }

    #[test]
    fn a_stored_vector_scores_as_its_numbers_do() {
        let query: Vec<f32> = (0..385).map(|at| ((at * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let halves: Vec<f16> =
            (0..385).map(|at| f16::from_f32(((at * 53 % 97) as f32 - 48.0) / 700.0)).collect();
        let bytes: Vec<u8> = halves.iter().flat_map(|value| value.to_le_bytes()).collect();
        let floats: Vec<f32> = halves.iter().map(|value| value.to_f32()).collect();
        let query = ExactQuery::new(&query);
        assert_eq!(query.cosine_f16(&bytes).to_bits(), query.cosine(&floats).to_bits());
        assert_eq!(query.cosine_f16(&bytes[..768]).to_bits(), 0);
    }
}
