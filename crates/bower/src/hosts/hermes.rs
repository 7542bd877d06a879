//! Configures Hermes: a memory provider in its plugins, and the provider's name in `config.yaml`.

use super::edit::Edit;
use super::setup::{Call, Files, Part, Places};

/// Next steps for the user, one line each.
pub const NEXT: &[&str] = &["begin a new session: hermes", "see what is active: hermes memory status"];

/// The provider's source; the call of `bower` is replaced in it.
const PROVIDER: &str = include_str!("../../../../python/bowerbird/hermes/__init__.py");
const CHILD: &str = include_str!("../../../../python/bowerbird/hermes/child.py");
const ABOUT: &str = include_str!("../../../../python/bowerbird/hermes/plugin.yaml");

/// Returns the plugin's files, and the setting that selects it.
pub fn files(at: &Places, call: &Call) -> Files {
    let folder = at.folder("HERMES_HOME", ".hermes");
    let plugin = folder.join("plugins").join("bowerbird");
    let home = call.home.as_deref().unwrap_or("");
    let provider = PROVIDER
        .replace("\"command\": \"bower\"", &format!("\"command\": {}", literal(&call.program)))
        .replace("\"home\": \"\"", &format!("\"home\": {}", literal(home)));
    let whole = |text: String| vec![(Part::Provider, Edit::Whole(text))];
    vec![
        (plugin.join("__init__.py"), whole(provider)),
        (plugin.join("child.py"), whole(CHILD.to_owned())),
        (plugin.join("plugin.yaml"), whole(ABOUT.to_owned())),
        (
            folder.join("config.yaml"),
            vec![(Part::Provider, Edit::Line { block: "memory", name: "provider", value: "bowerbird" })],
        ),
    ]
}

/// Quotes a text in a form that is valid in both Python and JSON.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
