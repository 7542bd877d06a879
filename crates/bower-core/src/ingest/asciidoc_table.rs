//! Reads the tables of `AsciiDoc`, whose cells may span lines, columns and rows.

use super::blocks::{MOST_COLUMNS, Row};

/// A table whose lines are read until its end.
pub(super) struct AsciiDocTable {
    end: String,
    separator: char,
    /// Number of columns; 0 until it is known.
    columns: usize,
    /// Text, columns, rows and the source line of each cell.
    cells: Vec<(String, usize, usize, u32)>,
}

impl AsciiDocTable {
    /// Opens the table that `line` begins, with the attributes above it.
    pub(super) fn new(attributes: &str, line: &str) -> Self {
        let value = |name: &str| {
            let rest = attributes.split_once(name)?.1.strip_prefix('=')?;
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            Some(quoted.map_or_else(|| rest.split(',').next().unwrap_or_default(), |(quoted, _)| quoted))
        };
        let separator = match (value("separator"), value("format"), line.as_bytes().first()) {
            (Some(sign), _, _) if sign != "\\t" => sign.chars().next().unwrap_or('|'),
            (_, Some("csv"), _) | (_, _, Some(b',')) => ',',
            (_, Some("tsv"), _) | (Some(_), _, _) => '\t',
            (_, Some("dsv"), _) | (_, _, Some(b':')) => ':',
            _ => '|',
        };
        let columns = value("cols").map_or(0, |columns| {
            let number =
                |column: &str| column.split_once('*').map_or(Some(1), |(times, _)| times.trim().parse().ok());
            columns.split([',', ';']).map(|column| number(column).unwrap_or(1_usize).min(MOST_COLUMNS)).sum()
        });
        Self { end: line.to_owned(), separator, columns: columns.min(MOST_COLUMNS), cells: Vec::new() }
    }

    /// Whether a line ends the table.
    pub(super) fn ends_with(&self, line: &str) -> bool {
        line == self.end
    }

    /// Reads a line.
    pub(super) fn line(&mut self, line: &str, number: u32) {
        if self.separator != '|' {
            let cells = values(line, self.separator);
            if self.columns == 0 {
                self.columns = cells.len();
            }
            self.cells.extend(cells.into_iter().map(|text| (text, 1, 1, number)));
            return;
        }
        let mut rest = line;
        let mut specification = (1, 1, 1);
        let mut is_first = true;
        loop {
            let at = bar(rest);
            let text = &rest[..at.unwrap_or(rest.len())];
            // What stands before the next bar ends with that cell's own specification.
            let (text, next) = if at.is_some() { split_specification(text) } else { (text, (1, 1, 1)) };
            if is_first {
                if let Some((last, ..)) = self.cells.last_mut().filter(|_| !text.trim().is_empty()) {
                    last.push('\n');
                    last.push_str(&text.replace("\\|", "|"));
                }
            } else {
                let (times, columns, rows) = specification;
                for _ in 0..times {
                    self.cells.push((text.trim().replace("\\|", "|"), columns, rows, number));
                }
            }
            let Some(at) = at else { break };
            (is_first, specification) = (false, next);
            rest = &rest[at + 1..];
        }
        if self.columns == 0 {
            self.columns = self.cells.iter().map(|(_, columns, ..)| columns).sum::<usize>().min(MOST_COLUMNS);
        }
    }

    /// Returns the rows, each with the source line where it begins.
    pub(super) fn rows(&self, shown: impl Fn(&str) -> String) -> Vec<(Row, u32)> {
        let columns = self.columns.max(1);
        let mut below = [0_usize; MOST_COLUMNS];
        let mut rows: Vec<(Row, u32)> = Vec::new();
        let mut at = columns;
        for (text, wide, high, number) in &self.cells {
            while at < columns && below[at] > 0 {
                below[at] -= 1;
                at += 1;
            }
            // A row that cells above fill alone has no cell of its own.
            while at >= columns {
                rows.push((Row::new(), *number));
                at = 0;
                while at < columns && below[at] > 0 {
                    below[at] -= 1;
                    at += 1;
                }
            }
            let end = (at + wide).min(columns);
            below[at..end].fill(high - 1);
            at = end;
            if let Some((row, _)) = rows.last_mut() {
                row.push((shown(text), *wide, *high));
            }
        }
        rows
    }
}

/// Returns where the next bar without a backslash stands.
fn bar(text: &str) -> Option<usize> {
    text.match_indices('|').map(|(at, _)| at).find(|&at| !text[..at].ends_with('\\'))
}

/// Splits the specification of the next cell off: `2+`, `.3+`, `3*`, an alignment, a style.
/// Returns the text before it, how often the cell is repeated, and its columns and rows.
fn split_specification(text: &str) -> (&str, (usize, usize, usize)) {
    let start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let start = if text.is_char_boundary(start) { start } else { text.len() };
    let word = &text[start..];
    let none = (text, (1, 1, 1));
    let is_specification =
        !word.is_empty() && word.bytes().all(|byte| b"0123456789.+*<^>aehlmsdv".contains(&byte));
    if !is_specification || word.len() > 12 || word.bytes().filter(u8::is_ascii_alphabetic).count() > 1 {
        return none;
    }
    let (numbers, rest) = match word.find(['+', '*']) {
        Some(at) => (&word[..at], &word[at..]),
        None => ("", word),
    };
    let is_style = |text: &str| {
        let style = text.trim_start_matches(['<', '^', '>', '.']);
        style.is_empty() || (style.len() == 1 && style.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    if !is_style(rest.trim_start_matches(['+', '*'])) {
        return none;
    }
    let (columns, rows) = numbers.split_once('.').unwrap_or((numbers, ""));
    let number = |digits: &str| digits.parse::<usize>().unwrap_or(1).clamp(1, MOST_COLUMNS);
    let spans =
        if rest.starts_with('*') { (number(columns), 1, 1) } else { (1, number(columns), number(rows)) };
    (&text[..start], spans)
}

/// Returns the values of a line, in which quotation marks may stand around one.
pub(super) fn values(line: &str, separator: char) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match (letter, found.last_mut()) {
            ('"', Some(value)) if separator == ',' && (is_quoted || value.trim().is_empty()) => {
                is_quoted = !is_quoted;
            }
            (letter, _) if letter == separator && !is_quoted => found.push(String::new()),
            (letter, Some(value)) => value.push(letter),
            (_, None) => {}
        }
    }
    found.iter().map(|value| value.trim().to_owned()).filter(|_| !line.trim().is_empty()).collect()
}
