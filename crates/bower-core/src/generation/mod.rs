//! Index generations of immutable segments: manifest, opening, verification and compaction.
//! The vector index and the token index share this module, which does not depend on the contents of rows.
//!
//! A [`SegmentFormat`] describes the rows. A [`Generation`] is an opened manifest with its segments. A [`Compaction`]
//! writes the next one beside it. It writes new files under numbers that no file in the folder has, and syncs each.
//! Then it syncs the folder, renames the manifest into place, and syncs the folder again. Last it removes files that
//! the manifest does not name.
//!
//! A reader keeps the generation that it has opened during compactions: an unlinked file stays complete while it is
//! mapped. (Its blocks are freed with the last map, so a process that never reopens holds old generations on the disk.)
//! Where the system refuses to remove a mapped file, as Windows does, a later compaction removes it. A compaction may
//! remove files between a reader's read of the manifest and its opening of them. The reader then reads the manifest
//! again.

mod compact;
mod disk;
mod file;
mod format;
mod manifest;
mod merge_policy;
mod opened;
mod segment;
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(not(test), allow(dead_code, unused_imports, unused_macros, reason = "fuzzers use a part of it"))]
#[allow(clippy::unwrap_used, reason = "it is made for tests, which fuzzers share")]
pub mod testing;

pub use compact::{Compaction, FreshRows};
pub use disk::Disk;
pub use file::SegmentFile;
pub use format::{SectionOffsets, SegmentFormat, SegmentWriter};
pub use manifest::{Dead, Manifest, NAME as MANIFEST, SegmentEntry};
pub use merge_policy::Rows;
pub use opened::Generation;
pub use segment::{Body, Segment};

use std::path::Path;

use crate::error::Error;

/// Returns an [`Error::Corrupt`]; its remedy is to delete the index's folder and compact again.
pub fn corrupt(path: &Path, reason: impl Into<String>) -> Error {
    Error::Corrupt { at: path.into(), reason: reason.into() }
}
