//! Compaction of the text index: one atomic commit, together with the coverage of the index.

use std::path::Path;

use tantivy::index::{SegmentId, SegmentReader};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, TantivyError, Term};

use super::analyze::ANALYSIS;
use super::delta::{self, Entries};
use super::directory::Files;
use super::index::{FORMAT, LANGUAGE_MARK, Payload, TOKENIZER, exists, open_index, read_payload, schema};
use super::language::Language;
use crate::error::{Error, Result};
use crate::files;
use crate::item::{Coverage, RowId, RowSet};

/// tantivy's least memory budget.
const LEAST_MEMORY: usize = 15_000_000;

/// A segment stays separate from the smaller ones only while it is this many times larger than all of them together.
const SEGMENT_RATIO: u64 = 4;

/// A segment is rewritten if more than one in this many rows is deleted.
const DELETED_SHARE: u64 = 4;

/// Options of a compaction.
#[derive(Clone, Debug)]
pub struct CompactionPlan<'a> {
    /// The index's coverage afterwards.
    pub next: Coverage,
    /// Rows to remove, whether or not the index contains them.
    pub gone: &'a RowSet,
    /// Memory for terms that are not yet written, in bytes; at least 15 MB are used. More memory means fewer merges.
    pub memory_bytes: usize,
    /// Rewrites each segment with a removed row, so that no file keeps a word that only removed rows had.
    pub purge: bool,
}

/// A row to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreshText {
    /// The row.
    pub row: RowId,
    /// Its parent (a document, a session): rows with the same number belong together; 0 is none.
    pub parent: u64,
    /// Its terms, by [`super::encode_terms`].
    pub terms: Vec<u8>,
}

/// Brings the index in `dir` to `plan.next`: removes `plan.gone` and all `fresh` rows, adds `fresh`, commits.
///
/// Creates a missing index. Afterwards either everything is visible, with the new coverage, or nothing. The latter
/// applies to any error, also one from `fresh`, and to a killed process. The caller holds the compaction lock. Segments
/// are merged until each is four times larger than all smaller ones together. At most `log5(rows) + 1` of them remain
/// (nine at a million rows), and a row is rewritten about as often.
pub fn compact(
    dir: &Path,
    plan: &CompactionPlan<'_>,
    fresh: &mut dyn Iterator<Item = Result<FreshText>>,
) -> Result<()> {
    let failed = |cause: TantivyError| write_error(dir, cause);
    let (schema, fields) = schema();
    let (index, files) = if exists(dir)? {
        let (index, files) = open_index(dir, &schema)?;
        trust(&files)?;
        (index, files)
    } else {
        files::create_folder(dir).map_err(|cause| Error::io("create the folder", dir, cause))?;
        let files = Files::open(dir).map_err(|cause| Error::index("create", dir, cause))?;
        (Index::create(files.clone(), schema, IndexSettings::default()).map_err(failed)?, files)
    };
    let metas = index.load_metas().map_err(failed)?;
    if let Some(payload) = &metas.payload {
        read_payload(dir, payload)?;
    }
    let mut index = index;
    let tokenizers = TokenizerManager::default(); // tantivy asks it for "default" even where a field is a number
    tokenizers.register(TOKENIZER, Kept::default());
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
        let FreshText { row, parent, terms } = row?;
        let Some((words, names)) = delta::entries(&terms) else {
            return Err(Error::invalid(format!("terms of row {}", row.0), "they are not whole"));
        };
        remove(row);
        let mut document = TantivyDocument::new();
        document.add_u64(fields.row, row.0.into());
        document.add_u64(fields.parent, parent);
        for (name, count) in Entries::new(names.as_bytes()) {
            let name = str::from_utf8(name).unwrap_or_default();
            (0..count).for_each(|_| document.add_text(fields.speaker, name));
        }
        let language = delta::language_in(&terms);
        if language != Language::English {
            let mark = [LANGUAGE_MARK, language.code().as_bytes()].concat();
            document.add_text(fields.speaker, str::from_utf8(&mark).unwrap_or_default());
        }
        document.add_text(fields.text, words);
        writer.add_document(document).map_err(failed)?;
    }
    let payload = Payload { format: FORMAT, analysis: ANALYSIS, coverage: plan.next.clone(), sums: true };
    let payload = serde_json::to_string(&payload).map_err(|cause| Error::index("write", dir, cause))?;
    let mut commit = writer.prepare_commit().map_err(failed)?;
    commit.set_payload(&payload);
    commit.commit().map_err(failed)?;
    let merged = to_merge(&index.searchable_segment_metas().map_err(failed)?);
    if !merged.is_empty() {
        let merged = by_first_row(&index, &merged).map_err(failed)?;
        writer.merge(&merged).wait().map_err(failed)?;
    }
    if plan.purge {
        for worn in index.searchable_segment_metas().map_err(failed)? {
            if worn.num_deleted_docs() > 0 {
                writer.merge(&[worn.id()]).wait().map_err(failed)?;
            }
        }
    }
    writer.garbage_collect_files().wait().map_err(failed)?;
    writer.wait_merging_threads().map_err(failed)?;
    if plan.purge {
        files.remove_strangers().map_err(|cause| Error::io("clear", dir, cause))?;
    }
    Ok(())
}

/// Verifies the whole index before anything is added to it. tantivy reads while it writes, in threads of its own, and a
/// panic in one of them ends the process. So it must not read damaged data. Verification takes about 10 ms for 100 MB
/// in memory.
fn trust(files: &Files) -> Result<()> {
    if files.has_sums() { files.check_all() } else { files.adopt() }
}

/// Returns the segments to merge into one; empty if their sizes are in proportion.
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

/// Returns the segments in the order of their rows, which becomes the order of the merged segment. If rows ascend,
/// `examine` finds a row by bisection; otherwise by its term, which takes five times as long.
fn by_first_row(index: &Index, segments: &[SegmentId]) -> tantivy::Result<Vec<SegmentId>> {
    let mut first = Vec::with_capacity(segments.len());
    for segment in index.searchable_segments()?.iter().filter(|segment| segments.contains(&segment.id())) {
        let rows = SegmentReader::open(segment)?.fast_fields().u64("row")?.first_or_default_col(0);
        first.push((rows.min_value(), segment.id()));
    }
    first.sort_unstable();
    Ok(first.into_iter().map(|(_, segment)| segment).collect())
}

/// Returns the error for a failed write; a full disk and a read-only folder have their own variants.
fn write_error(dir: &Path, cause: TantivyError) -> Error {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&cause);
    while let Some(error) = source {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return match io.kind() {
                StorageFull | QuotaExceeded => Error::DiskFull { at: dir.into() },
                ReadOnlyFilesystem | PermissionDenied => Error::ReadOnly { at: dir.into() },
                _ => Error::index("write", dir, cause),
            };
        }
        source = error.source();
    }
    Error::index("write", dir, cause)
}

/// Encoded terms in tantivy's form: the text of a document is the entries of a blob.
#[derive(Clone, Default)]
struct Kept {
    token: Token,
}

/// Each term as often as it occurs. Only terms and frequencies are indexed, so their order does not matter.
struct Stream<'a> {
    entries: Entries<'a>,
    left: usize,
    token: &'a mut Token,
}

impl Tokenizer for Kept {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, words: &'a str) -> Stream<'a> {
        self.token.position = usize::MAX;
        Stream { entries: Entries::new(words.as_bytes()), left: 0, token: &mut self.token }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        while self.left == 0 {
            let Some((term, count)) = self.entries.next() else { return false };
            self.token.text.clear();
            self.token.text.push_str(str::from_utf8(term).unwrap_or_default());
            self.left = count;
        }
        self.left -= 1;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyze::{Analyzer, Purpose};
    use super::super::{encode_terms, language_of, speaker};
    use super::*;
    use crate::item::Change;
    use std::collections::BTreeMap;
    use tantivy::tokenizer::{PreTokenizedString, SimpleTokenizer};

    /// Returns the sorted contents of the files, because their names are random.
    fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
        let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let data = paths.filter(|path| {
            !path.extension().is_none_or(|kind| kind == "json" || kind == "lock" || kind == "sums")
        });
        let kind = |path: &Path| path.extension().unwrap().to_string_lossy().into_owned();
        data.map(|path| (kind(&path), std::fs::read(path).unwrap())).collect()
    }

    /// The slow reference: every text is analysed during compaction.
    fn compact_texts(dir: &Path, texts: &[String]) {
        let (schema, fields) = schema();
        let files = Files::open(dir).unwrap();
        let mut index = Index::create(files, schema, IndexSettings::default()).unwrap();
        let tokenizers = TokenizerManager::default();
        tokenizers.register(TOKENIZER, SimpleTokenizer::default());
        index.set_tokenizers(tokenizers);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, LEAST_MEMORY).unwrap();
        for (row, text) in (0..).zip(texts) {
            let mut document = TantivyDocument::new();
            document.add_u64(fields.row, row);
            document.add_u64(fields.parent, row / 3);
            speaker::terms(text, |term| document.add_text(fields.speaker, term));
            let mut tokens = Vec::new();
            let language = language_of(text);
            if language != Language::English {
                document.add_text(fields.speaker, format!("\u{1}{}", language.code()));
            }
            Analyzer::new(language).each(text, Purpose::Index, |found| {
                tokens.push(Token {
                    text: found.term.to_owned(),
                    position: tokens.len(),
                    ..Token::default()
                });
                std::ops::ControlFlow::Continue(())
            });
            document.add_pre_tokenized_text(fields.text, PreTokenizedString { text: text.clone(), tokens });
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.wait_merging_threads().unwrap();
    }

    #[test]
    fn compacted_terms_are_the_index_of_their_texts() {
        let words = ["Cod", "cod's", "getUserName", "东京都", "node.js", "1,000", "C++", "🎉", "élan", ""];
        let mut texts: Vec<String> = (0..700)
            .map(|nth: usize| {
                let word = |at: usize| words[(nth * nth + at * at * (nth % 7 + 1)) % words.len()];
                (0..nth % 40).map(word).collect::<Vec<_>>().join(" ")
            })
            .collect();
        texts.push("dog ".repeat(70_000));
        texts.push(format!("Title\n{}Bo Ann: an elf\nBo: a cod", "Ada: a cod\n".repeat(300)));
        texts.push("x".repeat(3_000));
        texts.push("Die Häuser am Fluss stehen seit dem Hochwasser leer, sagt der Hausmeister.".into());
        let (fast, slow) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        compact_texts(slow.path(), &texts);
        let next = Coverage { store: "s".into(), change: Change(1), mark: 1 };
        let plan = CompactionPlan { next, gone: &RowSet::new(), memory_bytes: 0, purge: false };
        let mut fresh = (0..).zip(&texts).map(|(row, text)| {
            let terms = encode_terms(text);
            Ok(FreshText { row: RowId(row), parent: u64::from(row / 3), terms })
        });
        compact(fast.path(), &plan, &mut fresh).unwrap();
        let (fast, slow) = (files(fast.path()), files(slow.path()));
        assert!(fast.len() >= 4, "{:?}", fast.keys());
        assert_eq!(fast.keys().collect::<Vec<_>>(), slow.keys().collect::<Vec<_>>());
        for (kind, bytes) in fast {
            assert!(bytes == slow[&kind], "{kind} differs");
        }
    }
}
