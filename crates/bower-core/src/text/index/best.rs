//! Finds the best documents of one segment by `MaxScore` (Turtle and Flood 1995) over windows of documents.
//!
//! Frequent terms that together cannot lift a document over the threshold are not iterated. They are looked up only for
//! documents that other terms found. The other terms are summed window by window, in an array that stays in the
//! first-level cache. Sums are exact ([`super::Bm25`]), so the order of addition does not matter.
//!
//! At 100,000 passages and 200 results this takes a third of the time of tantivy's block-max WAND. Its bookkeeping at
//! each document costs more than adding a posting.

use tantivy::DocId;
use tantivy::TERMINATED;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;

use super::super::score::Bm25;

/// Documents of a window: 16 kB of sums.
const WINDOW: usize = 4_096;

/// Documents of a group, which is examined at once; a window has as many groups as a word has bits.
const GROUP: usize = WINDOW / u64::BITS as usize;

/// Looking up a document in a term's list costs as much as adding this many of its postings. So a term is only looked
/// up if the others together are that much rarer.
const ASKING: usize = 4;

/// Number of sums that are compared with the threshold at once.
const FEW: usize = 16;

/// Terms with more documents get a table of their scores, because a look-up is faster than the division.
const TABLED: u32 = 1_024;

/// Number of frequencies in such a table, from 1; few documents contain a term more often.
const FREQUENCIES: usize = 4;

/// Iterates the postings of one term once.
pub(super) struct Cursor {
    postings: BlockSegmentPostings,
    at: usize,
    nth: usize,
    /// Scores by frequency, then by length.
    table: Vec<[f32; 256]>,
}

impl Cursor {
    pub(super) fn new(postings: BlockSegmentPostings, nth: usize) -> Self {
        Self { postings, at: 0, nth, table: Vec::new() }
    }

    /// Creates the table if the term is frequent enough.
    fn make_table(&mut self, bm25: &Bm25) {
        if self.postings.doc_freq() > TABLED && self.table.is_empty() {
            self.table = (1..=FREQUENCIES as u32)
                .map(|frequency| std::array::from_fn(|length| bm25.term(self.nth, length as u8, frequency)))
                .collect();
        }
    }

    /// Returns the term's index in the question.
    pub(super) fn nth(&self) -> usize {
        self.nth
    }

    /// Returns the number of documents with the term.
    pub(super) fn doc_freq(&self) -> usize {
        self.postings.doc_freq() as usize
    }

    /// Returns the current document.
    pub(super) fn doc(&self) -> DocId {
        self.postings.docs().get(self.at).copied().unwrap_or(TERMINATED)
    }

    /// Returns the term's frequency in a document, if it contains the term. Documents must be passed in ascending order.
    pub(super) fn seek(&mut self, doc: DocId) -> Option<u32> {
        if self.doc() < doc {
            self.at = self.postings.seek(doc);
        }
        (self.doc() == doc).then(|| self.postings.freq(self.at))
    }

    /// Adds the term's scores for the documents of the window that begins with `base`; returns the groups that changed.
    fn add(&mut self, base: DocId, sums: &mut [f32; WINDOW], bm25: &Bm25, lengths: &FieldNormReader) -> u64 {
        if self.doc() < base {
            self.at = self.postings.seek(base);
        }
        let (end, mut groups) = (base.saturating_add(WINDOW as DocId), 0);
        while self.doc() < end {
            let docs = &self.postings.docs()[self.at..];
            let here =
                if docs.last() < Some(&end) { docs.len() } else { docs.partition_point(|doc| *doc < end) };
            for (&doc, &frequency) in docs[..here].iter().zip(&self.postings.freqs()[self.at..]) {
                let place = (doc - base) as usize;
                let length = lengths.fieldnorm_id(doc);
                sums[place] += match self.table.get((frequency as usize).wrapping_sub(1)) {
                    Some(worth) => worth[usize::from(length)],
                    None => bm25.term(self.nth, length, frequency),
                };
                groups |= 1 << (place / GROUP);
            }
            let is_whole = here == docs.len();
            self.at += here;
            if is_whole {
                self.postings.advance();
                self.at = 0;
            }
        }
        groups
    }
}

/// Passes to `each` all documents whose score is above a threshold, ascending, with their scores. `each` returns the
/// next threshold, which never falls.
pub(super) fn best(
    mut cursors: Vec<Cursor>,
    bm25: &Bm25,
    lengths: &FieldNormReader,
    mut threshold: f32,
    each: &mut dyn FnMut(DocId, f32) -> f32,
) {
    cursors.sort_by(|a, b| bm25.most(a.nth).total_cmp(&bm25.most(b.nth)));
    // The most that the first n terms can add together.
    let together: Vec<f32> = std::iter::once(0.0)
        .chain(cursors.iter().scan(0.0, |sum, cursor| {
            *sum += bm25.most(cursor.nth);
            Some(*sum)
        }))
        .collect();
    // The number of postings of the terms from each index on.
    let mut remaining = vec![0; cursors.len() + 1];
    for (at, cursor) in cursors.iter().enumerate().rev() {
        remaining[at] = remaining[at + 1] + cursor.doc_freq();
    }
    let mut sums = Box::new([0.0; WINDOW]);
    let mut found: Vec<(DocId, f32)> = Vec::with_capacity(WINDOW);
    let mut rest = 0;
    loop {
        while rest < cursors.len()
            && together[rest + 1] <= threshold
            && cursors[rest].doc_freq() > ASKING * remaining[rest + 1]
        {
            rest += 1;
        }
        let (asked, searched) = cursors.split_at_mut(rest);
        let base = searched.iter().map(Cursor::doc).min().unwrap_or(TERMINATED);
        if base == TERMINATED {
            return;
        }
        let mut groups = 0;
        for cursor in searched {
            cursor.make_table(bm25);
            groups |= cursor.add(base, &mut sums, bm25, lengths);
        }
        let floor = (threshold - together[rest]).max(0.0);
        let floor_bits = floor.to_bits().cast_signed();
        found.clear();
        while groups != 0 {
            let first = groups.trailing_zeros() as usize * GROUP;
            groups &= groups - 1;
            let group = &mut sums[first..first + GROUP];
            for (at, few) in group.as_chunks::<FEW>().0.iter().enumerate() {
                // Sums are not negative, so their bits sort like the sums, and the compiler vectorises the maximum of
                // integers. Most groups end here.
                if few.iter().fold(0, |most, sum| most.max(sum.to_bits().cast_signed())) > floor_bits {
                    for (&sum, doc) in few.iter().zip(base + (first + at * FEW) as DocId..) {
                        if sum > floor {
                            found.push((doc, sum));
                        }
                    }
                }
            }
            group.fill(0.0);
        }
        for (cursor, others) in asked.iter_mut().zip(&together[1..]).rev() {
            found.retain(|(_, sum)| sum + others > threshold);
            for (doc, sum) in &mut found {
                if let Some(frequency) = cursor.seek(*doc) {
                    *sum += bm25.term(cursor.nth, lengths.fieldnorm_id(*doc), frequency);
                }
            }
        }
        for &(doc, sum) in &found {
            if sum > threshold {
                threshold = each(doc, sum);
            }
        }
    }
}
