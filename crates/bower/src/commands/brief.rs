//! Implements `bower brief`: prints what an agent should know when it begins.

use bower_core::request::BriefRequest;

use super::{Session, folder, now, visibility};
use crate::cli::{BriefArgs, Format};
use crate::failure::Result;
use crate::render;

/// Says it.
pub fn run(arguments: &BriefArgs, session: &Session) -> Result<()> {
    let request = BriefRequest {
        budget: arguments.budget,
        budget_tokens: arguments.tokens.map(|tokens| tokens as usize),
        task: arguments.task.clone(),
        folder: arguments.folder.as_deref().map(folder).transpose()?,
        repeat: arguments.session.is_none(),
        session: arguments.session.clone(),
        fast: arguments.fast,
    };
    let engine = session.engine()?;
    let brief = engine.brief(&visibility(&arguments.visibility), &request, now())?;
    session.out.say(&brief, |look| match session.out.format {
        Format::Context => render::agents::briefing(&brief, look),
        Format::Text | Format::Json => render::agents::brief(&brief, look),
    })?;
    if session.out.format == Format::Context && brief.entries.is_empty() {
        session.out.note(render::agents::nothing(&brief));
    }
    if let Err(error) = engine.keep_given(now()) {
        session.out.detail(&format!("could not remember what was given: {error}"));
    }
    Ok(())
}
