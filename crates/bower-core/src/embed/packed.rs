//! Puts a packed model file in place, opens it, and verifies what a pass reads before its first use.
//!
//! Its block checksums are in a file beside it (`.sums`), because the packed file has a fixed content. If they are
//! missing, as after an older version, the file is used unverified until [`Packed::add_sums`] has read all of it and
//! created them.

use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bower_kernels::Mapped;

use super::layout::{PackedLayout, damaged};
use crate::checksum::{BlockSums, Checked};
use crate::error::{Error, Result};
use crate::files;

/// Interval of checks whether another process wrote to the opened file; each takes a microsecond.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The section with the vocabulary, and the one with a row for each word, of which a text needs a few.
const VOCABULARY: usize = 0;
const WORDS: usize = 1;

/// A mapped file with a checked header.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) path: PathBuf,
    pub(super) layout: PackedLayout,
    map: Mapped,
    checked: Checked,
    /// Whether everything that every pass reads is verified.
    is_whole: AtomicBool,
    /// The time of the last check for writes to the file, and the file's modification time then.
    looked: Mutex<(Instant, Option<SystemTime>)>,
}

impl Packed {
    /// Maps a file and checks only its header.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let map = Mapped::open(path).map_err(|cause| Error::io("open the model", path, cause))?;
        let layout = PackedLayout::read(map.bytes())?;
        let sums = fs::read(sums_path(path)).ok();
        let sums = sums.and_then(|bytes| BlockSums::from_bytes(&bytes, layout.contents()));
        let checked = Checked::new(sums.filter(|sums| sums.file_len() == map.bytes().len()));
        let (is_whole, looked) = (AtomicBool::new(false), Mutex::new((Instant::now(), map.modified())));
        Ok(Self { path: path.to_path_buf(), layout, map, checked, is_whole, looked })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }

    /// Verifies the vocabulary. If another process wrote to the file, everything is verified again.
    pub(super) fn check_vocabulary(&self) -> Result<()> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.0.elapsed() >= LOOK_EVERY {
            let modified = self.map.modified();
            if modified != looked.1 {
                self.is_whole.store(false, Ordering::Relaxed);
                self.checked.forget();
            }
            *looked = (Instant::now(), modified);
        }
        drop(looked);
        self.check(self.layout.range(VOCABULARY))
    }

    /// Verifies what a pass over some words reads: everything but the rows of other words, `width` bytes each.
    pub(super) fn check_pass(&self, ids: &[u32], width: usize) -> Result<()> {
        if !self.checked.has_sums() {
            return Ok(());
        }
        if !self.is_whole.load(Ordering::Relaxed) {
            for section in (0..self.layout.count()).filter(|section| *section != WORDS) {
                self.check(self.layout.range(section))?;
            }
            self.is_whole.store(true, Ordering::Relaxed);
        }
        let rows = self.layout.range(WORDS).start;
        ids.iter().try_for_each(|id| {
            let at = rows + *id as usize * width;
            self.check(at..at + width)
        })
    }

    fn check(&self, range: Range<usize>) -> Result<()> {
        if self.checked.check(self.bytes(), range) {
            return Ok(());
        }
        let at = self.checked.damaged().unwrap_or_default();
        Err(damaged(format!("has damaged contents: its bytes from {at} on do not match their checksum")))
    }

    /// Verifies all bytes, which reads the whole file.
    pub(super) fn verify(&self) -> Result<()> {
        self.layout.verify(self.bytes())
    }

    /// Creates missing block checksums, after verifying all of the file. Does nothing in a read-only folder.
    pub(super) fn add_sums(&self) -> Result<()> {
        if self.checked.has_sums() || !is_writable(&self.path) {
            return Ok(());
        }
        self.verify()?;
        write_sums(&self.path, &self.layout, self.bytes())
    }
}

/// Puts a packed file in place, with its block checksums beside it.
pub(super) fn place(packed: &Path, file: &[u8]) -> Result<()> {
    replace(packed, file)?;
    write_sums(packed, &PackedLayout::read(file)?, file)
}

/// Writes the block checksums of a packed file beside it.
fn write_sums(path: &Path, layout: &PackedLayout, file: &[u8]) -> Result<()> {
    replace(&sums_path(path), &BlockSums::of(file).to_bytes(layout.contents()))
}

/// Puts a file in place atomically: written under another name, synced, renamed, and the folder synced.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut name =
        path.file_name().ok_or_else(|| Error::invalid("packed model", "needs a file name"))?.to_os_string();
    name.push(format!(".{}-{}.partial", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let partial = folder.join(name);
    let written = files::create(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(|cause| Error::io("write", &partial, cause))
        .and_then(|()| {
            fs::rename(&partial, path).map_err(|cause| Error::io("rename into place", path, cause))
        });
    if written.is_err() {
        // Only the first error is reported; a file that cannot be removed either does no harm.
        let _ = fs::remove_file(&partial);
        return written;
    }
    #[cfg(unix)]
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| Error::io("sync", folder, cause))?;
    Ok(())
}

/// Returns the file with the checksums of a packed file.
fn sums_path(packed: &Path) -> PathBuf {
    packed.with_extension("sums")
}

/// Whether a file can be created beside another; checked before all of that one is read.
fn is_writable(path: &Path) -> bool {
    let probe = path.with_extension(format!("sums.{}", std::process::id()));
    let made = files::create(&probe).is_ok();
    made && fs::remove_file(probe).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::layout;

    #[test]
    fn a_damaged_section_is_told_before_it_is_used_and_other_words_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.packed");
        let sections = [vec![1; 5_000], vec![2; 50_000], vec![3; 9_000]];
        let whole = layout::write("model", &sections);
        let layout = PackedLayout::read(&whole).unwrap();
        fs::write(&path, &whole).unwrap();
        // A file of an older version: without checksums, until they are created.
        let bare = Packed::open(&path).unwrap();
        assert!(!bare.checked.has_sums());
        bare.add_sums().unwrap();
        let word = |packed: &Packed, id: u32| packed.check_pass(&[id], 100);
        assert!(word(&Packed::open(&path).unwrap(), 7).is_ok());
        for (section, at, words) in [(0, 4_999, false), (1, 20_000, true), (1, 30_000, true), (2, 0, false)] {
            let mut changed = whole.clone();
            changed[layout.range(section).start + at] ^= 1;
            fs::write(&path, &changed).unwrap();
            let packed = Packed::open(&path).unwrap();
            assert!(packed.checked.has_sums());
            let far = if at < 25_000 { 400 } else { 3 };
            assert_eq!(word(&packed, far).is_ok(), words, "section {section} at {at}");
            assert!(word(&packed, (at / 100) as u32).is_err(), "section {section} at {at}");
        }
        // Checksums of other contents are ignored.
        let other = layout::write("model", &[vec![9; 5_000], vec![2; 50_000], vec![3; 9_000]]);
        fs::write(&path, other).unwrap();
        assert!(!Packed::open(&path).unwrap().checked.has_sums());
        fs::write(sums_path(&path), b"broken").unwrap();
        fs::write(&path, &whole).unwrap();
        assert!(!Packed::open(&path).unwrap().checked.has_sums());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(replace(&folder.path().join("absent/file"), b"x").is_err());
    }
}
