//! Writing the next generation. Nothing of the current one is touched until the next one's manifest is in place.
//!
//! Fresh codes become a segment, which is merged with smaller ones as `vector/fold.rs` does it, and for the same reasons.
//! A code is a function of text and scheme alone, so merging only copies.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::segment::{Segment, SegmentWriter, Spool};
use super::{DIMENSION, FORMAT, TokenIndex};
use crate::error::{Error, Result};
use crate::generation::{
    Dead, Disk, Entry, Fate, Manifest, corrupt, dead_path, fates, first_free, remove_leftovers, segment_path,
};
use crate::item::{Coverage, RowId, RowSet, hex};

/// Rows that a merge asks the operating system for at once.
const AHEAD: usize = 4_096;

/// Writes the next generation of the index in `dir`: the current one without the rows in `gone`, with the fresh codes.
///
/// `current` is the opened generation in `dir`; `None` starts anew, whatever is there. `fresh` gives rows in strictly
/// ascending order, each with its codes (eight bytes a token, none for a text without tokens); a fresh row replaces an
/// older copy of itself and wins over `gone`. Memory needed: some 16 bytes a row. The caller holds the lock that keeps
/// other folds of this folder out; questions may be answered meanwhile, also from `current`.
///
/// When it fails, at whatever step, the current generation is untouched and stays valid. Fails with [`Error::Invalid`]
/// for a wrong length or order or a `current` of another scheme, as `fresh` does, or because of the disk.
pub fn fold(
    dir: &Path,
    current: Option<&TokenIndex>,
    next: Coverage,
    model: &str,
    gone: &RowSet,
    fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<u8>)>>,
) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|error| Error::io("create the folder", dir, error))?;
    let first = first_free(dir)?;
    let mut disk = Disk::default();
    let plan = Plan { dir, current, next, model, gone, first };
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
    current: Option<&'a TokenIndex>,
    next: Coverage,
    model: &'a str,
    gone: &'a RowSet,
    /// The first number for new files.
    first: u64,
}

impl Plan<'_> {
    fn run(self, disk: &mut Disk, fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<u8>)>>) -> Result<()> {
        if let Some(current) = self.current
            && current.model() != self.model
        {
            let reason = format!("holds codes of {}, not of {}", current.model(), self.model);
            return Err(Error::invalid(format!("token index {}", self.dir.display()), reason));
        }
        let mut numbers = self.first..;
        let mut number = || numbers.next().expect("fewer than 2^64 files");
        let fresh_number = number();
        let (writer, fresh_rows) = write_fresh(disk, segment_path(self.dir, fresh_number), fresh)?;
        let (segments, entries): (&[Segment], &[Entry]) = match self.current {
            Some(current) => (&current.segments, &current.manifest.segments),
            None => (&[], &[]),
        };
        let views: Vec<_> = segments.iter().map(Segment::view).collect();
        let fates = fates(&views, self.gone, &fresh_rows);

        let mut kept = Vec::new();
        let mut dead_files = Vec::new();
        for ((segment, entry), fate) in segments.iter().zip(entries).zip(&fates) {
            let rows = entry.rows as usize;
            if fate.merged || fate.dead_count == rows {
                continue;
            }
            let mut entry = entry.clone();
            if fate.dead_count != rows - segment.live() {
                let (number, count) = (number(), fate.dead_count as u32);
                entry.dead = Some(Dead { number, count, sha256: hex(&Sha256::digest(&fate.dead)) });
                dead_files.push((dead_path(self.dir, number), &fate.dead));
            }
            kept.push(entry);
        }

        if fates.iter().any(|fate| fate.merged) {
            let spool = writer.into_spool()?;
            let number = number();
            let merged = SegmentWriter::create(disk, segment_path(self.dir, number))?;
            let merged = merge(merged, &spool, segments, &fates)?;
            if !merged.ids().is_empty() {
                kept.push(merged.finish(number)?);
            }
        } else if !fresh_rows.is_empty() {
            kept.push(writer.finish(fresh_number)?);
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
            dimension: DIMENSION,
            coverage: self.next,
            segments: kept,
        };
        manifest.store(self.dir, disk)?;
        remove_leftovers(self.dir, Some(&manifest), 0, disk);
        Ok(())
    }
}

/// Streams the fresh codes into a file that can become a segment.
fn write_fresh<'d>(
    disk: &'d mut Disk,
    path: PathBuf,
    fresh: &mut dyn Iterator<Item = Result<(RowId, Vec<u8>)>>,
) -> Result<(SegmentWriter<'d>, RowSet)> {
    let mut writer = SegmentWriter::create(disk, path)?;
    let mut rows = RowSet::new();
    for codes in fresh {
        let (row, codes) = codes?;
        let refused = |reason| Err(Error::invalid(format!("token codes of row {}", row.0), reason));
        if !codes.len().is_multiple_of(8) {
            return refused("must be eight bytes a token");
        }
        if writer.ids().last().is_some_and(|last| *last >= row.0) {
            return refused("rows must ascend");
        }
        writer.push(row, &codes)?;
        rows.insert(row);
    }
    Ok((writer, rows))
}

/// One sorted input of a merge.
struct Source<'a> {
    ids: &'a [u32],
    origin: Origin<'a>,
    at: usize,
    /// Up to here the operating system was asked to read.
    asked: usize,
}

enum Origin<'a> {
    Fresh(&'a Spool),
    Old(&'a Segment, &'a Fate),
}

impl Source<'_> {
    /// Steps over dead rows and gives the next row's id.
    fn peek(&mut self) -> Option<u32> {
        if let Origin::Old(segment, fate) = self.origin {
            while self.at < self.ids.len() && fate.is_dead(self.at) {
                self.at += 1;
            }
            if self.at >= self.asked {
                segment.warm(self.at, 2 * AHEAD);
                self.asked = self.at + AHEAD;
            }
        }
        self.ids.get(self.at).copied()
    }

    fn codes(&self) -> Result<&[u8]> {
        match self.origin {
            Origin::Fresh(spool) => Ok(spool.codes(self.at)),
            Origin::Old(segment, _) => Ok(bytemuck::cast_slice(segment.codes(self.at)?)),
        }
    }
}

/// Writes the fresh rows and the live rows of the merged segments, ascending.
fn merge<'d>(
    mut writer: SegmentWriter<'d>,
    spool: &Spool,
    segments: &[Segment],
    fates: &[Fate],
) -> Result<SegmentWriter<'d>> {
    let old = segments.iter().zip(fates).filter(|(_, fate)| fate.merged);
    let old = old.map(|(segment, fate)| (segment.view().ids, Origin::Old(segment, fate)));
    let all = std::iter::once((spool.ids.as_slice(), Origin::Fresh(spool))).chain(old);
    let mut sources: Vec<Source> = all.map(|(ids, origin)| Source { ids, origin, at: 0, asked: 0 }).collect();
    let mut last = None;
    loop {
        let next = sources.iter_mut().enumerate().filter_map(|(at, source)| Some((source.peek()?, at))).min();
        let Some((row, at)) = next else { return Ok(writer) };
        if last >= Some(row) {
            return Err(corrupt(writer.path(), "the rows of a merged segment do not ascend"));
        }
        last = Some(row);
        writer.push(RowId(row), sources[at].codes()?)?;
        sources[at].at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Change;
    use crate::tokens::testing::{Folder, bytes, codes, coverage, question, rows};

    #[test]
    fn what_is_folded_is_scored_and_what_is_gone_is_not() {
        let folder = Folder::new();
        assert!(folder.open().is_none());
        folder.fold(1, &[], 1, 0..300);
        folder.fold(2, &[7, 250], 1, 300..500);
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.coverage().change), (498, Change(2)));
        index.verify().unwrap();
        assert_eq!(index.rows().count(), 498);
        assert!(
            folder.holds(&[499, 0, 3, 6, 300, 0, 299], 1),
            "any order, repeated, with and without tokens"
        );
        let scores = index.score(&question(1), &[RowId(7), RowId(8), RowId(250), RowId(9_999)]).unwrap();
        assert_eq!(scores.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
        assert_eq!(index.score(&question(1), &[]).unwrap(), []);
    }

    #[test]
    fn merging_gives_the_bytes_of_building_at_once() {
        let (steps, once) = (Folder::new(), Folder::new());
        steps.fold(1, &[], 2, 0..4_000);
        steps.fold(2, &[], 2, 4_000..4_500);
        steps.fold(3, &[], 2, 4_500..12_000);
        once.fold(3, &[], 2, 0..12_000);
        let (steps, once) = (steps.open().unwrap(), once.open().unwrap());
        assert_eq!(steps.segments(), 1);
        assert_eq!(steps.manifest.segments[0].sha256, once.manifest.segments[0].sha256);
    }

    #[test]
    fn a_fresh_row_replaces_its_older_copy_and_dead_rows_stay_dead() {
        let folder = Folder::new();
        folder.fold(1, &[], 3, 0..30_000);
        folder.fold(2, &[5], 4, 100..110);
        folder.fold(3, &[6, 100], 4, 0..0);
        let index = folder.open().unwrap();
        assert_eq!((index.segments(), index.len()), (2, 29_997));
        index.verify().unwrap();
        assert!(folder.holds(&[0, 99, 110, 29_999], 3) && folder.holds(&[101, 109], 4));
        let gone = index.score(&question(1), &[RowId(5), RowId(6), RowId(100)]).unwrap();
        assert_eq!(gone, [None, None, None]);
    }

    #[test]
    fn many_small_folds_leave_few_segments_and_the_dead_go_with_their_files() {
        let folder = Folder::new();
        for step in 0..15 {
            folder.fold(step, &[], 5, step as u32 * 2_000..(step as u32 + 1) * 2_000);
        }
        let index = folder.open().unwrap();
        assert_eq!(index.len(), 30_000);
        assert!(index.segments() <= 4, "{}", index.segments());
        index.verify().unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1 + index.segments(), "only what the manifest names is left");
        folder.fold(20, &(0..30_000).collect::<Vec<_>>(), 5, 0..0);
        let index = folder.open().unwrap();
        assert_eq!((index.len(), index.segments(), index.is_empty()), (0, 0, true));
    }

    #[test]
    fn a_fold_killed_at_any_step_leaves_the_old_generation_and_can_be_repeated() {
        let mut steps = 0;
        loop {
            let folder = Folder::new();
            folder.fold(1, &[], 6, 0..9_000);
            folder.fold(2, &[], 6, 9_000..9_001);
            let before = folder.open().unwrap();
            let gone: RowSet = (0..100).map(RowId).collect();
            let mut disk = Disk { steps_left: Some(steps) };
            let plan = Plan {
                dir: folder.path(),
                current: Some(&before),
                next: coverage(3),
                model: "m",
                gone: &gone,
                first: first_free(folder.path()).unwrap(),
            };
            let ended = plan.run(&mut disk, &mut rows(9_001..10_000, 6));
            let after = folder.open().unwrap();
            after.verify().unwrap();
            before.verify().unwrap();
            let change = after.coverage().change;
            assert_eq!(after.len(), if change == Change(3) { 9_900 } else { 9_001 }, "step {steps}");
            assert!(ended.is_err() || change == Change(3), "step {steps}");
            folder.fold(4, &(0..100).collect::<Vec<_>>(), 6, 9_001..10_000);
            let again = folder.open().unwrap();
            assert_eq!(again.len(), 9_900, "step {steps}");
            again.verify().unwrap();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), again.manifest.files() + 1);
            if disk.steps_left != Some(0) {
                break;
            }
            steps += 1;
        }
        assert!(steps > 10, "{steps}");
    }

    #[test]
    fn a_failed_fold_leaves_no_files_behind() {
        let folder = Folder::new();
        folder.fold(1, &[], 7, 0..3_000);
        let before = folder.open().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let files = names();
        let one = |row| Ok((RowId(row), bytes(&codes(row, 7))));
        let broken = [
            vec![one(1), one(1)],
            vec![Ok((RowId(1), vec![0; 9]))],
            vec![one(1), Err(Error::invalid("the store", "went away"))],
        ];
        for fresh in broken {
            let mut fresh = fresh.into_iter();
            let none = RowSet::new();
            assert!(fold(folder.path(), Some(&before), coverage(2), "m", &none, &mut fresh).is_err());
            assert_eq!(names(), files);
        }
        let other = &mut std::iter::empty();
        let other = fold(folder.path(), Some(&before), coverage(2), "other", &RowSet::new(), other);
        assert!(other.unwrap_err().to_string().contains("holds codes of m, not of other"));
    }

    #[test]
    fn a_reader_keeps_its_generation_while_the_next_replaces_its_files() {
        let folder = Folder::new();
        folder.fold(1, &[], 8, 0..1_000);
        let old = folder.open().unwrap();
        folder.fold(2, &[4], 8, 1_000..3_000);
        assert!(old.score(&question(1), &[RowId(4)]).unwrap()[0].is_some());
        old.verify().unwrap();
    }
}
