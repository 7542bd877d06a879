//! `bower history`: what happened to an item; history outlives it.

use bower_core::request::Event;
use serde::Serialize;

use super::Session;
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

#[derive(Serialize)]
struct History {
    history: Vec<Event>,
}

/// Prints it, oldest first.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let id = arguments.id.trim();
    let history = History { history: session.engine()?.history(id)? };
    if history.history.is_empty() {
        return Err(bower_core::Error::NotFound { what: "item", id: id.into() }.into());
    }
    session.out.say(&history, |look| render::item::history(&history.history, look))
}
