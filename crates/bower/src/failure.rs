//! Defines every way in which a command can fail, with its exit status and hint.
//! Exit statuses and hints are decided only here.

use bower_core::Error;
use bower_core::error::Missing;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// The exit status of a command that did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The requested id or path does not exist, or words were found that should be nowhere.
    Nothing = 1,
    /// The command line is invalid.
    Usage = 2,
    /// The disk, the store, the settings or the model failed.
    Environment = 3,
    /// A fault in Bowerbird.
    Internal = 4,
}

/// Advice on a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The same text for all readers.
    Same(Cow<'static, str>),
    /// Advice that only a person at this machine can follow; a model is asked to pass it on.
    Person(Cow<'static, str>),
    /// Text that depends on the reader's interface: commands, HTTP paths or MCP tools.
    Each {
        /// Text for commands.
        command: &'static str,
        /// Text for HTTP, if that for commands does not fit.
        http: Option<&'static str>,
        /// Text for a model.
        tool: &'static str,
    },
}

/// Hint that names HTTP's description of requests.
pub const API: &str = "GET /openapi.json tells what it takes";

/// Hint for a path that was not found from the current folder.
pub const FROM_HERE: Hint = Hint::same("check the path; it is seen from the current folder");

/// Failure of a command.
#[derive(Debug)]
pub struct Failure {
    /// Problem and its object: one line, lower case.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<Hint>,
    /// Exit status of the process.
    pub exit: Exit,
    /// Deeper causes, outermost first, for `--verbose`.
    pub causes: Vec<String>,
}

/// Result of a command.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Hint {
    /// Returns a hint with the same text for all readers.
    pub const fn same(words: &'static str) -> Self {
        Self::Same(Cow::Borrowed(words))
    }

    /// Returns a hint that only a person can follow.
    pub const fn person(words: &'static str) -> Self {
        Self::Person(Cow::Borrowed(words))
    }

    /// Returns the text for commands.
    pub fn command(&self) -> &str {
        match self {
            Self::Same(words) | Self::Person(words) => words,
            Self::Each { command, .. } => command,
        }
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl From<String> for Hint {
    fn from(words: String) -> Self {
        Self::Same(words.into())
    }
}

impl Failure {
    /// Creates a failure for an invalid command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Usage, causes: Vec::new() }
    }

    /// Creates a failure of something outside the program.
    pub fn environment(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Environment, causes: Vec::new() }
    }

    /// Creates a failure for a fault in Bowerbird.
    pub fn internal(message: impl Into<String>) -> Self {
        Self {
            message: format!("internal error: {}", message.into()),
            hint: Some("this is a fault in bower; nothing acknowledged is lost; please report it".into()),
            exit: Exit::Internal,
            causes: Vec::new(),
        }
    }

    /// Returns the message on one line: control characters and line breaks become spaces.
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
        Self { message: one_line(&error.to_string()), hint: Some(hint), exit, causes }
    }
}

/// Returns what to do about a model that failed: a local one, or one at a service.
fn model_hint(model: &str) -> Hint {
    let is_service = crate::remote::named(model).is_some();
    Hint::Each {
        command: if is_service {
            "check the service's address, key and model name; nothing was switched"
        } else {
            "run bower model pull, or ask with --fast for words alone"
        },
        http: None,
        tool: if is_service {
            "tell the user: the service of the model failed; search with fast true for words alone"
        } else {
            "tell the user: run bower model pull, or search with fast true for words alone"
        },
    }
}

/// Returns the exit status and the hint of an engine's error.
fn judge(error: &Error) -> (Exit, Hint) {
    match error {
        Error::Io { path, source, .. } | Error::IndexFile { path, source, .. } => {
            (Exit::Environment, io_hint(path, source))
        }
        Error::DiskFull { .. } => (
            Exit::Environment,
            Hint::same("free some space and run it again; nothing of the failed write was kept"),
        ),
        Error::ReadOnly { .. } => (
            Exit::Environment,
            Hint::person("make it writable, or name another folder with --home or BOWER_HOME"),
        ),
        Error::Busy { .. } => (
            Exit::Environment,
            Hint::same("run it again when the other process is done, or raise busy_timeout_ms"),
        ),
        Error::NewerSchema { .. } => (Exit::Environment, Hint::same("upgrade bower")),
        Error::NotAStore { .. } => (
            Exit::Environment,
            Hint::person("move that file away, or name another folder with --home or BOWER_HOME"),
        ),
        Error::Corrupt { .. } => {
            (Exit::Environment, Hint::person("run bower doctor; a copy of the folder is worth making first"))
        }
        Error::Store { .. } => (Exit::Environment, Hint::person("run bower doctor")),
        Error::Unreachable { .. } => (
            Exit::Environment,
            Hint::person("check that the server runs and that its address is right, then run it again"),
        ),
        Error::TimedOut { .. } => {
            (Exit::Environment, Hint::same("run it again; if it stays, the server has too much to do"))
        }
        Error::Denied { .. } => (
            Exit::Environment,
            Hint::person("check the user and the password, and what that user may do on the server"),
        ),
        Error::Index { .. } => (
            Exit::Environment,
            Hint::same("the index folder may be deleted: it is built again from the store"),
        ),
        Error::Model { model, .. } => (Exit::Environment, model_hint(model)),
        Error::ModelNeeded { .. } => (Exit::Usage, Hint::person("bower model pull fetches the model")),
        Error::Invalid { .. } => (
            Exit::Usage,
            Hint::Each {
                command: "the command's --help shows what it takes",
                http: Some(API),
                tool: "correct that argument and call again",
            },
        ),
        Error::InvalidFilter { .. } => (
            Exit::Usage,
            Hint::Each {
                command: "bower query --help shows a filter as it should be",
                http: Some(API),
                tool: "a filter is an object like {\"version\": \"v2\", \"$contains\": \"retry\"}",
            },
        ),
        Error::InvalidId { .. } => (Exit::Usage, missing_hint(Missing::Item)),
        Error::UnknownEntity { near, .. } => (Exit::Nothing, similar(near)),
        Error::NotFound { what, .. } => (Exit::Nothing, missing_hint(*what)),
        Error::Outside { .. } => {
            (Exit::Usage, Hint::same("leave it out, or name what the caller is limited to"))
        }
        Error::WholeStore { .. } => {
            (Exit::Usage, Hint::same("ask without a scope, an owner or collections that bind"))
        }
        Error::Cancelled { .. } => (Exit::Environment, Hint::same("run it again: it goes on where it was")),
    }
}

fn io_hint(path: &Path, source: &io::Error) -> Hint {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            Hint::person("check who may read and write it, or name another folder with --home or BOWER_HOME")
        }
        io::ErrorKind::NotFound if path.is_relative() => FROM_HERE,
        io::ErrorKind::NotFound => Hint::same("check the path"),
        _ => Hint::person("run it again; if it stays, bower doctor says more"),
    }
}

/// Returns the hint for a name that nothing mentions: names that share a word with it.
fn similar(near: &[String]) -> Hint {
    if near.is_empty() {
        return Hint::same("a question in words finds items without naming an entity");
    }
    Hint::Same(format!("similar names: {}", near.join(", ")).into())
}

fn missing_hint(what: Missing) -> Hint {
    match what {
        Missing::Item => Hint::Each {
            command: "bower list shows ids; the first digits are enough where they are unique",
            http: None,
            tool: "memory_list shows ids; the first digits are enough where they are unique",
        },
        Missing::Event => Hint::Each {
            command: "bower history ID shows the events of an item",
            http: None,
            tool: "memory_history shows the events of an item",
        },
        Missing::Review => Hint::Each {
            command: "bower review lists the open ones",
            http: None,
            tool: "memory_review lists the open ones",
        },
        Missing::Path(_) => FROM_HERE,
        Missing::Named("model") => {
            Hint::same("bower model list names the models; a service is PROVIDER/MODEL")
        }
        Missing::Named(_) => Hint::same("check the spelling"),
    }
}

/// Joins lines and removes control characters, so that an error is one line and cannot drive a terminal.
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
pub(crate) mod table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_exit_status_and_hint() {
        for row in table::rows() {
            let error = (row.error)();
            let message = error.to_string();
            let failure = Failure::from(error);
            assert_eq!(failure.exit, row.exit, "{message}");
            assert_eq!(failure.hint.as_ref().map(Hint::command), Some(row.command), "{message}");
        }
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
