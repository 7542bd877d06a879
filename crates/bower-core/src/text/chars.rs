//! Classifies characters for the text analysis, and folds words to plain letters.
//! Two spellings of one word fold to the same letters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The class of a character in the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter or digit of a script that puts spaces between words.
    Word,
    /// Belongs to the character before it: combining marks.
    Mark,
    /// Invisible: joiners, soft hyphens, variation selectors, direction marks.
    Ignored,
    /// A letter of a script without spaces, which is indexed by pairs of characters.
    Unspaced,
    /// Korean: words have spaces between them but include particles. Indexed by pairs too, never across a space.
    Hangul,
    /// An emoji or pictograph: its own term.
    Pictograph,
    /// Everything else.
    Other,
}

/// Returns the class of a character. Ranges are the Unicode 16 blocks of the scripts named.
pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Other };
    }
    match u32::from(c) {
        0xAD | 0x34F | 0x61C | 0x180B..=0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 => {
            Class::Ignored
        }
        0xFE00..=0xFE0F | 0xFEFF | 0x1_F3FB..=0x1_F3FF | 0xE_0000..=0xE_0FFF => Class::Ignored,
        // Hangul: jamo, compatibility jamo, syllables, half-width
        0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xFFA0..=0xFFDC => {
            Class::Hangul
        }
        // Thai, Lao, Myanmar, Khmer, Tai Le to New Tai Lue, Tai Tham: letters and vowel signs, not digits and marks;
        // Han and radicals, numerals and repeat marks, kana (half-width too), Bopomofo
        0xE01..=0xE3A
        | 0xE40..=0xE4E
        | 0xE81..=0xECE
        | 0xEDC..=0xEDF
        | 0x1000..=0x103F
        | 0x1050..=0x108F
        | 0x1780..=0x17D3
        | 0x1950..=0x19C9
        | 0x1A20..=0x1A7F
        | 0x2E80..=0x2FDF
        | 0x3005..=0x3007
        | 0x3021..=0x302F
        | 0x3031..=0x303B
        | 0x3041..=0x309F
        | 0x30A1..=0x30FA
        | 0x30FC..=0x312F
        | 0x31A0..=0x31BF
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F
        | 0x1_B000..=0x1_B16F
        | 0x2_0000..=0x3_FFFF => Class::Unspaced,
        0x203C | 0x2049 | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x1_F000..=0x1_FAFF => Class::Pictograph,
        _ if c.is_alphanumeric() => Class::Word,
        _ if is_combining_mark(c) => Class::Mark,
        _ => Class::Other,
    }
}

/// Whether a character is of a script that puts no spaces between words.
pub fn is_unspaced(c: char) -> bool {
    class(c) == Class::Unspaced
}

/// Whether a single character of a script without spaces is a word (`猫`), unlike kana and Thai letters.
pub fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

/// Whether a character of an unspaced run only modifies the one before it (voiced kana marks, conjoining vowels).
pub(super) fn is_attached(c: char) -> bool {
    matches!(u32::from(c), 0x3099 | 0x309A | 0xFF9E | 0xFF9F | 0x302A..=0x302F | 0x1160..=0x11FF | 0xD7B0..=0xD7FF)
        || matches!(class(c), Class::Mark | Class::Ignored)
}

/// Returns a separator as ASCII: full-width forms, typographic apostrophes and hyphens become those of the keyboard.
pub(super) fn ascii_twin(c: char) -> char {
    match u32::from(c) {
        0xFF01..=0xFF5E => char::from_u32(u32::from(c) - 0xFEE0).expect("U+0021 to U+007E are characters"),
        0x2018 | 0x2019 | 0x2BC => '\'',
        0x2010 | 0x2011 => '-',
        _ => c,
    }
}

/// Whether the mark is an accent or a vowel point that people leave out: Latin, Greek and Cyrillic diacritics, Hebrew
/// points, Arabic harakat. Marks of the Indic scripts are vowels and stay.
fn is_accent(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x483..=0x487 | 0x591..=0x5BD | 0x5BF | 0x5C1 | 0x5C2 | 0x5C4 | 0x5C5 | 0x5C7
        | 0x610..=0x61A | 0x640 | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6ED | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF
        | 0x20D0..=0x20FF | 0xFE20..=0xFE2F)
}

/// Appends a word in lower case to `out`: compatibility forms resolved, separators and invisible characters removed,
/// accents kept. Stemmers other than the English one need this form.
pub(super) fn lower(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.extend(
            word.bytes().filter(u8::is_ascii_alphanumeric).map(|b| char::from(b.to_ascii_lowercase())),
        );
        return;
    }
    let keep = |c: &char| matches!(class(*c), Class::Word | Class::Mark | Class::Unspaced | Class::Hangul);
    let from = word.nfkd().flat_map(char::to_lowercase).filter(keep);
    out.extend(from.nfkc());
}

/// Returns a word in lower case without accents and separators; empty if nothing else remains.
pub fn fold_word(word: &str) -> String {
    let mut small = String::with_capacity(word.len());
    lower(word, &mut small);
    if small.is_ascii() {
        return small;
    }
    let mut folded = String::with_capacity(small.len());
    unaccent(&small, &mut folded);
    folded
}

/// Appends a word to `out` without accents, and with letters that have a plain spelling replaced (`ß` by `ss`).
pub(super) fn unaccent(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.push_str(word);
        return;
    }
    for c in word.nfd().filter(|c| !is_accent(*c)).nfc() {
        match c {
            'ß' | 'ẞ' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let (mut low, mut plain) = (String::new(), String::new());
        lower(word, &mut low);
        unaccent(&low, &mut plain);
        plain
    }

    #[test]
    fn spellings_of_one_word_are_one() {
        for (word, expected) in [
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Ｆｕｌｌ", "full"),
            ("ﬁnd", "find"),
            ("İstanbul", "istanbul"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("Σίσυφος", "σισυφοσ"),
            ("1,000", "1000"),
            ("soft\u{ad}hyphen", "softhyphen"),
            ("don’t", "dont"),
            ("हिन्दी", "हिन्दी"),
        ] {
            assert_eq!(folded(word), expected, "{word}");
        }
    }

    #[test]
    fn scripts_are_told_apart() {
        for (c, expected) in [
            ('a', Class::Word),
            ('é', Class::Word),
            ('٣', Class::Word),
            ('\u{301}', Class::Mark),
            ('\u{200d}', Class::Ignored),
            ('東', Class::Unspaced),
            ('カ', Class::Unspaced),
            ('ｶ', Class::Unspaced),
            ('ไ', Class::Unspaced),
            ('ກ', Class::Unspaced),
            ('ក', Class::Unspaced),
            ('က', Class::Unspaced),
            ('한', Class::Hangul),
            ('🎉', Class::Pictograph),
            ('☃', Class::Pictograph),
            ('。', Class::Other),
            ('→', Class::Other),
        ] {
            assert_eq!(class(c), expected, "{c}");
        }
    }
}
