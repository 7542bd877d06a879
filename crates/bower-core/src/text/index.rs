//! The lexical index of one store: which rows have a question's terms, best first. Derived: it may always be deleted.

mod among;
mod best;
mod examine;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocSet, Index, ReloadPolicy, Searcher, TantivyError, Term};

use super::analyze::ANALYSIS;
use super::directory::Files;
use super::language::Language;
use super::query::QueryTerm;
use super::score::{Bm25, Statistics};
use super::tail::{self, Tail};
use crate::error::{Error, Result};
use crate::item::{Allowed, Coverage, RowId, Scored};

pub(super) use examine::share;
pub use examine::{Examined, RowWords};

/// The layout of fields and payload. An index of another number is rebuilt.
pub(super) const FORMAT: u32 = 2;

/// The name under which the field's tokenizer is known to the index; what is folded are terms that were made before.
pub(super) const TOKENIZER: &str = "bower";

/// tantivy writes `meta.json` last; without it there is no index.
pub const META: &str = "meta.json";

/// What the index holds, kept in the commit itself and so atomic with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) format: u32,
    pub(super) analysis: u32,
    pub(super) language: Language,
    pub(super) coverage: Coverage,
}

/// An opened generation of the index: it does not change while it is held, whatever is folded meanwhile.
#[derive(Debug)]
pub struct TextIndex {
    dir: std::path::PathBuf,
    searcher: Searcher,
    payload: Payload,
    fields: Fields,
    /// Of each segment.
    columns: Vec<Columns>,
    docs: u64,
    tokens: u64,
}

/// What a segment says of each document. Opened once: to find a column by its name takes as long as to read a hundred values.
struct Columns {
    rows: Arc<dyn ColumnValues<u64>>,
    /// 0 where it has none.
    parents: Arc<dyn ColumnValues<u64>>,
    /// Whether the rows ascend, once somebody had to know.
    ascends: OnceLock<bool>,
}

impl Columns {
    fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let column = |name| Ok::<_, TantivyError>(segment.fast_fields().u64(name)?.first_or_default_col(0));
        Ok(Self { rows: column("row")?, parents: column("parent")?, ascends: OnceLock::new() })
    }
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns").field("documents", &self.rows.num_vals()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) row: Field,
    pub(super) parent: Field,
    pub(super) speaker: Field,
}

impl TextIndex {
    /// Opens the index in `dir`: `None` where none was ever committed. Nothing is written, no thread is started.
    ///
    /// Fails where the index is damaged or of another format or analysis; the caller deletes `dir` and folds anew.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        if !exists(dir)? {
            return Ok(None);
        }
        let failed = |cause: TantivyError| Error::index("open", dir, cause);
        let (schema, fields) = schema();
        let index = open_index(dir, &schema)?;
        // Another process may commit between the two reads; the payload and the segments must be of one commit.
        let mut metas = index.load_metas().map_err(failed)?;
        let searcher = loop {
            let reader = index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .doc_store_cache_num_blocks(1)
                .try_into()
                .map_err(failed)?;
            let again = index.load_metas().map_err(failed)?;
            if again.opstamp == metas.opstamp && again.payload == metas.payload {
                break reader.searcher();
            }
            metas = again;
        };
        let Some(payload) = metas.payload else { return Ok(None) };
        let payload = read_payload(dir, &payload)?;
        let mut index = Self {
            dir: dir.to_path_buf(),
            searcher,
            payload,
            fields,
            columns: Vec::new(),
            docs: 0,
            tokens: 0,
        };
        for segment in index.searcher.segment_readers() {
            index.docs += u64::from(segment.max_doc());
            index.tokens += segment.inverted_index(fields.text).map_err(failed)?.total_num_tokens();
            index.columns.push(Columns::open(segment).map_err(failed)?);
        }
        Ok(Some(index))
    }

    /// What the index holds.
    pub fn coverage(&self) -> &Coverage {
        &self.payload.coverage
    }

    /// The language of the index; questions must be analysed in it.
    pub fn language(&self) -> Language {
        self.payload.language
    }

    /// How many rows the index holds.
    pub fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Whether its files keep words of rows that are not to be found any more.
    pub fn keeps_dead(&self) -> bool {
        self.searcher.segment_readers().iter().any(|segment| segment.num_deleted_docs() > 0)
    }

    /// For each of some words as they are indexed, how many rows of its files have it; those that are not to be found any more
    /// count too.
    pub fn kept_with(&self, words: &[String]) -> Result<Vec<u64>> {
        let terms = words.iter().map(|word| QueryTerm { term: word.clone(), weight: 1.0, is_name: false });
        self.rows_with(&terms.collect::<Vec<_>>())
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For each term, how many rows have it.
    pub(super) fn rows_with(&self, terms: &[QueryTerm]) -> Result<Vec<u64>> {
        let failed = |cause: TantivyError| Error::index("search", &self.dir, cause);
        terms
            .iter()
            .map(|term| self.searcher.doc_freq(&Term::from_field_text(self.fields.text, &term.term)))
            .collect::<Result<_, _>>()
            .map_err(failed)
    }

    /// Reads every byte of the index and compares checksums, for `doctor`; fails on the first damaged file.
    pub fn verify(&self) -> Result<()> {
        let damaged = self
            .searcher
            .index()
            .validate_checksum()
            .map_err(|cause| Error::index("verify", &self.dir, cause))?;
        match damaged.iter().min() {
            None => Ok(()),
            Some(file) => Err(Error::Corrupt {
                path: self.dir.join(file),
                reason: "its checksum does not match".into(),
            }),
        }
    }

    /// A question as this generation sees it: the statistics of index and tail together, and where its terms are. `tail` was
    /// scanned for the same `terms`.
    pub fn prepare(&self, terms: &[QueryTerm], tail: &Tail) -> Result<Prepared> {
        let failed = |cause: TantivyError| Error::index("search", &self.dir, cause);
        let mut statistics = Statistics {
            docs: self.docs + tail.statistics.docs,
            tokens: self.tokens + tail.statistics.tokens,
            frequencies: vec![0; terms.len()],
        };
        let tailed = &tail.statistics.frequencies;
        if !tailed.is_empty() {
            if tailed.len() != terms.len() {
                let reason = format!("scanned for {} terms, searched for {}", tailed.len(), terms.len());
                return Err(Error::invalid("tail", reason));
            }
            statistics.frequencies.copy_from_slice(tailed);
        }
        let lookups: Vec<Term> =
            terms.iter().map(|term| Term::from_field_text(self.fields.text, &term.term)).collect();
        let mut infos = Vec::with_capacity(self.searcher.segment_readers().len());
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.text).map_err(failed)?;
            let found: Result<Vec<_>, _> = lookups.iter().map(|term| inverted.get_term_info(term)).collect();
            let found = found.map_err(|cause| Error::index("search", &self.dir, cause))?;
            for (frequency, info) in statistics.frequencies.iter_mut().zip(&found) {
                *frequency += info.as_ref().map_or(0, |info| u64::from(info.doc_freq));
            }
            infos.push(found);
        }
        let used = tail::select(terms, &statistics);
        let bm25 = tail::weigh(terms, &statistics, &used);
        let idf_sum = tail::idf_sum(terms, &statistics);
        let names = used.iter().map(|&nth| terms[nth].is_name).collect();
        Ok(Prepared { infos, used, bm25, idf_sum, names })
    }

    /// The best `k` rows for a question among those of the index that are allowed and those of the tail, best first.
    ///
    /// `tail` is that of `question`; its rows must be in `allowed.drop` where the index has older versions.
    /// BM25 (k1 1.2, b .75, lengths quantised to a byte) with the statistics of index and tail together, so a row's
    /// score does not depend on where it is. Rows that are dropped but not yet folded away count in the statistics.
    /// Of more than 64 terms that occur the weightiest are used. Equal scores are ordered by row, at the cut-off too.
    pub fn search(
        &self,
        question: &Prepared,
        k: usize,
        allowed: Allowed<'_>,
        tail: &Tail,
    ) -> Result<Vec<Scored>> {
        if question.used.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        let failed = |cause: TantivyError| Error::index("search", &self.dir, cause);
        let mut found = self.best(question, k, allowed).map_err(failed)?;
        found.extend(tail.best(&question.bm25, &question.used, k));
        tail::top(&mut found, k);
        Ok(found)
    }

    /// The best `k` rows of the index, in no order.
    fn best(&self, question: &Prepared, k: usize, allowed: Allowed<'_>) -> tantivy::Result<Vec<Scored>> {
        let mut kept = Best::new(k);
        let everything = allowed.is_everything();
        let segments = self.searcher.segment_readers().iter().zip(&self.columns);
        for ((segment, columns), infos) in segments.zip(&question.infos) {
            let rows = &columns.rows;
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut cursors = Vec::with_capacity(question.used.len());
            for (nth, &term) in question.used.iter().enumerate() {
                if let Some(info) = &infos[term] {
                    let option = IndexRecordOption::WithFreqs;
                    let postings = inverted.read_block_postings_from_terminfo(info, option)?;
                    cursors.push(best::Cursor::new(postings, nth));
                }
            }
            let lengths = segment.get_fieldnorms_reader(self.fields.text)?;
            if let Some(docs) = self.kept(segment, columns, allowed) {
                let (bm25, threshold) = (&question.bm25, kept.threshold);
                among::among(cursors, docs, k, bm25, &lengths, threshold, &mut |doc, score| {
                    kept.push(Scored { row: RowId(rows.get_val(doc) as u32), score });
                    kept.threshold
                });
                continue;
            }
            let alive = segment.alive_bitset();
            best::best(cursors, &question.bm25, &lengths, kept.threshold, &mut |doc, score| {
                if alive.is_none_or(|alive| alive.is_alive(doc)) {
                    let row = RowId(rows.get_val(doc) as u32);
                    if everything || allowed.contains(row) {
                        kept.push(Scored { row, score });
                    }
                }
                kept.threshold
            });
        }
        Ok(kept.finish())
    }

    /// Gives what each used term adds to each document of a segment: term by term, documents ascending.
    fn parts(
        &self,
        ord: usize,
        docs: &[(u32, usize)],
        question: &Prepared,
        add: &mut dyn FnMut(usize, usize, f32),
    ) -> tantivy::Result<()> {
        let segment: &SegmentReader = self.searcher.segment_reader(ord as u32);
        let inverted = segment.inverted_index(self.fields.text)?;
        let norms = segment.get_fieldnorms_reader(self.fields.text)?;
        for (nth, &term) in question.used.iter().enumerate() {
            let Some(info) = &question.infos[ord][term] else { continue };
            let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            for &(doc, place) in docs {
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                if postings.doc() == doc {
                    add(place, nth, question.bm25.term(nth, norms.fieldnorm_id(doc), postings.term_freq()));
                }
            }
        }
        Ok(())
    }
}

/// A question as one generation of the index sees it.
#[derive(Debug)]
pub struct Prepared {
    /// For each segment, where it has each term.
    infos: Vec<Vec<Option<TermInfo>>>,
    /// The places of the terms that are searched for.
    used: Vec<usize>,
    bm25: Bm25,
    idf_sum: f32,
    /// Of each of those, whether the question names something by it.
    pub(super) names: Vec<bool>,
}

/// The best `k` rows seen.
struct Best {
    k: usize,
    /// Only scores above this can still belong to the best.
    threshold: f32,
    seen: Vec<Scored>,
}

impl Best {
    fn new(k: usize) -> Self {
        Self { k, threshold: 0.0, seen: Vec::new() }
    }

    fn push(&mut self, hit: Scored) {
        self.seen.push(hit);
        if self.seen.len() >= self.k.saturating_mul(2).max(self.k.saturating_add(32)) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.seen.len() >= self.k {
            let (_, last, _) = self.seen.select_nth_unstable_by(self.k - 1, Scored::cmp_best_first);
            // Equal scores must still pass, because a later one may have the smaller row.
            self.threshold = last.score.next_down().max(0.0);
            self.seen.truncate(self.k);
        }
    }

    fn finish(mut self) -> Vec<Scored> {
        self.cut();
        self.seen
    }
}

pub(super) fn exists(dir: &Path) -> Result<bool> {
    let meta = dir.join(META);
    meta.try_exists().map_err(|cause| Error::io("read", &meta, cause))
}

pub(super) fn open_index(dir: &Path, schema: &Schema) -> Result<Index> {
    let files = Files::open(dir).map_err(|cause| Error::index("open", dir, cause))?;
    let index = Index::open(files).map_err(|cause| Error::index("open", dir, cause))?;
    if index.schema() != *schema {
        let reason = "its fields are not those of a text index".into();
        return Err(Error::Corrupt { path: dir.to_path_buf(), reason });
    }
    Ok(index)
}

pub(super) fn read_payload(dir: &Path, payload: &str) -> Result<Payload> {
    let corrupt = |reason: String| Error::Corrupt { path: dir.to_path_buf(), reason };
    let payload: Payload = serde_json::from_str(payload)
        .map_err(|cause| corrupt(format!("its commit carries {payload:?}: {cause}")))?;
    if (payload.format, payload.analysis) != (FORMAT, ANALYSIS) {
        let found = format!("{}.{}", payload.format, payload.analysis);
        return Err(corrupt(format!("its format is {found}, this program writes {FORMAT}.{ANALYSIS}")));
    }
    Ok(payload)
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let terms = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(terms));
    let row = schema.add_u64_field("row", INDEXED | FAST);
    let parent = schema.add_u64_field("parent", FAST);
    let names = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let speaker = schema.add_text_field("speaker", TextOptions::default().set_indexing_options(names));
    (schema.build(), Fields { text, row, parent, speaker })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fold::{FoldPlan, FreshText, fold};
    use super::super::query::query_terms;
    use super::super::tail::{TailScan, encode_terms, search_tail};
    use super::*;
    use crate::item::{Change, RowSet};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const ENGLISH: Language = Language::English;

    fn coverage(change: u64) -> Coverage {
        Coverage { store: "s".into(), change: Change(change), mark: change * 7 }
    }

    /// A row whose parent is its number without the last digit.
    fn fresh(row: u32, text: &str) -> FreshText {
        FreshText { row: RowId(row), parent: u64::from(row / 10), terms: encode_terms(text, ENGLISH) }
    }

    pub(super) fn put(dir: &Path, change: u64, gone: &[u32], rows: &[(u32, &str)]) {
        let gone = gone.iter().map(|&row| RowId(row)).collect();
        let plan = FoldPlan {
            next: coverage(change),
            language: ENGLISH,
            gone: &gone,
            memory_bytes: 0,
            purge: false,
        };
        fold(dir, &plan, &mut rows.iter().map(|&(row, text)| Ok(fresh(row, text)))).unwrap();
    }

    fn ask(dir: &Path, question: &str) -> Vec<u32> {
        let index = TextIndex::open(dir).unwrap().unwrap();
        let all = Allowed { keep: None, drop: &RowSet::new() };
        let question = index.prepare(&query_terms(question, ENGLISH), &Tail::empty()).unwrap();
        let found = index.search(&question, 10, all, &Tail::empty()).unwrap();
        found.iter().map(|scored| scored.row.0).collect()
    }

    #[test]
    fn rows_ascend_in_a_merged_segment() {
        let dir = tempfile::tempdir().unwrap();
        // Each next one is small enough to be merged with those before, and the smallest come last.
        put(dir.path(), 1, &[], &[(1, "cod"), (2, "cod"), (3, "cod")]);
        put(dir.path(), 2, &[], &[(4, "cod"), (5, "cod")]);
        put(dir.path(), 3, &[], &[(6, "cod")]);
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        for segment in index.searcher.segment_readers() {
            let column = Columns::open(segment).unwrap().rows;
            let rows: Vec<u64> = (0..segment.max_doc()).map(|doc| column.get_val(doc)).collect();
            assert!(rows.is_sorted(), "{rows:?}");
        }
    }

    #[test]
    fn rows_are_added_replaced_and_removed_with_their_coverage() {
        let dir = tempfile::tempdir().unwrap();
        let dir = &dir.path().join("text");
        assert!(TextIndex::open(dir).unwrap().is_none());
        put(dir, 3, &[], &[(5, "a red house"), (2, "red red wine"), (9, "nothing"), (1, "")]);
        assert_eq!(ask(dir, "what is red?"), [2, 5]);
        put(dir, 4, &[2, 77], &[(5, "a blue house"), (6, "a red house")]);
        assert_eq!((ask(dir, "red"), ask(dir, "houses")), (vec![6], vec![5, 6]));
        let index = TextIndex::open(dir).unwrap().unwrap();
        assert_eq!((index.coverage(), index.len(), index.language()), (&coverage(4), 4, ENGLISH));
        index.verify().unwrap();
    }

    #[test]
    fn a_fold_that_fails_leaves_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), 1, &[], &[(1, "one")]);
        let plan = FoldPlan {
            next: coverage(2),
            language: ENGLISH,
            gone: &RowSet::new(),
            memory_bytes: 0,
            purge: false,
        };
        let rows = [Ok(fresh(2, "one two")), Err(Error::invalid("row 3", "gone"))];
        assert!(fold(dir.path(), &plan, &mut rows.into_iter()).is_err());
        assert_eq!(TextIndex::open(dir.path()).unwrap().unwrap().coverage(), &coverage(1));
        let german = FoldPlan { language: Language::German, ..plan };
        assert!(
            fold(dir.path(), &german, &mut std::iter::empty()).unwrap_err().to_string().contains("german")
        );
        put(dir.path(), 2, &[], &[(2, "two")]);
        assert_eq!(ask(dir.path(), "two"), [2]);
    }

    #[test]
    fn damage_is_an_error_and_not_an_empty_answer() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), 1, &[], &[(1, "one")]);
        std::fs::write(dir.path().join(META), "{}").unwrap();
        assert!(TextIndex::open(dir.path()).is_err());
        let payload =
            r#"{"format":1,"analysis":0,"language":"english","coverage":{"store":"s","change":1,"mark":1}}"#;
        assert!(read_payload(dir.path(), payload).unwrap_err().to_string().contains("its format is 1.0"));
    }

    #[test]
    fn segments_stay_few() {
        let dir = tempfile::tempdir().unwrap();
        for change in 0..24 {
            put(dir.path(), change, &[], &[(change as u32, "same words")]);
            let index = TextIndex::open(dir.path()).unwrap().unwrap();
            assert!(index.searcher.segment_readers().len() <= 3, "after {change}");
        }
        assert_eq!(ask(dir.path(), "words"), (0..10).collect::<Vec<_>>());
    }

    /// Many windows of documents, words of every rarity, filters and dead rows: `MaxScore` gives the same bits as scoring each
    /// row, which the tail does.
    #[test]
    fn the_best_of_many_rows_are_those_of_all() {
        // Word n is in about one of n + 1 rows.
        let mut seed = 1_u64;
        let mut dice = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let word = |nth: u64| char::from(b'a' + (nth % 26) as u8).to_string().repeat(2 + nth as usize / 26);
        let texts: Vec<String> = (0..30_000)
            .map(|_| {
                let mut words = String::new();
                for nth in 0..40 {
                    if dice(nth * nth / 2 + 1) == 0 {
                        let times = 1 + dice(3) as usize * dice(2) as usize;
                        words += &format!("{} ", word(nth)).repeat(times);
                    }
                }
                format!("{words}{}", "zzzz ".repeat(dice(60) as usize))
            })
            .collect();
        let rows: Vec<(u32, &str)> =
            (0..).zip(&texts).map(|(at, text)| (at * 2 + 1, text.as_str())).collect();
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), 1, &[], &rows[..27_000]);
        put(dir.path(), 2, &[41, 43, 8_001], &rows[27_000..]);
        let index = TextIndex::open(dir.path()).unwrap().unwrap();
        assert!(index.searcher.segment_readers().iter().any(|segment| segment.max_doc() > 3 * 4_096));
        let drop: RowSet =
            [RowId(5), RowId(40_001), RowId(41), RowId(43), RowId(8_001)].into_iter().collect();
        // One row in 102, in nine, and some that no segment has, in one run.
        let keeps = [
            rows.iter().map(|(row, _)| RowId(*row)).filter(|row| row.0 % 51 == 0).collect(),
            rows.iter().map(|(row, _)| RowId(*row)).filter(|row| row.0 % 9 == 0).collect(),
            (53_800..54_100).chain(59_990..60_100).map(RowId).collect(),
            RowSet::new(),
        ];
        let is_narrow = |keep: &RowSet| {
            let segment = index.searcher.segment_reader(0);
            let allowed = Allowed { keep: Some(keep), drop: &drop };
            index.kept(segment, &index.columns[0], allowed).is_some()
        };
        assert_eq!(keeps.each_ref().map(is_narrow), [true, false, true, true]);
        let questions =
            [vec![0], vec![39], vec![0, 1, 2], vec![1, 5, 20, 38], vec![0, 1, 2, 3, 4, 7, 9, 12, 30, 39]];
        for question in questions {
            let question: Vec<String> = question.into_iter().map(word).collect();
            let terms = query_terms(&question.join(" "), ENGLISH);
            assert_eq!(terms.len(), question.len());
            let prepared = index.prepare(&terms, &Tail::empty()).unwrap();
            for keep in keeps.iter().map(Some).chain([None]) {
                let mut scan = TailScan::new(&terms, &[], keep);
                // Rows that are dropped, or gone and not yet folded away, count in the statistics.
                for (row, text) in &rows {
                    scan.push(RowId(*row), &encode_terms(text, ENGLISH)).unwrap();
                }
                let tail = scan.finish();
                for k in [1, 10, 200, 3_000] {
                    let found =
                        index.search(&prepared, k, Allowed { keep, drop: &drop }, &Tail::empty()).unwrap();
                    let mut all = search_tail(&terms, rows.len(), &tail);
                    all.retain(|hit| !drop.contains(hit.row));
                    all.truncate(k);
                    assert_eq!(found, all, "{question:?} {k}");
                }
            }
        }
    }

    /// BM25 in double precision, straight from its definition; lengths up to 40 are not quantised.
    fn by_hand(rows: &BTreeMap<u32, String>, terms: &[QueryTerm]) -> Vec<(u32, f64)> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<_> = rows.iter().map(|(row, text)| (*row, words(text))).collect();
        let docs = rows.len() as f64;
        let average = rows.iter().map(|(_, words)| words.len() as f64).sum::<f64>() / docs;
        let mut scored = Vec::new();
        for (row, words) in &rows {
            let mut score = 0.0;
            for term in terms {
                let n = rows.iter().filter(|(_, words)| words.contains(&term.term)).count() as f64;
                let tf = words.iter().filter(|word| **word == term.term).count() as f64;
                let norm = 1.2 * (0.25 + 0.75 * words.len() as f64 / average);
                score += f64::from(term.weight) * (1.0 + (docs - n + 0.5) / (n + 0.5)).ln() * 2.2 * tf
                    / (tf + norm);
            }
            if score > 0.0 {
                scored.push((*row, score));
            }
        }
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_row_scores_the_same_in_index_and_tail(
            texts in prop::collection::vec(prop::collection::vec(0_usize..9, 1..30), 1..400),
            split in any::<u64>(), k in 1_usize..40, kept in 0_usize..4, question in 0_usize..4,
        ) {
            const WORDS: [&str; 9] = ["ax", "bo", "cod", "dun", "elf", "fig", "gum", "hat", "ink"];
            let question = ["gum", "ax bo", "cod cod dun elf", "ink hat fig gum elf dun cod bo ax"][question];
            let terms = query_terms(question, ENGLISH);
            let rows: BTreeMap<u32, String> = texts.iter().enumerate().map(|(nth, words)| {
                let words: Vec<_> = words.iter().map(|&word| WORDS[word * word / 9]).collect();
                (nth as u32 * 3, words.join(" "))
            }).collect();
            let keep: RowSet = rows.keys().filter(|row| *row / 3 % 4 >= kept as u32).map(|&row| RowId(row)).collect();
            let keep = (kept > 0).then_some(&keep);
            let drop = RowSet::new();
            let allowed = Allowed { keep, drop: &drop };
            let search = |in_main: &dyn Fn(u32) -> bool| {
                let dir = tempfile::tempdir().unwrap();
                for part in 0..2 {
                    let main: Vec<_> = rows.iter().filter(|(row, _)| in_main(**row) && **row % 2 == part)
                        .map(|(row, text)| (*row, text.as_str())).collect();
                    put(dir.path(), 1, &[], &main);
                }
                let mut scan = TailScan::new(&terms, &[], keep);
                for (row, text) in rows.iter().filter(|(row, _)| !in_main(**row)) {
                    scan.push(RowId(*row), &encode_terms(text, ENGLISH)).unwrap();
                }
                let index = TextIndex::open(dir.path()).unwrap().unwrap();
                let tail = scan.finish();
                index.search(&index.prepare(&terms, &tail).unwrap(), k, allowed, &tail).unwrap()
            };
            let all = search(&|_| true);
            prop_assert_eq!(&search(&|row| split >> (row % 61) & 1 == 1), &all);
            let mut scan = TailScan::new(&terms, &[], keep);
            for (row, text) in &rows {
                scan.push(RowId(*row), &encode_terms(text, ENGLISH)).unwrap();
            }
            prop_assert_eq!(&search_tail(&terms, k, &scan.finish()), &all);
            let mut expected = by_hand(&rows, &terms);
            expected.retain(|(row, _)| keep.is_none_or(|keep| keep.contains(RowId(*row))));
            expected.truncate(k);
            prop_assert_eq!(all.len(), expected.len());
            for (found, (_, score)) in all.iter().zip(&expected) {
                prop_assert!((f64::from(found.score) - score).abs() < 1e-4, "{:?} {}", found, score);
            }
        }
    }
}
