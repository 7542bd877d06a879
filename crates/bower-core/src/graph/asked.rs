//! Reads the names off a question: every run of its words that some item may mention as an entity.

use super::entity::{EntityKey, fold};
use super::scan::{Before, Kind, ScannedWord, scan};
use crate::text::{self, Analyzer, Language, Purpose, TermShape};
use std::ops::{ControlFlow, Range};

/// Longest name in words.
const LONGEST: usize = 8;
/// Most words of a question in which names are looked for.
const MOST_WORDS: usize = 128;

/// A possible name in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    /// The entity of that name.
    pub key: EntityKey,
    /// The name as the question has it.
    pub name: String,
    /// The positions of its words among those of the question.
    pub words: Range<usize>,
    /// Whether the question writes it as a name: each word has a capital, except for particles and numbers, and one at least.
    pub is_capital: bool,
    /// Whether it is the stem of a word, which only memories and turns of conversations mention.
    pub is_word: bool,
}

/// Returns the possible names of a question, the longest first, then in the order of the question: runs of words within one
/// sentence, and each word's stem. A stop word alone is none.
pub fn asked_names(question: &str) -> Vec<AskedName> {
    let words = scan(question);
    let words = &words[..words.len().min(MOST_WORDS)];
    let mut names = Vec::new();
    for length in (1..=LONGEST.min(words.len())).rev() {
        for start in 0..=words.len() - length {
            let run = &words[start..start + length];
            if run[1..].iter().any(|word| matches!(word.before, Before::Sentence)) {
                continue;
            }
            let name = &question[run[0].at.start..run[length - 1].at.end];
            let folded = fold(name);
            let is_number = length == 1 && run[0].kind == Kind::Number;
            if folded.is_empty() || is_number || (length == 1 && text::is_stop(&folded)) {
                continue;
            }
            let is_small = |word: &&ScannedWord| {
                word.kind == Kind::Other && !text::is_particle(&question[word.at.clone()])
            };
            // The first word of a sentence has a capital anyhow.
            let is_first = length == 1 && run[0].before == Before::Sentence;
            let is_capital = !is_first
                && run.iter().any(|word| word.kind == Kind::Capital)
                && !run.iter().any(|word| is_small(&word));
            let (key, name) = (EntityKey::of(&folded), name.to_owned());
            names.push(AskedName { key, name, words: start..start + length, is_capital, is_word: false });
        }
    }
    let mut seen = std::collections::HashSet::new();
    Analyzer::new(Language::English).each(question, Purpose::Query, |found| {
        let is_word = found.shape == TermShape::Word && !found.term.bytes().all(|b| b.is_ascii_digit());
        if is_word && !text::is_stop(found.folded) && seen.insert(found.term.to_owned()) {
            let name = question[found.at.clone()].to_owned();
            names.push(AskedName {
                key: EntityKey::of_word(found.term),
                name,
                words: 0..0,
                is_capital: false,
                is_word: true,
            });
        }
        ControlFlow::Continue(())
    });
    names
}

/// Returns the entities that some words may be: all of them as one name, and each word's stem.
pub fn entities_of(words: &str) -> Vec<EntityKey> {
    let whole = EntityKey::of(&fold(words));
    std::iter::once(whole).chain(asked_names(words).into_iter().map(|name| name.key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_names_come_first_and_stop_words_are_none() {
        let names: Vec<String> = asked_names("Who was Ada? Bell")
            .into_iter()
            .filter(|one| !one.is_word)
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["Who was Ada", "Who was", "was Ada", "Ada", "Bell"]);
        assert!(asked_names("").is_empty());
    }
}
