//! Converts `AsciiDoc` to Markdown and chunks it.
//! One pass over the lines; each line of output remembers its source line. Includes are not followed, and all branches of a
//! condition are kept, because the attributes that decide it often come from the command line.
//!
//! Source: the language reference of docs.asciidoctor.org, 2024, and the older syntax of AsciiDoc.py that Git's pages use.

use serde_json::Value;

use super::asciidoc_inline::{Attributes, shown};
use super::asciidoc_table::AsciiDocTable;
use super::blocks::Blocks;
use super::draft::ParsedFile;
use super::{tags, text};
use crate::config::Settings;

/// Most blocks around a block; deeper delimiters are dropped.
const MOST_NESTED: usize = 64;

/// First lines in which a text's title must stand.
const HEAD: usize = 40;

/// Converts and chunks a document. An armoured message of `OpenPGP`, whose name ends in `.asc` too, is read as plain text.
pub(super) fn parse(source: &str, settings: &Settings) -> ParsedFile {
    if source.starts_with("-----BEGIN PGP ") {
        return text::parse(source, "asc", settings);
    }
    let mut document = Document::default();
    document.read(source);
    let (heading, drafts) = document.blocks.out.chunks(settings);
    let mut file = ParsedFile { title: document.title.or(heading), drafts, ..ParsedFile::default() };
    for (name, value) in document.fields {
        if name == "keywords" {
            value.split(',').for_each(|tag| tags::add(&mut file.tags, tag));
        } else {
            file.metadata.insert(name, Value::String(value));
        }
    }
    file
}

/// Whether a text without an extension of its own is `AsciiDoc`: its first line of text is a title, and a line further down has a
/// form that only `AsciiDoc` has.
pub(super) fn is_document(text: &str) -> bool {
    let mut lines = text.lines().take(HEAD).skip_while(|line| {
        let is_attribute = line.starts_with(':') && attribute_entry(line).is_some();
        line.trim().is_empty() || line.starts_with("//") || is_attribute
    });
    let (Some(first), second) = (lines.next(), lines.next().unwrap_or_default()) else { return false };
    let is_titled = matches!(section(first), Some((0, _))) || underline_level(first, second) == Some(0);
    // A directive of reStructuredText, whose titles look the same.
    let is_other = || text.lines().any(|line| line.starts_with(".. ") && line.contains("::"));
    let is_own = |line: &str| {
        line == "+"
            || matches!(section(line), Some((1.., _)))
            || line.starts_with("[[") && line.ends_with("]]")
            || (block_macro(line).is_some_and(|(name, _, _)| {
                matches!(name, "include" | "image" | "ifdef" | "ifndef" | "endif" | "toc")
            }))
            || (line.len() > 2 && block_attributes(line).is_some_and(|inside| !inside.contains(' ')))
    };
    is_titled && text.lines().any(|line| is_own(line.trim_end())) && !is_other()
}

/// A delimited block that is open.
enum Open {
    /// Its lines are read like those around it. It has the lists that were open around it.
    Plain {
        delimiter: String,
        lists: Vec<String>,
    },
    Comment(String),
    /// Its lines are code.
    Code(String),
    /// Its lines are kept as they are: verse, or text that is passed through.
    Lines(String),
    Table(AsciiDocTable),
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is where the reader stands, apart from the others")]
struct Document {
    blocks: Blocks,
    title: Option<String>,
    /// The attributes of the head, as they are written.
    fields: Vec<(String, String)>,
    known: Attributes,
    /// Whether the next lines may belong to the head.
    is_head: bool,
    open: Vec<Open>,
    /// The mark of each open list, outermost first.
    lists: Vec<String>,
    /// Number of lists around the open blocks.
    base: usize,
    /// Whether the text of a term is still to come.
    is_term: bool,
    /// What stands in brackets above the next block.
    attributes: String,
    /// Whether a `+` joins the next block to the item before it.
    is_joined: bool,
    /// Whether the paragraph is one of literal lines.
    is_literal: bool,
    /// Whether the value of an attribute goes on in the next line.
    is_continued: bool,
}

impl Document {
    fn read(&mut self, source: &str) {
        self.is_head = true;
        let mut lines = source.lines().zip(1..).peekable();
        while let Some((line, number)) = lines.next() {
            self.blocks.at(number);
            let next = lines.peek().map_or("", |(next, _)| *next);
            if self.line(line.trim_end(), next.trim_end()) {
                lines.next();
            }
        }
        self.flush();
        self.blocks.close_code();
        if let Some(Open::Table(table)) = self.open.pop() {
            self.close_table(&table);
        }
    }

    /// Reads a line, and returns whether the next one underlines it.
    fn line(&mut self, line: &str, next: &str) -> bool {
        match self.open.last_mut() {
            Some(Open::Comment(end)) => {
                if line == end {
                    self.open.pop();
                }
                return false;
            }
            Some(Open::Code(end)) => {
                if line == end {
                    self.open.pop();
                    self.blocks.close_code();
                } else {
                    self.blocks.code(code_line(line));
                }
                return false;
            }
            Some(Open::Lines(end)) => {
                if line == end {
                    self.open.pop();
                    self.flush();
                } else if line.is_empty() {
                    self.flush();
                    self.blocks.gap();
                } else {
                    self.blocks.add(line);
                }
                return false;
            }
            Some(Open::Table(table)) => {
                if table.ends_with(line) {
                    if let Some(Open::Table(table)) = self.open.pop() {
                        self.close_table(&table);
                    }
                } else if !line.starts_with("//") {
                    table.line(line, self.blocks.out.number);
                }
                return false;
            }
            Some(Open::Plain { .. }) | None => {}
        }
        if std::mem::take(&mut self.is_continued) {
            self.is_continued = line.ends_with('\\');
            return false;
        }
        if self.is_literal && !line.is_empty() {
            if line == "+" || delimiter(line).is_some() {
                self.end_literal();
            } else {
                self.blocks.code(code_line(line));
                return false;
            }
        }
        if line.starts_with("//") && !line.starts_with("///") || self.is_directive(line) {
            return false;
        }
        if line.is_empty() {
            self.end_literal();
            self.flush();
            self.is_head &= self.title.is_none();
            return false;
        }
        self.block_line(line, next)
    }

    /// Reads a line that is outside of code, comments and tables.
    fn block_line(&mut self, line: &str, next: &str) -> bool {
        if let Some((name, value)) = attribute_entry(line).filter(|_| !self.blocks.is_open() || self.is_head)
        {
            self.is_continued = value.ends_with('\\');
            let value = value.trim_end_matches(['\\', ' ']);
            self.known.set(name, value);
            if self.is_head && !value.is_empty() && !name.starts_with('!') {
                self.fields.push((name.to_owned(), self.known.expanded(value)));
            }
            return false;
        }
        if let Some(mark) = delimiter(line)
            && self.delimited(line, mark)
        {
            return false;
        }
        if self.blocks.is_open() && self.lists.is_empty() && !self.is_head {
            // Inside a paragraph nothing but a block's beginning has a meaning.
            if block_attributes(line).is_none() || !line.starts_with("[[") {
                self.blocks.add(line.trim_start());
            }
            return false;
        }
        if line == "+" {
            self.flush();
            self.is_joined = true;
            return false;
        }
        if !self.blocks.is_open() && self.heading(line, next) {
            return !next.is_empty() && section(line).is_none();
        }
        if self.item(line) {
            return false;
        }
        if self.blocks.is_open() {
            self.blocks.add(line.trim_start());
            return false;
        }
        if self.is_term && block_attributes(line).is_none() {
            self.is_term = false;
            self.blocks.add(line.trim_start());
            return false;
        }
        self.begin_block(line);
        false
    }

    /// Reads the first line of a block.
    fn begin_block(&mut self, line: &str) {
        if let Some(inside) = block_attributes(line) {
            if !inside.starts_with('[') {
                inside.clone_into(&mut self.attributes);
            }
            return;
        }
        if let Some(title) =
            line.strip_prefix('.').filter(|title| !title.starts_with(['.', ' ']) && !title.is_empty())
        {
            self.end_lists(line);
            self.blocks.gap();
            self.blocks.add(title);
            self.flush();
            return;
        }
        if line == "'''" || line == "<<<" || line == "---" || line == "***" {
            return;
        }
        if let Some((name, target, inside)) = block_macro(line) {
            let text = match name {
                "image" | "video" | "audio" => shown(&format!("image:{target}[{inside}]"), &self.known),
                "toc" | "include" => String::new(),
                _ => shown(inside, &self.known),
            };
            self.attributes.clear();
            self.blocks.gap();
            self.blocks.add(&text);
            self.blocks.take().map(|text| self.blocks.write(&text)).unwrap_or_default();
            return;
        }
        self.end_lists(line);
        self.blocks.gap();
        self.is_head &= self.title.is_some();
        let style = self.style().to_owned();
        let is_code = matches!(style.as_str(), "source" | "listing" | "literal");
        if is_code
            || (line.starts_with([' ', '\t']) && !matches!(style.as_str(), "normal" | "verse" | "quote"))
        {
            let language = self.language();
            self.blocks.open_code(&language);
            self.blocks.code(line);
            self.is_literal = true;
            self.attributes.clear();
            return;
        }
        let label = self.label();
        self.blocks.add(&format!("{label}{}", line.trim_start()));
    }

    /// Drops the lines of conditions and includes; the text in a condition's brackets is kept.
    fn is_directive(&mut self, line: &str) -> bool {
        let Some((name, _, inside)) = block_macro(line) else { return false };
        match name {
            "ifdef" | "ifndef" if !inside.is_empty() => self.blocks.add(inside),
            "ifdef" | "ifndef" | "ifeval" | "endif" | "include" => {}
            _ => return false,
        }
        true
    }

    /// Opens or closes a delimited block.
    fn delimited(&mut self, line: &str, mark: char) -> bool {
        let opened = self
            .open
            .iter()
            .rposition(|open| matches!(open, Open::Plain { delimiter, .. } if delimiter.as_str() == line));
        self.end_literal();
        self.flush();
        self.blocks.gap();
        if opened.is_none() && self.open.len() == MOST_NESTED {
            return true;
        }
        if let Some(opened) = opened {
            // Blocks inside that were never closed end with it.
            for open in self.open.drain(opened..).rev() {
                if let Open::Plain { lists, .. } = open {
                    self.base -= lists.len();
                    self.lists = lists;
                }
            }
            self.blocks.leave(self.base + self.lists.len());
            return true;
        }
        if !std::mem::take(&mut self.is_joined) {
            self.lists.clear();
            self.blocks.leave(self.base);
        }
        self.is_term = false;
        let style = self.style().to_owned();
        let end = if mark == '`' { "```".to_owned() } else { line.to_owned() };
        let is_code = matches!(style.as_str(), "source" | "listing" | "literal" | "stem" | "latexmath");
        let opened = match mark {
            '/' => Open::Comment(end),
            '-' | '.' | '`' if line != "--" => Open::Code(end),
            '=' | '*' | '_' | '-' | '+' if is_code => Open::Code(end),
            '_' if style == "verse" => Open::Lines(end),
            '+' => Open::Lines(end),
            '|' | ',' | ':' => Open::Table(AsciiDocTable::new(&self.attributes, line)),
            _ => Open::Plain { delimiter: end, lists: std::mem::take(&mut self.lists) },
        };
        match &opened {
            Open::Code(_) => {
                let language = if mark == '`' { line[3..].to_owned() } else { self.language() };
                self.blocks.open_code(language.trim());
            }
            Open::Plain { lists, .. } => {
                self.base += lists.len();
                let label = self.label();
                if !label.is_empty() {
                    self.blocks.add(label.trim());
                    self.flush();
                }
            }
            Open::Comment(_) | Open::Lines(_) | Open::Table(_) => {}
        }
        self.attributes.clear();
        self.open.push(opened);
        true
    }

    /// Reads a title or a section's heading, of one line or of two.
    fn heading(&mut self, line: &str, next: &str) -> bool {
        let two_lines = || underline_level(line, next).map(|level| (level, line));
        let Some((level, title)) = section(line).or_else(two_lines) else { return false };
        self.flush();
        let title = shown(title, &self.known);
        let is_discrete = matches!(self.style(), "discrete" | "float");
        self.attributes.clear();
        self.lists.clear();
        (self.is_joined, self.is_term, self.base) = (false, false, 0);
        self.open.clear();
        self.blocks.heading(level + 1, &title);
        if level == 0 && self.title.is_none() && !is_discrete {
            self.title = Some(title);
        } else {
            self.is_head = false;
        }
        true
    }

    /// Reads the first line of an item.
    fn item(&mut self, line: &str) -> bool {
        let Some(item) = Item::of(line) else { return false };
        self.flush();
        self.is_head = false;
        self.attributes.clear();
        self.is_joined = false;
        let depth = if let Some(depth) = self.lists.iter().position(|mark| *mark == item.list) {
            self.lists.truncate(depth + 1);
            depth
        } else {
            self.lists.push(item.list);
            self.lists.len() - 1
        };
        self.blocks.item(self.base + depth, &item.mark);
        self.is_term = item.term.is_some() && item.text.is_empty();
        if let Some(term) = item.term {
            self.blocks.add(term);
            self.flush();
        }
        if !item.text.is_empty() {
            self.blocks.add(item.text);
        }
        true
    }

    /// A block that no `+` joins to an item and that is not indented stands behind the list.
    fn end_lists(&mut self, line: &str) {
        let is_inside = std::mem::take(&mut self.is_joined) || line.starts_with([' ', '\t']);
        if !is_inside && !self.lists.is_empty() {
            self.lists.clear();
            self.blocks.leave(self.base);
        }
    }

    fn end_literal(&mut self) {
        if std::mem::take(&mut self.is_literal) {
            self.blocks.close_code();
        }
    }

    fn flush(&mut self) {
        if let Some(text) = self.blocks.take() {
            let text = shown(&text, &self.known);
            self.blocks.write(&text);
        }
    }

    fn close_table(&mut self, table: &AsciiDocTable) {
        let rows = table.rows(|text| shown(text, &self.known));
        self.blocks.table(&rows);
    }

    /// The first word in the brackets above a block.
    fn style(&self) -> &str {
        let end = self.attributes.find([',', '.', '#', '%']).unwrap_or(self.attributes.len());
        self.attributes[..end].trim()
    }

    fn language(&self) -> String {
        let mut positions = self.attributes.split(',').map(|part| part.trim().trim_matches('"'));
        let (style, language) = (positions.next().unwrap_or_default(), positions.next().unwrap_or_default());
        let is_source = style.starts_with("source") || style.is_empty();
        if is_source && !language.contains('=') { language.to_owned() } else { String::new() }
    }

    /// Returns `NOTE: ` above a note and who is quoted above a quotation.
    fn label(&mut self) -> String {
        let attributes = std::mem::take(&mut self.attributes);
        let mut parts = attributes.split(',').map(|part| part.trim().trim_matches('"'));
        let style = parts.next().unwrap_or_default();
        let style = &style[..style.find(['.', '#', '%']).unwrap_or(style.len())];
        let is_note = !style.is_empty() && style.bytes().all(|byte| byte.is_ascii_uppercase());
        let others: Vec<&str> = parts.filter(|part| !part.is_empty() && !part.contains('=')).collect();
        match style {
            _ if is_note => format!("{style}: "),
            "quote" | "verse" if !others.is_empty() => format!("{}:\n", others.join(", ")),
            _ => String::new(),
        }
    }
}

/// An item of a list: `list` names the kind of its list by its mark.
struct Item<'a> {
    list: String,
    mark: String,
    term: Option<&'a str>,
    text: &'a str,
}

impl<'a> Item<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let (mark, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let is_run =
            |sign: char| mark.len() <= 6 && !mark.is_empty() && mark.chars().all(|letter| letter == sign);
        let item = |list: &str, mark: &str| {
            Some(Self { list: list.to_owned(), mark: mark.to_owned(), term: None, text: text.trim() })
        };
        if !text.trim().is_empty() {
            if mark == "-" || mark == "•" || is_run('*') {
                return item(mark, "-");
            }
            if is_run('.') {
                return item(mark, "1.");
            }
            if let Some(number) = mark.strip_suffix(['.', ')'])
                && number.len() <= 4
                && (number.len() == 1 || number.bytes().all(|byte| byte.is_ascii_digit()))
                && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
            {
                let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
                return item(
                    if is_number { "1" } else { "a" },
                    &if is_number { format!("{number}.") } else { "1.".into() },
                );
            }
            if mark.starts_with('<')
                && mark.ends_with('>')
                && mark[1..mark.len() - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && mark.len() > 2
            {
                return item("<", "1.");
            }
        }
        Self::term(line)
    }

    /// Reads `term:: text`. The separator has two, three or four colons, or two semicolons, and names the list.
    fn term(line: &'a str) -> Option<Self> {
        let at = line.match_indices("::").map(|(at, _)| at).chain(line.find(";;")).find(|&at| {
            let sign = line.as_bytes()[at];
            let end = at + line[at..].bytes().take_while(|&byte| byte == sign).count();
            end - at <= 4 && (line.len() == end || line[end..].starts_with([' ', '\t'])) && at > 0
        })?;
        let sign = line.as_bytes()[at];
        let end = at + line[at..].bytes().take_while(|&byte| byte == sign).count();
        if line.starts_with("//") || line[..at].ends_with(' ') {
            return None;
        }
        Some(Self {
            list: line[at..end].to_owned(),
            mark: "-".to_owned(),
            term: Some(&line[..at]),
            text: line[end..].trim(),
        })
    }
}

/// Returns the sign of a line that delimits a block.
fn delimiter(line: &str) -> Option<char> {
    let first = line.chars().next()?;
    if line == "--" {
        return Some('-');
    }
    if let Some(name) = line.strip_prefix("```") {
        return (!name.contains('`')).then_some('`');
    }
    if line.len() >= 4
        && line.len() <= 200
        && "/-.=*_+".contains(first)
        && line.chars().all(|letter| letter == first)
    {
        return Some(first);
    }
    matches!(line, "|===" | ",===" | ":===" | "|====" | "|=====" | "|======").then_some(first)
}

/// Returns the level and the title of a line such as `== Title`, whose title may be marked at its end too.
fn section(line: &str) -> Option<(usize, &str)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '=' | '#'))?;
    let title = line.trim_start_matches(mark);
    let level = line.len() - title.len();
    let text = title.strip_prefix([' ', '\t'])?.trim();
    (level <= 6 && !text.is_empty())
        .then(|| (level - 1, text.trim_end_matches(mark).trim_end()))
        .filter(|(_, text)| !text.is_empty())
}

/// Returns the level of a title that the next line underlines, at most two letters longer or shorter.
fn underline_level(line: &str, next: &str) -> Option<usize> {
    let mark = next.chars().next()?;
    let level = "=-~^+".find(mark)?;
    let length = next.len();
    let is_rule = length >= 3 && next.chars().all(|letter| letter == mark);
    let is_title = line.starts_with(|letter: char| letter.is_alphanumeric() || "`'\"{(_*#".contains(letter))
        && line.contains(char::is_alphanumeric);
    (is_rule && is_title && line.chars().count().abs_diff(length) <= 2).then_some(level)
}

/// Returns name and value of `:name: value`.
fn attribute_entry(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'!'));
    (is_name && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| (name, value.trim()))
}

/// Returns what stands in the brackets of a line that has nothing else.
fn block_attributes(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    let is_begin = |letter: char| letter.is_alphabetic() || "_#.%{,\"'[".contains(letter);
    (inside.is_empty() || inside.starts_with(is_begin)).then_some(inside)
}

/// Returns name, target and brackets of `name::target[text]`.
fn block_macro(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once("::")?;
    let (target, inside) = rest.strip_suffix(']')?.split_once('[')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !target.starts_with(' ')).then_some((name, target, inside))
}

/// Returns a line of code without the marks of its callouts, such as `<1>`.
fn code_line(line: &str) -> &str {
    let mut code = line;
    while let Some((before, number)) = code.strip_suffix('>').and_then(|rest| rest.rsplit_once('<'))
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && (before.is_empty() || before.ends_with(' '))
    {
        code = before.trim_end().trim_end_matches("//").trim_end_matches('#').trim_end();
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let mut document = Document::default();
        document.read(source);
        document.blocks.out.check(source, expected);
    }

    #[test]
    fn the_head_gives_title_tags_and_fields() {
        let mut document = Document::default();
        document.read("// c\n= The Guide\nAnn Lee <a@b.org>\n:keywords: x, y\n:v: 2\n:full: {v}.1\n\nUse {full}, {unknown}.\n");
        assert_eq!(document.title.as_deref(), Some("The Guide"));
        assert_eq!(document.fields[0], ("keywords".to_owned(), "x, y".to_owned()));
        assert_eq!(document.fields[2], ("full".to_owned(), "2.1".to_owned()));
        let text = &document.blocks.out.text;
        assert_eq!(text, "# The Guide\n\nAnn Lee <a@b.org>\n\nUse 2.1, {unknown}.\n");
    }

    #[test]
    fn headings_of_one_line_and_of_two() {
        check(
            "Name(1)\n=======\n\nPART\n----\ntext\n\nSub\n~~~\n== Two ==\n[[id]]\n=== Three\n",
            "# Name(1)\n\n## PART\n\ntext\n\n### Sub\n\n## Two\n\n### Three",
        );
    }

    #[test]
    fn lists_join_blocks_and_nest() {
        check(
            "* one\n** inner\n+\n----\ncode\n----\n* two\n  goes on\n\nafter\n",
            "- one\n  - inner\n\n    ```\n    code\n    ```\n\n- two\n  goes on\n\nafter",
        );
        check(
            "-a::\n--all::\n\tShow all.\n+\nMore.\n\n-b <n>:: Both.\n. first\n. second\n",
            "- -a\n- --all\n  Show all.\n\n  More.\n- -b <n>\n  Both.\n  1. first\n  1. second",
        );
    }

    #[test]
    fn blocks_are_kept_by_their_kind() {
        check(
            "[source,rust]\n----\nlet a = 1; // <1>\n----\n<1> Set.\n\n....\n  as is\n....\n\n indented\n code\n",
            "```rust\nlet a = 1;\n```\n\n1. Set.\n\n```\nas is\n```\n\n```\nindented\ncode\n```",
        );
        check(
            "NOTE: Mind *it*.\n\n[TIP]\n====\nInside.\n====\n\n.Title\nText\n",
            "NOTE: Mind it.\n\nTIP:\n\nInside.\n\nTitle\n\nText",
        );
        check("////\nhidden\n////\nifdef::x[]\nshown\nendif::x[]\ninclude::y[]\n\n'''\n", "shown");
        check("[verse]\n____\na\n b\n____\n", "a\nb");
    }

    #[test]
    fn tables_have_their_columns() {
        check(
            ".T\n[cols=\"1,2\",options=\"header\"]\n|===\n|A |B\n\n|a\n|b `x\\|y`\nmore\n2+|wide\n.2+|c |d\n|e\n|===\n",
            "T\n\n| A | B |\n|---|---|\n| a | b `x\\|y` more |\n| wide |  |\n| c | d |\n|  | e |",
        );
        check(",===\na,\"b,c\"\n,===\n", "| a | b,c |\n|---|---|");
    }

    #[test]
    fn marks_inside_a_paragraph_are_resolved() {
        for (source, expected) in [
            (
                "See https://a.org/x[the *page*^], link:b.html[], <<id,there>> and <<id>>.",
                "See the page, b.html, there and id.",
            ),
            (
                "linkgit:git-add[1] kbd:[Ctrl+C] image:a.png[A cat,200] footnote:[Why.]",
                "git-add(1) Ctrl+C A cat  (Why.)",
            ),
            (
                "((term)) (((hidden)))[[id]]x stem:[x^2] `+a_b_+` ``quoted'' \"`so`\"",
                "term x $x^2$ `a_b_` “quoted” “so”",
            ),
            (
                "*a* _b_ 'c' [.role]#d# H~2~O snake_case_name {cpp} \\{cpp}",
                "a b c d H2O snake_case_name C++ {cpp}",
            ),
            ("open https://a.org/[never", "open https://a.org/[never"),
        ] {
            check(source, expected);
        }
    }

    #[test]
    fn attributes_that_double_stay_small() {
        let mut source = String::from(":a0: xxxxxxxx\n");
        for at in 1..60 {
            source = format!("{source}:a{at}: {{a{0}}}{{a{0}}}\n", at - 1);
        }
        source.push_str(&"{a8}".repeat(5_000));
        let mut document = Document::default();
        document.read(&source);
        assert!(document.blocks.out.text.len() < 3 << 20);
    }

    #[test]
    fn a_text_is_known_by_its_title_and_another_mark() {
        for text in [
            "= T\n\n== S\n",
            "git-x(1)\n========\n\nNAME\n----\ngit\n\n[verse]\n'git x'\n",
            "= T\n\n* a\n+\nb\n",
        ] {
            assert!(is_document(text), "{text}");
        }
        for text in
            ["= T\n\ntext\n", "Title\n=====\n\n.. note:: x\n\n[[a]]\n", "text\n\n== S\n", "a = b\n", ""]
        {
            assert!(!is_document(text), "{text}");
        }
    }
}
