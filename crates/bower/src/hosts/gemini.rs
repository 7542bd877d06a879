//! Gemini CLI: the server and the hooks in `settings.json`. Times are in milliseconds.

use serde_json::json;
use std::path::PathBuf;

use super::{Call, Edit, Event, Host, Places, Wants};

/// What its user does next.
pub const NEXT: &[&str] =
    &["begin a new session: gemini", "see it: /mcp and /hooks within, or gemini mcp list before"];

/// The server and the hooks.
pub fn files(at: &Places, call: &Call, wants: Wants) -> Vec<(PathBuf, Vec<Edit>)> {
    let settings = at.project.as_ref().unwrap_or(&at.user).join(".gemini").join("settings.json");
    let hook = |name, event: Event, milliseconds: u32| {
        let handler = json!({
            "name": format!("bower-{}", event.word()),
            "type": "command",
            "command": call.hook(event, Host::Gemini),
            "timeout": milliseconds,
        });
        Edit::Item { at: vec!["hooks", name], value: json!({ "hooks": [handler] }) }
    };
    let mut edits = Vec::new();
    if wants.server {
        edits.push(Edit::member(&["mcpServers"], call.server()));
    }
    if wants.hooks {
        edits.extend([
            hook("SessionStart", Event::SessionStart, 10_000),
            hook("BeforeAgent", Event::UserPrompt, 10_000),
            hook("PreCompress", Event::PreCompact, 60_000),
            hook("AfterAgent", Event::Stop, 60_000),
        ]);
        if wants.tools {
            edits.push(hook("AfterTool", Event::ToolUse, 10_000));
        }
    }
    vec![(settings, edits)]
}
