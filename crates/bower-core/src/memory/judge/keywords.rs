//! Extracts the keywords of a text: names, identifiers and quoted words first, then rarer-looking words.
//! Common ones come last. Which words are one is decided by the text channel's analysis, so a keyword finds what its text would.

use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use crate::text::{Analyzer, Purpose, TermOccurrence, TermShape, forms, language_of, query_terms};

/// Longer texts are judged by their beginning: what a memory is about stands there, and time stays bounded.
const MOST_TERMS: usize = 2_000;

/// What the shapes of a word add to its worth of 1. A name or identifier outweighs any two common words.
const NAMED: f32 = 2.0;
/// A capital at the beginning of a sentence may be one of any word.
const MAYBE_NAMED: f32 = 0.5;
/// Each further occurrence, up to two.
const AGAIN: f32 = 0.5;

/// A word that tells what a text is about.
pub(super) struct Keyword {
    /// As it stands in the text, in lower case.
    pub(super) shown: String,
    /// It names something: a name, an identifier, a word in quotes.
    pub(super) is_entity: bool,
    worth: f32,
    times: u32,
}

/// The keywords of a text, the best first.
pub(super) fn of(text: &str) -> Vec<Keyword> {
    let beginning = text.char_indices().nth(8_000).map_or(text, |(at, _)| &text[..at]);
    // Small words go as they go from questions. A question of nothing else keeps them, so it is given another word.
    let question = format!("word {beginning}");
    let language = language_of(beginning);
    let terms = query_terms(&question, &[language]);
    let kept: HashSet<&str> = forms(&terms).map(|(_, form)| form).collect();
    let mut found: Vec<(String, Range<usize>, TermShape)> = Vec::new();
    Analyzer::new(language).each(beginning, Purpose::Query, |TermOccurrence { term, at, shape, .. }| {
        if kept.contains(term) {
            found.push((term.to_owned(), at, shape));
        }
        if found.len() < MOST_TERMS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let whole: Vec<Range<usize>> = found
        .iter()
        .filter(|(_, _, shape)| *shape == TermShape::Joined)
        .map(|(_, at, _)| at.clone())
        .collect();
    let quoted = quoted(beginning);
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut words: Vec<Keyword> = Vec::new();
    for (term, at, shape) in found {
        let shown = &beginning[at.clone()];
        let is_part = shape == TermShape::Word && is_inside(&whole, &at, true);
        let least = if shown.is_ascii() { 2 } else { 1 };
        if is_part
            || shape == TermShape::Sign
            || shown.chars().filter(|c| c.is_alphanumeric()).count() < least
        {
            continue;
        }
        let (worth, is_entity) = worth(beginning, &at, shape, is_inside(&quoted, &at, false));
        if let Some(&place) = places.get(&term) {
            let word = &mut words[place];
            word.times += 1;
            word.worth = word.worth.max(worth);
            word.is_entity |= is_entity;
            continue;
        }
        places.insert(term, words.len());
        words.push(Keyword { shown: shown.to_lowercase(), is_entity, worth, times: 1 });
    }
    for word in &mut words {
        word.worth += AGAIN * (word.times - 1).min(2) as f32;
    }
    // Stable: of equal worth the earlier comes first.
    words.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    words
}

fn worth(text: &str, at: &Range<usize>, shape: TermShape, is_quoted: bool) -> (f32, bool) {
    let shown = &text[at.clone()];
    let capitals = shown.chars().filter(|c| c.is_uppercase()).count();
    let has = |test: fn(char) -> bool| shown.contains(test);
    let is_number = !has(char::is_alphabetic);
    let is_identifier = !is_number
        && (has(|c| c.is_ascii_digit())
            || has(|c| matches!(c, '_' | '.' | '/' | '@' | '+' | '#'))
            || (shape == TermShape::Joined && capitals > 0));
    let is_acronym = capitals >= 2;
    let starts = begins_sentence(text, at.start);
    let is_name = capitals > 0 && !starts;
    let is_entity = is_identifier || is_acronym || is_name || is_quoted;
    let extra = if is_entity {
        NAMED
    } else if capitals > 0 {
        MAYBE_NAMED
    } else {
        0.0
    };
    // Longer words are rarer (Zipf); it decides between equals only.
    let length = shown.chars().count().min(12) as f32 / 24.0;
    (1.0 + extra + if is_number { 0.0 } else { length }, is_entity)
}

/// Whether a word stands where every word has a capital.
fn begins_sentence(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '"', '\'', '(', '“', '‘', '*', '_', '`']);
    before.is_empty() || before.ends_with(['.', '!', '?', '\n', ':', '-', '•', '>', '#', '…', '\r', '\t'])
}

/// What stands between quotes or backticks, up to forty characters: more is speech.
fn quoted(text: &str) -> Vec<Range<usize>> {
    const MOST: usize = 40;
    let mut ranges = Vec::new();
    for (open, close) in [('`', '`'), ('"', '"'), ('“', '”'), ('«', '»')] {
        let mut at = 0;
        while let Some(start) = text[at..].find(open).map(|found| at + found + open.len_utf8()) {
            let end = text[start..].char_indices().take(MOST + 1).find(|(_, c)| *c == close);
            at = match end {
                Some((length, _)) => {
                    ranges.push(start..start + length);
                    start + length + close.len_utf8()
                }
                None => start,
            };
        }
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Whether a place lies in one of the ranges (sorted by start), which is longer where `is_longer` asks for it.
fn is_inside(ranges: &[Range<usize>], at: &Range<usize>, is_longer: bool) -> bool {
    let behind = ranges.partition_point(|range| range.start <= at.start);
    ranges[..behind]
        .iter()
        .rev()
        .take(4)
        .any(|range| range.end >= at.end && (!is_longer || range.len() > at.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_words_and_small_words_never() {
        let check = |text: &str, expected: &[&str]| {
            let words: Vec<String> = of(text).into_iter().take(8).map(|word| word.shown).collect();
            assert_eq!(words, expected, "{text}");
        };
        check("The billing API listens on port 8080.", &["api", "billing", "listens", "port", "8080"]);
        check(
            "We chose PostgreSQL over MySQL for invoices.",
            &["postgresql", "mysql", "invoices", "chose", "over"],
        );
        check(
            "`retry_after` is read by getUserName() in node.js",
            &["retry_after", "getusername", "node.js", "read"],
        );
        check("Caches keep caches of caches.", &["caches", "keep"]);
        check("it is what it is", &[]);
        check(
            "Die Schlüssel für den Keller hängen hinter der Garagentür.",
            &["garagentür", "schlüssel", "keller", "hängen"],
        );
        check("東京都の天気", &["東京", "京都", "都の", "の天", "天気"]);
        check("", &[]);
    }
}
