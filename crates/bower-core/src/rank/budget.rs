//! Packs the best sentences of ranked items into a budget of tokens.
//! The budget is never exceeded, no sentence is split and none is repeated.
//!
//! Greedy by gain per token. A sentence's gain is its item's score times the share of the question's weight that it and
//! its neighbours contain. Each item first fills its share of the budget. The rest goes to the next best sentences of
//! any item. Neighbours in one document become one piece, in the document's order.

mod assemble;
mod part;
mod same;
mod units;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::evidence::{Evidence, OPENING, Piece};
pub use part::RankedText;
use part::{CutItem, PackState};
use same::TakenSentences;
use units::{TextUnit, UnitShape};

/// Tokens that one item may take in the first pass; twice as many for a strong item (Bowerbird's first version).
const SHARE_TOKENS: usize = 200;
/// Least share of the best score that makes an item strong.
const STRONG: f32 = 0.8;

// Measured on LoCoMo: share of the answering turns that are packed whole, from chunks of whole sessions, within 256 /
// 512 / 1,024 / 2,048 tokens: .64 .74 .82 .88. Whole chunks in rank order: .54 .70 .81 .87. Twice or half of any
// constant changes no figure by more than .02.
/// Gain of a sentence without any word of the question, because meaning also matches questions.
const PLAIN: f32 = 0.15;
/// Share of its better neighbour's relevance that a sentence gets. At .5 and above the neighbours win over the sentence.
const NEAR: f32 = 0.1;
/// Tokens added to each sentence's cost; without them "Yes." would win.
const FLAT_TOKENS: f32 = 40.0;
/// Factor on the gain of text around a hit, relative to the hit.
const BESIDE: f32 = 0.4;

/// Bytes read for each token of the budget before packing begins: twice what fits at four bytes a token.
const READ_BYTES: usize = 8;
/// Number of consecutive misses after which the budget counts as full.
const MISSES: usize = 24;

/// Appends the terms of the question in a text: the byte offset, ascending, and the term's number.
pub type Marks<'a> = dyn Fn(&str, &mut Vec<(usize, usize)>) + 'a;

/// The question's terms with their weights.
#[derive(Clone, Copy)]
pub struct QuestionWords<'a> {
    /// Finds the terms of the question in a text.
    pub marks: &'a Marks<'a>,
    /// The weight of each term by its rarity; not negative.
    pub weights: &'a [f32],
}

/// A unit that may be taken. The greatest is next: by density, then rank, then position.
#[derive(Clone, Copy, Debug)]
struct Offer {
    density: f32,
    part: usize,
    unit: usize,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.density
            .total_cmp(&other.density)
            .then(other.part.cmp(&self.part))
            .then(other.unit.cmp(&self.unit))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// Packs `candidates` (best first) into at most `budget_tokens`, as `count` counts the tokens of a text.
///
/// The first candidate is always included. If none of its sentences fits, its best one is cut at a word and ends with
/// `…`. The result is empty only if its citation alone fills the budget. The caller sets `counted_by`.
pub fn pack(
    candidates: &[RankedText<'_>],
    question: &QuestionWords<'_>,
    budget_tokens: usize,
    count: &dyn Fn(&str) -> usize,
) -> Evidence {
    let mut packing = Packing {
        parts: read(candidates, question, budget_tokens),
        seen: TakenSentences::default(),
        taken: Vec::new(),
        used: count(OPENING),
        budget: budget_tokens,
        count,
    };
    same::mark_overlaps(&mut packing.parts);
    let mut pieces = if packing.take_first() {
        packing.fill();
        packing.fitting_pieces()
    } else {
        packing.cut_first().into_iter().collect()
    };
    let tokens = assemble::measure(&mut pieces, count);
    let hits = candidates.iter().filter(|candidate| !candidate.is_beside);
    let left_out = hits.filter(|hit| !pieces.iter().any(|piece| piece.rows.contains(&hit.row))).count();
    Evidence { pieces, tokens, budget_tokens, counted_by: String::new(), left_out }
}

/// Cuts candidates into units, as many as the budget can use.
fn read<'a>(
    candidates: &[RankedText<'a>],
    question: &QuestionWords<'_>,
    budget_tokens: usize,
) -> Vec<CutItem<'a>> {
    let enough = budget_tokens.saturating_mul(READ_BYTES);
    let mut read = 0_usize;
    let mut marks = Vec::new();
    let mut parts = Vec::new();
    for item in candidates {
        if read >= enough && !parts.is_empty() {
            break;
        }
        read += item.content.len().min(SHARE_TOKENS * READ_BYTES / 2);
        let units = units::cut(item.content, item.is_code);
        marks.clear();
        (question.marks)(item.content, &mut marks);
        let gains = gains(item, &units, &marks, question.weights);
        let state = vec![PackState::Free; units.len()];
        parts.push(CutItem { item: *item, units, gains, state, tokens: 0 });
    }
    parts
}

/// Returns the gain of each unit: the item's score times the weight of the question's terms in the unit and beside it.
fn gains(item: &RankedText<'_>, units: &[TextUnit], marks: &[(usize, usize)], weights: &[f32]) -> Vec<f32> {
    let total: f32 = weights.iter().sum();
    let mut marks = marks.iter().peekable();
    let mut had = vec![usize::MAX; weights.len()];
    let shares: Vec<f32> = units
        .iter()
        .enumerate()
        .map(|(nth, unit)| {
            let mut share = 0.0;
            while let Some(&&(at, term)) = marks.peek() {
                if at >= unit.range.end {
                    break;
                }
                marks.next();
                if at >= unit.range.start && had.get(term).is_some_and(|&last| last != nth) {
                    had[term] = nth;
                    share += weights[term];
                }
            }
            if total > 0.0 { share / total } else { 0.0 }
        })
        .collect();
    let score = item.score.clamp(0.0, 1.0).max(f32::MIN_POSITIVE) * if item.is_beside { BESIDE } else { 1.0 };
    let share_at = |at: Option<usize>| at.and_then(|at| shares.get(at)).copied().unwrap_or(0.0);
    (0..units.len())
        .map(|nth| {
            let near = share_at(nth.checked_sub(1)).max(share_at(Some(nth + 1)));
            // Without a word of the question, the beginning of a text describes it best.
            let lead = PLAIN / (1.0 + nth as f32 / 8.0);
            match units[nth].shape {
                UnitShape::Sentence | UnitShape::Line => score * (lead + shares[nth] + NEAR * near),
                // The citation already contains the heading.
                UnitShape::Heading => score * lead * 0.1,
            }
        })
        .collect()
}

/// The state of one run of [`pack`].
struct Packing<'a> {
    parts: Vec<CutItem<'a>>,
    seen: TakenSentences,
    /// Taken units, each with its frame, in the order of taking.
    taken: Vec<(usize, Vec<usize>)>,
    used: usize,
    budget: usize,
    count: &'a dyn Fn(&str) -> usize,
}

impl Packing<'_> {
    /// Takes the first candidate's best unit that fits; false if none does.
    fn take_first(&mut self) -> bool {
        let mut offers = self.offers(0, true);
        offers.sort_unstable_by(|a, b| b.cmp(a));
        offers.into_iter().any(|offer| self.take(offer, usize::MAX) == Taken::In)
    }

    /// Takes the units with the greatest gain per token until nothing fits, first within each item's share, then beyond it.
    fn fill(&mut self) {
        let mut later = Vec::new();
        let best = self.parts.first().map_or(0.0, |part| part.item.score);
        let mut heap: BinaryHeap<Offer> = self.offers(0, false).into();
        for part in 1..self.parts.len() {
            // The best unit opens the part; the others follow without the cost of its citation.
            heap.extend(self.offers(part, true).into_iter().max());
        }
        let mut misses = 0;
        while let Some(offer) = heap.pop() {
            let strong = self.parts[offer.part].item.score >= STRONG * best;
            let share = if strong { 2 * SHARE_TOKENS } else { SHARE_TOKENS };
            let was_open = self.parts[offer.part].is_open();
            match self.take(offer, share) {
                Taken::In => misses = 0,
                Taken::Full => misses += 1,
                Taken::Later => later.push(offer),
                Taken::Known => {}
            }
            if !was_open {
                let opened = self.parts[offer.part].is_open();
                let others =
                    self.offers(offer.part, !opened).into_iter().filter(|other| other.unit != offer.unit);
                if opened {
                    heap.extend(others);
                } else {
                    // The next one may open the part, but only if it ranks below the refused one.
                    heap.extend(others.filter(|other| other < &offer).max());
                }
            }
            if misses > MISSES {
                return;
            }
        }
        for offer in later {
            if self.take(offer, usize::MAX) == Taken::Full {
                misses += 1;
            }
            if misses > MISSES {
                return;
            }
        }
    }

    /// Returns the free units of a part with their density; `opening` adds the cost of a citation.
    fn offers(&self, part: usize, opening: bool) -> Vec<Offer> {
        let Some(of) = self.parts.get(part) else { return Vec::new() };
        let head = if opening { FLAT_TOKENS } else { 0.0 };
        (0..of.units.len())
            .filter(|&unit| of.state[unit] == PackState::Free)
            .map(|unit| {
                let tokens = estimate_tokens(of.text(unit)) as f32;
                Offer { density: of.gains[unit] / (tokens + FLAT_TOKENS + head), part, unit }
            })
            .collect()
    }

    /// Takes a unit with its frame if it is new and fits both the item's `share` and the budget.
    fn take(&mut self, offer: Offer, share: usize) -> Taken {
        let part = &self.parts[offer.part];
        if part.state[offer.unit] != PackState::Free {
            return Taken::Known;
        }
        let all = part.with_frame(offer.unit);
        if part.units[offer.unit].shape == UnitShape::Sentence && self.seen.has(part.text(offer.unit)) {
            self.parts[offer.part].state[offer.unit] = PackState::Twice;
            return Taken::Known;
        }
        let mut tokens: usize = all.iter().map(|&unit| (self.count)(part.text(unit))).sum();
        let joined = |at: usize| part.state.get(at) == Some(&PackState::Taken);
        if !(joined(offer.unit + 1) || offer.unit > 0 && joined(offer.unit - 1)) {
            tokens += all.len() * (self.count)(assemble::GAP);
        }
        let is_open = part.is_open();
        if is_open && part.tokens + tokens > share {
            return Taken::Later;
        }
        let head = if is_open { 0 } else { (self.count)(&assemble::head_of(&part.item, self.parts.len())) };
        if self.used + tokens + head > self.budget {
            return Taken::Full;
        }
        self.used += tokens + head;
        let part = &mut self.parts[offer.part];
        part.tokens += tokens;
        for &unit in &all {
            part.state[unit] = PackState::Taken;
            if part.units[unit].shape == UnitShape::Sentence {
                self.seen.add(&part.item.content[part.units[unit].range.clone()]);
            }
        }
        self.taken.push((offer.part, all));
        Taken::In
    }

    /// Returns the pieces. While they exceed the budget as a whole, the units taken last are removed.
    fn fitting_pieces(&mut self) -> Vec<Piece> {
        loop {
            let mut pieces = assemble::pieces(&self.parts);
            if assemble::measure(&mut pieces, self.count) <= self.budget {
                return pieces;
            }
            let Some((part, units)) = self.taken.pop() else { return Vec::new() };
            for unit in units {
                self.parts[part].state[unit] = PackState::Free;
            }
            if self.taken.is_empty() {
                return self.cut_first().into_iter().collect();
            }
        }
    }

    /// Returns the first candidate's best unit, cut at a word so that it fits.
    fn cut_first(&self) -> Option<Piece> {
        let part = self.parts.first()?;
        let unit =
            (0..part.units.len()).max_by(|&a, &b| part.gains[a].total_cmp(&part.gains[b]).then(b.cmp(&a)))?;
        let text = part.text(unit);
        let fits = |end: usize| {
            let mut pieces = [assemble::cut_piece(&part.item, &part.units[unit], &text[..end])];
            assemble::measure(&mut pieces, self.count) <= self.budget
        };
        let words: Vec<usize> = ends_of_words(text);
        let most = words.partition_point(|&end| fits(end));
        // Token counts are not quite monotonic in length, so further words may have to be dropped.
        let end = words[..most].iter().rev().copied().find(|&end| fits(end))?;
        Some(assemble::cut_piece(&part.item, &part.units[unit], &text[..end]))
    }
}

/// The result of trying to take a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    In,
    /// It does not fit the budget.
    Full,
    /// The item's share is used up.
    Later,
    /// Its text is already included.
    Known,
}

/// Returns the ends of the words of a text, except the text's own end. In scripts without spaces, the ends of characters.
fn ends_of_words(text: &str) -> Vec<usize> {
    let spaced: Vec<usize> = text
        .char_indices()
        .zip(text.chars().skip(1))
        .filter(|((_, a), b)| !a.is_whitespace() && b.is_whitespace())
        .map(|((at, a), _)| at + a.len_utf8())
        .collect();
    if spaced.is_empty() { text.char_indices().skip(1).map(|(at, _)| at).collect() } else { spaced }
}

/// Estimates a text's tokens if no tokenizer is available: a quarter of its characters, rounded up, and one for each
/// character of scripts without spaces.
///
/// Error against a language model's count (o200k, whole texts of four sets): chat -6 %, code +5 %, notes +11 %,
/// abstracts +33 %. MiniLM's `WordPiece`, which is used if it is installed: chat -2 %, notes +6 %, abstracts +2 %, code
/// +27 %.
pub fn estimate_tokens(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let (mut quarters, mut wide) = (0_usize, 0_usize);
    for letter in text.chars() {
        if letter >= '\u{2e80}' { wide += 1 } else { quarters += 1 }
    }
    wide + quarters.div_ceil(4)
}

#[cfg(test)]
mod tests;
