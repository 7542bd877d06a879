//! Reads the dated table of models: dimensions, prices, ends and prompts. An unknown price is not 0.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::provider::Provider;

/// The table that is part of the program.
static TABLE: LazyLock<ModelTable> = LazyLock::new(|| {
    serde_json::from_str(include_str!("prices.json")).expect("a test reads the table within the program")
});

/// All models that the program knows, on one date.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTable {
    /// The date of the prices, e.g. `2026-11-24`.
    pub date: String,
    /// Embedding models.
    pub embedding: Vec<EmbeddingModel>,
    /// Chat models.
    pub chat: Vec<ChatModel>,
    /// Rerankers.
    pub rerank: Vec<RerankModel>,
    families: Vec<Family>,
}

/// An embedding model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingModel {
    provider: String,
    /// Its name at the provider.
    pub model: String,
    /// The length of its vectors unless a shorter one is asked for.
    pub dimension: Option<usize>,
    /// Whether the beginning of a vector is a vector too.
    pub matryoshka: bool,
    /// Most tokens of a text.
    pub context: Option<usize>,
    /// Dollars per million tokens.
    pub price: Option<f64>,
    /// The date on which the vendor turns it off.
    pub ends: Option<String>,
    /// Most tokens of a request, if it is the model that limits them.
    pub batch_tokens: Option<usize>,
    /// A cheaper model whose vectors of questions fit this model's vectors of documents.
    pub question_model: Option<String>,
}

/// A chat model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatModel {
    provider: String,
    /// Its name at the provider.
    pub model: String,
    /// `lite`, `flash` or `pro`.
    pub tier: Option<String>,
    /// Dollars per million tokens of the request.
    pub input: Option<f64>,
    /// Dollars per million tokens of the answer.
    pub output: Option<f64>,
    /// The date on which the vendor turns it off.
    pub ends: Option<String>,
}

/// A reranker.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankModel {
    provider: String,
    /// Its name at the provider.
    pub model: String,
    /// Dollars per million tokens.
    pub price: Option<f64>,
}

/// What is known of models whose name contains one of some parts, wherever they run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    parts: Vec<String>,
    #[serde(default)]
    question: String,
    #[serde(default)]
    document: String,
    #[serde(default)]
    matryoshka: bool,
}

/// The texts in front of a question and of a document. They are part of the identity of the vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// In front of a question.
    pub question: String,
    /// In front of a document.
    pub document: String,
}

impl ModelTable {
    /// Returns the table that is part of the program.
    pub fn get() -> &'static Self {
        &TABLE
    }

    /// Returns an embedding model. Ollama's tag is left out if the table has none.
    pub fn embedding(&self, provider: Provider, model: &str) -> Option<&EmbeddingModel> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let find = |name: &str| {
            self.embedding.iter().find(|entry| entry.provider == provider.name() && entry.model == name)
        };
        find(model).or_else(|| match (provider, model.split_once(':')) {
            (Provider::Ollama, Some((name, _))) => find(name),
            _ => None,
        })
    }

    /// Returns the names of a service's embedding models, in the order of the table.
    pub fn embedding_models(&self, provider: Provider) -> Vec<&str> {
        let of_provider = self.embedding.iter().filter(|entry| entry.provider == provider.name());
        of_provider.map(|entry| entry.model.as_str()).collect()
    }

    /// Returns a chat model.
    pub fn chat(&self, provider: Provider, model: &str) -> Option<&ChatModel> {
        self.chat.iter().find(|entry| entry.provider == provider.name() && entry.model == model)
    }

    /// Returns the chat model of this name at any provider: a gateway sells the models of others under their names.
    pub fn chat_of_any(&self, model: &str) -> Option<&ChatModel> {
        self.chat.iter().find(|entry| entry.model == model)
    }

    /// Returns a reranker.
    pub fn rerank(&self, provider: Provider, model: &str) -> Option<&RerankModel> {
        self.rerank.iter().find(|entry| entry.provider == provider.name() && entry.model == model)
    }

    /// Returns the prompts that a model was trained with. The vendors' own roles are fields of the request instead.
    pub fn prompts(&self, model: &str) -> Prompts {
        self.family(model).map_or_else(Prompts::default, |family| Prompts {
            question: family.question.clone(),
            document: family.document.clone(),
        })
    }

    /// Returns whether the beginning of a model's vector is known to be a vector too.
    pub fn is_matryoshka(&self, provider: Provider, model: &str) -> bool {
        match self.embedding(provider, model) {
            Some(entry) => entry.matryoshka,
            None => self.family(model).is_some_and(|family| family.matryoshka),
        }
    }

    fn family(&self, model: &str) -> Option<&Family> {
        let model = model.to_ascii_lowercase();
        self.families.iter().find(|family| family.parts.iter().any(|part| model.contains(part.as_str())))
    }
}

impl EmbeddingModel {
    /// Returns the dollars for a number of tokens; `None` if the price is unknown.
    pub fn cost(&self, tokens: u64) -> Option<f64> {
        self.price.map(|price| price * tokens as f64 / 1e6)
    }
}

impl ChatModel {
    /// Returns the dollars for a request and its answer; `None` if a price is unknown.
    pub fn cost(&self, input_tokens: u64, output_tokens: u64) -> Option<f64> {
        Some((self.input? * input_tokens as f64 + self.output? * output_tokens as f64) / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_provider_and_a_price_that_is_a_price() {
        let table = ModelTable::get();
        assert!(table.date.parse::<jiff::civil::Date>().is_ok());
        let ends = table.embedding.iter().map(|row| &row.ends).chain(table.chat.iter().map(|row| &row.ends));
        assert!(ends.flatten().all(|date| date.parse::<jiff::civil::Date>().is_ok()));
        let names = table.embedding.iter().map(|row| &row.provider);
        let names = names.chain(table.chat.iter().map(|row| &row.provider));
        let mut names = names.chain(table.rerank.iter().map(|row| &row.provider));
        assert!(names.all(|name| Provider::from_name(name).is_some()));
        assert!(table.embedding.iter().all(|row| row.price.is_none_or(|price| (0.0..10.0).contains(&price))));
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let table = ModelTable::get();
        let cost = |model: &str| table.embedding(Provider::OpenAi, model).unwrap().cost(2_000_000);
        assert_eq!((cost("text-embedding-3-small"), cost("text-embedding-ada-002")), (Some(0.04), None));
        let chat = |model: &str| table.chat(Provider::OpenAi, model).unwrap().cost(1_000_000, 1_000_000);
        assert_eq!((chat("gpt-6.1-terra"), chat("gpt-5-mini")), (Some(6.0), None));
        assert!(table.embedding(Provider::OpenAi, "text-embedding-9").is_none());
        let local = table.embedding(Provider::Ollama, "nomic-embed-text:v1.5").unwrap();
        assert_eq!((local.dimension, local.cost(9)), (Some(768), Some(0.0)));
    }

    #[test]
    fn prompts_are_those_of_the_training() {
        let check = |model: &str, question: &str, document: &str| {
            let expected = Prompts { question: question.into(), document: document.into() };
            assert_eq!(ModelTable::get().prompts(model), expected, "{model}");
        };
        let search = "Represent this sentence for searching relevant passages: ";
        check("gemini-embedding-001", "", "");
        check("gemini-embedding-2", "task: search result | query: ", "title: none | text: ");
        check("embeddinggemma:300m", "task: search result | query: ", "title: none | text: ");
        check("nomic-embed-text:latest", "search_query: ", "search_document: ");
        check("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: ");
        check("intfloat/multilingual-e5-small", "query: ", "passage: ");
        check("BAAI/bge-small-en-v1.5", search, "");
        check("mxbai-embed-large", search, "");
        check("snowflake-arctic-embed:xs", search, "");
        check("MongoDB/mdbr-leaf-ir", search, "");
        check("snowflake-arctic-embed2", "query: ", "");
        check(
            "Qwen/Qwen3-Embedding-0.6B",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
            "",
        );
        check("all-minilm", "", "");
        check("bge-m3", "", "");
    }

    #[test]
    fn only_models_that_are_known_to_be_matryoshka_are() {
        let check = |provider, model: &str, expected: bool| {
            assert_eq!(ModelTable::get().is_matryoshka(provider, model), expected, "{model}");
        };
        check(Provider::Gemini, "models/gemini-embedding-001", true);
        check(Provider::OpenAi, "text-embedding-ada-002", false);
        check(Provider::Compatible, "all-MiniLM-L6-v2", false);
        check(Provider::Compatible, "nomic-embed-text-v1.5", true);
        check(Provider::Compatible, "nomic-embed-text-v1", false);
    }
}
