//! Contradictions that nothing could settle: who is asked sees both sides and says which is right.

use jiff::Timestamp;

use super::{ACTOR, Engine, curate};
use crate::error::{Error, Result};
use crate::item::{Reach, Ruling};
use crate::memory::merge::changed;
use crate::request::{Review, Settlement};
use crate::store::{ReviewRow, Stamp};

/// The open reviews, or all, oldest first.
pub(super) fn list(engine: &Engine, all: bool, reach: &Reach) -> Result<Vec<Review>> {
    engine.store.reviews(all)?.into_iter().filter_map(|row| load(engine, row, reach).transpose()).collect()
}

/// The open ones, newest first, each read when it is asked for.
pub(super) fn newest<'a>(
    engine: &'a Engine,
    reach: &'a Reach,
) -> Result<impl Iterator<Item = Result<Review>> + 'a> {
    let open = engine.store.reviews(false)?;
    Ok(open.into_iter().rev().filter_map(|row| load(engine, row, reach).transpose()))
}

/// Both sides; `None` where one of them was forgotten meanwhile, or is outside the reach.
fn load(engine: &Engine, row: ReviewRow, reach: &Reach) -> Result<Option<Review>> {
    let mut sides = engine.store.items(&[row.row, row.other])?;
    let (Some(older), Some(newer)) = (sides.pop().flatten(), sides.pop().flatten()) else { return Ok(None) };
    if !older.is_within(reach) || !newer.is_within(reach) {
        return Ok(None);
    }
    let ReviewRow { review, create_time, reason, outcome, .. } = row;
    // What differs is read from the texts; the store keeps the rule alone.
    let reason = changed(&older.content, &newer.content).unwrap_or_else(|| reason.replace('_', " "));
    Ok(Some(Review { review, create_time, reason, newer, older, ruling: outcome, merged: None }))
}

/// Ends a review.
pub(super) fn settle(
    engine: &Engine,
    review: u64,
    how: &Settlement,
    now: Timestamp,
    reach: &Reach,
) -> Result<Review> {
    let gone = || Error::NotFound { what: "open review", id: review.to_string() };
    let row = engine.store.reviews(false)?.into_iter().find(|row| row.review == review).ok_or_else(gone)?;
    let open = load(engine, row, reach)?.ok_or_else(gone)?;
    let (ruling, merged) = match how {
        Settlement::Accept => (Ruling::Accept, None),
        Settlement::Reject => (Ruling::Reject, None),
        Settlement::Both => (Ruling::Both, None),
        Settlement::Merge(text) => (Ruling::Merge, Some(curate::replace(engine, &open.newer, text, now)?)),
    };
    let row = engine.store.settle(review, ruling, Stamp { now, actor: ACTOR })?.ok_or_else(gone)?;
    let settled = load(engine, row, reach)?.ok_or_else(gone)?;
    Ok(Review { merged, ..settled })
}
