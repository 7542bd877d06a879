//! Defines what the files of a host are made of: how it calls `bower`, where its files lie, and entries for its hooks.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::edit::Edit;
use super::host::Host;
use super::talk::Event;

/// What of a setup a piece of a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The server.
    Server,
    /// What the host calls by itself.
    Hooks,
    /// A hook for uses of tools.
    Tools,
    /// What is server and hooks in one.
    Provider,
}

impl Part {
    /// That of a hook.
    pub fn of(event: Event) -> Self {
        match event {
            Event::ToolUse => Self::Tools,
            Event::SessionStart | Event::UserPrompt | Event::PreCompact | Event::Stop => Self::Hooks,
        }
    }
}

/// The files of a host, and all that may stand in each.
pub type Files = Vec<(PathBuf, Vec<(Part, Edit)>)>;

/// Where a host looks.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's home.
    pub user: PathBuf,
    /// The project whose files are written; the user's unless told.
    pub project: Option<PathBuf>,
    /// Folders that variables name: the variable, and what it says.
    pub variables: Vec<(&'static str, PathBuf)>,
}

/// Variables that move a host's files.
pub const VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "HERMES_HOME", "XDG_CONFIG_HOME", "APPDATA"];

impl Places {
    /// The folder that a variable names, else one below the user's home.
    pub fn folder(&self, variable: &str, below: &str) -> PathBuf {
        self.named(variable).unwrap_or_else(|| self.user.join(below))
    }

    /// The folder that a variable names.
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        self.variables.iter().find(|(name, _)| *name == variable).map(|(_, folder)| folder.clone())
    }
}

/// How a host calls `bower`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The program: a name on the path, or a whole path.
    pub program: String,
    /// The folder of the store, where it is not the one that `bower` takes by itself.
    pub home: Option<String>,
}

impl Call {
    /// The arguments of a command.
    pub fn arguments(&self, words: &[&str]) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home", home]);
        home.chain(words.iter().copied()).map(str::to_owned).collect()
    }

    /// A hook as a shell runs it.
    pub fn hook(&self, event: Event, host: Host) -> String {
        let mut words = vec![self.program.clone()];
        words.extend(self.arguments(&["hook", event.word()]));
        if host != Host::ClaudeCode {
            words.extend(["--host".to_owned(), host.word().to_owned()]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The entry of the server as most hosts have it.
    pub fn server(&self) -> Value {
        json!({ "command": self.program, "args": self.arguments(&["mcp"]) })
    }
}

/// A word as a POSIX shell and `cmd` take it for one.
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

/// Hooks by the host's name for each event, with the seconds that it may take, or what the host counts in.
pub fn hooks(
    events: &[(&'static str, Event, u32)],
    entry: impl Fn(Event, u32) -> Value,
) -> Vec<(Part, Edit)> {
    let hook = |&(name, event, seconds)| {
        (Part::of(event), Edit::Item { at: vec!["hooks", name], value: entry(event, seconds) })
    };
    events.iter().map(hook).collect()
}

/// Hooks as Claude Code has them, and those who do as it does: groups that each have a list of handlers. `tools` says which tools
/// use a file.
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
