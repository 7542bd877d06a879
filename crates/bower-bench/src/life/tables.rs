//! Reads the tables of the simulated agent's words: files of tab-separated cells whose first line names the columns.
//! They are compiled in, so a wrong table is a mistake of ours and stops the program. `data/life/README.md` explains each.

use std::collections::HashMap;

/// The rows of a table in `data/life` whose columns have these names.
macro_rules! table {
    ($file:literal, $($column:literal),+) => {
        $crate::life::tables::parse(
            $file,
            include_str!(concat!("../../data/life/", $file)),
            [$($column),+],
        )
        .unwrap_or_else(|error| panic!("{error}"))
    };
}
pub(super) use table;

/// Texts by the name of their group, in the order of their table.
pub type Groups = HashMap<String, Vec<&'static str>>;

/// The rows of a table: its first line names `columns`, and each row has a cell for each, which may be empty.
pub fn parse<const N: usize>(
    file: &str,
    text: &'static str,
    columns: [&str; N],
) -> Result<Vec<[&'static str; N]>, String> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    if header != columns.join("\t") {
        return Err(format!("{file}:1: the columns are {header:?}, not {columns:?}"));
    }
    let row = |(line, number): (&'static str, usize)| {
        let cells: Vec<_> = line.split('\t').map(unescape).collect::<Option<_>>().unwrap_or_default();
        <[_; N]>::try_from(cells).map_err(|_| format!("{file}:{number}: not {N} cells, or a wrong escape"))
    };
    let rows: Vec<_> = lines.zip(2..).map(row).collect::<Result<_, _>>()?;
    if rows.is_empty() { Err(format!("{file}: has no rows")) } else { Ok(rows) }
}

/// A cell with its escapes replaced: `\n`, `\t`, `\s` (a space at an end), `\\`.
fn unescape(cell: &'static str) -> Option<&'static str> {
    let mut parts = cell.split('\\');
    let mut text = parts.next()?.to_owned();
    if text.len() == cell.len() {
        return Some(cell);
    }
    while let Some(part) = parts.next() {
        match part.chars().next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('s') => text.push(' '),
            // Two backslashes: the part between them is empty.
            None => {
                text.push('\\');
                text.push_str(parts.next()?);
                continue;
            }
            Some(_) => return None,
        }
        text.push_str(&part[1..]);
    }
    // A table lives as long as the program.
    Some(text.leak())
}

/// The texts of a cell that holds several, or none.
pub fn several(cell: &'static str) -> Vec<&'static str> {
    if cell.is_empty() { Vec::new() } else { cell.split(" | ").collect() }
}

/// The variant of this name.
pub fn variant<T: Copy + std::fmt::Debug>(all: &[T], name: &str) -> T {
    let found = all.iter().find(|one| format!("{one:?}") == name);
    *found.unwrap_or_else(|| panic!("{name:?} is none of {all:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_table_is_refused_with_its_line() {
        let parse = |text| parse("a.tsv", text, ["rule", "text"]);
        assert_eq!(parse("rule\ttext\na\tb\\n\\sc\\\\d\n"), Ok(vec![["a", "b\n c\\d"]]));
        assert_eq!(parse("rule\ttext\na\t\n"), Ok(vec![["a", ""]]));
        let cases = [
            ("rule\n", "a.tsv:1: the columns are"),
            ("rule\ttext\n", "a.tsv: has no rows"),
            ("rule\ttext\na\tb\na\n", "a.tsv:3: not 2 cells"),
            ("rule\ttext\na\t\\x\n", "a.tsv:2: not 2 cells, or a wrong escape"),
        ];
        for (text, error) in cases {
            assert!(parse(text).is_err_and(|found| found.starts_with(error)), "{text:?}");
        }
    }

    #[test]
    fn a_variant_has_one_name() {
        assert_eq!(variant(&[Some(1), None], "None"), None::<i32>);
    }

    #[test]
    fn every_table_of_the_folder_has_rows_of_its_columns() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/life");
        let mut tables = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "tsv") {
                let text = std::fs::read_to_string(&path).unwrap();
                let columns = |line: &str| line.split('\t').count();
                let (header, rows) = text.split_once('\n').unwrap();
                assert!(
                    !rows.is_empty() && rows.lines().all(|row| columns(row) == columns(header)),
                    "{path:?}"
                );
                tables += 1;
            }
        }
        assert_eq!(tables, 9, "each has its place in the code");
    }
}
