//! Supports the hosts that agents run in: their configuration files, and the input and output of their hooks.
//! The files contain the call of `bower`. Hooks read input from the host and return context. Each host has one module;
//! `edit.rs` adds entries to the files and removes them.

pub mod brv;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod edit;
mod files;
mod gemini;
mod hermes;
mod host;
mod json;
mod opencode;
mod setup;
mod talk;
mod toml;
mod vscode;
mod yaml;

use std::path::PathBuf;

use setup::Part;

pub use edit::Edit;
pub use files::{Change, Ground, Plan, apply, may_hold_ours, plan};
pub use host::Host;
pub use setup::{Call, Places, VARIABLES};
pub use talk::{Event, Told, answer, told};

impl Host {
    /// Returns the host's files that contain the call of `bower`, each with its entries.
    pub fn files(self, at: &Places, call: &Call, wants: Wants) -> Vec<(PathBuf, Vec<Edit>)> {
        let files = match self {
            // `brv` is a link, not a file: see `brv.rs`.
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

    /// Returns the next steps for the user, one line each.
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

/// Parts of a setup that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The server for the agent: `bower mcp`.
    pub server: bool,
    /// The hooks that the host calls by itself: `bower hook`.
    pub hooks: bool,
    /// Also a hook for each use of a tool on a file.
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

#[cfg(test)]
mod tests;
