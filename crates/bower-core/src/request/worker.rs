//! The state of the worker, which makes missing vectors in the background.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of the worker's model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    /// Nothing waits, and the model was not needed yet.
    #[default]
    Idle,
    /// The model is opened and probed.
    Loading,
    /// The model makes vectors.
    Ready,
    /// The model makes no vectors; the reason is beside it. It is tried again after a minute.
    Unavailable,
}

/// What the worker does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkerActivity {
    /// Nothing waits for a vector.
    #[default]
    Idle,
    /// It makes vectors.
    Embedding,
    /// Requests wait for their turn, so it waits too: a minute at most.
    Deferred,
    /// Another process makes the vectors.
    Elsewhere,
    /// It waits until it tries the model again.
    Waiting,
}

/// The worker of the process that made vectors last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerStatus {
    /// State of its model.
    pub state: WorkerState,
    /// Why the model makes no vectors, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the worker does.
    pub activity: WorkerActivity,
    /// The model: the identity of its vectors, or its name while that is not known.
    pub model: String,
    /// Whether this model does not answer yet: it will when no row waits for it.
    pub is_coming: bool,
    /// Number of rows that wait for a vector of this model.
    pub queue: u64,
    /// Rows that got a vector since the queue was last empty.
    pub done: u64,
    /// Rows with a vector each second, on average since the queue was last empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Number of batches since the process began.
    pub batches: u64,
    /// Number of vectors written since the process began.
    pub written: u64,
    /// Number of texts that got no vector since the process began; they are tried again.
    pub failed: u64,
    /// Size of the last batch.
    pub last_batch: u64,
    /// Size of the largest batch.
    pub largest_batch: u64,
    /// Time of the last batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_time: Option<Timestamp>,
    /// The last error, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Number of the process.
    pub process: u32,
    /// When this was recorded.
    pub time: Timestamp,
}
