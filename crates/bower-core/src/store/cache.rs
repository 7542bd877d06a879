//! The cache of vectors that were asked for: of questions, and of single texts that a service embedded.
//! A key is the hash of model and text, so no entry tells what its text was.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::clock::Stamp;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::CacheRole;

/// A text with the vector that a model made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedText {
    /// What the vector is for.
    pub role: CacheRole,
    /// The text. Only its hash is stored.
    pub text: String,
    /// Its vector.
    pub vector: NewVector,
}

/// Uses of cached vectors since they were last recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheUses {
    /// New entries; each of them was a miss.
    pub added: Vec<CachedText>,
    /// Entries that were used, with the number of uses.
    pub hits: BTreeMap<CacheKey, u64>,
}

/// What an entry of the cache is found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey {
    /// The model's identity.
    pub model: String,
    /// What the vector is for.
    pub role: CacheRole,
    /// SHA-256 of model, role and text.
    pub hash: [u8; 32],
}

impl CacheKey {
    /// Returns the key of a text.
    pub fn of(model: &str, role: CacheRole, text: &str) -> Self {
        Self { model: model.to_owned(), role, hash: cache_key(model, role, text) }
    }
}

/// Returns the hash of a key. It includes the model, so vectors of different models never mix. That of a document also includes
/// its role, because some models make other vectors of questions.
pub(super) fn cache_key(model: &str, role: CacheRole, text: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(model.as_bytes());
    hash.update(match role {
        CacheRole::Question => &b":"[..],
        CacheRole::Document => &b"\0document:"[..],
    });
    hash.update(text.as_bytes());
    hash.finalize().into()
}

/// Entries of one model and role, and how often they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheTotals {
    /// The model's identity.
    pub model: String,
    /// What the vectors are for.
    pub role: CacheRole,
    /// Number of entries.
    pub entries: u64,
    /// Bytes of their keys, vectors and tokens.
    pub bytes: u64,
    /// Number of hits since the store was made.
    pub hits: u64,
    /// Number of misses since the store was made.
    pub misses: u64,
    /// Time of the least recent use among the entries.
    pub oldest: Option<Timestamp>,
}

/// Which entries are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheLimits {
    /// Those that were last used before this time.
    pub used_before: Option<Timestamp>,
    /// The least recently used, until at most so many bytes are left.
    pub max_bytes: Option<u64>,
}

/// Removed entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheRemoved {
    /// Their number.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Stores vectors by the hash of their text. It is not a change of the store: no index has to follow, and no event is recorded.
pub trait VectorCache {
    /// Returns the cached vector of a text, with its tokens.
    fn cached_vector(&self, model: &str, role: CacheRole, text: &str) -> Result<Option<NewVector>>;
    /// Records uses. Beyond `most` entries of a role the least recently used are dropped.
    fn cache_vectors(&self, uses: &CacheUses, most: usize, stamp: Stamp<'_>) -> Result<()>;
    /// Returns the totals of each model and role, the largest first.
    fn cache_totals(&self) -> Result<Vec<CacheTotals>>;
    /// Removes entries, or only counts them in a dry run.
    fn prune_cache(&self, limits: CacheLimits, dry_run: bool) -> Result<CacheRemoved>;
    /// Returns a number that grows whenever entries are removed because somebody wanted it: copies of entries in memory, made
    /// before, are then dropped too.
    fn cache_drops(&self) -> Result<u64>;
}
