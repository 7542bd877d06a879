//! Chooses the model that answers questions: its vectors are made beside the old ones, then the setting is changed.
//!
//! A killed run loses no vectors: the next one goes on. Until the setting is changed, every process answers by the old model.

use std::path::{Path, PathBuf};

use bower_core::Error;
use bower_core::config::Settings;
use bower_core::model::{Embedder, SentenceEncoder};
use bower_core::request::EmbeddingCost;
use serde::Serialize;

use super::super::index::embed;
use super::super::{Session, agreed, config};
use crate::failure::{Failure, Result};
use crate::model::{self, InstallState, Kind, Source};
use crate::remote::{self, Named};
use crate::render;
use crate::service::Service;
use crate::settings::Home;

/// Dollars above which a person is asked before texts go to a service.
const ASKED_DOLLARS: f64 = 1.0;
/// Passes over the store before the switch: other processes may add items while vectors are made.
const PASSES: usize = 3;

/// What `bower model use` was given.
#[derive(Clone)]
pub struct Choice {
    pub name: String,
    pub dimension: Option<usize>,
    pub from: Option<PathBuf>,
    pub url: Option<String>,
    pub dry_run: bool,
    pub yes: bool,
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
    /// The host of the service that the texts go to; absent for a local model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Dollars that the service charges for the vectors, by its published price; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
    /// Items that got a vector.
    pub embedded: usize,
    /// A layer above the settings file that names another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
}

impl Chosen {
    /// Returns the report of a switch that has done nothing yet.
    fn nothing(model: String, previous: String) -> Self {
        Self {
            model,
            identity: String::new(),
            previous,
            switched: false,
            cost: None,
            host: None,
            dollars: None,
            embedded: 0,
            overridden_by: None,
        }
    }
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
    remote::check_model_is_named(&choice.name)?;
    let setting = choice.name.clone();
    let is_automatic = setting == remote::AUTO;
    let name = if is_automatic { remote::automatic(variable) } else { setting.clone() };
    if is_automatic {
        session.out.note(&format!("auto is {name} with the keys in this environment"));
    }
    let choice = &Choice { name, ..choice.clone() };
    let mut settings = session.settings(home)?.settings;
    choice.name.clone_into(&mut settings.model);
    let service = remote::named(&choice.name);
    let mut target =
        Target { settings, identity: String::new(), host: String::new(), service, changes: Vec::new() };
    if target.service.is_some() {
        target.at_service(choice)?;
    } else {
        if choice.dry_run && !is_installed(choice, folder) {
            session
                .out
                .note(&format!("{} has to be fetched and packed first: bower model pull {0}", choice.name));
            return switch_nothing(choice, session, home);
        }
        install(choice, folder, session)?;
        target.identity = identity_of(folder, &choice.name)?;
    }
    if is_automatic {
        target.changes.push(("model_auto", target.service.as_ref().map(Named::setting)));
    }
    target.changes.push(("model", Some(setting)));
    switch(target, choice.dry_run, choice.yes, home, session)
}

/// A model to switch to.
struct Target {
    /// The settings with that model.
    settings: Settings,
    /// The identity of its vectors.
    identity: String,
    /// The service, if it is at one, and its host.
    service: Option<Named>,
    host: String,
    /// Settings to write once its vectors are made; those without a value are taken out.
    changes: Vec<(&'static str, Option<String>)>,
}

impl Target {
    /// Takes the address and the dimension of a service, and asks it for vectors of three short texts: a wrong key, address or
    /// model shows before anything else is sent. A trial sends nothing.
    fn at_service(&mut self, choice: &Choice) -> Result<()> {
        // Those of an earlier service would be another one's.
        self.settings.model_url.clone_from(&choice.url);
        self.settings.model_dimensions = choice.dimension.unwrap_or(0);
        let known = self.service.as_ref().and_then(Named::dimension);
        if !choice.dry_run
            && let Some(remote) = remote::chosen(&self.settings, variable)
        {
            let found = remote.probe()?;
            if known.is_none() {
                self.settings.model_dimensions = found;
            }
        }
        if let Some(remote) = remote::chosen(&self.settings, variable) {
            remote.model().clone_into(&mut self.identity);
            remote.host().clone_into(&mut self.host);
            if remote.has_key_of_settings() && self.settings.model_key_host.is_none() {
                self.changes.push(("model_key_host", Some(self.host.clone())));
            }
        }
        let dimensions = Some(self.settings.model_dimensions).filter(|dimensions| *dimensions > 0);
        self.changes.push(("model_url", choice.url.clone()));
        self.changes.push(("model_dimensions", dimensions.map(|dimensions| dimensions.to_string())));
        Ok(())
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs `bower model back`: chooses the model whose vectors were written last but for those of the present one.
pub fn back(home: &Home, folder: &Path, session: &Session) -> Result<()> {
    let service = session.service()?;
    let kept = service.engine().vector_models()?;
    let Some(last) = kept.iter().find(|model| !model.answers) else {
        let reason = "this store has vectors of no other model: bower model use NAME chooses one, bower model list names some";
        return Err(Error::invalid("model back", reason).into());
    };
    let Some(name) = remote::name_of(&last.identity).or_else(|| name_of(folder, &last.identity)) else {
        let reason = "is not installed any more: pull it with the dimension and files of before";
        return Err(Error::Model { model: last.identity.clone(), reason: reason.into() }.into());
    };
    let mut settings = session.settings(home)?.settings;
    name.clone_into(&mut settings.model);
    let identity = last.identity.clone();
    drop(service);
    let remote = remote::chosen(&settings, variable);
    let host = remote.as_ref().map(|remote| remote.host().to_owned()).unwrap_or_default();
    if remote.is_some_and(|remote| remote.model() != identity) {
        let reason = format!(
            "made its vectors with another model_url or model_dimensions: run bower model use {name}"
        );
        return Err(Error::Model { model: name, reason }.into());
    }
    let service = remote::named(&name);
    let target = Target { settings, identity, service, host, changes: vec![("model", Some(name))] };
    switch(target, false, false, home, session)
}

/// Runs `bower model drop`.
pub fn drop_vectors(name: &str, folder: &Path, session: &Session) -> Result<()> {
    let service = session.service()?;
    let installed = identity_of(folder, name).ok();
    let short = name.rsplit('/').next().unwrap_or(name);
    let mut dropped = Dropped { identity: name.to_owned(), vectors: 0 };
    for kept in service.engine().vector_models()? {
        let is_named = [Some(name), installed.as_deref()].contains(&Some(&kept.identity))
            || remote::name_of(&kept.identity).is_some_and(|kept| kept == name)
            // Also those of another dimension, or of files that are gone.
            || kept.identity.strip_prefix(short).is_some_and(|rest| rest.starts_with('.')) && !kept.answers;
        if is_named {
            dropped.vectors += service.engine().drop_vectors(&kept.identity, super::super::now())?;
            dropped.identity = kept.identity;
        }
    }
    session.out.say(&dropped, |look| render::model::dropped(&dropped, look))
}

/// Whether a local model is installed with the dimension that was chosen.
fn is_installed(choice: &Choice, folder: &Path) -> bool {
    let has_dimension = |dimension: usize| choice.dimension.is_none_or(|chosen| chosen == dimension);
    model::status(folder, &choice.name).is_ok_and(|status| {
        let packed = status.folder.join(&status.packed.file);
        status.state == InstallState::Installed
            && SentenceEncoder::open(&packed)
                .map_or(choice.dimension.is_none(), |encoder| has_dimension(encoder.dimension()))
    })
}

/// Reports a trial that could not measure anything.
fn switch_nothing(choice: &Choice, session: &Session, home: &Home) -> Result<()> {
    let chosen = Chosen::nothing(choice.name.clone(), session.settings(home)?.settings.model);
    session.out.say(&chosen, |look| render::model::chosen(&chosen, true, look))
}

/// Fetches and packs the model, unless it is installed with this dimension.
fn install(choice: &Choice, folder: &Path, session: &Session) -> Result<()> {
    if is_installed(choice, folder) {
        return Ok(());
    }
    let source = match &choice.from {
        Some(from) => Source::Folder(from.clone()),
        None => Source::Auto { base_url: model::HUB.into(), python: model::PYTHON.into() },
    };
    super::install::pull(folder, &choice.name, choice.dimension, &source, session).map(drop)
}

/// Makes the vectors that the store lacks of a model, then names it in the settings file.
fn switch(target: Target, dry_run: bool, yes: bool, home: &Home, session: &Session) -> Result<()> {
    let Target { settings, identity, service: named, host, changes } = target;
    let mut chosen = Chosen::nothing(settings.model.clone(), session.settings(home)?.settings.model);
    (chosen.identity, chosen.host) = (identity, named.as_ref().map(|_| host));
    if home.path.join("memory.db").exists() {
        let service = Session::service_of(home, settings)?;
        if !embed_store(&service, named.as_ref(), dry_run, yes, &mut chosen, session)? {
            session.out.note("nothing was sent");
            return Ok(());
        }
    }
    if !dry_run {
        for (key, value) in changes {
            let (changed, overridden_by) = config::put(home, key, value.as_deref(), session)?;
            chosen.switched |= changed;
            if key == "model" {
                chosen.overridden_by = overridden_by.map(|origin| origin.to_string());
            }
        }
    }
    session.out.say(&chosen, |look| render::model::chosen(&chosen, dry_run, look))
}

/// Says what the vectors take, and makes them. Returns false if a person did not want it.
fn embed_store(
    service: &Service,
    named: Option<&Named>,
    dry_run: bool,
    yes: bool,
    chosen: &mut Chosen,
    session: &Session,
) -> Result<bool> {
    chosen.cost = service.engine().embedding_cost()?;
    if let Some(cost) = &chosen.cost {
        let host = chosen.host.clone().unwrap_or_default();
        chosen.dollars = named.and_then(|named| named.cost(render::model::all_pieces(cost), &host));
        session.out.note(&render::model::cost(cost, chosen));
        let is_dear = named.is_some() && chosen.dollars.is_none_or(|dollars| dollars > ASKED_DOLLARS);
        let what = format!("send {} to {host}", render::count(cost.waiting, "text"));
        if is_dear && !dry_run && !yes && !agreed(&what, "add --yes, or --dry-run to see the price")? {
            return Ok(false);
        }
    }
    if dry_run {
        return Ok(true);
    }
    chosen.embedded = embed_all(service, session)?;
    let report = service.report()?;
    if report.unembedded > 0 {
        let why = report.model.reason.unwrap_or_else(|| "other processes add items faster".into());
        let reason =
            format!("{} items have no vector yet, so nothing was switched: {why}", report.unembedded);
        return Err(Error::Model { model: chosen.model.clone(), reason }.into());
    }
    session.maintain(service);
    Ok(true)
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
        SentenceEncoder::open(&SentenceEncoder::packed_path(folder, name))
            .is_ok_and(|encoder| encoder.model() == identity)
    };
    names.into_iter().find(is_it)
}
