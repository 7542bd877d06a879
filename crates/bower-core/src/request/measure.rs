//! Reports of warming and of measuring a store.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What warming did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WarmReport {
    /// Items that got a vector of the present model.
    pub embedded: usize,
    /// Files of the store and its indexes that were read, so that the next question finds them in memory.
    pub files: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// Whether new rows were written into the indexes.
    pub compacted: bool,
    /// Milliseconds that it took.
    pub took_ms: f64,
}

/// How much the search over quantised vectors loses against comparing all vectors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RecallReport {
    /// The identity of the vectors.
    pub model: String,
    /// How vectors are searched: `int8`, `two-stage` or `clustered`.
    pub tier: String,
    /// Vectors in the index. Rows that are newer are always compared exactly.
    pub vectors: usize,
    /// Items whose vectors were searched for.
    pub sampled: usize,
    /// Results of a search.
    pub k: usize,
    /// Mean share of the `k` nearest that the search finds, 0 to 1.
    pub recall: f64,
    /// The least share of a sampled item.
    pub least: f64,
    /// Sampled items of which it finds all `k`.
    pub whole: usize,
    /// Mean milliseconds of a search.
    pub search_ms: f64,
    /// Mean milliseconds of comparing all vectors, on one thread.
    pub exact_ms: f64,
}

/// A file or folder, and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoredPart {
    /// What it is: `store`, or the name of an index's folder.
    pub part: String,
    /// Where it is.
    pub path: PathBuf,
    /// Number of files.
    pub files: usize,
    /// Bytes.
    pub bytes: u64,
}
