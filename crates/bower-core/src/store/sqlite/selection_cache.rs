//! A cache of the rows of the last selections, kept until the store changes.
//! Every transaction that changes the result of a selection takes the next change number. Rows are stored under the
//! number at which they were read, so they are never stale.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::filter::{Filter, Test};
use crate::item::RowSet;
use crate::request::Selection;

/// Number of selections that are kept; each question compares its own with them.
const MOST: usize = 64;

/// Size that they and their rows may have together: 32 selections in a store of a million rows.
const MOST_BYTES: usize = 4 << 20;

/// The store and its last change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) identity: String,
    pub(super) change: u64,
    /// The fingerprint of that change: another backup may have the same number.
    pub(super) mark: u64,
}

/// The last selections of one moment, the most recently used at the end.
#[derive(Debug, Default)]
struct Kept {
    at: Moment,
    bytes: usize,
    sets: Vec<(Selection, Arc<RowSet>)>,
}

#[derive(Debug, Default)]
pub(super) struct SelectionCache(Mutex<Kept>);

impl SelectionCache {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rows of a selection at a moment, if they are cached.
    pub(super) fn get(&self, at: &Moment, select: &Selection) -> Option<Arc<RowSet>> {
        let mut kept = self.kept();
        if kept.at != *at {
            return None;
        }
        let place = kept.sets.iter().position(|(one, _)| one == select)?;
        let found = kept.sets.remove(place);
        let rows = Arc::clone(&found.1);
        kept.sets.push(found);
        Some(rows)
    }

    /// Caches the rows of a selection at a moment.
    pub(super) fn put(&self, at: Moment, select: &Selection, rows: &Arc<RowSet>) {
        let bytes = bytes(select, rows);
        let mut kept = self.kept();
        if kept.at != at {
            *kept = Kept { at, ..Kept::default() };
        }
        // Two questions may have read it at once.
        if bytes > MOST_BYTES || kept.sets.iter().any(|(one, _)| one == select) {
            return;
        }
        while kept.sets.len() == MOST || kept.bytes + bytes > MOST_BYTES {
            let (select, rows) = kept.sets.remove(0);
            kept.bytes -= self::bytes(&select, &rows);
        }
        kept.bytes += bytes;
        kept.sets.push((select.clone(), Arc::clone(rows)));
    }
}

/// Returns the approximate size of a selection and its rows.
fn bytes(select: &Selection, rows: &RowSet) -> usize {
    let words = select
        .collections
        .iter()
        .chain(&select.tags)
        .chain(&select.version)
        .chain(&select.owner)
        .chain(&select.sources);
    let words: usize = words.map(|word| size_of::<String>() + word.len()).sum();
    let lists = select.kinds.len() + select.types.len() + select.statuses.len();
    let filter = select.filter.as_ref().map_or(0, filter_bytes);
    size_of::<Selection>() + words + lists + filter + rows.bytes()
}

fn filter_bytes(filter: &Filter) -> usize {
    size_of::<Filter>()
        + match filter {
            Filter::All(parts) | Filter::Any(parts) => parts.iter().map(filter_bytes).sum(),
            Filter::Contains(words) | Filter::NotContains(words) => words.len(),
            Filter::Field { name, test } => {
                let values = match test {
                    Test::Equal(value)
                    | Test::NotEqual(value)
                    | Test::Greater(value)
                    | Test::GreaterOrEqual(value)
                    | Test::Less(value)
                    | Test::LessOrEqual(value) => std::slice::from_ref(value),
                    Test::In(values) | Test::NotIn(values) => values,
                };
                let each =
                    |value: &serde_json::Value| size_of_val(value) + value.as_str().map_or(0, str::len);
                name.len() + values.iter().map(each).sum::<usize>()
            }
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::RowId;

    fn moment(identity: &str, change: u64) -> Moment {
        Moment { identity: identity.into(), change, mark: change * 7 }
    }

    fn of(collection: &str) -> Selection {
        Selection { collections: vec![collection.into()], ..Selection::default() }
    }

    fn one(row: u32) -> Arc<RowSet> {
        Arc::new(std::iter::once(RowId(row)).collect())
    }

    #[test]
    fn rows_are_those_of_their_moment() {
        let known = SelectionCache::default();
        let (now, next) = (moment("a", 5), moment("a", 6));
        known.put(now.clone(), &of("x"), &one(1));
        assert_eq!(known.get(&now, &of("x")), Some(one(1)));
        assert_eq!(known.get(&now, &of("y")), None);
        assert_eq!(known.get(&next, &of("x")), None);
        assert_eq!(known.get(&moment("b", 5), &of("x")), None);
        known.put(next.clone(), &of("y"), &one(2));
        assert_eq!((known.get(&now, &of("x")), known.get(&next, &of("y"))), (None, Some(one(2))));
        // A restored backup has the same number but another history.
        assert_eq!(known.get(&Moment { mark: 1, ..next }, &of("y")), None);
        // A restored backup may have a smaller number.
        known.put(moment("b", 1), &of("x"), &one(3));
        assert_eq!(known.get(&moment("b", 1), &of("x")), Some(one(3)));
    }

    #[test]
    fn the_last_used_stay_and_memory_is_bounded() {
        let known = SelectionCache::default();
        let now = moment("a", 1);
        for n in 0..=MOST {
            known.put(now.clone(), &of(&n.to_string()), &one(n as u32));
            assert!(known.get(&now, &of("0")).is_some());
        }
        assert_eq!(known.get(&now, &of("1")), None);
        assert_eq!(known.get(&now, &of("2")), Some(one(2)));
        // One bit for each row up to the last: each set takes a little more than a quarter of the limit.
        let up_to = |bytes: u32| -> Arc<RowSet> {
            Arc::new((0..bytes * 8).step_by(1 << 20).chain([bytes * 8]).map(RowId).collect())
        };
        let quarter = MOST_BYTES as u32 / 4;
        for n in 0..4 {
            known.put(now.clone(), &of(&format!("large {n}")), &up_to(quarter));
        }
        let kept = known.kept();
        assert_eq!(kept.sets.len(), 3);
        assert_eq!(kept.bytes, kept.sets.iter().map(|(select, rows)| bytes(select, rows)).sum::<usize>());
        drop(kept);
        known.put(now.clone(), &of("too large"), &up_to(quarter * 4));
        assert_eq!(known.get(&now, &of("too large")), None);
        assert!(known.get(&now, &of("large 3")).is_some());
    }
}
