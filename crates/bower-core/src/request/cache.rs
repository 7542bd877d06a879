//! The state of the cache of vectors, and what is removed from it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::item::CacheRole;

/// State of the cache of vectors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CacheStatus {
    /// Number of entries in the store's file.
    pub entries: u64,
    /// Bytes of these entries.
    pub bytes: u64,
    /// Number of hits, of all processes.
    pub hits: u64,
    /// Number of misses, of all processes.
    pub misses: u64,
    /// Share of hits, 0 to 1; absent before the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_ratio: Option<f64>,
    /// The cache in memory of the process that answers.
    pub process: ProcessCache,
    /// The entries by model and role, the largest first.
    pub models: Vec<CachedModel>,
}

/// The cache in memory of one process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProcessCache {
    /// Number of entries in memory.
    pub entries: u64,
    /// Number of hits since the process began, in memory or in the file.
    pub hits: u64,
    /// Number of misses since the process began.
    pub misses: u64,
    /// Share of hits, 0 to 1; absent before the first use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_ratio: Option<f64>,
}

/// Cached vectors of one model and role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CachedModel {
    /// The identity of the model and of the arithmetic that made them.
    pub identity: String,
    /// What they are for.
    pub role: CacheRole,
    /// Their number.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Number of hits.
    pub hits: u64,
    /// Number of misses.
    pub misses: u64,
    /// Time of the least recent use among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_use: Option<Timestamp>,
}

/// Which cached vectors are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachePruneRequest {
    /// Those that were last used before this time.
    pub used_before: Option<Timestamp>,
    /// The least recently used, until at most so many bytes are left.
    pub max_bytes: Option<u64>,
    /// Count only.
    pub dry_run: bool,
}

/// Removed cached vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CachePruned {
    /// Number of removed entries; of those that would be removed in a dry run.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Number of entries that are there now.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether nothing was removed, only counted.
    pub dry_run: bool,
}
