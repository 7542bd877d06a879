//! Rules of the sweep: which memories time and use promote, fade, bring back, archive or prune.
//! Each rule looks at one memory; only the limit of a scope looks at all of its holder's.

use jiff::Timestamp;

use crate::item::{Facts, MemoryType, Status, Tier, Turn};
use crate::strength::{is_evergreen, strength};

/// The rules' constants. Defaults without another source are those of ADE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Days without use after which an active memory fades.
    pub fade_after_days: f64,
    /// Days without use after which a fading memory is archived.
    pub archive_after_days: f64,
    /// Days after which a candidate that nobody confirmed may be archived.
    pub doubt_after_days: f64,
    /// What a candidate's confidence, halved every `half_life_days` without use, must not fall below then.
    pub doubt_below: f64,
    /// Days in which a candidate's confidence halves while nobody uses it.
    pub half_life_days: f64,
    /// A candidate is promoted from this confidence on, where it was observed often enough.
    pub promote_confidence: f32,
    /// How often that is.
    pub promote_observations: u64,
    /// The confidence from which on what the program made itself is promoted without more.
    pub promote_own: f32,
    /// Effective importance below which a memory is pruned (section 1).
    pub prune_below: f64,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            fade_after_days: 90.0,
            archive_after_days: 180.0,
            doubt_after_days: 30.0,
            doubt_below: 0.3,
            half_life_days: 30.0,
            promote_confidence: 0.7,
            promote_observations: 2,
            promote_own: 0.6,
            prune_below: 0.05,
        }
    }
}

/// A memory as far as its life depends on it. Only candidate and active ones are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life {
    /// Candidate or active.
    pub status: Status,
    /// How often it was told.
    pub observations: u64,
    /// Made by the program itself.
    pub is_own: bool,
    /// It came from outside, and nobody kept it: only somebody's word promotes it, however often it is said.
    pub is_outside: bool,
    /// The rest.
    pub facts: Facts,
}

/// Which rule turns a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Confirmed often enough.
    Confirmed,
    /// Made by the program, and sure enough.
    Own,
    /// A candidate that nobody confirmed or used.
    Doubted,
    /// Not used for [`Constants::fade_after_days`].
    Idle,
    /// Used again.
    Used,
    /// Fading, and not used for [`Constants::archive_after_days`].
    Unused,
    /// The weakest of the fading, where a scope holds more than its limit.
    OverLimit,
    /// Too weak, by [`Constants::prune_below`] or what was asked for.
    Weak,
}

impl Rule {
    /// Its word in events.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Own => "own",
            Self::Doubted => "doubted",
            Self::Idle => "idle",
            Self::Used => "used",
            Self::Unused => "unused",
            Self::OverLimit => "over_limit",
            Self::Weak => "weak",
        }
    }

    /// Why, in a few words for people.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Confirmed => "told often enough to be trusted",
            Self::Own => "made by bower, and sure enough",
            Self::Doubted => "nobody confirmed or used it",
            Self::Idle => "not used for 90 days",
            Self::Used => "used again",
            Self::Unused => "fading, and not used for 180 days",
            Self::OverLimit => "the weakest of a scope that is over its limit",
            Self::Weak => "too weak to be asked for again",
        }
    }
}

/// Whether nothing but a person's word may take it out of sight: what is pinned, what never decays, and what somebody decided
/// or wrote down as a way to do things (section 1: never decisions, procedures or pinned).
pub fn is_kept(facts: &Facts) -> bool {
    facts.tier == Tier::Pinned
        || is_evergreen(facts.memory_type)
        || matches!(facts.memory_type, Some(MemoryType::Decision | MemoryType::Procedure))
}

fn days(from: Timestamp, now: Timestamp) -> f64 {
    now.duration_since(from).as_secs_f64() / 86_400.0
}

/// What the day brings for one memory; at most one turn, so that the next sweep sees what this one did.
pub fn turn(life: &Life, constants: &Constants, now: Timestamp) -> Option<(Turn, Rule)> {
    let Life { status, observations, is_own, is_outside, facts } = life;
    let (idle, age) = (days(facts.accessed, now), days(facts.created, now));
    if *status == Status::Candidate {
        if !is_outside
            && facts.confidence >= constants.promote_confidence
            && *observations >= constants.promote_observations
        {
            return Some((Turn::Promote, Rule::Confirmed));
        }
        if *is_own && !is_outside && facts.confidence >= constants.promote_own {
            return Some((Turn::Promote, Rule::Own));
        }
        let left = f64::from(facts.confidence) * 0.5_f64.powf(idle.max(0.0) / constants.half_life_days);
        if age >= constants.doubt_after_days && left < constants.doubt_below && !is_kept(facts) {
            return Some((Turn::Archive, Rule::Doubted));
        }
    }
    let never_fades = facts.tier == Tier::Pinned || is_evergreen(facts.memory_type);
    match facts.tier {
        Tier::Fading if idle >= constants.archive_after_days && !is_kept(facts) => {
            Some((Turn::Archive, Rule::Unused))
        }
        Tier::Fading if idle < constants.fade_after_days => Some((Turn::Raise, Rule::Used)),
        Tier::Active if idle >= constants.fade_after_days && !never_fades => Some((Turn::Demote, Rule::Idle)),
        Tier::Pinned | Tier::Active | Tier::Fading => None,
    }
}

/// Which memories of one holder go so that no more than `limit` stay: the weakest of those that fade and may go, by their place
/// in `lives`. Less than what is over where not enough of them fade: what is in use is not thrown out for a number.
pub fn over_limit(lives: &[Life], limit: usize, now: Timestamp) -> Vec<usize> {
    let over = lives.len().saturating_sub(limit);
    let mut fading: Vec<(f64, usize)> = lives
        .iter()
        .enumerate()
        .filter(|(_, life)| over > 0 && life.facts.tier == Tier::Fading && !is_kept(&life.facts))
        .map(|(at, life)| (strength(&life.facts, now), at))
        .collect();
    fading.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    fading.into_iter().take(over).map(|(_, at)| at).collect()
}

/// The share of a scope's limit from which on a process that lives long consolidates it by itself (ADE:
/// automatically at 80% of a limit).
pub const CROWDED: f64 = 0.8;

/// Whether one holder's memories are to be consolidated by themselves: `held` of them where `limit` is the most, 0 for no
/// limit. `told_since` is whether one was told since that was last done; none where it never was.
pub fn is_crowded(held: u64, limit: u64, told_since: Option<bool>) -> bool {
    limit > 0 && held as f64 >= CROWDED * limit as f64 && told_since.unwrap_or(true)
}

/// The strength of a memory that is pruned below `threshold`; `None` where it stays.
pub fn prunes(life: &Life, threshold: f64, now: Timestamp) -> Option<f64> {
    let strength = strength(&life.facts, now);
    (strength < threshold && !is_kept(&life.facts)).then_some(strength)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Kind;
    use jiff::SignedDuration;

    fn now() -> Timestamp {
        "2026-11-01T00:00:00Z".parse().unwrap()
    }

    fn ago(days: i64) -> Timestamp {
        now() - SignedDuration::from_hours(24 * days)
    }

    /// A fact of importance .3 and confidence .5 that was written and last used some days ago.
    fn fact(days: i64) -> Life {
        Life {
            status: Status::Active,
            observations: 1,
            is_own: false,
            is_outside: false,
            facts: Facts {
                kind: Kind::Memory,
                memory_type: Some(MemoryType::Fact),
                importance: 0.3,
                confidence: 0.5,
                access_count: 0,
                decay_rate: 0.01,
                created: ago(days),
                accessed: ago(days),
                tier: Tier::Active,
                asked_time: None,
            },
        }
    }

    fn with(life: Life, change: impl FnOnce(&mut Life)) -> Life {
        let mut life = life;
        change(&mut life);
        life
    }

    fn check(life: &Life, expected: Option<(Turn, Rule)>) {
        assert_eq!(turn(life, &Constants::default(), now()), expected, "{life:?}");
    }

    /// `fade_after_days` 90, `archive_after_days` 180.
    #[test]
    fn what_nobody_uses_fades_and_is_archived() {
        check(&fact(89), None);
        check(&fact(90), Some((Turn::Demote, Rule::Idle)));
        let fading = |days| with(fact(days), |life| life.facts.tier = Tier::Fading);
        check(&fading(89), Some((Turn::Raise, Rule::Used)));
        check(&fading(90), None);
        check(&fading(179), None);
        check(&fading(180), Some((Turn::Archive, Rule::Unused)));
        // Used yesterday, however old it is.
        check(&with(fading(900), |life| life.facts.accessed = ago(1)), Some((Turn::Raise, Rule::Used)));
    }

    #[test]
    fn pins_and_evergreen_types_never_fade_and_decisions_are_never_archived() {
        check(&with(fact(900), |life| life.facts.tier = Tier::Pinned), None);
        for kept in [MemoryType::Preference, MemoryType::Convention] {
            check(&with(fact(900), |life| life.facts.memory_type = Some(kept)), None);
        }
        for kept in [MemoryType::Decision, MemoryType::Procedure] {
            let old = with(fact(900), |life| life.facts.memory_type = Some(kept));
            check(&old, Some((Turn::Demote, Rule::Idle)));
            check(&with(old, |life| life.facts.tier = Tier::Fading), None);
            assert_eq!(prunes(&old, 0.9, now()), None);
        }
    }

    /// `promote_confidence` .7 with `promote_observations` 2; `promote_own` .6.
    #[test]
    fn candidates_are_promoted_by_what_confirms_them() {
        let candidate = |confidence, observations| {
            with(fact(1), |life| {
                life.status = Status::Candidate;
                life.facts.confidence = confidence;
                life.observations = observations;
            })
        };
        check(&candidate(0.7, 1), None);
        check(&candidate(0.69, 2), None);
        check(&candidate(0.7, 2), Some((Turn::Promote, Rule::Confirmed)));
        check(&with(candidate(0.6, 1), |life| life.is_own = true), Some((Turn::Promote, Rule::Own)));
        check(&with(candidate(0.59, 1), |life| life.is_own = true), None);
    }

    /// `doubt_after_days` 30, `doubt_below` .3, `half_life_days` 30: .62 is .31 after 30 days and .29 after 33.
    #[test]
    fn candidates_that_nobody_confirms_are_archived() {
        let candidate = |days, confidence| {
            with(fact(days), |life| {
                life.status = Status::Candidate;
                life.facts.confidence = confidence;
            })
        };
        check(&candidate(29, 0.1), None);
        check(&candidate(30, 0.62), None);
        check(&candidate(33, 0.62), Some((Turn::Archive, Rule::Doubted)));
        check(&with(candidate(33, 0.62), |life| life.facts.accessed = ago(2)), None);
        check(&with(candidate(99, 0.1), |life| life.facts.tier = Tier::Pinned), None);
    }

    /// `prune_below` .05: .3 / (1 + .01 d) / (1 + .001 d) is .0523 after 330 days and .0465 after 380.
    #[test]
    fn the_weak_are_pruned() {
        let below = Constants::default().prune_below;
        assert_eq!(prunes(&fact(330), below, now()), None);
        let strength = prunes(&fact(380), below, now()).unwrap();
        assert!((strength - 0.3 / 4.8 / 1.38).abs() < 1e-6, "{strength}");
        assert_eq!(prunes(&with(fact(380), |life| life.facts.tier = Tier::Pinned), below, now()), None);
    }

    /// `CROWDED` .8: of 500 from 400 on.
    #[test]
    fn a_scope_is_consolidated_when_it_is_nearly_full_and_once_until_something_is_told() {
        assert!(!is_crowded(399, 500, None));
        assert!(is_crowded(400, 500, None));
        assert!(is_crowded(9_000, 500, Some(true)));
        assert!(!is_crowded(9_000, 500, Some(false)));
        assert!(!is_crowded(9_000, 0, None), "0 is no limit");
        assert!(is_crowded(1, 1, None) && !is_crowded(0, 1, None));
    }

    #[test]
    fn a_scope_over_its_limit_loses_the_weakest_that_fade() {
        let fading = |days| with(fact(days), |life| life.facts.tier = Tier::Fading);
        let decision = with(fading(170), |life| life.facts.memory_type = Some(MemoryType::Decision));
        let lives = [fact(1), fading(100), fading(150), fading(120), decision, fact(89)];
        assert!(over_limit(&lives, 6, now()).is_empty());
        assert_eq!(over_limit(&lives, 5, now()), [2]);
        assert_eq!(over_limit(&lives, 4, now()), [2, 3]);
        assert_eq!(over_limit(&lives, 0, now()), [2, 3, 1], "what is in use stays");
    }
}
