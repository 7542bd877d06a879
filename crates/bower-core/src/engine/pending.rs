//! Holds what answers leave to be written later, by [`Engine::maintain`](crate::engine::Engine::maintain).

use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::item::{Change, RowId, Scope};
use crate::store::{Given, NewVector};

/// Writes that no answer waits for, and work that answers found to be due.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Query vectors that were made since the last maintenance, for the cache.
    pub(crate) query_vectors: Mutex<Vec<(String, NewVector)>>,
    /// Rows that answers gave.
    pub(crate) exposed: Mutex<Vec<(RowId, Timestamp)>>,
    /// Rows that were used.
    pub(crate) used: Mutex<Vec<(RowId, Timestamp)>>,
    /// Texts that sessions were given, by the session's whole name.
    pub(crate) given: Mutex<Vec<(String, Vec<Given>)>>,
    /// Whether a memory was kept.
    pub(crate) has_kept: AtomicBool,
    /// Whether an answer missed token codes.
    pub(crate) lacks_codes: AtomicBool,
    /// Whose memories were consolidated by this process, and up to which change.
    pub(crate) consolidated: Mutex<ConsolidatedUpto>,
}

/// Up to which change the memories of a scope and owner were consolidated by this process.
pub(crate) type ConsolidatedUpto = BTreeMap<(Scope, Option<String>), Change>;

/// A write that an answer does not depend on: where the store cannot take it now, it is let go.
pub(crate) fn best_effort(written: Result<()>) -> Result<()> {
    match written {
        Ok(()) | Err(Error::ReadOnly { .. } | Error::Busy { .. } | Error::DiskFull { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
