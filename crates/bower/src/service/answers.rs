//! Answers that the engine does not give as they are.

use bower_core::engine::Engine;
use bower_core::request::{Item, Review};
use bower_core::strength::strength;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Result;

/// An item, and what it counts now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Got {
    /// The item.
    pub memory: Item,
    /// Importance as it counts now, 0..1.
    pub strength: f64,
    /// How often answers gave it, asked for or not.
    pub given_count: u64,
    /// When an answer gave it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_time: Option<Timestamp>,
}

impl Got {
    /// Looks up what is not in the item itself.
    pub fn new(engine: &Engine, memory: Item, now: Timestamp) -> Result<Self> {
        let given = engine.exposure(&memory)?;
        Ok(Self {
            strength: (strength(&memory.facts(), now) * 1e3).round() / 1e3,
            given_count: given.map_or(0, |(times, _)| times),
            given_time: given.map(|(_, last)| last),
            memory,
        })
    }
}

/// Contradictions, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reviews {
    /// Both sides of each.
    pub reviews: Vec<Review>,
}

/// A memory that was pinned, or is no longer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pinned {
    /// As it is now.
    pub memory: Item,
}
