//! The state of the local model, and the vectors that a store keeps of several models.

use schemars::JsonSchema;
use serde::Serialize;

/// State of the local model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelState {
    /// Its name.
    pub name: String,
    /// `ready`, `missing`, `off` or `damaged`.
    pub state: String,
    /// The problem and its remedy, if it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ModelState {
    /// Returns why there are no vectors, in one line.
    pub fn why(&self) -> String {
        self.reason.clone().unwrap_or_else(|| self.state.clone())
    }
}

/// The vectors of one model in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelVectors {
    /// The identity of the model and of the arithmetic that made them.
    pub identity: String,
    /// Their number.
    pub vectors: u64,
    /// Whether questions are compared with them.
    pub answers: bool,
}

/// What it takes to make the vectors that a store lacks, measured on a sample of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EmbeddingCost {
    /// Items without a vector of the engine's model.
    pub waiting: u64,
    /// Texts in the sample.
    pub sampled: usize,
    /// Pieces of the sample's texts, as the model's tokenizer counts them.
    pub pieces: usize,
    /// Milliseconds that the sample took, on all threads.
    pub took_ms: f64,
}
