//! Computes bootstrap intervals: how much a figure varies with other questions of the same kind.
//! They are seeded: the same figures give the same interval, to the last digit.
//!
//! The method is the percentile bootstrap (Efron and Tibshirani 1993, chapter 13). As many questions as there are are drawn
//! with replacement, 2,000 times. The interval is from the 2.5th to the 97.5th percentile of the resulting figures,
//! interpolated linearly as in numpy. Draws come from `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014), seeded anew for each
//! call. A draw of 64 bits selects the question at the upper half of (draw x count), a product of 128 bits.

use serde::Serialize;

/// Number of resamples.
pub const RESAMPLES: usize = 2_000;

/// Seed of the draws; any constant would do.
const SEED: u64 = 1_979;

/// Share of resamples below and above the interval.
const TAIL: f64 = 0.025;

/// A 95 % interval with its lower and upper end. In JSON it is a list of two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval(pub f64, pub f64);

impl Interval {
    /// Whether zero is outside the interval, so that the sign of the figure is significant.
    pub fn is_clear(self) -> bool {
        self.0 > 0.0 || self.1 < 0.0
    }
}

/// Computes the intervals of some statistics over `count` questions. `statistics` gets the number of draws of each question and
/// returns the same number of values for every resample. A value that is not finite is left out. Without questions there are no
/// intervals.
pub fn intervals(count: usize, mut statistics: impl FnMut(&[u32]) -> Vec<f64>) -> Vec<Interval> {
    if count == 0 {
        return Vec::new();
    }
    let mut generator = Generator(SEED);
    let mut drawn = vec![0; count];
    let mut values: Vec<Vec<f64>> = Vec::new();
    for _ in 0..RESAMPLES {
        drawn.fill(0);
        for _ in 0..count {
            drawn[generator.below(count)] += 1;
        }
        let found = statistics(&drawn);
        values.resize_with(found.len(), || Vec::with_capacity(RESAMPLES));
        for (values, value) in values.iter_mut().zip(found) {
            values.push(value);
        }
    }
    values.into_iter().map(interval).collect()
}

/// Computes the intervals of column means. Each row has one question's values, all rows the same number.
pub fn of_means(rows: &[Vec<f64>]) -> Vec<Interval> {
    let width = rows.first().map_or(0, Vec::len);
    let mut sums = vec![0.0; width];
    intervals(rows.len(), |drawn| {
        sums.fill(0.0);
        for (row, &times) in rows.iter().zip(drawn).filter(|(_, times)| **times > 0) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += f64::from(times) * value;
            }
        }
        sums.iter().map(|sum| sum / rows.len() as f64).collect()
    })
}

fn interval(mut values: Vec<f64>) -> Interval {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    Interval(between(&values, TAIL), between(&values, 1.0 - TAIL))
}

/// Returns the quantile at `share` (0..1) of the sorted values, interpolated linearly; 0 if there are none.
fn between(sorted: &[f64], share: f64) -> f64 {
    let at = share * sorted.len().saturating_sub(1) as f64;
    let low = sorted.get(at.floor() as usize).copied().unwrap_or(0.0);
    let high = sorted.get(at.ceil() as usize).copied().unwrap_or(low);
    low + (high - low) * at.fract()
}

/// State of `SplitMix64`.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Interval, expected: Interval) {
        let apart = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        assert!(apart < 1e-9, "{found:?} is not {expected:?}");
    }

    #[test]
    fn draws_are_those_of_the_published_generator() {
        // The first outputs of SplitMix64 from 1234567, as its authors' implementation gives them.
        let mut generator = Generator(1_234_567);
        let drawn = [(); 3].map(|()| generator.next());
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn intervals_equal_those_of_numpy() {
        #[derive(serde::Deserialize)]
        struct Case {
            rows: Vec<Vec<f64>>,
            expected: Vec<[f64; 2]>,
        }
        // Made by tools/golden_intervals.py.
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/golden/intervals.json")).unwrap();
        assert!(cases.len() >= 4);
        for case in cases {
            let found = of_means(&case.rows);
            assert_eq!(found.len(), case.expected.len());
            for (found, expected) in found.into_iter().zip(case.expected) {
                close(found, Interval(expected[0], expected[1]));
            }
        }
    }

    #[test]
    fn of_one_or_none_there_is_no_doubt() {
        assert_eq!(of_means(&[]), []);
        close(of_means(&[vec![0.25]])[0], Interval(0.25, 0.25));
        assert!(!Interval(-0.1, 0.1).is_clear() && Interval(0.1, 0.2).is_clear());
        assert!(Interval(-0.2, -0.1).is_clear() && !Interval(0.0, 0.1).is_clear());
    }

    #[test]
    fn values_that_cannot_be_told_are_left_out() {
        let mut at = 0;
        let found = intervals(3, |_| {
            at += 1;
            vec![if at % 2 == 0 { f64::NAN } else { 1.0 }]
        });
        close(found[0], Interval(1.0, 1.0));
    }
}
