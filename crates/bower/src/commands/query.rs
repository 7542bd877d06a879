//! Implements `bower query`: asks one question and prints the answer.
//! Nothing delays the answer.

use bower_core::engine::MAX_LIMIT;
use bower_core::item::{Part, Step, Visibility};
use bower_core::request::QueryRequest;

use super::{Session, hint_if_empty, now, selection, text_of};
use crate::cli::{Format, QueryArgs};
use crate::failure::Result;
use crate::render;
use crate::service::SHOWN;

/// Asks and prints. No hits is an answer too.
pub fn run(arguments: &QueryArgs, session: &Session) -> Result<()> {
    let now = now();
    let is_context = session.out.format == Format::Context;
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    // A block without a budget has the few documents that Atlas gives; with one, as much as fits.
    let (default_limit, default_budget) =
        if is_context { (settings.context_documents, Some(settings.context_tokens)) } else { (SHOWN, None) };
    let budget_tokens = arguments.budget.map(|tokens| tokens as usize);
    let limit = arguments.limit.map(usize::from);
    let request = QueryRequest {
        text: text_of(&arguments.text, "query")?,
        limit: limit.unwrap_or(if budget_tokens.is_some() { MAX_LIMIT } else { default_limit }),
        fast: arguments.fast,
        profile: arguments.profile,
        when: arguments.when,
        diversity: arguments.diversity,
        min_score: arguments.min_score,
        strict: arguments.strict,
        rerank: arguments.rerank,
        select: selection(&arguments.select, now)?,
        budget_tokens: budget_tokens.or(default_budget),
        session: arguments.session.clone(),
        prefetch: arguments.prefetch,
    };
    let engine = session.engine()?;
    let mut answer = engine.query(&Visibility::everything(), &request, now)?;
    // The budget drew on more hits than a list of them shows.
    answer.hits.truncate(limit.unwrap_or(SHOWN));
    session.out.say(&answer, |look| match session.out.format {
        Format::Context => render::evidence::context(&answer, look),
        Format::Text | Format::Json => render::query::text(&answer, arguments.explain, look),
    })?;
    if is_context {
        if answer.evidence.as_ref().is_none_or(|evidence| evidence.pieces.is_empty()) {
            session.out.note(&render::evidence::nothing(&answer));
        }
        // The block goes into a prompt, so what was missing is told beside it.
        for degraded in &answer.degraded {
            let note = match degraded.channel {
                Part::Channel(channel) => format!("{channel} was not searched: {}", degraded.reason),
                Part::Step(Step::Rerank) => format!("rerank was not done: {}", degraded.reason),
                Part::Step(Step::Tokens) => format!("tokens were not compared: {}", degraded.reason),
                Part::Step(Step::Store) => degraded.reason.clone(),
            };
            session.out.note(&note);
        }
    }
    if session.out.format == Format::Text && answer.hits.is_empty() {
        hint_if_empty(&engine.status(&Visibility::everything())?, session);
    }
    // Folding looks at the vectors too, for which the model is opened: whoever asked for words alone did not ask for that.
    if !arguments.fast {
        session.maintain(&engine);
    } else if let Err(error) = engine.keep_given(now) {
        session.out.detail(&format!("could not remember what the session was given: {error}"));
    }
    Ok(())
}
