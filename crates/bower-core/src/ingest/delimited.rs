//! Reads CSV and its kin (RFC 4180): finds the delimiter, and writes each row with the names of its columns.
//! A text without columns is chunked as plain text.

use super::draft::ParsedFile;
use super::rows::{Grid, Packer};
use super::text;
use crate::config::Settings;

/// Delimiters in the order of their preference, if two are equally consistent.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Number of first bytes in which the delimiter is sought.
const SAMPLE: usize = 64 << 10;

/// Most lines of one cell. A quotation mark that never ends would make one cell of all that follows.
const CELL_LINES: u64 = 1_000;

/// Reads a whole file.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    let drafts = match grid(text) {
        Some((delimiter, grid)) => {
            let mut packer = Packer::new(settings.text_chunk_max);
            grid.write(char::from(delimiter).encode_utf8(&mut [0; 4]), &mut packer);
            packer.drafts()
        }
        None => text::drafts(text, settings.text_chunk_max, 0),
    };
    ParsedFile { drafts, ..ParsedFile::default() }
}

/// Returns the delimiter and the rows; `None` if the text has no columns.
fn grid(text: &str) -> Option<(u8, Grid)> {
    let sample = match text.len() {
        0..=SAMPLE => text,
        _ => &text[..text.floor_char_boundary(SAMPLE)],
    };
    let (mut best, mut quality) = (None, 0.5);
    for delimiter in DELIMITERS {
        let found = consistency(sample, delimiter);
        if found > quality {
            (best, quality) = (Some(delimiter), found);
        }
    }
    let delimiter = best?;
    let grid = read(text, delimiter, true).or_else(|| read(text, delimiter, false))?;
    Some((delimiter, grid))
}

/// Returns the share of rows that have the most frequent number of cells; 0 if that is 1.
fn consistency(sample: &str, delimiter: u8) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    let mut rows = 0_usize;
    each_row(sample, delimiter, true, &mut |row, _| {
        *counts.entry(row.len()).or_insert(0_usize) += 1;
        rows += 1;
        true
    });
    let usual = counts.iter().max_by_key(|(_, count)| **count);
    usual.filter(|(cells, _)| **cells > 1).map_or(0.0, |(_, count)| *count as f64 / rows as f64)
}

/// Returns all rows; `None` if a cell has too many lines.
fn read(text: &str, delimiter: u8, has_quotes: bool) -> Option<Grid> {
    let mut grid = Grid::default();
    let mut is_good = true;
    each_row(text, delimiter, has_quotes, &mut |row, lines| {
        is_good = !has_quotes || lines.1 - lines.0 <= CELL_LINES;
        grid.row((lines.0 as u32, lines.1 as u32));
        (0_u32..).zip(row).for_each(|(column, cell)| grid.cell(column, cell));
        is_good
    });
    is_good.then_some(grid)
}

/// Visits each row with its first and last line, until the visitor returns false.
fn each_row(
    text: &str,
    delimiter: u8,
    has_quotes: bool,
    visit: &mut dyn FnMut(&csv::StringRecord, (u64, u64)) -> bool,
) {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .quoting(has_quotes)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut row = csv::StringRecord::new();
    // It fails only on other bytes than UTF-8 and on uneven rows, which are allowed here.
    while reader.read_record(&mut row).is_ok_and(|is_row| is_row) {
        let first = row.position().map_or(1, csv::Position::line);
        let last = first + row.iter().map(|cell| cell.matches('\n').count() as u64).sum::<u64>();
        if !visit(&row, (first, last)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, max: usize, expected: &[(&str, (u32, u32))]) {
        let settings = Settings { text_chunk_max: max, ..Settings::default() };
        let read = parse(text, &settings);
        let got: Vec<_> = read.drafts.iter().map(|draft| (draft.content.as_str(), draft.lines)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn each_value_of_text_has_the_name_of_its_column() {
        check(
            "id,title,note\n1,\"Harbour, north\",\"Moor at low water.\nUse two lines.\"\n2,Quay,\n3,Breakwater light,Flashes red\n",
            80,
            &[
                ("id: 1; title: Harbour, north\nnote: Moor at low water.\nUse two lines.", (2, 3)),
                ("id: 2; title: Quay\nid: 3; title: Breakwater light; note: Flashes red", (4, 5)),
            ],
        );
    }

    #[test]
    fn a_row_that_is_too_long_is_cut_between_cells_and_keeps_its_first() {
        check(
            "id;title;note\n7;A long title of a row;The first sentence is here. The second one follows.\n",
            44,
            &[
                ("id: 7; title: A long title of a row", (2, 2)),
                ("id: 7; note: The first sentence is here.", (2, 2)),
                ("id: 7; note: The second one follows.", (2, 2)),
            ],
        );
    }

    #[test]
    fn a_table_of_measurements_keeps_its_head_above_its_rows() {
        check(
            "station\tdepth\ttemperature\nOuter station A\t1.5\t9\nOuter station B\t2\t8.5\n\
             Outer station C\t3\t8\nOuter station D\t4\t8\n",
            100,
            &[
                (
                    "station\tdepth\ttemperature\nOuter station A\t1.5\t9\nOuter station B\t2\t8.5\n\
                     Outer station C\t3\t8",
                    (2, 4),
                ),
                ("station\tdepth\ttemperature\nOuter station D\t4\t8", (5, 5)),
            ],
        );
        let rows: String = (0..9_000)
            .map(|at| format!("{at},{},2020-01-{:02}\n", at % 7, at % 28 + 1))
            .collect::<Vec<_>>()
            .concat();
        let read = parse(&format!("time,level,day\n{rows}"), &Settings::default());
        let last = &read.drafts[read.drafts.len() - 1];
        assert_eq!(read.drafts.len(), 101);
        assert!(
            last.content.ends_with(
                " more rows of figures: time: 5476 to 8999; level: 0 to 6; day: 2020-01-01 to 2020-01-28"
            ),
            "{last:?}"
        );
        assert_eq!(last.lines.1, 9_001);
    }

    #[test]
    fn a_title_above_the_head_and_a_head_of_years_are_recognised() {
        let text = "Catches of the fleet\nspecies,2019,2020\nherring of the north,12,14\ncod of the north and the west,3,1\n";
        let expected = "Catches of the fleet\nspecies: herring of the north; 2019: 12; 2020: 14\n\
            species: cod of the north and the west; 2019: 3; 2020: 1";
        check(text, 900, &[(expected, (1, 4))]);
    }

    #[test]
    fn what_has_no_columns_or_no_head_stays_as_it_is() {
        check(
            "one line.\nand another, with a comma.\nthe third\n",
            900,
            &[("one line.\nand another, with a comma.\nthe third", (1, 3))],
        );
        check("a,1\nb,2\na,3\n", 900, &[("a,1\nb,2\na,3", (1, 3))]);
        check("", 900, &[]);
    }

    #[test]
    fn a_quotation_mark_that_never_ends_takes_no_rows() {
        let rows: String =
            (0..3_000).map(|at| format!("row {at},a note of some words\n")).collect::<Vec<_>>().concat();
        let read = parse(&format!("name,note\nbroken,\"open\n{rows}"), &Settings::default());
        assert!(read.drafts.iter().all(|draft| draft.lines.1 - draft.lines.0 < 40), "{:?}", read.drafts[0]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_no_word_is_lost(
            text in "([a-zé]{1,6}|[0-9]{1,3}|\"|\"\"| |,|;|\t|\\||\n|\n){0,80}", max in 20_usize..90,
        ) {
            let read = parse(&text, &Settings { text_chunk_max: max, ..Settings::default() });
            let all: String = read.drafts.iter().map(|draft| format!("{}\n", draft.content)).collect::<Vec<_>>().concat();
            for draft in &read.drafts {
                prop_assert!(crate::ingest::split::length(&draft.content) <= max, "{draft:?}");
                prop_assert!(1 <= draft.lines.0 && draft.lines.0 <= draft.lines.1);
            }
            // A part of a cell without white space may be cut where it is long.
            for run in text.split_whitespace().filter(|run| max > 40 && run.len() <= 20) {
                for word in run.split(|letter: char| !letter.is_alphanumeric()) {
                    prop_assert!(all.contains(word), "{word} is lost from {text:?}: {all:?}");
                }
            }
        }
    }
}
