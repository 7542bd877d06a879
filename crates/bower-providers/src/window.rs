//! Cuts long texts into windows at spaces, and averages the vectors of the windows, as pure functions.

use std::ops::Range;

use crate::embed::check::{Item, normalise};

/// Bytes of a token, estimated low: English has 4 to 5, Chinese 3 a character, and code 3.
const TOKEN_BYTES: usize = 3;
/// A text that is not halved any more.
const FEWEST_BYTES: usize = 64;

/// Returns the estimated number of tokens of a text, e.g. for the price of embedding it.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// Returns windows of about equal length, each of at most `most_tokens` estimated tokens. They cover the whole text.
pub(crate) fn windows(text: &str, most_tokens: usize) -> Vec<Range<usize>> {
    // A window has at least one character of four bytes.
    let most = most_tokens.saturating_mul(TOKEN_BYTES).max(4);
    let mut windows = Vec::new();
    let mut start = 0;
    while text.len() - start > most {
        let left = text.len() - start;
        let even = left.div_ceil(left.div_ceil(most));
        let end = start + cut(&text[start..], even);
        windows.push(start..end);
        start = end;
    }
    windows.push(start..text.len());
    windows
}

/// Returns the two halves of a text; `None` if it is too short for that.
pub(crate) fn halves(text: &str) -> Option<(&str, &str)> {
    (text.len() >= FEWEST_BYTES).then(|| text.split_at(cut(text, text.len() / 2)))
}

/// Returns the last place for a cut that is not beyond `most`: after a space in the second half, or between characters.
fn cut(text: &str, most: usize) -> usize {
    let most = (0..=most.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let space = text[..most].char_indices().rev().find(|(_, c)| c.is_whitespace());
    let after = space.map(|(at, c)| at + c.len_utf8()).filter(|&at| at > most / 2);
    let first = text.chars().next().map_or(0, char::len_utf8);
    after.unwrap_or(most).max(first)
}

/// Returns the mean of the vectors of windows, weighted by their bytes, at unit length.
pub(crate) fn mean(parts: &[(usize, Vec<f32>)]) -> Item {
    let mut total = vec![0.0_f64; parts.first().map_or(0, |(_, vector)| vector.len())];
    for (weight, vector) in parts {
        for (sum, number) in total.iter_mut().zip(vector) {
            *sum += *weight as f64 * f64::from(*number);
        }
    }
    normalise(total.into_iter().map(|number| number as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_end_at_spaces_and_are_even() {
        let text = "aaa bbb ccc ddd eee fff";
        let parts: Vec<&str> = windows(text, 3).into_iter().map(|window| &text[window]).collect();
        assert_eq!(parts, ["aaa bbb ", "ccc ddd ", "eee fff"]);
        assert_eq!(windows("", 4), std::slice::from_ref(&(0..0)));
        assert_eq!(halves("short"), None);
        let long = "word ".repeat(20);
        let (first, second) = halves(&long).unwrap();
        assert_eq!((first.len(), second.len()), (50, 50));
    }

    #[test]
    fn the_mean_is_weighted_and_of_unit_length() {
        let vector = mean(&[(3, vec![1.0, 0.0]), (1, vec![0.0, 3.0])]).unwrap();
        assert!(vector.iter().all(|number| (number - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6));
        assert!(mean(&[(1, vec![1.0]), (1, vec![-1.0])]).is_err());
    }

    proptest! {
        #[test]
        fn windows_cover_any_text_within_the_limit(text in "(\\PC| |\n){0,300}", most in 0_usize..50) {
            let windows = windows(&text, most);
            let whole: String = windows.iter().map(|window| &text[window.clone()]).collect();
            prop_assert_eq!(&whole, &text);
            let limit = most.max(2);
            prop_assert!(windows.iter().all(|window| estimate_tokens(&text[window.clone()]) <= limit));
            if let Some((first, second)) = halves(&text) {
                prop_assert!(!first.is_empty() && !second.is_empty() && first.len() + second.len() == text.len());
            }
        }
    }
}
