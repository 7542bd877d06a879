//! `bower sweep`, `bower prune`, `bower consolidate` and `bower undo`: what becomes of memories that nobody asks for, and back.

use bower_core::request::ConsolidateRequest;

use super::{Session, now, reach};
use crate::cli::{ConsolidateArgs, PruneArgs, SweepArgs, UndoArgs};
use crate::failure::Result;
use crate::render;

/// What the day brings.
pub fn sweep(arguments: &SweepArgs, session: &Session) -> Result<()> {
    let swept = session.engine()?.sweep(arguments.dry_run, now())?;
    session.out.say(&swept, |look| render::life::swept(&swept, look))
}

/// Archives what is too weak.
pub fn prune(arguments: &PruneArgs, session: &Session) -> Result<()> {
    let pruned = session.engine()?.prune(arguments.threshold, arguments.dry_run, now())?;
    session.out.say(&pruned, |look| render::life::pruned(&pruned, look))
}

/// Makes patterns of what says much the same.
pub fn consolidate(arguments: &ConsolidateArgs, session: &Session) -> Result<()> {
    let request = ConsolidateRequest {
        similarity: arguments.similarity,
        dry_run: arguments.dry_run,
        reach: reach(&arguments.reach),
        most_ms: arguments.seconds.saturating_mul(1_000),
        llm: arguments.llm,
    };
    let engine = session.engine()?;
    let done = engine.consolidate(&request, now(), &|| true)?;
    session.out.say(&done, |look| render::life::consolidated(&done, look))?;
    session.maintain(&engine);
    Ok(())
}

/// Takes back what an event did.
pub fn undo(arguments: &UndoArgs, session: &Session) -> Result<()> {
    let undone = session.engine()?.undo(arguments.event, now())?;
    session.out.say(&undone, |look| render::life::undone(&undone, look))
}
