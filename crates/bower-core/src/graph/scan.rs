//! Splits a text into words with what stands before each, so that names can be read off their capitals.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::text;

/// The dot between the words of a foreign name in Japanese (`レオナルド・ダ・ヴィンチ`).
pub const KATAKANA_DOT: char = '・';
/// The mark of a long vowel in hiragana and katakana.
const LONG_VOWEL: char = 'ー';

/// Kind of a word, by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A capital letter.
    Capital,
    /// A digit.
    Number,
    /// A katakana letter that another follows. Most such words are names and words of other languages.
    Katakana,
    /// An ideograph.
    Ideograph,
    /// Any other letter.
    Other,
}

/// A script. Japanese and Chinese put no spaces between words, but a word mostly ends where the script changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Ideographs,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match u32::from(c) {
            0..0x3005 => Self::Other,
            0x3041..=0x309F => Self::Hiragana,
            0x30A1..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Self::Katakana,
            // The mark that repeats an ideograph.
            0x3005 => Self::Ideographs,
            _ if text::is_ideograph(c) => Self::Ideographs,
            _ => Self::Other,
        }
    }
}

/// What stands before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// White space: the words may form one name.
    Space,
    /// A comma: a name may go on behind it (`Springfield, Illinois`).
    Comma,
    /// Something that ends a name.
    Break,
    /// The end of a sentence, or of a paragraph, or the start of the text.
    Sentence,
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedWord {
    /// Its bytes in the text.
    pub at: Range<usize>,
    /// Its kind.
    pub kind: Kind,
    /// What stands before it.
    pub before: Before,
}

/// Returns the words of a text in order. A word contains letters and digits, and apostrophes, hyphens, underscores, full stops
/// and ampersands between them (`O'Neill`, `J.R.R`, `AT&T`, `snake_case`). Kana and ideographs are words of their own.
pub fn scan(text: &str) -> Vec<ScannedWord> {
    let mut words: Vec<ScannedWord> = Vec::new();
    let mut at = 0;
    let mut gap = 0;
    while let Some(c) = text[at..].chars().next() {
        if !c.is_alphanumeric() {
            at += c.len_utf8();
            continue;
        }
        let end = word_end(text, at);
        let before = match words.last() {
            None => Before::Sentence,
            Some(last) => between(&text[last.at.clone()], &text[gap..at]),
        };
        let kind = match c {
            c if c.is_numeric() => Kind::Number,
            c if c.is_uppercase() => Kind::Capital,
            c => match Script::of(c) {
                Script::Katakana if end - at > c.len_utf8() => Kind::Katakana,
                Script::Ideographs => Kind::Ideograph,
                _ => Kind::Other,
            },
        };
        words.push(ScannedWord { at: at..end, kind, before });
        (at, gap) = (end, end);
    }
    words
}

/// Returns the end of the word that starts at `at`.
fn word_end(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut chars = text[at..].char_indices().peekable();
    let script = text[at..].chars().next().map_or(Script::Other, Script::of);
    while let Some((offset, c)) = chars.next() {
        let is_inner = matches!(c, '\'' | '’' | '-' | '_' | '.' | '&' | KATAKANA_DOT)
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric() && Script::of(*next) == script);
        if !c.is_alphanumeric() && !is_combining_mark(c) && !is_inner {
            break;
        }
        if Script::of(c) != script && !is_inner && !is_combining_mark(c) && c != LONG_VOWEL {
            break;
        }
        end = at + offset + c.len_utf8();
    }
    end
}

/// Classifies the characters between a word and the next.
fn between(word: &str, gap: &str) -> Before {
    if gap.chars().all(char::is_whitespace) {
        // A line break within a paragraph is white space, an empty line ends it.
        return if gap.matches('\n').count() > 1 { Before::Sentence } else { Before::Space };
    }
    let mut marks = gap.chars().filter(|c| !c.is_whitespace());
    match (marks.next(), marks.next()) {
        (Some('.'), None) if is_abbreviation(word) && !gap.contains('\n') => Before::Space,
        (Some(','), None) => Before::Comma,
        (Some('(' | ')' | '/' | '–' | '—' | '-'), None) if !gap.contains('\n') => Before::Break,
        _ if gap.contains(['.', '!', '?', ':', ';', '\n', '"', '“', '「', '。', '|', '•', '…']) => {
            Before::Sentence
        }
        _ => Before::Break,
    }
}

/// Whether a full stop behind a word need not end the sentence: an initial (`J.`), a word with full stops inside (`U.S.`), or
/// a capitalised word of up to four letters of which no later one is a vowel (`Dr.`, `St.`, `Mrs.`).
fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let is_short = word.len() <= 4 && letters.next().is_some_and(char::is_uppercase);
    let is_vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    word.contains('.') || (is_short && !letters.any(is_vowel))
}

#[cfg(test)]
mod tests {
    use super::Before::{Break, Comma, Sentence, Space};
    use super::*;

    #[test]
    fn words_know_what_stands_before_them() {
        let check = |text: &str, expected: &[(&str, Before)]| {
            let found: Vec<_> = scan(text).into_iter().map(|word| (&text[word.at], word.before)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            "Dr. J.R.R. Tolkien wrote",
            &[("Dr", Sentence), ("J.R.R", Space), ("Tolkien", Space), ("wrote", Space)],
        );
        check("Springfield, Illinois (US)", &[("Springfield", Sentence), ("Illinois", Comma), ("US", Break)]);
        check(
            "It ended. Then\nO’Neill left",
            &[("It", Sentence), ("ended", Space), ("Then", Sentence), ("O’Neill", Space), ("left", Space)],
        );
        check("", &[]);
    }

    #[test]
    fn words_end_where_the_script_changes() {
        let kinds = |text: &str| -> Vec<(String, Kind)> {
            scan(text).into_iter().map(|word| (text[word.at].to_owned(), word.kind)).collect()
        };
        let expected = [
            ("東京", Kind::Ideograph),
            ("の", Kind::Other),
            ("トヨタ", Kind::Katakana),
            ("自動車", Kind::Ideograph),
            ("と", Kind::Other),
            ("BMW", Kind::Capital),
            ("は", Kind::Other),
            ("2", Kind::Number),
            ("つ", Kind::Other),
            ("らーめん", Kind::Other),
            ("佐々木", Kind::Ideograph),
            ("レオナルド・ダ・ヴィンチ", Kind::Katakana),
        ];
        let text = "東京のトヨタ自動車とBMWは2つ。らーめん、佐々木。レオナルド・ダ・ヴィンチ";
        assert_eq!(kinds(text), expected.map(|(word, kind)| (word.to_owned(), kind)));
        assert_eq!(kinds("ё мир"), [("ё".to_owned(), Kind::Other), ("мир".to_owned(), Kind::Other)]);
    }
}
