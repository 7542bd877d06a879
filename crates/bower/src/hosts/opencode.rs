//! opencode: the server in `opencode.json`; it has no hooks but plugins, so a small one calls `bower hook`.

use serde_json::{Value, json};

use super::{Call, Edit, Files, Host, Part, Places};

/// What its user does next.
pub const NEXT: &[&str] = &["begin a new session: opencode", "see the server: opencode mcp list"];

/// The plugin, but for how `bower` is called. A plugin that throws would break the host: nothing in it does.
const PLUGIN: &str = include_str!("opencode.js");

/// The server and the plugin.
pub fn files(at: &Places, call: &Call) -> Files {
    let (folder, plugins) = if let Some(project) = &at.project {
        (project.clone(), project.join(".opencode").join("plugins"))
    } else {
        let folder = at.folder("XDG_CONFIG_HOME", ".config").join("opencode");
        (folder.clone(), folder.join("plugins"))
    };
    // Whichever there is; opencode reads both.
    let names = ["opencode.jsonc", "opencode.json"];
    let there = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    let command: Vec<String> =
        std::iter::once(call.program.clone()).chain(call.arguments(&["mcp"])).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let call = std::iter::once(call.program.clone()).chain(call.arguments(&["hook"])).map(Value::from);
    let call = Value::Array(call.collect()).to_string();
    let plugin = PLUGIN.replace("[\"bower\", \"hook\"]", &call).replace("HOST", Host::Opencode.word());
    vec![
        (
            there.unwrap_or_else(|| folder.join("opencode.json")),
            vec![(Part::Server, Edit::member(&["mcp"], server))],
        ),
        (plugins.join("bowerbird.js"), vec![(Part::Hooks, Edit::Whole(plugin))]),
    ]
}
