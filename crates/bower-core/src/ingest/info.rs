//! Converts files of GNU Info to Markdown and chunks them.
//! One pass over the lines; each line of output remembers its source line. Menus, indexes, the heads of nodes and what stands
//! before the first node are left out. The parts of a split file are read as files of their own.
//!
//! Source: "Info Format Specification", appendix of the manual of GNU Texinfo 7.1.

use super::blocks::Blocks;
use super::draft::ParsedFile;
use super::{read, text};
use crate::config::Settings;

/// Ends a node, as a line of its own.
const NODE_END: char = '\u{1f}';
/// Begins the line behind it that names the next node.
const NODE: &str = "File: ";
/// Begins the menu, which is the last part of a node.
const MENU: &str = "* Menu:";
/// Signs below a heading, by its level.
const UNDERLINES: [char; 4] = ['*', '=', '-', '.'];
/// Columns by which the text of an item, a definition and an example stand further right than what is around them.
const STEP: usize = 5;

/// Whether an extension is that of a file of Info or of a part: `info`, `info-2`.
pub(super) fn is_extension(extension: &str) -> bool {
    let part = extension.strip_prefix("info");
    part.is_some_and(|part| {
        let number = part.strip_prefix('-').unwrap_or(part);
        part.is_empty() || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Converts and chunks a file. A file without nodes is read as plain text; of a file that only lists its parts nothing is kept.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let bytes = without_controls(bytes);
    let source = read::decode(&bytes).map_err(str::to_owned)?.text;
    if !source.contains(NODE_END) {
        return Ok(text::parse(&source, "", settings));
    }
    let mut document = Document::default();
    document.read(&source);
    let (heading, drafts) = document.blocks.out.chunks(settings);
    Ok(ParsedFile { title: heading, drafts, ..ParsedFile::default() })
}

/// Removes images and marks of indexes, which stand between `NUL BACKSPACE [` and `NUL BACKSPACE ]`.
fn without_controls(bytes: &[u8]) -> Vec<u8> {
    const OPEN: &[u8] = b"\0\x08[";
    const CLOSE: &[u8] = b"\0\x08]";
    let find = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|three| three == mark);
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, OPEN) {
        let Some(length) = find(&rest[at..], CLOSE) else { break };
        kept.extend_from_slice(&rest[..at]);
        rest = &rest[at + length + CLOSE.len()..];
    }
    kept.extend_from_slice(rest);
    kept
}

/// A line of a paragraph that is not written yet, with its number.
type Held<'a> = (&'a str, u32);

#[derive(Default)]
struct Document<'a> {
    blocks: Blocks,
    /// Whether the lines are the text of a node.
    is_text: bool,
    /// The lines since the last empty one.
    held: Vec<Held<'a>>,
    /// The columns where the texts of the items around begin.
    columns: Vec<usize>,
    /// Whether an example is open; empty lines inside of it belong to it.
    is_code: bool,
}

impl<'a> Document<'a> {
    fn read(&mut self, source: &'a str) {
        for (line, number) in source.lines().zip(1..) {
            self.blocks.at(number);
            self.line(line.trim_end(), number);
        }
        self.end_node();
    }

    fn line(&mut self, line: &'a str, number: u32) {
        if line.starts_with(NODE_END) {
            self.end_node();
        } else if line.starts_with(NODE) && !self.is_text {
            self.is_text = true;
        } else if !self.is_text {
            // It stands before the first node, in a menu, or in a table of places.
        } else if line == MENU {
            self.end_node();
        } else if line.is_empty() {
            self.flush();
        } else if let Some((level, title, number)) = self.heading_above(line) {
            self.held.clear();
            self.heading(level, title, number);
        } else {
            self.held.push((line, number));
        }
    }

    fn end_node(&mut self) {
        self.flush();
        self.close_code();
        self.is_text = false;
    }

    /// Returns the heading that a line underlines: its level, title and line. Its title is the only line held.
    fn heading_above(&self, line: &str) -> Option<(usize, &'a str, u32)> {
        let [(title, number)] = self.held[..] else { return None };
        let sign = line.chars().next()?;
        let level = UNDERLINES.iter().position(|&one| one == sign)?;
        let (length, letters) = (line.chars().count(), title.chars().count());
        // Wide letters take two columns each.
        let is_underline =
            line.chars().all(|other| other == sign) && (letters..=2 * letters).contains(&length);
        (is_underline && !title.starts_with(' ')).then_some((level + 1, title, number))
    }

    fn heading(&mut self, level: usize, title: &str, number: u32) {
        self.close_code();
        self.columns.clear();
        self.blocks.at(number);
        self.blocks.heading(level, title);
    }

    fn close_code(&mut self) {
        if std::mem::take(&mut self.is_code) {
            self.blocks.close_code();
        }
    }

    /// Writes the lines since the last empty one.
    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        let Some(column) = held.iter().map(|(line, _)| indent(line)).min() else { return };
        while self.columns.last().is_some_and(|&around| around > column) {
            self.columns.pop();
        }
        let around = self.columns.last().copied().unwrap_or(0);
        if column >= around + STEP {
            if self.is_code {
                self.blocks.code("");
            } else {
                self.is_code = true;
                self.blocks.open_code("");
            }
            for (line, number) in held {
                self.blocks.at(number);
                self.blocks.code(line);
            }
            return;
        }
        self.close_code();
        self.text(&held);
    }

    /// Writes lines of text: an item begins with a mark, a definition with `--`, and a term stands above what explains it.
    fn text(&mut self, held: &[Held<'_>]) {
        let depth = self.columns.len();
        self.blocks.leave(depth);
        self.blocks.gap();
        let below = columns_below(held);
        for (&(line, number), below) in held.iter().zip(below) {
            self.blocks.at(number);
            let (own, words) = (indent(line), line.trim_start());
            while self.columns.len() > depth && self.columns.last().is_some_and(|&column| column > own) {
                self.columns.pop();
            }
            let around = self.columns.last().copied().unwrap_or(0);
            let (mark, rest) = mark_of(words);
            if !mark.is_empty() && own > around && own < around + STEP {
                self.item(mark, rest, around + STEP);
            } else if own == around && below == own + STEP {
                self.item("-", words, around + STEP);
            } else {
                self.blocks.add(words);
            }
        }
        self.write();
    }

    /// Opens an item whose further lines begin at a column.
    fn item(&mut self, mark: &str, words: &str, column: usize) {
        self.write();
        self.blocks.item(self.columns.len(), mark);
        self.blocks.add(words);
        self.columns.push(column);
    }

    fn write(&mut self) {
        if let Some(text) = self.blocks.take() {
            self.blocks.write(&without_references(&text));
        }
    }
}

/// Returns for each line the column of the first line below it that begins at another one; 0 if there is none.
fn columns_below(held: &[Held<'_>]) -> Vec<usize> {
    let mut below = vec![0; held.len()];
    for at in (1..held.len()).rev() {
        let (own, next) = (indent(held[at - 1].0), indent(held[at].0));
        below[at - 1] = if next == own { below[at] } else { next };
    }
    below
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Splits the mark from an item or a definition; `("", words)` if there is none.
fn mark_of(words: &str) -> (&str, &str) {
    for sign in ["•", "*", "−", "-", "--"] {
        if let Some(rest) = words.strip_prefix(sign).and_then(|rest| rest.strip_prefix(' ')) {
            return ("-", rest.trim_start());
        }
    }
    let label = words.split(' ').next().unwrap_or_default();
    let number = label.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty()
        && number.len() <= 3
        && (number.bytes().all(|byte| byte.is_ascii_digit())
            || (number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_lowercase())));
    match words[label.len()..].strip_prefix(' ') {
        Some(rest) if is_number => (label, rest.trim_start()),
        Some(_) | None => ("", words),
    }
}

/// Returns a text with the marks of references as words: `*Note Other Options::.` becomes `See Other Options.`
fn without_references(text: &str) -> String {
    const MARKS: [(&str, &str); 2] = [("*note", "see"), ("*Note", "See")];
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("*note").into_iter().chain(rest.find("*Note")).min() {
        shown.push_str(&rest[..at]);
        let mark = &rest[at..at + MARKS[0].0.len()];
        rest = &rest[at + mark.len()..];
        if !rest.starts_with([' ', '\n']) {
            shown.push_str(mark);
            continue;
        }
        shown.push_str(MARKS.iter().find(|(of, _)| *of == mark).map_or(mark, |(_, word)| word));
        // A name of a node has none of these signs; `::` ends one that is its own label.
        let end = rest.find([':', '.', ',']).unwrap_or(rest.len());
        shown.push_str(&rest[..end]);
        rest = rest[end..].strip_prefix("::").unwrap_or(&rest[end..]);
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let source = format!("x.info\n\n\u{1f}\nFile: x.info,  Node: A,  Up: (dir)\n\n{body}");
        let mut document = Document::default();
        document.read(&source);
        document.blocks.out.check(&source, expected);
    }

    #[test]
    fn headings_and_what_is_left_out() {
        check(
            "1 First\n*******\n\nText.\n\n* Menu:\n\n* B::  More.\n\n\u{1f}\nFile: x.info,  Node: B,  Prev: A,  Up: A\n\n\
             1.1 日本\n========\n\nmore\n--\n\n\u{1f}\nTag Table:\nNode: A\u{7f}95\n\u{1f}\nEnd Tag Table\n",
            "# 1 First\n\nText.\n\n## 1.1 日本\n\nmore\n\\--",
        );
    }

    #[test]
    fn terms_items_definitions_and_examples() {
        check(
            "Call it:\n\n     go -v\n\n     go  -w\n\n   It has two.  *Note Other\nOptions::, and (*note X: (y)Z.).\n\n‘-v’\n‘--verbose’\n     Say\n     more.\n\n     Twice:\n\n          go -vv\n\n‘-w’\n     Wait.\n",
            "Call it:\n\n```\ngo -v\n\ngo  -w\n```\n\nIt has two.  See Other\nOptions, and (see X: (y)Z.).\n\n- ‘-v’\n- ‘--verbose’\n  Say\n  more.\n\n  Twice:\n\n  ```\n  go -vv\n  ```\n\n- ‘-w’\n  Wait.",
        );
        check(
            "   • one\n     and on\n   • two\n\n  1. first\n\n  10. second\n\n     on\n\n -- Function: void go (int A,\n          int B)\n     Goes.\n",
            "- one\n  and on\n- two\n\n1. first\n\n10. second\n\n    on\n\n- Function: void go (int A,\n  int B)\n  Goes.",
        );
    }

    #[test]
    fn parts_of_a_split_file_are_known_by_their_names() {
        assert!(is_extension("info") && is_extension("info-12"));
        assert!(!is_extension("info-") && !is_extension("infox") && !is_extension("inf"));
    }

    #[test]
    fn marks_of_indexes_and_images_are_removed() {
        assert_eq!(without_controls(b"a\0\x08[index\0\x08]b"), b"ab");
        let parsed = parse(b"[Distribution]\nname = x\n", &Settings::default()).unwrap();
        assert_eq!(parsed.drafts.len(), 1, "a file of that name that is no Info is text");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_read(lines in prop::collection::vec("( {0,11})(• |-- |1\\. |\\*note |[a-zé:.*=]{0,6}){0,3}", 0..40)) {
            let source = format!("\u{1f}\nFile: x,  Node: A\n{}", lines.join("\n"));
            let mut document = Document::default();
            document.read(&source);
            prop_assert_eq!(document.blocks.out.numbers.len(), document.blocks.out.text.lines().count());
        }
    }
}
