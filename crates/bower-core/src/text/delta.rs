//! The delta of the text index: rows that the index lacks, as small blobs that are scanned directly.
//! A row found here scores as if the index contained it, and compaction adds its terms unchanged.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use tantivy::fieldnorm::FieldNormReader;

use super::analyze::{ANALYSIS, Analyzer, Purpose};
use super::detect::language_of;
use super::examined::Examined;
use super::language::Language;
use super::query::QueryTerm;
use super::score::{Bm25, MOST_FREQUENCY, Statistics};
use super::speaker;
use crate::error::{Error, Result};
use crate::item::{RowId, RowSet, Scored};

/// Bytes before the entries: format, analysis version, the two letters of the text's language (zeros for English), number of
/// terms with repetitions (`u32`, little endian).
const HEADER: usize = 8;

/// The format's version, the first byte of each blob. Blobs of another format are re-encoded by the process that finds them.
pub const DELTA_FORMAT: u8 = 3;

/// The first bytes of a blob: terms of another analysis would not be found.
const FORMAT: [u8; 2] = [DELTA_FORMAT, ANALYSIS as u8];

/// Upper bound on the speakers' words of a text. A blob that claims more is damaged, and indexing it would exhaust memory.
const MOST_SPOKEN: usize = 1 << 24;

/// Encodes a text's terms as a blob for [`DeltaScan::push`] and [`super::compact`]. It contains everything that an
/// index keeps of a text, so a text is analysed once, in its own language. Each term is there once, ascending: its length in bytes, its
/// frequency, its bytes. After an empty term follow those of the text's speakers, which do not count in the length.
///
/// Numbers are split into six bits each, lowest first, one byte each; bit 6 is set if another byte follows. So
/// everything after the header is UTF-8. English needs 7 bytes for a term.
pub fn encode_terms(text: &str) -> Vec<u8> {
    let mut words = Counted::default();
    let language = language_of(text);
    Analyzer::new(language).each(text, Purpose::Index, |found| {
        words.push(found.term);
        ControlFlow::Continue(())
    });
    let length = u32::try_from(words.spans.len()).unwrap_or(u32::MAX);
    let mut blob = Vec::with_capacity(HEADER + words.terms.len() + 2 * words.spans.len());
    blob.extend(FORMAT);
    match language {
        Language::English => blob.extend([0, 0]),
        _ => blob.extend(language.code().as_bytes()),
    }
    blob.extend(length.to_le_bytes());
    words.write(&mut blob);
    let mut names = Counted::default();
    speaker::terms(text, |term| names.push(term));
    if !names.spans.is_empty() {
        put_number(&mut blob, 0);
        names.write(&mut blob);
    }
    blob
}

/// Concatenated terms, to be sorted and counted.
#[derive(Default)]
struct Counted {
    terms: String,
    /// For each term its first eight bytes as a number, which distinguish most terms, and its range.
    spans: Vec<(u64, Range<usize>)>,
}

impl Counted {
    /// Adds a term. An empty one is skipped: it would mark the end of the terms, and no question contains it.
    fn push(&mut self, term: &str) {
        if term.is_empty() {
            return;
        }
        let start = self.terms.len();
        self.terms.push_str(term);
        let mut first = [0; 8];
        let shared = term.len().min(8);
        first[..shared].copy_from_slice(&term.as_bytes()[..shared]);
        self.spans.push((u64::from_be_bytes(first), start..self.terms.len()));
    }

    fn write(mut self, blob: &mut Vec<u8>) {
        let Self { terms, spans } = &mut self;
        let term = |span: &Range<usize>| &terms.as_bytes()[span.clone()];
        spans.sort_unstable_by(|(a, one), (b, two)| a.cmp(b).then_with(|| term(one).cmp(term(two))));
        for run in spans.chunk_by(|(a, one), (b, two)| a == b && term(one) == term(two)) {
            let term = term(&run[0].1);
            put_number(blob, term.len());
            put_number(blob, run.len());
            blob.extend(term);
        }
    }
}

/// Bits of a number in one byte, and the bit that marks a following byte.
const PIECE: u32 = 6;
const MORE: u8 = 1 << PIECE;

fn put_number(blob: &mut Vec<u8>, mut number: usize) {
    while number >= MORE.into() {
        blob.push(MORE | (number as u8 & (MORE - 1)));
        number >>= PIECE;
    }
    blob.push(number as u8);
}

/// Splits the number off the start of `bytes`; `None` if there is none.
#[inline]
fn take_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match bytes {
        [byte, rest @ ..] if *byte < MORE => Some((usize::from(*byte), rest)),
        _ => take_long_number(bytes),
    }
}

#[cold]
fn take_long_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0;
    for (nth, &byte) in (0..).zip(bytes) {
        number |= usize::from(byte & (MORE - 1)).checked_shl(PIECE * nth)?;
        if byte & !(MORE - 1) == 0 {
            return Some((number, &bytes[nth as usize + 1..]));
        }
    }
    None
}

/// Iterates the entries at the start of a blob's body, up to its end or an empty term; `rest` is what follows.
#[derive(Clone, Debug)]
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    /// Whether an entry was truncated.
    is_broken: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { rest: body, is_broken: false }
    }

    #[inline]
    fn entry(&self) -> Option<(&'a [u8], usize, &'a [u8])> {
        let (length, rest) = take_number(self.rest)?;
        if length == 0 {
            return Some((&[], 0, rest));
        }
        let (count, rest) = take_number(rest)?;
        let (term, rest) = rest.split_at_checked(length)?;
        Some((term, count, rest))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], usize);

    #[inline]
    fn next(&mut self) -> Option<(&'a [u8], usize)> {
        if self.rest.is_empty() || self.is_broken {
            return None;
        }
        let Some((term, count, rest)) = self.entry() else {
            self.is_broken = true;
            return None;
        };
        self.rest = rest;
        (!term.is_empty()).then_some((term, count))
    }
}

/// Returns the entries of a blob as text: those of its words and those of its speakers. `None` if it is no valid output
/// of [`encode_terms`].
pub(super) fn entries(blob: &[u8]) -> Option<(&str, &str)> {
    let body = blob.get(HEADER..).filter(|_| is_current(blob))?;
    let mut words = Entries::new(body);
    let mut length = 0_usize;
    for (term, count) in words.by_ref() {
        str::from_utf8(term).ok()?;
        length = length.checked_add(count)?;
    }
    let mut names = Entries::new(words.rest);
    let mut spoken = 0_usize;
    for (name, count) in names.by_ref() {
        str::from_utf8(name).ok()?;
        spoken = spoken.checked_add(count).filter(|spoken| *spoken <= MOST_SPOKEN)?;
    }
    let is_whole = !words.is_broken && !names.is_broken && names.rest.is_empty();
    if !is_whole || u32::try_from(length) != Ok(length_of(blob)) {
        return None;
    }
    let (words, names) = body.split_at(body.len() - words.rest.len());
    Some((str::from_utf8(words).ok()?, str::from_utf8(names).ok()?))
}

/// Returns the language of a text from the header of its blob.
pub fn language_in(blob: &[u8]) -> Language {
    let code = blob.get(2..4).and_then(|code| str::from_utf8(code).ok());
    code.and_then(Language::of_code).unwrap_or_default()
}

/// Returns the number of a text's terms from its header.
fn length_of(blob: &[u8]) -> u32 {
    u32::from_le_bytes([blob[4], blob[5], blob[6], blob[7]])
}

/// Whether a blob has the current format and analysis version.
fn is_current(blob: &[u8]) -> bool {
    blob.starts_with(&FORMAT)
}

/// Whether a blob can be compacted unchanged; otherwise it must be encoded again from its text.
pub fn is_whole(blob: &[u8]) -> bool {
    entries(blob).is_some()
}

/// The scan of the delta for one query: push all rows, then [`DeltaScan::finish`] returns the [`Delta`].
#[derive(Debug)]
pub struct DeltaScan<'a> {
    /// The forms of the query's terms, in order, each with the position of its term.
    forms: Vec<(Vec<u8>, usize)>,
    /// One bit for each [`slot`] that a form has.
    slots: u64,
    /// The words by which speakers whom the query names are found, each with its term.
    names: Vec<(String, usize)>,
    keep: Option<&'a RowSet>,
    /// The rows that count in the statistics; `None` is all.
    counted: Option<&'a RowSet>,
    delta: Delta,
}

/// Returns one of 64 hash slots of a term, by its first and last byte and its length. Most terms of a text are in no
/// slot of the query.
#[inline]
fn slot(term: &[u8]) -> u32 {
    let (Some(first), Some(last)) = (term.first(), term.last()) else { return 0 };
    (u32::from(*first) * 5 + u32::from(*last) * 11 + term.len() as u32) % u64::BITS
}

/// Result of scanning the delta for one query: its part of the statistics, and the rows with a term of the query.
#[derive(Clone, Debug, Default)]
pub struct Delta {
    pub(super) statistics: Statistics,
    hits: Vec<Hit>,
    /// The position of the term of each form.
    forms: Vec<usize>,
    /// For each hit, one frequency per form.
    frequencies: Vec<u8>,
    /// The rows in a language other than English.
    languages: HashMap<RowId, Language>,
    /// Lines of a hit that a person spoke whom a term names: hit, term, and number of lines.
    spoken: Vec<(usize, usize, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Hit {
    row: RowId,
    length_id: u8,
    /// Number of spoken lines.
    lines: u32,
}

impl<'a> DeltaScan<'a> {
    /// Starts a scan for terms and the speakers whom they name. Rows outside `keep` count in the statistics but are not
    /// found.
    pub fn new(terms: &[QueryTerm], keep: Option<&'a RowSet>) -> Self {
        let statistics = Statistics { docs: 0, tokens: 0, frequencies: vec![0; terms.len()] };
        let names = terms
            .iter()
            .enumerate()
            .flat_map(|(nth, term)| term.speaker.iter().map(move |word| (word.clone(), nth)));
        let names = names.collect();
        let forms: Vec<_> = forms(terms).map(|(nth, form)| (form.as_bytes().to_vec(), nth)).collect();
        let slots = forms.iter().fold(0, |slots, (form, _)| slots | 1 << slot(form));
        let of_forms = forms.iter().map(|(_, nth)| *nth).collect();
        let delta = Delta { statistics, forms: of_forms, ..Delta::default() };
        Self { forms, slots, names, keep, counted: None, delta }
    }

    /// Restricts the statistics to these rows, if there are any.
    #[must_use]
    pub fn counting(self, counted: Option<&'a RowSet>) -> Self {
        Self { counted, ..self }
    }

    /// Scans one row of the delta. Each row is pushed once, in any order.
    ///
    /// Fails if the blob is no valid output of [`encode_terms`].
    pub fn push(&mut self, row: RowId, blob: &[u8]) -> Result<()> {
        let refused = || {
            let reason = format!("{} bytes are not of delta format {DELTA_FORMAT}", blob.len());
            Error::invalid(format!("terms of row {}", row.0), reason)
        };
        if blob.len() < HEADER || !is_current(blob) {
            return Err(refused());
        }
        let length = length_of(blob);
        let language = language_in(blob);
        if language != Language::English {
            self.delta.languages.insert(row, language);
        }
        let Delta { statistics, hits, frequencies, spoken, .. } = &mut self.delta;
        let width = self.forms.len();
        let (base, first_spoken) = (frequencies.len(), spoken.len());
        let mut found = false;
        let mut entries = Entries::new(&blob[HEADER..]);
        for (term, count) in entries.by_ref() {
            if self.slots >> slot(term) & 1 == 0 {
                continue;
            }
            for (nth, (wanted, _)) in self.forms.iter().enumerate() {
                if wanted == term {
                    if !found {
                        frequencies.resize(base + width, 0);
                        found = true;
                    }
                    frequencies[base + nth] = saturated(count);
                }
            }
        }
        let mut lines = 0;
        let mut speakers = Entries::new(entries.rest);
        if !self.names.is_empty() {
            for (term, count) in speakers.by_ref() {
                let count = u32::from(saturated(count));
                let named = self.names.iter().filter(|(name, _)| name.as_bytes() == term);
                spoken.extend(named.map(|&(_, nth)| (hits.len(), nth, count)));
                lines += if term == speaker::LINES.as_bytes() { count } else { 0 };
            }
        }
        if entries.is_broken || speakers.is_broken {
            frequencies.truncate(base);
            spoken.truncate(first_spoken);
            return Err(refused());
        }
        let counts = self.counted.is_none_or(|counted| counted.contains(row));
        statistics.docs += u64::from(counts);
        // With `counted`, lengths are rounded to a byte as in the index, so that a row counts equally in both.
        statistics.tokens += match (counts, self.counted) {
            (false, _) => 0,
            (true, None) => u64::from(length),
            (true, Some(_)) => u64::from(rounded(length)),
        };
        if found && counts {
            // The forms of a term follow each other, and a row with several of them counts once.
            let mut last = None;
            for ((_, nth), frequency) in self.forms.iter().zip(&frequencies[base..]) {
                if *frequency > 0 && last != Some(nth) {
                    statistics.frequencies[*nth] += 1;
                    last = Some(nth);
                }
            }
        }
        if !found && spoken.len() > first_spoken {
            frequencies.resize(base + width, 0);
            found = true;
        }
        if found && self.keep.is_some_and(|keep| !keep.contains(row)) {
            frequencies.truncate(base);
            spoken.truncate(first_spoken);
        } else if found {
            hits.push(Hit { row, length_id: FieldNormReader::fieldnorm_to_id(length), lines });
        }
        Ok(())
    }

    /// Returns the result.
    pub fn finish(self) -> Delta {
        self.delta
    }
}

/// Returns a text's length with the rounding of the index.
fn rounded(length: u32) -> u32 {
    FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length))
}

/// Returns a frequency, limited to a byte.
fn saturated(count: usize) -> u8 {
    count.min(MOST_FREQUENCY as usize) as u8
}

impl Delta {
    /// Returns a delta without rows, for a search of the index alone.
    #[cfg(feature = "parts")]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns the number of rows with a term of the query.
    #[cfg(feature = "parts")]
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether no row has a term of the query.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// Returns the best `k` rows, best first, under a BM25; `used[n]` is the query term of the BM25's `n`th term.
    pub(super) fn best(&self, bm25: &Bm25, used: &[usize], k: usize) -> Vec<Scored> {
        let width = self.forms.len();
        let scored = self.hits.iter().zip(self.frequencies.chunks_exact(width.max(1)));
        let forms = self.used_forms(used);
        let scored = scored
            .map(|(hit, frequencies)| {
                let part =
                    |&(form, nth): &(usize, usize)| bm25.term(nth, hit.length_id, frequencies[form].into());
                Scored { row: hit.row, score: forms.iter().map(part).sum() }
            })
            .filter(|scored| scored.score > 0.0)
            .collect();
        Scored::best(scored, k)
    }
}

impl Delta {
    /// Returns the forms of the used terms, each with the position of its term in `used`.
    fn used_forms(&self, used: &[usize]) -> Vec<(usize, usize)> {
        let place = |term: usize| used.iter().position(|used| *used == term);
        self.forms.iter().enumerate().filter_map(|(form, &term)| Some((form, place(term)?))).collect()
    }

    /// Writes the rows of the delta into `examined`; returns the positions of the other rows.
    pub(super) fn examine(
        &self,
        bm25: &Bm25,
        used: &[usize],
        rows: &[RowId],
        examined: &mut Examined,
    ) -> Vec<usize> {
        let width = self.forms.len();
        let forms = self.used_forms(used);
        let at: HashMap<RowId, usize> = self.hits.iter().zip(0..).map(|(hit, at)| (hit.row, at)).collect();
        let mut rest = Vec::with_capacity(rows.len());
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            if let Some(&language) = self.languages.get(row) {
                examined.rows[place].language = language;
            }
            let Some(&at) = at.get(row) else {
                rest.push(place);
                continue;
            };
            let hit = &self.hits[at];
            places.insert(at, place);
            for &(form, nth) in &forms {
                let frequency = self.frequencies[at * width + form];
                if frequency > 0 {
                    examined.add(place, nth, bm25.term(nth, hit.length_id, frequency.into()));
                }
            }
        }
        for &(at, term, spoken) in &self.spoken {
            let nth = used.iter().position(|used| *used == term);
            if let (Some(&place), Some(nth)) = (places.get(&at), nth) {
                examined.add_spoken(place, nth, spoken, self.hits[at].lines);
            }
        }
        rest
    }
}

/// Like [`super::TextIndex::examine`], if there is no index yet.
pub fn examine_delta(terms: &[QueryTerm], rows: &[RowId], delta: &Delta) -> Examined {
    let used = select(terms, &delta.statistics);
    let bm25 = weigh(terms, &delta.statistics, &used);
    let idf_sum = idf_sum(terms, &delta.statistics);
    let mut examined = Examined::new(rows.len(), bm25.weights(used.len()), idf_sum);
    examined.names = used.iter().map(|&nth| terms[nth].is_name).collect();
    delta.examine(&bm25, &used, rows, &mut examined);
    examined
}

/// Returns the best `k` rows of the delta, if there is no index yet.
pub fn search_delta(terms: &[QueryTerm], k: usize, delta: &Delta) -> Vec<Scored> {
    let used = select(terms, &delta.statistics);
    let bm25 = weigh(terms, &delta.statistics, &used);
    delta.best(&bm25, &used, k)
}

/// Most terms that are searched for; of a longer query the weightiest are used.
const MOST_SEARCHED: usize = 64;

/// Returns the positions of the terms to search for, ascending: those that occur, at most 64, by weight times rarity.
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

/// Returns the sum of weight times rarity over all terms.
pub(super) fn idf_sum(terms: &[QueryTerm], statistics: &Statistics) -> f32 {
    let frequency = |nth: usize| statistics.frequencies.get(nth).copied().unwrap_or(0);
    let idf = |nth: usize| super::score::idf(frequency(nth), statistics.docs);
    terms.iter().enumerate().map(|(nth, term)| term.weight * idf(nth)).sum()
}

/// Returns the BM25 of the terms at `used`.
pub(super) fn weigh(terms: &[QueryTerm], statistics: &Statistics, used: &[usize]) -> Bm25 {
    let frequencies = used.iter().map(|&nth| statistics.frequencies[nth]).collect();
    let statistics = Statistics { docs: statistics.docs, tokens: statistics.tokens, frequencies };
    let most_forms = terms.iter().map(|term| 1 + term.variants.len()).max().unwrap_or(1);
    Bm25::new(&statistics, used.iter().map(|&nth| terms[nth].weight), most_forms)
}

/// Returns the forms of each term of a question in order, with the position of the term.
pub fn forms(terms: &[QueryTerm]) -> impl Iterator<Item = (usize, &str)> {
    terms.iter().enumerate().flat_map(|(nth, term)| {
        let variants = term.variants.iter().map(String::as_str);
        std::iter::once(term.term.as_str()).chain(variants).map(move |form| (nth, form))
    })
}

#[cfg(test)]
mod tests {
    use super::super::query::query_terms;
    use super::*;

    #[test]
    fn a_blob_holds_each_term_once_with_its_frequency() {
        let check = |text: &str, expected: &[u8]| assert_eq!(encode_terms(text), expected, "{text}");
        check("", &[3, 3, 0, 0, 0, 0, 0, 0]);
        check("a dog, a cat", b"\x03\x03\0\0\x04\0\0\0\x01\x02a\x03\x01cat\x03\x01dog");
        // 301 = 0x12D terms; 300 = 4 * 64 + 44.
        let many = format!("{} x", "dog ".repeat(300));
        check(&many, b"\x03\x03\0\0\x2d\x01\0\0\x03\x6c\x04dog\x01\x01x");
        check("Ada: yes", b"\x03\x03\0\0\x02\0\0\0\x03\x01ada\x03\x01yes\0\x01\x01:\x03\x01ada");
        let words: Vec<_> = (0..200).map(|nth| format!("{}{nth}", "\u{e9}".repeat(nth % 50))).collect();
        let blob = encode_terms(&words.join(", "));
        let terms: Vec<_> = Entries::new(&blob[HEADER..]).map(|(term, _)| term).collect();
        assert!(terms.is_sorted() && terms.len() >= 200 && is_whole(&blob));
    }

    #[test]
    fn a_number_of_any_size_comes_back() {
        for number in (0..usize::BITS).flat_map(|bits| [(1 << bits) - 1, 1 << bits]).chain([usize::MAX]) {
            let mut blob = Vec::new();
            put_number(&mut blob, number);
            assert!(blob.is_ascii());
            assert_eq!(take_number(&[&blob[..], b"rest"].concat()), Some((number, &b"rest"[..])));
            assert_eq!(take_number(&blob[..blob.len() - 1]), None);
        }
    }

    #[test]
    fn the_delta_alone_is_searched() {
        let terms = query_terms("brown dogs", &[]);
        let keep: RowSet = [RowId(1), RowId(2), RowId(3), RowId(4)].into_iter().collect();
        let mut scan = DeltaScan::new(&terms, Some(&keep));
        for (row, text) in [(4, "a dog"), (3, "a dog"), (2, "a cat"), (1, "a brown dog"), (9, "brown dog")] {
            scan.push(RowId(row), &encode_terms(text)).unwrap();
        }
        let delta = scan.finish();
        let found: Vec<_> = search_delta(&terms, 10, &delta).iter().map(|scored| scored.row.0).collect();
        assert_eq!(found, [1, 3, 4]);
        assert_eq!(search_delta(&terms, 0, &delta), []);
        assert_eq!(search_delta(&terms, 10, &Delta::empty()), []);
    }

    /// Tries every proper prefix of a blob, and other formats.
    #[test]
    fn what_is_no_blob_is_refused() {
        let whole = encode_terms("Ada: a dog and a cat");
        let mut scan = DeltaScan::new(&query_terms("ada", &[]), None);
        let refused = |scan: &mut DeltaScan<'_>, blob: &[u8]| {
            let error = scan.push(RowId(7), blob).unwrap_err().to_string();
            assert!(error.starts_with("terms of row 7: ") && !is_whole(blob), "{error}");
        };
        for blob in [&[][..], &[3, 1, 0], &[2, 0, 0, 0, 0, 0, 0, 0], &[3, 2, 0, 0, 1, 0, 0, 0, 5, 1, 97]] {
            refused(&mut scan, blob);
        }
        for cut in [HEADER + 1, HEADER + 2, whole.len() - 1] {
            refused(&mut scan, &whole[..cut]);
        }
        let words_end = HEADER + whole[HEADER..].iter().position(|byte| *byte == 0).unwrap();
        assert!((0..words_end).all(|cut| !is_whole(&whole[..cut])));
        assert!(is_whole(&whole) && scan.push(RowId(7), &whole).is_ok());
        assert_eq!(scan.finish().statistics.docs, 1);
    }

    #[test]
    fn every_text_has_whole_terms_and_no_blob_claims_more_than_there_can_be() {
        for text in ["س ـ: مرحبا\nس ـ: مرحبا", "🅰: hello\n🅰: again", "Ada: a cod", "ـ", ""]
        {
            assert!(is_whole(&encode_terms(text)), "{text}");
        }
        // One word "a", and a speaker "a" with a given frequency.
        let blob = |words: usize, length: u32, names: usize| {
            let mut blob = FORMAT.to_vec();
            blob.extend([0, 0]);
            blob.extend(length.to_le_bytes());
            for (count, end) in [(words, true), (names, false)] {
                put_number(&mut blob, 1);
                put_number(&mut blob, count);
                blob.push(b'a');
                if end {
                    put_number(&mut blob, 0);
                }
            }
            blob
        };
        assert!(is_whole(&blob(3, 3, 2)));
        assert!(!is_whole(&blob(3, 3, 1 << 40)) && !is_whole(&blob(1 << 40, u32::MAX, 2)));
    }
}
