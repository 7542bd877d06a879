//! Converts reStructuredText to Markdown and chunks it.
//! One pass over the lines, with the indentation of the open blocks on a stack; each line of output remembers its source line.
//! Files that a directive includes are not followed. Unknown directives keep their argument and their body.
//!
//! Sources: the reStructuredText Markup Specification of docutils 0.21, and the directives of Sphinx 7.

use serde_json::Value;
use std::borrow::Cow;

use super::blocks::Blocks;
use super::draft::ParsedFile;
use super::rst_inline::{Substitutions, shown};
use super::rst_table::{self, RstTable};
use super::tags;
use crate::config::Settings;

/// Directives of which a reader of the page sees nothing, neither argument nor body.
const SILENT: &[&str] = &[
    "audit-event-table",
    "codeauthor",
    "contents",
    "currentmodule",
    "date",
    "default-domain",
    "default-role",
    "footer",
    "header",
    "highlight",
    "highlightlang",
    "include",
    "index",
    "kernel-doc",
    "meta",
    "module",
    "moduleauthor",
    "py:currentmodule",
    "py:module",
    "raw",
    "role",
    "sectionauthor",
    "sectnum",
    "tabularcolumns",
    "target-notes",
    "testcleanup",
    "testsetup",
    "title",
    "toctree",
];

/// Directives whose argument only says how the body looks or where it is shown.
const FRAMES: &[&str] =
    &["class", "compound", "container", "cssclass", "hlist", "ifconfig", "only", "rst-class", "table"];

/// Directives whose body is code; the argument is the language.
const CODE: &[&str] = &[
    "code",
    "code-block",
    "doctest",
    "parsed-literal",
    "productionlist",
    "prompt",
    "sourcecode",
    "testcode",
    "testoutput",
];

/// Directives whose name is shown before their text.
const LABELLED: &[&str] = &[
    "attention",
    "caution",
    "danger",
    "deprecated",
    "error",
    "hint",
    "important",
    "note",
    "seealso",
    "tip",
    "todo",
    "versionadded",
    "versionchanged",
    "versionremoved",
    "warning",
];

/// Converts and chunks a document.
pub(super) fn parse(source: &str, settings: &Settings) -> ParsedFile {
    let mut document = Document::new(source);
    document.read();
    let (heading, drafts) = document.blocks.out.chunks(settings);
    let mut file = ParsedFile { drafts, ..ParsedFile::default() };
    for (name, value) in document.fields {
        match name.to_lowercase().as_str() {
            "title" => file.title = Some(value),
            "tags" | "keywords" => value.split(',').for_each(|tag| tags::add(&mut file.tags, tag)),
            _ => {
                file.metadata.insert(name, Value::String(value));
            }
        }
    }
    file.title = file.title.or(heading);
    file
}

/// A block that is open, by the least indentation of its lines.
struct Open {
    indent: usize,
    is_item: bool,
}

/// What the lines that are indented deeper than `base` belong to.
struct Region {
    base: usize,
    kind: Kind,
    /// Whether the options of a directive are still to come.
    is_head: bool,
}

enum Kind {
    Skipped,
    Code,
    Math,
    Table(RstTable),
}

struct Document<'a> {
    lines: Vec<Cow<'a, str>>,
    at: usize,
    blocks: Blocks,
    open: Vec<Open>,
    region: Option<Region>,
    /// The styles of headings in order of appearance: their sign, and whether a line stands above them too.
    styles: Vec<(char, bool)>,
    fields: Vec<(String, String)>,
    /// Whether fields belong to the whole document.
    is_head: bool,
    /// Indentation of the paragraph.
    indent: usize,
    /// Whether the options of a directive with a body may follow.
    has_options: bool,
    /// Whether the last block was a term that the next one explains.
    is_term: bool,
    substitutions: Substitutions,
}

impl<'a> Document<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            lines: source.lines().map(expanded).collect(),
            at: 0,
            blocks: Blocks::default(),
            open: Vec::new(),
            region: None,
            styles: Vec::new(),
            fields: Vec::new(),
            is_head: true,
            indent: 0,
            has_options: false,
            is_term: false,
            substitutions: Substitutions::of(source),
        }
    }

    fn read(&mut self) {
        while self.at < self.lines.len() {
            self.blocks.at(self.at as u32 + 1);
            let line = std::mem::take(&mut self.lines[self.at]);
            self.at += 1;
            self.line(&line);
        }
        self.flush();
        self.end_region();
    }

    /// Returns a line behind the current one.
    fn next(&self, ahead: usize) -> &str {
        self.lines.get(self.at + ahead).map_or("", |line| line)
    }

    fn line(&mut self, line: &str) {
        let indent = indent_of(line);
        if let Some(region) = &mut self.region {
            if line.is_empty() || indent > region.base {
                let number = self.blocks.out.number;
                return match (&mut region.kind, option(line.trim_start()).filter(|_| region.is_head)) {
                    (Kind::Table(table), Some((name, value))) => table.option(name, value),
                    (_, Some(_)) | (Kind::Skipped, None) => {}
                    (Kind::Table(table), None) => {
                        region.is_head = false;
                        table.line(line, number);
                    }
                    (Kind::Code | Kind::Math, None) => {
                        region.is_head = false;
                        self.blocks.code(line);
                    }
                };
            }
            self.end_region();
        }
        if line.is_empty() {
            self.has_options = false;
            return self.flush();
        }
        if self.open.last().is_some_and(|open| indent < open.indent) {
            self.flush();
            while self.open.last().is_some_and(|open| indent < open.indent) {
                self.open.pop();
            }
        }
        let text = &line[indent..];
        if self.has_options {
            if option(text).is_some() {
                self.caption(text);
                return;
            }
            self.has_options = false;
        }
        if self.blocks.is_open() {
            // A table or an explicit block directly behind a paragraph is an error of its author, but frequent.
            let is_block = text.starts_with(".. ") && text.contains("::") && indent <= self.indent;
            if !is_block && !self.is_sibling(text, indent) {
                return self.blocks.add(text);
            }
            self.flush();
        }
        self.begin(text, indent);
    }

    /// Whether a line begins the next item of the list in which the paragraph stands.
    fn is_sibling(&self, text: &str, indent: usize) -> bool {
        self.indent > indent && (bullet(text).is_some() || option(text).is_some())
    }

    /// Reads the first line of a block.
    fn begin(&mut self, text: &str, indent: usize) {
        self.indent = indent;
        if self.heading(text, indent) {
            return;
        }
        if rule(text).is_some() && self.next(0).is_empty() && text.len() >= 4 {
            return;
        }
        if let Some(table) = RstTable::opened_by(text) {
            self.leave();
            return self.table(table, text, indent);
        }
        if text == ".." || text.starts_with(".. ") {
            return self.explicit(text[2..].trim_start(), indent);
        }
        if text.starts_with("__ ") {
            return;
        }
        if text.starts_with(">>> ") {
            self.leave();
            return self.doctest(text);
        }
        if let Some((name, value)) = option(text) {
            return self.field(name, value, indent);
        }
        self.is_head &= self.blocks.out.text.is_empty();
        if let Some((mark, rest)) = bullet(text).or_else(|| self.enumerator(text, indent)) {
            let (mark, rest) = (mark.to_owned(), rest.trim_start());
            self.item(&mark, indent);
            let inner = indent + text.len() - rest.len();
            return if rest.is_empty() { self.flush() } else { self.begin_inside(rest, inner) };
        }
        if let Some(rest) = text.strip_prefix("| ") {
            self.leave();
            self.blocks.gap();
            return self.blocks.add(rest);
        }
        if let Some((name, rest)) = command_option(text) {
            self.item("-", indent);
            self.blocks.add(name);
            return self.blocks.add(rest.trim_start());
        }
        let next = self.next(0);
        if !next.is_empty() && indent_of(next) > indent && !text.ends_with("::") {
            self.item("-", indent);
            self.blocks.add(text);
            self.is_term = true;
            return self.flush();
        }
        self.leave();
        if !std::mem::take(&mut self.is_term) {
            self.blocks.gap();
        }
        self.blocks.add(text);
    }

    /// Reads the text of an item, in which another block may begin.
    fn begin_inside(&mut self, text: &str, indent: usize) {
        let is_item = bullet(text).is_some() || (option(text).is_some() && self.open.len() < 99);
        if is_item && self.open.len() < 99 {
            self.flush();
            return self.begin(text, indent);
        }
        if text.starts_with(".. ") {
            return self.explicit(text[2..].trim_start(), indent);
        }
        self.indent = indent;
        self.blocks.add(text);
    }

    fn depth(&self) -> usize {
        self.open.iter().filter(|open| open.is_item).count()
    }

    /// Leaves the items that the indentation has closed.
    fn leave(&mut self) {
        self.blocks.leave(self.depth());
    }

    fn item(&mut self, mark: &str, indent: usize) {
        self.is_term = false;
        self.blocks.item(self.depth(), mark);
        self.open.push(Open { indent: indent + 1, is_item: true });
    }

    /// Reads a heading: a line with another of punctuation below it, and perhaps one above it.
    fn heading(&mut self, text: &str, indent: usize) -> bool {
        if indent > 0 {
            return false;
        }
        let is_long = |rule: &str, title: &str| rule.len() >= title.chars().count().min(4) && rule.len() >= 2;
        let (title, style, length) = if let Some(sign) = rule(text) {
            let (title, below) = (self.next(0).trim(), self.next(1));
            if below != text || title.is_empty() || rule(title).is_some() {
                return false;
            }
            (title.to_owned(), (sign, true), 2)
        } else {
            let below = self.next(0);
            let Some(sign) = rule(below).filter(|_| is_long(below, text)) else { return false };
            (text.to_owned(), (sign, false), 1)
        };
        let known = self.styles.iter().position(|known| *known == style);
        let level = known.unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        self.open.clear();
        self.blocks.heading(level + 1, &shown(&title, &self.substitutions));
        self.at += length;
        self.is_head &= level == 0;
        true
    }

    /// Reads a field: one of the whole document, or an item with the field's name.
    fn field(&mut self, name: &str, value: &str, indent: usize) {
        if self.is_head && indent == 0 {
            let mut whole = shown(value, &self.substitutions);
            let mut ahead = 0;
            while indent_of(self.next(ahead)) > 0 && whole.len() < 2_000 {
                whole.push(' ');
                whole.push_str(self.next(ahead).trim());
                ahead += 1;
            }
            self.fields.push((name.to_owned(), whole.trim().to_owned()));
            if value.is_empty() && ahead == 0 {
                return;
            }
        }
        self.item("-", indent);
        self.blocks.add(&format!("{name}: {value}"));
    }

    /// Reads the number of an item, if the line below shows that it is one.
    fn enumerator<'t>(&self, text: &'t str, indent: usize) -> Option<(&'t str, &'t str)> {
        let (mark, rest) = text.split_once(' ')?;
        let number = mark
            .strip_prefix('(')
            .and_then(|mark| mark.strip_suffix(')'))
            .or_else(|| mark.strip_suffix(['.', ')']))?;
        let is_number =
            number == "#" || (number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit()));
        let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_roman =
            number.len() <= 5 && number.bytes().all(|byte| b"ivx".contains(&byte.to_ascii_lowercase()));
        let next = self.next(0);
        let is_next = next[indent_of(next)..]
            .split_once(' ')
            .is_some_and(|(mark, _)| mark.len() <= 5 && mark.ends_with(['.', ')']));
        let is_followed = next.is_empty() || indent_of(next) > indent || is_next;
        let mark = if number.bytes().all(|byte| byte.is_ascii_digit()) && mark.len() == number.len() + 1 {
            mark
        } else {
            "1."
        };
        (is_followed && (is_number || is_letter || is_roman) && !number.is_empty()).then_some((mark, rest))
    }

    /// Reads what stands behind `..`: a directive, a target, a note at the foot, or a comment.
    fn explicit(&mut self, text: &str, indent: usize) {
        let skipped = Region { base: indent, kind: Kind::Skipped, is_head: false };
        if let Some((label, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            self.leave();
            self.blocks.gap();
            self.open.push(Open { indent: indent + 1, is_item: false });
            return self.blocks.add(&format!("[{label}] {}", rest.trim_start()));
        }
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|sign| sign.is_alphanumeric() || "-_+:.".contains(sign))
        };
        let Some((name, argument)) = text.split_once("::").filter(|(name, rest)| {
            is_name(name.trim_end()) && !name.starts_with('_') && (rest.is_empty() || rest.starts_with(' '))
        }) else {
            self.region = Some(skipped);
            return;
        };
        let name = name.trim_end().to_lowercase();
        let argument = argument.trim();
        self.flush();
        if SILENT.contains(&name.as_str()) {
            self.region = Some(skipped);
            return;
        }
        self.leave();
        self.blocks.gap();
        self.directive(&name, argument, indent);
    }

    fn directive(&mut self, name: &str, argument: &str, indent: usize) {
        let region = |kind| Some(Region { base: indent, kind, is_head: true });
        match name {
            _ if CODE.contains(&name) => {
                let is_language =
                    !matches!(name, "productionlist" | "parsed-literal" | "doctest" | "testcode");
                self.blocks.open_code(if is_language { argument } else { "" });
                self.region = region(Kind::Code);
                return;
            }
            "math" => {
                self.blocks.open_code("");
                if !argument.is_empty() {
                    self.blocks.code(&format!("{:width$}{argument}", "", width = indent + 1));
                }
                self.region = region(Kind::Math);
                return;
            }
            "list-table" | "csv-table" | "flat-table" => {
                if !argument.is_empty() {
                    self.blocks.add(argument);
                    self.flush();
                }
                let table = if name == "csv-table" {
                    RstTable::Values(rst_table::RstValues::default())
                } else {
                    RstTable::List(rst_table::List::default())
                };
                self.region = region(Kind::Table(table));
                return;
            }
            _ => {}
        }
        self.has_options = true;
        self.open.push(Open { indent: indent + 1, is_item: false });
        self.indent = indent + 1;
        if matches!(name, "image" | "figure") {
            return;
        }
        if LABELLED.contains(&name) || name.starts_with("deprecated") {
            let label: String =
                name.chars().take(1).flat_map(char::to_uppercase).chain(name.chars().skip(1)).collect();
            self.blocks.add(format!("{label}: {argument}").trim_end());
            if argument.is_empty() {
                self.flush();
            }
        } else if !argument.is_empty()
            && (!FRAMES.contains(&name) || name == "class" && argument.contains('('))
        {
            self.blocks.add(argument);
        }
    }

    /// Reads an option of a directive: what stands for an image, or a caption.
    fn caption(&mut self, text: &str) {
        if let Some((_, value)) = option(text).filter(|(name, _)| matches!(*name, "alt" | "caption")) {
            self.flush();
            self.blocks.gap();
            self.blocks.add(value);
        }
    }

    /// Reads a table that is drawn, up to its last line.
    fn table(&mut self, mut table: RstTable, first: &str, indent: usize) {
        table.line(first, self.blocks.out.number);
        while self.at < self.lines.len() {
            let line = self.next(0);
            let is_outside = !line.is_empty() && indent_of(line) < indent;
            if is_outside || !table.goes_on(line.get(indent..).unwrap_or_default()) {
                break;
            }
            let line = line.get(indent..).unwrap_or_default().to_owned();
            self.at += 1;
            self.blocks.at(self.at as u32);
            table.line(&line, self.at as u32);
            if table.is_over(self.next(0)) {
                break;
            }
        }
        let rows = table.rows(|text| shown(text, &self.substitutions));
        self.blocks.table(&rows);
    }

    /// Reads a session of Python up to the next empty line.
    fn doctest(&mut self, first: &str) {
        self.blocks.open_code("");
        self.blocks.code(first);
        while !self.next(0).is_empty() {
            let line = self.next(0).trim_start().to_owned();
            self.at += 1;
            self.blocks.at(self.at as u32);
            self.blocks.code(&line);
        }
        self.blocks.close_code();
    }

    fn end_region(&mut self) {
        match self.region.take().map(|region| region.kind) {
            Some(Kind::Code) => self.blocks.close_code(),
            Some(Kind::Math) => self.blocks.close_math(),
            Some(Kind::Table(table)) => {
                let rows = table.rows(|text| shown(text, &self.substitutions));
                self.blocks.table(&rows);
            }
            Some(Kind::Skipped) | None => {}
        }
    }

    /// Writes the paragraph. If it ends with two colons, code follows.
    fn flush(&mut self) {
        let Some(text) = self.blocks.take() else { return };
        let code = text.trim_end().strip_suffix("::");
        let text = match code {
            Some(before) if before.is_empty() || before.ends_with(char::is_whitespace) => before.trim_end(),
            Some(_) => &text[..text.trim_end().len() - 1],
            None => text.as_str(),
        };
        self.blocks.write(&shown(text, &self.substitutions));
        if code.is_some() {
            // Code in an item is indented deeper than the item's mark; other code deeper than the paragraph.
            let base = self.open.last().filter(|open| open.is_item).map_or(self.indent, |open| open.indent);
            self.blocks.open_code("");
            self.region = Some(Region { base: base.min(self.indent), kind: Kind::Code, is_head: false });
        }
    }
}

/// Returns a line with blanks for the tabs of its indentation, eight columns each, and without white space at its end.
fn expanded(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    if indent.bytes().all(|byte| byte == b' ') {
        return Cow::Borrowed(line);
    }
    // A deeper indentation than this is no structure.
    let column = indent
        .chars()
        .fold(0, |column: usize, sign| if sign == '\t' { column / 8 * 8 + 8 } else { column + 1 });
    Cow::Owned(format!("{:width$}{text}", "", width = column.min(200)))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the sign of a line that is one sign of punctuation, repeated.
fn rule(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line.bytes().all(|byte| byte == sign as u8)).then_some(sign)
}

/// Returns the mark of an item without a number, and its text.
fn bullet(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(['*', '-', '+', '•', '‣', '⁃'])?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(("-", rest))
}

/// Returns name and text of `:name: text`.
fn option(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(':')?;
    let end = rest.match_indices(':').map(|(at, _)| at).find(|&at| {
        at > 0 && matches!(rest.as_bytes().get(at + 1), None | Some(b' ')) && !rest[..at].ends_with('\\')
    })?;
    let name = &rest[..end];
    (!name.starts_with([' ', ':']) && !name.ends_with(' ') && !name.contains('`'))
        .then(|| (name, rest[end + 1..].trim()))
}

/// Returns options such as `-a, --all=X` and what two blanks behind them explain.
fn command_option(text: &str) -> Option<(&str, &str)> {
    let is_option =
        text.strip_prefix('-')?.trim_start_matches('-').starts_with(|sign: char| sign.is_alphanumeric());
    let (name, rest) = text.split_once("  ")?;
    let is_short = name.split(' ').all(|word| word.starts_with(['-', '<', '[']) || word.len() < 20)
        && name.split(' ').count() <= 4;
    (is_option && is_short).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let mut document = Document::new(source);
        document.read();
        document.blocks.out.check(source, expected);
    }

    #[test]
    fn headings_have_levels_in_order_of_appearance() {
        check(
            "=====\nTitle\n=====\n\nSub\n===\n\ntext\n\n----\n\nDeep\n~~~~\nB\n==\n",
            "# Title\n\n## Sub\n\ntext\n\n### Deep\n\n## B",
        );
    }

    #[test]
    fn fields_at_the_head_belong_to_the_document() {
        let mut document =
            Document::new("Guide\n=====\n\n:Author: Ann\n  Lee\n:tags: a, b\n:orphan:\n\ntext\n\n:x: y\n");
        document.read();
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(document.fields, [field("Author", "Ann Lee"), field("tags", "a, b"), field("orphan", "")]);
        assert_eq!(
            document.blocks.out.text.trim(),
            "# Guide\n\n- Author: Ann\n  Lee\n- tags: a, b\n\ntext\n\n- x: y"
        );
    }

    #[test]
    fn lists_nest_by_indentation() {
        check(
            "* one\n  goes on\n\n  1. a\n  2. b::\n\n       code\n\n* two\n\nterm : kind\n    What it is.\n\n-a, --all  Show all.\n\nend\n",
            "- one\n  goes on\n  1. a\n  2. b:\n\n     ```\n     code\n     ```\n\n- two\n- term : kind\n  What it is.\n- -a, --all\n  Show all.\n\nend",
        );
        check("3) no list\nbut text\n\n| a\n| b\n", "3) no list\nbut text\n\na\n| b");
    }

    #[test]
    fn code_is_fenced() {
        check(
            "So::\n\n  a\n    b\n\n.. code-block:: rust\n   :linenos:\n\n   let a;\n\n::\n\n  c\n\n>>> 1 + 1\n2\n\n.. math::\n\n   x^2\n",
            "So:\n\n```\na\n  b\n```\n\n```rust\nlet a;\n```\n\n```\nc\n```\n\n```\n>>> 1 + 1\n2\n```\n\n$$\nx^2\n$$",
        );
    }

    #[test]
    fn directives_keep_what_a_reader_sees() {
        check(
            ".. _target:\n.. a comment\n   of two lines\n\n.. note:: Mind this.\n\n   More.\n\n.. toctree::\n\n   a\n\n.. py:function:: f(a)\n   :async:\n\n   Does it.\n\n.. image:: a.png\n   :alt: A cat\n\n.. [1] Foot.\n",
            "Note: Mind this.\n\nMore.\n\nf(a)\n\nDoes it.\n\nA cat\n\n[1] Foot.",
        );
    }

    #[test]
    fn tables_of_every_form() {
        let expected = "| A | B |\n|---|---|\n| a | b c |\n| d |  |";
        check(
            "+---+---+\n| A | B |\n+===+===+\n| a | b |\n|   | c |\n+---+---+\n| d     |\n+---+---+\n",
            expected,
        );
        check("=== ===\nA   B\n=== ===\na   b\n    c\nd\n=== ===\n", expected);
        check(
            ".. list-table::\n   :header-rows: 1\n\n   * - A\n     - B\n   * - a\n     - b\n       c\n   * - d\n     -\n",
            expected,
        );
        check(".. csv-table::\n   :header: A, B\n\n   a,\"b c\"\n   d,\n", expected);
        check("== ==\na  b\nc  d\n== ==\n\nend\n", "| a | b |\n|---|---|\n| c | d |\n\nend");
    }

    #[test]
    fn marks_inside_a_paragraph_are_resolved() {
        for (source, expected) in [
            ("*a* **b** ``c*`` `d <e>`_ `f`_ g_ [1]_ h_i", "a b `c*` d f g [1] h_i"),
            (":ref:`text <target>` :func:`~a.b` :pep:`8` `x`:sub: :math:`y^2`", "text a.b PEP 8 x $y^2$"),
            ("a\\ b \\*c\\* |v| |w|\n\n.. |v| replace:: 1.0", "ab *c* 1.0 |w|"),
            ("a `never closed :one", "a `never closed :one"),
        ] {
            check(source, expected);
        }
    }
}
