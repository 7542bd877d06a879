//! Writing the next generation. Nothing of the current one is touched until the next one's manifest is in place.
//!
//! Fresh vectors become a segment. It is merged with every segment up to twice as large as what has been gathered so far
//! (up to 4,096 vectors always). So each segment is more than twice as large as the next smaller one, which leaves about
//! log2(N / 4,096) of them (8 at a million); and what holds more than 4,096 grows by half whenever it is rewritten, so a
//! vector is written at most log1.5(N / 4,096) times more (14 at a million), beside the 1.6 MB that any fold may rewrite.
//! Merging copies int8 values and makes the codes anew from them, so a merged segment has the bytes that it would have,
//! had it been made at once: quality does not decay, and the store is not asked for old vectors.

use std::path::{Path, PathBuf};

use bower_kernels::Isa;
use bower_kernels::scan::bytes;
use bower_kernels::scan::rotate::Rotation;
use sha2::{Digest, Sha256};

use super::quantise::quantise;
use super::segment::{Segment, SegmentWriter, Spool};
use super::{FORMAT, ROTATION_SEED, VectorIndex, check_dimension};
use crate::error::{Error, Result};
use crate::generation::{
    self, Dead, Disk, Entry, Fate, Manifest, dead_path, fates, first_free, remove_leftovers, segment_path,
};
use crate::item::{Coverage, RowId, RowSet, hex};

/// Rows that a merge asks the operating system for at once.
const AHEAD: usize = 4_096;

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh vectors.
///
/// `current` is the opened generation in `dir`; `None` starts anew, whatever is there. `fresh` gives rows in strictly
/// ascending order and vectors of `dimension` (a multiple of 8 in [`super::DIMENSIONS`]); a fresh row replaces an older
/// copy of itself and wins over `gone`. Memory needed: some 8 bytes a vector. The caller holds the lock that keeps other
/// folds of this folder out; searches may go on meanwhile, also in `current`.
///
/// When it fails, at whatever step, the current generation is untouched and stays valid. Fails with [`Error::Invalid`]
/// for a wrong dimension or order or a `current` of another model, as `fresh` does, or because of the disk.
#[allow(clippy::too_many_arguments)] // each is a different thing, and the one caller names them all
pub fn fold(
    dir: &Path,
    current: Option<&VectorIndex>,
    next: Coverage,
    model: &str,
    dimension: usize,
    gone: &RowSet,
    fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<f32>)>>,
) -> Result<()> {
    check_dimension(dimension)?;
    std::fs::create_dir_all(dir).map_err(|error| Error::io("create the folder", dir, error))?;
    let first = first_free(dir)?;
    let mut disk = Disk::default();
    let plan = Plan { dir, current, next, model, dimension, gone, first };
    let folded = plan.run(&mut disk, fresh);
    if folded.is_err() {
        // What was written so far would be removed by the next fold; a full disk should not wait for that. Older files
        // stay: if the manifest was renamed but the folder not synced, the old manifest may yet come back.
        if let Ok(generation) = Manifest::load(dir, FORMAT) {
            remove_leftovers(dir, generation.as_ref(), first, &mut disk);
        }
    }
    folded
}

struct Plan<'a> {
    dir: &'a Path,
    current: Option<&'a VectorIndex>,
    next: Coverage,
    model: &'a str,
    dimension: usize,
    gone: &'a RowSet,
    /// The first number for new files.
    first: u64,
}

impl Plan<'_> {
    fn run(self, disk: &mut Disk, fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<f32>)>>) -> Result<()> {
        if let Some(current) = self.current
            && (current.model() != self.model || current.dimension() != self.dimension)
        {
            let reason = format!("holds vectors of {}, not of {}", current.model(), self.model);
            return Err(Error::invalid(format!("vector index {}", self.dir.display()), reason));
        }
        let mut numbers = self.first..;
        let mut number = || numbers.next().expect("fewer than 2^64 files");
        let (rotation, isa) = (Rotation::new(self.dimension, ROTATION_SEED), Isa::best());

        let fresh_number = number();
        let (writer, fresh_rows) = self.write_fresh(disk, segment_path(self.dir, fresh_number), fresh)?;
        let (segments, entries): (&[Segment], &[Entry]) = match self.current {
            Some(current) => (&current.segments, &current.manifest.segments),
            None => (&[], &[]),
        };
        let views: Vec<_> = segments.iter().map(Segment::view).collect();
        let fates = fates(&views, self.gone, &fresh_rows);

        let mut kept = Vec::new();
        let mut dead_files = Vec::new();
        for ((segment, entry), fate) in segments.iter().zip(entries).zip(&fates) {
            if fate.merged || fate.dead_count == segment.rows() {
                continue;
            }
            let mut entry = entry.clone();
            if fate.dead_count != segment.rows() - segment.live() {
                let (number, count) = (number(), fate.dead_count as u32);
                entry.dead = Some(Dead { number, count, sha256: hex(&Sha256::digest(&fate.dead)) });
                dead_files.push((dead_path(self.dir, number), &fate.dead));
            }
            kept.push(entry);
        }

        if fates.iter().any(|fate| fate.merged) {
            let spool = writer.into_spool()?;
            let number = number();
            let merged = SegmentWriter::create(disk, segment_path(self.dir, number), self.dimension)?;
            let merged = merge(merged, &spool, segments, &fates)?;
            if !merged.ids().is_empty() {
                kept.push(merged.finish(number, &rotation, isa)?);
            }
        } else if !fresh_rows.is_empty() {
            kept.push(writer.finish(fresh_number, &rotation, isa)?);
        }

        for (path, dead) in dead_files {
            let written = disk.create(&path).and_then(|mut file| {
                disk.write(&mut file, dead)?;
                disk.sync(&file)
            });
            written.map_err(|error| Error::io("write", &path, error))?;
        }
        let manifest = Manifest {
            format: FORMAT,
            model: self.model.to_owned(),
            dimension: self.dimension,
            coverage: self.next,
            segments: kept,
        };
        manifest.store(self.dir, disk)?;
        remove_leftovers(self.dir, Some(&manifest), 0, disk);
        Ok(())
    }

    /// Streams the fresh vectors into a file that can become a segment.
    fn write_fresh<'d>(
        &self,
        disk: &'d mut Disk,
        path: PathBuf,
        fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<f32>)>>,
    ) -> Result<(SegmentWriter<'d>, RowSet)> {
        let mut writer = SegmentWriter::create(disk, path, self.dimension)?;
        let mut rows = RowSet::new();
        let mut row_bytes = vec![0; bytes::stride(self.dimension)];
        for vector in fresh {
            let (row, vector) = vector?;
            if vector.len() != self.dimension {
                let reason = format!("has {} dimensions instead of {}", vector.len(), self.dimension);
                return Err(Error::invalid(format!("vector of row {}", row.0), reason));
            }
            if writer.ids().last().is_some_and(|last| *last >= row.0) {
                return Err(Error::invalid(format!("vector of row {}", row.0), "rows must ascend"));
            }
            let scale = quantise(&vector, &mut row_bytes);
            writer.push(row, scale, &row_bytes)?;
            rows.insert(row);
        }
        Ok((writer, rows))
    }
}

/// One sorted input of a merge.
struct Source<'a> {
    ids: &'a [u32],
    scales: &'a [f32],
    bytes: &'a [u8],
    origin: Option<(&'a Segment, &'a Fate)>,
    at: usize,
    /// Up to here the operating system was asked to read.
    asked: usize,
}

impl Source<'_> {
    /// Steps over dead rows and gives the next row's id.
    fn peek(&mut self) -> Option<u32> {
        if let Some((segment, fate)) = self.origin {
            while self.at < self.ids.len() && fate.is_dead(self.at) {
                self.at += 1;
            }
            if self.at >= self.asked {
                segment.warm_bytes(self.at, 2 * AHEAD);
                self.asked = self.at + AHEAD;
            }
        }
        self.ids.get(self.at).copied()
    }
}

/// Writes the fresh rows and the live rows of the merged segments, ascending.
fn merge<'d>(
    mut writer: SegmentWriter<'d>,
    spool: &Spool,
    segments: &[Segment],
    fates: &[Fate],
) -> Result<SegmentWriter<'d>> {
    let old = segments.iter().zip(fates).filter(|(_, fate)| fate.merged).map(|(segment, fate)| Source {
        ids: segment.ids(),
        scales: segment.scales(),
        bytes: segment.bytes(),
        origin: Some((segment, fate)),
        at: 0,
        asked: 0,
    });
    let new = Source {
        ids: &spool.ids,
        scales: &spool.scales,
        bytes: spool.map.bytes(),
        origin: None,
        at: 0,
        asked: 0,
    };
    let mut sources: Vec<Source> = std::iter::once(new).chain(old).collect();
    let mut last = None;
    loop {
        let next = sources.iter_mut().enumerate().filter_map(|(at, source)| Some((source.peek()?, at))).min();
        let Some((row, at)) = next else { return Ok(writer) };
        if last >= Some(row) {
            return Err(generation::corrupt(writer.path(), "the rows of a merged segment do not ascend"));
        }
        last = Some(row);
        let source = &mut sources[at];
        let stride = source.bytes.len() / source.ids.len();
        let bytes = &source.bytes[source.at * stride..][..stride];
        writer.push(RowId(row), source.scales[source.at], bytes)?;
        source.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Allowed, Change, Scored};
    use crate::vector::Tier;
    use crate::vector::testing::{Folder, Vectors};

    #[test]
    fn what_is_folded_is_found_and_what_is_gone_is_not() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 500, 1);
        assert!(folder.open().is_none());
        folder.fold(1, &[], &data, 0..300);
        folder.fold(2, &[7, 250], &data, 300..500);
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.tier(), index.coverage().change), (498, Tier::Int8, Change(2)));
        index.verify().unwrap();
        for row in [0, 6, 299, 300, 499] {
            assert_eq!(folder.search(&index, &data, data.get(row), 1)[0].row, RowId(row));
        }
        assert_ne!(folder.search(&index, &data, data.get(7), 1)[0].row, RowId(7));
    }

    #[test]
    fn merging_gives_the_bytes_of_building_at_once() {
        let data = Vectors::clustered(72, 12_000, 2);
        let (steps, once) = (Folder::new(72), Folder::new(72));
        steps.fold(1, &[], &data, 0..4_000);
        steps.fold(2, &[], &data, 4_000..4_500);
        steps.fold(3, &[], &data, 4_500..12_000);
        once.fold(3, &[], &data, 0..12_000);
        let (steps, once) = (steps.open().unwrap(), once.open().unwrap());
        assert_eq!((steps.segments(), steps.tier()), (1, Tier::TwoStage));
        assert_eq!(steps.manifest.segments[0].sha256, once.manifest.segments[0].sha256);
    }

    #[test]
    fn a_fresh_row_replaces_its_older_copy_and_dead_rows_stay_dead() {
        let folder = Folder::new(64);
        let (old, new) = (Vectors::clustered(64, 30_000, 3), Vectors::clustered(64, 30_000, 4));
        folder.fold(1, &[], &old, 0..30_000);
        folder.fold(2, &[5], &new, 100..110);
        folder.fold(3, &[6, 100], &new, 0..0);
        let index = folder.open().unwrap();
        assert_eq!((index.segments(), index.len()), (2, 29_997));
        index.verify().unwrap();
        assert_eq!(folder.search(&index, &new, new.get(105), 1)[0].row, RowId(105));
        for (data, row) in [(&old, 5), (&old, 6), (&new, 100)] {
            assert!(folder.search(&index, data, data.get(row), 20).iter().all(|hit| hit.row != RowId(row)));
        }
        // The old copy of row 105 must not be found under its old numbers.
        let hits = folder.search(&index, &new, old.get(105), 40);
        assert!(hits.iter().filter(|hit| hit.row == RowId(105)).count() <= 1);
    }

    #[test]
    fn many_small_folds_leave_few_segments() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 60_000, 5);
        for step in 0..30 {
            folder.fold(step, &[], &data, step as u32 * 2_000..(step as u32 + 1) * 2_000);
        }
        let index = folder.open().unwrap();
        assert_eq!(index.len(), 60_000);
        assert!(index.segments() <= 4, "{}", index.segments());
        index.verify().unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1 + index.segments(), "only what the manifest names is left");
    }

    #[test]
    fn a_segment_that_is_mostly_dead_is_written_anew_and_an_empty_one_vanishes() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 8_000, 6);
        folder.fold(1, &[], &data, 0..8_000);
        let most: Vec<u32> = (0..3_000).collect();
        folder.fold(2, &most, &data, 0..0);
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.manifest.segments[0].rows), (5_000, 5_000));
        let rest: Vec<u32> = (0..8_000).collect();
        folder.fold(3, &rest, &data, 0..0);
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.segments()), (0, 0));
        assert!(folder.search(&index, &data, data.get(1), 5).is_empty());
    }

    #[test]
    fn a_fold_killed_at_any_step_leaves_the_old_generation_and_can_be_repeated() {
        let data = Vectors::clustered(64, 9_000, 7);
        let mut steps = 0;
        loop {
            let folder = Folder::new(64);
            folder.fold(1, &[], &data, 0..6_000);
            folder.fold(2, &[], &data, 6_000..6_001);
            let before = folder.open().unwrap();
            // Rows 0..100 are dead in the kept segment, the small segment is merged: every kind of write takes part.
            let gone: RowSet = (0..100).map(RowId).collect();
            let mut disk = Disk { steps_left: Some(steps) };
            let plan = Plan {
                dir: folder.path(),
                current: Some(&before),
                next: folder.coverage(3),
                model: "m",
                dimension: 64,
                gone: &gone,
                first: first_free(folder.path()).unwrap(),
            };
            let ended = plan.run(&mut disk, &mut data.rows(6_001..8_000));
            let after = folder.open().unwrap();
            after.verify().unwrap();
            before.verify().unwrap();
            let change = after.coverage().change;
            assert_eq!(after.len(), if change == Change(3) { 7_900 } else { 6_001 }, "step {steps}");
            assert!(ended.is_err() || change == Change(3), "step {steps}");
            folder.fold(4, &(0..100).collect::<Vec<_>>(), &data, 6_001..8_000);
            let again = folder.open().unwrap();
            assert_eq!(again.len(), 7_900, "step {steps}");
            again.verify().unwrap();
            assert_eq!(
                std::fs::read_dir(folder.path()).unwrap().count(),
                again.manifest.files() + 1,
                "step {steps}"
            );
            if disk.steps_left != Some(0) {
                break;
            }
            steps += 1;
        }
        assert!(steps > 10, "{steps}");
    }

    #[test]
    fn a_failed_fold_leaves_no_files_behind() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 5_000, 8);
        folder.fold(1, &[], &data, 0..3_000);
        let before = folder.open().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let files = names();
        let vector = |row, len| Ok((RowId(row), vec![1.0; len]));
        let broken = [
            vec![vector(1, 64), vector(1, 64)],
            vec![vector(1, 65)],
            vec![vector(1, 64), Err(Error::invalid("the store", "went away"))],
        ];
        for fresh in broken {
            let mut fresh = fresh.into_iter();
            let next = folder.coverage(2);
            assert!(fold(folder.path(), Some(&before), next, "m", 64, &RowSet::new(), &mut fresh).is_err());
            assert_eq!(names(), files);
        }
        let next = folder.coverage(2);
        let other =
            fold(folder.path(), Some(&before), next, "other", 64, &RowSet::new(), &mut std::iter::empty());
        assert!(other.unwrap_err().to_string().contains("holds vectors of m, not of other"));
        for dimension in [0, 8, 65, 4104] {
            let none = &mut std::iter::empty();
            assert!(
                fold(folder.path(), None, folder.coverage(1), "m", dimension, &RowSet::new(), none).is_err()
            );
        }
    }

    #[test]
    fn a_reader_keeps_its_generation_while_the_next_replaces_its_files() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 3_000, 9);
        folder.fold(1, &[], &data, 0..1_000);
        let old = folder.open().unwrap();
        folder.fold(2, &[3], &data, 1_000..3_000);
        assert_eq!(folder.search(&old, &data, data.get(3), 1)[0].row, RowId(3));
        old.verify().unwrap();
    }

    #[test]
    fn starting_anew_replaces_whatever_is_there() {
        let folder = Folder::new(64);
        let data = Vectors::clustered(64, 200, 10);
        folder.fold(1, &[], &data, 0..200);
        let none = RowSet::new();
        fold(folder.path(), None, folder.coverage(9), "m", 64, &none, &mut data.rows(50..60)).unwrap();
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.coverage().change), (10, Change(9)));
        let all = Allowed { keep: None, drop: &none };
        let hits: Vec<Scored> = index.search(data.get(55), 3, all, &mut |rows| data.fetch(rows)).unwrap();
        assert_eq!(hits[0].row, RowId(55));
    }
}
