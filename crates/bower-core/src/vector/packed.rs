//! Compresses half floats without loss, by a prefix code of their exponents.
//! Sign and mantissa are noise, but the numbers of a unit vector have few exponents. A prefix code of fixed lengths
//! reduces 16 bits to 13.6, so that six vectors of 384 numbers fit a page of 4,096 bytes instead of five.
//!
//! ```text
//! eights     u8                      numbers, divided by eight
//! low        8 bits per number       the low bits of each mantissa
//! high       3 bits per number       sign, then the two high bits of the mantissa; eight numbers in three bytes
//! exponents  2 to 16 bits per number see LENGTHS; from the low end of each byte on, zeros after the last
//! (zero)                             if the length would be even
//! ```
//!
//! Packed bytes are odd in number and plain halves even, which distinguishes them. Vectors that would not become
//! shorter are stored unpacked, and vectors stored before packing existed can be read. Indexes take only vectors whose
//! numbers are a multiple of eight.

use std::borrow::Cow;

/// Exponents of half floats.
const EXPONENTS: usize = 32;

/// Bits of each exponent's code; 0 for one that follows [`ESCAPE`] in five bits. From the numbers of 4,000 `MiniLM`
/// vectors: shares of .32, .22, .21, .12, .06 … (at best 2.58 bits, with these codes 2.62). A part of the format.
const LENGTHS: [u8; EXPONENTS] =
    [7, 11, 10, 9, 8, 7, 5, 4, 3, 2, 2, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Bits of the code after which the exponent itself follows.
const ESCAPE: u32 = 11;
const PLAIN: u32 = 5;

/// The longest code without what follows an escape; indexes a table of the next bits.
const WINDOW: u32 = 11;
/// Exponents per table entry.
const AT_ONCE: usize = 4;

/// A code: its bits, the first one lowest, and their number.
type Code = (u32, u32);

/// Canonical codes: shorter before longer, then by exponent, the escape last.
const CODES: [Code; EXPONENTS] = codes();

const fn codes() -> [Code; EXPONENTS] {
    let mut codes = [(0, 0); EXPONENTS];
    let (mut next, mut length) = (0u32, 1);
    while length <= WINDOW {
        let mut exponent = 0;
        while exponent < EXPONENTS {
            if LENGTHS[exponent] as u32 == length {
                codes[exponent] = (reversed(next, length), length);
                next += 1;
            }
            exponent += 1;
        }
        if length < WINDOW {
            next <<= 1;
        }
        length += 1;
    }
    let escape = reversed(next, ESCAPE);
    assert!(next + 1 == 1 << ESCAPE, "every sequence of bits is a code");
    let mut exponent = 0;
    while exponent < EXPONENTS {
        if codes[exponent].1 == 0 {
            codes[exponent] = (escape | (exponent as u32) << ESCAPE, ESCAPE + PLAIN);
        }
        exponent += 1;
    }
    codes
}

const fn reversed(code: u32, length: u32) -> u32 {
    code.reverse_bits() >> (u32::BITS - length)
}

/// The exponents at the start of some bits: up to four; none for an escape.
#[derive(Clone, Copy)]
struct Entry {
    exponents: [u8; AT_ONCE],
    count: u8,
    bits: u8,
}

static TABLE: [Entry; 1 << WINDOW] = table();

const fn table() -> [Entry; 1 << WINDOW] {
    let mut table = [Entry { exponents: [0; AT_ONCE], count: 0, bits: 0 }; 1 << WINDOW];
    // First the first exponent of each window, then those of the shifted windows.
    let mut exponent = 0;
    while exponent < EXPONENTS {
        let (code, length) = CODES[exponent];
        if length <= WINDOW {
            let mut above = 0;
            while above < 1 << (WINDOW - length) {
                let entry = &mut table[(above << length | code) as usize];
                entry.exponents[0] = exponent as u8;
                entry.count = 1;
                entry.bits = length as u8;
                above += 1;
            }
        }
        exponent += 1;
    }
    let first = table;
    let mut window = 0;
    while window < 1 << WINDOW {
        let entry = &mut table[window];
        while entry.count > 0 && (entry.count as usize) < AT_ONCE {
            // Bits beyond the window count as zeros here: a code may be used only if it is within the window.
            let next = first[window >> entry.bits];
            if next.count == 0 || (entry.bits + next.bits) as u32 > WINDOW {
                break;
            }
            entry.exponents[entry.count as usize] = next.exponents[0];
            entry.count += 1;
            entry.bits += next.bits;
        }
        window += 1;
    }
    table
}

/// Packs half floats, two little-endian bytes each, if that is shorter.
///
/// `None` for an odd number of bytes, which are no half floats.
pub fn pack(half: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (numbers, []) = half.as_chunks::<2>() else { return None };
    let (eights, []) = numbers.as_chunks::<8>() else { return Some(half.into()) };
    let Ok(count) = u8::try_from(eights.len()) else { return Some(half.into()) };
    let mut packed = Vec::with_capacity(half.len() + 8);
    packed.push(count);
    packed.extend(numbers.iter().map(|[low, _]| *low));
    for eight in eights {
        let mut bits = 0;
        for (at, [_, high]) in eight.iter().enumerate() {
            bits |= u32::from(high >> 5 & 4 | high & 3) << (3 * at);
        }
        packed.extend(&bits.to_le_bytes()[..3]);
    }
    let (mut bits, mut held) = (0u64, 0);
    for [_, high] in numbers {
        let (code, length) = CODES[usize::from(high >> 2 & 31)];
        bits |= u64::from(code) << held;
        held += length;
        if held >= u32::BITS {
            packed.extend((bits as u32).to_le_bytes());
            bits >>= u32::BITS;
            held -= u32::BITS;
        }
    }
    packed.extend(&bits.to_le_bytes()[..held.div_ceil(8) as usize]);
    if packed.len().is_multiple_of(2) {
        packed.push(0);
    }
    Some(if packed.len() < half.len() { packed.into() } else { half.into() })
}

/// Returns half floats from their stored form; `buffer` holds them if they were packed. `None` if the bytes are damaged.
pub fn unpack<'a>(kept: &'a [u8], buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if kept.len().is_multiple_of(2) {
        return Some(kept);
    }
    let (eights, rest) = kept.split_first()?;
    let eights = usize::from(*eights);
    let (low, rest) = rest.split_at_checked(8 * eights)?;
    let (high, coded) = rest.split_at_checked(3 * eights)?;
    // A read of four exponents may begin with the last number.
    let mut exponents = vec![0; 8 * eights + AT_ONCE];
    read_exponents(coded, &mut exponents)?;
    buffer.clear();
    buffer.resize(16 * eights, 0);
    let numbers =
        low.as_chunks::<8>().0.iter().zip(high.as_chunks::<3>().0).zip(exponents.as_chunks::<8>().0);
    for (((low, high), exponents), to) in numbers.zip(buffer.as_chunks_mut::<16>().0) {
        let high = u32::from_le_bytes([high[0], high[1], high[2], 0]);
        for at in 0..8 {
            let bits = (high >> (3 * at)) as u8;
            to[2 * at] = low[at];
            to[2 * at + 1] = (bits & 4) << 5 | exponents[at] << 2 | bits & 3;
        }
    }
    Some(buffer)
}

/// Reads all but the last four of `to`, which may be overwritten. `None` if there are too few or too many bytes.
fn read_exponents(coded: &[u8], to: &mut [u8]) -> Option<()> {
    let count = to.len() - AT_ONCE;
    let (mut done, mut bit) = (0, 0);
    while done < count {
        let rest = coded.get(bit / 8..)?;
        let bytes = match rest.first_chunk::<4>() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            // Bits after the end count as zeros.
            None => rest.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte)),
        };
        let bits = bytes >> (bit % 8);
        let entry = &TABLE[(bits & ((1 << WINDOW) - 1)) as usize];
        if entry.count == 0 {
            to[done] = (bits >> ESCAPE & 31) as u8;
            done += 1;
            bit += (ESCAPE + PLAIN) as usize;
        } else {
            to[done..done + AT_ONCE].copy_from_slice(&entry.exponents);
            done += usize::from(entry.count);
            bit += usize::from(entry.bits);
        }
    }
    // Exponents read from the zeros after the last number do not count.
    let behind: u32 = to[count..done].iter().map(|exponent| CODES[usize::from(*exponent)].1).sum();
    let bytes = (bit - behind as usize).div_ceil(8);
    (coded.len() == bytes || coded.len() == bytes + 1).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(half: &[u8]) {
        let (packed, mut buffer) = (pack(half).unwrap(), vec![1, 2, 3]);
        assert!(packed.len() <= half.len(), "{} of {}", packed.len(), half.len());
        assert_eq!(packed.len().is_multiple_of(2), packed.len() == half.len());
        assert_eq!(unpack(&packed, &mut buffer), Some(half));
    }

    fn bytes(numbers: &[u16]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Returns a vector of unit length like those of models: normally distributed numbers, from its own generator.
    fn vector(seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let numbers: Vec<f32> =
            (0..384).map(|_| (0..12).map(|_| next()).sum::<f32>() / 384f32.sqrt()).collect();
        super::super::halves(&numbers)
    }

    #[test]
    fn a_vector_takes_a_sixth_of_a_page() {
        for seed in 0..50 {
            let half = vector(seed);
            check(&half);
            // 4,096 less the page's head of 8, divided by six, less 2 for a cell pointer and at most 17 before the vector.
            let packed = pack(&half).unwrap().len();
            assert!((640..=662).contains(&packed), "{packed}");
        }
    }

    #[test]
    fn packed_by_hand() {
        // 16 numbers of .0625 + a little: sign 0, exponent 11 (code 10, whose bits are read from the left), mantissa 0x234.
        let packed = pack(&bytes(&[0x2e34; 16])).unwrap().into_owned();
        // Two high bits of the mantissa are 10: 010 010 010 … from the low end on.
        let high = [0b1001_0010, 0b0010_0100, 0b0100_1001];
        let expected = [&[2][..], &[0x34; 16], &high, &high, &[0b0101_0101; 4]].concat();
        assert_eq!(packed, expected);
    }

    #[test]
    fn every_half_float_comes_back() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for some in all.chunks(4_096) {
            check(&bytes(some));
            // Among enough others that packing is shorter.
            for few in some.chunks(5) {
                let mut numbers = vec![0x2c00; 384];
                numbers[5..5 + few.len()].copy_from_slice(few);
                check(&bytes(&numbers));
                let packed = pack(&bytes(&numbers)).unwrap().len();
                assert!(packed < 700, "{packed}");
            }
        }
        check(&[]);
        for numbers in [1, 7, 8, 9, 2_040, 2_048] {
            check(&vec![0x2c; 2 * numbers]);
        }
        assert_eq!(pack(&[1, 2, 3]), None);
    }

    proptest! {
        #[test]
        fn any_numbers_come_back(numbers in proptest::collection::vec(any::<u16>(), 0..900)) {
            check(&bytes(&numbers));
        }

        #[test]
        fn numbers_of_few_exponents_come_back(numbers in proptest::collection::vec(0x2000u16..0x3400, 0..900)) {
            check(&bytes(&numbers));
        }

        #[test]
        fn any_bytes_are_read_or_refused(kept in proptest::collection::vec(any::<u8>(), 0..900)) {
            let _ = unpack(&kept, &mut vec![0; 3]);
        }

        /// Truncated or extended packed bytes are refused.
        #[test]
        fn another_length_is_refused(seed: u64, cut in 2..600usize) {
            let mut buffer = Vec::new();
            let mut packed = pack(&vector(seed)).unwrap().into_owned();
            let shorter = packed.len() - cut / 2 * 2;
            prop_assert_eq!(unpack(&packed[..shorter], &mut buffer), None);
            packed.extend([0, 0]);
            prop_assert_eq!(unpack(&packed, &mut buffer), None);
        }
    }
}
