//! Detects sentences that repeat another one, ignoring case, punctuation and white space.

use std::collections::HashSet;

use super::part::{CutItem, PackState};
use crate::rank::words::{whole, words};

/// Least share of common words of two equal sentences (ADE has .85 for whole memories; a sentence is
/// short, so a tenth of its words is at most two).
const SAME: f32 = 0.9;

/// The sentences that were taken.
#[derive(Debug, Default)]
pub(super) struct TakenSentences {
    exact: HashSet<u64>,
    /// The sorted words of each.
    words: Vec<Vec<u64>>,
}

impl TakenSentences {
    /// Whether a sentence equals an added one.
    pub(super) fn has(&self, text: &str) -> bool {
        let words = words(text);
        if self.exact.contains(&whole(&words)) {
            return true;
        }
        let words = sorted(words);
        self.words.iter().any(|other| is_same(&words, other))
    }

    /// Adds a sentence.
    pub(super) fn add(&mut self, text: &str) {
        let words = words(text);
        self.exact.insert(whole(&words));
        self.words.push(sorted(words));
    }
}

/// Marks text that is in two candidates: copies of a whole item, and the overlap of consecutive chunks.
pub(super) fn mark_overlaps(parts: &mut [CutItem<'_>]) {
    let mut copies = HashSet::new();
    for at in 0..parts.len() {
        if !copies.insert(whole(&words(parts[at].item.content))) {
            parts[at].state.fill(PackState::Twice);
            continue;
        }
        for other in 0..at {
            let (before, after) = parts.split_at_mut(at);
            let (one, two) = (&mut before[other], &mut after[0]);
            if one.item.document.is_none() || one.item.document != two.item.document {
                continue;
            }
            if one.item.position.checked_add(1) == Some(two.item.position) {
                mark_overlap(one, two);
            } else if two.item.position.checked_add(1) == Some(one.item.position) {
                mark_overlap(two, one);
            }
        }
    }
}

/// Marks the units at the end of one chunk that the next one repeats at its beginning.
fn mark_overlap(before: &mut CutItem<'_>, after: &mut CutItem<'_>) {
    let (one, two) = (before.item.content, after.item.content);
    let repeated = overlap(one, two);
    if repeated == 0 {
        return;
    }
    let mut from = repeated;
    for (unit, state) in after.units.iter().zip(&mut after.state) {
        if unit.range.end <= repeated {
            *state = PackState::Twice;
        } else {
            // A sentence begins in the repeated text and continues after it: the first chunk has only a part of it.
            from = from.min(unit.range.start);
            break;
        }
    }
    let whole_from = one.len() - (repeated - from);
    if from < repeated {
        for (unit, state) in before.units.iter().zip(&mut before.state) {
            if unit.range.start >= whole_from {
                *state = PackState::Twice;
            }
        }
    }
}

/// Returns the length in bytes of the longest suffix of one text that is a prefix of the other.
fn overlap(one: &str, two: &str) -> usize {
    let first = two.as_bytes().first().copied();
    let from = one.len() - one.len().min(two.len());
    (from..one.len())
        .find(|&at| {
            Some(one.as_bytes()[at]) == first && one.is_char_boundary(at) && two.starts_with(&one[at..])
        })
        .map_or(0, |at| one.len() - at)
}

fn sorted(mut words: Vec<u64>) -> Vec<u64> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Whether two sets of words have a Jaccard coefficient of at least [`SAME`].
fn is_same(a: &[u64], b: &[u64]) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if (short.len() as f32) < SAME * long.len() as f32 {
        return false;
    }
    let (mut at, mut shared) = (0, 0_usize);
    for word in short {
        while at < long.len() && long[at] < *word {
            at += 1;
        }
        shared += usize::from(long.get(at) == Some(word));
    }
    shared as f32 >= SAME * (short.len() + long.len() - shared) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_sentence() {
        let check = |one: &str, two: &str, same: bool| {
            let mut seen = TakenSentences::default();
            seen.add(one);
            assert_eq!(seen.has(two), same, "{one} / {two}");
        };
        check("Ports are 8080.", "ports  are 8080", true);
        check("Ports are 8080.", "Ports are 9090.", false);
        check("a b c d e f g h i j", "a b c d e f g h i", true); // 9 of 10
        check("a b c d e f g h i j", "a b c d e f g h", false); // 8 of 10
        check("one two", "two one", true);
        check("版本是二。", "版本是三。", false);
        check("---", "***", false);
        check("!", "!", true);
    }

    #[test]
    fn what_a_chunk_repeats_is_found() {
        assert_eq!(overlap("One is. Two is.", "Two is. Three is."), 7);
        assert_eq!(overlap("One", "Two"), 0);
        assert_eq!(overlap("aé", "éb"), 2);
        assert_eq!(overlap("", "x"), 0);
        assert_eq!(overlap("same", "same"), 4);
    }
}
