//! The default profile: sums each candidate's scores of all channels, weighted by how far meaning is trusted.
//! Every candidate has its true score in each channel.
//!
//! ```text
//! g     = (clip((best v - mean v) / deviation of v, 0, 9) / 4.5)^2       how sharply meaning singles something out
//! score = .13 z(b) + .60 g z(v) + .40 / (1 + g) z(m) + .30 f z(p) + 1.0 (speaker - mean speaker) + 6.0 e
//! ```
//!
//! `b` is BM25. `v` is the mean of the item's cosine and the mean cosine of the candidates of its parent. `m` is late
//! interaction. `p` sums, for each word, the best part of BM25 among the candidates of the item's parent.
//! `f` is the share of candidates whose parent has several. `z` is (x - mean) / deviation over the candidates, 0 if a
//! score is missing. `speaker` is the share of a text that people spoke whom the question names, where a word counts by
//! how sure it is that it names a speaker (`Examined::speakers`). `e` is 1 for an item with every word of the question,
//! if one of them is in at most 3 candidates. A question with a rare name is about the place where it occurs, but a
//! model that does not know the name finds similar texts elsewhere. The mean and the deviation of `v` in `g` are those
//! of all rows that could have been found.
//!
//! Then each turn of a session gains .25 f of the better score of the turn before it and the turn after it, if that is above 0.
//! Each chunk among the best 50 gains .6 (1 - f) of the mean score of its 4 nearest neighbours in meaning among them. So the
//! context of a text is its document or session where candidates have one, and otherwise the texts that resemble it.
//!
//! A memory is a short statement, often about what is asked but in other words. Then the words that it shares with the
//! question are common ones and mislead, and its neighbours in meaning are about other things. If there are vectors:
//!
//! ```text
//! score = 1.3 z(c) + .32 z(m) + 36 (coverage p)^2 + 1.0 (speaker - mean speaker) + 6.0 e
//! ```
//!
//! `c` is its cosine. `coverage` is the share of the question's words, weighted by rarity, that it contains: half of
//! them count a quarter. `p` is the number of word pieces per letter of the question. The model knows common English
//! words as one piece of some four letters. It splits names, codes and other languages into pieces of one to three
//! letters, understands them less, and there words count more. `tools/fit_memory_rank.py` fits the three weights to 21 authors'
//! statements with questions. In stores of up to 100 memories, 47 % of the
//! English questions in other words, by authors that were left out, find their answer first. The formula of chunks finds
//! 34 %. In stores of some 300 memories they find 36 and 27 %. docs/performance.md has the table.
//!
//! Next a memory gains 4.0 (n - mean n). `n` is the share of the question's names, weighted by rarity, that it
//! contains. Short texts of one kind about other things are as near in meaning. In two generated months of 1,100 facts
//! each (`bower-bench life`) this finds 98.4 % in the first five, and 97 % without it. At 3.0 before the neighbours it
//! finds 97.1 and 98.0 %.
//!
//! Last, a memory gains .5 for matching what the question wants (`memory/frame/question.rs`): the attribute in other
//! words, the kind of answer. Chunks gain nothing in these two steps.
//!
//! An item to which the question refers by a tag (`#infra/db`) or by the path of a file gains twice as much as one with
//! every word.
//!
//! The first chunks of documents that the whole question names, by a path, a file name or a title, are put above all others at the
//! very end.
//!
//! Then the walk over the graph (`graph/walk.rs`) is mixed in. Scores are read as logarithms of probabilities:
//!
//! ```text
//! gain = ln(1 + L w e^(best score - score))       w: the item's share of the walker's time, 1 for the item with the most
//! ```
//!
//! `L` is 8 times the share of the question's words that name rare entities (`engine/query/graph.rs`). A question that names
//! nothing is answered without a walk. docs/graph.md has the measurements. An item that only the graph found counts in no mean
//! and no deviation.
//!
//! One set of constants serves conversations, science, code and notes: nDCG@10 over six labelled sets is .614, rank
//! fusion of the same two channels has .545. ARCHITECTURE.md has the sets and the gain of each part. Weights are flat
//! around these values: a fifth more or less of any moves the mean by .002 at most.

mod gains;

use serde::{Deserialize, Serialize};

pub use gains::{
    gain_deviations, gain_from_adjacent, gain_from_graph, gain_from_names, gain_from_neighbours,
    gain_from_references,
};

use crate::item::RowId;
use crate::rank::candidate::{Factor, Ranked};

/// The constants of the default profile. Measured on six labelled sets: see the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// Weight of BM25, 0 and up.
    pub text_weight: f32,
    /// Weight of the vector channel at a trust of 1, 0 and up.
    pub vector_weight: f32,
    /// Weight of late interaction at a trust of 0, 0 and up; at a trust of 1 half of it applies.
    pub tokens_weight: f32,
    /// Weight of the words of the item's document or session, 0 and up.
    pub parent_weight: f32,
    /// The share of both weights that counts where (nearly) all candidates are in another language than the question, 0..1. Few words
    /// of a question are in such texts, and these are common words of the other language or names.
    pub other_language: f32,
    /// Weight for text spoken entirely by a person whom the question names, 0 and up.
    pub speaker_weight: f32,
    /// A memory's weight of the square of the share of the question's words times pieces per letter, 0 and up. By
    /// `tools/fit_memory_rank.py`, as the next two: 35.9, 1.31 and .324.
    pub memory_text_weight: f32,
    /// A memory's weight of the vector channel, 0 and up.
    pub memory_vector_weight: f32,
    /// A memory's weight of late interaction, 0 and up.
    pub memory_tokens_weight: f32,
    /// Weight for a memory that contains all names of the question, 0 and up. Short texts of one kind differ in little else.
    pub name_weight: f32,
    /// Weight for an item with every word of the question, if one of them is rare, 0 and up. Without it, a chunk was
    /// once the 21st of some thousand although only it contained the question's one word, which the model did not know.
    pub complete_weight: f32,
    /// Most candidates with a rare word.
    pub complete_few: usize,
    /// Weight of a walk over the graph for a question all of whose words name rare entities, 0 and up. For others it is lower in
    /// proportion to how much they name.
    pub graph_weight: f32,
    /// The share of the better of the scores beside it that a turn of a session gains, 0..1, where all candidates have siblings.
    pub adjacent_weight: f32,
    /// The share of the neighbours' scores that an item gains, 0..1, where no candidate has siblings.
    pub neighbour_weight: f32,
    /// Number of neighbours that count.
    pub neighbours: usize,
    /// Number of best candidates among which neighbours are found.
    pub neighbourhood: usize,
    /// Deviations above the mean at which trust in meaning is 1.
    pub trust_scale: f32,
    /// Deviations above the mean beyond which trust does not grow.
    pub trust_most: f32,
    /// Prior trust, for a store too small to measure it.
    pub trust_prior: f32,
    /// Weight of the prior, in rows.
    pub trust_prior_rows: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            text_weight: 0.13,
            vector_weight: 0.6,
            tokens_weight: 0.4,
            parent_weight: 0.3,
            other_language: 0.25,
            speaker_weight: 1.0,
            memory_text_weight: 36.0,
            memory_vector_weight: 1.3,
            memory_tokens_weight: 0.32,
            name_weight: 4.0,
            complete_weight: 6.0,
            complete_few: 3,
            graph_weight: 8.0,
            adjacent_weight: 0.25,
            neighbour_weight: 0.6,
            neighbours: 4,
            neighbourhood: 50,
            trust_scale: 4.5,
            trust_most: 9.0,
            trust_prior: 0.7,
            trust_prior_rows: 20.0,
        }
    }
}

/// Upper bound on a score's factors, so that each list of them is allocated once.
const MOST_FACTORS: usize = 13;

/// Features of one candidate. All scores are true scores, whichever channel retrieved it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateFeatures<'a> {
    /// The item.
    pub row: RowId,
    /// BM25; 0 if it contains no word of the question.
    pub text: f32,
    /// The part of BM25 from each word of the question; equally many for every candidate.
    pub parts: &'a [f32],
    /// The share of the question's words, weighted by rarity, that it contains, 0..1. Words that no row has count too.
    pub coverage: f32,
    /// Whether its text is certainly in another language than the question.
    pub is_foreign: bool,
    /// The share of its text that is spoken by a person whom the question names, 0..1, by how sure that is.
    pub speaker: f32,
    /// Its document or session; 0 for none.
    pub parent: u64,
    /// Cosine; `None` if it has no vector.
    pub vector: Option<f32>,
    /// Late interaction; `None` if it has no token codes.
    pub tokens: Option<f32>,
    /// Whether it counts in the means and deviations. An item that only the graph found does not: what is far from the question
    /// would change the scores of what is near.
    pub counts: bool,
}

/// The question's cosines with all rows that could have been found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuestionSpread {
    /// Number of rows with a vector.
    pub rows: f64,
    /// The mean of their cosines.
    pub mean: f64,
    /// The standard deviation of their cosines.
    pub deviation: f64,
}

/// Word pieces per letter of a question whose pieces are not known: the median of English questions.
const USUAL_PIECES: f64 = 0.29;

/// Returns the word pieces per letter of a question, 0..1. `pieces` counts those of its words; `None` if the model does
/// not tell.
pub fn pieces_per_letter(question: &str, pieces: Option<usize>) -> f64 {
    let letters = question.chars().filter(|char| char.is_alphanumeric()).count();
    match pieces {
        Some(pieces) if letters > 0 => (pieces as f64 / letters as f64).min(1.0),
        Some(_) | None => USUAL_PIECES,
    }
}

/// Returns the trust in meaning for this question, 0 and up: `g` of the module's documentation. In a small store no row
/// can be far above the mean (at most (n - 1) / sqrt(n) deviations), so a prior takes part like some additional rows.
pub fn trust(seen: &[CandidateFeatures<'_>], background: &QuestionSpread, constants: &Constants) -> f64 {
    let best = seen.iter().filter_map(|one| one.vector).fold(f32::NEG_INFINITY, f32::max);
    let above = (f64::from(best) - background.mean) / background.deviation;
    let above = if above.is_finite() { above.clamp(0.0, f64::from(constants.trust_most)) } else { 0.0 };
    let shown = (above / f64::from(constants.trust_scale)).powi(2);
    let (rows, prior) = (background.rows.max(0.0), f64::from(constants.trust_prior_rows));
    if rows + prior > 0.0 {
        (rows * shown + prior * f64::from(constants.trust_prior)) / (rows + prior)
    } else {
        shown
    }
}

/// Ranks candidates by everything but their neighbours; best first, ties by row. A score is the sum of its factors, in
/// deviations: scores of different questions cannot be compared. `pieces` is from [`pieces_per_letter`].
///
/// Returns the ranking, and the share of the candidates whose document or session has several of them, 0..1.
pub fn rank(
    seen: &[CandidateFeatures<'_>],
    background: &QuestionSpread,
    pieces: f64,
    constants: &Constants,
) -> (Vec<Ranked>, f64) {
    let pool = Pool::of(seen, background, pieces, constants);
    let speaker = mean(seen.iter().filter(|one| one.counts).map(|one| f64::from(one.speaker)));
    let complete = worth_of_all_words(seen, constants);
    let mut ranked: Vec<Ranked> = seen
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let mut factors = pool.factors(at, one);
            let speaker = f64::from(constants.speaker_weight) * (f64::from(one.speaker) - speaker);
            let complete = if has_every_word(one) { complete } else { 0.0 };
            push_some(&mut factors, "speaker", speaker);
            push_some(&mut factors, "every word", complete);
            Ranked::new(one.row, factors)
        })
        .collect();
    ranked.sort_unstable_by(Ranked::cmp_best_first);
    (ranked, pool.siblings)
}

/// Adds a term, unless it is 0.
fn push_some(factors: &mut Vec<Factor>, name: &'static str, value: f64) {
    if value.abs() > f64::EPSILON {
        factors.push(Factor::plus(name, value));
    }
}

/// The candidates' scores in deviations over all of them, and what decides their weights.
struct Pool<'a> {
    constants: &'a Constants,
    /// The trust in meaning; `None` if no candidate has a vector.
    trust: Option<f64>,
    has_tokens: bool,
    /// The share of the candidates that have siblings.
    siblings: f64,
    /// Whether (nearly) all candidates are in another language than the question.
    is_foreign: bool,
    /// Word pieces per letter of the question.
    pieces: f64,
    text: Vec<f64>,
    cosine: Vec<f64>,
    vector: Vec<f64>,
    tokens: Vec<f64>,
    parent: Vec<f64>,
}

impl<'a> Pool<'a> {
    fn of(
        seen: &[CandidateFeatures<'_>],
        background: &QuestionSpread,
        pieces: f64,
        constants: &'a Constants,
    ) -> Self {
        let family = Family::of(seen);
        let of = |score: &dyn Fn(usize, &CandidateFeatures<'_>) -> Option<f64>| {
            standard(seen.iter().enumerate().map(|(at, one)| (score(at, one), one.counts)))
        };
        let with_family = |at: usize, one: &CandidateFeatures<'_>| {
            one.vector.map(|cosine| f64::midpoint(f64::from(cosine), family.cosine(at, one)))
        };
        let has_vectors = seen.iter().any(|one| one.vector.is_some());
        Self {
            constants,
            trust: has_vectors.then(|| trust(seen, background, constants)),
            has_tokens: seen.iter().any(|one| one.tokens.is_some()),
            siblings: family.share,
            is_foreign: is_foreign(seen),
            pieces,
            text: of(&|_, one| Some(f64::from(one.text))),
            cosine: of(&|_, one| one.vector.map(f64::from)),
            vector: of(&with_family),
            tokens: of(&|_, one| one.tokens.map(f64::from)),
            parent: of(&|at, one| Some(family.words(at, one))),
        }
    }

    /// Returns the terms of a candidate that words and meaning give. Without vectors a memory is ranked like a chunk.
    fn factors(&self, at: usize, one: &CandidateFeatures<'_>) -> Vec<Factor> {
        match self.trust {
            Some(_) if is_memory(one) => self.memory(at, one),
            Some(_) | None => self.chunk(at, one),
        }
    }

    fn chunk(&self, at: usize, one: &CandidateFeatures<'_>) -> Vec<Factor> {
        let constants = self.constants;
        let words = if self.is_foreign && one.is_foreign { f64::from(constants.other_language) } else { 1.0 };
        let mut factors = Vec::with_capacity(MOST_FACTORS);
        factors.push(Factor::plus("words", words * f64::from(constants.text_weight) * self.text[at]));
        if let Some(trust) = self.trust {
            let meaning = f64::from(constants.vector_weight) * trust * self.vector[at];
            factors.extend([Factor::note("trust in meaning", trust), Factor::plus("meaning", meaning)]);
        }
        if self.has_tokens {
            let weight = f64::from(constants.tokens_weight) / (1.0 + self.trust.unwrap_or_default());
            factors.push(Factor::plus("word by word", weight * self.tokens[at]));
        }
        push_some(
            &mut factors,
            "context",
            words * f64::from(constants.parent_weight) * self.siblings * self.parent[at],
        );
        factors
    }

    fn memory(&self, at: usize, one: &CandidateFeatures<'_>) -> Vec<Factor> {
        let constants = self.constants;
        let words = (f64::from(one.coverage) * self.pieces).powi(2);
        let mut factors = Vec::with_capacity(MOST_FACTORS);
        factors.extend([
            Factor::note("pieces per letter", self.pieces),
            Factor::plus("words", f64::from(constants.memory_text_weight) * words),
            Factor::plus("meaning", f64::from(constants.memory_vector_weight) * self.cosine[at]),
        ]);
        if self.has_tokens {
            let tokens = f64::from(constants.memory_tokens_weight) * self.tokens[at];
            factors.push(Factor::plus("word by word", tokens));
        }
        factors
    }
}

/// Candidates, per one in the question's language, from which they count as all in other languages: far more than those whose language
/// is mistaken.
const FOREIGN: usize = 20;

/// Whether (nearly) all candidates are in another language than the question. If some are in its language, words would lift
/// these over the others, so then the words of all count in full.
fn is_foreign(seen: &[CandidateFeatures<'_>]) -> bool {
    let counted = || seen.iter().filter(|one| one.counts);
    counted().filter(|one| !one.is_foreign).count() * FOREIGN < counted().count()
}

/// Whether it is a memory: it belongs to no document or session.
fn is_memory(one: &CandidateFeatures<'_>) -> bool {
    one.parent == 0
}

/// Returns the gain of a candidate that contains every word of the question.
fn worth_of_all_words(seen: &[CandidateFeatures<'_>], constants: &Constants) -> f64 {
    let words = seen.first().map_or(0, |one| one.parts.len());
    let having = |word: usize| seen.iter().filter(|one| one.counts && one.parts[word] > 0.0).count();
    let is_rare = (0..words).any(|word| (1..=constants.complete_few).contains(&having(word)));
    if is_rare { f64::from(constants.complete_weight) } else { 0.0 }
}

/// Whether it contains every word of the question, up to rounding.
fn has_every_word(one: &CandidateFeatures<'_>) -> bool {
    one.coverage > 0.999
}

/// Sums over the candidates of each parent.
struct Family {
    /// For each candidate its parent's index in the lists below.
    parent: Vec<Option<usize>>,
    /// For each parent the mean cosine of its candidates; `None` if none has a vector.
    cosines: Vec<Option<f64>>,
    /// For each parent the sum over words of the best part among its candidates.
    words: Vec<f64>,
    /// The share of the candidates that have siblings.
    share: f64,
}

impl Family {
    fn of(seen: &[CandidateFeatures<'_>]) -> Self {
        let mut members: Vec<usize> = (0..seen.len()).filter(|&at| seen[at].parent != 0).collect();
        members.sort_by_key(|&at| (seen[at].parent, !seen[at].counts));
        let mut family =
            Self { parent: vec![None; seen.len()], cosines: Vec::new(), words: Vec::new(), share: 0.0 };
        let mut siblings = 0;
        let mut most = Vec::new();
        for members in members.chunk_by(|&one, &two| seen[one].parent == seen[two].parent) {
            let counted = members.iter().take_while(|&&at| seen[at].counts).count();
            siblings += if counted > 1 { counted } else { 0 };
            // A parent of which nothing counts lends its members their own scores.
            if counted == 0 {
                continue;
            }
            most.clear();
            most.resize(seen[members[0]].parts.len(), 0f32);
            let (mut sum, mut with_vector) = (0.0, 0);
            for &at in members {
                family.parent[at] = Some(family.words.len());
                if let (Some(cosine), true) = (seen[at].vector, seen[at].counts) {
                    sum += f64::from(cosine);
                    with_vector += 1;
                }
                let parts = if seen[at].counts { seen[at].parts } else { &[] };
                most.iter_mut().zip(parts).for_each(|(most, part)| *most = most.max(*part));
            }
            family.cosines.push((with_vector > 0).then(|| sum / f64::from(with_vector)));
            family.words.push(most.iter().map(|part| f64::from(*part)).sum());
        }
        let counted = seen.iter().filter(|one| one.counts).count();
        family.share = siblings as f64 / counted.max(1) as f64;
        family
    }

    /// Returns the mean cosine of the candidates of an item's parent; the item's own cosine if it has no parent. `at`
    /// is the item's index.
    fn cosine(&self, at: usize, one: &CandidateFeatures<'_>) -> f64 {
        let parent = self.parent[at].and_then(|parent| self.cosines[parent]);
        parent.unwrap_or_else(|| one.vector.map_or(0.0, f64::from))
    }

    /// Returns the BM25 of an item that has each word as its parent's best candidate for it.
    fn words(&self, at: usize, one: &CandidateFeatures<'_>) -> f64 {
        self.parent[at].map_or_else(|| f64::from(one.text), |parent| self.words[parent])
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count();
    if count == 0 { 0.0 } else { values.sum::<f64>() / count as f64 }
}

/// Returns deviations from the mean; 0 for missing values, and for all if all are (nearly) equal. The second of each pair says
/// whether the value counts in the mean and the deviation.
fn standard(values: impl Iterator<Item = (Option<f64>, bool)>) -> Vec<f64> {
    let values: Vec<(Option<f64>, bool)> = values.collect();
    let known = || values.iter().filter(|(_, counts)| *counts).filter_map(|(value, _)| *value);
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let deviation = (known().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let scale = |value: f64| if deviation > 1e-9 { (value - mean) / deviation } else { 0.0 };
    values.iter().map(|(value, _)| value.map_or(0.0, scale)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(super) const PLAIN: Constants = Constants {
        text_weight: 0.2,
        vector_weight: 0.55,
        tokens_weight: 0.5,
        parent_weight: 0.3,
        other_language: 0.5,
        speaker_weight: 1.0,
        memory_text_weight: 36.0,
        memory_vector_weight: 1.5,
        memory_tokens_weight: 0.5,
        name_weight: 3.0,
        complete_weight: 6.0,
        complete_few: 3,
        graph_weight: 4.0,
        adjacent_weight: 0.25,
        neighbour_weight: 0.5,
        neighbours: 1,
        neighbourhood: 3,
        trust_scale: 4.5,
        trust_most: 9.0,
        trust_prior: 0.7,
        trust_prior_rows: 0.0,
    };

    /// A chunk, alone in its document.
    fn seen(row: u32, text: f32, vector: f32) -> CandidateFeatures<'static> {
        CandidateFeatures {
            row: RowId(row),
            text,
            parts: &[],
            coverage: 0.0,
            is_foreign: false,
            speaker: 0.0,
            parent: 1_000 + u64::from(row),
            vector: Some(vector),
            tokens: None,
            counts: true,
        }
    }

    fn memory(row: u32, coverage: f32, vector: f32, tokens: Option<f32>) -> CandidateFeatures<'static> {
        CandidateFeatures { coverage, tokens, parent: 0, ..seen(row, 9.0 * coverage, vector) }
    }

    fn ranked(
        seen: &[CandidateFeatures<'_>],
        background: &QuestionSpread,
        constants: &Constants,
    ) -> Vec<Ranked> {
        rank(seen, background, 0.25, constants).0
    }

    /// Best cosine .8, mean .2, deviation .1: six deviations, (6/4.5)^2 = 16/9.
    const BACKGROUND: QuestionSpread = QuestionSpread { rows: 100.0, mean: 0.2, deviation: 0.1 };

    #[track_caller]
    pub(super) fn check(ranked: &[Ranked], expected: &[(u32, f32)]) {
        let found: Vec<_> = ranked.iter().map(|one| (one.row.0, one.score)).collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-4, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn words_and_trusted_meaning_by_hand() {
        // z(b) of 4, 0: 1, -1. z(v) of .6, .8: -1, 1. g 16/9: .55 g = .97778.
        let found = ranked(&[seen(1, 4.0, 0.6), seen(2, 0.0, 0.8)], &BACKGROUND, &PLAIN);
        check(&found, &[(2, -0.2 + 0.977_78), (1, 0.2 - 0.977_78)]);
        // A question for which meaning singles nothing out: g is 0, so words decide.
        let flat = QuestionSpread { mean: 0.8, ..BACKGROUND };
        check(&ranked(&[seen(1, 4.0, 0.6), seen(2, 0.0, 0.8)], &flat, &PLAIN), &[(1, 0.2), (2, -0.2)]);
    }

    #[test]
    fn a_memory_is_found_by_meaning_and_by_most_of_the_words() {
        // z(c) of .6, .8: -1, 1, times 1.5; z(m) of .3, .5: -1, 1, times .5. Of the words 1 has half: 36 (.5 * .25)^2.
        let two = [memory(1, 0.5, 0.6, Some(0.3)), memory(2, 0.0, 0.8, Some(0.5))];
        check(&ranked(&two, &BACKGROUND, &PLAIN), &[(2, 2.0), (1, 0.562_5 - 2.0)]);
        // With nine tenths of them 36 (.9 * .25)^2 = 1.8225; among pieces of two letters 36 (.9 * .5)^2 = 7.29.
        let all = [memory(1, 0.9, 0.6, None), memory(2, 0.0, 0.8, None)];
        check(&ranked(&all, &BACKGROUND, &PLAIN), &[(2, 1.5), (1, 1.822_5 - 1.5)]);
        check(&rank(&all, &BACKGROUND, 0.5, &PLAIN).0, &[(1, 7.29 - 1.5), (2, 1.5)]);
        // Trust in meaning changes nothing.
        let flat = QuestionSpread { mean: 0.8, ..BACKGROUND };
        check(&ranked(&all, &flat, &PLAIN), &[(2, 1.5), (1, 1.822_5 - 1.5)]);
    }

    #[test]
    fn a_memory_beside_a_chunk_and_a_memory_without_vectors() {
        // The chunk: z(b) of 4, 0: 1, and z(v) -1 times .97778. The memory: z(c) 1 times 1.5.
        let both = [seen(1, 4.0, 0.6), memory(2, 0.0, 0.8, None)];
        check(&ranked(&both, &BACKGROUND, &PLAIN), &[(2, 1.5), (1, 0.2 - 0.977_78)]);
        // Words alone rank memories like chunks: z(b) of 9, 0 times .2.
        let plain = [memory(1, 1.0, 0.0, None), memory(2, 0.0, 0.0, None)];
        let plain = plain.map(|one| CandidateFeatures { vector: None, ..one });
        check(&ranked(&plain, &BACKGROUND, &PLAIN), &[(1, 0.2), (2, -0.2)]);
    }

    #[test]
    fn pieces_are_counted_per_letter() {
        let check = |question, pieces, expected: f64| {
            assert!((pieces_per_letter(question, pieces) - expected).abs() < 1e-9, "{question}");
        };
        check("Which port?", Some(2), 2.0 / 9.0);
        check("何号?", Some(2), 1.0);
        check("qx7", Some(9), 1.0);
        check("???", Some(3), USUAL_PIECES);
        check("Which port?", None, USUAL_PIECES);
    }

    #[test]
    fn late_interaction_weighs_less_where_meaning_is_trusted() {
        let tokens = |row, tokens| CandidateFeatures { tokens: Some(tokens), ..seen(row, 0.0, 0.8) };
        // z(m): 1, -1; z(v) 0; .5 / (1 + 16/9) = .18.
        let found = ranked(&[tokens(1, 0.3), tokens(2, 0.5)], &BACKGROUND, &PLAIN);
        check(&found, &[(2, 0.18), (1, -0.18)]);
    }

    #[test]
    fn a_parent_counts_for_its_items() {
        let part = |row, parent, parts: &'static [f32], vector| CandidateFeatures {
            parent,
            parts,
            text: parts.iter().sum(),
            ..seen(row, 0.0, vector)
        };
        // Parent 7 has both words in its two items; 3 is alone with one.
        let items =
            [part(1, 7, &[2.0, 0.0], 0.8), part(2, 7, &[0.0, 2.0], 0.4), part(3, 8, &[2.0, 0.0], 0.5)];
        let found = ranked(&items, &BACKGROUND, &PLAIN);
        // b equal: z 0. p 4, 4, 2: z .70711, .70711, -1.41421; f 2/3; .3 f = .2. v (.8+.6)/2 = .7, (.4+.6)/2 = .5, .5:
        // mean .56667, deviation .094281: z 1.41421, -.70711, -.70711, times .97778.
        check(&found, &[(1, 0.141_421 + 1.382_789), (2, 0.141_421 - 0.691_394), (3, -0.282_843 - 0.691_394)]);
    }

    #[test]
    fn the_share_of_those_with_siblings() {
        // Parents 1001, 1002 and 7, 7: two of four.
        let of = |row, parent| CandidateFeatures { parent, ..seen(row, 1.0, 0.5) };
        let four = [of(1, 1_001), of(2, 1_002), of(3, 7), of(4, 7)];
        assert!((rank(&four, &BACKGROUND, 0.25, &PLAIN).1 - 0.5).abs() < 1e-9);
    }

    #[test]
    fn who_speaks_is_added() {
        let one = CandidateFeatures { speaker: 1.0, ..seen(1, 1.0, 0.8) };
        check(&ranked(&[one, seen(2, 1.0, 0.8)], &BACKGROUND, &PLAIN), &[(1, 0.5), (2, -0.5)]);
    }

    #[test]
    fn who_has_every_word_comes_first_where_one_is_rare() {
        let of = |row, parts: &'static [f32], coverage| CandidateFeatures {
            parts,
            coverage,
            ..seen(row, 1.0, 0.8)
        };
        let common = |row| of(row, &[1.0, 0.0], 0.9);
        let rare = [common(1), of(2, &[1.0, 1.0], 1.0), common(3), common(4), common(5)];
        check(&ranked(&rare, &BACKGROUND, &PLAIN), &[(2, 6.0), (1, 0.0), (3, 0.0), (4, 0.0), (5, 0.0)]);
        // Both words are in four candidates; only up to three count as few.
        let many = [1, 2, 3, 4].map(|row| of(row, &[1.0, 1.0], 1.0));
        check(&ranked(&many, &BACKGROUND, &PLAIN), &[(1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0)]);
    }

    #[test]
    fn words_count_less_in_a_text_of_another_language() {
        // Texts 10 and 0 are one deviation above and below their mean; the weight is .2, its share .5.
        let here = [seen(1, 10.0, 0.8), seen(2, 0.0, 0.8)];
        check(&ranked(&here, &BACKGROUND, &PLAIN), &[(1, 0.2), (2, -0.2)]);
        let foreign = here.map(|one| CandidateFeatures { is_foreign: true, ..one });
        check(&ranked(&foreign, &BACKGROUND, &PLAIN), &[(1, 0.1), (2, -0.1)]);
        // Beside a text in the question's language the words of all count in full.
        let mixed = here.map(|one| CandidateFeatures { is_foreign: one.row == RowId(1), ..one });
        check(&ranked(&mixed, &BACKGROUND, &PLAIN), &[(1, 0.2), (2, -0.2)]);
    }

    #[test]
    fn in_a_small_store_trust_is_mostly_the_prior() {
        let constants = Constants { trust_prior_rows: 20.0, ..PLAIN };
        let few = QuestionSpread { rows: 5.0, ..BACKGROUND };
        // (5 * 16/9 + 20 * .7) / 25
        assert!((trust(&[seen(1, 0.0, 0.8)], &few, &constants) - 0.915_556).abs() < 1e-5);
        let none = QuestionSpread::default();
        assert!((trust(&[], &none, &constants) - 0.7).abs() < 1e-6);
        assert!(trust(&[], &none, &PLAIN).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn any_candidates_are_ranked_once_each(
            given in prop::collection::vec(
                (0.0_f32..50.0, -1.0_f32..1.0, any::<bool>(), 0_u64..4, 0.0_f32..1.0), 0..60),
            mean in -1.0_f64..1.0, deviation in 0.0_f64..0.5, pieces in 0.0_f32..1.0,
        ) {
            let items: Vec<_> = given.iter().enumerate().map(|(at, &(text, vector, whole, parent, speaker))| CandidateFeatures {
                counts: true, is_foreign: at % 3 == 0,
                row: RowId(at as u32), text, parts: &[], coverage: speaker, speaker, parent,
                vector: whole.then_some(vector), tokens: whole.then_some(text / 50.0),
            }).collect();
            let background = QuestionSpread { rows: 60.0, mean, deviation };
            let constants = Constants::default();
            let (mut ranked, _) = rank(&items, &background, f64::from(pieces), &constants);
            let count = ranked.len().min(constants.neighbourhood);
            let likenesses: Vec<f32> = (0..count * count).map(|at| (at % 7) as f32 / 7.0).collect();
            gain_from_neighbours(&mut ranked, &likenesses, |row| row.0 % 2 == 0, 0.0, &constants);
            prop_assert!(ranked.iter().all(|one| one.score.is_finite()));
            prop_assert!(ranked.is_sorted_by(|a, b| a.score >= b.score));
            let mut rows: Vec<_> = ranked.iter().map(|one| one.row).collect();
            rows.sort_unstable();
            prop_assert_eq!(rows, items.iter().map(|one| one.row).collect::<Vec<_>>());
        }
    }
}
