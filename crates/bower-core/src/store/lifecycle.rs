//! Automatic changes of memories: promote, fade, archive, and consolidate into patterns.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

use super::clock::Stamp;
use super::memories::NewMemory;
use crate::error::Result;
use crate::item::{Facts, Provenance, RowId, Scope, Status, Tier};

/// A pattern to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPattern {
    /// The memory that replaces its members.
    pub memory: NewMemory,
    /// The memories that it replaces.
    pub members: Vec<RowId>,
}

/// The part of a memory that decides about its life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifecycleRow<'a> {
    /// Its row.
    pub row: RowId,
    /// Its id.
    pub id: &'a str,
    /// Candidate or active.
    pub status: Status,
    /// Number of observations.
    pub observations: u64,
    /// Whether the program made it.
    pub is_own: bool,
    /// Its speaker, its least trusted source, and whether a person reviewed it.
    pub provenance: Provenance,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner.
    pub owner: Option<&'a str>,
    /// Its collection.
    pub collection: &'a str,
    /// The facts that ranking uses too.
    pub facts: Facts,
}

/// An automatic change of one memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Its row.
    pub row: RowId,
    /// The event's action.
    pub action: &'static str,
    /// Its state at the decision. If the state is another one by now, nothing is changed.
    pub seen: ExpectedState,
    /// Its new status.
    pub status: Status,
    /// Its new budget class.
    pub tier: Tier,
    /// Its new confidence, 0..1.
    pub confidence: f32,
    /// Whether its validity ends.
    pub ends: bool,
    /// Whether this counts as a use of it.
    pub is_use: bool,
    /// Whether a person decided to keep it.
    pub is_review: bool,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
}

/// The state of a memory when it was decided about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedState {
    /// Its status.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Its confidence.
    pub confidence: f32,
    /// Its last use, if the decision depends on it.
    pub accessed: Option<Timestamp>,
}

/// Source of memories that the program makes itself.
pub const OWN: &str = "consolidate";

/// The result of applying transitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedTransitions {
    /// The last event; for a run, the event of the whole run.
    pub event: u64,
    /// The rows that changed, in the order of the input.
    pub rows: Vec<RowId>,
}

/// Reads memories for automatic changes, and applies the changes.
pub trait Lifecycle {
    /// Feeds every candidate and active memory, in no particular order.
    fn lives(&self, each: &mut dyn FnMut(LifecycleRow<'_>)) -> Result<()>;
    /// Changes memories as decided, in one transaction. Those that changed since the decision are skipped. `head` is the
    /// action and event detail of the run that they belong to, which is undone as a whole.
    fn turn(
        &self,
        head: Option<(&'static str, &Map<String, Value>)>,
        turns: &[Transition],
        stamp: Stamp<'_>,
    ) -> Result<AppliedTransitions>;
    /// Adds uses of items. It is not a change of the store: no index has to follow, and no event is recorded.
    fn add_uses(&self, used: &[(RowId, Timestamp)]) -> Result<()>;
    /// Keeps patterns in place of their members, which are archived as their examples. All are one transaction, but each
    /// pattern has its own change and event. Returns each event, which undoes that pattern alone. `None` where nothing
    /// was written: a member is not visible any more, or the pattern exists already, or it was undone.
    fn put_patterns(&self, patterns: &[NewPattern], stamp: Stamp<'_>) -> Result<Vec<Option<u64>>>;
    /// Returns the time of the last run of each kind (`sweep`, `prune`, `consolidate`).
    fn last_runs(&self) -> Result<BTreeMap<String, Timestamp>>;
}
