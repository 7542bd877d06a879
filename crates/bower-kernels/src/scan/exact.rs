//! Computes dot products and squared lengths of float and half-float vectors.
//! Sixteen partial sums, never fused: same bits on every path.

#[cfg(target_arch = "aarch64")]
mod neon;
mod sums;

use crate::Isa;
use sums::{LANES, Sums, padded};

/// `(query · vector, vector · vector)`; both slices have the same length, any length.
pub fn sums_f32(isa: Isa, query: &[f32], vector: &[f32]) -> (f32, f32) {
    assert_eq!(query.len(), vector.len(), "vectors of different dimensions");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_present() => {
            // SAFETY: the instructions are present, as just asked.
            unsafe { floats_avx512(query, vector) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_present() => {
            // SAFETY: as above.
            unsafe { floats_avx2(query, vector) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon if isa.is_present() => {
            // SAFETY: as above.
            unsafe { neon::floats(query, vector) }
        }
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => floats(query, vector),
    }
}

/// The same for a vector of little-endian IEEE half floats, two bytes a number.
pub fn sums_f16(isa: Isa, query: &[f32], vector: &[u8]) -> (f32, f32) {
    assert_eq!(2 * query.len(), vector.len(), "vectors of different dimensions");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_present() => {
            // SAFETY: the instructions are present, as just asked.
            unsafe { halves_avx512(query, vector) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_present() && is_x86_feature_detected!("f16c") => {
            // SAFETY: as above.
            unsafe { halves_avx2(query, vector) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon if isa.is_present() => {
            // SAFETY: as above.
            unsafe { neon::halves(query, vector) }
        }
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => halves(query, vector, |bytes| {
            let mut values = [0.0; LANES];
            for (value, bytes) in values.iter_mut().zip(bytes.as_chunks::<2>().0) {
                *value = half(*bytes);
            }
            values
        }),
    }
}

/// One half float; exact, as every half float is a float.
#[inline]
pub fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let magnitude = (bits & 0x7fff) << 13;
    // The exponent's bias differs by 112; multiplying also puts subnormal numbers right.
    let finite = (f32::from_bits(magnitude) * f32::from_bits(239 << 23)).to_bits();
    let value = if bits & 0x7c00 == 0x7c00 { magnitude | 0x7f80_0000 } else { finite };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

#[inline(always)]
#[allow(clippy::inline_always)] // it must be compiled with its caller's instructions
fn floats(query: &[f32], vector: &[f32]) -> (f32, f32) {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (vector, vector_rest) = vector.as_chunks::<LANES>();
    let mut sums = Sums::ZERO;
    for (query, vector) in query.iter().zip(vector) {
        sums.add(query, vector);
    }
    sums.add(&padded(query_rest), &padded(vector_rest));
    sums.total()
}

#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn halves(query: &[f32], vector: &[u8], load: impl Fn(&[u8; 2 * LANES]) -> [f32; LANES]) -> (f32, f32) {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (vector, vector_rest) = vector.as_chunks::<{ 2 * LANES }>();
    let mut sums = Sums::ZERO;
    for (query, vector) in query.iter().zip(vector) {
        sums.add(query, &load(vector));
    }
    let mut rest = [0; 2 * LANES];
    rest[..vector_rest.len()].copy_from_slice(vector_rest);
    sums.add(&padded(query_rest), &load(&rest));
    sums.total()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn floats_avx512(query: &[f32], vector: &[f32]) -> (f32, f32) {
    floats(query, vector)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn floats_avx2(query: &[f32], vector: &[f32]) -> (f32, f32) {
    floats(query, vector)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn halves_avx512(query: &[f32], vector: &[u8]) -> (f32, f32) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm512_cvtph_ps, _mm512_storeu_ps};
    halves(query, vector, |bytes| {
        let mut values = [0.0; LANES];
        // SAFETY: 32 bytes are read from an array of 32 and 16 floats written to one of 16; neither need be aligned.
        unsafe {
            let halves = _mm256_loadu_si256(bytes.as_ptr().cast());
            _mm512_storeu_ps(values.as_mut_ptr(), _mm512_cvtph_ps(halves));
        }
        values
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
fn halves_avx2(query: &[f32], vector: &[u8]) -> (f32, f32) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};
    halves(query, vector, |bytes| {
        let mut values = [0.0; LANES];
        // SAFETY: twice 16 bytes are read from an array of 32 and 8 floats written to one of 16; neither need be aligned.
        unsafe {
            let (from, to) = (bytes.as_ptr(), values.as_mut_ptr());
            _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from.cast())));
            _mm256_storeu_ps(to.add(8), _mm256_cvtph_ps(_mm_loadu_si128(from.add(16).cast())));
        }
        values
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    #[test]
    fn half_floats_are_read_as_ieee_754_says() {
        // IEEE 754-2008, binary16: known encodings.
        for (bits, value) in [
            (0x0000, 0.0f32),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(half(u16::to_le_bytes(bits)).to_bits(), value.to_bits(), "{bits:#x}");
        }
        assert!(half(u16::to_le_bytes(0x7e00)).is_nan());
    }

    #[test]
    fn every_path_gives_the_same_bits_at_odd_lengths() {
        let mut dice = Dice(3);
        for len in [0, 1, 7, 8, 15, 16, 17, 31, 33, 64, 72, 384, 385, 1000, 4096] {
            let query: Vec<f32> = (0..len).map(|_| dice.float()).collect();
            let vector: Vec<f32> = (0..len).map(|_| dice.float()).collect();
            // Any finite half float: the exponent 31 is left out.
            let halves: Vec<u8> = (0..len)
                .flat_map(|_| {
                    u16::to_le_bytes((dice.next() as u16 & 0x83ff) | (dice.next() as u16 % 31) << 10)
                })
                .collect();
            let decoded: Vec<f32> = halves.as_chunks::<2>().0.iter().map(|bytes| half(*bytes)).collect();
            for isa in Isa::available() {
                assert_eq!(
                    sums_f32(isa, &query, &vector),
                    sums_f32(Isa::Plain, &query, &vector),
                    "{isa:?} {len}"
                );
                assert_eq!(
                    sums_f16(isa, &query, &halves),
                    sums_f32(Isa::Plain, &query, &decoded),
                    "{isa:?} {len}"
                );
            }
            let (dot, square) = sums_f32(Isa::Plain, &query, &vector);
            let wide = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            assert!((f64::from(dot) - wide(&query, &vector)).abs() < 1e-3, "{len}");
            assert!((f64::from(square) - wide(&vector, &vector)).abs() < 1e-3, "{len}");
        }
    }
}
