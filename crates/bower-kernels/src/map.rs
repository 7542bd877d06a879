//! Maps files into memory for reading.
//! A mapped file is immutable: written aside, synced, renamed, never changed in place.

use std::fs::File;
use std::io;
use std::path::Path;

/// A whole file, mapped. Pages are read when they are touched and shared between processes; every page that was ever touched
/// counts as this process's memory until the file is closed, which [`Mapped::read`] avoids.
#[derive(Debug)]
pub struct Mapped {
    map: Option<memmap2::Mmap>,
    /// To read without touching the map.
    #[cfg(unix)]
    file: File,
}

/// How a mapped range will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Here and there: no read-ahead.
    Random,
    /// Soon: start reading now.
    WillNeed,
}

impl Mapped {
    /// Maps a file; an empty file gives an empty slice.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self {
                map: None,
                #[cfg(unix)]
                file,
            });
        }
        // SAFETY: index and model files are written under another name, synced and renamed into place, and only ever
        // unlinked afterwards (an unlinked file stays whole while it is mapped). A stranger who truncates one behind
        // our back can raise SIGBUS; no safe alternative reads only the pages that a query touches.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self {
            map: Some(map),
            #[cfg(unix)]
            file,
        })
    }

    /// The bytes; the start is aligned to a page.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    /// When somebody last wrote into the file; `None` where the system does not tell.
    #[cfg(unix)]
    pub fn modified(&self) -> Option<std::time::SystemTime> {
        self.file.metadata().ok()?.modified().ok()
    }

    /// Mapped files are not asked on this system.
    #[cfg(not(unix))]
    pub fn modified(&self) -> Option<std::time::SystemTime> {
        None
    }

    /// Copies the bytes from an offset on, as many as there is room for, without mapping their pages: what is read here and there
    /// does not stay in this process's memory. Fails with [`io::ErrorKind::UnexpectedEof`] where the file is too short.
    #[cfg(unix)]
    pub fn read(&self, offset: usize, to: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, to, offset as u64)
    }

    /// Copies the bytes from an offset on, as many as there is room for. Fails with [`io::ErrorKind::UnexpectedEof`] where
    /// the file is too short.
    #[cfg(not(unix))]
    pub fn read(&self, offset: usize, to: &mut [u8]) -> io::Result<()> {
        let from = self.bytes().get(offset..).and_then(|rest| rest.get(..to.len()));
        to.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// Tells the kernel how the bytes will be read. Advice only: a refusal changes nothing but speed.
    #[cfg(unix)]
    pub fn advise(&self, access: Access, offset: usize, len: usize) {
        let advice = match access {
            Access::Random => memmap2::Advice::Random,
            Access::WillNeed => memmap2::Advice::WillNeed,
        };
        if let Some(map) = &self.map
            && offset < map.len()
        {
            let _ = map.advise_range(advice, offset, len.min(map.len() - offset));
        }
    }

    /// Mapped files cannot be advised on this system.
    #[cfg(not(unix))]
    pub fn advise(&self, _access: Access, _offset: usize, _len: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_an_empty_slice() {
        let path = std::env::temp_dir().join(format!("bower-map-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        let map = Mapped::open(&path).unwrap();
        map.advise(Access::Random, 0, 10);
        assert_eq!(map.bytes(), b"");
        assert!(map.read(0, &mut []).is_ok());
        assert_eq!(map.read(0, &mut [0]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_is_read_is_what_is_mapped_and_nothing_behind_the_end() {
        let path = std::env::temp_dir().join(format!("bower-read-{}", std::process::id()));
        let bytes: Vec<u8> = (0..10_001u32).map(|at| ((at * 31) >> 3) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let map = Mapped::open(&path).unwrap();
        for (offset, len) in [(0, 1), (0, 10_001), (4_095, 2), (9_000, 1_001), (10_001, 0)] {
            let mut read = vec![0; len];
            map.read(offset, &mut read).unwrap();
            assert_eq!(read, map.bytes()[offset..][..len], "{len} at {offset}");
        }
        for (offset, len) in [(9_000, 1_002), (10_001, 1), (20_000, 1)] {
            let read = map.read(offset, &mut vec![0; len]);
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{len} at {offset}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
