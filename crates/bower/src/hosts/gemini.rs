//! Gemini CLI: the server and the hooks in `settings.json`. Times are in milliseconds.

use serde_json::json;

use super::{Call, Edit, Event, Files, Host, Part, Places, hooks};

/// What its user does next.
pub const NEXT: &[&str] =
    &["begin a new session: gemini", "see it: /mcp and /hooks within, or gemini mcp list before"];

/// The server and the hooks.
pub fn files(at: &Places, call: &Call) -> Files {
    let settings = at.project.as_ref().unwrap_or(&at.user).join(".gemini").join("settings.json");
    let mut all = vec![(Part::Server, Edit::member(&["mcpServers"], call.server()))];
    all.extend(hooks(
        &[
            ("SessionStart", Event::SessionStart, 10_000),
            ("BeforeAgent", Event::UserPrompt, 10_000),
            ("PreCompress", Event::PreCompact, 60_000),
            ("AfterAgent", Event::Stop, 60_000),
            ("AfterTool", Event::ToolUse, 10_000),
        ],
        |event, milliseconds| {
            let handler = json!({
                "name": format!("bower-{}", event.word()),
                "type": "command",
                "command": call.hook(event, Host::Gemini),
                "timeout": milliseconds,
            });
            json!({ "hooks": [handler] })
        },
    ));
    vec![(settings, all)]
}
