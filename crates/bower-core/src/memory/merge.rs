//! Decides what a text is to the existing memories: new, an addition, a repeat, another value or a contradiction.
//! It is a pure decision, which the engine applies. Nothing is ever overwritten: what is superseded stays in the chain of what
//! took its place.
//!
//! Two texts with the same words are the same, and another number in the same words is another value. All else the local model
//! decides, by [`PairLikelihood`]. What is not sure stays open for whoever tells the text, and hides nothing.

mod why;

use jiff::Timestamp;

use super::analysis::Analysis;
pub use super::relation::PossibleWhy;
use super::relation::{PairLikelihood, READ_WORDS};
use crate::item::CurateOutcome;
pub use why::{Rule, Why};

/// A text that is told.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Its words.
    pub text: &'a Analysis,
    /// Whether it tells what happened.
    pub happened: bool,
    /// When it was told first, where that was before and whoever tells it says so: then it may be told late. Else it is told
    /// after everything that is there: its change comes after theirs, whatever the clock said at any of them.
    pub first_time: Option<Timestamp>,
}

/// A memory that is there: the head of its chain, never one that was superseded.
#[derive(Clone, Copy, Debug)]
pub struct Existing<'a> {
    /// Its words.
    pub text: &'a Analysis,
    /// Whether it tells what happened, which nothing that happens later undoes.
    pub happened: bool,
    /// When it was told, by the clock of that day, or as whoever told it said.
    pub time: Timestamp,
    /// Its likeness in meaning to the told text; none without a model.
    pub cosine: Option<f32>,
    /// What the model says that the told text is to it; none where the model was not asked.
    pub relation: Option<PairLikelihood>,
    /// Whether somebody pinned it: then nothing takes its place without somebody's word.
    pub pinned: bool,
}

/// From this cosine on, a text is linked to the nearest memory.
const NEAR: f32 = 0.7;
/// Without a model, from this share of common words on a text is linked.
const NEAR_WORDS: f32 = 0.5;

/// Which of two memories stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The text that is told.
    Told,
    /// The memory that is there.
    Kept,
}

/// What becomes of a told text.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What is done.
    pub fate: CurateOutcome,
    /// With which of the memories, as a place in the list; none for a new one.
    pub target: Option<usize>,
    /// Where one of the two is superseded, which of them stays. Where that is what was kept, the told text is written too,
    /// as superseded by it: it was told late, and is part of the history all the same.
    pub stays: Side,
    /// Memories that the told text may replace or repeat, for whoever tells it to settle; the likeliest first.
    pub possible: Vec<Possible>,
    /// By which rule.
    pub why: Why,
}

impl Decision {
    /// Returns a decision about one memory, by which the told text stays.
    pub fn new(fate: CurateOutcome, target: usize, why: Why) -> Self {
        Self { fate, target: Some(target), stays: Side::Told, possible: Vec::new(), why }
    }
}

/// A memory that a told text may mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Possible {
    /// Its place in the list.
    pub at: usize,
    /// What the text may be to it.
    pub why: PossibleWhy,
    /// The likelihood, 0..1.
    pub likelihood: f32,
}

/// Decides. The first of these that applies to a memory decides, of several memories the earliest or the likeliest: the same
/// text; one text that begins with the other; another number in the same words; what the model finds likely. Else the text is
/// new, and linked to the nearest memory.
pub fn decide(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Decision {
    let each = || kept.iter().enumerate();
    let same = each().find(|(_, memory)| memory.text.plain() == told.text.plain());
    let same = same.map(|(at, _)| Decision::new(CurateOutcome::Confirm, at, Why::of(Rule::SameText)));
    let mut decision = same
        .or_else(|| each().find_map(|(at, memory)| extended(told, memory, at)))
        .or_else(|| each().find_map(|(at, memory)| replaced(told, memory, at)))
        .or_else(|| judged(told, kept))
        .unwrap_or_else(|| linked(told, kept));
    decision.possible = possible(&decision, kept);
    decision
}

/// Decides where one text begins with all of the other.
fn extended(told: &Incoming<'_>, memory: &Existing<'_>, at: usize) -> Option<Decision> {
    if memory.relation.is_some_and(|relation| !relation.may_repeat()) {
        return None;
    }
    if told.text.is_begun_by(memory.text) {
        return Some(Decision::new(CurateOutcome::Confirm, at, Why::beside(Rule::SaysLess, memory)));
    }
    let says_more = !memory.pinned && memory.text.is_begun_by(told.text);
    says_more.then(|| Decision::new(CurateOutcome::Append, at, Why::beside(Rule::SaysMore, memory)))
}

/// Decides where one number differs and nothing else. The later text stays.
fn replaced(told: &Incoming<'_>, memory: &Existing<'_>, at: usize) -> Option<Decision> {
    let happened = told.happened || memory.happened;
    let is_objected = happened || memory.relation.is_some_and(|relation| !relation.is_update());
    if is_objected || !memory.text.has_other_number(told.text) {
        return None;
    }
    let why = |rule| Why { difference: memory.text.difference(told.text), ..Why::beside(rule, memory) };
    Some(if told.first_time.is_some_and(|first| first < memory.time) {
        let decision = Decision::new(CurateOutcome::Supersede, at, why(Rule::OlderValue));
        Decision { stays: Side::Kept, ..decision }
    } else if memory.pinned {
        Decision::new(CurateOutcome::Contradict, at, why(Rule::Pinned))
    } else {
        Decision::new(CurateOutcome::Supersede, at, why(Rule::NewValue))
    })
}

/// Decides by the model: a likely repeat is kept as another wording; else a likely contradiction goes to review.
fn judged(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Option<Decision> {
    let read = || {
        let is_whole =
            |memory: &&Existing<'_>| told.text.count() <= READ_WORDS && memory.text.count() <= READ_WORDS;
        kept.iter().enumerate().filter(move |(_, memory)| is_whole(memory))
    };
    let likeliest = |fate, rule, likelihood: &dyn Fn(&Existing<'_>) -> Option<f32>| {
        let found = read().filter_map(|(at, memory)| Some((likelihood(memory)?, at, memory)));
        found.max_by(|one, two| one.0.total_cmp(&two.0)).map(|(likelihood, at, memory)| {
            let why = Why { likelihood: Some(likelihood), ..Why::beside(rule, memory) };
            Decision::new(fate, at, why)
        })
    };
    let repeat = |memory: &Existing<'_>| {
        let relation = memory.relation.filter(PairLikelihood::is_same)?;
        (!memory.text.has_other_value(told.text)).then_some(relation.same)
    };
    let contradiction =
        |memory: &Existing<'_>| Some(memory.relation.filter(PairLikelihood::is_contradiction)?.contradiction);
    likeliest(CurateOutcome::Confirm, Rule::LikelySame, &repeat)
        .or_else(|| likeliest(CurateOutcome::Contradict, Rule::LikelyContradiction, &contradiction))
}

/// Links a text to the nearest memory, if one is near.
fn linked(told: &Incoming<'_>, kept: &[Existing<'_>]) -> Decision {
    let near = kept.iter().enumerate().filter_map(|(at, memory)| {
        let words = memory.text.jaccard(told.text);
        let (likeness, bar) = memory.cosine.map_or((words, NEAR_WORDS), |cosine| (cosine, NEAR));
        (likeness >= bar).then_some((likeness, words, at))
    });
    match near.max_by(|one, two| one.0.total_cmp(&two.0).then(two.2.cmp(&one.2))) {
        Some((_, words, at)) => {
            let why = Why { jaccard: Some(words), ..Why::beside(Rule::Near, &kept[at]) };
            Decision::new(CurateOutcome::Link, at, why)
        }
        None => Decision {
            fate: CurateOutcome::Create,
            target: None,
            stays: Side::Told,
            possible: Vec::new(),
            why: Why::of(Rule::New),
        },
    }
}

/// Returns the memories that a text may mean where nothing was decided about them, the likeliest first.
fn possible(decision: &Decision, kept: &[Existing<'_>]) -> Vec<Possible> {
    let is_open = |at: usize| match decision.fate {
        CurateOutcome::Create | CurateOutcome::Link => true,
        CurateOutcome::Contradict => decision.target == Some(at),
        _ => false,
    };
    let of = |(at, memory): (usize, &Existing<'_>)| {
        let (why, likelihood) = memory.relation?.possible().filter(|_| is_open(at))?;
        Some(Possible { at, why, likelihood })
    };
    let mut possible: Vec<_> = kept.iter().enumerate().filter_map(of).collect();
    possible.sort_by(|one, two| two.likelihood.total_cmp(&one.likelihood).then(one.at.cmp(&two.at)));
    possible
}

#[cfg(test)]
mod tests;
