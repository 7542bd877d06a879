//! Restricts requests and answers to the part of the store that a caller may see.
//! Such an answer holds nothing that counts what others do.

use super::{Effort, Erased, Held, Item, ModelState, Receipt, Selection};
use crate::error::{Error, Result};
use crate::item::Visibility;

impl Item {
    /// Whether a caller may see it.
    pub fn is_visible(&self, visibility: &Visibility) -> bool {
        visibility.holds(&self.collection, self.scope, self.owner.as_deref())
    }
}

impl Selection {
    /// The same as far as a caller may see it. What it names outside is an error.
    pub fn within(&self, visibility: &Visibility) -> Result<Self> {
        if visibility.is_everything() {
            return Ok(self.clone());
        }
        let Visibility { scope, owner, collections } =
            visibility.narrowed(self.scope, self.owner.as_deref())?;
        self.collections.iter().try_for_each(|name| visibility.check_collection(name))?;
        let collections = match collections {
            Some(names) if names.is_empty() => {
                return Err(Error::invalid("collections", "whoever asks may see none of them"));
            }
            Some(names) if self.collections.is_empty() => names.into_iter().collect(),
            Some(_) | None => self.collections.clone(),
        };
        Ok(Self { collections, scope, owner, ..self.clone() })
    }
}

/// What of a store somebody may see, counted there.
#[derive(Clone, Debug)]
pub struct VisibleStatus {
    /// Memories that are not archived or superseded.
    pub total_memories: u64,
    /// Chunks.
    pub total_chunks: u64,
    /// Memories by type.
    pub by_type: std::collections::BTreeMap<String, u64>,
    /// Items by collection.
    pub by_collection: std::collections::BTreeMap<String, u64>,
    /// What each visible scope and owner holds, beside its limit; none where only some collections are visible, for a limit is one of
    /// all of them.
    pub scopes: Vec<Held>,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// The local model and whether it is there; not why, for that names folders of this machine.
    pub model: ModelState,
}

impl Effort {
    /// What whoever sees a part of the store is told: not that somebody asked the same before, nor how much of what he may see was
    /// compacted, which hangs on how much others write.
    pub(crate) fn of_a_part(self) -> Self {
        Self { vector_cached: false, delta: 0, ..self }
    }
}

impl Receipt {
    /// What whoever sees a part of the store is told: not whether somebody else asked for what was forgotten, nor how many events
    /// the store has.
    pub(crate) fn of_a_part(self) -> Self {
        Self { cached: 0, event: 0, ..self }
    }
}

impl Erased {
    /// What whoever sees a part of the store is told: whether it is done, and nothing of files that hold what others wrote.
    pub(crate) fn of_a_part(self) -> Self {
        let waits = if self.complete { Vec::new() } else { vec![WAITS.to_owned()] };
        Self { complete: self.complete, waits, ..Self::default() }
    }
}

/// What is said of what stands in the way where its files are not to be named.
const WAITS: &str = "some files still hold traces; whoever has time next goes on with it";
