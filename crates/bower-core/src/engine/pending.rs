//! Holds writes that answers leave to [`Engine::maintain`](crate::engine::Engine::maintain).

use jiff::Timestamp;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::item::{Change, RowId, Scope};
use crate::store::{CacheUses, Given};

/// Writes that no answer waits for, and work that answers found due.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Uses of cached vectors since the last maintenance, and new ones.
    pub(crate) cache_uses: Mutex<CacheUses>,
    /// Rows that answers returned, with the time.
    pub(crate) exposed: Mutex<Vec<(RowId, Timestamp)>>,
    /// Rows that were used, with the time.
    pub(crate) used: Mutex<Vec<(RowId, Timestamp)>>,
    /// Texts that sessions were given, by the session's full name.
    pub(crate) given: Mutex<Vec<(String, Vec<Given>)>>,
    /// Whether a memory was kept.
    pub(crate) has_kept: AtomicBool,
    /// Whether an answer lacked token codes.
    pub(crate) lacks_codes: AtomicBool,
    /// Scopes and owners whose memories this process consolidated.
    pub(crate) consolidated: Mutex<ConsolidatedUpto>,
    /// Pairs of a newer and an older memory that the language model may not or could not settle.
    pub(crate) left_open: Mutex<HashSet<(RowId, RowId)>>,
}

/// Last change up to which this process consolidated the memories of each scope and owner.
pub(crate) type ConsolidatedUpto = BTreeMap<(Scope, Option<String>), Change>;

/// Ignores the failure of a write that no answer depends on, if the store cannot take it now.
pub(crate) fn best_effort(written: Result<()>) -> Result<()> {
    match written {
        Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. } | Error::DiskFull { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
