//! The index's folder as tantivy sees it: mapped files, readable where nothing may be written.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Mapped files. Unlike tantivy's own directory it opens in a read-only folder, where its lock against the removal of
/// files cannot be made and is not needed: whoever could remove files there is not this program under this user.
#[derive(Clone, Debug)]
pub(super) struct Files(MmapDirectory);

impl Files {
    /// Opens an existing folder.
    pub fn open(dir: &Path) -> Result<Self, OpenDirectoryError> {
        MmapDirectory::open(dir).map(Self)
    }
}

/// Stands for the lock that a read-only folder cannot have.
struct NoLock;

impl Directory for Files {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.0.acquire_lock(lock) {
            Err(LockError::IoError(cause)) if lock.filepath == META_LOCK.filepath && is_read_only(&cause) => {
                Ok(DirectoryLock::from(Box::new(NoLock)))
            }
            taken => taken,
        }
    }
}

fn is_read_only(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
