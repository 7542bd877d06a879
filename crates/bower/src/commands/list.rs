//! Implements `bower list`: prints a page of items, newest first.

use super::{Session, hint_if_empty, now, selection};
use crate::cli::{Format, ListArgs};
use crate::failure::Result;
use crate::render;
use crate::service::{Bounds, ListBody};

/// Prints the page.
pub fn run(arguments: &ListArgs, session: &Session) -> Result<()> {
    let now = now();
    let select = selection(&arguments.select, now)?;
    let body = ListBody { limit: Some(arguments.limit), offset: Some(arguments.offset), select };
    let service = session.service()?;
    let listing = service.list(&body, &Bounds::local(), now)?;
    session.out.say(&listing, |look| render::item::list(&listing, arguments.offset as usize, look))?;
    if session.out.format == Format::Text && listing.total == 0 {
        hint_if_empty(&service.report()?, session);
    }
    Ok(())
}
