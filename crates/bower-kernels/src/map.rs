//! Read-only mapped files. A mapped file is immutable: written aside, synced, renamed, never changed in place.

use std::fs::File;
use std::io;
use std::path::Path;

/// A whole file, mapped. Pages are read when they are touched and shared between processes.
#[derive(Debug)]
pub struct Mapped {
    map: Option<memmap2::Mmap>,
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
            return Ok(Self { map: None });
        }
        // SAFETY: index and model files are written under another name, synced and renamed into place, and only ever
        // unlinked afterwards (an unlinked file stays whole while it is mapped). A stranger who truncates one behind
        // our back can raise SIGBUS; no safe alternative reads only the pages that a query touches.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self { map: Some(map) })
    }

    /// The bytes; the start is aligned to a page.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
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
        std::fs::remove_file(&path).unwrap();
    }
}
