//! Implements `bower sweep`, `bower prune`, `bower consolidate` and `bower undo`.
//! They decide what becomes of memories that nobody asks for, and take that back.

use bower_core::item::{Origin, Visibility};
use bower_core::request::{ConsolidateRequest, PruneRequest, SweepRequest, UndoRequest};

use super::{Session, now, visibility};
use crate::cli::{ConsolidateArgs, PruneArgs, SweepArgs, UndoArgs};
use crate::failure::Result;
use crate::render;

/// What the day brings.
pub fn sweep(arguments: &SweepArgs, session: &Session) -> Result<()> {
    let request = SweepRequest { dry_run: arguments.dry_run };
    let swept = session.engine()?.sweep(&Visibility::everything(), &request, now())?;
    session.out.say(&swept, |look| render::life::swept(&swept, look))
}

/// Archives what is too weak.
pub fn prune(arguments: &PruneArgs, session: &Session) -> Result<()> {
    let request = PruneRequest { threshold: arguments.threshold, dry_run: arguments.dry_run };
    let pruned = session.engine()?.prune(&Visibility::everything(), &request, now())?;
    session.out.say(&pruned, |look| render::life::pruned(&pruned, look))
}

/// Makes patterns of what says much the same.
pub fn consolidate(arguments: &ConsolidateArgs, session: &Session) -> Result<()> {
    let request = ConsolidateRequest {
        similarity: arguments.similarity,
        dry_run: arguments.dry_run,
        most_ms: arguments.seconds.saturating_mul(1_000),
        llm: arguments.llm,
    };
    let engine = session.engine()?;
    let done = engine.consolidate(&visibility(&arguments.visibility), &request, now(), &|| true)?;
    session.out.say(&done, |look| render::life::consolidated(&done, look))?;
    session.maintain(&engine);
    Ok(())
}

/// Takes back what an event did, or all that an origin wrote.
pub fn undo(arguments: &UndoArgs, session: &Session) -> Result<()> {
    let engine = session.engine()?;
    let undone = if let Some(event) = arguments.event {
        engine.undo(&Visibility::everything(), event, now())?
    } else {
        let origin = Origin {
            session: arguments.session.clone(),
            host: arguments.host.clone(),
            source: arguments.source.clone(),
        };
        let request = UndoRequest { origin, dry_run: arguments.dry_run };
        engine.undo_origin(&visibility(&arguments.visibility), &request, now())?
    };
    session.out.say(&undone, |look| render::life::undone(&undone, look))
}
