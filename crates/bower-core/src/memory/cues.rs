//! Normalises a text to plain words, so that a rule finds its cue whatever the case, spaces and quotes.

use super::gate::durability;
use crate::item::Durability;

/// A text as the rules of this room read it: made once and handed on from the gate to the judge.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(super) cues: Cues,
    durability: Durability,
}

impl Reading {
    /// Reads a text, in time linear in its length.
    pub fn of(text: &str) -> Self {
        let cues = Cues::of(text);
        let durability = durability(&cues);
        Self { cues, durability }
    }

    /// How long what the text says is likely to hold.
    pub fn durability(&self) -> Durability {
        self.durability
    }
}

/// Words in lower case with one space around each; marks that end or part a clause are words of their own.
///
/// `"We chose Rust, didn’t we?"` is `" . we chose rust , didn't we . "`: the text begins as a sentence does, so a cue
/// of `" . we chose "` stands at the beginning of some sentence.
#[derive(Clone, Debug)]
pub(super) struct Cues {
    plain: String,
    words: usize,
}

impl Cues {
    /// The words of a text, in time linear in its length.
    pub(super) fn of(text: &str) -> Self {
        let mut plain = String::with_capacity(text.len() + 8);
        plain.push_str(" . ");
        let mut words = 0;
        let mut inside = false;
        let mut unspaced = 0;
        let mut letters = text.chars().peekable();
        let mut before = ' ';
        while let Some(letter) = letters.next() {
            let letter = straight(letter);
            let next = letters.peek().copied().map_or(' ', straight);
            let joins = matches!(letter, '\'' | '-' | '_' | '.' | '/' | ':' | '+' | '#' | '@' | '%');
            if letter.is_alphanumeric() || (joins && before.is_alphanumeric() && next.is_alphanumeric()) {
                if !inside {
                    words += 1;
                }
                inside = true;
                unspaced += usize::from(is_unspaced(letter));
                plain.extend(letter.to_lowercase());
            } else {
                if inside {
                    plain.push(' ');
                    inside = false;
                }
                // `.env` and `.NET` end nothing.
                let is_name =
                    letter == '.' && !before.is_alphanumeric() && before != '.' && next.is_alphanumeric();
                let mark = match letter {
                    '.' if is_name => None,
                    '.' | '!' | '?' | '\n' | '…' | '。' | '！' | '？' => Some(" . "),
                    ',' | '、' | '，' => Some(" , "),
                    ':' | ';' | '：' | '；' => Some(" : "),
                    _ => None,
                };
                if let Some(mark) = mark
                    && !plain.ends_with(mark)
                {
                    // The space is there already: each word and each mark ends with one.
                    plain.push_str(&mark[1..]);
                }
            }
            before = letter;
        }
        if inside {
            plain.push(' ');
        }
        if !plain.ends_with(" . ") {
            plain.push_str(". ");
        }
        // Two characters of a script without spaces are about a word (Chinese words have 1.5 to 2 characters).
        Self { plain, words: words + unspaced / 2 }
    }

    /// How many words there are, marks aside.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The text in its plain form.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// Whether a cue occurs; it is written in the plain form, with a space at both ends.
    pub(super) fn has(&self, cue: &str) -> bool {
        debug_assert!(cue.starts_with(' ') && cue.ends_with(' '), "{cue:?}");
        self.plain.contains(cue)
    }

    /// Whether any of the cues occurs.
    pub(super) fn any(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.has(cue))
    }

    /// Whether any cue of a list occurs; they are parted by `|` and have no spaces around them.
    pub(super) fn any_of(&self, list: &str) -> bool {
        list.split('|').any(|cue| {
            self.plain.match_indices(cue).any(|(at, _)| {
                self.plain[..at].ends_with(' ') && self.plain[at + cue.len()..].starts_with(' ')
            })
        })
    }

    /// Whether the text begins with one of the cues, each written from `" . "` on.
    pub(super) fn begins(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.plain.starts_with(cue))
    }

    /// Its words and marks.
    pub(super) fn each(&self) -> impl Iterator<Item = &str> {
        self.plain.split_ascii_whitespace()
    }
}

/// Typographic apostrophes as the typed one.
fn straight(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        other => other,
    }
}

/// Whether a character belongs to a script that is written without spaces between words.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_plain_words() {
        let check = |text: &str, expected: &str, words| {
            let cues = Cues::of(text);
            assert_eq!((cues.plain(), cues.words()), (expected, words), "{text}");
        };
        check("We chose Rust, didn’t we?", " . we chose rust , didn't we . ", 5);
        check("  \"node.js\"  (v1.2)...\n\nOK: go ", " . node.js v1.2 . ok : go . ", 4);
        check("版本是二。", " . 版本是二 . ", 3);
        check("!?.", " . ", 0);
        check("", " . ", 0);
        check("a - b -- c/d e_f", " . a b c/d e_f . ", 4);
        check("Copy .env. Then ...go", " . copy env . then . go . ", 4);
    }

    #[test]
    fn a_cue_is_found_at_any_sentence() {
        let cues = Cues::of("Well. We CHOSE it");
        assert!(cues.has(" . we chose ") && cues.any(&[" nothing ", " it "]) && cues.begins(&[" . well . "]));
        assert!(cues.any_of("nothing|. we chose|x") && !cues.any_of("chos|hose|w"));
        assert!(!cues.has(" chos ") && !cues.begins(&[" . we "]));
        assert_eq!(cues.each().collect::<Vec<_>>(), [".", "well", ".", "we", "chose", "it", "."]);
    }
}
