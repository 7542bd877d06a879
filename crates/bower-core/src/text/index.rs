//! The text index of one store: finds the rows with a question's terms, best first.
//! It is derived and may be deleted at any time.

mod among;
mod best;
mod columns;
mod examine;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tantivy::index::SegmentReader;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocId, DocSet, Index, ReloadPolicy, Searcher, TERMINATED, TantivyError, Term};

use super::analyze::ANALYSIS;
use super::delta::{self, Delta};
use super::directory::{Files, META};
use super::language::Language;
use super::query::QueryTerm;
use super::score::{Bm25, Statistics};
use crate::error::{Error, Result};
use crate::item::{Allowed, Coverage, RowId, Scored};
use columns::Columns;

/// Version of fields and payload. An index of another version is rebuilt.
pub(super) const FORMAT: u32 = 2;

/// The name of the field's tokenizer. Compaction passes terms that are already analysed.
pub(super) const TOKENIZER: &str = "bower";

/// A row in a language other than English has this byte and the two letters of the language among its speakers. No speaker's
/// name has a control character.
pub(super) const LANGUAGE_MARK: &[u8] = b"\x01";
const AFTER_LANGUAGE_MARK: &[u8] = b"\x02";

/// Seeking one document in a term's list costs as much as reading this many documents of it.
const SEEKING: usize = 16;

/// The coverage of the index, stored in the commit and so atomic with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) format: u32,
    pub(super) analysis: u32,
    pub(super) coverage: Coverage,
    /// Whether the commit has checksums for its files' blocks; `directory.rs` reads this. Older versions wrote none.
    #[serde(default)]
    pub(super) sums: bool,
}

/// An opened generation of the index. It does not change while it is open, even during compactions.
#[derive(Debug)]
pub struct TextIndex {
    dir: std::path::PathBuf,
    files: Files,
    searcher: Searcher,
    payload: Payload,
    fields: Fields,
    /// The columns of each segment.
    columns: Vec<Columns>,
    docs: u64,
    tokens: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) row: Field,
    pub(super) parent: Field,
    pub(super) speaker: Field,
}

impl TextIndex {
    /// Opens the index in `dir`; `None` if none was ever committed. It writes nothing and starts no thread.
    ///
    /// Fails if the index is damaged or has another format or analysis. The caller then deletes `dir` and compacts again.
    pub fn open(dir: &Path) -> Result<Option<Self>> {
        if !exists(dir)? {
            return Ok(None);
        }
        let failed = |cause: TantivyError| Error::index("open", dir, cause);
        let (schema, fields) = schema();
        let (index, files) = open_index(dir, &schema)?;
        // Another process may commit between the two reads; payload and segments must be from one commit.
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
            files,
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

    /// Returns the index's coverage.
    pub fn coverage(&self) -> &Coverage {
        &self.payload.coverage
    }

    /// Returns the number of rows in the index.
    pub fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Whether its files have block checksums. An index of an older version gets them from the next compaction.
    pub fn has_sums(&self) -> bool {
        self.files.has_sums()
    }

    /// Returns the damage found while reading. Results read from a damaged index must not be used.
    pub fn damage(&self) -> Option<Error> {
        self.files.damage()
    }

    /// Returns its files with checksums.
    pub fn paths(&self) -> Vec<std::path::PathBuf> {
        self.files.paths()
    }

    /// Whether its files contain words of deleted rows.
    pub fn keeps_dead(&self) -> bool {
        self.searcher.segment_readers().iter().any(|segment| segment.num_deleted_docs() > 0)
    }

    /// Returns for each indexed word the number of rows in its files that contain it, deleted rows included.
    pub fn kept_with(&self, words: &[String]) -> Result<Vec<u64>> {
        self.rows_with(&words.iter().map(QueryTerm::of).collect::<Vec<_>>())
    }

    /// Whether the index has no rows.
    #[cfg(feature = "parts")]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns for each term the number of rows that contain it, or the sum of these numbers of its forms.
    pub(super) fn rows_with(&self, terms: &[QueryTerm]) -> Result<Vec<u64>> {
        let mut rows = vec![0; terms.len()];
        for (nth, form) in delta::forms(terms) {
            let found = self.searcher.doc_freq(&Term::from_field_text(self.fields.text, form));
            rows[nth] += found.map_err(|cause| Error::index("search", &self.dir, cause))?;
        }
        Ok(rows)
    }

    /// Returns the languages of its rows other than English, each with its number of rows. With `counted` only these rows
    /// count; otherwise also those that were deleted and are still in its files.
    pub fn languages(&self, counted: Option<Allowed<'_>>) -> Result<BTreeMap<Language, u64>> {
        let mut languages = BTreeMap::new();
        for (segment, columns) in self.searcher.segment_readers().iter().zip(&self.columns) {
            self.each_language(segment, |language, postings| {
                let counts = |doc: DocId| {
                    let is_alive = segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc));
                    let row = RowId(columns.rows.get_val(doc) as u32);
                    counted.is_none_or(|counted| is_alive && counted.contains(row))
                };
                // Without a selection nothing needs to be read.
                let mut rows = if counted.is_none() { u64::from(postings.size_hint()) } else { 0 };
                while counted.is_some() && postings.doc() != TERMINATED {
                    rows += u64::from(counts(postings.doc()));
                    postings.advance();
                }
                if rows > 0 {
                    *languages.entry(language).or_default() += rows;
                }
            })
            .map_err(|cause| Error::index("read the languages of", &self.dir, cause))?;
        }
        Ok(languages)
    }

    /// Passes each language of a segment's rows other than English, with the documents in it.
    fn each_language(
        &self,
        segment: &SegmentReader,
        mut each: impl FnMut(Language, &mut SegmentPostings),
    ) -> tantivy::Result<()> {
        let inverted = segment.inverted_index(self.fields.speaker)?;
        let mut marks = inverted.terms().range().ge(LANGUAGE_MARK).lt(AFTER_LANGUAGE_MARK).into_stream()?;
        while let Some((mark, info)) = marks.next() {
            let code = str::from_utf8(&mark[LANGUAGE_MARK.len()..]).unwrap_or_default();
            if let Some(language) = Language::of_code(code) {
                each(language, &mut inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?);
            }
        }
        Ok(())
    }

    /// Verifies every byte of the index, for `doctor`; fails on the first damaged file.
    pub fn verify(&self) -> Result<()> {
        // Opened again, because verified blocks of the open files are not read again.
        let (_, files) = open_index(&self.dir, &schema().0)?;
        if files.has_sums() { files.check_all() } else { files.verify_whole() }
    }

    /// Prepares a question for this generation: the statistics of index and delta together, and the positions of its
    /// terms. `delta` was scanned for the same `terms`. With `counted` only these rows count in the statistics, and the
    /// delta was scanned for them too.
    pub fn prepare(
        &self,
        terms: &[QueryTerm],
        delta: &Delta,
        counted: Option<Allowed<'_>>,
    ) -> Result<Prepared> {
        let (statistics, infos) = self.statistics(terms, delta, counted)?;
        let used = delta::select(terms, &statistics);
        let bm25 = delta::weigh(terms, &statistics, &used);
        let idf_sum = delta::idf_sum(terms, &statistics);
        let forms = delta::forms(terms).map(|(nth, _)| nth).enumerate();
        let forms =
            forms.filter_map(|(form, term)| Some((form, used.iter().position(|used| *used == term)?)));
        let forms = forms.collect();
        let terms = used.iter().map(|&nth| terms[nth].clone()).collect();
        Ok(Prepared { infos, used, forms, terms, bm25, idf_sum })
    }

    /// Returns the statistics of index and delta together, and each segment's position of each form of the terms.
    pub(super) fn statistics(
        &self,
        terms: &[QueryTerm],
        delta: &Delta,
        counted: Option<Allowed<'_>>,
    ) -> Result<(Statistics, Vec<Vec<Option<TermInfo>>>)> {
        let failed = |cause: TantivyError| Error::index("search", &self.dir, cause);
        let mut statistics = Statistics {
            docs: delta.statistics.docs,
            tokens: delta.statistics.tokens,
            frequencies: vec![0; terms.len()],
        };
        if counted.is_none() {
            statistics.docs += self.docs;
            statistics.tokens += self.tokens;
        }
        let waiting = &delta.statistics.frequencies;
        if !waiting.is_empty() {
            if waiting.len() != terms.len() {
                let reason = format!("scanned for {} terms, searched for {}", waiting.len(), terms.len());
                return Err(Error::invalid("delta", reason));
            }
            statistics.frequencies.copy_from_slice(waiting);
        }
        let (words, lookups): (Vec<usize>, Vec<Term>) = delta::forms(terms)
            .map(|(nth, form)| (nth, Term::from_field_text(self.fields.text, form)))
            .unzip();
        let mut infos = Vec::with_capacity(self.searcher.segment_readers().len());
        for (segment, columns) in self.searcher.segment_readers().iter().zip(&self.columns) {
            let inverted = segment.inverted_index(self.fields.text).map_err(failed)?;
            let found: Result<Vec<_>, _> = lookups.iter().map(|term| inverted.get_term_info(term)).collect();
            let found = found.map_err(|cause| Error::index("search", &self.dir, cause))?;
            match counted {
                None => {
                    for (&nth, info) in words.iter().zip(&found) {
                        statistics.frequencies[nth] +=
                            info.as_ref().map_or(0, |info| u64::from(info.doc_freq));
                    }
                }
                Some(counted) => self
                    .count(segment, columns, counted, &words, &found, &mut statistics)
                    .map_err(|cause| Error::index("search", &self.dir, cause))?,
            }
            infos.push(found);
        }
        Ok((statistics, infos))
    }

    /// Adds some rows of a segment to the statistics.
    fn count(
        &self,
        segment: &SegmentReader,
        columns: &Columns,
        counted: Allowed<'_>,
        words: &[usize],
        forms: &[Option<TermInfo>],
        statistics: &mut Statistics,
    ) -> tantivy::Result<()> {
        let docs = columns.kept(segment, self.docs, counted).unwrap_or_else(|| {
            let alive = segment.alive_bitset();
            let is_counted = |doc: &DocId| {
                alive.is_none_or(|alive| alive.is_alive(*doc))
                    && counted.contains(RowId(columns.rows.get_val(*doc) as u32))
            };
            (0..segment.max_doc()).filter(is_counted).collect()
        });
        let lengths = segment.get_fieldnorms_reader(self.fields.text)?;
        statistics.docs += docs.len() as u64;
        statistics.tokens += docs.iter().map(|&doc| u64::from(lengths.fieldnorm(doc))).sum::<u64>();
        let inverted = segment.inverted_index(self.fields.text)?;
        let mut is_counted = Vec::new();
        for (&nth, info) in words.iter().zip(forms) {
            let Some(info) = info else { continue };
            let frequency = &mut statistics.frequencies[nth];
            let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            if docs.len() < info.doc_freq as usize / SEEKING {
                for &doc in &docs {
                    let at = if postings.doc() < doc { postings.seek(doc) } else { postings.doc() };
                    *frequency += u64::from(at == doc);
                }
                continue;
            }
            if is_counted.is_empty() {
                is_counted.resize(segment.max_doc() as usize, false);
                for &doc in &docs {
                    is_counted[doc as usize] = true;
                }
            }
            let mut doc = postings.doc();
            while doc != TERMINATED {
                *frequency += u64::from(is_counted[doc as usize]);
                doc = postings.advance();
            }
        }
        Ok(())
    }

    /// Returns the best `k` rows for a question from the allowed rows of the index and those of the delta, best first.
    ///
    /// `delta` belongs to `question`; its rows must be in `allowed.drop` if the index has older versions of them. BM25
    /// (k1 1.2, b .75, lengths quantised to a byte) uses the statistics of index and delta together. So a row's score
    /// does not depend on where it is. Dropped rows that are not yet compacted away count in the statistics. If more
    /// than 64 terms occur, the weightiest are used. Equal scores are ordered by row, at the cut-off too.
    pub fn search(
        &self,
        question: &Prepared,
        k: usize,
        allowed: Allowed<'_>,
        delta: &Delta,
    ) -> Result<Vec<Scored>> {
        if question.used.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        let failed = |cause: TantivyError| Error::index("search", &self.dir, cause);
        let mut found = self.best(question, k, allowed).map_err(failed)?;
        found.extend(delta.best(&question.bm25, &question.used, k));
        Ok(Scored::best(found, k))
    }

    /// Returns the best `k` rows of the index, unordered.
    fn best(&self, question: &Prepared, k: usize, allowed: Allowed<'_>) -> tantivy::Result<Vec<Scored>> {
        let mut kept = Best::new(k);
        let everything = allowed.is_everything();
        let segments = self.searcher.segment_readers().iter().zip(&self.columns);
        for ((segment, columns), infos) in segments.zip(&question.infos) {
            let rows = &columns.rows;
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut cursors = Vec::with_capacity(question.used.len());
            for &(form, nth) in &question.forms {
                if let Some(info) = &infos[form] {
                    let option = IndexRecordOption::WithFreqs;
                    let postings = inverted.read_block_postings_from_terminfo(info, option)?;
                    cursors.push(best::Cursor::new(postings, nth));
                }
            }
            let lengths = segment.get_fieldnorms_reader(self.fields.text)?;
            if let Some(docs) = columns.kept(segment, self.docs, allowed) {
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

    /// Passes to `add` what each used term adds to each document of a segment: term by term, documents ascending.
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
        for &(form, nth) in &question.forms {
            let Some(info) = &question.infos[ord][form] else { continue };
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

/// A question prepared for one generation of the index.
#[derive(Debug)]
pub struct Prepared {
    /// For each segment, the position of each form of the question's terms.
    infos: Vec<Vec<Option<TermInfo>>>,
    /// The positions of the terms that are searched for.
    used: Vec<usize>,
    /// The positions of their forms, each with the position of its term in `used`.
    forms: Vec<(usize, usize)>,
    /// Those terms.
    terms: Vec<QueryTerm>,
    bm25: Bm25,
    idf_sum: f32,
}

/// The best `k` rows so far.
struct Best {
    k: usize,
    /// Scores up to this cannot be among the best.
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
    meta.try_exists().map_err(|cause| Error::index_file("read", &meta, cause))
}

pub(super) fn open_index(dir: &Path, schema: &Schema) -> Result<(Index, Files)> {
    let files = Files::open(dir).map_err(|cause| Error::index("open", dir, cause))?;
    let index = Index::open(files.clone()).map_err(|cause| Error::index("open", dir, cause))?;
    if index.schema() != *schema {
        let reason = "its fields are not those of a text index".into();
        return Err(Error::Corrupt { at: dir.into(), reason });
    }
    Ok((index, files))
}

pub(super) fn read_payload(dir: &Path, payload: &str) -> Result<Payload> {
    let corrupt = |reason: String| Error::Corrupt { at: dir.into(), reason };
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
pub(super) mod tests;
