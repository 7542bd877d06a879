//! Makes what the text index and the graph index need of new rows, and extracts the mentions of stored ones.

use crate::error::Result;
use crate::graph::{self, ItemText};
use crate::item::{Change, RowId, RowSet};
use crate::store::{DeltaData, MentionSource, NewChunk, NewDocument, Store, document_aliases};
use crate::text;

/// Returns the terms and mentions of a memory.
pub(crate) fn of_memory(content: &str, tags: &[String]) -> DeltaData {
    let source = ItemText { content, tags, has_words: true, ..ItemText::default() };
    DeltaData { terms: text::encode_terms(content), mentions: Some(graph::encode(&source)) }
}

/// Returns the terms and mentions of a document's new chunk. `indexed` is its text with title and heading.
pub(crate) fn of_chunk(document: &NewDocument, chunk: &NewChunk, indexed: &str) -> DeltaData {
    let source = ItemText {
        aliases: &document_aliases(&document.metadata),
        document: Some(&document.id),
        title: document.title.as_deref(),
        path: Some(&document.path),
        section: chunk.section.as_deref(),
        content: &chunk.content,
        tags: &chunk.tags,
        // A new text was not read yet.
        triples: &[],
        has_words: document.session.is_some(),
    };
    DeltaData { terms: text::encode_terms(indexed), mentions: Some(graph::encode(&source)) }
}

/// Returns the rows whose mentions changed after one change and up to another, ascending: those with a new text, and those
/// with other tags or triples.
pub(crate) fn changed_rows(store: &dyn Store, after: Change, upto: Change) -> Result<Vec<RowId>> {
    let mut rows = store.text_rows(after, upto)?;
    rows.extend(store.retagged(after, upto)?);
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// Returns the rows whose mentions an index must not find any more: those that changed, and those that were removed.
pub(crate) fn gone(store: &dyn Store, after: Change, upto: Change) -> Result<RowSet> {
    let mut gone = store.gone(after, upto)?;
    gone.add_all(&store.retagged(after, upto)?.into_iter().collect());
    Ok(gone)
}

/// Returns the encoded mentions of those rows that still exist, in the order of `rows`: those that were kept with them, or
/// those of their text.
pub(crate) fn of_rows(store: &dyn Store, rows: &[RowId]) -> Result<Vec<(RowId, Vec<u8>)>> {
    let kept = store.mentions(rows)?;
    let missing: Vec<RowId> =
        rows.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(row, _)| *row).collect();
    let mut extracted = store.mention_sources(&missing)?.into_iter().peekable();
    let mut all = Vec::with_capacity(rows.len());
    for (row, kept) in rows.iter().zip(kept) {
        let found = extracted.next_if(|source| source.row == *row);
        if let Some(mentions) = kept.or_else(|| found.as_ref().map(encoded)) {
            all.push((*row, mentions));
        }
    }
    Ok(all)
}

fn encoded(source: &MentionSource) -> Vec<u8> {
    graph::encode(&text_of(source))
}

/// Returns the text of an item from which its mentions are read.
pub(crate) fn text_of(source: &MentionSource) -> ItemText<'_> {
    ItemText {
        document: source.document.as_deref(),
        title: source.title.as_deref(),
        path: source.path.as_deref(),
        aliases: &source.aliases,
        section: source.section.as_deref(),
        content: &source.content,
        tags: &source.tags,
        triples: &source.triples,
        has_words: source.is_said,
    }
}
