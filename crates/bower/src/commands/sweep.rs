//! Implements `bower sweep`, `bower prune`, `bower consolidate` and `bower undo`.
//! They promote, fade, archive and merge memories, and reverse such changes.

use super::{Session, bounds, now};
use crate::cli::{ConsolidateArgs, PruneArgs, SweepArgs, UndoArgs};
use crate::failure::Result;
use crate::render;
use crate::service::{Bounds, ConsolidateBody, PruneBody, SweepBody, UndoBody};

/// Runs the daily maintenance.
pub fn sweep(arguments: &SweepArgs, session: &Session) -> Result<()> {
    let body = SweepBody { dry_run: arguments.dry_run };
    let swept = session.service()?.sweep(&body, &Bounds::local(), now())?;
    session.out.say(&swept, |look| render::life::swept(&swept, look))
}

/// Archives memories of low importance.
pub fn prune(arguments: &PruneArgs, session: &Session) -> Result<()> {
    let body = PruneBody { threshold: Some(arguments.threshold), dry_run: arguments.dry_run };
    let pruned = session.service()?.prune(&body, &Bounds::local(), now())?;
    session.out.say(&pruned, |look| render::life::pruned(&pruned, look))
}

/// Makes patterns of similar memories.
pub fn consolidate(arguments: &ConsolidateArgs, session: &Session) -> Result<()> {
    let body = ConsolidateBody {
        similarity: Some(arguments.similarity),
        dry_run: arguments.dry_run,
        seconds: Some(u32::try_from(arguments.seconds).unwrap_or(u32::MAX)),
        llm: arguments.llm,
        ..ConsolidateBody::default()
    };
    let service = session.service()?;
    let done = service.consolidate(&body, &bounds(&arguments.visibility), now(), &|| true)?;
    session.out.say(&done, |look| render::life::consolidated(&done, look))?;
    session.maintain(&service);
    Ok(())
}

/// Reverses an event, or everything that one origin wrote.
pub fn undo(arguments: &UndoArgs, session: &Session) -> Result<()> {
    let body = UndoBody {
        event: arguments.event,
        session: arguments.session.clone(),
        host: arguments.host.clone(),
        source: arguments.source.clone(),
        dry_run: arguments.dry_run,
    };
    let undone = session.service()?.undo(&body, &bounds(&arguments.visibility), now())?;
    session.out.say(&undone, |look| render::life::undone(&undone, look))
}
