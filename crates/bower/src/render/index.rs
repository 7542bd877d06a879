//! Renders for people the result of an index run, the files that it left out, and problems of those that it read.

use bower_core::request::IndexReport;
use std::fmt::Write as _;
use std::path::Path;

use super::store::degraded;
use super::table::{Column, Table};
use super::{Look, count, duration, line, style, thousands};

/// Number of left-out files that are listed without `--verbose`.
const LISTED: usize = 10;

/// Renders the summary.
pub fn report(report: &IndexReport, look: &Look) -> String {
    let mut out = String::new();
    let rate = report.chunks_added as f64 / (report.took_ms / 1_000.0).max(1e-3);
    let _ = writeln!(
        out,
        "{} in {}: {} new or changed, {} unchanged, {} removed",
        look.paint(style::TITLE, &count(report.files as u64, "file")),
        duration(report.took_ms),
        thousands(report.indexed as u64),
        thousands(report.unchanged as u64),
        thousands(report.removed as u64),
    );
    if report.chunks_added + report.chunks_removed + report.chunks_kept > 0 {
        let speed = if report.chunks_added > 0 { format!(" ({rate:.0} a second)") } else { String::new() };
        let _ = writeln!(
            out,
            "{} written{speed}, {} kept, {} removed; {}",
            count(report.chunks_added as u64, "chunk"),
            thousands(report.chunks_kept as u64),
            thousands(report.chunks_removed as u64),
            count(report.embedded as u64, "vector"),
        );
    }
    if report.moved > 0 {
        let _ = writeln!(out, "{} moved, with what was stored of them", count(report.moved as u64, "file"));
    }
    if report.commits > 0 {
        let _ = writeln!(out, "{} taken", count(report.commits as u64, "commit message"));
    }
    out.push_str(&degraded(&report.degraded, "the new chunks cannot be found by", look));
    let skipped = report.skipped.iter().map(|one| (&*one.path, &*one.reason));
    out.push_str(&files("left out", skipped.collect(), look));
    let problems = report.problems.iter().map(|one| (&*one.path, &*one.problem));
    out.push_str(&files("read with a problem", problems.collect(), look));
    out
}

/// Lists files with a remark on each.
fn files(heading: &str, listed: Vec<(&Path, &str)>, look: &Look) -> String {
    let mut out = String::new();
    if listed.is_empty() {
        return out;
    }
    let total = listed.len();
    let heading = format!("{} {heading}:", count(total as u64, "file"));
    let _ = writeln!(out, "{}", look.paint(style::WEAK, &heading));
    let mut table = Table::new(2, [Column::new().shrinks(), Column::new().style(style::DIM)]);
    let most = if look.verbose { usize::MAX } else { LISTED };
    for (path, remark) in listed.into_iter().take(most) {
        table.row([&*path.to_string_lossy(), remark]);
    }
    out.push_str(&table.print(look));
    if let Some(more) = total.checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    out
}

/// Renders one line for a batch of `--watch`.
pub fn batch(changed: usize, report: &IndexReport, look: &Look) -> String {
    let left_out = match report.skipped.first() {
        Some(first) => {
            format!(", left out {} ({})", line(&first.path.to_string_lossy()), line(&first.reason))
        }
        None => String::new(),
    };
    format!(
        "{}  {} changed: {} indexed, {} removed, {} written in {}{left_out}\n",
        look.paint(style::DIM, &look.time(look.now)),
        count(changed as u64, "file"),
        thousands(report.indexed as u64),
        thousands(report.removed as u64),
        count(report.chunks_added as u64, "chunk"),
        duration(report.took_ms),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::request::{FileProblem, Skipped};

    #[test]
    fn a_run() {
        let skipped = (1..=12).map(|n| Skipped {
            path: format!("/home/ada/work/a/rather/deep/folder/of/pictures/number-{n}.png").into(),
            reason: "binary".into(),
        });
        let run = IndexReport {
            files: 1_240,
            indexed: 37,
            unchanged: 1_190,
            moved: 1_112,
            removed: 1,
            commits: 480,
            chunks_added: 412,
            chunks_removed: 9,
            chunks_kept: 8_800,
            embedded: 412,
            skipped: skipped.collect(),
            problems: vec![FileProblem {
                path: "/home/ada/work/survey.pdf".into(),
                problem: "3 of 40 pages have no text: they may be scans".into(),
            }],
            took_ms: 5_120.0,
            model_share: 0.93,
            degraded: Vec::new(),
        };
        insta::assert_snapshot!("report", report(&run, &sample::look(80)));
        let verbose = Look { verbose: true, ..sample::look(80) };
        assert!(report(&run, &verbose).contains("number-12.png"));
        insta::assert_snapshot!("batch", batch(3, &run, &sample::look(80)));
    }
}
