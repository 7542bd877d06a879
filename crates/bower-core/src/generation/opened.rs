//! An opened generation of a segment index, mapped and immutable.
//! It stays complete while it is open, whatever later compactions remove.

use std::path::{Path, PathBuf};

use super::manifest::{NAME, remove_leftovers};
use super::{Disk, Manifest, Segment, SegmentEntry, SegmentFormat, corrupt};
use crate::error::{Error, Result};
use crate::item::{Coverage, RowSet};

/// An opened generation: mapped, immutable. It stays complete while it is open, whatever later compactions remove.
#[derive(Debug)]
pub struct Generation<R: SegmentFormat> {
    pub(crate) dir: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) segments: Vec<Segment<R>>,
    pub(crate) format: R,
}

impl<R: SegmentFormat> Generation<R> {
    /// Opens the generation in an index's folder; `None` if there is none.
    ///
    /// Checks the manifest, each file's length and footer and the dead rows, and reads no other pages. Any
    /// inconsistency is [`Error::Corrupt`](crate::Error::Corrupt): delete the folder and compact again.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        Manifest::load(dir, R::FORMAT)?.map_or(Ok(None), |manifest| Self::open_from(dir, manifest))
    }

    /// Opens the files that a manifest names. If a compaction replaced the manifest after it was read and removed files
    /// of it, the newer one is opened.
    pub(super) fn open_from(dir: &Path, mut manifest: Manifest) -> Result<Option<Self>> {
        loop {
            match Self::map(dir, &manifest) {
                Ok((segments, format)) => {
                    return Ok(Some(Self { dir: dir.to_path_buf(), manifest, segments, format }));
                }
                Err(error) => match Manifest::load(dir, R::FORMAT)? {
                    None => return Ok(None),
                    Some(newer) if newer != manifest => manifest = newer,
                    Some(_) => return Err(error),
                },
            }
        }
    }

    fn map(dir: &Path, manifest: &Manifest) -> Result<(Vec<Segment<R>>, R)> {
        let format = R::of(manifest.dimension).map_err(|reason| corrupt(&dir.join(NAME), reason))?;
        let open = |entry| Segment::open(dir, entry, &format);
        let segments = manifest.segments.iter().map(open).collect::<Result<_>>()?;
        Ok((segments, format))
    }

    /// Returns the coverage of the index.
    pub fn coverage(&self) -> &Coverage {
        &self.manifest.coverage
    }

    /// Returns the model, or the scheme with its model, that made the rows.
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// Returns the dimension: numbers of a vector or of a token.
    pub fn dimension(&self) -> usize {
        self.manifest.dimension
    }

    /// Returns the number of rows that can be found.
    pub fn len(&self) -> usize {
        self.segments.iter().map(Segment::live).sum()
    }

    /// Returns the number of the given rows that can be found.
    pub fn count(&self, rows: &RowSet) -> usize {
        let in_segment = |segment: &Segment<R>| {
            let (view, mut from, mut count) = (segment.view(), 0, 0);
            for row in rows.iter() {
                match view.find(row, from) {
                    Ok(at) => {
                        from = at;
                        count += usize::from(!view.is_dead(at));
                    }
                    Err(at) => from = at,
                }
            }
            count
        };
        self.segments.iter().map(in_segment).sum()
    }

    /// Whether no row can be found.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its files contain dead rows.
    pub fn keeps_dead(&self) -> bool {
        self.manifest.segments.iter().any(|entry| entry.dead.is_some())
    }

    /// Removes files of the folder that no generation names, left by a killed compaction. The caller holds the lock
    /// against compactions of this folder.
    pub fn clear_leftovers(&self) {
        remove_leftovers(&self.dir, Some(&self.manifest), 0, &mut Disk::default());
    }

    /// Whether every segment has block checksums. An index of an older version gets them from the next compaction.
    pub fn has_sums(&self) -> bool {
        self.segments.iter().all(Segment::has_sums)
    }

    /// Returns its files.
    pub fn paths(&self) -> Vec<PathBuf> {
        let files = |entry: &SegmentEntry| {
            let dead = entry.dead.as_ref().map(|dead| dead.path(&self.dir));
            std::iter::once(entry.path(&self.dir)).chain(dead)
        };
        self.manifest.segments.iter().flat_map(files).collect()
    }

    /// Returns the damage found while reading. Results read from a damaged index must not be used.
    pub fn damage(&self) -> Option<Error> {
        self.segments.iter().find_map(Segment::damage)
    }

    /// Returns the number of segments: at most about the binary logarithm of its rows over 4,096.
    #[cfg(feature = "parts")]
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Reads everything and verifies checksums and counts. The time is proportional to the size of the index.
    pub fn verify(&self) -> Result<()> {
        let mut pairs = self.manifest.segments.iter().zip(&self.segments);
        pairs.try_for_each(|(entry, segment)| segment.verify(entry))
    }
}
