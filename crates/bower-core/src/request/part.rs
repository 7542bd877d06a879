//! Restricts requests and answers to the part of the store that a caller may see.
//! Such an answer contains no count that depends on other callers.

use super::{Effort, Erased, Held, Item, LlmUses, ModelState, Receipt, Selection};
use crate::error::{Error, Result};
use crate::item::Visibility;

impl Item {
    /// Whether a caller may see it.
    pub fn is_visible(&self, visibility: &Visibility) -> bool {
        visibility.holds(&self.collection, self.scope, self.owner.as_deref())
    }
}

impl Selection {
    /// Restricts the selection to what a caller may see. Naming anything else is an error.
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

/// Counts of the part of a store that a caller may see.
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
    /// Number of memories of each visible scope and owner, with its limit. Empty if only some collections are visible,
    /// because a limit applies to all collections together.
    pub scopes: Vec<Held>,
    /// Whether the indexes match the store.
    pub index_healthy: bool,
    /// The local model and its state; without the reason, which names folders of this machine.
    pub model: ModelState,
}

impl Effort {
    /// Hides what a caller of a part may not learn: that somebody asked the same before, and how much was compacted.
    /// The latter depends on how much others write.
    pub(crate) fn of_a_part(self) -> Self {
        Self { vector_cached: false, delta: 0, llm: LlmUses::default(), ..self }
    }
}

impl Receipt {
    /// Hides what a caller of a part may not learn: whether others asked for the forgotten text, and the number of events.
    pub(crate) fn of_a_part(self) -> Self {
        Self { cached: 0, answers: 0, event: 0, ..self }
    }
}

impl Erased {
    /// Keeps only whether forgetting is complete. Details would name files that contain texts of others.
    pub(crate) fn of_a_part(self) -> Self {
        let waits = if self.complete { Vec::new() } else { vec![WAITS.to_owned()] };
        Self { complete: self.complete, waits, ..Self::default() }
    }
}

/// The reason that is given instead of file names.
const WAITS: &str = "some files still hold traces; whoever has time next goes on with it";
