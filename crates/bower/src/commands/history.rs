//! Implements `bower history`: prints the texts of a memory over time, and its events.
//! The history remains after the memory is deleted.

use super::{Session, bounds};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

/// Prints the history, oldest first.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let history = session.service()?.history(&arguments.id, &bounds(&arguments.visibility))?;
    session.out.say(&history, |look| render::item::history(&history, look))
}
