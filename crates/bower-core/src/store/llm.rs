//! Keeps answers of language models that need not be asked for again, and the cost of requests, on this machine.

use jiff::Timestamp;

use super::clock::Stamp;
use crate::error::Result;
use crate::item::{Dollars, LlmOperation};
use crate::request::LlmReport;

/// An answer in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmAnswer {
    /// The text.
    pub text: String,
}

/// The result of looking up an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmLookup {
    /// The answer, if it is there.
    pub answer: Option<LlmAnswer>,
    /// The last time that something was forgotten, as the number of its event; 0 if nothing was.
    pub forgotten: u64,
}

/// An answer for the cache.
#[derive(Clone, Copy, Debug)]
pub struct NewLlmAnswer<'a> {
    /// The key of the request.
    pub key: &'a [u8; 32],
    /// The text.
    pub text: &'a str,
    /// [`LlmLookup::forgotten`] before the request was sent. If something was forgotten since, the answer may hold a part of it.
    pub forgotten: u64,
}

/// The bounds of the cache.
#[derive(Clone, Copy, Debug)]
pub struct LlmCacheBounds {
    /// Most answers; the least recently used are dropped.
    pub most: usize,
    /// Older answers are neither used nor kept.
    pub keep_after: Timestamp,
}

/// A request that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewLlmCall<'a> {
    /// What is asked for.
    pub operation: LlmOperation,
    /// The model's name.
    pub model: &'a str,
    /// The most that the request may cost.
    pub most: Dollars,
    /// The budget since a time, if there is one.
    pub budget: Option<(Dollars, Timestamp)>,
}

/// A request that was recorded before it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmCall(pub i64);

/// Whether a request fits into the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// Its cost is reserved. Until it is booked it counts with the most that it may cost, also if this process dies.
    Call(LlmCall),
    /// The budget has only so much left, and nothing was recorded.
    TooLittle(Dollars),
}

/// The end of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmCallEnd {
    /// What it cost.
    pub cost: Dollars,
    /// Tokens of the request.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Why there is no answer.
    pub failure: Option<String>,
}

/// Stores answers of language models and what requests cost. Like the rest of the desk it is not a change of the store.
pub trait LlmDesk: Send + Sync {
    /// Returns an answer that is not older than `keep_after`.
    fn llm_answer(&self, key: &[u8; 32], keep_after: Timestamp) -> Result<LlmLookup>;
    /// Notes that an answer was used instead of a request.
    fn note_llm_hit(&self, key: &[u8; 32], stamp: Stamp<'_>) -> Result<()>;
    /// Keeps an answer, unless something was forgotten since the request was sent. Forgetting anything removes all answers: an
    /// answer may hold a part of the forgotten text, and a request may have held it.
    fn keep_llm_answer(
        &self,
        answer: &NewLlmAnswer<'_>,
        bounds: LlmCacheBounds,
        stamp: Stamp<'_>,
    ) -> Result<()>;
    /// Records a request before it is sent, if the budget has room for the most that it may cost. Processes that ask at the same
    /// time share the budget.
    fn reserve_llm(&self, call: &NewLlmCall<'_>, stamp: Stamp<'_>) -> Result<Reserved>;
    /// Records the end of a request.
    fn book_llm(&self, call: LlmCall, end: &LlmCallEnd) -> Result<()>;
    /// Returns what requests cost since a time, and what the cache holds. The budgets are left to the caller.
    fn llm_report(&self, since: Timestamp) -> Result<LlmReport>;
}
