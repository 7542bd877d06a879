//! Configures GitHub Copilot's command line: the server in `mcp-config.json`, hooks in a file of their own.
//! Both are below its home, or a project's `.github`. It runs the hooks that `vscode.rs` writes there too.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// What its user does next.
pub const NEXT: &[&str] =
    &["begin a new session: copilot", "see it: /mcp show bower within, or copilot mcp list before"];

/// The server and the hooks. All tools are offered to the model; whether one may run is asked as ever.
pub fn files(at: &Places, call: &Call) -> Files {
    let (server_place, hooks_place) = if let Some(project) = &at.project {
        let folder = project.join(".github");
        // VS Code's file stays its own: either can be taken out without the other.
        (folder.join("mcp.json"), folder.join("hooks").join("bowerbird-copilot.json"))
    } else {
        let folder = at.folder("COPILOT_HOME", ".copilot");
        (folder.join("mcp-config.json"), folder.join("hooks").join("bowerbird.json"))
    };
    let server = json!({
        "type": "local", "command": call.program, "args": call.arguments(&["mcp"]), "tools": ["*"]
    });
    let mut all = vec![(Part::Hooks, Edit::Absent { name: "version", value: json!(1) })];
    all.extend(hooks(
        &[
            ("SessionStart", Event::SessionStart, 10),
            ("UserPromptSubmit", Event::UserPrompt, 10),
            ("PreCompact", Event::PreCompact, 60),
            ("Stop", Event::Stop, 60),
            ("PostToolUse", Event::ToolUse, 10),
        ],
        |event, seconds| json!({ "type": "command", "command": call.hook(event, Host::Copilot), "timeout": seconds }),
    ));
    vec![(server_place, vec![(Part::Server, Edit::member(&["mcpServers"], server))]), (hooks_place, all)]
}
