//! Cursor: the server in `mcp.json`, hooks in `hooks.json`. Its hook for prompts takes no context, so there is none.

use serde_json::json;
use std::path::PathBuf;

use super::{Call, Edit, Event, Host, Places, Wants};

/// What its user does next.
pub const NEXT: &[&str] = &[
    "restart Cursor, and begin a new chat",
    "see it: Cursor Settings, MCP and Hooks",
    "Cursor lets no hook add to a prompt: the agent asks bower itself, by its MCP tools",
];

/// The server and the hooks.
pub fn files(at: &Places, call: &Call, wants: Wants) -> Vec<(PathBuf, Vec<Edit>)> {
    let folder = at.project.as_ref().unwrap_or(&at.user).join(".cursor");
    let hook = |name, event, seconds: u32| Edit::Item {
        at: vec!["hooks", name],
        value: json!({ "command": call.hook(event, Host::Cursor), "timeout": seconds }),
    };
    let mut hooks = vec![
        Edit::Absent { name: "version", value: json!(1) },
        hook("sessionStart", Event::SessionStart, 10),
        hook("preCompact", Event::PreCompact, 60),
        hook("stop", Event::Stop, 60),
    ];
    if wants.tools {
        hooks.push(hook("postToolUse", Event::ToolUse, 10));
    }
    vec![
        (
            folder.join("mcp.json"),
            wants.server.then(|| Edit::member(&["mcpServers"], call.server())).into_iter().collect(),
        ),
        (folder.join("hooks.json"), if wants.hooks { hooks } else { Vec::new() }),
    ]
}
