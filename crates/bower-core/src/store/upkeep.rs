//! Upkeep: erasing, compacting, copying and examining a store.

use std::path::Path;

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, RowId};
use crate::request::{Loss, Receipt, StoreCopy};

/// Erases, compacts, copies and examines the store.
pub trait Upkeep {
    /// Removes items from every table, with their text; the events that remain hold no text.
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt>;
    /// The last change that forgot something of which files may still hold traces. Stays until [`Store::end_purge`], whoever is
    /// killed meanwhile.
    fn purge_due(&self) -> Result<Option<Change>>;
    /// The ids of what was forgotten and is to be purged.
    fn forgotten_ids(&self) -> Result<Vec<String>>;
    /// Removes items by id from another store's file, a copy of this one, and leaves it one whole file; how many it had.
    fn forget_in_copy(&self, copy: &std::path::Path, ids: &[String], stamp: Stamp<'_>) -> Result<usize>;
    /// No file holds a trace of what was forgotten up to a change.
    fn end_purge(&self, upto: Change) -> Result<()>;
    /// Empties the log; false where somebody still reads what it holds.
    fn empty_log(&self) -> Result<bool>;
    /// Feeds what the store's file holds where nothing is kept: what was moved or deleted may have left its bytes there.
    fn free_space(&self, each: &mut dyn FnMut(&[u8])) -> Result<()>;
    /// Writes the whole file anew, so that nothing is in it but what is kept. Proportional to the size of the store.
    fn compact(&self) -> Result<()>;
    /// Leaves the store as one whole file, where nobody else is reading. Costs a wait for the disk; never needed for safety.
    fn checkpoint(&self) -> Result<()>;
    /// Empties the log where it has grown long. Waits for nobody: while others read it, it stays, and the next caller tries
    /// again. One that is never emptied makes each new process read all of it, and copy all of it into the file when it
    /// writes.
    fn trim_log(&self) -> Result<()>;
    /// Copies the store as it is at one moment into a new file, which appears under its name when it is whole and sound. Writers
    /// go on meanwhile.
    fn backup(&self, to: &std::path::Path) -> Result<StoreCopy>;
    /// Bytes of the store's files.
    fn size_bytes(&self) -> Result<u64>;
    /// Reads every page and every index of the store; the findings, none where it is sound.
    fn verify(&self) -> Result<Vec<String>>;
    /// Changes that were acknowledged and are missing, and that nobody has accepted, oldest first.
    fn losses(&self) -> Result<Vec<Loss>>;
    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64>;
    /// How many texts and vectors were read, since the store was opened, that are not as they were written.
    fn damage(&self) -> usize;
}
