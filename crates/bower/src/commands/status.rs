//! Implements `bower status`: prints the content of the store and whether the indexes match it.

use super::{Session, hint_if_empty};
use crate::cli::Format;
use crate::failure::Result;
use crate::remote;
use crate::render;

/// Prints the report.
pub fn run(session: &Session) -> Result<()> {
    let report = session.service()?.report()?;
    session.out.say(&report, |look| render::store::status(&report, look))?;
    if session.out.format == Format::Text {
        hint_if_empty(&report, session);
        if remote::named(&report.model.name).is_none() {
            for (provider, variable) in remote::keys_in(|name| std::env::var(name).ok()) {
                session.out.note(&format!(
                    "{variable} is set; nothing is sent to {provider} unless you choose it: bower model use {provider}/MODEL"
                ));
            }
        }
    }
    Ok(())
}
