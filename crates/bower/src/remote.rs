//! Makes vectors at a service that the setting `model` names, such as `openai/text-embedding-3-small`.
//! The key is sent to that service alone, and appears in no file, message or error.

use std::sync::OnceLock;
use std::time::Duration;

use bower_core::config::Settings;
use bower_core::item::hex;
use bower_core::model::{DEFAULT_MODEL, EmbeddedQuestion, EmbeddedText, Embedder};
use bower_core::{Error, Result};
use bower_providers::{
    Connection, EmbedderOptions, Failure, ModelTable, Provider, RemoteEmbedder, Role, SecretSource,
    estimate_tokens,
};
use sha2::{Digest, Sha256};

use crate::llm::{host_of, is_this_machine, reason, split_name};

/// The providers of embedding models.
const EMBED: [Provider; 8] = [
    Provider::Gemini,
    Provider::OpenAi,
    Provider::Voyage,
    Provider::Ollama,
    Provider::Cohere,
    Provider::Mistral,
    Provider::Jina,
    Provider::Compatible,
];
/// Texts of one call: ten requests of a hundred texts are under way at once.
const BATCH_TEXTS: usize = 1_000;
/// Most time for the vector of one text that is kept: after it the text waits for its vector, and the write is done.
const ONE_TEXT_TIMEOUT: Duration = Duration::from_secs(3);
/// Between the parts of an identity. No name of a model has it.
const PART: char = '~';
/// Characters of the checksum in an identity.
const SUM_CHARS: usize = 8;

/// How long a command may take to print a key: it may ask a person for a passphrase.
const KEY_TIMEOUT: Duration = Duration::from_mins(1);
/// What else decides a vector at every service: how long texts become windows, and how the windows are averaged.
const ARITHMETIC: &str = "windows 1";

/// Reads an environment variable.
pub type Variables = fn(&str) -> Option<String>;

/// An embedder at a service. It is set up at the first request, because a command may ask for the key. Without a key, or with
/// settings that cannot work, every request fails with the reason.
pub struct Remote {
    identity: String,
    dimension: usize,
    name: String,
    plan: Plan,
    /// The embedder of many texts and that of one text, which has less time; or why there is none.
    embedders: OnceLock<std::result::Result<[RemoteEmbedder; 2], String>>,
}

/// What the settings say of a service.
struct Plan {
    named: Named,
    url: Option<String>,
    dimensions: Option<usize>,
    host: String,
    key: Option<SecretSource>,
    /// Whether the key is one of the settings, and the only host that it may be sent to.
    is_key_of_settings: bool,
    key_host: Option<String>,
    variables: Variables,
}

/// A service with one of its models, as a setting names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The service.
    pub provider: Provider,
    /// The model's name there.
    pub model: String,
}

/// Returns the service that a model's name means; `None` for the name of a local model.
pub fn named(model: &str) -> Option<Named> {
    let (provider, model) = split_name(model, &EMBED)?;
    Some(Named { provider, model: model.to_owned() })
}

/// Refuses the bare name of a service, of which a model must be named too.
pub fn check_model_is_named(model: &str) -> Result<()> {
    let bare = model.trim_end_matches('/');
    let Some(provider) = Provider::from_name(bare).filter(|provider| EMBED.contains(provider)) else {
        return Ok(());
    };
    let models = ModelTable::get().embedding_models(provider);
    let examples: Vec<String> = models.iter().take(3).map(|model| format!("{bare}/{model}")).collect();
    let examples = if examples.is_empty() { format!("{bare}/MODEL") } else { examples.join(", ") };
    Err(Error::invalid(format!("model {model}"), format!("name the model of the service too: {examples}")))
}

/// Returns the name of the model whose vectors have an identity; `None` for the identity of a local model.
pub fn name_of(identity: &str) -> Option<String> {
    let mut parts = identity.split(PART);
    let (provider, model) = (parts.next()?, parts.next()?);
    let model = model.replace('+', "/").replace('=', ":");
    named(&format!("{provider}/{model}")).map(|_| format!("{provider}/{model}"))
}

/// The value of the setting `model` that leaves the choice to [`automatic`].
pub const AUTO: &str = "auto";

/// Returns the model that `auto` stands for in later commands: the service that `bower model use auto` chose, while its key is in
/// the environment, else the default local one. A key that came later is no consent.
pub fn agreed(settings: &Settings, variables: Variables) -> String {
    let has_key = |model: &&String| {
        let provider = named(model).map(|named| named.provider);
        keys_in(variables).iter().any(|(with_key, _)| Some(*with_key) == provider)
    };
    settings.model_auto.as_ref().filter(has_key).cloned().unwrap_or_else(|| DEFAULT_MODEL.to_owned())
}

/// Returns what `bower model use auto` chooses: the first model of the first service whose key is in the environment, else the
/// default local one.
pub fn automatic(variables: Variables) -> String {
    let table = ModelTable::get();
    let of = |(provider, _)| Some(format!("{provider}/{}", table.embedding_models(provider).first()?));
    // A chat service has a key and no embedding model.
    keys_in(variables).into_iter().find_map(of).unwrap_or_else(|| DEFAULT_MODEL.to_owned())
}

/// Returns the embedder that the settings name, if they name a service.
pub fn chosen(settings: &Settings, variables: Variables) -> Option<Remote> {
    Some(Remote::new(named(&settings.model)?, settings, variables))
}

/// Returns the providers whose keys are in the environment, each with its variable. No key is read for anything else: a key
/// that was laid out for another tool is no consent.
pub fn keys_in(variables: Variables) -> Vec<(Provider, &'static str)> {
    let of = |provider: Provider| {
        let set = |name: &&&str| variables(name).is_some_and(|key| !key.trim().is_empty());
        provider.key_variables().iter().find(set).map(|name| (provider, *name))
    };
    Provider::ALL.into_iter().filter_map(of).collect()
}

impl Named {
    /// Returns the dollars of so many tokens at an address; `None` if the price is not known. A server on this machine costs
    /// nothing.
    pub fn cost(&self, tokens: u64, host: &str) -> Option<f64> {
        match self.provider {
            Provider::Ollama | Provider::Compatible => is_this_machine(host).then_some(0.0),
            _ => ModelTable::get().embedding(self.provider, &self.model)?.cost(tokens),
        }
    }

    /// Returns the setting's value.
    pub fn setting(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Returns the numbers of a vector, if the model is known.
    pub fn dimension(&self) -> Option<usize> {
        ModelTable::get().embedding(self.provider, &self.model).and_then(|known| known.dimension)
    }
}

impl Remote {
    fn new(named: Named, settings: &Settings, variables: Variables) -> Self {
        let url = settings.model_url.clone();
        let dimensions = (settings.model_dimensions > 0).then_some(settings.model_dimensions);
        let dimension = dimensions.or_else(|| named.dimension()).unwrap_or(0);
        let table = ModelTable::get();
        let prompts = table.prompts(&named.model);
        let question_model =
            table.embedding(named.provider, &named.model).and_then(|known| known.question_model.as_deref());
        let address = url.as_deref().or(named.provider.base_url()).unwrap_or_default();
        let sum = hex(&Sha256::digest(format!(
            "{address} {question_model:?} {:?} {:?} {ARITHMETIC}",
            prompts.question, prompts.document
        )));
        // A folder has this name, so it may hold no separator of paths and no colon.
        let model = named.model.replace('/', "+").replace(':', "=");
        let identity = format!("{}{PART}{model}{PART}{dimension}{PART}{}", named.provider, &sum[..SUM_CHARS]);
        let key = source(&named, settings, url.is_none(), variables);
        let is_key_of_settings = settings.model_key_command.is_some()
            || settings.model_key_file.is_some()
            || settings.model_key_variable.is_some();
        let key_host = settings.model_key_host.clone().filter(|_| is_key_of_settings);
        let host = host_of(address);
        let name = named.setting();
        let plan = Plan { named, url, dimensions, host, key, is_key_of_settings, key_host, variables };
        Self { identity, dimension, name, plan, embedders: OnceLock::new() }
    }

    /// Returns the host of the service.
    pub fn host(&self) -> &str {
        &self.plan.host
    }

    /// Whether the key is one of the settings, which may be meant for another service.
    pub fn has_key_of_settings(&self) -> bool {
        self.plan.is_key_of_settings
    }

    /// Embeds two paraphrases and a stranger at the service, to see that it makes vectors of this model. Returns the numbers of a
    /// vector.
    pub fn probe(&self) -> Result<usize> {
        let [embedder, _] = self.embedders()?;
        embedder.probe().map(|probe| probe.dimension).map_err(|failure| self.failed(&reason(&failure)))
    }

    fn embedders(&self) -> Result<&[RemoteEmbedder; 2]> {
        self.connected().map_err(|reason| self.failed(reason))
    }

    fn connected(&self) -> std::result::Result<&[RemoteEmbedder; 2], &str> {
        self.embedders.get_or_init(|| self.plan.connect()).as_ref().map_err(String::as_str)
    }

    fn embed_one(&self, text: &str, role: Role) -> Result<Vec<f32>> {
        let [_, embedder] = self.embedders()?;
        match embedder.embed(&[text], role).pop() {
            Some(made) => self.checked(made),
            None => Err(self.failed("the service gave no vector")),
        }
    }

    /// Refuses a vector of another length than the identity says.
    fn checked(&self, made: std::result::Result<Vec<f32>, Failure>) -> Result<Vec<f32>> {
        let vector = made.map_err(|failure| self.failed(&reason(&failure)))?;
        if vector.len() == self.dimension {
            return Ok(vector);
        }
        let (found, known) = (vector.len(), self.dimension);
        Err(self.failed(&format!("it made {found} numbers, not {known}: run bower model use {}", self.name)))
    }

    fn failed(&self, reason: &str) -> Error {
        Error::Model { model: self.name.clone(), reason: reason.to_owned() }
    }
}

impl Plan {
    fn connect(&self) -> std::result::Result<[RemoteEmbedder; 2], String> {
        let provider = self.named.provider;
        let mut connection = Connection::new(provider);
        connection.base_url.clone_from(&self.url);
        connection.key = match &self.key {
            Some(source) => {
                let key = source.load(KEY_TIMEOUT, self.variables).map_err(|error| error.to_string())?;
                Some(match &self.key_host {
                    Some(host) => key.for_host(host),
                    None => key,
                })
            }
            None => None,
        };
        let mut options = EmbedderOptions::new(connection, &self.named.model);
        options.dimensions = self.dimensions;
        let one = EmbedderOptions { document_timeout: Some(ONE_TEXT_TIMEOUT), ..options.clone() };
        let create = |options| RemoteEmbedder::new(options).map_err(|failure| reason(&failure));
        Ok([create(options)?, create(one)?])
    }
}

/// Returns where the key is: as the settings say, otherwise in the provider's own variable. A key that was laid out for the
/// provider is not sent to another address.
fn source(
    named: &Named,
    settings: &Settings,
    is_own_address: bool,
    variables: Variables,
) -> Option<SecretSource> {
    if let Some(command) = &settings.model_key_command {
        return Some(SecretSource::Command(command.clone()));
    }
    if let Some(file) = &settings.model_key_file {
        return Some(SecretSource::File(file.clone()));
    }
    if let Some(name) = &settings.model_key_variable {
        return Some(SecretSource::Variable(name.clone()));
    }
    let own = named.provider.key_variables().iter().filter(|_| is_own_address);
    let mut own = own.copied();
    let first = own.clone().next();
    own.find(|name| variables(name).is_some()).or(first).map(|name| SecretSource::Variable(name.into()))
}

impl Embedder for Remote {
    fn model(&self) -> &str {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>> {
        self.embed_one(text, Role::Document)
    }

    fn embed_question(&self, text: &str) -> Result<EmbeddedQuestion> {
        Ok(EmbeddedQuestion { vector: self.embed_one(text, Role::Question)?, tokens: None })
    }

    fn batch_texts(&self) -> Option<usize> {
        Some(BATCH_TEXTS)
    }

    fn embed_texts(&self, texts: &[&str]) -> Vec<Result<EmbeddedText>> {
        let embedder = match self.connected() {
            Ok([embedder, _]) => embedder,
            Err(reason) => return texts.iter().map(|_| Err(self.failed(reason))).collect(),
        };
        let text = |made| Ok(EmbeddedText { vector: self.checked(made)?, codes: None });
        embedder.embed(texts, Role::Document).into_iter().map(text).collect()
    }

    /// Returns an estimate: the service alone knows its tokenizer.
    fn count_pieces(&self, text: &str) -> Result<usize> {
        Ok(estimate_tokens(text))
    }
}

#[cfg(test)]
mod tests;
