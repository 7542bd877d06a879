//! The engine's error type: every way it can fail, as data.
//! The binary alone turns these into exit codes and hints.

use std::path::{Path, PathBuf};

/// A cause from another library, kept whole for the chain that `--verbose` prints.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What failed, on what. The texts are lower case, one line, and name the thing; hints belong to the binary.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// A verb phrase that fits "cannot …", e.g. `read` or `create the folder`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The disk (or quota) that holds the store is full; nothing of the failed write was kept.
    #[error("the disk that holds {} is full", path.display())]
    DiskFull {
        /// The store or index file being written.
        path: PathBuf,
    },
    /// The store's folder or file may not be written.
    #[error("{} is read-only", path.display())]
    ReadOnly {
        /// The store file or its folder.
        path: PathBuf,
    },
    /// Another process held the store's write lock for the whole waiting time.
    #[error("{} was being written by another process for {waited_ms} ms", path.display())]
    Busy {
        /// The store file.
        path: PathBuf,
        /// How long this process waited, in milliseconds.
        waited_ms: u64,
    },
    /// The store was written by a newer version of Bowerbird.
    #[error("cannot open {}: schema {found} is newer than {known}", path.display())]
    NewerSchema {
        /// The store file.
        path: PathBuf,
        /// The schema number in the file.
        found: u32,
        /// The newest schema number that this program knows.
        known: u32,
    },
    /// The file is not a Bowerbird store (another program's database, or no database at all).
    #[error("{} is not a bowerbird store: {reason}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// Stored data contradicts itself.
    #[error("{} is damaged: {reason}", path.display())]
    Corrupt {
        /// The damaged file or folder.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// The store failed in a way that has no variant of its own.
    #[error("cannot {doing} in {}: {source}", path.display())]
    Store {
        /// A verb phrase that fits "cannot …".
        doing: &'static str,
        /// The store file.
        path: PathBuf,
        /// The database's answer.
        source: Cause,
    },
    /// A derived index failed. The store is not affected.
    #[error("cannot {doing} the index at {}: {source}", path.display())]
    Index {
        /// A verb phrase that fits "cannot … the index".
        doing: &'static str,
        /// The index's folder.
        path: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// A model is missing, damaged or of the wrong kind.
    #[error("model {model}: {reason}")]
    Model {
        /// The model's name.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An argument that cannot be acted on.
    #[error("{what}: {reason}")]
    Invalid {
        /// The argument, e.g. `limit` or `filter operator $near`.
        what: String,
        /// What would be right.
        reason: String,
    },
    /// A request names what its caller may not see.
    #[error("{what} {wanted} is outside of what whoever asks may see")]
    Outside {
        /// `scope`, `owner` or `collection`.
        what: &'static str,
        /// What was named.
        wanted: String,
        /// What the caller is bound to.
        bound: String,
    },
    /// A caller that sees a part of the store asks for what goes through all of it.
    #[error("{what} touches the whole store, and whoever asks is bound to a part of it")]
    WholeStore {
        /// What was asked for, e.g. `a sweep`.
        what: &'static str,
    },
    /// Whoever asked wants it no longer. What was committed until then is kept, and the next run goes on from there.
    #[error("{what} was cancelled")]
    Cancelled {
        /// What was done, e.g. `indexing`.
        what: &'static str,
    },
    /// Something asked for by id or path does not exist.
    #[error("no {what} {id}")]
    NotFound {
        /// What kind of thing, e.g. `item`.
        what: &'static str,
        /// The id that was asked for.
        id: String,
    },
}

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An [`Error::Io`], or [`Error::DiskFull`] / [`Error::ReadOnly`] where the cause says so.
    pub fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { doing, path, source },
        }
    }

    /// An [`Error::Invalid`].
    pub fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), reason: reason.into() }
    }

    /// An [`Error::Index`] around any cause.
    pub fn index(doing: &'static str, path: &Path, source: impl Into<Cause>) -> Self {
        Self::Index { doing, path: path.to_path_buf(), source: source.into() }
    }
}
