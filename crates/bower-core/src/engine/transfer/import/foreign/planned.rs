//! Holds what a dry run would have written, so that later memories are compared with it as with the store.

use jiff::Timestamp;
use std::collections::HashSet;

use crate::engine::curate::neighbours::{EACH, Neighbour};
use crate::item::{Kind, RowId};
use crate::memory::analysis::Analysis;
use crate::request::Item;
use crate::store::{NewMemory, NewVector, WriteAction};
use crate::vector::{ExactQuery, floats};

/// Most planned memories that a text is compared with by meaning: the newest ones. 20,000 vectors are 15 MB, and one comparison
/// with all takes some milliseconds. Every equal text is found.
const MOST_COMPARED: usize = 20_000;

/// A memory that would have been written.
struct PlannedMemory {
    item: Item,
    text: Analysis,
    vector: Option<NewVector>,
}

/// What a dry run would have written.
#[derive(Default)]
pub(super) struct Planned {
    memories: Vec<PlannedMemory>,
    /// Ids of all of them.
    ids: HashSet<String>,
    /// Rows that would have been replaced, of the store and of the plan.
    replaced: HashSet<RowId>,
    /// Number of rows that the plan has used.
    rows: u32,
}

impl Planned {
    /// Whether a memory with an id would have been written.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether a row would have been replaced.
    pub(super) fn is_replaced(&self, row: RowId) -> bool {
        self.replaced.contains(&row)
    }

    /// Plans an archived memory, which nothing is compared with.
    pub(super) fn archive(&mut self, id: String) {
        self.ids.insert(id);
    }

    /// Plans a memory.
    pub(super) fn write(&mut self, memory: &NewMemory, text: Analysis, action: WriteAction, now: Timestamp) {
        match action {
            // One that yields is superseded at once.
            WriteAction::Yields(_) => return,
            // The text is found by the memory that it repeats.
            WriteAction::Confirms(_) | WriteAction::Rewords(_) => {
                self.ids.insert(memory.id.clone());
                return;
            }
            WriteAction::Replaces(row) => {
                self.replaced.insert(row);
                if let Some(at) = self.memories.iter().position(|planned| planned.item.row == row) {
                    self.ids.remove(&self.memories.remove(at).item.id);
                }
            }
            WriteAction::Alone | WriteAction::Relates(..) | WriteAction::Disputes(_) => {}
        }
        self.ids.insert(memory.id.clone());
        // Rows are given from the end, where no store has any.
        let row = RowId(u32::MAX - self.rows);
        self.rows += 1;
        if self.memories.len() >= MOST_COMPARED {
            self.memories.remove(0);
        }
        let item = item(memory, row, now);
        self.memories.push(PlannedMemory { item, text, vector: memory.vector.clone() });
    }

    /// Returns the planned memories nearest to a text: by meaning, or without vectors by common words.
    pub(super) fn near(&self, text: &Analysis, vector: Option<&NewVector>) -> Vec<Neighbour> {
        let told = vector.map(|vector| floats(&vector.half));
        let exact = told.as_deref().map(ExactQuery::new);
        let cosine = |planned: &PlannedMemory| {
            let (exact, there) = (exact.as_ref()?, planned.vector.as_ref()?);
            (vector?.model == there.model).then(|| exact.cosine_f16(&there.half))
        };
        let mut near: Vec<(f32, Option<f32>, &PlannedMemory)> = self
            .memories
            .iter()
            .map(|planned| {
                let cosine = cosine(planned);
                let is_same = planned.text.plain() == text.plain();
                // The same text comes first, however many others are as near.
                let likeness =
                    if is_same { f32::MAX } else { cosine.unwrap_or_else(|| planned.text.jaccard(text)) };
                (likeness, cosine, planned)
            })
            .collect();
        near.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.2.item.row.cmp(&two.2.item.row)));
        near.truncate(EACH);
        near.into_iter()
            .map(|(_, cosine, one)| Neighbour::new(one.item.clone(), one.text.clone(), cosine))
            .collect()
    }
}

/// Returns the item that a memory would have become.
fn item(memory: &NewMemory, row: RowId, now: Timestamp) -> Item {
    Item {
        row,
        id: memory.id.clone(),
        kind: Kind::Memory,
        memory_type: Some(memory.memory_type),
        content: memory.content.clone(),
        summary: memory.summary.clone(),
        importance: memory.importance,
        access_count: 0,
        create_time: memory.create_time.unwrap_or(now),
        access_time: now,
        decay_rate: memory.decay_rate,
        source_conv_id: memory.source_conv_id.clone(),
        supersedes_id: None,
        superseded_by_id: None,
        valid_from: memory.valid_from,
        valid_to: memory.valid_to,
        confidence: memory.confidence,
        tags: memory.tags.clone(),
        keywords: memory.keywords.clone(),
        metadata: memory.metadata.clone(),
        collection: memory.collection.clone(),
        scope: memory.scope,
        owner: memory.owner.clone(),
        status: memory.status,
        tier: memory.tier,
        damaged: false,
        provenance: memory.provenance,
        source: memory.source.clone(),
        host: memory.host.clone(),
    }
}
