//! Decides whether a store trusts the clock.
//! After a jump the clock is trusted again once it has run on from there for a day.

use jiff::{SignedDuration, Timestamp};

use crate::error::Result;
use crate::item::Change;

/// The time of a write and its author; both are recorded in its events.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The time, passed by the caller.
    pub now: Timestamp,
    /// The author, e.g. `cli`.
    pub actor: &'a str,
}

/// Largest gap between two readings that is not a jump. A larger one means that the store was unused for a month, or the
/// clock is wrong.
pub const MOST_GAP: SignedDuration = SignedDuration::from_hours(24 * 30);

/// Time after a sweep marked a jump at which a sweep trusts the clock again, if it ran on from there.
pub const PROBATION: SignedDuration = SignedDuration::from_hours(24);

/// Readings closer to the last one than this are not stored, so that there is at most one write an hour.
const NOTED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// A reading of the clock, with the store's last change at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The clock's time.
    pub time: Timestamp,
    /// The store's last change.
    pub change: Change,
}

/// A clock reading far from the last trusted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The clock's time when the jump was first seen, by any reader.
    pub first: Timestamp,
    /// The last reading since the jump.
    pub last: ClockReading,
    /// Time by this clock when a sweep first saw the jump; `None` until one did.
    pub marked: Option<Timestamp>,
    /// Whether the clock has been trusted since.
    pub is_trusted: bool,
}

/// The store's record of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockTrust {
    /// The last trusted reading; after a jump, the last one before it.
    pub steady: ClockReading,
    /// The jump since then, if any.
    pub jump: Option<Jump>,
}

/// The meaning of a clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockVerdict {
    /// The clock is trusted.
    Steady,
    /// The clock is trusted again; it was wrong from this reading on until now.
    Returned(ClockReading),
    /// The clock jumped, and is not trusted yet.
    Jumped,
}

/// Stores the record of the clock, so that every process sees the same jumps.
pub trait TrustedTime {
    /// Returns the present record. A store without readings trusts the time of its creation.
    fn trust(&self) -> Result<ClockTrust>;
    /// Reads the clock, and returns the record afterwards. If the clock is right again after it was wrong, the wrong
    /// times are replaced. They become times just before this one, in the order of their changes. Events keep their
    /// times.
    ///
    /// `by_sweep` is whether a sweep or a prune reads it: only those mark a jump, and trust the clock a day later.
    fn read_clock(&self, by_sweep: bool, stamp: Stamp<'_>) -> Result<ClockTrust>;
}

impl ClockTrust {
    /// Makes the record of a store with one reading.
    pub fn new(reading: ClockReading) -> Self {
        Self { steady: reading, jump: None }
    }

    /// Whether a time is trusted.
    pub fn trusts(&self, now: Timestamp) -> bool {
        let is_accepted = |jump: Jump| jump.is_trusted && is_near(jump.last.time, now);
        is_near(self.steady.time, now) || self.jump.is_some_and(is_accepted)
    }

    /// Whether a time is trusted outside of sweeps: also after the clock has run for a day since it jumped.
    pub fn outlasts(&self, now: Timestamp) -> bool {
        let has_lasted =
            |jump: Jump| is_near(jump.last.time, now) && now.duration_since(jump.first) >= PROBATION;
        self.trusts(now) || self.jump.is_some_and(has_lasted)
    }

    /// Whether a reading is worth storing, for callers other than a sweep.
    pub fn is_news(&self, now: Timestamp) -> bool {
        let last = self.jump.map_or(self.steady, |jump| jump.last);
        let has_returned = self.jump.is_some() && is_near(self.steady.time, now);
        has_returned || gap(last.time, now) >= NOTED_EVERY
    }

    /// Returns the time from which a sweep trusts the clock, if a jump is marked and not trusted yet.
    pub fn waits_until(&self) -> Option<Timestamp> {
        let jump = self.jump.filter(|jump| !jump.is_trusted)?;
        jump.marked.map(|marked| marked.checked_add(PROBATION).unwrap_or(Timestamp::MAX))
    }

    /// Returns the record after a reading, and the reading's meaning. Only a sweep marks a jump, and later trusts the
    /// clock.
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
        // A clock that was set back within the jump restarts its day.
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

/// Returns the distance between two times.
fn gap(one: Timestamp, two: Timestamp) -> SignedDuration {
    two.duration_since(one).abs()
}

/// Whether two readings may come from one clock that was not set in between.
pub fn is_near(one: Timestamp, two: Timestamp) -> bool {
    gap(one, two) <= MOST_GAP
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reading so many hours after the first, with the hours as its change.
    fn reading(hours: i64) -> ClockReading {
        let start: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        ClockReading { time: start + SignedDuration::from_hours(hours), change: Change(hours.unsigned_abs()) }
    }

    /// Checks the verdict of each step (hours, whether a sweep read): `s` steady, `j` jumped, `!` returned.
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
        // 60 days without use: the first sweep marks the jump, one a day later trusts the clock.
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
        // Ten years ahead for two days: trusted for one of them.
        check(&[(YEARS, true), (YEARS + DAY, true), (YEARS + 2 * DAY, true), (2 * DAY, true)], "jss!");
        // Twice wrong, then right.
        check(&[(YEARS, true), (-YEARS, true), (DAY, false), (DAY, true)], "jj!s");
    }

    #[test]
    fn what_is_believed_for_a_month_is_all_that_is_remembered() {
        let (far, after) = (100 * DAY, 101 * DAY);
        check(&[(far, true), (after, true), (after + 29 * DAY, true), (after + 31 * DAY, true)], "jsss");
        // From then on the earlier time is another jump.
        let month = after + 31 * DAY;
        check(&[(far, true), (after, true), (after + 29 * DAY, true), (month, true), (0, true)], "jsssj");
    }

    #[test]
    fn a_jump_from_a_jump_starts_its_own_day() {
        check(&[(YEARS, true), (2 * YEARS, true), (2 * YEARS + 23, true), (2 * YEARS + DAY, true)], "jjjs");
        // The clock is set back within the jump.
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
        // In a store that is never swept, a day is enough for everything else.
        let (jumped, _) = trust.read(reading(YEARS), false);
        assert_eq!(jumped.waits_until(), None);
        assert!(!jumped.outlasts(reading(YEARS + 23).time) && jumped.outlasts(reading(YEARS + DAY).time));
        assert!(!jumped.trusts(reading(YEARS + DAY).time) && jumped.outlasts(reading(1).time));
    }
}
