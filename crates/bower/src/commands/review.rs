//! `bower review`: contradictions that nothing could settle, and who says which side is right.

use bower_core::request::Settlement;

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
            let found = Reviews { reviews: session.engine()?.reviews_within(all, &reach)? };
            return session.out.say(&found, |look| render::review::list(&found.reviews, look));
        }
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
