//! Scans the 1-bit codes on 64-bit ARM: sixteen vectors per byte shuffle, in the order of the other paths.

use std::arch::aarch64::{
    uint8x16_t, uint16x8_t, vaddq_f32, vaddq_u8, vaddw_high_u8, vaddw_u8, vandq_u8, vcgtq_f32, vcombine_u8,
    vcombine_u16, vcvtq_f32_u32, vdupq_n_f32, vdupq_n_u8, vdupq_n_u16, vget_lane_u64, vget_low_u8,
    vget_low_u16, vld1q_f32, vld1q_u8, vmovl_high_u16, vmovl_u16, vmovn_u16, vmovn_u32, vmulq_f32,
    vqtbl1q_u8, vreinterpret_u64_u8, vreinterpretq_u16_u8, vshrn_n_u16, vshrq_n_u8, vst1q_f32, vuzp1q_u16,
    vuzp2q_u16,
};

use super::block::{BLOCK, block_len, parts};
use super::query::{BitQuery, Estimate};

/// Registers that hold a line.
const PARTS: usize = BLOCK / 16;

/// [`super::scan`]. NEON is a part of 64-bit ARM.
#[target_feature(enable = "neon")]
pub(super) fn scan(blocks: &[u8], query: &BitQuery, threshold: f32, first: u32, out: &mut Vec<Estimate>) {
    let (alpha, beta) = (vdupq_n_f32(query.alpha), vdupq_n_f32(query.beta));
    let (gamma, least) = (vdupq_n_f32(query.gamma), vdupq_n_f32(threshold));
    for (at, block) in blocks.chunks_exact(block_len(query.dimension())).enumerate() {
        let (lines, a, b) = parts(block);
        // Of each sixteen columns the first eight and the others.
        let mut sums = [[vdupq_n_u16(0); 2]; PARTS];
        let (line_pairs, line_rest) = lines.as_chunks::<2>();
        let (table_pairs, table_rest) = query.tables.as_chunks::<2>();
        for (lines, tables) in line_pairs.iter().zip(table_pairs) {
            let (one, two) = (look(&lines[0], &tables[0]), look(&lines[1], &tables[1]));
            for part in 0..PARTS {
                // Two lines are at most 224: still a byte.
                widen(&mut sums[part], vaddq_u8(one[part], two[part]));
            }
        }
        for (line, table) in line_rest.iter().zip(table_rest) {
            let one = look(line, table);
            for part in 0..PARTS {
                widen(&mut sums[part], one[part]);
            }
        }
        for group in 0..PARTS {
            // The first half of a block has the even columns.
            let (from, odd) = (group % 2 * 2, group >= 2);
            let [low, high] = [sums[from], sums[from + 1]]
                .map(|[low, high]| if odd { vuzp2q_u16(low, high) } else { vuzp1q_u16(low, high) });
            let totals = [
                vmovl_u16(vget_low_u16(low)),
                vmovl_high_u16(low),
                vmovl_u16(vget_low_u16(high)),
                vmovl_high_u16(high),
            ];
            let mut scores = [vdupq_n_f32(0.0); 4];
            for four in 0..4 {
                let place = 16 * group + 4 * four;
                // SAFETY: 4 floats each are read from 4 x 4 bytes; the slices check that they are there.
                let (a, b) = unsafe {
                    (vld1q_f32(a[place..][..4].as_ptr().cast()), vld1q_f32(b[place..][..4].as_ptr().cast()))
                };
                let total = vaddq_f32(vmulq_f32(vcvtq_f32_u32(totals[four]), alpha), beta);
                scores[four] = vaddq_f32(vaddq_f32(vmulq_f32(a, total), b), gamma);
            }
            let low =
                vcombine_u16(vmovn_u32(vcgtq_f32(scores[0], least)), vmovn_u32(vcgtq_f32(scores[1], least)));
            let high =
                vcombine_u16(vmovn_u32(vcgtq_f32(scores[2], least)), vmovn_u32(vcgtq_f32(scores[3], least)));
            let mut passed = nibbles(vcombine_u8(vmovn_u16(low), vmovn_u16(high)));
            if passed != 0 {
                let mut spread = [0f32; 16];
                for (four, scores) in spread.as_chunks_mut::<4>().0.iter_mut().zip(scores) {
                    // SAFETY: 4 floats are written to an array of 4.
                    unsafe { vst1q_f32(four.as_mut_ptr(), scores) };
                }
                while passed != 0 {
                    let lane = passed.trailing_zeros() as usize / 4;
                    let position = first + (at * BLOCK + 16 * group + lane) as u32;
                    out.push(Estimate { position, score: spread[lane] });
                    passed &= !(15 << (4 * lane));
                }
            }
        }
    }
}

/// The tables of one line looked up in 64 vectors: at most 112 a byte.
#[target_feature(enable = "neon")]
#[inline]
fn look(line: &[u8; BLOCK], table: &[u8; 32]) -> [uint8x16_t; PARTS] {
    let mut sums = [vdupq_n_u8(0); PARTS];
    for (part, sum) in sums.iter_mut().enumerate() {
        // SAFETY: 16 bytes are read from each half of an array of 32, and from each quarter of an array of 64.
        let (low, high, codes) = unsafe {
            (
                vld1q_u8(table.as_ptr()),
                vld1q_u8(table.as_ptr().add(16)),
                vld1q_u8(line.as_ptr().add(16 * part)),
            )
        };
        let lower = vqtbl1q_u8(low, vandq_u8(codes, vdupq_n_u8(15)));
        let upper = vqtbl1q_u8(high, vshrq_n_u8::<4>(codes));
        *sum = vaddq_u8(lower, upper);
    }
    sums
}

/// Adds sixteen bytes to sixteen sums.
#[target_feature(enable = "neon")]
#[inline]
fn widen(sums: &mut [uint16x8_t; 2], bytes: uint8x16_t) {
    sums[0] = vaddw_u8(sums[0], vget_low_u8(bytes));
    sums[1] = vaddw_high_u8(sums[1], bytes);
}

/// Four bits for each of sixteen bytes that are 0 or 255: there is no instruction that takes one.
#[target_feature(enable = "neon")]
#[inline]
fn nibbles(bytes: uint8x16_t) -> u64 {
    vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bytes))))
}
