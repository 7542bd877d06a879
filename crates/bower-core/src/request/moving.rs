//! Requests and results of exports, imports and migrations.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Degraded, Selection};
use crate::error::Result;
use crate::item::{Scope, Visibility};

/// What is to leave the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportRequest {
    /// Which items.
    pub select: Selection,
    /// Documents too: each that has a selected chunk, whole.
    pub documents: bool,
    /// Vectors too.
    pub vectors: bool,
    /// Files that are in the way are replaced.
    pub force: bool,
}

impl ExportRequest {
    /// The same as far as a caller may see it. What it names outside is an error.
    pub fn within(&self, visibility: &Visibility) -> Result<Self> {
        Ok(Self { select: self.select.within(visibility)?, ..self.clone() })
    }
}

/// What has left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exported {
    /// Memories.
    pub memories: u64,
    /// Documents.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Relations between them.
    pub relations: u64,
    /// Reviews of them.
    pub reviews: u64,
    /// Events of them.
    pub events: u64,
    /// Files in a folder: all that belong to the export …
    pub files: usize,
    /// … those of them that were written, because they were new or other …
    pub written: usize,
    /// … and those of an earlier export that are gone.
    pub removed: usize,
    /// Bytes of the files.
    pub bytes: u64,
    /// Memories that did not fit the budget, where one was given.
    pub left_out: usize,
}

/// How something is to come in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportRequest {
    /// Whose it becomes, whoever's it was.
    pub owner: Option<String>,
    /// Who may see it, whoever might.
    pub scope: Option<Scope>,
    /// The collection of conversations and new memories; `sessions` and the settings' `memory_collection` unless told.
    pub collection: Option<String>,
    /// Turns become candidates of memories, through the gate, instead of documents.
    pub as_memories: bool,
    /// What the user is called in conversations that only know a role.
    pub me: Option<String>,
    /// Memories whose files were deleted are archived.
    pub delete: bool,
    /// Nothing is written; the report says what would be.
    pub dry_run: bool,
}

/// What came in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// Files that were read.
    pub files: usize,
    /// Items that were not there: memories, documents with their chunks, turns.
    pub added: u64,
    /// Items that have other fields now, or another text that replaced theirs.
    pub updated: u64,
    /// Items that were there just so.
    pub unchanged: u64,
    /// Items that were changed here later than there, and stayed.
    pub newer: u64,
    /// Turns that the gate refused, with `as_memories`.
    pub refused: u64,
    /// Memories out of which secrets were cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// Conversations that were read.
    pub conversations: u64,
    /// Turns in them.
    pub turns: u64,
    /// What became of each file of an edited folder, where something did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// What was not taken in because of what is there: the first hundred.
    pub conflicts: Vec<Problem>,
    /// How many conflicts there were.
    pub conflicting: u64,
    /// What could not be read: the first hundred.
    pub errors: Vec<Problem>,
    /// How many could not be read.
    pub failed: u64,
    /// Vectors made.
    pub embedded: usize,
    /// Whether this was only a dry run.
    pub dry_run: bool,
    /// Wall time.
    #[serde(serialize_with = "super::thousandths")]
    pub took_ms: f64,
    /// Channels that cannot find what is new, with the reason.
    pub degraded: Vec<Degraded>,
}

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NotRead")]
pub struct Problem {
    /// The file, with the line or the conversation where there is one.
    pub place: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// What became of an edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// The file, below its folder.
    pub file: String,
    /// `added`, `superseded`, `changed`, `deleted`, `archived`, `refused`, `confirmed`.
    pub what: String,
    /// The memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What changed, or why it did not.
    pub detail: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Problems that are listed; the rest is counted.
const LISTED: usize = 100;

impl Imported {
    /// Notes a conflict.
    pub fn conflict(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.conflicting += 1;
        if self.conflicts.len() < LISTED {
            self.conflicts.push(Problem { place: place.into(), reason: reason.into() });
        }
    }

    /// Notes something that could not be read.
    pub fn error(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.failed += 1;
        if self.errors.len() < LISTED {
            self.errors.push(Problem { place: place.into(), reason: reason.into() });
        }
    }

    /// Whether anything was, or would be, written.
    pub fn is_change(&self) -> bool {
        self.added + self.updated > 0
    }
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportProgress {
    /// Items that were dealt with since the last time.
    Items(u64),
    /// Vectors that were made since the last time.
    Vectors(usize),
    /// The indexes are being brought up to date.
    Compacting,
}

/// How a migration is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrateRequest {
    /// Nothing is written; the report says what would be.
    pub dry_run: bool,
}

/// What a migration did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Migrated {
    /// Memories that are there now because of it.
    pub migrated: u64,
    /// Those that had been there already.
    pub unchanged: u64,
    /// Files that were left out because they are made by the other program itself.
    pub skipped: u64,
    /// What could not be read or stands against what is there.
    pub errors: Vec<Problem>,
    /// Relations between them that were written.
    pub relations: u64,
    /// Memories out of which secrets were cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// Whether this was only a dry run.
    pub dry_run: bool,
}
