//! Upkeep: erasing, compacting, copying and verifying a store.

use std::path::{Path, PathBuf};

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Change, RowId};
use crate::request::{CompactWhen, Erased, Loss, Receipt, StoreCopy};

/// Erases, compacts, copies and verifies the store.
pub trait Upkeep {
    /// Removes items from every table, with their text; the events that remain contain no text.
    fn forget(&self, rows: &[RowId], dry_run: bool, stamp: Stamp<'_>) -> Result<Receipt>;
    /// Returns the last change that forgot something of which files may still hold residue. It stays due until
    /// [`Upkeep::end_erasure`], even if a process is killed meanwhile.
    fn erasure_due(&self) -> Result<Option<Change>>;
    /// Erases forgotten data that is due from everything that the store keeps beside its rows: logs, free space, and
    /// copies that no user requested. `is_trace` reports whether some bytes of unused space are residue; if any are, the
    /// store file is rewritten.
    fn erase(&self, is_trace: &dyn Fn(&[u8]) -> bool, stamp: Stamp<'_>) -> Result<Erased>;
    /// Records that no file holds residue of what was forgotten up to a change.
    fn end_erasure(&self, upto: Change) -> Result<()>;
    /// Tidies what writes left behind, such as a log that has grown long. It is never needed for safety: what other
    /// readers still use stays, and the next call tries again.
    fn tidy(&self, when: CompactWhen) -> Result<()>;
    /// Copies the store as it is at one moment into a new file, which appears under its name once it is whole and sound.
    /// Writers continue meanwhile.
    fn backup(&self, to: &Path) -> Result<StoreCopy>;
    /// Returns the files that the store consists of, whether they exist or not; the first is the one to show. Empty for a
    /// store on a server.
    fn files(&self) -> Vec<PathBuf>;
    /// Returns the number of bytes that the store takes.
    fn size_bytes(&self) -> Result<u64>;
    /// Reads all of the store and its own indexes. Returns the findings; none if it is sound.
    fn verify(&self) -> Result<Vec<String>>;
    /// Returns the acknowledged changes that are missing and not accepted yet, oldest first.
    fn losses(&self) -> Result<Vec<Loss>>;
    /// Accepts all losses, so that they are not reported any more, and removes what was kept of them. Returns their
    /// number.
    fn accept_losses(&self, stamp: Stamp<'_>) -> Result<u64>;
    /// Returns the number of texts and vectors, read since the store was opened, that are not as they were written.
    fn damage(&self) -> usize;
}
