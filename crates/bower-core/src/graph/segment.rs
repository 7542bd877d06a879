//! The segment layout of mentions: those of each row, and all of them again ordered by entity.
//!
//! ```text
//! mentions   count x u64        Entity key, role and occurrences. They ascend within a row.
//! places     rows x 2 u32       End of the row's mentions, and the number of its document (0: none).
//! ids        rows x u32         Row ids, ascending.
//! entities   count x u64        All mentions by entity, the strongest first, then by row.
//! positions  count x u32        Position of the row of each of these.
//! footer     64 bytes           Magic, format, rows, count.
//! ```

use std::ops::Range;

use super::entity::{EntityKey, StoredMention};
use crate::error::{Error, Result};
use crate::generation::{self, Generation, SectionOffsets, SegmentFormat, SegmentWriter};
use crate::item::RowId;

/// The version of the format and of the extraction: mentions of different versions are not mixed.
const FORMAT: u32 = 3;

/// Number of mentions that are looked at one by one for the end of an entity.
const NEAR: usize = 8;

/// Bytes of a stored mention.
const MENTION: usize = size_of::<u64>();

/// Mentions of entities. A row is its mentions, and the end of these among those of all rows.
#[derive(Debug)]
pub struct MentionRows;

/// The opened generation of a folder `index/<store-id>/graph/`.
pub type GraphIndex = Generation<MentionRows>;

impl SegmentFormat for MentionRows {
    const FORMAT: u32 = FORMAT;
    const MAGIC: [u8; 8] = *b"BOWERGRA";
    const INDEX: &'static str = "graph index";
    const ROWS: &'static str = "mentions";
    const ROW: &'static str = "mentions";

    type Fresh = Vec<u8>;
    type Number = [u32; 2];

    fn of(dimension: usize) -> Result<Self, String> {
        if dimension == 1 { Ok(Self) } else { Err(format!("dimension {dimension} instead of 1")) }
    }

    fn dimension(&self) -> usize {
        1
    }

    fn layout(&self, rows: u32, count: u32) -> SectionOffsets {
        let more = entities_len(count as usize) + count as usize * size_of::<u32>();
        SectionOffsets::new::<Self>(rows, count as usize * MENTION, more, [rows, count]).sparse()
    }

    fn size(places: &[[u32; 2]]) -> u32 {
        places.last().map_or(0, |[end, _]| *end)
    }

    fn span(places: &[[u32; 2]], _bytes: usize, rows: Range<usize>) -> Range<usize> {
        let end = |rows: usize| rows.checked_sub(1).map_or(0, |last| places[last][0] as usize * MENTION);
        end(rows.start)..end(rows.end)
    }

    fn write(&self, row: RowId, encoded: &Vec<u8>, draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        match split(encoded) {
            Some((document, mentions)) => self.copy(row, [0, document], mentions, draft),
            None => Err(Self::refused(row, "must be four bytes, then eight each")),
        }
    }

    /// Copies a row. Fails if the segment would have more than four billion mentions.
    fn copy(
        &self,
        row: RowId,
        [_, document]: [u32; 2],
        mentions: &[u8],
        draft: &mut SegmentWriter<'_, Self>,
    ) -> Result<()> {
        let count = u32::try_from(mentions.len() / MENTION).ok();
        let end = count.and_then(|count| Self::size(&draft.numbers).checked_add(count));
        let end = end.ok_or_else(|| {
            Error::index("write more than four billion mentions to", draft.file.path(), "the segment is full")
        })?;
        draft.push(row, [end, document], mentions)
    }

    /// Writes the mentions by entity.
    fn finish(&self, draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        let count = Self::size(&draft.numbers) as usize;
        let map = draft.file.map()?;
        let mut by_entity: Vec<(u64, u32)> = Vec::with_capacity(count);
        let mut start = 0;
        for (position, [end, _]) in (0_u32..).zip(&draft.numbers) {
            let end = *end as usize * MENTION;
            by_entity.extend(read(&map.bytes()[start..end]).map(|one| (one.order(), position)));
            start = end;
        }
        by_entity.sort_unstable();
        for (order, _) in &by_entity {
            draft.file.put(&order.to_le_bytes())?;
        }
        draft.file.pad()?;
        for (_, position) in &by_entity {
            draft.file.put(&position.to_le_bytes())?;
        }
        Ok(())
    }

    fn check(places: &[[u32; 2]], count: u32) -> Result<(), &'static str> {
        let is_whole = places.is_sorted_by_key(|[end, _]| *end) && Self::size(places) == count;
        if is_whole { Ok(()) } else { Err("the rows do not divide the mentions") }
    }
}

/// Returns the length of the section of entities in bytes.
fn entities_len(count: usize) -> usize {
    (count * MENTION).next_multiple_of(64)
}

/// Returns the number of the document and the mentions of an encoded row; `None` if it is damaged.
pub fn split(encoded: &[u8]) -> Option<(u32, &[u8])> {
    let (document, mentions) = encoded.split_first_chunk::<4>()?;
    mentions.len().is_multiple_of(MENTION).then(|| (u32::from_le_bytes(*document), mentions))
}

/// Reads the mentions of a row; a rest of less than eight bytes is left out.
pub fn read(bytes: &[u8]) -> impl Iterator<Item = StoredMention> + '_ {
    bytes.as_chunks::<MENTION>().0.iter().map(|bytes| StoredMention(u64::from_le_bytes(*bytes)))
}

impl GraphIndex {
    /// Whether a removed row that is still in a file mentions one of some entities.
    pub fn has_removed(&self, entities: &[EntityKey]) -> bool {
        self.segments.iter().any(|segment| {
            let view = segment.view();
            entities.iter().any(|key| segment.mentions(segment.range(*key)).any(|(_, at)| view.is_dead(at)))
        })
    }
}

/// An opened segment of mentions.
pub type MentionSegment = generation::Segment<MentionRows>;

impl MentionSegment {
    /// Returns the number of the document of the row at a position, 0 for none.
    pub fn document(&self, position: usize) -> u32 {
        self.numbers()[position][1]
    }

    /// Returns the range of an entity's mentions. Verifies what the binary search reads.
    pub fn range(&self, key: EntityKey) -> Range<usize> {
        let entities = self.entities();
        let first = StoredMention::first_order(key);
        let last = StoredMention::last_order(key);
        let start = self.partition_point(0, entities, first);
        // Most entities have few mentions.
        let near = (start..entities.len().min(start + NEAR)).find(|at| entities[*at] > last);
        let end = match near {
            Some(end) => end,
            None => {
                last.checked_add(1).map_or(entities.len(), |next| self.partition_point(start, entities, next))
            }
        };
        start..end
    }

    /// Returns the mentions in a range of an entity, strongest first, each with the position of its row.
    pub fn mentions(&self, range: Range<usize>) -> impl Iterator<Item = (StoredMention, usize)> + '_ {
        let orders = &self.entities()[range.clone()];
        self.check_more(bytemuck::cast_slice(orders));
        let count = self.bytes_len() / MENTION;
        let positions = &self.more()[entities_len(count)..][..count * size_of::<u32>()];
        let positions: &[u32] = &bytemuck::cast_slice(positions)[range];
        self.check_more(bytemuck::cast_slice(positions));
        let rows = self.rows();
        orders
            .iter()
            .zip(positions)
            .map(|(order, position)| (StoredMention::from_order(*order), *position as usize))
            .filter(move |(_, position)| *position < rows)
    }

    /// Returns all mentions by entity; parts must be verified before their use.
    fn entities(&self) -> &[u64] {
        let count = self.bytes_len() / MENTION;
        bytemuck::cast_slice(&self.more()[..count * MENTION])
    }

    /// Returns the first position at or after `from` whose order is at least `order`.
    ///
    /// Keys are hashes, so every second step guesses the position from the order. That takes about a third of the steps of a binary
    /// search, and the steps between bound it where many mentions of one entity make guesses wrong.
    fn partition_point(&self, from: usize, entities: &[u64], order: u64) -> usize {
        let (mut low, mut high) = (from, entities.len());
        // Orders just outside of what is left.
        let (mut least, mut most) = (0, u64::MAX);
        let mut is_guess = true;
        while low < high {
            let middle = if is_guess {
                let share = (order.saturating_sub(least)) as f64 / ((most - least).max(1)) as f64;
                (low + (share * (high - low) as f64) as usize).min(high - 1)
            } else {
                low + (high - low) / 2
            };
            is_guess = !is_guess;
            self.check_more(bytemuck::cast_slice(&entities[middle..=middle]));
            if entities[middle] < order {
                (low, least) = (middle + 1, entities[middle]);
            } else {
                (high, most) = (middle, entities[middle].max(least));
            }
        }
        low
    }
}
