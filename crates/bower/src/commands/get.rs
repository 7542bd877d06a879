//! Implements `bower get`: prints one whole item, which counts as a use of it.

use super::{Session, now, visibility};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;
use crate::service::Got;

/// Prints it.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let (engine, now) = (session.engine()?, now());
    let visibility = visibility(&arguments.visibility);
    let memory = engine.get(&visibility, arguments.id.trim())?;
    let got = Got::new(&engine, &visibility, memory, now)?;
    let given = got.given_time.map(|last| (got.given_count, last));
    session.out.say(&got, |look| render::item::one(&got.memory, given, look))?;
    engine.note_used(&visibility, &got.memory, now);
    session.maintain(&engine);
    Ok(())
}
