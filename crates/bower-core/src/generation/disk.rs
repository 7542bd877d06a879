//! The few file operations by which a compaction changes an index's folder.
//! In tests each step can be the last one before a power failure.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::files;

/// Writes for one compaction.
#[derive(Debug, Default)]
pub struct Disk {
    /// Steps until everything fails; `None` is a working disk.
    pub steps_left: Option<usize>,
}

impl Disk {
    /// Creates a new file, after unlinking one that an earlier, killed compaction left under that name.
    pub fn create(&mut self, path: &Path) -> io::Result<File> {
        self.step()?;
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        files::create_new(path)
    }

    /// Writes all bytes. A failing step leaves half of them behind, as a real crash may.
    pub fn write(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)
    }

    /// Makes a file durable.
    pub fn sync(&mut self, file: &File) -> io::Result<()> {
        self.step()?;
        file.sync_all()
    }

    /// Renames a file over another.
    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        std::fs::rename(from, to)
    }

    /// Makes the names in a folder durable.
    pub fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.step()?;
        if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        std::fs::remove_file(path)
    }

    fn step(&mut self) -> io::Result<()> {
        match &mut self.steps_left {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the power went")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}
