//! Parses absolute dates: 2023-05-08, 8 May 2023, 05/08/2023, May 2023, Q3 2024, the 90s.
//! A name that is also an ordinary word counts only beside a number, or after a word that introduces times.

use jiff::civil::Date;

use super::aims::TimeReader;
use super::calendar::{CivilSpan, shift};
use super::words::{TimeUnit, Word, WordKind};

/// Numbers that are read as years; other four-digit numbers are counts.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// Words after a number that make it a count although they do not end in s.
const COUNTED: &[&str] = &[
    "kb",
    "mb",
    "gb",
    "tb",
    "ms",
    "px",
    "rpm",
    "hz",
    "khz",
    "mhz",
    "percent",
    "people",
    "euro",
    "usd",
    "eur",
    "meter",
    "km",
    "kg",
    "ml",
    "token",
    "character",
    "feet",
    "men",
    "women",
    "children",
];

/// Words that end in s and may follow a year.
const NO_PLURAL: &[&str] =
    &["was", "is", "has", "does", "his", "its", "this", "as", "us", "versus", "thus", "always"];

/// Words after "the 30s" that make it seconds.
const WAITED: &[&str] =
    &["timeout", "delay", "interval", "window", "limit", "wait", "deadline", "poll", "retry", "cap"];

impl TimeReader<'_> {
    /// Parses a date, month, quarter, season, year or decade at a token. `placed`: the word before it introduces a time.
    pub(super) fn absolute(&self, at: usize, placed: bool) -> Option<(CivilSpan, usize)> {
        let token = self.tokens.get(at)?;
        match token.kind {
            WordKind::Number(value, digits) => self.number(at, value, digits, placed),
            WordKind::Mark('\'' | '’') => self.short_decade(at + 1, true),
            WordKind::Word(Word::Month { number, sure }) => self.month(at, number, sure, placed),
            WordKind::Word(Word::Season { number, sure }) => {
                if let Some((year, next)) = self.year_after(at + 1) {
                    return Some((CivilSpan::season(year, number)?, next));
                }
                (placed && (sure || self.is(at.wrapping_sub(1), Word::The)))
                    .then(|| self.nearest(|year| CivilSpan::season(year, number)))
                    .flatten()
                    .map(|part| (part, at + 1))
            }
            WordKind::Word(Word::PartOfYear { number, months }) => {
                let first = (number - 1) * months + 1;
                if let Some((year, next)) = self.year_after(at + 1) {
                    return Some((CivilSpan::months(year, first, months.into())?, next));
                }
                let part = self.nearest(|year| CivilSpan::months(year, first, months.into()))?;
                (token.capital && !self.glued_word(at + 1)).then_some((part, at + 1))
            }
            WordKind::Word(Word::Decade(from)) => {
                let the = self.is(at.wrapping_sub(1), Word::The);
                (the || placed).then(|| CivilSpan::years(from, 10)).flatten().map(|part| (part, at + 1))
            }
            WordKind::Word(Word::Ordinal(day)) => {
                // "the first of May"
                let next = at + 1 + usize::from(self.is(at + 1, Word::Of));
                let WordKind::Word(Word::Month { number, .. }) = self.tokens.get(next)?.kind else {
                    return None;
                };
                self.day_of(number, day.try_into().ok()?, next + 1)
            }
            WordKind::Word(_) | WordKind::Mark(_) => None,
        }
    }

    fn number(&self, at: usize, value: u32, digits: u8, placed: bool) -> Option<(CivilSpan, usize)> {
        if let Some(found) = self.iso(at, value, digits) {
            return Some(found);
        }
        if !self.opens(at) {
            return None;
        }
        if digits <= 2 {
            if let Some(found) = self.with_separators(at, value) {
                return Some(found);
            }
            if let Some(found) = self.day_month(at, value) {
                return Some(found);
            }
            return self.short_decade(at, placed);
        }
        if digits != 4 || !YEARS.contains(&value) {
            return None;
        }
        let year = i16::try_from(value).ok()?;
        if value.is_multiple_of(10) && self.text_is(at + 1, "s") && self.glued(at + 1) {
            return Some((CivilSpan::years(year, if value.is_multiple_of(100) { 100 } else { 10 })?, at + 2));
        }
        let next = at + 1;
        match self.tokens.get(next).map(super::words::TimeToken::word) {
            Some(Word::PartOfYear { number, months }) => {
                return Some((CivilSpan::months(year, (number - 1) * months + 1, months.into())?, next + 1));
            }
            Some(Word::Month { number, sure }) if sure || self.tokens[next].capital => {
                return Some((CivilSpan::months(year, number, 1)?, next + 1));
            }
            _ => {}
        }
        (self.closes(at) && (placed || self.stands_alone(at)) && !self.counts(next))
            .then(|| CivilSpan::years(year, 1))
            .flatten()
            .map(|part| (part, next))
    }

    /// Parses `2023-05-08`, `2023/05/08`, `2023.05.08`, `2023-05`, `2023-W19`, `20230508`. A time of day after it is skipped.
    fn iso(&self, at: usize, value: u32, digits: u8) -> Option<(CivilSpan, usize)> {
        // It may be part of a file name, but not of a longer number or identifier.
        if self.glued(at)
            && self
                .tokens
                .get(at.wrapping_sub(1))
                .is_some_and(|before| !matches!(before.kind, WordKind::Mark(_)))
        {
            return None;
        }
        if self.follows_digits(at) {
            return None;
        }
        if digits == 8 && YEARS.contains(&(value / 10_000)) && !self.continues(at + 1) {
            let part = CivilSpan::day(date(value / 10_000, value / 100 % 100, value % 100)?)?;
            return Some((part, at + 1));
        }
        if digits != 4 || !YEARS.contains(&value) {
            return None;
        }
        let WordKind::Mark(mark @ ('-' | '/' | '.')) = self.glued_kind(at + 1)? else { return None };
        if mark == '-'
            && let Some(WordKind::Word(Word::Other)) = self.glued_kind(at + 2)
        {
            let week = self.text(at + 2).strip_prefix(['W', 'w'])?.parse().ok().filter(|week| *week <= 53)?;
            let monday =
                jiff::civil::ISOWeekDate::new(value.try_into().ok()?, week, jiff::civil::Weekday::Monday)
                    .ok()?;
            return Some((CivilSpan::new(monday.date(), shift(monday.date(), 1, TimeUnit::Week)?)?, at + 3));
        }
        let WordKind::Number(month, 1..=2) = self.glued_kind(at + 2)? else { return None };
        if let (Some(WordKind::Mark(second)), Some(WordKind::Number(day, 1..=2))) =
            (self.glued_kind(at + 3), self.glued_kind(at + 4))
        {
            return (second == mark && !self.more_digits(at + 5))
                .then(|| CivilSpan::day(date(value, month, day)?))
                .flatten()
                .map(|part| (part, at + 5));
        }
        // "2019-20" is a season, not a month. A month has two digits and follows a hyphen.
        let two = self.tokens[at + 2].range().len() == 2;
        (mark == '-' && two && !self.continues(at + 3))
            .then(|| CivilSpan::months(value as i16, i8::try_from(month).ok()?, 1))
            .flatten()
            .map(|part| (part, at + 3))
    }

    /// Parses `05/08/2023`, `8.5.2023`, `08-05-2023`, `05/08/23`, `08.05.23`.
    fn with_separators(&self, at: usize, first: u32) -> Option<(CivilSpan, usize)> {
        let WordKind::Mark(mark @ ('-' | '/' | '.')) = self.glued_kind(at + 1)? else { return None };
        let WordKind::Number(second, 1..=2) = self.glued_kind(at + 2)? else { return None };
        if self.glued_kind(at + 3)? != WordKind::Mark(mark) {
            return None;
        }
        let WordKind::Number(last, digits) = self.glued_kind(at + 4)? else { return None };
        if self.more_digits(at + 5) {
            return None;
        }
        let padded = self.tokens[at].range().len() == 2 && self.tokens[at + 2].range().len() == 2;
        let year = match digits {
            4 => last,
            // A two-digit year after dots needs a padded day and month, because 1.2.23 is a version.
            2 if mark == '/' || (mark == '.' && padded) => self.century(last),
            _ => return None,
        };
        let (month_first, day_first) = (date(year, first, second), date(year, second, first));
        let date = if mark == '/' { month_first.or(day_first) } else { day_first.or(month_first) };
        Some((CivilSpan::day(date?)?, at + 5))
    }

    /// Returns the year of two digits: at most ten years ahead, else in the last century.
    fn century(&self, two: u32) -> u32 {
        let this = u32::try_from(self.today.year()).unwrap_or(2000);
        let year = this / 100 * 100 + two;
        if year > this + 10 { year - 100 } else { year }
    }

    /// Parses `8 May 2023`, `8th of May`, `8. Mai 2023`, `8 de mayo de 2023`, `3-5 June`, `from 3 to 5 June`.
    fn day_month(&self, at: usize, day: u32) -> Option<(CivilSpan, usize)> {
        let (next, _) = self.past_suffix(at + 1);
        if let Some(found) = self.month_after_day(next, day) {
            return Some(found);
        }
        // A second day before the month: "3 to 5 June 2023".
        let joint = self.tokens.get(next)?;
        let joined = match joint.kind {
            WordKind::Mark('-' | '–' | '—') | WordKind::Word(Word::To | Word::Until) => true,
            WordKind::Word(Word::And) => self.is(at.wrapping_sub(1), Word::Between),
            WordKind::Word(_) | WordKind::Mark(_) | WordKind::Number(..) => false,
        };
        let WordKind::Number(last, 1..=2) = self.tokens.get(next + 1)?.kind else { return None };
        if !joined || day >= last {
            return None;
        }
        let (after, _) = self.past_suffix(next + 2);
        let (end, next) = self.month_after_day(after, last)?;
        let from = end.first_day().with().day(day.try_into().ok()?).build().ok()?;
        let part = CivilSpan { yearless: end.yearless, ..CivilSpan::new(from, end.until.date())? };
        Some((part, next))
    }

    fn month_after_day(&self, next: usize, day: u32) -> Option<(CivilSpan, usize)> {
        let of = usize::from(self.is(next, Word::Of));
        let token = self.tokens.get(next + of)?;
        let WordKind::Word(Word::Month { number, sure }) = token.kind else { return None };
        // "5 may fail": a month name that is also a word needs a capital, a year, or "of".
        let named = sure || token.capital || of == 1 || self.year_after(next + of + 1).is_some();
        if !named || self.glued(next + of) {
            return None;
        }
        self.day_of(number, i8::try_from(day).ok()?, next + of + 1)
    }

    /// Returns a day of a month, with the year that follows, if any.
    fn day_of(&self, month: i8, day: i8, next: usize) -> Option<(CivilSpan, usize)> {
        let next = next + usize::from(self.is_mark(next, '.') && self.year_after(next + 1).is_some());
        if let Some((year, next)) = self.year_after(next) {
            return Some((CivilSpan::day(Date::new(year, month, day).ok()?)?, next));
        }
        // 29 February is searched up to eight years back.
        let mut year = self.today.year();
        for _ in 0..9 {
            if let Some(date) = Date::new(year, month, day).ok().filter(|date| *date <= self.today) {
                return Some((CivilSpan { yearless: true, ..CivilSpan::day(date)? }, next));
            }
            year = year.checked_sub(1)?;
        }
        None
    }

    /// Parses `May 8th, 2023`, `May 8`, `May 3-5, 2023`, `May 2023`, `May '23`, `May`.
    fn month(&self, at: usize, number: i8, sure: bool, placed: bool) -> Option<(CivilSpan, usize)> {
        // "Rio de Janeiro"
        let river = at >= 2 && self.is(at - 1, Word::Of) && self.text_is(at - 2, "rio");
        if river || self.glued_identifier(at) {
            return None;
        }
        let dot = usize::from(!sure && self.is_mark(at + 1, '.') && self.glued(at + 1));
        let next = at + 1 + dot;
        if let Some((year, after)) = self.year_after(next) {
            return Some((CivilSpan::months(year, number, 1)?, after));
        }
        if let Some(WordKind::Number(day @ 1..=31, 1..=2)) = self.tokens.get(next).map(|token| token.kind)
            && (dot == 1 || !self.glued(next))
        {
            let found = self.day_after_month(number, next, day, sure, placed);
            if found.is_some() {
                return found;
            }
        }
        if let Some(WordKind::Word(Word::Ordinal(day))) = self.tokens.get(next).map(|token| token.kind)
            && sure
        {
            return self.day_of(number, i8::try_from(day).ok()?, next + 1);
        }
        let alone = sure || (placed && self.is_month_name(at, next));
        alone
            .then(|| self.nearest(|year| CivilSpan::months(year, number, 1)))
            .flatten()
            .map(|part| (part, next))
    }

    fn day_after_month(
        &self,
        number: i8,
        next: usize,
        day: u32,
        sure: bool,
        placed: bool,
    ) -> Option<(CivilSpan, usize)> {
        let (after, suffixed) = self.past_suffix(next + 1);
        let last = match self.tokens.get(after + 1).map(|token| token.kind) {
            Some(WordKind::Number(last @ 1..=31, 1..=2)) if self.is_dash(after) && last > day => Some(last),
            _ => None,
        };
        // "May 5 people join?" asks; "on May 5" does not.
        let with_year = self.year_after(after).is_some();
        let dated = sure || placed || suffixed || with_year || last.is_some() || self.ends_clause(after);
        let cut = self.continues(after) && !suffixed && !with_year && last.is_none();
        if !dated || cut || (self.counts(after) && !placed) {
            return None;
        }
        if let Some(last) = last {
            let (end_next, _) = self.past_suffix(after + 2);
            let (end, next) = self.day_of(number, i8::try_from(last).ok()?, end_next)?;
            let from = end.first_day().with().day(i8::try_from(day).ok()?).build().ok()?;
            return Some((
                CivilSpan { yearless: end.yearless, ..CivilSpan::new(from, end.until.date())? },
                next,
            ));
        }
        self.day_of(number, i8::try_from(day).ok()?, after)
    }

    /// Whether a month name that is also a word or a person's name means the month here, after a word that introduces times.
    fn is_month_name(&self, at: usize, next: usize) -> bool {
        let token = &self.tokens[at];
        let abbreviated = token.range().len() <= 4 && !self.text_is(at, "may");
        if self.is(at.wrapping_sub(1), Word::By) || self.is(at.wrapping_sub(1), Word::Of) && !token.capital {
            return false;
        }
        // "this may be", "in march on", "to march": lower case counts only at the end of a clause or within a longer time.
        token.capital || abbreviated || self.ends_clause(next) || self.is(at.wrapping_sub(1), Word::Last)
    }

    /// Parses `90s`, `'90s`, `1990s` without its century. Without an apostrophe only 50s to 90s: "30s" is half a minute.
    fn short_decade(&self, at: usize, placed: bool) -> Option<(CivilSpan, usize)> {
        let WordKind::Number(two, 2) = self.tokens.get(at)?.kind else { return None };
        let marked = self
            .tokens
            .get(at.wrapping_sub(1))
            .is_some_and(|mark| matches!(mark.kind, WordKind::Mark('\'' | '’')));
        let next = at + 1 + usize::from(matches!(self.glued_kind(at + 1), Some(WordKind::Mark('\'' | '’'))));
        if two % 10 != 0 || !self.glued(next) || !self.text_is(next, "s") {
            return None;
        }
        let said = self.is(at.wrapping_sub(1), Word::The) || placed;
        if WAITED.iter().any(|word| self.text_is(next + 1, word)) || !(marked || (said && two >= 50)) {
            return None;
        }
        let century = if two > 30 { 1900 } else { 2000 };
        Some((CivilSpan::years(century + two as i16, 10)?, next + 1))
    }

    /// Parses a year after a month, season or day: `2023`, `, 2023`, `of 2023`, `'23`.
    pub(super) fn year_after(&self, at: usize) -> Option<(i16, usize)> {
        let comma = usize::from(self.is_mark(at, ','));
        let at = at + comma;
        let at =
            at + usize::from(self.is(at, Word::Of) || self.is(at, Word::Within) && self.text_is(at, "in"));
        match self.tokens.get(at)?.kind {
            WordKind::Number(year, 4) if YEARS.contains(&year) && !self.decimal(at + 1) => {
                Some((year as i16, at + 1))
            }
            WordKind::Mark('\'' | '’') if comma == 0 => match self.glued_kind(at + 1)? {
                WordKind::Number(two, 2) if !self.glued_word(at + 2) => {
                    Some((self.century(two) as i16, at + 2))
                }
                WordKind::Number(..) | WordKind::Word(_) | WordKind::Mark(_) => None,
            },
            WordKind::Number(..) | WordKind::Word(_) | WordKind::Mark(_) => None,
        }
    }

    /// Returns the latest such span that has begun.
    pub(super) fn nearest(&self, of: impl Fn(i16) -> Option<CivilSpan>) -> Option<CivilSpan> {
        let year = self.today.year();
        let this = of(year)?;
        let part = if this.first_day() <= self.today { this } else { of(year.checked_sub(1)?)? };
        Some(CivilSpan { yearless: true, ..part })
    }

    /// Returns the token after `st`, `nd`, `rd`, `th`, `er` or a dot that makes a number an ordinal, and whether there was one.
    fn past_suffix(&self, at: usize) -> (usize, bool) {
        let suffix = ["st", "nd", "rd", "th", "er", "º", "ª"].iter().any(|suffix| self.text_is(at, suffix));
        let german = self.is_mark(at, '.')
            && !self.glued(at + 1)
            && self
                .tokens
                .get(at + 1)
                .is_some_and(|token| matches!(token.kind, WordKind::Word(Word::Month { .. })));
        let found = self.glued(at) && (suffix || german);
        (at + usize::from(found), found && suffix)
    }

    /// Whether a number may begin here: it is not the rest of a word, an amount or a longer number.
    fn opens(&self, at: usize) -> bool {
        if !self.glued(at) {
            return true;
        }
        let Some(before) = at.checked_sub(1).and_then(|at| self.tokens.get(at)) else { return true };
        match before.kind {
            WordKind::Mark('$' | '€' | '£' | '¥' | '#' | '_' | '.' | ':' | '+' | '@' | '/' | '\\' | '=')
            | WordKind::Word(_)
            | WordKind::Number(..) => false,
            WordKind::Mark('-' | ',') => !self.glued(at - 1) || self.dash_after_date(at - 1),
            // The argument of a call.
            WordKind::Mark('(') => !self.glued(at - 1),
            WordKind::Mark(_) => true,
        }
    }

    /// Whether there is a dash right after a date's last token, as in `2019-2021` or `mid-2022`.
    fn dash_after_date(&self, at: usize) -> bool {
        self.is_mark(at, '-')
            && at.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(|before| match before.kind {
                WordKind::Number(year, 4) => YEARS.contains(&year),
                WordKind::Number(..) | WordKind::Mark(_) => false,
                WordKind::Word(word) => {
                    matches!(word, Word::Mid | Word::Early | Word::Late | Word::Month { .. })
                }
            })
    }

    /// Whether the number at a token ends there.
    fn closes(&self, at: usize) -> bool {
        match self.glued_kind(at + 1) {
            Some(WordKind::Word(_) | WordKind::Mark('%' | '°' | '_' | '$' | '€' | '+' | '=')) => false,
            Some(WordKind::Mark('/' | ':')) => !self.glued(at + 2),
            Some(WordKind::Mark(_) | WordKind::Number(..)) | None => !self.decimal(at + 1),
        }
    }

    /// Whether a year counts without an introducing word: at the end of a question, or in brackets.
    fn stands_alone(&self, at: usize) -> bool {
        let WordKind::Number(year, _) = self.tokens[at].kind else { return false };
        let near =
            i32::try_from(year).is_ok_and(|year| (1950..=i32::from(self.today.year()) + 5).contains(&year));
        let bracketed =
            self.is_mark(at.wrapping_sub(1), '(') && !self.glued(at - 1) && self.is_mark(at + 1, ')');
        near && (bracketed || (self.question && self.ends_clause(at + 1)))
    }

    /// Whether the word at a token makes the number before it a count: "2000 rows".
    fn counts(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if token.capital || !matches!(token.kind, WordKind::Word(_)) {
            return false;
        }
        let word = self.text(at);
        let plural = word.len() >= 4 && word.ends_with('s') && !word.ends_with("ss");
        let known = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
        (plural && !known(NO_PLURAL)) || known(COUNTED)
    }

    /// Whether `.5` or `,000` follows a number directly.
    fn decimal(&self, at: usize) -> bool {
        matches!(self.glued_kind(at), Some(WordKind::Mark('.' | ',')))
            && matches!(self.glued_kind(at + 1), Some(WordKind::Number(..)))
    }

    /// Whether a dotted or slashed number has a further part: `10.12.2023.4` contains no date.
    fn more_digits(&self, at: usize) -> bool {
        matches!(self.glued_kind(at), Some(WordKind::Mark('.' | '/' | '-')))
            && matches!(self.glued_kind(at + 1), Some(WordKind::Number(..)))
    }

    /// Whether digits with a mark precede directly.
    fn follows_digits(&self, at: usize) -> bool {
        self.glued(at)
            && matches!(
                self.tokens.get(at.wrapping_sub(1)).map(|mark| mark.kind),
                Some(WordKind::Mark('.' | ',' | '-' | '/'))
            )
            && self.glued(at - 1)
            && matches!(
                self.tokens.get(at.wrapping_sub(2)).map(|token| token.kind),
                Some(WordKind::Number(..))
            )
    }

    /// Whether a part of the same number or identifier follows directly.
    fn continues(&self, at: usize) -> bool {
        match self.glued_kind(at) {
            Some(
                WordKind::Number(..) | WordKind::Word(_) | WordKind::Mark('%' | '°' | '/' | ':' | '$' | '€'),
            ) => true,
            Some(WordKind::Mark('.' | ',' | '-')) => {
                matches!(self.glued_kind(at + 1), Some(WordKind::Number(..)))
            }
            Some(WordKind::Mark(_)) | None => false,
        }
    }

    /// Whether the name is part of an identifier: `may_fail`, `self.march`.
    fn glued_identifier(&self, at: usize) -> bool {
        matches!(self.glued_kind(at + 1), Some(WordKind::Mark('_' | '(' | '=')))
            || (self.glued(at)
                && matches!(
                    self.tokens.get(at.wrapping_sub(1)).map(|mark| mark.kind),
                    Some(WordKind::Mark('_' | '.' | '@' | '#' | '/'))
                ))
    }

    pub(super) fn is_dash(&self, at: usize) -> bool {
        matches!(self.tokens.get(at).map(|token| token.kind), Some(WordKind::Mark('-' | '–' | '—')))
    }
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}
