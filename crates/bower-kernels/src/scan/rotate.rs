//! Rotates vectors at random in O(d log d): two rounds of random signs and a fast Hadamard transform.
//! The rotation never changes for one dimension and seed.
//!
//! A dimension that is no power of two is covered by two overlapping windows of the largest power of two below it
//! (384: 0..256 and 128..384), one after the other. Each step is orthonormal, so lengths and dot products survive.

use crate::Isa;

/// Rounds of signs and transform. One leaves a sparse vector visibly structured; two are enough for 1-bit codes.
const ROUNDS: usize = 2;

/// A rotation of one dimension.
#[derive(Clone, Debug)]
pub struct Rotation {
    dimension: usize,
    window: usize,
    /// ±1, a dimension for each round.
    signs: Vec<f32>,
}

impl Rotation {
    /// The rotation that belongs to a dimension (at least 1) and a seed.
    pub fn new(dimension: usize, seed: u64) -> Self {
        assert!(dimension > 0, "a rotation needs a dimension");
        let mut state = seed;
        let signs = (0..ROUNDS * dimension)
            .map(|_| if splitmix(&mut state) >> 63 == 0 { 1.0 } else { -1.0 })
            .collect();
        Self { dimension, window: 1 << dimension.ilog2(), signs }
    }

    /// How many numbers it turns.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Rotates a vector of the rotation's dimension in place. Sums are taken in one order on every path: same bits.
    pub fn apply(&self, isa: Isa, vector: &mut [f32]) {
        assert_eq!(vector.len(), self.dimension, "the rotation was made for another dimension");
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if isa.is_present() => {
                // SAFETY: the instructions are present, as just asked.
                unsafe { self.apply_avx512(vector) }
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if isa.is_present() => {
                // SAFETY: as above.
                unsafe { self.apply_avx2(vector) }
            }
            Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => self.apply_plain(vector),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn apply_avx512(&self, vector: &mut [f32]) {
        self.apply_plain(vector);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, vector: &mut [f32]) {
        self.apply_plain(vector);
    }

    /// Plain Rust that the compiler widens to whatever its caller enables; Rust never fuses, so the bits agree.
    #[inline(always)]
    #[allow(clippy::inline_always)] // it must be compiled with its caller's instructions
    fn apply_plain(&self, vector: &mut [f32]) {
        let scale = 1.0 / (self.window as f32).sqrt();
        for signs in self.signs.chunks_exact(self.dimension) {
            for (value, sign) in vector.iter_mut().zip(signs) {
                *value *= sign;
            }
            hadamard(&mut vector[..self.window], scale);
            if self.window < self.dimension {
                hadamard(&mut vector[self.dimension - self.window..], scale);
            }
        }
    }
}

/// The Hadamard transform of a power-of-two length, times `scale`.
#[inline(always)]
#[allow(clippy::inline_always)] // as its caller
fn hadamard(values: &mut [f32], scale: f32) {
    let mut half = 1;
    // The three smallest strides at once, in registers: alone they are too short to widen.
    if values.len() >= 8 {
        for eight in values.chunks_exact_mut(8) {
            let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| eight[at]);
            let [a, b, c, d, e, f, g, h] = [a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h];
            let [a, b, c, d, e, f, g, h] = [a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h];
            eight.copy_from_slice(&[a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h]);
        }
        half = 8;
    }
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    for value in values {
        *value *= scale;
    }
}

/// The next number of splitmix64 (Steele, Lea, Flood 2014).
pub fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn the_transform_is_the_hadamard_matrix() {
        // H[i][j] = (-1)^popcount(i & j), Sylvester's construction.
        let input: Vec<f32> = (0..32).map(|at| (at * at % 7) as f32 - 3.0).collect();
        let mut output = input.clone();
        hadamard(&mut output, 1.0);
        for (i, got) in output.iter().enumerate() {
            let want: f32 = input
                .iter()
                .enumerate()
                .map(|(j, value)| if (i & j).count_ones() % 2 == 0 { *value } else { -value })
                .sum();
            assert!((got - want).abs() < 1e-4, "row {i}: {got} {want}");
        }
    }

    #[test]
    fn lengths_and_dot_products_survive_and_every_path_gives_the_same_bits() {
        let mut dice = Dice(7);
        for dimension in [1, 3, 64, 72, 384, 768, 1000, 1536, 3072, 4096] {
            let rotation = Rotation::new(dimension, 42);
            let a: Vec<f32> = (0..dimension).map(|_| dice.float()).collect();
            let b: Vec<f32> = (0..dimension).map(|_| dice.float()).collect();
            let turn = |isa, vector: &[f32]| {
                let mut vector = vector.to_vec();
                rotation.apply(isa, &mut vector);
                vector
            };
            let (ra, rb) = (turn(Isa::Plain, &a), turn(Isa::Plain, &b));
            assert!((dot(&a, &b) - dot(&ra, &rb)).abs() < 1e-3, "{dimension}");
            assert!((dot(&a, &a) - dot(&ra, &ra)).abs() < 1e-3, "{dimension}");
            for isa in Isa::available() {
                assert_eq!(turn(isa, &a), ra, "{isa:?} {dimension}");
            }
        }
    }

    #[test]
    fn one_number_alone_is_spread_over_all() {
        let mut vector = vec![0.0; 384];
        vector[5] = 1.0;
        Rotation::new(384, 1).apply(Isa::Plain, &mut vector);
        let largest = vector.iter().fold(0f32, |most, value| most.max(value.abs()));
        assert!(largest < 0.35, "{largest}");
    }
}
