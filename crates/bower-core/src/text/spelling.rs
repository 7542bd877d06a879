//! Finds words of a question that may be misspelled, and the words that one mistake makes them of.
//! Damerau (1964) found that four of five misspelled words have one letter too many, one too few, another letter, or two
//! neighbours in the wrong order.

use std::ops::{ControlFlow, Range};

use super::analyze::{Analyzer, Purpose, TermShape};
use super::language::Language;
use super::query::QueryTerm;

/// Letters of a word that is corrected. Shorter words are one mistake away from too many others; the number of candidates
/// grows with the length.
const LETTERS: std::ops::RangeInclusive<usize> = 4..=24;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedTerm {
    /// Its position in the question, in bytes.
    pub at: Range<usize>,
    /// It in lower case and without accents.
    pub folded: String,
    /// The indexed term.
    pub term: String,
}

impl AskedTerm {
    /// Returns the term to look for.
    pub fn query_term(&self) -> QueryTerm {
        QueryTerm::of(self.term.clone())
    }

    /// Whether a mistake can be looked for: the word has only the letters a to z, and begins with a small one. A capital makes a
    /// name, and names are one letter apart from those of others.
    pub fn is_correctable(&self, question: &str) -> bool {
        LETTERS.contains(&self.folded.len())
            && self.folded.bytes().all(|letter| letter.is_ascii_lowercase())
            && question[self.at.clone()].starts_with(char::is_lowercase)
    }
}

/// Returns the plain words of a question in their order: no parts of identifiers, numbers or signs.
pub fn asked_terms(question: &str, language: Language) -> Vec<AskedTerm> {
    let mut words: Vec<AskedTerm> = Vec::new();
    let mut joined: Vec<Range<usize>> = Vec::new();
    Analyzer::new(language).each(question, Purpose::Query, |found| {
        match found.shape {
            TermShape::Word => words.push(AskedTerm {
                at: found.at.clone(),
                folded: found.folded.to_owned(),
                term: found.term.to_owned(),
            }),
            TermShape::Joined => joined.push(found.at.clone()),
            TermShape::Gram | TermShape::Sign => {}
        }
        ControlFlow::Continue(())
    });
    words.retain(|word| !joined.iter().any(|whole| whole.start <= word.at.start && word.at.end <= whole.end));
    words
}

/// Returns the words from which one mistake makes `word` (letters a to z), each with its indexed term, without repeats.
pub fn corrections(word: &str, language: Language) -> Vec<(String, QueryTerm)> {
    let mut analyzer = Analyzer::new(language);
    let mut all: Vec<String> = one_edit_away(word);
    all.sort_unstable();
    all.dedup();
    let term = |candidate: String| {
        let mut term = None;
        analyzer.each(&candidate, Purpose::Query, |found| {
            term = Some(QueryTerm::of(found.term));
            ControlFlow::Break(())
        });
        term.map(|term| (candidate, term))
    };
    all.into_iter().filter_map(term).collect()
}

fn one_edit_away(word: &str) -> Vec<String> {
    let mut all = Vec::new();
    for at in 0..=word.len() {
        let (left, right) = word.split_at(at);
        for letter in 'a'..='z' {
            all.push(format!("{left}{letter}{right}"));
            if !right.is_empty() && !right.starts_with(letter) {
                all.push(format!("{left}{letter}{}", &right[1..]));
            }
        }
        if !right.is_empty() {
            all.push(format!("{left}{}", &right[1..]));
        }
        if let [first, second, ..] = *right.as_bytes()
            && first != second
        {
            all.push(format!("{left}{}{}{}", char::from(second), char::from(first), &right[2..]));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_word_of_n_letters_has_54_n_plus_25_spellings_with_repeats() {
        // By hand (Norvig 2007): n deletions, n - 1 exchanges, 25 n other letters, 26 (n + 1) insertions.
        let all = one_edit_away("abcd");
        assert_eq!(all.len(), 4 + 3 + 25 * 4 + 26 * 5);
        let all: HashSet<String> = all.into_iter().collect();
        for expected in ["bcd", "bacd", "abzd", "xabcd", "abcde"] {
            assert!(all.contains(expected), "{expected}");
        }
        assert!(!all.contains("abcd"));
    }

    #[test]
    fn plain_words_are_corrected_and_names_are_not() {
        let question = "how to igore Jhon's web-041 in getUserName, the traked café fil";
        let words = asked_terms(question, Language::English);
        let named: Vec<&str> = words
            .iter()
            .filter(|word| word.is_correctable(question))
            .map(|word| &question[word.at.clone()])
            .collect();
        assert_eq!(named, ["igore", "traked", "café"]);
        let (_, term) =
            corrections("traked", Language::English).into_iter().find(|(word, _)| word == "tracked").unwrap();
        assert_eq!(term.term, "track");
    }
}
