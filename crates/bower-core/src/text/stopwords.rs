//! Stop words, which are removed from questions.
//! They are never removed from documents, so the list can change at any time.

use std::collections::HashSet;

use super::chars;
use super::language::Language;

/// Sorted: articles, pronouns, prepositions, conjunctions, auxiliaries and question words, folded like terms before
/// stemming (without apostrophes). It contains the 33 of Lucene's `StopAnalyzer`, completed by closed grammatical
/// classes. No noun, main verb, number or adverb of time is among them.
const ENGLISH: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "arent", "as", "at", "be", "because", "been",
    "being", "but", "by", "can", "cannot", "cant", "could", "couldnt", "did", "didnt", "do", "does",
    "doesnt", "doing", "dont", "each", "else", "for", "from", "had", "hadnt", "has", "hasnt", "have",
    "havent", "having", "he", "her", "hers", "him", "his", "how", "i", "id", "if", "im", "in", "into", "is",
    "isnt", "it", "its", "ive", "me", "might", "must", "my", "no", "nor", "not", "of", "on", "or", "our",
    "ours", "shall", "she", "should", "shouldnt", "so", "some", "such", "than", "that", "the", "their",
    "theirs", "them", "then", "there", "these", "they", "theyre", "this", "those", "to", "us", "was",
    "wasnt", "we", "were", "werent", "what", "when", "where", "which", "while", "who", "whom", "whose",
    "why", "with", "wont", "would", "wouldnt", "you", "your", "youre", "yours",
];

/// Auxiliaries that are also names and months: kept when capitalised inside a question ("met Will in May").
const NAMES: &[&str] = &["may", "will"];

/// The stop words of one language. Those of languages other than English are NLTK's lists, from the crate `stop-words`.
pub(super) struct StopWords {
    /// `None` for English.
    others: Option<HashSet<String>>,
}

impl StopWords {
    /// Returns the stop words of a language; none if no list is known.
    pub(super) fn of(language: Language) -> Self {
        if language == Language::English {
            return Self { others: None };
        }
        // The lists call Norwegian `no`.
        let code = if language == Language::Norwegian { "no" } else { language.code() };
        let words = stop_words::lookup(code).unwrap_or_default();
        Self { others: Some(words.iter().map(|word| chars::fold_word(&word.replace('\'', ""))).collect()) }
    }

    /// Whether a folded, unstemmed word is one of them.
    pub(super) fn has(&self, folded: &str) -> bool {
        self.others.as_ref().map_or_else(|| is_stop(folded), |words| words.contains(folded))
    }

    /// Whether a folded word is an English auxiliary that may also be a name.
    pub(super) fn has_or_name(&self, folded: &str) -> bool {
        self.others.is_none() && is_name_or_stop(folded)
    }
}

/// Whether a folded, unstemmed word is an English stop word.
pub fn is_stop(folded: &str) -> bool {
    ENGLISH.binary_search(&folded).is_ok()
}

/// Whether a folded word is an auxiliary that may also be a name.
fn is_name_or_stop(folded: &str) -> bool {
    NAMES.contains(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_distinct() {
        assert!(ENGLISH.is_sorted_by(|a, b| a < b));
        assert!(is_stop("whose") && is_stop("a") && is_stop("yours") && !is_stop("house"));
        assert!(is_name_or_stop("may") && !is_stop("may"));
    }
}
