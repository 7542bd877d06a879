//! Reads the names off a question: every run of its words that some item may mention as an entity.

use std::collections::HashSet;
use std::ops::Range;

use super::entity::{EntityKey, fold};
use super::extract::{each_word, is_by_position, path_key};
use super::scan::{Before, Kind, ScannedWord, scan};
use crate::text::{self, Purpose};

/// Longest name in words.
const LONGEST: usize = 8;
/// Most words of a question in which names are looked for.
const MOST_WORDS: usize = 128;

/// A possible name in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    /// The entity of that name.
    pub key: EntityKey,
    /// The positions of its words among those of the question; none for the stem of a word.
    pub words: Range<usize>,
    /// Whether the question writes it as a name: each word has a capital, except for particles and numbers, and one at least.
    pub is_capital: bool,
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
            let is_first = length == 1 && is_by_position(&run[0]);
            let is_capital = !is_first
                && run.iter().any(|word| matches!(word.kind, Kind::Capital | Kind::Katakana))
                && !run.iter().any(|word| is_small(&word));
            names.push(AskedName { key: EntityKey::of(&folded), words: start..start + length, is_capital });
        }
    }
    names.extend(within_ideographs(question, words));
    let mut seen = HashSet::new();
    each_word(question, Purpose::Query, |key, _| {
        if seen.insert(key) {
            names.push(AskedName { key, words: 0..0, is_capital: false });
        }
    });
    names
}

/// Returns the names that may be within ideographs in a row, the longest first: Chinese has no spaces between words.
fn within_ideographs(question: &str, words: &[ScannedWord]) -> Vec<AskedName> {
    let mut left = MOST_WORDS;
    let mut rows: Vec<(usize, Vec<char>)> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| word.kind == Kind::Ideograph) {
        let row: Vec<char> = question[word.at.clone()].chars().take(left).collect();
        left -= row.len();
        rows.push((at, row));
    }
    let mut names = Vec::new();
    for length in (2..=LONGEST).rev() {
        for (at, row) in rows.iter().filter(|(_, row)| row.len() > length) {
            names.extend(row.windows(length).map(|name| AskedName {
                key: EntityKey::of(&fold(&String::from_iter(name))),
                words: *at..at + 1,
                is_capital: false,
            }));
        }
    }
    names
}

/// Returns the number of a question's words that are no stop words.
pub fn content_words(question: &str) -> usize {
    let words = scan(question);
    let folded = words.iter().take(MOST_WORDS).map(|word| fold(&question[word.at.clone()]));
    folded.filter(|word| !word.is_empty() && !text::is_stop(word)).count()
}

/// Returns the entities that a person may mean by a name, a `#tag`, a path or an address, the likeliest first: what is named so, a
/// file of that path, a tag, and the word itself.
pub fn keys_of(name: &str) -> Vec<EntityKey> {
    let name = name.trim();
    if let Some(tag) = name.strip_prefix('#') {
        return vec![EntityKey::of_tag(&tag.to_lowercase())];
    }
    let mut keys = vec![EntityKey::of(&fold(name))];
    keys.extend(path_key(name));
    let address = name.split_once("://").map_or(name, |(_, address)| address.trim_end_matches('/'));
    keys.push(EntityKey::of(&address.to_lowercase()));
    keys.push(EntityKey::of_tag(&name.to_lowercase()));
    if scan(name).len() == 1 {
        each_word(name, Purpose::Query, |key, _| keys.push(key));
    }
    let mut seen = HashSet::new();
    keys.retain(|key| seen.insert(*key));
    keys
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
        let names = asked_names("Who was Ada? Bell").into_iter().filter(|one| !one.words.is_empty());
        let expected =
            ["Who was Ada", "Who was", "was Ada", "Ada", "Bell"].map(|name| EntityKey::of(&fold(name)));
        assert_eq!(names.map(|one| one.key).collect::<Vec<_>>(), expected);
        assert!(asked_names("").is_empty());
    }

    #[test]
    fn names_are_looked_for_within_ideographs() {
        let names = asked_names("北京大学在哪里");
        let at = |name: &str| names.iter().position(|one| one.key == EntityKey::of(&fold(name)));
        assert!(at("北京大学").unwrap() < at("北京").unwrap(), "the longer first");
        assert!(at("北京大学在哪里").unwrap() < at("北京大学").unwrap());
        assert!(names.iter().all(|one| !one.is_capital));
        let words =
            asked_names("トヨタ自動車の本社").into_iter().filter(|one| one.is_capital).map(|one| one.key);
        assert_eq!(
            words.collect::<Vec<_>>(),
            ["トヨタ自動車", "トヨタ"].map(|name| EntityKey::of(&fold(name)))
        );
        // A long question is bounded.
        assert!(asked_names(&"北京大学".repeat(500)).len() <= 7 * MOST_WORDS + 1);
    }
}
