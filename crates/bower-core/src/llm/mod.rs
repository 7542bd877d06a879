//! The interface to language models: questions, answers and the prompts that they are asked with.
//! Nothing here reaches a network: a provider is handed in by the program, and only where its user chose one by name.

mod prompt;

pub(crate) use prompt::{pattern_prompt, rerank_prompt};

use std::time::Duration;

use crate::error::Result;
use crate::prompt::PromptText;

/// One question to a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What it is to do, and how to answer.
    pub system: PromptText,
    /// What to do it with. Holds text of strangers, so whatever comes back is only ever parsed.
    pub user: PromptText,
    /// The answer needs no more tokens than this.
    pub most_tokens: usize,
}

/// A language model.
pub trait Llm: Send + Sync {
    /// Its name, for the answer's effort and for errors.
    fn model(&self) -> &str;

    /// The model's answer, as it is. Returns within `timeout`, with [`crate::Error::Model`] where there is no answer by then, or
    /// none at all.
    fn complete(&self, ask: &Ask, timeout: Duration) -> Result<String>;
}
