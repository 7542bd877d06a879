//! Asks the local model what a new text is to the nearest memories.

use std::collections::{HashMap, HashSet};

use crate::embed::{Classifier, Statements};
use crate::engine::Engine;
use crate::engine::curate::neighbours::Neighbour;
use crate::engine::model::embedder_threads;
use crate::error::Result;
use crate::item::RowId;
use crate::memory::analysis::Analysis;
use crate::memory::relation::PairLikelihood;
use crate::vector::in_order;

/// Most memories that are compared with one new text, the nearest first. Each takes the model a millisecond or two.
const MOST_COMPARED: usize = 4;

/// Memories below this cosine have another subject. In `crates/bower-bench/data/memory/statements`, .90 of the English updates
/// are above it, .99 of the repeats and of the denials, and .99 of the updates in other languages.
const LEAST_COSINE: f32 = 0.2;

/// What a new text is to memories, by row. A decision that is repeated reuses it.
#[derive(Debug, Default)]
pub(crate) struct Relations(HashMap<RowId, Option<PairLikelihood>>);

impl Relations {
    /// Asks about the nearest of some memories. Without a model, and where it fails, nothing is known: the text is kept all
    /// the same, and the answer names the failure as it does a missing model.
    ///
    /// It asks about every memory of which the form of the two texts decides, so that the model can object.
    pub(crate) fn ask(&mut self, engine: &Engine, text: &Analysis, near: &[Neighbour]) -> Result<()> {
        let by_form = near.iter().filter(|one| is_decided_by_form(text, &one.text));
        let mut open: Vec<&Neighbour> = most_alike(near).into_iter().chain(by_form).collect();
        let mut seen = HashSet::new();
        open.retain(|one| !self.0.contains_key(&one.item.row) && seen.insert(one.item.row));
        let found = in_order(embedder_threads(&engine.settings), open.len(), |nth| {
            relation(engine, open[nth].text.text(), text.text())
        });
        for (one, relation) in open.into_iter().zip(found) {
            self.0.insert(one.item.row, relation?);
        }
        Ok(())
    }

    /// Returns what the text is to a memory; `None` if nobody asked, or the model cannot tell.
    pub(crate) fn of(&self, row: RowId) -> Option<PairLikelihood> {
        self.0.get(&row).copied().flatten()
    }
}

/// Returns the memories that are worth comparing with a text by the model: the nearest in meaning, nearest first.
pub(crate) fn most_alike(near: &[Neighbour]) -> Vec<&Neighbour> {
    let mut order: Vec<(f32, &Neighbour)> = near
        .iter()
        .filter_map(|one| Some((one.cosine.filter(|cosine| *cosine >= LEAST_COSINE)?, one)))
        .collect();
    order.sort_by(|one, two| two.0.total_cmp(&one.0));
    order.truncate(MOST_COMPARED);
    order.into_iter().map(|(_, one)| one).collect()
}

/// Whether the form of two texts decides what the later is to the earlier, unless the model objects.
fn is_decided_by_form(later: &Analysis, earlier: &Analysis) -> bool {
    earlier.has_other_number(later) || earlier.is_begun_by(later) || later.is_begun_by(earlier)
}

/// Asks what a later text is to an earlier one; `None` if no model can tell.
pub(crate) fn relation(engine: &Engine, earlier: &str, later: &str) -> Result<Option<PairLikelihood>> {
    let pair = Statements::Pair { earlier, later };
    let classifiers = [Classifier::Relation, Classifier::Number];
    let found = engine.model.classify(&pair, &classifiers)?;
    Ok(found.and_then(|found| PairLikelihood::new(found.first()?, *found.get(1)?.get(1)?)))
}
