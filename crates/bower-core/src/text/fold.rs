//! How the lexical index is brought up to date: one commit, all or nothing, with what it then holds.

use std::path::Path;

use tantivy::index::{SegmentId, SegmentReader};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::analyze::{ANALYSIS, Analyzer, Purpose};
use super::directory::Files;
use super::index::{FORMAT, Payload, TOKENIZER, exists, open_index, read_payload, schema};
use super::language::Language;
use super::speaker;
use crate::error::{Error, Result};
use crate::item::{Coverage, RowId, RowSet};

/// tantivy refuses a smaller memory budget.
const LEAST_MEMORY: usize = 15_000_000;

/// A segment stays apart from the smaller ones only while it is this many times larger than all of them together.
const SEGMENT_RATIO: u64 = 4;

/// A segment with more deleted rows than one in this many is written anew.
const DELETED_SHARE: u64 = 4;

/// What to fold into the index.
#[derive(Clone, Debug)]
pub struct FoldPlan<'a> {
    /// What the index holds afterwards.
    pub next: Coverage,
    /// The language whose stemmer is used; that of the existing index if there is one.
    pub language: Language,
    /// Rows to remove, whether or not the index has them.
    pub gone: &'a RowSet,
    /// Memory for terms that are not yet written, in bytes; at least 15 MB are used. Larger means fewer merges.
    pub memory_bytes: usize,
}

/// A row to fold in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreshText {
    /// The row.
    pub row: RowId,
    /// What it is a part of (a document, a session): rows with the same number belong together; 0 is none.
    pub parent: u64,
    /// Its text.
    pub text: String,
}

/// Brings the index in `dir` to `plan.next`: removes `plan.gone` and all `fresh` rows, adds `fresh`, commits.
///
/// Creates the index where there is none. Either everything is visible afterwards, with the new coverage, or (on any
/// error, also one from `fresh`, and when the process dies) nothing. The caller holds the fold lock. Segments are
/// merged until each is four times larger than all smaller ones together: at most `log5(rows) + 1` of them remain
/// (nine at a million rows), and a row is written again about as often.
pub fn fold(
    dir: &Path,
    plan: &FoldPlan<'_>,
    fresh: &mut dyn Iterator<Item = Result<FreshText>>,
) -> Result<()> {
    let failed = |cause: TantivyError| write_error(dir, cause);
    let (schema, fields) = schema();
    let index = if exists(dir)? {
        open_index(dir, &schema)?
    } else {
        std::fs::create_dir_all(dir).map_err(|cause| Error::io("create the folder", dir, cause))?;
        let files = Files::open(dir).map_err(|cause| Error::index("create", dir, cause))?;
        Index::create(files, schema, IndexSettings::default()).map_err(failed)?
    };
    let metas = index.load_metas().map_err(failed)?;
    if let Some(payload) = &metas.payload {
        let found = read_payload(dir, payload)?.language;
        if found != plan.language {
            let reason = format!("it was written for {found}, not for {}", plan.language);
            return Err(Error::Corrupt { path: dir.to_path_buf(), reason });
        }
    }
    let mut index = index;
    let tokenizers = TokenizerManager::default(); // tantivy asks it for "default" even where a field is a number
    tokenizers
        .register(TOKENIZER, Terms { analyzer: Analyzer::new(plan.language), stream: Stream::default() });
    index.set_tokenizers(tokenizers);
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .num_merge_threads(1)
        .memory_budget_per_thread(plan.memory_bytes.max(LEAST_MEMORY))
        .build();
    let mut writer: IndexWriter = index.writer_with_options(options).map_err(failed)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let has_rows = !metas.segments.is_empty();
    let remove = |row: RowId| {
        if has_rows {
            writer.delete_term(Term::from_field_u64(fields.row, row.0.into()));
        }
    };
    plan.gone.iter().for_each(remove);
    for row in fresh {
        let FreshText { row, parent, text } = row?;
        remove(row);
        let mut document = TantivyDocument::new();
        document.add_u64(fields.row, row.0.into());
        document.add_u64(fields.parent, parent);
        speaker::terms(&text, |term| document.add_text(fields.speaker, term));
        document.add_text(fields.text, text);
        writer.add_document(document).map_err(failed)?;
    }
    let payload =
        Payload { format: FORMAT, analysis: ANALYSIS, language: plan.language, coverage: plan.next.clone() };
    let payload = serde_json::to_string(&payload).map_err(|cause| Error::index("write", dir, cause))?;
    let mut commit = writer.prepare_commit().map_err(failed)?;
    commit.set_payload(&payload);
    commit.commit().map_err(failed)?;
    let merged = to_merge(&index.searchable_segment_metas().map_err(failed)?);
    if !merged.is_empty() {
        let merged = by_first_row(&index, &merged).map_err(failed)?;
        writer.merge(&merged).wait().map_err(failed)?;
    }
    writer.garbage_collect_files().wait().map_err(failed)?;
    writer.wait_merging_threads().map_err(failed)
}

/// The segments to make one of, none where they are in proportion.
fn to_merge(segments: &[tantivy::SegmentMeta]) -> Vec<SegmentId> {
    let mut segments: Vec<_> = segments.iter().collect();
    segments.sort_unstable_by_key(|segment| (segment.num_docs(), segment.id()));
    let mut smaller = 0;
    let mut count = 0;
    for (nth, segment) in segments.iter().enumerate() {
        let docs = u64::from(segment.num_docs());
        let is_worn = u64::from(segment.num_deleted_docs()) * DELETED_SHARE > u64::from(segment.max_doc());
        if (nth > 0 && docs < smaller * SEGMENT_RATIO) || is_worn {
            count = nth + 1;
        }
        smaller += docs;
    }
    segments[..count].iter().map(|segment| segment.id()).collect()
}

/// The segments in the order of their rows, which is that of the merged one: `examine` finds a row by bisection where rows
/// ascend, and by its term, which takes five times as long, where they do not.
fn by_first_row(index: &Index, segments: &[SegmentId]) -> tantivy::Result<Vec<SegmentId>> {
    let mut first = Vec::with_capacity(segments.len());
    for segment in index.searchable_segments()?.iter().filter(|segment| segments.contains(&segment.id())) {
        let rows = SegmentReader::open(segment)?.fast_fields().u64("row")?.first_or_default_col(0);
        first.push((rows.min_value(), segment.id()));
    }
    first.sort_unstable();
    Ok(first.into_iter().map(|(_, segment)| segment).collect())
}

/// The cause of a failed write, a full disk and a read-only folder told apart.
fn write_error(dir: &Path, cause: TantivyError) -> Error {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&cause);
    while let Some(error) = source {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return match io.kind() {
                StorageFull | QuotaExceeded => Error::DiskFull { path: dir.to_path_buf() },
                ReadOnlyFilesystem | PermissionDenied => Error::ReadOnly { path: dir.to_path_buf() },
                _ => Error::index("write", dir, cause),
            };
        }
        source = error.source();
    }
    Error::index("write", dir, cause)
}

/// The analysis as tantivy wants it.
struct Terms {
    analyzer: Analyzer,
    stream: Stream,
}

impl Clone for Terms {
    fn clone(&self) -> Self {
        Self { analyzer: Analyzer::new(self.analyzer.language()), stream: Stream::default() }
    }
}

/// The terms of one text, one after the other in one string.
#[derive(Default)]
struct Stream {
    terms: String,
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = &'a mut Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> &'a mut Stream {
        let Stream { terms, ends, next, token } = &mut self.stream;
        terms.clear();
        ends.clear();
        *next = 0;
        token.position = usize::MAX;
        self.analyzer.each(text, Purpose::Index, |found| {
            terms.push_str(found.term);
            ends.push(terms.len());
            std::ops::ControlFlow::Continue(())
        });
        &mut self.stream
    }
}

impl TokenStream for &mut Stream {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(&self.terms[start..end]);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
