//! Configures GitHub Copilot's command line: the server in `mcp-config.json`, hooks in a separate file.
//! Both are below its home, or a project's `.github`. It also runs the hooks that `vscode.rs` writes there.

use serde_json::json;

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places, hooks};
use super::talk::Event;

/// Next steps for the user, one line each.
pub const NEXT: &[&str] =
    &["begin a new session: copilot", "see it: /mcp show bower within, or copilot mcp list before"];

/// Returns the server and the hooks. All tools are offered to the model; Copilot still asks before it runs one.
pub fn files(at: &Places, call: &Call) -> Files {
    let (server_place, hooks_place) = if let Some(project) = &at.project {
        let folder = project.join(".github");
        // VS Code's hooks have their own file, so that either can be removed without the other.
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
