//! Index generations of immutable segments: manifest, opening, verification and compaction.
//! The vector index and the token index share this; it knows rows, not what they hold.
//!
//! A [`SegmentFormat`] says what its rows are. A [`Generation`] of it is a manifest and the segments that it names, opened. A
//! [`Compaction`] writes the next one beside it: new files under numbers that no file in the folder has, each synced, then the
//! folder, then the manifest renamed into place, then the folder again; last it removes what the manifest does not name.
//!
//! A reader keeps the generation that it has opened while compactions go on: an unlinked file stays whole as long as it is
//! mapped (its blocks are freed with the last map, so a process that never opens anew holds old generations on the
//! disk). Where the system refuses to remove a mapped file, as Windows does, it is left over and goes with a later compact.
//! A compaction may remove files between a reader's look at the manifest and its opening them: it then looks at the manifest again.

mod compact;
mod disk;
mod file;
mod format;
mod manifest;
mod opened;
mod rows;
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
pub use opened::Generation;
pub use rows::Rows;
pub use segment::{Body, Segment};

use std::path::Path;

use crate::error::Error;

/// [`Error::Corrupt`]: delete the index's folder and compact again.
pub fn corrupt(path: &Path, reason: impl Into<String>) -> Error {
    Error::Corrupt { at: path.into(), reason: reason.into() }
}
