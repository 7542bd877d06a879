//! Renders settings for people: each value with its origin and description.

use super::table::{Column, Table};
use super::{Look, style};
use crate::settings::{Chosen, Home, Origin};
use serde_json::Value;

/// Renders all settings; changed ones are marked by their origin.
pub fn all(home: &Home, settings: &[Chosen], look: &Look) -> String {
    let file = home.config();
    let origin = |origin: &Origin| match origin {
        Origin::BuiltIn => "built-in".to_string(),
        Origin::File(_) => crate::settings::FILE.to_string(),
        Origin::Environment(variable) => variable.clone(),
        Origin::Flag(flag) => (*flag).to_string(),
    };
    let mut table = Table::new(
        0,
        [
            Column::new().style(style::NAME),
            Column::new(),
            Column::new().style(style::DIM),
            Column::new().shrinks().style(style::DIM),
        ],
    );
    for chosen in settings {
        table.row([chosen.key, &value(&chosen.value), &origin(&chosen.origin), chosen.meaning]);
    }
    format!(
        "{}\n{}\n\n{}",
        look.paint(
            style::TITLE,
            &format!("home  {} ({})", super::line(&home.path.to_string_lossy()), origin(&home.origin))
        ),
        look.paint(
            style::DIM,
            &format!(
                "file  {}{}",
                super::line(&file.to_string_lossy()),
                if file.exists() { "" } else { " (not there yet)" }
            )
        ),
        table.print(look)
    )
}

/// Formats a setting's value as it is typed in.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(self::value).collect::<Vec<_>>().join(", "),
        Value::Null => "not set".to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use crate::settings::{Layers, resolve};

    #[test]
    fn settings_and_their_origins() {
        let home = Home { path: "/nowhere/at/all".into(), origin: Origin::Flag("--home") };
        let path = home.config();
        let environment = [("BOWER_BUSY_TIMEOUT_MS".into(), "500".into())];
        let layers = Layers { file: Some((&path, "threads = 2")), environment: &environment, flags: &[] };
        let chosen = resolve(&layers).unwrap().chosen;
        insta::assert_snapshot!(all(&home, &chosen, &sample::look(110)));
    }
}
