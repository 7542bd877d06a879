//! Configures opencode: the server in `opencode.json`, and small plugins that call `bower hook`.
//! Plugins are its only kind of hooks.

use serde_json::{Value, json};

use super::edit::Edit;
use super::host::Host;
use super::setup::{Call, Files, Part, Places};

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &["begin a new session: opencode", "see the server: opencode mcp list"];

/// Code with which the plugins call `bower`.
const HOOK: &str = include_str!("opencode/hook.js");
/// Code of the plugins. An exception in a plugin would break the host, so none of them throws.
const SESSION: &str = include_str!("opencode/session.js");
const TOOLS: &str = include_str!("opencode/tools.js");

/// Returns the server and the plugins.
pub fn files(at: &Places, call: &Call) -> Files {
    let (folder, plugins) = if let Some(project) = &at.project {
        (project.clone(), project.join(".opencode").join("plugins"))
    } else {
        let folder = at.folder("XDG_CONFIG_HOME", ".config").join("opencode");
        (folder.clone(), folder.join("plugins"))
    };
    // The file that exists is used; opencode reads both.
    let names = ["opencode.jsonc", "opencode.json"];
    let there = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    let command: Vec<String> =
        std::iter::once(call.program.clone()).chain(call.arguments(&["mcp"])).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let call = std::iter::once(call.program.clone()).chain(call.arguments(&["hook"])).map(Value::from);
    let call = Value::Array(call.collect()).to_string();
    let hook = HOOK.replace("[\"bower\", \"hook\"]", &call).replace("HOST", Host::Opencode.word());
    let plugin = |part, name, body| (plugins.join(name), vec![(part, Edit::Whole(format!("{hook}{body}")))]);
    vec![
        (
            there.unwrap_or_else(|| folder.join("opencode.json")),
            vec![(Part::Server, Edit::member(&["mcp"], server))],
        ),
        plugin(Part::Hooks, "bowerbird.js", SESSION),
        plugin(Part::Tools, "bowerbird-tools.js", TOOLS),
    ]
}
