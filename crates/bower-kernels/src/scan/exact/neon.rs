//! Computes the float dot products and squared lengths on 64-bit ARM.
//! Left to itself the compiler pairs a product with a square and shuffles them into each other.

use std::arch::aarch64::{
    float32x4_t, vaddq_f32, vcvt_f32_f16, vdupq_n_f32, vld1_u16, vld1q_f32, vmulq_f32, vreinterpret_f16_u16,
    vst1q_f32,
};

use super::sums::{LANES, Sums, padded};

/// Sixteen partial sums.
type Vector = [float32x4_t; 4];

/// [`super::sums_f32`]. NEON is a part of 64-bit ARM.
#[target_feature(enable = "neon")]
pub(super) fn floats(query: &[f32], vector: &[f32]) -> (f32, f32) {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (vector, vector_rest) = vector.as_chunks::<LANES>();
    let (mut dot, mut square) = ([vdupq_n_f32(0.0); 4], [vdupq_n_f32(0.0); 4]);
    for (query, vector) in query.iter().zip(vector) {
        add(&mut dot, &mut square, load(query), load(vector));
    }
    add(&mut dot, &mut square, load(&padded(query_rest)), load(&padded(vector_rest)));
    Sums { dot: spread(dot), square: spread(square) }.total()
}

/// [`super::sums_f16`].
#[target_feature(enable = "neon")]
pub(super) fn halves(query: &[f32], vector: &[u8]) -> (f32, f32) {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (vector, vector_rest) = vector.as_chunks::<{ 2 * LANES }>();
    let (mut dot, mut square) = ([vdupq_n_f32(0.0); 4], [vdupq_n_f32(0.0); 4]);
    for (query, vector) in query.iter().zip(vector) {
        add(&mut dot, &mut square, load(query), load_halves(vector));
    }
    let mut rest = [0; 2 * LANES];
    rest[..vector_rest.len()].copy_from_slice(vector_rest);
    add(&mut dot, &mut square, load(&padded(query_rest)), load_halves(&rest));
    Sums { dot: spread(dot), square: spread(square) }.total()
}

/// Adds the products and the squares; each is rounded before it is added.
#[target_feature(enable = "neon")]
#[inline]
fn add(dot: &mut Vector, square: &mut Vector, query: Vector, vector: Vector) {
    for i in 0..4 {
        dot[i] = vaddq_f32(dot[i], vmulq_f32(query[i], vector[i]));
        square[i] = vaddq_f32(square[i], vmulq_f32(vector[i], vector[i]));
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn load(from: &[f32; LANES]) -> Vector {
    let from = from.as_ptr();
    // SAFETY: the reference covers 16 floats.
    unsafe { [vld1q_f32(from), vld1q_f32(from.add(4)), vld1q_f32(from.add(8)), vld1q_f32(from.add(12))] }
}

#[target_feature(enable = "neon")]
#[inline]
fn load_halves(from: &[u8; 2 * LANES]) -> Vector {
    let mut out = [vdupq_n_f32(0.0); 4];
    for (i, out) in out.iter_mut().enumerate() {
        // SAFETY: 8 bytes are read from each quarter of an array of 32; they need not be aligned.
        let halves = unsafe { vld1_u16(from.as_ptr().add(8 * i).cast()) };
        *out = vcvt_f32_f16(vreinterpret_f16_u16(halves));
    }
    out
}

#[target_feature(enable = "neon")]
#[inline]
fn spread(sums: Vector) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    for (to, sums) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
        // SAFETY: the reference covers 4 floats.
        unsafe { vst1q_f32(to.as_mut_ptr(), sums) }
    }
    lanes
}
