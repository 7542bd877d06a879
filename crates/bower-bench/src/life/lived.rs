//! Holds what an agent was told in its month, and how the store stood after each day.

use std::collections::BTreeMap;

use bower_core::engine::Engine;
use jiff::Timestamp;

use super::stream::Kind;
use super::world::Claim;
use crate::gauge::Times;

/// What a hit list shows at most.
pub const HITS: usize = 5;

/// A write as it was told, and the reply.
pub struct Told {
    pub at: Timestamp,
    pub text: String,
    pub kind: Kind,
    pub claims: Vec<Claim>,
    pub secret: Option<String>,
    pub id: String,
    pub accepted: bool,
    /// `create`, `confirm` and so on.
    pub outcome: String,
    /// The memory whose place it took.
    pub replaces: Option<String>,
    pub reason: Option<String>,
}

/// Time by outcome: the whole of a write, and what is left without the model.
#[derive(Default)]
pub struct Spent(pub BTreeMap<String, (Times, Times)>);

/// A life as it was lived.
pub struct Lived {
    pub told: Vec<Told>,
    pub spent: Spent,
    /// How it stood at the end of each day.
    pub curve: Vec<Point>,
    /// The store, still open.
    pub engine: Engine,
    /// When it ended.
    pub end: Timestamp,
}

/// How it stood at the end of a day.
pub struct Point {
    pub at: Timestamp,
    pub writes: usize,
    pub items: u64,
    pub asked: usize,
    pub found: usize,
    pub stale: usize,
}
