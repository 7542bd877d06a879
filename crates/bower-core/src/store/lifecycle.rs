//! The life of memories that nobody told anything about: promoted, faded, archived, and made patterns of.

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
    /// What stands for its members.
    pub memory: NewMemory,
    /// Whom it stands for.
    pub members: Vec<RowId>,
}

/// A memory as far as its life depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifecycleRow<'a> {
    /// Its row.
    pub row: RowId,
    /// Its id.
    pub id: &'a str,
    /// Candidate or active.
    pub status: Status,
    /// How often it was told.
    pub observations: u64,
    /// Made by the program itself.
    pub is_own: bool,
    /// Whose words it is.
    pub provenance: Provenance,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    pub owner: Option<&'a str>,
    /// Its domain.
    pub collection: &'a str,
    /// The rest.
    pub facts: Facts,
}

/// What becomes of a memory that nobody told anything about.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Its row.
    pub row: RowId,
    /// The event's action.
    pub action: &'static str,
    /// What it was when that was decided; where it is something else by now, nothing becomes of it.
    pub seen: ExpectedState,
    /// Its status from now on.
    pub status: Status,
    /// Its budget class from now on.
    pub tier: Tier,
    /// Its confidence from now on, 0..1.
    pub confidence: f32,
    /// Whether it is true no longer.
    pub ends: bool,
    /// Whether that is a use of it.
    pub is_use: bool,
    /// Whether somebody decided to keep it.
    pub is_review: bool,
    /// The rule and its figures, for the event; never a text.
    pub why: Map<String, Value>,
}

/// A memory as somebody saw it who decided about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedState {
    /// Its status.
    pub status: Status,
    /// Its budget class.
    pub tier: Tier,
    /// Its confidence.
    pub confidence: f32,
    /// Its last use, where the decision hangs on that.
    pub accessed: Option<Timestamp>,
}

/// The source of what the program made itself.
pub const OWN: &str = "consolidate";

/// What turned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedTransitions {
    /// The last event: that of the whole run, where it was one.
    pub event: u64,
    /// The rows that turned, as they were given.
    pub rows: Vec<RowId>,
}

/// Reads and applies what becomes of memories that nobody told anything about.
pub trait Lifecycle {
    /// Feeds every candidate and active memory, in no order that matters.
    fn lives(&self, each: &mut dyn FnMut(LifecycleRow<'_>)) -> Result<()>;
    /// Turns memories as was decided, in one transaction; those that changed since they were seen are passed over. `head` is
    /// the run that they belong to, with what its event tells: it is undone as a whole.
    fn turn(
        &self,
        head: Option<(&'static str, &Map<String, Value>)>,
        turns: &[Transition],
        stamp: Stamp<'_>,
    ) -> Result<AppliedTransitions>;
    /// Remembers uses of items. No change of the store: no index has to follow, and no event is left.
    fn add_uses(&self, used: &[(RowId, Timestamp)]) -> Result<()>;
    /// Keeps patterns in the place of their members, which are archived as their examples: all in one transaction, each a change
    /// of its own with an event of its own, which is given and undoes that pattern alone. `None` where a member is not to be seen
    /// any more, or the pattern is there already, or was taken back: nothing was written for it.
    fn put_patterns(&self, patterns: &[NewPattern], stamp: Stamp<'_>) -> Result<Vec<Option<u64>>>;
    /// When each sort of run over many memories (`sweep`, `prune`, `consolidate`) was last made.
    fn last_runs(&self) -> Result<BTreeMap<String, Timestamp>>;
}
