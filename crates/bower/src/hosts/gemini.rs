//! Configures Gemini CLI: the server and the hooks in `settings.json`.
//! Times are in milliseconds. There is no hook for the beginning of a session: without a terminal Gemini puts what it gives before the
//! first prompt, and drops both where the session goes on. The first prompt brings the briefing.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// What its user does next.
pub const NEXT: &[&str] = &[
    "begin a new session: gemini",
    "trust the folder when it asks; where it does not trust one, Gemini starts no server",
    "see it: /mcp and /hooks within",
];

/// The server and the hooks.
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
    // Version .1 began with a hook.
    all.push((Part::Hooks, Edit::Gone { at: vec!["hooks", "SessionStart"] }));
    vec![(settings, all)]
}

/// A hook that cannot be run ends as if it had nothing to say: Gemini stops the prompt for a status of 2 and more, and a shell that
/// finds no program has 127. Windows' older shell knows no `||`.
fn harmless(hook: &str) -> String {
    if cfg!(windows) { hook.to_owned() } else { format!("{hook} || true") }
}
