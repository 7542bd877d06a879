//! Implements `bower cache`, which shows the cache of vectors and removes entries, and `bower warm`.

use bower_core::item::Visibility;
use bower_core::request::CachePruneRequest;

use super::index::with_bar;
use super::{Session, now};
use crate::cli::{CacheAction, CacheArgs, WarmArgs};
use crate::failure::{Failure, Result};
use crate::render;

/// Runs an action on the cache.
pub fn run(arguments: &CacheArgs, session: &Session) -> Result<()> {
    let (service, all) = (session.service()?, Visibility::everything());
    match arguments.action {
        CacheAction::Status => {
            let status = service.engine().cache_status(&all)?;
            session.out.say(&status, |look| render::cache::status(&status, look))
        }
        CacheAction::Prune { older_than, max_size, dry_run } => {
            let now = now();
            let too_long = |_| Failure::usage("--older-than is before all time", "give a shorter span");
            let used_before = older_than.map(|span| now.checked_sub(span)).transpose().map_err(too_long)?;
            let request = CachePruneRequest { used_before, max_bytes: max_size, dry_run };
            let pruned = service.engine().prune_cache(&all, &request, now)?;
            session.out.say(&pruned, |_| render::cache::pruned(&pruned))
        }
    }
}

/// Gets the store ready for questions.
pub fn warm(arguments: &WarmArgs, session: &Session) -> Result<()> {
    let service = session.service()?;
    let newest = arguments.recent.filter(|_| !arguments.all);
    let waiting = service.report()?.unembedded;
    let warmed = with_bar(waiting, session, |progress| {
        Ok(service.engine().warm(&Visibility::everything(), newest, now(), progress)?)
    })?;
    session.out.say(&warmed, |_| render::cache::warmed(&warmed))?;
    let model = service.report()?.model;
    if let Some(reason) = model.reason.filter(|_| model.state != "off") {
        session.out.note(&format!("no vectors were made: {reason}"));
    }
    session.maintain(&service);
    Ok(())
}
