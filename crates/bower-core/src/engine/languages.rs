//! Tells in which languages the store's texts are, and whether the model knows them.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engine;
use crate::engine::indexes::covered;
use crate::error::Result;
use crate::files;
use crate::item::{Allowed, Coverage, RowSet, Step};
use crate::request::{Degraded, LanguageCount};
use crate::text::{self, Language};

/// What to do. The model is the smallest that the program offers for many languages.
pub(crate) const REMEDY: &str = "bower model use multilingual-e5-small compares meanings in many languages";

/// The share of texts in other languages from which a model that knows only English is reported. It is ten times the share of
/// English texts that are taken for another language ([`text::language_of`]).
const REPORTED: f64 = 0.01;

/// The file in the folder of the indexes that exists if an answer has reported the texts' languages.
const REPORTED_FILE: &str = "languages-reported";

/// Returns the languages of the store's texts other than English, or of the texts in `counted`.
pub(crate) fn languages(
    engine: &Engine,
    newest: &Coverage,
    counted: Option<&RowSet>,
) -> Result<Vec<Language>> {
    let store = &*engine.store;
    let index = engine.indexes.text(store)?;
    let new = engine.caches.deltas.text(store, newest, covered(&index))?;
    let mut languages: BTreeSet<Language> = new.languages(counted).into_keys().collect();
    let allowed = counted.map(|counted| Allowed { keep: Some(counted), drop: &new.gone });
    if let Some(indexed) = index.ask(|index| index.languages(allowed))? {
        languages.extend(indexed.into_keys());
    }
    Ok(languages.into_iter().collect())
}

/// Returns the number of items in each language, the most frequent first. Empty if all are English.
pub(crate) fn counts(engine: &Engine) -> Result<Vec<LanguageCount>> {
    let store = &*engine.store;
    let newest = store.coverage()?;
    let index = engine.indexes.text(store)?;
    let new = engine.caches.deltas.text(store, &newest, covered(&index))?;
    let mut counts: BTreeMap<Language, u64> = new.languages(None);
    // Rows that were replaced or removed since are counted only if something was.
    let everything = RowSet::new();
    let alive = Allowed { keep: None, drop: if new.gone.is_empty() { &everything } else { &new.gone } };
    for (language, items) in index.ask(|index| index.languages(Some(alive)))?.unwrap_or_default() {
        *counts.entry(language).or_default() += items;
    }
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let held = store.counts()?;
    let others: u64 = counts.values().sum();
    counts.insert(Language::English, (held.memories + held.chunks).saturating_sub(others));
    let mut counts: Vec<LanguageCount> = counts
        .into_iter()
        .map(|(language, items)| LanguageCount { language: language.word().to_owned(), items })
        .collect();
    counts.sort_by(|one, two| two.items.cmp(&one.items).then_with(|| one.language.cmp(&two.language)));
    Ok(counts)
}

/// Returns what to tell about a model that knows only English and a store with these languages; `None` if there is nothing.
fn texts_unknown(model: &str, counts: &[LanguageCount]) -> Option<String> {
    let all: u64 = counts.iter().map(|count| count.items).sum();
    let others: Vec<&LanguageCount> =
        counts.iter().filter(|count| count.language != Language::English.word()).collect();
    let items: u64 = others.iter().map(|count| count.items).sum();
    if items == 0 || (items as f64) < REPORTED * all as f64 {
        return None;
    }
    let named: Vec<String> =
        others.iter().take(3).map(|count| format!("{} {}", count.items, title(&count.language))).collect();
    let more = if others.len() > named.len() { ", and others" } else { "" };
    Some(format!(
        "{items} of {all} texts are not in English ({}{more}), and the model {model} knows only English",
        named.join(", ")
    ))
}

/// Returns what to tell about a question in another language.
fn question_unknown(model: &str, language: Language) -> String {
    format!("the question is in {}, and the model {model} knows only English", title(language.word()))
}

/// Returns a language as a sentence names it: `German`.
fn title(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Returns the model's name if it knows only English.
fn english_model(engine: &Engine) -> Option<String> {
    let embedder = engine.model.get().ok()?;
    (!embedder.knows_all_languages()).then(|| engine.model.state().name)
}

/// Returns what is wrong with the model for texts in these languages; `None` if nothing is.
pub(crate) fn unknown(engine: &Engine, counts: &[LanguageCount]) -> Option<String> {
    texts_unknown(&english_model(engine)?, counts)
}

/// Returns what an answer tells about languages that the model does not know: of the question always, and of the texts once for
/// each store on this machine. `sees_all` is whether the caller may know about all texts.
pub(crate) fn degraded(engine: &Engine, question: &str, sees_all: bool) -> Result<Option<Degraded>> {
    let Some(model) = english_model(engine) else { return Ok(None) };
    let reported = engine.indexes.folder().join(REPORTED_FILE);
    let reason = match text::language_of(question) {
        Language::English if !sees_all || reported.exists() => None,
        Language::English => {
            let told = texts_unknown(&model, &counts(engine)?);
            if told.is_some() {
                // On a disk that cannot be written, the next answer tells it again.
                let _ = files::create(&reported);
            }
            told
        }
        language => Some(question_unknown(&model, language)),
    };
    Ok(reason
        .map(|reason| Degraded { channel: Step::Language.into(), reason: format!("{reason}: {REMEDY}") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_other_languages_are_told_from_one_in_a_hundred() {
        let counts = |german: u64, french: u64| {
            [("english", 400), ("german", german), ("french", french)]
                .map(|(language, items)| LanguageCount { language: language.into(), items })
        };
        assert_eq!(texts_unknown("m", &counts(4, 0)), None);
        assert_eq!(texts_unknown("m", &[]), None);
        let told = texts_unknown("m", &counts(100, 12)).unwrap();
        assert!(
            told.starts_with("112 of 512 texts are not in English (100 German, 12 French), and the model m"),
            "{told}"
        );
    }
}
