//! Configures Claude Code: the server in `~/.claude.json` or `.mcp.json`, hooks in `settings.json`.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, groups};
use super::talk::Event;

/// Next steps for the user, one line each.
pub const NEXT: &[&str] =
    &["begin a new session: claude", "see it: /mcp and /hooks within, or claude mcp list before"];

/// Returns the server and the hooks. The stop hook is synchronous: without a person who goes on, the host exits and ends
/// background hooks with it. The hook at the end of a session reads the last messages.
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
