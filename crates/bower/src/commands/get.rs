//! `bower get`: one whole item.

use bower_core::request::Item;
use serde::Serialize;

use super::Session;
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

#[derive(Serialize)]
struct Got {
    memory: Item,
}

/// Prints it.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let got = Got { memory: session.engine()?.get(arguments.id.trim())? };
    session.out.say(&got, |look| render::item::one(&got.memory, look))
}
