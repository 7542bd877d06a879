//! Finds the time expressions of questions and texts, and resolves them to spans of time at a given now.
//! Any Unicode text is valid, nothing fails, and each token is read a bounded number of times.
//!
//! A date without a year lies in the past, because memories describe the past. Weeks begin on Monday, winter in
//! December. `05/08/2023` is read as in the United States (8 May is `08.05.2023` or `08-05-2023`) unless only the other
//! order is a date. Sources: ISO 8601 for weeks, RFC 5545 for times that a change of clocks skips or repeats.

mod absolute;
mod aims;
mod boost;
mod calendar;
mod relative;
mod valid;
mod words;

#[cfg(test)]
mod table;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use aims::TimeReader;
pub use aims::{Aim, Asked, Offset, Spoken, TimeExpression, TimeSide};
pub use boost::{ItemTimes, TimeWeights, boosts, meets};
pub use calendar::Interval;
pub use valid::{Valid, valid};
pub use words::TimeUnit;

/// Finds the time expressions of a question, in order and not overlapping, resolved at `now` in its time zone.
///
/// ```
/// use bower_core::parts::rank::time::{Aim, parse};
/// let now: jiff::Zoned = "2024-03-13T15:00:00Z[UTC]".parse().unwrap();
/// let found = parse("What did Ada paint last week?", &now);
/// let Aim::During(week) = &found[0].aim else { panic!() };
/// assert_eq!(week.from.to_string(), "2024-03-04T00:00:00Z");
/// assert_eq!(week.until.to_string(), "2024-03-11T00:00:00Z");
/// ```
pub fn parse(question: &str, now: &Zoned) -> Vec<TimeExpression> {
    TimeReader::new(question, now).expressions()
}

/// Whether a question contains a time expression.
pub fn has_times(question: &str, now: &Zoned) -> bool {
    !parse(question, now).is_empty()
}

/// Returns the times that a text mentions, each kind in order: absolute, or relative to when it was written.
///
/// A bare year counts only after a word such as "in" or "since". States and orders ("still", "before the launch") give
/// nothing. If the time of writing is unknown, relative times have no meaning.
pub fn spoken(text: &str, written: &Zoned) -> Spoken {
    TimeReader::new(text, written).spoken()
}

/// Returns the day of a text that is only a time stamp: a complete date and a time of day ("1:56 pm on 8 May, 2023").
pub fn stamp_day(text: &str) -> Option<Date> {
    // A complete date means the same day at any now.
    TimeReader::new(text, &Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)).stamp_day()
}

/// Returns all times of [`spoken`], the absolute before the relative.
#[cfg(feature = "parts")]
pub fn dates_in(text: &str, written: &Zoned) -> Vec<Interval> {
    let Spoken { mut absolute, relative, .. } = spoken(text, written);
    absolute.extend(relative);
    absolute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_a_date_with_a_time_of_day_and_nothing_else() {
        let check = |text: &str, day: Option<&str>| {
            assert_eq!(stamp_day(text).map(|day| day.to_string()).as_deref(), day, "{text}");
        };
        check("1:56 pm on 8 May, 2023", Some("2023-05-08"));
        check("2023-05-08 13:56:07", Some("2023-05-08"));
        check("2023-05-08T13:56:07Z", Some("2023-05-08"));
        check("2023/05/08 (Mon) 13:56", Some("2023-05-08"));
        check("8 May 2023", None);
        check("13:56", None);
        check("8 May 13:56", None);
        check("2023-05-08 13:56 to 2023-05-09 02:00", None);
        check("Meeting of 8 May 2023, 13:56", None);
        check("", None);
    }
}
