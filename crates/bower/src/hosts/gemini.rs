//! Configures Gemini CLI: the server and the hooks in `settings.json`.
//! Times are in milliseconds. There is no hook for the beginning of a session: without a terminal, Gemini puts its output
//! before the first prompt, and drops both if the session is resumed. The first prompt brings the briefing instead.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &[
    "begin a new session: gemini",
    "trust the folder when it asks; where it does not trust one, Gemini starts no server",
    "see it: /mcp and /hooks within",
];

/// Returns the server and the hooks.
pub fn files(at: &Places, call: &Call) -> Files {
    let settings = at.project.as_ref().unwrap_or(&at.user).join(".gemini").join("settings.json");
    let mut all = vec![(Part::Server, Edit::member(&["mcpServers"], call.server()))];
    all.extend(hooks(
        &[
            ("BeforeAgent", Event::UserPrompt, 10_000),
            ("PreCompress", Event::PreCompact, 60_000),
            ("AfterAgent", Event::Stop, 60_000),
            ("AfterTool", Event::ToolUse, 10_000),
        ],
        |event, milliseconds| {
            let handler = json!({
                "name": format!("bower-{}", event.word()),
                "type": "command",
                "command": harmless(&call.hook(event, Host::Gemini)),
                "timeout": milliseconds,
            });
            json!({ "hooks": [handler] })
        },
    ));
    // Version .1 wrote a hook for the beginning of a session.
    all.push((Part::Hooks, Edit::Gone { at: vec!["hooks", "SessionStart"] }));
    vec![(settings, all)]
}

/// Returns a command that ends with status 0 even if the hook cannot be started. Gemini stops the prompt for a status of 2 and
/// more, and a shell that finds no program returns 127. Windows' older shell has no `||`.
fn harmless(hook: &str) -> String {
    if cfg!(windows) { hook.to_owned() } else { format!("{hook} || true") }
}
