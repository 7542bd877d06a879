//! Parses how a question uses time: before, after or during one, latest or first, in order, or as the answer.
//! Latest and first apply to states, order to events. The parser makes one pass; the tokens of an expression are not
//! read again.

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, Zoned};
use std::cell::Cell;
use std::ops::Range;

use super::calendar::{CivilSpan, Interval, joined};
use super::words::{TimeToken, TimeUnit, Word, WordKind, tokens};

/// Most words of an event that are kept; later words are rarely part of it.
const EVENT_WORDS: usize = 8;

/// Most letters of a word beside a date in a time stamp: "pm", "on", "at", "UTC".
const LONGEST_CLOCK_WORD: usize = 3;

/// Verbs after "when" that make a question of it.
const ASKING: &[&str] = &[
    "did", "was", "were", "is", "are", "will", "would", "does", "do", "has", "had", "have", "should", "can",
    "could", "s",
];

/// Words before "after" and "before" that change their meaning: "look after", "named after".
const NO_ORDER: &[&str] = &[
    "look", "looks", "looked", "looking", "named", "sought", "takes", "took", "taking", "soon", "ever",
    "chase", "go",
];

/// Words after "first" that make it a rank or a part.
const RANKED: &[&str] =
    &["place", "prize", "class", "name", "aid", "half", "one", "two", "three", "few", "item"];

/// Words that begin another clause and so end an event's words.
const CLAUSE: &[&str] = &[
    "did", "does", "do", "was", "were", "is", "are", "or", "but", "which", "who", "what", "where", "why",
    "because", "so",
];

/// The side of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSide {
    /// Earlier.
    Before,
    /// Later.
    After,
}

/// Distance from an event: "three days" in "three days before the launch".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// Number of units, 1 or more.
    pub count: i64,
    /// The unit.
    pub unit: TimeUnit,
}

/// The kind of time that a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A point in time: "when did", "on what date", "how long ago".
    Moment,
    /// A length of time: "how long", "how many weeks".
    Duration,
}

/// A condition on the wanted item's time.
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
    /// Before or after an event that must be found first: "before the launch", "three days after we moved".
    Order {
        /// The side.
        side: TimeSide,
        /// The distance, if stated.
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
    /// Its bytes in the question, at character boundaries, never empty.
    pub range: Range<usize>,
    /// Its meaning.
    pub aim: Aim,
}

/// The times in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Times that are complete: "8 May 2023".
    pub absolute: Vec<Interval>,
    /// Times that depend on the day of writing: "yesterday", "in May".
    pub relative: Vec<Interval>,
    /// Whether it names a unit of time, as in "for three years".
    pub counts: bool,
}

/// A text that is parsed at a given now.
pub(super) struct TimeReader<'a> {
    source: &'a str,
    pub tokens: Vec<TimeToken>,
    pub today: Date,
    pub now: DateTime,
    zoned: &'a Zoned,
    /// Whether it is a question, in which a bare year may be meant. Otherwise it is a text, parsed for its dates.
    pub question: bool,
    /// Whether anything since the last reset was resolved from now.
    pub relative: Cell<bool>,
    /// Number of periods tried, for the test of linear time.
    #[cfg(test)]
    pub steps: Cell<usize>,
}

/// A date in a text.
pub(super) struct TextSpan {
    /// Its first token.
    pub first: usize,
    /// The token after it.
    pub next: usize,
    /// Its meaning.
    pub interval: Interval,
    /// Whether its meaning depends on when the text was written.
    pub is_relative: bool,
    /// Whether both ends were stated.
    pub is_range: bool,
}

impl<'a> TimeReader<'a> {
    pub fn new(source: &'a str, now: &'a Zoned) -> Self {
        Self {
            source,
            tokens: tokens(source),
            today: now.date(),
            now: now.datetime(),
            zoned: now,
            question: true,
            relative: Cell::new(false),
            #[cfg(test)]
            steps: Cell::new(0),
        }
    }

    /// Returns every expression, in order.
    pub fn expressions(&self) -> Vec<TimeExpression> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            match self.expression(at) {
                Some((aim, next)) => {
                    let range = self.tokens[at].start..self.tokens[next - 1].end;
                    found.push(TimeExpression { range, aim });
                    at = next;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Returns every date, in order, and whether the text counts time.
    pub fn spoken(self) -> Spoken {
        let mut spoken = Spoken::default();
        // Every span has at least one of these, and most texts have none.
        if !self.tokens.iter().any(TimeToken::is_anchor) {
            return spoken;
        }
        spoken.counts = self.tokens.iter().any(|token| matches!(token.word(), Word::TimeUnit(_)));
        for span in self.reading_text().spans() {
            let list = if span.is_relative { &mut spoken.relative } else { &mut spoken.absolute };
            list.push(span.interval);
        }
        spoken
    }

    /// Returns a reader of the same words that parses them as a text.
    pub fn reading_text(self) -> Self {
        Self { question: false, ..self }
    }

    /// Returns the only day of a text that is nothing but a date with a time of day.
    pub fn stamp_day(self) -> Option<Date> {
        let reader = self.reading_text();
        let spans = reader.spans();
        let [span] = spans.as_slice() else { return None };
        let day = |at: Timestamp| at.to_zoned(reader.zoned.time_zone().clone()).date();
        let first = day(span.interval.from);
        if span.is_relative || span.is_range || first.tomorrow().ok()? != day(span.interval.until) {
            return None;
        }
        let outside = |at: usize| at < span.first || at >= span.next;
        let is_short = |token: &TimeToken| {
            reader.source[token.start..token.end].chars().filter(|char| char.is_alphabetic()).count()
                <= LONGEST_CLOCK_WORD
        };
        let is_clock = |at: usize| {
            outside(at)
                && matches!(reader.tokens[at].kind, WordKind::Mark(':'))
                && matches!(reader.tokens.get(at + 1).map(|next| next.kind), Some(WordKind::Number(..)))
        };
        let rest = (0..reader.tokens.len()).filter(|at| outside(*at));
        let is_stamp = rest.clone().all(|at| is_short(&reader.tokens[at])) && rest.clone().any(is_clock);
        is_stamp.then_some(first)
    }

    /// Returns every date of a text, in order.
    pub fn spans(&self) -> Vec<TextSpan> {
        let mut spans = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            self.relative.set(false);
            if self.may_begin_span(at)
                && let Some((part, next)) =
                    self.span(at, at.checked_sub(1).is_some_and(|before| self.is_placed_by(before)))
            {
                let is_relative = part.yearless || self.relative.get();
                let joint = |at: usize| self.is_dash(at) || matches!(self.word(at), Word::To | Word::Until);
                let is_range = (at + 1..next).any(|at| joint(at) && !self.glued(at));
                let interval = part.interval(self.zoned.time_zone());
                spans.extend(interval.map(|interval| TextSpan {
                    first: at,
                    next,
                    interval,
                    is_relative,
                    is_range,
                }));
                at = next;
            } else {
                at += 1;
            }
        }
        spans
    }

    /// Whether an expression can begin with this token; most cannot.
    fn may_begin(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            WordKind::Number(..) => true,
            WordKind::Mark(mark) => matches!(mark, '\'' | '’'),
            WordKind::Word(word) => word != Word::Other,
        }
    }

    /// Whether a span of time can begin with this token; an article only before another word of time.
    fn may_begin_span(&self, at: usize) -> bool {
        let leads =
            |at: usize| self.tokens.get(at).is_some_and(|token| token.kind != WordKind::Word(Word::Other));
        match self.tokens[at].kind {
            WordKind::Number(..) => true,
            WordKind::Mark(mark) => matches!(mark, '\'' | '’'),
            WordKind::Word(
                Word::The | Word::A | Word::This | Word::Start | Word::End | Word::Last | Word::Next,
            ) => leads(at + 1),
            WordKind::Word(word) => !matches!(
                word,
                Word::Other
                    | Word::Within
                    | Word::Of
                    | Word::To
                    | Word::And
                    | Word::By
                    | Word::As
                    | Word::Owner
                    | Word::From
            ),
        }
    }

    fn expression(&self, at: usize) -> Option<(Aim, usize)> {
        if !self.may_begin(at) {
            return None;
        }
        if let Some(found) = self.anchored(at) {
            return Some(found);
        }
        let placed = at.checked_sub(1).is_some_and(|before| self.is_placed_by(before));
        if let Some((part, next)) = self.span(at, placed) {
            return Some((Aim::During(self.interval(part)?), next));
        }
        self.order(at).or_else(|| self.asked(at)).or_else(|| self.state(at))
    }

    /// Parses `before May`, `since Tuesday`, `by 10 July`, `as of December 2023`, `between May and July`, `from 2019 to 2021`.
    fn anchored(&self, at: usize) -> Option<(Aim, usize)> {
        let next = at + 1;
        let period = |at| self.span(at, true).and_then(|(part, next)| Some((self.interval(part)?, next)));
        match self.word(at) {
            Word::Before => period(next).map(|(part, next)| (Aim::Before(part.from), next)),
            Word::Prior if self.is(next, Word::To) => {
                period(next + 1).map(|(part, next)| (Aim::Before(part.from), next))
            }
            Word::Until => period(next).map(|(part, next)| (Aim::Before(part.until), next)),
            Word::Up if self.is(next, Word::To) => {
                period(next + 1).map(|(part, next)| (Aim::Before(part.until), next))
            }
            Word::By => period(next).map(|(part, next)| (Aim::Before(part.until), next)),
            Word::After => period(next).map(|(part, next)| (Aim::After(part.until), next)),
            Word::Since => {
                // "since 3 days ago" and "since last week" begin with it; so does "ever since".
                period(next).map(|(part, next)| (Aim::After(part.from), next))
            }
            Word::As if self.is(next, Word::Of) => {
                let (part, end) = period(next + 1).or_else(|| {
                    (self.is(next + 1, Word::Now)).then(|| {
                        (Interval { from: self.zoned.timestamp(), until: self.zoned.timestamp() }, next + 2)
                    })
                })?;
                let today = part.contains(self.zoned.timestamp()) || part.from == part.until;
                Some((if today { Aim::Latest } else { Aim::During(part) }, end))
            }
            Word::Between => {
                let (first, and) = self.period(next, true, 0)?;
                if !self.is(and, Word::And) {
                    return None;
                }
                let (second, end) = self.period(and + 1, true, 0)?;
                Some((Aim::During(self.interval(joined(first, second)?)?), end))
            }
            Word::From => {
                let (part, end) = self.span(next, true)?;
                let interval = self.interval(part)?;
                let onwards =
                    self.text_is(end, "on") || self.text_is(end, "onwards") || self.text_is(end, "onward");
                Some(if onwards {
                    (Aim::After(interval.from), end + 1)
                } else {
                    (Aim::During(interval), end)
                })
            }
            _ => None,
        }
    }

    /// Parses a period, or two joined by a word or dash: `May to July 2023`, `2019-2021`, `Monday through Friday`.
    fn span(&self, at: usize, placed: bool) -> Option<(CivilSpan, usize)> {
        let (first, next) = self.period(at, placed, 0)?;
        let joint = self.is_dash(next) || matches!(self.word(next), Word::To | Word::Until);
        let between = self.is(next, Word::And)
            && at.checked_sub(1).is_some_and(|before| self.is(before, Word::Between));
        if (joint || between)
            && let Some((second, end)) = self.period(next + 1, true, 0)
            && let Some(whole) = joined(first, second)
        {
            return Some((whole, end));
        }
        Some((first, next))
    }

    /// Parses `before the launch`, `three days after we moved to Postgres`.
    fn order(&self, at: usize) -> Option<(Aim, usize)> {
        let (offset, relation) = match self.count(at).or_else(|| self.is(at, Word::A).then_some((1, at + 1)))
        {
            Some((count, next)) => match self.word(next) {
                Word::TimeUnit(unit) => (Some(Offset { count, unit }), next + 1),
                Word::Fortnight => {
                    (Some(Offset { count: count.checked_mul(2)?, unit: TimeUnit::Week }), next + 1)
                }
                _ => return None,
            },
            None => match (self.word(at), self.word(at + 1)) {
                (Word::The, Word::TimeUnit(unit)) => (Some(Offset { count: 1, unit }), at + 2),
                _ => (None, at),
            },
        };
        let (side, start) = match self.word(relation) {
            Word::Before => (TimeSide::Before, relation + 1),
            Word::Prior if self.is(relation + 1, Word::To) => (TimeSide::Before, relation + 2),
            Word::After if self.text_is(relation, "after") || self.is(relation + 1, Word::The) => {
                (TimeSide::After, relation + 1)
            }
            _ => return None,
        };
        let before = relation.checked_sub(1);
        if offset.is_none() && before.is_some_and(|at| NO_ORDER.iter().any(|word| self.text_is(at, word))) {
            return None;
        }
        // "after 12 weeks of treatment" is a length, "day after day" and "after all" are idioms.
        let names = matches!(
            self.word(start),
            Word::Other | Word::The | Word::Owner | Word::A | Word::This | Word::Ordinal(_)
        );
        let counted = matches!(self.tokens.get(start)?.kind, WordKind::Number(..));
        if !names || counted || self.text_is(start, "all") || self.text_is(start, "that") {
            return None;
        }
        let first =
            start + usize::from(matches!(self.word(start), Word::The | Word::A | Word::Owner | Word::This));
        let mut end = first;
        while end < self.tokens.len() && end - first < EVENT_WORDS && self.goes_on(end) {
            end += 1;
        }
        let telling =
            self.tokens.get(first..end)?.iter().any(|token| token.kind == WordKind::Word(Word::Other));
        let event = self.source
            [self.tokens.get(first)?.start..self.tokens[end.max(1) - 1].end.max(self.tokens[first].start)]
            .to_owned();
        (telling && end > first).then_some((Aim::Order { side, offset, event }, end))
    }

    /// Whether an event's words continue at a token.
    fn goes_on(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            // "the retreat on 9 February": the date is an expression of its own.
            WordKind::Word(Word::Within) => self.period(at + 1, true, 0).is_none(),
            WordKind::Number(..) => true,
            WordKind::Mark(mark) => {
                matches!(mark, '-' | '\'' | '’' | '/' | '_' | '.') && self.glued(at) && self.glued(at + 1)
            }
            WordKind::Word(_) => !CLAUSE.iter().any(|word| self.text_is(at, word)),
        }
    }

    /// Parses `when did`, `how long ago`, `on what date`, `which year`, `how many weeks`.
    fn asked(&self, at: usize) -> Option<(Aim, usize)> {
        let next = at + 1;
        match self.word(at) {
            Word::When
                if ASKING.iter().any(|verb| self.text_is(next, verb))
                    || self.glued(next) && self.text_is(next + 1, "s") =>
            {
                Some((Aim::Asked(Asked::Moment), next))
            }
            Word::How if self.is(next, Word::Long) => Some(if self.is(next + 1, Word::Ago) {
                (Aim::Asked(Asked::Moment), next + 2)
            } else {
                (Aim::Asked(Asked::Duration), next + 1)
            }),
            Word::How if self.text_is(next, "many") && matches!(self.word(next + 1), Word::TimeUnit(_)) => {
                let ago = self.is(next + 2, Word::Ago);
                let asked = if ago { Asked::Moment } else { Asked::Duration };
                Some((Aim::Asked(asked), next + 2 + usize::from(ago)))
            }
            Word::Which if matches!(self.word(next), Word::Date | Word::TimeUnit(_) | Word::Time) => {
                Some((Aim::Asked(Asked::Moment), next + 1))
            }
            _ => None,
        }
    }

    /// Parses `latest`, `most recent`, `right now`, `still`; `the first time`, `originally`, `at first`.
    fn state(&self, at: usize) -> Option<(Aim, usize)> {
        let next = at + 1;
        match self.word(at) {
            Word::Latest | Word::Recent | Word::Now | Word::Still => Some((Aim::Latest, next)),
            Word::Most if self.is(next, Word::Recent) => Some((Aim::Latest, next + 1)),
            Word::Right if self.is(next, Word::Now) => Some((Aim::Latest, next + 1)),
            Word::Within
                if self.text_is(at, "at") && self.is(next, Word::The) && self.is(next + 1, Word::Moment) =>
            {
                Some((Aim::Latest, next + 2))
            }
            Word::Within
                if self.text_is(at, "at")
                    && self.is(next, Word::Ordinal(1))
                    && !matches!(self.word(next + 1), Word::Other) =>
            {
                Some((Aim::Earliest, next + 1))
            }
            Word::Within
                if self.text_is(at, "at")
                    && self.is(next, Word::Ordinal(1))
                    && self.ends_clause(next + 1) =>
            {
                Some((Aim::Earliest, next + 1))
            }
            Word::Last if self.is(next, Word::Time) => Some((Aim::Latest, next + 1)),
            Word::Earliest | Word::Initially => Some((Aim::Earliest, next)),
            Word::Ordinal(1) if self.is(next, Word::Time) => Some((Aim::Earliest, next + 1)),
            // "When did we first deploy", "when was it last seen": between the verb and the action.
            Word::Ordinal(1)
                if self.asks_which_time(at) && !RANKED.iter().any(|word| self.text_is(next, word)) =>
            {
                Some((Aim::Earliest, next))
            }
            Word::Last if self.asks_which_time(at) => Some((Aim::Latest, next)),
            _ => None,
        }
    }

    /// Whether "first" or "last" is an adverb: the question has "did" or "when" before it, no article or owner, and a
    /// verb after it.
    fn asks_which_time(&self, at: usize) -> bool {
        let opened = self.tokens[..at]
            .iter()
            .rev()
            .take(8)
            .any(|token| matches!(token.word(), Word::When | Word::Did));
        let before = at.checked_sub(1).map(|before| self.word(before));
        opened
            && matches!(before, Some(Word::Other))
            && !self.glued(at)
            && matches!(self.tokens.get(at + 1).map(|token| token.kind), Some(WordKind::Word(Word::Other)))
    }

    fn interval(&self, part: CivilSpan) -> Option<Interval> {
        part.interval(self.zoned.time_zone())
    }

    // --- tokens ---

    pub fn word(&self, at: usize) -> Word {
        self.tokens.get(at).map_or(Word::Other, TimeToken::word)
    }

    pub fn is(&self, at: usize, word: Word) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == WordKind::Word(word))
    }

    pub fn is_mark(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == WordKind::Mark(mark))
    }

    pub fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.source[token.range()])
    }

    pub fn text_is(&self, at: usize, word: &str) -> bool {
        self.text(at).eq_ignore_ascii_case(word)
    }

    /// Whether nothing separates a token from the one before it.
    pub fn glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.glued)
    }

    pub fn glued_kind(&self, at: usize) -> Option<WordKind> {
        self.tokens.get(at).filter(|token| token.glued).map(|token| token.kind)
    }

    pub fn glued_word(&self, at: usize) -> bool {
        matches!(self.glued_kind(at), Some(WordKind::Word(_)))
    }

    /// Whether a clause ends before a token: at the text's end or at a mark that ends one.
    pub fn ends_clause(&self, at: usize) -> bool {
        match self.tokens.get(at).map(|token| token.kind) {
            None => true,
            Some(WordKind::Mark(mark)) => {
                matches!(mark, '.' | ',' | ';' | ':' | '?' | '!' | ')' | '"' | '”' | '\'' | '’')
            }
            Some(WordKind::Word(word)) => matches!(word, Word::And | Word::To | Word::Until | Word::Did),
            Some(WordKind::Number(..)) => false,
        }
    }

    /// Whether the token introduces a time.
    pub fn is_placed_by(&self, at: usize) -> bool {
        match self.word(at) {
            Word::Within
            | Word::Of
            | Word::Before
            | Word::After
            | Word::Since
            | Word::Until
            | Word::By
            | Word::Between
            | Word::From
            | Word::Early
            | Word::Mid
            | Word::Late
            | Word::Start
            | Word::End
            | Word::Last
            | Word::Past
            | Word::Next => true,
            Word::The => self.is_placed(at),
            _ => false,
        }
    }

    /// Whether the token before introduces a time.
    pub fn is_placed(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| !self.is(before, Word::The) && self.is_placed_by(before))
    }
}
