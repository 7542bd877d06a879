//! Implements `bower status`: prints the content of the store and whether the indexes match it.

use super::{Session, hint_if_empty};
use crate::cli::Format;
use crate::failure::Result;
use crate::render;

/// Prints the report.
pub fn run(session: &Session) -> Result<()> {
    let report = session.service()?.report()?;
    session.out.say(&report, |look| render::store::status(&report, look))?;
    if session.out.format == Format::Text {
        hint_if_empty(&report, session);
    }
    Ok(())
}
