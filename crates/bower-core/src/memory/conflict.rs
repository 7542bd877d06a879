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
/// `relation` is what the model says that the fact is to the memory; `None` if it was not asked.
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
    if memory.has_other_number(fact) && relation.is_none_or(|relation| relation.is_update()) {
        return Some(value());
    }
    let relation = relation.filter(|_| fact.count() <= READ_WORDS && memory.count() <= READ_WORDS)?;
    if relation.is_contradiction() {
        return Some(FactConflict::Contradiction);
    }
    relation.is_other_value().then(value)
}
