//! Searches the smaller channels: tags, file names and canonical memory.
//! Each channel returns rows that `allowed` accepts, with scores of 0..1, best first; equal scores are ordered by row.

mod canonical;
mod filename;
pub(crate) mod paths;
mod tags;
pub(crate) mod written;

use crate::engine::Engine;
use crate::engine::query::facts::FactCitation;
use crate::error::{Error, Result};
use crate::item::{Channel, RowId, RowSet, Scored};

use canonical::canonical;
pub(crate) use canonical::{Cited, search as canonical_facts};
use filename::filename;
use tags::tags;
pub(crate) use tags::{MOST_TAGGED, written as written_tags};

/// Searches one of the smaller channels. Returns at most `depth` rows, each with the fact that it has where the channel cites one.
pub(crate) fn ask(
    engine: &Engine,
    channel: Channel,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
    counted: Option<&RowSet>,
) -> Result<Vec<(Scored, Option<FactCitation>)>> {
    let plain = |hits: Vec<Scored>| hits.into_iter().map(|hit| (hit, None)).collect();
    let quoted = |cited: Cited| (cited.hit, Some(cited.fact));
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
