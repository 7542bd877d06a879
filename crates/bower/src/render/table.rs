//! Prints aligned columns that fit the screen.
//! One column may shrink, the others are as wide as their widest cell. A cell that does not fit is cut; in the last column it
//! continues in the next line.

use super::{Look, columns, cut, rows};
use anstyle::Style;

/// A table whose columns are separated by two spaces.
#[derive(Debug)]
pub struct Table {
    indent: usize,
    /// Alignment and style of each column.
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Format of one column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    right: bool,
    shrinks: bool,
    style: Style,
}

impl Column {
    /// Returns a column that is left-aligned, plain and as wide as its widest cell.
    pub const fn new() -> Self {
        Self { right: false, shrinks: false, style: Style::new() }
    }

    /// Makes the column right-aligned.
    pub const fn right(self) -> Self {
        Self { right: true, ..self }
    }

    /// Makes the column shrink if the screen is narrow.
    pub const fn shrinks(self) -> Self {
        Self { shrinks: true, ..self }
    }

    /// Sets the column's style.
    pub const fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// Least width to which a column shrinks.
const LEAST: usize = 8;

impl Table {
    /// Creates a table without rows.
    pub fn new(indent: usize, columns: impl Into<Vec<Column>>) -> Self {
        Self { indent, columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; each cell becomes clean text on one line.
    pub fn row<const N: usize>(&mut self, cells: [&str; N]) -> &mut Self {
        debug_assert_eq!(N, self.columns.len(), "one cell a column");
        self.rows.push(cells.map(super::line).to_vec());
        self
    }

    /// Formats the table.
    pub fn print(&self, look: &Look) -> String {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|at| self.rows.iter().map(|row| columns(&row[at])).max().unwrap_or_default())
            .collect();
        let gaps = 2 * self.columns.len().saturating_sub(1);
        let excess = (self.indent + gaps + widths.iter().sum::<usize>()).saturating_sub(look.width);
        if let Some(at) = self.columns.iter().position(|column| column.shrinks) {
            widths[at] = widths[at].saturating_sub(excess).max(LEAST.min(widths[at]));
        }
        let mut out = String::new();
        for row in &self.rows {
            let (last, others) = row.split_last().expect("a table has columns");
            // Further rows of the last cell are placed under its first.
            let more = match self.columns[others.len()] {
                Column { shrinks: true, .. } => rows(last, widths[others.len()]),
                Column { shrinks: false, .. } => vec![last.clone()],
            };
            let mut row = others.to_vec();
            row.push(more[0].clone());
            self.line(&row, &widths, look, &mut out);
            for more in &more[1..] {
                let mut row = vec![String::new(); others.len()];
                row.push(more.clone());
                self.line(&row, &widths, look, &mut out);
            }
        }
        out
    }

    fn line(&self, row: &[String], widths: &[usize], look: &Look, out: &mut String) {
        let mut line = " ".repeat(self.indent);
        for (at, cell) in row.iter().enumerate() {
            let column = self.columns[at];
            let cell = cut(cell, widths[at]);
            let padding = " ".repeat(widths[at] - columns(&cell));
            let cell = look.paint(column.style, &cell);
            let gap = if at > 0 { "  " } else { "" };
            let (before, after) = if column.right { (&padding[..], "") } else { ("", &padding[..]) };
            line.extend([gap, before, &cell, after]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_fit() {
        let mut table = Table::new(1, [Column::new(), Column::new().shrinks(), Column::new().right()]);
        table.row(["a", "short", "1"]).row(["記憶", "a long cell that gives way", "1,234"]);
        let look = Look { width: 30, ..Look::now() };
        assert_eq!(table.print(&look), " a     short                 1\n 記憶  a long cell tha…  1,234\n");
        assert!(table.print(&look).lines().all(|line| columns(line) <= 30));
        let mut table = Table::new(0, [Column::new(), Column::new().shrinks()]);
        table.row(["key", "what goes on below"]).row(["k", "averyveryverylongword"]);
        let look = Look { width: 17, ..Look::now() };
        assert_eq!(
            table.print(&look),
            "key  what goes on\n     below\nk    averyverver…\n".replace("averyverver", "averyveryve")
        );
    }
}
