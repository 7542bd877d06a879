//! Implements `bower review` and `bower settle`: contradictions, candidates, and what a memory is to an earlier one.
//! The contradictions are those that no rule could decide; a person says which side is right.

use bower_core::error::{Error, Missing};
use bower_core::item::{Kind, Ruling, Status};
use bower_core::request::{CandidateRuling, Item};
use serde::Serialize;

use super::{Session, bounds, now, text_of};
use crate::cli::{PairArgs, ReviewAction, ReviewArgs, SettleArgs};
use crate::failure::Result;
use crate::render;
use crate::service::{Bounds, ListBody, PairBody, SelectBody, SettleBody};

/// Most memories of one source that are kept in one run; the next run keeps the rest.
const MOST_KEPT: u32 = 10_000;

/// Lists reviews, or settles one.
pub fn run(arguments: ReviewArgs, session: &Session) -> Result<()> {
    let bounds = bounds(&arguments.visibility);
    let (review, ruling, text) = match arguments.action.unwrap_or(ReviewAction::List { all: false }) {
        ReviewAction::List { all } => {
            let service = session.service()?;
            let found = service.reviews(all, &bounds)?;
            let waiting = memories(vec![Status::Candidate], Vec::new(), 1);
            let candidates = service.list(&waiting, &bounds, now())?.total;
            return session.out.say(&found, |look| render::review::list(&found.reviews, candidates, look));
        }
        ReviewAction::Keep { source: Some(source), .. } => {
            let ids = unreviewed_of(&bounds, source, session)?;
            return judge(&bounds, &ids, CandidateRuling::Keep, session);
        }
        ReviewAction::Keep { ids, source: None } => {
            return judge(&bounds, &ids, CandidateRuling::Keep, session);
        }
        ReviewAction::Drop { ids } => return judge(&bounds, &ids, CandidateRuling::Drop, session),
        ReviewAction::Accept { review } => (review, Ruling::Accept, None),
        ReviewAction::Reject { review } => (review, Ruling::Reject, None),
        ReviewAction::Both { review } => (review, Ruling::Both, None),
        ReviewAction::Merge { review, text } => {
            (review, Ruling::Merge, Some(text_of(&text, "review merge")?))
        }
    };
    let service = session.service()?;
    let settled = service.settle(review, &SettleBody { ruling, text }, &bounds, now())?;
    session.out.say(&settled, |look| render::review::settled(&settled, look))?;
    session.maintain(&service);
    Ok(())
}

/// Settles what a memory is to an earlier one.
pub fn pair(arguments: SettleArgs, session: &Session) -> Result<()> {
    let bounds = bounds(&arguments.visibility);
    let PairArgs { replaces, confirms, different_from } = arguments.what;
    let body = PairBody { replaces, confirms, different_from };
    let service = session.service()?;
    let settled = service.settle_pair(&arguments.id, &body, &bounds, now())?;
    session.out.say(&settled, |look| render::review::pair(&settled, look))?;
    session.maintain(&service);
    Ok(())
}

/// Returns a request for memories of these statuses and sources.
fn memories(statuses: Vec<Status>, sources: Vec<String>, limit: u32) -> ListBody {
    let select = SelectBody { kind: Some(Kind::Memory), statuses, sources, ..SelectBody::default() };
    ListBody { limit: Some(limit), offset: None, select }
}

#[derive(Serialize)]
struct Judged {
    memories: Vec<Item>,
}

/// Returns the ids of a source's or conversation's memories that nobody has reviewed.
fn unreviewed_of(bounds: &Bounds, source: String, session: &Session) -> Result<Vec<String>> {
    let body = memories(vec![Status::Candidate, Status::Active], vec![source.clone()], MOST_KEPT);
    let mut found = session.service()?.list(&body, bounds, now())?.memories;
    found.retain(|item| item.status == Status::Candidate || !item.provenance.reviewed);
    if found.is_empty() {
        return Err(Error::NotFound { what: Missing::Named("unreviewed memory of"), id: source }.into());
    }
    Ok(found.into_iter().map(|item| item.id).collect())
}

/// Keeps or drops candidates. If an id is no candidate, the ids before it have been judged already.
fn judge(bounds: &Bounds, ids: &[String], ruling: CandidateRuling, session: &Session) -> Result<()> {
    let service = session.service()?;
    let visibility = bounds.visibility();
    let judge = |id: &String| service.engine().judge_candidate(&visibility, id, ruling, now());
    let judged = Judged { memories: ids.iter().map(judge).collect::<std::result::Result<_, _>>()? };
    session.out.say(&judged, |look| render::review::judged(&judged.memories, look))?;
    session.maintain(&service);
    Ok(())
}
