//! Supports the hosts that agents run in: their configuration files, and the input and output of their hooks.
//! The files say how `bower` is called; hooks are given something and give something back. There is one file a host; entries are put
//! into their files and taken out again by `edit.rs`.

pub mod brv;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod edit;
mod files;
mod gemini;
mod hermes;
mod json;
mod opencode;
mod talk;
mod toml;
mod vscode;
mod yaml;

use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::PathBuf;

pub use edit::Edit;
pub use files::{Change, Ground, Plan, apply, may_hold_ours, plan};
pub use talk::{Event, Told, answer, told};

/// A program in which an agent runs. What is said of each is the help that a terminal shows: no backticks.
#[expect(clippy::doc_markdown, reason = "names of programs in a terminal's help")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Host {
    /// Programs that call ByteRover's brv
    Brv,
    /// Anthropic's Claude Code
    ClaudeCode,
    /// OpenAI's Codex
    Codex,
    /// GitHub's Copilot in a terminal
    Copilot,
    /// Cursor
    Cursor,
    /// Google's Gemini CLI
    Gemini,
    /// Nous Research's Hermes
    Hermes,
    /// opencode
    Opencode,
    /// Visual Studio Code with GitHub Copilot
    Vscode,
}

impl Host {
    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Brv => "brv",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Hermes => "hermes",
            Self::Opencode => "opencode",
            Self::Vscode => "vscode",
        }
    }

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brv => "brv",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Hermes => "Hermes",
            Self::Opencode => "opencode",
            Self::Vscode => "VS Code",
        }
    }

    /// The files that say how it calls `bower`, and what stands in them.
    pub fn files(self, at: &Places, call: &Call, wants: Wants) -> Vec<(PathBuf, Vec<Edit>)> {
        let files = match self {
            // A link, which is no file: `brv.rs`.
            Self::Brv => Vec::new(),
            Self::ClaudeCode => claude_code::files(at, call),
            Self::Codex => codex::files(at, call),
            Self::Copilot => copilot::files(at, call),
            Self::Cursor => cursor::files(at, call),
            Self::Gemini => gemini::files(at, call),
            Self::Hermes => hermes::files(at, call),
            Self::Opencode => opencode::files(at, call),
            Self::Vscode => vscode::files(at, call),
        };
        files
            .into_iter()
            .map(|(path, parts)| {
                let wanted = parts.into_iter().filter(|(part, _)| wants.has(*part));
                (path, wanted.map(|(_, edit)| edit).collect::<Vec<Edit>>())
            })
            .filter(|(_, edits)| !edits.is_empty())
            .collect()
    }

    /// What its user does next, one line each.
    pub fn next(self, at: &Places) -> Vec<&'static str> {
        match self {
            Self::Brv => brv::NEXT.to_vec(),
            Self::ClaudeCode => claude_code::NEXT.to_vec(),
            Self::Codex => codex::NEXT.to_vec(),
            Self::Copilot => copilot::NEXT.to_vec(),
            Self::Cursor => cursor::NEXT.to_vec(),
            Self::Gemini => gemini::NEXT.to_vec(),
            Self::Hermes => hermes::NEXT.to_vec(),
            Self::Opencode => opencode::NEXT.to_vec(),
            Self::Vscode if at.project.is_some() => vscode::NEXT.to_vec(),
            Self::Vscode => vscode::NEXT_OF_USER.to_vec(),
        }
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The server that the agent may ask: `bower mcp`.
    pub server: bool,
    /// What the host calls by itself: `bower hook`.
    pub hooks: bool,
    /// A hook for each use of a tool on a file too.
    pub tools: bool,
}

impl Wants {
    fn has(self, part: Part) -> bool {
        match part {
            Part::Server => self.server,
            Part::Hooks => self.hooks,
            Part::Tools => self.tools,
            Part::Provider => true,
        }
    }
}

/// What of a setup a piece of a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Server,
    Hooks,
    Tools,
    /// What is server and hooks in one.
    Provider,
}

impl Part {
    /// That of a hook.
    fn of(event: Event) -> Self {
        match event {
            Event::ToolUse => Self::Tools,
            Event::SessionStart | Event::UserPrompt | Event::PreCompact | Event::Stop => Self::Hooks,
        }
    }
}

/// The files of a host, and all that may stand in each.
type Files = Vec<(PathBuf, Vec<(Part, Edit)>)>;

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
    fn folder(&self, variable: &str, below: &str) -> PathBuf {
        self.named(variable).unwrap_or_else(|| self.user.join(below))
    }

    fn named(&self, variable: &str) -> Option<PathBuf> {
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
    fn arguments(&self, words: &[&str]) -> Vec<String> {
        let home = self.home.iter().flat_map(|home| ["--home", home]);
        home.chain(words.iter().copied()).map(str::to_owned).collect()
    }

    /// A hook as a shell runs it.
    fn hook(&self, event: Event, host: Host) -> String {
        let mut words = vec![self.program.clone()];
        words.extend(self.arguments(&["hook", event.word()]));
        if host != Host::ClaudeCode {
            words.extend(["--host".to_owned(), host.word().to_owned()]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The entry of the server as most hosts have it.
    fn server(&self) -> Value {
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

/// Whether a command of a hook is one that we wrote: a program of our name, and the word `hook`.
fn is_ours(command: &str) -> bool {
    let command = command.trim_start();
    let (program, rest) = match command.chars().next() {
        Some(quote @ ('\'' | '"')) => command[1..].split_once(quote).unwrap_or((&command[1..], "")),
        Some(_) => command.split_once(' ').unwrap_or((command, "")),
        None => return false,
    };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "bower" | "bower.exe") && rest.split_whitespace().any(|word| word == "hook")
}

/// Hooks by the host's name for each event, with the seconds that it may take, or what the host counts in.
fn hooks(events: &[(&'static str, Event, u32)], entry: impl Fn(Event, u32) -> Value) -> Vec<(Part, Edit)> {
    let hook = |&(name, event, seconds)| {
        (Part::of(event), Edit::Item { at: vec!["hooks", name], value: entry(event, seconds) })
    };
    events.iter().map(hook).collect()
}

/// Hooks as Claude Code has them, and those who do as it does: groups that each have a list of handlers. `tools` says which tools
/// use a file.
fn groups(call: &Call, host: Host, events: &[(&'static str, Event, u32)], tools: &str) -> Vec<(Part, Edit)> {
    hooks(events, |event, seconds| {
        let handler = json!({ "type": "command", "command": call.hook(event, host), "timeout": seconds });
        match Part::of(event) {
            Part::Tools => json!({ "matcher": tools, "hooks": [handler] }),
            Part::Server | Part::Hooks | Part::Provider => json!({ "hooks": [handler] }),
        }
    })
}

#[cfg(test)]
mod tests;
