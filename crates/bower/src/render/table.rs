//! Aligned columns that fit the screen: one column may shrink, the others are as wide as their widest cell.

use super::{Look, columns, cut};
use anstyle::Style;

/// Rows of cells, printed with two spaces between columns.
#[derive(Debug)]
pub struct Table {
    indent: usize,
    /// Per column: right-aligned, and its style.
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// How one column looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    right: bool,
    shrinks: bool,
    style: Style,
}

impl Column {
    /// Left-aligned, plain, as wide as it must be.
    pub const fn new() -> Self {
        Self { right: false, shrinks: false, style: Style::new() }
    }

    /// Right-aligned.
    pub const fn right(self) -> Self {
        Self { right: true, ..self }
    }

    /// Gives way where the screen is narrow.
    pub const fn shrinks(self) -> Self {
        Self { shrinks: true, ..self }
    }

    /// In a style.
    pub const fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// No column shrinks below this.
const LEAST: usize = 8;

impl Table {
    /// A table without rows.
    pub fn new(indent: usize, columns: impl Into<Vec<Column>>) -> Self {
        Self { indent, columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row: clean text on one line each.
    pub fn row<const N: usize>(&mut self, cells: [&str; N]) -> &mut Self {
        debug_assert_eq!(N, self.columns.len(), "one cell a column");
        self.rows.push(cells.map(super::line).to_vec());
        self
    }

    /// The lines.
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
        out
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
        assert_eq!(table.print(&look), " a     short                 1\n 記憶  a long cell that…  1,234\n");
        assert!(table.print(&look).lines().all(|line| columns(line) <= 30));
    }
}
