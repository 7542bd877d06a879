//! Parses dates, days of the week, times of day and frequencies in a text, without a calendar or a clock.

use super::super::calendar::{DAYS, MONTHS};
use super::numbers;
use super::tokens::{Kind, Token};

/// When something is, as far as a text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) enum When {
    /// A date or a part of one.
    Date {
        /// Four digits.
        year: Option<u16>,
        /// 1 to 12.
        month: Option<u8>,
        /// 1 to 31.
        day: Option<u8>,
    },
    /// 0 is Monday.
    Weekday(u8),
    /// Minutes after midnight.
    Clock(u16),
    /// How often, in one word.
    Every(&'static str),
    /// A quarter, 1 to 4.
    Quarter(u8),
    /// A day that depends on when it was said.
    Relative(&'static str),
}

impl When {
    /// Whether one can be said for the other: a date without a year fits that date in any year.
    pub fn fits(&self, other: &Self) -> bool {
        let (Self::Date { year, month, day }, Self::Date { year: years, month: months, day: days }) =
            (self, other)
        else {
            return self == other;
        };
        let mut shared = 0;
        let mut agree = |one: Option<u16>, two: Option<u16>| match (one, two) {
            (Some(one), Some(two)) => {
                shared += 1;
                one == two
            }
            _ => true,
        };
        let agreed = agree(*year, *years)
            & agree(month.map(u16::from), months.map(u16::from))
            & agree(day.map(u16::from), days.map(u16::from));
        agreed && shared > 0
    }

    /// What kind of answer it is: a day and a time of day are values of two things.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Date { .. } => "date",
            Self::Weekday(_) => "day",
            Self::Clock(_) => "time",
            Self::Every(_) => "frequency",
            Self::Quarter(_) => "quarter",
            Self::Relative(_) => "relative day",
        }
    }

    /// As people write it: `2026-05-04`, `4 May`, `Monday`.
    pub fn shown(&self) -> String {
        let capital = |word: &str| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        };
        match self {
            // A whole date needs no language.
            Self::Date { year: Some(_), month: Some(_), day: Some(_) }
            | Self::Clock(_)
            | Self::Every(_)
            | Self::Relative(_) => self.normal(),
            Self::Date { year, month, day } => {
                let month = month.and_then(|month| MONTHS.get(usize::from(month).checked_sub(1)?));
                let parts = [
                    day.map(|day| day.to_string()),
                    month.map(|month| capital(month)),
                    year.map(|year| year.to_string()),
                ];
                parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            Self::Weekday(day) => capital(DAYS[usize::from(*day) % 7]),
            Self::Quarter(_) => self.normal().to_uppercase(),
        }
    }

    /// The one form that all spellings share.
    pub fn normal(&self) -> String {
        match self {
            Self::Date { year, month, day } => {
                let year = year.map_or("????".to_owned(), |year| format!("{year:04}"));
                let two = |part: Option<u8>| part.map_or("??".to_owned(), |part| format!("{part:02}"));
                format!("{year}-{}-{}", two(*month), two(*day))
            }
            Self::Weekday(day) => DAYS[usize::from(*day) % 7].to_owned(),
            Self::Clock(minutes) => format!("{:02}:{:02}", minutes / 60, minutes % 60),
            Self::Every(often) => (*often).to_owned(),
            Self::Quarter(quarter) => format!("q{quarter}"),
            Self::Relative(day) => (*day).to_owned(),
        }
    }
}

const OFTEN: &[(&str, &str)] = &[
    ("hourly", "hourly"),
    ("daily", "daily"),
    ("nightly", "nightly"),
    ("weekly", "weekly"),
    ("biweekly", "biweekly"),
    ("fortnightly", "biweekly"),
    ("monthly", "monthly"),
    ("quarterly", "quarterly"),
    ("yearly", "yearly"),
    ("annually", "yearly"),
];

const RELATIVE: &[(&str, &str)] =
    &[("today", "today"), ("tonight", "tonight"), ("tomorrow", "tomorrow"), ("yesterday", "yesterday")];

/// The time that begins at a token, and how many tokens it takes.
pub(in crate::memory) fn read(tokens: &[Token<'_>], at: usize) -> Option<(When, usize)> {
    let token = tokens.get(at)?;
    match token.kind {
        Kind::Mark => None,
        Kind::Code => code(tokens, at),
        Kind::Number => number(tokens, at),
        Kind::Word => word(tokens, at),
    }
}

fn word(tokens: &[Token<'_>], at: usize) -> Option<(When, usize)> {
    let token = &tokens[at];
    if let Some(month) = month(tokens, at) {
        return Some(after_month(tokens, at, month));
    }
    if let Some(day) = weekday(token) {
        return Some((When::Weekday(day), 1));
    }
    let named = |table: &[(&str, &'static str)]| {
        table.iter().find(|(word, _)| token.is(word)).map(|(_, normal)| *normal)
    };
    if let Some(often) = named(OFTEN) {
        return Some((When::Every(often), 1));
    }
    if token.is("every")
        && let Some(next) = tokens.get(at + 1)
    {
        let often = match next.lower.as_str() {
            "hour" => "hourly",
            "day" => "daily",
            "night" => "nightly",
            "week" => "weekly",
            "month" => "monthly",
            "quarter" => "quarterly",
            "year" => "yearly",
            _ => return None,
        };
        return Some((When::Every(often), 2));
    }
    if let Some(day) = named(RELATIVE) {
        return Some((When::Relative(day), 1));
    }
    match token.lower.as_str() {
        "noon" => Some((When::Clock(12 * 60), 1)),
        "midnight" => Some((When::Clock(0), 1)),
        _ => None,
    }
}

/// "May 5, 2024", "May 2024", "May".
fn after_month(tokens: &[Token<'_>], at: usize, month: u8) -> (When, usize) {
    let month = Some(month);
    if let Some(day) = day_of(tokens.get(at + 1)) {
        let comma = usize::from(tokens.get(at + 2).is_some_and(|token| token.is(",")));
        return match year_of(tokens.get(at + 2 + comma)) {
            Some(year) => (When::Date { year: Some(year), month, day: Some(day) }, 3 + comma),
            None => (When::Date { year: None, month, day: Some(day) }, 2),
        };
    }
    match year_of(tokens.get(at + 1)) {
        Some(year) => (When::Date { year: Some(year), month, day: None }, 2),
        None => (When::Date { year: None, month, day: None }, 1),
    }
}

/// "5 May 2024", "5th of May", "10 am", "in 2024".
fn number(tokens: &[Token<'_>], at: usize) -> Option<(When, usize)> {
    if let Some(day) = day_of(tokens.get(at)) {
        let of = usize::from(tokens.get(at + 1).is_some_and(|token| token.is("of")));
        if tokens.get(at + 1 + of).is_some_and(|token| token.kind == Kind::Word)
            && let Some(month) = month(tokens, at + 1 + of)
        {
            let year = year_of(tokens.get(at + 2 + of));
            let used = 2 + of + usize::from(year.is_some());
            return Some((When::Date { year, month: Some(month), day: Some(day) }, used));
        }
    }
    if let Some(next) = tokens.get(at + 1)
        && let Some(hour) = tokens[at].text.parse::<u16>().ok().filter(|hour| (1..=12).contains(hour))
        && let Some(late) = half_of_day(&next.lower)
    {
        return Some((When::Clock((hour % 12 + late) * 60), 2));
    }
    let before = at.checked_sub(1).and_then(|before| tokens.get(before))?;
    let year = year_of(tokens.get(at))?;
    let names_year = before.among(&["in", "since", "by", "until", "till", "before", "after", "during", "of"]);
    // "in 2024 cases" is a number.
    let ends = tokens.get(at + 1).is_none_or(|next| {
        next.is_mark() || next.among(&["and", "because", "as", "to", "but", "with", "by", "for"])
    });
    (names_year && ends).then_some((When::Date { year: Some(year), month: None, day: None }, 1))
}

/// "2024-05-01", "2024-05", "01.05.2024", "10:30", "10am", "Q3".
fn code(tokens: &[Token<'_>], at: usize) -> Option<(When, usize)> {
    let text = tokens[at].lower.as_str();
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    if let Some(quarter) = text.strip_prefix('q').and_then(|rest| rest.parse::<u8>().ok()) {
        return (1..=4).contains(&quarter).then_some((When::Quarter(quarter), 1));
    }
    if let Some(date) = date(text) {
        return Some((date, 1));
    }
    let (clock, late) = match half_of_day_suffix(text) {
        Some((clock, late)) => (clock, Some(late)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let hour: u16 = two_digits(parts.next()?)?;
    let minute: u16 = match parts.next() {
        Some(minute) if minute.len() == 2 => two_digits(minute)?,
        None if late.is_some() => 0,
        Some(_) | None => return None,
    };
    if parts.next().is_some_and(|seconds| two_digits(seconds).is_none()) || parts.next().is_some() {
        return None;
    }
    let (late, used) = match (late, tokens.get(at + 1).and_then(|next| half_of_day(&next.lower))) {
        (Some(late), _) => (Some(late), 1),
        (None, Some(late)) => (Some(late), 2),
        (None, None) => (None, 1),
    };
    let hour = match late {
        Some(late) if (1..=12).contains(&hour) => hour % 12 + late,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60).then_some((When::Clock(hour * 60 + minute), used))
}

fn two_digits(text: &str) -> Option<u16> {
    let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if is_short { text.parse().ok() } else { None }
}

/// A date in digits. Where day and month could be exchanged ("03/04/2024") it stays a code.
fn date(text: &str) -> Option<When> {
    let text = text.split_once('t').map_or(text, |(date, _)| date);
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let is_digits = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if !is_digits || parts.len() > 3 {
        return None;
    }
    let whole = |year: &str, month: &str, day: Option<&str>| {
        let year: u16 = year.parse().ok().filter(|year| (1_000..=2_999).contains(year))?;
        let month: u8 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
        let day = match day {
            Some(day) => Some(day.parse().ok().filter(|day| (1..=31).contains(day))?),
            None => None,
        };
        Some(When::Date { year: Some(year), month: Some(month), day })
    };
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => whole(year, month, Some(*day)),
        [day, month, year] if year.len() == 4 && text.contains('.') => whole(year, month, Some(*day)),
        [year, month] if year.len() == 4 && month.len() == 2 && text.contains('-') => {
            whole(year, month, None)
        }
        _ => None,
    }
}

/// Twelve hours for the second half of the day.
fn half_of_day(word: &str) -> Option<u16> {
    match word {
        "am" | "a.m" => Some(0),
        "pm" | "p.m" => Some(12),
        _ => None,
    }
}

fn half_of_day_suffix(text: &str) -> Option<(&str, u16)> {
    let (clock, late) = match text.strip_suffix("am") {
        Some(clock) => (clock, 0),
        None => (text.strip_suffix("pm")?, 12),
    };
    Some((clock, late))
}

/// The month that a word names. "May" and "March" are ordinary words without a capital or at the head of a sentence.
fn month(tokens: &[Token<'_>], at: usize) -> Option<u8> {
    let token = tokens.get(at)?;
    let found = MONTHS.iter().position(|month| token.is(month)).map(|found| (found, false)).or_else(|| {
        let is_short = token.lower.len() == 3;
        let short = MONTHS.iter().position(|month| is_short && month.starts_with(&token.lower));
        short.or(token.is("sept").then_some(8)).map(|found| (found, true))
    });
    let (found, is_short) = found?;
    let is_doubtful = matches!(found, 2 | 4) || is_short;
    let near_number = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Number)
        || at.checked_sub(1).is_some_and(|before| tokens[before].kind == Kind::Number);
    let sure = match (is_doubtful, is_short) {
        (false, _) => true,
        (true, false) => token.is_capital() && (!token.opens || near_number),
        (true, true) => token.is_capital() && near_number,
    };
    sure.then_some(found as u8 + 1)
}

/// The day of the week that a word names, in the plural too.
fn weekday(token: &Token<'_>) -> Option<u8> {
    let word = token.lower.strip_suffix('s').unwrap_or(&token.lower);
    let found = DAYS.iter().position(|day| *day == word || *day == token.lower);
    let short = || {
        let names = ["mon", "tue", "wed", "thu", "fri"];
        let is_short = token.is_capital() && !token.opens;
        is_short.then(|| names.iter().position(|name| token.is(name))).flatten()
    };
    found.or_else(short).map(|day| day as u8)
}

fn day_of(token: Option<&Token<'_>>) -> Option<u8> {
    let (digits, unit) = numbers::parse(token.filter(|token| token.kind == Kind::Number)?.text)?;
    let day: u8 = digits.trim_start_matches('#').parse().ok()?;
    (unit.is_none() && (1..=31).contains(&day)).then_some(day)
}

fn year_of(token: Option<&Token<'_>>) -> Option<u16> {
    let text = token.filter(|token| token.kind == Kind::Number)?.text;
    let year: u16 = text.parse().ok()?;
    (text.len() == 4 && (1_900..=2_199).contains(&year)).then_some(year)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn times(text: &str) -> Vec<When> {
        let found = tokens(text);
        let (mut at, mut times) = (0, Vec::new());
        while at < found.len() {
            let used = match read(&found, at) {
                Some((when, used)) => {
                    times.push(when);
                    used
                }
                None => 1,
            };
            at += used;
        }
        times
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = times(text).iter().map(When::normal).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn dates_have_one_form() {
        check("on 2024-05-01 or 2024/5/1, 01.05.2024", "2024-05-01 2024-05-01 2024-05-01");
        check("May 1, 2024; 1 May 2024; the 1st of May", "2024-05-01 2024-05-01 ????-05-01");
        check("since March 2024, in Dec 2023", "2024-03-?? 2023-12-??");
        check("in May they may march in 2024", "????-05-?? 2024-??-??");
        check("May I?", "");
        check("on Fridays, Mon or Tuesday", "friday monday tuesday");
        check("at 10:30, 10.30pm, 10pm, 9 a.m. or noon", "10:30 22:00 09:00 12:00");
        check("daily, every week, in Q3", "daily weekly q3");
        check("tomorrow", "tomorrow");
        check("03/04/2024 1.2.3 2024-13-01 99:99 25:00", "");
    }

    #[test]
    fn a_part_fits_the_whole() {
        let fits = |one: &str, two: &str| times(one)[0].fits(&times(two)[0]);
        assert!(fits("May 5", "2024-05-05") && fits("in May 2024.", "2024-05-05"));
        assert!(
            !fits("May 5", "2024-05-06") && !fits("on Friday", "on Monday") && !fits("2024-05", "May 2023")
        );
    }
}
