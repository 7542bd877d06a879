//! Fixtures and tests of the graph index: seeded mentions, by which the shared tests of segment indexes check it.
//! For tests only.

use std::sync::LazyLock;

use super::GraphIndex;
use super::entity::{EntityKey, Role, StoredMention};
use super::segment::MentionRows;
#[cfg(test)]
use crate::generation::testing::IndexFolder;
use crate::generation::testing::{Sample, small_files, test_format};
use crate::item::RowId;

/// Returns the mentions of a row: 0 to 8 entities of 64, ascending.
fn stored(row: u32, seed: u64) -> Vec<u64> {
    let mut state = u64::from(row) << 32 | seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ (state >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
    };
    let mut keys: Vec<u64> = (0..if row % 7 == 3 { 0 } else { next() % 9 }).map(|_| next() % 64).collect();
    // An entity of this row and seed alone, so that no other row equals it.
    keys.push(100 + (u64::from(row) << 8) + seed);
    keys.sort_unstable();
    keys.dedup();
    let mention =
        |key: u64| StoredMention::new(EntityKey::of(&key.to_string()), Role::Name, 1 + key as u32 % 40).0;
    let mut stored: Vec<u64> = keys.into_iter().map(mention).collect();
    stored.sort_unstable();
    stored
}

/// Opens and uses an index whose files are damaged by `data`.
pub fn damaged(data: &[u8]) {
    static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(small_files::<MentionRows>);
    crate::generation::testing::damaged::<MentionRows>(&FILES, data);
}

test_format!(MentionRows);

impl Sample for MentionRows {
    const DIMENSION: usize = 1;

    fn row(row: u32, seed: u64) -> Vec<u8> {
        let mentions = stored(row, seed).into_iter().flat_map(u64::to_le_bytes);
        (row / 3).to_le_bytes().into_iter().chain(mentions).collect()
    }

    fn misfit() -> Vec<u8> {
        vec![0; 9]
    }

    fn has(index: &GraphIndex, row: u32, seed: u64) -> Option<bool> {
        for segment in &index.segments {
            let view = segment.view();
            let Ok(at) = view.find(RowId(row), 0) else { continue };
            if view.is_dead(at) {
                continue;
            }
            let Ok(bytes) = segment.row(at) else { return Some(false) };
            let found: Vec<u64> = super::segment::read(bytes).map(|mention| mention.0).collect();
            // Each of its entities leads back to it, and is where the row says that it is.
            let Ok(starts) = segment.starts(at) else { return Some(false) };
            let leads_back = starts.len() == found.len()
                && found.iter().zip(starts).all(|(mention, start)| {
                    let mention = StoredMention(*mention);
                    let range = segment.range(mention.key());
                    range.start == *start as usize
                        && range == segment.range_from(mention.key(), *start)
                        && segment.mentions(range).any(|(other, position)| (other, position) == (mention, at))
                });
            return Some(found == stored(row, seed) && leads_back && segment.document(at) == row / 3);
        }
        None
    }

    fn ask(index: &GraphIndex) {
        for segment in &index.segments {
            for key in 0..64 {
                let range = segment.range(EntityKey::of(&key.to_string()));
                let documents = segment.mentions(range).map(|(_, at)| segment.document(at));
                let _ = documents.max();
            }
            for at in 0..segment.rows() {
                let (Ok(bytes), Ok(starts)) = (segment.row(at), segment.starts(at)) else { continue };
                for (mention, start) in super::segment::read(bytes).zip(starts) {
                    assert!(segment.range_from(mention.key(), *start).end <= segment.entities().len());
                }
            }
        }
    }
}

/// Written by `tools/golden_graph.py`, an implementation from the format's description alone. Never written again.
#[cfg(test)]
const GOLDEN: [(&str, &[u8]); 3] = [
    ("manifest", include_bytes!("../../tests/golden/graph-3/manifest")),
    ("0000000000000005.segment", include_bytes!("../../tests/golden/graph-3/0000000000000005.segment")),
    ("0000000000000006.dead", include_bytes!("../../tests/golden/graph-3/0000000000000006.dead")),
];

#[test]
fn format_3_is_read_for_ever() {
    let folder = IndexFolder::<MentionRows>::golden(MentionRows::DIMENSION, &GOLDEN);
    let index = folder.open().unwrap();
    index.verify().unwrap();
    assert_eq!((index.model(), index.len(), index.coverage().change.0), ("golden.g1", 3, 42));
    let segment = &index.segments[0];
    // Roles and counts as the tool has them; the rows are at the positions 0 (row 3), 1 (row 9, dead), 2 (70,000) and 3 (70,001).
    let [a, b, c] = [0x1100, 0x2200, 0xFFFF_FFFF_FFFF_FF00].map(|key| StoredMention(key).key());
    let of = |key| {
        let mentions = segment.mentions(segment.range(key));
        mentions.map(|(one, at)| (one.role(), one.count(), at)).collect::<Vec<_>>()
    };
    assert_eq!(of(a), [(Role::Link, 3, 3), (Role::Name, 2, 0), (Role::Start, 1, 1)]);
    assert_eq!(of(b), [(Role::Title, 1, 0)]);
    assert_eq!(of(c), [(Role::Title, 31, 1), (Role::Tag, 1, 3)]);
    assert_eq!([0, 1, 2, 3].map(|at| segment.document(at)), [7, 7, 0, 9]);
    assert_eq!(
        [0, 1, 2, 3].map(|at| segment.starts(at).unwrap().to_vec()),
        [vec![0, 3], vec![0, 4], vec![], vec![0, 4]]
    );
    // A wrong start is noticed.
    assert_eq!(
        (segment.range_from(c, 3), segment.range_from(a, 1), segment.range_from(b, 99)),
        (4..6, 0..3, 3..4)
    );
}
