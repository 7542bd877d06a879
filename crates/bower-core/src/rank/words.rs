//! Hashes the words of texts that are compared with each other.

/// Returns the words in order, as hashes. In scripts without spaces each character is a word. A text of signs alone
/// counts as it is.
pub(super) fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::with_capacity(text.len() / 5 + 1);
    let mut word = 0;
    for letter in text.chars() {
        let wide = letter >= '\u{2e80}';
        if (wide || !letter.is_alphanumeric()) && word != 0 {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphanumeric() {
            word = mix(word, u64::from(letter.to_ascii_lowercase()));
        } else if letter.is_alphanumeric() {
            word = letter.to_lowercase().fold(word, |word, lower| mix(word, u64::from(lower)));
            if wide {
                words.push(std::mem::take(&mut word));
            }
        }
    }
    if word != 0 {
        words.push(word);
    }
    if words.is_empty() {
        words.extend(
            text.split_whitespace()
                .map(|signs| signs.chars().fold(1, |hash, sign| mix(hash, u64::from(sign)))),
        );
    }
    words
}

/// Does one step of `FxHash` (from Firefox): one multiplication per letter. An attacker gains nothing from a collision of
/// two sentences.
fn mix(hash: u64, letter: u64) -> u64 {
    (hash.rotate_left(5) ^ letter).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Words of a run, by which texts are compared.
const RUN: usize = 5;
/// Fewest runs of a text that may repeat another: two short texts may share most words and differ in what counts.
pub(super) const LEAST_RUNS: usize = 20;

/// Returns the runs of five words of a text in order, as hashes.
///
/// Source: Broder, "On the resemblance and containment of documents", SEQUENCES 1997 (shingles).
pub(super) fn runs(text: &str) -> Vec<u64> {
    words(text).windows(RUN).map(whole).collect()
}

/// Returns several words as one hash.
pub(super) fn whole(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, &word| mix(hash, word))
}
