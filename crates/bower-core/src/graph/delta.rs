//! The mentions of rows that the graph index lacks, by row and by entity.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entity::{EntityKey, StoredMention};
use super::segment::{read, split};
use crate::item::RowId;

/// All mentions of some rows as in a segment: by entity, the strongest first, then by row.
#[derive(Clone, Debug, Default)]
pub struct EntityOrder(Vec<(u64, RowId)>);

impl EntityOrder {
    /// Orders the mentions of rows by entity; some 100 nanoseconds a mention.
    pub fn of(rows: &BTreeMap<RowId, Arc<[u8]>>) -> Self {
        let each = |(row, bytes): (&RowId, &Arc<[u8]>)| {
            let row = *row;
            let mentions = split(bytes).map_or(&[][..], |(_, mentions)| mentions);
            read(mentions).map(move |one| (one.order(), row)).collect::<Vec<_>>()
        };
        let mut by_entity: Vec<(u64, RowId)> = rows.iter().flat_map(each).collect();
        by_entity.sort_unstable();
        Self(by_entity)
    }
}

/// Mentions of new rows.
#[derive(Clone, Copy, Debug)]
pub struct MentionDelta<'a> {
    /// The encoded mentions of each row.
    pub rows: &'a BTreeMap<RowId, Arc<[u8]>>,
    /// The same mentions by entity.
    pub by_entity: &'a EntityOrder,
}

impl MentionDelta<'_> {
    /// Returns the mentions of a row; `None` if it is not among the rows.
    pub fn of_row(&self, row: RowId) -> Option<impl Iterator<Item = StoredMention> + '_> {
        self.rows.get(&row).and_then(|bytes| split(bytes)).map(|(_, mentions)| read(mentions))
    }

    /// Returns the number of a row's document, 0 for none.
    pub fn document(&self, row: RowId) -> u32 {
        self.rows.get(&row).and_then(|bytes| split(bytes)).map_or(0, |(document, _)| document)
    }

    /// Returns the mentions of an entity, strongest first.
    pub fn of_entity(&self, key: EntityKey) -> impl Iterator<Item = (StoredMention, RowId)> + '_ {
        let by_entity = &self.by_entity.0;
        let start = by_entity.partition_point(|(order, _)| *order < StoredMention::first_order(key));
        let last = StoredMention::last_order(key);
        by_entity[start..]
            .iter()
            .take_while(move |(order, _)| *order <= last)
            .map(|(order, row)| (StoredMention::from_order(*order), *row))
    }
}
