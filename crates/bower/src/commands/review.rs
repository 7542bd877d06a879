//! Implements `bower review`: lists and settles contradictions, and judges candidates.
//! The contradictions are those that nothing could settle; a person says which side is right.

use bower_core::item::{Author, Kind, Status, Visibility};
use bower_core::request::{CandidateRuling, Item, ReviewsRequest, Selection, Settlement};
use serde::Serialize;

use super::{Session, now, text_of, visibility};
use crate::cli::{ReviewAction, ReviewArgs};
use crate::failure::Result;
use crate::render;
use crate::service::Reviews;

/// Memories of one source that are kept at once; what is left is kept by asking again.
const MOST_KEPT: usize = 10_000;

/// Lists them, or ends one.
pub fn run(arguments: ReviewArgs, session: &Session) -> Result<()> {
    let visibility = visibility(&arguments.visibility);
    let (review, how) = match arguments.action.unwrap_or(ReviewAction::List { all: false }) {
        ReviewAction::List { all } => {
            let engine = session.engine()?;
            let found = Reviews { reviews: engine.reviews(&visibility, &ReviewsRequest { all })? };
            let waiting = Selection {
                kinds: vec![Kind::Memory],
                statuses: vec![Status::Candidate],
                ..Selection::default()
            };
            let candidates = engine.list(&visibility, &waiting, 1, 0)?.total;
            return session.out.say(&found, |look| render::review::list(&found.reviews, candidates, look));
        }
        ReviewAction::Keep { source: Some(source), .. } => {
            let ids = unreviewed_of(&visibility, source, session)?;
            return judge(&visibility, &ids, CandidateRuling::Keep, session);
        }
        ReviewAction::Keep { ids, source: None } => {
            return judge(&visibility, &ids, CandidateRuling::Keep, session);
        }
        ReviewAction::Drop { ids } => return judge(&visibility, &ids, CandidateRuling::Drop, session),
        ReviewAction::Accept { review } => (review, Settlement::Accept),
        ReviewAction::Reject { review } => (review, Settlement::Reject),
        ReviewAction::Both { review } => (review, Settlement::Both),
        ReviewAction::Merge { review, text } => {
            (review, Settlement::Merge { text: text_of(&text, "review merge")?, said_by: Author::User })
        }
    };
    let engine = session.engine()?;
    let settled = engine.settle(&visibility, review, &how, now())?;
    session.out.say(&settled, |look| render::review::settled(&settled, look))?;
    session.maintain(&engine);
    Ok(())
}

#[derive(Serialize)]
struct Judged {
    memories: Vec<Item>,
}

/// What a source or a conversation left and nobody looked at.
fn unreviewed_of(visibility: &Visibility, source: String, session: &Session) -> Result<Vec<String>> {
    let select = Selection {
        kinds: vec![Kind::Memory],
        statuses: vec![Status::Candidate, Status::Active],
        sources: vec![source.clone()],
        ..Selection::default()
    };
    let mut found = session.engine()?.list(visibility, &select, MOST_KEPT, 0)?.memories;
    found.retain(|item| item.status == Status::Candidate || !item.provenance.reviewed);
    if found.is_empty() {
        return Err(bower_core::Error::NotFound { what: "unreviewed memory of", id: source }.into());
    }
    Ok(found.into_iter().map(|item| item.id).collect())
}

/// Candidates become memories, or leave answers. Those before one that is none are judged already.
fn judge(visibility: &Visibility, ids: &[String], ruling: CandidateRuling, session: &Session) -> Result<()> {
    let engine = session.engine()?;
    let judge = |id: &String| engine.judge_candidate(visibility, id, ruling, now());
    let judged = Judged { memories: ids.iter().map(judge).collect::<std::result::Result<_, _>>()? };
    session.out.say(&judged, |look| render::review::judged(&judged.memories, look))?;
    session.maintain(&engine);
    Ok(())
}
