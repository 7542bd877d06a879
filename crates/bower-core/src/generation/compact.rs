//! Compaction: merges an index's fresh rows with its segments and writes the next generation.
//! Nothing of the current one is touched until the next one's manifest is in place.
//!
//! Fresh rows become a segment. It is merged with every segment up to twice as large as what has been gathered so far
//! (up to 4,096 rows always). So each segment is more than twice as large as the next smaller one, which leaves about
//! log2(N / 4,096) of them (8 at a million); and what holds more than 4,096 grows by half whenever it is rewritten, so a
//! row is written at most log1.5(N / 4,096) times more (14 at a million), beside the 4,096 rows (1.6 MB of vectors at 384
//! dimensions) that any compaction may rewrite. Merging copies what segments keep of a row and makes anew what is derived from
//! it, so a merged segment has the bytes that it would have, had it been made at once: quality does not decay, and the
//! store is not asked for old rows.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::manifest::{dead_path, first_free, remove_leftovers, segment_path};
use super::rows::{SegmentAction, fates};
use super::{
    Body, Dead, Disk, Generation, Manifest, Segment, SegmentEntry, SegmentFormat, SegmentWriter, corrupt,
};
use crate::error::{Error, Result};
use crate::files;
use crate::item::{Coverage, RowId, RowSet, hex};

/// Rows that a merge asks the operating system for at once.
const AHEAD: usize = 4_096;

/// The rows of a compaction: as the format takes them, in strictly ascending order.
pub type FreshRows<'f, R> = dyn Iterator<Item = Result<(RowId, <R as SegmentFormat>::Fresh)>> + 'f;

/// One compaction: the generation in `dir` without the rows in `gone`, with fresh ones.
pub struct Compaction<'a, R: SegmentFormat> {
    /// The index's folder; it is created where it is missing.
    pub dir: &'a Path,
    /// The opened generation in it; `None` starts anew, whatever is there.
    pub current: Option<&'a Generation<R>>,
    /// What the next generation will hold.
    pub next: Coverage,
    /// What makes the rows.
    pub model: &'a str,
    /// Which rows are not to be found any more. A fresh row wins over it.
    pub gone: &'a RowSet,
    /// No file keeps a row that is not to be found: whatever has one is written anew without it.
    pub purge: bool,
}

impl<R: SegmentFormat> Compaction<'_, R> {
    /// Writes the next generation. A fresh row replaces an older copy of itself. The caller holds the lock that keeps
    /// other compacts of this folder out; questions may be answered meanwhile, also from `current`.
    ///
    /// When it fails, at whatever step, the current generation is untouched and stays valid. Fails with
    /// [`Error::Invalid`] for a wrong order or a `current` of another model, as `fresh` and the format do, or because of the
    /// disk.
    pub fn run(self, format: &R, disk: &mut Disk, fresh: &mut FreshRows<'_, R>) -> Result<()> {
        let dir = self.dir;
        files::create_folder(dir).map_err(|error| Error::io("create the folder", dir, error))?;
        let first = first_free(dir)?;
        let compacted = self.write(format, first, disk, fresh);
        if compacted.is_err() {
            // What was written so far would be removed by the next compaction; a full disk should not wait for that. Older files
            // stay: if the manifest was renamed but the folder not synced, the old manifest may yet come back.
            if let Ok(generation) = Manifest::load(dir, R::FORMAT) {
                remove_leftovers(dir, generation.as_ref(), first, disk);
            }
        }
        compacted
    }

    /// Writes files with numbers from `first` on, then the manifest, and removes what it does not name.
    fn write(self, format: &R, first: u64, disk: &mut Disk, fresh: &mut FreshRows<'_, R>) -> Result<()> {
        if let Some(current) = self.current
            && (current.model() != self.model || current.dimension() != format.dimension())
        {
            let reason = format!("holds {} of {}, not of {}", R::ROWS, current.model(), self.model);
            return Err(Error::invalid(format!("{} {}", R::INDEX, self.dir.display()), reason));
        }
        let mut numbers = first..;
        let mut number = || numbers.next().expect("fewer than 2^64 files");

        let fresh_number = number();
        let mut draft = SegmentWriter::create(disk, segment_path(self.dir, fresh_number))?;
        write_fresh(format, fresh, &mut draft)?;
        let fresh_rows: RowSet = draft.ids.iter().copied().map(RowId).collect();
        let (segments, entries): (&[Segment<R>], &[SegmentEntry]) = match self.current {
            Some(current) => (&current.segments, &current.manifest.segments),
            None => (&[], &[]),
        };
        let views: Vec<_> = segments.iter().map(Segment::view).collect();
        let fates = fates(&views, self.gone, &fresh_rows, self.purge);
        for ((segment, entry), fate) in segments.iter().zip(entries).zip(&fates) {
            // What is copied must be what was written; of the rest only the ids were read.
            if fate.merged {
                segment.check_all(entry)?;
            }
            segment.damage().map_or(Ok(()), Err)?;
        }

        let mut kept = Vec::new();
        let (mut dead_files, mut bare) = (Vec::new(), Vec::new());
        for ((segment, entry), fate) in segments.iter().zip(entries).zip(&fates) {
            if fate.merged || fate.dead_count == segment.rows() {
                continue;
            }
            if !segment.has_sums() {
                bare.push((segment, entry));
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
            let (spool, number) = (draft.into_spool()?, number());
            let mut merged = SegmentWriter::create(disk, segment_path(self.dir, number))?;
            let path = merged.file.path().to_path_buf();
            for row in Merge::new(path, spool.body(), segments, &fates) {
                let (row, number, bytes) = row?;
                format.copy(row, number, bytes, &mut merged)?;
            }
            kept.push(merged.finish(format, number)?);
        } else if !draft.ids.is_empty() {
            kept.push(draft.finish(format, fresh_number)?);
        }

        for (path, dead) in dead_files {
            let written = disk.create(&path).and_then(|mut file| {
                disk.write(&mut file, dead)?;
                disk.sync(&file)
            });
            written.map_err(|error| Error::io("write", &path, error))?;
        }
        for (segment, entry) in bare {
            segment.add_sums(self.dir, entry, disk)?;
        }
        let manifest = Manifest {
            format: R::FORMAT,
            model: self.model.to_owned(),
            dimension: format.dimension(),
            coverage: self.next,
            segments: kept,
        };
        manifest.store(self.dir, disk)?;
        remove_leftovers(self.dir, Some(&manifest), 0, disk);
        Ok(())
    }
}

/// Streams the fresh rows into a file that can become a segment.
fn write_fresh<R: SegmentFormat>(
    format: &R,
    fresh: &mut FreshRows<'_, R>,
    draft: &mut SegmentWriter<'_, R>,
) -> Result<()> {
    for next in fresh {
        let (row, fresh) = next?;
        if draft.ids.last().is_some_and(|last| *last >= row.0) {
            return Err(R::refused(row, "rows must ascend"));
        }
        format.write(row, &fresh, draft)?;
    }
    Ok(())
}

/// The fresh rows and the live rows of the merged segments, ascending; each as its segment keeps it.
struct Merge<'a, R: SegmentFormat> {
    /// The file that they are written to.
    path: PathBuf,
    sources: Vec<Source<'a, R>>,
    last: Option<u32>,
}

/// One sorted input of a merge.
struct Source<'a, R: SegmentFormat> {
    body: Body<'a, R>,
    /// What becomes of an old segment; `None` for the fresh rows.
    fate: Option<&'a SegmentAction>,
    at: usize,
    /// Up to here the operating system was asked to read.
    asked: usize,
}

impl<'a, R: SegmentFormat> Merge<'a, R> {
    fn new(
        path: PathBuf,
        fresh: Body<'a, R>,
        segments: &'a [Segment<R>],
        fates: &'a [SegmentAction],
    ) -> Self {
        let old = segments.iter().zip(fates).filter(|(_, fate)| fate.merged);
        let old = old.map(|(segment, fate)| (segment.body(), Some(fate)));
        let sources = std::iter::once((fresh, None)).chain(old);
        let sources = sources.map(|(body, fate)| Source { body, fate, at: 0, asked: 0 }).collect();
        Self { path, sources, last: None }
    }
}

impl<'a, R: SegmentFormat> Iterator for Merge<'a, R> {
    type Item = Result<(RowId, R::Number, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let heads = self.sources.iter_mut().enumerate();
        let (row, at) = heads.filter_map(|(at, source)| Some((source.peek()?, at))).min()?;
        if self.last >= Some(row) {
            return Some(Err(corrupt(&self.path, "the rows of a merged segment do not ascend")));
        }
        self.last = Some(row);
        let source = &mut self.sources[at];
        let number = source.body.number(source.at);
        let bytes = source.body.row(source.at);
        source.at += 1;
        Some(bytes.map(|bytes| (RowId(row), number, bytes)))
    }
}

impl<R: SegmentFormat> Source<'_, R> {
    /// Steps over dead rows and gives the next row's id.
    fn peek(&mut self) -> Option<u32> {
        if let Some(fate) = self.fate {
            while self.at < self.body.ids.len() && fate.is_dead(self.at) {
                self.at += 1;
            }
            if self.at >= self.asked {
                self.body.warm(self.at..self.at + 2 * AHEAD);
                self.asked = self.at + AHEAD;
            }
        }
        self.body.ids.get(self.at).copied()
    }
}
