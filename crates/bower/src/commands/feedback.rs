//! Implements `bower feedback` and `bower pin`: records a person's verdict on one memory, and pins it.

use bower_core::request::Pinning;

use super::{Session, now, visibility};
use crate::cli::{FeedbackArgs, PinArgs};
use crate::failure::Result;
use crate::render;
use crate::service::Pinned;

/// Keeps a verdict.
pub fn feedback(arguments: &FeedbackArgs, session: &Session) -> Result<()> {
    let (id, verdict) = (&arguments.id, arguments.verdict);
    let kept = session.engine()?.feedback(&visibility(&arguments.visibility), id, verdict, now())?;
    session.out.say(&kept, |look| render::life::feedback(&kept, look))
}

/// Pins a memory, or takes the pin out.
pub fn pin(arguments: &PinArgs, session: &Session) -> Result<()> {
    let how = if arguments.off { Pinning::Unpin } else { Pinning::Pin };
    let pinned = Pinned {
        memory: session.engine()?.pin(&visibility(&arguments.visibility), &arguments.id, how, now())?,
    };
    session.out.say(&pinned, |look| render::life::pinned(&pinned.memory, look))
}
