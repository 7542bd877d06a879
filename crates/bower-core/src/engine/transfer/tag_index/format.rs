//! The text of a tag index, as Athena writes it: two tables a file, diffable, one line for each tag and each document.
//!
//! What a reader of Markdown sees is the path or the tag itself, unless it has a character that would end its cell. `\`
//! precedes such a character, and a line break is written as its picture (`␊`). Backslashes directly before one of these are
//! doubled, all others stand for themselves. A path is a code span whose fence is longer than any in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Beginning of the names of an index's files.
const NAME: &str = "TAG_INDEX";

/// Name of the file of the tags that begin outside of A to Z.
const OTHER: &str = "OTHER";

/// Beginning of the first line.
const HEADER: &str = "# 🏷️ TAG INDEX";
const TAG_SECTION: &str = "## 🔍 Tag → Files";
const FILE_SECTION: &str = "## 📂 File → Tags";

/// Characters that a path may not show in its cell, each with what is written for it after a `\`.
const IN_PATH: &[(char, char)] = &[('|', '|'), ('\n', '␊'), ('\r', '␍')];
/// The same for a tag. White space ends a tag, and backticks begin a code span.
const IN_TAG: &[(char, char)] = &[('|', '|'), ('\n', '␊'), ('\r', '␍'), ('\t', '␉'), (' ', ' '), ('`', '`')];

/// A document's path with one of its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagPair {
    pub(super) path: String,
    pub(super) tag: String,
    /// Number of its line, from 1.
    pub(super) line: usize,
}

/// Whether a file of this name belongs to an index.
pub(super) fn is_index(name: &str) -> bool {
    name.strip_prefix(NAME)
        .and_then(|rest| rest.strip_suffix(".md"))
        .is_some_and(|part| part.is_empty() || part.starts_with('_'))
}

/// Whether an export writes a file of this name.
pub(super) fn is_shard(name: &str) -> bool {
    let part = name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('_')?.strip_suffix(".md"));
    part.is_some_and(|part| {
        part == OTHER || (part.len() == 1 && part.bytes().all(|c| c.is_ascii_uppercase()))
    })
}

/// Returns the name of a tag's shard: its first letter.
fn shard_of(tag: &str) -> String {
    let first = tag.chars().next().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase);
    first.map_or_else(|| OTHER.to_owned(), String::from)
}

/// Returns the files of an index, by name. `index` has the tags of each path.
pub(super) fn shards(index: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, String> {
    let mut shards: BTreeMap<String, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (path, tags) in index {
        for tag in tags {
            shards.entry(shard_of(tag)).or_default().entry(path).or_default().insert(tag);
        }
    }
    shards.iter().map(|(shard, files)| (format!("{NAME}_{shard}.md"), page(shard, files))).collect()
}

fn page(shard: &str, files: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let mut tags: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, of_path) in files {
        for tag in of_path {
            tags.entry(tag).or_default().push(path);
        }
    }
    let mut out = format!(
        "{HEADER} ({shard}) — Global Hashtag System\n\n{TAG_SECTION}\n\n| Tag | Files |\n|---|---|\n"
    );
    for (tag, paths) in &tags {
        let paths: Vec<String> = paths.iter().map(|path| path_cell(path)).collect();
        let _ = writeln!(out, "| {} | {} |", tag_cell(tag), paths.join(", "));
    }
    let _ = write!(out, "\n{FILE_SECTION}\n\n| File | Tags |\n|---|---|\n");
    for (path, of_path) in files {
        let tags: Vec<String> = of_path.iter().map(|tag| tag_cell(tag)).collect();
        let _ = writeln!(out, "| {} | {} |", path_cell(path), tags.join(" "));
    }
    let _ = write!(out, "\n*{} tags across {} files.*\n", tags.len(), files.len());
    out
}

fn tag_cell(tag: &str) -> String {
    let mut cell = format!("#{}", escape(tag, IN_TAG));
    // White space follows, which must not seem to be a part of it.
    let ends = cell.len() - cell.trim_end_matches('\\').len();
    cell.extend(std::iter::repeat_n('\\', ends));
    cell
}

fn path_cell(path: &str) -> String {
    let text = escape(path, IN_PATH);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let is_blank = text.chars().all(|c| c == ' ');
    let needs_space = text.starts_with('`')
        || text.ends_with('`')
        || (text.starts_with(' ') && text.ends_with(' ') && !is_blank);
    let space = if needs_space { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Writes `\` before characters that end a cell, and doubles the backslashes directly before those, and before what is
/// written for them.
fn escape(text: &str, special: &[(char, char)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        let escaped = special.iter().find(|(from, _)| *from == c).map(|(_, to)| *to);
        if escaped.is_some() || special.iter().any(|(_, to)| *to == c) {
            out.extend(std::iter::repeat_n('\\', backslashes));
        }
        if escaped.is_some() {
            out.push('\\');
        }
        out.push(escaped.unwrap_or(c));
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    out
}

/// Reverses [`escape`].
fn unescape(text: &str, special: &[(char, char)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        if c == '\\' {
            backslashes += 1;
            continue;
        }
        if let Some((from, to)) = special.iter().find(|(_, to)| *to == c) {
            out.extend(std::iter::repeat_n('\\', backslashes / 2));
            out.push(if backslashes % 2 == 1 { *from } else { *to });
        } else {
            out.extend(std::iter::repeat_n('\\', backslashes));
            out.push(c);
        }
        backslashes = 0;
    }
    out.extend(std::iter::repeat_n('\\', backslashes));
    out
}

/// The table that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Neither,
    OfTags,
    OfFiles,
}

/// Reads the pairs of one file. The error is the number of a line, and what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Vec<TagPair>, (usize, String)> {
    let lines: Vec<&str> = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let first = lines[0].trim_start_matches('\u{feff}');
    if !(first.starts_with("# ") && first.contains("TAG INDEX")) {
        return Err((1, format!("the first line of a tag index is {HEADER} (A) — Global Hashtag System")));
    }
    let (mut pairs, mut section, mut has_end) = (Vec::new(), Section::Neither, false);
    for (at, line) in lines.iter().enumerate().skip(1) {
        let is_head = || lines.get(at + 1).is_some_and(|next| is_rule(next));
        if line.starts_with("## ") {
            section = match line {
                line if line.contains("Tag → Files") => Section::OfTags,
                line if line.contains("File → Tags") => Section::OfFiles,
                _ => Section::Neither,
            };
        } else if line.starts_with('*') && line.contains(" tags across ") {
            has_end = true;
        } else if line.trim().is_empty() || line.starts_with(['>', '*', '-']) || line.starts_with("# ") {
            // A note of whoever wrote it.
        } else if section != Section::Neither && !is_rule(line) && !is_head() {
            row(line, section, at + 1, &mut pairs).map_err(|why| (at + 1, why))?;
        }
    }
    if !has_end {
        return Err((
            lines.len(),
            "its last line, *N tags across M files.*, is missing; is it cut off?".to_owned(),
        ));
    }
    Ok(pairs)
}

/// Whether a line is the one between the head and the rows of a table.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn row(line: &str, section: Section, number: usize, pairs: &mut Vec<TagPair>) -> Result<(), String> {
    const FORM: &str = "a row is | #tag | `path`, `path` | or | `path` | #tag #tag |";
    let cells = cells(line).ok_or(FORM)?;
    let [one, other] = cells.as_slice() else { return Err(format!("it has {} cells; {FORM}", cells.len())) };
    let (tags, paths) = if section == Section::OfTags { (one, other) } else { (other, one) };
    let (tags, paths) = (read_tags(tags)?, read_paths(paths)?);
    if tags.is_empty() || paths.is_empty() {
        return Err(format!("a cell is empty; {FORM}"));
    }
    for path in &paths {
        pairs.extend(tags.iter().map(|tag| TagPair { path: path.clone(), tag: tag.clone(), line: number }));
    }
    Ok(())
}

/// Returns the cells of a row; `None` if it does not begin and end with `|`.
fn cells(line: &str) -> Option<Vec<&str>> {
    let mut ends = Vec::new();
    let mut backslashes = 0;
    for (at, c) in line.char_indices() {
        if c == '|' && backslashes % 2 == 0 {
            ends.push(at);
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    let (first, last) = (*ends.first()?, *ends.last()?);
    let is_whole = line[..first].trim().is_empty() && line[last + 1..].trim().is_empty() && ends.len() > 1;
    is_whole.then(|| ends.windows(2).map(|pair| &line[pair[0] + 1..pair[1]]).collect())
}

fn read_tags(cell: &str) -> Result<Vec<String>, String> {
    let (mut words, mut start, mut backslashes) = (Vec::new(), None, 0);
    for (at, c) in cell.char_indices() {
        if matches!(c, ' ' | '\t') && backslashes % 2 == 0 {
            words.extend(start.take().map(|start: usize| &cell[start..at]));
        } else {
            start.get_or_insert(at);
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    words.extend(start.map(|start| &cell[start..]));
    let tag = |word: &str| {
        let tag = word.strip_prefix('#').ok_or_else(|| format!("a tag begins with #: {word}"))?;
        let ends = (tag.len() - tag.trim_end_matches('\\').len()) / 2;
        Ok(unescape(&tag[..tag.len() - ends], IN_TAG))
    };
    words.into_iter().map(tag).collect()
}

fn read_paths(cell: &str) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    let mut rest = cell.trim();
    while !rest.is_empty() {
        let fence = rest.len() - rest.trim_start_matches('`').len();
        if fence == 0 {
            return Err(format!("a path is between backticks: {rest}"));
        }
        let text = &rest[fence..];
        let Some(end) = closing(text, fence) else {
            return Err(format!("a path has no closing backtick: {rest}"));
        };
        let path = &text[..end];
        let is_padded = path.starts_with(' ') && path.ends_with(' ') && path.chars().any(|c| c != ' ');
        let path = if is_padded { &path[1..path.len() - 1] } else { path };
        paths.push(unescape(path, IN_PATH));
        rest = text[end + fence..].trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() => {}
            None => return Err(format!("a comma is missing between two paths: {rest}")),
        }
    }
    Ok(paths)
}

/// Returns where the next run of exactly this many backticks begins.
fn closing(text: &str, fence: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == fence {
            return Some(start);
        }
        at = start + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(pairs: &[(&str, &str)]) -> BTreeMap<String, BTreeSet<String>> {
        let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, tag) in pairs {
            index.entry((*path).to_owned()).or_default().insert((*tag).to_owned());
        }
        index
    }

    fn read_back(shards: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
        let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, text) in shards {
            assert!(is_index(name) && is_shard(name), "{name}");
            for pair in parse(text).unwrap_or_else(|(line, why)| panic!("{name}:{line}: {why}\n{text}")) {
                index.entry(pair.path).or_default().insert(pair.tag);
            }
        }
        index
    }

    #[test]
    fn a_shard_has_both_tables() {
        let shards = shards(&index(&[
            ("/n/b.md", "alpha"),
            ("/n/a.md", "api/v2"),
            ("/n/a.md", "alpha"),
            ("/n/a.md", "ärger"),
        ]));
        let names: Vec<&String> = shards.keys().collect();
        assert_eq!(names, ["TAG_INDEX_A.md", "TAG_INDEX_OTHER.md"]);
        let expected = "\
# 🏷️ TAG INDEX (A) — Global Hashtag System

## 🔍 Tag → Files

| Tag | Files |
|---|---|
| #alpha | `/n/a.md`, `/n/b.md` |
| #api/v2 | `/n/a.md` |

## 📂 File → Tags

| File | Tags |
|---|---|
| `/n/a.md` | #alpha #api/v2 |
| `/n/b.md` | #alpha |

*2 tags across 2 files.*
";
        assert_eq!(shards["TAG_INDEX_A.md"], expected);
    }

    #[test]
    fn what_would_end_a_cell_is_escaped() {
        assert_eq!(path_cell("a|b"), r"`a\|b`");
        assert_eq!(path_cell(r"C:\x\|y"), r"`C:\x\\\|y`");
        assert_eq!(path_cell(r"\\host\x"), r"`\\host\x`");
        assert_eq!(path_cell("a`b``"), "``` a`b`` ```");
        assert_eq!(tag_cell("a|`b"), r"#a\|\`b");
        assert_eq!(tag_cell(r"a\"), r"#a\\");
    }

    #[test]
    fn other_forms_of_the_tables_are_read() {
        let text = "# 🏷️ TAG INDEX (A-M) — Global Hashtag System\r\n\r\n> made on Monday\r\n\r\n## 🔍 Tag → Files\r\n\
                    | #a | `x.md`, `y.md` |\r\n\r\n---\r\n## 📂 File → Tags\r\n| `x.md` | #a #b |\r\n*2 tags across 2 files.*\r\n";
        let pairs: Vec<(String, String)> =
            parse(text).unwrap().into_iter().map(|pair| (pair.path, pair.tag)).collect();
        let pair = |path: &str, tag: &str| (path.to_owned(), tag.to_owned());
        assert_eq!(pairs, [pair("x.md", "a"), pair("y.md", "a"), pair("x.md", "a"), pair("x.md", "b")]);
    }

    #[test]
    fn a_broken_table_is_an_error_with_its_line() {
        let check = |rows: &str, line: usize, why: &str| {
            let text = format!("{HEADER} (A)\n{FILE_SECTION}\n{rows}*1 tags across 1 files.*\n");
            let (at, said) = parse(&text).unwrap_err();
            assert_eq!((at, said.contains(why)), (line, true), "{said}");
        };
        check("| `a.md` |\n", 3, "1 cells");
        check("| `a.md` | #a | #b |\n", 3, "3 cells");
        check("`a.md` | #a |\n", 3, "a row is");
        check("| a.md | #a |\n", 3, "between backticks");
        check("| `a.md | #a |\n", 3, "no closing backtick");
        check("| `a.md` `b.md` | #a |\n", 3, "a comma is missing");
        check("| `a.md` | a |\n", 3, "begins with #");
        check("| `a.md` |  |\n", 3, "a cell is empty");
        check("| `a.md` | #a |\ntext\n", 4, "a row is");
        assert_eq!(parse("# notes\n").unwrap_err().0, 1);
        assert_eq!(parse("").unwrap_err().0, 1);
        assert!(
            parse(&format!("{HEADER} (A)\n{FILE_SECTION}\n| `a` | #a |\n"))
                .unwrap_err()
                .1
                .contains("cut off")
        );
    }

    proptest! {
        #[test]
        fn an_index_is_read_back_and_written_again_as_the_same_bytes(
            pairs in proptest::collection::vec(
                ("[a-cä\\\\|`, \n\r␊/.#*-]{1,9}", "[a-cä9\\\\|`#␉␊* /-]{1,7}"), 0..12)
        ) {
            let mut index: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (path, tag) in pairs {
                index.entry(path).or_default().insert(tag);
            }
            let written = shards(&index);
            let read = read_back(&written);
            prop_assert_eq!(&read, &index);
            prop_assert_eq!(shards(&read), written);
        }

        #[test]
        fn no_text_makes_the_reader_panic(rows in "[#`|\\\\ ,a*\n-]{0,60}") {
            let _ = parse(&format!("{HEADER}\n{TAG_SECTION}\n{rows}\n*1 tags across 1 files.*\n"));
        }
    }
}
