//! Computes how much each candidate's score gains where its times match those in the question.
//! Pure and total: every gain is finite and at least 0. Candidates without known times are neither favoured nor put last.

use super::calendar::seconds;
use super::{Aim, Asked, Interval, Offset, TimeExpression, TimeSide, TimeUnit};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Gain of a candidate without a known time for a time in the question. It is above that of a candidate of another
/// time, and far below that of a match. Not measured: both LoCoMo sets have a date on every item, and the others ask
/// for no times.
const UNKNOWN: f64 = 0.3;

/// Least share of an event's words that its best mention must contain to fix the event's date. On LoCoMo's 45 questions
/// with "before" or "after" an event, .3, .6 and .8 are within .004 of each other.
const SURE_MENTION: f32 = 0.6;

/// The share of the candidates' spread of dates (tenth to ninetieth percentile) in which recency halves.
const HALF_LIFE: f64 = 0.25;

/// The share of that spread over which nearness to an event falls to 1/e. An eighth is about a month in LoCoMo.
const NEARNESS: f64 = 0.125;

/// Most that each kind of expression adds to a candidate's score, in standard deviations of the candidates' scores.
///
/// Measured on LoCoMo turns and sessions over z(BM25) + .55 z(cosine), with the first hundred of each channel as
/// candidates. The figures are nDCG@10 of the questions with such an expression: without -> with the default (half,
/// twice). Sets whose questions name no times do not change (CoSQA, Cranfield, SciFact).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeWeights {
    /// A time in the question ("in May 2023"); 223 questions: turns .530 -> .587 (.560, .592), sessions .842 -> .894
    /// (.878, .905).
    pub during: f32,
    /// "When", for a candidate that mentions a time; 264 questions: turns .688 -> .719 (.709, .742), sessions .893 ->
    /// .911 (.910, .911).
    pub moment: f32,
    /// "How long", for a candidate that counts time; 37 questions: turns .371 -> .387 (.375, .396), sessions .845 ->
    /// .846 (.848, .859).
    pub length: f32,
    /// "Latest", "recently"; 42 questions: turns .574 -> .574 (.575, .575), sessions .772 -> .811 (.798, .809).
    pub state: f32,
    /// Before or after an event; 45 questions: turns .495 -> .514 (.504, .513), sessions .856 -> .854 (.862, .853).
    pub order: f32,
}

impl Default for TimeWeights {
    fn default() -> Self {
        Self { during: 2.0, moment: 0.8, length: 0.4, state: 0.4, order: 0.5 }
    }
}

impl TimeWeights {
    /// Multiplies all weights by a factor of 0 or more.
    #[must_use]
    pub fn times(self, factor: f32) -> Self {
        Self {
            during: self.during * factor,
            moment: self.moment * factor,
            length: self.length * factor,
            state: self.state * factor,
            order: self.order * factor,
        }
    }
}

/// The known times of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemTimes {
    /// When it was written: the date of its title, file name or fields, or when a memory was kept.
    pub own: Option<Interval>,
    /// The time in which it is true, if known; an open end is the end of time.
    pub valid: Option<Interval>,
    /// The times that its text mentions.
    pub mentioned: Vec<Interval>,
    /// Whether its text counts time ("for three years").
    pub counts: bool,
}

/// Returns the gain of each candidate for the times in a question, in standard deviations of the candidates' scores.
///
/// `items` are the candidates, best first. `mention` returns the share of an event's words that the candidate at an
/// index contains, 0 to 1. It is called only for questions that name an event. All gains are equal if there are no
/// expressions or the candidates do not differ.
pub fn boosts(
    question: &[TimeExpression],
    items: &[ItemTimes],
    weights: &TimeWeights,
    mention: &dyn Fn(&str, usize) -> f32,
) -> Vec<f32> {
    let mut gains = vec![0.0; items.len()];
    if question.is_empty() || items.is_empty() {
        return gains;
    }
    let spread = Spread::of(items);
    let mut add = |weight: f32, gain: &dyn Fn(usize, &ItemTimes) -> f64| {
        for (at, (total, item)) in gains.iter_mut().zip(items).enumerate() {
            *total += weight * gain(at, item) as f32;
        }
    };
    let timed = question.iter().any(|found| is_span(&found.aim));
    if timed {
        add(weights.during, &|_, item| fit(question, item, spread.scale()));
    }
    for found in first_of_each(question) {
        match &found.aim {
            Aim::Asked(Asked::Moment) => {
                add(weights.moment, &|_, item| f64::from(u8::from(!item.mentioned.is_empty())));
            }
            Aim::Asked(Asked::Duration) => add(weights.length, &|_, item| f64::from(u8::from(item.counts))),
            // "currently, in August 2023" means August.
            Aim::Latest if !timed => add(weights.state, &|_, item| spread.late(item, TimeSide::After)),
            Aim::Earliest if !timed => add(weights.state, &|_, item| spread.late(item, TimeSide::Before)),
            Aim::During(_) | Aim::Before(_) | Aim::After(_) | Aim::Latest | Aim::Earliest => {}
            Aim::Order { side, offset, event } => {
                if let Some(anchor) = event_date(event, items, mention) {
                    add(weights.order, &|_, item| order(anchor, *side, *offset, item, spread.scale()));
                }
            }
        }
    }
    gains
}

/// Whether a candidate's own time, validity or text meets every time in the question: the filter of a strict search. A
/// candidate without a known time does not; a question without a time keeps all.
pub fn meets(question: &[TimeExpression], item: &ItemTimes) -> bool {
    let shares = |aim: &Aim| {
        item.own.iter().chain(&item.valid).chain(&item.mentioned).any(|span| overlap(aim, span) > 0.0)
    };
    let (mut during, mut sides) = (None, true);
    for found in question {
        match &found.aim {
            Aim::During(_) => during = Some(during.unwrap_or(false) || shares(&found.aim)),
            Aim::Before(_) | Aim::After(_) => sides &= shares(&found.aim),
            Aim::Latest | Aim::Earliest | Aim::Order { .. } | Aim::Asked(_) => {}
        }
    }
    during.unwrap_or(true) && sides
}

fn is_span(aim: &Aim) -> bool {
    match aim {
        Aim::During(_) | Aim::Before(_) | Aim::After(_) => true,
        Aim::Latest | Aim::Earliest | Aim::Order { .. } | Aim::Asked(_) => false,
    }
}

/// Returns the first expression of each kind, and all spans: "when ... when" counts once.
fn first_of_each(question: &[TimeExpression]) -> impl Iterator<Item = &TimeExpression> {
    question.iter().enumerate().filter_map(|(at, found)| {
        let same = |other: &TimeExpression| std::mem::discriminant(&other.aim) == std::mem::discriminant(&found.aim);
        let asked_else = |other: &TimeExpression| matches!((&other.aim, &found.aim), (Aim::Asked(a), Aim::Asked(b)) if a != b);
        (!question[..at].iter().any(|other| same(other) && !asked_else(other))).then_some(found)
    })
}

/// Returns how well a candidate fits the times in the question, 0 to 1: the best fit of the intervals, and the least of
/// that and each side.
fn fit(question: &[TimeExpression], item: &ItemTimes, scale: f64) -> f64 {
    let mut during: Option<f64> = None;
    let mut sides = 1.0_f64;
    for found in question {
        match &found.aim {
            Aim::During(_) => during = Some(during.unwrap_or(0.0).max(item_fit(&found.aim, item, scale))),
            Aim::Before(_) | Aim::After(_) => sides = sides.min(item_fit(&found.aim, item, scale)),
            Aim::Latest | Aim::Earliest | Aim::Order { .. } | Aim::Asked(_) => {}
        }
    }
    during.unwrap_or(1.0).min(sides)
}

/// Returns the best fit of a candidate's known times. Times that its text mentions can only help, because it may also
/// be about others.
fn item_fit(aim: &Aim, item: &ItemTimes, scale: f64) -> f64 {
    let own = item.own.map(|own| span_fit(aim, &own, scale));
    let valid =
        item.valid.map(|valid| if overlap(aim, &valid) > 0.0 { 1.0 } else { span_fit(aim, &valid, scale) });
    let known =
        own.into_iter().chain(valid).fold(None, |best: Option<f64>, fit| Some(best.unwrap_or(0.0).max(fit)));
    item.mentioned.iter().map(|span| span_fit(aim, span, scale)).fold(known.unwrap_or(UNKNOWN), f64::max)
}

/// Returns the seconds that a span shares with a time in the question.
fn overlap(aim: &Aim, span: &Interval) -> f64 {
    let (from, until) = (seconds(span.from), seconds(span.until));
    match aim {
        Aim::During(asked) => until.min(seconds(asked.until)) - from.max(seconds(asked.from)),
        Aim::Before(end) => until.min(seconds(*end)) - from,
        Aim::After(start) => until - from.max(seconds(*start)),
        Aim::Latest | Aim::Earliest | Aim::Order { .. } | Aim::Asked(_) => 0.0,
    }
}

/// Returns the fit of a span: 1 inside the time of the question. A longer span ("2023" for a day in May) has the square
/// root of the ratio of the lengths. Outside, the fit falls to 1/e over half the question's length plus two days.
///
/// Half of that scale and twice of it give the same nDCG@10 on both LoCoMo sets to .003.
fn span_fit(aim: &Aim, span: &Interval, scale: f64) -> f64 {
    let shared = overlap(aim, span);
    let (asked, falls) = match aim {
        Aim::During(asked) => {
            let length = asked.seconds().max(DAY);
            (length, length / 2.0 + 2.0 * DAY)
        }
        Aim::Before(_) | Aim::After(_) | Aim::Latest | Aim::Earliest | Aim::Order { .. } | Aim::Asked(_) => {
            (f64::INFINITY, scale.max(2.0 * DAY))
        }
    };
    if shared > 0.0 { (asked / span.seconds()).min(1.0).sqrt() } else { (shared / falls).exp() }
}

/// Returns the date of an event, from the candidate that mentions it best; of equals, the earlier in the list. If this
/// candidate's text mentions a time, that is the event's; otherwise the event was on the day of writing.
fn event_date(event: &str, items: &[ItemTimes], mention: &dyn Fn(&str, usize) -> f32) -> Option<Interval> {
    let dated = items.iter().enumerate().filter(|(_, item)| item.own.is_some() || !item.mentioned.is_empty());
    let mut best: Option<(f32, &ItemTimes)> = None;
    for (at, item) in dated {
        let share = mention(event, at);
        if share >= SURE_MENTION && best.is_none_or(|(most, _)| share > most) {
            best = Some((share, item));
        }
    }
    let (_, item) = best?;
    // Of several times the first is as good as any. One far from the day of writing belongs to something else.
    let near = |span: &&Interval| {
        item.own.is_none_or(|own| (seconds(own.from) - seconds(span.from)).abs() < 60.0 * DAY)
    };
    item.mentioned.iter().find(near).copied().or(item.own)
}

/// Returns nearness to an event on its right side, or to the time at an offset from it. It is 1 at that time and 1/e a
/// scale away, and falls four times as steeply on the wrong side. An event's sequel is mostly told soon after it.
fn order(event: Interval, side: TimeSide, offset: Option<Offset>, item: &ItemTimes, scale: f64) -> f64 {
    let Some(own) = item.own else { return UNKNOWN };
    let away = match side {
        TimeSide::Before => seconds(event.from) - seconds(own.from),
        TimeSide::After => seconds(own.from) - seconds(event.from),
    };
    let scale = scale.max(2.0 * DAY);
    if let Some(offset) = offset {
        let unit = unit_seconds(offset.unit);
        let miss = (away - offset.count as f64 * unit).abs() - unit / 2.0;
        return (-miss.max(0.0) / (unit + 2.0 * DAY)).exp();
    }
    // On the same day counts as the right side.
    if away > -DAY / 2.0 { (-away.max(0.0) / scale).exp() } else { (4.0 * away / scale).exp() }
}

/// Returns a unit's usual length in seconds; months and years by the Gregorian mean (365.2425 days).
fn unit_seconds(unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Minute => 60.0,
        TimeUnit::Hour => 3_600.0,
        TimeUnit::Day => DAY,
        TimeUnit::Week | TimeUnit::Weekend => 7.0 * DAY,
        TimeUnit::Month => 365.2425 / 12.0 * DAY,
        TimeUnit::Quarter => 365.2425 / 4.0 * DAY,
        TimeUnit::Year => 365.2425 * DAY,
        TimeUnit::Decade => 3_652.425 * DAY,
    }
}

/// Percentiles of the candidates' own times: tenth and ninetieth, first and last, in seconds.
#[derive(Clone, Copy, Debug)]
struct Spread {
    low: f64,
    high: f64,
    first: f64,
    last: f64,
}

impl Spread {
    fn of(items: &[ItemTimes]) -> Self {
        let mut times: Vec<f64> =
            items.iter().filter_map(|item| item.own).map(|own| seconds(own.from)).collect();
        times.sort_unstable_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len().saturating_sub(1) * share / 10).copied().unwrap_or(0.0);
        Self { low: at(1), high: at(9), first: at(0), last: at(10) }
    }

    /// Returns the seconds over which nearness to an event falls.
    fn scale(self) -> f64 {
        NEARNESS * (self.high - self.low)
    }

    /// Returns how late (or, with `Before`, how early) a candidate is: 1 for the last, halved with each half-life.
    fn late(self, item: &ItemTimes, side: TimeSide) -> f64 {
        let half_life = (HALF_LIFE * (self.high - self.low)).max(DAY);
        let Some(own) = item.own else { return UNKNOWN };
        let away = match side {
            TimeSide::After => self.last - seconds(own.from),
            TimeSide::Before => seconds(own.from) - self.first,
        };
        (-away / half_life).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Days counted from 1 January 2023, which is 1,672,531,200.
    fn days(from: i64, until: i64) -> Interval {
        let at = |day: i64| jiff::Timestamp::from_second(1_672_531_200 + day * 86_400).unwrap();
        Interval { from: at(from), until: at(until) }
    }

    fn on(day: i64) -> ItemTimes {
        ItemTimes { own: Some(days(day, day + 1)), ..ItemTimes::default() }
    }

    fn asks(aim: Aim) -> TimeExpression {
        TimeExpression { range: 0..1, aim }
    }

    fn gains(question: &[Aim], items: &[ItemTimes], mention: &dyn Fn(&str, usize) -> f32) -> Vec<f32> {
        let question: Vec<_> = question.iter().cloned().map(asks).collect();
        let ones = TimeWeights { during: 1.0, moment: 1.0, length: 1.0, state: 1.0, order: 1.0 };
        boosts(&question, items, &ones, mention)
    }

    fn check(question: &[Aim], items: &[ItemTimes], expected: &[f32]) {
        let got = gains(question, items, &|_, _| 0.0);
        let near = got.len() == expected.len()
            && got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-5);
        assert!(near, "{question:?}: {got:?} is not {expected:?}");
    }

    #[test]
    fn an_asked_time_favours_what_is_of_it_and_near_it() {
        // Ten days asked, so it falls to 1/e over 10/2 + 2 = 7 days: 14 days off is e^-2 = .1353.
        let may = Aim::During(days(120, 130));
        let unknown = ItemTimes::default();
        check(
            std::slice::from_ref(&may),
            &[on(125), on(144), on(105), unknown.clone()],
            &[1.0, 0.135_335, 0.135_335, 0.3],
        );
        // A year that contains the ten days fits by sqrt(10/365) = .1655; a text that mentions a day in it fits wholly.
        let year = ItemTimes { own: Some(days(0, 365)), ..unknown.clone() };
        let speaks = ItemTimes { mentioned: vec![days(500, 501), days(121, 122)], ..on(700) };
        check(std::slice::from_ref(&may), &[year, speaks], &[0.165_521, 1.0]);
        // A statement that is true for years is true in May; a text that mentions other times is like one without.
        let valid = ItemTimes { valid: Some(days(0, 2_000)), ..unknown.clone() };
        let other = ItemTimes { mentioned: vec![days(900, 901)], ..unknown };
        check(&[may], &[valid, other], &[1.0, 0.3]);
    }

    #[test]
    fn sides_are_whole_on_theirs_and_both_must_fit() {
        let (after, before) = (Aim::After(days(10, 11).from), Aim::Before(days(20, 21).from));
        // Own times 5, 15, 25, 100: the tenth percentile is 5, the ninetieth 25, an eighth of that 2.5 days.
        // Day 5 ends 4 days before day 10: e^(-4/2.5) = .2019; day 25 is 5 days past 20: e^-2; 100 is 80 past: 0.
        check(&[after, before], &[on(5), on(15), on(25), on(100)], &[0.201_897, 1.0, 0.135_335, 0.0]);
    }

    #[test]
    fn the_latest_state_halves_by_a_quarter_of_the_spread() {
        // Eleven items, ten days apart: percentiles 10 and 90, half-life 20 days.
        let items: Vec<_> = (0..11).map(|at| on(10 * at)).collect();
        let got = gains(&[Aim::Latest], &items, &|_, _| 0.0);
        assert!(
            (got[10] - 1.0).abs() < 1e-6 && (got[8] - 0.5).abs() < 1e-6 && (got[6] - 0.25).abs() < 1e-6,
            "{got:?}"
        );
        let got = gains(&[Aim::Earliest], &items, &|_, _| 0.0);
        assert!((got[0] - 1.0).abs() < 1e-6 && (got[2] - 0.5).abs() < 1e-6, "{got:?}");
        // A time in the question is more exact.
        let got = gains(&[Aim::Latest, Aim::During(days(0, 1))], &items, &|_, _| 0.0);
        assert!(got[0] > 0.9 && got[10] < 0.1, "{got:?}");
    }

    #[test]
    fn a_question_for_a_time_favours_what_speaks_of_one() {
        let speaks = ItemTimes { mentioned: vec![days(3, 4)], ..on(3) };
        let counts = ItemTimes { counts: true, ..on(3) };
        check(&[Aim::Asked(Asked::Moment), Aim::Asked(Asked::Moment)], &[speaks.clone(), on(3)], &[1.0, 0.0]);
        check(&[Aim::Asked(Asked::Duration)], &[speaks, counts], &[0.0, 1.0]);
    }

    #[test]
    fn an_event_is_dated_by_its_best_mention() {
        let items = [on(80), on(40), on(10), on(41), ItemTimes::default()];
        let launch = |_: &str, at: usize| [0.5, 1.0, 0.7, 0.0, 1.0][at];
        let after = |offset| Aim::Order { side: TimeSide::After, offset, event: "launch".into() };
        let got = gains(&[after(None)], &items, &launch);
        assert!(got[1] > got[3] && got[3] > got[0] && got[0] > got[2], "{got:?}");
        let week = Some(Offset { count: 40, unit: TimeUnit::Day });
        let got = gains(&[after(week)], &items, &launch);
        assert!(got[0] > 0.99 && got[1] < 0.1 && got[3] < 0.1, "{got:?}");
        // No candidate mentions it well enough: nothing changes.
        assert_eq!(gains(&[after(None)], &items, &|_, _| 0.5), [0.0; 5]);
        // The mention states that it was the day before.
        let told = [ItemTimes { mentioned: vec![days(39, 40)], ..on(40) }, on(39)];
        let got = gains(&[after(None)], &told, &|_, at| if at == 0 { 1.0 } else { 0.0 });
        assert!(got[1] > got[0], "{got:?}");
    }

    #[test]
    fn strict_keeps_what_meets_the_time() {
        let may = [asks(Aim::During(days(120, 130)))];
        let year = ItemTimes { own: Some(days(0, 365)), ..ItemTimes::default() };
        assert!(
            meets(&may, &on(129))
                && meets(&may, &year)
                && !meets(&may, &on(130))
                && !meets(&may, &ItemTimes::default())
        );
        assert!(meets(&[asks(Aim::Latest)], &ItemTimes::default()) && meets(&[], &on(1)));
    }

    #[test]
    fn without_differences_nothing_moves() {
        let same = vec![ItemTimes::default(); 3];
        let got =
            gains(&[Aim::Latest, Aim::During(days(0, 1)), Aim::Asked(Asked::Moment)], &same, &|_, _| 1.0);
        assert!(got.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits()), "{got:?}");
        assert_eq!(gains(&[], &[on(1), on(2)], &|_, _| 1.0), [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn gains_are_finite_and_bounded(
            times in prop::collection::vec((prop::option::of(-700_000i64..2_900_000), 0i64..2), 0..30),
            asked in -700_000i64..2_900_000, length in 1i64..4_000, share in 0f32..1.0,
        ) {
            let items: Vec<_> = times.iter().map(|(own, speaks)| ItemTimes {
                own: own.map(|day| days(day, day + 1)),
                mentioned: (0..*speaks).map(|_| days(asked + 3, asked + 4)).collect(),
                ..ItemTimes::default()
            }).collect();
            let span = days(asked, asked + length);
            let question = [
                Aim::During(span), Aim::Before(span.from), Aim::After(span.until), Aim::Latest, Aim::Earliest,
                Aim::Asked(Asked::Moment), Aim::Asked(Asked::Duration),
                Aim::Order { side: TimeSide::Before, offset: None, event: "x".into() },
            ];
            for gain in gains(&question, &items, &|_, _| share) {
                prop_assert!((0.0..=5.0).contains(&gain), "{gain}");
            }
        }
    }
}
