//! Computes the effect of feedback (useful, wrong or stale) on a memory's confidence and status.

use crate::item::{Status, Verdict};

/// What a verdict that a memory was useful adds to its confidence: as much as one more observation (ADE).
const USEFUL_ADDS: f32 = 0.05;
/// What a verdict that it is wrong takes away. Two of them bring a memory of the usual .5 to nothing, one below the .3 under
/// which a candidate is archived after 30 days (ADE).
const WRONG_TAKES: f32 = 0.25;
/// An active memory below this confidence is a candidate again (the same).
const DOUBTED: f32 = 0.3;

/// What becomes of a memory by a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Its confidence from now on, 0..1.
    pub confidence: f32,
    /// Its status from now on.
    pub status: Status,
    /// Whether it counts as a use.
    pub is_use: bool,
    /// Whether it is true no longer.
    pub ends: bool,
}

/// Useful: a use, and a little surer. Wrong: far less sure, and soon a candidate that the sweep archives. Stale: true no longer,
/// archived; told again it comes back. What is superseded stays so.
pub fn effect(verdict: Verdict, confidence: f32, status: Status) -> Effect {
    let stays = Effect { confidence, status, is_use: false, ends: false };
    match verdict {
        Verdict::Useful => Effect { confidence: (confidence + USEFUL_ADDS).min(1.0), is_use: true, ..stays },
        Verdict::Wrong => {
            let confidence = (confidence - WRONG_TAKES).max(0.0);
            let status = match status {
                Status::Active if confidence < DOUBTED => Status::Candidate,
                other => other,
            };
            Effect { confidence, status, ..stays }
        }
        Verdict::Stale => match status {
            Status::Candidate | Status::Active => Effect { status: Status::Archived, ends: true, ..stays },
            Status::Superseded | Status::Archived | Status::Variant => stays,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(verdict: Verdict, before: (f32, Status), after: (f32, Status)) {
        let effect = effect(verdict, before.0, before.1);
        assert!((effect.confidence - after.0).abs() < 1e-6, "{effect:?}");
        assert_eq!((effect.status, effect.is_use), (after.1, verdict == Verdict::Useful), "{effect:?}");
        assert_eq!(effect.ends, effect.status == Status::Archived && before.1 != Status::Archived);
    }

    /// `USEFUL_ADDS` .05, `WRONG_TAKES` .25, `DOUBTED` .3.
    #[test]
    fn verdicts_move_confidence() {
        use Status::{Active, Archived, Candidate, Superseded};
        check(Verdict::Useful, (0.5, Active), (0.55, Active));
        check(Verdict::Useful, (0.99, Candidate), (1.0, Candidate));
        check(Verdict::Wrong, (0.6, Active), (0.35, Active));
        check(Verdict::Wrong, (0.5, Active), (0.25, Candidate));
        check(Verdict::Wrong, (0.1, Superseded), (0.0, Superseded));
        check(Verdict::Stale, (0.5, Active), (0.5, Archived));
        check(Verdict::Stale, (0.5, Superseded), (0.5, Superseded));
    }
}
