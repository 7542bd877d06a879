//! The engine's error type: every way it can fail, as data.
//! Only the binary turns errors into exit codes and hints.

use std::fmt;
use std::path::{Path, PathBuf};

/// A cause from another library, kept whole for the chain that `--verbose` prints.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The failure and its object. Messages are lower case, one line, and name the object; hints belong to the binary.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// A verb phrase for "cannot …", e.g. `read` or `create the folder`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The disk (or quota) that holds the store is full. The failed write left nothing behind.
    #[error("the disk that holds {at} is full")]
    DiskFull {
        /// The store, or the file being written.
        at: Location,
    },
    /// The store or a folder is read-only.
    #[error("{at} is read-only")]
    ReadOnly {
        /// The store, or the file or folder.
        at: Location,
    },
    /// Another process held the store's write lock for the whole wait.
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
        /// The newest schema number that this program supports.
        known: u32,
    },
    /// The file is no Bowerbird store: it is another program's database, or no database.
    #[error("{at} is not a bowerbird store: {reason}")]
    NotAStore {
        /// Where a store was looked for.
        at: Location,
        /// The content that was found instead.
        reason: String,
    },
    /// Stored data contradicts itself.
    #[error("{at} is damaged: {reason}")]
    Corrupt {
        /// The store, or the damaged file or folder.
        at: Location,
        /// The expected and the found content.
        reason: String,
    },
    /// The store failed, and no other variant fits.
    #[error("cannot {doing} in {at}: {source}")]
    Store {
        /// A verb phrase for "cannot …".
        doing: &'static str,
        /// The store.
        at: Location,
        /// The database's error.
        source: Cause,
    },
    /// The store's server cannot be reached, or the connection to it broke.
    #[error("cannot reach {at}: {source}")]
    Unreachable {
        /// The server.
        at: Location,
        /// The network's error.
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
    /// The store's server refused the login, or the user lacks a permission.
    #[error("{at} denies access: {source}")]
    Denied {
        /// The server.
        at: Location,
        /// The server's error, which contains no secret.
        source: Cause,
    },
    /// A derived index failed. The store is not affected.
    #[error("cannot {doing} the index at {}: {source}", path.display())]
    Index {
        /// A verb phrase for "cannot … the index".
        doing: &'static str,
        /// The index's folder.
        path: PathBuf,
        /// The cause.
        source: Cause,
    },
    /// A file of a derived index could not be read. The store is not affected.
    #[error("cannot {doing} {}: {source}", path.display())]
    IndexFile {
        /// A verb for "cannot …": `read` or `map`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A model is missing, damaged or of the wrong kind.
    #[error("model {model}: {reason}")]
    Model {
        /// The model's name.
        model: String,
        /// The problem.
        reason: String,
    },
    /// The operation needs a model, and there is none.
    #[error("{what}: {reason}")]
    ModelNeeded {
        /// The operation, e.g. `consolidate`.
        what: &'static str,
        /// The purpose of the model, and why there is none.
        reason: String,
    },
    /// An invalid argument, and no other variant fits.
    #[error("{what}: {reason}")]
    Invalid {
        /// The argument, e.g. `limit`.
        what: String,
        /// The valid form.
        reason: String,
    },
    /// An invalid filter.
    #[error("{what}: {reason}")]
    InvalidFilter {
        /// The filter or a part of it, e.g. `filter operator $near`.
        what: String,
        /// The valid form.
        reason: String,
    },
    /// An item's id that matches no item or several.
    #[error("id {id}: {reason}")]
    InvalidId {
        /// The passed id.
        id: String,
        /// The valid form.
        reason: String,
    },
    /// No visible item mentions an entity of this name.
    #[error("no item mentions {name:?}")]
    UnknownEntity {
        /// The requested name.
        name: String,
        /// Names of entities that share a word with it.
        near: Vec<String>,
    },
    /// A request names what its caller may not see.
    #[error("{what} {wanted} is outside of what the caller may see")]
    Outside {
        /// `scope`, `owner` or `collection`.
        what: &'static str,
        /// The requested name.
        wanted: String,
        /// The names that the caller may see.
        bound: String,
    },
    /// A caller that sees a part of the store asks for what goes through all of it.
    #[error("{what} needs the whole store; the caller is limited to part of it")]
    WholeStore {
        /// The operation, e.g. `a sweep`.
        what: &'static str,
    },
    /// The caller cancelled. Committed work is kept, and the next run continues from there.
    #[error("{what} was cancelled")]
    Cancelled {
        /// The cancelled operation, e.g. `indexing`.
        what: &'static str,
    },
    /// A requested item, event, review, file or other named thing does not exist.
    #[error("no {what} {id}")]
    NotFound {
        /// The kind of thing.
        what: Missing,
        /// The requested id.
        id: String,
    },
}

/// The location of a store, a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this machine's file system.
    File(PathBuf),
    /// On a server. The address is in parts, so that no error can contain a user's name or password.
    Server {
        /// The server's name or address.
        host: String,
        /// Its port.
        port: u16,
        /// The database on that server.
        database: String,
    },
}

/// The kind of a missing thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An item, by its id.
    Item,
    /// An event, by its number.
    Event,
    /// An open review, by its number.
    Review,
    /// A file or a folder, named by the caller's word for it.
    Path(&'static str),
    /// Anything else with a name; the value is its kind.
    Named(&'static str),
}

/// A result with the engine's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns an [`Error::Io`], or [`Error::DiskFull`] / [`Error::ReadOnly`] if the cause is one of those.
    pub fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { at: path.into() }
            }
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { at: path.into() },
            _ => Self::Io { doing, path: path.to_path_buf(), source },
        }
    }

    /// Returns an [`Error::Invalid`].
    pub fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), reason: reason.into() }
    }

    /// Returns an [`Error::InvalidFilter`].
    pub fn invalid_filter(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidFilter { what: what.into(), reason: reason.into() }
    }

    /// Returns an [`Error::IndexFile`].
    pub fn index_file(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::IndexFile { doing, path: path.to_path_buf(), source }
    }

    /// Returns an [`Error::Index`] with any cause.
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
            // An IPv6 address contains colons, so it needs brackets before the port.
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
