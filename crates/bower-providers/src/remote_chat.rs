//! Asks a language model at a service, and leaves out fields that the model has refused.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use crate::call::{CallOptions, Client, Connection, lock};
use crate::chat::{ChatAnswer, ChatRequest, Refused, is_limited, read, refused_field, request};
use crate::failure::{Failure, FailureKind, Subject};
use crate::wait::RetryPolicy;
use crate::window::estimate_tokens;
use crate::wire::WireAnswer;

/// A language model at a service.
pub struct RemoteChat {
    client: Client,
    subject: Subject,
    refused: Mutex<Refused>,
}

impl RemoteChat {
    /// Most tries of one request: another model is asked rather than this one for long.
    pub const TRIES: u32 = 2;

    /// Creates a client of a model. It makes no connection.
    pub fn new(connection: Connection, model: &str) -> Result<Self, Failure> {
        let subject = Subject { provider: connection.provider, model: model.to_owned() };
        Ok(Self { client: Client::new(connection, &subject)?, subject, refused: Mutex::default() })
    }

    /// Returns the model's name.
    pub fn model(&self) -> &str {
        &self.subject.model
    }

    /// Returns the model's answer within a time.
    pub fn complete(&self, ask: &ChatRequest, timeout: Duration) -> Result<ChatAnswer, Failure> {
        let deadline = Some(self.client.clock().now() + timeout);
        let retry = RetryPolicy { tries: Self::TRIES, ..self.client.retry() };
        let tokens = (estimate_tokens(&ask.system) + estimate_tokens(&ask.user)) as u64;
        let options = CallOptions { retry, deadline, tokens };
        let mut without = lock(&self.refused).clone();
        loop {
            if ask.must_be_limited && !is_limited(self.subject.provider, &without) {
                let why = "it takes no limit of the tokens of its answer, so its cost has no limit";
                return Err(self.client.failure(&self.subject, FailureKind::BadRequest, why));
            }
            let sent = request(self.subject.provider, &self.subject.model, ask, &without);
            let error = match self.client.send(&self.subject, &sent, options) {
                Ok(answer) => return self.read(&answer, &without),
                Err(error) => error,
            };
            let answer = error.answer.as_ref();
            let field = answer.and_then(|answer| refused_field(self.subject.provider, &sent, answer));
            // Each field is left out once, so this ends.
            if !field.is_some_and(|field| without.insert(field)) {
                return Err(error.failure);
            }
        }
    }

    /// Reads an answer, and remembers the fields without which there is one.
    fn read(&self, answer: &WireAnswer, without: &Refused) -> Result<ChatAnswer, Failure> {
        lock(&self.refused).extend(without);
        // A success is billed, whatever it holds.
        let read = read(self.subject.provider, answer)
            .map_err(|bad| self.client.failure(&self.subject, bad.kind, &bad.detail).billed(true))?;
        let left_out = without.iter().copied().collect();
        Ok(ChatAnswer { left_out, unanswered_tries: answer.unanswered_tries, ..read })
    }
}

impl fmt::Debug for RemoteChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteChat").field("subject", &self.subject).finish_non_exhaustive()
    }
}
