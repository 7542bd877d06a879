//! Converts LaTeX to Markdown and chunks it.
//! One pass over the letters; each line of output remembers its source line. Files that are included are not followed. Formulas are
//! kept as written. Commands that it does not know are dropped, and what stands in their braces is kept.
//!
//! Sources: `LaTeX2e`: An unofficial reference manual, 2024, and the manuals of the packages that define the commands in its tables.

use serde_json::Value;
use std::collections::{HashMap, HashSet};
use unicode_normalization::char::compose;

use super::blocks::{Blocks, Row};
use super::draft::ParsedFile;
use super::latex_commands::{Environment, Meaning, accent, arguments, environment, meaning};
use super::latex_source::{LONGEST, LONGEST_DEFINITION, LatexSource, begins_document};
use super::latex_symbols::symbol;
use super::tags;
use crate::config::Settings;

/// Converts and chunks a document.
pub(super) fn parse(source: &str, settings: &Settings) -> ParsedFile {
    let mut document = Document::new(source);
    document.read();
    let (heading, drafts) = document.blocks.out.chunks(settings);
    let mut file = ParsedFile { title: document.title.or(heading), drafts, ..ParsedFile::default() };
    for (name, value) in document.fields {
        if name == "keywords" {
            value.split([',', ';']).for_each(|tag| tags::add(&mut file.tags, tag));
        } else {
            file.metadata.insert(name.to_owned(), Value::String(value));
        }
    }
    file
}

/// What is done where a brace closes.
#[derive(Clone, Copy)]
enum Close {
    Nothing,
    Heading(usize),
    Title,
    Field(&'static str),
    /// Ends a paragraph.
    Paragraph,
    Text(&'static str),
}

/// The table that is read.
#[derive(Default)]
struct Table {
    rows: Vec<(Row, u32)>,
    row: Row,
    /// The source line where the row begins; 0 before its first cell.
    begin: u32,
    /// Columns and rows of the cell.
    spans: (usize, usize),
    /// Tables inside a cell.
    depth: usize,
}

struct Document<'a> {
    source: LatexSource<'a>,
    blocks: Blocks,
    /// The paragraph, or the text of a heading or a cell.
    text: String,
    /// The source line where it begins.
    begin: u32,
    closes: Vec<Close>,
    /// The mark of the items of each open list.
    lists: Vec<&'static str>,
    table: Option<Table>,
    /// Whether this is the part before the document, of which only the title is shown.
    is_preamble: bool,
    /// Signs between which code stands.
    short: Vec<char>,
    /// Whether the label of an item was written, which the next text explains.
    is_term: bool,
    title: Option<String>,
    fields: Vec<(&'static str, String)>,
    /// What commands without arguments stand for.
    definitions: HashMap<&'a str, &'a str>,
    /// What theorems are called.
    theorems: HashMap<&'a str, &'a str>,
    /// Environments of the document's own whose content is code.
    verbatim: HashSet<&'a str>,
}

impl<'a> Document<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source: LatexSource::new(source),
            blocks: Blocks::default(),
            text: String::new(),
            begin: 1,
            closes: Vec::new(),
            lists: Vec::new(),
            table: None,
            is_preamble: source.lines().any(begins_document),
            short: Vec::new(),
            is_term: false,
            title: None,
            fields: Vec::new(),
            definitions: HashMap::new(),
            theorems: HashMap::new(),
            verbatim: HashSet::new(),
        }
    }

    fn read(&mut self) {
        while let Some(letter) = self.source.rest.chars().next() {
            match letter {
                '\\' => self.command(),
                '%' => self.comment(),
                '$' => self.formula(),
                '{' => {
                    self.source.skip(1);
                    self.closes.push(Close::Nothing);
                }
                '}' => {
                    self.source.skip(1);
                    self.close();
                }
                '\n' => {
                    let blank =
                        self.source.rest.len() - self.source.rest.trim_start_matches([' ', '\t', '\n']).len();
                    let is_end = self.source.rest[1..blank].contains('\n');
                    self.source.skip(blank);
                    if is_end
                        && self.table.is_none()
                        && !matches!(self.closes.last(), Some(Close::Heading(_)))
                    {
                        self.flush();
                    } else {
                        self.push('\n');
                    }
                }
                '&' if self.table.is_some() => {
                    self.source.skip(1);
                    self.end_cell();
                }
                '~' => {
                    self.source.skip(1);
                    self.push(' ');
                }
                _ if self.short.contains(&letter) => self.inline_code("verb"),
                _ => self.plain(letter),
            }
        }
        self.end_table();
        self.flush();
    }

    /// Reads letters and the signs that make dashes and quotation marks.
    fn plain(&mut self, letter: char) {
        const SIGNS: [(&str, &str); 5] = [("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘")];
        if let Some((sign, shown)) = SIGNS.iter().find(|(sign, _)| self.source.rest.starts_with(sign)) {
            self.source.skip(sign.len());
            return self.put(shown);
        }
        self.source.skip(letter.len_utf8());
        self.push(letter);
    }

    fn push(&mut self, letter: char) {
        if self.text.is_empty() {
            self.begin = self.source.number;
        }
        if letter.is_whitespace() && (self.text.is_empty() || self.text.ends_with([' ', '\n'])) {
            return;
        }
        self.text.push(letter);
    }

    fn put(&mut self, text: &str) {
        text.chars().for_each(|letter| self.push(letter));
    }

    /// Drops a comment with the end of its line and the indentation of the next.
    fn comment(&mut self) {
        let end = self.source.rest.find('\n').map_or(self.source.rest.len(), |at| at + 1);
        self.source.skip(end);
        let blank = self.source.rest.len() - self.source.rest.trim_start_matches([' ', '\t']).len();
        self.source.skip(blank);
    }

    /// Reads a formula between dollar signs.
    fn formula(&mut self) {
        if self.source.rest.starts_with("$$") {
            let Some(inside) = self.source.until(2, "$$") else {
                self.source.skip(2);
                return;
            };
            return self.display(inside);
        }
        let mut before = ' ';
        let mut end = None;
        for (at, letter) in self.source.rest[1..].char_indices().take_while(|(at, _)| *at < LONGEST) {
            if letter == '$' && before != '\\' {
                end = Some(at + 1);
                break;
            }
            if letter == '\n' && self.source.rest[at + 2..].starts_with('\n') {
                break;
            }
            before = if before == '\\' && letter == '\\' { ' ' } else { letter };
        }
        let formula = self.source.skip(end.map_or(1, |end| end + 1));
        self.put(formula);
    }

    /// Writes a formula that stands in lines of its own. Inside a table it stays in its cell.
    fn display(&mut self, formula: &str) {
        if self.is_preamble {
            return;
        }
        if self.table.is_some() || !self.closes.is_empty() {
            self.put(" $");
            self.put(formula.trim());
            return self.put("$ ");
        }
        self.flush();
        self.blocks.open_code("");
        self.lines(formula);
        self.blocks.close_math();
    }

    /// Adds the lines of code that was just read.
    fn lines(&mut self, code: &str) {
        let first = self.source.number.saturating_sub(code.matches('\n').count() as u32);
        for (line, number) in code.split('\n').zip(first.max(1)..) {
            self.blocks.at(number);
            self.blocks.code(line);
        }
        self.blocks.at(self.source.number);
    }

    fn command(&mut self) {
        self.source.skip(1);
        let length =
            self.source.rest.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'@').count();
        if length == 0 {
            return self.sign();
        }
        let name = self.source.skip(length);
        if self.source.rest.starts_with('*') {
            self.source.skip(1);
        }
        match name {
            "begin" => return self.begin(),
            "end" => return self.end(),
            "verb" | "lstinline" | "mintinline" | "Verb" => return self.inline_code(name),
            "iffalse" => {
                self.source.until(0, "\\fi");
                return;
            }
            _ => {}
        }
        if let Some(combining) = accent(name).filter(|_| self.source.rest.starts_with(['{', ' ', '\\'])) {
            return self.accented(combining);
        }
        if let Some(text) = self.definitions.get(name).copied().or_else(|| symbol(name)) {
            self.put(text);
            return self.after_name();
        }
        self.meant(name);
    }

    /// Does what a command means.
    fn meant(&mut self, name: &'a str) {
        match meaning(name) {
            Meaning::Item => return self.item(),
            Meaning::Definition => return self.definition(),
            Meaning::Theorem => {
                let (kind, _) = (self.source.group(), self.source.optional());
                if let (Some(kind), Some(shown)) = (kind, self.source.group()) {
                    self.theorems.insert(kind, shown);
                }
                self.source.optional();
                return;
            }
            Meaning::Verbatim => {
                self.source.optional();
                if let Some(kind) = self.source.group() {
                    self.verbatim.insert(kind);
                }
                self.source.optional();
                return self.source.drop_groups(2);
            }
            Meaning::ShortCode => {
                self.source.optional();
                let blank = self.source.rest.len() - self.source.rest.trim_start_matches(['{', '\\']).len();
                if let Some(sign) =
                    self.source.rest[blank..].chars().next().filter(char::is_ascii_punctuation)
                {
                    self.source.skip(blank + 1);
                    self.source.rest = self.source.rest.strip_prefix('}').unwrap_or(self.source.rest);
                    self.short.push(sign);
                }
                return;
            }
            Meaning::Paragraph => {
                if self.table.is_some() {
                    self.push(' ');
                } else {
                    self.flush();
                }
            }
            Meaning::Break => self.push('\n'),
            Meaning::Space => self.push(' '),
            Meaning::Heading(level) => self.opened(Close::Heading(level)),
            Meaning::Title => self.opened(Close::Title),
            Meaning::Field(name) => self.opened(Close::Field(name)),
            Meaning::OwnParagraph => self.opened(Close::Paragraph),
            Meaning::Note => {
                self.source.optional();
                if self.source.rest.starts_with('{') {
                    self.source.skip(1);
                    self.put(" (");
                    self.closes.push(Close::Text(") "));
                }
                return;
            }
            Meaning::Span => {
                self.source.optional();
                let (number, _) = (self.source.group(), self.source.group());
                let number = number.and_then(|number| number.trim().parse().ok()).unwrap_or(1);
                if let Some(table) = &mut self.table {
                    if name == "multicolumn" { table.spans.0 = number } else { table.spans.1 = number }
                }
                return;
            }
            Meaning::Other => {
                self.source.optional();
                self.source.drop_groups(arguments(name));
            }
        }
        self.after_name();
    }

    /// Opens the braces of a command, behind which something is done. What stood before is a paragraph of its own.
    fn opened(&mut self, close: Close) {
        self.source.optional();
        let blank = self.source.rest.len() - self.source.rest.trim_start_matches([' ', '\t']).len();
        if !self.source.rest[blank..].starts_with('{') {
            return;
        }
        self.source.skip(blank + 1);
        if self.table.is_none() {
            self.flush();
        }
        self.closes.push(close);
    }

    fn close(&mut self) {
        let Some(close) = self.closes.pop() else { return };
        if self.table.is_some() && !matches!(close, Close::Text(_)) {
            return;
        }
        match close {
            Close::Nothing => {}
            Close::Text(text) => self.put(text),
            Close::Paragraph => self.flush(),
            Close::Heading(level) => {
                let title = std::mem::take(&mut self.text);
                if !self.is_preamble {
                    self.lists.clear();
                    self.blocks.at(self.begin.max(1));
                    self.blocks.heading(level, &title);
                }
            }
            Close::Title => {
                let title = std::mem::take(&mut self.text).split_whitespace().collect::<Vec<_>>().join(" ");
                if !title.is_empty() {
                    self.blocks.at(self.begin.max(1));
                    self.blocks.heading(1, &title);
                    self.title = Some(title);
                }
            }
            Close::Field(name) => {
                let value = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !value.is_empty() {
                    self.fields.push((name, value));
                    self.write();
                }
            }
        }
    }

    /// Skips the blanks behind a command's name, but not the end of a paragraph.
    fn after_name(&mut self) {
        let blank = self.source.rest.len() - self.source.rest.trim_start_matches([' ', '\t']).len();
        let line = self.source.rest[blank..].strip_prefix('\n');
        let is_end = line.is_some_and(|line| line.trim_start_matches([' ', '\t']).starts_with('\n'));
        if blank > 0 && !is_end {
            self.source.skip(blank);
        }
        if let Some(rest) = self.source.rest.strip_prefix("{}") {
            self.source.rest = rest;
        }
    }

    /// Reads a command that is one sign.
    fn sign(&mut self) {
        let Some(sign) = self.source.rest.chars().next() else { return };
        self.source.skip(sign.len_utf8());
        match sign {
            '\\' => {
                if self.source.rest.starts_with('*') {
                    self.source.skip(1);
                }
                if self.source.rest.starts_with('[')
                    && self.source.rest[1..]
                        .starts_with(|next: char| next.is_ascii_digit() || "-.\\".contains(next))
                {
                    self.source.optional();
                }
                if self.table.as_ref().is_some_and(|table| table.depth == 0) {
                    self.end_row();
                } else {
                    self.push('\n');
                }
            }
            '(' => {
                if let Some(formula) = self.source.until(0, "\\)") {
                    self.put(&format!("${formula}$"));
                }
            }
            '[' => {
                if let Some(formula) = self.source.until(0, "\\]") {
                    self.display(formula);
                }
            }
            '\'' | '`' | '"' | '^' | '~' | '=' | '.' => {
                self.accented(accent(&sign.to_string()).unwrap_or(' '));
            }
            ' ' | '\n' | ',' | ';' | ':' | '>' => self.push(' '),
            '/' | '-' | '!' | '@' | ')' | ']' | '<' | '+' | '*' => {}
            _ => self.push(sign),
        }
    }

    /// Puts an accent on the next letter, which may stand in braces.
    fn accented(&mut self, combining: char) {
        let blank = self.source.rest.len() - self.source.rest.trim_start_matches([' ', '{', '\\']).len();
        let Some(letter) =
            self.source.rest[blank..].chars().next().filter(|letter| blank < 4 && letter.is_alphabetic())
        else {
            return;
        };
        let is_grouped = self.source.rest[..blank].contains('{');
        self.source.skip(blank + letter.len_utf8());
        if let Some(composed) = compose(letter, combining) {
            self.push(composed);
        } else {
            self.push(letter);
            self.push(combining);
        }
        if is_grouped && self.source.rest.starts_with('}') {
            self.source.skip(1);
        }
    }

    /// Reads code inside a sentence, between two of the same sign or in braces.
    fn inline_code(&mut self, name: &str) {
        self.source.optional();
        if name == "mintinline" {
            self.source.group();
        }
        let code = match self.source.rest.chars().next() {
            Some('{') if name != "verb" => self.source.group(),
            Some(sign) if !sign.is_alphanumeric() && !sign.is_whitespace() => {
                let line = self.source.rest.find('\n').unwrap_or(self.source.rest.len());
                let end = self.source.rest[sign.len_utf8()..line].find(sign);
                end.map(|end| {
                    &self.source.skip(end + 2 * sign.len_utf8())[sign.len_utf8()..sign.len_utf8() + end]
                })
            }
            _ => None,
        };
        match code {
            Some(code) if code.contains('`') => self.put(code),
            Some(code) => {
                self.push('`');
                self.put(code);
                self.push('`');
            }
            // The sign stands for itself.
            None => {
                let sign = self.source.rest.chars().next().filter(|sign| self.short.contains(sign));
                if let Some(sign) = sign {
                    self.source.skip(sign.len_utf8());
                    self.push(sign);
                }
            }
        }
    }

    /// Skips the definition of a command. One that stands for a few letters is remembered.
    fn definition(&mut self) {
        let blank = self.source.rest.len() - self.source.rest.trim_start_matches(['*', '{', ' ', '\\']).len();
        let length = self.source.rest[blank..]
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'@')
            .count();
        let name = &self.source.rest[blank..blank + length];
        if self.source.group().is_none() {
            self.source.skip(blank + length);
        }
        // Behind `\def` the parameters come up to the brace.
        let parameters = self
            .source
            .rest
            .bytes()
            .take(100)
            .position(|byte| matches!(byte, b'{' | b'\n' | b'\\'))
            .unwrap_or(0);
        let has_parameters = self.source.rest[..parameters].contains(['#', '[']);
        if self.source.rest[parameters..].starts_with('{') || self.source.rest[..parameters].contains('[') {
            self.source.skip(parameters);
        }
        self.source.optional();
        let body = self.source.group();
        if let Some(body) = body.filter(|body| !has_parameters && body.len() <= LONGEST_DEFINITION) {
            let body = body.trim_end_matches("\\xspace").trim_end_matches("{}");
            if !name.is_empty() && !body.contains(['\\', '#', '{', '$']) {
                self.definitions.insert(name, body);
            }
        }
    }

    fn begin(&mut self) {
        let Some(name) = self.source.group() else { return };
        let plain = name.trim_end_matches('*');
        let kind = if self.verbatim.contains(plain) { Environment::Code } else { environment(plain) };
        if self.is_preamble && name != "document" {
            return;
        }
        let end = format!("\\end{{{name}}}");
        match kind {
            Environment::Document => {
                self.is_preamble = false;
                self.text.clear();
                self.closes.clear();
            }
            Environment::Code => {
                let options = self.source.optional();
                let language =
                    options.and_then(|options| options.split_once("language=")).map(|(_, rest)| rest);
                let language = language.map(|rest| {
                    rest.split([',', ']', '}']).next().unwrap_or_default().trim_start_matches('{')
                });
                let language = if plain == "minted" { self.source.group() } else { language };
                if let Some(code) = self.source.until(0, &end) {
                    self.flush();
                    self.blocks.open_code(&language.unwrap_or_default().to_lowercase());
                    self.lines(code);
                    self.blocks.close_code();
                }
            }
            Environment::Formula => {
                if let Some(formula) = self.source.until(0, &end) {
                    self.display(formula);
                }
            }
            Environment::Silent => {
                self.source.until(0, &end);
            }
            Environment::List(mark) => {
                if self.table.is_none() {
                    self.flush();
                }
                self.source.optional();
                self.source.drop_groups(usize::from(plain == "thebibliography"));
                self.lists.push(mark);
            }
            Environment::Table(arguments) => {
                self.source.optional();
                self.source.drop_groups(arguments);
                if let Some(table) = &mut self.table {
                    table.depth += 1;
                } else {
                    self.flush();
                    self.table = Some(Table { spans: (1, 1), ..Table::default() });
                }
            }
            Environment::Other(arguments) => {
                if self.table.is_none() {
                    self.flush();
                }
                let label = self.theorems.get(plain).copied().or(match plain {
                    "abstract" => Some("Abstract"),
                    "proof" => Some("Proof"),
                    _ => None,
                });
                let option = self.source.optional();
                self.source.drop_groups(arguments);
                if let Some(label) = label {
                    let option = option.map(|option| format!(" ({option})")).unwrap_or_default();
                    self.put(&format!("{label}{option}: "));
                }
                if plain == "frame" && self.source.rest.starts_with('{') {
                    self.opened(Close::Heading(3));
                }
            }
        }
    }

    fn end(&mut self) {
        let name = self.source.group().unwrap_or_default().trim_end_matches('*');
        match environment(name) {
            Environment::Document => {
                self.end_table();
                self.flush();
                self.source.rest = "";
            }
            Environment::Table(_) => match &mut self.table {
                Some(table) if table.depth > 0 => table.depth -= 1,
                _ => self.end_table(),
            },
            Environment::List(_) => {
                if self.table.is_none() {
                    self.flush();
                }
                self.lists.pop();
                self.blocks.leave(self.lists.len());
            }
            Environment::Other(_) | Environment::Code | Environment::Formula | Environment::Silent => {
                if self.table.is_none() {
                    self.flush();
                }
            }
        }
    }

    fn item(&mut self) {
        if self.table.is_some() || self.lists.is_empty() {
            return self.put("\n- ");
        }
        self.flush();
        self.blocks.at(self.source.number);
        let mark = self.lists.last().copied().unwrap_or("-");
        self.blocks.item(self.lists.len() - 1, mark);
        if self.source.rest.starts_with('[') {
            // The label is read like text, so that its marks vanish.
            self.source.rest = &self.source.rest[1..];
            if let Some(at) = self.source.rest.bytes().take(LONGEST).position(|byte| byte == b']') {
                let label = Document::inline(&self.source.rest[..at]);
                self.source.skip(at + 1);
                self.blocks.add(&label);
                self.blocks.take().map(|label| self.blocks.write(&label)).unwrap_or_default();
                self.is_term = true;
            }
        }
    }

    /// Returns a label as its reader sees it.
    fn inline(label: &str) -> String {
        // A label in a label is as rare as it would be deep.
        let mut inner = Document::new(if label.contains("\\item") { "" } else { label });
        inner.read();
        inner.blocks.out.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.text);
        let number = self.begin.max(1);
        if let Some(table) = &mut self.table {
            if table.depth > 0 {
                self.text = text + " ";
                return;
            }
            if table.begin == 0 {
                table.begin = number;
            }
            let (columns, rows) = std::mem::replace(&mut table.spans, (1, 1));
            table.row.push((text.trim().to_owned(), columns, rows));
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        if let Some(table) = &mut self.table {
            let begin = std::mem::take(&mut table.begin);
            let row = std::mem::take(&mut table.row);
            table.rows.push((row, begin.max(1)));
        }
    }

    fn end_table(&mut self) {
        if self.table.is_some() {
            self.end_row();
        }
        if let Some(table) = self.table.take() {
            self.blocks.at(self.source.number);
            self.blocks.table(&table.rows);
        }
    }

    fn flush(&mut self) {
        if self.is_preamble {
            return self.text.clear();
        }
        if self.table.is_none() {
            self.write();
        }
    }

    fn write(&mut self) {
        let text = std::mem::take(&mut self.text);
        let is_empty = text.trim().is_empty();
        if is_empty && !self.blocks.is_open() {
            return;
        }
        if !self.blocks.is_open() && !std::mem::take(&mut self.is_term) {
            self.blocks.gap();
        }
        self.blocks.at(self.begin.max(1));
        if !is_empty {
            self.blocks.add(&text);
        }
        self.blocks.at(self.source.number.max(self.begin).max(1));
        self.blocks.take().map(|text| self.blocks.write(&text)).unwrap_or_default();
    }
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
    fn the_title_stands_above_the_sections() {
        let source = "\\documentclass[a4]{article}\n\\usepackage{x}\n\\title{The \\emph{Plan}}\n\\author{Ann}\nhidden\n\\begin{document}\n\\maketitle\n\
                      \\section[S]{First part}\\label{a}\nText % comment\n  goes on.\n\n\\paragraph{P} More.\n\\end{document}\nhidden\n";
        let mut document = Document::new(source);
        document.read();
        assert_eq!(document.title.as_deref(), Some("The Plan"));
        assert_eq!(document.fields, [("author", "Ann".to_owned())]);
        check(source, "# The Plan\n\nAnn\n\n## First part\n\nText goes on.\n\n##### P\n\nMore.");
    }

    #[test]
    fn lists_code_and_tables() {
        check(
            "Intro:\n\\begin{itemize}\n\\item one\n\\begin{enumerate}\n\\item a\n\\end{enumerate}\n\\item[\\textbf{x}] two\n\\end{itemize}\nend\n",
            "Intro:\n\n- one\n  1. a\n\n- x\n  two\n\nend",
        );
        check(
            "\\begin{lstlisting}[language=Rust]\nlet a;\n  %b\n\\end{lstlisting}\n\\begin{minted}{c}\nint a;\n\\end{minted}\n\\verb|a_b| \\lstinline{c}\n",
            "```rust\nlet a;\n  %b\n```\n\n```c\nint a;\n```\n\n`a_b` `c`",
        );
        check(
            "\\begin{table}[h]\n\\caption{Ages}\n\\begin{tabular}{l|r}\n\\hline\nName & Age \\\\ \\hline\nAnn & 40 \\\\\n\\multicolumn{2}{c}{wide} \\\\\n\\end{tabular}\n\\end{table}\n",
            "Ages\n\n| Name | Age |\n|---|---|\n| Ann | 40 |\n| wide |  |",
        );
    }

    #[test]
    fn formulas_are_kept_as_written() {
        check(
            "So $a_1 \\ge \\$b$ and \\(c\\).\n\\[ x^2 \\]\n\\begin{align*}\na &= b\n\\end{align*}\n",
            "So $a_1 \\ge \\$b$ and $c$.\n\n$$\nx^2\n$$\n\n$$\na &= b\n$$",
        );
        check("It costs $5.\n\nMore.", "It costs $5.\n\nMore.");
    }

    #[test]
    fn commands_keep_their_words() {
        for (source, expected) in [
            (
                "\\emph{a} \\textbf{\\unknown{b}} \\cite[p.~1]{x}c\\footnote{Why.} {\\Large d}",
                "a b c (Why.) d",
            ),
            (
                "\\href{https://a.org}{page} \\url{https://b.org} \\textcolor{red}{e}\\index{f}",
                "page https://b.org e",
            ),
            (
                "\\'e \\\"{o} \\c{c} \\v{s} \\ss{} \\ldots\\ x \\& \\% \\_ 1--2 ``q''",
                "é ö ç š ß … x & % _ 1–2 “q”",
            ),
            ("\\newcommand{\\me}{Ann Lee\\xspace}\\def\\x#1{y}\\me{} z", "Ann Lee z"),
            ("\\newtheorem{thm}{Theorem}\\begin{thm}[Gauss] All. \\end{thm}", "Theorem (Gauss): All."),
            ("\\MakeShortVerb{\\|}|a\\b| \\iffalse hidden \\fi c", "`a\\b` c"),
            ("\\section{never closed", "never closed"),
        ] {
            check(source, expected);
        }
    }
}
