//! The smaller channels: tags, file names, canonical memory. Each gives rows with scores of 0..1, best first, ties by row, and
//! only rows that `allowed` lets pass.

mod canonical;
mod filename;
mod paths;
mod tags;

use super::Engine;
use crate::error::{Error, Result};
use crate::item::{Channel, RowId, RowSet, Scored};

pub(super) use canonical::{Cited, canonical};
pub(super) use filename::filename;
pub(super) use paths::Paths;
pub(super) use tags::tags;

/// One of the smaller channels by itself: at most `depth` rows, each with its citation where the channel cites.
pub(super) fn ask(
    engine: &Engine,
    channel: Channel,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
    counted: Option<&RowSet>,
) -> Result<Vec<(Scored, Option<String>)>> {
    let plain = |hits: Vec<Scored>| hits.into_iter().map(|hit| (hit, None)).collect();
    let quoted = |cited: Cited| (cited.hit, Some(cited.citation()));
    match channel {
        Channel::Tags => tags(engine, question, depth, allowed, counted).map(plain),
        Channel::Filename => filename(engine, question, depth, allowed, counted).map(plain),
        Channel::Canonical => {
            Ok(canonical(engine, question, depth, allowed)?.into_iter().map(quoted).collect())
        }
        Channel::Text | Channel::Vector | Channel::Graph => {
            Err(Error::invalid(format!("channel {channel}"), "ask for tags, filename or canonical"))
        }
    }
}

/// The best `depth`, best first.
fn best(mut scored: Vec<Scored>, depth: usize) -> Vec<Scored> {
    if scored.len() > depth && depth > 0 {
        scored.select_nth_unstable_by(depth - 1, Scored::cmp_best_first);
    }
    scored.truncate(depth);
    scored.sort_unstable_by(Scored::cmp_best_first);
    scored
}
