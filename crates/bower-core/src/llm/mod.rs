//! The interface to language models: requests, answers and prompts.
//! Nothing here reaches a network. The program passes in a provider, and only if its user chose one by name.

mod prompt;

pub(crate) use prompt::{TRIPLES_PROMPT, pattern_prompt, rerank_prompt, settle_prompt, triples_prompt};

use std::time::Duration;

use crate::error::Result;
use crate::prompt::PromptText;

/// One request to a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The instructions and the format of the answer.
    pub system: PromptText,
    /// The data. It contains text of strangers, so the answer is only ever parsed.
    pub user: PromptText,
    /// Most tokens that the answer needs.
    pub most_tokens: usize,
}

/// A language model.
pub trait Llm: Send + Sync {
    /// Returns the model's name, for the answer's effort and for errors.
    fn model(&self) -> &str;

    /// Returns the model's answer unchanged, within `timeout`. Returns [`crate::Error::Model`] if there is no answer by
    /// then, or none at all.
    fn complete(&self, ask: &Ask, timeout: Duration) -> Result<String>;
}
