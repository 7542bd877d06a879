//! What the rooms with segments share: manifest, files, row lists, and what a fold merges. It knows rows, not what they hold.

mod disk;
mod file;
mod manifest;
mod rows;

pub use disk::Disk;
pub use file::{SegmentFile, check_contents, open_dead, open_file};
pub use manifest::{
    Dead, Entry, Manifest, NAME as MANIFEST, dead_path, first_free, remove_leftovers, segment_path,
};
pub use rows::{Fate, Rows, fates};

use std::path::Path;

use crate::error::Error;

/// [`Error::Corrupt`]: delete the index's folder and fold again.
pub fn corrupt(path: &Path, reason: impl Into<String>) -> Error {
    Error::Corrupt { path: path.to_path_buf(), reason: reason.into() }
}
