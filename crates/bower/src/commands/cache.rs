//! Implements `bower cache`: shows the cache of vectors, and removes entries.

use bower_core::item::Visibility;
use bower_core::request::CachePruneRequest;

use super::{Session, now};
use crate::cli::{CacheAction, CacheArgs};
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
