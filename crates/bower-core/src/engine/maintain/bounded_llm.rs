//! Asks the language model on behalf of one run of maintenance, within its time, and no more after some failures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::engine::Engine;
use crate::llm::{Ask, Llm};

/// Number of failures after which a model is not asked again in the same run: each one takes its whole timeout.
const MOST_FAILURES: usize = 3;

/// The language model of the settings, and how often it failed in this run.
pub(crate) struct BoundedLlm<'a> {
    llm: &'a dyn Llm,
    timeout: Duration,
    failures: AtomicUsize,
}

impl<'a> BoundedLlm<'a> {
    /// `None` if the settings name no language model.
    pub(crate) fn of(engine: &'a Engine) -> Option<Self> {
        let timeout = Duration::from_millis(engine.settings.llm_timeout_ms);
        Some(Self { llm: engine.llm.as_deref()?, timeout, failures: AtomicUsize::new(0) })
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        self.llm.model()
    }

    /// Whether it failed so often that it is not asked again.
    pub(crate) fn gave_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    /// Returns the answer to a question within the time `left`; the error says why there is none.
    pub(crate) fn complete(&self, question: &Ask, left: Duration) -> Result<String, String> {
        if self.gave_up() {
            return Err(format!("it was not asked: it gave no answer {MOST_FAILURES} times"));
        }
        self.llm.complete(question, self.timeout.min(left)).map_err(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            error.to_string()
        })
    }
}
