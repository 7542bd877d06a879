//! Compares the stored chunks of a document with its present ones, and returns the kept, new and removed ones.
//! It is pure: the result depends on the sets, never on the order of the rows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Chunk;

/// The changes to a document's rows. Numbers are indexes of the new chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff<R> {
    /// Rows that stay, each with its new index, ascending by index. Their position and lines may change.
    pub kept: Vec<(R, usize)>,
    /// Indexes of chunks without a row, ascending.
    pub added: Vec<usize>,
    /// Rows that no chunk needs any more, ascending.
    pub removed: Vec<R>,
}

/// Compares the stored chunks of a document (key and row) with its present chunks.
///
/// Of a key that is stored twice (which this program never does) the smallest row is kept.
pub fn diff<K: AsRef<str>, R: Copy + Ord>(old: &[(K, R)], new: &[Chunk]) -> Diff<R> {
    let mut removed = Vec::new();
    let mut rows: HashMap<&str, R> = HashMap::with_capacity(old.len());
    for (key, row) in old {
        match rows.entry(key.as_ref()) {
            Entry::Vacant(free) => {
                free.insert(*row);
            }
            Entry::Occupied(mut taken) => {
                removed.push(*taken.get().max(row));
                let smaller = *taken.get().min(row);
                taken.insert(smaller);
            }
        }
    }
    let (mut kept, mut added) = (Vec::new(), Vec::new());
    for (at, chunk) in new.iter().enumerate() {
        match rows.remove(chunk.key.as_str()) {
            Some(row) => kept.push((row, at)),
            None => added.push(at),
        }
    }
    removed.extend(rows.into_values());
    removed.sort_unstable();
    Diff { kept, added, removed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn chunks(keys: &[u8]) -> Vec<Chunk> {
        let chunk = |key: &u8| Chunk {
            content: String::new(),
            section: None,
            lines: (1, 1),
            tags: Vec::new(),
            key: key.to_string(),
        };
        keys.iter().map(chunk).collect()
    }

    #[test]
    fn a_changed_document_keeps_what_it_can() {
        let old = [("1", 10), ("2", 20), ("3", 30), ("2", 5)];
        let expected = Diff { kept: vec![(30, 0), (5, 2)], added: vec![1], removed: vec![10, 20] };
        assert_eq!(diff(&old, &chunks(&[3, 4, 2])), expected);
    }

    proptest! {
        #[test]
        fn every_row_and_place_is_used_once_and_order_is_nothing(
            old in proptest::collection::vec((0u8..20, 0u32..9), 0..20),
            new in proptest::collection::btree_set(0u8..20, 0..20),
        ) {
            // Rows are unique; keys may repeat.
            let old: Vec<_> = old.iter().enumerate().map(|(at, (key, row))| (key.to_string(), row * 100 + at as u32)).collect();
            let new: Vec<u8> = new.into_iter().collect();
            let result = diff(&old, &chunks(&new));
            let rows: BTreeSet<u32> = old.iter().map(|(_, row)| *row).collect();
            let mut seen: Vec<u32> = result.kept.iter().map(|(row, _)| *row).chain(result.removed.iter().copied()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, rows.into_iter().collect::<Vec<_>>());
            let mut places: Vec<usize> = result.kept.iter().map(|(_, at)| *at).chain(result.added.iter().copied()).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..new.len()).collect::<Vec<_>>());
            // The number of kept rows is the size of the intersection, so the change is minimal.
            let stored: BTreeSet<String> = old.iter().map(|(key, _)| key.clone()).collect();
            let shared = new.iter().filter(|key| stored.contains(&key.to_string())).count();
            prop_assert_eq!(result.kept.len(), shared);
            for (row, at) in &result.kept {
                prop_assert!(old.iter().any(|(key, stored)| stored == row && *key == new[*at].to_string()));
            }
            let turned: Vec<_> = old.iter().rev().cloned().collect();
            prop_assert_eq!(diff(&turned, &chunks(&new)), result);
        }
    }
}
