//! Keeps a text handed to `brv` by its kind: a note becomes a memory, a conversation is kept as turns.

use bower_core::engine::Engine;
use bower_core::item::{Author, Fate, Visibility};
use bower_core::request::{CurateRequest, Curated, KeptSentence, SessionRequest, TurnsRequest};
use jiff::Timestamp;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::note::{self, Told};
use super::project::Project;
use crate::failure::{Exit, Failure, Hint, Result, one_line};
use crate::render::count;
use crate::service::Place;

/// Files that one text may bring along, and how large each may be.
const MOST_FILES: usize = 5;
const LARGEST_FILE: u64 = 1 << 20;

/// What became of it.
#[derive(Debug)]
pub struct Kept {
    /// In words.
    pub message: String,
    /// Memories that are new.
    pub created: Vec<String>,
    /// Those that were confirmed or replaced.
    pub updated: Vec<String>,
    /// Somebody has to say which of two is right.
    pub review: bool,
}

/// Keeps it for a project, on behalf of a caller who sees what `visibility` lets it. What the gate refuses is nothing kept, and an
/// error.
pub fn keep(
    engine: &Engine,
    visibility: &Visibility,
    project: &Project,
    place: &Place,
    text: &str,
    now: Timestamp,
) -> Result<Kept> {
    match note::read(text) {
        Told::Note { text, tags } => {
            let request = CurateRequest {
                tags,
                collection: place.collection.clone(),
                scope: place.scope,
                owner: place.owner.clone(),
                // Agents call this program; people have bower.
                said_by: Author::Agent,
                host: Some("brv".to_owned()),
                ..CurateRequest::new(text)
            };
            Kept::of(&engine.curate(visibility, &request, now)?)
        }
        Told::Turns(turns) => {
            let request = TurnsRequest {
                // The host does not name its conversation.
                conversation: place.collection.clone().unwrap_or_else(|| project.collection.clone()),
                turns,
                origin: "brv",
                documents: place.collection.clone(),
                session: SessionRequest {
                    collection: place.collection.clone(),
                    scope: place.named_scope(),
                    owner: place.owner.clone(),
                    host: Some("brv".to_owned()),
                    folder: project.root.to_str().map(str::to_owned),
                    ..SessionRequest::default()
                },
            };
            let read = engine.keep_turns(visibility, &request, now)?;
            let mut message = format!("Kept {} of the conversation", count(read.turns, "turn"));
            if !read.kept.is_empty() {
                let _ = write!(message, ", and {} of it", count(read.kept.len(), "candidate"));
            }
            let review = read.kept.iter().any(|kept| kept.review.is_some());
            let (updated, created): (Vec<_>, Vec<_>) =
                read.kept.into_iter().partition(|kept| kept.outcome == Fate::Confirm);
            let ids = |kept: Vec<KeptSentence>| kept.into_iter().filter_map(|kept| kept.id).collect();
            Ok(Kept { message: message + ".", created: ids(created), updated: ids(updated), review })
        }
    }
}

impl Kept {
    fn of(curated: &Curated) -> Result<Self> {
        let Some(id) = curated.id.clone().filter(|_| curated.accepted) else {
            let reason = curated.reason.as_deref().unwrap_or("it is no memory");
            return Err(Failure {
                message: format!("not kept: {}", one_line(reason)),
                hint: None,
                exit: Exit::Nothing,
                causes: Vec::new(),
            });
        };
        let is_new = !curated.is_update;
        let message = match (curated.outcome, &curated.other) {
            (Fate::Create | Fate::Link, _) => format!("Kept as {}: {id}", curated.memory_type),
            (Fate::Confirm, _) => format!("Known already, and surer now: {id}"),
            (outcome, Some(other)) => format!("{outcome}: {id} ({}: {})", other.id, one_line(&other.why)),
            (outcome, None) => format!("{outcome}: {id}"),
        };
        let (created, updated) = if is_new { (vec![id], Vec::new()) } else { (Vec::new(), vec![id]) };
        Ok(Self { message, created, updated, review: curated.review.is_some() })
    }
}

/// A text with the files that it speaks of, seen from a folder.
pub fn with_files(text: &str, files: &[PathBuf], folder: &Path) -> Result<String> {
    if files.len() > MOST_FILES {
        return Err(Failure::usage(
            format!("{} files are given, and {MOST_FILES} is the most", files.len()),
            Hint::Each {
                command: "bower index takes whole folders",
                http: None,
                tool: "memory_index takes whole folders",
            },
        ));
    }
    let mut text = text.to_owned();
    for path in files {
        let cannot = |source| Failure::from(bower_core::Error::io("read", path, source));
        let mut bytes = Vec::new();
        std::fs::File::open(folder.join(path))
            .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
            .map_err(cannot)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(Failure::usage(
                format!("{} is larger than {} MB", path.display(), LARGEST_FILE >> 20),
                Hint::Each {
                    command: "bower index takes large files",
                    http: None,
                    tool: "memory_index takes large files",
                },
            ));
        }
        let content = String::from_utf8_lossy(&bytes);
        text = format!("{text}\n\n{}:\n{}", path.display(), content.trim_end());
    }
    Ok(text.trim().to_owned())
}
