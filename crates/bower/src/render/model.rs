//! Renders local models for people: fetched models, lists of models and their state.

use super::table::{Column, Table};
use super::{Look, bytes, count, line, style};
use bower_core::request::EmbeddingCost;

use crate::commands::model::{Chosen, Dropped};
use crate::model::{FileState, FileStatus, InstallState, Kind, Listed, Pulled, Status};

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

/// Returns the estimated pieces of all texts that wait.
pub fn all_pieces(cost: &EmbeddingCost) -> u64 {
    let share = cost.waiting as f64 / cost.sampled.max(1) as f64;
    (cost.pieces as f64 * share).round() as u64
}

/// Renders what another model's vectors take.
pub fn cost(cost: &EmbeddingCost, chosen: &Chosen) -> String {
    let (items, model) = (count(cost.waiting, "stored item"), line(&chosen.model));
    let pieces = thousands(all_pieces(cost) as f64);
    let until = format!("{} answers until then", line(&chosen.previous));
    if let Some(host) = &chosen.host {
        let price = match chosen.dollars {
            None => "its price is not known".to_owned(),
            Some(0.0) => "without a price".to_owned(),
            Some(dollars) if dollars < 0.005 => "less than a cent at its published price".to_owned(),
            Some(dollars) => format!("{dollars:.2} dollars at its published price"),
        };
        let host = if host.is_empty() { String::new() } else { format!(" at {}", line(host)) };
        return format!(
            "the switch sends the text of {items} to {model}{host}: {pieces} tokens, {price}; later questions and new texts are \
             sent too; {until}"
        );
    }
    let seconds = cost.took_ms * cost.waiting as f64 / cost.sampled.max(1) as f64 / 1_000.0;
    let time = match seconds {
        ..1.5 => "a second".to_owned(),
        ..100.0 => format!("{seconds:.0} seconds"),
        _ => format!("{:.0} minutes", seconds / 60.0),
    };
    format!(
        "the switch makes vectors of {items} by {model}: {pieces} tokens, about {time}; nothing leaves this machine, and {until}"
    )
}

/// Formats a number of pieces that is an estimate.
fn thousands(number: f64) -> String {
    match number {
        ..10_000.0 => format!("about {number:.0}"),
        ..1_000_000.0 => format!("about {:.0},000", number / 1_000.0),
        _ => format!("about {:.1} million", number / 1_000_000.0),
    }
}

/// Renders `bower model use` and `bower model back`.
pub fn chosen(chosen: &Chosen, dry_run: bool, look: &Look) -> String {
    let name = look.paint(style::TITLE, &line(&chosen.model));
    if dry_run {
        return format!("{name} was not chosen: this was a trial\n");
    }
    let vectors = match chosen.embedded {
        0 => String::new(),
        embedded => format!("{} got a vector\n", count(embedded as u64, "stored item")),
    };
    if let Some(origin) = &chosen.overridden_by {
        return format!("{vectors}the settings file names {name} now, but {} decides\n", line(origin));
    }
    if !chosen.switched {
        return format!("{vectors}{name} answers already\n");
    }
    let back = "bower model back returns to the vectors of before; servers that run follow by themselves";
    format!("{name} answers questions now\n{vectors}{}\n", look.paint(style::DIM, back))
}

/// Renders `bower model drop`.
pub fn dropped(dropped: &Dropped, _look: &Look) -> String {
    match dropped.vectors {
        0 => format!("this store has no vectors of {}\n", line(&dropped.identity)),
        vectors => format!("{} of {} deleted\n", count(vectors, "vector"), line(&dropped.identity)),
    }
}

/// Renders `bower model list`. `chosen` is the model that answers.
pub fn list(models: &[Listed], chosen: &str, look: &Look) -> String {
    let name = Column::new().style(style::NAME);
    let right = || Column::new().right();
    let about = Column::new().style(style::DIM).shrinks();
    let mut table = Table::new(0, [name, Column::new(), right(), right(), right(), about]);
    for model in models {
        let state = match model.installed {
            true if model.model == chosen => "in use",
            true => "installed",
            false => "",
        };
        let (numbers, about) = match model.kind {
            Kind::Cross => (String::new(), "cross-encoder".to_owned()),
            Kind::Sentence => (model.dimension.to_string(), model.languages.unwrap_or_default().to_owned()),
        };
        let beir = model.beir.map(|beir| format!("{beir:.1}")).unwrap_or_default();
        let about = [&about, model.licence].into_iter().filter(|part| !part.is_empty());
        let about = about.collect::<Vec<&str>>().join(", ");
        table.row([&*model.model, state, &bytes(model.download_bytes), &numbers, &beir, &about]);
    }
    let table = table.print(look);
    let note = "The columns are the size of the files, the numbers of a vector, and the mean nDCG@10 over the sets of\nBEIR in % \
                from the model's card. bower model use NAME fetches a model and switches to it.";
    format!("{table}\n{}\n", look.paint(style::DIM, note))
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
    table.row(["identity", &status.identity]);
    table.row(["about", &about(status.kind, status.dimension, status.licence)]);
    table.row(["folder", &status.folder.to_string_lossy()]);
    let mut files = Table::new(0, [Column::new(), Column::new().shrinks()]);
    for file in status.files.iter().chain([&status.packed]) {
        files.row([&file.file, &found(file)]);
    }
    format!("{}\n{}", table.print(look), files.print(look))
}

/// Formats a model's output and its licence.
fn about(kind: Kind, dimension: usize, licence: &str) -> String {
    match (kind, dimension) {
        (Kind::Cross, _) => format!("cross-encoder, {licence}"),
        (Kind::Sentence, 0) => licence.to_owned(),
        (Kind::Sentence, numbers) => format!("{numbers} numbers, {licence}"),
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
            kind: Kind::Sentence,
            identity: "all-MiniLM-L6-v2.i8-2".into(),
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
            kind: Kind::Sentence,
            licence: "Apache-2.0",
            dimension: 384,
            download_bytes: 91_099_884,
            beir: Some(42.0),
            languages: Some("English"),
            installed: true,
        };
        let cross = Listed {
            model: "cross-encoder/ms-marco-MiniLM-L6-v2".into(),
            kind: Kind::Cross,
            dimension: 1,
            beir: None,
            languages: None,
            ..listed.clone()
        };
        insta::assert_snapshot!("model_list", list(&[listed, cross], "all-MiniLM-L6-v2", &sample::look(110)));
    }
}
