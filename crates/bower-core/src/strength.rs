//! Effective importance: it rises with each use, falls with time, and is computed on demand.
//! It is never stored, so a day without maintenance changes nothing.

use jiff::Timestamp;

use crate::item::{Facts, MemoryType, Tier};

/// Importance gained by each use (Bowerbird's first version: `importance +.01 (cap 1)`).
const USE_ADDS: f64 = 0.01;
/// Factor on the decay rate for each use (same source: `decay_rate*.95`).
const USE_SLOWS: f64 = 0.95;
/// Least decay rate (same source: `floor .001`).
const LEAST_RATE: f64 = 0.001;
/// Decay of importance with age, per day (same source: `1/(1+0.001*days_since_creation)`).
pub const AGE_DECAY: f32 = 0.001;

/// Returns the days from one time to another; 0 if `now` is earlier.
fn days(from: Timestamp, now: Timestamp) -> f64 {
    (now.duration_since(from).as_secs_f64() / 86_400.0).max(0.0)
}

/// Returns the three factors of effective importance: importance raised by uses, decay since the last use, decay with age.
///
/// `min(importance + .01 * uses, 1) * 1 / (1 + rate * days since use) * 1 / (1 + age_decay * days since creation)`. The
/// rate is the item's own, times .95 for each use, and never below .001 (Bowerbird's first version).
pub fn parts(facts: &Facts, age_decay: f32, now: Timestamp) -> [f64; 3] {
    let uses = facts.access_count as f64;
    let rate = f64::from(facts.decay_rate.max(0.0));
    // A rate that starts below the floor is not raised to it.
    let slowed = (rate * USE_SLOWS.powf(uses)).max(LEAST_RATE.min(rate));
    let falls = |rate: f64, since| 1.0 / (1.0 + rate * days(since, now));
    [
        (f64::from(facts.importance).max(0.0) + USE_ADDS * uses).min(1.0),
        falls(slowed, facts.accessed),
        falls(f64::from(age_decay.max(0.0)), facts.created),
    ]
}

/// Whether memories of this type never decay by disuse (ADE: `preference` and `convention` never decay).
pub fn is_evergreen(memory_type: Option<MemoryType>) -> bool {
    matches!(memory_type, Some(MemoryType::Preference | MemoryType::Convention))
}

/// Returns effective importance, 0..1. It does not fall for pinned and evergreen memories.
pub fn strength(facts: &Facts, now: Timestamp) -> f64 {
    let [importance, by_use, by_age] = parts(facts, AGE_DECAY, now);
    if facts.tier == Tier::Pinned || is_evergreen(facts.memory_type) {
        return importance;
    }
    importance * by_use * by_age
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Kind;

    fn facts(importance: f32, decay_rate: f32, uses: u64) -> Facts {
        let written = "2026-01-01T00:00:00Z".parse().unwrap();
        Facts {
            kind: Kind::Memory,
            memory_type: Some(MemoryType::Fact),
            importance,
            confidence: 0.5,
            access_count: uses,
            decay_rate,
            created: written,
            accessed: written,
            tier: Tier::Active,
            asked_time: None,
        }
    }

    fn after(days: i64) -> Timestamp {
        "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_hours(24 * days)
    }

    fn check(facts: &Facts, days: i64, expected: f64) {
        let got = strength(facts, after(days));
        assert!((got - expected).abs() < 1e-6, "{got} is not {expected}");
    }

    /// By hand: .4 / (1 + .01 * 50) / (1 + .001 * 50) = .4 / 1.5 / 1.05.
    #[test]
    fn importance_falls_by_days_since_use_and_age() {
        check(&facts(0.4, 0.01, 0), 0, 0.4);
        check(&facts(0.4, 0.01, 0), 50, 0.253_968_254);
        check(&Facts { accessed: after(50), ..facts(0.4, 0.01, 0) }, 50, 0.380_952_381);
    }

    /// By hand: two uses, .42 / (1 + .01 * .9025 * 50) / 1.05 = .42 / 1.45125 / 1.05.
    #[test]
    fn each_use_adds_a_hundredth_and_slows_the_fall() {
        check(&facts(0.4, 0.01, 2), 50, 0.275_624_461);
        // Caps: importance 1; a rate of .001 (1 / 1.05 / 1.05), which a slower one does not reach.
        check(&facts(0.4, 0.01, 100), 50, 0.907_029_478);
        check(&facts(0.4, 0.0005, 0), 50, 0.371_660_859);
    }

    #[test]
    fn what_is_pinned_or_evergreen_does_not_fall() {
        check(&Facts { tier: Tier::Pinned, ..facts(0.4, 0.01, 0) }, 5_000, 0.4);
        for memory_type in [MemoryType::Preference, MemoryType::Convention] {
            check(&Facts { memory_type: Some(memory_type), ..facts(0.4, 0.01, 1) }, 5_000, 0.41);
        }
        assert!(strength(&facts(0.4, 0.01, 0), after(5_000)) < 0.01);
        // The clock was set back.
        check(&facts(0.4, 0.01, 0), -3, 0.4);
    }
}
