//! Checks the links of indexed Markdown documents: those that lead nowhere, and those that may mean several documents.
//! The graph's own rules decide where a link leads (`graph/resolve.rs`); the disk is asked for files that are not indexed.

use std::ops::Range;
use std::path::Path;

use crate::engine::Engine;
use crate::error::Result;
use crate::graph::{LinkDocument, LinkEnd, LinkForm, LinkIndex, WrittenLink, tried_paths, written_links};
use crate::ingest::{code_ranges, is_markdown};
use crate::request::{Check, CheckFinding, CheckProblem};
use crate::store::{DocumentNames, DocumentRow, Passage};

/// Most findings of an answer.
pub(super) const MOST_FINDINGS: usize = 1_000;
/// Most documents that one finding names.
const MOST_CANDIDATES: usize = 5;
/// Documents whose names are read at a time.
const BATCH: usize = 1_000;

/// What was found, and how much was examined.
#[derive(Default)]
struct Examined {
    documents: usize,
    links: usize,
    nowhere: usize,
    ambiguous: usize,
    findings: Vec<CheckFinding>,
}

/// Follows every link of every Markdown document. It reads all of them.
pub(super) fn link_check(engine: &Engine) -> Result<Check> {
    let names = names(engine)?;
    let documents: Vec<LinkDocument> = names.iter().map(link_document).collect();
    let index = LinkIndex::new(&documents);
    let mut examined = Examined::default();
    let mut order: Vec<usize> = (0..names.len()).filter(|&at| has_links(&names[at].path)).collect();
    order.sort_by(|&one, &two| names[one].path.cmp(&names[two].path));
    // A file that several collections have is examined once.
    order.dedup_by(|one, two| names[*one].path == names[*two].path);
    for at in order {
        let passages = engine.store.passages(names[at].document)?;
        examined.documents += 1;
        examined.follow(&names[at].path, &passages, &index, &documents);
    }
    Ok(examined.check())
}

/// Whether a document is Markdown with links of its own: a fetched page is not.
fn has_links(path: &str) -> bool {
    is_markdown(path) && !path.contains("://")
}

fn names(engine: &Engine) -> Result<Vec<DocumentNames>> {
    let rows: Vec<DocumentRow> =
        engine.caches.paths(&*engine.store)?.iter().map(|(document, ..)| document).collect();
    let mut names = Vec::with_capacity(rows.len());
    for batch in rows.chunks(BATCH) {
        names.extend(engine.store.names_of_documents(batch)?.into_iter().flatten());
    }
    Ok(names)
}

fn link_document(names: &DocumentNames) -> LinkDocument {
    LinkDocument { path: names.path.clone(), title: names.title.clone(), aliases: names.aliases.clone() }
}

impl Examined {
    /// Follows the links of one document.
    fn follow(&mut self, path: &str, passages: &[Passage], index: &LinkIndex, documents: &[LinkDocument]) {
        if !passages.iter().any(|one| one.content.contains("[[") || one.content.contains("](")) {
            return;
        }
        let text = LinedText::of(passages);
        let code = code_ranges(&text.text);
        let mut links = written_links(&text.text);
        links.sort_by_key(|link| link.at);
        for link in links.iter().filter(|link| !is_in(&code, link.at) && !is_picture(link)) {
            self.links += 1;
            let (problem, ends) = match index.resolve(path, link) {
                LinkEnd::Document(_) | LinkEnd::Folder => continue,
                LinkEnd::Nowhere(_) if is_elsewhere(path, link) => continue,
                LinkEnd::Nowhere(near) => (CheckProblem::Nowhere, near),
                LinkEnd::Ambiguous(ends) => (CheckProblem::Ambiguous, ends),
            };
            match problem {
                CheckProblem::Nowhere => self.nowhere += 1,
                CheckProblem::Ambiguous | CheckProblem::Conflict => self.ambiguous += 1,
            }
            if self.findings.len() < MOST_FINDINGS {
                let others = ends.iter().map(|&at| &documents[at].path);
                let candidates = others.filter(|one| problem != CheckProblem::Nowhere || *one != path);
                self.findings.push(CheckFinding {
                    problem,
                    path: path.to_owned(),
                    line: text.line(link.at),
                    text: written(link),
                    candidates: candidates.take(MOST_CANDIDATES).cloned().collect(),
                    memory: None,
                });
            }
        }
    }

    fn check(self) -> Check {
        let links = format!("{} in {}", count(self.links, "link"), count(self.documents, "document"));
        let detail = match (self.links, self.nowhere, self.ambiguous) {
            (0, ..) => "no document links to another".to_owned(),
            (_, 0, 0) => format!("{links}: each leads to one document or file"),
            (_, nowhere, 0) => format!("{links}: {}", lead_nowhere(nowhere)),
            (_, 0, ambiguous) => format!("{links}: {ambiguous} may mean several documents"),
            (_, nowhere, ambiguous) => {
                format!("{links}: {}, {ambiguous} may mean several documents", lead_nowhere(nowhere))
            }
        };
        if self.findings.is_empty() {
            return Check::good("links", detail);
        }
        let hint = match (self.nowhere, self.ambiguous) {
            (_, 0) => "correct the links, or write and index what they name",
            (0, _) => "write the folder too, such as [[folder/name]]",
            _ => {
                "correct the links, or index what they name; write the folder where a name has several documents"
            }
        };
        Check { findings: self.findings, ..Check::weak("links", detail, hint) }
    }
}

fn count(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

fn lead_nowhere(number: usize) -> String {
    format!("{number} {} nowhere", if number == 1 { "leads" } else { "lead" })
}

/// Returns the link as its text shows it.
fn written(link: &WrittenLink<'_>) -> String {
    match link.form {
        LinkForm::Wiki => format!("[[{}]]", link.target),
        LinkForm::Markdown => link.target.to_owned(),
    }
}

/// Whether a place is in one of some ranges, which are ascending.
fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    ranges[..before].last().is_some_and(|range| at < range.end)
}

/// Whether a link shows a file in place that is no document, such as a picture. In a vault these may be in any folder.
fn is_picture(link: &WrittenLink<'_>) -> bool {
    link.is_embedded && names_other_file(link.target)
}

/// Whether a link names a file, and no Markdown.
fn names_other_file(target: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or(target);
    path.rsplit('/').next().is_some_and(|name| name.contains('.')) && !is_markdown(path)
}

/// Whether a link leads to a file that is not indexed, as far as can be known: the files of another machine are not here.
fn is_elsewhere(from: &str, link: &WrittenLink<'_>) -> bool {
    if link.form == LinkForm::Wiki {
        return false;
    }
    if !Path::new(from).is_file() {
        return names_other_file(link.target);
    }
    let root = if from.starts_with('/') { "/" } else { "" };
    tried_paths(from, link.target).any(|path| Path::new(&format!("{root}{path}")).exists())
}

/// The text of a document with the numbers of its lines.
struct LinedText {
    text: String,
    /// The number of each line, ascending.
    numbers: Vec<u32>,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl LinedText {
    /// Joins the chunks of a document, without what they repeat.
    fn of(passages: &[Passage]) -> Self {
        let (mut text, mut numbers, mut starts) = (String::new(), Vec::<u32>::new(), Vec::new());
        for passage in passages {
            let before = numbers.last().copied().unwrap_or(0);
            for (number, line) in passage.numbered_lines() {
                let Some(number) = number.filter(|number| *number >= before) else { continue };
                if Some(&number) == numbers.last() {
                    // A long line was cut.
                    text.pop();
                    text.push(' ');
                } else {
                    if numbers.last().is_some_and(|last| last + 1 < number) {
                        text.push('\n');
                    }
                    numbers.push(number);
                    starts.push(text.len());
                }
                text.push_str(line);
                text.push('\n');
            }
        }
        Self { text, numbers, starts }
    }

    /// Returns the number of the line at a place in the text.
    fn line(&self, at: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= at);
        before.checked_sub(1).map_or(1, |line| self.numbers[line])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::RowId;

    fn passage(lines: (u32, u32), content: &str) -> Passage {
        Passage { row: RowId(1), lines, content: content.into() }
    }

    #[test]
    fn chunks_are_joined_to_the_lines_of_their_document() {
        let text = LinedText::of(&[
            passage((1, 3), "# A\n\n```"),
            passage((4, 5), "# A\n\n[[code]]\n```"),
            passage((8, 8), "a long line [[x]]"),
            passage((8, 9), "that goes on [[y]]\n[[z]]"),
        ]);
        assert_eq!(text.text, "# A\n\n```\n[[code]]\n```\n\na long line [[x]] that goes on [[y]]\n[[z]]\n");
        let code = code_ranges(&text.text);
        let links: Vec<_> = written_links(&text.text)
            .into_iter()
            .map(|link| (link.target, text.line(link.at), is_in(&code, link.at)))
            .collect();
        assert_eq!(links, [("code", 4, true), ("x", 8, false), ("y", 8, false), ("z", 9, false)]);
        assert_eq!(LinedText::of(&[]).line(0), 1);
    }
}
