//! Writes and maps one immutable file of a generation, with its checksums.
//! It is written in sections that start at multiples of 64 bytes, and summed while it is written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bower_kernels::Mapped;
use sha2::{Digest, Sha256};

use super::manifest::sums_path;
use super::{Disk, SegmentEntry, corrupt};
use crate::checksum::{BlockSums, Summing};
use crate::error::{Error, Result};
use crate::item::hex;

/// Bytes that are buffered before a write.
const BUFFER: usize = 1 << 20;

/// A file being written from start to end.
pub struct SegmentFile<'a> {
    disk: &'a mut Disk,
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    written: u64,
    sum: Sha256,
    blocks: Summing,
}

impl<'a> SegmentFile<'a> {
    /// Starts a file.
    pub fn create(disk: &'a mut Disk, path: PathBuf) -> Result<Self> {
        let file = disk.create(&path).map_err(|error| Error::io("create", &path, error))?;
        let (buffer, sum, blocks) = (Vec::with_capacity(BUFFER), Sha256::new(), Summing::default());
        Ok(Self { disk, path, file, buffer, written: 0, sum, blocks })
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.written as usize + self.buffer.len()
    }

    /// Adds bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Adds zeros up to the next possible start of a section.
    pub fn pad(&mut self) -> Result<()> {
        let at = self.len();
        self.put(&[0; 64][..at.next_multiple_of(64) - at])
    }

    /// Writes the buffered bytes to the file.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.disk.write(&mut self.file, &self.buffer);
        written.map_err(|error| Error::io("write", &self.path, error))?;
        self.sum.update(&self.buffer);
        self.blocks.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Opens the file from its start, with all bytes written so far.
    pub fn reopen(&mut self) -> Result<File> {
        self.flush()?;
        File::open(&self.path).map_err(|error| Error::io("open", &self.path, error))
    }

    /// Maps all bytes written so far.
    pub fn map(&mut self) -> Result<Mapped> {
        self.flush()?;
        Mapped::open(&self.path).map_err(|error| Error::index_file("map", &self.path, error))
    }

    /// Makes the file and its checksums durable and returns the manifest's entry. `len` is the expected length.
    pub fn finish(mut self, number: u64, rows: u32, len: usize) -> Result<SegmentEntry> {
        self.flush()?;
        assert_eq!(self.written, len as u64, "the sections are as long as the layout says");
        self.disk.sync(&self.file).map_err(|error| Error::io("sync", &self.path, error))?;
        let sum = self.sum.finalize().into();
        let dir = self.path.parent().unwrap_or(Path::new(""));
        write_sums(self.disk, dir, number, &sum, &self.blocks.finish())?;
        let sha256 = hex(&sum);
        Ok(SegmentEntry { number, rows, bytes: self.written, sha256, dead: None })
    }
}

/// Writes the checksums of a segment's blocks and makes them durable; `sha256` is the segment's.
pub fn write_sums(
    disk: &mut Disk,
    dir: &Path,
    number: u64,
    sha256: &[u8; 32],
    sums: &BlockSums,
) -> Result<()> {
    let path = sums_path(dir, number);
    let written = disk.create(&path).and_then(|mut file| {
        disk.write(&mut file, &sums.to_bytes(sha256))?;
        disk.sync(&file)
    });
    written.map_err(|error| Error::io("write", &path, error))
}

/// Maps a file that a manifest names.
pub fn open_file(path: &Path) -> Result<Mapped> {
    Mapped::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => corrupt(path, "the manifest names it and it is missing"),
        _ => Error::index_file("map", path, error),
    })
}
