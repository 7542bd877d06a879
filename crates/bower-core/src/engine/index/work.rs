//! Splits a document's chunks into units of work, so that a long document keeps every core busy, and joins them again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::store::{DeltaData, NewChunk, NewDocument, NewVector};

/// Most chunks of a unit: texts of one document stay together, long documents are divided.
const UNIT_CHUNKS: usize = 16;

/// Some new chunks of one document. A document without new chunks is one empty unit.
pub(crate) struct WorkUnit {
    /// Number in this run: units are numbered in the order in which they are cut.
    number: u64,
    document: Arc<NewDocument>,
    chunks: Range<usize>,
}

/// A unit with the terms and vectors of its chunks.
pub(crate) struct Embedded {
    unit: WorkUnit,
    made: Vec<(DeltaData, Option<NewVector>)>,
}

/// Cuts a document into units, numbered from `number` on; `number` becomes the number after the last.
pub(crate) fn units(document: NewDocument, number: &mut u64) -> impl Iterator<Item = WorkUnit> + use<> {
    let total = document.added.len();
    let document = Arc::new(document);
    let count = total.div_ceil(UNIT_CHUNKS).max(1);
    let first = std::mem::replace(number, *number + count as u64);
    (0..count).map(move |at| WorkUnit {
        number: first + at as u64,
        document: Arc::clone(&document),
        chunks: at * UNIT_CHUNKS..total.min((at + 1) * UNIT_CHUNKS),
    })
}

impl WorkUnit {
    /// Computes the terms, the mentions and the vector of each chunk.
    pub(crate) fn embed(
        self,
        mut make: impl FnMut(&NewDocument, &NewChunk) -> Result<(DeltaData, Option<NewVector>)>,
    ) -> Result<Embedded> {
        let document = &self.document;
        let made = document.added[self.chunks.clone()]
            .iter()
            .map(|chunk| make(document, chunk))
            .collect::<Result<_>>()?;
        Ok(Embedded { unit: self, made })
    }
}

/// Puts units back into the order in which they were cut, and joins them into documents.
#[derive(Default)]
pub(crate) struct Assembly {
    /// Number of the unit that everything else waits for.
    next: u64,
    early: BTreeMap<u64, Embedded>,
    /// Units of the document that is not complete yet.
    parts: Vec<Embedded>,
}

impl Assembly {
    /// Takes an embedded unit, in any order. Returns the documents that are complete now, in the order in which they were
    /// read. Calls `released` for each unit that no longer waits for an earlier one.
    pub(crate) fn take(&mut self, embedded: Embedded, mut released: impl FnMut()) -> Vec<NewDocument> {
        let mut whole = Vec::new();
        self.early.insert(embedded.unit.number, embedded);
        while let Some(embedded) = self.early.remove(&self.next) {
            released();
            self.next += 1;
            let is_last = embedded.unit.chunks.end == embedded.unit.document.added.len();
            self.parts.push(embedded);
            if is_last {
                whole.extend(join(self.parts.drain(..)));
            }
        }
        whole
    }
}

/// Joins all units of a document.
fn join(parts: impl Iterator<Item = Embedded>) -> Option<NewDocument> {
    let mut made = Vec::new();
    let mut document = None;
    for Embedded { unit, made: part } in parts {
        made.extend(part);
        document = Some(unit.document);
    }
    let mut document = document.map(Arc::unwrap_or_clone)?;
    for (chunk, (delta, vector)) in document.added.iter_mut().zip(made) {
        chunk.delta = delta;
        chunk.vector = vector;
    }
    Some(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Provenance, Scope};

    fn chunk(id: String) -> NewChunk {
        NewChunk {
            id,
            key: String::new(),
            content: String::new(),
            section: None,
            position: 0,
            lines: (1, 1),
            tags: Vec::new(),
            delta: DeltaData::default(),
            vector: None,
        }
    }

    fn document(number: usize, chunks: usize) -> NewDocument {
        NewDocument {
            id: number.to_string(),
            collection: String::new(),
            path: String::new(),
            file_name: String::new(),
            title: None,
            version: String::new(),
            hash: String::new(),
            recipe: String::new(),
            bytes: 0,
            metadata: serde_json::Map::new(),
            scope: Scope::Project,
            owner: None,
            session: None,
            provenance: Provenance::FILE,
            host: None,
            kept: Vec::new(),
            added: (0..chunks).map(|at| chunk(format!("{number}.{at}"))).collect(),
            removed: Vec::new(),
        }
    }

    /// Embeds a unit: the terms of a chunk are its id.
    fn embed(unit: WorkUnit) -> Embedded {
        let made = unit.document.added[unit.chunks.clone()].iter();
        let terms = |chunk: &NewChunk| DeltaData { terms: chunk.id.clone().into_bytes(), mentions: None };
        let made = made.map(|chunk| (terms(chunk), None)).collect();
        Embedded { unit, made }
    }

    #[test]
    fn documents_come_out_as_they_were_read_in_whatever_order_their_units_come_back() {
        let lengths = [40, 0, 16, 1, 17, 3, 0, 64, 2];
        let mut seed = 7_u64;
        let mut chance = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..200 {
            let mut number = 0;
            let each = lengths.iter().enumerate();
            let mut waiting: Vec<WorkUnit> =
                each.flat_map(|(at, &chunks)| units(document(at, chunks), &mut number)).collect();
            // By hand: 3 + 1 + 1 + 1 + 2 + 1 + 1 + 4 + 1 units of at most 16 chunks.
            assert_eq!((waiting.len(), number), (15, 15));
            let (mut assembly, mut whole, mut released) = (Assembly::default(), Vec::new(), 0);
            while !waiting.is_empty() {
                let unit = waiting.swap_remove(chance(waiting.len()));
                whole.extend(assembly.take(embed(unit), || released += 1));
            }
            assert_eq!(released, 15);
            let ids: Vec<&str> = whole.iter().map(|document| document.id.as_str()).collect();
            assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
            for (document, chunks) in whole.iter().zip(lengths) {
                assert_eq!(document.added.len(), chunks);
                assert!(document.added.iter().all(|chunk| chunk.delta.terms == chunk.id.as_bytes()));
            }
        }
    }

    #[test]
    fn a_unit_is_released_when_no_earlier_one_is_out() {
        let mut number = 0;
        let mut cut: Vec<WorkUnit> = (0..3).flat_map(|at| units(document(at, 1), &mut number)).collect();
        let (mut assembly, mut released) = (Assembly::default(), 0);
        assert!(assembly.take(embed(cut.remove(2)), || released += 1).is_empty());
        assert!(assembly.take(embed(cut.remove(1)), || released += 1).is_empty());
        assert_eq!(released, 0);
        assert_eq!(assembly.take(embed(cut.remove(0)), || released += 1).len(), 3);
        assert_eq!(released, 3);
    }
}
