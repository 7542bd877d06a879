//! Clients of services that embed, answer and rerank: plain values in, plain values out, no async.

mod address;
mod batch;
mod breaker;
mod call;
mod chat;
mod clock;
mod embed;
mod embedder;
mod failure;
#[cfg(feature = "fake")]
pub mod fake;
mod pace;
mod prices;
mod provider;
mod refusal;
mod remote_chat;
mod remote_reranker;
mod rerank;
mod secret;
mod wait;
mod window;
mod wire;

pub use call::Connection;
pub use chat::{ChatAnswer, ChatRequest, ChatUsage, Effort, End};
pub use clock::{Clock, SystemClock};
pub use embed::{Limits, Role};
pub use embedder::{EmbedUsage, EmbedderOptions, Identity, Probe, RemoteEmbedder};
pub use failure::{Failure, FailureKind};
pub use prices::{ChatModel, EmbeddingModel, ModelTable, Prompts, RerankModel};
pub use provider::Provider;
pub use remote_chat::RemoteChat;
pub use remote_reranker::RemoteReranker;
pub use secret::{Secret, SecretError, SecretSource};
pub use wait::{RetryPolicy, Spent};
pub use window::estimate_tokens;
