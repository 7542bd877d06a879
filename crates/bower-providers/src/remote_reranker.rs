//! Scores documents for a question by a reranker at a service.

use std::fmt;
use std::time::Duration;

use crate::call::{CallOptions, Client, Connection};
use crate::failure::{Failure, FailureKind, Subject};
use crate::provider::Provider;
use crate::rerank::{read, request};
use crate::wait::RetryPolicy;
use crate::window::estimate_tokens;

/// A reranker at a service.
pub struct RemoteReranker {
    client: Client,
    subject: Subject,
}

impl RemoteReranker {
    /// Creates a client of a model. It makes no connection.
    pub fn new(connection: Connection, model: &str) -> Result<Self, Failure> {
        let subject = Subject { provider: connection.provider, model: model.to_owned() };
        let client = Client::new(connection, &subject)?;
        match subject.provider {
            Provider::Cohere | Provider::Voyage | Provider::Jina | Provider::Compatible => {
                Ok(Self { client, subject })
            }
            Provider::Gemini
            | Provider::OpenAi
            | Provider::Ollama
            | Provider::Mistral
            | Provider::Anthropic => {
                Err(client.failure(&subject, FailureKind::ModelUnknown, "this service has no rerankers"))
            }
        }
    }

    /// Returns the model's name.
    pub fn model(&self) -> &str {
        &self.subject.model
    }

    /// Returns a score for each document, in order; a higher one is more relevant. It is tried once.
    pub fn rerank(&self, question: &str, documents: &[&str], timeout: Duration) -> Result<Vec<f32>, Failure> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let sent = request(self.subject.provider, &self.subject.model, question, documents);
        let deadline = Some(self.client.clock().now() + timeout);
        let tokens = documents.iter().map(|text| estimate_tokens(text) as u64).sum();
        let options = CallOptions { retry: RetryPolicy::ONCE, deadline, tokens };
        let answer = self.client.send(&self.subject, &sent, options).map_err(|error| error.failure)?;
        read(self.subject.provider, &answer, documents.len())
            .map_err(|bad| self.client.failure(&self.subject, bad.kind, &bad.detail).billed(true))
    }
}

impl fmt::Debug for RemoteReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteReranker").field("subject", &self.subject).finish_non_exhaustive()
    }
}
