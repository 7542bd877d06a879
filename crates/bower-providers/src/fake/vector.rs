//! Vectors from the hashes of a text's words: texts with the same words are near each other.

use std::sync::LazyLock;

/// The greatest number of a vector times 1,000.
const MOST: i32 = 2_000;
/// The numbers from -`MOST` to `MOST` as text.
static WRITTEN: LazyLock<Vec<String>> =
    LazyLock::new(|| (-MOST..=MOST).map(|number| format!("{:.3}", f64::from(number) / 1_000.0)).collect());

/// Returns the vector of a text in thousandths.
pub(super) fn thousandths(text: &str, dimension: usize) -> Vec<i32> {
    let mut total = vec![0_i32; dimension];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    for word in words {
        add(&mut total, hash(&word.to_ascii_lowercase()), 300);
    }
    add(&mut total, hash(text), 100);
    total.iter().map(|number| (*number).clamp(-MOST, MOST)).collect()
}

fn add(total: &mut [i32], seed: u64, scale: u32) {
    let mut state = seed | 1;
    for number in total {
        // Xorshift: Marsaglia, 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *number += ((state >> 33) as u32 % (2 * scale + 1)).cast_signed() - scale.cast_signed();
    }
}

fn hash(text: &str) -> u64 {
    // FNV-1a: Fowler, Noll and Vo.
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Writes a vector as JSON.
pub(super) fn write(numbers: &[i32], into: &mut String) {
    into.push('[');
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            into.push(',');
        }
        into.push_str(&WRITTEN[(number + MOST) as usize]);
    }
    into.push(']');
}

/// Returns the vector that the server gives a text, prompt included, at unit length.
pub fn vector_of(text: &str, dimension: usize) -> Vec<f32> {
    let numbers = thousandths(text, dimension);
    let norm = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    numbers.iter().map(|number| (f64::from(*number) / norm) as f32).collect()
}
