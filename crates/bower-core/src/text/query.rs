//! Turns a question into weighted terms.
//! A question never loses all its words: stop words are kept if nothing else remains.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::analyze::{Analyzer, Purpose, TermOccurrence, TermShape};
use super::detect::certain_language;
use super::language::Language;
use super::stopwords::StopWords;

/// Most distinct terms of a question; the rest of a pasted book adds cost, not meaning. The search then keeps the
/// rarest (see [`super::index::TextIndex::search`]).
pub const MOST_TERMS: usize = 256;

/// Words of a question after which none is looked for among the speakers.
const MOST_NAMES: usize = 64;

/// A term to look for.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The indexed term.
    pub term: String,
    /// The other terms that the word has in texts of other languages, whose stemmers differ.
    pub variants: Vec<String>,
    /// Factor on the term's BM25 score: its frequency in the question (1 and up).
    pub weight: f32,
    /// Whether it is a name in the question: a capital within a sentence, a compound (`web-041`, `userId`), a word with digits.
    pub is_name: bool,
    /// The words by which a speaker of this name would be found, folded like the names in the index: `neill` and `o`
    /// of `O'Neill`. Empty for a compound, whose parts are terms of their own.
    pub speaker: Vec<String>,
}

impl QueryTerm {
    fn add_variant(&mut self, term: &str) {
        if self.term != term && !self.variants.iter().any(|variant| variant == term) {
            self.variants.push(term.to_owned());
        }
    }

    /// Makes a term that names nobody.
    pub fn of(term: impl Into<String>) -> Self {
        Self { term: term.into(), variants: Vec::new(), weight: 1.0, is_name: false, speaker: Vec::new() }
    }
}

/// Returns the distinct terms of a question in the order of their first occurrence; empty only for an empty text.
///
/// Terms are those of the word in an English text, with variants for texts in `languages`. Stop words of the question's own
/// language, which is one of these if that is certain and otherwise English, are removed unless nothing else remains (`who is it`). A stop word in capitals amid lower case is a name and stays (`WHO`, `IT`). So does a capitalised `May`
/// or `Will` that does not begin the question.
pub fn query_terms(text: &str, languages: &[Language]) -> Vec<QueryTerm> {
    let stop_words = StopWords::of(certain_language(text, languages).unwrap_or_default());
    let mut kept = Terms::default();
    let mut stops = Terms::default();
    let has_lower = text.contains(|c: char| c.is_lowercase());
    let mut first = true;
    let mut names = 0;
    // By its place in the question, whether a word is a stop word, and its position among these or the other terms.
    let mut places: HashMap<(usize, usize), (bool, usize)> = HashMap::new();
    Analyzer::new(Language::English).each(text, Purpose::Query, |found| {
        let stop = is_stop(&stop_words, text, &found, has_lower, first);
        let is_name = is_name(text, &found, has_lower, first);
        first = false;
        let speaker: Vec<String> = match found.shape {
            TermShape::Word | TermShape::Gram | TermShape::Sign if names < MOST_NAMES => {
                super::speaker::words(&text[found.at.clone()]).collect()
            }
            TermShape::Joined | TermShape::Word | TermShape::Gram | TermShape::Sign => Vec::new(),
        };
        names += speaker.len();
        let terms = if stop { &mut stops } else { &mut kept };
        let nth = terms.add(QueryTerm { is_name: is_name && !stop, speaker, ..QueryTerm::of(found.term) });
        places.insert((found.at.start, found.at.end), (stop, nth));
        let full = kept.list.len() >= MOST_TERMS;
        if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    for &language in languages.iter().filter(|language| **language != Language::English) {
        Analyzer::new(language).each(text, Purpose::Query, |found| {
            if let Some(&(stop, nth)) = places.get(&(found.at.start, found.at.end)) {
                let terms = if stop { &mut stops } else { &mut kept };
                terms.list[nth].add_variant(found.term);
            }
            ControlFlow::Continue(())
        });
    }
    if kept.list.is_empty() { stops.list } else { kept.list }
}

/// Whether a word is a name. Acronyms are not counted, because they often name a kind of thing ("the IP"); nor is a
/// capital at the start.
fn is_name(text: &str, found: &TermOccurrence<'_>, has_lower: bool, first: bool) -> bool {
    let shown = &text[found.at.clone()];
    let has_digit = found.folded.contains(|c: char| c.is_ascii_digit());
    let has_letter = found.folded.contains(char::is_alphabetic);
    match found.shape {
        TermShape::Joined => true,
        TermShape::Word if has_digit => has_letter,
        TermShape::Word => {
            let is_shouted = !shown.contains(char::is_lowercase);
            has_lower && !first && !is_shouted && shown.starts_with(char::is_uppercase)
        }
        TermShape::Gram | TermShape::Sign => false,
    }
}

fn is_stop(
    stop_words: &StopWords,
    text: &str,
    found: &TermOccurrence<'_>,
    has_lower: bool,
    first: bool,
) -> bool {
    if found.shape != TermShape::Word {
        return false;
    }
    let shown = &text[found.at.clone()];
    let shouted = has_lower
        && shown.chars().filter(|c| c.is_uppercase()).count() >= 2
        && !shown.contains(char::is_lowercase);
    let named = !first && shown.starts_with(char::is_uppercase);
    (stop_words.has(found.folded) && !shouted) || (stop_words.has_or_name(found.folded) && !named)
}

#[derive(Default)]
struct Terms {
    list: Vec<QueryTerm>,
    at: HashMap<String, usize>,
}

impl Terms {
    /// Adds a term, or its count to the same term; returns its position.
    fn add(&mut self, term: QueryTerm) -> usize {
        if let Some(&at) = self.at.get(&term.term) {
            let known = &mut self.list[at];
            known.weight += 1.0;
            known.is_name |= term.is_name;
            known.speaker.extend(term.speaker);
            known.speaker.sort_unstable();
            known.speaker.dedup();
            return at;
        }
        let at = self.list.len();
        self.at.insert(term.term.clone(), at);
        self.list.push(term);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_things_by_their_shape() {
        let names = |text: &str| {
            let terms = query_terms(text, &[]).into_iter().filter(|term| term.is_name);
            terms.map(|term| term.term).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("which IP does host web-041 have?"), "web041");
        assert_eq!(names("Where does Ada Brandt sit?"), "ada brandt");
        assert_eq!(names("user_name of UX-4221"), "usernam ux4221");
        assert_eq!(names("What is the port?") + &names("WHAT IS THE PORT") + &names("Deploys"), "");
    }

    fn check(text: &str, expected: &str) {
        let terms = query_terms(text, &[]);
        let shown: Vec<_> = terms.iter().map(|t| format!("{}:{}", t.term, t.weight)).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn a_question_loses_its_small_words_but_never_all() {
        check("What did Caroline research?", "carolin:1 research:1");
        check("How do I open a file, any file?", "open:1 file:2");
        check("who is it", "who:1 is:1 it:1");
        check("to be or not to be", "to:2 be:2 or:1 not:1");
        check("What's the WHO guideline for IT staff?", "who:1 guidelin:1 it:1 staff:1");
        check("Will Will come in May?", "will:1 come:1 may:1");
        check("WHAT IS RUST", "rust:1");
        check("getUserName", "get:1 user:1 name:1 getusernam:1");
        check("東京都", "東京:1 京都:1");
        check("*", "*:1");
        check("  ", "");
    }

    #[test]
    fn a_word_has_the_stems_of_all_languages_and_the_question_loses_its_own_small_words() {
        let check = |text: &str, languages: &[Language], expected: &str| {
            let terms = query_terms(text, languages).into_iter();
            let shown: Vec<_> = terms
                .map(|t| std::iter::once(t.term).chain(t.variants).collect::<Vec<_>>().join("|"))
                .collect();
            assert_eq!(shown.join(" "), expected, "{text}");
        };
        let german = &[Language::German];
        // Snowball: `häuser` and `hauses` have the German stem `haus`.
        check("Wo stehen die Häuser?", german, "stehen|steh hauser|haus");
        check("Where are the houses?", german, "hous");
        check("die houses", &[], "die hous");
        // French leaves out the article of `l'homme`.
        check("où est l'homme aujourd'hui?", &[Language::French, Language::German], "lhomm|homm aujourdhui");
    }

    #[test]
    fn a_megabyte_is_capped() {
        let words: Vec<_> = (0..200_000).map(|n| format!("w{n}")).collect();
        let text = words.join(" ");
        assert_eq!(query_terms(&text, &[]).len(), MOST_TERMS);
    }
}
