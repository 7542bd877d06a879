//! Configures VS Code: the server in `mcp.json`, hooks in the workspace's `.github/hooks`.
//! The `mcp.json` is the workspace's or that of the user's profile. VS Code also reads the hooks of Claude Code's user
//! settings, so no hooks for VS Code are written for a user.

use serde_json::json;
use std::path::PathBuf;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// Next steps for the user of a workspace, one line each.
pub const NEXT: &[&str] =
    &["open the folder, and start the server: MCP: List Servers, bower", "see the hooks: /hooks in the chat"];

/// Next steps if the user's files were written.
pub const NEXT_OF_USER: &[&str] = &[
    "restart VS Code, and start the server: MCP: List Servers, bower",
    "hooks are a workspace's: bower setup vscode --project; VS Code also runs those of bower setup claude-code",
];

/// Returns the server and the hooks.
pub fn files(at: &Places, call: &Call) -> Files {
    let server = json!({ "type": "stdio", "command": call.program, "args": call.arguments(&["mcp"]) });
    let server = vec![(Part::Server, Edit::member(&["servers"], server))];
    let Some(project) = &at.project else {
        return vec![(profile(at).join("mcp.json"), server)];
    };
    let hooks = hooks(
        &[
            ("SessionStart", Event::SessionStart, 10),
            ("UserPromptSubmit", Event::UserPrompt, 10),
            ("PreCompact", Event::PreCompact, 60),
            ("Stop", Event::Stop, 60),
            ("PostToolUse", Event::ToolUse, 10),
        ],
        |event, seconds| json!({ "type": "command", "command": call.hook(event, Host::Vscode), "timeout": seconds }),
    );
    let place = project.join(".github").join("hooks").join("bowerbird.json");
    vec![(project.join(".vscode").join("mcp.json"), server), (place, hooks)]
}

/// Returns the folder of the default profile.
fn profile(at: &Places) -> PathBuf {
    let folder = if cfg!(target_os = "macos") {
        at.user.join("Library").join("Application Support")
    } else if cfg!(windows) {
        at.folder("APPDATA", "AppData/Roaming")
    } else {
        at.folder("XDG_CONFIG_HOME", ".config")
    };
    folder.join("Code").join("User")
}
