//! Requests and answers about triples: relations that a language model reads off texts.

use schemars::JsonSchema;
use serde::Serialize;

use super::{LlmUses, Selection};

/// A request to let the language model of the settings read triples off texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractRequest {
    /// Most items whose texts are sent; `None` means all.
    pub limit: Option<usize>,
    /// Counts only: nothing is sent, and nothing is written.
    pub dry_run: bool,
    /// The items whose texts may be sent.
    pub select: Selection,
}

/// The outcome of an extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExtractReport {
    /// The source of the triples: `llm:` and the model's name.
    pub source: String,
    /// Whether this only counted.
    pub dry_run: bool,
    /// Number of items whose texts the model had read before.
    pub known: usize,
    /// Number of items with the same text as one that the model had read; nothing was sent for them.
    pub cached: usize,
    /// Number of items whose texts were sent and answered; in a dry run, of those that would be sent.
    pub items: usize,
    /// Number of requests.
    pub requests: usize,
    /// Number of triples that were kept of these items.
    pub triples: usize,
    /// Number of items that still wait for the model.
    pub waiting: usize,
    /// What was dropped.
    pub dropped: DroppedAnswers,
    /// Why some requests had no answer, the most frequent reason first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedRequests>,
    /// The requests and what they cost.
    #[serde(skip_serializing_if = "LlmUses::is_empty")]
    pub uses: LlmUses,
}

/// Parts of answers that were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedAnswers {
    /// Number of items for which no answer had the form that was asked for.
    pub unreadable: usize,
    /// Number of triples in a wrong form.
    pub malformed: usize,
    /// Number of triples with a name that the text does not have.
    pub invented: usize,
    /// Number of triples beyond the most that an item may have.
    pub surplus: usize,
}

/// Requests without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedRequests {
    /// The reason.
    pub why: String,
    /// Number of requests.
    pub requests: usize,
}

/// The progress of an extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractProgress {
    /// Number of items that are done.
    pub items: usize,
    /// Number of items that will be sent.
    pub total: usize,
    /// Number of triples so far.
    pub triples: usize,
}

/// A source of triples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TripleSource {
    /// Its name: `llm:` and the model's name.
    pub source: String,
    /// Number of items whose texts it read.
    pub items: usize,
    /// Number of triples of these items.
    pub triples: usize,
}

/// Triples that were removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedTriples {
    /// Their source.
    pub source: String,
    /// Number of items that had any, or whose texts had none.
    pub items: usize,
    /// Number of triples.
    pub triples: usize,
}
