//! A set of row ids as a bitmap, in chunks, so that one large id does not cost the memory of all smaller ones.

use std::ops::RangeInclusive;

use super::RowId;

/// Rows that one chunk covers: 2^24, whose bitmap takes 2 MiB. A set whose ids are below that is one flat bitmap.
const CHUNK_ROWS: usize = 1 << 24;
const CHUNK_WORDS: usize = CHUNK_ROWS / 64;

/// A set of rows as a bitmap. Its memory grows with the largest row up to 2^24, and by at most 2 MiB for each further chunk of
/// 2^24 rows that holds any.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    /// The bitmap of the first chunk. It stands apart because nearly every store fits, and scans ask for each row.
    first: Vec<u64>,
    /// The bitmaps of the chunks after it, in their order; empty ones take no memory of their own.
    further: Vec<Vec<u64>>,
    len: usize,
}

impl RowSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row; false if it was there.
    pub fn insert(&mut self, row: RowId) -> bool {
        let (chunk, word, bit) = (row.0 as usize / CHUNK_ROWS, row.0 as usize % CHUNK_ROWS / 64, row.0 % 64);
        if chunk > self.further.len() {
            self.further.resize(chunk, Vec::new());
        }
        let words = if chunk == 0 { &mut self.first } else { &mut self.further[chunk - 1] };
        if word >= words.len() {
            words.resize(word + 1, 0);
        }
        let fresh = words[word] & (1 << bit) == 0;
        words[word] |= 1 << bit;
        self.len += usize::from(fresh);
        fresh
    }

    /// Whether the row is in the set.
    #[inline]
    pub fn contains(&self, row: RowId) -> bool {
        let word = row.0 as usize / 64;
        let word = if word < CHUNK_WORDS {
            self.first.get(word)
        } else {
            self.chunk(word / CHUNK_WORDS).get(word % CHUNK_WORDS)
        };
        word.is_some_and(|word| word & (1 << (row.0 % 64)) != 0)
    }

    /// Adds every row of another set.
    pub fn add_all(&mut self, others: &Self) {
        self.further.resize(self.further.len().max(others.further.len()), Vec::new());
        self.combine(others, |words, others| {
            words.resize(words.len().max(others.len()), 0);
            words.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
        });
    }

    /// Removes the rows that are not in another set.
    pub fn keep_all(&mut self, others: &Self) {
        self.combine(others, |words, others| {
            words.truncate(others.len());
            words.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
        });
    }

    /// Removes the rows that are in another set.
    pub fn remove_all(&mut self, others: &Self) {
        self.combine(others, |words, others| {
            words.iter_mut().zip(others).for_each(|(word, other)| *word &= !other);
        });
    }

    /// Changes the words of each chunk by those of the same chunk of another set.
    fn combine(&mut self, others: &Self, with: impl Fn(&mut Vec<u64>, &[u64])) {
        self.len = 0;
        for (at, words) in std::iter::once(&mut self.first).chain(&mut self.further).enumerate() {
            with(words, others.chunk(at));
            self.len += words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
    }

    /// The words of a chunk; none past the last.
    fn chunk(&self, at: usize) -> &[u64] {
        match at.checked_sub(1) {
            None => &self.first,
            Some(further) => self.further.get(further).map_or(&[], Vec::as_slice),
        }
    }

    /// The number of rows in the set.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the set holds no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that the set allocates.
    pub fn bytes(&self) -> usize {
        let words: usize = self.first.capacity() + self.further.iter().map(Vec::capacity).sum::<usize>();
        words * size_of::<u64>() + self.further.capacity() * size_of::<Vec<u64>>()
    }

    /// The rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = RowId> + '_ {
        self.within(RowId(0)..=RowId(u32::MAX))
    }

    /// The rows of a range, ascending.
    pub fn within(&self, range: RangeInclusive<RowId>) -> impl Iterator<Item = RowId> + '_ {
        let (from, to) = (range.start().0 as usize / 64, range.end().0 as usize / 64);
        (from / CHUNK_WORDS..=(to / CHUNK_WORDS).min(self.further.len()))
            .flat_map(move |at| {
                let (chunk, before) = (self.chunk(at), at * CHUNK_WORDS);
                let end = chunk.len().min((to + 1).saturating_sub(before));
                let start = from.saturating_sub(before).min(end);
                let words = chunk[start..end].iter().zip((before + start) as u32..);
                words.flat_map(|(&word, at)| rows_of(word, at))
            })
            .filter(move |row| range.contains(row))
    }
}

/// The rows of one word of the bitmap, ascending.
fn rows_of(word: u64, at: u32) -> impl Iterator<Item = RowId> {
    std::iter::successors((word != 0).then_some(word), |rest| {
        let rest = rest & (rest - 1);
        (rest != 0).then_some(rest)
    })
    .map(move |rest| RowId(at * 64 + rest.trailing_zeros()))
}

/// Two sets are equal if they hold the same rows; how long their bitmaps have grown does not count.
impl PartialEq for RowSet {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for RowSet {}

impl FromIterator<RowId> for RowSet {
    fn from_iter<I: IntoIterator<Item = RowId>>(rows: I) -> Self {
        let mut set = Self::new();
        for row in rows {
            set.insert(row);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_row_set_gives_back_its_rows_in_order() {
        let rows = [RowId(700), RowId(0), RowId(64), RowId(63), RowId(700)];
        let set: RowSet = rows.into_iter().collect();
        assert_eq!(set.len(), 4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [RowId(0), RowId(63), RowId(64), RowId(700)]);
        assert!(set.contains(RowId(63)) && !set.contains(RowId(62)) && !set.contains(RowId(u32::MAX)));
        for (start, end) in [(0, 700), (1, 64), (63, 63), (65, 699), (701, 900), (5, 3), (0, u32::MAX)] {
            let found: Vec<_> = set.within(RowId(start)..=RowId(end)).collect();
            let expected: Vec<_> = set.iter().filter(|row| (start..=end).contains(&row.0)).collect();
            assert_eq!(found, expected, "{start}..={end}");
        }
    }

    /// One flat bitmap up to the last row would take 512 MiB.
    #[test]
    fn a_large_row_id_costs_one_chunk() {
        let set: RowSet = [RowId(7), RowId(u32::MAX)].into_iter().collect();
        assert!(set.bytes() < 3 << 20, "{}", set.bytes());
    }

    /// Rows around the borders of words and chunks, and far from each other.
    fn rows() -> impl Strategy<Value = Vec<u32>> {
        let near = (0_u32..4, prop_oneof![0_u32..200, ((1_u32 << 24) - 100)..=((1 << 24) - 1)]);
        proptest::collection::vec(near.prop_map(|(chunk, at)| (chunk << 24) + at), 0..40)
    }

    proptest! {
        #[test]
        fn a_row_set_is_a_set(a in rows(), b in rows(), range in (rows(), rows())) {
            let (mut one, two) = (RowSet::new(), b.iter().copied().map(RowId).collect::<RowSet>());
            let (mut expected, others) = (BTreeSet::new(), b.iter().copied().collect::<BTreeSet<u32>>());
            for &row in &a {
                prop_assert_eq!(one.insert(RowId(row)), expected.insert(row));
            }
            let held = |set: &RowSet| set.iter().map(|row| row.0).collect::<BTreeSet<u32>>();
            let combined = |with: fn(&mut RowSet, &RowSet)| {
                let mut set = one.clone();
                with(&mut set, &two);
                assert_eq!(set.len(), set.iter().count());
                held(&set)
            };
            prop_assert_eq!(one.len(), expected.len());
            prop_assert_eq!(combined(RowSet::add_all), &expected | &others);
            prop_assert_eq!(combined(RowSet::keep_all), &expected & &others);
            prop_assert_eq!(combined(RowSet::remove_all), &expected - &others);
            for row in a.iter().chain(&b) {
                prop_assert_eq!(one.contains(RowId(*row)), expected.contains(row));
            }
            if let (Some(&from), Some(&to)) = (range.0.first(), range.1.first()) && from <= to {
                let within: Vec<u32> = one.within(RowId(from)..=RowId(to)).map(|row| row.0).collect();
                prop_assert_eq!(within, expected.range(from..=to).copied().collect::<Vec<_>>());
            }
            let mut emptied = one.clone();
            emptied.remove_all(&one);
            prop_assert_eq!(emptied, RowSet::new());
        }
    }
}
