//! Copies whole stores and reports losses; imports and exports are in its submodules.

pub(crate) mod export;
pub(crate) mod import;
mod tag_index;

use jiff::Timestamp;
use std::path::Path;

use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::item::Visibility;
use crate::request::{Loss, StoreCopy};
use crate::store::Stamp;

impl Engine {
    /// Copies the store into a new file, as it is at one moment, while writers go on. The copy is examined before it gets its
    /// name.
    pub fn backup(&self, visibility: &Visibility, to: &Path) -> Result<StoreCopy> {
        visibility.check_everything("a backup")?;
        self.store.backup(to)
    }

    /// Returns the losses that nobody has accepted: acknowledged changes that are missing.
    pub fn losses(&self) -> Result<Vec<Loss>> {
        self.store.losses()
    }

    /// Accepts all losses: they are no longer reported, and the records of them are removed. Returns their number.
    pub fn accept_losses(&self, now: Timestamp) -> Result<u64> {
        self.store.accept_losses(Stamp { now, actor: ACTOR })
    }
}
