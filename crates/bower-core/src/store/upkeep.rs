//! Upkeep: erasing, compacting, copying and examining a store.

use std::path::{Path, PathBuf};

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, RowId};
use crate::request::{CompactWhen, Erased, Loss, Receipt, StoreCopy};

/// Erases, compacts, copies and examines the store.
pub trait Upkeep {
    /// Removes items from every table, with their text; the events that remain hold no text.
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt>;
    /// The last change that forgot something of which files may still hold traces. Stays until [`Upkeep::end_erasure`], whoever is
    /// killed meanwhile.
    fn erasure_due(&self) -> Result<Option<Change>>;
    /// Erases what was forgotten and is due from all that the store keeps beside its rows: logs, free space, and the copies that
    /// nobody asked for. `is_trace` tells whether some bytes, where nothing is kept, are a trace of it; where one is, the store is
    /// written anew.
    fn erase(&self, is_trace: &dyn Fn(&[u8]) -> bool, stamp: Stamp<'_>) -> Result<Erased>;
    /// Nothing holds a trace of what was forgotten up to a change.
    fn end_erasure(&self, upto: Change) -> Result<()>;
    /// Tidies what writes left behind, such as a log that has grown long. Never needed for safety: what others still read stays, and the
    /// next caller tries again.
    fn tidy(&self, when: CompactWhen) -> Result<()>;
    /// Copies the store as it is at one moment into a new file, which appears under its name when it is whole and sound. Writers
    /// go on meanwhile.
    fn backup(&self, to: &Path) -> Result<StoreCopy>;
    /// The files that the store consists of, whether they are there or not; the first is named to people. None where it is on a server.
    fn files(&self) -> Vec<PathBuf>;
    /// Bytes that the store takes.
    fn size_bytes(&self) -> Result<u64>;
    /// Reads all of the store, and of its own indexes; the findings, none where it is sound.
    fn verify(&self) -> Result<Vec<String>>;
    /// Changes that were acknowledged and are missing, and that nobody has accepted, oldest first.
    fn losses(&self) -> Result<Vec<Loss>>;
    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64>;
    /// How many texts and vectors were read, since the store was opened, that are not as they were written.
    fn damage(&self) -> usize;
}
