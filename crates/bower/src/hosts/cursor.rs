//! Configures Cursor: the server in `mcp.json`, hooks in `hooks.json`.
//! Its hook for prompts accepts no context, so none is configured.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &[
    "restart Cursor, and begin a new chat",
    "see it: Cursor Settings, MCP and Hooks",
    "Cursor lets no hook add to a prompt: the agent asks bower itself, by its MCP tools",
];

/// Returns the server and the hooks.
pub fn files(at: &Places, call: &Call) -> Files {
    let folder = at.project.as_ref().unwrap_or(&at.user).join(".cursor");
    let mut all = vec![(Part::Hooks, Edit::Absent { name: "version", value: json!(1) })];
    all.extend(hooks(
        &[
            ("sessionStart", Event::SessionStart, 10),
            ("preCompact", Event::PreCompact, 60),
            ("stop", Event::Stop, 60),
            ("postToolUse", Event::ToolUse, 10),
        ],
        |event, seconds| json!({ "command": call.hook(event, Host::Cursor), "timeout": seconds }),
    ));
    let server = Edit::member(&["mcpServers"], call.server());
    vec![(folder.join("mcp.json"), vec![(Part::Server, server)]), (folder.join("hooks.json"), all)]
}
