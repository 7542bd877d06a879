//! The reason for a merge decision, as data and as one line for people.
//! The line names no ids: who prints it knows them.

use std::fmt;

use serde::Serialize;

use super::super::analysis::Difference;
use super::Existing;

/// Which rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Nothing that is there is near.
    New,
    /// The same text.
    SameText,
    /// All of it, and something behind it.
    SaysMore,
    /// The beginning of what is there.
    SaysLess,
    /// Another number in the same words, told later.
    NewValue,
    /// Another number in the same words, told late: it was so before.
    OlderValue,
    /// It would end what somebody pinned.
    Pinned,
    /// The model finds that it says the same in other words.
    LikelySame,
    /// The model finds that both cannot be true.
    LikelyContradiction,
    /// Near in meaning, and no more.
    Near,
}

/// Why a decision was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// Which rule decided.
    pub rule: Rule,
    /// The likeness in meaning, where it was asked.
    pub cosine: Option<f32>,
    /// The share of common words, where it was asked.
    pub jaccard: Option<f32>,
    /// The model's likelihood of what was decided, where the model decided.
    pub likelihood: Option<f32>,
    /// What differs, from the memory to the told text, where one number does.
    pub difference: Option<Difference>,
}

impl Why {
    /// Returns a reason without figures.
    pub fn of(rule: Rule) -> Self {
        Self { rule, cosine: None, jaccard: None, likelihood: None, difference: None }
    }

    /// Returns a reason with the likeness of a memory.
    pub(super) fn beside(rule: Rule, memory: &Existing<'_>) -> Self {
        Self { cosine: memory.cosine, ..Self::of(rule) }
    }

    /// The likeness that decided, in brackets.
    fn likeness(&self) -> String {
        match (self.cosine, self.jaccard) {
            (Some(cosine), _) => format!(" (cosine {})", share(cosine)),
            (None, Some(jaccard)) => format!(" (words {})", share(jaccard)),
            (None, None) => String::new(),
        }
    }
}

/// `.97`, as shares are written.
fn share(value: f32) -> String {
    let text = format!("{value:.2}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = self.difference.as_ref().map(ToString::to_string).unwrap_or_default();
        let likelihood = share(self.likelihood.unwrap_or_default());
        match self.rule {
            Rule::New => f.write_str("new"),
            Rule::SameText => f.write_str("the same text"),
            Rule::LikelySame => write!(f, "likely says the same ({likelihood})"),
            Rule::LikelyContradiction => write!(f, "likely a contradiction ({likelihood})"),
            Rule::SaysMore => f.write_str("says the same and more"),
            Rule::SaysLess => f.write_str("is a part of what is known"),
            Rule::NewValue => f.write_str(&difference),
            Rule::OlderValue => write!(f, "told late: {difference}"),
            Rule::Pinned => write!(f, "against what is pinned: {difference}"),
            Rule::Near => write!(f, "near{}", self.likeness()),
        }
    }
}
