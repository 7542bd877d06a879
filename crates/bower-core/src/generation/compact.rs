//! Compaction: merges an index's fresh rows with its segments and writes the next generation.
//! The current generation is untouched until the next one's manifest is in place.
//!
//! Fresh rows become a segment. It is merged with every segment up to twice as large as the rows gathered so far (up to
//! 4,096 rows always). So each segment is more than twice as large as the next smaller one, and about log2(N / 4,096)
//! segments remain (8 at a million). A segment of more than 4,096 rows grows by half whenever it is rewritten. So a row
//! is rewritten at most log1.5(N / 4,096) times (14 at a million). In addition any compaction may rewrite up to 4,096
//! rows (1.6 MB of vectors at 384 dimensions).
//!
//! Merging copies what segments store of a row and derives the rest again. So a merged segment has the same bytes as
//! one written at once: quality does not decay, and old rows need not be read from the store.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::manifest::{dead_path, first_free, remove_leftovers, segment_path};
use super::merge_policy::{SegmentAction, segment_actions};
use super::{
    Body, Dead, Disk, Generation, Manifest, Segment, SegmentEntry, SegmentFormat, SegmentWriter, corrupt,
};
use crate::error::{Error, Result};
use crate::files;
use crate::item::{Coverage, RowId, RowSet, hex};

/// Number of rows that a merge prefetches at once.
const AHEAD: usize = 4_096;

/// The rows of a compaction, in strictly ascending order.
pub type FreshRows<'f, R> = dyn Iterator<Item = Result<(RowId, <R as SegmentFormat>::Fresh)>> + 'f;

/// One compaction: writes the generation in `dir` without the rows in `gone` and with fresh ones.
pub struct Compaction<'a, R: SegmentFormat> {
    /// The index's folder; created if missing.
    pub dir: &'a Path,
    /// The opened generation in it; `None` starts from scratch, whatever is there.
    pub current: Option<&'a Generation<R>>,
    /// The coverage of the next generation.
    pub next: Coverage,
    /// The model that makes the rows.
    pub model: &'a str,
    /// Deleted rows. A fresh row takes precedence.
    pub gone: &'a RowSet,
    /// Rewrites every segment that contains deleted rows, so that no file keeps one.
    pub purge: bool,
}

impl<R: SegmentFormat> Compaction<'_, R> {
    /// Writes the next generation. A fresh row replaces an older copy of itself. The caller holds the lock against
    /// other compactions of this folder. Questions may be answered meanwhile, also from `current`.
    ///
    /// If it fails at any step, the current generation is untouched and stays valid. Fails with [`Error::Invalid`] for
    /// a wrong order or a `current` of another model, with the errors of `fresh` and the format, or because of the
    /// disk.
    pub fn run(self, format: &R, disk: &mut Disk, fresh: &mut FreshRows<'_, R>) -> Result<()> {
        let dir = self.dir;
        files::create_folder(dir).map_err(|error| Error::io("create the folder", dir, error))?;
        let first = first_free(dir)?;
        let compacted = self.write(format, first, disk, fresh);
        if compacted.is_err() {
            // Removes the files written so far. The next compaction would do it, but a full disk should not wait for
            // that. Older files stay: if the manifest was renamed but the folder not synced, the old manifest may come
            // back.
            if let Ok(generation) = Manifest::load(dir, R::FORMAT) {
                remove_leftovers(dir, generation.as_ref(), first, disk);
            }
        }
        compacted
    }

    /// Writes files with numbers from `first` on, then the manifest, and removes files that it does not name.
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
        let segment_actions = segment_actions(&views, self.gone, &fresh_rows, self.purge);
        for ((segment, entry), action) in segments.iter().zip(entries).zip(&segment_actions) {
            // Everything that is copied must be verified; of other segments only the ids were read.
            if action.merged {
                segment.check_all(entry)?;
            }
            segment.damage().map_or(Ok(()), Err)?;
        }

        let mut kept = Vec::new();
        let (mut dead_files, mut bare) = (Vec::new(), Vec::new());
        for ((segment, entry), action) in segments.iter().zip(entries).zip(&segment_actions) {
            if action.merged || action.dead_count == segment.rows() {
                continue;
            }
            if !segment.has_sums() {
                bare.push((segment, entry));
            }
            let mut entry = entry.clone();
            if action.dead_count != segment.rows() - segment.live() {
                let (number, count) = (number(), action.dead_count as u32);
                entry.dead = Some(Dead { number, count, sha256: hex(&Sha256::digest(&action.dead)) });
                dead_files.push((dead_path(self.dir, number), &action.dead));
            }
            kept.push(entry);
        }

        if segment_actions.iter().any(|action| action.merged) {
            let (spool, number) = (draft.into_spool()?, number());
            let mut merged = SegmentWriter::create(disk, segment_path(self.dir, number))?;
            let path = merged.file.path().to_path_buf();
            for row in Merge::new(path, spool.body(), segments, &segment_actions) {
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

/// The fresh rows and the live rows of the merged segments, ascending, each in its segment's form.
struct Merge<'a, R: SegmentFormat> {
    /// The file that they are written to.
    path: PathBuf,
    sources: Vec<Source<'a, R>>,
    last: Option<u32>,
}

/// One sorted input of a merge.
struct Source<'a, R: SegmentFormat> {
    body: Body<'a, R>,
    /// The action for an old segment; `None` for the fresh rows.
    action: Option<&'a SegmentAction>,
    at: usize,
    /// The position up to which rows were prefetched.
    asked: usize,
}

impl<'a, R: SegmentFormat> Merge<'a, R> {
    fn new(
        path: PathBuf,
        fresh: Body<'a, R>,
        segments: &'a [Segment<R>],
        segment_actions: &'a [SegmentAction],
    ) -> Self {
        let old = segments.iter().zip(segment_actions).filter(|(_, action)| action.merged);
        let old = old.map(|(segment, action)| (segment.body(), Some(action)));
        let sources = std::iter::once((fresh, None)).chain(old);
        let sources = sources.map(|(body, action)| Source { body, action, at: 0, asked: 0 }).collect();
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
    /// Skips dead rows and returns the next row's id.
    fn peek(&mut self) -> Option<u32> {
        if let Some(action) = self.action {
            while self.at < self.body.ids.len() && action.is_dead(self.at) {
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
