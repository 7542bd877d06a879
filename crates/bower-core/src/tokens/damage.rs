//! The format's golden file, and what a damaged token index may do: be refused, or fail verification. Never panic. For tests only.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::testing::{Folder, coverage, question, rows};
use super::{FORMAT, MANIFEST, TokenIndex};
use crate::error::Error;
use crate::generation::Manifest;
use crate::item::{RowId, RowSet, hex};

/// Written by `tools/golden_tokens.py`, which knows the format from its description alone. Never written again.
const GOLDEN: [(&str, &[u8]); 3] = [
    ("manifest", include_bytes!("../../tests/golden/tokens-1/manifest")),
    ("0000000000000005.segment", include_bytes!("../../tests/golden/tokens-1/0000000000000005.segment")),
    ("0000000000000006.dead", include_bytes!("../../tests/golden/tokens-1/0000000000000006.dead")),
];

#[test]
fn format_1_is_read_for_ever() {
    let folder = Folder::new();
    for (name, bytes) in GOLDEN {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let index = folder.open().unwrap();
    index.verify().unwrap();
    assert_eq!((index.model(), index.len(), index.coverage().change.0), ("golden.t1", 3, 42));
    assert_eq!(index.rows().collect::<Vec<_>>(), [RowId(3), RowId(70_000), RowId(70_001)]);
    // One token, all numbers 1: its best dot product is twice the best code's set bits, less 64.
    let all = bower_kernels::scan::maxsim::MaxSimToken { values: [1; 64], step: 1.0, weight: 2.0 };
    let rows = [RowId(70_001), RowId(3), RowId(9), RowId(70_000), RowId(4)];
    let scores = index.score(&super::TokenQuery::new(&[all]), &rows).unwrap();
    // Row 3: codes 1 and 0xff; row 9 is dead; row 70,000 has no tokens; row 70,001: all bits but one.
    assert_eq!(scores, [Some(62.0), Some(-48.0), None, Some(0.0), None]);
}

/// A small index with one bitmap of dead rows.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.fold(1, &[], 1, 0..40);
    folder.fold(2, &[5], 1, 0..0);
    folder
}

/// Writes a changed manifest with a checksum that fits it.
fn write(folder: &Folder, change: impl FnOnce(&mut serde_json::Value)) {
    let manifest = Manifest::load(folder.path(), FORMAT).unwrap().unwrap();
    let mut value = serde_json::to_value(manifest).unwrap();
    change(&mut value);
    let json = value.to_string();
    let text = format!("{json}\n{}\n", hex(&Sha256::digest(json.as_bytes())));
    std::fs::write(folder.path().join(MANIFEST), text).unwrap();
}

fn refused(folder: &Folder, what: &str) {
    match TokenIndex::open(folder.path()) {
        Err(Error::Corrupt { .. }) => {}
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (pointer, value) in [
        ("/format", serde_json::json!(2)),
        ("/dimension", serde_json::json!(128)),
        ("/model", serde_json::json!(null)),
        ("/segments/0/rows", serde_json::json!(39)),
        ("/segments/0/rows", serde_json::json!(0)),
        ("/segments/0/rows", serde_json::json!(u32::MAX)),
        ("/segments/0/bytes", serde_json::json!(1)),
        ("/segments/0/number", serde_json::json!(99)),
        ("/segments/0/dead/count", serde_json::json!(40)),
        ("/segments/0/dead/number", serde_json::json!(0)),
    ] {
        let folder = folder();
        write(&folder, |manifest| *manifest.pointer_mut(pointer).unwrap() = value.clone());
        refused(&folder, &format!("{pointer} {value}"));
    }
}

#[test]
fn a_shortened_or_missing_file_is_refused_and_a_changed_one_fails_verification() {
    let files = |folder: &Folder| {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(files(&folder()).len(), 3);
    for which in 0..3 {
        let folder = folder();
        let path = &files(&folder)[which];
        let whole = std::fs::read(path).unwrap();
        for len in [0, 1, whole.len() / 2, whole.len() - 1] {
            // A manifest without its last line break is still whole.
            if !(path.ends_with(MANIFEST) && len == whole.len() - 1) {
                std::fs::write(path, &whole[..len]).unwrap();
                refused(&folder, &format!("{} at {len}", path.display()));
            }
        }
        if !path.ends_with(MANIFEST) {
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

    /// A segment of damaged bytes opens (they are not read), and is scored or refused without a panic.
    #[test]
    fn damaged_contents_never_panic(noise in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
        let folder = folder();
        let path = Manifest::load(folder.path(), FORMAT).unwrap().unwrap().segments[0].path(folder.path());
        let mut bytes = std::fs::read(&path).unwrap();
        // The ends and ids are the last 160 bytes of each section before the footer.
        let (first, footer) = (bytes.len() - 64 - 2 * 192, bytes.len() - 64);
        for (at, byte) in noise {
            let at = first + at.index(footer - first);
            bytes[at] = byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let index = folder.open().unwrap();
        let _ = index.score(&question(1), &(0..50).map(RowId).collect::<Vec<_>>());
        let _ = index.rows().count();
        // A fold on top of it ends too, well or not.
        let _ = super::fold(folder.path(), Some(&index), coverage(3), "m", &RowSet::new(), &mut rows(0..2, 1));
    }
}
