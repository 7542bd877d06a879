//! Reports the uses of language models in an answer, a run or a day, and their cost.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::item::{Dollars, LlmOperation, LlmTier};

/// The uses of one language model for one operation, in one answer or run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LlmUse {
    /// What it was asked for.
    pub operation: LlmOperation,
    /// The model's name.
    pub model: String,
    /// Number of requests that were sent and answered.
    pub requests: usize,
    /// Number of answers from the cache; they cost nothing.
    pub cached: usize,
    /// Number of answers that could not be used, and were asked for again.
    pub repaired: usize,
    /// Number of requests without an answer. The next model was asked, if there is one.
    pub failed: usize,
    /// Why the last of these had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Tokens of the requests that were answered, as far as the service reported them.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The cost of all requests; those that may have been billed without an answer count with the most that they may cost.
    /// `null` if the model's price is not known.
    pub cost_dollars: Option<Dollars>,
}

/// The uses of language models in one answer or run, in the order of their first use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LlmUses(Vec<LlmUse>);

/// What this machine remembers of language models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LlmReport {
    /// What requests cost since the day began. A request whose end is not known counts with the most that it may cost.
    pub spent_today: Dollars,
    /// The part of it that is reserved for requests whose end is not known.
    pub reserved_today: Dollars,
    /// The setting `llm_budget_day`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_day: Option<Dollars>,
    /// The setting `llm_budget_call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_call: Option<Dollars>,
    /// When the day began, in the zone of the setting `time_zone`.
    pub day_began: Timestamp,
    /// Today's requests by model, the most expensive first.
    pub models: Vec<LlmModelDay>,
    /// Number of answers in the cache.
    pub cached_answers: usize,
    /// How often they were used instead of a request.
    pub cache_hits: u64,
    /// The last request without an answer, of the last 31 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LlmFailure>,
}

/// One model's requests of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LlmModelDay {
    /// The model's name.
    pub model: String,
    /// Number of requests.
    pub requests: u64,
    /// Number of those without an answer.
    pub failed: u64,
    /// Tokens of requests.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// What they cost; 0 if the price is not known.
    pub cost_dollars: Dollars,
}

/// A request without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LlmFailure {
    /// When it was sent.
    pub time: Timestamp,
    /// The model's name.
    pub model: String,
    /// Why there was no answer.
    pub reason: String,
}

/// The outcome of a test of a language model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LlmTested {
    /// The tier that was tested.
    pub tier: LlmTier,
    /// The model's name.
    pub model: String,
    /// What it answered.
    pub answer: String,
    /// Wall time.
    pub took_ms: f64,
    /// Tokens of the request; `null` if the service did not report them.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer; `null` if the service did not report them.
    pub output_tokens: Option<u64>,
    /// What it cost; `null` if the model's price is not known.
    pub cost_dollars: Option<Dollars>,
}

impl LlmUse {
    /// Returns a use without any request yet, which cost nothing.
    pub fn new(operation: LlmOperation, model: &str) -> Self {
        Self {
            operation,
            model: model.to_owned(),
            requests: 0,
            cached: 0,
            repaired: 0,
            failed: 0,
            failure: None,
            input_tokens: 0,
            output_tokens: 0,
            cost_dollars: Some(Dollars::ZERO),
        }
    }

    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.cached += other.cached;
        self.repaired += other.repaired;
        self.failed += other.failed;
        self.failure = other.failure.or_else(|| self.failure.take());
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_dollars = self.cost_dollars.zip(other.cost_dollars).map(|(one, more)| one.plus(more));
    }
}

impl LlmUses {
    /// Adds a use to those of the same model and operation.
    pub fn add(&mut self, one: LlmUse) {
        let same = |known: &&mut LlmUse| known.operation == one.operation && known.model == one.model;
        match self.0.iter_mut().find(same) {
            Some(known) => known.add(one),
            None => self.0.push(one),
        }
    }

    /// Adds all uses of another run.
    pub fn extend(&mut self, others: Self) {
        others.0.into_iter().for_each(|one| self.add(one));
    }

    /// Returns them in the order of their first use.
    pub fn iter(&self) -> std::slice::Iter<'_, LlmUse> {
        self.0.iter()
    }

    /// Whether no language model was asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for &'a LlmUses {
    type Item = &'a LlmUse;
    type IntoIter = std::slice::Iter<'a, LlmUse>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
