//! Searches the canonical channel: lines and headings of documents named CANONICAL.md, the most trusted source.
//! Each hit is cited by the line that answers.

use crate::engine::Engine;
use crate::engine::indexes::LANGUAGE;
use crate::error::Result;
use crate::item::{RowId, RowSet, Scored};
use crate::store::Passage;
use crate::text::{AskedScan, Compare};

/// Name of a canonical document; letter case is ignored.
const NAME: &str = "CANONICAL.md";

/// Lowest score of a hit: a line below it shares one word with a long question by chance.
const LEAST: f32 = 0.2;

/// A canonical hit with the line that matched best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cited {
    /// The chunk, scored by its best line.
    pub hit: Scored,
    /// Number of the line in its document, from 1.
    pub line: u32,
}

impl Cited {
    /// Returns the citation of a hit, such as `Canonical:L12`.
    pub fn citation(&self) -> String {
        format!("Canonical:L{}", self.line)
    }
}

/// A line of a canonical document that has text.
struct Line<'a> {
    row: RowId,
    number: u32,
    text: &'a str,
    /// The headings above it.
    under: String,
}

/// Returns the chunks of canonical documents with the question's words in one line, best first.
///
/// A line's score is the share of the question's words that it has; words count by their rarity over all canonical lines (see
/// [`AskedScan`]). The headings above the line count by half. A chunk has the score of its best line, the first of equals.
pub fn canonical(
    engine: &Engine,
    question: &str,
    depth: usize,
    allowed: &dyn Fn(RowId) -> bool,
) -> Result<Vec<Cited>> {
    let mut scan = AskedScan::new(question, LANGUAGE, Compare::Lines);
    if scan.is_empty() {
        return Ok(Vec::new());
    }
    let store = &*engine.store;
    let mut passages = Vec::new();
    for (document, _, name) in engine.caches.paths(&*engine.store)?.iter() {
        if name.eq_ignore_ascii_case(NAME) {
            passages.push(store.passages(document)?);
        }
    }
    let lines: Vec<Line<'_>> =
        passages.iter().flat_map(|document| lines(document)).filter(|line| allowed(line.row)).collect();
    for (nth, line) in lines.iter().enumerate() {
        scan.push(nth as u64, line.text, &line.under);
    }
    let mut cited: Vec<Cited> = Vec::new();
    let mut seen = RowSet::new();
    for (nth, score) in scan.finish().into_iter().take_while(|(_, score)| *score >= LEAST) {
        let line = &lines[nth as usize];
        if seen.insert(line.row) {
            cited.push(Cited { hit: Scored { row: line.row, score }, line: line.number });
        }
    }
    cited.sort_unstable_by(|a, b| Scored::cmp_best_first(&a.hit, &b.hit));
    cited.truncate(depth);
    Ok(cited)
}

/// Returns the lines of a document's chunks that have text: no blank lines, rules of tables, or headings repeated for
/// reading. The head of a table says what its rows are about, as a heading does; it is no fact itself.
fn lines(passages: &[Passage]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut head: Option<&str> = None;
    for passage in passages {
        let (first, last) = passage.lines;
        let span = (last.saturating_sub(first) + 1) as usize;
        // A part of a long section begins with a copy of its heading (a table's part with a copy of its head): lines beyond
        // the span.
        let repeated = passage.content.lines().count().saturating_sub(span);
        let mut rest = passage.content.lines().enumerate().peekable();
        while let Some((at, text)) = rest.next() {
            let is_head = text.contains('|') && rest.peek().is_some_and(|(_, next)| is_rule(next));
            if is_head || !text.contains('|') {
                head = Some(text).filter(|_| is_head);
            }
            let level = text.len() - text.trim_start_matches('#').len();
            let is_heading = (1..=6).contains(&level) && text[level..].starts_with(' ');
            if is_heading {
                headings.retain(|&(above, _)| above < level);
            }
            let says = text.chars().any(char::is_alphanumeric);
            if says && at >= repeated && !is_head {
                let above = headings.iter().map(|(_, heading)| *heading).chain(head);
                let under = above.collect::<Vec<_>>().join("\n");
                let number = first + u32::try_from(at - repeated).unwrap_or(u32::MAX - first);
                lines.push(Line { row: passage.row, number, text, under });
            }
            if is_heading {
                headings.push((level, text[level..].trim()));
            }
        }
    }
    lines
}

/// Whether a line is the one between the head and the rows of a table: `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_number_and_their_headings() {
        let passage = |row, lines, content: &str| Passage { row: RowId(row), lines, content: content.into() };
        let passages = [
            passage(1, (1, 6), "# Facts\n\n## Ports\n| name | port |\n|---|---|\n| api | 8080 |"),
            passage(2, (7, 8), "## Ports\n| name | port |\n|---|---|\n| web | 9090 |\n| db | 5432 |"),
            passage(3, (10, 11), "## Hosts\nalpha"),
        ];
        let got: Vec<_> = lines(&passages)
            .into_iter()
            .map(|line| (line.row.0, line.number, line.text, line.under.replace('\n', " > ")))
            .collect();
        let line = |row, number, text, under: &str| (row, number, text, under.to_owned());
        assert_eq!(
            got,
            [
                line(1, 1, "# Facts", ""),
                line(1, 3, "## Ports", "Facts"),
                line(1, 6, "| api | 8080 |", "Facts > Ports > | name | port |"),
                line(2, 7, "| web | 9090 |", "Facts > Ports > | name | port |"),
                line(2, 8, "| db | 5432 |", "Facts > Ports > | name | port |"),
                line(3, 10, "## Hosts", "Facts"),
                line(3, 11, "alpha", "Facts > Hosts"),
            ]
        );
        assert_eq!(Cited { hit: Scored { row: RowId(1), score: 1.0 }, line: 12 }.citation(), "Canonical:L12");
    }
}
