//! Implements `bower brief`: prints what an agent should know when a session begins.

use super::{Session, bounds, folder, now};
use crate::cli::{BriefArgs, Format};
use crate::failure::Result;
use crate::render;
use crate::service::BriefBody;

/// Prints the briefing.
pub fn run(arguments: &BriefArgs, session: &Session) -> Result<()> {
    let body = BriefBody {
        budget: Some(arguments.budget),
        budget_tokens: arguments.tokens,
        task: arguments.task.clone(),
        folder: arguments.folder.as_deref().map(folder).transpose()?.map(Into::into),
        session: arguments.session.clone(),
        fast: arguments.fast,
        ..BriefBody::default()
    };
    let service = session.service()?;
    let brief = service.brief(&body, &bounds(&arguments.visibility), now())?;
    session.out.say(&brief, |look| match session.out.format {
        Format::Context => render::agents::briefing(&brief, look),
        Format::Text | Format::Json => render::agents::brief(&brief, look),
    })?;
    if session.out.format == Format::Context && brief.entries.is_empty() {
        session.out.note(render::agents::nothing(&brief));
    }
    if let Err(error) = service.engine().keep_given(now()) {
        session.out.detail(&format!("could not remember what was given: {error}"));
    }
    Ok(())
}
