//! Requests and results of exports, imports and migrations.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Degraded, Selection};
use crate::error::Result;
use crate::item::{Scope, Visibility};

/// A request to export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportRequest {
    /// The items to export.
    pub select: Selection,
    /// Exports documents too: each one with a selected chunk, complete.
    pub documents: bool,
    /// Exports vectors too.
    pub vectors: bool,
    /// Replaces existing files.
    pub force: bool,
}

impl ExportRequest {
    /// Restricts the request to what a caller may see. Naming anything else is an error.
    pub fn within(&self, visibility: &Visibility) -> Result<Self> {
        Ok(Self { select: self.select.within(visibility)?, ..self.clone() })
    }
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exported {
    /// Number of memories.
    pub memories: u64,
    /// Number of documents.
    pub documents: u64,
    /// Number of their chunks.
    pub chunks: u64,
    /// Number of relations between them.
    pub relations: u64,
    /// Number of their reviews.
    pub reviews: u64,
    /// Number of their events.
    pub events: u64,
    /// Number of aliases of entities, in an export of the whole store.
    #[serde(skip_serializing_if = "is_zero")]
    pub aliases: u64,
    /// Number of files in a folder that belong to the export.
    pub files: usize,
    /// Number of those files that were written because they were new or different.
    pub written: usize,
    /// Number of files of an earlier export that were removed.
    pub removed: usize,
    /// Size of the files in bytes.
    pub bytes: u64,
    /// Number of memories that did not fit the budget, if one was set.
    pub left_out: usize,
    /// Number of other wordings of the memories, which a folder leaves out: a file has one text. JSON lines have them.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub wordings: usize,
}

/// Options of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportRequest {
    /// The new owner of everything, instead of the stored one.
    pub owner: Option<String>,
    /// The new scope of everything, instead of the stored one.
    pub scope: Option<Scope>,
    /// The collection of conversations and new memories; `None` is `sessions` and the setting `memory_collection`.
    pub collection: Option<String>,
    /// Turns become candidates, after admission, instead of documents.
    pub as_memories: bool,
    /// The user's name in conversations that only record roles.
    pub me: Option<String>,
    /// Archives memories whose files were deleted.
    pub delete: bool,
    /// Writes nothing; the report contains what would be written.
    pub dry_run: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// Number of files read.
    pub files: usize,
    /// Number of new items: memories, documents with their chunks, turns.
    pub added: u64,
    /// Number of items with changed fields, or whose text was replaced.
    pub updated: u64,
    /// Number of items that were already equal.
    pub unchanged: u64,
    /// Number of items that were changed here later than in the import, and stayed.
    pub newer: u64,
    /// Number of turns that admission refused, with `as_memories`, and of other programs' memories that it refused.
    pub refused: u64,
    /// Number of memories from which secrets were removed.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// Number of new aliases of entities.
    #[serde(skip_serializing_if = "is_zero")]
    pub aliases: u64,
    /// Number of conversations read.
    pub conversations: u64,
    /// Number of turns in them.
    pub turns: u64,
    /// What was found in the memories of other programs, one entry for each program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ImportedSource>,
    /// The outcome of each file of an edited folder that had one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// The first hundred entries that conflict with stored items and were not imported.
    pub conflicts: Vec<Problem>,
    /// Number of conflicts.
    pub conflicting: u64,
    /// The first hundred entries that could not be read.
    pub errors: Vec<Problem>,
    /// Number of entries that could not be read.
    pub failed: u64,
    /// Number of vectors made.
    pub embedded: usize,
    /// Whether this was only a dry run.
    pub dry_run: bool,
    /// Wall time.
    #[serde(serialize_with = "super::thousandths")]
    pub took_ms: f64,
    /// Channels that cannot find the new items, with the reason.
    pub degraded: Vec<Degraded>,
}

/// What an import found in the memories of another program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedSource {
    /// The source of its memories in the store.
    pub source: String,
    /// The program's name.
    pub title: String,
    /// Number of memories read.
    pub memories: u64,
    /// Number of memories that were kept as new ones; those in a contradiction are among them.
    pub kept: u64,
    /// Number of memories that an earlier import had brought.
    pub unchanged: u64,
    /// Number of those that are archived here, by `undo` for example, although the program still has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub archived: u64,
    /// Number of memories that admission refused.
    pub junk: u64,
    /// Number of memories that only repeat another one, of this import or of the store.
    pub doubles: u64,
    /// Number of kept memories that contradict another one: a review is open.
    pub contradictions: u64,
    /// Number of memories that are not current: replaced, archived or deleted in the other program, or older than a memory
    /// that replaces them. They were archived, or left out if deleted.
    pub stale: u64,
    /// Number of relations between its memories.
    pub relations: u64,
    /// The first hundred findings of each kind.
    pub findings: Vec<ImportFinding>,
}

/// Why a memory of another program was not simply kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportFinding {
    /// The kind.
    pub what: FindingKind,
    /// The memory's id in the other program.
    pub id: String,
    /// The beginning of its text.
    pub text: String,
    /// The reason.
    pub reason: String,
    /// The other memory's id in the store, if there is one. In a dry run, one that would be new has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// Kinds of findings in an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// Admission refuses it.
    Junk,
    /// It repeats another memory.
    Double,
    /// It contradicts another memory.
    Contradiction,
    /// It is not current.
    Stale,
}

impl FindingKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Junk, Self::Double, Self::Contradiction, Self::Stale];
}

impl ImportedSource {
    /// Counts a finding, and lists it if there are few of its kind.
    pub fn find(&mut self, finding: ImportFinding) {
        let count = match finding.what {
            FindingKind::Junk => &mut self.junk,
            FindingKind::Double => &mut self.doubles,
            FindingKind::Contradiction => &mut self.contradictions,
            FindingKind::Stale => &mut self.stale,
        };
        *count += 1;
        if *count <= LISTED as u64 {
            self.findings.push(finding);
        }
    }

    /// Returns the number of findings of a kind.
    pub fn count(&self, what: FindingKind) -> u64 {
        match what {
            FindingKind::Junk => self.junk,
            FindingKind::Double => self.doubles,
            FindingKind::Contradiction => self.contradictions,
            FindingKind::Stale => self.stale,
        }
    }
}

/// An entry that could not be read or imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NotRead")]
pub struct Problem {
    /// The file, with the line or the conversation where there is one.
    pub place: String,
    /// The problem and its remedy.
    pub reason: String,
}

/// The outcome of an edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// The file's path relative to its folder.
    pub file: String,
    /// The outcome: `added`, `superseded`, `changed`, `deleted`, `archived`, `refused`, `confirmed`.
    pub what: String,
    /// The memory's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The change, or why there was none.
    pub detail: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Most problems that are listed; the rest are counted.
const LISTED: usize = 100;

impl Imported {
    /// Records a conflict.
    pub fn conflict(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.conflicting += 1;
        if self.conflicts.len() < LISTED {
            self.conflicts.push(Problem { place: place.into(), reason: reason.into() });
        }
    }

    /// Records an entry that could not be read.
    pub fn error(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.failed += 1;
        if self.errors.len() < LISTED {
            self.errors.push(Problem { place: place.into(), reason: reason.into() });
        }
    }

    /// Whether anything was, or would be, written.
    pub fn is_change(&self) -> bool {
        self.added + self.updated + self.aliases > 0
    }
}

/// Progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportProgress {
    /// Number of items processed since the last report.
    Items(u64),
    /// Number of vectors made since the last report.
    Vectors(usize),
    /// The indexes are being brought up to date.
    Compacting,
}

/// Options of a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrateRequest {
    /// Writes nothing; the report contains what would be written.
    pub dry_run: bool,
}

/// The result of a migration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Migrated {
    /// Number of memories that it added.
    pub migrated: u64,
    /// Number of memories that already existed.
    pub unchanged: u64,
    /// Number of files skipped because the other program generates them.
    pub skipped: u64,
    /// Entries that could not be read or conflict with stored items.
    pub errors: Vec<Problem>,
    /// Number of relations written between them.
    pub relations: u64,
    /// Number of memories from which secrets were removed.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// Whether this was only a dry run.
    pub dry_run: bool,
}
