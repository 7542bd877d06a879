//! The changes of a store, as subscribers receive them.
//! They contain no text of an item.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most subjects that a change lists; the rest are counted.
const MOST_NAMED: usize = 100;

/// One change of the store: all that one transaction did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreChange {
    /// The change number; each is larger than the one before.
    pub change: u64,
    /// When it was committed.
    pub time: Timestamp,
    /// The actions (`curate`, `confirm`, `index`, `forget`, …), each with its number of events.
    pub actions: BTreeMap<String, u64>,
    /// Ids of the changed memories and documents, without repetition; at most a hundred.
    pub subjects: Vec<String>,
    /// Number of events whose subject is not among those hundred.
    pub more: u64,
}

impl StoreChange {
    /// Creates a change without events.
    pub(crate) fn new(change: u64, time: Timestamp) -> Self {
        Self { change, time, actions: BTreeMap::new(), subjects: Vec::new(), more: 0 }
    }

    /// Adds one event of the change.
    pub(crate) fn add(&mut self, action: String, subject: Option<String>) {
        *self.actions.entry(action).or_default() += 1;
        let Some(subject) = subject.filter(|subject| !self.subjects.contains(subject)) else { return };
        if self.subjects.len() < MOST_NAMED {
            self.subjects.push(subject);
        } else {
            self.more += 1;
        }
    }
}
