//! Configures Claude Code: the server in `~/.claude.json` or `.mcp.json`, hooks in `settings.json`.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, groups};
use super::talk::Event;

/// What its user does next.
pub const NEXT: &[&str] =
    &["begin a new session: claude", "see it: /mcp and /hooks within, or claude mcp list before"];

/// The server and the hooks. A stop is waited for: where nobody is there to go on, the host ends and takes those that are not
/// with it. The end of a session brings what was said last.
pub fn files(at: &Places, call: &Call) -> Files {
    let (server, settings) = match (&at.project, at.named("CLAUDE_CONFIG_DIR")) {
        (Some(project), _) => (project.join(".mcp.json"), project.join(".claude").join("settings.json")),
        (None, Some(folder)) => (folder.join(".claude.json"), folder.join("settings.json")),
        (None, None) => (at.user.join(".claude.json"), at.user.join(".claude").join("settings.json")),
    };
    let entry =
        json!({ "type": "stdio", "command": call.program, "args": call.arguments(&["mcp"]), "env": {} });
    let hooks = groups(
        call,
        Host::ClaudeCode,
        &[
            ("SessionStart", Event::SessionStart, 10),
            ("UserPromptSubmit", Event::UserPrompt, 10),
            ("PreCompact", Event::PreCompact, 60),
            ("Stop", Event::Stop, 60),
            ("SessionEnd", Event::Stop, 60),
            ("PostToolUse", Event::ToolUse, 10),
        ],
        "Read|Edit|Write|MultiEdit|NotebookEdit",
    );
    vec![(server, vec![(Part::Server, Edit::member(&["mcpServers"], entry))]), (settings, hooks)]
}
