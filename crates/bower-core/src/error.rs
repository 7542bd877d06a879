//! The engine's error type: every way it can fail, as data.
//! The binary alone turns these into exit codes and hints.

use std::fmt;
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
    #[error("the disk that holds {at} is full")]
    DiskFull {
        /// The store, or the file being written.
        at: Location,
    },
    /// The store may not be written, or a folder may not.
    #[error("{at} is read-only")]
    ReadOnly {
        /// The store, or the file or folder.
        at: Location,
    },
    /// Another process held the store's write lock for the whole waiting time.
    #[error("{at} was being written by another process for {waited_ms} ms")]
    Busy {
        /// The store.
        at: Location,
        /// How long this process waited, in milliseconds.
        waited_ms: u64,
    },
    /// The store was written by a newer version of Bowerbird.
    #[error("cannot open {at}: schema {found} is newer than {known}")]
    NewerSchema {
        /// The store.
        at: Location,
        /// The schema number in the store.
        found: u32,
        /// The newest schema number that this program knows.
        known: u32,
    },
    /// There is something else than a Bowerbird store (another program's database, or no database at all).
    #[error("{at} is not a bowerbird store: {reason}")]
    NotAStore {
        /// Where a store was looked for.
        at: Location,
        /// What was found instead.
        reason: String,
    },
    /// Stored data contradicts itself.
    #[error("{at} is damaged: {reason}")]
    Corrupt {
        /// The store, or the damaged file or folder.
        at: Location,
        /// What was expected and what was found.
        reason: String,
    },
    /// The store failed in a way that has no variant of its own.
    #[error("cannot {doing} in {at}: {source}")]
    Store {
        /// A verb phrase that fits "cannot …".
        doing: &'static str,
        /// The store.
        at: Location,
        /// The database's answer.
        source: Cause,
    },
    /// The store's server cannot be reached, or the connection to it broke.
    #[error("cannot reach {at}: {source}")]
    Unreachable {
        /// The server.
        at: Location,
        /// The network's answer.
        source: Cause,
    },
    /// The store's server was reached, and did not answer in time.
    #[error("{at} did not answer within {waited_ms} ms")]
    TimedOut {
        /// The server.
        at: Location,
        /// How long this process waited, in milliseconds.
        waited_ms: u64,
    },
    /// The store's server refuses the login, or this user may not do that there.
    #[error("{at} denies access: {source}")]
    Denied {
        /// The server.
        at: Location,
        /// The server's answer, which names no secret.
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
    /// A file of a derived index could not be read. The store is not affected.
    #[error("cannot {doing} {}: {source}", path.display())]
    IndexFile {
        /// A verb that fits "cannot …": `read` or `map`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A model is missing, damaged or of the wrong kind.
    #[error("model {model}: {reason}")]
    Model {
        /// The model's name.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What was asked for needs a model, and there is none.
    #[error("{what}: {reason}")]
    ModelNeeded {
        /// What was asked for, e.g. `consolidate`.
        what: &'static str,
        /// What the model is for, and why there is none.
        reason: String,
    },
    /// An argument that cannot be acted on, for a reason that has no variant of its own.
    #[error("{what}: {reason}")]
    Invalid {
        /// The argument, e.g. `limit`.
        what: String,
        /// What would be right.
        reason: String,
    },
    /// A filter that cannot be acted on.
    #[error("{what}: {reason}")]
    InvalidFilter {
        /// The filter or a part of it, e.g. `filter operator $near`.
        what: String,
        /// What would be right.
        reason: String,
    },
    /// An item's id that is none, or that several items share.
    #[error("id {id}: {reason}")]
    InvalidId {
        /// What was given.
        id: String,
        /// What would be right.
        reason: String,
    },
    /// A request names what its caller may not see.
    #[error("{what} {wanted} is outside of what the caller may see")]
    Outside {
        /// `scope`, `owner` or `collection`.
        what: &'static str,
        /// What was named.
        wanted: String,
        /// What the caller is bound to.
        bound: String,
    },
    /// A caller that sees a part of the store asks for what goes through all of it.
    #[error("{what} needs the whole store; the caller is limited to part of it")]
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
        /// What kind of thing.
        what: Missing,
        /// The id that was asked for.
        id: String,
    },
}

/// Where a store, a file or a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this machine's file system.
    File(PathBuf),
    /// On a server. It is told in parts, so that no error can hold a user's name or password.
    Server {
        /// The server's name or address.
        host: String,
        /// Its port.
        port: u16,
        /// The database there.
        database: String,
    },
}

/// What kind of thing does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An item, by its id.
    Item,
    /// An event, by its number.
    Event,
    /// An open review, by its number.
    Review,
    /// A file or a folder, in the words of whoever looked for it.
    Path(&'static str),
    /// Something else that is known by its name: what it is.
    Named(&'static str),
}

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An [`Error::Io`], or [`Error::DiskFull`] / [`Error::ReadOnly`] where the cause says so.
    pub fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { at: path.into() }
            }
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { at: path.into() },
            _ => Self::Io { doing, path: path.to_path_buf(), source },
        }
    }

    /// An [`Error::Invalid`].
    pub fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), reason: reason.into() }
    }

    /// An [`Error::InvalidFilter`].
    pub fn invalid_filter(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidFilter { what: what.into(), reason: reason.into() }
    }

    /// An [`Error::IndexFile`].
    pub fn index_file(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::IndexFile { doing, path: path.to_path_buf(), source }
    }

    /// An [`Error::Index`] around any cause.
    pub fn index(doing: &'static str, path: &Path, source: impl Into<Cause>) -> Self {
        Self::Index { doing, path: path.to_path_buf(), source: source.into() }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_path_buf())
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            // The address of an IPv6 host has colons of its own.
            Self::Server { host, port, database } if host.contains(':') => {
                write!(f, "[{host}]:{port}/{database}")
            }
            Self::Server { host, port, database } => write!(f, "{host}:{port}/{database}"),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "item",
            Self::Event => "event",
            Self::Review => "open review",
            Self::Path(word) | Self::Named(word) => word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_or_an_address() {
        let server =
            |host: &str| Location::Server { host: host.into(), port: 5432, database: "bower".into() };
        let check = |at: Location, expected: &str| assert_eq!(at.to_string(), expected);
        check(Path::new("/h/memory.db").into(), "/h/memory.db");
        check(server("db.example"), "db.example:5432/bower");
        check(server("::1"), "[::1]:5432/bower");
    }

    #[test]
    fn errors_of_a_store_name_where_it_is() {
        let at = || Location::Server { host: "db.example".into(), port: 5432, database: "bower".into() };
        let check = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
        check(
            Error::Unreachable { at: at(), source: "connection refused".into() },
            "cannot reach db.example:5432/bower: connection refused",
        );
        check(
            Error::TimedOut { at: at(), waited_ms: 250 },
            "db.example:5432/bower did not answer within 250 ms",
        );
        check(
            Error::Denied { at: at(), source: "password authentication failed".into() },
            "db.example:5432/bower denies access: password authentication failed",
        );
        check(
            Error::DiskFull { at: Path::new("/h/memory.db").into() },
            "the disk that holds /h/memory.db is full",
        );
        check(
            Error::NotFound { what: Missing::Path("file or folder"), id: "x".into() },
            "no file or folder x",
        );
    }
}
