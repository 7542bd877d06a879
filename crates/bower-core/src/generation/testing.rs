//! Tests that every segment index must pass, at every step of the disk and with every kind of damage.
//! For tests only.

use std::ops::Range;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::manifest::NAME;
use super::{Compaction, Disk, Generation, Manifest, SegmentFormat};
use crate::error::{Error, Result};
use crate::item::{Change, Coverage, RowId, RowSet, hex};

/// A format with rows to test it with.
pub trait Sample: SegmentFormat {
    /// The dimension of its indexes.
    const DIMENSION: usize;

    /// Returns the row that a seed makes for an id; every seed makes another one.
    fn row(row: u32, seed: u64) -> Self::Fresh;

    /// Returns a row that every compaction refuses.
    fn misfit() -> Self::Fresh;

    /// Whether an index has exactly the row of this seed for an id; `None` if it lacks the id.
    fn has(index: &Generation<Self>, row: u32, seed: u64) -> Option<bool>;

    /// Calls everything that an index offers, whether it returns a result or an error.
    fn ask(index: &Generation<Self>);
}

/// Returns the rows of a range in the form that a compaction expects.
pub fn rows<R: Sample>(rows: Range<u32>, seed: u64) -> impl Iterator<Item = Result<(RowId, R::Fresh)>> {
    rows.map(move |row| Ok((RowId(row), R::row(row, seed))))
}

/// A folder with an index of the model `m`.
pub struct IndexFolder<R: SegmentFormat> {
    dir: tempfile::TempDir,
    format: R,
}

impl<R: SegmentFormat> IndexFolder<R> {
    pub fn new(dimension: usize) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), format: R::of(dimension).unwrap() }
    }

    /// Creates a folder with the files of a format's golden index.
    pub fn golden(dimension: usize, files: &[(&str, &[u8])]) -> Self {
        let folder = Self::new(dimension);
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn open(&self) -> Option<Generation<R>> {
        Generation::open(self.path()).unwrap()
    }

    /// Returns its files, by name.
    pub fn files(&self) -> Vec<PathBuf> {
        let names = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Compacts rows into the index in the folder.
    pub fn compact(
        &self,
        change: u64,
        gone: &[u32],
        mut fresh: impl Iterator<Item = Result<(RowId, R::Fresh)>>,
    ) {
        let (current, gone) = (self.open(), gone.iter().copied().map(RowId).collect());
        self.compact_on(current.as_ref(), change, &gone, &mut Disk::default(), &mut fresh).unwrap();
    }

    /// Compacts rows into an opened generation.
    pub fn compact_on(
        &self,
        current: Option<&Generation<R>>,
        change: u64,
        gone: &RowSet,
        disk: &mut Disk,
        fresh: &mut dyn Iterator<Item = Result<(RowId, R::Fresh)>>,
    ) -> Result<()> {
        let next = Coverage { store: "s".into(), change: Change(change), mark: 7 };
        Compaction { dir: self.path(), current, next, model: "m", gone, purge: false }.run(
            &self.format,
            disk,
            fresh,
        )
    }
}

impl<R: Sample> IndexFolder<R> {
    fn sample() -> Self {
        Self::new(R::DIMENSION)
    }

    /// Compacts the rows of a range into the index in the folder.
    fn fill(&self, change: u64, gone: Range<u32>, seed: u64, fresh: Range<u32>) {
        self.compact(change, &gone.collect::<Vec<_>>(), rows::<R>(fresh, seed));
    }

    /// Creates a small index with one bitmap of dead rows.
    fn small() -> Self {
        let folder = Self::sample();
        folder.fill(1, 0..0, 1, 0..40);
        folder.fill(2, 5..6, 1, 0..0);
        folder
    }

    #[track_caller]
    fn is_refused(&self, what: &str) {
        match Generation::<R>::open(self.path()) {
            Err(Error::Corrupt { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[track_caller]
fn check<R: Sample>(index: &Generation<R>, seed: u64, here: &[u32], gone: &[u32]) {
    index.verify().unwrap();
    for row in here {
        assert_eq!(R::has(index, *row, seed), Some(true), "row {row}");
    }
    for row in gone {
        assert_eq!(R::has(index, *row, seed), None, "row {row}");
    }
}

/// Declares the tests of this file for a format.
macro_rules! test_format {
    ($format:ty: $($test:ident)*) => {
        $(#[test] fn $test() { crate::generation::testing::$test::<$format>(); })*
    };
    ($format:ty) => {
        crate::generation::testing::test_format! { $format:
            what_is_compacted_is_here_and_what_is_gone_is_not
            merging_gives_the_bytes_of_building_at_once
            a_fresh_row_replaces_its_older_copy_and_dead_rows_stay_dead
            many_small_compactions_leave_few_segments
            a_segment_that_is_mostly_dead_is_written_anew_and_an_empty_one_vanishes
            a_compaction_killed_at_any_step_leaves_the_old_generation_and_can_be_repeated
            a_failed_compaction_leaves_no_files_behind
            a_reader_keeps_its_generation_while_the_next_replaces_its_files
            a_reader_between_two_generations_opens_the_newer
            starting_anew_replaces_whatever_is_there
            what_does_not_fit_together_is_refused
            a_shortened_or_missing_file_is_refused_and_a_changed_one_fails_verification
            damaged_contents_never_panic
            a_changed_block_is_told_and_never_copied
            what_has_no_checksums_gets_them
        }
    };
}
pub(crate) use test_format;

pub fn what_is_compacted_is_here_and_what_is_gone_is_not<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    assert!(folder.open().is_none());
    folder.fill(1, 0..0, 1, 0..300);
    folder.fill(2, 7..9, 1, 300..500);
    let index = folder.open().unwrap();
    assert_eq!((index.len(), index.coverage().change, index.model()), (498, Change(2), "m"));
    check(&index, 1, &[0, 3, 6, 9, 299, 300, 499], &[7, 8, 500]);
}

pub fn merging_gives_the_bytes_of_building_at_once<R: Sample>() {
    let (steps, once) = (IndexFolder::<R>::sample(), IndexFolder::<R>::sample());
    steps.fill(1, 0..0, 2, 0..4_000);
    steps.fill(2, 0..0, 2, 4_000..4_500);
    steps.fill(3, 0..0, 2, 4_500..12_000);
    once.fill(3, 0..0, 2, 0..12_000);
    let (steps, once) = (steps.open().unwrap(), once.open().unwrap());
    assert_eq!(steps.segments(), 1);
    assert_eq!(steps.manifest.segments[0].sha256, once.manifest.segments[0].sha256);
}

pub fn a_fresh_row_replaces_its_older_copy_and_dead_rows_stay_dead<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 3, 0..30_000);
    folder.fill(2, 5..6, 4, 100..110);
    folder.fill(3, 100..101, 4, 0..0);
    folder.fill(4, 6..7, 4, 0..0);
    let index = folder.open().unwrap();
    assert_eq!((index.segments(), index.len()), (2, 29_997));
    check(&index, 3, &[0, 99, 110, 29_999], &[5, 6, 100]);
    check(&index, 4, &[101, 105, 109], &[5, 6, 100]);
    assert_eq!(R::has(&index, 105, 3), Some(false));
}

pub fn many_small_compactions_leave_few_segments<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    for step in 0..30 {
        folder.fill(step, 0..0, 5, step as u32 * 1_500..(step as u32 + 1) * 1_500);
    }
    let index = folder.open().unwrap();
    assert_eq!(index.len(), 45_000);
    assert!(index.segments() <= 4, "{}", index.segments());
    check(&index, 5, &[0, 1_499, 1_500, 44_999], &[45_000]);
    assert_eq!(folder.files().len(), 1 + index.manifest.files(), "only what belongs to it is left");
}

pub fn a_segment_that_is_mostly_dead_is_written_anew_and_an_empty_one_vanishes<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 6, 0..8_000);
    folder.fill(2, 0..3_000, 6, 0..0);
    let index = folder.open().unwrap();
    assert_eq!((index.len(), index.manifest.segments[0].rows), (5_000, 5_000));
    check(&index, 6, &[3_000, 7_999], &[2_999]);
    folder.fill(3, 0..8_000, 6, 0..0);
    let index = folder.open().unwrap();
    assert_eq!((index.len(), index.segments(), index.is_empty()), (0, 0, true));
    check(&index, 6, &[], &[1]);
    assert_eq!(folder.files().len(), 1);
}

pub fn a_compaction_killed_at_any_step_leaves_the_old_generation_and_can_be_repeated<R: Sample>() {
    let mut steps = 0;
    loop {
        let folder = IndexFolder::<R>::sample();
        folder.fill(1, 0..0, 7, 0..6_000);
        folder.fill(2, 0..0, 7, 6_000..6_001);
        let before = folder.open().unwrap();
        // Rows 0..100 are dead in the kept segment and the small segment is merged, so every kind of write occurs.
        let gone: RowSet = (0..100).map(RowId).collect();
        let mut disk = Disk { steps_left: Some(steps) };
        let ended = folder.compact_on(Some(&before), 3, &gone, &mut disk, &mut rows::<R>(6_001..8_000, 7));
        let after = folder.open().unwrap();
        after.verify().unwrap();
        before.verify().unwrap();
        let change = after.coverage().change;
        assert_eq!(after.len(), if change == Change(3) { 7_900 } else { 6_001 }, "step {steps}");
        assert!(ended.is_err() || change == Change(3), "step {steps}");
        folder.fill(4, 0..100, 7, 6_001..8_000);
        let again = folder.open().unwrap();
        assert_eq!(again.len(), 7_900, "step {steps}");
        again.verify().unwrap();
        assert_eq!(folder.files().len(), again.manifest.files() + 1, "step {steps}");
        if disk.steps_left != Some(0) {
            break;
        }
        steps += 1;
    }
    assert!(steps > 10, "{steps}");
}

pub fn a_failed_compaction_leaves_no_files_behind<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 8, 0..3_000);
    let (before, files) = (folder.open().unwrap(), folder.files());
    let one = |row| Ok((RowId(row), R::row(row, 8)));
    let broken = [
        (vec![one(1), one(1)], "rows must ascend".to_owned()),
        (vec![one(1), Ok((RowId(2), R::misfit()))], format!("{} of row 2: ", R::ROW)),
        (vec![one(1), Err(Error::invalid("the store", "went away"))], "went away".to_owned()),
    ];
    let (none, mut disk) = (RowSet::new(), Disk::default());
    for (fresh, want) in broken {
        let failed = folder.compact_on(Some(&before), 2, &none, &mut disk, &mut fresh.into_iter());
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains(&want), "{failed}");
        assert_eq!(folder.files(), files);
    }
    let next = before.coverage().clone();
    let other = Compaction {
        dir: folder.path(),
        current: Some(&before),
        next,
        model: "other",
        gone: &none,
        purge: false,
    };
    let refused = other.run(&folder.format, &mut disk, &mut std::iter::empty()).unwrap_err().to_string();
    assert!(refused.starts_with(R::INDEX), "{refused}");
    assert!(refused.ends_with(&format!("holds {} of m, not of other", R::ROWS)), "{refused}");
}

pub fn a_reader_keeps_its_generation_while_the_next_replaces_its_files<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 9, 0..1_000);
    let (old, files) = (folder.open().unwrap(), folder.files());
    folder.fill(2, 4..5, 9, 1_000..3_000);
    assert!(!folder.files().contains(&files[0]));
    check(&old, 9, &[4, 999], &[1_000]);
}

pub fn a_reader_between_two_generations_opens_the_newer<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 9, 0..10);
    let read = Manifest::load(folder.path(), R::FORMAT).unwrap().unwrap();
    folder.fill(2, 0..0, 9, 10..20);
    let index = Generation::<R>::open_from(folder.path(), read.clone()).unwrap().unwrap();
    assert_eq!(index.coverage().change, Change(2));
    std::fs::remove_file(index.manifest.segments[0].path(folder.path())).unwrap();
    assert!(Generation::<R>::open_from(folder.path(), read.clone()).is_err());
    std::fs::remove_file(folder.path().join(NAME)).unwrap();
    assert!(Generation::<R>::open_from(folder.path(), read).unwrap().is_none());
}

pub fn starting_anew_replaces_whatever_is_there<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 10, 0..200);
    let mut disk = Disk::default();
    folder.compact_on(None, 9, &RowSet::new(), &mut disk, &mut rows::<R>(50..60, 11)).unwrap();
    let index = folder.open().unwrap();
    assert_eq!((index.len(), index.coverage().change), (10, Change(9)));
    check(&index, 11, &[50, 55, 59], &[49, 60]);
}

pub fn what_does_not_fit_together_is_refused<R: Sample>() {
    for (pointer, value) in [
        ("/format", json!(R::FORMAT + 1)),
        ("/dimension", json!(R::DIMENSION + 8)),
        ("/dimension", json!(0)),
        ("/dimension", json!(u64::MAX)),
        ("/model", json!(null)),
        ("/segments/0/rows", json!(39)),
        ("/segments/0/rows", json!(0)),
        ("/segments/0/rows", json!(u32::MAX)),
        ("/segments/0/bytes", json!(1)),
        ("/segments/0/number", json!(99)),
        ("/segments/0/dead/count", json!(40)),
        ("/segments/0/dead/count", json!(0)),
        ("/segments/0/dead/number", json!(0)),
        ("/segments/0/dead/number", json!(99)),
    ] {
        let folder = IndexFolder::<R>::small();
        let manifest = Manifest::load(folder.path(), R::FORMAT).unwrap().unwrap();
        let mut changed = serde_json::to_value(manifest).unwrap();
        *changed.pointer_mut(pointer).unwrap() = value.clone();
        // With a matching checksum.
        let json = changed.to_string();
        let text = format!("{json}\n{}\n", hex(&Sha256::digest(json.as_bytes())));
        std::fs::write(folder.path().join(NAME), text).unwrap();
        folder.is_refused(&format!("{pointer} {value}"));
    }
}

pub fn a_shortened_or_missing_file_is_refused_and_a_changed_one_fails_verification<R: Sample>() {
    // Damaged checksums are created again: `what_has_no_checksums_gets_them`.
    let files = |folder: &IndexFolder<R>| {
        let mut files = folder.files();
        files.retain(|path| path.extension().is_none_or(|kind| kind != "sums"));
        files
    };
    assert_eq!(files(&IndexFolder::<R>::small()).len(), 3);
    for which in 0..3 {
        let folder = IndexFolder::<R>::small();
        let path = &files(&folder)[which];
        let whole = std::fs::read(path).unwrap();
        for len in [0, 1, whole.len() / 2, whole.len() - 1] {
            // A manifest without its last line break is still complete.
            if !(path.ends_with(NAME) && len == whole.len() - 1) {
                std::fs::write(path, &whole[..len]).unwrap();
                folder.is_refused(&format!("{} at {len}", path.display()));
            }
        }
        std::fs::write(path, [&whole[..], &[1]].concat()).unwrap();
        folder.is_refused("a longer file");
        if !path.ends_with(NAME) {
            std::fs::remove_file(path).unwrap();
            folder.is_refused("a missing file");
            let mut changed = whole.clone();
            changed[0] ^= 1;
            std::fs::write(path, &changed).unwrap();
            if path.extension().is_some_and(|kind| kind == "dead") {
                folder.is_refused("another bitmap");
            } else {
                assert!(folder.open().unwrap().verify().is_err(), "{}", path.display());
            }
            if let Some(at) = whole.len().checked_sub(64) {
                let mut signed = whole.clone();
                signed[at] ^= 1;
                std::fs::write(path, &signed).unwrap();
                folder.is_refused("another footer");
            }
        }
    }
}

/// Changes each byte in turn: every reader gets the damage reported, and no compaction copies it.
pub fn a_changed_block_is_told_and_never_copied<R: Sample>() {
    let folder = IndexFolder::<R>::sample();
    folder.fill(1, 0..0, 1, 0..300);
    folder.fill(2, 5..6, 1, 0..0);
    let path = folder.open().unwrap().paths()[0].clone();
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len() - 64).step_by(97) {
        let mut changed = whole.clone();
        changed[at] ^= 0x40;
        std::fs::write(&path, &changed).unwrap();
        let index = folder.open().unwrap();
        assert!(index.damage().is_none());
        // Reading every row reads all but the padding. Damage is either reported or not read.
        let is_whole = (0..300).all(|row| R::has(&index, row, 1) == (row != 5).then_some(true));
        R::ask(&index);
        assert!(is_whole || index.damage().is_some(), "byte {at}");
        let (none, mut disk) = (RowSet::new(), Disk::default());
        let compacted = folder.compact_on(Some(&index), 3, &none, &mut disk, &mut rows::<R>(300..301, 1));
        assert!(matches!(compacted, Err(Error::Corrupt { .. })), "byte {at}: {compacted:?}");
    }
}

/// A segment of an older version, or with damaged checksums, is read as it is. The next compaction verifies all of it
/// and creates the checksums.
pub fn what_has_no_checksums_gets_them<R: Sample>() {
    for damage in [None, Some(&b"broken"[..])] {
        let folder = IndexFolder::<R>::sample();
        folder.fill(1, 0..0, 1, 0..6_000);
        assert!(folder.open().unwrap().has_sums());
        let sums =
            folder.files().into_iter().find(|path| path.extension().is_some_and(|kind| kind == "sums"));
        let sums = sums.unwrap();
        let before = std::fs::read(&sums).unwrap();
        match damage {
            None => std::fs::remove_file(&sums).unwrap(),
            Some(bytes) => std::fs::write(&sums, bytes).unwrap(),
        }
        let bare = folder.open().unwrap();
        assert!(!bare.has_sums());
        check(&bare, 1, &[0, 299], &[6_000]);
        let segment = bare.paths()[0].clone();
        drop(bare);
        folder.compact(2, &[], std::iter::empty());
        assert!(folder.open().unwrap().has_sums());
        assert!(std::fs::read(&sums).unwrap() == before);
        // But not for a damaged segment.
        std::fs::remove_file(&sums).unwrap();
        let mut changed = std::fs::read(&segment).unwrap();
        changed[3] ^= 1;
        std::fs::write(&segment, changed).unwrap();
        let (index, none) = (folder.open().unwrap(), RowSet::new());
        let compacted =
            folder.compact_on(Some(&index), 3, &none, &mut Disk::default(), &mut rows::<R>(0..0, 1));
        assert!(matches!(compacted, Err(Error::Corrupt { .. })), "{compacted:?}");
    }
}

/// Returns the files of a small index, with their names.
pub fn small_files<R: Sample>() -> Vec<(String, Vec<u8>)> {
    let folder = IndexFolder::<R>::small();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    folder.files().iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// Opens and uses a small index whose files are damaged by `data`. Four bytes choose a file, a position, and the new
/// byte or the new end. A manifest gets a matching checksum.
pub fn damaged<R: Sample>(files: &[(String, Vec<u8>)], data: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let mut files = files.to_vec();
    for change in data.chunks_exact(4).take(64) {
        let nth = usize::from(change[0]) % files.len();
        let (name, bytes) = &mut files[nth];
        if bytes.is_empty() {
            continue;
        }
        let at = (usize::from(change[1]) << 8 | usize::from(change[2])) % bytes.len();
        if change[0] & 0x80 == 0 {
            bytes[at] = change[3];
        } else {
            bytes.truncate(at);
        }
        if name.as_str() == NAME
            && let Some(json) = bytes.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec)
        {
            *bytes = [&json[..], format!("\n{}\n", hex(&Sha256::digest(&json))).as_bytes()].concat();
        }
    }
    for (name, bytes) in &files {
        std::fs::write(dir.path().join(name), bytes).unwrap();
    }
    if let Ok(Some(index)) = Generation::<R>::open(dir.path()) {
        let _ = index.verify();
        R::ask(&index);
    }
}

/// A segment of damaged bytes opens (they are not read), and every call returns a result or an error without a panic.
pub fn damaged_contents_never_panic<R: Sample>() {
    let noise = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200);
    proptest!(ProptestConfig::with_cases(64), |(noise in noise, anywhere: bool)| {
        let folder = IndexFolder::<R>::small();
        let manifest = Manifest::load(folder.path(), R::FORMAT).unwrap().unwrap();
        let path = manifest.segments[0].path(folder.path());
        let mut bytes = std::fs::read(&path).unwrap();
        // Anywhere, or in the numbers and ids of 40 rows: 160 bytes each, in sections of 192, before the footer.
        let footer = bytes.len() - 64;
        let first = if anywhere { 0 } else { footer - 2 * 192 };
        for (at, byte) in noise {
            bytes[first + at.index(footer - first)] = byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let index = folder.open().unwrap();
        R::ask(&index);
        // A compaction of it ends too, with or without an error.
        let (none, mut disk) = (RowSet::new(), Disk::default());
        let _ = folder.compact_on(Some(&index), 3, &none, &mut disk, &mut rows::<R>(0..2, 1));
    });
}
