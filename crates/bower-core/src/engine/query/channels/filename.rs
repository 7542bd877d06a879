//! Searches the filename channel: documents whose path is the question, or whose name or folders match its words.
//! All chunks of one document have one score.

use std::collections::BTreeSet;

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::engine::query::channels::paths::Paths;
use crate::engine::query::channels::written::WrittenPath;
use crate::engine::query::names::{at_path, near_path, unquoted};
use crate::error::Result;
use crate::item::{RowId, RowSet, Scored};
use crate::store::{DocumentRow, Store};
use crate::text::{AskedScan, Compare};

/// Lowest score of a hit: below it, a document shares only one broad word with the question (such as one of five that
/// matter).
const LEAST: f32 = 0.15;

/// Most chunks of one document: a book that is named by its title leaves room for other documents.
const MOST_CHUNKS: usize = 20;

/// Most words of a question that may be a name.
const MOST_WORDS: usize = 8;

/// Number of documents whose chunks are read at a time.
const AT_ONCE: usize = 32;

/// Returns the first chunks of the documents whose names match the question, best document first. Where `depth` cuts through
/// documents of equal score, the older rows stay.
///
/// The score is that of [`AskedScan`] over all documents: the file's name without its extension counts in full, its folders
/// and extension by half. A document whose path is the whole question, or begins or ends with it, has a score of .9 or 1. If no
/// name has a word of the question, its whole may be a mistyped name.
pub fn filename(
    engine: &Engine,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
    counted: Option<&RowSet>,
) -> Result<Vec<Scored>> {
    let written =
        WrittenPath::of(unquoted(question)).filter(|_| question.split_whitespace().count() <= MOST_WORDS);
    let mut named = match &written {
        Some(written) => at_path(engine, written, allowed)?,
        None => Vec::new(),
    };
    let mut scan = AskedScan::new(question, LANGUAGE, Compare::Names);
    let scan_is_empty = scan.is_empty();
    let store = &*engine.store;
    let mut around = String::new();
    let paths = engine.caches.paths(&*engine.store)?;
    let known = counted.map(|counted| known(store, &paths, counted)).transpose()?;
    for (document, folder, name) in paths.iter().take_while(|_| !scan_is_empty) {
        if known.as_ref().is_some_and(|known| !known.contains(&document)) {
            continue;
        }
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let (stem, extension) = if stem.is_empty() { (name, "") } else { (stem, extension) };
        around.clear();
        around.push_str(folder);
        if !extension.is_empty() {
            around.push('/');
            around.push_str(extension);
        }
        scan.push(document.0, stem, &around);
    }
    let mut documents: Vec<(DocumentRow, f32)> = scan
        .finish()
        .into_iter()
        .take_while(|(_, score)| *score >= LEAST)
        .map(|(document, score)| (DocumentRow(document), score))
        .collect();
    if let (true, true, Some(written)) = (documents.is_empty(), named.is_empty(), &written) {
        named = near_path(engine, written, allowed)?;
    }
    for one in &named {
        match documents.iter_mut().find(|(document, _)| *document == one.document) {
            Some((_, score)) => *score = score.max(one.score),
            None => documents.push((one.document, one.score)),
        }
    }
    documents.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
    let mut hits = Vec::with_capacity(depth.min(documents.len()));
    for some in documents.chunks(AT_ONCE) {
        let rows: Vec<DocumentRow> = some.iter().map(|(document, _)| *document).collect();
        for ((_, score), rows) in some.iter().zip(store.document_rows(&rows, MOST_CHUNKS)?) {
            hits.extend(
                rows.into_iter().filter(|&row| allowed(row)).map(|row| Scored { row, score: *score }),
            );
        }
        if hits.len() >= depth {
            break;
        }
    }
    hits.truncate(depth);
    Ok(Scored::best(hits, depth))
}

/// Returns the documents whose first chunk is in `counted`: all chunks of a document are in one namespace.
fn known(store: &dyn Store, paths: &Paths, counted: &RowSet) -> Result<BTreeSet<DocumentRow>> {
    let all: Vec<DocumentRow> = paths.iter().map(|(document, ..)| document).collect();
    let mut known = BTreeSet::new();
    for some in all.chunks(AT_ONCE) {
        let rows = store.document_rows(some, 1)?;
        let there = some.iter().zip(rows).filter(|(_, rows)| rows.iter().any(|row| counted.contains(*row)));
        known.extend(there.map(|(document, _)| *document));
    }
    Ok(known)
}
