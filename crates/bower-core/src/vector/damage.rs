//! What a damaged vector index may do: be refused, fail verification, or give other results. Never panic. For tests only.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::testing::{Folder, Vectors};
use super::{FORMAT, VectorIndex};
use crate::error::Error;
use crate::generation::{MANIFEST as NAME, Manifest};
use crate::item::{Allowed, RowSet, hex};

/// A small index with one bitmap of dead rows.
fn folder(data: &Vectors) -> Folder {
    let folder = Folder::new(64);
    folder.fold(1, &[], data, 0..40);
    folder.fold(2, &[3], data, 0..0);
    folder
}

/// Writes a changed manifest with a checksum that fits it.
fn write(folder: &Folder, change: impl FnOnce(&mut serde_json::Value)) {
    let manifest = Manifest::load(folder.path(), FORMAT).unwrap().unwrap();
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

    /// A segment of damaged bytes opens (they are not read) and is searched without a panic.
    #[test]
    fn damaged_contents_never_panic(noise in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
        let data = Vectors::clustered(64, 40, 1);
        let folder = folder(&data);
        let path = Manifest::load(folder.path(), FORMAT).unwrap().unwrap().segments[0].path(folder.path());
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
