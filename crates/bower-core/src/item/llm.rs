//! Names the tiers and the operations of language models, and counts money in billionths of a dollar.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

use crate::error::Error;

words! {
    /// How capable, and how expensive, a language model is. Each tier may have its own model.
    LlmTier, "tier" {
        /// A model on this machine.
        Local = "local",
        /// The cheapest model of a service.
        Lite = "lite",
        /// The usual model of a service.
        Flash = "flash",
        /// The most capable model of a service.
        Pro = "pro",
    }
}

words! {
    /// What a language model, or a reranker at a service, is asked for.
    LlmOperation, "operation" {
        /// Scores texts for a question.
        Rerank = "rerank",
        /// Says what a memory is to an earlier one.
        Settle = "settle",
        /// Writes the text of a pattern.
        Pattern = "pattern",
        /// Lists the relations that texts state.
        Triples = "triples",
        /// Answers a question of the user who tests the model.
        Test = "test",
    }
}

/// An amount of money, in billionths of a dollar: sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "f64")]
pub struct Dollars(u64);

impl Dollars {
    /// No money.
    pub const ZERO: Self = Self(0);
    const BILLIONTHS: f64 = 1e9;

    /// Returns the amount of so many billionths.
    pub const fn of_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    /// Returns its billionths.
    pub const fn billionths(self) -> u64 {
        self.0
    }

    /// Returns a cost, rounded up. What is no number costs as much as there is.
    pub fn cost(dollars: f64) -> Self {
        if dollars.is_nan() {
            return Self(u64::MAX);
        }
        let billionths = dollars * Self::BILLIONTHS;
        // What the arithmetic of floats adds to a whole number is not charged: .1 * 3 + .5 is more than .8.
        let whole = billionths.round();
        let is_whole = (billionths - whole).abs() <= whole.abs() * f64::EPSILON * 4.0;
        // A float that is too large becomes the largest amount.
        Self(if is_whole { whole } else { billionths.ceil() } as u64)
    }

    /// Returns a limit, rounded down.
    pub fn limit(dollars: f64) -> Self {
        Self((dollars * Self::BILLIONTHS).floor() as u64)
    }

    /// Returns the amount as a number of dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / Self::BILLIONTHS
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns what is left after another amount.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns so many times the amount.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.dollars();
        let text = match self.0 {
            0 => "$0".to_owned(),
            1_000_000_000.. => format!("${dollars:.2}"),
            1_000.. => format!("${}", format!("{dollars:.6}").trim_end_matches('0')),
            1.. => "under $0.000001".to_owned(),
        };
        f.write_str(&text)
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_rounded_up_and_a_limit_down() {
        assert_eq!(Dollars::cost(0.000_000_000_1), Dollars(1));
        assert_eq!(Dollars::limit(0.000_000_001_9), Dollars(1));
        assert_eq!(Dollars::cost(2.5), Dollars(2_500_000_000));
        assert_eq!(Dollars::cost((0.1 * 3.0 + 0.5) / 1e6), Dollars(800));
        assert_eq!((Dollars::cost(f64::NAN), Dollars::cost(-1.0)), (Dollars(u64::MAX), Dollars::ZERO));
        assert_eq!(Dollars::cost(1e300).plus(Dollars(1)), Dollars(u64::MAX));
        assert_eq!(Dollars(3).minus(Dollars(5)), Dollars::ZERO);
    }

    #[test]
    fn an_amount_is_written_as_people_read_it() {
        let written =
            [0, 999, 1_000, 310_000, 20_000_000, 1_005_000_000].map(|nanos| Dollars(nanos).to_string());
        assert_eq!(written, ["$0", "under $0.000001", "$0.000001", "$0.00031", "$0.02", "$1.00"]);
        assert_eq!(serde_json::to_string(&Dollars(310_000)).unwrap(), "0.00031");
    }
}
