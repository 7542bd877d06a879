//! The interface to language models: requests, answers, prompts, tiers and prices.
//! Nothing here reaches a network. The program passes in a provider, and only if its user chose one by name.

mod prompt;
mod tiers;

pub(crate) use prompt::{
    TRIPLES_PROMPT, field, pattern_prompt, rerank_prompt, settle_prompt, test_prompt, triples_prompt,
};
pub use tiers::LlmTiers;
pub(crate) use tiers::tier_of;

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::time::Duration;

use crate::item::Dollars;
use crate::prompt::PromptText;

/// Tokens that a service may add to a prompt: roles, and what it tells the model of a schema.
const ADDED_TOKENS: u64 = 512;

/// One request to a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The instructions and the format of the answer.
    pub system: PromptText,
    /// The data. It contains text of strangers, so the answer is only ever parsed.
    pub user: PromptText,
    /// Most tokens that the answer needs.
    pub most_tokens: usize,
    /// The JSON schema of the answer, for services that can keep to one. The instructions describe the same format.
    pub schema: Option<Value>,
}

/// An answer of a language model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text, unchanged.
    pub text: String,
    /// Tokens of the request, if the service reports them.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, if the service reports them.
    pub output_tokens: Option<u64>,
    /// How often the request was sent before the one that was answered. These may have been billed.
    pub unanswered_tries: u32,
}

/// Why a model gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// The model's name, what failed, and what to do, in one line without secrets.
    pub reason: String,
    /// Whether the request may cost money all the same: it was sent, and its end is not known.
    pub may_be_billed: bool,
}

/// The prices of a model, in dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrices {
    /// Of the request.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
}

/// A language model.
pub trait Llm: Send + Sync {
    /// Returns the model's name, for the answer's effort and for errors.
    fn model(&self) -> &str;

    /// Returns what distinguishes its answers from those of every other model: its name, its provider and its address.
    fn identity(&self) -> String {
        self.model().to_owned()
    }

    /// Returns its prices; `None` if they are not known.
    fn prices(&self) -> Option<TokenPrices> {
        None
    }

    /// Returns how often [`Llm::complete`] sends a request at most.
    fn most_tries(&self) -> u32 {
        1
    }

    /// Returns the model's answer, within `timeout`. A model with a price keeps to [`Ask::most_tokens`], or is not asked.
    fn complete(&self, ask: &Ask, timeout: Duration) -> Result<Completion, NoAnswer>;
}

/// A reranker at a service.
pub trait Reranker: Send + Sync {
    /// Returns the model's name, for the answer's effort and for errors.
    fn model(&self) -> &str;

    /// Returns its price in dollars per million tokens of questions and texts; `None` if it is not known.
    fn price(&self) -> Option<f64> {
        None
    }

    /// Returns a score for each text, in order; a higher one is more relevant. It is sent once.
    fn score(&self, question: &str, texts: &[&str], timeout: Duration) -> Result<Vec<f32>, NoAnswer>;
}

impl Ask {
    /// Returns the key of its answer by a model in the cache: everything that the answer depends on.
    pub(crate) fn key(&self, identity: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        let schema = self.schema.as_ref().map(Value::to_string).unwrap_or_default();
        let limit = self.most_tokens.to_string();
        for part in [identity, self.system.as_str(), self.user.as_str(), &schema, &limit] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into()
    }

    /// Returns a number of tokens that the request cannot exceed: no token is shorter than a byte.
    fn most_input_tokens(&self) -> u64 {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        (self.system.len() + self.user.len() + schema) as u64 + ADDED_TOKENS
    }
}

impl TokenPrices {
    /// Returns the cost of a request and its answer.
    pub fn cost(&self, input_tokens: u64, output_tokens: u64) -> Dollars {
        Dollars::cost((self.input * input_tokens as f64 + self.output * output_tokens as f64) / 1e6)
    }

    /// Returns the most that one try of a request may cost.
    pub(crate) fn most(&self, ask: &Ask) -> Dollars {
        self.cost(ask.most_input_tokens(), ask.most_tokens as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_a_request_costs_counts_each_byte_as_a_token() {
        let ask = Ask {
            system: PromptText::own("12345"),
            user: PromptText::own("é"),
            most_tokens: 100,
            schema: Some(Value::Bool(true)),
        };
        // 5 + 2 + 4 + 512 tokens at $1, and 100 at $5, per million.
        let prices = TokenPrices { input: 1.0, output: 5.0 };
        assert_eq!(prices.most(&ask), Dollars::of_billionths(1_023_000));
    }

    #[test]
    fn a_key_tells_apart_all_that_an_answer_depends_on() {
        let ask =
            Ask { system: PromptText::own("ab"), user: PromptText::own("c"), most_tokens: 7, schema: None };
        let others = [
            Ask { system: PromptText::own("a"), user: PromptText::own("bc"), ..ask.clone() },
            Ask { most_tokens: 8, ..ask.clone() },
            Ask { schema: Some(Value::Null), ..ask.clone() },
            ask.repaired("x", "y"),
        ];
        assert!(others.iter().all(|other| other.key("m") != ask.key("m")));
        assert_ne!(ask.key("m"), ask.key("n"));
        assert_eq!(ask.key("m"), ask.clone().key("m"));
    }
}
