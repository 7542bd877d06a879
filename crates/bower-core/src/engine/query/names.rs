//! Finds the documents that a whole question names: by a path, a file name, a title or another name of a document.
//! A question that only mentions such a name within a sentence names nothing.

use std::collections::HashSet;

use crate::engine::Engine;
use crate::engine::query::channels::paths::{FoundPath, take_nearest};
use crate::engine::query::channels::written::{PathFit, WrittenPath, fold_part, split_extension};
use crate::engine::query::graph::with_graph;
use crate::engine::query::plan::{MAX_LIMIT, Scope};
use crate::engine::query::spelling;
use crate::error::Result;
use crate::graph::{EntityAliases, EntityKey, fold};
use crate::item::RowId;
use crate::store::{DocumentNames, DocumentRow};

/// Longest title that a question is compared with, in words.
const LONGEST_TITLE: usize = 32;

/// Most documents whose names are read for one title, those that were stored first.
const MOST_TITLED: usize = 500;

/// Most chunks of a document among which the first that may be found is looked for.
const MOST_CHUNKS: usize = 1_000;

/// Documents whose chunks are read at a time.
const AT_ONCE: usize = 64;

/// A document that a question names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NamedDocument {
    /// The document.
    pub(crate) document: DocumentRow,
    /// Its first chunk that may be found.
    pub(crate) first: RowId,
    /// How well the question fits the name, 0..1.
    pub(crate) score: f32,
}

/// Returns the documents that a whole question names, the nearest first; at most as many as an answer has hits.
pub(crate) fn named(engine: &Engine, question: &str, scope: &Scope<'_>) -> Result<Vec<NamedDocument>> {
    let name = unquoted(question);
    if name.is_empty() || name.contains('\n') {
        return Ok(Vec::new());
    }
    let allowed = |row| scope.contains(row);
    let written = WrittenPath::of(name).filter(|_| is_path(name));
    if let Some(written) = &written {
        let found = at_path(engine, written, &allowed)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let titled = titled(engine, name, scope)?;
    if !titled.is_empty() {
        return Ok(titled);
    }
    match written.or_else(|| WrittenPath::of(name)) {
        Some(written) if is_path(name) || is_unknown_word(engine, name, scope)? => {
            near_path(engine, &written, &allowed)
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

/// Returns the documents whose path ends with a written one, lies below it, or goes on where it ends; the nearest first.
pub(crate) fn at_path(
    engine: &Engine,
    written: &WrittenPath,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<NamedDocument>> {
    let paths = engine.caches.paths(&*engine.store)?;
    visible(engine, allowed, |most| paths.find(written, most))
}

/// Returns the documents whose path ends with a written one except for typing errors, those with the fewest.
pub(crate) fn near_path(
    engine: &Engine,
    written: &WrittenPath,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<NamedDocument>> {
    let paths = engine.caches.paths(&*engine.store)?;
    visible(engine, allowed, |most| paths.mistyped(written, most))
}

/// Returns a question without the marks around it.
pub(crate) fn unquoted(question: &str) -> &str {
    question.trim().trim_matches(|c| matches!(c, '`' | '"' | '\'' | '“' | '”' | '<' | '>')).trim()
}

/// Whether a question can be a path: it has a folder, or is one word with an extension.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || (!name.contains(char::is_whitespace) && !split_extension(name).1.is_empty())
}

/// Whether a question is one word that no item has: then it may be a mistyped name. A word that items have is a subject.
fn is_unknown_word(engine: &Engine, name: &str, scope: &Scope<'_>) -> Result<bool> {
    if name.contains(char::is_whitespace) {
        return Ok(false);
    }
    spelling::has_unknown(engine, name, scope)
}

/// Returns the documents with a title, an alias or a file name that is the whole question, by the index of the graph.
fn titled(engine: &Engine, name: &str, scope: &Scope<'_>) -> Result<Vec<NamedDocument>> {
    let asked = fold(name);
    if asked.is_empty() || name.split_whitespace().nth(LONGEST_TITLE).is_some() {
        return Ok(Vec::new());
    }
    // The graph has titles without what stands in parentheses, and names with `_` as one word.
    let plain = name.split_once(['(', '（']).map(|(before, _)| fold(before));
    let mut names = vec![asked.clone(), fold_part(name), asked.replace(' ', "")];
    names.extend(plain.filter(|plain| !plain.is_empty()));
    names.sort_unstable();
    names.dedup();
    let keys: Vec<EntityKey> = names.iter().map(|name| EntityKey::of(name)).collect();
    let aliases = engine.caches.aliases(&*engine.store, scope.newest)?;
    let (rows, _) = with_graph(engine, scope, &[], |graph| {
        let mut seen = HashSet::new();
        let mut rows: Vec<(RowId, u32)> = keys.iter().flat_map(|key| graph.titled(*key)).collect();
        rows.sort_unstable();
        rows.retain(|(_, document)| seen.insert(*document));
        rows.truncate(MOST_TITLED);
        Ok(rows.into_iter().map(|(row, _)| row).collect::<Vec<_>>())
    })?;
    let mut found: Vec<(PathFit, usize, DocumentNames)> = Vec::new();
    for names in engine.store.document_names(&rows)?.into_iter().flatten() {
        if let Some(nearness) = title_nearness(name, &asked, &names, &aliases) {
            found.push((nearness, names.path.split(['/', '\\']).count(), names));
        }
    }
    found.sort_by(|one, two| {
        let key = |found: &(PathFit, usize, DocumentNames)| (found.0, found.1);
        key(one)
            .cmp(&key(two))
            .then_with(|| (&one.2.path, one.2.document).cmp(&(&two.2.path, two.2.document)))
    });
    found.dedup_by_key(|(.., names)| names.document);
    // Capitals do not tell titles apart.
    let documents: Vec<(PathFit, DocumentRow)> =
        found.into_iter().map(|(.., names)| (PathFit::Stem, names.document)).collect();
    Ok(first_chunks(engine, &|row| scope.contains(row), &documents)?.0)
}

/// Returns how a document's title, other names or file name fit a whole question. A name that an alias makes one with the question's
/// fits too.
fn title_nearness(
    name: &str,
    asked: &str,
    names: &DocumentNames,
    aliases: &EntityAliases,
) -> Option<PathFit> {
    let file = names.path.rsplit(['/', '\\']).next().unwrap_or(&names.path);
    let stem = split_extension(file).0;
    let titles = || names.title.iter().chain(&names.aliases).map(String::as_str).chain(std::iter::once(stem));
    if titles().any(|title| title.trim() == name) {
        return Some(PathFit::Exact);
    }
    let part = fold_part(name);
    if titles().any(|title| fold(title) == *asked || fold_part(title) == part) {
        return Some(PathFit::Folded);
    }
    let members = aliases.members(EntityKey::of(asked))?;
    titles().any(|title| members.contains(&EntityKey::of(&fold(title)))).then_some(PathFit::Stem)
}

/// Returns the nearest of the found paths whose documents have a chunk that may be found. `find` returns as many as it is told.
fn visible(
    engine: &Engine,
    allowed: &dyn Fn(RowId) -> bool,
    find: impl Fn(usize) -> Vec<FoundPath>,
) -> Result<Vec<NamedDocument>> {
    take_nearest(MAX_LIMIT, find, |found| {
        let documents: Vec<(PathFit, DocumentRow)> =
            found.iter().map(|one| (one.nearness, one.document)).collect();
        first_chunks(engine, allowed, &documents)
    })
}

/// Returns the beginnings of documents, nearest first, as far as they may be found, and whether no further document could be
/// among them. A document that is named exactly leaves those that only resemble it behind.
fn first_chunks(
    engine: &Engine,
    allowed: &dyn Fn(RowId) -> bool,
    documents: &[(PathFit, DocumentRow)],
) -> Result<(Vec<NamedDocument>, bool)> {
    let mut nearest = None;
    let mut named: Vec<NamedDocument> = Vec::new();
    for some in documents.chunks(AT_ONCE) {
        let rows: Vec<DocumentRow> = some.iter().map(|(_, document)| *document).collect();
        for ((nearness, document), rows) in some.iter().zip(engine.store.document_rows(&rows, 1)?) {
            let Some(first) = first_allowed(engine, allowed, *document, &rows)? else { continue };
            if !goes_with(*nearest.get_or_insert(*nearness), *nearness) {
                return Ok((named, true));
            }
            named.push(NamedDocument { document: *document, first, score: score(*nearness) });
            if named.len() == MAX_LIMIT {
                return Ok((named, true));
            }
        }
    }
    Ok((named, false))
}

/// Returns the first chunk of a document that may be found. `first` is its first one.
fn first_allowed(
    engine: &Engine,
    allowed: &dyn Fn(RowId) -> bool,
    document: DocumentRow,
    first: &[RowId],
) -> Result<Option<RowId>> {
    if let Some(row) = first.iter().find(|row| allowed(**row)) {
        return Ok(Some(*row));
    }
    let rows = engine.store.document_rows(&[document], MOST_CHUNKS)?.concat();
    Ok(rows.into_iter().find(|row| allowed(*row)))
}

/// Whether a document is named too, beside the nearest: letters tell exact names apart, and fewer errors those with errors. What
/// lies below a path, or goes on where it ends, belongs to what is named so.
fn goes_with(nearest: PathFit, nearness: PathFit) -> bool {
    match nearest {
        PathFit::Exact | PathFit::Folded | PathFit::Mistyped(_) => nearness == nearest,
        PathFit::Stem | PathFit::Below(_) | PathFit::Begins => nearness <= PathFit::Begins,
    }
}

/// Returns the score of a name in the channel of file names.
fn score(nearness: PathFit) -> f32 {
    match nearness {
        PathFit::Exact | PathFit::Folded | PathFit::Stem => 1.0,
        PathFit::Below(_) | PathFit::Begins => 0.9,
        PathFit::Mistyped(errors) => 0.9 - 0.1 * errors.min(8) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_folder_or_is_one_word_with_an_extension() {
        for (question, expected) in [
            ("projects/", true),
            ("`notes/my plan.md`", true),
            ("gamma.md", true),
            ("gamma", false),
            ("what is gamma.md", false),
            ("3.5", false),
            ("", false),
        ] {
            assert_eq!(is_path(unquoted(question)), expected, "{question}");
        }
    }

    #[test]
    fn a_title_is_the_whole_question() {
        let names = DocumentNames {
            document: DocumentRow(1),
            id: "d".to_owned(),
            path: "/v/greek-letters_3.md".to_owned(),
            title: Some("Gamma (Greek)".to_owned()),
            aliases: vec!["Γ".to_owned()],
        };
        let aliases = EntityAliases::new([("the third letter", "gamma greek"), ("3", "third")]);
        let check = |name: &str, expected| {
            assert_eq!(title_nearness(name, &fold(name), &names, &aliases), expected, "{name}");
        };
        check("Gamma (Greek)", Some(PathFit::Exact));
        check("gamma greek", Some(PathFit::Folded));
        check("greek letters 3", Some(PathFit::Folded));
        check("γ", Some(PathFit::Folded));
        check("Gamma", None);
        check("the letter gamma greek", None);
        check("The third letter", Some(PathFit::Stem));
        check("third", None);
    }
}
