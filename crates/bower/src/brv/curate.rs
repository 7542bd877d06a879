//! Keeps a text passed to `brv` by its kind: a note becomes a memory, a conversation is kept as turns.

use bower_core::item::CurateOutcome;
use bower_core::request::{Curated, KeptSentence};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::note::{self, Told};
use super::project::Project;
use crate::failure::{Exit, Failure, Hint, Result, one_line};
use crate::render::count;
use crate::service::{Bounds, CurateBody, Served, Service, TurnsBody};

/// Most files that a text may include, and the largest size of each in bytes.
const MOST_FILES: usize = 5;
const LARGEST_FILE: u64 = 1 << 20;

/// Result of keeping a text.
#[derive(Debug)]
pub struct Kept {
    /// Message for the caller.
    pub message: String,
    /// Ids of the memories that it changed.
    pub changes: Changes,
    /// Whether it opened a review that a person has to decide.
    pub review: bool,
}

/// Ids of memories.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Changes {
    /// Ids of new memories.
    created: Vec<String>,
    /// Ids of memories that were confirmed or replaced.
    updated: Vec<String>,
}

/// Keeps a text in a collection, for a project. A text that the gate refuses is an error.
pub fn keep(
    service: &Service,
    bounds: &Bounds,
    project: &Project,
    collection: &str,
    text: &str,
    now: Timestamp,
) -> Served<Kept> {
    let bounds = Bounds { host: Some("brv".to_owned()), ..bounds.clone() };
    let named = Some(collection.to_owned());
    match note::read(text) {
        Told::Note { text, tags } => {
            let body = CurateBody { content: text, tags, collection: named, ..CurateBody::default() };
            Ok(Kept::of(&service.curate(&body, &bounds, now)?)?)
        }
        Told::Turns(turns) => {
            let body = TurnsBody {
                // The host does not name its conversation.
                conversation: collection.to_owned(),
                turns,
                documents: named.clone(),
                collection: named,
                folder: project.root.to_str().map(str::to_owned),
                origin: Some("brv"),
                ..TurnsBody::default()
            };
            let read = service.keep_turns(&body, &bounds, now)?;
            let mut message = format!("Kept {} of the conversation", count(read.turns, "turn"));
            if !read.kept.is_empty() {
                let _ = write!(message, ", and {} of it", count(read.kept.len(), "candidate"));
            }
            let review = read.kept.iter().any(|kept| kept.review.is_some());
            let (updated, created): (Vec<_>, Vec<_>) =
                read.kept.into_iter().partition(|kept| kept.outcome == CurateOutcome::Confirm);
            let ids = |kept: Vec<KeptSentence>| kept.into_iter().filter_map(|kept| kept.id).collect();
            let changes = Changes { created: ids(created), updated: ids(updated) };
            Ok(Kept { message: message + ".", changes, review })
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
            (CurateOutcome::Create | CurateOutcome::Link, _) => {
                format!("Kept as {}: {id}", curated.memory_type)
            }
            (CurateOutcome::Confirm, _) => format!("Known already, and surer now: {id}"),
            (outcome, Some(other)) => format!("{outcome}: {id} ({}: {})", other.id, one_line(&other.why)),
            (outcome, None) => format!("{outcome}: {id}"),
        };
        let (created, updated) = if is_new { (vec![id], Vec::new()) } else { (Vec::new(), vec![id]) };
        Ok(Self { message, changes: Changes { created, updated }, review: curated.review.is_some() })
    }
}

/// Returns a text with the content of the files, whose paths are relative to `folder`.
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
