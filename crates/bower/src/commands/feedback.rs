//! Implements `bower feedback` and `bower pin`: records a person's verdict on a memory, and pins memories.

use super::{Session, bounds, now};
use crate::cli::{FeedbackArgs, PinArgs};
use crate::failure::Result;
use crate::render;
use crate::service::{FeedbackBody, PinBody};

/// Records a verdict.
pub fn feedback(arguments: &FeedbackArgs, session: &Session) -> Result<()> {
    let body = FeedbackBody { id: arguments.id.clone(), verdict: arguments.verdict };
    let kept = session.service()?.feedback(&body, &bounds(&arguments.visibility), now())?;
    session.out.say(&kept, |look| render::life::feedback(&kept, look))
}

/// Pins a memory or removes the pin.
pub fn pin(arguments: &PinArgs, session: &Session) -> Result<()> {
    let body = PinBody { id: arguments.id.clone(), pinned: !arguments.off };
    let pinned = session.service()?.pin(&body, &bounds(&arguments.visibility), now())?;
    session.out.say(&pinned, |look| render::life::pinned(&pinned.memory, look))
}
