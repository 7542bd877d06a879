//! Corrects misspelled words of a question by the words of the items that it may find.

use crate::engine::Engine;
use crate::engine::indexes::{LANGUAGE, covered};
use crate::engine::query::plan::Scope;
use crate::engine::query::retrieve::text_delta;
use crate::error::Result;
use crate::item::Allowed;
use crate::request::Correction;
use crate::text::{self, AskedTerm, Language, QueryTerm};

/// Most words of a question whose spelling is looked at. A longer question is a pasted text, and one word decides little.
const MOST_WORDS: usize = 32;

/// A question with other words in place of those that nobody wrote.
#[derive(Clone, Debug)]
pub(crate) struct Corrected {
    pub(crate) text: String,
    pub(crate) words: Vec<Correction>,
}

/// Corrects the words of a question that neither the model's vocabulary nor any item has. Each becomes the most frequent word
/// of the items from which one mistake makes it. `None` if nothing was corrected.
///
/// The vocabulary is English. So a question stays as it is if it is in another of the store's languages, or has mostly such words.
pub(crate) fn corrected(
    engine: &Engine,
    question: &str,
    languages: &[Language],
    scope: &Scope<'_>,
) -> Result<Option<Corrected>> {
    let words = text::asked_terms(question, LANGUAGE);
    if words.len() > MOST_WORDS || text::likeliest(question, languages) != Language::English {
        return Ok(None);
    }
    // A word that the vocabulary has is one piece. A model that fails is reported by the vector channel.
    let pieces = engine.model.with_vocabulary(|embedder| {
        words.iter().map(|word| embedder.count_pieces(&word.folded)).collect::<Result<Vec<usize>>>()
    })?;
    let Some(pieces) = pieces else { return Ok(None) };
    let mut unknown: Vec<&AskedTerm> =
        words.iter().zip(pieces).filter(|(_, pieces)| *pieces > 1).map(|(word, _)| word).collect();
    if !unknown.iter().any(|word| word.is_correctable(question)) {
        return Ok(None);
    }
    let terms: Vec<QueryTerm> = unknown.iter().map(|word| word.query_term()).collect();
    let mut having = frequencies(engine, scope, &terms)?.into_iter();
    unknown.retain(|_| having.next() == Some(0));
    if unknown.len() * 2 > words.len() {
        return Ok(None);
    }
    let mut corrected = Corrected { text: String::with_capacity(question.len()), words: Vec::new() };
    let mut end = 0;
    for word in unknown.into_iter().filter(|word| word.is_correctable(question)) {
        let Some(meant) = likeliest(engine, scope, &word.folded)? else { continue };
        corrected.text.push_str(&question[end..word.at.start]);
        corrected.text.push_str(&meant);
        end = word.at.end;
        corrected.words.push(Correction { word: question[word.at.clone()].to_owned(), read_as: meant });
    }
    corrected.text.push_str(&question[end..]);
    Ok((!corrected.words.is_empty()).then_some(corrected))
}

/// Whether a text has a word that no item has which may be found.
pub(crate) fn has_unknown(engine: &Engine, text: &str, scope: &Scope<'_>) -> Result<bool> {
    let terms = text::query_terms(text, &[]);
    Ok(frequencies(engine, scope, &terms)?.contains(&0))
}

/// Returns the most frequent word of the items from which one mistake makes `word`.
///
/// Items are counted by stems, and a stem does not tell which of its words is written there: of "take" none has "taked". So the
/// word must be in the model's vocabulary, or be its own stem.
fn likeliest(engine: &Engine, scope: &Scope<'_>, word: &str) -> Result<Option<String>> {
    let (candidates, terms): (Vec<String>, Vec<QueryTerm>) =
        text::corrections(word, LANGUAGE).into_iter().unzip();
    let having = frequencies(engine, scope, &terms)?;
    let mut counted: Vec<_> = having.into_iter().zip(candidates.iter().zip(&terms)).collect();
    counted.retain(|(having, _)| *having > 0);
    // Of equally frequent ones the first in the alphabet, so that the same question has the same answer.
    counted.sort_by(|one, two| two.0.cmp(&one.0).then_with(|| one.1.0.cmp(two.1.0)));
    let found = engine.model.with_vocabulary(|embedder| {
        for (_, (candidate, term)) in counted {
            if term.term == *candidate || embedder.count_pieces(candidate)? == 1 {
                return Ok(Some(candidate.clone()));
            }
        }
        Ok(None)
    })?;
    Ok(found.flatten())
}

/// Returns for each term how many of the items that the question may find contain it.
fn frequencies(engine: &Engine, scope: &Scope<'_>, terms: &[QueryTerm]) -> Result<Vec<u64>> {
    let store = &*engine.store;
    let index = engine.indexes.text(store)?;
    let new = engine.caches.deltas.text(store, scope.newest, covered(&index))?;
    let drop = scope.dropped(&new.gone);
    let delta = text_delta(terms, &new, scope.allowed(), scope.keep)?;
    // Counting a selection reads postings, so it is left out where everything may be found.
    let counted = scope.keep.map(|keep| Allowed { keep: Some(keep), drop: &drop });
    let rarity = match index.good() {
        Some(index) => index.ask(|index| text::rarity(Some(index), &delta, terms, counted))?,
        None => text::rarity(None, &delta, terms, counted)?,
    };
    Ok(rarity.having)
}
