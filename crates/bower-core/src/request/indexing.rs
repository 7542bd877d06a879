//! Index runs: what to index, their progress, and their result.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

use super::{Degraded, thousandths};
use crate::item::Scope;

/// A request to index paths.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexRequest {
    /// Files and folders; made absolute by the caller.
    pub paths: Vec<PathBuf>,
    /// Looks only at these files and folders below `paths`, whose files may be gone; all of them if it is empty. The rules of
    /// `paths` hold for them, such as those of `.gitignore`.
    pub only: Vec<PathBuf>,
    /// The collection; `None` is the setting `document_collection`.
    pub collection: Option<String>,
    /// Globs that a file must match (any of them), gitignore syntax.
    pub include: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    /// The scope of the chunks: who may see them.
    pub scope: Scope,
    /// The owner of the chunks.
    pub owner: Option<String>,
}

impl IndexRequest {
    /// Indexes all files of these paths, with defaults for all else.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            only: Vec::new(),
            collection: None,
            include: Vec::new(),
            exclude: Vec::new(),
            scope: Scope::Project,
            owner: None,
        }
    }
}

/// Progress of an index run, sent at each step for a progress bar.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexProgress {
    /// Files found so far; the walk goes on while files are read.
    Found {
        /// Number of files to look at.
        files: usize,
    },
    /// The walk has ended.
    Walked {
        /// Number of files to look at.
        files: usize,
    },
    /// One file was read, found unchanged or skipped.
    File {
        /// Chunks that it added to the queue.
        chunks: usize,
    },
    /// Chunks were committed.
    Committed {
        /// Chunks written in this step, vectors included.
        chunks: usize,
    },
    /// The indexes are being brought up to date.
    Compacting,
}

/// Counts and times of an index run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IndexReport {
    /// Files looked at.
    pub files: usize,
    /// Files that were new or changed.
    pub indexed: usize,
    /// Files whose content hash was the same.
    pub unchanged: usize,
    /// Unchanged files that were stored under another path.
    pub moved: usize,
    /// Documents removed because their file is gone.
    pub removed: usize,
    /// Commit messages among the documents.
    pub commits: usize,
    /// Chunks written.
    pub chunks_added: usize,
    /// Chunks removed.
    pub chunks_removed: usize,
    /// Chunks kept from an earlier version of their document.
    pub chunks_kept: usize,
    /// Vectors made.
    pub embedded: usize,
    /// Files left out, each with the reason.
    pub skipped: Vec<Skipped>,
    /// New or changed files that were read with a problem, each with the problem: pages of a PDF without text, say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<FileProblem>,
    /// Wall time.
    #[serde(serialize_with = "thousandths")]
    pub took_ms: f64,
    /// Share of the threads' CPU time that the model took, 0..1.
    #[serde(serialize_with = "thousandths")]
    pub model_share: f64,
    /// Channels that cannot find the new chunks, with the reason.
    pub degraded: Vec<Degraded>,
}

/// A file that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why it was left out.
    pub reason: String,
}

/// A problem that did not stop the reading of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileProblem {
    /// The file.
    pub path: PathBuf,
    /// What could not be read, and why.
    pub problem: String,
}
