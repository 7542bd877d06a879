//! Asks the user's language models: the cache first, then the models of the tiers, each within the budget.
//! A request is sent only after the most that it may cost is reserved, so no model that stands in exceeds the budget.

use jiff::{SignedDuration, Timestamp};
use std::time::{Duration, Instant};

use crate::engine::{ACTOR, Engine};
use crate::error::{Error, Result};
use crate::item::{Dollars, LlmOperation, LlmTier};
use crate::llm::{Ask, Completion, Llm, LlmTiers, NoAnswer, Reranker, test_prompt, tier_of};
use crate::request::{LlmReport, LlmTested, LlmUse, LlmUses};
use crate::store::{LlmCacheBounds, LlmCall, LlmCallEnd, NewLlmAnswer, NewLlmCall, Reserved, Stamp};

/// Most answers in the cache, as of the questions whose vectors are kept by default.
const MOST_ANSWERS: usize = 10_000;
/// Bytes that a reranker's service may add to a question and a text.
const ADDED_TOKENS: u64 = 16;

/// What a language model's answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LlmReply<T> {
    /// What was read off the answer.
    pub value: T,
    /// The model that gave it.
    pub model: String,
}

/// Why there is no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskError {
    /// No model answered.
    NoAnswer(String),
    /// A model answered twice, and neither answer can be used.
    Unusable(String),
}

/// The time of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskTime {
    /// The time that all of its models have together.
    pub timeout: Duration,
    /// The time of the day.
    pub now: Timestamp,
}

/// A request: what it is for, when it ends, and what it may still cost.
struct Request<'a> {
    engine: &'a Engine,
    operation: LlmOperation,
    start: Instant,
    within: AskTime,
    /// What is left of the budget of one request; `None` is no limit.
    left: Option<Dollars>,
}

/// The most that a request may cost, and who is asked.
struct Offer<'a> {
    model: &'a str,
    /// `None` if the price is not known.
    most: Option<Dollars>,
}

/// How a request ended.
struct Sent<T> {
    result: Result<T, String>,
    cost: Option<Dollars>,
}

impl AskError {
    pub(crate) fn reason(self) -> String {
        match self {
            Self::NoAnswer(reason) | Self::Unusable(reason) => reason,
        }
    }
}

impl Request<'_> {
    fn stamp(&self) -> Stamp<'static> {
        let passed = SignedDuration::try_from(self.start.elapsed()).unwrap_or_default();
        Stamp { now: self.within.now + passed, actor: ACTOR }
    }

    fn time_left(&self) -> Duration {
        self.within.timeout.saturating_sub(self.start.elapsed())
    }

    /// Sends a request of a known offer, and books what it cost. `send` returns its result with the end to book.
    fn paid<T>(
        &mut self,
        offer: &Offer<'_>,
        send: impl FnOnce(Duration) -> (Result<T, String>, LlmCallEnd),
    ) -> Sent<T> {
        let refused = |reason: String| Sent { result: Err(reason), cost: Some(Dollars::ZERO) };
        let call = match self.reserve(offer) {
            Ok(call) => call,
            Err(reason) => return refused(format!("model {}: {reason}", offer.model)),
        };
        let (result, end) = send(self.time_left());
        self.left = self.left.map(|left| left.minus(end.cost));
        if let Some(call) = call {
            // What was reserved stays booked: the budget errs on the safe side.
            let _ = self.engine.desk.book_llm(call, &end);
        }
        Sent { result, cost: offer.most.map(|_| end.cost) }
    }

    /// Reserves the most that a request may cost. `None` if nothing can be recorded, and nothing has to be.
    fn reserve(&self, offer: &Offer<'_>) -> Result<Option<LlmCall>, String> {
        let settings = &self.engine.settings;
        let day = settings.llm_budget_day.map(Dollars::limit);
        let has_budget = day.is_some() || self.left.is_some();
        let most = match offer.most {
            Some(most) => most,
            None if has_budget => {
                return Err("it was not asked: its price is not known, and a budget is set (llm_budget_call, llm_budget_day)".into());
            }
            None => Dollars::ZERO,
        };
        if let Some(left) = self.left.filter(|left| most > *left) {
            return Err(format!(
                "it was not asked: it may cost {most}, and {left} is left of llm_budget_call for this request"
            ));
        }
        let stamp = self.stamp();
        let since = day_began(self.engine, stamp.now).map_err(|error| error.to_string())?;
        let call = NewLlmCall {
            operation: self.operation,
            model: offer.model,
            most,
            budget: day.map(|budget| (budget, since)),
        };
        match self.engine.desk.reserve_llm(&call, stamp) {
            Ok(Reserved::Call(call)) => Ok(Some(call)),
            Ok(Reserved::TooLittle(left)) => Err(format!(
                "it was not asked: it may cost {most}, and {left} is left of llm_budget_day until tomorrow"
            )),
            Err(error) if day.is_some() && most > Dollars::ZERO => {
                Err(format!("it was not asked: its cost cannot be recorded: {error}"))
            }
            // Without a budget, a store that cannot be written is no reason not to ask.
            Err(_) => Ok(None),
        }
    }

    /// Sends a request to one language model.
    fn send(&mut self, model: &dyn Llm, ask: &Ask, used: &mut LlmUse) -> Result<Completion, String> {
        let prices = model.prices();
        let once = prices.map(|prices| prices.most(ask));
        let most = once.map(|once| once.times(u64::from(model.most_tries())));
        let offer = Offer { model: model.model(), most };
        let sent = self.paid(&offer, |timeout| match model.complete(ask, timeout) {
            Ok(done) => {
                let tokens = done.input_tokens.zip(done.output_tokens);
                let once = once.unwrap_or_default();
                let cost =
                    prices.zip(tokens).map_or(once, |(prices, (input, output))| prices.cost(input, output));
                let cost = cost.plus(once.times(done.unanswered_tries.into()));
                let (input_tokens, output_tokens) = (done.input_tokens, done.output_tokens);
                (Ok(done), LlmCallEnd { cost, input_tokens, output_tokens, failure: None })
            }
            Err(NoAnswer { reason, may_be_billed }) => {
                let cost = most.filter(|_| may_be_billed).unwrap_or_default();
                (Err(reason.clone()), LlmCallEnd { cost, failure: Some(reason), ..LlmCallEnd::default() })
            }
        });
        used.cost_dollars = used.cost_dollars.zip(sent.cost).map(|(cost, more)| cost.plus(more));
        match sent.result {
            Ok(done) => {
                used.requests += 1;
                used.input_tokens += done.input_tokens.unwrap_or_default();
                used.output_tokens += done.output_tokens.unwrap_or_default();
                Ok(done)
            }
            Err(reason) => {
                used.failed += 1;
                used.failure = Some(reason.clone());
                Err(reason)
            }
        }
    }

    /// Asks one model, or takes its answer from the cache. An answer that `read` refuses is asked for once more, with the reason.
    fn of_model<T>(
        &mut self,
        model: &dyn Llm,
        ask: &Ask,
        read: &dyn Fn(&str) -> Result<T, String>,
        used: &mut LlmUse,
    ) -> Result<T, AskError> {
        let (desk, settings) = (&self.engine.desk, &self.engine.settings);
        let is_cached = settings.llm_cache_days > 0 && self.operation != LlmOperation::Test;
        let kept = SignedDuration::from_hours(24 * i64::from(settings.llm_cache_days));
        let keep_after = self.within.now.checked_sub(kept).unwrap_or(Timestamp::MIN);
        let key = ask.key(&model.identity());
        // A cache that cannot be read is as good as an empty one.
        let found = if is_cached { desk.llm_answer(&key, keep_after).ok() } else { None };
        let (answer, forgotten) = found.map_or((None, None), |found| (found.answer, Some(found.forgotten)));
        if let Some(value) = answer.and_then(|answer| read(&answer.text).ok()) {
            let _ = desk.note_llm_hit(&key, self.stamp());
            used.cached += 1;
            return Ok(value);
        }
        let first = self.send(model, ask, used).map_err(AskError::NoAnswer)?;
        let (text, value) = match read(&first.text) {
            Ok(value) => (first.text, value),
            Err(problem) => {
                let unusable =
                    |why: &str| AskError::Unusable(format!("model {}: {problem}{why}", model.model()));
                let again = self.send(model, &ask.repaired(&first.text, &problem), used);
                let again = again.map_err(|reason| unusable(&format!(", and asked again: {reason}")))?;
                used.repaired += 1;
                let value = read(&again.text).map_err(|_| unusable(", also when asked again"))?;
                (again.text, value)
            }
        };
        if let Some(forgotten) = forgotten {
            let bounds = LlmCacheBounds { most: MOST_ANSWERS, keep_after };
            // An answer that is not kept is asked for again.
            let _ = self.engine.desk.keep_llm_answer(
                &NewLlmAnswer { key: &key, text: &text, forgotten },
                bounds,
                self.stamp(),
            );
        }
        Ok(value)
    }
}

/// Returns the beginning of the day in the zone of the settings.
fn day_began(engine: &Engine, now: Timestamp) -> Result<Timestamp> {
    let zone = engine.time_zone()?;
    let began = now.to_zoned(zone).start_of_day();
    Ok(began.map_or(now, |began| began.timestamp()))
}

impl Engine {
    /// Asks the language models of the settings, and adds what that cost to `uses`. `read` says what an answer means, or why it
    /// cannot be used.
    pub(crate) fn ask_llm<T>(
        &self,
        tiers: &LlmTiers,
        operation: LlmOperation,
        ask: &Ask,
        within: AskTime,
        uses: &mut LlmUses,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<LlmReply<T>, AskError> {
        let mut request = self.llm_request(operation, within);
        let mut reasons = Vec::new();
        for model in tiers.route(tier_of(operation, ask)) {
            if !reasons.is_empty() && request.time_left().is_zero() {
                reasons.push(format!("model {}: no time was left to ask it", model.model()));
                break;
            }
            let mut used = LlmUse::new(operation, model.model());
            let told = request.of_model(model, ask, read, &mut used);
            uses.add(used);
            match told {
                Ok(value) => return Ok(LlmReply { value, model: model.model().to_owned() }),
                Err(AskError::NoAnswer(reason)) => reasons.push(reason),
                Err(unusable @ AskError::Unusable(_)) => return Err(unusable),
            }
        }
        Err(AskError::NoAnswer(reasons.join("; ")))
    }

    fn llm_request(&self, operation: LlmOperation, within: AskTime) -> Request<'_> {
        let left = self.settings.llm_budget_call.map(Dollars::limit);
        Request { engine: self, operation, start: Instant::now(), within, left }
    }

    /// Scores texts by a reranker at a service, within the budget of language models, and adds what that cost to `uses`.
    pub(crate) fn score_by_service(
        &self,
        reranker: &dyn Reranker,
        question: &str,
        texts: &[&str],
        within: AskTime,
        uses: &mut LlmUses,
    ) -> Result<Vec<f32>, String> {
        let operation = LlmOperation::Rerank;
        let mut request = self.llm_request(operation, within);
        // The question is read with each text. No token is shorter than a byte.
        let bytes = texts.iter().map(|text| (question.len() + text.len()) as u64 + ADDED_TOKENS).sum::<u64>();
        let most = reranker.price().map(|price| Dollars::cost(price * bytes as f64 / 1e6));
        let offer = Offer { model: reranker.model(), most };
        let mut used = LlmUse::new(operation, reranker.model());
        let sent = request.paid(&offer, |timeout| {
            let cost = most.unwrap_or_default();
            match reranker.score(question, texts, timeout) {
                // Services report no tokens that can be trusted to be those of the bill, so the most is booked.
                Ok(scores) => (Ok(scores), LlmCallEnd { cost, ..LlmCallEnd::default() }),
                Err(NoAnswer { reason, may_be_billed }) => {
                    let cost = if may_be_billed { cost } else { Dollars::ZERO };
                    (Err(reason.clone()), LlmCallEnd { cost, failure: Some(reason), ..LlmCallEnd::default() })
                }
            }
        });
        used.cost_dollars = sent.cost;
        match &sent.result {
            Ok(_) => used.requests = 1,
            Err(reason) => (used.failed, used.failure) = (1, Some(reason.clone())),
        }
        uses.add(used);
        sent.result
    }

    /// Returns what language models cost today, and what the cache holds.
    pub fn llm_report(&self, now: Timestamp) -> Result<LlmReport> {
        let report = self.desk.llm_report(day_began(self, now)?)?;
        Ok(LlmReport {
            budget_day: self.settings.llm_budget_day.map(Dollars::limit),
            budget_call: self.settings.llm_budget_call.map(Dollars::limit),
            ..report
        })
    }

    /// Sends one tiny request to the model of a tier, and to no other. Nothing is cached.
    ///
    /// Fails with [`Error::Invalid`] if the settings name no model, and with [`Error::Model`] if it gives no answer.
    pub fn test_llm(&self, tier: LlmTier, now: Timestamp) -> Result<LlmTested> {
        let Some(tiers) = &self.llm else { return Err(Error::invalid("test a language model", NO_LLM)) };
        let model = tiers.model(tier);
        let timeout = Duration::from_millis(self.settings.llm_timeout_ms);
        let mut request = self.llm_request(LlmOperation::Test, AskTime { timeout, now });
        let mut used = LlmUse::new(LlmOperation::Test, model.model());
        let start = Instant::now();
        let done = request.send(model, &test_prompt(), &mut used).map_err(|reason| {
            let named = format!("model {}: ", model.model());
            let reason = reason.strip_prefix(&named).map_or(reason.clone(), str::to_owned);
            Error::Model { model: model.model().to_owned(), reason }
        })?;
        Ok(LlmTested {
            tier,
            model: model.model().to_owned(),
            answer: done.text,
            took_ms: start.elapsed().as_secs_f64() * 1e3,
            input_tokens: done.input_tokens,
            output_tokens: done.output_tokens,
            cost_dollars: used.cost_dollars,
        })
    }
}

/// What to do without a language model.
pub(crate) const NO_LLM: &str =
    "no language model is chosen: set llm (openai, gemini, anthropic or ollama) and llm_model";
