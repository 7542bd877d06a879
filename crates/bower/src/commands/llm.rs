//! Implements `bower llm`: shows which language model each tier uses and what it costs, and tests one.

use bower_core::config::Settings;
use bower_core::item::{LlmOperation, LlmTier};
use bower_core::llm::LlmTiers;
use bower_core::request::LlmReport;
use bower_providers::ModelTable;
use serde::Serialize;

use super::{Session, now};
use crate::cli::{LlmAction, LlmArgs};
use crate::failure::Result;
use crate::llm::{self, KeyState, Place};
use crate::render;

/// What the settings say of language models, and what this machine remembers of them.
#[derive(Debug, Serialize)]
pub struct LlmStatus {
    /// The setting `llm`. With `none`, nothing is sent.
    pub llm: String,
    /// The model of each tier; empty if `llm` is `none`.
    pub tiers: Vec<TierModel>,
    /// The reranker at a service, if `rerank_model` names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<ServiceModel>,
    /// The date of the published prices that the program knows.
    pub prices_of: String,
    /// What requests cost today, and the cache.
    #[serde(flatten)]
    pub report: LlmReport,
}

/// The model of a tier.
#[derive(Debug, Serialize)]
pub struct TierModel {
    /// The tier.
    pub tier: LlmTier,
    /// The operations that ask it first.
    pub operations: Vec<LlmOperation>,
    /// The model.
    #[serde(flatten)]
    pub model: ServiceModel,
}

/// A model at a service.
#[derive(Debug, PartialEq, Serialize)]
pub struct ServiceModel {
    /// The provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The address.
    pub address: String,
    /// The environment variable that holds the key, if one is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The variables of which one must be set, if a key is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_missing: Vec<String>,
    /// Dollars per million tokens of requests and of answers; absent if they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<[f64; 2]>,
}

/// Runs the command.
pub fn run(arguments: &LlmArgs, session: &Session) -> Result<()> {
    match &arguments.action {
        LlmAction::Status => {
            let home = session.home()?;
            let settings = session.settings(&home)?.settings;
            let report = session.service()?.engine().llm_report(now())?;
            let status = status(&settings, report, |variable| std::env::var(variable).ok());
            session.out.say(&status, |look| render::llm::status(&status, look))
        }
        LlmAction::Test { tier } => {
            let tested = session.service()?.engine().test_llm(*tier, now())?;
            session.out.say(&tested, |look| render::llm::tested(&tested, look))
        }
    }
}

fn status(settings: &Settings, report: LlmReport, variable: impl Fn(&str) -> Option<String>) -> LlmStatus {
    let tier = |tier: LlmTier| {
        let place = llm::place_of(settings, Some(tier))?;
        let prices = place.prices().map(|prices| [prices.input, prices.output]);
        let operations = LlmTiers::operations(tier);
        Some(TierModel { tier, operations, model: ServiceModel::of(&place, prices, &variable) })
    };
    let reranker = llm::reranker_place(settings).map(|place| {
        let prices = place.rerank_price().map(|price| [price, 0.0]);
        ServiceModel::of(&place, prices, &variable)
    });
    LlmStatus {
        llm: settings.llm.word().to_owned(),
        tiers: LlmTier::ALL.iter().filter_map(|one| tier(*one)).collect(),
        reranker,
        prices_of: ModelTable::get().date.clone(),
        report,
    }
}

impl ServiceModel {
    fn of(place: &Place, prices: Option<[f64; 2]>, variable: &impl Fn(&str) -> Option<String>) -> Self {
        let (key_variable, key_missing) = match place.key(variable) {
            KeyState::Variable(name) => (Some(name), Vec::new()),
            KeyState::NotNeeded => (None, Vec::new()),
            KeyState::Missing(names) => (None, names),
        };
        Self {
            provider: place.provider.to_string(),
            model: place.model.clone(),
            address: place.address(),
            key_variable,
            key_missing,
            prices,
        }
    }
}
