//! Moves whole stores: backup, restore and salvage. Imports and exports are below.

pub(crate) mod export;
pub(crate) mod import;

use jiff::Timestamp;
use std::path::Path;

use crate::config::Settings;
use crate::engine::{ACTOR, Engine};
use crate::error::Result;
use crate::item::Visibility;
use crate::request::{Loss, Salvaged, StoreCopy};
use crate::store::{CompactWhen, SqliteStore, Stamp, salvage};

impl Engine {
    /// Copies the store into a new file, as it is at one moment; writers go on meanwhile. The copy is examined before it gets its
    /// name.
    pub fn backup(&self, visibility: &Visibility, to: &Path) -> Result<StoreCopy> {
        visibility.check_everything("a backup")?;
        self.store.backup(to)
    }

    /// Puts a copy in the place of the store in `home`, once it was found whole; what was there is kept beside it. Who has the
    /// store open sees the copy from then on. The indexes are built anew.
    pub fn restore(home: &Path, from: &Path, settings: Settings, now: Timestamp) -> Result<StoreCopy> {
        let copied = SqliteStore::restore(&SqliteStore::file_in(home), from, &settings, now)?;
        Self::open(home, settings, now)?.compact(CompactWhen::Always)?;
        Ok(copied)
    }

    /// Changes that were acknowledged and are missing, and that nobody has accepted.
    pub fn losses(&self) -> Result<Vec<Loss>> {
        self.store.losses()
    }

    /// Ends the telling of what is missing, and removes what was kept of it; how many losses that were.
    pub fn accept_losses(&self, now: Timestamp) -> Result<u64> {
        self.store.accept_losses(Stamp { now, actor: ACTOR })
    }

    /// Writes what can be read of the store in `home`, whose files may be damaged, into a new store in the folder `into`. Nothing in
    /// `home` is changed.
    pub fn salvage(home: &Path, into: &Path, settings: &Settings, now: Timestamp) -> Result<Salvaged> {
        salvage::salvage(&SqliteStore::file_in(home), into, settings, now)
    }
}
