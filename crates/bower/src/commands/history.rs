//! Implements `bower history`: prints what a memory said at each time and what happened to it.
//! History outlives the memory.

use super::{Session, bounds};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

/// Prints it, oldest first.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let history = session.service()?.history(&arguments.id, &bounds(&arguments.visibility))?;
    session.out.say(&history, |look| render::item::history(&history, look))
}
