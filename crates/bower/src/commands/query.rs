//! Implements `bower query`: asks one question and prints the answer.
//! All other work is done after the answer is printed.

use bower_core::item::{Part, Step};

use super::{Session, hint_if_empty, local, now, selection, text_of};
use crate::cli::{Format, QueryArgs};
use crate::failure::Result;
use crate::render;
use crate::service::QueryBody;

/// Asks the question and prints the answer. An answer without hits is no failure.
pub fn run(arguments: &QueryArgs, session: &Session) -> Result<()> {
    let now = now();
    let is_context = session.out.format == Format::Context;
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let mut body = QueryBody {
        query: text_of(&arguments.text, "query")?,
        limit: arguments.limit,
        fast: arguments.fast,
        profile: arguments.profile,
        when: Some(arguments.when),
        diversity: arguments.diversity,
        min_score: Some(arguments.min_score),
        strict: arguments.strict,
        rerank: arguments.rerank,
        select: selection(&arguments.select, now)?,
        budget_tokens: arguments.budget,
        session: arguments.session.clone(),
        prefetch: arguments.prefetch,
        around: arguments.around,
        explain: arguments.explain,
    };
    // A block without a budget contains as few documents as Atlas gives; with a budget, as much as fits.
    if is_context && body.budget_tokens.is_none() {
        body.limit = body.limit.or(u16::try_from(settings.context_documents).ok());
        body.budget_tokens = u32::try_from(settings.context_tokens).ok();
    }
    let service = session.service()?;
    let answer = service.query(&body, &local(), now)?;
    session.out.say(&answer, |look| match session.out.format {
        Format::Context => render::evidence::context(&answer, look),
        Format::Text | Format::Json => render::query::text(&answer, arguments.explain, look),
    })?;
    if is_context {
        if answer.evidence.as_ref().is_none_or(|evidence| evidence.pieces.is_empty()) {
            session.out.note(&render::evidence::nothing(&answer));
        }
        // The block goes into a prompt, so missing parts are reported separately.
        for degraded in &answer.degraded {
            let note = match degraded.channel {
                Part::Channel(channel) => format!("{channel} was not searched: {}", degraded.reason),
                Part::Step(Step::Rerank) => format!("rerank was not done: {}", degraded.reason),
                Part::Step(Step::Tokens) => format!("tokens were not compared: {}", degraded.reason),
                Part::Step(Step::Pick | Step::Store | Step::Language) => degraded.reason.clone(),
            };
            session.out.note(&note);
        }
    }
    if session.out.format == Format::Text && answer.hits.is_empty() {
        hint_if_empty(&service.report()?, session);
    }
    // Compaction needs the vectors, for which the model is opened. `--fast` asks for no model, so it is skipped.
    if !arguments.fast {
        session.maintain(&service);
    } else if let Err(error) = service.engine().keep_given(now) {
        session.out.detail(&format!("could not remember what the session was given: {error}"));
    }
    Ok(())
}
