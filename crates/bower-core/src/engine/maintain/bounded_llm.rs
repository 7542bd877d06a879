//! Asks the language models on behalf of one run of maintenance, within its time, and no more after some failures.

use jiff::{SignedDuration, Timestamp};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::llm::{AskError, AskTime, LlmReply};
use crate::item::LlmOperation;
use crate::llm::{Ask, Llm, LlmTiers};
use crate::request::LlmUses;

/// Number of failures after which no model is asked again in the same run: each one takes its whole timeout.
const MOST_FAILURES: usize = 3;

/// The language models of the settings, how often they failed in this run, and what they cost.
pub(crate) struct BoundedLlm<'a> {
    engine: &'a Engine,
    tiers: &'a LlmTiers,
    operation: LlmOperation,
    now: Timestamp,
    start: Instant,
    failures: AtomicUsize,
    uses: Mutex<LlmUses>,
}

impl<'a> BoundedLlm<'a> {
    /// `None` if the settings name no language model. `now` is the time at the beginning of the run.
    pub(crate) fn of(engine: &'a Engine, operation: LlmOperation, now: Timestamp) -> Option<Self> {
        let tiers = engine.llm.as_ref()?;
        let (failures, uses) = (AtomicUsize::new(0), Mutex::default());
        Some(Self { engine, tiers, operation, now, start: Instant::now(), failures, uses })
    }

    /// The name of the model that is asked first for an empty request.
    pub(crate) fn model(&self) -> &str {
        self.tiers.first(self.operation).model()
    }

    /// The names of all models, the first one first.
    pub(crate) fn models(&self) -> Vec<&str> {
        self.tiers.all(self.operation).map(Llm::model).collect()
    }

    /// Whether they failed so often that none is asked again.
    pub(crate) fn gave_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    /// Returns the answer to a question within the time `left`; the error says why there is none.
    pub(crate) fn complete<T>(
        &self,
        question: &Ask,
        left: Duration,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<LlmReply<T>, AskError> {
        if self.gave_up() {
            let why = format!("it was not asked: it gave no answer {MOST_FAILURES} times");
            return Err(AskError::NoAnswer(why));
        }
        let timeout = Duration::from_millis(self.engine.settings.llm_timeout_ms).min(left);
        let passed = SignedDuration::try_from(self.start.elapsed()).unwrap_or_default();
        let within = AskTime { timeout, now: self.now + passed };
        let mut uses = LlmUses::default();
        let told = self.engine.ask_llm(self.tiers, self.operation, question, within, &mut uses, read);
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).extend(uses);
        if matches!(told, Err(AskError::NoAnswer(_))) {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        told
    }

    /// Returns the requests so far and what they cost.
    pub(crate) fn uses(&self) -> LlmUses {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
