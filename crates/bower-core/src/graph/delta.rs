//! The mentions of rows that the graph index lacks, by row and by entity.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::entity::{EntityKey, Role, StoredMention};
use super::segment::{read, split};
use crate::item::RowId;

/// Mentions of new rows.
#[derive(Clone, Debug)]
pub struct MentionDelta<'a> {
    rows: &'a BTreeMap<RowId, Arc<[u8]>>,
    /// All mentions as in a segment: by entity, the strongest first, then by row. A look-up of a title does without.
    by_entity: OnceLock<Vec<(u64, RowId)>>,
}

impl<'a> MentionDelta<'a> {
    /// Returns the mentions of rows.
    pub fn new(rows: &'a BTreeMap<RowId, Arc<[u8]>>) -> Self {
        Self { rows, by_entity: OnceLock::new() }
    }

    /// Returns all mentions ordered by entity.
    fn by_entity(&self) -> &[(u64, RowId)] {
        self.by_entity.get_or_init(|| {
            let each = |(row, bytes): (&RowId, &Arc<[u8]>)| {
                let row = *row;
                let mentions = split(bytes).map_or(&[][..], |(_, mentions)| mentions);
                read(mentions).map(move |one| (one.order(), row)).collect::<Vec<_>>()
            };
            let mut by_entity: Vec<(u64, RowId)> = self.rows.iter().flat_map(each).collect();
            by_entity.sort_unstable();
            by_entity
        })
    }

    /// Returns the rows whose document has an entity as its title, each with the number of the document. It reads every row once,
    /// which takes less time than ordering them for one entity.
    pub fn titled(&self, key: EntityKey) -> impl Iterator<Item = (RowId, u32)> + '_ {
        self.rows.iter().filter_map(move |(row, bytes)| {
            let (document, mentions) = split(bytes)?;
            let is_titled = read(mentions).any(|one| one.key() == key && one.role() == Role::Title);
            is_titled.then_some((*row, document))
        })
    }

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
        let by_entity = self.by_entity();
        let start = by_entity.partition_point(|(order, _)| *order < StoredMention::first_order(key));
        let last = StoredMention::last_order(key);
        by_entity[start..]
            .iter()
            .take_while(move |(order, _)| *order <= last)
            .map(|(order, row)| (StoredMention::from_order(*order), *row))
    }
}
