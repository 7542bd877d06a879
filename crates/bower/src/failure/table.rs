//! Lists every error with its exit status, HTTP status and hints; tests compare each interface with this table.
//! A variant of the engine's error without a row does not compile.

use bower_core::Error;
use bower_core::error::{Location, Missing};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::Exit::{self, Environment, Nothing, Usage};

/// Hint that names HTTP's lists.
const LISTS: &str = "GET /api/v1/items and GET /api/v1/reviews list what there is";
const HERE: &str = "check the path; it is seen from the current folder";

/// An error with its form in each interface.
pub struct Row {
    /// Function that makes the error.
    pub error: fn() -> Error,
    /// Exit status of the command.
    pub exit: Exit,
    /// HTTP status.
    pub status: u16,
    /// Hint of the command.
    pub command: &'static str,
    /// Hint over HTTP.
    pub http: &'static str,
    /// The hint for a model.
    pub tool: &'static str,
}

/// Returns a row of an error that has the same hint in all interfaces.
fn row(error: fn() -> Error, exit: Exit, status: u16, hint: &'static str) -> Row {
    Row { error, exit, status, command: hint, http: hint, tool: hint }
}

impl Row {
    fn http(self, http: &'static str) -> Self {
        Self { http, ..self }
    }

    fn tool(self, tool: &'static str) -> Self {
        Self { tool, ..self }
    }
}

/// Defines [`rows`] from the rows of each variant, with a match that must name every variant.
macro_rules! table {
    ($($variant:pat => [$($row:expr),+ $(,)?])+) => {
        /// Returns at least one row for each variant.
        pub fn rows() -> Vec<Row> {
            let _is_whole = |error: &Error| match error { $($variant => {})+ };
            let mut rows = Vec::new();
            $(for row in [$($row),+] {
                let error = (row.error)();
                assert!(matches!(error, $variant), "{error:?} is no {}", stringify!($variant));
                rows.push(row);
            })+
            rows
        }
    };
}

table! {
    Error::Io { .. } => [
        row(|| io(ErrorKind::NotFound, "/x"), Environment, 503, "check the path"),
        row(|| io(ErrorKind::NotFound, "x"), Environment, 503, HERE),
        row(
            || io(ErrorKind::PermissionDenied, "/x"),
            Environment,
            503,
            "check who may read and write it, or name another folder with --home or BOWER_HOME",
        )
        .tool("tell the user: check who may read and write it, or name another folder with --home or BOWER_HOME"),
        row(|| io(ErrorKind::Other, "/x"), Environment, 503, "run it again; if it stays, bower doctor says more")
            .tool("tell the user: run it again; if it stays, bower doctor says more"),
    ]
    Error::DiskFull { .. } => [row(
        || io(ErrorKind::StorageFull, "/x"),
        Environment,
        503,
        "free some space and run it again; nothing of the failed write was kept",
    )]
    Error::ReadOnly { .. } => [row(
        || io(ErrorKind::ReadOnlyFilesystem, "/x"),
        Environment,
        503,
        "make it writable, or name another folder with --home or BOWER_HOME",
    )
    .tool("tell the user: make it writable, or name another folder with --home or BOWER_HOME")]
    Error::Busy { .. } => [row(
        || Error::Busy { at: file(), waited_ms: 9 },
        Environment,
        503,
        "run it again when the other process is done, or raise busy_timeout_ms",
    )]
    Error::NewerSchema { .. } => [row(
        || Error::NewerSchema { at: file(), found: 9, known: 7 },
        Environment,
        503,
        "upgrade bower",
    )]
    Error::NotAStore { .. } => [row(
        || Error::NotAStore { at: file(), reason: "x".into() },
        Environment,
        503,
        "move that file away, or name another folder with --home or BOWER_HOME",
    )
    .tool("tell the user: move that file away, or name another folder with --home or BOWER_HOME")]
    Error::Corrupt { .. } => [row(
        || Error::Corrupt { at: file(), reason: "x".into() },
        Environment,
        503,
        "run bower doctor; a copy of the folder is worth making first",
    )
    .tool("tell the user: run bower doctor; a copy of the folder is worth making first")]
    Error::Store { .. } => [row(
        || Error::Store { doing: "read", at: file(), source: "x".into() },
        Environment,
        503,
        "run bower doctor",
    )
    .tool("tell the user: run bower doctor")]
    Error::Unreachable { .. } => [row(
        || Error::Unreachable { at: server(), source: "x".into() },
        Environment,
        503,
        "check that the server runs and that its address is right, then run it again",
    )
    .tool("tell the user: check that the server runs and that its address is right, then run it again")]
    Error::TimedOut { .. } => [row(
        || Error::TimedOut { at: server(), waited_ms: 9 },
        Environment,
        503,
        "run it again; if it stays, the server has too much to do",
    )]
    Error::Denied { .. } => [row(
        || Error::Denied { at: server(), source: "x".into() },
        Environment,
        503,
        "check the user and the password, and what that user may do on the server",
    )
    .tool("tell the user: check the user and the password, and what that user may do on the server")]
    Error::Index { .. } => [row(
        || Error::index("open", Path::new("/x"), "x"),
        Environment,
        503,
        "the index folder may be deleted: it is built again from the store",
    )]
    Error::IndexFile { .. } => [row(
        || Error::index_file("read", Path::new("/x"), ErrorKind::NotFound.into()),
        Environment,
        503,
        "check the path",
    )]
    Error::Model { .. } => [row(
        || Error::Model { model: "m".into(), reason: "x".into() },
        Environment,
        503,
        "run bower model pull, or ask with --fast for words alone",
    )
    .tool("tell the user: run bower model pull, or search with fast true for words alone"),
    row(
        || Error::Model { model: "openai/m".into(), reason: "x".into() },
        Environment,
        503,
        "check the service's address, key and model name; nothing was switched",
    )
    .tool("tell the user: the service of the model failed; search with fast true for words alone")]
    Error::ModelNeeded { .. } => [row(
        || Error::ModelNeeded { what: "consolidate", reason: "x".into() },
        Usage,
        400,
        "bower model pull fetches the model",
    )
    .tool("tell the user: bower model pull fetches the model")]
    Error::Invalid { .. } => [row(
        || Error::invalid("filter of files", "an argument is not judged by its words"),
        Usage,
        400,
        "the command's --help shows what it takes",
    )
    .http(super::API)
    .tool("correct that argument and call again")]
    Error::InvalidFilter { .. } => [row(
        || Error::invalid_filter("filter operator $near", "unknown"),
        Usage,
        400,
        "bower query --help shows a filter as it should be",
    )
    .http(super::API)
    .tool("a filter is an object like {\"version\": \"v2\", \"$contains\": \"retry\"}")]
    Error::InvalidId { .. } => [row(
        || Error::InvalidId { id: "ff".into(), reason: "x".into() },
        Usage,
        400,
        "bower list shows ids; the first digits are enough where they are unique",
    )
    .tool("memory_list shows ids; the first digits are enough where they are unique")]
    Error::UnknownEntity { .. } => [
        row(
            || Error::UnknownEntity { name: "Ada".into(), near: Vec::new() },
            Nothing,
            404,
            "a question in words finds items without naming an entity",
        )
        .http(LISTS),
        row(
            || Error::UnknownEntity { name: "Ada".into(), near: vec!["Ada Lovelace".into(), "Ida".into()] },
            Nothing,
            404,
            "similar names: Ada Lovelace, Ida",
        )
        .http(LISTS),
    ]
    Error::Outside { .. } => [row(
        || Error::Outside { what: "owner", wanted: "bob".into(), bound: "ann".into() },
        Usage,
        403,
        "leave it out, or name what the caller is limited to",
    )
    .http("leave it out, or name owner ann")
    .tool("leave it out, or name owner ann")]
    Error::WholeStore { .. } => [row(
        || Error::WholeStore { what: "a sweep" },
        Usage,
        403,
        "ask without a scope, an owner or collections that bind",
    )]
    Error::Cancelled { .. } => [row(
        || Error::Cancelled { what: "indexing" },
        Environment,
        503,
        "run it again: it goes on where it was",
    )]
    Error::NotFound { what: Missing::Item, .. } => [row(
        || missing(Missing::Item),
        Nothing,
        404,
        "bower list shows ids; the first digits are enough where they are unique",
    )
    .http(LISTS)
    .tool("memory_list shows ids; the first digits are enough where they are unique")]
    Error::NotFound { what: Missing::Event, .. } => [row(
        || missing(Missing::Event),
        Nothing,
        404,
        "bower history ID shows the events of an item",
    )
    .http(LISTS)
    .tool("memory_history shows the events of an item")]
    Error::NotFound { what: Missing::Review, .. } => [row(
        || missing(Missing::Review),
        Nothing,
        404,
        "bower review lists the open ones",
    )
    .http(LISTS)
    .tool("memory_review lists the open ones")]
    Error::NotFound { what: Missing::Path(_), .. } => [
        row(|| missing(Missing::Path("file or folder")), Nothing, 404, HERE).http(LISTS),
    ]
    Error::NotFound { what: Missing::Named(_), .. } => [
        row(
            || missing(Missing::Named("model")),
            Nothing,
            404,
            "bower model list names the models; a service is PROVIDER/MODEL",
        )
        .http(LISTS),
        row(|| missing(Missing::Named("session")), Nothing, 404, "check the spelling").http(LISTS),
    ]
}

fn io(kind: ErrorKind, path: &str) -> Error {
    Error::io("open", Path::new(path), io::Error::from(kind))
}

fn file() -> Location {
    Path::new("/home/x/memory.db").into()
}

fn server() -> Location {
    Location::Server { host: "db.example".into(), port: 5432, database: "bower".into() }
}

fn missing(what: Missing) -> Error {
    Error::NotFound { what, id: "7".into() }
}
