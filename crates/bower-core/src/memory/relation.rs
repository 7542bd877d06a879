//! Decides what the local model's likelihoods of a later and an earlier statement are enough for.
//! Every bar was chosen on statements of authors that the model was not fitted to; `tools/fit_statements.py` prints what passes.

use crate::item::PairRuling;

/// The likelihoods of what a later statement is to an earlier one. The first five add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLikelihood {
    /// It says the same in other words.
    pub same: f32,
    /// It says the same and more.
    pub more: f32,
    /// It tells another value of the same attribute of the same thing.
    pub update: f32,
    /// Both cannot be true.
    pub contradiction: f32,
    /// Both hold: it is about something else.
    pub different: f32,
    /// If the two differ in one number alone: that the number is a value, which the later statement replaces. It stands apart
    /// from the others.
    pub number: f32,
}

/// From this likelihood on, a statement is kept as a wording of the earlier one: .47 of the English repeats pass, and .002 of
/// the twins, .022 of the updates and none of the negations.
const SAME: f32 = 0.65;
/// From this likelihood on, a contradiction goes to review: .99 of the English negations, .50 of the opposites in other words, and
/// .008 of the twins pass.
const CONTRADICTS: f32 = 0.6;
/// From this likelihood of an update on, and from [`NUMBER`] on, another number in the same words ends an earlier statement. Of
/// 157 rewritten English values, .92 pass this bar alone.
const UPDATE: f32 = 0.2;
/// The same for the likelihood that the number is a value and no name. Of pairs in `crates/bower-bench/data/memory/numbers`, each
/// by an author that the model was not fitted to, .55 of 598 updates pass, and .07 of 613 pairs of which both hold.
const NUMBER: f32 = 0.8;
/// Below this likelihood of the same with or without more detail, a statement that begins with another is not merged with it.
const MAY_REPEAT: f32 = 0.2;
/// From this likelihood on that an earlier statement is meant, whoever tells the later one is asked: .78 of the updates in other
/// words pass, .90 of the repeats, all negations, and .04 of the statements about something else.
const ASKS: f32 = 0.3;
/// From this likelihood on that only one of two statements holds, a memory is told beside a canonical fact: .71 of the rewritten values
/// and of the denials pass, .23 of the updates in other words, and .02 of the twins and of the repeats.
const OTHER_VALUE: f32 = 0.7;
/// The model reads so many words of a statement at least. What it says of a longer one decides nothing.
pub const READ_WORDS: usize = 40;

/// What a later statement may be to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PossibleWhy {
    /// A later value of the same thing.
    Update,
    /// The same in other words.
    Same,
    /// A contradiction.
    Contradiction,
}

impl PairLikelihood {
    /// Takes the likelihoods in the order of the classes of `Classifier::Relation`, and that of an update by
    /// `Classifier::Number`; `None` for another number of them.
    pub fn new(likelihoods: &[f32], number: f32) -> Option<Self> {
        let &[same, more, update, contradiction, different] = likelihoods else { return None };
        Some(Self { same, more, update, contradiction, different, number })
    }

    /// Whether the later statement says the same.
    pub fn is_same(&self) -> bool {
        self.same >= SAME
    }

    /// Whether the later statement says the same, with or without more detail.
    pub fn is_same_or_more(&self) -> bool {
        self.same + self.more >= SAME
    }

    /// Whether a statement that begins with the other may be merged with it.
    pub fn may_repeat(&self) -> bool {
        self.same + self.more >= MAY_REPEAT
    }

    /// Whether the later statement contradicts the earlier one.
    pub fn is_contradiction(&self) -> bool {
        self.contradiction >= CONTRADICTS
    }

    /// Whether another number in the same words ends the earlier statement.
    pub fn is_update(&self) -> bool {
        self.update >= UPDATE && self.number >= NUMBER
    }

    /// Returns the likelihood that only one of the two holds.
    pub fn other_value(&self) -> f32 {
        self.update + self.contradiction
    }

    /// Whether only one of the two is likely to hold.
    pub fn is_other_value(&self) -> bool {
        self.other_value() >= OTHER_VALUE
    }

    /// Returns what the later statement may be to the earlier one, with the likelihood; `None` if whoever tells it need not be
    /// asked.
    pub fn possible(&self) -> Option<(PossibleWhy, f32)> {
        let other_value = self.other_value();
        if other_value + self.same < ASKS {
            return None;
        }
        Some(if self.same > other_value {
            (PossibleWhy::Same, self.same)
        } else if self.contradiction > self.update {
            (PossibleWhy::Contradiction, other_value)
        } else {
            (PossibleWhy::Update, other_value)
        })
    }
}

/// Reads a language model's answer to the question what a later statement is to an earlier one: one of three words, alone but
/// for marks. `None` for anything else.
pub fn ruling_of(answer: &str) -> Option<PairRuling> {
    let word = answer.trim().trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    match word.as_str() {
        "replaces" => Some(PairRuling::Replaces),
        "repeats" => Some(PairRuling::Confirms),
        "both" => Some(PairRuling::DifferentFrom),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likelihood(likelihoods: [f32; 5]) -> PairLikelihood {
        PairLikelihood::new(&likelihoods, 0.0).unwrap()
    }

    #[test]
    fn the_likeliest_reason_is_named() {
        assert_eq!(likelihood([0.05, 0.1, 0.15, 0.09, 0.61]).possible(), None);
        let possible = |likelihoods| likelihood(likelihoods).possible().unwrap();
        assert_eq!(possible([0.6, 0.1, 0.1, 0.1, 0.1]), (PossibleWhy::Same, 0.6));
        assert_eq!(possible([0.1, 0.0, 0.5, 0.25, 0.15]), (PossibleWhy::Update, 0.75));
        assert_eq!(possible([0.1, 0.0, 0.25, 0.5, 0.15]), (PossibleWhy::Contradiction, 0.75));
        assert_eq!(PairLikelihood::new(&[1.0], 0.0), None);
    }

    #[test]
    fn an_answer_is_one_of_three_words() {
        let all = ["Replaces.", " repeats\n", "**both**"].map(ruling_of);
        assert_eq!(all, [PairRuling::Replaces, PairRuling::Confirms, PairRuling::DifferentFrom].map(Some));
        for answer in ["", "no", "It replaces the earlier one", "replaces or repeats"] {
            assert_eq!(ruling_of(answer), None, "{answer}");
        }
    }
}
