//! Names the programs in which agents run.

use clap::ValueEnum;

/// A program in which an agent runs. The comments of the variants are shown as help in a terminal, so they have no backticks.
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
    /// Returns the host's word on the command line.
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

    /// Returns its name for people.
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
}
