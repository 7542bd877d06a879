//! The changes of a store as those who follow them see them.
//! Nothing here holds a text.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Items that a change names; the rest is counted.
const MOST_NAMED: usize = 100;

/// One change of the store: what one transaction did, whoever asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreChange {
    /// Its number: each is larger than the one before.
    pub change: u64,
    /// When.
    pub time: Timestamp,
    /// What was done (`curate`, `confirm`, `index`, `forget`, …), and how often.
    pub actions: BTreeMap<String, u64>,
    /// Ids of the memories and documents that it was done to, each once, the first hundred.
    pub subjects: Vec<String>,
    /// How many events name a subject beyond those hundred.
    pub more: u64,
}

impl StoreChange {
    /// A change of which nothing is known yet but its number and time.
    pub(crate) fn new(change: u64, time: Timestamp) -> Self {
        Self { change, time, actions: BTreeMap::new(), subjects: Vec::new(), more: 0 }
    }

    /// Adds one of its events.
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
