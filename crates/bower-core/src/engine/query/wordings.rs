//! Lets the wordings of a memory find it: each is a row of its own, and a hit on it counts for the memory.
//! A memory that is hidden or not selected is not found by its wordings either.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::item::{RowId, RowSet};
use crate::rank::candidate::{Factor, Ranked};
use crate::request::Clocks;

/// The memory of each wording, ascending by wording.
#[derive(Debug, Default)]
pub(crate) struct Wordings(Vec<(RowId, RowId)>);

impl Wordings {
    /// Creates it from wordings and their memories, in any order.
    pub(crate) fn new(mut all: Vec<(RowId, RowId)>) -> Self {
        all.sort_unstable();
        Self(all)
    }

    /// Returns them with some changes: rows that are no wordings any more, and others with their memories.
    pub(crate) fn changed(&self, went: &[RowId], came: Vec<(RowId, RowId)>) -> Self {
        if went.is_empty() && came.is_empty() {
            return Self(self.0.clone());
        }
        let gone: HashSet<RowId> = went.iter().copied().chain(came.iter().map(|(row, _)| *row)).collect();
        let came: HashMap<RowId, RowId> = came.into_iter().collect();
        Self::new(self.0.iter().copied().filter(|(row, _)| !gone.contains(row)).chain(came).collect())
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the memory of a wording; `None` for any other row.
    pub(crate) fn memory(&self, row: RowId) -> Option<RowId> {
        self.0.binary_search_by_key(&row, |(wording, _)| *wording).ok().map(|at| self.0[at].1)
    }

    /// Limits a question's rows so that a wording is found exactly where its memory may be. Questions about the past find
    /// memories by their own texts alone.
    pub(crate) fn limit(&self, clocks: Clocks, keep: &mut Option<Arc<RowSet>>, hidden: &mut Arc<RowSet>) {
        if self.0.is_empty() {
            return;
        }
        let is_past = clocks != Clocks::default();
        let (mut lost, mut found) = (RowSet::new(), RowSet::new());
        for &(wording, memory) in &self.0 {
            let is_kept = keep.as_ref().is_none_or(|keep| keep.contains(memory));
            let set = if is_past || !is_kept || hidden.contains(memory) { &mut lost } else { &mut found };
            set.insert(wording);
        }
        if let Some(keep) = keep {
            let keep = Arc::make_mut(keep);
            keep.remove_all(&lost);
            keep.add_all(&found);
        }
        // A set that is shared is copied before it changes.
        if !lost.is_empty() {
            Arc::make_mut(hidden).add_all(&lost);
        }
    }

    /// Replaces wordings in a ranking by their memories, each once, with the better of the scores. `found_by` receives the
    /// wording of each memory that one found.
    pub(crate) fn fold(&self, ranked: &mut Vec<Ranked>, found_by: &mut HashMap<RowId, RowId>) {
        if self.0.is_empty() {
            return;
        }
        let mut seen = HashSet::with_capacity(ranked.len());
        ranked.retain_mut(|one| {
            let memory = self.memory(one.row);
            let is_first = seen.insert(memory.unwrap_or(one.row));
            if let Some(memory) = memory.filter(|_| is_first) {
                found_by.insert(memory, one.row);
                one.row = memory;
                one.factors.push(Factor::note("found by another wording", 1.0));
            }
            is_first
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(numbers: &[u32]) -> RowSet {
        numbers.iter().copied().map(RowId).collect()
    }

    fn numbers(set: &RowSet) -> Vec<u32> {
        set.iter().map(|row| row.0).collect()
    }

    /// 5 and 6 are wordings of 1; 7 is one of 2.
    fn three() -> Wordings {
        Wordings::new([(7, 2), (5, 1), (6, 1)].map(|(row, memory)| (RowId(row), RowId(memory))).to_vec())
    }

    #[test]
    fn a_wording_is_found_exactly_where_its_memory_may_be() {
        let limited = |clocks, keep: Option<&[u32]>, hidden: &[u32]| {
            let (mut keep, mut hidden) = (keep.map(|keep| Arc::new(rows(keep))), Arc::new(rows(hidden)));
            three().limit(clocks, &mut keep, &mut hidden);
            (keep.map(|keep| numbers(&keep)), numbers(&hidden))
        };
        assert_eq!(limited(Clocks::default(), None, &[]), (None, vec![]));
        assert_eq!(limited(Clocks::default(), None, &[2]), (None, vec![2, 7]));
        // A selection that names wordings themselves finds those of its memories alone.
        assert_eq!(limited(Clocks::default(), Some(&[1, 7]), &[]), (Some(vec![1, 5, 6]), vec![7]));
        assert_eq!(limited(Clocks::default(), Some(&[1, 2]), &[1]), (Some(vec![1, 2, 7]), vec![1, 5, 6]));
        let past = Clocks { as_of: Some(jiff::Timestamp::UNIX_EPOCH), valid_at: None };
        assert_eq!(limited(past, None, &[]), (None, vec![5, 6, 7]));
    }

    #[test]
    fn a_memory_has_the_better_score_of_its_own_and_its_wordings() {
        let ranked = |row, score| Ranked { row: RowId(row), score, factors: Vec::new() };
        let mut list = vec![
            ranked(6, 0.9),
            ranked(1, 0.8),
            ranked(2, 0.7),
            ranked(5, 0.6),
            ranked(7, 0.5),
            ranked(3, 0.4),
        ];
        let mut found_by = HashMap::new();
        three().fold(&mut list, &mut found_by);
        let told: Vec<_> = list.iter().map(|one| (one.row.0, one.score, one.factors.len())).collect();
        assert_eq!(told, [(1, 0.9, 1), (2, 0.7, 0), (3, 0.4, 0)]);
        assert_eq!(found_by, HashMap::from([(RowId(1), RowId(6))]));
    }

    #[test]
    fn changes_leave_the_other_wordings() {
        let pairs = |all: &Wordings| all.0.iter().map(|(row, memory)| (row.0, memory.0)).collect::<Vec<_>>();
        let all = three().changed(&[RowId(5), RowId(9)], vec![(RowId(7), RowId(3)), (RowId(8), RowId(1))]);
        assert_eq!(pairs(&all), [(6, 1), (7, 3), (8, 1)]);
        assert_eq!((all.memory(RowId(7)), all.memory(RowId(5))), (Some(RowId(3)), None));
    }
}
