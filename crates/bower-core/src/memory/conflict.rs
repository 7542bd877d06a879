//! Resolves contradictions: which of two memories that deny each other holds.
//! Nothing is destroyed either way: who loses stays in the chain of who wins, and where nothing decides, both stay and somebody
//! is asked.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// When one of two contradicting memories holds without anybody being asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Newer by so many days, it supersedes (Bowerbird's first version: contradictions).
    pub newer_days: f64,
    /// Surer by so much, it wins (the same place).
    pub surer: f32,
}

impl Default for Constants {
    fn default() -> Self {
        Self { newer_days: 7.0, surer: 0.2 }
    }
}

/// One of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The text that is told now.
    Told,
    /// The memory that is there.
    Kept,
}

/// What decides between two contradicting texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// One is so much newer, in days.
    Newer(Side, f64),
    /// One is so much surer.
    Surer(Side, f32),
    /// Nothing: somebody has to be asked.
    Open,
}

/// Confidence is stored as a 32-bit float: .9 - .7 is .19999999.
const ROUNDING: f32 = 1e-5;

/// Decides between a text that is told and a memory that it denies, by when each was so and how sure each is.
pub fn resolve(told: (Timestamp, f32), kept: (Timestamp, f32), constants: &Constants) -> Verdict {
    let days = (told.0.as_millisecond() - kept.0.as_millisecond()) as f64 / 86_400_000.0;
    if days >= constants.newer_days {
        return Verdict::Newer(Side::Told, days);
    }
    if -days >= constants.newer_days {
        return Verdict::Newer(Side::Kept, -days);
    }
    let surer = told.1 - kept.1;
    if surer >= constants.surer - ROUNDING {
        return Verdict::Surer(Side::Told, surer);
    }
    if -surer >= constants.surer - ROUNDING {
        return Verdict::Surer(Side::Kept, -surer);
    }
    Verdict::Open
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn check(days: i64, told: f32, kept: f32, expected: Verdict) {
        let start = Timestamp::from_second(1_700_000_000).unwrap();
        let later = Timestamp::from_second(1_700_000_000 + days * DAY).unwrap();
        assert_eq!(resolve((later, told), (start, kept), &Constants::default()), expected);
    }

    #[test]
    fn newer_by_seven_days_wins_then_surer_by_a_fifth_then_nobody() {
        // Bowerbird's first version: "newer by 7 days supersedes; else confidence +.2 wins; else flag both for review".
        check(7, 0.1, 0.9, Verdict::Newer(Side::Told, 7.0));
        check(-7, 0.9, 0.1, Verdict::Newer(Side::Kept, 7.0));
        check(6, 0.5, 0.5, Verdict::Open);
        check(6, 0.5, 0.6, Verdict::Open);
        check(0, 0.75, 0.5, Verdict::Surer(Side::Told, 0.25));
        check(6, 0.5, 0.75, Verdict::Surer(Side::Kept, 0.25));
        assert!(matches!(
            resolve((Timestamp::UNIX_EPOCH, 0.9), (Timestamp::UNIX_EPOCH, 0.7), &Constants::default()),
            Verdict::Surer(Side::Told, _)
        ));
    }

    #[test]
    fn exchanged_sides_exchange_the_winner() {
        let at = |second| Timestamp::from_second(second).unwrap();
        for (told, kept) in
            [((at(0), 0.5), (at(9 * DAY), 0.5)), ((at(0), 0.9), (at(DAY), 0.2)), ((at(5), 0.5), (at(7), 0.5))]
        {
            let (one, two) =
                (resolve(told, kept, &Constants::default()), resolve(kept, told, &Constants::default()));
            let turned = match one {
                Verdict::Newer(Side::Told, days) => Verdict::Newer(Side::Kept, days),
                Verdict::Newer(Side::Kept, days) => Verdict::Newer(Side::Told, days),
                Verdict::Surer(Side::Told, by) => Verdict::Surer(Side::Kept, by),
                Verdict::Surer(Side::Kept, by) => Verdict::Surer(Side::Told, by),
                Verdict::Open => Verdict::Open,
            };
            assert_eq!(two, turned);
        }
    }
}
