//! Prints figures in columns and summarises timings.
//! Widths come from the content; nothing is rounded before it is printed.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if tables are printed in Markdown.
static IS_MARKDOWN: AtomicBool = AtomicBool::new(false);

/// Sets for this process whether tables are printed in Markdown or in columns.
pub fn set_markdown(is_markdown: bool) {
    IS_MARKDOWN.store(is_markdown, Ordering::Relaxed);
}

/// Prints rows under their headings; the first column is left-aligned, the others right-aligned.
pub fn print(heads: &[&str], rows: &[Vec<String>]) {
    if IS_MARKDOWN.load(Ordering::Relaxed) {
        println!("\n{}", markdown(heads, rows));
        return;
    }
    let mut widths: Vec<usize> = heads.iter().map(|head| head.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Vec<&str>| {
        let cells: Vec<String> = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(at, (cell, width))| {
                    if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        println!("{}", cells.join("  ").trim_end());
    };
    line(heads.to_vec());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
}

/// Formats the rows as a Markdown table.
fn markdown(heads: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| {
        // Markdown drops the leading spaces that mark a row as a part of the row above.
        let cells = cells.iter().map(|cell| match cell.strip_prefix("  ") {
            Some(part) => format!("&nbsp; {part}"),
            None => (*cell).to_owned(),
        });
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let marks = format!("|---|{}\n", "---:|".repeat(heads.len().saturating_sub(1)));
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    [line(heads.to_vec()), marks].into_iter().chain(body).collect()
}

/// Formats three significant digits: .012 is `0.0120`, 1,234.5 is `1234`.
pub fn number(value: f64) -> String {
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else if value.abs() >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// Returns the smallest value that at least `share` (0..1) of the values do not exceed, by nearest rank; 0 if there are none.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{markdown, percentile};

    #[test]
    fn a_table_in_markdown_keeps_its_cells() {
        let rows = [vec!["words".to_owned(), ".525".to_owned()], vec!["  p99".to_owned(), "4 ms".to_owned()]];
        let expected = "| set | mean |\n|---|---:|\n| words | .525 |\n| &nbsp; p99 | 4 ms |\n";
        assert_eq!(markdown(&["set", "mean"], &rows), expected);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values = [3.0, 1.0, 2.0, 4.0];
        for (share, expected) in [(0.0, 1.0), (0.5, 2.0), (0.95, 4.0), (1.0, 4.0)] {
            assert!((percentile(&values, share) - expected).abs() < 1e-12);
        }
        assert!(percentile(&[], 0.5).abs() < 1e-12);
    }
}
