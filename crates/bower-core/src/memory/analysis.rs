//! Analyses a text once, in any language: its words and numbers, and where two texts differ.
//! No list of words is needed: what a difference means, the local model decides.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// A text with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    text: String,
    plain: String,
    words: Vec<Word>,
}

/// A word or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    /// In lower case.
    folded: String,
    /// Its place in the text.
    at: Range<usize>,
}

impl Word {
    fn is_number(&self) -> bool {
        self.folded.contains(|c: char| c.is_numeric())
    }
}

/// The one place where two texts differ: words of the earlier text, and those that the later one has instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The words of the earlier text; empty where the later one only adds words.
    pub from: String,
    /// The words of the later text; empty where it only leaves words out.
    pub to: String,
}

impl fmt::Display for Difference {
    /// `8080 -> 9090`; `only before: X` or `only now: X` where one side is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from.as_str(), self.to.as_str()) {
            (from, "") => write!(f, "only before: {from}"),
            ("", to) => write!(f, "only now: {to}"),
            (from, to) => write!(f, "{from} -> {to}"),
        }
    }
}

/// The words that two texts share at both ends, and the ranges of words between.
struct Ends {
    before: usize,
    after: usize,
    one: Range<usize>,
    two: Range<usize>,
}

impl Ends {
    /// Returns the number of words between the ends, in the text that has more of them.
    fn between(&self) -> usize {
        self.one.len().max(self.two.len())
    }

    /// Whether the texts share as many words as they differ in, or more.
    fn are_most(&self) -> bool {
        self.between() <= self.before + self.after
    }
}

/// Marks that end a statement, so that what follows adds to it.
const ENDS: &[char] = &['.', ';', '!', '?', '(', '—', '–', '\n', '。', '；'];

/// A difference of more words is not shown.
const MOST_SHOWN: usize = 12;

impl Analysis {
    /// Analyses a text, in time linear in its length.
    pub fn of(text: &str) -> Self {
        Self { text: text.to_owned(), plain: plain(text), words: words(text) }
    }

    /// Returns the text without case, surplus space and closing marks. Texts that share it are the same.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// Returns the text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of words.
    pub fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the share of the words that both texts have, 0..1 (the Jaccard index of the sets of words).
    pub fn jaccard(&self, other: &Self) -> f32 {
        let set = |analysis: &Self| -> BTreeSet<String> {
            analysis.words.iter().map(|word| word.folded.clone()).collect()
        };
        let (one, two) = (set(self), set(other));
        let shared = one.intersection(&two).count();
        let all = one.len() + two.len() - shared;
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    /// Returns the words that contain a digit, each once.
    pub fn numbers(&self) -> BTreeSet<&str> {
        self.words.iter().filter(|word| word.is_number()).map(|word| word.folded.as_str()).collect()
    }

    /// Returns the words that may be names: those with a capital that begin no sentence, in lower case, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        let is_name = |word: &&Word| {
            let before = self.text[..word.at.start].trim_end();
            self.text[word.at.clone()].contains(char::is_uppercase)
                && !before.is_empty()
                && !before.ends_with(ENDS)
        };
        self.words.iter().filter(is_name).map(|word| word.folded.as_str()).collect()
    }

    /// Whether the text has a word.
    pub fn has(&self, folded: &str) -> bool {
        self.words.iter().any(|word| word.folded == folded)
    }

    /// Whether all words of another text stand in this one, in a row.
    pub fn contains(&self, other: &Self) -> bool {
        let is_here = |run: &[Word]| run.iter().zip(&other.words).all(|(one, two)| one.folded == two.folded);
        other.words.is_empty() || self.words.windows(other.words.len()).any(is_here)
    }

    /// Whether a longer text begins with all of this one, and goes on after a mark that ends a statement.
    pub fn is_begun_by(&self, longer: &Self) -> bool {
        let Some(rest) = longer.plain.strip_prefix(&self.plain) else { return false };
        !self.plain.is_empty() && !rest.is_empty() && rest.trim_start().starts_with(ENDS)
    }

    /// Whether a later text tells another value of the same thing and says nothing else: one word differs, it has digits in
    /// both texts, and it stands in the second half. What a statement is about comes first.
    ///
    /// In `crates/bower-bench/data/memory/statements`, 482 of the 696 rewritten values that are one word stand in the second
    /// half, and 2 of the 5 statements about another thing that differ in one such word.
    pub fn has_other_number(&self, later: &Self) -> bool {
        let ends = self.ends(later);
        ends.one.len() == 1
            && ends.two.len() == 1
            && self.words[ends.before].is_number()
            && later.words[ends.before].is_number()
            && ends.before * 2 >= self.words.len()
    }

    /// Whether two texts differ in one place that is no longer than what they share, or in their numbers.
    pub fn has_other_value(&self, later: &Self) -> bool {
        let ends = self.ends(later);
        let differs_once = !ends.one.is_empty() && !ends.two.is_empty() && ends.are_most();
        let (one, two) = (self.numbers(), later.numbers());
        differs_once || (one.difference(&two).next().is_some() && two.difference(&one).next().is_some())
    }

    /// Returns the place where a later text differs; `None` if there is none, or the texts share less than they differ in.
    pub fn difference(&self, later: &Self) -> Option<Difference> {
        let ends = self.ends(later);
        if !(1..=MOST_SHOWN).contains(&ends.between()) || !ends.are_most() {
            return None;
        }
        Some(Difference { from: self.shown(ends.one), to: later.shown(ends.two) })
    }

    /// Returns the words that two texts share at both ends.
    fn ends(&self, later: &Self) -> Ends {
        let same = |(one, two): &(&Word, &Word)| one.folded == two.folded;
        let before = self.words.iter().zip(&later.words).take_while(same).count();
        let (one, two) = (&self.words[before..], &later.words[before..]);
        let after = one.iter().rev().zip(two.iter().rev()).take_while(same).count();
        Ends { before, after, one: before..self.words.len() - after, two: before..later.words.len() - after }
    }

    /// Returns a run of words as the text has it.
    fn shown(&self, words: Range<usize>) -> String {
        let words = &self.words[words];
        let ends = words.first().zip(words.last());
        ends.map_or_else(String::new, |(first, last)| self.text[first.at.start..last.at.end].to_owned())
    }
}

/// Returns what a later text changed of an earlier one, in one line; `None` if the texts differ in most of their words.
pub fn changed(earlier: &str, later: &str) -> Option<String> {
    Analysis::of(earlier).difference(&Analysis::of(later)).map(|difference| difference.to_string())
}

/// Returns the words of a text with their places: what stands between spaces, without marks at its ends. A run of a script
/// that has no spaces is cut at its words.
fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for (start, piece) in
        text.split_whitespace().map(|piece| (piece.as_ptr().addr() - text.as_ptr().addr(), piece))
    {
        let inner = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if inner.is_empty() {
            continue;
        }
        let start = start + (inner.as_ptr().addr() - piece.as_ptr().addr());
        let word = |(at, word): (usize, &str)| Word {
            folded: word.to_lowercase(),
            at: start + at..start + at + word.len(),
        };
        if inner.contains(is_unspaced) {
            found.extend(inner.unicode_word_indices().map(word));
        } else {
            found.push(word((0, inner)));
        }
    }
    found
}

/// Whether a character belongs to a script that is written without spaces between words.
pub(super) const fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns a text without case, surplus space and closing marks.
fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let plain = words.join(" ");
    let bare = plain.trim_end_matches(['.', '!', ' ', '。']);
    if bare.is_empty() { plain } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Analysis {
        Analysis::of(text)
    }

    fn folded(text: &str) -> Vec<String> {
        of(text).words.into_iter().map(|word| word.folded).collect()
    }

    #[test]
    fn a_word_stands_between_spaces_and_loses_the_marks_around_it() {
        assert_eq!(folded("(At 16:30, v1.2-rc1 -- \"Node.js\"!)"), ["at", "16:30", "v1.2-rc1", "node.js"]);
        assert_eq!(folded("毎晩2時に走る。"), ["毎", "晩", "2", "時", "に", "走", "る"]);
        assert_eq!(folded(" … "), [""; 0]);
    }

    #[test]
    fn texts_are_the_same_but_for_case_spaces_and_closing_marks() {
        assert_eq!(of("  The  port is 80. ").plain(), of("the port is 80").plain());
        assert_ne!(of("The port is 80%").plain(), of("The port is 80").plain());
        assert_eq!(of("!").plain(), "!");
    }

    #[test]
    fn another_number_at_the_end_is_another_value() {
        let check = |one: &str, two: &str| of(one).has_other_number(&of(two));
        assert!(check("The API listens on port 8080.", "The API listens on port 9090"));
        assert!(check("The standup is at 10:30 each day", "The standup is at 11:00 each day"));
        // What a statement is about comes first.
        assert!(!check("Bay 12 is reserved for the midwives.", "Bay 13 is reserved for the midwives."));
        // A word without digits, and a second difference.
        assert!(!check("The API runs on Redis", "The API runs on Valkey"));
        assert!(!check("The API listens on port 8080.", "The proxy listens on port 9090."));
        assert!(!check("The port is 8080", "The port is 8080"));
    }

    #[test]
    fn one_short_difference_is_another_value() {
        let check = |one: &str, two: &str| of(one).has_other_value(&of(two));
        assert!(check("Ida feeds the hens at dawn", "Ida feeds the goats at dawn"));
        assert!(check("The fee is 40 euros a term", "Each term costs you 45 euros"));
        assert!(!check("The fee is 40 euros a term", "Each term costs you 40 euros"));
        assert!(!check("Ida feeds the hens at dawn", "Ida feeds the hens at dawn, before the train comes"));
    }

    #[test]
    fn a_difference_is_shown_in_the_words_of_the_texts() {
        assert_eq!(changed("The port is 8080.", "The port is 9090.").unwrap(), "8080 -> 9090");
        assert_eq!(changed("We meet on Friday", "We never meet on Friday").unwrap(), "only now: never");
        assert_eq!(changed("We do not meet", "We do meet").unwrap(), "only before: not");
        assert_eq!(changed("The port is 8080", "Ida feeds the hens"), None);
        assert_eq!(changed("The same", "the same."), None);
    }

    #[test]
    fn a_longer_text_goes_on_after_the_end_of_a_statement() {
        let check = |short: &str, long: &str| of(short).is_begun_by(&of(long));
        assert!(check("The port is 8080.", "The port is 8080; the proxy needs it."));
        assert!(check("The port is 8080", "the port is 8080 (the proxy needs it)"));
        assert!(!check("The port is 8080", "The port is 8080 in staging") && !check("The port", "The port."));
        assert!(!check("The port is 80", "The port is 8080.") && !check("", ". a"));
    }

    #[test]
    fn numbers_and_names_are_words_by_their_form() {
        let text = of("Bay 12 opened on 4 May. Ida Berg keeps v2.1 there");
        assert_eq!(text.numbers().into_iter().collect::<Vec<_>>(), ["12", "4", "v2.1"]);
        assert_eq!(text.names().into_iter().collect::<Vec<_>>(), ["berg", "may"]);
        assert!(text.has("ida") && !text.has("id"));
        assert!(text.contains(&of("opened on 4 May")) && !text.contains(&of("opened 4 May")));
        // 2 of 4 words are shared.
        assert!((of("a b c").jaccard(&of("b c d")) - 0.5).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn any_two_texts_are_compared(one in ".{0,60}", two in ".{0,60}") {
            let (one, two) = (of(&one), of(&two));
            prop_assert!((0.0..=1.0).contains(&one.jaccard(&two)));
            prop_assert!(!one.has_other_value(&one) && one.difference(&one).is_none() && one.contains(&one));
            prop_assert_eq!(one.has_other_number(&two), one.has_other_number(&two));
            let _ = (one.difference(&two), one.is_begun_by(&two), one.names());
        }
    }
}
