//! Clients of services that embed, answer and rerank: plain values in, plain values out, no async.

mod address;
mod breaker;
mod clock;
mod embed;
mod failure;
mod prices;
mod provider;
mod refusal;
mod secret;
mod wait;
mod wire;

pub use clock::{Clock, SystemClock};
pub use embed::{Limits, Role};
pub use failure::{Failure, FailureKind};
pub use prices::{ChatModel, EmbeddingModel, ModelTable, Prompts, RerankModel};
pub use provider::Provider;
pub use secret::{Secret, SecretError, SecretSource};
pub use wait::{RetryPolicy, Spent};
