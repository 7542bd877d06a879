//! Creates files and folders that only their owner may read and write, whatever the process's umask.
//! All files of the program are created here, because a store and everything derived from it are its owner's alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The mode of files: the owner reads and writes.
#[cfg(unix)]
const FILE: u32 = 0o600;
/// The mode of folders.
#[cfg(unix)]
const FOLDER: u32 = 0o700;
/// The mode of folders whose files others may read, as far as the umask permits.
#[cfg(unix)]
const SHARED_FOLDER: u32 = 0o755;

/// Creates a file, or empties an existing one.
pub fn create(path: &Path) -> io::Result<File> {
    private().write(true).create(true).truncate(true).open(path)
}

/// Creates a file for reading and writing; fails if it exists.
pub fn create_new(path: &Path) -> io::Result<File> {
    private().read(true).write(true).create_new(true).open(path)
}

/// Opens a file for reading and writing, and creates it if it is missing: a lock, or a file that is written later.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    private().read(true).write(true).create(true).truncate(false).open(path)
}

/// Opens a file for appending, and creates it if it is missing.
pub fn append(path: &Path) -> io::Result<File> {
    private().append(true).create(true).open(path)
}

/// Writes a file, or replaces the contents of an existing one.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Creates a folder and its missing parents.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER);
    builder.recursive(true).create(path)
}

/// Creates a folder that others may read, and its missing parents.
pub fn create_shared_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, SHARED_FOLDER);
    builder.recursive(true).create(path)
}

fn private() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE);
    options
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mode = |name: &str| std::fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
        create(&path("a")).unwrap();
        create_new(&path("b")).unwrap();
        open_or_create(&path("c")).unwrap();
        append(&path("d")).unwrap();
        write(&path("e"), b"x").unwrap();
        create_folder(&path("f/g")).unwrap();
        assert_eq!(["a", "b", "c", "d", "e"].map(mode), [FILE; 5]);
        assert_eq!(["f", "f/g"].map(mode), [FOLDER; 2]);
        create_shared_folder(&path("h")).unwrap();
        assert_eq!(mode("h") & !SHARED_FOLDER, 0);
        assert!(create_new(&path("a")).is_err());
        // An existing mode is kept, and so are bytes that were not to be removed.
        std::fs::set_permissions(path("e"), std::fs::Permissions::from_mode(0o640)).unwrap();
        open_or_create(&path("e")).unwrap();
        append(&path("e")).unwrap().write_all(b"y").unwrap();
        assert_eq!((mode("e"), std::fs::read(path("e")).unwrap()), (0o640, b"xy".to_vec()));
    }
}
