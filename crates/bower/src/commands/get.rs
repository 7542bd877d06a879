//! `bower get`: one whole item. Who opens an item uses it.

use bower_core::request::Item;
use bower_core::strength::strength;
use jiff::Timestamp;
use serde::Serialize;

use super::{Session, now, reach};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

#[derive(Serialize)]
struct Got {
    memory: Item,
    /// Importance as it counts now, 0..1.
    strength: f64,
    /// How often answers gave it, asked for or not.
    given_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_time: Option<Timestamp>,
}

/// Prints it.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let (engine, now) = (session.engine()?, now());
    let memory = engine.get_within(arguments.id.trim(), &reach(&arguments.reach))?;
    let given = engine.exposure(&memory)?;
    let got = Got {
        strength: (strength(&memory.facts(), now) * 1e3).round() / 1e3,
        given_count: given.map_or(0, |(times, _)| times),
        given_time: given.map(|(_, last)| last),
        memory,
    };
    session.out.say(&got, |look| render::item::one(&got.memory, given, look))?;
    engine.note_used(&got.memory, now);
    session.maintain(&engine);
    Ok(())
}
