//! Decides whether a store trusts the clock.
//! One that jumps is believed after it has gone on from there for a day.

use jiff::{SignedDuration, Timestamp};

use crate::error::Result;
use crate::item::Change;

/// When a write happens and who asked for it; both go into its events.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The time, given by the caller.
    pub now: Timestamp,
    /// Who, e.g. `cli`.
    pub actor: &'a str,
}

/// Two readings of the clock that lie further apart are a jump: nobody used the store for a month, or the clock is wrong.
pub const MOST_GAP: SignedDuration = SignedDuration::from_hours(24 * 30);

/// So long after a sweep saw the jump a sweep believes the clock, where it went on from there.
pub const PROBATION: SignedDuration = SignedDuration::from_hours(24);

/// A reading that is no further from the last one is not written down: one write an hour at most.
const NOTED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// What the clock said, and which change was the store's last then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The clock's time.
    pub time: Timestamp,
    /// The store's last change.
    pub change: Change,
}

/// A clock that is far from the last trusted reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// What the clock said when the jump was seen, by whomever.
    pub first: Timestamp,
    /// The last reading since the jump.
    pub last: ClockReading,
    /// When, by this clock, a sweep first saw the jump; none before one did.
    pub marked: Option<Timestamp>,
    /// Whether the clock is believed since.
    pub is_trusted: bool,
}

/// What a store remembers of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockTrust {
    /// The last trusted reading; since a jump, the last one before it.
    pub steady: ClockReading,
    /// The jump since, if there was one.
    pub jump: Option<Jump>,
}

/// What a reading of the clock means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockVerdict {
    /// It is trusted.
    Steady,
    /// It is trusted, and was wrong from this reading on until now.
    Returned(ClockReading),
    /// It jumped, and is not trusted yet.
    Jumped,
}

/// Where a store keeps that, so that every process sees the same jumps.
pub trait TrustedTime {
    /// What it remembers now. A store that has seen no clock trusts the time at which it was made.
    fn trust(&self) -> Result<ClockTrust>;
    /// Reads the clock, and gives what is remembered then. Where the clock is right again after it was wrong, the times that it
    /// gave meanwhile are replaced by times just before this one, in the order of their changes; events keep what they said.
    ///
    /// `by_sweep` is whether a sweep or a prune reads it: only those mark a jump, and believe it a day later.
    fn read_clock(&self, by_sweep: bool, stamp: Stamp<'_>) -> Result<ClockTrust>;
}

impl ClockTrust {
    /// A store that has seen one reading.
    pub fn new(reading: ClockReading) -> Self {
        Self { steady: reading, jump: None }
    }

    /// Whether a time is trusted.
    pub fn trusts(&self, now: Timestamp) -> bool {
        let is_accepted = |jump: Jump| jump.is_trusted && is_near(jump.last.time, now);
        is_near(self.steady.time, now) || self.jump.is_some_and(is_accepted)
    }

    /// Whether a time is trusted for what no sweep decides: also after the clock went on for a day from where it jumped to.
    pub fn outlasts(&self, now: Timestamp) -> bool {
        let has_lasted =
            |jump: Jump| is_near(jump.last.time, now) && now.duration_since(jump.first) >= PROBATION;
        self.trusts(now) || self.jump.is_some_and(has_lasted)
    }

    /// Whether a reading is worth a write, for whoever does not sweep.
    pub fn is_news(&self, now: Timestamp) -> bool {
        let last = self.jump.map_or(self.steady, |jump| jump.last);
        let has_returned = self.jump.is_some() && is_near(self.steady.time, now);
        has_returned || gap(last.time, now) >= NOTED_EVERY
    }

    /// From when on a sweep believes the clock, where one waits for that.
    pub fn waits_until(&self) -> Option<Timestamp> {
        let jump = self.jump.filter(|jump| !jump.is_trusted)?;
        jump.marked.map(|marked| marked.checked_add(PROBATION).unwrap_or(Timestamp::MAX))
    }

    /// What is remembered after a reading, and what it means. Only a sweep marks a jump, and believes it later.
    pub fn read(self, now: ClockReading, by_sweep: bool) -> (Self, ClockVerdict) {
        let Some(jump) = self.jump else {
            return if is_near(self.steady.time, now.time) {
                (Self::new(now), ClockVerdict::Steady)
            } else {
                (Self::jumped(self.steady, now, by_sweep), ClockVerdict::Jumped)
            };
        };
        if is_near(self.steady.time, now.time) {
            return (Self::new(now), ClockVerdict::Returned(self.steady));
        }
        if !is_near(jump.last.time, now.time) {
            let before = if jump.is_trusted { jump.last } else { self.steady };
            return (Self::jumped(before, now, by_sweep), ClockVerdict::Jumped);
        }
        // A clock that was set back within the jump starts its day anew.
        let marked = jump.marked.map(|marked| marked.min(now.time));
        let has_lasted = |least| marked.is_some_and(|marked| now.time.duration_since(marked) >= least);
        if jump.is_trusted && has_lasted(MOST_GAP) {
            return (Self::new(now), ClockVerdict::Steady);
        }
        let is_trusted = jump.is_trusted || by_sweep && has_lasted(PROBATION);
        let marked = marked.or(by_sweep.then_some(now.time));
        let verdict = if is_trusted { ClockVerdict::Steady } else { ClockVerdict::Jumped };
        let jump = Jump { first: jump.first.min(now.time), last: now, marked, is_trusted };
        (Self { jump: Some(jump), ..self }, verdict)
    }

    fn jumped(steady: ClockReading, now: ClockReading, by_sweep: bool) -> Self {
        let marked = by_sweep.then_some(now.time);
        let jump = Jump { first: now.time, last: now, marked, is_trusted: false };
        Self { steady, jump: Some(jump) }
    }
}

/// How far two times lie apart.
fn gap(one: Timestamp, two: Timestamp) -> SignedDuration {
    two.duration_since(one).abs()
}

/// Whether two readings may be of one clock that nobody set.
pub fn is_near(one: Timestamp, two: Timestamp) -> bool {
    gap(one, two) <= MOST_GAP
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hours after the first reading, and the change at it.
    fn reading(hours: i64) -> ClockReading {
        let start: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        ClockReading { time: start + SignedDuration::from_hours(hours), change: Change(hours.unsigned_abs()) }
    }

    /// Each step is a reading in hours and whether a sweep made it; whether each was trusted, `!` where the clock returned.
    fn check(steps: &[(i64, bool)], expected: &str) {
        let mut trust = ClockTrust::new(reading(0));
        let mut got = String::new();
        for &(hours, by_sweep) in steps {
            let (next, verdict) = trust.read(reading(hours), by_sweep);
            let trusted = next.trusts(reading(hours).time);
            got.push(match verdict {
                ClockVerdict::Steady => 's',
                ClockVerdict::Returned(before) => {
                    assert_eq!(before, trust.steady);
                    '!'
                }
                ClockVerdict::Jumped => 'j',
            });
            assert_eq!(trusted, verdict != ClockVerdict::Jumped, "{steps:?} {next:?}");
            trust = next;
        }
        assert_eq!(got, expected, "{steps:?}");
    }

    const DAY: i64 = 24;
    const YEARS: i64 = 24 * 3_652;

    #[test]
    fn small_steps_are_trusted_and_a_jump_after_a_day() {
        check(&[(2 * DAY, true), (0, true), (30 * DAY, true)], "sss");
        // 60 days without use: the first sweep marks, one a day later believes.
        check(&[(60 * DAY, true), (60 * DAY + 23, true), (61 * DAY, true), (62 * DAY, true)], "jjss");
        check(&[(-60 * DAY, true), (-59 * DAY, true)], "js");
    }

    #[test]
    fn only_a_sweep_marks_and_believes() {
        check(
            &[(60 * DAY, false), (62 * DAY, false), (63 * DAY, true), (64 * DAY, false), (64 * DAY, true)],
            "jjjjs",
        );
    }

    #[test]
    fn a_clock_that_is_set_right_is_trusted_at_once() {
        check(&[(YEARS, true), (1, true), (2, true)], "j!s");
        // Ten years ahead for two days: believed for one of them.
        check(&[(YEARS, true), (YEARS + DAY, true), (YEARS + 2 * DAY, true), (2 * DAY, true)], "jss!");
        // Twice wrong, then right.
        check(&[(YEARS, true), (-YEARS, true), (DAY, false), (DAY, true)], "jj!s");
    }

    #[test]
    fn what_is_believed_for_a_month_is_all_that_is_remembered() {
        let (far, after) = (100 * DAY, 101 * DAY);
        check(&[(far, true), (after, true), (after + 29 * DAY, true), (after + 31 * DAY, true)], "jsss");
        // From then on the time before is another jump.
        let month = after + 31 * DAY;
        check(&[(far, true), (after, true), (after + 29 * DAY, true), (month, true), (0, true)], "jsssj");
    }

    #[test]
    fn a_jump_from_a_jump_starts_its_own_day() {
        check(&[(YEARS, true), (2 * YEARS, true), (2 * YEARS + 23, true), (2 * YEARS + DAY, true)], "jjjs");
        // Set back within the jump.
        check(&[(YEARS, true), (YEARS - 2 * DAY, true), (YEARS - DAY, true)], "jjs");
    }

    #[test]
    fn a_reading_is_news_once_an_hour_and_when_the_clock_is_right_again() {
        let trust = ClockTrust::new(reading(0));
        assert!(!trust.is_news(reading(0).time) && trust.is_news(reading(1).time));
        assert!(trust.is_news(reading(-1).time) && trust.is_news(reading(YEARS).time));
        let (jumped, _) = trust.read(reading(YEARS), true);
        assert!(!jumped.is_news(reading(YEARS).time) && jumped.is_news(reading(0).time));
        assert_eq!(jumped.waits_until(), Some(reading(YEARS + DAY).time));
        // Where nothing is ever swept, a day is enough for the rest.
        let (jumped, _) = trust.read(reading(YEARS), false);
        assert_eq!(jumped.waits_until(), None);
        assert!(!jumped.outlasts(reading(YEARS + 23).time) && jumped.outlasts(reading(YEARS + DAY).time));
        assert!(!jumped.trusts(reading(YEARS + DAY).time) && jumped.outlasts(reading(1).time));
    }
}
