//! Parses the time span in which a statement is true.
//! The text names its start and end: "since May 2024", "starting Monday", "until 10 July".

use jiff::{SignedDuration, Span, Timestamp, Zoned};

use super::Interval;
use super::aims::TimeReader;

/// The span in which a statement is true; an end that is not stated is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Valid {
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The instant after the last: the end of the day, month or year that was named.
    pub until: Option<Timestamp>,
}

/// Words that introduce a start in the past.
const SINCE: &[&str] = &["since"];
/// Words that introduce a start in the future.
const STARTING: &[&str] = &["starting", "effective", "beginning"];
/// Words that introduce an end.
const UNTIL: &[&str] = &["until", "till", "til", "through", "thru", "expires", "expire", "ends"];
/// Words that may be between those and the time.
const BETWEEN: &[&str] = &["on", "the", "in", "at", "from", "around", "about"];

/// Returns the span in which a text written at `written` is true. It is empty if the text names several starts or
/// several ends, or an end before its start. A weekday or a date without a year means the next one after words about
/// the future, else the last one.
pub fn valid(text: &str, written: &Zoned) -> Valid {
    let reader = TimeReader::new(text, written).reading_text();
    let (mut froms, mut untils) = (Vec::new(), Vec::new());
    for span in reader.spans() {
        let mut before = span.first;
        let mut said = |words: &[&str]| {
            let at = before.checked_sub(1)?;
            words.iter().any(|word| reader.text_is(at, word)).then(|| before = at)
        };
        let from = said(&["from"]).is_some();
        while said(BETWEEN).is_some() {}
        let start = before.checked_sub(1);
        let says = |words: &[&str]| start.is_some_and(|at| words.iter().any(|word| reader.text_is(at, word)));
        let ahead = forward(span.interval, span.is_relative, written);
        let as_of = from
            || span.first >= 2
                && reader.text_is(span.first - 1, "of")
                && reader.text_is(span.first - 2, "as");
        // "from March on", "from Monday,", "From 2 May". A mere mention ("the report from March") starts nothing.
        let goes_on =
            ["on", "onward", "onwards", "forward"].iter().any(|word| reader.text_is(span.next, word))
                || reader.is_mark(span.next, ',')
                || span.first == 1;
        if span.is_range {
            if from || says(&["between", "from"]) || says(STARTING) {
                froms.push(ahead.from);
                untils.push(ahead.until);
            }
        } else if says(SINCE) || (as_of && !from) {
            froms.push(span.interval.from);
        } else if says(STARTING) || (from && goes_on) {
            froms.push(ahead.from);
        } else if says(UNTIL) {
            untils.push(ahead.until);
        }
    }
    let only = |times: &[Timestamp]| if let [one] = times { Some(*one) } else { None };
    match (only(&froms), only(&untils)) {
        (Some(from), Some(until)) if from >= until => Valid::default(),
        (from, until) => Valid { from, until },
    }
}

/// Moves a time that depends on the day of writing and has passed to the next such time, a week or a year later. Counts
/// by the calendar, because days with a clock change have other lengths.
fn forward(found: Interval, is_relative: bool, written: &Zoned) -> Interval {
    let gone = written.timestamp().duration_since(found.until);
    if !is_relative || gone.is_negative() {
        return found;
    }
    let ahead = if gone < SignedDuration::from_hours(24 * 7) && found.seconds() < 7.0 * 86_400.0 {
        Span::new().weeks(1)
    } else if gone < SignedDuration::from_hours(24 * 366) {
        Span::new().years(1)
    } else {
        return found;
    };
    let later =
        |at: Timestamp| Some(at.to_zoned(written.time_zone().clone()).checked_add(ahead).ok()?.timestamp());
    match (later(found.from), later(found.until)) {
        (Some(from), Some(until)) => Interval { from, until },
        (None, _) | (_, None) => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written on Wednesday, 13 March 2024.
    fn check(text: &str, from: Option<&str>, until: Option<&str>) {
        let written: Zoned = "2024-03-13T15:00:00Z[UTC]".parse().unwrap();
        let day = |date: &str| format!("{date}T00:00:00Z").parse().unwrap();
        let expected = Valid { from: from.map(day), until: until.map(day) };
        assert_eq!(valid(text, &written), expected, "{text}");
    }

    #[test]
    fn a_text_says_since_when_and_until_when_it_holds() {
        check("Since May 2022 the API runs in Frankfurt", Some("2022-05-01"), None);
        check("The API has run in Frankfurt since 2 May 2022.", Some("2022-05-02"), None);
        check("Starting on 1 April 2024 the port is 9090", Some("2024-04-01"), None);
        check("From 1 April 2024 the port is 9090", Some("2024-04-01"), None);
        check("The port is 9090 from 1 April 2024 on", Some("2024-04-01"), None);
        check("Ada is on leave until 20 March 2024", None, Some("2024-03-21"));
        check("The certificate expires on 1 June 2025", None, Some("2025-06-02"));
        check("Freeze from 3 March 2024 to 10 March 2024", Some("2024-03-03"), Some("2024-03-11"));
        check("As of 5 March 2024 the build needs Rust 1.77", Some("2024-03-05"), None);
    }

    #[test]
    fn what_looks_ahead_is_the_next_of_its_name() {
        check("The freeze lasts until Friday", None, Some("2024-03-16"));
        check("The freeze lasts until Monday", None, Some("2024-03-19"));
        check("Starting Monday, standup is at nine", Some("2024-03-18"), None);
        check("Standup is at nine since Monday", Some("2024-03-11"), None);
        check("Ada is away until 2 February", None, Some("2025-02-03"));
    }

    /// Clocks go forward on 31 March 2024 in Berlin: midnight is an hour earlier in UTC from then on.
    #[test]
    fn a_week_ahead_is_the_same_hour_after_a_change_of_clocks() {
        let written: Zoned = "2024-03-28T15:00:00+01:00[Europe/Berlin]".parse().unwrap();
        let monday = valid("Starting Monday, standup is at nine", &written).from.unwrap();
        assert_eq!(monday.to_string(), "2024-03-31T22:00:00Z");
    }

    #[test]
    fn other_dates_say_nothing_of_how_long_it_holds() {
        check("We met on 5 May 2022", None, None);
        check("The report from March 2023 shows a loss", None, None);
        check("The deadline is 1 June 2024", None, None);
        check("Ada was here until May 2020, Ben until June 2021", None, None);
        check("Open since 2020, again since 2022", None, None);
        check("", None, None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            let written: Zoned = "2024-03-13T15:00:00Z[UTC]".parse().unwrap();
            let found = valid(&text, &written);
            if let (Some(from), Some(until)) = (found.from, found.until) {
                prop_assert!(from < until);
            }
        }
    }
}
