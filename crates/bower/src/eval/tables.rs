//! Renders the report of `bower eval` as aligned tables for a person.
//! Every text ends with a line feed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::FUSED;
use super::bootstrap::Interval;
use super::calibration::Calibration;
use super::evidence::Budget;
use super::metrics::{self, Named, keys};
use super::paired::{Ablated, Comparison, Difference, Sides};
use super::report::{Intervals, Report};

/// Renders the whole report.
pub fn render(report: &Report) -> String {
    let mut text = format!(
        "profile {} · {} documents · {} judged queries · p50 {:.1} ms · p95 {:.1} ms\n\n",
        report.profile, report.documents, report.queries, report.latency_ms.p50, report.latency_ms.p95
    );
    text.push_str(&figures(report));
    if let Some(comparison) = &report.comparison {
        text.push('\n');
        text.push_str(&compared(comparison, report.cutoff));
    }
    if let Some(rows) = &report.ablation {
        text.push('\n');
        text.push_str(&ablated(report, rows));
    }
    if let Some(calibration) = &report.calibration {
        text.push('\n');
        text.push_str(&calibrated(calibration));
    }
    if let Some(budgets) = &report.evidence {
        text.push('\n');
        text.push_str(&packed(budgets));
    }
    text
}

/// Renders the figures of every ranking, over all queries and by category.
fn figures(report: &Report) -> String {
    let mut grid = Grid::new(&[
        "",
        &format!("nDCG@{}", report.cutoff),
        "95 % interval",
        &format!("Recall@{}", report.cutoff),
        &format!("Recall@{}", metrics::DEEP),
        &format!("MRR@{}", report.cutoff),
    ]);
    let keys = keys(report.cutoff);
    let mut row = |label: String, figures: &Named, intervals: Option<&Intervals>| {
        let [ndcg, others @ ..] = keys.each_ref().map(|key| plain(figures.get(key)));
        let interval = intervals.and_then(|intervals| intervals.get(&keys[0])).copied();
        grid.row([label, ndcg, interval.map(between).unwrap_or_default()].into_iter().chain(others));
    };
    for (name, figures) in fused_first(&report.figures) {
        row(name.to_owned(), figures, report.intervals.get(name));
    }
    let mut text = grid.print();
    for (category, figures) in &report.by_category {
        let size = report.category_queries.get(category).copied().unwrap_or(0);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{category} ({size})");
        let mut rows = Grid::like(&grid);
        for (name, figures) in fused_first(figures) {
            let intervals = report.category_intervals.get(category).and_then(|all| all.get(name));
            let [ndcg, others @ ..] = keys.each_ref().map(|key| plain(figures.get(key)));
            let interval = intervals.and_then(|intervals| intervals.get(&keys[0])).copied();
            let cells = [format!("  {name}"), ndcg, interval.map(between).unwrap_or_default()];
            rows.row(cells.into_iter().chain(others));
        }
        text.push_str(&rows.print());
    }
    text
}

/// Renders two profiles side by side.
fn compared(comparison: &Comparison, cutoff: usize) -> String {
    let [first, second] = &comparison.profiles;
    let mut text = format!("{second} instead of {first}\n\n");
    let mut grid =
        Grid::new(&["", "queries", first, second, "difference", "95 % interval", "better", "worse", "equal"]);
    let mut put = |label: &str, key: &String, sides: &Sides| {
        let [one, other] = sides.figures.each_ref().map(|figures| plain(figures.get(key)));
        let difference = sides.differences.get(key).copied().unwrap_or_default();
        let cells = [label.to_owned(), sides.queries.to_string(), one, other];
        grid.row(cells.into_iter().chain(difference_cells(&difference)));
    };
    let keys = keys(cutoff);
    let shown = [
        format!("nDCG@{cutoff}"),
        format!("Recall@{cutoff}"),
        format!("Recall@{}", metrics::DEEP),
        format!("MRR@{cutoff}"),
    ];
    for (key, shown) in keys.iter().zip(&shown) {
        put(shown, key, &comparison.all);
    }
    for (category, sides) in &comparison.by_category {
        put(&format!("{} {category}", shown[0]), &keys[0], sides);
    }
    text.push_str(&grid.print());
    text
}

/// Renders the ranking without each of its parts.
fn ablated(report: &Report, rows: &[Ablated]) -> String {
    let mut grid = Grid::new(&[
        "without",
        &format!("nDCG@{}", report.cutoff),
        "difference",
        "95 % interval",
        "better",
        "worse",
        "equal",
    ]);
    let key = &keys(report.cutoff)[0];
    let whole = report.figures.get(FUSED).and_then(|figures| figures.get(key));
    grid.row(["nothing".to_owned(), plain(whole)].into_iter().chain([const { String::new() }; 5]));
    for row in rows {
        let cells = [format!("{} {}", row.kind, row.removed), plain(row.figures.get(key))];
        grid.row(cells.into_iter().chain(difference_cells(&row.difference)));
    }
    grid.print()
}

/// Renders the calibration and the abstention.
fn calibrated(found: &Calibration) -> String {
    let mut text = format!("calibration error {:.3} over {} hits", found.error, found.hits);
    // Writing to a String cannot fail.
    let _ = found.error_any_grade.map(|error| write!(text, ", {error:.3} with every grade"));
    let _ = writeln!(text, ", {:.3} over first hits\n", found.error_first);
    let mut grid = Grid::new(&["ten bins", "hits", "told", "relevant"]);
    for (at, bin) in found.bins.iter().enumerate() {
        let [told, relevant] = [bin.probability, bin.relevant].map(|share| format!("{share:.3}"));
        grid.row([(at + 1).to_string(), bin.hits.to_string(), told, relevant]);
    }
    text.push_str(&grid.print());
    let one = &found.abstention;
    text.push('\n');
    let mut grid = Grid::new(&["abstention", "questions", "AUROC", "95 % interval", "abstains"]);
    grid.row([
        "all".to_owned(),
        one.questions.to_string(),
        format!("{:.3}", one.auroc),
        between(one.interval),
        String::new(),
    ]);
    grid.row([
        "answered".to_owned(),
        one.answered.to_string(),
        format!("{:.3}", one.auroc_answered),
        between(one.interval_answered),
        format!("{:.3}", one.abstains_answered),
    ]);
    grid.row([
        "removed".to_owned(),
        one.questions.to_string(),
        String::new(),
        String::new(),
        format!("{:.3}", one.abstains_removed),
    ]);
    text.push_str(&grid.print());
    text
}

/// Renders the share of the relevant documents that fits each budget.
fn packed(budgets: &[Budget]) -> String {
    let mut grid = Grid::new(&[
        "evidence",
        "tokens",
        "cited",
        "95 % interval",
        "words",
        "95 % interval",
        "cited per 1,000",
    ]);
    for one in budgets {
        grid.row([
            one.budget_tokens.to_string(),
            format!("{:.0}", one.tokens),
            format!("{:.3}", one.cited),
            between(one.cited_interval),
            format!("{:.3}", one.words),
            between(one.words_interval),
            format!("{:.3}", one.cited_per_1000_tokens),
        ]);
    }
    grid.print()
}

fn difference_cells(one: &Difference) -> [String; 5] {
    let star = if one.interval.is_clear() { "*" } else { " " };
    [
        format!("{:+.3}{star}", one.difference),
        format!("{:+.3} {:+.3}", one.interval.0, one.interval.1),
        one.better.to_string(),
        one.worse.to_string(),
        one.equal.to_string(),
    ]
}

fn plain(figure: Option<&f64>) -> String {
    format!("{:.3}", figure.copied().unwrap_or(0.0))
}

fn between(interval: Interval) -> String {
    format!("{:.3}-{:.3}", interval.0, interval.1)
}

fn fused_first<T>(figures: &BTreeMap<String, T>) -> impl Iterator<Item = (&str, &T)> {
    let fused = figures.get_key_value(FUSED).into_iter();
    fused
        .chain(figures.iter().filter(|(name, _)| *name != FUSED))
        .map(|(name, figures)| (name.as_str(), figures))
}

/// Columns as wide as their widest cell, two spaces apart: the first left-aligned, the others right-aligned. Columns never
/// shrink, because programs that parse the figures need positions that do not depend on the screen.
struct Grid {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

/// Least width of a number column, so that the tables of one report line up.
const LEAST: usize = 10;

impl Grid {
    fn new(head: &[&str]) -> Self {
        let mut grid = Self { rows: Vec::new(), widths: vec![LEAST; head.len()] };
        grid.row(head.iter().map(|cell| (*cell).to_owned()));
        grid
    }

    /// Creates a grid without rows that is as wide as another.
    fn like(other: &Self) -> Self {
        Self { rows: Vec::new(), widths: other.widths.clone() }
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            *width = (*width).max(cell.chars().count());
        }
        self.rows.push(cells);
    }

    fn print(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&self.widths).enumerate() {
                let _ =
                    if at == 0 { write!(line, "{cell:width$}") } else { write!(line, "  {cell:>width$}") };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
