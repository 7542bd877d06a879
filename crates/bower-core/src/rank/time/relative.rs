//! Parses relative times: last week, two weeks ago, the Sunday before 25 October, the first weekend of August.
//! They are relative to now or to another time. A count of units back means the whole unit at that time: "two weeks
//! ago" is a week, Monday first.

use super::aims::TimeReader;
use super::calendar::{CivilSpan, before, on_or_after, shift, span};
use super::words::{TimeUnit, Word, WordKind};

/// Most nested times ("the week before the first day of last May"); bounds the work for each token.
const DEEPEST: u8 = 4;

impl TimeReader<'_> {
    /// Parses any span of time that begins at a token. `placed`: the word before it introduces a time.
    pub(super) fn period(&self, at: usize, placed: bool, depth: u8) -> Option<(CivilSpan, usize)> {
        if depth > DEEPEST {
            return None;
        }
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
        let the = self.is(at, Word::The);
        let start = at + usize::from(the);
        let placed = placed || (the && self.is_placed(at));
        self.portion(start, depth)
            .or_else(|| self.ordinal_of(start, depth))
            .or_else(|| self.beside(start, the, depth))
            .or_else(|| self.said_from_now(start, the).inspect(|_| self.relative.set(true)))
            .or_else(|| self.absolute(start, placed))
    }

    /// Parses `early March`, `mid-2022`, `late last year`, `the beginning of May`, `the end of summer 2023`.
    fn portion(&self, at: usize, depth: u8) -> Option<(CivilSpan, usize)> {
        let word = self.word(at);
        let next = match word {
            Word::Early | Word::Late => at + 1,
            Word::Mid => at + 1 + usize::from(self.is_dash(at + 1) || self.is(at + 1, Word::Of)),
            Word::Start | Word::End if self.is(at + 1, Word::Of) => at + 2,
            _ => return None,
        };
        let (part, end) = self.period(next, true, depth + 1)?;
        let cut = match word {
            Word::Early if self.text_is(at, "earlier") => {
                // "earlier this year" ends now.
                return (part.from < self.now)
                    .then(|| (CivilSpan { until: part.until.min(self.now), ..part }, end));
            }
            Word::Early | Word::Start => part.third(0),
            Word::Mid => part.third(1),
            _ => part.third(2),
        };
        Some((CivilSpan { yearless: part.yearless, ..cut? }, end))
    }

    /// Parses `the first week of May`, `the last two weeks of August 2023`, `the second half of 2022`, `the 3rd quarter
    /// of 2024`, `the first Monday of June`, `the last day of last month`.
    fn ordinal_of(&self, at: usize, depth: u8) -> Option<(CivilSpan, usize)> {
        let (number, next) = match self.tokens.get(at)?.kind {
            WordKind::Word(Word::Ordinal(number)) => (Some(i64::from(number)), at + 1),
            WordKind::Word(Word::Last) => (None, at + 1),
            WordKind::Number(number @ 1..=53, _) if self.suffixed(at + 1) => {
                (Some(i64::from(number)), at + 2)
            }
            WordKind::Number(..) | WordKind::Word(_) | WordKind::Mark(_) => return None,
        };
        let (count, next) = match self.count(next) {
            Some((count, next)) if number.is_none_or(|number| number == 1) => (Some(count), next),
            _ => (None, next),
        };
        let what = self.word(next);
        let of = next + 1;
        let joined = self.is(of, Word::Of) || self.is(of, Word::Within) && self.text_is(of, "in");
        if !joined {
            return None;
        }
        let whole = || self.period(of + 1, true, depth + 1);
        let (part, (outer, end)) = match what {
            Word::Half => {
                let (outer, end) = whole()?;
                (outer.half(i32::from(number != Some(1))), (outer, end))
            }
            Word::TimeUnit(unit) => {
                let (outer, end) = whole()?;
                let part = match (number, count) {
                    (None, count) => outer.ends(count.unwrap_or(1), unit, true),
                    (Some(_), Some(count)) => outer.ends(count, unit, false),
                    (Some(number), None) => outer.nth(number, unit),
                };
                (part, (outer, end))
            }
            Word::Weekday { number: weekday, .. } if count.is_none() => {
                let (outer, end) = whole()?;
                let day = match number {
                    None => before(outer.until.date(), weekday),
                    Some(number) => on_or_after(outer.first_day(), weekday)
                        .and_then(|day| shift(day, number - 1, TimeUnit::Week)),
                };
                (day.and_then(CivilSpan::day).filter(|day| day.from < outer.until), (outer, end))
            }
            _ => return None,
        };
        Some((CivilSpan { yearless: outer.yearless, ..part? }, end))
    }

    /// Parses `the week before 3 August 2023`, `two weeks before 11 August`, `the Sunday before 25 October`, `the day
    /// after 8 May`, `last weekend before April 10`, `the week of 8 May`.
    fn beside(&self, at: usize, the: bool, depth: u8) -> Option<(CivilSpan, usize)> {
        let at = at + usize::from(self.is(at, Word::Last) || (!the && self.is(at, Word::A)));
        let (count, next) = self.count(at).unwrap_or((1, at));
        let what = self.word(next);
        if !matches!(what, Word::TimeUnit(_) | Word::Weekday { .. }) {
            return None;
        }
        let relation = next + 1;
        if let (Word::Of, Word::TimeUnit(unit @ (TimeUnit::Week | TimeUnit::Weekend))) =
            (self.word(relation), what)
        {
            let (anchor, end) = self.period(relation + 1, true, depth + 1)?;
            let short = anchor.first_day() == anchor.last_day()?;
            return short
                .then(|| CivilSpan::around(anchor.first_day(), unit))
                .flatten()
                .map(|part| (part, end));
        }
        let (side, after) = match self.word(relation) {
            Word::Before => (-1, relation + 1),
            Word::Prior => (-1, relation + 1 + usize::from(self.is(relation + 1, Word::To))),
            Word::After => (1, relation + 1),
            _ => return None,
        };
        let (anchor, end) = self.period(after, true, depth + 1)?;
        let edge = if side < 0 { anchor.first_day() } else { anchor.last_day()? };
        let part = match what {
            Word::Weekday { number, .. } if side < 0 => before(edge, number).and_then(CivilSpan::day),
            Word::Weekday { number, .. } => {
                on_or_after(shift(edge, 1, TimeUnit::Day)?, number).and_then(CivilSpan::day)
            }
            // The seven days before, not the calendar week: the phrase refers to the time just named.
            Word::TimeUnit(unit @ (TimeUnit::Week | TimeUnit::Month)) if count == 1 => {
                let far = shift(edge, side, unit)?;
                if side < 0 {
                    CivilSpan::new(far, edge)
                } else {
                    CivilSpan::new(shift(edge, 1, TimeUnit::Day)?, shift(far, 1, TimeUnit::Day)?)
                }
            }
            Word::TimeUnit(TimeUnit::Weekend) => {
                let weekend =
                    if side < 0 { before(edge, 5)? } else { on_or_after(shift(edge, 1, TimeUnit::Day)?, 5)? };
                CivilSpan::around(shift(weekend, side * (count - 1), TimeUnit::Week)?, TimeUnit::Weekend)
            }
            Word::TimeUnit(unit) => {
                shift(edge, side.checked_mul(count)?, unit).and_then(|day| CivilSpan::around(day, unit))
            }
            _ => None,
        };
        Some((CivilSpan { yearless: anchor.yearless, ..part? }, end))
    }

    /// Parses times relative to now: today, last week, this month, two weeks ago, the past 3 days, last Friday, Tuesday.
    fn said_from_now(&self, at: usize, the: bool) -> Option<(CivilSpan, usize)> {
        let today = self.today;
        let next = at + 1;
        match self.word(at) {
            Word::Today => Some((CivilSpan::day(today)?, next)),
            Word::Yesterday => {
                Some((CivilSpan::day(shift(today, -1, TimeUnit::Day)?)?, self.past_day_part(next)))
            }
            Word::Tomorrow => {
                Some((CivilSpan::day(shift(today, 1, TimeUnit::Day)?)?, self.past_day_part(next)))
            }
            Word::TimeUnit(TimeUnit::Day)
                if self.is(next, Word::Before) && self.is(next + 1, Word::Yesterday) =>
            {
                Some((CivilSpan::day(shift(today, -2, TimeUnit::Day)?)?, next + 2))
            }
            Word::TimeUnit(TimeUnit::Day)
                if self.is(next, Word::After) && self.is(next + 1, Word::Tomorrow) =>
            {
                Some((CivilSpan::day(shift(today, 2, TimeUnit::Day)?)?, next + 2))
            }
            // "the weekend" is the latest that has begun.
            Word::TimeUnit(TimeUnit::Weekend) if the && self.text_is(at, "weekend") => Some((
                CivilSpan::around(before(shift(today, 1, TimeUnit::Day)?, 5)?, TimeUnit::Weekend)?,
                next,
            )),
            Word::Last => self.last(next, the),
            Word::Past => self.rolling(next),
            Word::This => self.this(next),
            Word::Next => self.next(next),
            Word::Weekday { number, sure } => self.weekday(at, number, sure),
            _ => self.ago(at),
        }
    }

    /// Parses the rest after "last": the unit, weekday, month or season before this one. "the last month" and "the last
    /// 3 weeks" end now.
    fn last(&self, at: usize, the: bool) -> Option<(CivilSpan, usize)> {
        if let Some((count, next)) = self.count(at)
            && let Word::TimeUnit(unit) = self.word(next)
        {
            return Some((self.until_now(count, unit)?, next + 1));
        }
        let next = at + 1;
        let part = match self.word(at) {
            Word::TimeUnit(TimeUnit::Minute | TimeUnit::Hour) if !the => return None,
            Word::TimeUnit(unit)
                if the && unit != TimeUnit::Weekend && self.is_placed(at.checked_sub(2)?) =>
            {
                self.until_now(1, unit)?
            }
            Word::TimeUnit(unit) => self.neighbour(-1, unit)?,
            Word::Fortnight => self.until_now(2, TimeUnit::Week)?,
            Word::DayPart => CivilSpan::day(shift(self.today, -1, TimeUnit::Day)?)?,
            Word::Weekday { number, .. } => CivilSpan::day(before(self.today, number)?)?,
            Word::Month { number, .. } => self.ended(|year| CivilSpan::months(year, number, 1))?,
            Word::Season { number, .. } => self.ended(|year| CivilSpan::season(year, number))?,
            _ => return None,
        };
        Some((part, next))
    }

    /// Parses the rest after "past": the span that ends now.
    fn rolling(&self, at: usize) -> Option<(CivilSpan, usize)> {
        let (count, next) = self.count(at).unwrap_or((1, at));
        match self.word(next) {
            // "half past hour" is no phrase; "past weekend" is a weekend.
            Word::TimeUnit(TimeUnit::Weekend) => Some((self.neighbour(-1, TimeUnit::Weekend)?, next + 1)),
            Word::TimeUnit(unit) => Some((self.until_now(count, unit)?, next + 1)),
            Word::Weekday { number, .. } if next == at => {
                Some((CivilSpan::day(before(self.today, number)?)?, next + 1))
            }
            Word::Season { number, .. } if next == at => {
                Some((self.ended(|year| CivilSpan::season(year, number))?, next + 1))
            }
            _ => None,
        }
    }

    /// Parses the rest after "this": the unit that contains now, the weekday of this week, the month or season of this year.
    fn this(&self, at: usize) -> Option<(CivilSpan, usize)> {
        let next = at + 1;
        let year = self.today.year();
        let part = match self.word(at) {
            Word::TimeUnit(TimeUnit::Minute | TimeUnit::Hour) => return None,
            Word::TimeUnit(unit) => CivilSpan::around(self.today, unit)?,
            Word::DayPart => CivilSpan::day(self.today)?,
            Word::Past | Word::Last => return self.last(next, false),
            Word::Weekday { number, sure } if sure || self.tokens[at].capital => {
                let week = CivilSpan::around(self.today, TimeUnit::Week)?;
                CivilSpan::day(shift(week.first_day(), number.into(), TimeUnit::Day)?)?
            }
            Word::Month { number, sure } if sure || (self.tokens[at].capital && self.ends_clause(next)) => {
                CivilSpan::months(year, number, 1)?
            }
            Word::Season { number, sure } if sure || self.ends_clause(next) => {
                CivilSpan::season(year, number)?
            }
            _ => return None,
        };
        Some((part, next))
    }

    /// Parses the rest after "next": the unit after this one, the weekday of next week, the month or season that has not begun.
    fn next(&self, at: usize) -> Option<(CivilSpan, usize)> {
        let next = at + 1;
        if let Some((count, next)) = self.count(at)
            && let Word::TimeUnit(unit) = self.word(next)
        {
            let until = self.now.checked_add(span(count, unit)?).ok()?;
            return Some((CivilSpan { from: self.now, until, yearless: false }, next + 1));
        }
        let coming = |of: &dyn Fn(i16) -> Option<CivilSpan>| {
            let this = of(self.today.year())?;
            if this.first_day() > self.today { Some(this) } else { of(self.today.year().checked_add(1)?) }
        };
        let part = match self.word(at) {
            Word::TimeUnit(TimeUnit::Minute | TimeUnit::Hour) => return None,
            Word::TimeUnit(unit) => self.neighbour(1, unit)?,
            Word::Weekday { number, .. } => {
                let week = self.neighbour(1, TimeUnit::Week)?;
                CivilSpan::day(shift(week.first_day(), number.into(), TimeUnit::Day)?)?
            }
            Word::Month { number, .. } => coming(&|year| CivilSpan::months(year, number, 1))?,
            Word::Season { number, .. } => coming(&|year| CivilSpan::season(year, number))?,
            _ => return None,
        };
        Some((part, next))
    }

    /// Parses a bare weekday: the last one before today. A short form needs a word that introduces times.
    fn weekday(&self, at: usize, number: i8, sure: bool) -> Option<(CivilSpan, usize)> {
        let placed = at.checked_sub(1).is_some_and(|before| self.is_placed_by(before));
        if !(sure || placed && self.tokens[at].capital && !self.glued(at + 1)) {
            return None;
        }
        // "segunda-feira" and "Monday-to-Friday" are parsed with the words around them.
        Some((CivilSpan::day(before(self.today, number)?)?, self.past_day_part(at + 1)))
    }

    /// Parses `3 days ago`, `a week ago`, `half a year ago`, `a couple of months back`, `two weeks from now`.
    fn ago(&self, at: usize) -> Option<(CivilSpan, usize)> {
        let half = self.is(at, Word::Half);
        let at = at + usize::from(half);
        let (count, next) = match self.count(at) {
            Some(found) => found,
            None if self.is(at, Word::A) => (1, at + 1),
            None => return None,
        };
        let (count, unit) = match (self.word(next), half) {
            (Word::TimeUnit(TimeUnit::Year), true) => (count.checked_mul(6)?, TimeUnit::Month),
            (Word::TimeUnit(TimeUnit::Hour), true) => (count.checked_mul(30)?, TimeUnit::Minute),
            (Word::TimeUnit(TimeUnit::Decade), true) => (count.checked_mul(5)?, TimeUnit::Year),
            (Word::TimeUnit(unit), false) => (count, unit),
            (Word::Fortnight, false) => (count.checked_mul(2)?, TimeUnit::Week),
            _ => return None,
        };
        let (sign, end) = if self.is(next + 1, Word::Ago)
            || (self.text_is(next + 1, "back") && self.ends_clause(next + 2))
        {
            (-1, next + 2)
        } else if self.is(next + 1, Word::From)
            && (self.is(next + 2, Word::Now) || self.is(next + 2, Word::Today))
        {
            (1, next + 3)
        } else {
            return None;
        };
        let part = match unit {
            TimeUnit::Minute | TimeUnit::Hour => {
                let then = self.now.checked_add(span(sign * count, unit)?).ok()?;
                let half = if unit == TimeUnit::Hour {
                    span(30, TimeUnit::Minute)?
                } else {
                    span(1, TimeUnit::Minute)?
                };
                CivilSpan {
                    from: then.checked_sub(half).ok()?,
                    until: then.checked_add(half).ok()?,
                    yearless: false,
                }
            }
            TimeUnit::Day
            | TimeUnit::Week
            | TimeUnit::Weekend
            | TimeUnit::Month
            | TimeUnit::Quarter
            | TimeUnit::Year
            | TimeUnit::Decade => CivilSpan::around(shift(self.today, sign * count, unit)?, unit)?,
        };
        Some((part, end))
    }

    /// Parses a count: `3`, `three`, `twenty-one`, `a few`, `a couple of`, `several`.
    pub(super) fn count(&self, at: usize) -> Option<(i64, usize)> {
        match self.tokens.get(at)?.kind {
            WordKind::Number(value, _) if value > 0 && !self.glued(at + 1) => Some((value.into(), at + 1)),
            WordKind::Word(Word::Count(tens)) => {
                let dash = usize::from(self.is_dash(at + 1));
                match self.word(at + 1 + dash) {
                    Word::Count(ones) if tens % 10 == 0 && tens < 100 && ones < 10 => {
                        Some((i64::from(tens + ones), at + 2 + dash))
                    }
                    _ => Some((tens.into(), at + 1)),
                }
            }
            WordKind::Word(Word::A) if matches!(self.word(at + 1), Word::Some(_) | Word::Count(_)) => {
                self.count(at + 1)
            }
            WordKind::Word(Word::Some(number)) => {
                Some((number.into(), at + 1 + usize::from(self.is(at + 1, Word::Of))))
            }
            WordKind::Number(..) | WordKind::Word(_) | WordKind::Mark(_) => None,
        }
    }

    /// Returns the unit before or after the one that contains now; a weekend is that of the week before or after.
    fn neighbour(&self, by: i64, unit: TimeUnit) -> Option<CivilSpan> {
        let day = match unit {
            // Counted from a month's first day, because a month before 31 March is 28 February.
            TimeUnit::Month | TimeUnit::Quarter | TimeUnit::Year | TimeUnit::Decade => {
                self.today.first_of_month()
            }
            TimeUnit::Minute | TimeUnit::Hour | TimeUnit::Day | TimeUnit::Week | TimeUnit::Weekend => {
                self.today
            }
        };
        CivilSpan::around(shift(day, by, unit)?, unit)
    }

    /// Returns a number of units that end now.
    fn until_now(&self, count: i64, unit: TimeUnit) -> Option<CivilSpan> {
        let from = self.now.checked_sub(span(count, unit)?).ok()?;
        (from < self.now).then_some(CivilSpan { from, until: self.now, yearless: false })
    }

    /// Returns the latest such span that has ended.
    fn ended(&self, of: impl Fn(i16) -> Option<CivilSpan>) -> Option<CivilSpan> {
        let year = self.today.year();
        (0..3).filter_map(|back| of(year - back)).find(|part| part.until.date() <= self.today)
    }

    /// Skips a part of the day: in "yesterday evening" or "Monday morning" the day is enough.
    fn past_day_part(&self, at: usize) -> usize {
        at + usize::from(self.is(at, Word::DayPart))
    }

    fn suffixed(&self, at: usize) -> bool {
        self.glued(at) && ["st", "nd", "rd", "th"].iter().any(|suffix| self.text_is(at, suffix))
    }
}
