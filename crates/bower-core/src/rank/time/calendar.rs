//! Spans of the civil calendar: days, weeks, months, years and their parts.
//! Weeks begin on Monday (ISO 8601). No function fails on any number: a date outside the calendar is `None`.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use super::words::TimeUnit;

/// A half-open span of instants: it contains `from` but not `until`, and `from < until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first instant.
    pub from: Timestamp,
    /// The instant after the last.
    pub until: Timestamp,
}

impl Interval {
    /// Returns its length in seconds, above 0.
    pub fn seconds(&self) -> f64 {
        seconds(self.until) - seconds(self.from)
    }

    /// Whether an instant is in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

/// Seconds since 1970.
pub(super) fn seconds(at: Timestamp) -> f64 {
    at.as_microsecond() as f64 / 1e6
}

/// A half-open span of civil time, not yet in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CivilSpan {
    pub from: DateTime,
    pub until: DateTime,
    /// Whether the year was not stated; the nearest past year was used.
    pub yearless: bool,
}

impl CivilSpan {
    pub fn new(from: Date, until: Date) -> Option<Self> {
        (from < until).then(|| Self { from: midnight(from), until: midnight(until), yearless: false })
    }

    pub fn day(date: Date) -> Option<Self> {
        Self::new(date, date.tomorrow().ok()?)
    }

    /// Returns `count` months from the first of a month, 1 to 12.
    pub fn months(year: i16, month: i8, count: i32) -> Option<Self> {
        let from = Date::new(year, month, 1).ok()?;
        Self::new(from, from.checked_add(Span::new().try_months(count).ok()?).ok()?)
    }

    pub fn years(year: i16, count: i16) -> Option<Self> {
        Self::new(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(count)?, 1, 1).ok()?)
    }

    /// Returns a meteorological season of three months in the northern hemisphere: 0 is winter, from December of the year.
    pub fn season(year: i16, season: i8) -> Option<Self> {
        Self::months(year, if season == 0 { 12 } else { 3 * season }, 3)
    }

    /// Returns the whole unit that contains a day: its week, its month and so on.
    pub fn around(date: Date, unit: TimeUnit) -> Option<Self> {
        match unit {
            TimeUnit::Minute | TimeUnit::Hour | TimeUnit::Day => Self::day(date),
            TimeUnit::Week => {
                let monday = monday(date)?;
                Self::new(monday, shift(monday, 1, TimeUnit::Week)?)
            }
            TimeUnit::Weekend => {
                let saturday = shift(monday(date)?, 5, TimeUnit::Day)?;
                Self::new(saturday, shift(saturday, 2, TimeUnit::Day)?)
            }
            TimeUnit::Month => Self::months(date.year(), date.month(), 1),
            TimeUnit::Quarter => Self::months(date.year(), (date.month() - 1) / 3 * 3 + 1, 3),
            TimeUnit::Year => Self::years(date.year(), 1),
            TimeUnit::Decade => Self::years(date.year().div_euclid(10) * 10, 10),
        }
    }

    /// Returns the span from the start of this to the end of another that does not end before it.
    pub fn to(self, end: Self) -> Option<Self> {
        (self.from < end.until).then_some(Self { from: self.from, until: end.until, yearless: end.yearless })
    }

    /// Returns the same span some years later.
    pub fn later_by(self, years: i32) -> Option<Self> {
        let span = Span::new().try_years(years).ok()?;
        Some(Self {
            from: self.from.checked_add(span).ok()?,
            until: self.until.checked_add(span).ok()?,
            ..self
        })
    }

    pub fn first_day(self) -> Date {
        self.from.date()
    }

    /// Returns its last day.
    pub fn last_day(self) -> Option<Date> {
        let last = self.until.date();
        if self.until.time() == Time::midnight() { last.yesterday().ok() } else { Some(last) }
    }

    fn day_count(self) -> i32 {
        (self.until.date() - self.from.date()).get_days()
    }

    /// Returns the first, second or third third (0 to 2). Quarters, seasons and longer spans are cut at months, others
    /// at days. The last third has the most days: the early part of May is its first ten days.
    pub fn third(self, third: i32) -> Option<Self> {
        let months = self.from.date().until((jiff::Unit::Month, self.until.date())).ok()?;
        let months_whole = i32::from(months.get_years()) * 12 + months.get_months();
        if months.get_days() == 0 && months_whole >= 3 {
            return self.cut_months(months_whole * third / 3, months_whole * (third + 1) / 3);
        }
        let days = self.day_count();
        let until = if third == 2 { days } else { days / 3 * (third + 1) };
        self.cut_days(days / 3 * third, until)
    }

    /// Returns the first or second half (0 or 1): cut at months if there are two or more, else at days. May's halves
    /// meet before the 16th.
    pub fn half(self, half: i32) -> Option<Self> {
        let months = self.from.date().until((jiff::Unit::Month, self.until.date())).ok()?;
        let months_whole = i32::from(months.get_years()) * 12 + months.get_months();
        if months.get_days() == 0 && months_whole % 2 == 0 && months_whole > 0 {
            return self.cut_months(months_whole / 2 * half, months_whole / 2 * (half + 1));
        }
        let days = self.day_count();
        self.cut_days(days / 2 * half, if half == 1 { days } else { days / 2 })
    }

    fn cut_months(self, from: i32, until: i32) -> Option<Self> {
        let start = self.from.date();
        Self::new(shift(start, from.into(), TimeUnit::Month)?, shift(start, until.into(), TimeUnit::Month)?)
    }

    fn cut_days(self, from: i32, until: i32) -> Option<Self> {
        let start = self.from.date();
        Self::new(shift(start, from.into(), TimeUnit::Day)?, shift(start, until.into(), TimeUnit::Day)?)
    }

    /// Returns the first `count` units of this span, or its last.
    ///
    /// Weeks are calendar weeks that begin in the span (the first weekend of August starts on its first Saturday), but
    /// the last ones may end after it. A first week is the first seven days.
    pub fn ends(self, count: i64, unit: TimeUnit, last: bool) -> Option<Self> {
        let (from, until) = (self.from.date(), self.until.date());
        match (unit, last) {
            (TimeUnit::Weekend, false) => {
                let saturday = on_or_after(from, 5)?;
                Self::new(saturday, shift(saturday, 7 * count - 5, TimeUnit::Day)?)
            }
            (TimeUnit::Weekend, true) => {
                let saturday = on_or_after(shift(until, -7, TimeUnit::Day)?, 5)?;
                Self::new(shift(saturday, 7 - 7 * count, TimeUnit::Day)?, shift(saturday, 2, TimeUnit::Day)?)
            }
            (_, false) => Self::new(from, shift(from, count, unit)?),
            (_, true) => Self::new(shift(until, -count, unit)?, until),
        }
    }

    /// Returns the `number`-th unit of this span, from 1.
    pub fn nth(self, number: i64, unit: TimeUnit) -> Option<Self> {
        let from = self.from.date();
        match unit {
            TimeUnit::Weekend => {
                let saturday = shift(on_or_after(from, 5)?, 7 * (number - 1), TimeUnit::Day)?;
                Self::new(saturday, shift(saturday, 2, TimeUnit::Day)?)
            }
            TimeUnit::Minute
            | TimeUnit::Hour
            | TimeUnit::Day
            | TimeUnit::Week
            | TimeUnit::Month
            | TimeUnit::Quarter
            | TimeUnit::Year
            | TimeUnit::Decade => Self::new(shift(from, number - 1, unit)?, shift(from, number, unit)?),
        }
        .filter(|part| part.from < self.until)
    }

    /// Returns the instants of this span in a zone. A local time that a clock change skips means the instant after the
    /// gap; one that occurs twice means the first.
    pub fn interval(self, zone: &TimeZone) -> Option<Interval> {
        let from = zone.to_ambiguous_timestamp(self.from).compatible().ok()?;
        let until = zone.to_ambiguous_timestamp(self.until).compatible().ok()?;
        (from < until).then_some(Interval { from, until })
    }
}

/// Joins two ends into one span; the second's year also applies to the first if that has none.
pub(super) fn joined(first: CivilSpan, second: CivilSpan) -> Option<CivilSpan> {
    let year = |date: Date| i32::from(date.year());
    let mut first = first;
    let mut second = second;
    if first.yearless && !second.yearless {
        first = first.later_by(year(second.first_day()) - year(first.first_day()))?;
        if first.from > second.from {
            first = first.later_by(-1)?;
        }
    } else if !first.yearless && second.yearless {
        second = second.later_by(year(first.first_day()) - year(second.first_day()))?;
        if second.from < first.from {
            second = second.later_by(1)?;
        }
    } else if first.yearless && first.from > second.from {
        first = first.later_by(-1)?;
    } else if first.from > second.from && first.from.date() < shift(second.first_day(), 7, TimeUnit::Day)? {
        // "Monday to Wednesday" on a Wednesday: each is the last before today, and the Monday was two days ago.
        first = CivilSpan::day(shift(first.first_day(), -7, TimeUnit::Day)?)?;
    }
    first.to(second)
}

fn midnight(date: Date) -> DateTime {
    date.to_datetime(Time::midnight())
}

/// Returns the Monday of a day's week.
fn monday(date: Date) -> Option<Date> {
    shift(date, -i64::from(date.weekday().to_monday_zero_offset()), TimeUnit::Day)
}

/// Returns the first such weekday (0 is Monday) on or after a day.
pub(super) fn on_or_after(date: Date, weekday: i8) -> Option<Date> {
    let ahead = (weekday - date.weekday().to_monday_zero_offset()).rem_euclid(7);
    shift(date, ahead.into(), TimeUnit::Day)
}

/// Returns the last such weekday before a day.
pub(super) fn before(date: Date, weekday: i8) -> Option<Date> {
    on_or_after(shift(date, -7, TimeUnit::Day)?, weekday)
}

/// Returns a day some units later. A month's end stays in the month: a month after 31 January is 28 February.
pub(super) fn shift(date: Date, count: i64, unit: TimeUnit) -> Option<Date> {
    date.checked_add(span(count, unit)?).ok()
}

/// Returns a number of units as a span.
pub(super) fn span(count: i64, unit: TimeUnit) -> Option<Span> {
    match unit {
        TimeUnit::Minute => Span::new().try_minutes(count),
        TimeUnit::Hour => Span::new().try_hours(count),
        TimeUnit::Day => Span::new().try_days(count),
        TimeUnit::Week | TimeUnit::Weekend => Span::new().try_weeks(count),
        TimeUnit::Month => Span::new().try_months(count),
        TimeUnit::Quarter => 3.months().checked_mul(count),
        TimeUnit::Year => Span::new().try_years(count),
        TimeUnit::Decade => 10.years().checked_mul(count),
    }
    .ok()
}
