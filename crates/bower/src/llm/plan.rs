//! Decides from the settings where each tier's model and the reranker are, and where their keys may come from.

use bower_core::config::Settings;
use bower_core::item::{LlmProvider, LlmTier};
use bower_core::llm::TokenPrices;
use bower_providers::{ChatModel, Connection, ModelTable, Provider, Secret};

/// The providers of language models.
const CHAT: [Provider; 5] =
    [Provider::OpenAi, Provider::Gemini, Provider::Anthropic, Provider::Ollama, Provider::Compatible];
/// The providers of rerankers.
const RERANK: [Provider; 4] = [Provider::Cohere, Provider::Voyage, Provider::Jina, Provider::Compatible];

/// A model at a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The service.
    pub provider: Provider,
    /// The model's name there.
    pub model: String,
    /// Another address than the provider's own.
    pub url: Option<String>,
    /// Environment variables that may hold its key. The first that is set counts.
    pub key_variables: Vec<String>,
}

/// Where a key would come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// This variable is set.
    Variable(String),
    /// The service needs none.
    NotNeeded,
    /// None of these variables is set.
    Missing(Vec<String>),
}

impl Place {
    /// Returns the address.
    pub fn address(&self) -> String {
        self.url.clone().or_else(|| self.provider.base_url().map(str::to_owned)).unwrap_or_default()
    }

    /// Returns the connection, with the key if a variable holds one.
    pub fn connection(&self, variable: &impl Fn(&str) -> Option<String>) -> Connection {
        let mut connection = Connection::new(self.provider);
        connection.base_url.clone_from(&self.url);
        connection.key = self.key_variables.iter().find_map(|name| Secret::new(&variable(name)?));
        connection
    }

    /// Returns where its key would come from. The key itself is not shown.
    pub fn key(&self, variable: impl Fn(&str) -> Option<String>) -> KeyState {
        let is_set = |name: &&String| variable(name).is_some_and(|key| Secret::new(&key).is_some());
        match self.key_variables.iter().find(is_set) {
            Some(name) => KeyState::Variable(name.clone()),
            None if self.provider.needs_key() && self.url.is_none() => {
                KeyState::Missing(self.key_variables.clone())
            }
            None => KeyState::NotNeeded,
        }
    }

    /// Returns the prices of a language model; `None` if they are not known. A model without a published price costs nothing on
    /// this machine.
    pub fn prices(&self) -> Option<TokenPrices> {
        let table = ModelTable::get();
        let known = table.chat(self.provider, &self.model).or_else(|| {
            // A gateway sells the models of others, on this machine too.
            table.chat_of_any(&self.model).filter(|_| self.provider == Provider::Compatible)
        });
        match known {
            Some(ChatModel { input, output, .. }) => {
                Some(TokenPrices { input: (*input)?, output: (*output)? })
            }
            None => self.is_here().then_some(TokenPrices { input: 0.0, output: 0.0 }),
        }
    }

    /// Returns the price of a reranker in dollars per million tokens; `None` if it is not known.
    pub fn rerank_price(&self) -> Option<f64> {
        match ModelTable::get().rerank(self.provider, &self.model) {
            Some(known) => known.price,
            None => self.is_here().then_some(0.0),
        }
    }

    /// Whether its server is on this machine.
    fn is_here(&self) -> bool {
        is_this_machine(&host_of(&self.address()))
    }
}

/// Returns the model that a tier has of its own, as the settings write it.
pub fn own(settings: &Settings, tier: LlmTier) -> Option<&str> {
    let own = match tier {
        LlmTier::Local => &settings.llm_local,
        LlmTier::Lite => &settings.llm_lite,
        LlmTier::Flash => &settings.llm_flash,
        LlmTier::Pro => &settings.llm_pro,
    };
    own.as_deref()
}

/// Returns the place of a tier's model; of `llm_model` for no tier, or if the tier has none of its own. `None` if the settings
/// choose no provider.
pub fn place_of(settings: &Settings, tier: Option<LlmTier>) -> Option<Place> {
    let usual = usual(settings)?;
    let Some((provider, model)) = tier.and_then(|tier| own(settings, tier)).and_then(split) else {
        return Some(usual);
    };
    let model = model.to_owned();
    // The provider's word is that of the setting `llm`: its address and its key are the same.
    if provider.name() == settings.llm.word() {
        return Some(Place { model, ..usual });
    }
    if provider == Provider::Compatible {
        // The variable of the settings holds the key of `llm`, which is at this address for `openai` alone.
        let is_same = settings.llm == LlmProvider::OpenAi;
        let key_variables = if is_same { vec![settings.llm_key_variable.clone()] } else { Vec::new() };
        return Some(Place { provider, model, url: Some(settings.llm_url.clone()), key_variables });
    }
    Some(Place { provider, model, url: None, key_variables: variables(provider) })
}

/// Returns the place of `llm_model`.
fn usual(settings: &Settings) -> Option<Place> {
    let is_default = settings.llm_url == Settings::default().llm_url;
    let (provider, url) = match settings.llm {
        LlmProvider::None => return None,
        // Most servers speak this protocol; the vendor itself has other names for some fields.
        LlmProvider::OpenAi if settings.llm_url.starts_with("https://api.openai.com/") => {
            (Provider::OpenAi, None)
        }
        LlmProvider::OpenAi => (Provider::Compatible, Some(settings.llm_url.clone())),
        LlmProvider::Gemini => (Provider::Gemini, Some(settings.llm_url.clone()).filter(|_| !is_default)),
        LlmProvider::Anthropic => {
            (Provider::Anthropic, Some(settings.llm_url.clone()).filter(|_| !is_default))
        }
        LlmProvider::Ollama => (Provider::Ollama, Some(settings.llm_url.clone()).filter(|_| !is_default)),
    };
    let mut key_variables = vec![settings.llm_key_variable.clone()];
    if url.is_none() {
        key_variables.extend(variables(provider));
    }
    Some(Place { provider, model: settings.llm_model.clone(), url, key_variables })
}

/// Returns the place of the reranker at a service, if `rerank_model` names one. A key goes to the provider's own address, unless
/// the settings name its variable.
pub fn reranker_place(settings: &Settings) -> Option<Place> {
    let (provider, model) = split_name(settings.rerank_model.trim(), &RERANK)?;
    let url = settings.rerank_url.clone();
    let key_variables = match (&settings.rerank_key_variable, &url) {
        (Some(name), _) => vec![name.clone()],
        (None, None) => variables(provider),
        (None, Some(_)) => Vec::new(),
    };
    Some(Place { provider, model: model.to_owned(), url, key_variables })
}

/// Whether a text is a model of a tier: `PROVIDER/MODEL`.
pub fn is_tier_model(text: &str) -> bool {
    split(text).is_some()
}

/// Returns the parts of `PROVIDER/MODEL`; `None` unless the provider is one of these and the model has a name.
pub fn split_name<'a>(text: &'a str, providers: &[Provider]) -> Option<(Provider, &'a str)> {
    let (provider, model) = text.split_once('/')?;
    let provider = Provider::from_name(provider).filter(|provider| providers.contains(provider))?;
    (!model.is_empty()).then_some((provider, model))
}

/// Returns the host of an address, without brackets and port; empty if it has none.
pub fn host_of(address: &str) -> String {
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_default().trim_matches(['[', ']']).to_owned()
}

/// Whether a host, as [`host_of`] returns it, is this machine.
pub fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn variables(provider: Provider) -> Vec<String> {
    provider.key_variables().iter().map(|name| (*name).to_owned()).collect()
}

fn split(text: &str) -> Option<(Provider, &str)> {
    split_name(text.trim(), &CHAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(llm: LlmProvider) -> Settings {
        Settings { llm, llm_model: "usual".into(), ..Settings::default() }
    }

    #[test]
    fn a_tier_without_a_model_has_the_usual_one() {
        let settings = Settings {
            llm_pro: Some("anthropic/claude-opus-5-5".into()),
            ..settings(LlmProvider::Anthropic)
        };
        let model = |tier| place_of(&settings, Some(tier)).unwrap().model;
        assert_eq!(
            LlmTier::ALL.iter().map(|tier| model(*tier)).collect::<Vec<_>>(),
            ["usual", "usual", "usual", "claude-opus-5-5"]
        );
        assert_eq!(place_of(&Settings::default(), Some(LlmTier::Pro)), None, "none is none");
    }

    /// The key of one service is never meant for another.
    #[test]
    fn another_provider_has_its_own_address_and_key() {
        let settings = Settings {
            llm_url: "https://gateway.example/v1".into(),
            llm_key_variable: "GATEWAY".into(),
            llm_lite: Some("gemini/gemini-3.5-flash-lite".into()),
            llm_flash: Some("openai/big/model".into()),
            llm_local: Some("ollama/qwen3:4b".into()),
            ..settings(LlmProvider::OpenAi)
        };
        let place = |tier| place_of(&settings, Some(tier)).unwrap();
        let lite = place(LlmTier::Lite);
        assert_eq!((lite.provider, lite.url), (Provider::Gemini, None));
        assert_eq!(lite.key_variables, ["GOOGLE_API_KEY", "GEMINI_API_KEY"]);
        let flash = place(LlmTier::Flash);
        assert_eq!((flash.provider, flash.model.as_str()), (Provider::Compatible, "big/model"));
        assert_eq!(
            (flash.url.as_deref(), flash.key_variables),
            (Some("https://gateway.example/v1"), vec!["GATEWAY".to_owned()])
        );
        let local = place(LlmTier::Local);
        assert_eq!((local.address().as_str(), local.key_variables.len()), ("http://127.0.0.1:11434", 0));
    }

    #[test]
    fn a_price_is_published_or_nothing_on_this_machine_or_unknown() {
        let price = |text: &str, url: Option<&str>| {
            let (provider, model) = split(text).unwrap();
            let place =
                Place { provider, model: model.into(), url: url.map(Into::into), key_variables: Vec::new() };
            place.prices().map(|prices| (prices.input, prices.output))
        };
        assert_eq!(price("anthropic/claude-haiku-5-5", None), Some((0.10, 0.50)));
        assert_eq!(price("anthropic/claude-haiku-5-5", Some("http://127.0.0.1:4000")), Some((0.10, 0.50)));
        assert_eq!(price("compatible/gpt-6-luna", Some("http://localhost:4000/v1")), Some((0.10, 0.50)));
        assert_eq!(price("ollama/qwen3:4b", None), Some((0.0, 0.0)));
        assert_eq!(price("compatible/qwen3", Some("http://[::1]:8080/v1")), Some((0.0, 0.0)));
        assert_eq!(price("compatible/qwen3", Some("https://gateway.example/v1")), None);
        assert_eq!(price("openai/gpt-5-mini", None), None, "it is in the table without a price");
    }

    #[test]
    fn a_reranker_is_one_of_the_services_that_have_some() {
        let place =
            |model: &str| reranker_place(&Settings { rerank_model: model.into(), ..Settings::default() });
        assert_eq!(place("voyage/rerank-3-lite").unwrap().key_variables, ["VOYAGE_API_KEY"]);
        assert_eq!(place("voyage/rerank-3-lite").unwrap().rerank_price(), Some(0.02));
        assert!(
            ["ms-marco-MiniLM-L6-v2", "cross-encoder/x", "openai/x", "cohere/"]
                .iter()
                .all(|name| place(name).is_none())
        );
    }
}
