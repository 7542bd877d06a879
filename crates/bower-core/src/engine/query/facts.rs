//! Reads canonical facts: the lines of the documents that the setting `canonical_files` names.
//! A fact's id comes from its text and the headings above it, as a chunk's does, so edits of other lines leave it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

use crate::engine::Engine;
use crate::error::Result;
use crate::ingest::{content_key, plain_line};
use crate::item::{RowId, derive_id};
use crate::store::{DocumentNames, DocumentRow, Passage, Store};

/// Prefix of a fact's id where it is told apart from an item's.
const PREFIX: &str = "Canonical:";

/// Where a canonical fact stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactCitation {
    /// Its id, the same as long as its text and the headings above it are.
    pub id: String,
    /// Number of its line in the document, from 1.
    pub line: u32,
}

impl fmt::Display for FactCitation {
    /// `Canonical:3f2a9c81d0e4b756`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.id)
    }
}

/// A line of a canonical document that has text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact<'a> {
    /// The chunk that has it.
    pub(crate) row: RowId,
    pub(crate) cited: FactCitation,
    /// The line as it is written.
    pub(crate) text: &'a str,
    /// The headings above it, the highest first.
    pub(crate) headings: Vec<&'a str>,
    /// The head of its table, if it is a row of one.
    pub(crate) head: Option<&'a str>,
    /// What kind of line it is.
    pub(crate) kind: FactKind,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// A heading.
    Heading,
    /// A line of code.
    Code,
    /// A line of text that begins a paragraph, an item of a list, or a row of a table.
    Start,
    /// A line that goes on with the one before.
    Rest,
}

/// Returns the canonical documents, ascending by row. They are found by their paths, so a changed setting holds at once.
pub(crate) fn canonical_documents(engine: &Engine) -> Result<Arc<Vec<DocumentRow>>> {
    engine.caches.canonical(&*engine.store, &engine.settings.canonical_files)
}

/// Returns a canonical document's name and its chunks; `None` if it is gone.
pub(crate) fn canonical_text(
    store: &dyn Store,
    document: DocumentRow,
) -> Result<Option<(DocumentNames, Vec<Passage>)>> {
    match store.names_of_documents(&[document])?.pop().flatten() {
        Some(name) => Ok(Some((name, store.passages(document)?))),
        None => Ok(None),
    }
}

/// Returns the id of the fact that a text cites (`Canonical:3f2a9c81d0e4b756`); `None` for another text.
pub(crate) fn cited_fact(text: &str) -> Option<&str> {
    let (prefix, id) = text.trim().split_at_checked(PREFIX.len())?;
    prefix.eq_ignore_ascii_case(PREFIX).then_some(id)
}

/// Returns the chunk that has the fact with an id.
pub(crate) fn row_of_fact(engine: &Engine, id: &str) -> Result<Option<RowId>> {
    for document in canonical_documents(engine)?.iter() {
        let Some((name, passages)) = canonical_text(&*engine.store, *document)? else { continue };
        let facts = facts(&name.id, &passages);
        if let Some(found) = facts.iter().find(|fact| fact.cited.id.eq_ignore_ascii_case(id)) {
            return Ok(Some(found.row));
        }
    }
    Ok(None)
}

/// Returns the lines of a document's chunks that have text: no blank lines, rules of tables, or headings repeated for
/// reading. The head of a table says what its rows are about, as a heading does; it is no fact itself.
pub(crate) fn facts<'a>(document: &str, passages: &'a [Passage]) -> Vec<Fact<'a>> {
    let mut facts = Vec::new();
    let mut repeats = HashMap::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut head: Option<&str> = None;
    let mut fence: Option<&str> = None;
    for passage in passages {
        // Whether the line before belongs to the same paragraph or item.
        let mut goes_on = false;
        let mut rest = passage.numbered_lines().peekable();
        while let Some((number, text)) = rest.next() {
            let plain = text.trim();
            let mark = fence_mark(plain);
            if let Some(mark) = mark.filter(|mark| fence.is_none_or(|open| mark.starts_with(open))) {
                fence = if fence.is_some() { None } else { Some(mark) };
                goes_on = false;
                continue;
            }
            let is_head =
                fence.is_none() && text.contains('|') && rest.peek().is_some_and(|(_, next)| is_rule(next));
            if is_head || !text.contains('|') {
                head = Some(text).filter(|_| is_head);
            }
            let level = text.len() - text.trim_start_matches('#').len();
            let is_heading = fence.is_none() && (1..=6).contains(&level) && text[level..].starts_with(' ');
            if is_heading {
                headings.retain(|&(above, _)| above < level);
            }
            let says = text.chars().any(char::is_alphanumeric);
            let kind = match fence {
                _ if is_heading => FactKind::Heading,
                Some(_) => FactKind::Code,
                None if goes_on && head.is_none() && !begins_item(plain) => FactKind::Rest,
                None => FactKind::Start,
            };
            goes_on = says && matches!(kind, FactKind::Start | FactKind::Rest) && !is_head;
            if let Some(number) = number.filter(|_| says && !is_head) {
                let above: Vec<&str> = headings.iter().map(|(_, heading)| *heading).collect();
                // Cells may be padded anew when another row changes.
                let words: Vec<&str> = plain.split_whitespace().collect();
                let key = content_key(&above.join(" > "), &words.join(" "), &mut repeats);
                let cited = FactCitation { id: derive_id(&["fact", document, &key]), line: number };
                facts.push(Fact { row: passage.row, cited, text, headings: above, head, kind });
            }
            if is_heading {
                headings.push((level, text[level..].trim()));
            }
        }
    }
    facts
}

/// What canonical facts say, in the form in which people keep memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// Its first fact.
    pub(crate) cited: FactCitation,
    /// Its text without marks of Markdown.
    pub(crate) text: String,
    /// The same below the heading above it: many facts are no sentences without it.
    pub(crate) headed: Option<String>,
}

/// Most words of a statement: a longer paragraph is one for each of its sentences.
const MOST_WORDS: usize = 40;

/// Returns what facts say: a paragraph or an item of a list as one statement, and each cell of a table's row as one, with the row's first
/// cell and the name of its column. Code and headings say nothing alone.
pub(crate) fn statements(facts: &[Fact<'_>]) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut facts = facts.iter().peekable();
    while let Some(fact) = facts.next() {
        if matches!(fact.kind, FactKind::Heading | FactKind::Code) {
            continue;
        }
        let said = if fact.text.contains('|') {
            row_statements(fact)
        } else {
            let mut lines = vec![fact.text.trim_start()];
            while let Some(rest) = facts.next_if(|next| next.kind == FactKind::Rest) {
                lines.push(rest.text.trim_start());
            }
            let text = plain_line(&lines.join("\n"));
            if text.split_whitespace().count() > MOST_WORDS {
                text.split_sentence_bounds().map(|sentence| sentence.trim().to_owned()).collect()
            } else {
                vec![text]
            }
        };
        let heading = fact.headings.last().map(|heading| plain_line(heading));
        for text in said.into_iter().filter(|text| text.contains(char::is_alphanumeric)) {
            let headed = heading.as_ref().map(|heading| format!("{heading}: {text}"));
            statements.push(Statement { cited: fact.cited.clone(), text, headed });
        }
    }
    statements
}

/// Returns what the row of a table says: `api port: 8080`, `api owner: Ada`. Without a head, its cells together.
fn row_statements(fact: &Fact<'_>) -> Vec<String> {
    let head = fact.head.map(cells).unwrap_or_default();
    let row = cells(fact.text);
    match row.split_first() {
        Some((name, values)) if !head.is_empty() && !name.is_empty() => {
            let columns = head.iter().skip(1).map(String::as_str).chain(std::iter::repeat(""));
            let said = values.iter().zip(columns).filter(|(value, _)| !value.is_empty());
            said.map(|(value, column)| format!("{name} {column}").trim_end().to_owned() + ": " + value)
                .collect()
        }
        _ => {
            let full: Vec<String> = row.into_iter().filter(|cell| !cell.is_empty()).collect();
            vec![full.join(", ")]
        }
    }
}

/// Returns the cells of a row of a table, without marks of Markdown.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    row.strip_suffix('|').unwrap_or(row).split('|').map(plain_line).collect()
}

/// Returns the mark that begins or ends a block of code: three backticks or tildes, or more.
fn fence_mark(plain: &str) -> Option<&str> {
    let first = plain.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = plain.len() - plain.trim_start_matches(first).len();
    (length >= 3).then(|| &plain[..length])
}

/// Whether a line is the one between the head and the rows of a table: `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Whether a line begins an item of a list, a quotation or a row of a table.
fn begins_item(plain: &str) -> bool {
    let after_number = plain.trim_start_matches(|c: char| c.is_ascii_digit());
    plain.starts_with(['-', '*', '+', '>', '|'])
        || (after_number.len() < plain.len() && after_number.starts_with(['.', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(row: u32, lines: (u32, u32), content: &str) -> Passage {
        Passage { row: RowId(row), lines, content: content.into() }
    }

    #[test]
    fn facts_have_their_line_and_their_headings() {
        let passages = [
            passage(1, (1, 6), "# Facts\n\n## Ports\n| name | port |\n|---|---|\n| api | 8080 |"),
            passage(2, (7, 8), "## Ports\n| name | port |\n|---|---|\n| web | 9090 |\n| db | 5432 |"),
            passage(3, (10, 11), "## Hosts\nalpha"),
        ];
        let got: Vec<_> = facts("d", &passages)
            .into_iter()
            .map(|fact| (fact.row.0, fact.cited.line, fact.text, fact.headings.join(" > "), fact.head))
            .collect();
        let line = |row, number, text, under: &str| (row, number, text, under.to_owned(), None);
        let cell =
            |row, number, text| (row, number, text, "Facts > Ports".to_owned(), Some("| name | port |"));
        assert_eq!(
            got,
            [
                line(1, 1, "# Facts", ""),
                line(1, 3, "## Ports", "Facts"),
                cell(1, 6, "| api | 8080 |"),
                cell(2, 7, "| web | 9090 |"),
                cell(2, 8, "| db | 5432 |"),
                line(3, 10, "## Hosts", "Facts"),
                line(3, 11, "alpha", "Facts > Hosts"),
            ]
        );
    }

    #[test]
    fn facts_say_what_a_memory_would() {
        let text = "# Ports\n| service | port | owner |\n|---|---|---|\n| **api** | `8080` | Ada |\n| web | | |\n\n\
                    | a | b |\n\n- Ann leads\n  [payments](p.md).\n> quoted\n\n```\ncode\n```";
        let lines = text.lines().count() as u32;
        let passages = [passage(1, (1, lines), text)];
        let facts = facts("d", &passages);
        let got: Vec<_> = statements(&facts).into_iter().map(|one| (one.cited.line, one.text)).collect();
        let said = |line, text: &str| (line, text.to_owned());
        assert_eq!(
            got,
            [
                said(4, "api port: 8080"),
                said(4, "api owner: Ada"),
                said(7, "a, b"),
                said(9, "Ann leads payments."),
                said(11, "quoted"),
            ]
        );
        assert_eq!(statements(&facts)[0].headed.as_deref(), Some("Ports: api port: 8080"));
    }

    fn ids(text: &str) -> HashMap<String, String> {
        let lines = text.lines().count() as u32;
        let passages = [passage(1, (1, lines), text)];
        let ids = facts("d", &passages).into_iter();
        ids.map(|fact| (format!("{} {}", fact.text, fact.headings.join(">")), fact.cited.id)).collect()
    }

    #[test]
    fn an_id_stays_when_other_lines_change() {
        let before =
            ids("# Facts\n- a is 1\n\n| n | v |\n|---|---|\n| x | 1 |\n\n## More\n- b is 2\n- a is 1");
        let after = ids(
            "# Facts\n\nNew line.\n- c is 3\n- a is 1\n\n| n | value |\n|---|---|\n| x   | 1   |\n| longer | 2 |\n\n## More\n- a is 1",
        );
        assert_eq!(before["- a is 1 Facts"], after["- a is 1 Facts"]);
        assert_eq!(before["- a is 1 Facts>More"], after["- a is 1 Facts>More"]);
        assert_eq!(before["| x | 1 | Facts"], after["| x   | 1   | Facts"], "a table may be padded anew");
        assert_ne!(before["- a is 1 Facts"], before["- a is 1 Facts>More"]);
        let passages = [passage(1, (1, 2), "a\na")];
        let twice = facts("d", &passages);
        assert_ne!(twice[0].cited.id, twice[1].cited.id, "equal lines are counted");
        assert_ne!(twice[0].cited.id, facts("e", &passages)[0].cited.id);
        assert_eq!(twice[0].cited.to_string(), format!("Canonical:{}", twice[0].cited.id));
        assert_eq!(twice[0].cited.id.len(), 16);
    }

    #[test]
    fn code_has_no_headings_and_broken_tables_are_lines() {
        use FactKind::{Code, Heading, Rest, Start};
        let check = |text: &str, expected: &[(u32, &str, FactKind)]| {
            let lines = text.lines().count() as u32;
            let passages = [passage(1, (1, lines), text)];
            let got: Vec<_> =
                facts("d", &passages).iter().map(|fact| (fact.cited.line, fact.text, fact.kind)).collect();
            assert_eq!(got, expected, "{text}");
        };
        check(
            "## Run\n```sh\n# comment\nmake all\n```\nafter\nit",
            &[
                (1, "## Run", Heading),
                (3, "# comment", Code),
                (4, "make all", Code),
                (6, "after", Start),
                (7, "it", Rest),
            ],
        );
        // No rule, a rule without a head, cells that are missing, a table that ends the file.
        check("| a | b |\n| c | d |", &[(1, "| a | b |", Start), (2, "| c | d |", Start)]);
        check("|---|---|\n| c | d", &[(2, "| c | d", Start)]);
        check("| a | b |\n|---|", &[]);
        check("a | b\n---|---\nc\n|", &[(3, "c", Start)]);
        check("```\nopen | fence\n---|---", &[(2, "open | fence", Code)]);
        check(
            "- one\n  goes on\n- two\n1. three",
            &[(1, "- one", Start), (2, "  goes on", Rest), (3, "- two", Start), (4, "1. three", Start)],
        );
        check("", &[]);
    }
}
