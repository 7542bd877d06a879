//! A document's chunks as units of work, so that one long document keeps every core busy, and their reunion.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::sources::Draft;
use crate::error::Result;
use crate::item::indexed_text;
use crate::store::{NewDocument, NewVector};

/// Chunks of one document in a unit: texts of one document stay together, long documents are shared out.
const UNIT_CHUNKS: usize = 16;

/// Some new chunks of one document. A document without new chunks is one empty unit.
pub(super) struct Unit {
    draft: Arc<Draft>,
    chunks: Range<usize>,
}

/// A unit with what the channels need.
pub(super) struct Embedded {
    unit: Unit,
    made: Vec<(Vec<u8>, Option<NewVector>)>,
}

/// Cuts a document into units.
pub(super) fn units(draft: Draft) -> impl Iterator<Item = Unit> {
    let draft = Arc::new(draft);
    let total = draft.document.added.len();
    (0..total.div_ceil(UNIT_CHUNKS).max(1)).map(move |at| Unit {
        draft: Arc::clone(&draft),
        chunks: at * UNIT_CHUNKS..total.min((at + 1) * UNIT_CHUNKS),
    })
}

impl Unit {
    /// Makes terms and vector of each chunk.
    pub(super) fn embed(
        self,
        mut make: impl FnMut(&str) -> Result<(Vec<u8>, Option<NewVector>)>,
    ) -> Result<Embedded> {
        let document = &self.draft.document;
        let made = document.added[self.chunks.clone()]
            .iter()
            .map(|chunk| {
                make(&indexed_text(document.title.as_deref(), chunk.section.as_deref(), &chunk.content))
            })
            .collect::<Result<_>>()?;
        Ok(Embedded { unit: self, made })
    }
}

/// Documents of which some units have come back.
#[derive(Default)]
pub(super) struct Assembly {
    open: HashMap<u64, (usize, Vec<Embedded>)>,
}

impl Assembly {
    /// Takes a unit back; gives the document when it was the last.
    pub(super) fn take(&mut self, embedded: Embedded) -> Option<NewDocument> {
        let number = embedded.unit.draft.number;
        let total = embedded.unit.draft.document.added.len().div_ceil(UNIT_CHUNKS).max(1);
        let (back, parts) = self.open.entry(number).or_default();
        *back += 1;
        parts.push(embedded);
        if *back < total {
            return None;
        }
        let (_, parts) = self.open.remove(&number)?;
        let mut made = Vec::new();
        let mut draft = None;
        for Embedded { unit, made: part } in parts {
            made.push((unit.chunks, part));
            draft = Some(unit.draft);
        }
        let mut document = draft.map(|draft| Arc::unwrap_or_clone(draft).document)?;
        for (chunks, part) in made {
            for (chunk, (terms, vector)) in document.added[chunks].iter_mut().zip(part) {
                chunk.terms = terms;
                chunk.vector = vector;
            }
        }
        Some(document)
    }
}
