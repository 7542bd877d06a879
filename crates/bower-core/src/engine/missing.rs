//! Reports missing and damaged parts of the store, in every answer.

use crate::engine::{Engine, missing};
use crate::error::{Error, Result};
use crate::item::Step;
use crate::request::{Degraded, Item};

/// Returns a line for each loss that nobody accepted, and one for data that was read and is not as it was written.
pub(crate) fn degraded(engine: &Engine) -> Result<Vec<Degraded>> {
    let mut all: Vec<Degraded> = engine.store.losses()?.iter().map(|loss| note(loss.sentence())).collect();
    let damaged = engine.store.damage();
    if damaged > 0 {
        all.push(note(format!(
            "{damaged} texts or vectors are not as they were written, and were left out: bower doctor names them"
        )));
    }
    Ok(all)
}

/// Returns the line of an answer for an item that it leaves out.
pub(crate) fn left_out(item: &Item) -> Degraded {
    note(reason(item))
}

/// Returns an error for a damaged item that was requested by its id.
pub(crate) fn refuse(engine: &Engine, item: Item) -> Result<Item> {
    if item.damaged {
        return Err(Error::Corrupt { at: engine.store.location(), reason: reason(&item) });
    }
    Ok(item)
}

fn reason(item: &Item) -> String {
    format!(
        "the text of item {} is not as it was written: restore it from a backup, or forget it and keep it again",
        item.id
    )
}

fn note(reason: String) -> Degraded {
    Degraded { channel: Step::Store.into(), reason }
}

impl Engine {
    /// Returns the missing and damaged parts of the store, as answers report them.
    pub fn degraded(&self) -> Result<Vec<Degraded>> {
        missing::degraded(self)
    }
}
