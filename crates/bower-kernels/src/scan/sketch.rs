//! Counts the bits in which sketches differ (Hamming distance).
//! Every path counts the same bits.

use crate::Isa;

/// How many bits of `one` differ from each of the sketches at `positions`.
///
/// `sketches` holds sketches of `one`'s length one after another; `out` takes one number a position. Panics when a position
/// lies outside of `sketches`.
pub fn apart(isa: Isa, sketches: &[u64], one: &[u64], positions: &[u32], out: &mut [u32]) {
    assert_eq!(positions.len(), out.len(), "one result a position");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 if is_x86_feature_detected!("popcnt") => {
            // SAFETY: the instruction is present, as just asked.
            unsafe { counted(sketches, one, positions, out) }
        }
        Isa::Avx512 | Isa::Avx2 | Isa::Neon | Isa::Plain => plain(sketches, one, positions, out),
    }
}

#[inline(always)]
fn plain(sketches: &[u64], one: &[u64], positions: &[u32], out: &mut [u32]) {
    for (position, out) in positions.iter().zip(out) {
        let other = &sketches[*position as usize * one.len()..][..one.len()];
        *out = 0;
        for at in 0..one.len() {
            *out += (one[at] ^ other[at]).count_ones();
        }
    }
}

/// The same with an instruction that counts the bits of a word; without it that takes a dozen.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn counted(sketches: &[u64], one: &[u64], positions: &[u32], out: &mut [u32]) {
    plain(sketches, one, positions, out);
}

#[cfg(test)]
mod tests {
    use super::super::Dice;
    use super::*;

    #[test]
    fn every_path_counts_the_bits_that_differ() {
        let mut dice = Dice(5);
        for words in [1, 2, 6, 7, 13] {
            for count in [0, 1, 3, 70] {
                let sketches: Vec<u64> = (0..words * 90).map(|_| dice.next()).collect();
                let one: Vec<u64> = (0..words).map(|_| dice.next()).collect();
                let positions: Vec<u32> = (0..count).map(|_| (dice.next() % 90) as u32).collect();
                // Bit by bit.
                let differ = |position: &u32| {
                    let bit = |sketch: &[u64], at: usize| sketch[at / 64] >> (at % 64) & 1;
                    let other = &sketches[*position as usize * words..][..words];
                    (0..words * 64).filter(|&at| bit(&one, at) != bit(other, at)).count() as u32
                };
                let expected: Vec<u32> = positions.iter().map(differ).collect();
                for isa in Isa::available() {
                    let mut out = vec![9; count];
                    apart(isa, &sketches, &one, &positions, &mut out);
                    assert_eq!(out, expected, "{isa:?} {words} x {count}");
                }
            }
        }
    }
}
