//! Lists and settles reviews: a person sees both sides of a contradiction that no rule could decide.

use jiff::Timestamp;

use crate::engine::curate::write::{number, replace};
use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Missing, Result};
use crate::item::{Ruling, Visibility};
use crate::memory::analysis::changed;
use crate::request::{Review, ReviewsRequest, Settlement};
use crate::store::{ReviewRow, Stamp};

/// Returns the open reviews, newest first; each is read when it is requested.
pub(crate) fn newest<'a>(
    engine: &'a Engine,
    visibility: &'a Visibility,
) -> Result<impl Iterator<Item = Result<Review>> + 'a> {
    let open = engine.store.reviews(false)?;
    Ok(open.into_iter().rev().filter_map(|row| load(engine, visibility, row).transpose()))
}

/// Reads both sides; `None` if one of them was forgotten meanwhile, or is not visible.
fn load(engine: &Engine, visibility: &Visibility, row: ReviewRow) -> Result<Option<Review>> {
    let mut sides = engine.store.items(&[row.row, row.other])?;
    let (Some(older), Some(newer)) = (sides.pop().flatten(), sides.pop().flatten()) else { return Ok(None) };
    if !older.is_visible(visibility) || !newer.is_visible(visibility) {
        return Ok(None);
    }
    let ReviewRow { review, create_time, reason, outcome, .. } = row;
    let review = number(visibility, review, &newer.id, &older.id);
    // The difference is computed from the texts; the store has the rule alone.
    let reason = changed(&older.content, &newer.content).unwrap_or_else(|| reason.replace('_', " "));
    Ok(Some(Review { review, create_time, reason, newer, older, ruling: outcome, merged: None }))
}

impl Engine {
    /// Returns reviews of which both sides are visible: the open ones, or all, oldest first.
    pub fn reviews(&self, visibility: &Visibility, request: &ReviewsRequest) -> Result<Vec<Review>> {
        let reviews = self.store.reviews(request.all)?.into_iter();
        reviews.filter_map(|row| load(self, visibility, row).transpose()).collect()
    }

    /// Settles a review.
    pub fn settle(
        &self,
        visibility: &Visibility,
        review: u64,
        how: &Settlement,
        now: Timestamp,
    ) -> Result<Review> {
        let gone = || Error::NotFound { what: Missing::Review, id: review.to_string() };
        let rows = self.store.reviews(false)?.into_iter();
        let mut found = None;
        // A caller that sees a part of the store has other numbers for them.
        for row in rows.filter(|row| !visibility.is_everything() || row.review == review) {
            let number = row.review;
            if let Some(open) = load(self, visibility, row)?.filter(|open| open.review == review) {
                found = Some((number, open));
                break;
            }
        }
        let (number, open) = found.ok_or_else(gone)?;
        let (ruling, merged) = match how {
            Settlement::Accept => (Ruling::Accept, None),
            Settlement::Reject => (Ruling::Reject, None),
            Settlement::Both => (Ruling::Both, None),
            Settlement::Merge { text, said_by } => {
                (Ruling::Merge, Some(replace(self, &open.newer, text, *said_by, now)?))
            }
        };
        let row = self.store.settle(number, ruling, Stamp { now, actor: ACTOR })?.ok_or_else(gone)?;
        let settled = load(self, visibility, row)?.ok_or_else(gone)?;
        Ok(Review { merged, ..settled })
    }
}
