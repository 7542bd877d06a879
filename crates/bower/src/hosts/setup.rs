//! Defines the parts of a host's files: the call of `bower`, the places of the files, and entries for hooks.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::edit::Edit;
use super::host::Host;
use super::talk::Event;

/// Part of a setup that an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The server.
    Server,
    /// Hooks that the host calls by itself.
    Hooks,
    /// A hook for each use of a tool.
    Tools,
    /// Server and hooks in one.
    Provider,
}

impl Part {
    /// Returns the part that a hook belongs to.
    pub fn of(event: Event) -> Self {
        match event {
            Event::ToolUse => Self::Tools,
            Event::SessionStart | Event::UserPrompt | Event::PreCompact | Event::Stop => Self::Hooks,
        }
    }
}

/// Files of a host, each with all its possible entries.
pub type Files = Vec<(PathBuf, Vec<(Part, Edit)>)>;

/// Folders in which a host looks for its files.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's home.
    pub user: PathBuf,
    /// The project whose files are written; `None` for the user's files.
    pub project: Option<PathBuf>,
    /// Environment variables with the folders that they name.
    pub variables: Vec<(&'static str, PathBuf)>,
}

/// Environment variables that move a host's files.
pub const VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "HERMES_HOME", "XDG_CONFIG_HOME", "APPDATA"];

impl Places {
    /// Returns the folder that a variable names, or else one below the user's home.
    pub fn folder(&self, variable: &str, below: &str) -> PathBuf {
        self.named(variable).unwrap_or_else(|| self.user.join(below))
    }

    /// Returns the folder that a variable names.
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        self.variables.iter().find(|(name, _)| *name == variable).map(|(_, folder)| folder.clone())
    }
}

/// A host's call of `bower`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The program: a name on the path, or an absolute path.
    pub program: String,
    /// The folder of the store, if it is not the default one.
    pub home: Option<String>,
}

impl Call {
    /// Returns the arguments for a command.
    pub fn arguments(&self, words: &[&str]) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home", home]);
        home.chain(words.iter().copied()).map(str::to_owned).collect()
    }

    /// Returns the command line of a hook.
    pub fn hook(&self, event: Event, host: Host) -> String {
        let mut words = vec![self.program.clone()];
        words.extend(self.arguments(&["hook", event.word()]));
        if host != Host::ClaudeCode {
            words.extend(["--host".to_owned(), host.word().to_owned()]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the server's entry in the format of most hosts.
    pub fn server(&self) -> Value {
        json!({ "command": self.program, "args": self.arguments(&["mcp"]) })
    }
}

/// Quotes a word for a POSIX shell or `cmd`.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '\\' | '=' | '@' | '+')
    };
    if !word.is_empty() && word.chars().all(is_plain) && !(cfg!(unix) && word.contains('\\')) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the entries of hooks. Each event has the host's name for it and its time limit in the host's unit (most: seconds).
pub fn hooks(
    events: &[(&'static str, Event, u32)],
    entry: impl Fn(Event, u32) -> Value,
) -> Vec<(Part, Edit)> {
    let hook = |&(name, event, seconds)| {
        (Part::of(event), Edit::Item { at: vec!["hooks", name], value: entry(event, seconds) })
    };
    events.iter().map(hook).collect()
}

/// Returns hooks in the format of Claude Code: groups that each have a list of handlers. `tools` matches the tools that use a
/// file.
pub fn groups(
    call: &Call,
    host: Host,
    events: &[(&'static str, Event, u32)],
    tools: &str,
) -> Vec<(Part, Edit)> {
    hooks(events, |event, seconds| {
        let handler = json!({ "type": "command", "command": call.hook(event, host), "timeout": seconds });
        match Part::of(event) {
            Part::Tools => json!({ "matcher": tools, "hooks": [handler] }),
            Part::Server | Part::Hooks | Part::Provider => json!({ "hooks": [handler] }),
        }
    })
}
