//! Names communities by the words that their texts use more than other texts do.
//! It reads a bounded number of texts, and only those that the caller may see.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::error::Result;
use crate::graph::{ComparedTexts, TextFrequencies, TextWords, Vocabulary};
use crate::item::RowId;
use crate::request::GraphCommunity;

/// Most texts of a community that are read, evenly spread over all of its texts.
const COMMUNITY_TEXTS: usize = 100;
/// Most texts of the store with which these are compared, evenly spread over all that the caller may see.
const COMPARED_TEXTS: usize = 500;
/// Most characters of a text that are read.
const TEXT_CHARS: usize = 2_000;
/// Texts that are read at once.
const BATCH: usize = 1_000;

/// Adds the terms of communities. `rows` are those of each document and memory, and `of_node` has the number of each one's community.
pub(super) fn add_terms(
    engine: &Engine,
    rows: &[Vec<RowId>],
    of_node: &[u32],
    communities: &mut [GraphCommunity],
) -> Result<()> {
    if communities.is_empty() {
        return Ok(());
    }
    let mut all: Vec<(RowId, u32)> = rows
        .iter()
        .zip(of_node)
        .flat_map(|(rows, community)| rows.iter().map(|row| (*row, *community)))
        .collect();
    all.sort_unstable();
    let mut of_community: BTreeMap<u32, Vec<RowId>> =
        communities.iter().map(|community| (community.number, Vec::new())).collect();
    for (row, community) in &all {
        if let Some(rows) = of_community.get_mut(community) {
            rows.push(*row);
        }
    }
    for rows in of_community.values_mut() {
        *rows = spread(rows, COMMUNITY_TEXTS);
    }
    let compared = spread(&all, COMPARED_TEXTS);
    let wanted: BTreeSet<RowId> =
        of_community.values().flatten().copied().chain(compared.iter().map(|(row, _)| *row)).collect();
    let mut vocabulary = Vocabulary::new(LANGUAGE);
    let words = read(engine, &wanted.into_iter().collect::<Vec<_>>(), &mut vocabulary)?;
    let of_compared = |number: Option<u32>| {
        let of_number = compared.iter().filter(|(_, one)| number.is_none_or(|number| number == *one));
        TextFrequencies::of(of_number.filter_map(|(row, _)| words.get(row)))
    };
    let store = of_compared(None);
    for community in communities {
        let rows = of_community.get(&community.number).map_or(&[][..], Vec::as_slice);
        let inside: Vec<&TextWords> = rows.iter().filter_map(|row| words.get(row)).collect();
        let own = of_compared(Some(community.number));
        let texts = ComparedTexts { inside: &inside, store: &store, own: &own };
        community.terms = vocabulary.terms(&texts, &community.entities);
    }
    Ok(())
}

/// Reads the words of texts. Removed rows are left out.
fn read(engine: &Engine, rows: &[RowId], vocabulary: &mut Vocabulary) -> Result<BTreeMap<RowId, TextWords>> {
    let mut words = BTreeMap::new();
    for batch in rows.chunks(BATCH) {
        for (row, text) in batch.iter().zip(engine.store.dated_texts(batch, TEXT_CHARS)?) {
            if let Some(text) = text {
                words.insert(*row, vocabulary.read(whole_words(&text.content)));
            }
        }
    }
    Ok(words)
}

/// Returns a text without its last word, if it has so many characters that this word may be cut.
fn whole_words(text: &str) -> &str {
    let may_be_cut = text.chars().nth(TEXT_CHARS - 1).is_some();
    let end = text.rfind(char::is_whitespace).filter(|_| may_be_cut);
    end.map_or(text, |end| &text[..end])
}

/// Returns at most `most` of some values: the first, and those at equal distances behind it.
fn spread<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    all.iter().copied().step_by(all.len().div_ceil(most).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_at_the_end_of_a_cut_text_is_left_out() {
        assert_eq!(whole_words("the whole text"), "the whole text");
        let long = format!("{} kilns", "é".repeat(TEXT_CHARS - 5));
        assert_eq!((long.chars().count(), whole_words(&long).len()), (TEXT_CHARS + 1, 2 * (TEXT_CHARS - 5)));
        let unbroken = "é".repeat(TEXT_CHARS);
        assert_eq!(whole_words(&unbroken), unbroken);
    }

    #[test]
    fn values_are_taken_at_equal_distances() {
        assert_eq!(spread(&[1, 2, 3, 4, 5, 6, 7], 3), [1, 4, 7]);
        assert_eq!(spread(&[1, 2, 3], 3), [1, 2, 3]);
        assert_eq!(spread(&[1, 2, 3, 4], 3), [1, 3]);
        assert!(spread::<u32>(&[], 3).is_empty());
    }
}
