//! Implements `bower curate`: keeps one memory, or reads the transcript of a session.
//! The memory is on disk before the command prints.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use super::{Session, folder, local, now, standard_input, text_of};
use crate::cli::CurateArgs;
use crate::failure::{Failure, Result};
use crate::render;
use crate::service::{Bounds, CurateBody, TranscriptBody};

/// Keeps a memory and prints its id.
pub fn run(arguments: CurateArgs, session: &Session) -> Result<()> {
    if let Some(path) = &arguments.transcript {
        return transcript(path, &arguments, session);
    }
    if arguments.dry_run || arguments.folder.is_some() || arguments.me.is_some() {
        let message = "--dry-run, --folder and --me are for --transcript";
        return Err(Failure::usage(message, "bower curate --transcript FILE --dry-run"));
    }
    let mut metadata = serde_json::Map::new();
    for (key, value) in arguments.metadata {
        if metadata.contains_key(&key) {
            return Err(Failure::usage(format!("--metadata {key} is given twice"), "give each key once"));
        }
        metadata.insert(key, value);
    }
    let body = CurateBody {
        content: text_of(&arguments.text, "curate")?,
        memory_type: arguments.memory_type,
        tags: arguments.tags,
        metadata,
        collection: arguments.collection,
        scope: Some(arguments.scope),
        owner: arguments.owner,
        pinned: arguments.pin,
        conversation: arguments.conversation,
        gate: arguments.gate,
        said_by: Some(arguments.said_by),
        replaces: arguments.replaces,
        confirms: arguments.confirms,
        different_from: arguments.different_from,
    };
    let service = session.service()?;
    let bounds = Bounds { host: arguments.host, ..local() };
    let curated = service.curate(&body, &bounds, now())?;
    session.out.say(&curated, |look| render::store::curated(&curated, look))?;
    session.maintain(&service);
    Ok(())
}

/// A reader that can seek.
trait Seekable: Read + Seek {}
impl<T: Read + Seek> Seekable for T {}

/// Reads a session and prints the result.
fn transcript(path: &Path, arguments: &CurateArgs, session: &Session) -> Result<()> {
    let folder = arguments.folder.as_deref().map(folder).transpose()?;
    let (name, reader): (_, Box<dyn Seekable>) = if path == Path::new("-") {
        let bytes = standard_input("give the transcript's file instead of -")?;
        ("standard input".to_owned(), Box::new(Cursor::new(bytes)))
    } else {
        let file = File::open(path).map_err(|source| bower_core::Error::io("open", path, source))?;
        (path.display().to_string(), Box::new(file))
    };
    let body = TranscriptBody {
        name,
        collection: arguments.collection.clone(),
        scope: Some(arguments.scope),
        owner: arguments.owner.clone(),
        folder,
        session: None,
        me: arguments.me.clone(),
        dry_run: arguments.dry_run,
    };
    let service = session.service()?;
    let bounds = Bounds { host: arguments.host.clone(), ..Bounds::local() };
    let read = service.read_session(&body, reader, &bounds, now())?;
    session.out.say(&read, |look| render::agents::session(&read, look))?;
    session.maintain(&service);
    Ok(())
}
