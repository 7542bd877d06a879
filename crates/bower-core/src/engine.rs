//! Defines the engine: one store with its indexes and its model, opened in one folder.
//!
//! `query` answers questions, `explore` shows the graph, `curate` keeps memories, `index` reads documents, `session` reads
//! conversations and briefs agents, `transfer` moves items in and out, `maintain` does what is due. Each of these modules imports
//! only modules before it in this order. Shared code is beside them: `anchors`, `indexes`, `deltas`, `model`, `caches`, `pending`.

mod anchors;
mod caches;
mod cross;
mod curate;
mod deltas;
mod explore;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod index;
mod indexes;
mod languages;
mod late;
mod llm;
mod maintain;
mod mentions;
mod missing;
mod model;
mod pending;
mod query;
mod recent;
mod session;
mod timing;
mod transfer;
mod vector_cache;
mod versioned;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Settings;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::llm::{Llm, LlmTiers, Reranker};
use crate::store::{self, Desk, Store};
use caches::Caches;
use cross::LocalCross;
use indexes::Indexes;
use model::LocalModel;
use pending::Pending;
use recent::RecentVectors;

pub use index::sources::{DocumentInput, DocumentSeries, FileContent};
pub use maintain::worker::{Activity, Worker};
pub use query::evaluation;
pub use query::evidence::LEAST_BUDGET;
pub use query::plan::MAX_LIMIT;
pub use transfer::import::batch::Import;

/// Name of the writer in events.
const ACTOR: &str = "bower";

/// A store with its indexes and its model in one folder. Opening is cheap: everything is read on demand.
pub struct Engine {
    home: PathBuf,
    settings: Settings,
    store: Arc<dyn Store>,
    /// The desk of this machine, beside the store.
    desk: Arc<dyn Desk>,
    indexes: Indexes,
    model: LocalModel,
    /// Opened at the first reranking.
    cross: Arc<LocalCross>,
    /// Passed by the program, if its user chose one.
    llm: Option<Arc<LlmTiers>>,
    /// Passed by the program, if its user chose one.
    reranker: Option<Arc<dyn Reranker>>,
    caches: Caches,
    /// The engine with a local model that answers when the service of this one's model gives no vector of a question.
    stand_in: Option<Arc<Self>>,
    /// Cached vectors that this process used lately.
    recent: Arc<RecentVectors>,
    pending: Arc<Pending>,
}

impl Engine {
    /// Opens the store in `home`; creates the folder and the store if they do not exist.
    pub fn open(home: &Path, settings: Settings, now: Timestamp) -> Result<Self> {
        let (store, desk) = store::open(home, &settings, now)?;
        Ok(Self::new(home, settings, store, desk))
    }

    /// Creates the engine on an open store, with its indexes and models in `home`.
    fn new(home: &Path, settings: Settings, store: Arc<dyn Store>, desk: Arc<dyn Desk>) -> Self {
        Self {
            home: home.to_path_buf(),
            indexes: Indexes::new(home.join("index").join(store.index_folder())),
            store,
            desk,
            model: LocalModel::new(home, &settings),
            cross: Arc::new(LocalCross::new(home, &settings)),
            settings,
            llm: None,
            stand_in: None,
            reranker: None,
            caches: Caches::default(),
            recent: Arc::default(),
            pending: Arc::default(),
        }
    }

    /// Returns an engine on the same open store that answers by another model: the one that `settings` name. All other settings
    /// stay as they are.
    ///
    /// Both can be used at the same time. One makes vectors while the other answers, and a request is answered by one of them
    /// alone. What answers leave to [`Engine::maintain`] is shared, so nothing is lost when one is dropped.
    #[must_use]
    pub fn beside(&self, settings: &Settings) -> Self {
        let settings = Settings {
            model: settings.model.clone(),
            model_url: settings.model_url.clone(),
            model_dimensions: settings.model_dimensions,
            model_key_command: settings.model_key_command.clone(),
            model_key_file: settings.model_key_file.clone(),
            model_key_variable: settings.model_key_variable.clone(),
            model_key_host: settings.model_key_host.clone(),
            ..self.settings.clone()
        };
        Self {
            home: self.home.clone(),
            // Each keeps its own vector index open.
            indexes: Indexes::new(self.indexes.folder().to_path_buf()),
            store: Arc::clone(&self.store),
            desk: Arc::clone(&self.desk),
            model: LocalModel::new(&self.home, &settings),
            cross: Arc::clone(&self.cross),
            settings,
            llm: self.llm.clone(),
            reranker: self.reranker.clone(),
            stand_in: None,
            caches: Caches::default(),
            recent: Arc::clone(&self.recent),
            pending: Arc::clone(&self.pending),
        }
    }

    /// Whether another engine uses the same open store, as those of [`Engine::beside`] do.
    pub fn shares_store(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
    }

    /// Returns the settings that the engine was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Adds a language model for all tiers.
    #[must_use]
    pub fn with_llm(self, llm: Box<dyn Llm>) -> Self {
        self.with_llms(LlmTiers::one(llm))
    }

    /// Sets the local model that the setting `model_offline` names to answer while the service of this engine's model gives no
    /// vectors. Nothing stands in if that model is not installed.
    #[must_use]
    pub fn with_stand_in(mut self) -> Self {
        let settings = Settings { model: self.settings.model_offline.clone(), ..Settings::default() };
        self.stand_in = Some(Arc::new(self.beside(&settings))).filter(|engine| engine.model.get().is_ok());
        self
    }

    /// Returns the engine of [`Engine::with_stand_in`].
    pub fn stand_in(&self) -> Option<&Arc<Self>> {
        self.stand_in.as_ref()
    }

    /// Adds language models, for requests that rerank hits, write patterns, settle pairs or read triples with one.
    #[must_use]
    pub fn with_llms(self, llm: LlmTiers) -> Self {
        Self { llm: Some(Arc::new(llm)), ..self }
    }

    /// Adds a reranker at a service.
    #[must_use]
    pub fn with_reranker(self, reranker: Box<dyn Reranker>) -> Self {
        Self { reranker: Some(reranker.into()), ..self }
    }

    /// Returns the zone of the settings.
    fn time_zone(&self) -> Result<TimeZone> {
        let name = self.settings.time_zone.as_str();
        if name == "UTC" {
            return Ok(TimeZone::UTC);
        }
        TimeZone::get(name).map_err(|_| {
            Error::invalid(format!("time_zone {name}"), "use an IANA name such as Europe/Berlin, or UTC")
        })
    }

    /// Sets the program's own embedder instead of the local model, such as one with a cache.
    ///
    /// [`Embedder::model`] identifies its vectors; they are compared only with vectors of the same model.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Box<dyn Embedder>) -> Self {
        self.model.given(embedder);
        self
    }
}
