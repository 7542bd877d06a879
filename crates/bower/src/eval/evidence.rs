//! Measures how much of the relevant documents is in the evidence that fits a budget.
//! All functions are pure.
//!
//! Relevant documents have any grade above zero; those that are not in the corpus count as missed. For each question and
//! budget, `cited` is the share of them from which at least one sentence is in the packed evidence, and `words` is the mean
//! share of their words that is in it. Both are averaged over all judged questions.

use serde::Serialize;
use std::collections::BTreeMap;

use super::bootstrap::{self, Interval};
use super::metrics::Grades;

/// Budgets that are measured, in tokens.
pub const BUDGETS: [usize; 4] = [256, 512, 1_024, 2_048];

/// Share of one question's relevant documents that one budget contains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// Share of relevant documents that are cited, 0..1.
    pub cited: f64,
    /// Mean share of their words that is contained, 0..1.
    pub words: f64,
    /// Tokens that the evidence takes, citations included.
    pub tokens: usize,
}

/// Figures of one budget over all questions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "fields are the keys of the JSON")]
pub struct Budget {
    /// Size of the budget in tokens.
    pub budget_tokens: usize,
    /// Mean number of used tokens, citations included.
    pub tokens: f64,
    /// Share of relevant documents that are cited, 0..1.
    pub cited: f64,
    /// 95 % interval of `cited`.
    pub cited_interval: Interval,
    /// Mean share of the relevant documents' words that is contained, 0..1.
    pub words: f64,
    /// 95 % interval of `words`.
    pub words_interval: Interval,
    /// `cited` per 1,000 used tokens.
    pub cited_per_1000_tokens: f64,
}

/// Computes the share of the relevant documents that packed evidence contains. `pieces` are texts with their documents' ids,
/// `texts` has the whole text of each document, `tokens` is the size of the evidence.
pub fn held(
    pieces: &[(String, String)],
    tokens: usize,
    grades: &Grades,
    texts: &BTreeMap<&str, &str>,
) -> Held {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for (document, text) in pieces {
        *words.entry(document).or_default() += count(text);
    }
    let relevant: Vec<&str> =
        grades.iter().filter(|(_, grade)| **grade > 0).map(|(document, _)| document.as_str()).collect();
    let share = |document: &&str| {
        let held = words.get(document).copied().unwrap_or(0) as f64;
        let all = texts.get(document).map_or(0, |text| count(text)).max(1) as f64;
        // A title that was added before the text counts in the piece's words, but not in the document's.
        (held / all).min(1.0)
    };
    let of = relevant.len().max(1) as f64;
    Held {
        cited: relevant.iter().filter(|document| words.contains_key(*document)).count() as f64 / of,
        words: relevant.iter().map(share).sum::<f64>() / of,
        tokens,
    }
}

/// Computes the figures of one budget over all questions.
pub fn budget(budget_tokens: usize, held: &[Held]) -> Budget {
    let count = held.len().max(1) as f64;
    let mean = |value: fn(&Held) -> f64| held.iter().map(value).sum::<f64>() / count;
    let rows: Vec<Vec<f64>> = held.iter().map(|one| vec![one.cited, one.words]).collect();
    let intervals = bootstrap::of_means(&rows);
    let interval = |at: usize| intervals.get(at).copied().unwrap_or_default();
    let (tokens, cited) = (mean(|one| one.tokens as f64), mean(|one| one.cited));
    Budget {
        budget_tokens,
        tokens,
        cited,
        cited_interval: interval(0),
        words: mean(|one| one.words),
        words_interval: interval(1),
        cited_per_1000_tokens: if tokens > 0.0 { cited * 1_000.0 / tokens } else { 0.0 },
    }
}

/// Counts the words of a text; the marks of omissions and cuts do not count.
fn count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn what_stands_in_the_pieces_by_hand() {
        let texts = BTreeMap::from([("a", "one two three four"), ("b", "five - six"), ("c", "seven")]);
        let grades = Grades::from([
            ("a".to_owned(), 1),
            ("b".to_owned(), 2),
            ("c".to_owned(), 0),
            ("gone".to_owned(), 1),
        ]);
        let piece = |document: &str, text: &str| (document.to_owned(), text.to_owned());
        let pieces = [
            piece("a", "one […] three"),
            piece("c", "seven"),
            piece("b", "Title five six"),
            piece("a", "four …"),
        ];
        let found = held(&pieces, 60, &grades, &texts);
        // Of a, b and gone, two are cited: 3 of 4 words of a, all of b, none of gone.
        close(found.cited, 2.0 / 3.0);
        close(found.words, 1.75 / 3.0);
        assert_eq!(found.tokens, 60);
        assert_eq!(held(&[], 0, &grades, &texts), Held::default());
    }

    #[test]
    fn budgets_are_means_over_the_questions() {
        let one = Held { cited: 1.0, words: 0.5, tokens: 300 };
        let two = Held { cited: 0.5, words: 0.0, tokens: 100 };
        let found = budget(256, &[one, two]);
        close(found.cited, 0.75);
        close(found.words, 0.25);
        close(found.tokens, 200.0);
        close(found.cited_per_1000_tokens, 3.75);
        close(found.cited_interval.0, 0.5);
        close(found.cited_interval.1, 1.0);
        close(budget(256, &[]).cited_per_1000_tokens, 0.0);
    }
}
