//! The smaller channels: tags, file names and canonical memory.
//! Each gives rows with scores of 0..1, best first, ties by row, and only rows that `allowed` lets pass.

mod canonical;
mod filename;
pub(crate) mod paths;
mod tags;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::item::{Channel, RowId, RowSet, Scored};

use canonical::{Cited, canonical};
use filename::filename;
use tags::tags;

/// One of the smaller channels by itself: at most `depth` rows, each with its citation where the channel cites.
pub(crate) fn ask(
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
