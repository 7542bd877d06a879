//! Codex: the server in `config.toml`, hooks in `hooks.json` beside it. Codex runs no hook before its user has trusted it.

use serde_json::json;
use std::path::PathBuf;

use super::{Call, Edit, Event, Host, Places, Wants, groups};

/// What its user does next.
pub const NEXT: &[&str] = &[
    "begin a new session: codex",
    "trust the hooks once: /hooks within; until then Codex runs none of them",
    "see the server: codex mcp list",
];

/// The server and the hooks.
pub fn files(at: &Places, call: &Call, wants: Wants) -> Vec<(PathBuf, Vec<Edit>)> {
    let folder = match &at.project {
        Some(project) => project.join(".codex"),
        None => at.folder("CODEX_HOME", ".codex"),
    };
    let mut hooks = groups(
        call,
        Host::Codex,
        &[
            ("SessionStart", Event::SessionStart, 10),
            ("UserPromptSubmit", Event::UserPrompt, 10),
            ("PreCompact", Event::PreCompact, 60),
            ("Stop", Event::Stop, 60),
        ],
    );
    if wants.tools {
        let tool = json!({
            "matcher": "apply_patch|Edit|Write",
            "hooks": [{ "type": "command", "command": call.hook(Event::ToolUse, Host::Codex), "timeout": 10 }]
        });
        hooks.push(Edit::Item { at: vec!["hooks", "PostToolUse"], value: tool });
    }
    let table =
        Edit::Table { at: "mcp_servers", command: call.program.clone(), arguments: call.arguments(&["mcp"]) };
    vec![
        (folder.join("config.toml"), wants.server.then_some(table).into_iter().collect()),
        (folder.join("hooks.json"), if wants.hooks { hooks } else { Vec::new() }),
    ]
}
