//! Chooses the model that answers questions: its vectors are made beside the old ones, then the setting is changed.
//!
//! A killed run loses no vectors: the next one goes on. Until the setting is changed, every process answers by the old model.

use std::path::{Path, PathBuf};

use bower_core::Error;
use bower_core::model::{Embedder, SentenceEncoder};
use bower_core::request::EmbeddingCost;
use serde::Serialize;

use super::super::index::embed;
use super::super::{Session, config};
use crate::failure::{Failure, Result};
use crate::model::{self, InstallState, Kind, Source};
use crate::render;
use crate::service::Service;
use crate::settings::Home;

/// Passes over the store before the switch: other processes may add items while vectors are made.
const PASSES: usize = 3;

/// What `bower model use` was given.
pub struct Choice {
    pub name: String,
    pub dimension: Option<usize>,
    pub from: Option<PathBuf>,
    pub dry_run: bool,
}

/// What was chosen, and what it took.
#[derive(Serialize)]
pub struct Chosen {
    /// Name of the model, as the setting has it.
    pub model: String,
    /// Identity of its vectors.
    pub identity: String,
    /// The setting before.
    pub previous: String,
    /// Whether the setting was changed.
    pub switched: bool,
    /// What a sample of the texts took; absent if no item lacked a vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<EmbeddingCost>,
    /// Items that got a vector.
    pub embedded: usize,
    /// A layer above the settings file that names another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
}

/// Removed vectors.
#[derive(Serialize)]
pub struct Dropped {
    /// Identity of the vectors.
    pub identity: String,
    /// Their number.
    pub vectors: u64,
}

/// Runs `bower model use`.
pub fn choose(choice: &Choice, home: &Home, folder: &Path, session: &Session) -> Result<()> {
    install(choice, folder, session)?;
    let identity = identity_of(folder, &choice.name)?;
    switch(&choice.name, &identity, choice.dry_run, home, session)
}

/// Runs `bower model back`: chooses the model whose vectors were written last but for those of the present one.
pub fn back(home: &Home, folder: &Path, session: &Session) -> Result<()> {
    let service = session.service()?;
    let kept = service.engine().vector_models()?;
    let Some(last) = kept.iter().find(|model| !model.answers) else {
        return Err(Error::invalid("model back", "this store has vectors of no other model").into());
    };
    let Some(name) = name_of(folder, &last.identity) else {
        let reason = "is not installed any more: pull it with the dimension and files of before";
        return Err(Error::Model { model: last.identity.clone(), reason: reason.into() }.into());
    };
    let identity = last.identity.clone();
    drop(service);
    switch(&name, &identity, false, home, session)
}

/// Runs `bower model drop`.
pub fn drop_vectors(name: &str, folder: &Path, session: &Session) -> Result<()> {
    let service = session.service()?;
    let identity = identity_of(folder, name).unwrap_or_else(|_| name.to_owned());
    let vectors = service.engine().drop_vectors(&identity, super::super::now())?;
    let dropped = Dropped { identity, vectors };
    session.out.say(&dropped, |look| render::model::dropped(&dropped, look))
}

/// Fetches and packs the model, unless it is installed with this dimension.
fn install(choice: &Choice, folder: &Path, session: &Session) -> Result<()> {
    let installed = model::status(folder, &choice.name)
        .is_ok_and(|status| status.state == InstallState::Installed && choice.dimension.is_none());
    if installed {
        return Ok(());
    }
    let source = match &choice.from {
        Some(from) => Source::Folder(from.clone()),
        None => Source::Auto { base_url: model::HUB.into(), python: model::PYTHON.into() },
    };
    super::install::pull(folder, &choice.name, choice.dimension, &source, session).map(drop)
}

/// Makes the vectors that the store lacks of a model, then names it in the settings file.
fn switch(name: &str, identity: &str, dry_run: bool, home: &Home, session: &Session) -> Result<()> {
    let before = session.settings(home)?.settings;
    let mut chosen = Chosen {
        model: name.to_owned(),
        identity: identity.to_owned(),
        previous: before.model.clone(),
        switched: false,
        cost: None,
        embedded: 0,
        overridden_by: None,
    };
    if home.path.join("memory.db").exists() {
        let mut settings = before;
        name.clone_into(&mut settings.model);
        let service = Session::service_of(home, settings)?;
        chosen.cost = service.engine().embedding_cost()?;
        if let Some(cost) = &chosen.cost {
            session.out.note(&render::model::cost(cost, &chosen));
        }
        if !dry_run {
            chosen.embedded = embed_all(&service, session)?;
            session.maintain(&service);
        }
    }
    if !dry_run {
        let (changed, overridden_by) = config::put(home, "model", name, session)?;
        chosen.switched = changed;
        chosen.overridden_by = overridden_by.map(|origin| origin.to_string());
    }
    session.out.say(&chosen, |look| render::model::chosen(&chosen, dry_run, look))
}

/// Embeds what waits; goes over the store again if other processes added items meanwhile.
fn embed_all(service: &Service, session: &Session) -> Result<usize> {
    let mut embedded = 0;
    for _ in 0..PASSES {
        let waiting = service.report()?.unembedded;
        if waiting == 0 {
            break;
        }
        embedded += embed(service, waiting, session)?;
    }
    Ok(embedded)
}

/// Returns the identity of an installed model.
fn identity_of(folder: &Path, name: &str) -> Result<String> {
    let status = model::status(folder, name)?;
    match (status.state, status.kind) {
        (InstallState::Installed, Kind::Sentence) => return Ok(status.identity),
        (InstallState::Installed, Kind::Cross) => {
            let reason = "scores pairs of texts and makes no vectors: name it in the setting rerank_model";
            return Err(Error::invalid(format!("model {name}"), reason).into());
        }
        (InstallState::Missing | InstallState::Partial, _) => {}
    }
    let reason = format!("is not installed: run bower model pull {name}");
    Err(Failure::from(Error::Model { model: name.to_owned(), reason }))
}

/// Returns the setting that names the installed model with this identity.
fn name_of(folder: &Path, identity: &str) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_it = |name: &String| {
        let Ok(status) = model::status(folder, name) else { return false };
        let packed = status.folder.join(&status.packed.file);
        SentenceEncoder::open(&packed).is_ok_and(|encoder| encoder.model() == identity)
    };
    names.into_iter().find(is_it)
}
