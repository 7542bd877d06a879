//! `bower query`: one question, one answer; nothing delays it.

use bower_core::item::Part;
use bower_core::request::QueryRequest;

use super::{Session, hint_if_empty, now, selection, text_of};
use crate::cli::{Format, QueryArgs};
use crate::failure::Result;
use crate::render;

/// Asks and prints. No hits is an answer too.
pub fn run(arguments: &QueryArgs, session: &Session) -> Result<()> {
    let now = now();
    let request = QueryRequest {
        text: text_of(&arguments.text, "query")?,
        limit: arguments.limit.into(),
        fast: arguments.fast,
        profile: arguments.profile,
        rerank: arguments.rerank,
        select: selection(&arguments.select, now)?,
    };
    let engine = session.engine()?;
    let answer = engine.query(&request, now)?;
    session.out.say(&answer, |look| match session.out.format {
        Format::Context => render::query::context(&answer, look),
        Format::Text | Format::Json => render::query::text(&answer, arguments.explain, look),
    })?;
    if session.out.format == Format::Context {
        // The block goes into a prompt, so what was missing is told beside it.
        for degraded in &answer.degraded {
            let what = match degraded.channel {
                Part::Channel(_) => "searched",
                Part::Step(_) => "done",
            };
            session.out.note(&format!("{} was not {what}: {}", degraded.channel, degraded.reason));
        }
    }
    if session.out.format == Format::Text && answer.hits.is_empty() {
        hint_if_empty(&engine.status()?, session);
    }
    // Folding looks at the vectors too, for which the model is opened: whoever asked for words alone did not ask for that.
    if !arguments.fast {
        session.maintain(&engine);
    }
    Ok(())
}
