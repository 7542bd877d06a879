//! `bower curate`: keeps one memory. When it has printed, the memory is on disk.

use bower_core::request::CurateRequest;

use super::{Session, now, text_of};
use crate::cli::CurateArgs;
use crate::failure::{Failure, Result};
use crate::render;

/// Keeps and prints the id.
pub fn run(arguments: CurateArgs, session: &Session) -> Result<()> {
    let mut metadata = serde_json::Map::new();
    for (key, value) in arguments.metadata {
        if metadata.contains_key(&key) {
            return Err(Failure::usage(format!("--metadata {key} is given twice"), "give each key once"));
        }
        metadata.insert(key, value);
    }
    let request = CurateRequest {
        content: text_of(&arguments.text, "curate")?,
        memory_type: arguments.memory_type,
        tags: arguments.tags,
        metadata,
        collection: arguments.collection,
        scope: arguments.scope,
        owner: arguments.owner,
        pinned: arguments.pin,
        source_conv_id: arguments.conversation,
        gate: arguments.gate,
    };
    let engine = session.engine()?;
    let curated = engine.curate(&request, now())?;
    session.out.say(&curated, |look| render::store::curated(&curated, look))?;
    session.maintain(&engine);
    Ok(())
}
