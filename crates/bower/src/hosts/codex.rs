//! Configures Codex: the server in `config.toml`, hooks in `hooks.json` beside it.
//! Codex runs no hook before its user has trusted it.

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, groups};
use super::talk::Event;

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &[
    "begin a new session: codex",
    "answer its question about the hooks with Trust all (later: /hooks); until then Codex runs none of them",
    "see the server: codex mcp list",
];

/// Returns the server and the hooks.
pub fn files(at: &Places, call: &Call) -> Files {
    let folder = match &at.project {
        Some(project) => project.join(".codex"),
        None => at.folder("CODEX_HOME", ".codex"),
    };
    let hooks = groups(
        call,
        Host::Codex,
        &[
            ("SessionStart", Event::SessionStart, 10),
            ("UserPromptSubmit", Event::UserPrompt, 10),
            ("PreCompact", Event::PreCompact, 60),
            ("Stop", Event::Stop, 60),
            ("PostToolUse", Event::ToolUse, 10),
        ],
        "apply_patch|Edit|Write",
    );
    let table =
        Edit::Table { at: "mcp_servers", command: call.program.clone(), arguments: call.arguments(&["mcp"]) };
    vec![(folder.join("config.toml"), vec![(Part::Server, table)]), (folder.join("hooks.json"), hooks)]
}
