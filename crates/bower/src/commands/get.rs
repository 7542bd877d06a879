//! Implements `bower get`: prints one whole item, which counts as a use of it.

use super::{Session, bounds, now};
use crate::cli::IdArgs;
use crate::failure::Result;
use crate::render;

/// Prints the item.
pub fn run(arguments: &IdArgs, session: &Session) -> Result<()> {
    let service = session.service()?;
    let got = service.get(&arguments.id, &bounds(&arguments.visibility), now())?;
    let given = got.given_time.map(|last| (got.given_count, last));
    session.out.say(&got, |look| {
        render::item::one(&got.memory, given, look)
            + &render::item::wordings(&got.wordings, look)
            + &render::anchors::anchors(&got.anchors, 0, look)
    })?;
    session.maintain(&service);
    Ok(())
}
