//! Prints figures in columns and summarises timings.
//! Widths come from the content; nothing is rounded before it is printed.

/// Prints rows under their heads; the first column is left-aligned, the others right-aligned.
pub fn print(heads: &[&str], rows: &[Vec<String>]) {
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

/// Three significant digits: .012 is `0.0120`, 1,234.5 is `1234`.
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

/// The value that `share` (0..1) of the values do not pass, by nearest rank; 0 of none.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values = [3.0, 1.0, 2.0, 4.0];
        for (share, expected) in [(0.0, 1.0), (0.5, 2.0), (0.95, 4.0), (1.0, 4.0)] {
            assert!((percentile(&values, share) - expected).abs() < 1e-12);
        }
        assert!(percentile(&[], 0.5).abs() < 1e-12);
    }
}
