//! Finds the words that the texts of a community use more than other texts do.
//! Words are compared by their stems, and returned as the texts write them. Equal texts in any order give equal terms.
//!
//! The measure is Dunning's log-likelihood ratio G² of the numbers of texts that have a word ([Dunning
//! 1993](https://aclanthology.org/J93-1003/)). Unlike chi-square it holds for rare words too.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::entity::without_possessive;
use super::extract::is_content_word;
use crate::text::{Analyzer, Language, Purpose, TermOccurrence, TermShape};

/// Most terms of a community.
pub const MOST_TERMS: usize = 8;

/// The words of texts that were read, by numbers.
#[derive(Debug)]
pub struct Vocabulary {
    analyzer: Analyzer,
    stems: HashMap<String, u32>,
    /// The number of the stem of each form, and its own; `None` if it is no term.
    forms: HashMap<String, Option<(u32, u32)>>,
    /// Each form as it is written.
    written: Vec<String>,
}

/// The words of one text: pairs of a stem and a form, ascending and each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextWords(Vec<(u32, u32)>);

impl TextWords {
    /// Calls a function with each stem once.
    fn each_stem(&self, mut each: impl FnMut(u32)) {
        let mut last = None;
        for (stem, _) in &self.0 {
            if last.replace(*stem) != Some(*stem) {
                each(*stem);
            }
        }
    }
}

/// How many of some texts have each stem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFrequencies {
    texts: u64,
    /// By the numbers of stems. Those behind the last are in no text.
    having: Vec<u32>,
}

impl TextFrequencies {
    /// Counts texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a TextWords>) -> Self {
        let mut counted = Self::default();
        for words in texts {
            counted.texts += 1;
            words.each_stem(|stem| {
                let at = stem as usize;
                if at >= counted.having.len() {
                    counted.having.resize(at + 1, 0);
                }
                counted.having[at] += 1;
            });
        }
        counted
    }

    /// Returns the number of texts that have a stem, and of all texts.
    fn share(&self, stem: u32) -> (u64, u64) {
        (self.having.get(stem as usize).copied().unwrap_or(0).into(), self.texts)
    }
}

/// The texts of a community, and those with which they are compared.
#[derive(Debug)]
pub struct ComparedTexts<'a> {
    /// Texts of the community.
    pub inside: &'a [&'a TextWords],
    /// The frequencies in texts of the whole store.
    pub store: &'a TextFrequencies,
    /// The frequencies in those of them that are of the community, which are taken off.
    pub own: &'a TextFrequencies,
}

impl Vocabulary {
    /// Creates an empty vocabulary of a language.
    pub fn new(language: Language) -> Self {
        let analyzer = Analyzer::new(language);
        Self { analyzer, stems: HashMap::new(), forms: HashMap::new(), written: Vec::new() }
    }

    /// Reads the words of a text. Stop words, numbers, words of one letter, and words of scripts that are written without spaces are
    /// left out.
    pub fn read(&mut self, text: &str) -> TextWords {
        let mut words = Vec::new();
        let Self { analyzer, stems, forms, written } = self;
        analyzer.each(text, Purpose::Index, |found| {
            if found.shape != TermShape::Word {
                return ControlFlow::Continue(());
            }
            let form = without_possessive(&text[found.at.clone()]);
            let known = forms.get(form).copied().unwrap_or_else(|| {
                let pair = is_term(form, &found).then(|| {
                    let next = stems.len() as u32;
                    written.push(form.to_owned());
                    (*stems.entry(found.term.to_owned()).or_insert(next), written.len() as u32 - 1)
                });
                forms.insert(form.to_owned(), pair);
                pair
            });
            words.extend(known);
            ControlFlow::Continue(())
        });
        words.sort_unstable();
        words.dedup();
        TextWords(words)
    }

    /// Returns the words that more of a community's texts have than of the other texts, at most [`MOST_TERMS`], those of the highest G²
    /// first and ties in alphabetical order. Each is in the form that most of these texts have. Words of `shown` are left out.
    pub fn terms(&mut self, texts: &ComparedTexts<'_>, shown: &[String]) -> Vec<String> {
        let except: HashSet<u32> =
            shown.iter().flat_map(|name| self.read(name).0).map(|(stem, _)| stem).collect();
        let inside = TextFrequencies::of(texts.inside.iter().copied());
        let mut scored: Vec<(f64, u32)> = Vec::new();
        for stem in 0..inside.having.len() as u32 {
            let (here, store, own) = (inside.share(stem), texts.store.share(stem), texts.own.share(stem));
            let elsewhere = (store.0.saturating_sub(own.0), store.1.saturating_sub(own.1));
            // The larger share of texts. Without other texts there is none.
            let is_more = here.0 * elsewhere.1 > elsewhere.0 * here.1;
            if is_more && !except.contains(&stem) {
                scored.push((log_likelihood_ratio(here, elsewhere), stem));
            }
        }
        scored.sort_by(|one, two| two.0.total_cmp(&one.0));
        // All words with the ratio of the last one that may be shown: their forms decide.
        let bar = scored.get(MOST_TERMS - 1).map_or(f64::NEG_INFINITY, |(ratio, _)| *ratio);
        scored.retain(|(ratio, _)| *ratio >= bar);
        let forms = self.forms_of(texts.inside, &scored.iter().map(|(_, stem)| *stem).collect());
        let mut terms: Vec<(f64, &str)> =
            scored.iter().filter_map(|(ratio, stem)| Some((*ratio, *forms.get(stem)?))).collect();
        terms.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(two.1)));
        terms.truncate(MOST_TERMS);
        terms.into_iter().map(|(_, form)| form.to_owned()).collect()
    }

    /// Returns the form of each of some stems that most texts have; of two, the first in alphabetical order.
    fn forms_of(&self, texts: &[&TextWords], stems: &HashSet<u32>) -> HashMap<u32, &str> {
        let mut counts: HashMap<(u32, u32), u64> = HashMap::new();
        for pair in texts.iter().flat_map(|words| &words.0).filter(|(stem, _)| stems.contains(stem)) {
            *counts.entry(*pair).or_default() += 1;
        }
        let mut best: HashMap<u32, (u64, &str)> = HashMap::new();
        for ((stem, form), count) in counts {
            let form = self.written[form as usize].as_str();
            let one = best.entry(stem).or_insert((count, form));
            if count > one.0 || (count == one.0 && form < one.1) {
                *one = (count, form);
            }
        }
        best.into_iter().map(|(stem, (_, form))| (stem, form)).collect()
    }
}

/// Whether a word may be a term: it is neither a stop word nor a number, and has more than one letter.
fn is_term(form: &str, found: &TermOccurrence<'_>) -> bool {
    is_content_word(found) && form.chars().nth(1).is_some() && form.contains(char::is_alphabetic)
}

/// Returns Dunning's G² of a word: twice the sum of `k ln(k / E)` over four numbers of texts. `k` counts the texts with and without
/// the word, here and elsewhere. `E` is what `k` would be if the word's share were the same on both sides; then G² is 0. It has no
/// upper bound.
///
/// Each argument is the number of texts that have the word, and of all texts.
fn log_likelihood_ratio(here: (u64, u64), elsewhere: (u64, u64)) -> f64 {
    let texts = (here.1 + elsewhere.1) as f64;
    let having = (here.0 + elsewhere.0) as f64;
    let part = |(count, all): (u64, u64)| {
        let term =
            |count: f64, expected: f64| if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
        let share = all as f64 / texts;
        term(count as f64, share * having) + term((all - count) as f64, share * (texts - having))
    };
    2.0 * (part(here) + part(elsewhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms of the texts `inside`, beside all texts of a store.
    fn terms(inside: &[&str], rest: &[&str], shown: &[&str]) -> Vec<String> {
        let mut vocabulary = Vocabulary::new(Language::English);
        let read: Vec<TextWords> = inside.iter().map(|text| vocabulary.read(text)).collect();
        let others: Vec<TextWords> = rest.iter().map(|text| vocabulary.read(text)).collect();
        let store = TextFrequencies::of(read.iter().chain(&others));
        let own = TextFrequencies::of(&read);
        let texts = ComparedTexts { inside: &read.iter().collect::<Vec<_>>(), store: &store, own: &own };
        vocabulary.terms(&texts, &shown.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_ratio_is_that_of_the_paper() {
        let check = |here, elsewhere, expected: f64, within: f64| {
            let found = log_likelihood_ratio(here, elsewhere);
            assert!((found - expected).abs() <= within, "{here:?} {elsewhere:?}: {found}");
        };
        // Two lines of table 1 of Dunning 1993: `the swiss` and `can be`.
        check((110, 110 + 2_442), (111, 111 + 29_114), 270.72, 0.005);
        check((29, 29 + 13), (123, 123 + 31_612), 263.90, 0.005);
        // By hand. All 3 texts have it and none of 3 others: 2 (3 ln 2 + 3 ln 2) = 12 ln 2.
        check((3, 3), (0, 3), 8.317_766_166_719_343, 1e-12);
        // 2 of 4 and 1 of 16; expected are .6, 3.4, 2.4 and 13.6:
        // 2 (2 ln(2 / .6) + 2 ln(2 / 3.4) + ln(1 / 2.4) + 15 ln(15 / 13.6)) = 3.88185.
        check((2, 4), (1, 16), 3.88185, 5e-6);
        // The same share on both sides, and nothing to compare with.
        check((2, 4), (8, 16), 0.0, 1e-12);
        check((0, 4), (0, 16), 0.0, 0.0);
        check((2, 4), (0, 0), 0.0, 1e-12);
    }

    #[test]
    fn terms_are_what_a_community_writes_more_than_others() {
        let inside = [
            "sourdough needs a starter.",
            "Feed the starter, sourdough rises.",
            "The sourdough's crust, 1999",
        ];
        let rest = ["The router needs a port.", "A crust of the port", "the cable, the port", "12 routers"];
        // Of 3 texts here and 4 elsewhere, `sourdough` is in 3 and 0 (G² 9.56), `starter` in 2 and 0 (4.56), `Feed` and `rises` in 1 and
        // 0 (1.92); `crust` and `needs` in 1 and 1 (.06): a third is more than a quarter.
        assert_eq!(terms(&inside, &rest, &[]), ["sourdough", "starter", "Feed", "rises", "crust", "needs"]);
        // What the names have is left out, in whatever form.
        let shown = ["Starters", "The Sourdough Club"];
        assert_eq!(terms(&inside, &rest, &shown), ["Feed", "rises", "crust", "needs"]);
    }

    #[test]
    fn a_term_is_in_the_form_that_most_texts_have() {
        let found =
            terms(&["Baking bread", "he bakes", "she bakes", "Baked 3 loaves, baked"], &["a port"], &[]);
        assert_eq!(found[0], "bakes");
        // Of two forms of as many texts the first by its letters, capitals before small letters.
        assert_eq!(terms(&["Breads", "bread"], &["a port"], &[]), ["Breads"]);
    }

    #[test]
    fn of_equal_words_the_first_by_the_alphabet_are_taken() {
        let inside = ["kiwi juniper iris hazel grape fig elder date cherry banana apple"];
        let found = terms(&inside, &["a port"], &[]);
        assert_eq!(found, ["apple", "banana", "cherry", "date", "elder", "fig", "grape", "hazel"]);
        assert_eq!(
            found,
            terms(&["apple banana cherry date elder fig grape hazel iris juniper kiwi"], &["a port"], &[])
        );
    }

    #[test]
    fn the_order_of_texts_does_not_matter() {
        let one = ["the red kiln", "Kilns of clay", "clay pots", "a glaze"];
        let two = ["a glaze", "clay pots", "Kilns of clay", "the red kiln"];
        assert_eq!(terms(&one, &["red port"], &[]), terms(&two, &["red port"], &[]));
    }

    #[test]
    fn nothing_to_compare_or_to_read_gives_no_terms() {
        assert!(terms(&[], &["a port"], &[]).is_empty());
        assert!(terms(&["of the 12 3.5 २०२४ e x ..."], &["a port"], &[]).is_empty());
        // Every text is of the community, so no word is more in it than elsewhere.
        assert!(terms(&["the kiln"], &[], &[]).is_empty());
    }
}
