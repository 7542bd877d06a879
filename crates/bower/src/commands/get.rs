//! `bower get`: one whole item. Who opens an item uses it.

use super::{Session, now, reach};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;
use crate::service::Got;

/// Prints it.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let (engine, now) = (session.engine()?, now());
    let memory = engine.get_within(arguments.id.trim(), &reach(&arguments.reach))?;
    let got = Got::new(&engine, memory, now)?;
    let given = got.given_time.map(|last| (got.given_count, last));
    session.out.say(&got, |look| render::item::one(&got.memory, given, look))?;
    engine.note_used(&got.memory, now);
    session.maintain(&engine);
    Ok(())
}
