//! Moves whole stores: backups, and what is told of losses. Imports and exports are below.

pub(crate) mod export;
pub(crate) mod import;

use jiff::Timestamp;
use std::path::Path;

use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::item::Visibility;
use crate::request::{Loss, StoreCopy};
use crate::store::Stamp;

impl Engine {
    /// Copies the store into a new file, as it is at one moment; writers go on meanwhile. The copy is examined before it gets its
    /// name.
    pub fn backup(&self, visibility: &Visibility, to: &Path) -> Result<StoreCopy> {
        visibility.check_everything("a backup")?;
        self.store.backup(to)
    }

    /// Changes that were acknowledged and are missing, and that nobody has accepted.
    pub fn losses(&self) -> Result<Vec<Loss>> {
        self.store.losses()
    }

    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    pub fn accept_losses(&self, now: Timestamp) -> Result<u64> {
        self.store.accept_losses(Stamp { now, actor: ACTOR })
    }
}
