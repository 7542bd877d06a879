//! `bower curate`: keeps one memory. When it has printed, the memory is on disk.

use bower_core::request::{CurateRequest, SessionRequest};
use std::path::Path;

use super::{Session, now, text_of};
use crate::cli::CurateArgs;
use crate::failure::{Failure, Result};
use crate::render;

/// Keeps and prints the id.
pub fn run(arguments: CurateArgs, session: &Session) -> Result<()> {
    if let Some(path) = &arguments.transcript {
        return transcript(path, &arguments, session);
    }
    if arguments.dry_run || arguments.folder.is_some() {
        let message = "--dry-run and --folder are for --transcript";
        return Err(Failure::usage(message, "bower curate --transcript FILE --dry-run"));
    }
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

/// Reads a session, and says what came of it.
fn transcript(path: &Path, arguments: &CurateArgs, session: &Session) -> Result<()> {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let request = SessionRequest {
        collection: arguments.collection.clone(),
        scope: Some(arguments.scope),
        owner: arguments.owner.clone(),
        folder: arguments.folder.as_deref().map(|folder| whole(folder).to_string_lossy().into_owned()),
        session: None,
        dry_run: arguments.dry_run,
    };
    let reader = super::hook::transcript(path)?;
    let engine = session.engine()?;
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let read = engine.read_session(&name, reader, &request, now())?;
    session.out.say(&read, |look| render::agents::session(&read, look))?;
    session.maintain(&engine);
    Ok(())
}
