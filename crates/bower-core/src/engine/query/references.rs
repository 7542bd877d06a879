//! Finds the items to which a question refers by a tag (`#infra/db`) or by the path of a file (`notes/gamma.md`).
//! Whoever writes one of these knows what is meant, so the default profile ranks these items first.

use std::collections::HashMap;

use crate::engine::Engine;
use crate::engine::query::channels::paths::{FoundPath, take_nearest};
use crate::engine::query::channels::written::{PathFit, WrittenPath, split_extension};
use crate::engine::query::channels::{MOST_TAGGED, written_tags};
use crate::engine::query::plan::Scope;
use crate::error::Result;
use crate::item::{Channel, RowId, Scored};
use crate::store::DocumentRow;

/// Most files that may be found and that one path means. A name such as `index.html` may have thousands, and names none of them.
const MOST_FILES: usize = 64;

/// Most chunks of one file.
const MOST_CHUNKS: usize = 1_000;

/// What a question refers to.
#[derive(Debug, Default)]
pub(crate) struct AskedReferences {
    /// The rows that each channel found, with the share of its references that each row has.
    pub(crate) found: Vec<(Channel, Vec<Scored>)>,
    /// For each of these rows, the share of all references that it has, 0..1.
    shares: HashMap<RowId, f32>,
}

impl AskedReferences {
    /// Returns the share of the question's references that an item has, 0..1.
    pub(crate) fn share(&self, row: RowId) -> f32 {
        self.shares.get(&row).copied().unwrap_or(0.0)
    }
}

/// Looks up a question's references. A tag that no item has, and a path that no document has, refer to nothing.
pub(crate) fn references(
    engine: &Engine,
    question: &str,
    scope: &Scope<'_>,
    asks: impl Fn(Channel) -> bool,
) -> Result<AskedReferences> {
    let mut lists: Vec<(Channel, Vec<RowId>)> = Vec::new();
    if asks(Channel::Tags) {
        for tag in written_tags(question) {
            // `#infra` means `infra/db` too.
            let mut tags = engine.store.tags(&[format!("{tag}/")])?;
            tags.push(tag);
            lists.push((Channel::Tags, engine.store.tagged(&tags, MOST_TAGGED)?.concat()));
        }
    }
    if asks(Channel::Filename) {
        for path in written_paths(question) {
            lists.push((Channel::Filename, chunks_at(engine, path, scope)?));
        }
    }
    for (_, rows) in &mut lists {
        rows.retain(|row| scope.contains(*row));
        rows.sort_unstable();
        rows.dedup();
    }
    lists.retain(|(_, rows)| !rows.is_empty());
    let mut references = AskedReferences::default();
    for channel in [Channel::Tags, Channel::Filename] {
        let of_channel: Vec<&[RowId]> =
            lists.iter().filter(|(one, _)| *one == channel).map(|(_, rows)| rows.as_slice()).collect();
        if !of_channel.is_empty() {
            let shares = shares(&of_channel);
            let scored = shares.iter().map(|(&row, &score)| Scored { row, score }).collect();
            references.found.push((channel, Scored::best(scored, MOST_TAGGED)));
        }
    }
    let all: Vec<&[RowId]> = lists.iter().map(|(_, rows)| rows.as_slice()).collect();
    references.shares = shares(&all);
    Ok(references)
}

/// Returns the share of the lists that each row is in.
fn shares(lists: &[&[RowId]]) -> HashMap<RowId, f32> {
    let mut shares = HashMap::new();
    for row in lists.iter().copied().flatten() {
        *shares.entry(*row).or_insert(0.0) += 1.0 / lists.len() as f32;
    }
    shares
}

/// Returns the paths that a question writes: words with a folder and an extension (`notes/gamma.md`). A name without a folder
/// counts only if it is the whole question: `setup.py` within a question is often a subject.
fn written_paths(question: &str) -> Vec<&str> {
    let around =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | '<' | '>' | '[' | ']');
    let words: Vec<&str> = question
        .split(around)
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '?', '!']))
        .map(|word| word.trim_start_matches("./"))
        .filter(|word| !word.is_empty())
        .collect();
    let is_alone = words.len() == 1;
    let is_path = |word: &&str| {
        let (folder, name) = word.rsplit_once(['/', '\\']).unwrap_or(("", word));
        !split_extension(name).1.is_empty() && (is_alone || !folder.is_empty())
    };
    let mut paths: Vec<&str> = words.into_iter().filter(is_path).collect();
    paths.dedup();
    paths
}

/// Returns the chunks that may be found of the documents whose path is, or ends with, a written one. If none has its very letters,
/// case, accents and separators do not count. Documents without such a chunk take no room among [`MOST_FILES`].
fn chunks_at(engine: &Engine, written: &str, scope: &Scope<'_>) -> Result<Vec<RowId>> {
    let Some(written) = WrittenPath::of(written) else { return Ok(Vec::new()) };
    let paths = engine.caches.paths(&*engine.store)?;
    let take = |found: &[FoundPath]| chunks_of_nearest(engine, found, scope);
    take_nearest(MOST_FILES + 1, |most| paths.find(&written, most), take)
}

/// Returns the chunks that may be found of the nearest of some paths, none if more than [`MOST_FILES`] documents have some; and
/// whether further paths would change nothing.
fn chunks_of_nearest(engine: &Engine, found: &[FoundPath], scope: &Scope<'_>) -> Result<(Vec<RowId>, bool)> {
    let (mut nearest, mut files, mut chunks) = (None, 0, Vec::new());
    for some in found.chunks(MOST_FILES) {
        let documents: Vec<DocumentRow> = some.iter().map(|one| one.document).collect();
        let rows = engine.store.document_rows(&documents, MOST_CHUNKS)?;
        for (one, mut rows) in some.iter().zip(rows) {
            rows.retain(|row| scope.contains(*row));
            if rows.is_empty() {
                continue;
            }
            if one.nearness > PathFit::Folded || *nearest.get_or_insert(one.nearness) != one.nearness {
                return Ok((chunks, true));
            }
            files += 1;
            if files > MOST_FILES {
                return Ok((Vec::new(), true));
            }
            chunks.append(&mut rows);
        }
    }
    Ok((chunks, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_a_folder_or_are_the_whole_question() {
        let check =
            |question: &str, expected: &[&str]| assert_eq!(written_paths(question), expected, "{question}");
        check("what does `notes/gamma.md` say?", &["notes/gamma.md"]);
        check("./src/a.rs, (docs\\b.txt).", &["src/a.rs", "docs\\b.txt"]);
        check("gamma.md", &["gamma.md"]);
        check("why a setup.py?", &[]);
        check("and/or input/output 1/2.5 e.g. v1.2", &[]);
        check("3.5", &[]);
        check("", &[]);
    }
}
