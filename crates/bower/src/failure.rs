//! Defines every way in which a command can fail, with its exit status and hint.
//! It is the one place that decides them.

use bower_core::Error;
use std::fmt::Write as _;

/// The exit status of a command that did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for by id or path is not there; what should stand nowhere stands somewhere.
    Nothing = 1,
    /// The command line cannot be acted on.
    Usage = 2,
    /// The disk, the store, the settings or the model.
    Environment = 3,
    /// A fault in Bowerbird.
    Internal = 4,
}

/// A command's bad end.
#[derive(Debug)]
pub struct Failure {
    /// What failed, on what: one line, lower case.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The process's exit status.
    pub exit: Exit,
    /// Deeper causes, outermost first, for `--verbose`.
    pub causes: Vec<String>,
}

/// A command's result.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A command line that cannot be acted on.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Usage, causes: Vec::new() }
    }

    /// Something around the program that is not as it must be.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Environment, causes: Vec::new() }
    }

    /// A fault of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self {
            message: format!("internal error: {}", message.into()),
            hint: Some("this is a fault in bower; nothing acknowledged is lost; please report it".into()),
            exit: Exit::Internal,
            causes: Vec::new(),
        }
    }

    /// One line for a message that came from elsewhere: control characters and line breaks become spaces.
    pub fn line(&self) -> String {
        one_line(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, hint) = judge(&error);
        let mut causes = Vec::new();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            causes.push(one_line(&inner.to_string()));
            cause = inner.source();
        }
        Self { message: one_line(&error.to_string()), hint: Some(hint.into()), exit, causes }
    }
}

/// The exit status and the hint of each of the engine's errors.
fn judge(error: &Error) -> (Exit, &'static str) {
    match error {
        Error::Io { path, source, .. } => (Exit::Environment, io_hint(path, source)),
        Error::DiskFull { .. } => {
            (Exit::Environment, "free some space and run it again; nothing of the failed write was kept")
        }
        Error::ReadOnly { .. } => {
            (Exit::Environment, "make it writable, or name another folder with --home or BOWER_HOME")
        }
        Error::Busy { .. } => {
            (Exit::Environment, "run it again when the other process is done, or raise busy_timeout_ms")
        }
        Error::NewerSchema { .. } => (Exit::Environment, "upgrade bower"),
        Error::NotAStore { .. } => {
            (Exit::Environment, "move that file away, or name another folder with --home or BOWER_HOME")
        }
        Error::Corrupt { .. } => {
            (Exit::Environment, "run bower doctor; a copy of the folder is worth making first")
        }
        Error::Store { .. } => (Exit::Environment, "run bower doctor"),
        Error::Index { .. } => {
            (Exit::Environment, "the index folder may be deleted: it is built again from the store")
        }
        Error::Model { .. } => {
            (Exit::Environment, "run bower model pull, or ask with --fast for words alone")
        }
        Error::Invalid { what, .. } if what.starts_with("filter") => {
            (Exit::Usage, "bower query --help shows a filter as it should be")
        }
        Error::Invalid { what, .. } if what == "consolidate" => {
            (Exit::Usage, "bower model pull fetches the model")
        }
        Error::Invalid { what, .. } if what.starts_with("id ") => (Exit::Usage, missing_hint("item")),
        Error::Invalid { .. } => (Exit::Usage, "the command's --help shows what it takes"),
        Error::NotFound { what, .. } => (Exit::Nothing, missing_hint(what)),
        Error::Outside { .. } => (Exit::Usage, "leave it out, or name what whoever asks is bound to"),
        Error::WholeStore { .. } => (Exit::Usage, "ask without a scope, an owner or collections that bind"),
        Error::Cancelled { .. } => (Exit::Environment, "run it again: it goes on where it was"),
    }
}

fn io_hint(path: &std::path::Path, source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "check who may read and write it, or name another folder with --home or BOWER_HOME"
        }
        std::io::ErrorKind::NotFound if path.is_relative() => {
            "check the path; it is seen from the current folder"
        }
        std::io::ErrorKind::NotFound => "check the path",
        _ => "run it again; if it stays, bower doctor says more",
    }
}

fn missing_hint(what: &str) -> &'static str {
    match what {
        "item" => "bower list shows ids; the first digits are enough where they are unique",
        "file" | "folder" | "file or folder" | "path" => "check the path; it is seen from the current folder",
        "event" => "bower history ID shows the events of an item",
        "open review" => "bower review lists the open ones",
        _ => "check the spelling",
    }
}

/// Joins lines and drops control characters, so that an error is one line and cannot drive a terminal.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        let _ = write!(line, "{word}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::{Path, PathBuf};

    fn check(error: Error, exit: Exit, hint: &str) {
        let message = error.to_string();
        let failure = Failure::from(error);
        assert_eq!(failure.exit, exit, "{message}");
        let got = failure.hint.unwrap_or_default();
        assert!(got.contains(hint), "{message}: {got}");
    }

    #[test]
    fn every_error_has_its_exit_status_and_hint() {
        let path = || PathBuf::from("/home/x/memory.db");
        let io = |kind| Error::io("open", Path::new("/home/x"), io::Error::from(kind));
        check(io(io::ErrorKind::PermissionDenied), Exit::Environment, "who may read");
        check(io(io::ErrorKind::NotFound), Exit::Environment, "check the path");
        check(io(io::ErrorKind::StorageFull), Exit::Environment, "free some space");
        check(io(io::ErrorKind::ReadOnlyFilesystem), Exit::Environment, "make it writable");
        check(Error::Busy { path: path(), waited_ms: 9 }, Exit::Environment, "busy_timeout_ms");
        check(Error::NewerSchema { path: path(), found: 9, known: 7 }, Exit::Environment, "upgrade bower");
        check(Error::NotAStore { path: path(), reason: "x".into() }, Exit::Environment, "move that file");
        check(Error::Corrupt { path: path(), reason: "x".into() }, Exit::Environment, "bower doctor");
        check(
            Error::Store { doing: "read", path: path(), source: "x".into() },
            Exit::Environment,
            "bower doctor",
        );
        check(Error::index("open", &path(), "x"), Exit::Environment, "may be deleted");
        check(Error::Model { model: "m".into(), reason: "x".into() }, Exit::Environment, "bower model pull");
        check(Error::invalid("limit", "1 to 50"), Exit::Usage, "--help");
        check(Error::invalid("filter operator $near", "unknown"), Exit::Usage, "query --help");
        check(Error::NotFound { what: "file or folder", id: "x".into() }, Exit::Nothing, "current folder");
        check(Error::NotFound { what: "item", id: "ff".into() }, Exit::Nothing, "bower list");
        check(Error::NotFound { what: "open review", id: "7".into() }, Exit::Nothing, "bower review lists");
    }

    #[test]
    fn a_message_is_one_line_and_cannot_drive_a_terminal() {
        assert_eq!(one_line(" a\n  b\u{1b}[2Jc\t d\u{7} "), "a b [2Jc d");
    }

    #[test]
    fn causes_are_kept_for_verbose() {
        let failure = Failure::from(Error::index("open", Path::new("/x"), io::Error::other("deep")));
        assert_eq!(failure.causes, ["deep"]);
    }
}
