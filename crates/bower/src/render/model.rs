//! Renders local models for people: fetched models, lists of models and their state.

use super::table::{Column, Table};
use super::{Look, bytes, count, line, style};
use crate::model::{FileState, FileStatus, InstallState, Listed, Pulled, Status};

/// Renders `bower model pull`, with the number of stored items that got a vector after it.
pub fn pulled(pulled: &Pulled, embedded: Option<usize>, look: &Look) -> String {
    let what = match (pulled.fetched_bytes, pulled.source) {
        (0, _) => "was here already".to_string(),
        (fetched, Some(source)) => format!("fetched {} from {source}", bytes(fetched)),
        (fetched, None) => format!("fetched {}", bytes(fetched)),
    };
    let packed = look.paint(style::DIM, &line(&pulled.packed.to_string_lossy()));
    let vectors = match embedded {
        None | Some(0) => String::new(),
        Some(embedded) => format!("{} got a vector\n", count(embedded as u64, "stored item")),
    };
    format!("{} is ready: {what}\n{packed}\n{vectors}", look.paint(style::TITLE, &line(&pulled.model)))
}

/// Renders `bower model list`.
pub fn list(models: &[Listed], look: &Look) -> String {
    let name = Column::new().style(style::NAME);
    let mut table =
        Table::new(0, [name, Column::new(), Column::new().right(), Column::new().style(style::DIM)]);
    for model in models {
        let state = if model.installed { "installed" } else { "bower model pull" };
        let about = about(model.dimension, model.licence);
        table.row([&*model.model, state, &bytes(model.download_bytes), &about]);
    }
    table.print(look)
}

/// Renders `bower model status`.
pub fn status(status: &Status, look: &Look) -> String {
    let mut table = Table::new(0, [Column::new().style(style::DIM), Column::new().shrinks()]);
    let state = match status.state {
        InstallState::Missing => "missing: run bower model pull",
        InstallState::Partial => "partly there: run bower model pull",
        InstallState::Installed => "installed",
    };
    table.row(["model", &*status.model]).row(["state", state]);
    table.row(["identity", status.identity]);
    table.row(["about", &about(status.dimension, status.licence)]);
    table.row(["folder", &status.folder.to_string_lossy()]);
    let mut files = Table::new(0, [Column::new(), Column::new().shrinks()]);
    for file in status.files.iter().chain([&status.packed]) {
        files.row([&file.file, &found(file)]);
    }
    format!("{}\n{}", table.print(look), files.print(look))
}

/// Formats a model's output and its licence.
fn about(dimension: usize, licence: &str) -> String {
    match dimension {
        1 => format!("cross-encoder, {licence}"),
        numbers => format!("{numbers} numbers, {licence}"),
    }
}

fn found(file: &FileStatus) -> String {
    match &file.state {
        FileState::Missing => "missing".into(),
        FileState::Partial { bytes: have } => {
            format!("{} here; bower model pull goes on from there", bytes(*have))
        }
        FileState::Damaged { bytes: have, reason } => format!("damaged ({}): {reason}", bytes(*have)),
        FileState::Whole { bytes: have } => format!("whole ({})", bytes(*have)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn models() {
        let file = |name: &str, state| FileStatus { file: name.into(), state, sha256: None };
        let one = Status {
            model: "all-MiniLM-L6-v2".into(),
            identity: "all-MiniLM-L6-v2.i8-2",
            licence: "Apache-2.0",
            dimension: 384,
            state: InstallState::Partial,
            folder: "/home/ada/.bowerbird/models/all-MiniLM-L6-v2".into(),
            files: vec![
                file("vocab.txt", FileState::Whole { bytes: 231_508 }),
                file("model.safetensors", FileState::Partial { bytes: 40_000_000 }),
            ],
            packed: file("all-MiniLM-L6-v2.i8-2.packed", FileState::Missing),
        };
        insta::assert_snapshot!("model_status", status(&one, &sample::look(80)));
        let listed = Listed {
            model: "all-MiniLM-L6-v2".into(),
            licence: "Apache-2.0",
            dimension: 384,
            download_bytes: 91_099_884,
            installed: false,
        };
        assert_eq!(
            list(&[listed], &sample::look(80)),
            "all-MiniLM-L6-v2  bower model pull  91 MB  384 numbers, Apache-2.0\n"
        );
    }
}
