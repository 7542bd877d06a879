//! Decides whether a memory says something else about the same thing than a canonical fact.
//! It says so only where it is likely: whoever wrote either of them has to look at both.

use super::analysis::{Analysis, Difference};
use super::relation::{PairLikelihood, READ_WORDS};

/// How a memory and a fact differ.
#[derive(Clone, Debug, PartialEq)]
pub enum FactConflict {
    /// They tell different values of the same thing; the place where they differ, if it is one.
    Value(Option<Difference>),
    /// Both cannot be true.
    Contradiction,
}

/// Decides about a memory beside a fact. `happened` says that the memory tells what happened, which holds whatever is so today.
/// `relation` is what the model says that the memory is to the fact; `None` if it was not asked. A canonical fact may be terse, and
/// the model is better at a terse text that comes first.
pub fn fact_conflict(
    fact: &Analysis,
    memory: &Analysis,
    happened: bool,
    relation: Option<PairLikelihood>,
) -> Option<FactConflict> {
    if happened || fact.plain() == memory.plain() {
        return None;
    }
    let value = || FactConflict::Value(memory.difference(fact));
    if fact.has_other_number(memory) && relation.is_none_or(|relation| relation.is_update()) {
        return Some(value());
    }
    let relation = relation.filter(|_| fact.count() <= READ_WORDS && memory.count() <= READ_WORDS)?;
    if relation.is_contradiction() {
        return Some(FactConflict::Contradiction);
    }
    relation.is_other_value().then(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fact: &str, memory: &str, likelihoods: Option<([f32; 5], f32)>, expected: Option<&str>) {
        let relation = likelihoods.map(|(all, number)| PairLikelihood::new(&all, number).unwrap());
        let found = fact_conflict(&Analysis::of(fact), &Analysis::of(memory), false, relation);
        let told = found.map(|conflict| match conflict {
            FactConflict::Value(Some(difference)) => difference.to_string(),
            FactConflict::Value(None) => "value".to_owned(),
            FactConflict::Contradiction => "contradiction".to_owned(),
        });
        assert_eq!(told.as_deref(), expected, "{fact} / {memory}");
    }

    #[test]
    fn only_a_likely_conflict_is_told() {
        let (port, other) = ("The API listens on port 8080", "The API listens on port 9090");
        check(port, other, None, Some("9090 -> 8080"));
        check(port, other, Some(([0.0, 0.0, 0.3, 0.1, 0.6], 0.9)), Some("9090 -> 8080"));
        check(port, other, Some(([0.0, 0.0, 0.3, 0.1, 0.6], 0.1)), None);
        check(port, "the api listens on port 8080.", Some(([0.0, 0.0, 0.0, 1.0, 0.0], 0.9)), None);
        check(port, "Nothing answers there", Some(([0.0, 0.1, 0.1, 0.7, 0.1], 0.0)), Some("contradiction"));
        check(port, "It is on 9090 today", Some(([0.0, 0.0, 0.6, 0.2, 0.2], 0.0)), Some("value"));
        check(port, "It is on 9090 today", Some(([0.0, 0.0, 0.5, 0.1, 0.4], 0.0)), None);
        check(port, "It is on 9090 today", None, None);
        // The model does not read so many words.
        check(port, &"word ".repeat(READ_WORDS + 1), Some(([0.0, 0.0, 0.0, 1.0, 0.0], 0.0)), None);
        let happened = fact_conflict(&Analysis::of(port), &Analysis::of(other), true, None);
        assert_eq!(happened, None);
    }
}
