//! The manifest of a generation. It is renamed into place after everything that it names is durable.
//!
//! Two lines: JSON, and the SHA-256 of that JSON. Every number is checked before it is used.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DIMENSIONS, corrupt, disk::Disk};
use crate::error::{Error, Result};
use crate::item::{Coverage, hex};

/// The number of the format: manifest, segments, rotation and quantisation. Any change of either needs a new one.
pub const FORMAT: u32 = 1;

/// The manifest's file: renamed into place last, so another look of it is another generation.
pub const NAME: &str = "manifest";
const ASIDE: &str = "manifest.new";

/// What a generation consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    /// The model that made the vectors.
    pub model: String,
    pub dimension: usize,
    pub coverage: Coverage,
    pub segments: Vec<Entry>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The number in its file's name.
    pub number: u64,
    /// Vectors in the file, dead ones included; at least 1.
    pub rows: u32,
    /// Length of the file.
    pub bytes: u64,
    /// Checksum of the whole file, in hex.
    pub sha256: String,
    /// Which of its vectors are not to be found any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead: Option<Dead>,
}

/// A bitmap over the positions of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dead {
    /// The number in its file's name.
    pub number: u64,
    /// Bits set; at least 1 and fewer than the segment's rows.
    pub count: u32,
    /// Checksum of the file, in hex.
    pub sha256: String,
}

/// What every format's manifest has.
#[derive(Deserialize)]
struct Number {
    format: u32,
}

impl Entry {
    /// The segment's file.
    pub fn path(&self, dir: &Path) -> PathBuf {
        segment_path(dir, self.number)
    }
}

impl Dead {
    /// The bitmap's file.
    pub fn path(&self, dir: &Path) -> PathBuf {
        dead_path(dir, self.number)
    }
}

/// The file of a segment of this number.
pub fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.segment"))
}

/// The file of a bitmap of this number.
pub fn dead_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.dead"))
}

/// The number in the name of a segment's or bitmap's file; `None` for any other file.
pub fn number_of(name: &str) -> Option<u64> {
    let (number, kind) = name.split_once('.')?;
    let ours = number.len() == 16 && (kind == "segment" || kind == "dead");
    ours.then(|| u64::from_str_radix(number, 16).ok())?
}

impl Manifest {
    /// Reads and checks the manifest in a folder; `None` where there is none.
    pub fn load(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(NAME);
        match std::fs::read(&path) {
            Ok(bytes) => Self::parse(&bytes).map(Some).map_err(|reason| corrupt(&path, reason)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }

    /// Writes it aside and renames it into place: from then on it is the generation.
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
        let dead = |entry: &Entry| entry.dead.as_ref().is_some_and(|dead| dead.number == number);
        self.segments.iter().any(|entry| entry.number == number || dead(entry))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let json = serde_json::to_string(self).expect("plain data always serialises");
        format!("{json}\n{}\n", hex(&Sha256::digest(json.as_bytes()))).into_bytes()
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the manifest is not text")?;
        let (json, sum) = text.split_once('\n').ok_or("the manifest has no checksum")?;
        if sum.trim_end() != hex(&Sha256::digest(json.as_bytes())) {
            return Err("the manifest does not match its checksum".into());
        }
        // The number before the rest: another format may have other fields.
        let number: Number = serde_json::from_str(json).map_err(|error| format!("the manifest: {error}"))?;
        if number.format != FORMAT {
            return Err(format!("format {} instead of {FORMAT}", number.format));
        }
        let manifest: Self = serde_json::from_str(json).map_err(|error| format!("the manifest: {error}"))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if !DIMENSIONS.contains(&self.dimension) || !self.dimension.is_multiple_of(8) {
            return Err(format!("dimension {}", self.dimension));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Allowed, RowSet};
    use crate::vector::VectorIndex;
    use crate::vector::testing::{Folder, Vectors};
    use proptest::prelude::*;

    /// A small index with one bitmap of dead rows.
    fn folder(data: &Vectors) -> Folder {
        let folder = Folder::new(64);
        folder.fold(1, &[], data, 0..40);
        folder.fold(2, &[3], data, 0..0);
        folder
    }

    /// Writes a changed manifest with a checksum that fits it.
    fn write(folder: &Folder, change: impl FnOnce(&mut serde_json::Value)) {
        let manifest = Manifest::load(folder.path()).unwrap().unwrap();
        let mut value = serde_json::to_value(manifest).unwrap();
        change(&mut value);
        let json = value.to_string();
        let text = format!("{json}\n{}\n", hex(&Sha256::digest(json.as_bytes())));
        std::fs::write(folder.path().join(NAME), text).unwrap();
    }

    fn refused(folder: &Folder, what: &str) {
        match VectorIndex::open(folder.path()) {
            Err(Error::Corrupt { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let data = Vectors::clustered(64, 40, 1);
        for (pointer, value) in [
            ("/format", serde_json::json!(2)),
            ("/dimension", serde_json::json!(72)),
            ("/dimension", serde_json::json!(0)),
            ("/dimension", serde_json::json!(u64::MAX)),
            ("/model", serde_json::json!(null)),
            ("/segments/0/rows", serde_json::json!(39)),
            ("/segments/0/rows", serde_json::json!(0)),
            ("/segments/0/rows", serde_json::json!(u32::MAX)),
            ("/segments/0/bytes", serde_json::json!(1)),
            ("/segments/0/number", serde_json::json!(99)),
            ("/segments/0/dead/count", serde_json::json!(40)),
            ("/segments/0/dead/count", serde_json::json!(0)),
            ("/segments/0/dead/number", serde_json::json!(0)),
            ("/segments/0/dead/number", serde_json::json!(99)),
        ] {
            let folder = folder(&data);
            write(&folder, |manifest| *manifest.pointer_mut(pointer).unwrap() = value.clone());
            refused(&folder, &format!("{pointer} {value}"));
        }
    }

    #[test]
    fn a_shortened_or_missing_file_is_refused_and_a_changed_one_fails_verification() {
        let data = Vectors::clustered(64, 40, 1);
        let files = |folder: &Folder| {
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names
        };
        assert_eq!(files(&folder(&data)).len(), 3);
        for which in 0..3 {
            let folder = folder(&data);
            let path = &files(&folder)[which];
            let whole = std::fs::read(path).unwrap();
            for len in [0, 1, whole.len() / 2, whole.len() - 1] {
                std::fs::write(path, &whole[..len]).unwrap();
                // A manifest without its last line break is still whole.
                if path.ends_with(NAME) && len == whole.len() - 1 {
                    continue;
                }
                refused(&folder, &format!("{} at {len}", path.display()));
            }
            let mut longer = whole.clone();
            longer.push(1);
            std::fs::write(path, &longer).unwrap();
            refused(&folder, "a longer file");
            if !path.ends_with(NAME) {
                std::fs::remove_file(path).unwrap();
                refused(&folder, "a missing file");
                let mut changed = whole.clone();
                changed[0] ^= 1;
                std::fs::write(path, &changed).unwrap();
                assert!(folder.open().unwrap().verify().is_err(), "{}", path.display());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever bytes a manifest holds, it is read or refused.
        #[test]
        fn any_manifest_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Manifest::parse(&bytes);
            let sum = hex(&Sha256::digest(&bytes));
            let _ = Manifest::parse(&[&bytes[..], b"\n", sum.as_bytes()].concat());
        }

        /// One changed byte in a manifest is always noticed.
        #[test]
        fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), flip in 1u8..) {
            let coverage = Coverage { store: "s".into(), change: crate::item::Change(1), mark: 2 };
            let manifest = Manifest { format: FORMAT, model: "m".into(), dimension: 64, coverage, segments: Vec::new() };
            let mut bytes = manifest.to_bytes();
            prop_assert_eq!(&Manifest::parse(&bytes).unwrap(), &manifest);
            let at = at.index(bytes.len() - 1);
            bytes[at] ^= flip;
            prop_assert!(Manifest::parse(&bytes).is_err());
        }

        /// A segment of damaged bytes opens (they are not read) and is searched without a panic.
        #[test]
        fn damaged_contents_never_panic(noise in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
            let data = Vectors::clustered(64, 40, 1);
            let folder = folder(&data);
            let path = Manifest::load(folder.path()).unwrap().unwrap().segments[0].path(folder.path());
            let mut bytes = std::fs::read(&path).unwrap();
            let footer = bytes.len() - 64;
            for (at, byte) in noise {
                bytes[at.index(footer)] = byte;
            }
            std::fs::write(&path, &bytes).unwrap();
            let index = folder.open().unwrap();
            let none = RowSet::new();
            let keep: RowSet = [crate::item::RowId(5)].into_iter().collect();
            for keep in [None, Some(&keep)] {
                let allowed = Allowed { keep, drop: &none };
                let gone = &mut |rows: &[crate::item::RowId]| Ok(vec![None; rows.len()]);
                let _ = index.search(data.get(1), 10, allowed, gone);
            }
            // A fold on top of it ends too, well or not.
            let fresh = &mut data.rows(0..2);
            let _ = crate::vector::fold(folder.path(), Some(&index), folder.coverage(3), "m", 64, &none, fresh);
        }
    }
}
