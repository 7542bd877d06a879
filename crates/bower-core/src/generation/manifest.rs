//! Reads and writes the manifest, which names the files of a generation and their checksums.
//! It is renamed into place after everything that it names is durable.
//!
//! It has two lines: JSON, and the SHA-256 of that JSON. Every number is checked before it is used.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{corrupt, disk::Disk};
use crate::error::{Error, Result};
use crate::item::{Coverage, hex};

/// The manifest's file name. It is renamed into place last, so changed file metadata means another generation.
pub const NAME: &str = "manifest";
const ASIDE: &str = "manifest.new";

/// The contents of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format's version: manifest, segments and how their numbers are made.
    pub format: u32,
    /// The model that made the rows.
    pub model: String,
    /// Numbers of a vector or of a token.
    pub dimension: usize,
    /// The coverage of the generation.
    pub coverage: Coverage,
    /// The immutable files.
    pub segments: Vec<SegmentEntry>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentEntry {
    /// The number in its file name.
    pub number: u64,
    /// Number of rows in the file, dead ones included; at least 1.
    pub rows: u32,
    /// Length of the file.
    pub bytes: u64,
    /// Checksum of the whole file, in hex.
    pub sha256: String,
    /// Its dead rows, which are not found any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead: Option<Dead>,
}

/// A bitmap over the positions of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dead {
    /// The number in its file name.
    pub number: u64,
    /// Number of set bits; at least 1 and fewer than the segment's rows.
    pub count: u32,
    /// Checksum of the file, in hex.
    pub sha256: String,
}

/// The field that every format's manifest has.
#[derive(Deserialize)]
struct Number {
    format: u32,
}

impl SegmentEntry {
    /// Returns the segment's file.
    pub fn path(&self, dir: &Path) -> PathBuf {
        segment_path(dir, self.number)
    }
}

impl Dead {
    /// Returns the bitmap's file.
    pub fn path(&self, dir: &Path) -> PathBuf {
        dead_path(dir, self.number)
    }
}

/// Returns the file of a segment of this number.
pub fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.segment"))
}

/// Returns the file of a bitmap of this number.
pub fn dead_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.dead"))
}

/// Returns the file with the block checksums of a segment of this number. No manifest names it. If it is missing,
/// damaged, or an older version wrote the segment, the next compaction creates it.
pub fn sums_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.sums"))
}

/// Returns the number in the name of a segment's, bitmap's or checksums' file; `None` for any other file.
pub fn number_of(name: &str) -> Option<u64> {
    let (number, kind) = name.split_once('.')?;
    let ours = number.len() == 16 && matches!(kind, "segment" | "dead" | "sums");
    ours.then(|| u64::from_str_radix(number, 16).ok())?
}

impl Manifest {
    /// Reads and checks the manifest of this format in a folder; `None` if there is none.
    pub fn load(dir: &Path, format: u32) -> Result<Option<Self>> {
        let path = dir.join(NAME);
        match std::fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes, format).map(Some).map_err(|reason| corrupt(&path, reason)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::index_file("read", &path, error)),
        }
    }

    /// Returns the number of files that belong to it beside the manifest.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn files(&self) -> usize {
        self.segments.iter().map(|entry| 2 + usize::from(entry.dead.is_some())).sum()
    }

    /// Writes the manifest to a temporary file and renames it into place, which makes it the current generation.
    pub fn store(&self, dir: &Path, disk: &mut Disk) -> Result<()> {
        let (aside, path) = (dir.join(ASIDE), dir.join(NAME));
        let written = disk.create(&aside).and_then(|mut file| {
            disk.write(&mut file, &self.to_bytes())?;
            disk.sync(&file)
        });
        written.map_err(|error| Error::io("write", &aside, error))?;
        // The folder first: the names of segments must be durable before the manifest that needs them.
        disk.sync_dir(dir).map_err(|error| Error::io("sync the folder", dir, error))?;
        disk.rename(&aside, &path).map_err(|error| Error::io("replace", &path, error))?;
        disk.sync_dir(dir).map_err(|error| Error::io("sync the folder", dir, error))
    }

    /// Whether a file of this number belongs to this generation.
    pub fn names(&self, number: u64) -> bool {
        let dead = |entry: &SegmentEntry| entry.dead.as_ref().is_some_and(|dead| dead.number == number);
        self.segments.iter().any(|entry| entry.number == number || dead(entry))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).expect("plain data always serialises");
        format!("{json}\n{}\n", hex(&Sha256::digest(json.as_bytes()))).into_bytes()
    }

    fn parse(bytes: &[u8], format: u32) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the manifest is not text")?;
        let (json, sum) = text.split_once('\n').ok_or("the manifest has no checksum")?;
        if sum.trim_end() != hex(&Sha256::digest(json.as_bytes())) {
            return Err("the manifest does not match its checksum".into());
        }
        // The version is read first, because another format may have other fields.
        let number: Number = serde_json::from_str(json).map_err(|error| format!("the manifest: {error}"))?;
        if number.format != format {
            return Err(format!("format {} instead of {format}", number.format));
        }
        let manifest: Self = serde_json::from_str(json).map_err(|error| format!("the manifest: {error}"))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        let mut numbers: Vec<u64> = Vec::new();
        for entry in &self.segments {
            let dead = entry.dead.as_ref();
            if entry.rows == 0 || dead.is_some_and(|dead| dead.count == 0 || dead.count >= entry.rows) {
                return Err(format!("segment {:x} has {} rows, {:?} dead", entry.number, entry.rows, dead));
            }
            numbers.extend(std::iter::once(entry.number).chain(dead.map(|dead| dead.number)));
        }
        numbers.sort_unstable();
        if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two files of one number".into());
        }
        Ok(())
    }
}

/// Returns a number above that of every file in the folder, so that no file of any generation is overwritten.
pub fn first_free(dir: &Path) -> Result<u64> {
    let entries = std::fs::read_dir(dir).map_err(|error| Error::io("list", dir, error))?;
    let mut free = 0;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("list", dir, error))?;
        if let Some(number) = entry.file_name().to_str().and_then(number_of) {
            free = free.max(number.saturating_add(1));
        }
    }
    Ok(free)
}

/// Removes our files, from this number on, that the generation does not name. Files that cannot be removed now are left
/// to the next compaction.
pub fn remove_leftovers(dir: &Path, generation: Option<&Manifest>, from: u64, disk: &mut Disk) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let ours = number_of(name).is_some_and(|number| {
            number >= from && !generation.is_some_and(|generation| generation.names(number))
        });
        if ours {
            let _ = disk.remove(&dir.join(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any bytes of a manifest are read or refused.
        #[test]
        fn any_manifest_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Manifest::parse(&bytes, 1);
            let sum = hex(&Sha256::digest(&bytes));
            let _ = Manifest::parse(&[&bytes[..], b"\n", sum.as_bytes()].concat(), 1);
        }

        /// Any changed byte in a manifest is noticed.
        #[test]
        fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), flip in 1u8..) {
            let coverage = Coverage { store: "s".into(), change: crate::item::Change(1), mark: 2 };
            let manifest = Manifest { format: 1, model: "m".into(), dimension: 64, coverage, segments: Vec::new() };
            let mut bytes = manifest.to_bytes();
            prop_assert_eq!(&Manifest::parse(&bytes, 1).unwrap(), &manifest);
            prop_assert!(Manifest::parse(&bytes, 2).is_err());
            let at = at.index(bytes.len() - 1);
            bytes[at] ^= flip;
            prop_assert!(Manifest::parse(&bytes, 1).is_err());
        }
    }
}
