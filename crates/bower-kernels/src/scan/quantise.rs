//! Quantises float vectors to int8 rows.
//! Every path gives the same bytes and the same scale.

use crate::Isa;

/// Numbers that are summed side by side; the same on every path, so that rounding is too.
const LANES: usize = 16;

/// Scales a vector to unit length and writes it as int8 with 128 added, padded with 128 to `out`'s length; returns the scale that
/// makes a byte a coordinate again. A vector without direction (zero, not finite) gets the scale 0 and scores 0.
///
/// Panics where `out` is shorter than the vector.
pub fn quantise(isa: Isa, vector: &[f32], out: &mut [u8]) -> f32 {
    match isa {
        // Sums of doubles side by side were slower with AVX-512 than with AVX2: .62 and .21 us for 384 numbers.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 if isa.is_present() => {
            // SAFETY: AVX2 is present, as just asked: it is a part of AVX-512.
            unsafe { quantise_avx2(vector, out) }
        }
        // NEON belongs to the baseline of ARM's 64 bits: the plain path is compiled with it.
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => plain(vector, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn quantise_avx2(vector: &[f32], out: &mut [u8]) -> f32 {
    plain(vector, out)
}

#[inline(always)]
#[allow(clippy::inline_always)] // it must be compiled with its caller's instructions
fn plain(vector: &[f32], out: &mut [u8]) -> f32 {
    let (out, padding) = out.split_at_mut(vector.len());
    padding.fill(128);
    let (squares, largest) = measures(vector);
    let norm = squares.sqrt();
    if !norm.is_finite() || largest == 0.0 {
        out.fill(128);
        return 0.0;
    }
    let to_byte = 127.0 / largest;
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let (byte_chunks, byte_rest) = out.as_chunks_mut::<LANES>();
    for (bytes, values) in byte_chunks.iter_mut().zip(chunks) {
        for lane in 0..LANES {
            bytes[lane] = byte(values[lane], to_byte);
        }
    }
    for (out, value) in byte_rest.iter_mut().zip(rest) {
        *out = byte(*value, to_byte);
    }
    (f64::from(largest) / (127.0 * norm)) as f32
}

#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn measure(chunk: &[f32; LANES], squares: &mut [f64; LANES], largest: &mut [f32; LANES]) {
    for lane in 0..LANES {
        let value = f64::from(chunk[lane]);
        squares[lane] += value * value;
    }
    for lane in 0..LANES {
        let value = chunk[lane].abs();
        largest[lane] = if value > largest[lane] { value } else { largest[lane] };
    }
}

/// The sum of the squares, and the largest magnitude.
#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn measures(vector: &[f32]) -> (f64, f32) {
    let (mut squares, mut largest) = ([0.0_f64; LANES], [0.0_f32; LANES]);
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let mut padded = [0.0; LANES];
    padded[..rest.len()].copy_from_slice(rest);
    for chunk in chunks {
        measure(chunk, &mut squares, &mut largest);
    }
    measure(&padded, &mut squares, &mut largest);
    (squares.iter().sum(), largest.into_iter().fold(0.0, f32::max))
}

#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn byte(value: f32, to_byte: f32) -> u8 {
    let value = value * to_byte + 128.5;
    let value = if value > 1.0 { value } else { 1.0 };
    let value = if value < 255.0 { value } else { 255.0 };
    // Rounds by cutting off: `round` is a call where the compiler may not assume SSE 4.1.
    // SAFETY: the value is 1 to 255: a NaN would have become 1.
    let whole: i32 = unsafe { value.to_int_unchecked() };
    whole as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Dice;

    #[test]
    fn three_by_hand() {
        // Length 13, largest 12: bytes 128 + 127 * (3, -4, 12) / 12, rounded; scale 12 / (127 * 13).
        for isa in Isa::available() {
            let mut out = [0; 64];
            let scale = quantise(isa, &[3.0, -4.0, 12.0], &mut out);
            assert_eq!(out[..5], [160, 86, 255, 128, 128], "{isa:?}");
            assert!((scale - 0.007_268_32).abs() < 1e-8, "{isa:?}: {scale}");
        }
    }

    #[test]
    fn a_vector_without_direction_is_zero() {
        for isa in Isa::available() {
            for bad in [0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut vector = vec![0.0; 70];
                vector[3] = bad;
                vector[69] = bad;
                let mut out = [7; 128];
                assert!(quantise(isa, &vector, &mut out).abs() < f32::EPSILON, "{isa:?} {bad}");
                assert_eq!(out, [128; 128], "{isa:?} {bad}");
            }
        }
    }

    #[test]
    fn every_path_gives_the_same_bytes_and_scale() {
        let mut dice = Dice(5);
        for dimension in [1, 15, 16, 17, 64, 384, 1_000] {
            let vector: Vec<f32> =
                (0..dimension).map(|_| (dice.next() % 20_001) as f32 / 1e4 - 1.0).collect();
            let mut want = vec![0; crate::scan::bytes::stride(dimension)];
            let scale = quantise(Isa::Plain, &vector, &mut want);
            for isa in Isa::available() {
                let mut got = vec![9; want.len()];
                assert_eq!(
                    quantise(isa, &vector, &mut got).to_bits(),
                    scale.to_bits(),
                    "{isa:?} {dimension}"
                );
                assert_eq!(got, want, "{isa:?} {dimension}");
            }
        }
    }
}
