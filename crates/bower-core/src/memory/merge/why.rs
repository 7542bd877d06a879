//! The reason for a merge decision, as data and as one line for people.
//! The line names no ids: who prints it knows them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::claims::Difference;

/// Which rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Nothing that is there is near.
    New,
    /// The same text.
    SameText,
    /// The same value of the same slot.
    SameValue,
    /// The same words.
    SameWords,
    /// Close enough in meaning, and no claim differs.
    SameMeaning,
    /// The same value of the same attribute of the same thing, in other words.
    SameAttribute,
    /// All of it, and something behind it.
    SaysMore,
    /// A part of what is there.
    SaysLess,
    /// Another value of the same slot, told later.
    NewValue,
    /// Another value of the same slot, told late: it was so before.
    OlderValue,
    /// Another value of a slot that can have several.
    SeveralValues,
    /// The text itself says that something is no longer so.
    NoLonger,
    /// Two that deny each other: the newer one stays.
    Newer,
    /// Two that deny each other: the surer one stays.
    Surer,
    /// It would end what somebody pinned.
    Pinned,
    /// Two that deny each other, and nothing decides.
    Undecided,
    /// The model finds that it says the same in other words.
    LikelySame,
    /// The model finds that both cannot be true.
    LikelyContradiction,
    /// Near in meaning, and a claim differs.
    OtherFact,
    /// Near in meaning, and of another slot.
    OtherSlot,
    /// Near in meaning, and no more.
    Near,
}

/// Why a decision was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Which rule decided.
    pub rule: Rule,
    /// The likeness in meaning, where it was asked.
    pub cosine: Option<f32>,
    /// The share of common words, where it was asked.
    pub jaccard: Option<f32>,
    /// The model's likelihood of what was decided, where the model decided.
    pub likelihood: Option<f32>,
    /// By how many days the one that stays is newer.
    pub days: Option<f64>,
    /// By how much the one that stays is surer.
    pub surer: Option<f32>,
    /// What differs, from the memory to the told text.
    pub difference: Option<Difference>,
}

impl Why {
    /// Returns a reason without figures.
    pub fn of(rule: Rule) -> Self {
        Self {
            rule,
            cosine: None,
            jaccard: None,
            likelihood: None,
            days: None,
            surer: None,
            difference: None,
        }
    }

    pub(super) fn with(mut self, difference: Difference) -> Self {
        self.difference = Some(difference);
        self
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
        let value = self.difference.as_ref().map(|value| {
            let words = [value.label.as_deref(), value.to.as_deref()];
            words.into_iter().flatten().collect::<Vec<_>>().join(" ")
        });
        let value = value.unwrap_or_default();
        match self.rule {
            Rule::New => f.write_str("new"),
            Rule::SameText => f.write_str("the same text"),
            Rule::SameValue => write!(f, "says the same: {value}"),
            Rule::SameWords => {
                write!(f, "says the same (words {})", share(self.jaccard.unwrap_or_default()))
            }
            Rule::SameMeaning => write!(f, "says the same{}", self.likeness()),
            Rule::SameAttribute => write!(f, "says the same in other words{}", self.likeness()),
            Rule::LikelySame => {
                write!(f, "likely says the same ({})", share(self.likelihood.unwrap_or_default()))
            }
            Rule::LikelyContradiction => {
                write!(f, "likely a contradiction ({})", share(self.likelihood.unwrap_or_default()))
            }
            Rule::SaysMore => f.write_str("says the same and more"),
            Rule::SaysLess => f.write_str("is a part of what is known"),
            Rule::NewValue => f.write_str(&difference),
            Rule::OlderValue => write!(f, "told late, {value} was before"),
            Rule::SeveralValues => write!(f, "another value beside: {value}"),
            Rule::NoLonger => f.write_str("says that it is no longer so"),
            Rule::Newer => {
                write!(f, "one denies the other, newer by {:.0} days", self.days.unwrap_or_default())
            }
            Rule::Surer => {
                write!(f, "one denies the other, surer by {}", share(self.surer.unwrap_or_default()))
            }
            Rule::Pinned => write!(f, "against what is pinned: {difference}"),
            Rule::Undecided => f.write_str("one denies the other, and nothing tells which is right"),
            Rule::OtherFact if difference.is_empty() => f.write_str("another fact"),
            Rule::OtherFact => write!(f, "another fact: {difference}"),
            Rule::OtherSlot => write!(f, "another subject or attribute{}", self.likeness()),
            Rule::Near => write!(f, "near{}", self.likeness()),
        }
    }
}
