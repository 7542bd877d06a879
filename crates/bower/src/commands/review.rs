//! `bower review`: contradictions that nothing could settle, and who says which side is right.

use bower_core::item::{Kind, Reach, Status};
use bower_core::request::{Item, Selection, Settlement};
use serde::Serialize;

use super::{Session, now, reach, text_of};
use crate::cli::{ReviewAction, ReviewArgs};
use crate::failure::Result;
use crate::render;
use crate::service::Reviews;

/// Lists them, or ends one.
pub fn run(arguments: ReviewArgs, session: &Session) -> Result<()> {
    let reach = reach(&arguments.reach);
    let (review, how) = match arguments.action.unwrap_or(ReviewAction::List { all: false }) {
        ReviewAction::List { all } => {
            let engine = session.engine()?;
            let found = Reviews { reviews: engine.reviews_within(all, &reach)? };
            let waiting = Selection {
                kinds: vec![Kind::Memory],
                statuses: vec![Status::Candidate],
                scope: reach.scope,
                owner: reach.owner.clone(),
                ..Selection::default()
            };
            let candidates = engine.list(&waiting, 1, 0)?.total;
            return session.out.say(&found, |look| render::review::list(&found.reviews, candidates, look));
        }
        ReviewAction::Keep { ids } => return judge(&ids, true, &reach, session),
        ReviewAction::Drop { ids } => return judge(&ids, false, &reach, session),
        ReviewAction::Accept { review } => (review, Settlement::Accept),
        ReviewAction::Reject { review } => (review, Settlement::Reject),
        ReviewAction::Both { review } => (review, Settlement::Both),
        ReviewAction::Merge { review, text } => (review, Settlement::Merge(text_of(&text, "review merge")?)),
    };
    let engine = session.engine()?;
    let settled = engine.settle_within(review, &how, now(), &reach)?;
    session.out.say(&settled, |look| render::review::settled(&settled, look))?;
    session.maintain(&engine);
    Ok(())
}

#[derive(Serialize)]
struct Judged {
    memories: Vec<Item>,
}

/// Candidates become memories, or leave answers. Those before one that is none are judged already.
fn judge(ids: &[String], keeps: bool, reach: &Reach, session: &Session) -> Result<()> {
    let engine = session.engine()?;
    let judge = |id: &String| engine.judge_candidate(id, keeps, reach, now());
    let judged = Judged { memories: ids.iter().map(judge).collect::<std::result::Result<_, _>>()? };
    session.out.say(&judged, |look| render::review::judged(&judged.memories, look))?;
    session.maintain(&engine);
    Ok(())
}
