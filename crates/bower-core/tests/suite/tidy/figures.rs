//! Checks that every table of measured figures in a document names its command and commit.

/// Programs that print figures, as documents name them in backticks.
const MEASURES: &[&str] =
    &["bower-bench", "target/release/bower-bench", "bower eval", "make bench", "tools/", "perf record"];

/// Units of measured figures.
const UNITS: &[&str] = &["ms", "s", "µs", "MB", "GB", "%", "of", "times"];

/// The tables of figures that do not say by which command and at which commit they were measured.
///
/// A table says so by its section, from heading to heading: a command in backticks that prints figures, and `commit` with a hash. A table
/// between the markers of `bower-bench --into` (`<!-- figures:PART:start commit=… machine=… -->`) says so by them.
pub fn unsourced(document: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut nth = 1;
    for section in sections(text) {
        let is_sourced = names_command(&section) && names_commit(&section);
        let mut is_marked = false;
        let mut table: Vec<&str> = Vec::new();
        for line in section.iter().copied().chain([""]) {
            if line.starts_with("<!-- figures:") {
                is_marked = line.contains(":start commit=") && line.contains(" machine=");
            }
            if line.starts_with('|') {
                table.push(line);
            } else if !table.is_empty() {
                if is_figures(&table) && !is_sourced && !is_marked {
                    let first = nth - table.len();
                    wrong.push(format!("{document}:{first}: a table of figures names no command and commit"));
                }
                table.clear();
            }
            nth += 1;
        }
        // The empty line at the end of a section is not in the text.
        nth -= 1;
    }
    wrong
}

/// The lines of a document from heading to heading.
fn sections(text: &str) -> Vec<Vec<&str>> {
    let mut sections = vec![Vec::new()];
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if line.starts_with('#') && !is_code {
            sections.push(Vec::new());
        }
        sections.last_mut().expect("there is a section from the start").push(line);
    }
    sections
}

/// Whether a section names a command that prints figures.
fn names_command(section: &[&str]) -> bool {
    let spans = section.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.into_iter().any(|span| MEASURES.iter().any(|program| span.starts_with(program)))
}

/// Whether a section names a commit: the word, and a hash in backticks.
fn names_commit(section: &[&str]) -> bool {
    let is_hash = |span: &str| span.len() >= 7 && span.chars().all(|c| c.is_ascii_hexdigit());
    section.iter().any(|line| line.contains("commit"))
        && section.iter().flat_map(|line| line.split('`').skip(1).step_by(2)).any(is_hash)
}

/// Whether a table shows measured figures: a third of its rows have one beside their name, or its head says `measured`.
fn is_figures(table: &[&str]) -> bool {
    let (head, rows) = table.split_at(table.len().min(2));
    let measured = rows.iter().filter(|row| cells(row).skip(1).any(is_figure)).count();
    head.iter().any(|row| cells(row).any(|cell| cell == "measured")) || measured * 3 > rows.len()
}

/// The cells of a row, without marks of emphasis.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('*'))
}

/// Whether a cell begins with a measured figure: a number with a decimal point, or one with a unit.
fn is_figure(cell: &str) -> bool {
    let mut words = cell.split_whitespace();
    let number = words.next().unwrap_or("").trim_start_matches(['+', '-']).trim_end_matches([',', ';']);
    let is_number = number.contains(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || ",.".contains(c))
        && number.matches('.').count() < 2;
    let unit = words.next().unwrap_or("").trim_end_matches([',', ';']);
    is_number && (number.contains('.') || UNITS.contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| | p50 |\n|---|---:|\n| question | 1.17 ms |\n| cold | 14 ms |\n";

    #[test]
    fn a_table_of_figures_names_its_command_and_commit() {
        let bare = format!("# A\n\ntext\n\n{TABLE}");
        assert_eq!(unsourced("A.md", &bare), ["A.md:5: a table of figures names no command and commit"]);
        let with = |text: &str| unsourced("A.md", &format!("# A\n\n{text}\n\n{TABLE}")).len();
        assert_eq!(with("`bower-bench scale` at commit `be753a9`"), 0);
        assert_eq!(with("`make bench-full PASSAGES=FILE`, at commit `be753a9`"), 0);
        assert_eq!(with("`bower-bench scale`"), 1, "no commit");
        assert_eq!(with("commit `be753a9`"), 1, "no command");
        assert_eq!(with("`bower-bench scale` at commit `be753a9`\n\n## B"), 1, "in another section");
        let marked = format!(
            "<!-- figures:scale:start commit=be753a9 machine=\"2 cores\" -->\n\n{TABLE}\n<!-- figures:scale:end -->\n"
        );
        assert_eq!(unsourced("A.md", &marked), Vec::<String>::new());
        assert_eq!(unsourced("A.md", &format!("{marked}\n{TABLE}")).len(), 1, "behind the markers");
    }

    #[test]
    fn tables_of_limits_words_and_versions_are_no_figures() {
        for row in [
            "| `--rate` | 20,000 | 429 |",
            "| Codex | 0.169.0 | `codex exec` |",
            "| item | A memory. |",
            "| limit | 64 |",
        ] {
            assert!(!is_figures(&["| a | b |", "|---|---|", row]), "{row}");
        }
        for row in [
            "| a | .525 (.640) |",
            "| a | none | 1 of 3,169 |",
            "| a | **99.2 %** |",
            "| a | -.024 |",
            "| a | 7.8 ms (p50) |",
        ] {
            assert!(is_figures(&["| a | b |", "|---|---|", row]), "{row}");
        }
        assert!(is_figures(&["| choice | measured |", "|---|---|", "| own reader | linear |"]));
    }
}
