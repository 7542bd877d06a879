//! Splits identifiers into their words: `getUserName`, `HTTPServer2`, `sha256sum`.
//! It is pure and works on byte ranges of the word.

use std::ops::Range;

/// Least length of a letter run that is split from its digits: `p53`, `h264`, `10mg`, `mp3` are single names, `utf8`
/// and `covid19` are split.
const WORD_BESIDE_DIGITS: usize = 3;

/// Most changes between letters and digits; more of them are a hash or a serial number, which has no parts.
const MOST_DIGIT_TURNS: usize = 2;

/// Most humps; more of them are an encoded blob.
const MOST_HUMPS: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    Digit,
}

/// Writes the parts of one word (without separators) to `parts`, cleared first; none if the word is not split.
///
/// A part of a single letter is dropped (`iPhone` gives `Phone`); the joined form represents it. A plural `s` stays
/// with its acronym (`miRNAs` gives `mi`, `RNAs`).
pub(super) fn parts(word: &str, parts: &mut Vec<Range<usize>>) {
    parts.clear();
    let bytes = word.as_bytes();
    let plain = |b: &u8| b.is_ascii_lowercase();
    if bytes.len() < 2 || bytes[1..].iter().all(plain) || bytes.iter().all(u8::is_ascii_digit) {
        return;
    }
    let kinds: Vec<(usize, Kind)> = word
        .char_indices()
        .filter(|(_, c)| c.is_alphanumeric())
        .map(|(at, c)| {
            let kind = match c {
                c if c.is_numeric() => Kind::Digit,
                c if c.is_uppercase() => Kind::Upper,
                _ => Kind::Lower,
            };
            (at, kind)
        })
        .collect();
    let is_digit = |at: usize| kinds[at].1 == Kind::Digit;
    let turns = (1..kinds.len()).filter(|&at| is_digit(at - 1) != is_digit(at)).count();
    if turns > MOST_DIGIT_TURNS {
        return;
    }
    let run = |from: usize, step: isize| {
        let mut at = from;
        let mut len = 0;
        while at < kinds.len() && !is_digit(at) {
            len += 1;
            at = at.wrapping_add_signed(step);
        }
        len
    };
    let mut start = 0;
    for at in 1..kinds.len() {
        let cut = match (kinds[at - 1].1, kinds[at].1) {
            (Kind::Lower, Kind::Upper) => true,
            (Kind::Upper, Kind::Upper) => {
                let plural = at + 2 == kinds.len() && word[kinds[at + 1].0..].starts_with('s');
                kinds.get(at + 1).is_some_and(|&(_, kind)| kind == Kind::Lower) && !plural
            }
            (Kind::Upper | Kind::Lower, Kind::Digit) => run(at - 1, -1) >= WORD_BESIDE_DIGITS,
            (Kind::Digit, Kind::Upper | Kind::Lower) => run(at, 1) >= WORD_BESIDE_DIGITS,
            (Kind::Upper | Kind::Lower, Kind::Lower) | (Kind::Digit, Kind::Digit) => false,
        };
        if cut {
            parts.push(start..kinds[at].0);
            start = kinds[at].0;
        }
    }
    if parts.is_empty() || parts.len() > MOST_HUMPS {
        parts.clear();
        return;
    }
    parts.push(start..word.len());
    parts.retain(|part| {
        let mut chars = word[part.clone()].chars().filter(|c| c.is_alphanumeric());
        chars.next().is_some_and(char::is_numeric) || chars.next().is_some()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: &[&str]) {
        let mut found = Vec::new();
        parts(word, &mut found);
        assert_eq!(found.iter().map(|part| &word[part.clone()]).collect::<Vec<_>>(), expected, "{word}");
    }

    #[test]
    fn identifiers_fall_apart_and_names_do_not() {
        check("getUserName", &["get", "User", "Name"]);
        check("HTTPServer2", &["HTTP", "Server", "2"]);
        check("parseXMLFile", &["parse", "XML", "File"]);
        check("sha256sum", &["sha", "256", "sum"]);
        check("iPhone", &["Phone"]);
        check("miRNAs", &["mi", "RNAs"]);
        check("ÉtatCivil", &["État", "Civil"]);
        for whole in
            ["word", "Word", "HTTP", "PCRs", "p53", "h264", "10mg", "2023", "h1n1", "3f2a9bc41d", "x", ""]
        {
            check(whole, &[]);
        }
    }
}
