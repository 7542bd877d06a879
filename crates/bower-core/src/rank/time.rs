//! Finds the time expressions of questions and texts, and resolves them to spans of time at a given now.
//! Any Unicode text is fine, nothing fails, and every token is looked at a bounded number of times.
//!
//! What is said without a year lies in the past: memory is of what was. Weeks begin on Monday, winter in December.
//! `05/08/2023` is read as in the United States (8 May is `08.05.2023` or `08-05-2023`) unless only the other order is
//! a date. Sources of the conventions: ISO 8601 for weeks, RFC 5545 for times that a change of clocks skips or repeats.

mod absolute;
mod aims;
mod boost;
mod calendar;
mod relative;
mod valid;
mod words;

#[cfg(test)]
mod table;

use jiff::{Timestamp, Zoned};
use std::ops::Range;

use aims::Reader;
pub use boost::{ItemTimes, TimeWeights, boosts, meets};
pub use valid::{Valid, valid};
pub use words::Unit;

/// A half-open span of instants: `from` is in it, `until` is not, and `from < until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first instant.
    pub from: Timestamp,
    /// The instant after the last.
    pub until: Timestamp,
}

impl Interval {
    /// Its length in seconds, above 0.
    pub fn seconds(&self) -> f64 {
        seconds(self.until) - seconds(self.from)
    }

    /// Whether an instant is in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

/// Seconds since 1970.
fn seconds(at: Timestamp) -> f64 {
    at.as_microsecond() as f64 / 1e6
}

/// Which side of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Earlier.
    Before,
    /// Later.
    After,
}

/// How far from an event: "three days" in "three days before the launch".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// How many, 1 or more.
    pub count: i64,
    /// Of what.
    pub unit: Unit,
}

/// What a question that asks for a time wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A point in time: "when did", "on what date", "how long ago".
    Moment,
    /// A length of time: "how long", "how many weeks".
    Duration,
}

/// What an expression says of the wanted item's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aim {
    /// In the interval: "in May 2023", "yesterday", "as of 3 June".
    During(Interval),
    /// Before the instant: "before May", "by 10 July" (the instant after that day).
    Before(Timestamp),
    /// At the instant or after it: "since Tuesday", "after 2019" (the first of 2020).
    After(Timestamp),
    /// The newest state: "latest", "current", "now", "still".
    Latest,
    /// The oldest state: "the first time", "originally", "at first".
    Earliest,
    /// Before or after something that has to be found first: "before the launch", "three days after we moved".
    Order {
        /// Which side of it.
        side: Side,
        /// How far from it, where that was said.
        offset: Option<Offset>,
        /// The words of the event, as in the question.
        event: String,
    },
    /// The answer is a time itself.
    Asked(Asked),
}

/// An expression of time in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeExpression {
    /// Its bytes in the question; on character boundaries, never empty.
    pub range: Range<usize>,
    /// What it says.
    pub aim: Aim,
}

/// The expressions of time in a question, in its order and not overlapping, resolved at `now` in its time zone.
///
/// ```
/// use bower_core::rank::time::{Aim, parse};
/// let now: jiff::Zoned = "2024-03-13T15:00:00Z[UTC]".parse().unwrap();
/// let found = parse("What did Ada paint last week?", &now);
/// let Aim::During(week) = &found[0].aim else { panic!() };
/// assert_eq!(week.from.to_string(), "2024-03-04T00:00:00Z");
/// assert_eq!(week.until.to_string(), "2024-03-11T00:00:00Z");
/// ```
pub fn parse(question: &str, now: &Zoned) -> Vec<TimeExpression> {
    Reader::new(question, now).expressions()
}

/// What a text says of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Times that stand for themselves: "8 May 2023".
    pub absolute: Vec<Interval>,
    /// Times that need the day on which it was written: "yesterday", "in May".
    pub relative: Vec<Interval>,
    /// It names a unit of time, as in "for three years".
    pub counts: bool,
}

/// The times that a text itself speaks of, each kind in its order: absolute, or relative to when it was written.
///
/// A year alone counts only where a word such as "in" or "since" stands before it. States and orders ("still", "before
/// the launch") give nothing. Where nobody knows when a text was written, its relative times mean nothing.
pub fn spoken(text: &str, written: &Zoned) -> Spoken {
    Reader::new(text, written).spoken()
}

/// All times of [`spoken`], the absolute before the relative.
pub fn dates_in(text: &str, written: &Zoned) -> Vec<Interval> {
    let Spoken { mut absolute, relative, .. } = spoken(text, written);
    absolute.extend(relative);
    absolute
}
