//! Implements `bower list`: prints a page of items, newest first.

use super::{Session, hint_if_empty, now, selection};
use crate::cli::{Format, ListArgs};
use crate::failure::Result;
use crate::render;
use bower_core::item::Visibility;

/// Prints the page.
pub fn run(arguments: &ListArgs, session: &Session) -> Result<()> {
    let select = selection(&arguments.select, now())?;
    let engine = session.engine()?;
    let listing = engine.list(
        &Visibility::everything(),
        &select,
        arguments.limit as usize,
        arguments.offset as usize,
    )?;
    session.out.say(&listing, |look| render::item::list(&listing, arguments.offset as usize, look))?;
    if session.out.format == Format::Text && listing.total == 0 {
        hint_if_empty(&engine.status(&Visibility::everything())?, session);
    }
    Ok(())
}
