//! Rows newer than the folded index, as small blobs scanned directly. A row found here scores as if it were folded.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tantivy::fieldnorm::FieldNormReader;

use super::analyze::{self, Analyzer, Purpose};
use super::index::{Examined, share};
use super::language::Language;
use super::query::QueryTerm;
use super::score::{Bm25, MOST_FREQUENCY, Statistics};
use super::speaker;
use crate::error::{Error, Result};
use crate::item::{RowId, RowSet, Scored};

/// Bytes before the entries: the format, three zeros, the number of terms with repetitions (`u32`, little endian).
const HEADER: usize = 8;

/// The format's number, the first byte of each blob. Blobs of another are re-encoded by whoever finds them.
pub const TAIL_FORMAT: u8 = 2;

/// Bytes of an entry: a 56-bit hash of the term above an 8-bit frequency, one little-endian `u64`.
const ENTRY: usize = 8;

/// A text's terms as a blob for [`TailScan::push`]: sorted hashes with frequencies (saturated at 255), exact length. The
/// terms of its speakers stand among them under hashes of their own and do not count in the length.
///
/// Two terms of one store share a hash once in 2^56 / n^2 (n distinct terms): never, for practical purposes.
pub fn encode_terms(text: &str, language: Language) -> Vec<u8> {
    let mut hashes = Vec::new();
    Analyzer::new(language).each(text, Purpose::Index, |found| {
        hashes.push(key(found.term));
        ControlFlow::Continue(())
    });
    let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
    speaker::terms(text, |term| hashes.push(speaker_key(term)));
    hashes.sort_unstable();
    let mut blob = Vec::with_capacity(HEADER + hashes.len() * ENTRY);
    blob.extend([TAIL_FORMAT, 0, 0, 0]);
    blob.extend(length.to_le_bytes());
    for run in hashes.chunk_by(|a, b| a == b) {
        let frequency = run.len().min(MOST_FREQUENCY as usize) as u64;
        blob.extend((run[0] | frequency).to_le_bytes());
    }
    blob
}

/// The upper 56 bits of the term's hash, the frequency's byte empty.
fn key(term: &str) -> u64 {
    analyze::hash(term) & !0xFF
}

/// The key of a speaker's term: no word has a control character, so it is never a word's key.
fn speaker_key(term: &str) -> u64 {
    key(&format!("\u{1}{term}"))
}

/// Whether a blob is of the present format; one that is not must be encoded again from its text.
pub fn is_current(blob: &[u8]) -> bool {
    blob.first() == Some(&TAIL_FORMAT)
}

/// The scan of the tail for one query: rows are pushed, [`TailScan::finish`] gives the [`Tail`].
#[derive(Debug)]
pub struct TailScan<'a> {
    /// The query's keys, ascending, with their place in the query.
    keys: Vec<(u64, usize)>,
    /// The keys of the names in the query, as speakers.
    names: Vec<u64>,
    lines: u64,
    keep: Option<&'a RowSet>,
    tail: Tail,
}

/// What the tail has for one query: its part of the statistics, and the rows with a term of the query.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    pub(super) statistics: Statistics,
    hits: Vec<Hit>,
    /// For each hit, one frequency a term of the query.
    frequencies: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Hit {
    row: RowId,
    length_id: u8,
    speaker: f32,
}

impl<'a> TailScan<'a> {
    /// A scan for these terms and speakers ([`super::query_names`]). Rows outside `keep` count in the statistics but are not found.
    pub fn new(terms: &[QueryTerm], names: &[String], keep: Option<&'a RowSet>) -> Self {
        let mut keys: Vec<_> = terms.iter().enumerate().map(|(nth, term)| (key(&term.term), nth)).collect();
        keys.sort_unstable();
        let statistics = Statistics { docs: 0, tokens: 0, frequencies: vec![0; terms.len()] };
        let names = names.iter().map(|name| speaker_key(name)).collect();
        let tail = Tail { statistics, ..Tail::default() };
        Self { keys, names, lines: speaker_key(speaker::LINES), keep, tail }
    }

    /// Takes in one row of the tail. Each row is pushed once, in any order.
    ///
    /// Fails where the blob is not one of [`encode_terms`].
    pub fn push(&mut self, row: RowId, blob: &[u8]) -> Result<()> {
        let well_formed =
            blob.len() >= HEADER && (blob.len() - HEADER).is_multiple_of(ENTRY) && blob[0] == TAIL_FORMAT;
        if !well_formed {
            let reason = format!("{} bytes are not of tail format {TAIL_FORMAT}", blob.len());
            return Err(Error::invalid(format!("terms of row {}", row.0), reason));
        }
        let length = u32::from_le_bytes([blob[4], blob[5], blob[6], blob[7]]);
        let Tail { statistics, hits, frequencies } = &mut self.tail;
        statistics.docs += 1;
        statistics.tokens += u64::from(length);
        let (entries, _) = blob[HEADER..].as_chunks::<ENTRY>();
        let base = frequencies.len();
        let mut found = false;
        for &(key, nth) in &self.keys {
            let Some(frequency) = find(entries, key) else { continue };
            statistics.frequencies[nth] += 1;
            if !found {
                frequencies.resize(base + statistics.frequencies.len(), 0);
                found = true;
            }
            frequencies[base + nth] = frequency;
        }
        let spoken: u32 = self.names.iter().filter_map(|&name| find(entries, name)).map(u32::from).sum();
        let speaker =
            if spoken == 0 { 0.0 } else { share(spoken, find(entries, self.lines).map_or(0, u32::from)) };
        if !found && spoken > 0 {
            frequencies.resize(base + statistics.frequencies.len(), 0);
            found = true;
        }
        if found && self.keep.is_some_and(|keep| !keep.contains(row)) {
            frequencies.truncate(base);
        } else if found {
            hits.push(Hit { row, length_id: FieldNormReader::fieldnorm_to_id(length), speaker });
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> Tail {
        self.tail
    }
}

/// The frequency stored for a key. Hashes are spread evenly, so the place is computed, then walked from.
fn find(entries: &[[u8; ENTRY]], key: u64) -> Option<u8> {
    let last = entries.len().checked_sub(1)?;
    let mut at = ((u128::from(key) * entries.len() as u128) >> 64) as usize;
    let hash = |at: usize| u64::from_le_bytes(entries[at]) & !0xFF;
    while at < last && hash(at) < key {
        at += 1;
    }
    while at > 0 && hash(at) > key {
        at -= 1;
    }
    (hash(at) == key).then(|| entries[at][0])
}

impl Tail {
    /// A tail without rows, for a search of the folded index alone.
    pub fn empty() -> Self {
        Self::default()
    }

    /// How many rows have a term of the query.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether no row has a term of the query.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// The best `k` rows, best first, under the given BM25; `used[n]` is the query's term that the BM25's `n`th is.
    pub(super) fn best(&self, bm25: &Bm25, used: &[usize], k: usize) -> Vec<Scored> {
        let width = self.statistics.frequencies.len();
        let scored = self.hits.iter().zip(self.frequencies.chunks_exact(width.max(1)));
        let mut best: Vec<Scored> = scored
            .map(|(hit, frequencies)| {
                let part =
                    |(nth, &term): (usize, &usize)| bm25.term(nth, hit.length_id, frequencies[term].into());
                Scored { row: hit.row, score: used.iter().enumerate().map(part).sum() }
            })
            .filter(|scored| scored.score > 0.0)
            .collect();
        top(&mut best, k);
        best
    }
}

impl Tail {
    /// Takes the rows that are in the tail into `examined`; the places of the others.
    pub(super) fn examine(
        &self,
        bm25: &Bm25,
        used: &[usize],
        rows: &[RowId],
        examined: &mut Examined,
    ) -> Vec<usize> {
        let width = self.statistics.frequencies.len();
        let at: HashMap<RowId, usize> = self.hits.iter().zip(0..).map(|(hit, at)| (hit.row, at)).collect();
        let mut rest = Vec::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            let Some(&at) = at.get(row) else {
                rest.push(place);
                continue;
            };
            let hit = &self.hits[at];
            examined.rows[place].speaker = hit.speaker;
            for (nth, &term) in used.iter().enumerate() {
                let frequency = self.frequencies[at * width + term];
                if frequency > 0 {
                    examined.add(place, nth, bm25.term(nth, hit.length_id, frequency.into()));
                }
            }
        }
        rest
    }
}

/// As [`super::TextIndex::examine`], where no index has been folded yet.
pub fn examine_tail(terms: &[QueryTerm], rows: &[RowId], tail: &Tail) -> Examined {
    let used = select(terms, &tail.statistics);
    let bm25 = weigh(terms, &tail.statistics, &used);
    let idf_sum = idf_sum(terms, &tail.statistics);
    let mut examined = Examined::new(rows.len(), bm25.weights(used.len()), idf_sum);
    tail.examine(&bm25, &used, rows, &mut examined);
    examined
}

/// Keeps the best `k`, best first.
pub(super) fn top(scored: &mut Vec<Scored>, k: usize) {
    if k == 0 {
        scored.clear();
        return;
    }
    if scored.len() > k {
        scored.select_nth_unstable_by(k - 1, Scored::cmp_best_first);
        scored.truncate(k);
    }
    scored.sort_unstable_by(Scored::cmp_best_first);
}

/// The best `k` rows of the tail alone, where no index has been folded yet.
pub fn search_tail(terms: &[QueryTerm], k: usize, tail: &Tail) -> Vec<Scored> {
    let used = select(terms, &tail.statistics);
    let bm25 = weigh(terms, &tail.statistics, &used);
    tail.best(&bm25, &used, k)
}

/// A query longer than this is answered by its weightiest terms.
const MOST_SEARCHED: usize = 64;

/// The places of the terms to search for, ascending: those that occur, at most 64, by weight times rarity.
pub(super) fn select(terms: &[QueryTerm], statistics: &Statistics) -> Vec<usize> {
    let mut used: Vec<usize> =
        (0..terms.len()).filter(|&nth| statistics.frequencies.get(nth) > Some(&0)).collect();
    if used.len() > MOST_SEARCHED {
        let worth =
            |nth: usize| terms[nth].weight * super::score::idf(statistics.frequencies[nth], statistics.docs);
        let order = |a: &usize, b: &usize| worth(*b).total_cmp(&worth(*a)).then(a.cmp(b));
        used.select_nth_unstable_by(MOST_SEARCHED - 1, order);
        used.truncate(MOST_SEARCHED);
        used.sort_unstable();
    }
    used
}

/// The sum of weight times rarity over all terms.
pub(super) fn idf_sum(terms: &[QueryTerm], statistics: &Statistics) -> f32 {
    let frequency = |nth: usize| statistics.frequencies.get(nth).copied().unwrap_or(0);
    let idf = |nth: usize| super::score::idf(frequency(nth), statistics.docs);
    terms.iter().enumerate().map(|(nth, term)| term.weight * idf(nth)).sum()
}

/// The BM25 of the terms at `used`.
pub(super) fn weigh(terms: &[QueryTerm], statistics: &Statistics, used: &[usize]) -> Bm25 {
    let frequencies = used.iter().map(|&nth| statistics.frequencies[nth]).collect();
    let statistics = Statistics { docs: statistics.docs, tokens: statistics.tokens, frequencies };
    Bm25::new(&statistics, used.iter().map(|&nth| terms[nth].weight))
}

#[cfg(test)]
mod tests {
    use super::super::query::query_terms;
    use super::*;

    const ENGLISH: Language = Language::English;

    #[test]
    fn a_blob_holds_sorted_hashes_frequencies_and_the_length() {
        let blob = encode_terms(&format!("{} x", "dog ".repeat(300)), ENGLISH);
        assert_eq!(blob.len(), HEADER + 2 * ENTRY);
        assert_eq!(blob[..8], [2, 0, 0, 0, 45, 1, 0, 0]); // 301 = 0x12D
        let (entries, _) = blob[HEADER..].as_chunks::<ENTRY>();
        assert!(u64::from_le_bytes(entries[0]) < u64::from_le_bytes(entries[1]));
        assert_eq!((find(entries, key("dog")), find(entries, key("x"))), (Some(255), Some(1)));
        assert_eq!(find(entries, key("cat")), None);
    }

    #[test]
    fn a_key_is_found_wherever_it_sits() {
        for count in [1_u64, 2, 3, 7, 64, 101] {
            let keys: Vec<u64> = (0..count).map(|nth| key(&nth.to_string())).chain([0, !0xFF]).collect();
            let mut entries: Vec<_> = keys.iter().map(|key| (key | 9).to_le_bytes()).collect();
            entries.sort_unstable_by_key(|entry| u64::from_le_bytes(*entry));
            assert!(keys.iter().all(|&key| find(&entries, key) == Some(9)));
            assert!((count..2 * count).all(|nth| find(&entries, key(&nth.to_string())).is_none()));
        }
    }

    #[test]
    fn the_tail_alone_is_searched() {
        let terms = query_terms("brown dogs", ENGLISH);
        let keep: RowSet = [RowId(1), RowId(2), RowId(3), RowId(4)].into_iter().collect();
        let mut scan = TailScan::new(&terms, &[], Some(&keep));
        for (row, text) in [(4, "a dog"), (3, "a dog"), (2, "a cat"), (1, "a brown dog"), (9, "brown dog")] {
            scan.push(RowId(row), &encode_terms(text, ENGLISH)).unwrap();
        }
        let tail = scan.finish();
        let found: Vec<_> = search_tail(&terms, 10, &tail).iter().map(|scored| scored.row.0).collect();
        assert_eq!(found, [1, 3, 4]);
        assert_eq!(search_tail(&terms, 0, &tail), []);
        assert_eq!(search_tail(&terms, 10, &Tail::empty()), []);
    }

    #[test]
    fn what_is_no_blob_is_refused() {
        let mut scan = TailScan::new(&[], &[], None);
        for blob in [&[][..], &[1, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0], &[2, 0, 0, 0, 0, 0, 0, 0, 5]] {
            let error = scan.push(RowId(7), blob).unwrap_err().to_string();
            assert!(error.starts_with("terms of row 7: "), "{error}");
        }
    }
}
