//! Reads the tables of reStructuredText: drawn as a grid or with rules, written as lists, or as values between commas.

use super::asciidoc_table::values;
use super::blocks::{MOST_COLUMNS, Row};

/// A table whose lines are read one by one.
pub(super) enum RstTable {
    Grid(RstGrid),
    Simple(Simple),
    List(List),
    Values(RstValues),
}

/// A row of texts with its source line.
type Texts = (Vec<String>, u32);

impl RstTable {
    /// Returns the table that a line opens.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        if line.len() >= 3
            && line.starts_with('+')
            && line.ends_with('+')
            && line.bytes().all(|b| b"+-=".contains(&b))
        {
            return line.contains("+-").then(|| Self::Grid(RstGrid::default()));
        }
        let is_simple =
            line.starts_with("==") && line.contains(" =") && line.bytes().all(|byte| b"= ".contains(&byte));
        is_simple.then(|| Self::Simple(Simple::default()))
    }

    /// Reads an option of the directive.
    pub(super) fn option(&mut self, name: &str, value: &str) {
        if let (Self::Values(table), "header") = (self, name) {
            table.rows.insert(0, (values(value, ','), 1));
        }
    }

    /// Whether a drawn table goes on in a line.
    pub(super) fn goes_on(&self, line: &str) -> bool {
        match self {
            Self::Grid(_) => line.starts_with(['+', '|']),
            Self::Simple(_) | Self::List(_) | Self::Values(_) => true,
        }
    }

    /// Whether the last line read ends the table: the rule below the rows, which is the second one if there is no head.
    pub(super) fn is_over(&self, next: &str) -> bool {
        matches!(self, Self::Simple(table) if table.rules == 2 || (table.is_rule && table.rules == 1 && next.is_empty()))
    }

    pub(super) fn line(&mut self, line: &str, number: u32) {
        match self {
            Self::Grid(table) => table.lines.push((line.chars().collect(), number)),
            Self::Simple(table) => table.line(line, number),
            Self::List(table) => table.line(line, number),
            Self::Values(table) => {
                if !line.trim().is_empty() {
                    table.rows.push((values(line, ','), number));
                }
            }
        }
    }

    /// Returns the rows.
    pub(super) fn rows(self, shown: impl Fn(&str) -> String) -> Vec<(Row, u32)> {
        let rows = match self {
            Self::Grid(table) => table.rows(),
            Self::Simple(table) => table.rows,
            Self::List(table) => table.rows,
            Self::Values(table) => table.rows,
        };
        let cells = |texts: Vec<String>| texts.iter().map(|text| (shown(text), 1, 1)).collect();
        rows.into_iter().map(|(texts, number)| (cells(texts), number)).collect()
    }
}

/// A table whose borders are drawn.
#[derive(Default)]
pub(super) struct RstGrid {
    lines: Vec<(Vec<char>, u32)>,
}

impl RstGrid {
    /// Returns the rows. The text of a cell that spans rows is divided among them; one that spans columns stands in the first.
    fn rows(&self) -> Vec<Texts> {
        let is_rule = |line: &[char]| line.first() == Some(&'+');
        let mut bounds: Vec<usize> = self
            .lines
            .iter()
            .filter(|(line, _)| is_rule(line))
            .take(200)
            .flat_map(|(line, _)| {
                line.iter()
                    .enumerate()
                    .filter(|(_, sign)| **sign == '+')
                    .map(|(at, _)| at)
                    .collect::<Vec<_>>()
            })
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        bounds.truncate(MOST_COLUMNS + 1);
        let columns = bounds.len().saturating_sub(1);
        let (mut rows, mut row, mut begin) = (Vec::new(), vec![String::new(); columns], 0);
        for (line, number) in &self.lines {
            let is_whole = is_rule(line) && line.iter().all(|sign| "+-=".contains(*sign));
            let mut column = 0;
            while column < columns && !is_whole {
                let start = bounds[column] + 1;
                let end = (column + 1..columns)
                    .find(|&next| matches!(line.get(bounds[next]), Some('|' | '+')))
                    .unwrap_or(columns);
                let until = if end == columns { line.len() } else { bounds[end] };
                let text: String = line.get(start..until).unwrap_or_default().iter().collect();
                let text = text.trim().trim_end_matches('|').trim();
                if !text.is_empty() && !text.chars().all(|sign| "+-=".contains(sign)) {
                    row[column].push('\n');
                    row[column].push_str(text);
                }
                column = end;
            }
            if is_rule(line) && row.iter().any(|text| !text.is_empty()) {
                rows.push((std::mem::replace(&mut row, vec![String::new(); columns]), begin));
                begin = 0;
            } else if begin == 0 && !is_rule(line) {
                begin = *number;
            }
        }
        rows
    }
}

/// A table with rules above and below, and perhaps below its head.
#[derive(Default)]
pub(super) struct Simple {
    /// Where the columns begin, in letters.
    starts: Vec<usize>,
    rules: usize,
    rows: Vec<Texts>,
    /// Whether the last line was a rule.
    is_rule: bool,
}

impl Simple {
    fn line(&mut self, line: &str, number: u32) {
        let is_rule = line.starts_with("==") && line.bytes().all(|byte| b"= ".contains(&byte));
        if self.starts.is_empty() {
            let mut before = ' ';
            for (at, sign) in line.chars().enumerate() {
                if sign == '=' && before == ' ' && self.starts.len() < MOST_COLUMNS {
                    self.starts.push(at);
                }
                before = sign;
            }
            return;
        }
        self.is_rule = is_rule;
        if is_rule {
            self.rules += 1;
            return;
        }
        if line.trim().is_empty() || line.starts_with("--") && line.bytes().all(|byte| b"- ".contains(&byte))
        {
            return;
        }
        let letters: Vec<char> = line.chars().collect();
        let cell = |at: usize| {
            let start = self.starts[at].min(letters.len());
            let end = self.starts.get(at + 1).map_or(letters.len(), |&next| next.min(letters.len()));
            letters[start..end].iter().collect::<String>().trim().to_owned()
        };
        let cells: Vec<String> = (0..self.starts.len()).map(cell).collect();
        match self.rows.last_mut().filter(|_| cells[0].is_empty()) {
            Some((last, _)) => {
                for (text, more) in last.iter_mut().zip(&cells).filter(|(_, more)| !more.is_empty()) {
                    text.push('\n');
                    text.push_str(more);
                }
            }
            None => self.rows.push((cells, number)),
        }
    }
}

/// A table whose rows are items with items inside.
#[derive(Default)]
pub(super) struct List {
    rows: Vec<Texts>,
    /// Indentation of the marks of rows.
    indent: Option<usize>,
}

impl List {
    fn line(&mut self, line: &str, number: u32) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let cell = if text.starts_with("* - ") || text == "* -" {
            if indent <= *self.indent.get_or_insert(indent) {
                self.rows.push((Vec::new(), number));
            }
            Some(text[3..].trim())
        } else {
            let is_cell = (text.starts_with("- ") || text == "-")
                && self.indent.is_some_and(|outer| indent <= outer + 4);
            is_cell.then(|| text[1..].trim())
        };
        let Some((row, _)) = self.rows.last_mut() else { return };
        match (cell, row.last_mut()) {
            (Some(cell), _) => row.push(cell.to_owned()),
            (None, Some(last)) if !text.is_empty() => {
                last.push('\n');
                last.push_str(text);
            }
            (None, _) => {}
        }
    }
}

/// A table of values between commas.
#[derive(Default)]
pub(super) struct RstValues {
    rows: Vec<Texts>,
}
